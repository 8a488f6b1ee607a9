//! Figures in running text.

/// Text in which no line break comes within a figure: the spaces within a number and before its unit become
/// no-break spaces (U+00A0).
#[must_use]
pub fn unbroken(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut digit = false;
    for (i, c) in text.char_indices() {
        let rest = text.get(i + 1..).unwrap_or_default();
        let joins = c == ' '
            && digit
            && (rest.starts_with(|n: char| n.is_ascii_digit())
                || ["MB/s", "%", "IOPS", "KiB", "MiB", "GB"].iter().any(|unit| rest.starts_with(unit)));
        out.push(if joins { '\u{a0}' } else { c });
        digit = c.is_ascii_digit();
    }
    out
}
