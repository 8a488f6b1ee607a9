//! mdtest 1 to 4: its summary of rates.
//!
//! Rates are operations per second of all tasks: scores, as there is no load of bytes in them. Of the columns for each
//! rank and for each iteration, which version 4 prints, those of the iterations count.

use std::sync::LazyLock;

use assay_core::estimate::Estimate;
use assay_core::finding::{Detail, Finding, Missing};
use assay_core::record::Score;

use crate::date;
use crate::pattern::{Regex, regex};
use crate::report::{Format, Report, Section, Statistic};
use crate::text::Text;

/// mdtest.
pub(crate) struct Mdtest;

const NAME: &str = "mdtest";
/// Most lines of a report.
const LONGEST: usize = 200;
/// Most lines from a heading to the first rate below it, without empty ones.
const MOST_BETWEEN: usize = 3;

static TITLE: LazyLock<Regex> =
    LazyLock::new(|| regex(r"mdtest-(\S+) was launched with (\d+) total task\(s\) on (\d+) node(?:\(s\)|s)"));
/// The tree of directories up to version 1, above and below the summary: `tree creation rate: 1282.661773 ops/sec`.
static TREE: LazyLock<Regex> = LazyLock::new(|| regex(r"^tree (creation|removal) rate: ([0-9.,]+) ops/sec$"));
static SUMMARY: LazyLock<Regex> = LazyLock::new(|| regex(r"SUMMARY(?: rate)?[^:]*: \(of (\d+) iterations\)"));
/// The heading of the columns, which names them: a copy may begin with it.
static COLUMNS: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^\s*Operation\s+(?:per Rank: +)?Max(?:\(ops/sec\))?\s+Min\s+Mean\s+Std Dev"));
static RATE: LazyLock<Regex> = LazyLock::new(|| regex(r"^((?:Directory|File|Tree) [a-z]+)\s*:?\s+((?:[0-9.,]+\s*)+)$"));

impl Format for Mdtest {
    fn name(&self) -> &'static str {
        NAME
    }

    fn keywords(&self) -> &'static [&'static str] {
        &["mdtest", "was launched with", "summary rate", "file creation", "directory stat"]
    }

    fn needs(&self) -> &'static str {
        "its title, or a heading above rows of rates"
    }

    fn begins(&self, text: &Text, at: usize) -> bool {
        let line = text.line(at);
        let below = || {
            let filled = (at + 1..text.len().min(at + LONGEST)).map(|next| text.line(next).trim());
            filled.filter(|next| !next.is_empty()).take(MOST_BETWEEN).any(|next| RATE.is_match(next))
        };
        let columns = || line.contains("Std Dev") && COLUMNS.is_match(line) && !is_of_times(text, at);
        is_title(line) || (is_summary(line) || columns()) && below()
    }

    fn read(&self, text: &Text, at: usize) -> Section {
        let mut report = Report::new(NAME);
        if let Some(title) = TITLE.captures(text.line(at)) {
            report.version = Some(title[1].to_owned());
            report.labels.insert("tasks".to_owned(), title[2].to_owned());
            report.labels.insert("nodes".to_owned(), title[3].to_owned());
        }
        let (mut statistic, mut end, mut tree) = (None, at + 1, Vec::new());
        for number in at..text.len().min(at + LONGEST) {
            let line = text.line(number).trim();
            let another = is_title(line) || !report.scores.is_empty() && self.begins(text, number);
            if number > at && another {
                break;
            }
            if let Some((_, date)) = line.split_once("started at ") {
                report.created = date_of(date);
            } else if let Some(path) =
                line.strip_prefix("Path:").or_else(|| line.strip_prefix("Path                : "))
            {
                report.medium.path = path.trim().to_owned();
            } else if let Some(summary) =
                SUMMARY.captures(line).filter(|_| statistic.is_none() && !line.contains("time"))
            {
                let runs = summary[1].parse().unwrap_or(1);
                statistic = Some(if runs > 1 { Statistic::MeanOf(runs) } else { Statistic::One });
            } else if statistic.is_none() && COLUMNS.is_match(line) && !is_of_times(text, number) {
                // The line above says of how many iterations these are the means.
                statistic = Some(Statistic::One);
                report.findings.push(Finding::SourceIncomplete { missing: Missing::lines(&[], &[Detail::Runs]) });
            } else if let Some((rate, statistic)) = RATE.captures(line).zip(statistic) {
                report.scores.extend(score(&rate[1], &rate[2], statistic));
            } else if let Some(rate) = TREE.captures(line) {
                let name = format!("Tree {}", &rate[1]);
                let first = |rate: &Score| tree.iter().all(|known: &Score| known.name != rate.name);
                let rate = rate[2].replace(',', ".").parse().ok().and_then(|rate| printed(&name, rate, Statistic::One));
                tree.extend(rate.filter(first));
            } else if line.starts_with("SUMMARY time") || line.contains("finished at") {
                end = number + 1;
                break;
            }
            if !line.is_empty() {
                end = number + 1;
            }
        }
        if report.scores.is_empty() {
            return Section::nothing(end, text.number(at), "output of mdtest without a summary of rates");
        }
        report.scores.extend(tree);
        Section::from_report(report, end)
    }
}

fn is_title(line: &str) -> bool {
    line.contains("was launched with") && TITLE.is_match(line)
}

/// Whether the rates begin: those of times have a heading of the same shape.
fn is_summary(line: &str) -> bool {
    line.contains("SUMMARY") && !line.contains("time") && SUMMARY.is_match(line)
}

/// Whether the heading of columns at line `at` is that of times, in seconds: their rows look like those of rates.
fn is_of_times(text: &Text, at: usize) -> bool {
    let mut above = (at.saturating_sub(MOST_BETWEEN)..at).rev().map(|line| text.line(line).trim());
    above.find(|line| !line.is_empty()).is_some_and(|line| line.contains("SUMMARY time"))
}

/// `04/29/2022 12:16:07`.
fn date_of(text: &str) -> Option<String> {
    let (date, time) = text.trim().split_once(' ')?;
    let mut parts = date.split('/');
    let (month, day, year) = (parts.next()?, parts.next()?, parts.next()?);
    let time = time.split(' ').next()?;
    date::of_digits(&format!("{year}/{month}/{day} {time}"))
}

fn score(name: &str, values: &str, statistic: Statistic) -> Option<Score> {
    // Some locales have a comma for the point. Of a row with both no number is certain.
    let commas = values.split_whitespace().all(|value| value.contains(','));
    let plain = |value: &str| if commas { value.replacen(',', ".", 1) } else { value.to_owned() };
    let values: Vec<f64> = values.split_whitespace().filter_map(|value| plain(value).parse().ok()).collect();
    // Highest, least, mean and standard deviation; of ranks first, where there are eight.
    let mean = match values.len() {
        4 => values.get(2),
        8 => values.get(6),
        _ => None,
    };
    printed(name, *mean?, statistic)
}

fn printed(name: &str, rate: f64, statistic: Statistic) -> Option<Score> {
    let mean = Some(rate).filter(|rate| *rate > 0.0)?;
    let (runs, words) = match statistic {
        Statistic::MeanOf(runs) => (runs, format!("as printed by mdtest, mean of {runs} runs")),
        _ => (1, "as printed by mdtest, one run".to_owned()),
    };
    Some(Score {
        name: format!("mdtest {}", name.to_lowercase()),
        value: Estimate::bare(mean, runs, &words),
        unit: "ops/s".to_owned(),
        more_is_better: true,
        program: None,
    })
}
