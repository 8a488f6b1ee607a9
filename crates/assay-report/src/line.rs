//! Lines of a terminal text: coloured spans that never exceed the width.

use unicode_width::UnicodeWidthStr;

use crate::style::Style;
use crate::wrap::wrap;

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
