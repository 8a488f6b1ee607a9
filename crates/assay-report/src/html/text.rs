//! Words of the page. Everything that comes from a record goes through [`markup`].

use assay_core::text::markup;

/// Figures that no line break tears: the blanks within a number and before its unit do not break.
pub(crate) fn glued(text: &str) -> String {
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

/// A term and its description, or nothing where there is none.
pub(crate) fn fact(out: &mut String, name: &str, value: &str) {
    if !value.trim().is_empty() {
        out.push_str(&format!("<div><dt>{}</dt><dd>{}</dd></div>\n", markup(name), markup(value)));
    }
}
