//! Campaigns: any check against many media whose truth is known, on all processors.
//!
//! A check is a function from a medium and a seed to a [`CheckResult`]; a [`Campaign`] runs it over
//! the seeds of a population ([`crate::media::population`]) and gives a [`Report`]: a confusion
//! matrix, how exact sizes are, whether the owner's data survived, traffic and time, and the seed of
//! every wrong answer.
//!
//! ```no_run
//! use assay_lab::campaign::{Campaign, CheckResult};
//! use assay_lab::media::{FoundVerdict, ModelMedium, Reach, population};
//!
//! fn check(medium: &mut ModelMedium, seed: u64) -> CheckResult {
//!     // Writes, reads, concludes, and restores.
//!     CheckResult::from_verdict(FoundVerdict::Undecided, Reach::least())
//! }
//!
//! let report = Campaign::from_media(population::any, 300).run(check);
//! println!("{report}");
//! assert_eq!(report.wrong().count(), 0);
//! ```
//!
//! The environment variable `ASSAY_CAMPAIGN_SEEDS` sets the seeds: `2000` takes the first 2000,
//! `1234..1235` judges one medium again and shows it.

mod case;

pub use case::{Case, CheckResult, Group, Judgement, Size, outline};

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use assay_core::units::Bytes;

use crate::host::on_all_processors;
use crate::media::{Class, FoundVerdict, MediumSpec, ModelMedium};

// Running a check over seeds, and the report of that.

/// A population and the seeds to draw from it.
#[derive(Debug, Clone)]
pub struct Campaign {
    media: fn(u64) -> MediumSpec,
    seeds: Range<u64>,
}

impl Campaign {
    /// Media of a population: the first `usual` seeds, or what `ASSAY_CAMPAIGN_SEEDS` says.
    ///
    /// # Panics
    /// Where the variable is neither a number nor a range like `10..20`.
    #[must_use]
    pub fn from_media(media: fn(u64) -> MediumSpec, usual: u64) -> Self {
        let seeds = match std::env::var("ASSAY_CAMPAIGN_SEEDS") {
            Ok(text) => seeds(&text).unwrap_or_else(|| panic!("ASSAY_CAMPAIGN_SEEDS: {text}: write 2000, or 10..20")),
            Err(_) => 0..usual,
        };
        Self::over(media, seeds)
    }

    /// These media of a population; the environment variable is ignored.
    #[must_use]
    pub fn over(media: fn(u64) -> MediumSpec, seeds: Range<u64>) -> Self {
        Self { media, seeds }
    }

    /// Runs `check` on each medium, on every processor. A check that panics is a wrong answer.
    pub fn run(&self, check: impl Fn(&mut ModelMedium, u64) -> CheckResult + Sync) -> Report {
        self.run_on_used(|_, _| (), check)
    }

    /// Runs `earlier` (for example a check that is killed) and a power cycle before `check`. The content after that is
    /// what `check` has to preserve.
    pub fn run_on_used(
        &self,
        earlier: impl Fn(&mut ModelMedium, u64) + Sync,
        check: impl Fn(&mut ModelMedium, u64) -> CheckResult + Sync,
    ) -> Report {
        let cases = on_all_processors(self.seeds.clone(), |seed| self.case(seed, &earlier, &check));
        let only = (self.seeds.end - self.seeds.start == 1).then(|| (self.media)(self.seeds.start));
        Report { cases, only }
    }

    fn case(
        &self,
        seed: u64,
        earlier: impl Fn(&mut ModelMedium, u64),
        check: impl Fn(&mut ModelMedium, u64) -> CheckResult,
    ) -> Case {
        let spec = (self.media)(seed);
        let mut medium = spec.build().unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        earlier(&mut medium, seed);
        medium.power_cycle();
        let before = medium.snapshot();
        let result = catch_unwind(AssertUnwindSafe(|| check(&mut medium, seed))).map_err(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("a panic").to_owned()
        });
        Case::judge(seed, &spec, &medium, &before, result)
    }
}

fn seeds(text: &str) -> Option<Range<u64>> {
    match text.split_once("..") {
        Some((from, to)) => Some(from.parse().ok()?..to.parse().ok()?).filter(|range| !range.is_empty()),
        None => text.parse().ok().map(|to| 0..to),
    }
}

// The report of a campaign.

/// Most wrong answers that are printed; all of them are in [`Report::cases`].
const LISTED: usize = 60;
const COLUMNS: [(&str, FoundVerdict); 5] = [
    ("genuine", FoundVerdict::Genuine),
    ("fake", FoundVerdict::Fake),
    ("damaged", FoundVerdict::Damaged),
    ("failed", FoundVerdict::Failed),
    ("cannot tell", FoundVerdict::Undecided),
];

/// All cases of a campaign, by seed. `Display` prints them as one page of text.
#[derive(Debug, Clone)]
pub struct Report {
    /// The cases.
    pub cases: Vec<Case>,
    /// The medium, if the campaign has a single one.
    pub(super) only: Option<MediumSpec>,
}

impl Report {
    /// Wrong answers.
    pub fn wrong(&self) -> impl Iterator<Item = &Case> {
        self.cases.iter().filter(|case| case.judgement == Judgement::Wrong)
    }

    /// Genuine media that were called fake, damaged or failed.
    pub fn false_alarms(&self) -> impl Iterator<Item = &Case> {
        self.cases.iter().filter(|case| case.false_alarms())
    }

    /// Media whose owner's data changed although they could have been restored.
    pub fn harmed(&self) -> impl Iterator<Item = &Case> {
        self.cases.iter().filter(|case| case.harmed())
    }

    /// Media whose owner's data changed without a journal to restore them from.
    pub fn lost(&self) -> impl Iterator<Item = &Case> {
        self.cases.iter().filter(|case| case.lost())
    }

    /// Fakes with a wrong stated size: neither the size nor the stated interval holds the true one.
    pub fn wrong_sizes(&self) -> impl Iterator<Item = &Case> {
        self.cases.iter().filter(|case| case.size == Some(Size::Outside))
    }

    fn matrix(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{:<14}{:>6}", "truth", "media")?;
        for (name, _) in COLUMNS {
            write!(f, "{name:>13}")?;
        }
        writeln!(f, "{:>9}{:>7}  |{:>7}{:>8}{:>7}", "refused", "panic", "right", "beyond", "wrong")?;
        let mut classes: BTreeMap<Class, Vec<&Case>> = BTreeMap::new();
        for case in &self.cases {
            classes.entry(case.truth.class).or_default().push(case);
        }
        for (class, cases) in &classes {
            matrix_row(f, &format!("{class:?}").to_lowercase(), cases)?;
        }
        matrix_row(f, "all", &self.cases.iter().collect::<Vec<_>>())
    }

    fn sizes(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<18}{:>6}{:>16}{:>16}{:>9}{:>12}",
            "sizes", "told", "to the sector", "in an interval", "outside", "not stated"
        )?;
        for (group, name) in Group::ALL {
            let cases = self.cases.iter().filter(|case| case.group == group);
            sizes_of(f, name, cases.filter_map(|case| case.size))?;
        }
        sizes_of(f, "all", self.cases.iter().filter_map(|case| case.size))?;
        let kinds: Vec<bool> = self.cases.iter().filter_map(|case| case.kind_is_right).collect();
        writeln!(f, "kind named rightly: {}", share(kinds.iter().filter(|right| **right).count(), kinds.len()))
    }

    fn harm(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let seeds = |cases: Vec<&Case>| match cases.len() {
            0 => "none".to_owned(),
            many => format!("{many}: seeds {}", list(cases.iter().map(|case| case.seed))),
        };
        writeln!(f, "genuine media accused: {}", seeds(self.false_alarms().collect()))?;
        writeln!(f, "sizes outside the stated interval: {}", seeds(self.wrong_sizes().collect()))?;
        writeln!(f, "owner's data changed though restorable: {}", seeds(self.harmed().collect()))?;
        writeln!(f, "owner's data changed and no journal kept: {}", seeds(self.lost().collect()))?;
        let understated = self.cases.iter().filter(|case| case.understated()).collect();
        writeln!(f, "more traffic than stated: {}", seeds(understated))?;
        let rejected = self.cases.iter().filter(|case| case.traffic.rejected > 0).collect();
        writeln!(f, "operations that no device accepts: {}", seeds(rejected))
    }

    fn costs(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<22}{:>12}{:>12}{:>12}{:>12}", "", "median", "p90", "p99", "most")?;
        let bytes = |value: u64| Bytes(value).to_string();
        let plain = |value: u64| value.to_string();
        let seconds = |ns: u64| format!("{:.1} s", ns as f64 / 1e9);
        self.cost(f, "written", |case| case.traffic.written_bytes, bytes)?;
        self.cost(f, "read", |case| case.traffic.read_bytes, bytes)?;
        self.cost(f, "writes", |case| case.traffic.writes, plain)?;
        self.cost(f, "reads", |case| case.traffic.reads, plain)?;
        self.cost(f, "time on its clock", |case| case.elapsed_ns, seconds)
    }

    fn cost(
        &self,
        f: &mut Formatter<'_>,
        name: &str,
        of: impl Fn(&Case) -> u64,
        text: impl Fn(u64) -> String,
    ) -> fmt::Result {
        let checked = self.cases.iter().filter(|case| case.judgement != Judgement::Refused);
        let mut values: Vec<u64> = checked.map(of).collect();
        values.sort_unstable();
        write!(f, "{name:<22}")?;
        for part in [0.5, 0.9, 0.99, 1.0] {
            let rank = ((values.len() as f64 * part).ceil() as usize).max(1) - 1;
            write!(f, "{:>12}", values.get(rank).map_or("-".to_owned(), |value| text(*value)))?;
        }
        writeln!(f)
    }

    fn wrong_ones(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let wrong: Vec<&Case> = self.wrong().collect();
        if !wrong.is_empty() {
            writeln!(f, "wrong, with their seeds (ASSAY_CAMPAIGN_SEEDS=1234..1235 shows one):")?;
        }
        for case in wrong.iter().take(LISTED) {
            let expected = &case.truth;
            let sizes = &expected.real_bytes;
            let real = if sizes.is_empty() { String::new() } else { format!(" {sizes:?}") };
            write!(f, "  {:>6} {:?}{real}: ", case.seed, expected.class)?;
            match &case.result {
                Err(message) => writeln!(f, "panic: {message}")?,
                Ok(said) => {
                    let found = said.found.map_or("refused".to_owned(), |found| format!("{found:?}"));
                    let kind = said.kind.map_or(String::new(), |kind| format!(" {kind:?}"));
                    let real = said.real_bytes.as_ref().map_or(String::new(), |real| format!(" {real:?}"));
                    writeln!(f, "{found}{kind}{real}")?;
                }
            }
        }
        if wrong.len() > LISTED {
            writeln!(f, "  and {}", list(wrong[LISTED..].iter().map(|case| case.seed)))?;
        }
        Ok(())
    }
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let (Some(spec), [case]) = (&self.only, self.cases.as_slice()) {
            return writeln!(f, "{spec:#?}\n{case:#?}");
        }
        self.matrix(f)?;
        writeln!(f)?;
        self.sizes(f)?;
        self.harm(f)?;
        writeln!(f)?;
        self.costs(f)?;
        writeln!(f)?;
        self.wrong_ones(f)
    }
}

fn matrix_row(f: &mut Formatter<'_>, name: &str, cases: &[&Case]) -> fmt::Result {
    let count = |which: &dyn Fn(&Case) -> bool| cases.iter().filter(|case| which(case)).count();
    let judged = |judgement| count(&|case| case.judgement == judgement);
    write!(f, "{name:<14}{:>6}", cases.len())?;
    for (_, found) in COLUMNS {
        write!(f, "{:>13}", count(&|case| case.found() == Some(found)))?;
    }
    let (refused, panics) = (judged(Judgement::Refused), count(&|case| case.result.is_err()));
    let [right, beyond, wrong] = [Judgement::Right, Judgement::BeyondReach, Judgement::Wrong].map(judged);
    writeln!(f, "{refused:>9}{panics:>7}  |{right:>7}{beyond:>8}{wrong:>7}")
}

fn sizes_of(f: &mut Formatter<'_>, name: &str, sizes: impl Iterator<Item = Size>) -> fmt::Result {
    let sizes: Vec<Size> = sizes.collect();
    let count = |size| sizes.iter().filter(|each| **each == size).count();
    let shares = [Size::Exact, Size::Inside].map(|size| share(count(size), sizes.len()));
    let [exact, inside] = shares;
    let [outside, unstated] = [Size::Outside, Size::Unstated].map(count);
    writeln!(f, "{name:<18}{:>6}{exact:>16}{inside:>16}{outside:>9}{unstated:>12}", sizes.len())
}

fn share(part: usize, whole: usize) -> String {
    match whole {
        0 => "-".to_owned(),
        _ => format!("{part} ({:.1} %)", part as f64 * 100.0 / whole as f64),
    }
}

fn list(seeds: impl Iterator<Item = u64>) -> String {
    seeds.map(|seed| seed.to_string()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_a_number_or_a_range() {
        assert_eq!((seeds("2000"), seeds("10..20")), (Some(0..2000), Some(10..20)));
        assert_eq!((seeds("20..10"), seeds("x"), seeds("")), (None, None, None));
    }
}
