//! Shares and numbers in the names of rows.

/// A share as people read it: `3 %`.
pub(super) fn percent(share: f64) -> String {
    format!("{} %", share * 100.0)
}
