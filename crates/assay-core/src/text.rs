//! Text that came from a device, a file or another host is never trusted.

/// `text` with everything a terminal could obey replaced by `�`: C0 and C1 controls, DEL, and
/// the Unicode characters that reorder or hide what stands around them.
#[must_use]
pub fn harmless(text: &str) -> String {
    text.chars().map(|c| if is_dangerous(c) { '\u{fffd}' } else { c }).collect()
}

fn is_dangerous(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{200b}'..='\u{200f}'   // zero width, direction marks
            | '\u{2028}'..='\u{202e}' // line and paragraph separators, embeddings, overrides
            | '\u{2060}'..='\u{206f}' // invisible operators, isolates
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
}

/// [`harmless`] text, trimmed, runs of white space made one space, at most `limit` characters.
/// `None` where nothing is left.
#[must_use]
pub fn label(text: &str, limit: usize) -> Option<String> {
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let clean: String = harmless(joined.trim_matches('\0')).chars().take(limit).collect();
    (!clean.is_empty()).then_some(clean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_never_reach_a_terminal() {
        assert_eq!(harmless("SD\x1b[2JCARD\u{202e}\n"), "SD�[2JCARD��");
        assert_eq!(harmless("Größe µ"), "Größe µ");
    }

    #[test]
    fn labels_are_trimmed_and_bounded() {
        assert_eq!(label("  WDC  WDS500G2B0A \n", 64).as_deref(), Some("WDC WDS500G2B0A"));
        assert_eq!(label("abcdef", 3).as_deref(), Some("abc"));
        assert_eq!(label(" \n\0", 9), None);
    }
}
