//! Reasons that nodes give.

use assay_core::text::harmless;

/// Longest reason in characters.
const LONGEST_REASON: usize = 300;

/// What a node, or a program that speaks of one, gives as a reason: one line, not too long.
pub(crate) fn bounded_reason(text: &str) -> String {
    let line = harmless(text.trim().trim_start_matches("assay: "));
    if line.chars().count() <= LONGEST_REASON {
        line
    } else {
        line.chars().take(LONGEST_REASON).collect::<String>() + " …"
    }
}
