//! Text as HTML. Everything that comes from a record goes through [`esc`].

use assay_core::text::harmless;

/// `text` without control characters, safe between tags and in quoted attributes.
pub(crate) fn esc(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in harmless(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

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
        out.push_str(&format!("<div><dt>{}</dt><dd>{}</dd></div>\n", esc(name), esc(value)));
    }
}

#[cfg(test)]
mod tests {
    use super::esc;

    #[test]
    fn nothing_of_a_name_is_markup() {
        assert_eq!(esc("<a href=\"x\" id='y'>&\u{1b}"), "&lt;a href=&quot;x&quot; id=&#39;y&#39;&gt;&amp;\u{fffd}");
    }
}
