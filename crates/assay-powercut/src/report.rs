//! What a test says of a cut, and of all cuts together.

use std::collections::BTreeMap;

use assay_core::estimate::Estimate;
use assay_stats::survival::{clopper_pearson, most_failing};
use serde::{Deserialize, Serialize};

use crate::round::{Ended, LoadEnd, Mode, Round, Target};
use crate::sector::Damage;

/// Confidence level of the share of cuts with a loss.
const LEVEL: f64 = 0.95;

/// A test of power cuts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PowerCuts {
    /// Version of this document, 1.
    pub schema: u32,
    /// Name of the test: its number in the stamps on the medium, 16 hexadecimal digits.
    pub id: String,
    /// When it began (RFC 3339).
    pub started: String,
    /// Model, as the medium says or the user labelled it.
    pub model: Option<String>,
    /// The unit: serial number, CID or the user's label.
    pub unit: Option<String>,
    /// Announced size of the medium in bytes.
    pub capacity_bytes: u64,
    /// Bytes of the area. The load writes half of it.
    pub area_bytes: u64,
    /// Whether a device or a file is written.
    pub target: Target,
    /// Whether the kernel sends flushes to the device; null where it does not tell.
    pub flushes: Option<bool>,
    /// The cuts that were checked, in their order.
    pub cuts: Vec<CutReport>,
    /// Whether the last round was not checked yet.
    pub unchecked: bool,
    /// Share of cuts that lost an acknowledged write, among cuts with an answer and a sign of the cut; null without
    /// such a cut. Without a loss the upper bound is one-sided.
    pub share: Option<Estimate>,
    /// What these cuts did not show.
    pub not_shown: Vec<NotShown>,
    /// Labels that the user gave.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

/// One cut.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CutReport {
    /// Number of the cut, from 1 on.
    pub cut: u32,
    /// When the medium was checked (RFC 3339).
    pub at: String,
    /// What shows that the power was cut.
    pub how: CutKind,
    /// How the load ended, as the host saw it; null where the host went down with it.
    pub ended: Option<LoadEnd>,
    /// The answer.
    pub answer: Answer,
    /// Blocks that the load wrote in this round, by how often they were written.
    pub issued: u64,
    /// Those of them that the medium acknowledged.
    pub acknowledged: u64,
    /// Acknowledged blocks by how they were acknowledged.
    pub modes: BTreeMap<Mode, u64>,
    /// Places of one block whose content is known from an acknowledgement, older data included.
    pub places: u64,
    /// Places that hold an older content in whole.
    pub lost: u64,
    /// Places that hold the acknowledged content in some sectors, and an older one in others or within a sector.
    pub torn: u64,
    /// Places of both kinds for which something issued after their acknowledgement is there.
    pub reordered: u64,
    /// Places that the load wrote and that hold what was never written there.
    pub garbage: u64,
    /// Places that the load did not touch in this round and that hold what was never written there, or nothing readable.
    pub older_damaged: u64,
    /// Places that the load wrote and that cannot be read, in two passes, while others can.
    pub unreadable: u64,
    /// What the sectors of garbage, damaged and unreadable places hold.
    pub kinds: BTreeMap<Damage, u64>,
    /// Longest time between the acknowledgement of a lost or torn write of this round and the last acknowledgement.
    pub longest_ago_ns: Option<u64>,
    /// Writes that were issued and not acknowledged. They accuse no medium.
    pub unacknowledged: Unacknowledged,
    /// The first places that were not as they should be, with the first such sector of each.
    pub examples: Vec<Example>,
    /// The file system, where a file is written.
    pub file_system: Option<FileSystem>,
}

/// Writes that were issued and not acknowledged when the power was cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unacknowledged {
    /// There in whole.
    pub there: u64,
    /// There in some sectors.
    pub partly: u64,
    /// Not there.
    pub absent: u64,
    /// There, while an earlier write of the same batch is not: allowed without a sync between them.
    pub out_of_order: u64,
    /// Sectors that hold parts of two contents.
    pub torn_sectors: u64,
    /// Sectors of their places that hold anything else, or cannot be read.
    pub damaged_sectors: u64,
}

/// A place that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Example {
    /// Byte offset of the sector in the area.
    pub offset_bytes: u64,
    /// Number of the write that was acknowledged there.
    pub acknowledged: u64,
    /// Number of the write that is there; null where none is.
    pub found: Option<u64>,
    /// What is there where it is no write.
    pub damage: Option<Damage>,
}

/// The answer to one cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    /// All that was acknowledged is there.
    Kept,
    /// An acknowledged write is lost, torn, garbage or unreadable, or older data are damaged.
    Failed,
    /// Nothing can be said.
    CannotTell {
        /// Why.
        reason: Cannot,
    },
}

/// Why nothing can be said of a cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Cannot {
    /// Nothing of the load was acknowledged.
    NothingAcknowledged,
    /// No place holds what this test wrote: another medium, or one that lost all.
    NotTheMedium,
    /// Every place answers with an error: a reader may be the cause.
    OnlyErrors,
    /// It is gone, or does not answer.
    Gone,
    /// The medium holds writes that the ledger does not know: it is an older copy.
    LedgerBehind,
    /// It bears the mark of a file system or a partition table, which was made since the round began.
    WrittenSince,
    /// The file system is not mounted where it was.
    NotMounted,
    /// The file is not there; its file system may be another.
    NoFile,
    /// Something is not as it should be, and nothing shows a cut: what was written before and after a cut that the host did
    /// not notice cannot be told apart.
    NoCutSeen,
    /// Something this version has no name for.
    #[serde(other)]
    Other,
}

impl Cannot {
    /// Its words.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::NothingAcknowledged => "nothing of the load was acknowledged before the cut",
            Self::NotTheMedium => "no place holds what this test wrote: another medium, or one that lost all",
            Self::OnlyErrors => "every place answers with an error; try another reader",
            Self::Gone => "the medium is gone or does not answer",
            Self::LedgerBehind => "the medium holds writes that the ledger does not know: the ledger is an older copy",
            Self::WrittenSince => {
                "it holds a file system or a partition table that was made since: something else has written to it"
            }
            Self::NotMounted => "the file system is not mounted where it was; mount it and check again",
            Self::NoFile => "the file of the test is not there",
            Self::NoCutSeen => {
                "something is not as it should be, and nothing shows a cut; assay verify checks the medium without cuts"
            }
            Self::Other => "for a reason that this version has no name for",
        }
    }
}

/// What shows that the power was cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CutKind {
    /// The user's command, after which the load failed.
    Command,
    /// The medium was attached anew while the host stayed up.
    Attached,
    /// The host began anew; the medium may have kept its power.
    Host,
    /// Nothing: the cut is not counted.
    Unseen,
}

/// The file system after the cut. The user mounts it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileSystem {
    /// Its type.
    pub kind: Option<String>,
    /// Whether it is mounted where it was.
    pub mounted: bool,
    /// Whether it refuses writes.
    pub read_only: bool,
    /// Errors that it counted in its life; null where it does not tell.
    pub errors: Option<u64>,
    /// Whether the file of the test is there, with its size.
    pub file_whole: bool,
}

/// What a test did not show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NotShown {
    /// No cut counts yet.
    NoCut,
    /// In no cut that counts a write was under way.
    NothingUnderWay,
    /// In some cuts the host began anew, and the medium may have kept its power.
    PowerMayHaveStayed,
    /// The kernel sends this device no flushes: what is lost may be lost by the way it is attached.
    NoFlushes,
    /// What lies outside of the area.
    RestOfMedium,
    /// Data older than the test, and cuts after long idleness or with a worn or full medium.
    OtherStates,
}

impl NotShown {
    /// Its words.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::NoCut => "anything: no cut counts yet",
            Self::NothingUnderWay => "a cut while a write was under way",
            Self::PowerMayHaveStayed => "that the medium lost its power where the host began anew",
            Self::NoFlushes => "the medium with flushes: the kernel sends none to it as it is attached here",
            Self::RestOfMedium => "the medium outside of the area that was written",
            Self::OtherStates => "cuts when it is worn, full, hot or idle",
        }
    }
}

impl CutKind {
    /// What shows a cut: `now` is the attachment when the medium was read, as a boot and counters joined by a colon. A load that
    /// was stopped or killed met none by itself, but a medium that is attached anew afterwards has to keep what it acknowledged.
    #[must_use]
    pub fn of(round: &Round, ended: Option<Ended>, now: Option<&str>) -> Self {
        let boot = |attached: &str| attached.split(':').next().unwrap_or_default().to_owned();
        let (before, now) = (round.attached.as_deref(), now);
        let anew = matches!((before, now), (Some(before), Some(now)) if before != now);
        let rebooted = matches!((before, now), (Some(before), Some(now)) if boot(before) != boot(now));
        match ended {
            Some(Ended { end: LoadEnd::NoLedger, .. }) => Self::Unseen,
            Some(Ended { by_command: true, end, .. }) if end != LoadEnd::Stopped => Self::Command,
            _ if rebooted => Self::Host,
            _ if anew => Self::Attached,
            _ => Self::Unseen,
        }
    }

    /// Its words.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Command => "by the command",
            Self::Attached => "attached anew",
            Self::Host => "with the host",
            Self::Unseen => "no cut seen",
        }
    }
}

impl CutReport {
    /// Places that are not as they should be.
    #[must_use]
    pub fn damaged(&self) -> u64 {
        self.lost + self.torn + self.garbage + self.older_damaged + self.unreadable
    }

    /// Whether a later reading of the same cut is worse than this answer. What changed since a medium was read is not of the
    /// cut: something else wrote to it. What errs at first and holds then is.
    #[must_use]
    pub fn is_worse_in(&self, later: &Self) -> bool {
        let told = matches!(self.answer, Answer::Kept | Answer::Failed) && self.cut == later.cut;
        told && match later.answer {
            Answer::Kept => false,
            Answer::Failed => later.damaged() > self.damaged(),
            Answer::CannotTell { reason } => {
                use Cannot::{LedgerBehind, NoCutSeen, NotTheMedium, WrittenSince};
                matches!(reason, NotTheMedium | LedgerBehind | WrittenSince | NoCutSeen)
            }
        }
    }

    /// Whether another reading would say no more: there is an answer, or there was nothing to ask for.
    #[must_use]
    pub fn is_answered(&self) -> bool {
        match self.answer {
            Answer::Kept | Answer::Failed => true,
            Answer::CannotTell { reason } => matches!(reason, Cannot::NothingAcknowledged | Cannot::NoCutSeen),
        }
    }

    /// Whether it counts: it has an answer, and something shows the cut.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.how != CutKind::Unseen && !matches!(self.answer, Answer::CannotTell { .. })
    }
}

/// The share of cuts with a loss: exact after Clopper and Pearson; without a loss one-sided.
#[must_use]
pub(crate) fn share(cuts: &[CutReport]) -> Option<Estimate> {
    let counted: Vec<_> = cuts.iter().filter(|cut| cut.counts()).collect();
    let n = u32::try_from(counted.len()).ok().filter(|n| *n > 0)?;
    let failed = counted.iter().filter(|cut| cut.answer == Answer::Failed).count();
    let (low, high, method) = if failed == 0 {
        (0.0, most_failing(n, LEVEL), "no loss: exact one-sided upper bound")
    } else {
        let (low, high) = clopper_pearson(failed as f64, f64::from(n), LEVEL);
        (low, high, "exact interval of Clopper and Pearson")
    };
    Some(Estimate {
        point: failed as f64 / f64::from(n),
        low: Some(low),
        high: Some(high),
        level: Some(LEVEL),
        n,
        method: method.to_owned(),
    })
}

/// What cuts did not show.
#[must_use]
pub(crate) fn not_shown(cuts: &[CutReport], flushes: Option<bool>, whole: bool) -> Vec<NotShown> {
    let counted: Vec<_> = cuts.iter().filter(|cut| cut.counts()).collect();
    let under_way = counted.iter().any(|cut| cut.issued > cut.acknowledged);
    let said = [
        (counted.is_empty(), NotShown::NoCut),
        (!counted.is_empty() && !under_way, NotShown::NothingUnderWay),
        (counted.iter().any(|cut| cut.how == CutKind::Host), NotShown::PowerMayHaveStayed),
        (flushes == Some(false), NotShown::NoFlushes),
        (!whole, NotShown::RestOfMedium),
        (true, NotShown::OtherStates),
    ];
    said.into_iter().filter_map(|(holds, what)| holds.then_some(what)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(answer: Answer, damaged: u64) -> CutReport {
        let begin = crate::Begin {
            version: 1,
            id: "5".to_owned(),
            started: String::new(),
            model: None,
            unit: None,
            capacity_bytes: 1 << 20,
            blocks: 256,
            target: crate::Target::Device,
            mount_point: None,
            writers: 1,
            modes: Vec::new(),
            labels: BTreeMap::new(),
        };
        let state = crate::State::begin(begin).unwrap();
        let about = crate::Circumstances { at: String::new(), how: CutKind::Command, file_system: None };
        let checked = crate::judge(&state, Err(Cannot::Gone), about);
        CutReport { answer, older_damaged: damaged, ..checked.report }
    }

    #[test]
    fn what_changed_after_a_check_is_worse_and_what_errs_at_first_is_not() {
        let cannot = |reason| report(Answer::CannotTell { reason }, 0);
        let (kept, failed) = (report(Answer::Kept, 0), report(Answer::Failed, 5));
        assert!(kept.is_worse_in(&failed));
        assert!(failed.is_worse_in(&report(Answer::Failed, 6)));
        assert!(kept.is_worse_in(&cannot(Cannot::NotTheMedium)) && kept.is_worse_in(&cannot(Cannot::NoCutSeen)));
        assert!(kept.is_worse_in(&cannot(Cannot::WrittenSince)));
        for (first, later) in [(&failed, &kept), (&failed, &failed), (&kept, &kept), (&kept, &cannot(Cannot::Gone))] {
            assert!(!first.is_worse_in(later), "{first:?} {later:?}");
        }
        // What had no answer gets one.
        assert!(!cannot(Cannot::Gone).is_worse_in(&failed));
        assert!(!kept.is_worse_in(&CutReport { cut: 9, ..failed }));
    }

    #[test]
    fn a_cut_counts_where_something_shows_it() {
        let round = Round {
            at: String::new(),
            path: String::new(),
            attached: Some("boot:7".to_owned()),
            flushes: None,
            marked: None,
        };
        let of =
            |by_command, end: Option<LoadEnd>, now| CutKind::of(&round, end.map(|end| Ended { end, by_command }), now);
        assert_eq!(of(true, Some(LoadEnd::Errs), Some("boot:7")), CutKind::Command);
        assert_eq!(of(true, Some(LoadEnd::Stopped), Some("boot:7")), CutKind::Unseen, "the load did not notice");
        // What was acknowledged before the load ended has to be there after a later pull.
        assert_eq!(of(false, Some(LoadEnd::Stopped), Some("boot:8")), CutKind::Attached);
        assert_eq!(of(false, None, Some("boot:8")), CutKind::Attached);
        assert_eq!(of(false, None, Some("boot:7")), CutKind::Unseen, "the process was killed");
        assert_eq!(of(false, Some(LoadEnd::NoLedger), Some("boot:8")), CutKind::Unseen);
        assert_eq!(of(false, None, Some("other:1")), CutKind::Host);
        assert_eq!(of(false, Some(LoadEnd::Gone), Some("boot:8")), CutKind::Attached);
        assert_eq!(of(false, Some(LoadEnd::Errs), Some("boot:7")), CutKind::Unseen);
        assert_eq!(of(false, Some(LoadEnd::Errs), None), CutKind::Unseen);
        assert_eq!(of(false, None, Some("other:7")), CutKind::Host);
    }
}
