//! One medium of a campaign, and the result of a check on it.

use crate::media::{Class, Found, MediumSpec, ModelMedium, Snapshot, Traffic, Truth};

use super::check::CheckResult;
use super::sizes::Group;

/// A medium that was checked, and the quality of the answer.
#[derive(Debug, Clone)]
pub struct Case {
    /// The seed that generates the medium.
    pub seed: u64,
    /// The truth about it.
    pub truth: Truth,
    /// The result of the check, or the panic message.
    pub result: Result<CheckResult, String>,
    /// Whether the result is right.
    pub judgement: Judgement,
    /// How exact the stated size is; `None` if no size was to be stated.
    pub size: Option<Size>,
    /// The property of the medium that may hide its size.
    pub group: Group,
    /// Whether the named kind is right; `None` if there was no kind to name.
    pub kind_is_right: Option<bool>,
    /// Sectors that the owner now reads differently than before.
    pub changed_sectors: usize,
    /// Whether all of them could have been restored.
    pub restorable: bool,
    /// Counters of the medium.
    pub traffic: Traffic,
    /// Time on the clock of the medium, in nanoseconds.
    pub elapsed_ns: u64,
}

/// Whether an answer is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Judgement {
    /// The answer is right.
    Right,
    /// The medium is not genuine, and the check does not say so. But the medium never showed the fault, or the check
    /// states that it cannot notice this fault.
    BeyondReach,
    /// The answer is wrong.
    Wrong,
    /// The check refused to run.
    Refused,
}

/// How exact a stated size is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Size {
    /// Exact to the sector.
    Exact,
    /// The true size is inside the stated interval.
    Inside,
    /// The true size is outside the stated interval.
    Outside,
    /// No size is stated.
    Unstated,
}

impl Case {
    /// Judges the result of a check of `medium`, whose content was `before`.
    #[must_use]
    pub fn judge(
        seed: u64,
        spec: &MediumSpec,
        medium: &ModelMedium,
        before: &Snapshot,
        result: Result<CheckResult, String>,
    ) -> Self {
        let truth = Truth::of(spec);
        let shown = Truth::as_shown(spec, medium.has_shown_failure(), medium.is_exhausted());
        let said = result.as_ref().ok();
        let fake = said.is_some_and(|result| result.found == Some(Found::Fake)) && truth.right.contains(&Found::Fake);
        Self {
            seed,
            judgement: match &result {
                Ok(result) => judgement(&truth, &shown, result),
                Err(_) => Judgement::Wrong,
            },
            // A pool that was not exhausted shows no size.
            size: said.filter(|_| fake && shown.class == truth.class).and_then(|result| size(&truth, result)),
            group: Group::of(spec, said.map_or(0, |result| result.driven_out_bytes)),
            kind_is_right: said
                .filter(|_| fake && !truth.kinds.is_empty())
                .map(|result| result.kind.is_some_and(|kind| truth.kinds.contains(&kind))),
            changed_sectors: medium.changed_since(before).len(),
            restorable: shown.restorable && !medium.has_failed(),
            traffic: medium.traffic(),
            elapsed_ns: medium.elapsed_ns(),
            truth,
            result,
        }
    }

    /// The verdict of the check.
    #[must_use]
    pub fn found(&self) -> Option<Found> {
        self.result.as_ref().ok().and_then(|result| result.found)
    }

    /// Whether data of the owner changed although they could have been restored.
    #[must_use]
    pub fn harmed(&self) -> bool {
        self.restorable && self.changed_sectors > 0
    }

    /// Whether data of the owner changed without a journal to restore them from.
    #[must_use]
    pub fn lost(&self) -> bool {
        self.changed_sectors > 0 && !self.result.as_ref().is_ok_and(|result| result.journal_kept)
    }

    /// Whether the counters exceed what the check states.
    #[must_use]
    pub(crate) fn understated(&self) -> bool {
        let less = |said: Option<u64>, truly: u64| said.is_some_and(|said| said < truly);
        self.result.as_ref().is_ok_and(|result| {
            less(result.said_written_bytes, self.traffic.written_bytes)
                || less(result.said_read_bytes, self.traffic.read_bytes)
        })
    }

    /// Whether a genuine medium was called something else.
    #[must_use]
    pub fn false_alarms(&self) -> bool {
        let blames = |found| matches!(found, Found::Fake | Found::Damaged | Found::Failed);
        self.truth.class == Class::Genuine && self.found().is_some_and(blames)
    }
}

fn judgement(truth: &Truth, shown: &Truth, result: &CheckResult) -> Judgement {
    let Some(found) = result.found else { return Judgement::Refused };
    if truth.right.contains(&found) {
        return Judgement::Right;
    }
    let would_notice = shown.needs.iter().any(|need| result.reach.covers(need));
    if matches!(found, Found::Genuine | Found::Undecided) && truth.class != Class::Genuine && !would_notice {
        return Judgement::BeyondReach;
    }
    Judgement::Wrong
}

fn size(truth: &Truth, result: &CheckResult) -> Option<Size> {
    if truth.real_bytes.is_empty() {
        return None;
    }
    let Some(said) = &result.real_bytes else { return Some(Size::Unstated) };
    Some(match truth.real_bytes.iter().any(|real| said.contains(real)) {
        true if said.start() == said.end() => Size::Exact,
        true => Size::Inside,
        false => Size::Outside,
    })
}
