//! From what was found to what the medium is.

use assay_core::units::Bytes;
use assay_core::verification::{Extent, FakeKind, Reach, SECTOR_BYTES, SectorCounts, Verdict, Verification};

use super::regions::{Map, Region, missing_from, regions, silent_from};
use super::size::{self, Size};
use super::survey::{LEAST_PERIOD, Repeats};
use super::tally::Tally;

/// Where a part is missing, so many times as much is lost as is good: the rest may be shown by a cache
/// that is larger than assumed.
const WEIGHT: u64 = 9;
/// What is dropped up to the end is missing from this size on: some pages of flash. Flash that is worn loses pages of
/// 16 KiB and blocks of some MiB here and there, and not the last ones of all addresses.
const LEAST_MISSING: u64 = 128 << 10;
/// What is dropped elsewhere is a fake's from this share on, in at most so many parts; below, it is damage.
const FAKE_SHARE: f64 = 0.25;
const FAKE_PARTS: usize = 4;
/// Overwritten sectors that prove a wrap-around: one page of a flash translation layer. A single
/// one may be a mishap of its mapping.
const WRAPPED: u64 = 8;
/// So many overwritten sectors, 1 MiB, are no mishap, whatever else is lost.
const SURELY_WRAPPED: u64 = 2048;
/// The same as a share of what is lost.
const OVERWRITTEN: f64 = 0.05;
/// Of what a wrap-around loses, at least this share is overwritten; the rest may be worn. A chain
/// drops a part of each lap.
const WRAPAROUND: f64 = 0.99;
/// Parts that hold data are listed up to so many.
const MOST_HOLDS: usize = 1024;

/// What came of writing again, to drive out caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rewritten {
    /// Bytes written.
    pub(crate) bytes: u64,
    /// Sectors that were read afterwards.
    pub(crate) sectors: u64,
    /// Those that still held what stood there before.
    pub(crate) stale: u64,
}

/// How much was checked, and how.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scope {
    /// What could have been checked, in bytes.
    pub(crate) whole_bytes: u64,
    /// Whether all of it was.
    pub(crate) complete: bool,
    /// Size of the device in bytes, where that is known.
    pub(crate) device_bytes: Option<u64>,
    /// Where it lies on the device, where that is known.
    pub(crate) map: Option<Map>,
    /// How the device's addresses start again, where that was looked for and found.
    pub(crate) repeats: Option<Repeats>,
    /// What was written again; `None` where nothing was.
    pub(crate) rewritten: Option<Rewritten>,
    /// Whether compression and deduplication gain nothing on what was written.
    pub(crate) unique: bool,
    /// Bytes that the medium refused to write.
    pub(crate) refused_bytes: u64,
    /// Why the medium failed on the way, as a clause.
    pub(crate) failed: Option<String>,
    /// Why the check ended early though the medium did not fail, as a clause.
    pub(crate) ended: Option<String>,
    /// Why what was read need not come from the medium, as a clause.
    pub(crate) doubt: Option<String>,
}

/// What it came to.
pub(crate) struct Judged {
    pub(crate) verdict: Verdict,
    pub(crate) kind: Option<FakeKind>,
    pub(crate) announced_bytes: u64,
    pub(crate) size: Size,
    pub(crate) holds: Vec<Extent>,
    pub(crate) reach: Option<Reach>,
    pub(crate) sentence: String,
}

impl Judged {
    /// Puts it into the record's form.
    pub(crate) fn put(self, verification: &mut Verification) {
        verification.verdict = self.verdict;
        verification.kind = self.kind;
        verification.announced_bytes = self.announced_bytes;
        (verification.real_bytes, verification.real_low_bytes, verification.real_high_bytes) = self.size.fields();
        verification.holds = self.holds;
        verification.reach = self.reach;
        verification.sentence = self.sentence;
    }
}

pub(crate) fn judge(tally: &Tally, scope: &Scope) -> Judged {
    let counts = &tally.counts;
    let checked = counts.total().saturating_mul(SECTOR_BYTES);
    let by_address = regions(tally, scope.map.as_ref());
    let of_device = scope.map.as_ref().map(|map| map.device_bytes);
    let announced = of_device.or(scope.repeats.map(|found| found.device_bytes)).unwrap_or(scope.whole_bytes);
    let (verdict, kind) = class(tally, scope, &by_address);
    let size = match (verdict, kind) {
        (Verdict::Fake, _) if scope.repeats.is_some() => scope.repeats.map_or(Size::Unknown, size::of_repeats),
        (Verdict::Genuine, _) if scope.complete => Size::Exact(announced),
        (Verdict::Fake, Some(kind)) if scope.complete => size::of(kind, tally, scope.map.as_ref(), &by_address),
        // What an earlier check saved may count more than there is: whoever prepared a medium may have written it.
        (Verdict::Damaged, _) if scope.complete => {
            Size::Exact(announced.saturating_sub(counts.lost().saturating_mul(SECTOR_BYTES)))
        }
        _ => Size::Unknown,
    };
    // In the order of files they say nothing about addresses.
    let by_address = if scope.repeats.is_some() && scope.map.is_none() { Vec::new() } else { by_address };
    let holds = by_address.iter().filter(|region| region.is_good());
    let holds: Vec<Extent> =
        holds.map(|region| Extent { offset_bytes: region.start, bytes: region.bytes() }).take(MOST_HOLDS + 1).collect();
    // Of a genuine one all that was tested holds.
    let holds = if holds.len() > MOST_HOLDS || verdict == Verdict::Genuine { Vec::new() } else { holds };
    let reach = reach(checked, scope.device_bytes.unwrap_or(announced), scope);
    let sentence = sentence(verdict, kind, &size, announced, tally, scope, &reach);
    // Who ended early, or may have been answered from memory, has no reach to speak of.
    let whole = scope.complete || (scope.ended.is_none() && scope.failed.is_none());
    let reach = Some(reach).filter(|_| whole && scope.doubt.is_none());
    Judged { verdict, kind, announced_bytes: announced, size, holds, reach, sentence }
}

fn reach(checked: u64, announced: u64, scope: &Scope) -> Reach {
    let tested_share = (checked as f64 / announced.max(1) as f64).min(1.0);
    Reach {
        tested_share,
        // What is tested is tested to the sector.
        loss_share: (1.0 - tested_share).max(SECTOR_BYTES as f64 / announced.max(1) as f64).min(1.0),
        loss_found: 1.0,
        caches_up_to_bytes: Some(scope.rewritten.map_or(0, |rewritten| rewritten.bytes)),
        thin_excluded: scope.complete && scope.unique,
    }
}

fn sentence(
    verdict: Verdict,
    kind: Option<FakeKind>,
    size: &Size,
    announced: u64,
    tally: &Tally,
    scope: &Scope,
    reach: &Reach,
) -> String {
    let counts = &tally.counts;
    let checked = counts.total().saturating_mul(SECTOR_BYTES);
    let mut sentence = match verdict {
        Verdict::Genuine => format!(
            "genuine: {} of free space, {}, contains what was written; {}",
            if scope.complete { "all" } else { "the part that was checked" },
            Bytes(checked),
            excluded(reach, checked)
        ),
        Verdict::Fake => {
            let how = match kind {
                Some(FakeKind::Wraparound) => "later data overwrite earlier ones",
                Some(FakeKind::Limbo) => "the rest is dropped",
                _ => "the rest is overwritten or dropped",
            };
            let by_address = scope.map.is_some() || scope.repeats.is_some();
            let (place, announced) = if by_address { ("of the device's", announced) } else { ("of", checked) };
            format!("fake: {place} {} only {} hold data, {how}", Bytes(announced), size.words(counts))
        }
        Verdict::Damaged if is_misaddressed(tally) => {
            format!("damaged: of {} {} were found in other places", Bytes(checked), Bytes(counts.overwritten * 512))
        }
        Verdict::Damaged => format!("damaged: of {} {} are lost", Bytes(checked), lost(counts)),
        Verdict::Failed => match &scope.failed {
            Some(how) => format!("failed: {how}; {}", so_far(tally, scope)),
            None if counts.good == 0 => {
                format!("failed: none of {} contains what was written: it accepts no writes", Bytes(checked))
            }
            None => {
                "failed: it no longer accepts writes and reports no error; the last data written are lost".to_owned()
            }
        },
        Verdict::Undecided | Verdict::Other => match (&scope.doubt, counts.total()) {
            (_, 0) => "cannot tell: nothing was read back".to_owned(),
            (Some(doubt), _) if scope.ended.is_none() => format!("cannot tell: {doubt}"),
            _ => format!("cannot tell: {}", so_far(tally, scope)),
        },
    };
    if matches!(verdict, Verdict::Damaged | Verdict::Failed)
        && let Some(first) = &tally.first
    {
        sentence.push_str(&format!(", the first at {}", Bytes(first.offset_bytes)));
    }
    if scope.refused_bytes > 0 {
        sentence.push_str(&format!("; {} could not be written (write errors)", Bytes(scope.refused_bytes)));
        // Nearly all that was taken is there. A driver refuses, too, where it finds its tables changed.
        let dropped = (counts.lost() * SECTOR_BYTES).saturating_sub(scope.refused_bytes);
        if verdict == Verdict::Damaged && dropped < LEAST_MISSING {
            sentence.push_str(
                "; a fake that dropped tables of its file system looks the same: assay verify --quick on the unmounted \
                 device decides",
            );
        }
    }
    if let Some(failed) = scope.failed.as_ref().filter(|_| verdict != Verdict::Failed) {
        sentence.push_str(&format!("; {failed}"));
    }
    if let Some(ended) = &scope.ended {
        sentence.push_str(&format!("; {ended}"));
    } else if !scope.complete && scope.failed.is_none() {
        sentence.push_str(&format!("; {} were not checked", Bytes(scope.whole_bytes.saturating_sub(checked))));
    }
    sentence
}

fn so_far(tally: &Tally, scope: &Scope) -> String {
    let (checked, lost) = (tally.counts.total() * SECTOR_BYTES, tally.counts.lost() * SECTOR_BYTES);
    let found = if lost == 0 { "nothing".to_owned() } else { format!("{} lost", Bytes(lost)) };
    format!("{found} found so far in {} of {}", Bytes(checked), Bytes(scope.whole_bytes))
}

/// What a genuine medium is said not to be. What shares as much memory as was written among all addresses holds
/// that, and may still lack what the file system keeps for itself.
fn excluded(reach: &Reach, checked: u64) -> String {
    let mut words = match (reach.tested_share * 100.0).floor() {
        // Nothing was tested only where nothing was: a small part is no zero.
        0.0 if reach.tested_share > 0.0 => "less than 1 % of the device tested".to_owned(),
        percent => format!("{percent:.0} % of the device tested"),
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
    format!("{} ({} sectors)", Bytes(counts.lost() * SECTOR_BYTES), parts.join(", "))
}

fn class(tally: &Tally, scope: &Scope, by_address: &[Region]) -> (Verdict, Option<FakeKind>) {
    let counts = &tally.counts;
    let lost = counts.lost();
    // What stands on the device leaves no doubt.
    if let Some(found) = scope.repeats.filter(|_| lost > 0) {
        return (Verdict::Fake, Some(if found.is_whole() { FakeKind::Wraparound } else { FakeKind::Chain }));
    }
    // It took what was written at first, and nothing any more.
    let drops = scope.rewritten.is_some_and(|again| again.stale > 0 && again.stale * 2 >= again.sectors);
    if drops || takes_nothing(tally, scope) {
        return (Verdict::Failed, None);
    }
    if lost == 0 {
        return match (&scope.failed, &scope.ended, &scope.doubt) {
            (Some(_), ..) => (Verdict::Failed, None),
            (None, Some(_), _) | (None, None, Some(_)) => (Verdict::Undecided, None),
            _ if counts.total() == 0 => (Verdict::Undecided, None),
            _ => (Verdict::Genuine, None),
        };
    }
    if let Some(kind) = fake(tally, scope, by_address) {
        return (Verdict::Fake, Some(kind));
    }
    (Verdict::Damaged, None)
}

/// Whether nothing of what was written is there. Content of other places proves a write only where no earlier
/// check can have left it.
fn takes_nothing(tally: &Tally, scope: &Scope) -> bool {
    let counts = &tally.counts;
    let nothing = counts.total() > 0 && counts.good == 0 && counts.corrupted == counts.total();
    let answers = counts.good + counts.corrupted + counts.overwritten;
    let left_over = !scope.unique && counts.good < answers / 10 && is_misaddressed(tally);
    nothing || left_over
}

fn fake(tally: &Tally, scope: &Scope, by_address: &[Region]) -> Option<FakeKind> {
    let counts = &tally.counts;
    let of_lost = counts.overwritten as f64 / counts.lost() as f64;
    let wrapped = counts.overwritten >= SURELY_WRAPPED || (counts.overwritten >= WRAPPED && of_lost >= OVERWRITTEN);
    if wrapped && !is_misaddressed(tally) && !is_echo(tally) {
        return Some(if of_lost >= WRAPAROUND { FakeKind::Wraparound } else { FakeKind::Chain });
    }
    if is_misaddressed(tally) {
        return None;
    }
    // A region that errs is a broken medium; a fake answers, with something else.
    if missing(by_address) {
        return Some(FakeKind::Limbo);
    }
    // What was written last is lost, wherever it lies: what it has is used up.
    if scope.map.is_some() && missing(&regions(tally, None)) {
        return Some(FakeKind::Unknown);
    }
    let silent: Vec<u64> = {
        let mut parts: Vec<u64> = by_address.iter().filter(|region| region.is_silent()).map(Region::bytes).collect();
        parts.sort_unstable_by(|a, b| b.cmp(a));
        parts
    };
    let (all, large): (u64, u64) = (silent.iter().sum(), silent.iter().take(FAKE_PARTS).sum());
    let share = all as f64 / (counts.total() * SECTOR_BYTES) as f64;
    (share >= FAKE_SHARE && large as f64 >= 0.9 * all as f64).then_some(FakeKind::Unknown)
}

/// Whether all is dropped from some place to the end.
fn missing(regions: &[Region]) -> bool {
    missing_from(regions, WEIGHT).is_some_and(|from| silent_from(regions, from) >= LEAST_MISSING)
}

/// Whether data stand in other places than they were written to, and none are overwritten by others: what a
/// place holds is not at its own place too.
fn is_misaddressed(tally: &Tally) -> bool {
    let moved = tally.aliases.iter().filter(|alias| tally.lost.contains(alias.holds)).count();
    tally.counts.overwritten > 0 && moved * 2 > tally.aliases.len()
}

/// Whether what is dropped is answered with what went over the bus last: the same for many places, at any
/// distance.
fn is_echo(tally: &Tally) -> bool {
    let mut sources: Vec<u64> = tally.aliases.iter().map(|alias| alias.holds).collect();
    sources.sort_unstable();
    sources.dedup();
    let few = tally.aliases.len() >= 16 && sources.len() * 4 <= tally.aliases.len();
    few && size::period(tally, None).is_none_or(|period| period < LEAST_PERIOD)
}

#[cfg(test)]
mod tests {
    use assay_core::verification::SectorClass;

    use super::super::content::{Content, Format};
    use super::super::tally::Found;
    use super::*;
    use crate::probe::Salt;

    const MIB: u64 = 1 << 20;
    const CHUNK: u64 = 64 << 10;

    fn tally(format: Format, content: impl Fn(u64) -> Option<u64>) -> Tally {
        let salted = Content::new(format, Salt::known(1));
        let mut tally = Tally::new(64 * CHUNK);
        for chunk in 0..64 {
            let mut data = vec![0; CHUNK as usize];
            if let Some(of) = content(chunk) {
                salted.fill(&mut data, of * CHUNK);
            }
            let mut found = Found::default();
            found.sort(&salted, &data, chunk * CHUNK);
            tally.add(chunk * CHUNK, &found);
        }
        tally
    }

    fn scope() -> Scope {
        Scope { whole_bytes: 64 * CHUNK, complete: true, unique: true, ..Scope::default() }
    }

    /// 64 chunks, where chunk `i` holds what `content(i)` says: another chunk, or zeros.
    fn judged(content: impl Fn(u64) -> Option<u64>) -> Judged {
        let found = [Format::Salted, Format::F3].map(|format| judge(&tally(format, &content), &scope()));
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
        assert!(damaged.sentence.contains("(256 corrupted sectors)"), "{}", damaged.sentence);
    }

    /// Data that stand one place off are all there: a broken address, not a smaller memory.
    #[test]
    fn misplaced_data_are_no_wraparound() {
        let shifted = judged(|chunk| Some(if chunk >= 20 { chunk - 1 } else { chunk }));
        assert_eq!((shifted.verdict, shifted.kind), (Verdict::Damaged, None), "{}", shifted.sentence);
        assert!(shifted.sentence.contains("other places"), "{}", shifted.sentence);
    }

    /// What is lost at the end of the file is no fake where it lies in the middle of the device, and few.
    #[test]
    fn losses_are_judged_in_the_order_of_addresses() {
        let lost = |chunk: u64| (!(20..36).contains(&chunk)).then_some(chunk);
        // The middle of the file lies at the end of the device, behind what the file system keeps.
        let judged = |kept: u64| {
            let extent = |from: u64, to: u64, at: u64| super::super::extents::Extent {
                offset: from * CHUNK,
                address: kept + at * CHUNK,
                bytes: (to - from) * CHUNK,
            };
            let map = Map::new(vec![extent(0, 20, 0), extent(20, 36, 48), extent(36, 64, 20)], kept + 64 * CHUNK);
            assert!(map.is_some());
            judge(&tally(Format::Salted, lost), &Scope { map, ..scope() })
        };
        // Memory that is given to what comes first may lack less than that, and lose any of the last writes.
        let vague = judged(2 * MIB);
        assert_eq!((vague.kind, vague.size), (Some(FakeKind::Limbo), Size::Within(48 * CHUNK, 2 * MIB + 48 * CHUNK)));
        let judged = judged(MIB);
        assert_eq!((judged.verdict, judged.kind), (Verdict::Fake, Some(FakeKind::Limbo)), "{}", judged.sentence);
        assert_eq!((judged.announced_bytes, judged.size), (MIB + 64 * CHUNK, Size::Exact(MIB + 48 * CHUNK)));
        assert_eq!(judged.holds, [Extent { offset_bytes: MIB, bytes: 48 * CHUNK }]);
    }

    /// A medium that gives its memory to what is written first loses the same as one that drops what lies behind
    /// an address, where the file was written in the order of addresses.
    #[test]
    fn what_was_written_last_and_lies_last_has_no_exact_size() {
        let in_file = tally(Format::Salted, |chunk| (chunk < 48).then_some(chunk));
        let extent = super::super::extents::Extent { offset: 0, address: MIB, bytes: 64 * CHUNK };
        let map = Map::new(vec![extent], MIB + 64 * CHUNK);
        let judged = judge(&in_file, &Scope { map, ..scope() });
        assert_eq!((judged.verdict, judged.kind), (Verdict::Fake, Some(FakeKind::Limbo)), "{}", judged.sentence);
        assert_eq!(judged.size, Size::Within(48 * CHUNK, MIB + 48 * CHUNK));
    }

    #[test]
    fn a_medium_that_takes_no_more_writes_has_failed() {
        let all_good = tally(Format::Salted, Some);
        let rewritten = |stale| Some(Rewritten { bytes: MIB, sectors: 2048, stale });
        let kept = judge(&all_good, &Scope { rewritten: rewritten(2048), ..scope() });
        assert_eq!(kept.verdict, Verdict::Failed, "{}", kept.sentence);
        assert_eq!(judge(&all_good, &Scope { rewritten: rewritten(0), ..scope() }).verdict, Verdict::Genuine);
        assert_eq!(judged(|_| None).verdict, Verdict::Failed, "an earlier check's content passes for nothing");
        // What f3's files held before, at other places now.
        let left_over = tally(Format::F3, |chunk| Some((chunk + 63) % 64));
        assert_eq!(judge(&left_over, &Scope { unique: false, ..scope() }).verdict, Verdict::Failed);
        assert_eq!(judge(&left_over, &scope()).verdict, Verdict::Damaged);
    }

    /// A check that ended early says so, and no more than it saw.
    #[test]
    fn nothing_is_genuine_beyond_what_was_seen() {
        let all_good = tally(Format::Salted, Some);
        let ended = Scope { ended: Some("interrupted".to_owned()), complete: false, ..scope() };
        let cut = judge(&all_good, &ended);
        assert_eq!(cut.verdict, Verdict::Undecided);
        assert!(cut.sentence.contains("nothing found so far in"), "{}", cut.sentence);
        assert_eq!(cut.reach, None);
        let failed = judge(&all_good, &Scope { failed: Some("it turned read-only".to_owned()), ..ended });
        assert_eq!(failed.verdict, Verdict::Failed, "{}", failed.sentence);
        let doubt = judge(&all_good, &Scope { doubt: Some("the driver keeps data".to_owned()), ..scope() });
        assert_eq!(doubt.verdict, Verdict::Undecided, "{}", doubt.sentence);
        let genuine = judged(Some).sentence;
        assert!(
            genuine.contains("caches not driven out")
                && genuine.contains("thin provisioning with less than 4 MiB excluded"),
            "{genuine}"
        );
    }

    #[test]
    fn errors_are_damage_and_losses_at_the_end_are_not() {
        let mut erring = Tally::new(64 * CHUNK);
        let mut found = Found::default();
        for sector in 0..64 * CHUNK / 512 {
            let class = if sector >= 40 * CHUNK / 512 { SectorClass::Unreadable } else { SectorClass::Good };
            found.note(class, sector * 512, None);
        }
        erring.add(0, &found);
        assert_eq!(judge(&erring, &scope()).verdict, Verdict::Damaged);
    }

    /// The advice was missing where some sectors had been dropped before the driver refused the rest.
    #[test]
    fn what_a_driver_refuses_after_a_few_losses_may_be_a_fake() {
        let words = |dropped: u64| {
            let mut tally = Tally::new(64 * CHUNK);
            let mut found = Found::default();
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
            judge(&tally, &Scope { refused_bytes, ..scope() }).sentence
        };
        for dropped in [0, 17] {
            let words = words(dropped);
            assert!(words.starts_with("damaged") && words.contains("--quick on the unmounted device"), "{words}");
        }
        assert!(!words(2000).contains("--quick"), "{}", words(2000));
    }
}
