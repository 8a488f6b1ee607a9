//! Answers of compare, rank, plan, advise and list: on the terminal, as JSON, or in a file.

use std::path::{Path, PathBuf};

use assay_analysis::fleet::FleetRun;
use assay_analysis::survive::{Lives, Unit as LifeUnit};
use assay_analysis::{Load, UnitNote, loads_named};
use assay_core::endurance::Endurance;
use assay_core::observation::Observation;
use assay_core::text::{self, harmless, quoted};
use assay_pictures::{Drawing, PNG_SCALE};
use assay_report::watch::Watched;
use assay_report::{Answered, Document, Redactor, ReportFormat, Style};
use serde_json::{Value, json};

use crate::cli::FileArgs;
use crate::documents::SettledDocument;
use crate::ending::Failure;
use crate::{files, output, state};

/// What a command found, in the forms in which it may be asked for.
pub(crate) trait Answer {
    /// For a terminal.
    fn text(&self, style: &Style) -> String;

    /// For machines.
    fn json(&self) -> Result<Value, Failure>;

    /// For a page, Markdown and CSV.
    fn document(&self) -> Document;

    /// For a picture; only of answers whose [`Target`] allows pictures.
    fn picture(&self) -> Option<Drawing> {
        None
    }
}

/// Formats of an answer that has no picture of its own.
pub(crate) const WITHOUT_PICTURE: &[ReportFormat] =
    &[ReportFormat::Html, ReportFormat::Markdown, ReportFormat::Csv, ReportFormat::Json];
/// Formats of an answer that has one.
pub(crate) const WITH_PICTURE: &[ReportFormat] = &[
    ReportFormat::Html,
    ReportFormat::Markdown,
    ReportFormat::Csv,
    ReportFormat::Json,
    ReportFormat::Svg,
    ReportFormat::Png,
];

impl Answer for Answered {
    fn text(&self, style: &Style) -> String {
        self.document.text(style)
    }

    fn json(&self) -> Result<Value, Failure> {
        Ok(self.json.clone())
    }

    fn document(&self) -> Document {
        self.document.clone()
    }
}

/// Where an answer goes: known before anything is computed, so that a wrong name costs no time.
pub(crate) struct Target {
    file: Option<(PathBuf, Option<ReportFormat>)>,
    redactor: Option<Redactor>,
    /// What labels and serial numbers of the records contradict each other in; `None` where the answer is not about units.
    contradictions: Option<Vec<UnitNote>>,
}

impl Target {
    /// The file that was named, or standard output.
    pub(crate) fn new(args: &FileArgs, possible: &[ReportFormat]) -> Result<Self, Failure> {
        let Some(path) = &args.output else { return Ok(Self::stdout()) };
        if files::is_stdout(path) {
            return Self::shared_stdout(args);
        }
        let format = ReportFormat::from_path(path, possible).map_err(|e| Failure::usage(e.to_string()))?;
        Self::named(args, path, Some(format))
    }

    /// The same for a text whose format the command line says, whatever the file is called.
    pub(crate) fn of_text(args: &FileArgs) -> Result<Self, Failure> {
        match &args.output {
            Some(path) if files::is_stdout(path) => Self::shared_stdout(args),
            Some(path) => Self::named(args, path, None),
            None => Ok(Self::stdout()),
        }
    }

    /// Nothing that leaves this user: standard output, or a page of the private dashboard.
    pub(crate) fn stdout() -> Self {
        Self { file: None, redactor: None, contradictions: None }
    }

    /// Standard output that was asked for like a file, which may be shared.
    fn shared_stdout(args: &FileArgs) -> Result<Self, Failure> {
        Ok(Self { redactor: Some(state::redactor(args.identities)?), ..Self::stdout() })
    }

    /// Whether the answer goes to a file.
    pub(crate) fn is_file(&self) -> bool {
        self.file.is_some()
    }

    fn named(args: &FileArgs, path: &Path, format: Option<ReportFormat>) -> Result<Self, Failure> {
        files::check_writable(path)?;
        // A file may be shared.
        let file = Some((path.to_owned(), format));
        Ok(Self { file, redactor: Some(state::redactor(args.identities)?), contradictions: None })
    }

    /// Records in parts, as [`Target::redacted`] all together.
    pub(crate) fn redacted_parts(&self, parts: Vec<Vec<Observation>>) -> Result<Vec<Vec<Observation>>, Failure> {
        let lengths: Vec<usize> = parts.iter().map(Vec::len).collect();
        let mut all = self.redacted(parts.into_iter().flatten().collect())?.into_iter();
        Ok(lengths.into_iter().map(|length| all.by_ref().take(length).collect()).collect())
    }

    /// The records as they may go there.
    pub(crate) fn redacted(&self, records: Vec<Observation>) -> Result<Vec<Observation>, Failure> {
        match &self.redactor {
            Some(redactor) => Ok(redactor.observations(&records)?),
            None => Ok(records),
        }
    }

    /// Prepares the records of a question: leaves out copies, and names units alike where labels contradict serial numbers. Prints
    /// a note for each contradiction, and keeps it for machines.
    pub(crate) fn settle<'a>(&mut self, records: impl IntoIterator<Item = &'a mut Observation>) {
        self.contradictions = Some(settle(records));
    }

    /// The answer for machines, with what contradicts each other.
    fn json(&self, answer: &impl Answer) -> Result<Value, Failure> {
        let answer = answer.json()?;
        match &self.contradictions {
            Some(contradictions) => output::json(&SettledDocument { answer, contradictions }),
            None => Ok(answer),
        }
    }

    /// A run on many nodes as it may go there. With ssh the name of a node is that of its host.
    pub(crate) fn redact_run(&self, run: &mut FleetRun) -> Result<(), Failure> {
        let Some(redactor) = &self.redactor else { return Ok(()) };
        let mut records = redactor.observations(run.nodes.iter().filter_map(|node| node.record.as_ref()))?.into_iter();
        for node in &mut run.nodes {
            // The rules are those of records: what became of a node may name it.
            let mut part = json!({ "cluster": { "node": node.name, "lost": node.outcome } });
            redactor.value(&mut part);
            let said = |key: &str| part["cluster"][key].as_str().map(str::to_owned);
            (node.name, node.outcome) = (said("node").unwrap_or_default(), said("lost").unwrap_or_default());
            node.record = node.record.take().and_then(|_| records.next());
        }
        Ok(())
    }

    /// Units of endurance tests as they may go there: hosts and serial numbers among their labels are replaced.
    pub(crate) fn redact_lives(&self, lives: &mut Lives) {
        let Some(redactor) = &self.redactor else { return };
        // The rules are those of records. A column of this name holds host names.
        let part = |unit: &LifeUnit| json!({ "labels": unit.labels, "host": { "hostname": unit.labels.get("host") } });
        let mut parts: Vec<Value> = lives.units.iter().map(part).collect();
        redactor.values(&mut parts);
        for (unit, part) in lives.units.iter_mut().zip(parts) {
            let labels = part["labels"].as_object().into_iter().flatten();
            unit.labels = labels.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect();
        }
    }

    /// A test of endurance as it may go there. The id tells tests apart, and is no serial number; the model of a loop device is the
    /// path of its file.
    pub(crate) fn redact_worn(&self, test: &mut Endurance) {
        let Some(redactor) = self.redactor.as_ref().filter(|redactor| !redactor.keeps_identities()) else { return };
        test.unit = None;
        test.labels.clear();
        let mut part = json!({ "medium": { "model": test.model } });
        redactor.value(&mut part);
        test.model = part["medium"]["model"].as_str().map(str::to_owned);
    }

    /// Watched media as they may go there: without serial numbers, paths and what the system said.
    pub(crate) fn redact_watched(&self, media: &mut [Watched]) {
        let Some(redactor) = self.redactor.as_ref().filter(|redactor| !redactor.keeps_identities()) else { return };
        for status in media.iter_mut().map(|watched| &mut watched.status) {
            (status.unit, status.target) = (None, String::new());
            // With ssh the name of a node is that of its host, and a watch is named after its node.
            if let Some(node) = &status.node {
                let mut part = json!({ "cluster": { "node": node } });
                redactor.value(&mut part);
                status.name = part["cluster"]["node"].as_str().unwrap_or_default().to_owned();
                status.node = Some(status.name.clone());
                let name = &status.name;
                let events = status.open.iter_mut().chain(&mut status.events);
                events.for_each(|one| one.id = format!("{name}/{}", one.event.number));
            }
            if let Some(skipped) = &mut status.skipped {
                skipped.detail.clear();
            }
        }
    }

    /// Writes or prints a text as it is.
    pub(crate) fn deliver_text(&self, text: &str) -> Result<(), Failure> {
        match &self.file {
            Some((path, _)) => write(path, text.as_bytes()),
            None => output::print(text),
        }
    }

    /// Writes the file, or prints the answer.
    pub(crate) fn deliver(&self, answer: &impl Answer, as_json: bool) -> Result<(), Failure> {
        match &self.file {
            Some((path, Some(format))) => write(path, &self.content(*format, answer)?),
            Some((path, None)) => write(path, answer.text(&Style::default()).as_bytes()),
            None if as_json => output::print_json(&self.json(answer)?),
            None => output::print(&answer.text(&output::stdout_style())),
        }
    }

    fn content(&self, format: ReportFormat, answer: &impl Answer) -> Result<Vec<u8>, Failure> {
        let drawing = || {
            let nothing = "there is no figure to draw; a page or a table says what there is";
            answer.picture().ok_or_else(|| Failure::usage(nothing))
        };
        Ok(match format {
            ReportFormat::Html => answer.document().html().into_bytes(),
            ReportFormat::Markdown => answer.document().markdown().into_bytes(),
            ReportFormat::Csv => answer.document().csv().into_bytes(),
            ReportFormat::Json => text::json(&format!("{:#}\n", self.json(answer)?)).into_bytes(),
            ReportFormat::Svg => drawing()?.svg().into_bytes(),
            // None of them is among the formats of a target.
            ReportFormat::LongCsv
            | ReportFormat::CrystalDiskMark
            | ReportFormat::FioJson
            | ReportFormat::Prometheus
            | ReportFormat::OpenBenchmarking => {
                return Err(Failure::usage("this is a format of records: assay report --format"));
            }
            #[cfg(feature = "parquet")]
            ReportFormat::Parquet => return Err(Failure::usage("this is a format of records: assay report --format")),
            ReportFormat::Png | ReportFormat::Gif => {
                drawing()?.png(PNG_SCALE).map_err(|e| Failure::usage(harmless(&e.to_string())))?
            }
        })
    }
}

/// Leaves out copies among the records of a question, and names units alike where labels contradict serial numbers. Prints a
/// note for each contradiction, and returns it.
pub(crate) fn settle<'a>(records: impl IntoIterator<Item = &'a mut Observation>) -> Vec<UnitNote> {
    let mut records: Vec<&mut Observation> = records.into_iter().collect();
    assay_analysis::leave_out_copies(records.iter_mut().map(|record| &mut **record));
    let notes = assay_analysis::settle_units(records);
    notes.iter().for_each(|note| output::tell_wrapped(&format!("note: {note}")));
    notes
}

fn write(path: &Path, content: &[u8]) -> Result<(), Failure> {
    files::write_whole(path, content)?;
    output::tell(&format!("wrote {}", output::shown(path)));
    Ok(())
}

// What is said where words name several loads, and an answer is about one of them.

/// Loads that are named in one line.
const SHOWN: usize = 6;

/// Names the loads that the `words` of `--load` fit, where the answer is about `chosen`, one of several. All commands that
/// decide by one load choose it in one way ([`assay_analysis::deciding_load`]) and say so here.
pub(crate) fn tell_chosen<'r>(words: Option<&str>, records: impl IntoIterator<Item = &'r Observation>, chosen: &Load) {
    let named = words.and_then(|words| Some((words, loads_named(records, words).ok()?)));
    if let Some(line) = named.and_then(|(words, named)| among(words, &named, chosen)) {
        output::tell_wrapped(&line);
    }
}

/// The line, where there is more than one.
fn among(words: &str, named: &[Load], chosen: &Load) -> Option<String> {
    let others: Vec<String> = named.iter().filter(|load| *load != chosen).map(Load::title).collect();
    let (first, more) = others.split_at(others.len().min(SHOWN));
    let more = if more.is_empty() { String::new() } else { format!("; and {} more", more.len()) };
    (!others.is_empty()).then(|| {
        format!(
            "--load {} names {} loads; this is about {}, and not about {}{more}",
            quoted(words),
            named.len(),
            chosen.title(),
            first.join("; ")
        )
    })
}

#[cfg(test)]
mod tests {
    use assay_core::workload::{Op, Pattern, Workload};

    use super::*;

    #[test]
    fn several_loads_are_named_and_one_is_not() {
        let load = |block| Load::from_workload(&Workload::new("w", Op::Write, Pattern::Random, block));
        let all: Vec<Load> = (10..20).map(|power| load(1 << power)).collect();
        assert_eq!(among("write", &all[..1], &all[0]), None);
        let two = among("write", &all[..2], &all[1]).unwrap();
        assert_eq!(
            two,
            "--load `write` names 2 loads; this is about random write 2 KiB, and not about random write 1 KiB"
        );
        let many = among("write", &all, &all[2]).unwrap();
        assert!(
            many.contains("names 10 loads; this is about random write 4 KiB,") && many.ends_with("; and 3 more"),
            "{many}"
        );
    }
}
