//! Lines at the end of a terminal that are painted over.

use std::io::Write;

use assay_core::text::harmless;

use crate::output::{stderr_style, wrapped};

/// Control sequences of ECMA-48: EL (erase the line) and CUU (one line up).
const ERASE: &str = "\r\x1b[2K";
const UP: &str = "\x1b[1A";

/// The lines on the terminal, if any. They are never wider than it, so that each is one row.
#[derive(Default)]
pub(crate) struct Painter {
    lines: Vec<String>,
}

impl Painter {
    /// Shows these lines in place of those before.
    pub(crate) fn paint(&mut self, lines: &[String]) {
        let mut out = erasing(self.lines.len());
        self.lines = lines.to_vec();
        out.push_str(&rows(&self.lines, stderr_style().width));
        write(&out);
    }

    /// Prints text above the lines, to stay.
    pub(crate) fn say(&mut self, text: &str) {
        let mut out = erasing(self.lines.len());
        let width = stderr_style().width;
        let lines: Vec<String> = text.lines().map(harmless).collect();
        out.push_str(&wrapped(&lines.join("\n"), width));
        out.push('\n');
        out.push_str(&rows(&self.lines, width));
        write(&out);
    }

    /// Takes the lines away.
    pub(crate) fn clear(&mut self) {
        if !self.lines.is_empty() {
            write(&erasing(self.lines.len()));
            self.lines.clear();
        }
    }
}

impl Drop for Painter {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Lines cut so that none reaches the last column; names from elsewhere in them are made harmless here.
fn rows(lines: &[String], width: usize) -> String {
    let row = |line: &String| harmless(line).chars().take(width.saturating_sub(1)).collect::<String>();
    lines.iter().map(row).collect::<Vec<_>>().join("\n")
}

/// The control sequence that erases this number of rows; the cursor is in the last.
fn erasing(rows: usize) -> String {
    vec![ERASE; rows].join(UP)
}

fn write(text: &str) {
    let mut err = std::io::stderr().lock();
    // In one piece, so that nothing half-painted is seen; a terminal that went away is no failure.
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_rows_are_erased_as_were_painted() {
        assert_eq!(erasing(2), "\r\x1b[2K\x1b[1A\r\x1b[2K");
        assert_eq!(erasing(0), "");
    }

    #[test]
    fn no_row_reaches_the_last_column() {
        let lines = ["x".repeat(200), "µ".repeat(200)];
        assert!(rows(&lines, 60).lines().all(|row| row.chars().count() == 59));
        assert_eq!(rows(&["SD\u{1b}[2JCARD".to_owned()], 60), "SD\u{fffd}[2JCARD");
    }
}
