//! Reports over many runs.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use super::campaign::{Program, Scenario, ScenarioRun, run_one, size_word};
use super::judge::{Claim, Severity};
use super::spec::Spec;
use super::truths::{Reach, Word};

/// The results of many runs. `Display` prints tables, then each violation with its seed and medium.
#[derive(Debug, Default)]
pub struct Report {
    /// For each kind of medium, how often each word was the answer. `None` is a program that was killed.
    pub words: BTreeMap<String, BTreeMap<Option<Word>, u64>>,
    /// For each kind of medium, how often sizes were exact, inside or outside.
    pub sizes: BTreeMap<String, BTreeMap<&'static str, u64>>,
    /// For each claim and severity, how many runs violate it.
    pub claims: BTreeMap<(Severity, Claim), u64>,
    /// The runs with violations.
    pub failed: Vec<ScenarioRun>,
    /// All runs.
    pub runs: u64,
    /// Genuine verdicts about media whose loss is beyond the stated reach, or has not begun.
    pub beyond: u64,
    /// Bytes that were transferred.
    pub bytes: u64,
}

impl Report {
    /// Counts a run.
    pub fn add(&mut self, run: ScenarioRun) {
        let faults: Vec<String> = run.spec.card.faults.iter().map(|f| f.name()).collect();
        let map = run.spec.card.map.name();
        let name = match faults.len() {
            0 => map,
            _ if map == "Genuine" => format!("Genuine + {}", faults.join(" + ")),
            _ => format!("{map} + fault"),
        };
        let word = run.answer.as_ref().map(|a| a.verdict.word());
        *self.words.entry(name.clone()).or_default().entry(word).or_default() += 1;
        if let Some(size) = size_word(&run) {
            *self.sizes.entry(name).or_default().entry(size).or_default() += 1;
        }
        let truth = run.spec.truth();
        let missed = run.violations.iter().any(|v| v.claim == Claim::Missed);
        if word == Some(Word::Genuine) && truth.right != [Word::Genuine] && !missed {
            self.beyond += u64::from(truth.reach != Reach::Stated || run.spec.card.cache.is_some());
        }
        self.runs += 1;
        self.bytes += run.counters.bytes_read + run.counters.bytes_written;
        let mut kinds: Vec<_> = run.violations.iter().map(|v| (v.severity, v.claim)).collect();
        kinds.sort_unstable();
        kinds.dedup();
        for kind in kinds {
            *self.claims.entry(kind).or_default() += 1;
        }
        if !run.violations.is_empty() {
            self.failed.push(run);
        }
    }

    /// How many runs ended without an answer.
    pub fn undecided(&self) -> u64 {
        self.words.values().filter_map(|words| words.get(&Some(Word::Undecided))).sum()
    }

    /// How many runs violate a document to the letter.
    pub fn wrong(&self) -> usize {
        self.failed.iter().filter(|run| run.is_wrong()).count()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        const WORDS: [Option<Word>; 7] = [
            Some(Word::Genuine),
            Some(Word::Fake),
            Some(Word::Damaged),
            Some(Word::Failed),
            Some(Word::Undecided),
            Some(Word::Refused),
            None,
        ];
        writeln!(
            f,
            "{} runs, {} MB moved, {} wrong, {} beyond the reach",
            self.runs,
            self.bytes / 1_000_000,
            self.wrong(),
            self.beyond
        )?;
        writeln!(f, "{:<34} genuine fake damaged failed cannot refused killed", "truth")?;
        for (name, words) in &self.words {
            write!(f, "{name:<34}")?;
            for (word, width) in WORDS.iter().zip([8, 5, 8, 7, 7, 8, 7]) {
                write!(f, "{:>width$}", words.get(word).copied().unwrap_or(0))?;
            }
            writeln!(f)?;
        }
        writeln!(f, "{:<34} exact inside outside none", "sizes of fakes")?;
        for (name, sizes) in &self.sizes {
            let of = |word: &str| sizes.get(word).copied().unwrap_or(0);
            writeln!(f, "{name:<34}{:>6}{:>7}{:>8}{:>5}", of("exact"), of("inside"), of("outside"), of("none"))?;
        }
        for ((severity, claim), count) in self.claims.iter().rev() {
            writeln!(f, "{severity:?} {claim:?}: {count} runs")?;
        }
        for severity in [Severity::Wrong, Severity::Arguable] {
            for run in &self.failed {
                for v in run.violations.iter().filter(|v| v.severity == severity) {
                    writeln!(f, "{severity:?} {:?}: {}\n    {:?}, {}", v.claim, v.text, run.scenario, run.spec)?;
                }
            }
        }
        Ok(())
    }
}

/// Runs a program on the media of a population, undisturbed.
pub fn campaign<P: Program>(
    mut factory: impl FnMut() -> P,
    population: impl Fn(u64) -> Spec,
    seeds: Range<u64>,
) -> Report {
    let mut report = Report::default();
    for seed in seeds {
        report.add(run_one(&mut factory, &population(seed), Scenario::Plain, seed));
    }
    report
}

/// Runs a program on the media of a population, each in a scenario drawn by seed.
pub fn attack<P: Program>(
    mut factory: impl FnMut() -> P,
    population: impl Fn(u64) -> Spec,
    seeds: Range<u64>,
) -> Report {
    let mut report = Report::default();
    for seed in seeds {
        report.add(run_one(&mut factory, &population(seed), Scenario::draw(seed), seed));
    }
    report
}
