//! Who is measured where and when.

/// One run of one unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Run {
    /// Which model.
    pub model: usize,
    /// Which of its units.
    pub unit: usize,
    /// On which day, from 0.
    pub day: u32,
    /// At which host, from 0.
    pub host: usize,
    /// In which slot of it; `None`: records do not say.
    pub slot: Option<usize>,
    /// Round of a plan.
    pub round: Option<u32>,
    /// How often each load is repeated.
    pub repeats: Repeats,
}

/// How often each load is repeated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Repeats {
    /// So often.
    Fixed(usize),
    /// Until the interval of the mean is this narrow: relative half width, at least, at most (`--confidence`).
    Until(f64, usize, usize),
}

/// All runs, in the order in which they are made.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Design(pub Vec<Run>);

impl Design {
    /// One run of three repeats of so many units of each model, all on one day and in no slot that is told.
    #[must_use]
    pub fn units(of_each: &[usize]) -> Self {
        let run =
            |model, unit| Run { model, unit, day: 0, host: 0, slot: None, round: None, repeats: Repeats::Fixed(3) };
        Self(of_each.iter().enumerate().flat_map(|(model, n)| (0..*n).map(move |unit| run(model, unit))).collect())
    }

    /// All of it again on each of so many days.
    #[must_use]
    pub fn on_days(self, days: u32) -> Self {
        let again = |day| self.0.iter().map(move |run| Run { day: run.day + day, ..*run });
        Self((0..days).flat_map(again).collect())
    }

    /// With other repeats.
    #[must_use]
    pub fn with_repeats(self, repeats: Repeats) -> Self {
        self.changed(|_, run| run.repeats = repeats)
    }

    /// With each run changed; it comes with its number.
    #[must_use]
    pub fn changed(mut self, mut change: impl FnMut(usize, &mut Run)) -> Self {
        self.0.iter_mut().enumerate().for_each(|(at, run)| change(at, run));
        self
    }

    /// And these runs after it.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }
}
