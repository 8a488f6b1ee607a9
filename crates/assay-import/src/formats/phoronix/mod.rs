//! The Phoronix Test Suite: its result files (`composite.xml`, of both generations) and the JSON that it makes of them
//! (`result-file-to-json`).
//!
//! Elements: `pts-core/openbenchmarking.org/schemas/result-file.xsd`, `pts_result_file.php` and
//! `pts_result_file_output.php` of phoronix-test-suite (GPL); the names up to version 2 are listed in
//! `pts_results_nye_XmlReader.php` of version 5. A file holds the results of several systems side by side: each is a
//! record, and each disk target of it another.

mod document;
mod load;

use std::collections::{BTreeMap, HashMap};

use assay_core::estimate::Estimate;
use assay_core::finding::{Finding, Missing, RowFlaw, Untold};
use assay_core::record::Score;
use document::ResultEntry;

use self::document::{Document, System, Test};
use self::load::Rate;
use crate::date;
use crate::report::{Figure, Format, Problem, Report, Section, Statistic};
use crate::text::Text;

/// The Phoronix Test Suite.
pub(crate) struct Phoronix;

const NAME: &str = "Phoronix Test Suite";
/// Most bytes of text that the records of a document keep: each keeps all of it.
const MOST_KEPT: usize = 32 << 20;
/// Most systems, and targets of their disks, of a document.
const MOST_SYSTEMS: usize = 1_000;
/// Most results without a value that are told.
const MOST_PROBLEMS: usize = 1_000;
/// The target that stands for the directory of the suite itself.
const DEFAULT_TARGET: &str = "Default Test Directory";

impl Format for Phoronix {
    fn name(&self) -> &'static str {
        NAME
    }

    fn keywords(&self) -> &'static [&'static str] {
        &["phoronix", "<testclient>", "<rawstring>", "\"raw_values\"", "\"display_format\""]
    }

    fn needs(&self) -> &'static str {
        "the elements of a `composite.xml`, or the JSON made of it"
    }

    fn begins(&self, text: &Text, at: usize) -> bool {
        document::begins_xml(text, at) || document::begins_json(text, at)
    }

    fn read(&self, text: &Text, at: usize) -> Section {
        let (document, end) =
            if document::begins_xml(text, at) { document::read_xml(text, at) } else { document::read_json(text, at) };
        let document = match document {
            Ok(document) => document,
            Err(what) => return Section::nothing(end, text.number(at), what),
        };
        let (reports, problems) = match reports(&document, text.number(at)) {
            Ok(found) => found,
            Err(what) => return Section::nothing(end, text.number(at), what),
        };
        let bytes: usize = text.lines().get(at..end).unwrap_or_default().iter().map(|line| line.text.len()).sum();
        if bytes.saturating_mul(reports.len()) > MOST_KEPT {
            let what = format!("a result file of {bytes} bytes with {} systems: split it by systems", reports.len());
            return Section::nothing(end, text.number(at), what);
        }
        if reports.is_empty() {
            let nothing = "a file of the Phoronix Test Suite without a result that has a value";
            return Section::nothing(end, text.number(at), nothing);
        }
        Section { end, reports, problems }
    }
}

/// What a result is of, by which results are put together: place and name of the system, target of its disk.
type Key<'a> = (usize, &'a str, &'a str);

/// A report for each system and target of its disk, and what has no value.
fn reports(document: &Document, line: u32) -> Result<(Vec<Report>, Vec<Problem>), String> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (place, system) in document.systems.iter().enumerate() {
        for name in &system.identifiers {
            places.entry(name).or_insert(place);
        }
    }
    let mut all: BTreeMap<Key<'_>, Report> = BTreeMap::new();
    // The rate and the operations of a run are two results with one description.
    let mut twins: HashMap<(Key<'_>, &str, &str), usize> = HashMap::new();
    let mut problems = Vec::new();
    for test in &document.tests {
        let load = load::load_of_test(test);
        let target = test.option("Disk Target").filter(|target| *target != DEFAULT_TARGET).unwrap_or_default();
        for entry in &test.entries {
            let system = places.get(entry.system.as_str()).copied();
            let Some(value) = entry.value.filter(|value| value.is_finite()) else {
                if !entry.drawn && problems.len() < MOST_PROBLEMS {
                    problems.push(Problem { line, what: format!("{} of {} has no value", test.title, entry.system) });
                }
                continue;
            };
            // A system that is not described is one of its own all the same; up to version 2 one has several names.
            let key = (system.unwrap_or(usize::MAX), entry.system.as_str(), target);
            if all.len() >= MOST_SYSTEMS && !all.contains_key(&key) {
                return Err(format!("a result file with more than {MOST_SYSTEMS} systems: split it by systems"));
            }
            let report = all
                .entry(key)
                .or_insert_with(|| report(document, system.and_then(|at| document.systems.get(at)), entry, target));
            if report.is_full() {
                continue;
            }
            let Some((load, rate)) = &load else {
                report.scores.push(score(test, entry, value));
                if test.scale.is_empty() {
                    let untold = Untold::Unit { figure: Some(test.title.clone()), taken_unit: None };
                    report.find(Finding::NotTold { tool: NAME.to_owned(), untold });
                }
                continue;
            };
            if load.device.is_some() {
                report.medium.device.clone_from(&load.device);
            }
            let twin = (key, test.identifier.as_str(), test.description.as_str());
            let at = *twins.entry(twin).or_insert_with(|| {
                report.figures.push(figure(load, entry));
                report.figures.len() - 1
            });
            let Some(figure) = report.figures.get_mut(at) else { continue };
            match rate {
                Rate::Bytes(unit) => {
                    let rate = unit.bytes(value);
                    figure.bytes_per_second = Some(rate);
                    figure.durable_bytes_per_second = load.durable.then_some(rate);
                }
                Rate::Operations => figure.iops = Some(value),
            }
        }
    }
    Ok((all.into_values().filter(|report| !report.is_empty()).collect(), problems))
}

fn figure(load: &load::Known, entry: &ResultEntry) -> Figure {
    let mut figure = Figure::new(load.load.clone());
    figure.statistic = statistic(entry);
    figure.findings = load.findings.clone();
    if entry.runs == 0 {
        figure.findings.push(Finding::NotTold { tool: NAME.to_owned(), untold: Untold::Runs });
    }
    figure
}

fn report(document: &Document, system: Option<&System>, entry: &ResultEntry, target: &str) -> Report {
    let mut report = Report::whole(NAME);
    report.version.clone_from(&document.client);
    report.labels.insert("system".to_owned(), entry.system.clone());
    target.clone_into(&mut report.medium.path);
    if document.cut_off {
        report.findings.push(Finding::SourceIncomplete { missing: Missing::End { tool: NAME.to_owned() } });
    }
    if document.broken {
        report.findings.push(Finding::SourceIncomplete { missing: Missing::Row { flaw: RowFlaw::Broken } });
    }
    let Some(system) = system else { return report };
    if let Some(version) = &system.client {
        report.version = Some(version.clone());
    }
    report.created = time(&system.time);
    let field = |parts: &BTreeMap<String, String>, name: &str| {
        parts.get(name).map(|value| value.trim().to_owned()).filter(|value| !matches!(value.as_str(), "" | "Unknown"))
    };
    report.host.cpu = field(&system.hardware, "Processor");
    report.host.board = field(&system.hardware, "Motherboard").or(field(&system.hardware, "System"));
    report.host.os = field(&system.software, "OS");
    report.host.kernel = field(&system.software, "Kernel");
    if target.is_empty() {
        report.medium.filesystem = field(&system.software, "File-System");
        report.medium.model = field(&system.hardware, "Disk").and_then(|disks| model(&disks));
    }
    report
}

/// The only disk of a system: of several, no one knows which was measured. `512GB Example SSD` has its size in front.
fn model(disks: &str) -> Option<String> {
    let (first, rest) = disks.split_once(' ')?;
    let sized = first.strip_suffix("GB").or_else(|| first.strip_suffix("TB"));
    let digits = sized.is_some_and(|size| !size.is_empty() && size.bytes().all(|b| b.is_ascii_digit() || b == b'.'));
    (digits && !disks.contains(" + ")).then(|| rest.trim().to_owned())
}

/// `2021-03-05 12:34:56`, or `January 24, 2009 09:34 PM` up to version 1.
fn time(text: &str) -> Option<String> {
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return date::of_digits(text);
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let [month, day, year, clock, half] = words.as_slice() else { return None };
    let (hour, minute) = clock.split_once(':')?;
    let hour: u32 = hour.parse().ok().filter(|hour| (1..=12).contains(hour))?;
    let hour = hour % 12 + if *half == "PM" { 12 } else { 0 };
    let day = day.trim_end_matches(',');
    date::of_ctime(&format!("- {month} {day} {hour}:{minute}:00 {year}"))
}

fn statistic(entry: &ResultEntry) -> Statistic {
    if entry.runs > 1 { Statistic::MeanOf(entry.runs) } else { Statistic::One }
}

/// A result that is none of a load.
fn score(test: &Test, entry: &ResultEntry, value: f64) -> Score {
    let method = match entry.runs {
        0 => format!("as printed by {NAME}, which does not tell the number of runs"),
        1 => format!("as printed by {NAME}, one run"),
        runs => format!("as printed by {NAME}, mean of {runs} runs"),
    };
    let name =
        if test.description.is_empty() { test.title.clone() } else { format!("{}, {}", test.title, test.description) };
    Score {
        name,
        value: Estimate::bare(value, entry.runs.max(1), &method),
        unit: test.scale.clone(),
        more_is_better: !test.less_is_better,
        program: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_only_disk_is_the_medium() {
        assert_eq!(model("512GB Example SSD 860"), Some("Example SSD 860".to_owned()));
        assert_eq!(model("0GB VirtualDisk"), Some("VirtualDisk".to_owned()));
        for several in ["512GB A + 1000GB B", "2 x 480GB Example", "31GB", "GB x", ""] {
            assert_eq!(model(several), None, "{several}");
        }
    }

    #[test]
    fn times_of_both_generations() {
        assert_eq!(time("2021-03-05 12:34:56").as_deref(), Some("2021-03-05T12:34:56Z"));
        assert_eq!(time("2010-03-05 12:34").as_deref(), Some("2010-03-05T12:34:00Z"));
        assert_eq!(time("January 24, 2009 09:34 PM").as_deref(), Some("2009-01-24T21:34:00Z"));
        assert_eq!(time("May 4, 2009 12:05 AM").as_deref(), Some("2009-05-04T00:05:00Z"));
        for bad in ["", "soon", "May 4, 2009 13:05 AM", "May 4, 2009 12 AM"] {
            assert_eq!(time(bad), None, "{bad}");
        }
    }
}
