//! The results, and the targets they are judged by.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use assay_core::estimate::Estimate;
use assay_core::program::ProgramRun;
use assay_core::record::Score;
use assay_lab::Missing;

use crate::judge::{Judgement, Target};
use crate::kept;

/// One figure that has a target.
#[derive(Debug, Clone)]
pub(crate) struct Row {
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

impl Row {
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
    pub(crate) row: Row,
}

/// All results so far. Each figure is printed as soon as it is known.
#[derive(Debug, Default)]
pub(crate) struct Report {
    name: &'static str,
    rows: Vec<(&'static str, Row)>,
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
    pub(crate) fn rows(&self) -> Vec<&Row> {
        self.rows.iter().map(|(_, row)| row).collect()
    }

    pub(crate) fn add(&mut self, row: Row) {
        let Row { what, ours, peer, unit, target, values, .. } = &row;
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
                let Row { what, ours, peer, unit, target, values, .. } = row;
                let (seen, count, met) = (row.seen(), values.len(), met(row));
                println!("| `{name}` | {what} | {ours} | {peer} | {seen} | {count} | {target}{unit} | {met} |");
            }
        }
        for (name, note) in &self.notes {
            println!("\n`{name}`: {note}");
        }
        kept::keep_and_compare(&self.scores());
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

    fn all_rows(&self) -> impl Iterator<Item = (String, &Row)> {
        let rows = self.rows.iter().map(|(name, row)| (format!("{name}: {}", row.what), row));
        rows.chain(self.cards.iter().map(|card| (format!("card: {}: {}", card.card, card.workload), &card.row)))
    }

    /// The rows as scores of a record.
    fn scores(&self) -> Vec<Score> {
        let score = |(name, row): (String, &Row)| {
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
fn met(row: &Row) -> String {
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
