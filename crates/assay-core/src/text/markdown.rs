//! Markdown.

use super::harmless;

/// [`harmless`] text that CommonMark, the tables of GitHub and the HTML in both take for text: no
/// emphasis, code, link, image, formula or tag, and no address that is made a link by itself. For a
/// place within a line or a table's cell; at the start of a line a list or a heading could begin.
#[must_use]
pub fn markdown(text: &str) -> String {
    let clean = harmless(text);
    let mut out = String::with_capacity(clean.len());
    for (at, c) in clean.char_indices() {
        let (before, after) = (clean.get(..at).unwrap_or_default(), clean.get(at + c.len_utf8()..).unwrap_or_default());
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '!' | '$' => out.extend(['\\', c]),
            // `https://…` and `www.…` become links by themselves (GitHub Flavored Markdown, 6.9).
            ':' if after.starts_with("//") => out.push_str("\\:"),
            '.' if before.as_bytes().last_chunk::<3>().is_some_and(|w| w.eq_ignore_ascii_case(b"www")) => {
                out.push_str("\\.")
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::markdown;

    #[test]
    fn nothing_of_a_name_is_markdown() {
        assert_eq!(markdown("a|b *c* `d` [e](f) <g> $h$"), "a\\|b \\*c\\* \\`d\\` \\[e\\](f) &lt;g&gt; \\$h\\$");
        assert_eq!(markdown("https://x www.y a\nb 12:30 4.5"), "https\\://x www\\.y a\u{fffd}b 12:30 4.5");
    }
}
