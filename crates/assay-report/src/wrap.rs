//! Breaking text into lines without tearing figures from their units.

use unicode_width::UnicodeWidthStr;

const UNITS: [&str; 19] = [
    "%", "MB/s", "IOPS", "ns", "µs", "us", "ms", "s", "min", "h", "B", "KiB", "MiB", "GiB", "TiB", "MB", "GB", "TB",
    "repeats",
];

/// `text` in lines of at most `width` columns. `1 500` and `22.8 MB/s` stay on one line; a word
/// longer than a line is cut into pieces.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(8);
    let mut lines = Vec::new();
    let mut line = String::new();
    for piece in pieces(text) {
        let joined = if line.is_empty() { piece.clone() } else { format!("{line} {piece}") };
        if joined.width() <= width {
            line = joined;
            continue;
        }
        if !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        for c in piece.chars() {
            line.push(c);
            if line.width() > width {
                line.pop();
                lines.push(std::mem::take(&mut line));
                line.push(c);
            }
        }
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// Words, with those that belong together joined.
fn pieces(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let bare = word.trim_end_matches([',', ';', '.', ':', ')']);
        match out.last_mut() {
            Some(last)
                if last.len() < 24
                    && last.ends_with(|c: char| c.is_ascii_digit())
                    && (bare.starts_with(|c: char| c.is_ascii_digit() || c == '±')
                        || bare.starts_with("+-")
                        || UNITS.contains(&bare)) =>
            {
                last.push(' ');
                last.push_str(word);
            }
            _ => out.push(word.to_owned()),
        }
    }
    out
}

/// At most `width` columns of `text`, the end replaced by `…` where it is longer.
pub(crate) fn shorten(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut out = String::new();
    for c in text.chars() {
        out.push(c);
        if out.width() >= width {
            out.pop();
            break;
        }
    }
    out.push('…');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_stay_with_their_units() {
        for width in 12..40 {
            for line in wrap("it answers 1 500 ±20 random reads a second at 22.8 ±0.1 MB/s, 98 % of the bus", width) {
                assert!(
                    !line.ends_with("22.8") && !line.ends_with("500") && !line.ends_with(" 1") && !line.ends_with("98"),
                    "{line}"
                );
            }
        }
    }

    #[test]
    fn a_word_longer_than_the_line_is_cut() {
        assert_eq!(wrap(&"x".repeat(20), 8), ["xxxxxxxx", "xxxxxxxx", "xxxx"]);
        assert_eq!(wrap("  ", 8), Vec::<String>::new());
    }

    #[test]
    fn shortened_text_fits_and_says_so() {
        assert_eq!(shorten("漢字漢字漢字", 5), "漢字…");
        assert_eq!(shorten("abc", 3), "abc");
    }
}
