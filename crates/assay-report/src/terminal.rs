//! How a terminal wants its text.

use unicode_width::UnicodeWidthStr;

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
        '−' => "-".to_owned(),
        c if c.is_ascii() => c.to_string(),
        _ => "?".to_owned(),
    }
}

// Lines of a terminal text: coloured spans that never exceed the width.

/// How a span stands out. Colour is for verdicts and warnings only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    Plain,
    Bold,
    Dim,
    Good,
    Care,
    Bad,
}

impl Paint {
    /// SGR parameters (ECMA-48, section 8.3.117).
    fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Bold => "1",
            Self::Dim => "2",
            Self::Good => "32",
            Self::Care => "33",
            Self::Bad => "31",
        }
    }
}

/// One line under construction.
#[derive(Debug)]
pub(crate) struct Line {
    style: Style,
    spans: Vec<(Paint, String)>,
}

impl Line {
    pub(crate) fn new(style: Style) -> Self {
        Self { style, spans: Vec::new() }
    }

    /// Adds text, made harmless.
    pub(crate) fn push(&mut self, paint: Paint, text: &str) -> &mut Self {
        self.spans.push((paint, self.style.fold(text)));
        self
    }

    /// Adds spaces up to column `column`.
    pub(crate) fn to(&mut self, column: usize) -> &mut Self {
        let gap = column.saturating_sub(self.width());
        self.push(Paint::Plain, &" ".repeat(gap))
    }

    /// Adds text so that it ends at column `column` where there is room for that.
    pub(crate) fn right(&mut self, paint: Paint, text: &str, column: usize) -> &mut Self {
        let wide = self.style.fold(text).width();
        self.to(column.saturating_sub(wide)).push(paint, text)
    }

    pub(crate) fn width(&self) -> usize {
        self.spans.iter().map(|(_, text)| text.as_str()).collect::<String>().width()
    }

    /// The line as text, cut at the width.
    fn finish(mut self) -> String {
        while self.width() > self.style.width {
            if self.spans.last_mut().is_some_and(|(_, text)| text.pop().is_none()) {
                self.spans.pop();
            }
        }
        while let Some((_, last)) = self.spans.last_mut() {
            last.truncate(last.trim_end_matches(' ').len());
            if !last.is_empty() {
                break;
            }
            self.spans.pop();
        }
        let mut out = String::new();
        for (paint, text) in self.spans {
            if self.style.color && paint != Paint::Plain && !text.trim().is_empty() {
                out.push_str(&format!("\x1b[{}m{text}\x1b[0m", paint.code()));
            } else {
                out.push_str(&text);
            }
        }
        out
    }
}

/// Lines of a card or another terminal text.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) style: Style,
    lines: Vec<String>,
}

/// Column where the values of labelled lines begin.
pub(crate) const VALUES: usize = 10;

impl Page {
    pub(crate) fn new(style: Style) -> Self {
        Self { style, lines: Vec::new() }
    }

    pub(crate) fn line(&self) -> Line {
        Line::new(self.style)
    }

    pub(crate) fn add(&mut self, line: Line) {
        self.lines.push(line.finish());
    }

    pub(crate) fn blank(&mut self) {
        self.lines.push(String::new());
    }

    pub(crate) fn rule(&mut self) {
        let mut line = self.line();
        line.push(Paint::Dim, &"─".repeat(self.style.width));
        self.add(line);
    }

    /// Text wrapped between `indent` and the width.
    pub(crate) fn text(&mut self, paint: Paint, indent: usize, text: &str) {
        for part in wrap(&self.style.fold(text), self.style.width.saturating_sub(indent)) {
            let mut line = self.line();
            line.to(indent).push(paint, &part);
            self.add(line);
        }
    }

    /// A label with a value that wraps under itself.
    pub(crate) fn labelled(&mut self, label: &str, label_paint: Paint, value: &str, paint: Paint) {
        for (i, part) in wrap(&self.style.fold(value), self.style.width.saturating_sub(VALUES)).into_iter().enumerate()
        {
            let mut line = self.line();
            if i == 0 {
                line.push(label_paint, label);
                if line.width() + 1 > VALUES {
                    line.push(Paint::Plain, " ");
                }
            }
            line.to(VALUES).push(paint, &part);
            self.add(line);
        }
    }

    pub(crate) fn finish(self) -> String {
        let mut out = self.lines.join("\n");
        out.push('\n');
        out
    }
}

// Breaking text into lines without tearing figures from their units.

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
    for piece in line_pieces(text) {
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
fn line_pieces(text: &str) -> Vec<String> {
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
