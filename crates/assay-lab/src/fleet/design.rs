//! The design of a fleet measurement: which unit is measured at which place and time.

/// One run of one unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Run {
    /// Index of the model.
    pub model: usize,
    /// Index of the unit within the model.
    pub unit: usize,
    /// Day, from 0.
    pub day: u32,
    /// Host, from 0.
    pub host: usize,
    /// Slot of the host; `None` if the record does not state one.
    pub slot: Option<usize>,
    /// Round of a plan.
    pub round: Option<u32>,
    /// How often each load is repeated.
    pub repeats: Repeats,
}

/// How often each load is repeated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Repeats {
    /// This many times.
    Fixed(usize),
    /// Until the interval of the mean is narrow enough (`--confidence`): relative half width, fewest repeats, most
    /// repeats.
    Until(f64, usize, usize),
}

/// All runs, in chronological order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Design(pub Vec<Run>);

impl Design {
    /// One run of three repeats for each unit, all on one day and without a stated slot. `of_each` is the number of
    /// units of each model.
    #[must_use]
    pub fn units(of_each: &[usize]) -> Self {
        let run =
            |model, unit| Run { model, unit, day: 0, host: 0, slot: None, round: None, repeats: Repeats::Fixed(3) };
        Self(of_each.iter().enumerate().flat_map(|(model, n)| (0..*n).map(move |unit| run(model, unit))).collect())
    }

    /// Repeats the whole design on each of `days` days.
    #[must_use]
    pub fn on_days(self, days: u32) -> Self {
        let again = |day| self.0.iter().map(move |run| Run { day: run.day + day, ..*run });
        Self((0..days).flat_map(again).collect())
    }

    /// The design with other repeats.
    #[must_use]
    pub fn with_repeats(self, repeats: Repeats) -> Self {
        self.changed(|_, run| run.repeats = repeats)
    }

    /// The design with each run changed; `change` also gets the index of the run.
    #[must_use]
    pub fn changed(mut self, mut change: impl FnMut(usize, &mut Run)) -> Self {
        self.0.iter_mut().enumerate().for_each(|(at, run)| change(at, run));
        self
    }

    /// The design followed by the runs of `other`.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }
}
