//! Names in a sentence.

/// `A`, `A and B`, `A, B and C`.
pub(super) fn listed(names: &[String]) -> String {
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => names.concat(),
    }
}
