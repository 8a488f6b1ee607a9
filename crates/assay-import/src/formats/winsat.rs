//! `winsat disk` of Windows: the lines of its assessment that have a rate.
//!
//! Lines: the output of `winsat disk -seq -read`, `-ran -read` and of the formal assessment, as the manual shows them
//! (<https://learn.microsoft.com/en-us/previous-versions/windows/it-pro/windows-server-2012-r2-and-2012/cc742157(v=ws.11)>).
//! The number in a line is the size of an operation in KiB. What its MB are no text says; 10^6 bytes are taken. The number
//! behind a rate is a score of Windows.

use std::sync::LazyLock;

use assay_core::finding::{Finding, Untold};
use assay_core::workload::{Op, Pattern};

use crate::number::{decimal, printed};
use crate::pattern::{Regex, regex};
use crate::report::{Figure, Format, Load, Report, Section};
use crate::text::Text;

/// winsat.
pub(crate) struct Winsat;

const NAME: &str = "winsat";
/// Most lines of something else between two of its lines.
const MOST_BETWEEN: usize = 3;
/// Most lines of a report.
const LONGEST: usize = 60;

static ROW: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^(?://)?(?:> )?Disk +(Sequential|Random) +([0-9]+)\.0 +(Read|Write) +([0-9]+[.,][0-9]+) MB ?/ ?s(?: +([0-9]+[.,][0-9]+))?$",
    )
});

/// Another row below those of the rates, in the language of the system: `> Latency: Maximum   8.49 ms   8.2`.
static OTHER: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^(?://)?(?:> )?(\S.*?) {2,}([0-9]+[.,][0-9]+) (ms|ms/IO|units) +([0-9]+[.,][0-9]+)$"));

impl Format for Winsat {
    fn name(&self) -> &'static str {
        NAME
    }

    fn keywords(&self) -> &'static [&'static str] {
        &["winsat", "windows system assessment", "> disk  ", "> run time"]
    }

    fn needs(&self) -> &'static str {
        "a row of `Disk` with its rate"
    }

    fn begins(&self, text: &Text, at: usize) -> bool {
        is_row(text.line(at))
    }

    fn read(&self, text: &Text, at: usize) -> Section {
        let mut report = Report::new(NAME);
        let mut end = at + 1;
        for number in at..text.len().min(at + LONGEST) {
            let line = text.line(number).trim();
            if number > end + MOST_BETWEEN {
                break;
            }
            let Some(row) = ROW.captures(line) else {
                // The mark in front of all lines, as of a quoted mail, may be gone.
                if other(&mut report, line) || line.trim_start_matches('/').starts_with("> ") {
                    end = number + 1;
                }
                continue;
            };
            let Some(figure) = figure(&row) else { continue };
            // The same test again is another run.
            if report.figures.iter().any(|known| known.load == figure.load) {
                break;
            }
            let score = row.get(5).and_then(|score| decimal(score.as_str()));
            let name = format!("{NAME} {}", figure.load.name);
            report.figures.push(figure);
            if let Some(score) = score {
                report.score(&name, score, "", true);
            }
            end = number + 1;
        }
        if report.is_empty() {
            return Section::nothing(end, text.number(at), "winsat printed no rate");
        }
        report.find(Finding::NotTold { tool: NAME.to_owned(), untold: Untold::Megabyte { taken_bytes: 1_000_000 } });
        Section::from_report(report, end)
    }
}

/// Takes a row without a rate: its score, and its time if it has one. Returns whether the line is such a row.
fn other(report: &mut Report, line: &str) -> bool {
    let Some(row) = OTHER.captures(line) else { return false };
    let name = format!("{NAME} {}", &row[1]);
    if let Some(time) = decimal(&row[2]).filter(|_| &row[3] != "units") {
        report.score(&format!("{name}, time"), time, &row[3], false);
    }
    if let Some(score) = decimal(&row[4]) {
        report.score(&name, score, "", true);
    }
    true
}

fn is_row(line: &str) -> bool {
    line.contains("Disk ") && ROW.is_match(line.trim())
}

fn figure(row: &regex_lite::Captures<'_>) -> Option<Figure> {
    let op = if &row[3] == "Read" { Op::Read } else { Op::Write };
    let pattern = if &row[1] == "Random" { Pattern::Random } else { Pattern::Sequential };
    let mut figure = Figure::new(Load {
        pattern: Some(pattern),
        block_bytes: row[2].parse::<u64>().ok().and_then(|kib| kib.checked_mul(1024)),
        ..Load::new(&format!("Disk {} {}.0 {}", &row[1], &row[2], &row[3]), op)
    });
    figure.rate(Some(printed(&row[4]).filter(|rate| rate.value > 0.0)?.times(1e6)));
    Some(figure)
}
