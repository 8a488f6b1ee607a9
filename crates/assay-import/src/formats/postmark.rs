//! PostMark 1.5: its summary of a run.
//!
//! Its rates are those of a clock, of whole seconds but in some builds, of files through the page cache without a sync:
//! scores. Rates stand behind the counts in brackets; its megabytes are 2^20 bytes (`postmark.c`, `scale`).

use std::sync::LazyLock;

use assay_core::estimate::Estimate;
use assay_core::record::Score;
use assay_core::units::MIB;

use crate::command::Title;
use crate::pattern::{Regex, regex};
use crate::report::{Format, Report, Section};
use crate::text::Text;

/// PostMark.
pub(crate) struct PostMark;

const NAME: &str = "PostMark";
/// Most lines of a report.
const LONGEST: usize = 100;

static TITLE: Title = Title::new("PostMark v", || regex(r"PostMark v(\d[\d.]*)"));
static TRANSACTIONS: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^([0-9.]+) seconds? of transactions \(([0-9.]+) per second\)$"));
static TOTAL: LazyLock<Regex> = LazyLock::new(|| regex(r"^([0-9.]+) seconds? total$"));
static FILES: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^\d+ (created|read|appended|deleted) \(([0-9.]+) per second\)$"));
/// Files that are made before the transactions and removed behind them, apart from those in between.
static ALONE: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^(Creation|Deletion) alone: \d+ files? \(([0-9.]+) per second\)$"));
static DATA: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^[0-9.]+ (?:bytes|kilobytes|megabytes|gigabytes) (read|written) \(([0-9.]+) (bytes|kilobytes|megabytes|gigabytes) per second\)$",
    )
});

impl Format for PostMark {
    fn name(&self) -> &'static str {
        NAME
    }

    fn keywords(&self) -> &'static [&'static str] {
        &["postmark", "seconds of transactions", "creation alone", "mixed with transactions"]
    }

    fn needs(&self) -> &'static str {
        "its title, or the line of transactions"
    }

    fn begins(&self, text: &Text, at: usize) -> bool {
        let line = text.line(at).trim();
        let total = || TOTAL.is_match(line) && TRANSACTIONS.is_match(text.line(at + 1).trim());
        TITLE.stands(text, at) || TRANSACTIONS.is_match(line) || total()
    }

    fn read(&self, text: &Text, at: usize) -> Section {
        let mut report = Report::new(NAME);
        report.version = TITLE.version(text, at);
        let mut end = at + 1;
        for number in at..text.len().min(at + LONGEST) {
            let line = text.line(number).trim();
            if number > at && line.contains("PostMark v") {
                break;
            }
            let score = score(line);
            if score.is_some() || line.ends_with(':') {
                end = number + 1;
            }
            let written = score.as_ref().is_some_and(|score| score.name == "PostMark written");
            report.scores.extend(score);
            // The last line of a summary.
            if written {
                break;
            }
        }
        if report.scores.is_empty() {
            return Section::nothing(end, text.number(at), "output of PostMark without its summary");
        }
        Section::from_report(report, end)
    }
}

fn score(line: &str) -> Option<Score> {
    let (name, value, unit, more_is_better) = if let Some(found) = TRANSACTIONS.captures(line) {
        ("transactions".to_owned(), found[2].parse().ok()?, "transactions/s", true)
    } else if let Some(found) = TOTAL.captures(line) {
        ("total time".to_owned(), found[1].parse().ok()?, "s", false)
    } else if let Some(found) = FILES.captures(line) {
        (format!("files {}", &found[1]), found[2].parse().ok()?, "files/s", true)
    } else if let Some(found) = ALONE.captures(line) {
        let done = if &found[1] == "Creation" { "created" } else { "deleted" };
        (format!("files {done} alone"), found[2].parse().ok()?, "files/s", true)
    } else {
        let found = DATA.captures(line)?;
        let factor = match &found[3] {
            "bytes" => 1.0,
            "kilobytes" => 1024.0,
            "megabytes" => MIB as f64,
            _ => 1024.0 * MIB as f64,
        };
        (found[1].to_owned(), found[2].parse::<f64>().ok()? * factor / 1e6, "MB/s", true)
    };
    Some(Score {
        name: format!("PostMark {name}"),
        value: Estimate::bare(value, 1, "as printed by PostMark, one run"),
        unit: unit.to_owned(),
        more_is_better,
        program: None,
    })
}
