//! How a terminal wants its text.

/// What the terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Columns; less than 40 is treated as 40.
    pub width: usize,
    /// Whether ANSI colours may be used.
    pub color: bool,
    /// Whether characters beyond ASCII may be used.
    pub unicode: bool,
}

/// Narrower than this not even words are laid out: half of a terminal of 80 columns.
const NARROWEST: usize = 40;
/// Below this strips and tables with many columns cannot be laid out.
const NARROWEST_TABLE: usize = 60;
/// Wider lines are harder to read than they are useful.
const WIDEST: usize = 120;

impl Default for Style {
    fn default() -> Self {
        Self { width: 80, color: false, unicode: true }
    }
}

impl Style {
    /// The same with a width that a table of many columns can be laid out in.
    pub(crate) fn at_least_a_table(self) -> Self {
        Self { width: self.width.clamp(NARROWEST_TABLE, WIDEST), ..self }
    }

    /// The same with a width that a card can be laid out in.
    pub(crate) fn bounded(self) -> Self {
        Self { width: self.width.clamp(NARROWEST, WIDEST), ..self }
    }

    /// `text` without anything a terminal could obey, and in ASCII where that is all it can show.
    pub(crate) fn fold(self, text: &str) -> String {
        let clean = assay_core::text::harmless(text);
        if self.unicode || clean.is_ascii() { clean } else { clean.chars().map(ascii).collect() }
    }
}

/// The nearest ASCII for the characters assay itself uses; `?` for all others.
fn ascii(c: char) -> String {
    match c {
        '±' => "+-".to_owned(),
        '–' | '—' | '─' => "-".to_owned(),
        '·' => "|".to_owned(),
        '→' => "->".to_owned(),
        'µ' | 'μ' => "u".to_owned(),
        '×' => "x".to_owned(),
        '•' => "*".to_owned(),
        '◦' => "o".to_owned(),
        '█' => "#".to_owned(),
        '░' => ".".to_owned(),
        '°' => "deg ".to_owned(),
        '…' => "~".to_owned(),
        c if c.is_ascii() => c.to_string(),
        _ => "?".to_owned(),
    }
}
