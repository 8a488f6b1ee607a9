//! The results, the targets they are judged by, and their record for each version.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use assay_core::draft::Draft;
use assay_core::estimate::Estimate;
use assay_core::medium::Medium;
use assay_core::outcome::Outcome;
use assay_core::program::ProgramRun;
use assay_core::record::{Host, Record, Score, SuiteRef, Tool};
use assay_device::Sysroot;
use assay_lab::Missing;
use assay_stats::change;

/// One figure that has a target.
#[derive(Debug, Clone)]
pub(crate) struct BenchRow {
    pub(crate) what: String,
    pub(crate) ours: String,
    /// The peer's figure; a dash where there is no peer.
    pub(crate) peer: String,
    /// What the target is about: a ratio, or a figure in `unit`; `None` where it is no positive number.
    pub(crate) seen: Option<Estimate>,
    /// The values behind it.
    pub(crate) values: Vec<f64>,
    pub(crate) unit: &'static str,
    pub(crate) target: Target,
    /// Most values that were to be taken.
    pub(crate) planned: usize,
}

impl BenchRow {
    /// A figure without uncertainty.
    pub(crate) fn exact(what: &str, seen: f64, unit: &'static str, ours: String, target: Target) -> Self {
        Self {
            what: what.to_owned(),
            ours,
            peer: "–".to_owned(),
            seen: Some(Estimate::bare(seen, 1, "as it is")),
            values: vec![seen],
            unit,
            target,
            planned: 1,
        }
    }

    /// A row without any value is not a miss.
    pub(crate) fn judgement(&self) -> Judgement {
        if self.values.is_empty() { Judgement::CannotTell } else { self.target.judge(self.seen.as_ref()) }
    }

    /// Why the row is undecided; `None` where it is decided.
    pub(crate) fn why(&self) -> Option<String> {
        let (count, planned) = (self.values.len(), self.planned);
        (self.judgement() == Judgement::CannotTell).then(|| match count < planned {
            true => format!("its time was over after {count} of {planned} values"),
            false => format!("undecided after {count} values"),
        })
    }

    /// The figure with its interval.
    fn seen(&self) -> String {
        self.seen.as_ref().map_or_else(|| "no number".to_owned(), |seen| format!("{}{}", interval(seen), self.unit))
    }
}

/// `1.052 (1.034 to 1.071)`.
fn interval(seen: &Estimate) -> String {
    match (seen.low, seen.high) {
        (Some(low), Some(high)) => format!("{:.3} ({low:.3} to {high:.3})", seen.point),
        _ => format!("{:.3}", seen.point),
    }
}

/// One card of known truth.
#[derive(Debug, Clone)]
pub(crate) struct CardRow {
    pub(crate) card: String,
    pub(crate) workload: String,
    pub(crate) truth: String,
    pub(crate) seen: String,
    /// The measured value divided by the truth. The target is the largest deviation from 1.
    pub(crate) row: BenchRow,
}

/// All results so far. Each figure is printed as soon as it is known.
#[derive(Debug, Default)]
pub(crate) struct Report {
    name: &'static str,
    rows: Vec<(&'static str, BenchRow)>,
    cards: Vec<CardRow>,
    notes: Vec<(&'static str, String)>,
    skipped: usize,
    begun: Option<Instant>,
    /// When the comparison under way has to be over.
    until: Option<Instant>,
}

impl Report {
    /// Begins a comparison that takes this long at most, and says so.
    pub(crate) fn begin(&mut self, name: &'static str, most: Duration) {
        let now = Instant::now();
        self.name = name;
        self.begun.get_or_insert(now);
        self.until = Some(now + most);
        println!("    {name}: at most {} s", most.as_secs());
    }

    /// Whether something that takes this long is over in time.
    pub(crate) fn has_time_for(&self, length: Duration) -> bool {
        self.until.is_none_or(|until| Instant::now() + length < until)
    }

    #[cfg(test)]
    pub(crate) fn rows(&self) -> Vec<&BenchRow> {
        self.rows.iter().map(|(_, row)| row).collect()
    }

    pub(crate) fn add(&mut self, row: BenchRow) {
        let BenchRow { what, ours, peer, unit, target, values, .. } = &row;
        let count = values.len();
        let why = row.why().map_or_else(String::new, |why| format!("; {why}"));
        println!(
            "{}  {}: {what}: {}, target {target}{unit} (assay {ours}, peer {peer}; {count} values{why})",
            state(row.judgement()),
            self.name,
            row.seen()
        );
        self.rows.push((self.name, row));
    }

    pub(crate) fn add_card(&mut self, card: CardRow) {
        println!(
            "{}  {}: {}: {}: truth {}, seen {}, by the truth {}, target {}",
            state(card.row.judgement()),
            self.name,
            card.card,
            card.workload,
            card.truth,
            card.seen,
            card.row.seen(),
            card.row.target
        );
        self.cards.push(card);
    }

    /// Says something of this comparison that is no figure: which of its settings a peer was best with.
    pub(crate) fn note(&mut self, note: String) {
        println!("    {}: {note}", self.name);
        self.notes.push((self.name, note));
    }

    pub(crate) fn skip(&mut self, missing: &Missing) {
        println!("SKIP: {}: {missing}", self.name);
        self.skipped += 1;
    }

    /// Prints the tables and what changed since the version before, and keeps the results; failure where a target was
    /// missed.
    pub(crate) fn finish(self) -> ExitCode {
        if !self.cards.is_empty() {
            println!("\n| card | workload | truth | seen | by the truth | target | met |");
            println!("| --- | --- | --- | --- | --- | --- | --- |");
            for CardRow { card, workload, truth, seen, row } in &self.cards {
                let (by, met) = (row.seen(), met(row));
                println!("| {card} | {workload} | {truth} | {seen} | {by} | {} | {met} |", row.target);
            }
        }
        if !self.rows.is_empty() {
            println!("\n| name | comparison | assay | peer | seen (95 % interval) | values | target | met |");
            println!("| --- | --- | --- | --- | --- | --: | --- | --- |");
            for (name, row) in &self.rows {
                let BenchRow { what, ours, peer, unit, target, values, .. } = row;
                let (seen, count, met) = (row.seen(), values.len(), met(row));
                println!("| `{name}` | {what} | {ours} | {peer} | {seen} | {count} | {target}{unit} | {met} |");
            }
        }
        for (name, note) in &self.notes {
            println!("\n`{name}`: {note}");
        }
        keep_and_compare(&self.scores());
        let all: Vec<Judgement> = self.all_rows().map(|(_, row)| row.judgement()).collect();
        let count = |judgement| all.iter().filter(|seen| **seen == judgement).count();
        let missed = count(Judgement::Missed);
        let seconds = self.begun.map_or(0.0, |begun| begun.elapsed().as_secs_f64());
        println!(
            "\n{} met, {missed} missed, {} cannot tell, {} skipped, {seconds:.0} s",
            count(Judgement::Met),
            count(Judgement::CannotTell),
            self.skipped
        );
        if missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    fn all_rows(&self) -> impl Iterator<Item = (String, &BenchRow)> {
        let rows = self.rows.iter().map(|(name, row)| (format!("{name}: {}", row.what), row));
        rows.chain(self.cards.iter().map(|card| (format!("card: {}: {}", card.card, card.workload), &card.row)))
    }

    /// The rows as scores of a record.
    fn scores(&self) -> Vec<Score> {
        let score = |(name, row): (String, &BenchRow)| {
            let run = ProgramRun { program: name.clone(), values: row.values.clone(), ..ProgramRun::default() };
            Some(Score {
                name,
                value: row.seen.clone()?,
                unit: row.unit.trim().to_owned(),
                more_is_better: row.target.more_is_better(),
                program: Some(Box::new(run)),
            })
        };
        self.all_rows().filter_map(score).collect()
    }
}

/// Whether a row meets its target, with the reason where it is undecided.
fn met(row: &BenchRow) -> String {
    let word = row.judgement().word();
    row.why().map_or_else(|| word.to_owned(), |why| format!("{word}: {why}"))
}

fn state(judgement: Judgement) -> &'static str {
    match judgement {
        Judgement::Met => "OK",
        Judgement::Missed => "NO",
        Judgement::CannotTell => "??",
    }
}

// What a figure must be, and whether it is, by its interval.

/// What a figure must be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Target {
    AtLeast(f64),
    AtMost(f64),
    /// This far from 1 at most.
    AroundOne(f64),
}

/// Whether it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// The whole interval meets the target.
    Met,
    /// No part of it does.
    Missed,
    /// A part of it does, after as many values as are taken.
    CannotTell,
}

impl Judgement {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Met => "yes",
            Self::Missed => "**NO**",
            Self::CannotTell => "cannot tell here",
        }
    }
}

impl Target {
    /// A figure without an interval is exact: the size of a file.
    pub(crate) fn judge(self, seen: Option<&Estimate>) -> Judgement {
        // A result that is not a number misses every target.
        let Some(seen) = seen else { return Judgement::Missed };
        let (low, high) = (seen.low.unwrap_or(seen.point), seen.high.unwrap_or(seen.point));
        let (least, most) = match self {
            Self::AtLeast(least) => (least, f64::INFINITY),
            Self::AtMost(most) => (f64::NEG_INFINITY, most),
            Self::AroundOne(share) => (1.0 - share, 1.0 + share),
        };
        match () {
            () if least <= low && high <= most => Judgement::Met,
            () if high < least || most < low || low.is_nan() || high.is_nan() => Judgement::Missed,
            () => Judgement::CannotTell,
        }
    }

    /// Whether more is better. For a figure that has to be near 1, neither direction is.
    pub(crate) fn more_is_better(self) -> bool {
        matches!(self, Self::AtLeast(_))
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(least) => write!(f, "≥ {least}"),
            Self::AtMost(most) => write!(f, "≤ {most}"),
            Self::AroundOne(share) => write!(f, "{:.2} to {:.2}", 1.0 - share, 1.0 + share),
        }
    }
}

// Results by version: a record of each, in `data/benchmarks`, and what changed since the version before.
//
// A version is the commit that was measured. Figures of two machines say nothing about a change, so that a record is compared
// with the last one from a machine like this.

/// Adds the scores to the record of this version, replacing scores of the same names, and prints the changes since the
/// last record of another version.
pub(crate) fn keep_and_compare(scores: &[Score]) {
    if scores.is_empty() {
        return;
    }
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/benchmarks");
    let version = version();
    // A record says nothing about who measured: names of hosts stay at home.
    let host = Host { hostname: None, ..assay_device::host(&Sysroot::real()) };
    let kept = read_kept(&directory, &host);
    if let Some((_, before)) = kept.iter().rfind(|(_, record)| record.tool.version != version) {
        print_changes(scores, before);
    }
    let own = kept.into_iter().rfind(|(_, record)| record.tool.version == version);
    let created = jiff::Timestamp::now();
    let (path, old) = own.map_or_else(
        || (directory.join(format!("{}-{version}.json", created.strftime("%Y-%m-%d-%H%M"))), Vec::new()),
        |(path, record)| (path, record.scores),
    );
    let mut record = kept_draft(&version, &created.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(), host);
    let all = &mut record.fill().scores;
    all.extend(old.into_iter().filter(|old| scores.iter().all(|new| new.name != old.name)));
    all.extend_from_slice(scores);
    let text = serde_json::to_string_pretty(&record.close(Outcome::Completed)).unwrap();
    match std::fs::create_dir_all(&directory).and_then(|()| std::fs::write(&path, text + "\n")) {
        Ok(()) => println!("\nkept in {}", path.canonicalize().unwrap_or(path).display()),
        Err(error) => println!("\nnot kept: {}: {error}", path.display()),
    }
}

fn kept_draft(version: &str, created: &str, host: Host) -> Draft {
    let tool = Tool::assay(version, "bench", "comparisons with peers");
    let id = format!("bench-{version}");
    Draft::begin(&id, created, tool, SuiteRef::new("bench", 1), Medium::unknown("")).on_host(host)
}

/// `git describe` of the tree; the version of the program where there is no git.
fn version() -> String {
    let arguments = ["describe", "--always", "--dirty", "--abbrev=7", "--exclude=*"];
    let output = Command::new("git").args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output();
    let text = output.ok().filter(|o| o.status.success()).map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned());
    text.filter(|text| !text.is_empty()).unwrap_or_else(|| env!("CARGO_PKG_VERSION").to_owned())
}

/// Records of machines like `host`, the oldest first.
fn read_kept(directory: &Path, host: &Host) -> Vec<(PathBuf, Record)> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|e| e == "json")).collect();
    paths.sort();
    let record = |path: PathBuf| {
        let record: Record = serde_json::from_str(&std::fs::read_to_string(&path).ok()?).ok()?;
        let like = |host: &Host| (host.cpu.clone(), host.cores, host.memory_bytes, host.arch.clone());
        (like(&record.host) == like(host)).then_some((path, record))
    };
    paths.into_iter().filter_map(record).collect()
}

fn print_changes(scores: &[Score], before: &Record) {
    println!("\nSince {} ({}):\n", before.tool.version, before.created);
    println!("| row | before | now | now by before (95 % interval) | |");
    println!("| --- | --- | --- | --- | --- |");
    for score in scores {
        let Some(old) = before.scores.iter().find(|old| old.name == score.name) else { continue };
        let Some(ratio) = change(&score.value, &old.value) else { continue };
        let (words, verdict) = match (ratio.low, ratio.high) {
            (Some(low), Some(high)) => {
                let better = if score.more_is_better { low > 1.0 } else { high < 1.0 };
                let worse = if score.more_is_better { high < 1.0 } else { low > 1.0 };
                let verdict = if better {
                    "better"
                } else if worse {
                    "**worse**"
                } else {
                    "no change seen"
                };
                (format!("{:.3} ({low:.3} to {high:.3})", ratio.point), verdict)
            }
            _ => (format!("{:.3}", ratio.point), ""),
        };
        println!("| {} | {:.3} | {:.3} | {words} | {verdict} |", score.name, old.value.point, score.value.point);
    }
}
