//! Shares and numbers in the names of rows.

/// A share as people read it: `3 %`.
pub(super) fn percent(share: f64) -> String {
    format!("{} %", share * 100.0)
}

/// So many of something: `1 run`, `3 runs`.
pub(super) fn counted(n: usize, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") }
}
