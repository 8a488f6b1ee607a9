//! HTML, SVG and XML.

use super::harmless;

/// [`harmless`] text, safe between tags and in quoted attributes. Not for the inside of a script or
/// style element, where there are no entities.
#[must_use]
pub fn markup(text: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::markup;

    #[test]
    fn nothing_of_a_name_is_markup() {
        assert_eq!(
            markup("<a href=\"x\" id='y'>&\u{1b}]]>"),
            "&lt;a href=&quot;x&quot; id=&#39;y&#39;&gt;&amp;\u{fffd}]]&gt;"
        );
        assert_eq!(markup("\u{ffff}"), "\u{fffd}", "XML has no such character");
    }
}
