//! The life of a unit, as far as it was seen.

use std::collections::BTreeMap;

use assay_core::text::clean;
use assay_core::units::{Bytes, grouped};
use serde::Serialize;

/// An event of a life. All but the death are shares of the sectors that failed at least once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Milestone {
    /// The first sector.
    FirstError,
    /// A thousandth.
    PerMille,
    /// 1 %.
    OnePercent,
    /// 10 %.
    TenPercent,
    /// 25 %.
    Quarter,
    /// 50 %.
    Half,
    /// The end of the medium itself.
    Death,
}

impl Milestone {
    /// All of them, in the order in which a medium reaches them.
    pub const ALL: [Self; 7] =
        [Self::FirstError, Self::PerMille, Self::OnePercent, Self::TenPercent, Self::Quarter, Self::Half, Self::Death];

    /// Its name on the command line and as a column.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::FirstError => "first-error",
            Self::PerMille => "0.1%",
            Self::OnePercent => "1%",
            Self::TenPercent => "10%",
            Self::Quarter => "25%",
            Self::Half => "50%",
            Self::Death => "death",
        }
    }

    /// What happened, in words: "5 units had their first error".
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::FirstError => "first error",
            Self::PerMille => "0.1 % of the sectors failed",
            Self::OnePercent => "1 % of the sectors failed",
            Self::TenPercent => "10 % of the sectors failed",
            Self::Quarter => "25 % of the sectors failed",
            Self::Half => "50 % of the sectors failed",
            Self::Death => "death",
        }
    }
}

/// Along what a life is measured; never hours, as they say nothing of wear.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    /// Cycles; each overwrites the whole medium.
    Cycles,
    /// Bytes written.
    Bytes,
}

impl Axis {
    /// Its name on the command line, and its unit.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cycles => "cycles",
            Self::Bytes => "bytes",
        }
    }

    /// A value with its unit, for people.
    #[must_use]
    pub fn shown(self, value: f64) -> String {
        match self {
            // Casts of floats saturate.
            Self::Cycles => format!("{} cycles", grouped(value.round() as i64)),
            Self::Bytes => assay_core::units::capacity(value as u64),
        }
    }

    /// A value as it is written on the command line.
    ///
    /// # Errors
    /// What would be right.
    pub fn parse(self, text: &str) -> Result<f64, String> {
        let value = match self {
            Self::Cycles => text.trim().parse::<u64>().ok(),
            Self::Bytes => text.trim().parse::<Bytes>().ok().map(|bytes| bytes.0),
        };
        let value = value.filter(|value| *value > 0).map(|value| value as f64);
        value.ok_or_else(|| match self {
            Self::Cycles => "write whole numbers of cycles, like 1000,3000".to_owned(),
            Self::Bytes => "write amounts of data, like 10TB,100TB".to_owned(),
        })
    }
}

/// When something was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reached {
    /// In which cycle, from 1.
    pub cycle: u64,
    /// Bytes written until then, where that is known.
    pub bytes: Option<u64>,
}

/// How a life was last seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// It goes on, or nothing says that it ended.
    Running,
    /// The medium itself died.
    Died {
        /// The cause.
        cause: String,
    },
    /// The test ended before the medium did, or nothing tells which of the two did.
    Censored {
        /// Why.
        reason: String,
    },
}

/// A unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Unit {
    /// Its name among those of its model.
    pub name: String,
    /// Its model.
    pub model: Option<String>,
    /// Further groups that it belongs to: site, lot, workload.
    pub labels: BTreeMap<String, String>,
    /// Cycles completed.
    pub cycles: u64,
    /// Bytes written.
    pub bytes: Option<u64>,
    /// Bytes of a cycle, where that is known beside the cycles and all bytes.
    pub cycle_bytes: Option<u64>,
    /// What was watched for; `None` where it was not reached. Nothing is known of what is missing here.
    pub milestones: BTreeMap<Milestone, Option<Reached>>,
    /// Cycles until which a milestone was watched for, where these are fewer than those completed.
    pub watched_to: BTreeMap<Milestone, u64>,
    /// How it was last seen.
    pub end: End,
}

/// What ends a life, or the watch for a milestone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Happening {
    /// The milestone that is asked for, but not the death.
    Reached,
    /// The death, which is asked for.
    Died {
        /// The cause, as the document or the sheet says.
        cause: String,
    },
    /// The death, before the milestone that is asked for.
    DiedBefore {
        /// The cause.
        cause: String,
    },
}

/// How a unit was last seen without an event.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum LastSeen {
    /// Its test goes on.
    Running,
    /// Its test ended.
    Censored {
        /// Why, as the document or the sheet says.
        reason: String,
    },
}

/// What a unit says of a milestone.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Seen {
    /// Cycles or bytes.
    pub(super) time: f64,
    /// What happened then; `None` where the unit was last seen without the milestone.
    pub(super) happened: Option<Happening>,
    /// Whether it may have happened before that time: it was not watched for until then.
    pub(super) late: bool,
}

/// Why a unit says nothing of a milestone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Silent {
    /// The milestone was not watched for.
    NotWatched,
    /// How many bytes were written is not known.
    NoBytes,
}

impl Unit {
    /// When the unit reached the milestone or died before it, or until when neither was seen.
    pub(super) fn seen(&self, milestone: Milestone, axis: Axis) -> Result<Seen, Silent> {
        let death = match &self.end {
            End::Died { cause } => {
                let at = self.milestones.get(&Milestone::Death).copied().flatten();
                Some((at.unwrap_or(Reached { cycle: self.cycles.saturating_add(1), bytes: self.bytes }), cause.clone()))
            }
            _ => None,
        };
        let known = self.milestones.get(&milestone);
        // A later milestone was reached, so this one was, too, at that time or before.
        let later = Milestone::ALL.into_iter().filter(|other| *other > milestone && *other != Milestone::Death);
        let later = later.filter_map(|other| self.milestones.get(&other).copied().flatten()).next();
        let watched = self.watched_to.get(&milestone).copied();
        let (event, late) = match (known.copied().flatten(), later, death) {
            (_, _, death) if milestone == Milestone::Death => {
                (death.map(|(at, cause)| (at, Happening::Died { cause })), false)
            }
            (Some(reached), ..) => (Some((reached, Happening::Reached)), false),
            (None, Some(later), _) => (Some((later, Happening::Reached)), true),
            (None, None, _) if known.is_none() => return Err(Silent::NotWatched),
            (None, None, Some((at, cause))) => (Some((at, Happening::DiedBefore { cause })), watched.is_some()),
            (None, None, None) => (None, false),
        };
        let each = self.cycle_bytes.map(|each| each as f64);
        let each = each.or_else(|| Some(self.bytes? as f64 / self.cycles as f64).filter(|each| each.is_finite()));
        let of_cycle = |cycle: u64| each.map(|each| cycle as f64 * each);
        let time = match (axis, &event) {
            (Axis::Cycles, Some((at, _))) => Some(at.cycle as f64),
            (Axis::Cycles, None) => Some(watched.unwrap_or(self.cycles) as f64),
            (Axis::Bytes, Some((at, _))) => at.bytes.map(|bytes| bytes as f64).or_else(|| of_cycle(at.cycle)),
            (Axis::Bytes, None) if watched.is_some() => watched.and_then(of_cycle),
            (Axis::Bytes, None) => self.bytes.map(|bytes| bytes as f64).or_else(|| of_cycle(self.cycles)),
        };
        Ok(Seen { time: time.ok_or(Silent::NoBytes)?, happened: event.map(|(_, happened)| happened), late })
    }

    /// How it was last seen, where nothing happened.
    pub(super) fn last_seen(&self) -> LastSeen {
        match &self.end {
            End::Censored { reason } => LastSeen::Censored { reason: reason.clone() },
            // A death is always an event.
            End::Running | End::Died { .. } => LastSeen::Running,
        }
    }

    /// The group of a unit; `None` where it does not say.
    pub(super) fn group(&self, by: &Grouping) -> Option<String> {
        match by {
            Grouping::Model => self.model.clone(),
            Grouping::Label(name) => self.labels.get(name).cloned(),
            Grouping::All => Some("all units".to_owned()),
        }
    }
}

/// What makes a group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Grouping {
    /// The model.
    Model,
    /// A label: a column of the sheet.
    Label(String),
    /// All units are one group.
    All,
}

impl Grouping {
    /// As on the command line.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        match text.trim() {
            "model" => Self::Model,
            "all" => Self::All,
            other => Self::Label(other.to_owned()),
        }
    }

    /// Its name on the command line.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Model => "model",
            Self::Label(name) => name,
            Self::All => "all",
        }
    }
}

/// Units, each once.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Lives {
    /// The units.
    pub units: Vec<Unit>,
}

impl Lives {
    /// Adds a unit. What two files of the same unit say is put together: the survey's tool writes two of each.
    ///
    /// # Errors
    /// Two files that contradict each other about its end.
    pub(super) fn add(&mut self, unit: Unit) -> Result<(), String> {
        let Some(known) = self.units.iter_mut().find(|known| known.is_same(&unit)) else {
            self.units.push(unit);
            return Ok(());
        };
        let ends = |one: &Unit, other: &Unit| one.end != End::Running && other.cycles > one.cycles;
        let differ = known.end != unit.end && known.end != End::Running && unit.end != End::Running;
        if differ || ends(known, &unit) || ends(&unit, known) {
            return Err(format!(
                "unit {}: {} by one file, {} by another; correct one of them",
                clean(&unit.name),
                known.end_in_words(),
                unit.end_in_words()
            ));
        }
        known.join(unit)
    }
}

impl Unit {
    /// Whether both are of one unit.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.name == other.name && self.model == other.model
    }

    fn end_in_words(&self) -> String {
        let cycles = grouped(i64::try_from(self.cycles).unwrap_or(i64::MAX));
        match &self.end {
            End::Running => format!("running after {cycles} cycles"),
            End::Died { cause } => format!("dead after {cycles} cycles ({})", clean(cause)),
            End::Censored { reason } => format!("last seen after {cycles} cycles ({})", clean(reason)),
        }
    }

    /// Until which cycle a milestone was watched for.
    fn watch(&self, milestone: Milestone) -> Option<u64> {
        self.milestones.get(&milestone)?;
        Some(self.watched_to.get(&milestone).copied().unwrap_or(self.cycles))
    }

    /// Takes what another file says of the same life. The order of the files does not matter.
    fn join(&mut self, other: Self) -> Result<(), String> {
        let name = clean(&self.name);
        let contradiction = |what: &str| Err(format!("unit {name}: two files differ in {what}; correct one of them"));
        let differ = |a: Option<u64>, b: Option<u64>| a.zip(b).is_some_and(|(a, b)| a != b);
        if differ(self.cycle_bytes, other.cycle_bytes) {
            return contradiction("the bytes of a cycle");
        }
        if self.cycles == other.cycles && differ(self.bytes, other.bytes) {
            return contradiction("the bytes written");
        }
        let other_label = |(key, value): (&String, &String)| other.labels.get(key).is_some_and(|other| other != value);
        if let Some((key, _)) = self.labels.iter().find(|label| other_label(*label)) {
            return contradiction(&clean(key));
        }
        let watched: Vec<(Milestone, u64)> =
            Milestone::ALL.into_iter().filter_map(|m| Some((m, self.watch(m).max(other.watch(m))?))).collect();
        self.bytes = match self.cycles.cmp(&other.cycles) {
            std::cmp::Ordering::Less => other.bytes,
            std::cmp::Ordering::Equal => self.bytes.or(other.bytes),
            std::cmp::Ordering::Greater => self.bytes,
        };
        self.cycles = self.cycles.max(other.cycles);
        self.cycle_bytes = self.cycle_bytes.or(other.cycle_bytes);
        for (milestone, reached) in other.milestones {
            let entry = self.milestones.entry(milestone).or_insert(reached);
            // A tool may write its files at different moments of a cycle.
            if entry.zip(reached).is_some_and(|(a, b)| a.cycle.abs_diff(b.cycle) > 1) {
                return contradiction(milestone.name());
            }
            // The earlier of two, and the one that knows its bytes.
            let earlier = |a: Reached, b: Reached| {
                if (a.cycle, a.bytes.is_none()) <= (b.cycle, b.bytes.is_none()) { a } else { b }
            };
            *entry = match (*entry, reached) {
                (Some(a), Some(b)) => Some(earlier(a, b)),
                (a, b) => a.or(b),
            };
        }
        self.watched_to = watched.into_iter().filter(|(_, cycles)| *cycles < self.cycles).collect();
        if self.end == End::Running {
            self.end = other.end;
        }
        self.labels.extend(other.labels);
        Ok(())
    }
}

/// The name of a model: names of files have `_` where models have blanks.
pub(super) fn model_name(text: &str) -> String {
    text.replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(in crate::survive) fn unit(cycles: u64, end: End) -> Unit {
        Unit {
            name: "1".to_owned(),
            model: Some("A".to_owned()),
            labels: BTreeMap::new(),
            cycles,
            bytes: None,
            cycle_bytes: Some(10),
            milestones: BTreeMap::new(),
            watched_to: BTreeMap::new(),
            end,
        }
    }

    /// Nothing but the death of a medium is a failure, and no unit counts beyond where it was seen.
    #[test]
    fn a_censored_unit_is_no_failure_and_no_survivor() {
        let seen = |end| unit(100, end).seen(Milestone::Death, Axis::Cycles).unwrap();
        let cause = "read_only".to_owned();
        assert_eq!(
            seen(End::Died { cause: cause.clone() }),
            Seen { time: 101.0, happened: Some(Happening::Died { cause }), late: false }
        );
        for end in [End::Running, End::Censored { reason: "reader".to_owned() }] {
            assert_eq!(seen(end), Seen { time: 100.0, happened: None, late: false });
        }
    }

    #[test]
    fn a_death_before_a_milestone_competes_with_it() {
        let mut dead = unit(100, End::Died { cause: "hung".to_owned() });
        assert_eq!(dead.seen(Milestone::OnePercent, Axis::Cycles), Err(Silent::NotWatched));
        dead.milestones.insert(Milestone::OnePercent, None);
        let seen = dead.seen(Milestone::OnePercent, Axis::Bytes).unwrap();
        assert_eq!(
            seen,
            Seen { time: 1010.0, happened: Some(Happening::DiedBefore { cause: "hung".to_owned() }), late: false }
        );
        dead.milestones.insert(Milestone::OnePercent, Some(Reached { cycle: 7, bytes: Some(65) }));
        assert_eq!(dead.seen(Milestone::OnePercent, Axis::Bytes).unwrap().time, 65.0);
        dead.cycle_bytes = None;
        assert_eq!(dead.seen(Milestone::Death, Axis::Bytes), Err(Silent::NoBytes));
    }

    #[test]
    fn two_files_of_a_unit_are_one_life() {
        let mut lives = Lives::default();
        let mut first = unit(100, End::Running);
        first.milestones.insert(Milestone::FirstError, Some(Reached { cycle: 60, bytes: Some(600) }));
        let mut second = unit(110, End::Died { cause: "hung".to_owned() });
        second.milestones.insert(Milestone::FirstError, Some(Reached { cycle: 60, bytes: None }));
        second.milestones.insert(Milestone::Half, None);
        lives.add(first).unwrap();
        lives.add(second).unwrap();
        let [one] = &lives.units[..] else { panic!("{lives:?}") };
        assert_eq!((one.cycles, one.milestones.len()), (110, 2));
        assert_eq!(one.milestones[&Milestone::FirstError].unwrap().bytes, Some(600));
        assert!(matches!(one.end, End::Died { .. }));
    }

    #[test]
    fn files_that_contradict_each_other_are_refused_in_any_order() {
        let died = || unit(50, End::Died { cause: "hung".to_owned() });
        let others = [
            unit(77, End::Running),
            unit(50, End::Died { cause: "read only".to_owned() }),
            unit(50, End::Censored { reason: "reader".to_owned() }),
        ];
        for other in others {
            for (a, b) in [(died(), other.clone()), (other.clone(), died())] {
                let mut lives = Lives::default();
                lives.add(a).unwrap();
                let refused = lives.add(b).unwrap_err();
                assert!(refused.contains("dead after 50 cycles (hung)"), "{refused}");
            }
        }
    }

    #[test]
    fn the_order_of_files_does_not_matter() {
        let mut state = unit(300, End::Running);
        (state.bytes, state.cycle_bytes) = (Some(3000), None);
        let ended = || Unit { cycle_bytes: None, ..unit(1500, End::Died { cause: "hung".to_owned() }) };
        for (a, b) in [(state.clone(), ended()), (ended(), state.clone())] {
            let mut lives = Lives::default();
            lives.add(a).unwrap();
            lives.add(b).unwrap();
            assert_eq!((lives.units[0].cycles, lives.units[0].bytes), (1500, None));
        }
        let mut elsewhere = state.clone();
        elsewhere.labels.insert("site".to_owned(), "q".to_owned());
        state.labels.insert("site".to_owned(), "p".to_owned());
        let mut lives = Lives { units: vec![state] };
        assert!(lives.add(elsewhere).unwrap_err().contains("two files differ in site"));
    }

    /// A state of 150 cycles says nothing of what came after it.
    #[test]
    fn a_milestone_counts_as_long_as_it_was_watched_for_and_a_death_always() {
        let mut state = unit(150, End::Running);
        state.milestones.insert(Milestone::Quarter, None);
        let mut lives = Lives::default();
        lives.add(state).unwrap();
        lives.add(unit(400, End::Died { cause: "hung".to_owned() })).unwrap();
        let one = &lives.units[0];
        assert_eq!(
            one.seen(Milestone::Quarter, Axis::Cycles),
            Ok(Seen { time: 401.0, happened: Some(Happening::DiedBefore { cause: "hung".to_owned() }), late: true })
        );
        assert_eq!(one.seen(Milestone::Death, Axis::Cycles).unwrap().time, 401.0);
        let mut running = Unit { end: End::Running, ..one.clone() };
        assert_eq!(running.seen(Milestone::Quarter, Axis::Cycles).unwrap().time, 150.0);
        assert_eq!(running.seen(Milestone::Quarter, Axis::Bytes).unwrap().time, 1500.0);
        running.milestones.remove(&Milestone::Quarter);
        assert_eq!(running.seen(Milestone::Quarter, Axis::Cycles), Err(Silent::NotWatched));
    }

    #[test]
    fn a_milestone_before_one_that_was_reached_was_reached_by_then() {
        let mut unit = unit(150, End::Running);
        unit.milestones.insert(Milestone::OnePercent, None);
        unit.milestones.insert(Milestone::TenPercent, Some(Reached { cycle: 120, bytes: None }));
        let seen = Seen { time: 120.0, happened: Some(Happening::Reached), late: true };
        assert_eq!(unit.seen(Milestone::OnePercent, Axis::Cycles), Ok(seen));
    }
}
