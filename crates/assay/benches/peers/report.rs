//! What was seen, against which target.

use std::fmt;
use std::process::ExitCode;
use std::time::Instant;

use assay_lab::Missing;

/// What a figure must be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Target {
    AtLeast(f64),
    AtMost(f64),
    /// This far from 1 at most.
    AroundOne(f64),
}

impl Target {
    pub(crate) fn met(self, seen: f64) -> bool {
        // A figure that is no number meets nothing.
        match self {
            Self::AtLeast(least) => seen >= least,
            Self::AtMost(most) => seen <= most,
            Self::AroundOne(share) => (seen - 1.0).abs() <= share,
        }
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

/// One figure that has a target.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) what: String,
    pub(crate) ours: String,
    /// The peer's figure; a dash where there is no peer.
    pub(crate) peer: String,
    /// What the target is about: a ratio, or a figure in `unit`.
    pub(crate) seen: f64,
    pub(crate) unit: &'static str,
    pub(crate) target: Target,
}

/// One card of known truth.
#[derive(Debug, Clone)]
pub(crate) struct CardRow {
    pub(crate) card: String,
    pub(crate) workload: String,
    pub(crate) truth: String,
    pub(crate) seen: String,
    /// Relative to the truth, with sign.
    pub(crate) error: f64,
    /// Largest error allowed.
    pub(crate) most: f64,
}

impl CardRow {
    fn met(&self) -> bool {
        self.error.abs() <= self.most
    }
}

/// Everything seen so far; each figure is printed as soon as it is known.
#[derive(Debug, Default)]
pub(crate) struct Report {
    name: &'static str,
    rows: Vec<(&'static str, Row)>,
    cards: Vec<CardRow>,
    skipped: usize,
    begun: Option<Instant>,
}

impl Report {
    pub(crate) fn begin(&mut self, name: &'static str) {
        self.name = name;
        self.begun.get_or_insert_with(Instant::now);
    }

    pub(crate) fn add(&mut self, row: Row) {
        let Row { what, ours, peer, seen, unit, target } = &row;
        let word = if target.met(*seen) { "OK" } else { "NO" };
        println!("{word}  {}: {what}: {seen:.3}{unit}, target {target}{unit} (assay {ours}, peer {peer})", self.name);
        self.rows.push((self.name, row));
    }

    pub(crate) fn add_card(&mut self, row: CardRow) {
        let CardRow { card, workload, truth, seen, error, most } = &row;
        println!(
            "{}  {}: {card}: {workload}: truth {truth}, seen {seen}, error {:+.2} %, target {:.0} %",
            if row.met() { "OK" } else { "NO" },
            self.name,
            error * 100.0,
            most * 100.0
        );
        self.cards.push(row);
    }

    pub(crate) fn skip(&mut self, missing: &Missing) {
        println!("SKIP: {}: {missing}", self.name);
        self.skipped += 1;
    }

    /// Prints the tables; failure where a target was missed.
    pub(crate) fn finish(self) -> ExitCode {
        if !self.cards.is_empty() {
            println!("\n| card | workload | truth | seen | error | target | met |");
            println!("| --- | --- | --- | --- | --- | --- | --- |");
            for row in &self.cards {
                let (error, most, met) = (row.error * 100.0, row.most * 100.0, word(row.met()));
                let CardRow { card, workload, truth, seen, .. } = row;
                println!("| {card} | {workload} | {truth} | {seen} | {error:+.2} % | ≤ {most:.0} % | {met} |");
            }
        }
        if !self.rows.is_empty() {
            println!("\n| name | comparison | assay | peer | ratio seen | target | met |");
            println!("| --- | --- | --- | --- | --- | --- | --- |");
            for (name, Row { what, ours, peer, seen, unit, target }) in &self.rows {
                let met = word(target.met(*seen));
                println!("| `{name}` | {what} | {ours} | {peer} | {seen:.3}{unit} | {target}{unit} | {met} |");
            }
        }
        let missed = self.rows.iter().filter(|(_, row)| !row.target.met(row.seen)).count()
            + self.cards.iter().filter(|row| !row.met()).count();
        let all = self.rows.len() + self.cards.len();
        let seconds = self.begun.map_or(0.0, |begun| begun.elapsed().as_secs_f64());
        println!("\n{} met, {missed} missed, {} skipped, {seconds:.0} s", all - missed, self.skipped);
        if missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

fn word(met: bool) -> &'static str {
    if met { "yes" } else { "**NO**" }
}
