//! What was counted: for each kind of store and each claim how often it was asked, decided and wrong.

use std::collections::BTreeMap;
use std::fmt::{Display, Formatter, Result};

/// So many faults of a kind are shown.
const SHOWN: u64 = 3;

/// A claim with the share of false ones that the documents allow, in hundredths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Claim {
    pub name: &'static str,
    pub allowed: u32,
}

/// How often something was asked, decided, and wrong, and in which stores it was wrong first.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    pub asked: u64,
    pub decided: u64,
    pub wrong: u64,
    pub seeds: Vec<u64>,
}

impl Tally {
    /// One more: `None` is an answer that decides nothing.
    fn count(&mut self, seed: u64, is_right: Option<bool>) {
        self.asked += 1;
        self.decided += u64::from(is_right.is_some());
        if is_right == Some(false) {
            self.wrong += 1;
            if self.seeds.last() != Some(&seed) {
                self.seeds.push(seed);
            }
        }
    }

    /// Share of wrong ones and its standard error over all that were asked, in hundredths.
    pub fn share(&self) -> (f64, f64) {
        let asked = self.asked.max(1) as f64;
        let share = self.wrong as f64 / asked;
        (100.0 * share, 100.0 * (share.max(0.5 / asked) * (1.0 - share) / asked).sqrt())
    }
}

/// All that was counted.
#[derive(Debug, Clone, Default)]
pub struct Table {
    pub rows: BTreeMap<(&'static str, Claim), Tally>,
    /// What no chance excuses: kind of store, seed and words.
    pub faults: Vec<(&'static str, u64, String)>,
}

impl Table {
    /// Counts a claim about a store.
    pub fn count(&mut self, kind: &'static str, claim: Claim, seed: u64, is_right: Option<bool>) {
        self.rows.entry((kind, claim)).or_default().count(seed, is_right);
    }

    /// Notes what no chance excuses.
    pub fn fault(&mut self, kind: &'static str, seed: u64, words: String) {
        self.faults.push((kind, seed, words));
    }

    /// Adds what was counted elsewhere.
    pub fn add(&mut self, other: Self) {
        for (key, tally) in other.rows {
            let row = self.rows.entry(key).or_default();
            row.asked += tally.asked;
            row.decided += tally.decided;
            row.wrong += tally.wrong;
            row.seeds.extend(tally.seeds);
        }
        self.faults.extend(other.faults);
    }

    /// Rows with more wrong answers than the documents allow and chance gives once in 10,000 times, and that of single
    /// stores that are wrong where nothing may be.
    pub fn missed(&self) -> Vec<(&'static str, Claim)> {
        let beyond = |tally: &Tally, claim: &Claim| {
            tally.wrong > 0 && at_least(tally.wrong, tally.asked, f64::from(claim.allowed) / 100.0) < 1e-4
        };
        self.rows.iter().filter(|((_, claim), tally)| beyond(tally, claim)).map(|(key, _)| *key).collect()
    }
}

/// The chance of at least `wrong` wrong answers, each wrong with a given chance (binomial tail).
fn at_least(wrong: u64, asked: u64, chance: f64) -> f64 {
    if chance <= 0.0 {
        return if wrong > 0 { 0.0 } else { 1.0 };
    }
    let mut log = asked as f64 * (-chance).ln_1p();
    let mut below = 0.0;
    for count in 0..wrong {
        below += log.exp();
        log += ((asked - count) as f64 / (count + 1) as f64).ln() + (chance / (1.0 - chance)).ln();
    }
    (1.0 - below).max(0.0)
}

impl Display for Table {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        let mut kind = "";
        let missed = self.missed();
        for ((of, claim), tally) in &self.rows {
            if *of != kind {
                writeln!(out, "{of}")?;
                kind = of;
            }
            let (share, error) = tally.share();
            let mark = if missed.contains(&(*of, *claim)) { "MISSED" } else { "" };
            let seeds: Vec<String> = tally.seeds.iter().take(5).map(u64::to_string).collect();
            writeln!(
                out,
                "  {:<44} {:>6} asked {:>6} decided {:>5} wrong {share:>5.1} ± {error:.1} % of {} % {mark} {}",
                claim.name,
                tally.asked,
                tally.decided,
                tally.wrong,
                claim.allowed,
                seeds.join(" ")
            )?;
        }
        let mut shown = BTreeMap::new();
        for (kind, seed, words) in &self.faults {
            let count = shown.entry(*kind).or_insert(0u64);
            *count += 1;
            if *count <= SHOWN {
                writeln!(out, "FAULT {kind}, seed {seed}: {words}")?;
            }
        }
        for (kind, count) in shown {
            writeln!(out, "{count} faults in {kind}")?;
        }
        Ok(())
    }
}

#[test]
fn the_tail_is_that_of_the_binomial_distribution() {
    assert!((at_least(1, 10, 0.05) - 0.401_263).abs() < 1e-5);
    assert!((at_least(3, 20, 0.1) - 0.323_073).abs() < 1e-5);
    assert!((at_least(0, 20, 0.1) - 1.0).abs() < 1e-12);
}
