//! The truth about a medium, computed from its parameters alone.

use std::ops::Range;

use assay_core::verification::{FakeKind, SECTOR_BYTES, Verdict};

use super::address::{LineFault, Misaddress, Operations};
use super::content::{Content, PAGE};
use super::decay::Retention;
use super::failure::{Failure, FailurePlan};
use super::layout::{BlockRule, Blocks, Layout, Order, Repeats};
use super::pool::{Accounting, WhenFull};
use super::spec::{Cache, Eviction, MediumSpec};

/// The verdict of a check on a medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FoundVerdict {
    /// It holds all data.
    Genuine,
    /// It announces more than it has.
    Fake,
    /// It loses data in places.
    Damaged,
    /// It stopped working during the check.
    Failed,
    /// The check cannot tell.
    Undecided,
}

impl From<Verdict> for FoundVerdict {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Genuine => Self::Genuine,
            Verdict::Fake => Self::Fake,
            Verdict::Damaged => Self::Damaged,
            Verdict::Failed => Self::Failed,
            _ => Self::Undecided,
        }
    }
}

/// The main fault of a medium: a row of the confusion matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// No fault.
    Genuine,
    /// Its first part holds data, the rest is dropped.
    Limbo,
    /// Addresses wrap around.
    Wraparound,
    /// Addresses wrap around, and part of each period is dropped.
    Chain,
    /// A part holds data, and all addresses behind it share a window.
    Window,
    /// The part that holds data is not the first one.
    Elsewhere,
    /// Any place holds data until a pool is exhausted.
    Thin,
    /// The same, and compressible data take no memory.
    Compressing,
    /// Operations land elsewhere.
    Misaddressed,
    /// Data do not last.
    Decaying,
    /// Wrong bits, or errors in places.
    Damaged,
    /// It fails during operation.
    Failing,
}

/// What a check must do to notice a fault; for a check, what it states to do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reach {
    /// Bytes written elsewhere before a place is read back, to evict it from caches.
    pub cache_bytes: u64,
    /// Bytes read elsewhere between two of several reads of a place, to evict it from caches that reads fill.
    pub read_cache_bytes: u64,
    /// Bytes written to distinct places, to exhaust a pool.
    pub pool_bytes: u64,
    /// Share of the sectors that is wrong; for a check, the smallest share that it would not miss. It is 1 for a fault
    /// at the very end or start, or everywhere.
    pub share: f64,
}

impl Reach {
    /// The reach of a check that evicts nothing, exhausts no pool and reads only the ends.
    #[must_use]
    pub fn least() -> Self {
        Self { cache_bytes: 0, read_cache_bytes: 0, pool_bytes: 0, share: 1.0 }
    }

    /// Whether a check of this reach notices a fault that needs `needed`.
    #[must_use]
    pub fn covers(&self, needed: &Self) -> bool {
        self.cache_bytes >= needed.cache_bytes
            && self.read_cache_bytes >= needed.read_cache_bytes
            && self.pool_bytes >= needed.pool_bytes
            && self.share <= needed.share
    }
}

/// The truth about a medium.
#[derive(Debug, Clone, PartialEq)]
pub struct Truth {
    /// The main fault.
    pub class: Class,
    /// All right verdicts.
    pub right: Vec<FoundVerdict>,
    /// Kinds of fake that are right to name, the most exact one first; empty if there is none.
    pub kinds: Vec<FakeKind>,
    /// The real size in bytes. There is more than one if a part may be counted or not; the last one includes all such
    /// parts. Empty if no number describes it.
    pub real_bytes: Vec<u64>,
    /// Byte ranges of addresses that hold data at the same time, apart from errors and wrong bits.
    pub holds: Vec<Range<u64>>,
    /// Whether saving each place before writing to it, and writing it back, restores what every address reads; not
    /// after a failure during operation.
    pub restorable: bool,
    /// For each of its faults, what a check must do to notice it; noticing any of them is enough.
    pub needs: Vec<Reach>,
}

/// A single fault.
struct Fault {
    class: Class,
    right: Vec<FoundVerdict>,
    kinds: Vec<FakeKind>,
    real_bytes: Vec<u64>,
    restorable: bool,
    need: Reach,
}

impl Fault {
    fn new(class: Class, right: impl Into<Vec<FoundVerdict>>, need: Reach) -> Self {
        Self { class, right: right.into(), kinds: Vec::new(), real_bytes: Vec::new(), restorable: true, need }
    }
}

/// A window up to the size that a check writes at once reads back as lost, not as the data of another place: limbo is
/// also right.
const NARROW_WINDOW: u64 = 64 << 10;
/// From this share on, data lost away from the end are a fake without doubt, if they lie in at most `FAKE_PIECES`
/// pieces. Below that share, or in more pieces, damage is also right.
const FAKE_SHARE: f64 = 0.25;
const FAKE_PIECES: usize = 4;
/// If a pool lacks less than this share, the losses are scattered: damage is also right. A worn device without spare
/// blocks shows the same, and announces no more than it had; fakes lack more.
const LITTLE: f64 = 0.05;
/// If less than this is missing at the end, it is damage: some USB bridges announce a sector too many.
const LITTLE_AT_END: u64 = 128 << 10;
/// The same as a divisor of the announced size: 128 KiB may be most of a small device.
const LITTLE_OF_ALL: u64 = 64;
/// No controller of a device that drops every write is known to cache so much of the last written data.
const LARGE_CACHE: u64 = 8 << 20;
/// Most units of a pool that are counted one by one.
const MOST_UNITS: u64 = 1024;

/// Bytes that may be missing at the end of a damaged medium of the announced size; a fake lacks more.
fn little_at_end(announced: u64) -> u64 {
    LITTLE_AT_END.min(announced / LITTLE_OF_ALL)
}

impl Truth {
    /// The truth about a medium once all its faults have occurred.
    #[must_use]
    pub fn about_medium(spec: &MediumSpec) -> Self {
        Self::of_faults(spec, faults(spec))
    }

    /// The truth as far as the medium has shown it: without a failure during operation unless it `failed`, and without
    /// the limit of its pool unless that was `exhausted`.
    #[must_use]
    pub fn as_shown(spec: &MediumSpec, failed: bool, exhausted: bool) -> Self {
        let shown = |fault: &Fault| match fault.class {
            Class::Failing => failed,
            Class::Thin | Class::Compressing => exhausted,
            _ => true,
        };
        Self::of_faults(spec, faults(spec).into_iter().filter(shown).collect())
    }

    fn of_faults(spec: &MediumSpec, mut faults: Vec<Fault>) -> Self {
        faults.sort_by_key(|fault| fault.class);
        let mut right: Vec<FoundVerdict> = faults.iter().flat_map(|fault| fault.right.iter().copied()).collect();
        right.sort_unstable();
        right.dedup();
        if right.is_empty() {
            right.push(FoundVerdict::Genuine);
        }
        Self {
            class: faults.first().map_or(Class::Genuine, |fault| fault.class),
            right,
            kinds: faults.iter().flat_map(|fault| fault.kinds.iter().copied()).collect(),
            real_bytes: match faults.as_slice() {
                [] => vec![spec.announced_bytes],
                _ => match faults.iter().find(|fault| !fault.real_bytes.is_empty()) {
                    // For a pool, the uncertain part depends on where its memory was allocated.
                    Some(Fault { class: Class::Thin | Class::Compressing, real_bytes, .. }) => real_bytes.clone(),
                    Some(fault) => {
                        let doubtful = overlap(&doubtful(spec), &spec.layout.reliable(spec.announced_bytes));
                        with_and_without(&with_and_without(&fault.real_bytes, doubtful), errs_throughout(spec))
                    }
                    None => Vec::new(),
                },
            },
            holds: spec.layout.reliable(spec.announced_bytes),
            restorable: faults.iter().all(|fault| fault.restorable),
            needs: faults.iter().map(|fault| fault.need).collect(),
        }
    }
}

fn faults(spec: &MediumSpec) -> Vec<Fault> {
    // A cache hides every silent loss.
    let cache_bytes = spec.caches.iter().map(|cache| cache.bytes_to_evict()).max().unwrap_or(0);
    let silent = |share: f64| Reach { cache_bytes, share, ..Reach::least() };
    let mut faults = Vec::new();
    faults.extend(layout_fault(spec, silent(1.0)));
    faults.extend(pool_fault(spec, silent(1.0)));
    faults.extend(misaddress_fault(spec, silent));
    if let Some(decay) = &spec.decay {
        let need = silent(share_of(spec, std::slice::from_ref(&decay.range)));
        let need = match decay.retention {
            // Data that last until this much was written look like data that a cache of that size still holds.
            Retention::WrittenBytes(bytes) => Reach { cache_bytes: need.cache_bytes.max(bytes), ..need },
            // A read that a cache serves does not wear the cells.
            Retention::Reads(_) => Reach { read_cache_bytes: filled_by_reading(spec), ..need },
        };
        let kinds = vec![FakeKind::Limbo, FakeKind::Unknown];
        // It may be worn out, or a fake whose cache holds data for a time.
        let mut right = vec![FoundVerdict::Fake, FoundVerdict::Damaged];
        if matches!(decay.retention, Retention::Reads(..=2)) {
            // Two reads wear everything: no stamp remains, and nothing reads as it was saved. Another card looks the
            // same.
            right.push(FoundVerdict::Undecided);
        }
        faults.push(Fault { kinds, restorable: false, ..Fault::new(Class::Decaying, right, need) });
    }
    faults.extend(flips_faults(spec, silent));
    if spec.slips.is_some() {
        // Restoring may slip again.
        let share = spec.slips.share();
        faults.push(Fault { restorable: false, ..Fault::new(Class::Damaged, [FoundVerdict::Damaged], silent(share)) });
    }
    faults.extend(errors_fault(spec));
    faults.extend(spec.failure.as_ref().map(|plan| {
        let mut fault = failure_fault(plan, silent(1.0));
        // Behind a large cache it looks like a fake that keeps only the last written data.
        if plan.failure == Failure::DropsWrites && cache_bytes >= LARGE_CACHE {
            fault.right.push(FoundVerdict::Fake);
        }
        fault
    }));
    faults
}

fn layout_fault(spec: &MediumSpec, need: Reach) -> Option<Fault> {
    let announced = spec.announced_bytes;
    if spec.layout.is_whole(announced) {
        return None;
    }
    let fake = |class, need| Fault::new(class, [FoundVerdict::Fake], need);
    let real = spec.layout.real_bytes(announced);
    if announced - real < little_at_end(announced) && matches!(&spec.layout, Layout::Holds(ranges) if is_first(ranges))
    {
        return Some(Fault { real_bytes: vec![real], ..Fault::new(Class::Limbo, [FoundVerdict::Damaged], need) });
    }
    Some(match &spec.layout {
        Layout::Blocks(blocks) => blocks_fault(blocks, real, need),
        Layout::Repeats(Repeats { order, tail_bytes, .. })
            if *tail_bytes > 0 || !matches!(order, Order::Straight | Order::Shuffled) =>
        {
            let mut kinds = vec![FakeKind::Wraparound, FakeKind::Unknown, FakeKind::Chain];
            let mut right = vec![FoundVerdict::Fake];
            // The page behind the protected part may be counted or not, like every window.
            let mut sizes = vec![real];
            if *order == Order::PageOfAddress {
                kinds.push(FakeKind::Limbo);
                sizes.insert(0, real.saturating_sub(PAGE as u64));
            }
            if announced - real < little_at_end(announced) {
                right.push(FoundVerdict::Damaged);
            }
            Fault { kinds, real_bytes: sizes, ..Fault::new(Class::Wraparound, right, need) }
        }
        Layout::Repeats(Repeats { protected_bytes, period_bytes, real_bytes, .. }) => {
            let exact = if real_bytes < period_bytes { FakeKind::Chain } else { FakeKind::Wraparound };
            let (class, mut kinds) = match (protected_bytes, exact) {
                (0, FakeKind::Chain) => (Class::Chain, vec![exact]),
                (0, _) => (Class::Wraparound, vec![exact]),
                _ => (Class::Window, vec![exact, FakeKind::Unknown]),
            };
            if *period_bytes <= NARROW_WINDOW {
                kinds.push(FakeKind::Limbo);
            }
            // The window behind a protected part may be counted or not.
            let least = if *protected_bytes == 0 { real } else { *protected_bytes };
            let sizes = if least == real { vec![real] } else { vec![least, real] };
            let mut fault = Fault { kinds, real_bytes: sizes, ..fake(class, need) };
            if announced - real < little_at_end(announced) {
                fault.right.push(FoundVerdict::Damaged);
            }
            fault
        }
        Layout::Holds(_) if real == 0 => {
            let kinds = vec![FakeKind::Limbo, FakeKind::Unknown];
            let right = [FoundVerdict::Fake, FoundVerdict::Damaged, FoundVerdict::Failed];
            Fault { kinds, real_bytes: vec![0], ..Fault::new(Class::Limbo, right, need) }
        }
        Layout::Holds(ranges) if is_first(ranges) && matches!(spec.misaddress, Some(Misaddress::Wrap { .. })) => {
            // Writes beyond land on addresses that were never saved, or reads there return the data of other addresses.
            let writes = matches!(spec.misaddress, Some(Misaddress::Wrap { on: Operations::Writes, .. }));
            let (class, kinds) = match writes {
                true => (Class::Wraparound, vec![FakeKind::Wraparound]),
                false => (Class::Limbo, vec![FakeKind::Limbo, FakeKind::Unknown, FakeKind::Wraparound]),
            };
            Fault { kinds, real_bytes: vec![real], restorable: !writes, ..fake(class, need) }
        }
        Layout::Holds(ranges) if is_first(ranges) => {
            Fault { kinds: vec![FakeKind::Limbo], real_bytes: vec![real], ..fake(Class::Limbo, need) }
        }
        Layout::Holds(ranges) => {
            let lost = (announced - real) as f64 / announced as f64;
            let end_is_lost = ranges.last().is_none_or(|range| range.end < announced);
            let share = if end_is_lost || ranges[0].start > 0 { 1.0 } else { lost };
            let mut fault = fake(Class::Elsewhere, Reach { share, ..need });
            if lost < FAKE_SHARE || ranges.len() > FAKE_PIECES {
                fault.right.push(FoundVerdict::Damaged);
            }
            let kinds = vec![FakeKind::Limbo, FakeKind::Unknown];
            Fault { kinds, real_bytes: vec![real], ..fault }
        }
    })
}

/// Groups of blocks where some blocks hold nothing or share their memory.
fn blocks_fault(blocks: &Blocks, real: u64, need: Reach) -> Fault {
    let Blocks { rule, group, .. } = blocks;
    let kinds = vec![FakeKind::Unknown, FakeKind::Limbo, FakeKind::Chain];
    let fault = Fault { kinds, real_bytes: vec![real], ..Fault::new(Class::Elsewhere, [FoundVerdict::Fake], need) };
    match rule {
        // With two of three blocks that hold data, more is held than lost.
        BlockRule::LastLoses if *group > 2 => Fault {
            kinds: Vec::new(),
            real_bytes: Vec::new(),
            ..Fault::new(Class::Damaged, [FoundVerdict::Damaged], Reach { share: 1.0 / *group as f64, ..need })
        },
        BlockRule::FirstHolds | BlockRule::LastLoses if *group == 2 => {
            Fault { right: vec![FoundVerdict::Fake, FoundVerdict::Damaged], ..fault }
        }
        BlockRule::FirstHolds | BlockRule::LastLoses => fault,
        // Pairs at one distance are also those of a faulty address line.
        BlockRule::Shared if *group == 2 => Fault {
            class: Class::Wraparound,
            right: vec![FoundVerdict::Fake, FoundVerdict::Damaged],
            kinds: vec![FakeKind::Wraparound, FakeKind::Unknown, FakeKind::Chain],
            ..fault
        },
        BlockRule::Shared => Fault {
            class: Class::Wraparound,
            kinds: vec![FakeKind::Wraparound, FakeKind::Unknown, FakeKind::Chain],
            ..fault
        },
    }
}

fn is_first(ranges: &[Range<u64>]) -> bool {
    ranges.len() == 1 && ranges[0].start == 0
}

fn pool_fault(spec: &MediumSpec, silent: Reach) -> Option<Fault> {
    let pool = spec.pool.filter(|pool| pool.bytes < spec.announced_bytes)?;
    let class = match pool.accounting {
        Accounting::Units { .. } => Class::Thin,
        Accounting::Compressed => Class::Compressing,
    };
    let used = pool.used_before(&Content::new(spec.before, spec.seed), spec.announced_bytes);
    let lacks = (spec.announced_bytes - pool.bytes) as f64 / spec.announced_bytes as f64;
    let (right, need) = match pool.when_full {
        WhenFull::Drops if lacks < LITTLE => (vec![FoundVerdict::Fake, FoundVerdict::Damaged], silent),
        WhenFull::Drops => (vec![FoundVerdict::Fake], silent),
        WhenFull::Errs => (vec![FoundVerdict::Fake, FoundVerdict::Damaged, FoundVerdict::Failed], Reach::least()),
    };
    let need = Reach { pool_bytes: pool.bytes.saturating_sub(used), ..need };
    let kinds = vec![FakeKind::Unknown, FakeKind::Limbo];
    // In whole units; the end of the device may cut the last one.
    let (bytes, unit_bytes) = match pool.accounting {
        Accounting::Units { unit_bytes, .. } => (pool.bytes / unit_bytes * unit_bytes, unit_bytes),
        Accounting::Compressed => (pool.bytes, PAGE as u64),
    };
    let last = spec.announced_bytes % unit_bytes;
    let real_bytes = with_and_without(&[bytes], if last == 0 { 0 } else { unit_bytes - last });
    let real_bytes = less_what_does_not_last(spec, real_bytes, unit_bytes, (bytes - used.min(bytes)) / unit_bytes);
    Some(Fault { kinds, real_bytes, ..Fault::new(class, right, need) })
}

fn misaddress_fault(spec: &MediumSpec, silent: impl Fn(f64) -> Reach) -> Option<Fault> {
    let announced = spec.announced_bytes;
    let misaddress = spec.misaddress.as_ref().filter(|wrong| !wrong.is_harmless(announced))?;
    let on = match misaddress {
        Misaddress::Shift { on, .. } | Misaddress::Line { on, .. } => *on,
        // The layout is judged with it.
        Misaddress::Wrap { .. } => return None,
    };
    let need = silent(share_of(spec, &misaddress.concerned(announced)));
    // If reads and writes of an address go to different cells, saving and restoring each address does not restore the
    // cells.
    let restorable = on == Operations::Both;
    let fault = Fault { restorable, ..Fault::new(Class::Misaddressed, [FoundVerdict::Damaged], need) };
    let fake = vec![FoundVerdict::Fake, FoundVerdict::Damaged];
    Some(match misaddress {
        // The end has no place, and every other address has its own.
        Misaddress::Shift { by_sectors: by @ 1.., on: Operations::Both, .. } => {
            let lost = by.unsigned_abs() * SECTOR_BYTES;
            Fault {
                right: fake,
                kinds: vec![FakeKind::Limbo],
                real_bytes: vec![announced.saturating_sub(lost)],
                ..fault
            }
        }
        // Two addresses share a cell.
        Misaddress::Line { fault: LineFault::Ignored, .. }
        | Misaddress::Line { on: Operations::Both, .. }
        | Misaddress::Shift { on: Operations::Both, .. } => {
            Fault { right: fake, kinds: vec![FakeKind::Wraparound, FakeKind::Unknown], ..fault }
        }
        // A part is lost, with good parts beside it.
        wrong if wrong.is_a_hole(announced) => {
            Fault { right: fake, kinds: vec![FakeKind::Limbo, FakeKind::Unknown], ..fault }
        }
        Misaddress::Line { .. } | Misaddress::Shift { .. } | Misaddress::Wrap { .. } => fault,
    })
}

fn flips_faults(spec: &MediumSpec, silent: impl Fn(f64) -> Reach) -> Vec<Fault> {
    let flips = &spec.flips;
    let damaged = |share: f64, restorable| Fault {
        restorable,
        ..Fault::new(Class::Damaged, [FoundVerdict::Damaged], silent(share))
    };
    let mut faults = Vec::new();
    // Restoring may flip bits again.
    for share in [flips.per_write, flips.per_read] {
        if share > 0.0 {
            faults.push(damaged(share, false));
        }
    }
    if flips.bad_density > 0.0 {
        faults.push(damaged(flips.bad_density, true));
    }
    if let Some(stuck) = flips.stuck.as_ref().filter(|stuck| stuck.bits != 0 && !stuck.range.is_empty()) {
        faults.push(damaged(share_of(spec, std::slice::from_ref(&stuck.range)), true));
    }
    faults
}

fn errors_fault(spec: &MediumSpec) -> Option<Fault> {
    let ranges: Vec<Range<u64>> =
        spec.errors.iter().map(|(range, _)| range.clone()).filter(|range| range.start < spec.announced_bytes).collect();
    if ranges.is_empty() {
        return None;
    }
    let need = Reach { share: share_of(spec, &ranges), ..Reach::least() };
    let mut right = vec![FoundVerdict::Damaged, FoundVerdict::Failed];
    if ranges.iter().any(|range| range.start == 0 && range.end >= spec.announced_bytes) {
        right.push(FoundVerdict::Undecided);
    }
    Some(Fault::new(Class::Damaged, right, need))
}

fn failure_fault(plan: &FailurePlan, silent: Reach) -> Fault {
    let (right, need) = match plan.failure {
        Failure::ReadOnly | Failure::WriteErrors => (vec![FoundVerdict::Failed, FoundVerdict::Damaged], Reach::least()),
        Failure::DropsWrites => (vec![FoundVerdict::Failed, FoundVerdict::Damaged], silent),
        Failure::Shrinks(_) => (vec![FoundVerdict::Failed, FoundVerdict::Damaged, FoundVerdict::Fake], Reach::least()),
        // Before that, a check may have found nothing.
        Failure::AllErrors | Failure::Hangs(_) | Failure::Gone => {
            (vec![FoundVerdict::Failed, FoundVerdict::Undecided], Reach::least())
        }
    };
    Fault { restorable: false, ..Fault::new(Class::Failing, right, need) }
}

/// Each of these sizes, without and with the uncertain part.
fn with_and_without(sizes: &[u64], doubtful_bytes: u64) -> Vec<u64> {
    let mut all: Vec<u64> = sizes.iter().flat_map(|size| [size.saturating_sub(doubtful_bytes), *size]).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Bytes of the largest cache that reads fill.
fn filled_by_reading(spec: &MediumSpec) -> u64 {
    let fills = |cache: &&Cache| cache.eviction == Eviction::LeastRecentlyUsedFilledByReads;
    spec.caches.iter().filter(fills).map(|cache| cache.bytes).max().unwrap_or(0)
}

/// Addresses that do not last, or are read elsewhere than written: they may be counted or not.
fn doubtful(spec: &MediumSpec) -> Vec<Range<u64>> {
    let misaddressed = spec.misaddress.as_ref().filter(|wrong| !wrong.is_harmless(spec.announced_bytes));
    let elsewhere = misaddressed.map_or(Vec::new(), |misaddress| misaddress.concerned(spec.announced_bytes));
    // A page is affected if it begins in the range.
    let whole = |byte: u64| byte.next_multiple_of(PAGE as u64);
    let decays = spec.decay.iter().map(|decay| whole(decay.range.start)..whole(decay.range.end));
    decays.chain(elsewhere).collect()
}

/// Bytes of the parts that fail from one end to the other, with no good data beside them: they may be counted or not.
fn errs_throughout(spec: &MediumSpec) -> u64 {
    let parts = spec.layout.reliable(spec.announced_bytes);
    let errs = |part: &&Range<u64>| spec.errors.iter().any(|(bad, _)| bad.start <= part.start && part.end <= bad.end);
    parts.iter().filter(errs).map(|part| part.end - part.start).sum()
}

/// Bytes common to both lists.
fn overlap(some: &[Range<u64>], others: &[Range<u64>]) -> u64 {
    let shared =
        |one: &Range<u64>, other: &Range<u64>| one.end.min(other.end).saturating_sub(one.start.max(other.start));
    some.iter().flat_map(|one| others.iter().map(move |other| shared(one, other))).sum()
}

/// Each of these sizes of a pool, and the rest of it if some of the units that were `free`, up to all of them, are
/// allocated to addresses that do not last. Those addresses then read as lost for good, like those without memory, and
/// other writes get no memory. The part of the data stored before that does not last may also be counted or not.
fn less_what_does_not_last(spec: &MediumSpec, sizes: Vec<u64>, unit_bytes: u64, free: u64) -> Vec<u64> {
    let doubtful = doubtful(spec);
    if doubtful.is_empty() {
        return sizes;
    }
    let announced = spec.announced_bytes;
    let used = spec.before.used_bytes.min(announced);
    let before = overlap(&doubtful, std::slice::from_ref(&(0..used)));
    // Compressible data have no unit yet.
    let compresses = spec.pool.is_some_and(|pool| pool.accounting == Accounting::Compressed);
    let free_from = if compresses { 0 } else { used.next_multiple_of(unit_bytes).min(announced) };
    let given = free.min(overlap(&doubtful, std::slice::from_ref(&(free_from..announced))).div_ceil(unit_bytes));
    let less = |unit: u64| sizes.iter().map(move |size| size.saturating_sub(unit * unit_bytes));
    // A check does not exhaust more, or not one by one.
    let all: Vec<u64> = (0..=given.min(MOST_UNITS)).flat_map(less).collect();
    with_and_without(&all, before)
}

/// Share of the announced sectors in `ranges`; 1 if they include either end, which every check reads.
fn share_of(spec: &MediumSpec, ranges: &[Range<u64>]) -> f64 {
    let announced = spec.announced_bytes;
    let meets_end = |range: &Range<u64>| range.start < SECTOR_BYTES || range.end >= announced;
    if ranges.iter().any(meets_end) {
        return 1.0;
    }
    let inside = |range: &Range<u64>| range.end.min(announced).saturating_sub(range.start);
    ranges.iter().map(inside).sum::<u64>() as f64 / announced as f64
}

#[cfg(test)]
mod tests {
    use super::super::*;
    use super::*;

    const MIB: u64 = 1 << 20;
    const GIB: u64 = 1 << 30;

    fn truth(layout: Layout) -> Truth {
        Truth::about_medium(&MediumSpec::laid_out(GIB, layout))
    }

    #[test]
    fn nothing_wrong_is_genuine_whatever_the_cache() {
        let spec = MediumSpec::genuine(GIB).with_cache(Cache::with_bytes(64 * MIB));
        let spec = MediumSpec { timing: Timing::slow_card(), ..spec };
        let truth = Truth::about_medium(&spec);
        assert_eq!((truth.class, truth.right), (Class::Genuine, vec![FoundVerdict::Genuine]));
        assert_eq!((truth.real_bytes, truth.restorable, truth.needs), (vec![GIB], true, vec![]));
        // Parameters without effect.
        for layout in [Layout::wraparound(GIB), Layout::first(GIB), Layout::window(GIB - 4096, 4096)] {
            assert_eq!(Truth::about_medium(&MediumSpec::laid_out(GIB, layout)).class, Class::Genuine);
        }
    }

    #[test]
    fn fakes_have_a_kind_and_a_size() {
        for (layout, class, kind, real) in [
            (Layout::first(61 * MIB), Class::Limbo, FakeKind::Limbo, vec![61 * MIB]),
            (Layout::wraparound(93 * MIB + 512), Class::Wraparound, FakeKind::Wraparound, vec![93 * MIB + 512]),
            (Layout::chain(256 * MIB, 61 * MIB), Class::Chain, FakeKind::Chain, vec![61 * MIB]),
            (Layout::window(500 * MIB, 4 * MIB), Class::Window, FakeKind::Wraparound, vec![500 * MIB, 504 * MIB]),
            (Layout::last(GIB, 256 * MIB), Class::Elsewhere, FakeKind::Limbo, vec![256 * MIB]),
        ] {
            let truth = truth(layout);
            assert_eq!((truth.class, truth.kinds[0], truth.real_bytes), (class, kind, real));
            assert_eq!((truth.right, truth.restorable), (vec![FoundVerdict::Fake], true));
        }
        assert_eq!(
            truth(Layout::window(8 * MIB, 4096)).kinds,
            [FakeKind::Wraparound, FakeKind::Unknown, FakeKind::Limbo]
        );
        // A small hole, or many pieces, may also be damage.
        let hole = truth(Layout::both_ends(GIB, GIB - 100 * MIB));
        assert_eq!(hole.right, [FoundVerdict::Fake, FoundVerdict::Damaged]);
        assert!((hole.needs[0].share - 100.0 / 1024.0).abs() < 1e-9);
    }

    #[test]
    fn what_it_takes_to_notice_is_stated() {
        let limbo = MediumSpec::limbo(GIB, 61 * MIB);
        let need = |spec: &MediumSpec| Truth::about_medium(spec).needs[0];
        assert_eq!(need(&limbo.clone().with_cache(Cache::with_bytes(64 * MIB))).cache_bytes, 64 * MIB);
        let random = Cache { eviction: Eviction::Random, ..Cache::with_bytes(8 * MIB) };
        assert_eq!(need(&limbo.clone().with_cache(random)).cache_bytes, 56 * MIB);
        let accounting = Accounting::Units { unit_bytes: MIB, zeros_are_free: false };
        let pool = Some(Pool { bytes: 100 * MIB, accounting, when_full: WhenFull::Drops });
        let before = InitialContent { pattern: Pattern::Noise, used_bytes: 40 * MIB };
        let thin = MediumSpec { pool, before, ..MediumSpec::genuine(GIB) };
        assert_eq!(need(&thin).pool_bytes, 60 * MIB);
        let flips = Flips { per_write: 1e-4, ..Flips::none() };
        let flipping = MediumSpec { flips, ..MediumSpec::genuine(GIB) };
        assert!((need(&flipping).share - 1e-4).abs() < 1e-12 && !Truth::about_medium(&flipping).restorable);
        // Every check reads the first block.
        let errs = MediumSpec::genuine(GIB).with_cache(Cache::with_bytes(MIB)).with_errors(0..4096, Operations::Both);
        assert_eq!(need(&errs), Reach::least());
        let deep = Reach { cache_bytes: 64 * MIB, share: 0.01, ..Reach::least() };
        assert!(deep.covers(&need(&limbo)) && !deep.covers(&need(&flipping)) && !deep.covers(&need(&thin)));
    }

    /// If the data of a part last until more was written than a check writes, no check notices the fault.
    #[test]
    fn data_that_last_for_a_time_need_as_much_as_a_cache() {
        let decays = |retention| {
            let decay = Some(Decay { retention, range: 32 * MIB..GIB });
            Truth::about_medium(&MediumSpec { decay, ..MediumSpec::limbo(GIB, 61 * MIB) })
        };
        let slow = decays(Retention::WrittenBytes(200 * MIB));
        assert_eq!((slow.needs[1].cache_bytes, slow.real_bytes), (200 * MIB, vec![32 * MIB, 61 * MIB]));
        assert_eq!(decays(Retention::Reads(2)).needs[1].cache_bytes, 0);
    }

    #[test]
    fn readings_that_a_cache_answers_wear_nothing() {
        let decay = Some(Decay { retention: Retention::Reads(2), range: 0..GIB });
        let decays = MediumSpec { decay, ..MediumSpec::genuine(GIB) };
        let behind = |eviction| {
            let spec = decays.clone().with_cache(Cache { eviction, ..Cache::with_bytes(MIB) });
            Truth::about_medium(&spec).needs[0].read_cache_bytes
        };
        assert_eq!(behind(Eviction::LeastRecentlyUsed), 0);
        assert_eq!(behind(Eviction::LeastRecentlyUsedFilledByReads), MIB);
    }

    #[test]
    fn the_last_unit_of_a_pool_may_be_cut() {
        let real = |announced| {
            let accounting = Accounting::Units { unit_bytes: 4 * MIB, zeros_are_free: false };
            let pool = Some(Pool { bytes: 9 * MIB, accounting, when_full: WhenFull::Drops });
            Truth::about_medium(&MediumSpec { pool, ..MediumSpec::genuine(announced) }.blank()).real_bytes
        };
        assert_eq!(real(GIB), [8 * MIB]);
        assert_eq!(real(GIB + MIB), [5 * MIB, 8 * MIB]);
        let pool = Some(Pool { bytes: 8192, accounting: Accounting::Compressed, when_full: WhenFull::Drops });
        let compressing = MediumSpec { pool, ..MediumSpec::genuine(GIB + 3072) };
        assert_eq!(Truth::about_medium(&compressing).real_bytes, [7168, 8192]);
    }

    /// A pool of 8 MiB with 6 MiB used looks like one of 6 or 7 MiB if the rest is allocated to addresses that do not
    /// last.
    #[test]
    fn units_of_a_pool_that_are_given_to_what_does_not_last_may_be_counted_or_not() {
        let accounting = Accounting::Units { unit_bytes: MIB, zeros_are_free: false };
        let pool = Some(Pool { bytes: 8 * MIB, accounting, when_full: WhenFull::Drops });
        let before = InitialContent { pattern: Pattern::Noise, used_bytes: 6 * MIB };
        let real = |range| {
            let decay = Some(Decay { retention: Retention::Reads(2), range });
            Truth::about_medium(&MediumSpec { pool, before, decay, ..MediumSpec::genuine(GIB) }).real_bytes
        };
        assert_eq!(real(GIB / 2..GIB), [6 * MIB, 7 * MIB, 8 * MIB]);
        assert_eq!(real(GIB - MIB..GIB), [7 * MIB, 8 * MIB]);
        assert_eq!(real(6 * MIB - 8192..6 * MIB), [8 * MIB - 8192, 8 * MIB]);
    }

    #[test]
    fn a_pool_that_lacks_little_may_as_well_be_damage() {
        let right = |bytes| {
            let accounting = Accounting::Units { unit_bytes: MIB, zeros_are_free: false };
            let pool = Some(Pool { bytes, accounting, when_full: WhenFull::Drops });
            Truth::about_medium(&MediumSpec { pool, ..MediumSpec::genuine(GIB) }.blank()).right
        };
        assert_eq!(right(GIB / 100 * 94), [FoundVerdict::Fake]);
        assert_eq!(right(GIB / 100 * 97), [FoundVerdict::Fake, FoundVerdict::Damaged]);
    }

    #[test]
    fn what_did_not_come_about_is_not_to_be_seen() {
        let spec = MediumSpec::genuine(GIB).that_fails(Trigger::AfterWritten(MIB), Failure::ReadOnly);
        assert_eq!(Truth::about_medium(&spec).right, [FoundVerdict::Damaged, FoundVerdict::Failed]);
        assert_eq!(Truth::as_shown(&spec, true, false), Truth::about_medium(&spec));
        assert_eq!(Truth::as_shown(&spec, false, false).class, Class::Genuine);
    }

    #[test]
    fn several_faults_allow_what_each_of_them_allows() {
        let spec = MediumSpec::limbo(GIB, 61 * MIB).with_errors(MIB..2 * MIB, Operations::Reads);
        let truth = Truth::about_medium(&spec);
        assert_eq!(
            (truth.class, truth.right),
            (Class::Limbo, vec![FoundVerdict::Fake, FoundVerdict::Damaged, FoundVerdict::Failed])
        );
        assert_eq!(truth.real_bytes, [61 * MIB]);
    }

    #[test]
    fn a_part_that_errs_throughout_may_be_counted_or_not() {
        let both = MediumSpec::laid_out(GIB, Layout::both_ends(GIB, 128 * MIB));
        let real =
            |errs: Range<u64>| Truth::about_medium(&both.clone().with_errors(errs, Operations::Reads)).real_bytes;
        assert_eq!(real(GIB - 65 * MIB..GIB), [64 * MIB, 128 * MIB]);
        assert_eq!(real(GIB - 63 * MIB..GIB), [128 * MIB]);
    }

    #[test]
    fn a_line_is_a_fake_only_where_two_addresses_are_one() {
        let line = |fault, on| {
            let misaddress = Some(Misaddress::Line { bit: 11, fault, range: 0..GIB, on });
            Truth::about_medium(&MediumSpec { misaddress, ..MediumSpec::genuine(GIB) })
        };
        assert_eq!(line(LineFault::Ignored, Operations::Both).right, [FoundVerdict::Fake, FoundVerdict::Damaged]);
        assert_eq!(line(LineFault::Inverted, Operations::Both).class, Class::Genuine);
        let reads = line(LineFault::Inverted, Operations::Reads);
        assert_eq!((reads.right, reads.restorable), (vec![FoundVerdict::Damaged], false));
        // If reads go behind the end, or all addresses there have their own data, it is a hole like any other.
        let inverted = |range, bit| {
            let misaddress = Some(Misaddress::Line { bit, fault: LineFault::Inverted, range, on: Operations::Reads });
            Truth::about_medium(&MediumSpec { misaddress, ..MediumSpec::genuine(GIB) })
        };
        for bit in [21, 20] {
            let hole = inverted(GIB / 2..GIB / 8 * 5, bit);
            assert_eq!(
                (hole.right, hole.restorable),
                (vec![FoundVerdict::Fake, FoundVerdict::Damaged], false),
                "{bit}"
            );
        }
        assert_eq!(inverted(GIB / 8 * 3..GIB / 8 * 5, 20).right, [FoundVerdict::Damaged]);
    }
}
