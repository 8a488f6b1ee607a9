//! The verdict of a full check as a sentence.

use assay_core::units::Bytes;
use assay_core::verification::{FakeKind, Reach, Remark, SECTOR_BYTES, SectorCounts, Verdict};

use super::scope::{Retried, Scope};
use super::size::Size;
use super::tally::Tally;

/// The parts of the sentence.
pub(super) struct Words<'a> {
    pub(super) verdict: Verdict,
    pub(super) kind: Option<FakeKind>,
    pub(super) size: &'a Size,
    pub(super) announced: u64,
    pub(super) tally: &'a Tally,
    pub(super) scope: &'a Scope,
    pub(super) reach: &'a Reach,
    pub(super) remarks: &'a [Remark],
}

impl Words<'_> {
    pub(super) fn all(&self) -> String {
        let Self { verdict, tally, scope, .. } = self;
        let mut sentence = self.verdict();
        if matches!(verdict, Verdict::Damaged | Verdict::Failed)
            && let Some(first) = &tally.first
        {
            sentence.push_str(&format!(", the first at {}", Bytes(first.offset_bytes)));
        }
        if scope.refused_bytes > 0 {
            sentence.push_str(&format!("; {} could not be written (write errors)", Bytes(scope.refused_bytes)));
        }
        if self.remarks.contains(&Remark::ProbeDecides) && scope.file_system_errs {
            sentence.push_str("; this file system answers with errors where the device need not");
        }
        for words in self.remarks.iter().filter_map(|remark| remark.words()) {
            sentence.push_str(&format!("; {words}"));
        }
        if let Some(failed) = scope.failed.as_ref().filter(|_| *verdict != Verdict::Failed) {
            sentence.push_str(&format!("; {failed}"));
        }
        if let Some(ended) = &scope.ended {
            sentence.push_str(&format!("; {ended}"));
        } else if !scope.complete && scope.failed.is_none() {
            let checked = tally.counts.total().saturating_mul(SECTOR_BYTES);
            sentence.push_str(&format!("; {} were not checked", Bytes(scope.whole_bytes.saturating_sub(checked))));
        }
        sentence
    }

    fn verdict(&self) -> String {
        let Self { size, announced, tally, scope, reach, .. } = self;
        let counts = &tally.counts;
        let checked = counts.total().saturating_mul(SECTOR_BYTES);
        match self.verdict {
            Verdict::Genuine => {
                let (what, contain) = match (scope.only_read, scope.complete) {
                    (true, true) => ("the files that were read", "contain"),
                    (true, false) => ("the part of the files that was read", "contains"),
                    (false, true) => ("all of free space", "contains"),
                    (false, false) => ("the part of free space that was checked", "contains"),
                };
                let excluded = excluded(reach, checked, scope);
                format!("genuine: {what}, {}, {contain} what was written; {excluded}", Bytes(checked))
            }
            // A size is stated only for a medium that was read completely.
            Verdict::Fake if **size == Size::Unknown => {
                let good = counts.good.saturating_mul(SECTOR_BYTES);
                format!("fake: of {} that were read {} hold data, {}", Bytes(checked), Bytes(good), self.how())
            }
            Verdict::Fake => {
                let by_address = scope.map.is_some() || scope.repeats.is_some();
                let (place, announced) = if by_address { ("of the device's", *announced) } else { ("of", checked) };
                format!("fake: {place} {} only {} hold data, {}", Bytes(announced), size.words(), self.how())
            }
            Verdict::Damaged if tally.is_misaddressed() => {
                format!("damaged: of {} {} were found in other places", Bytes(checked), Bytes(counts.overwritten * 512))
            }
            Verdict::Damaged if scope.retried == Some(Retried::Hold) => {
                let lost = lost(counts);
                format!("damaged: of {} {lost} were lost, and hold data that are written again", Bytes(checked))
            }
            Verdict::Damaged => format!("damaged: of {} {} are lost", Bytes(checked), lost(counts)),
            Verdict::Failed => match &scope.failed {
                Some(how) => format!("failed: {how}; {}", so_far(tally, scope)),
                None if counts.good == 0 => {
                    format!("failed: none of {} contains what was written: it accepts no writes", Bytes(checked))
                }
                None => "failed: it no longer accepts writes and reports no error; the last data written are lost"
                    .to_owned(),
            },
            Verdict::Undecided | Verdict::Other => match (&scope.doubt, counts.total()) {
                (_, 0) => "cannot tell: nothing was read back".to_owned(),
                (Some(doubt), _) if scope.ended.is_none() => format!("cannot tell: {doubt}"),
                _ => format!("cannot tell: {}", so_far(tally, scope)),
            },
        }
    }

    /// What a fake does with data that it cannot hold.
    fn how(&self) -> &'static str {
        match self.kind {
            Some(FakeKind::Wraparound) => "later data overwrite earlier ones",
            Some(FakeKind::Limbo) => "the rest is dropped",
            Some(FakeKind::Newest) => "each write takes the place of the oldest",
            _ => "the rest is overwritten or dropped",
        }
    }
}

fn so_far(tally: &Tally, scope: &Scope) -> String {
    let (checked, lost) = (tally.counts.total() * SECTOR_BYTES, tally.counts.lost() * SECTOR_BYTES);
    let found = if lost == 0 { "nothing lost was".to_owned() } else { format!("{} lost were", Bytes(lost)) };
    format!("{found} found so far in {} of {}", Bytes(checked), Bytes(scope.whole_bytes))
}

/// What is excluded for a genuine medium. A medium that shares as much memory as was written among all addresses holds
/// the data, and may still lack what the file system keeps for itself.
fn excluded(reach: &Reach, checked: u64, scope: &Scope) -> String {
    let medium = if scope.device_is_known { "device" } else { "file system" };
    let mut words = match (reach.tested_share * 100.0).floor() {
        // Zero only if nothing was tested: a small part is not zero.
        0.0 if reach.tested_share > 0.0 => format!("less than 1 % of the {medium} tested"),
        percent => format!("{percent:.0} % of the {medium} tested"),
    };
    match reach.caches_up_to_bytes {
        None | Some(0) => words.push_str(", caches not driven out"),
        Some(bytes) => words.push_str(&format!(", caches up to {} driven out", Bytes(bytes))),
    }
    if reach.thin_excluded {
        words.push_str(&format!(", thin provisioning with less than {} excluded", Bytes(checked)));
    } else {
        words.push_str(", thin provisioning not excluded");
    }
    words
}

fn lost(counts: &SectorCounts) -> String {
    let kinds = [
        (counts.changed, "slightly changed"),
        (counts.overwritten, "overwritten"),
        (counts.corrupted, "corrupted"),
        (counts.unreadable, "unreadable"),
    ];
    let parts: Vec<String> =
        kinds.iter().filter(|(count, _)| *count > 0).map(|(count, name)| format!("{count} {name}")).collect();
    let sectors = if counts.lost() == 1 { "sector" } else { "sectors" };
    format!("{} ({} {sectors})", Bytes(counts.lost().saturating_mul(SECTOR_BYTES)), parts.join(", "))
}
