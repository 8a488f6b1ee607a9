//! One medium of a campaign, and the result of a check on it.

use std::ops::RangeInclusive;

use assay_core::verification::{FakeKind, Verification};

use crate::media::{Class, Flips, FoundVerdict, Layout, MediumSpec, ModelMedium, Reach, Snapshot, Traffic, Truth};

/// What a check found, in a line for programmers.
#[must_use]
pub fn outline(v: &Verification) -> String {
    let size = v.real_bytes.map(|bytes| (bytes, bytes)).or(v.real_low_bytes.zip(v.real_high_bytes));
    let mut said = format!("{:?} of {} B, real {size:?}, {:?}", v.verdict, v.announced_bytes, v.counts);
    for (name, known) in [
        ("kind", v.kind.map(|kind| format!("{kind:?}"))),
        ("sign", v.sign.map(|sign| format!("{sign:?}"))),
        ("ended", v.ended.map(|ended| format!("{ended:?}"))),
        ("doubt", v.doubt.map(|doubt| format!("{doubt:?}"))),
        ("remarks", (!v.remarks.is_empty()).then(|| format!("{:?}", v.remarks))),
    ] {
        if let Some(words) = known {
            said.push_str(&format!(", {name} {words}"));
        }
    }
    said
}

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
        let truth = Truth::about_medium(spec);
        let shown = Truth::as_shown(spec, medium.has_shown_failure(), medium.is_exhausted());
        let said = result.as_ref().ok();
        let fake = said.is_some_and(|result| result.found == Some(FoundVerdict::Fake))
            && truth.right.contains(&FoundVerdict::Fake);
        Self {
            seed,
            judgement: match &result {
                Ok(result) => judgement_of_case(&truth, &shown, result),
                Err(_) => Judgement::Wrong,
            },
            // A pool that was not exhausted shows no size.
            size: said.filter(|_| fake && shown.class == truth.class).and_then(|result| size_of_case(&truth, result)),
            group: Group::of_medium(spec, said.map_or(0, |result| result.driven_out_bytes)),
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
    pub fn found(&self) -> Option<FoundVerdict> {
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
        let blames = |found| matches!(found, FoundVerdict::Fake | FoundVerdict::Damaged | FoundVerdict::Failed);
        self.truth.class == Class::Genuine && self.found().is_some_and(blames)
    }
}

fn judgement_of_case(truth: &Truth, shown: &Truth, result: &CheckResult) -> Judgement {
    let Some(found) = result.found else { return Judgement::Refused };
    if truth.right.contains(&found) {
        return Judgement::Right;
    }
    let would_notice = shown.needs.iter().any(|need| result.reach.covers(need));
    if matches!(found, FoundVerdict::Genuine | FoundVerdict::Undecided)
        && truth.class != Class::Genuine
        && !would_notice
    {
        return Judgement::BeyondReach;
    }
    Judgement::Wrong
}

fn size_of_case(truth: &Truth, result: &CheckResult) -> Option<Size> {
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

// The result of a check, as a campaign needs it.

/// The result of a check.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckResult {
    /// The verdict; `None` if the check refused such a medium.
    pub found: Option<FoundVerdict>,
    /// The kind of fake, if the check names one.
    pub kind: Option<FakeKind>,
    /// The interval that the check states for the real size, in bytes.
    pub real_bytes: Option<RangeInclusive<u64>>,
    /// What the check states it would have noticed.
    pub reach: Reach,
    /// Size of the largest cache, in bytes, that the check evicts before it reads, where a loss is known.
    pub driven_out_bytes: u64,
    /// Bytes that the check says it wrote; `None` if it does not say.
    pub said_written_bytes: Option<u64>,
    /// Bytes that the check says it read; `None` if it does not say.
    pub said_read_bytes: Option<u64>,
    /// Whether the journal of the saved content still exists, so that it can be restored.
    pub journal_kept: bool,
}

impl CheckResult {
    /// A result with a verdict and nothing else.
    #[must_use]
    pub fn from_verdict(found: FoundVerdict, reach: Reach) -> Self {
        Self {
            found: Some(found),
            kind: None,
            real_bytes: None,
            reach,
            driven_out_bytes: reach.cache_bytes,
            said_written_bytes: None,
            said_read_bytes: None,
            journal_kept: false,
        }
    }

    /// The result of a check that refused the medium.
    #[must_use]
    pub fn refused() -> Self {
        Self { found: None, ..Self::from_verdict(FoundVerdict::Undecided, Reach::least()) }
    }
}

// Groups of media by how exactly their size can be known. A report states exactness for each group separately.

/// The reason why the size of a fake may not be known to the sector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// The size can be known: the medium has one fault, and the check evicts its caches.
    Plain,
    /// The medium has a second fault: the real part may end where that fault begins.
    SecondFault,
    /// The memory lies in more than two pieces, and some may be smaller than any distance between samples.
    Pieces,
    /// The cache is larger than the check evicts.
    Cache,
    /// Memory is allocated to the addresses written first: its size shows only when all of it is used.
    Thin,
}

impl Group {
    /// All groups with their names.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Plain, "one fault"),
        (Self::SecondFault, "a second fault"),
        (Self::Pieces, "many pieces"),
        (Self::Cache, "larger cache"),
        (Self::Thin, "thin"),
    ];

    /// The group of a medium for a check that evicts caches of up to `driven_out_bytes`.
    #[must_use]
    pub fn of_medium(spec: &MediumSpec, driven_out_bytes: u64) -> Self {
        let pieces = matches!(&spec.layout, Layout::Holds(ranges) if ranges.len() > 2);
        let lined = spec.misaddress.is_some() && !spec.layout.is_whole(spec.announced_bytes);
        if spec.pool.is_some() {
            Self::Thin
        } else if spec.caches.iter().any(|cache| cache.bytes_to_evict() > driven_out_bytes) {
            Self::Cache
        } else if pieces {
            Self::Pieces
        } else if lined || spec.decay.is_some() || !spec.errors.is_empty() || spec.flips != Flips::none() {
            Self::SecondFault
        } else {
            Self::Plain
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::media::{Cache, Operations};

    const MIB: u64 = 1 << 20;

    #[test]
    fn media_are_grouped_by_what_hides_their_size() {
        let group = |spec: &MediumSpec| Group::of_medium(spec, 32 * MIB);
        let limbo = MediumSpec::limbo(1 << 30, 61 * MIB);
        assert_eq!(group(&limbo), Group::Plain);
        assert_eq!(group(&limbo.clone().with_cache(Cache::with_bytes(32 * MIB))), Group::Plain);
        assert_eq!(group(&limbo.clone().with_cache(Cache::with_bytes(33 * MIB))), Group::Cache);
        assert_eq!(group(&limbo.with_errors(0..4096, Operations::Reads)), Group::SecondFault);
        let holds = |pieces: u64| Layout::holds((0..pieces).map(|piece| piece * 64 * MIB..(piece * 64 + 1) * MIB));
        assert_eq!(group(&MediumSpec::laid_out(1 << 30, holds(2))), Group::Plain);
        assert_eq!(group(&MediumSpec::laid_out(1 << 30, holds(3))), Group::Pieces);
    }
}
