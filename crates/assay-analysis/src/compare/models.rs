//! Groups that are models. Their figures, and which of two is better, come from the ranking.

use std::collections::BTreeSet;

use assay_stats::log_mean;

use super::group::{Group, Request};
use super::report::Side;
use crate::identity::{identity, names_model};
use crate::load::Load;
use crate::quantity::Quantity;
use crate::rank::{DecidedLoad, RankOptions, Setting};

/// Groups that each hold one model of their own.
pub(super) struct Models<'a> {
    setting: Setting<'a>,
    /// By group.
    names: Vec<String>,
}

impl<'a> Models<'a> {
    /// `None` where a group holds no model or several, or two hold the same one, or runs are asked about.
    pub(super) fn of(groups: &[Group<'a>], request: &Request) -> Option<Self> {
        let name = |group: &Group<'a>| {
            let mut models = group.records.iter().filter(|r| names_model(r)).map(|r| identity(r).model);
            let first = models.next()?;
            let all_named = group.records.iter().all(|r| names_model(r));
            (all_named && models.all(|model| model == first)).then_some(first)
        };
        let names: Vec<String> = groups.iter().map(name).collect::<Option<_>>()?;
        let distinct: BTreeSet<&String> = names.iter().collect();
        if distinct.len() < names.len() || request.runs {
            return None;
        }
        let records: Vec<_> = groups.iter().flat_map(|group| group.records.iter().copied()).collect();
        let ask = RankOptions { alpha: 1.0 - request.level, delta: request.margin, ..RankOptions::default() };
        Some(Self { setting: Setting::new(&records, &ask), names })
    }

    /// The ranking under a load; `None` without a figure that counts.
    pub(super) fn decided(&self, load: &Load, quantity: Quantity, primary: bool) -> Option<GroupsUnderLoad<'_>> {
        DecidedLoad::of(&self.setting, load, quantity, !primary)
            .map(|decided| GroupsUnderLoad { decided, names: &self.names })
    }
}

/// The ranking of groups under a load.
pub(super) struct GroupsUnderLoad<'a> {
    decided: DecidedLoad,
    names: &'a [String],
}

impl GroupsUnderLoad<'_> {
    fn name(&self, side: &Side) -> &str {
        &self.names[side.group]
    }

    /// Gives a side the figures of the ranking: without the effects of slots and rounds.
    pub(super) fn adjust(&self, side: &mut Side, level: f64) {
        if side.excluded() {
            return;
        }
        let name = self.name(side).to_owned();
        if self.adjusted() {
            side.adjust(|unit| self.decided.levels.factor(&name, unit), level);
        }
        if let Some(estimate) = self.decided.estimate(&name, level) {
            side.estimate = Some(estimate);
        }
    }

    pub(super) fn adjusted(&self) -> bool {
        self.decided.levels.adjusted()
    }

    pub(super) fn at_ceiling(&self, side: &Side) -> bool {
        self.decided.levels.at_ceiling(self.name(side))
    }

    /// Models that were tested together.
    pub(super) fn models(&self) -> usize {
        self.decided.models()
    }

    /// The logarithm of the second side over the first, the ends of its interval, and whether the difference is
    /// significant; `None` where the ranking does not compare the two.
    pub(super) fn between(&self, first: &Side, second: &Side) -> Option<(f64, (f64, f64), bool)> {
        if first.excluded() || second.excluded() {
            return None;
        }
        let (ends, differ) = self.decided.between(self.name(second), self.name(first))?;
        Some((log_mean(&second.values) - log_mean(&first.values), ends, differ))
    }
}
