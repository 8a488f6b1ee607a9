//! LINPACK: the 100×100 test in C and its later form, and the lines of HPL.
//!
//! Shapes: clinpack of <https://www.netlib.org/benchmark/> and Roy Longbottom's ports, whose last line is the lesser of
//! two averages; linpackc.new of the same place, whose last row ran longest; HPL 2, whose rows are in Gflop/s
//! (<https://www.netlib.org/benchmark/hpl/>). All are scores of processor and memory, in Mflop/s here.

use std::sync::LazyLock;

use assay_core::finding::{Detail, Finding, Missing};

use crate::number::decimal;
use crate::pattern::{Regex, regex};
use crate::report::{Format, MOST_FIGURES, Problem, Report, Section};
use crate::text::Text;

/// LINPACK.
pub(crate) struct Linpack;

const NAME: &str = "LINPACK";
/// Most lines of a table.
const MOST_LINES: usize = 60;
/// Most lines from the first without a title to the heading of the rows, and from that to the first row.
const MOST_TO_HEADING: usize = 8;
const MOST_TO_ROW: usize = 4;
/// Digits from which on a number has double precision.
const DOUBLE: u32 = 10;
/// What the title of a table holds.
const TABLE: &str = "LINPACK benchmark, ";

static RATING: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)\b(rolled|unrolled)\s+(single|double)\s+precision\s+(?:linpack\s+)?([0-9.]+(?:e[+-]?\d+)?)\s*([kmg])flops",
    )
});
static SIZE: LazyLock<Regex> = LazyLock::new(|| regex(r"Array size (\d+) ?[xX] ?(\d+)"));
static ROW: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^\s*\d+\s+[0-9.]+\s+[0-9.]+%\s+[0-9.]+%\s+[0-9.]+%\s+([0-9.]+)\s*$"));
/// The heading of the rows, which people copy without the title of the table.
static HEADING: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^\s*Reps\s+Time\(s\)\s+DGEFA\s+DGESL\s+OVERHEAD\s+KFLOPS\s*$"));
/// The table of clinpack, above its rating: `dgefa dgesl total kflops unit ratio`.
static OLD_HEADING: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)^\s*[ds]gefa\s+[ds]gesl\s+total\s+([kmg])flops\s+unit\s+ratio\s*$"));
static OLD_ROW: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^\s*[0-9.]+\s+[0-9.]+\s+[0-9.]+\s+([0-9.]+)\s+[0-9.]+\s+[0-9.]+\s*$"));
/// What its title says.
static OLD_TITLE: LazyLock<Regex> = LazyLock::new(|| regex(r"(?i)\b(rolled|unrolled)\s+(single|double)\s+precision\b"));
/// Digits that numbers have: 15 of double precision, 6 of single.
static DIGITS: LazyLock<Regex> = LazyLock::new(|| regex(r"Machine precision: +(\d+) digits"));
/// NVIDIA's has a shorter code, and behind the rate that of one processor.
static HPL: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"\bW[RC]\d{1,2}(?:[A-Z]\d[A-Z]\d+)?\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+([0-9.]+)\s+([0-9.]+(?:e[+-]?\d+)?)")
});

impl Format for Linpack {
    fn name(&self) -> &'static str {
        NAME
    }

    fn keywords(&self) -> &'static [&'static str] {
        &["linpack", "mflops", "kflops", "gflops", "dgefa"]
    }

    fn needs(&self) -> &'static str {
        "a rating in flops, the table of linpackc with its heading, or a row of HPL"
    }

    fn begins(&self, text: &Text, at: usize) -> bool {
        let line = text.line(at);
        is_rating(line) || line.contains(TABLE) || is_hpl(line) || is_untitled(text, at) || is_old(text, at)
    }

    fn read(&self, text: &Text, at: usize) -> Section {
        let line = text.line(at);
        if let Some(rating) = RATING.captures(line) {
            return rated(&rating, text, at);
        }
        if is_hpl(line) {
            return hpl(text, at);
        }
        if is_old(text, at) { old(text, at) } else { table(text, at) }
    }
}

/// Most lines are of something else, which is seen at once.
fn is_rating(line: &str) -> bool {
    (line.contains("flops") || line.contains("FLOPS") || line.contains("Flops")) && RATING.is_match(line)
}

/// Whether a table begins whose title is lost: with the size of the arrays, or the heading of the rows.
fn is_untitled(text: &Text, at: usize) -> bool {
    let line = text.line(at);
    let is_heading = |at: usize| {
        let line = text.line(at);
        let rows = || (at + 1..at + MOST_TO_ROW).any(|row| ROW.is_match(text.line(row)));
        line.contains("DGEFA") && HEADING.is_match(line) && rows()
    };
    is_heading(at)
        || line.contains("Array size ") && SIZE.is_match(line) && (at + 1..at + MOST_TO_HEADING).any(is_heading)
}

/// Whether a table of clinpack begins whose rating, which stands below it, is lost.
fn is_old(text: &Text, at: usize) -> bool {
    let line = text.line(at);
    if !(line.contains("gefa") && OLD_HEADING.is_match(line)) {
        return false;
    }
    let mut below = (at + 1..text.len().min(at + MOST_LINES)).map(|next| text.line(next));
    (at + 1..at + MOST_TO_ROW).any(|row| OLD_ROW.is_match(text.line(row))) && !below.any(is_rating)
}

/// The table of clinpack: like its rating the lesser of two averages, those of the arrays' two leading dimensions.
fn old(text: &Text, at: usize) -> Section {
    let prefix = OLD_HEADING.captures(text.line(at)).map_or_else(String::new, |found| found[1].to_owned());
    let mut blocks: Vec<Vec<f64>> = vec![Vec::new()];
    let mut end = at + 1;
    for line in at + 1..text.len().min(at + MOST_LINES) {
        let said = text.line(line);
        if let Some(row) = OLD_ROW.captures(said) {
            let rate = flops(&row[1], &prefix);
            blocks.last_mut().into_iter().for_each(|block| block.extend(rate));
            end = line + 1;
        } else if said.contains("leading dimension") {
            blocks.push(Vec::new());
        } else if !said.trim().is_empty() {
            break;
        }
    }
    let means = blocks.iter().filter(|block| !block.is_empty());
    let rate = means.map(|block| block.iter().sum::<f64>() / block.len() as f64).reduce(f64::min);
    let Some(rate) = rate else { return Section::nothing(end, text.number(at), "LINPACK gave no figure") };
    let title = (at.saturating_sub(MOST_TO_HEADING)..at).rev().find_map(|line| OLD_TITLE.captures(text.line(line)));
    let title = title.map(|title| format!(", {} precision, {}", title[2].to_lowercase(), title[1].to_lowercase()));
    let mut report = Report::new(NAME);
    report.score(&format!("LINPACK 100x100{}", title.unwrap_or_default()), rate, "Mflop/s", true);
    Section::from_report(report, end)
}

fn is_hpl(line: &str) -> bool {
    (line.contains("WR") || line.contains("WC")) && HPL.is_match(line)
}

fn flops(number: &str, prefix: &str) -> Option<f64> {
    let scale = match prefix {
        "k" | "K" => 1e-3,
        "g" | "G" => 1e3,
        _ => 1.0,
    };
    decimal(number).map(|number| number * scale).filter(|rate| *rate > 0.0)
}

fn rated(rating: &regex_lite::Captures<'_>, text: &Text, at: usize) -> Section {
    let mut report = Report::new(NAME);
    let Some(rate) = flops(&rating[3], &rating[4]) else {
        return Section::nothing(at + 1, text.number(at), "LINPACK gave no figure");
    };
    let name = format!("LINPACK 100x100, {} precision, {}", rating[2].to_lowercase(), rating[1].to_lowercase());
    report.score(&name, rate, "Mflop/s", true);
    Section::from_report(report, at + 1)
}

/// The table of linpackc.new: each row ran twice as often as the one before, so the last is the surest.
fn table(text: &Text, at: usize) -> Section {
    let titled = text.line(at).contains(TABLE);
    // Without the title only the number of digits tells the precision.
    let mut precision = titled.then(|| if text.line(at).contains("Single") { "single" } else { "double" });
    let (mut size, mut rate, mut end) = (None, None, at + 1);
    for line in if titled { at + 1 } else { at }..text.len().min(at + MOST_LINES) {
        let said = text.line(line);
        if said.contains(TABLE) {
            break;
        }
        if let Some(found) = SIZE.captures(said) {
            if rate.is_some() {
                break;
            }
            size = Some(format!("{}x{}", &found[1], &found[2]));
        } else if let Some(digits) = DIGITS.captures(said).filter(|_| precision.is_none()) {
            precision = digits[1].parse().ok().map(|digits: u32| if digits < DOUBLE { "single" } else { "double" });
        } else if let Some(row) = ROW.captures(said) {
            rate = flops(&row[1], "k");
            end = line + 1;
        } else if rate.is_some() && !said.trim().is_empty() {
            break;
        }
    }
    let Some(rate) = rate else { return Section::nothing(end, text.number(at), "LINPACK gave no figure") };
    let mut report = Report::new(NAME);
    let size = size.map(|size| format!(" {size}")).unwrap_or_default();
    let precision = precision.map(|precision| format!(", {precision} precision")).unwrap_or_default();
    report.score(&format!("LINPACK{size}{precision}"), rate, "Mflop/s", true);
    Section::from_report(report, end)
}

/// The rows of HPL, several in a line where a page has joined them, and whether the results were right.
fn hpl(text: &Text, at: usize) -> Section {
    let mut report = Report::new("HPL");
    let line = text.line(at);
    let mut end = at + 1;
    let mut verdicts = line.to_owned();
    for next in at + 1..text.len().min(at + MOST_LINES) {
        let said = text.line(next);
        if is_hpl(said) || said.contains("HPLinpack ") {
            break;
        }
        if said.contains("||") {
            verdicts.push_str(said);
            end = next + 1;
        }
    }
    for row in HPL.captures_iter(line).take(MOST_FIGURES) {
        let name = format!("HPL N={} NB={} P={} Q={}", &row[1], &row[2], &row[3], &row[4]);
        if let Some(rate) = flops(&row[6], "g") {
            report.score(&name, rate, "Mflop/s", true);
        }
    }
    let what = if verdicts.contains("FAILED") {
        report.scores.clear();
        "HPL found its own result wrong: the rate is not taken"
    } else {
        "HPL gave no figure"
    };
    if !verdicts.contains("PASSED") {
        report.findings.push(Finding::SourceIncomplete { missing: Missing::lines(&[], &[Detail::Check]) });
    }
    if report.is_empty() {
        return Section {
            end,
            reports: Vec::new(),
            problems: vec![Problem { line: text.number(at), what: what.to_owned() }],
        };
    }
    Section::from_report(report, end)
}
