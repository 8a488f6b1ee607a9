//! CSV.

use super::harmless;

/// What begins a formula in a spreadsheet (OWASP, "CSV injection"), also in its full-width forms.
const FORMULA: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];

/// A cell of a table (RFC 4180), [`harmless`], and no formula: text that begins like one and is no
/// number gets an apostrophe in front.
#[must_use]
pub fn csv(cell: &str) -> String {
    let mut text = harmless(cell);
    let lead = cell.trim_start().chars().next();
    // White space is dropped by some spreadsheets, so that what follows it begins the cell.
    let formula = lead.is_some_and(|c| FORMULA.contains(&c)) || cell.starts_with(['\t', '\r', '\n']);
    if formula && !cell.parse::<f64>().is_ok_and(f64::is_finite) {
        text.insert(0, '\'');
    }
    // A semicolon divides cells where the comma is the decimal sign.
    if text.contains(['"', ',', ';']) || text != text.trim() {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_become_text_and_numbers_stay() {
        assert_eq!(csv("=HYPERLINK(\"http://x\",\"y\")"), "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\"");
        for bad in ["+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", " =1", "\u{a0}=1", "＝1", "-inf", "\n=1"] {
            assert!(csv(bad).trim_start_matches('"').starts_with('\''), "{bad:?} -> {}", csv(bad));
        }
        assert_eq!(csv("-12.5"), "-12.5");
        assert_eq!(csv("a,b"), "\"a,b\"");
        assert_eq!(csv("a;=b"), "\"a;=b\"");
        assert_eq!(csv("line\nbreak"), "line\u{fffd}break");
    }
}
