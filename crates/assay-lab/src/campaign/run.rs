//! Running a check over seeds.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::media::{MediumSpec, ModelMedium};
use crate::processors::on_all_processors;

use super::case::Case;
use super::check::CheckResult;
use super::report::Report;

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
    pub fn of(media: fn(u64) -> MediumSpec, usual: u64) -> Self {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_a_number_or_a_range() {
        assert_eq!((seeds("2000"), seeds("10..20")), (Some(0..2000), Some(10..20)));
        assert_eq!((seeds("20..10"), seeds("x"), seeds("")), (None, None, None));
    }
}
