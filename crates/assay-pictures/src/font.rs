//! The letters: widths for every back end, outlines for pixels.

use std::sync::OnceLock;

use assay_packed::{Packed, packed};
use ttf_parser::Face;

/// Ubuntu Light, from a package of the registry under the Ubuntu Font Licence 1.0.
static FONT: Packed = packed!("font.ttf");
/// For readers of SVG: the same letters where they are installed, or others that are not wider.
pub(crate) const FAMILY: &str = "Ubuntu Light, Ubuntu, Noto Sans, Liberation Sans, Arial, sans-serif";
/// What a rim adds to a bold letter in pixels, as a share of its size.
const RIM: f64 = 0.02;
/// Readers of SVG draw with the fonts they have. The widest of the usual ones, DejaVu Sans, is by so
/// much wider than ours in running text, and its bold face once more; lines are laid out for it.
const WIDER: f64 = 1.19;
const BOLD: f64 = 1.12;
/// Width of a letter that the font lacks, as a share of its size: Han and kana are square.
const SQUARE: f64 = 1.0;

/// The face; none only if the file in the package were damaged.
pub(crate) fn face() -> Option<&'static Face<'static>> {
    static FACE: OnceLock<Option<Face<'static>>> = OnceLock::new();
    FACE.get_or_init(|| Face::parse(FONT.bytes(), 0).ok()).as_ref()
}

/// How far the next letter stands from this one in pixels, as a share of the size.
pub(crate) fn advance(letter: char, bold: bool) -> f64 {
    let own = face().and_then(|face| {
        let glyph = face.glyph_index(letter)?;
        Some(f64::from(face.glyph_hor_advance(glyph)?) / f64::from(face.units_per_em()))
    });
    own.unwrap_or(SQUARE) + if bold { RIM } else { 0.0 }
}

/// Width of a line as pixels are drawn.
pub(crate) fn drawn(text: &str, size: f64, bold: bool) -> f64 {
    text.chars().map(|letter| advance(letter, bold)).sum::<f64>() * size
}

/// Width of a line in pixels, with any font of the viewer.
pub(crate) fn width(text: &str, size: f64, bold: bool) -> f64 {
    drawn(text, size, false) * WIDER * if bold { BOLD } else { 1.0 }
}

/// `text`, or as much of its beginning and end as fits in `most` pixels. Long names often differ at the end.
pub(crate) fn fitted(text: &str, size: f64, most: f64) -> String {
    if width(text, size, false) <= most {
        return text.to_owned();
    }
    let letters: Vec<char> = text.chars().collect();
    let mut kept = letters.len().saturating_sub(1).min(200);
    loop {
        let (head, tail) = (kept.div_ceil(2), kept / 2);
        let short: String = letters[..head].iter().chain(&['…']).chain(&letters[letters.len() - tail..]).collect();
        if kept == 0 || width(&short, size, false) <= most {
            return short;
        }
        kept -= 1;
    }
}

/// Lines no wider than `most` pixels; a word that is wider is cut.
pub(crate) fn wrapped(text: &str, size: f64, bold: bool, most: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
        if width(&longer, size, bold) <= most {
            line = longer;
            continue;
        }
        if !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        line = fitted(word, size, most / if bold { 1.15 } else { 1.0 });
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_font_is_that_of_the_package() {
        assert_eq!(FONT.bytes(), epaint_default_fonts::UBUNTU_LIGHT);
        assert!(FONT.packed_bytes() < epaint_default_fonts::UBUNTU_LIGHT.len() / 2);
    }

    #[test]
    fn the_font_has_the_letters_of_pictures() {
        let face = face().unwrap();
        for letter in "AZaz09 –…µ°±≥×äöüßéñžЖΩ⁶\u{a0}".chars() {
            assert!(face.glyph_index(letter).is_some(), "{letter:?}");
        }
    }

    #[test]
    fn bold_letters_take_more_room() {
        assert!(drawn("Model", 12.0, true) > drawn("Model", 12.0, false));
    }

    #[test]
    fn long_names_keep_both_ends_and_lines_keep_their_width() {
        let short = fitted("SanDisk Extreme Pro with a long name, unit 7", 12.0, 120.0);
        assert!(short.starts_with("SanDisk") && short.ends_with('7') && short.contains('…'), "{short}");
        assert!(width(&short, 12.0, false) <= 120.0);
        for line in wrapped(&format!("some words {} and more words", "x".repeat(300)), 12.0, true, 200.0) {
            assert!(width(&line, 12.0, true) <= 200.0, "{line}");
        }
        assert_eq!(wrapped("", 12.0, false, 50.0), Vec::<String>::new());
    }
}
