//! Terminals.

/// `text` with everything a terminal could obey replaced by `�`: C0 and C1 controls, DEL, and
/// the Unicode characters that reorder or hide what stands around them. Line breaks are controls too,
/// so the result is one line.
#[must_use]
pub fn harmless(text: &str) -> String {
    text.chars().map(|c| if is_dangerous(c) { '\u{fffd}' } else { c }).collect()
}

/// A file as a terminal shows it: line breaks and tabs stay, everything else that a terminal could
/// obey is written as `\u001b`.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.replace("\r\n", "\n").chars() {
        match c {
            '\n' | '\t' => out.push(c),
            c if is_dangerous(c) => push_escape(&mut out, c),
            c => out.push(c),
        }
    }
    out
}

/// [`harmless`] text, trimmed, runs of white space made one space, at most `limit` characters.
/// `None` where nothing is left.
#[must_use]
pub fn label(text: &str, limit: usize) -> Option<String> {
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let clean: String = harmless(joined.trim_matches(['\0', ' '])).chars().take(limit).collect();
    (!clean.is_empty()).then_some(clean)
}

/// Longest name that is shown anywhere, in characters.
const LONGEST_NAME: usize = 160;

/// A name from elsewhere as [`label`] of bounded length; empty where nothing is left.
#[must_use]
pub fn clean(text: &str) -> String {
    label(text, LONGEST_NAME).unwrap_or_default()
}

/// Longest statement that is shown anywhere, in characters: several times what assay writes itself.
const LONGEST_STATEMENT: usize = 10_000;

/// A sentence, a cause or a reason from elsewhere as [`label`], whole unless it is absurdly long; empty where
/// nothing is left.
#[must_use]
pub fn statement(text: &str) -> String {
    label(text, LONGEST_STATEMENT).unwrap_or_default()
}

/// Most characters of what somebody typed or a file holds that an error repeats.
const LONGEST_QUOTE: usize = 80;

/// [`harmless`] text between backquotes, for a message in one line: the first 80 characters of it.
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut out: String = std::iter::once('`').chain(harmless(text).chars().take(LONGEST_QUOTE)).collect();
    if text.chars().nth(LONGEST_QUOTE).is_some() {
        out.push('…');
    }
    out.push('`');
    out
}

/// Whether a terminal, an editor or a reader could be deceived by the character: controls, what
/// changes the direction of text (Bidi_Control of Unicode's PropList), what takes no place
/// (Default_Ignorable_Code_Point of DerivedCoreProperties, but for the variation selectors that emoji
/// use), and code points that are no characters, which XML does not allow.
pub(super) fn is_dangerous(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}'                       // soft hyphen
            | '\u{34f}'                    // combining grapheme joiner
            | '\u{61c}'                    // Arabic letter mark
            | '\u{115f}'..='\u{1160}'      // Hangul fillers
            | '\u{17b4}'..='\u{17b5}'      // Khmer inherent vowels
            | '\u{180b}'..='\u{180f}'      // Mongolian selectors and vowel separator
            | '\u{200b}'..='\u{200f}'      // zero width, direction marks
            | '\u{2028}'..='\u{202e}'      // line and paragraph separators, embeddings, overrides
            | '\u{2060}'..='\u{206f}'      // invisible operators, isolates
            | '\u{3164}' | '\u{ffa0}'      // Hangul fillers
            | '\u{fdd0}'..='\u{fdef}'      // no characters
            | '\u{feff}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'    // shorthand format controls
            | '\u{1d173}'..='\u{1d17a}'    // musical format controls
            | '\u{e0000}'..='\u{e0fff}')   // tags
        || u32::from(c) & 0xfffe == 0xfffe // no characters: the last two of each plane
}

/// The character as TOML writes it, and JSON but for those beyond the first plane.
pub(super) fn push_escape(out: &mut String, c: char) {
    let code = u32::from(c);
    out.push_str(&if code > 0xffff { format!("\\U{code:08x}") } else { format!("\\u{code:04x}") });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_never_reach_a_terminal() {
        assert_eq!(harmless("SD\x1b[2JCARD\u{202e}\n"), "SD�[2JCARD��");
        assert_eq!(harmless("Größe µ 漢字 مرحبا ❤\u{fe0f}"), "Größe µ 漢字 مرحبا ❤\u{fe0f}");
        for c in ['\u{9b}', '\u{7f}', '\u{61c}', '\u{2066}', '\u{200b}', '\u{ad}', '\u{e0041}', '\u{ffff}', '\u{1fffe}']
        {
            assert_eq!(harmless(&c.to_string()), "�", "{:x}", u32::from(c));
        }
    }

    #[test]
    fn a_file_is_shown_with_its_lines_and_nothing_is_hidden() {
        assert_eq!(visible("a\tb\r\nc\u{1b}[2J\u{202e}\u{e0041}\r"), "a\tb\nc\\u001b[2J\\u202e\\U000e0041\\u000d");
        assert_eq!(visible("name = \"x\" # µ\n"), "name = \"x\" # µ\n");
    }

    #[test]
    fn a_quotation_is_one_short_line() {
        assert_eq!(quoted("a\n\u{1b}[2Jb"), "`a��[2Jb`");
        assert_eq!(quoted(&"x".repeat(80)), format!("`{}`", "x".repeat(80)));
        assert_eq!(quoted(&"µ".repeat(81)), format!("`{}…`", "µ".repeat(80)));
    }

    #[test]
    fn labels_are_trimmed_and_bounded() {
        assert_eq!(label("  WDC  WDS500G2B0A \n", 64).as_deref(), Some("WDC WDS500G2B0A"));
        assert_eq!(label("abcdef", 3).as_deref(), Some("abc"));
        assert_eq!(label(" \n\0", 9), None);
        assert_eq!(label("\0 \0\u{b}\0", 9), None, "nothing to see between");
    }
}
