//! Derives what the medium is from the findings.

use assay_core::verification::{
    Doubt, EarlyEnd, Extent, FakeKind, Reach, Remark, SECTOR_BYTES, Sign, Verdict, Verification, Whole,
};

use super::size;
use super::size::{Map, Region, Size, missing_from, regions, silent_from};
use super::survey::{LEAST_PERIOD, Repeats};
use super::tally::Tally;

/// In a missing part, this many times as much is lost as is good: a cache larger than assumed may show the rest.
const WEIGHT: u64 = 9;
/// Data dropped up to the end count as missing from this size on: some pages of flash. Worn flash loses pages of 16 KiB
/// and blocks of some MiB here and there, and not the last addresses.
const LEAST_MISSING: u64 = 128 << 10;
/// Data dropped elsewhere make a fake from this share on, in at most `FAKE_PARTS` parts; below that, it is damage.
const FAKE_SHARE: f64 = 0.25;
const FAKE_PARTS: usize = 4;
/// Overwritten sectors that prove a wrap-around: one page of a flash translation layer. A single sector may be an error
/// of its mapping.
const WRAPPED: u64 = 8;
/// This many overwritten sectors, 1 MiB, are not an error of the mapping, whatever else is lost.
const SURELY_WRAPPED: u64 = 2048;
/// The same as a share of what is lost.
const OVERWRITTEN: f64 = 0.05;
/// At least this share of the losses of a wrap-around is overwritten; the rest may be worn. A chain drops a part of
/// each lap.
const WRAPAROUND: f64 = 0.99;
/// Most parts that are listed as holding data.
const MOST_HOLDS: usize = 1024;

/// The verdict with its details.
#[derive(Debug)]
pub(crate) struct Judged {
    pub(crate) verdict: Verdict,
    pub(crate) kind: Option<FakeKind>,
    pub(crate) sign: Option<Sign>,
    pub(crate) announced_bytes: u64,
    /// Size of the area that could be checked, where the announced size is that of the device.
    pub(crate) area_bytes: Option<u64>,
    pub(crate) size: Size,
    pub(crate) holds: Vec<Extent>,
    pub(crate) reach: Option<Reach>,
    pub(crate) remarks: Vec<Remark>,
}

impl Judged {
    /// Copies it into the record's form.
    pub(crate) fn put(self, verification: &mut Verification) {
        verification.verdict = self.verdict;
        verification.kind = self.kind;
        verification.sign = self.sign;
        verification.announced_bytes = self.announced_bytes;
        verification.area_bytes = self.area_bytes;
        (verification.real_bytes, verification.real_low_bytes, verification.real_high_bytes) = self.size.fields();
        verification.holds = self.holds;
        verification.reach = self.reach;
        verification.remarks = self.remarks;
    }
}

pub(crate) fn judge(tally: &Tally, scope: &Scope) -> Judged {
    let counts = &tally.counts;
    let checked = counts.total().saturating_mul(SECTOR_BYTES);
    let by_address = regions(tally, scope.map.as_ref());
    let of_device = scope.map.as_ref().map(|map| map.device_bytes);
    let of_device = of_device.or(scope.repeats.map(|found| found.device_bytes));
    let announced = of_device.unwrap_or(scope.whole_bytes);
    let area_bytes = of_device.map(|_| scope.whole_bytes);
    let (verdict, kind) = class(tally, scope, &by_address);
    let remarks = remarks(verdict, tally, scope, &by_address);
    let size = match (verdict, kind) {
        (Verdict::Fake, _) if scope.repeats.is_some() => {
            let good = counts.good.saturating_mul(SECTOR_BYTES);
            scope.repeats.map_or(Size::Unknown, |found| size::size_of_repeats(found, good))
        }
        // Existing files prove nothing about a medium, except for the losses that they show.
        (Verdict::Genuine, _) if scope.complete && !scope.only_read => Size::Exact(announced),
        (Verdict::Fake, Some(FakeKind::Newest)) => newest_size(scope, announced, checked),
        (Verdict::Fake, Some(kind)) if scope.complete && !scope.only_read => {
            size::size_of_fake(kind, tally, scope.map.as_ref(), &by_address)
        }
        // What holds is known if each loss is one of the medium.
        (Verdict::Damaged, _) if scope.complete && !scope.only_read && !remarks.contains(&Remark::ProbeDecides) => {
            let good = counts.good.saturating_mul(SECTOR_BYTES);
            // The state of an earlier check may count more than is possible, since a prepared medium may contain any
            // state.
            let most = announced.saturating_sub(counts.lost().saturating_mul(SECTOR_BYTES));
            Size::and_untested(good.min(most), most.saturating_sub(good))
        }
        _ => Size::Unknown,
    };
    let holds = holds(verdict, tally, scope, &by_address);
    let reach = reach(checked, scope.medium_bytes.unwrap_or(announced), scope);
    // A check that ended early, or may have been answered from memory, has no reach.
    let whole = scope.complete || scope.ended.is_none();
    let reach = Some(reach).filter(|_| whole && scope.doubt.is_none());
    let sign = sign(verdict, tally, scope);
    Judged { verdict, kind, sign, announced_bytes: announced, area_bytes, size, holds, reach, remarks }
}

/// What shows damage, beside the counts.
fn sign(verdict: Verdict, tally: &Tally, scope: &Scope) -> Option<Sign> {
    match verdict {
        Verdict::Damaged if tally.is_misaddressed() => Some(Sign::Misplaced { distance_bytes: None }),
        Verdict::Damaged if scope.retried == Some(Retried::Hold) => Some(Sign::HoldsLater),
        _ => None,
    }
}

/// Parts that hold data, to the sector; empty if they are not known that exactly.
fn holds(verdict: Verdict, tally: &Tally, scope: &Scope, by_address: &[Region]) -> Vec<Extent> {
    // Parts in the order of files say nothing about addresses. On a genuine medium all that was tested holds. If only
    // the latest writes are kept, the parts that hold change with each write.
    let newest = matches!(scope.retried, Some(Retried::Displace { .. }));
    if (scope.repeats.is_some() && scope.map.is_none()) || verdict == Verdict::Genuine || newest {
        return Vec::new();
    }
    let holds = by_address.iter().filter(|region| region.is_good());
    let holds: Vec<Extent> =
        holds.map(|region| Extent { offset_bytes: region.start, bytes: region.bytes() }).take(MOST_HOLDS + 1).collect();
    if holds.len() > MOST_HOLDS || !tally.lost.is_exact() { Vec::new() } else { holds }
}

/// The untested part may hold some of what is kept, or none of it.
fn newest_size(scope: &Scope, announced: u64, checked: u64) -> Size {
    match scope.retried {
        Some(Retried::Displace { held_bytes }) => {
            Size::and_untested(held_bytes, scope.medium_bytes.unwrap_or(announced).saturating_sub(checked))
        }
        _ => Size::Unknown,
    }
}

/// Remarks beside the verdict.
fn remarks(verdict: Verdict, tally: &Tally, scope: &Scope, by_address: &[Region]) -> Vec<Remark> {
    let mut remarks = Vec::new();
    if scope.only_read {
        remarks.push(Remark::OnlyRead);
    }
    if verdict == Verdict::Damaged {
        if lacks_last_sectors(scope, by_address) {
            remarks.push(Remark::LastSectorsMissing);
        } else if probe_decides(tally, scope) {
            remarks.extend(scope.file_system_errs.then_some(Remark::FileSystemErrs));
            remarks.push(Remark::ProbeDecides);
        }
    }
    remarks
}

/// Whether less is lost than makes a fake, all of it at the end of the device.
fn lacks_last_sectors(scope: &Scope, by_address: &[Region]) -> bool {
    let lost: Vec<&Region> = by_address.iter().filter(|region| !region.is_good()).collect();
    let (Some(map), Some(last), [first, ..]) = (&scope.map, by_address.last(), lost.as_slice()) else { return false };
    let all_behind = by_address.iter().filter(|region| region.start >= first.start).count() == lost.len();
    all_behind && last.end - first.start < LEAST_MISSING && map.device_bytes - last.end < LEAST_MISSING
}

/// Whether losses may be those of a fake, hidden by its file system.
fn probe_decides(tally: &Tally, scope: &Scope) -> bool {
    let counts = &tally.counts;
    // Nearly all that was taken is there. A driver also refuses writes if it finds its tables changed.
    let dropped = (counts.lost().saturating_mul(SECTOR_BYTES)).saturating_sub(scope.refused_bytes);
    (scope.refused_bytes > 0 && dropped < LEAST_MISSING) || (scope.file_system_errs && counts.unreadable > 0)
}

fn reach(checked: u64, announced: u64, scope: &Scope) -> Reach {
    let tested_share = (checked as f64 / announced.max(1) as f64).min(1.0);
    Reach {
        tested_share,
        // The tested part is tested to the sector.
        loss_share: (1.0 - tested_share).max(SECTOR_BYTES as f64 / announced.max(1) as f64).min(1.0),
        loss_found: 1.0,
        caches_up_to_bytes: Some(scope.rewritten.map_or(0, |rewritten| rewritten.bytes)),
        thin_excluded: scope.complete && scope.unique,
        of: if scope.device_is_known { Whole::Device } else { Whole::FileSystem },
        wraparounds_from_share: None,
    }
}

fn class(tally: &Tally, scope: &Scope, by_address: &[Region]) -> (Verdict, Option<FakeKind>) {
    let counts = &tally.counts;
    let lost = counts.lost();
    // What another program wrote says nothing about the medium.
    if scope.exchanged {
        return (Verdict::Undecided, None);
    }
    // Data found on the device leave no doubt.
    if let Some(found) = scope.repeats.filter(|_| lost > 0) {
        // Places that were never written, since the file system died, do not count as dropped.
        let drops = !found.is_whole() && counts.corrupted.saturating_mul(SECTOR_BYTES) >= LEAST_MISSING;
        return (Verdict::Fake, Some(if drops { FakeKind::Chain } else { FakeKind::Wraparound }));
    }
    // It took the first writes, and takes nothing any more.
    let drops = scope.rewritten.is_some_and(|again| again.stale > 0 && again.stale * 2 >= again.sectors);
    if drops || takes_nothing(tally, scope) {
        return (Verdict::Failed, None);
    }
    if lost == 0 {
        return match (scope.ended, scope.doubt) {
            (Some(end), _) if end.is_failure() => (Verdict::Failed, None),
            (Some(_), _) | (None, Some(_)) => (Verdict::Undecided, None),
            _ if counts.total() == 0 => (Verdict::Undecided, None),
            _ => (Verdict::Genuine, None),
        };
    }
    match scope.retried {
        Some(Retried::Displace { .. }) => return (Verdict::Fake, Some(FakeKind::Newest)),
        // A fake loses what it has no memory for again.
        Some(Retried::Hold) => return (Verdict::Damaged, None),
        Some(Retried::Lost) | None => {}
    }
    fake(tally, scope, by_address).map_or((Verdict::Damaged, None), |kind| (Verdict::Fake, Some(kind)))
}

/// Whether nothing that was written is there. Content of other places proves a write only if no earlier check can have
/// left it.
fn takes_nothing(tally: &Tally, scope: &Scope) -> bool {
    let counts = &tally.counts;
    let nothing = counts.total() > 0 && counts.good == 0 && counts.corrupted == counts.total();
    let answers = counts.good + counts.corrupted + counts.overwritten;
    let left_over = !scope.unique && counts.good < answers / 10 && tally.is_misaddressed();
    nothing || left_over
}

fn fake(tally: &Tally, scope: &Scope, by_address: &[Region]) -> Option<FakeKind> {
    let counts = &tally.counts;
    let of_lost = counts.overwritten as f64 / counts.lost() as f64;
    let wrapped = counts.overwritten >= SURELY_WRAPPED || (counts.overwritten >= WRAPPED && of_lost >= OVERWRITTEN);
    if wrapped && !tally.is_misaddressed() && !is_echo(tally) {
        return Some(if of_lost >= WRAPAROUND { FakeKind::Wraparound } else { FakeKind::Chain });
    }
    if tally.is_misaddressed() {
        return None;
    }
    // A region with errors is a broken medium; a fake answers, with other data.
    if missing(by_address) {
        return Some(FakeKind::Limbo);
    }
    // The latest writes are lost, wherever they lie: the memory is used up.
    if scope.map.is_some() && missing(&regions(tally, None)) {
        return Some(FakeKind::Unknown);
    }
    let silent: Vec<u64> = {
        let mut parts: Vec<u64> = by_address.iter().map(Region::silent_bytes).filter(|bytes| *bytes > 0).collect();
        parts.sort_unstable_by(|a, b| b.cmp(a));
        parts
    };
    let (all, large): (u64, u64) = (silent.iter().sum(), silent.iter().take(FAKE_PARTS).sum());
    let share = all as f64 / (counts.total() * SECTOR_BYTES) as f64;
    (share >= FAKE_SHARE && large as f64 >= 0.9 * all as f64).then_some(FakeKind::Unknown)
}

/// Whether everything is dropped from some place to the end.
fn missing(regions: &[Region]) -> bool {
    missing_from(regions, WEIGHT).is_some_and(|from| silent_from(regions, from) >= LEAST_MISSING)
}

/// Whether dropped data are answered with what crossed the bus last: the same data for many places, at any distance.
fn is_echo(tally: &Tally) -> bool {
    let mut sources: Vec<u64> = tally.aliases.iter().map(|alias| alias.holds).collect();
    sources.sort_unstable();
    sources.dedup();
    let few = tally.aliases.len() >= 16 && sources.len() * 4 <= tally.aliases.len();
    few && size::period(tally, None).is_none_or(|period| period < LEAST_PERIOD)
}

// What a check covered: the basis of its verdict besides the findings.

/// Result of writing again to evict caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rewritten {
    /// Bytes written.
    pub(crate) bytes: u64,
    /// Sectors that were read afterwards.
    pub(crate) sectors: u64,
    /// Those that still held their old content.
    pub(crate) stale: u64,
}

/// Result for places that had lost their data and were written again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Retried {
    /// They lose it again.
    Lost,
    /// They hold it, and everything that held before still does.
    Hold,
    /// They hold it, and as much of the rest is lost: each write replaces the oldest data.
    Displace {
        /// Bytes that were found to hold at one moment.
        held_bytes: u64,
    },
}

/// How much was checked, and how.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scope {
    /// Bytes that could have been checked.
    pub(crate) whole_bytes: u64,
    /// Whether all of it was.
    pub(crate) complete: bool,
    /// Size of the device in bytes if known; otherwise of the file system.
    pub(crate) medium_bytes: Option<u64>,
    /// Whether `medium_bytes` is the size of the device.
    pub(crate) device_is_known: bool,
    /// Where the area lies on the device, if known.
    pub(crate) map: Option<Map>,
    /// How the device's addresses wrap around, if that was searched for and found.
    pub(crate) repeats: Option<Repeats>,
    /// What was written again; `None` if nothing was.
    pub(crate) rewritten: Option<Rewritten>,
    /// Result for lost places that were written again; `None` if there were none.
    pub(crate) retried: Option<Retried>,
    /// Whether errors may come from the file system: it verifies checksums, or errs although its device does not.
    pub(crate) file_system_errs: bool,
    /// Whether nothing was written, since the files existed.
    pub(crate) only_read: bool,
    /// Whether compression and deduplication cannot help with the content written.
    pub(crate) unique: bool,
    /// Bytes that the medium refused to write.
    pub(crate) refused_bytes: u64,
    /// Why the check ended early.
    pub(crate) ended: Option<EarlyEnd>,
    /// Why the check proves nothing although no loss was found.
    pub(crate) doubt: Option<Doubt>,
    /// Whether losses are in files that are not those of the check.
    pub(crate) exchanged: bool,
}

#[cfg(test)]
mod tests {
    use assay_core::verification::SectorClass;

    use super::super::content::{Content, FileFormat};
    use super::super::size::Map;
    use super::super::tally::ChunkFindings;
    use super::{Rewritten, *};
    use crate::probe::Salt;

    const MIB: u64 = 1 << 20;
    const CHUNK: u64 = 64 << 10;

    fn tally(format: FileFormat, content: impl Fn(u64) -> Option<u64>) -> Tally {
        let salted = Content::new(format, Salt::known(1));
        let mut tally = Tally::new(64 * CHUNK);
        for chunk in 0..64 {
            let mut data = vec![0; CHUNK as usize];
            if let Some(of) = content(chunk) {
                salted.fill(&mut data, of * CHUNK);
            }
            let mut found = ChunkFindings::default();
            found.sort(&salted, &data, chunk * CHUNK);
            tally.add(chunk * CHUNK, &found);
        }
        tally
    }

    fn scope() -> Scope {
        Scope { whole_bytes: 64 * CHUNK, complete: true, unique: true, ..Scope::default() }
    }

    /// 64 chunks, where chunk `i` holds the content of chunk `content(i)`, or zeros.
    fn judged(content: impl Fn(u64) -> Option<u64>) -> Judged {
        let found = [FileFormat::Salted, FileFormat::F3].map(|format| judge(&tally(format, &content), &scope()));
        let [salted, f3] = found;
        assert_eq!((salted.verdict, salted.kind, &salted.size), (f3.verdict, f3.kind, &f3.size));
        salted
    }

    #[test]
    fn fakes_are_told_apart_by_what_their_missing_part_holds() {
        let genuine = judged(Some);
        assert_eq!((genuine.verdict, genuine.size), (Verdict::Genuine, Size::Exact(64 * CHUNK)));
        let limbo = judged(|chunk| (chunk < 16).then_some(chunk));
        assert_eq!((limbo.verdict, limbo.kind), (Verdict::Fake, Some(FakeKind::Limbo)));
        assert_eq!(limbo.size, Size::Exact(16 * CHUNK));
        assert_eq!(limbo.holds, [Extent { offset_bytes: 0, bytes: 16 * CHUNK }]);
        let wrapped = judged(|chunk| Some(48 + chunk % 16));
        assert_eq!((wrapped.verdict, wrapped.kind), (Verdict::Fake, Some(FakeKind::Wraparound)));
        assert_eq!(wrapped.size, Size::Exact(16 * CHUNK));
        let chain = judged(|chunk| (chunk % 32 < 16).then_some(32 + chunk % 16));
        assert_eq!((chain.verdict, chain.kind), (Verdict::Fake, Some(FakeKind::Chain)));
        assert_eq!(chain.size, Size::Exact(16 * CHUNK));
        let damaged = judged(|chunk| (chunk % 30 != 7).then_some(chunk));
        assert_eq!((damaged.verdict, damaged.kind), (Verdict::Damaged, None));
        assert_eq!(damaged.sign, None);
    }

    /// Data that are shifted by one place are all there: an addressing fault, not a smaller memory.
    #[test]
    fn misplaced_data_are_no_wraparound() {
        let shifted = judged(|chunk| Some(if chunk >= 20 { chunk - 1 } else { chunk }));
        assert_eq!((shifted.verdict, shifted.kind), (Verdict::Damaged, None), "{shifted:?}");
        assert_eq!(shifted.sign, Some(Sign::Misplaced { distance_bytes: None }));
    }

    /// Losses at the end of the file do not make a fake if they are few and lie in the middle of the device.
    #[test]
    fn losses_are_judged_in_the_order_of_addresses() {
        let lost = |chunk: u64| (!(20..36).contains(&chunk)).then_some(chunk);
        // The middle of the file lies at the end of the device, behind the space that the file system keeps.
        let judged = |kept: u64| {
            let extent = |from: u64, to: u64, at: u64| crate::sys::Extent {
                offset: from * CHUNK,
                address: kept + at * CHUNK,
                bytes: (to - from) * CHUNK,
            };
            let map = Map::new(vec![extent(0, 20, 0), extent(20, 36, 48), extent(36, 64, 20)], kept + 64 * CHUNK);
            assert!(map.is_some());
            judge(&tally(FileFormat::Salted, lost), &Scope { map, ..scope() })
        };
        // A medium that gives its memory to the first writes may lack less than that, and lose any of the latest
        // writes.
        let vague = judged(2 * MIB);
        assert_eq!((vague.kind, vague.size), (Some(FakeKind::Limbo), Size::Within(48 * CHUNK, 2 * MIB + 48 * CHUNK)));
        let judged = judged(MIB);
        assert_eq!((judged.verdict, judged.kind), (Verdict::Fake, Some(FakeKind::Limbo)), "{judged:?}");
        assert_eq!((judged.announced_bytes, judged.size), (MIB + 64 * CHUNK, Size::Exact(MIB + 48 * CHUNK)));
        assert_eq!(judged.holds, [Extent { offset_bytes: MIB, bytes: 48 * CHUNK }]);
    }

    /// A medium that gives its memory to the first writes loses the same as one that drops everything behind an
    /// address, if the file was written in the order of addresses.
    #[test]
    fn what_was_written_last_and_lies_last_has_no_exact_size() {
        let in_file = tally(FileFormat::Salted, |chunk| (chunk < 48).then_some(chunk));
        let extent = crate::sys::Extent { offset: 0, address: MIB, bytes: 64 * CHUNK };
        let map = Map::new(vec![extent], MIB + 64 * CHUNK);
        let judged = judge(&in_file, &Scope { map, ..scope() });
        assert_eq!((judged.verdict, judged.kind), (Verdict::Fake, Some(FakeKind::Limbo)), "{judged:?}");
        assert_eq!(judged.size, Size::Within(48 * CHUNK, MIB + 48 * CHUNK));
    }

    #[test]
    fn a_medium_that_takes_no_more_writes_has_failed() {
        let all_good = tally(FileFormat::Salted, Some);
        let rewritten = |stale| Some(Rewritten { bytes: MIB, sectors: 2048, stale });
        let kept = judge(&all_good, &Scope { rewritten: rewritten(2048), ..scope() });
        assert_eq!(kept.verdict, Verdict::Failed, "{kept:?}");
        assert_eq!(judge(&all_good, &Scope { rewritten: rewritten(0), ..scope() }).verdict, Verdict::Genuine);
        assert_eq!(judged(|_| None).verdict, Verdict::Failed, "an earlier check's content passes for nothing");
        // Old content of f3's files, now at other places.
        let left_over = tally(FileFormat::F3, |chunk| Some((chunk + 63) % 64));
        assert_eq!(judge(&left_over, &Scope { unique: false, ..scope() }).verdict, Verdict::Failed);
        assert_eq!(judge(&left_over, &scope()).verdict, Verdict::Damaged);
    }

    /// A check that ended early says so, and claims only what it saw.
    #[test]
    fn nothing_is_genuine_beyond_what_was_seen() {
        let all_good = tally(FileFormat::Salted, Some);
        let ended = Scope { ended: Some(EarlyEnd::Interrupted), complete: false, ..scope() };
        let cut = judge(&all_good, &ended);
        assert_eq!(cut.verdict, Verdict::Undecided);
        assert_eq!(cut.reach, None);
        let failed = judge(&all_good, &Scope { ended: Some(EarlyEnd::ReadOnly), ..ended });
        assert_eq!(failed.verdict, Verdict::Failed, "{failed:?}");
        let doubt = judge(&all_good, &Scope { doubt: Some(Doubt::DriverKeepsData), ..scope() });
        assert_eq!(doubt.verdict, Verdict::Undecided, "{doubt:?}");
        let reach = judged(Some).reach.unwrap();
        assert_eq!((reach.caches_up_to_bytes, reach.thin_excluded), (Some(0), true));
    }

    #[test]
    fn errors_are_damage_and_losses_at_the_end_are_not() {
        let mut erring = Tally::new(64 * CHUNK);
        let mut found = ChunkFindings::default();
        for sector in 0..64 * CHUNK / 512 {
            let class = if sector >= 40 * CHUNK / 512 { SectorClass::Unreadable } else { SectorClass::Good };
            found.note(class, sector * 512, None);
        }
        erring.add(0, &found);
        assert_eq!(judge(&erring, &scope()).verdict, Verdict::Damaged);
    }

    /// 64 chunks at the end of a device behind 1 MiB of tables, with these sectors of the last chunk lost.
    fn without_some_of_the_last(lost: std::ops::Range<u64>, class: SectorClass) -> Judged {
        let mut tally = Tally::new(64 * CHUNK);
        let mut found = ChunkFindings::default();
        for sector in 0..64 * CHUNK / 512 {
            let is_lost = sector.checked_sub(63 * CHUNK / 512).is_some_and(|nth| lost.contains(&nth));
            found.note(if is_lost { class } else { SectorClass::Good }, sector * 512, None);
        }
        tally.add(0, &found);
        let extent = crate::sys::Extent { offset: 0, address: MIB, bytes: 64 * CHUNK };
        let map = Map::new(vec![extent], MIB + 64 * CHUNK);
        judge(&tally, &Scope { map, ..scope() })
    }

    /// A bridge that announces one sector too many does not make a medium a fake, and the cause is named.
    #[test]
    fn the_last_sectors_that_are_missing_are_named() {
        for class in [SectorClass::Corrupted, SectorClass::Unreadable] {
            let judged = without_some_of_the_last(127..128, class);
            assert_eq!(
                (judged.verdict, judged.remarks.as_slice()),
                (Verdict::Damaged, &[Remark::LastSectorsMissing][..])
            );
        }
        for elsewhere in [0..1, 60..61] {
            let judged = without_some_of_the_last(elsewhere, SectorClass::Corrupted);
            assert_eq!((judged.verdict, judged.remarks), (Verdict::Damaged, Vec::new()));
        }
    }

    /// A medium that was read only in part has no size, and the good part so far is not its size.
    #[test]
    fn a_fake_that_was_read_in_part_is_said_to_hold_what_was_read() {
        let limbo = tally(FileFormat::Salted, |chunk| (chunk < 16).then_some(chunk));
        let ended = Some(EarlyEnd::FirstError);
        let judged = judge(&limbo, &Scope { ended, complete: false, whole_bytes: 80 * CHUNK, ..scope() });
        assert_eq!((judged.verdict, judged.size), (Verdict::Fake, Size::Unknown));
    }

    /// The tables were not tested: a size is called exact only if what was read proves it.
    #[test]
    fn damage_leaves_open_what_was_not_tested() {
        let judged = without_some_of_the_last(0..1, SectorClass::Corrupted);
        let lost = 64 * CHUNK - 512;
        assert_eq!(judged.size, Size::Within(lost, MIB + lost));
        let all = judge(&tally(FileFormat::Salted, |chunk| (chunk % 30 != 7).then_some(chunk)), &scope());
        assert_eq!(all.size, Size::Exact(62 * CHUNK));
    }

    /// A medium that holds lost data after they are written again has enough memory.
    #[test]
    fn what_is_lost_first_and_holds_later_is_damage() {
        let first = tally(FileFormat::Salted, |chunk| (chunk >= 40).then_some(chunk));
        let kind = |retried| judge(&first, &Scope { retried, ..scope() }).kind;
        assert_eq!(kind(Some(Retried::Lost)), Some(FakeKind::Unknown));
        assert_eq!(kind(Some(Retried::Hold)), None);
        let held_bytes = 20 * CHUNK;
        assert_eq!(kind(Some(Retried::Displace { held_bytes })), Some(FakeKind::Newest));
    }

    /// The advice was missing if some sectors had been dropped before the driver refused the rest.
    #[test]
    fn what_a_driver_refuses_after_a_few_losses_may_be_a_fake() {
        let judged = |dropped: u64| {
            let mut tally = Tally::new(64 * CHUNK);
            let mut found = ChunkFindings::default();
            for sector in 0..64 * CHUNK / 512 {
                let class = match sector.checked_sub(40 * CHUNK / 512) {
                    None => SectorClass::Good,
                    Some(behind) if behind < dropped => SectorClass::Corrupted,
                    Some(_) => SectorClass::Unreadable,
                };
                found.note(class, sector * 512, None);
            }
            tally.add(0, &found);
            let refused_bytes = 24 * CHUNK - dropped * 512;
            judge(&tally, &Scope { refused_bytes, ..scope() })
        };
        for dropped in [0, 17] {
            let judged = judged(dropped);
            assert_eq!((judged.verdict, judged.remarks), (Verdict::Damaged, vec![Remark::ProbeDecides]), "{dropped}");
        }
        assert_eq!(judged(2000).remarks, []);
    }
}
