//! The search: what is written where, what is read back, and what follows from it.

mod alias;
mod careful;
mod discover;
mod eviction;
mod kinds;
#[cfg(test)]
mod known_tests;
mod map;
mod periods;
mod proof;
mod same_medium;
mod stages;
mod stamped;

pub(crate) use stages::Search;
pub(crate) use stamped::{End, StampedDevice, Watch};
pub use stamped::{ProbePhase, ProbeProgress};

use std::collections::BTreeMap;

use assay_core::verification::{
    EarlyEnd, Extent, FakeKind, FirstError, MapCell, Method, Reach, ReadBack, Remark, SECTOR_BYTES, SectorCounts, Sign,
    Verdict, Verification, Whole,
};

use self::map::State;
use self::stages::{LossKind, Repeat};
use self::stamped::Moved;
use super::device::{Device, ProbeFault};
use super::plan::PARTS;
use super::put_back::{PlaceStanding, Restored};
use super::stamp::SeenStamp;

// Derives what the device is from what was found.

/// What is known at the end.
#[derive(Debug)]
pub(crate) struct Account {
    pub(crate) announced: u64,
    pub(crate) verdict: Verdict,
    pub(crate) kind: Option<FakeKind>,
    pub(crate) loss_kind: LossKind,
    /// The least and the most that the real size may be, in bytes.
    pub(crate) real: Option<(u64, u64)>,
    pub(crate) holds: Vec<Extent>,
    /// Sectors that were never saved and now carry stamps of the probe, since writes to other addresses landed there.
    pub(crate) strays: Vec<u64>,
    /// Bytes that are missing at the very end, if that is the only defect.
    pub(crate) missing_at_end: Option<u64>,
    /// How a device failed.
    pub(crate) failed: Option<ProbeFault>,
    /// Why the search ended early.
    pub(crate) cut_short: Option<CutShort>,
    pub(crate) cache_bytes: Option<u64>,
    /// Losses are hidden by a cache that is larger than what was written to drive it out.
    pub(crate) hidden: bool,
    /// Bytes that were written elsewhere before everything was read back.
    pub(crate) run_bytes: u64,
    pub(crate) findings: BTreeMap<u64, SeenStamp>,
    pub(crate) places: usize,
    pub(crate) moved: Moved,
}

/// Why a search ended before it was known what the device is, although the device did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CutShort {
    /// The system denied access.
    Denied,
    /// Another medium took its place, or it lost all that it held.
    Exchanged,
    /// The user ended it.
    Interrupted,
    /// The journal could not be written.
    Journal,
    /// The limit of bytes written was reached.
    Spent,
}

/// A loss below this share, with good parts at both ends, is damage and not a fake: fakes announce at least a twentieth
/// too much.
const LEAST_FAKE: f64 = 0.05;
/// Less than this missing at the end is damage: some USB bridges announce a sector too many.
const LITTLE_AT_END: u64 = 128 << 10;
/// The same as a divisor of the announced size: 128 KiB may be most of a small device.
const LITTLE_OF_ALL: u64 = 64;
/// Where single sectors are bad, up to this many in a row may lie at the edge of a part that holds. The probability of
/// more is 10^-8 at a density of a tenth.
const PITS: u64 = 8;
/// Up to this many changes between parts that hold and parts that do not are all found. With more changes, there may be
/// further parts that no sample met.
const SURE_CHANGES: usize = 3;

/// Bytes that may be missing at the end of a damaged device of the announced size; a fake lacks more.
fn little(announced: u64) -> u64 {
    LITTLE_AT_END.min(announced / LITTLE_OF_ALL)
}

pub(crate) fn account<D: Device>(search: &mut Search<'_, '_, D>, ended: Option<&End>) -> Account {
    let device = &mut *search.device;
    let announced = device.sectors() * SECTOR_BYTES;
    let mut account = Account {
        announced,
        verdict: Verdict::Undecided,
        kind: None,
        loss_kind: search.loss_kind.clone(),
        real: None,
        holds: Vec::new(),
        strays: Vec::new(),
        missing_at_end: None,
        failed: None,
        cut_short: None,
        cache_bytes: search.eviction.cache_bytes(),
        hidden: search.eviction.hidden,
        run_bytes: search.run_sectors * SECTOR_BYTES,
        findings: std::mem::take(&mut device.findings),
        places: 0,
        moved: device.moved,
    };
    account.places = search.samples.iter().filter(|place| account.findings.contains_key(&place.at)).count();
    match ended {
        None => {}
        Some(End::Fault(ProbeFault::Denied)) => account.cut_short = Some(CutShort::Denied),
        Some(End::Fault(ProbeFault::Exchanged)) => account.cut_short = Some(CutShort::Exchanged),
        Some(End::Fault(fault)) => account.failed = Some(*fault),
        Some(End::Stopped) => account.cut_short = Some(CutShort::Interrupted),
        Some(End::Journal(_)) => account.cut_short = Some(CutShort::Journal),
        Some(End::Spent) => account.cut_short = Some(CutShort::Spent),
    }
    if account.failed.is_some() {
        account.verdict = Verdict::Failed;
        return account;
    }
    // A loss that was seen once counts, whatever a cache showed later.
    for (sector, seen) in &search.first {
        if seen.is_silent_loss() {
            account.findings.insert(*sector, *seen);
        }
    }
    let silent = account.findings.values().any(|seen| seen.is_silent_loss()) || !search.pairs.is_empty();
    let wrong = account.findings.values().any(|seen| !matches!(seen, SeenStamp::Holds));
    let loss_kind = match (&search.loss_kind, account.cut_short) {
        (loss_kind, None) => loss_kind.clone(),
        // The search ended early: it is only known that something is lost.
        (LossKind::None, Some(_)) if !silent && !wrong => return account,
        (LossKind::Repeats(repeat), Some(_)) => LossKind::Repeats(*repeat),
        (LossKind::WritesRepeat { period, .. }, Some(_)) => LossKind::WritesRepeat { period: *period, exact: false },
        (_, Some(_)) => LossKind::Parts,
    };
    account.loss_kind = loss_kind;
    if account.cut_short.is_some() && search.map.count(State::Keeps) + search.map.count(State::Loses) == 0 {
        if search.first.is_empty() {
            search.first = account.findings.iter().map(|(sector, seen)| (*sector, *seen)).collect();
        }
        search.map_samples();
        search.map.exact = false;
    }
    conclude(&mut account, search, silent, wrong);
    account
}

fn conclude<D: Device>(account: &mut Account, search: &Search<'_, '_, D>, silent: bool, wrong: bool) {
    let announced = account.announced;
    match account.loss_kind {
        LossKind::None => {
            account.verdict = Verdict::Genuine;
            account.real = Some((announced, announced));
            account.holds = vec![Extent { offset_bytes: 0, bytes: announced }];
        }
        LossKind::Repeats(repeat) => {
            account.verdict = Verdict::Fake;
            let chain = repeat.real < repeat.period;
            account.kind = Some(if chain { FakeKind::Chain } else { FakeKind::Wraparound });
            let first = ((repeat.protected + repeat.real) * SECTOR_BYTES).min(announced);
            account.holds = vec![Extent { offset_bytes: 0, bytes: first }];
            let tail = search.tail.map(|at| at * SECTOR_BYTES);
            account.holds.extend(tail.map(|at| Extent { offset_bytes: at, bytes: announced - at }));
            let real = first + tail.map_or(0, |at| announced - at);
            let less = announced - SECTOR_BYTES;
            account.real = Some(match (repeat.exact, search.between) {
                (true, Some((least, most))) => (least * SECTOR_BYTES, (most * SECTOR_BYTES).min(less)),
                // Data that were evicted too late, or not at all, say little about which part of a period holds.
                (true, None) if chain && account.hidden && search.through.is_none() => {
                    (SECTOR_BYTES, ((repeat.protected + repeat.period) * SECTOR_BYTES).min(less))
                }
                (true, None) => (real, real),
                (false, _) => (search.shown_at_once().min(less), less),
            });
            if repeat.exact && announced - real < little(announced) && search.between.is_none() {
                account.verdict = Verdict::Damaged;
                account.kind = None;
                account.missing_at_end = Some(announced - real);
            }
        }
        LossKind::WritesRepeat { period, exact } => {
            account.verdict = Verdict::Fake;
            account.kind = Some(FakeKind::Wraparound);
            let real = period * SECTOR_BYTES;
            account.holds = vec![Extent { offset_bytes: 0, bytes: real }];
            account.real = Some(if exact { (real, real) } else { (search.shown_at_once(), announced - SECTOR_BYTES) });
            account.strays = search.strays(period);
        }
        LossKind::Thin => {
            account.verdict = Verdict::Fake;
            account.kind = Some(FakeKind::Unknown);
            // The run was written last, so a cache may show parts of it that no memory holds: only samples count.
            let keeps = |sector: &u64| account.findings.get(sector).is_some_and(|seen| seen.keeps());
            let kept = search.samples.iter().flat_map(|place| place.numbers()).filter(keeps).count() as u64;
            account.real = Some((kept * SECTOR_BYTES, announced - SECTOR_BYTES));
        }
        LossKind::Stopped => account.verdict = Verdict::Failed,
        LossKind::Newest { least, most } => {
            account.verdict = Verdict::Fake;
            account.kind = Some(FakeKind::Unknown);
            let most = (most * SECTOR_BYTES).min(announced - SECTOR_BYTES);
            account.real = Some(((least * SECTOR_BYTES).min(most), most));
        }
        LossKind::TakesMemory { .. } => {
            account.verdict = Verdict::Fake;
            account.kind = Some(FakeKind::Unknown);
            account.real = Some((search.shown_at_once(), announced - SECTOR_BYTES));
        }
        LossKind::NotPutBack(_) => account.verdict = Verdict::Damaged,
        LossKind::Scattered | LossKind::Misaddressed(_) | LossKind::Decays | LossKind::Unreliable => {
            account.verdict = Verdict::Damaged;
            account.holds = extents(search);
        }
        LossKind::Parts => parts(account, search, silent, wrong),
    }
}

fn parts<D: Device>(account: &mut Account, search: &Search<'_, '_, D>, silent: bool, wrong: bool) {
    let sectors = account.announced / SECTOR_BYTES;
    account.holds = extents(search);
    let parts = search.map.parts(sectors);
    if let [(_, end, State::Keeps), (_, _, State::Loses | State::Errs)] = parts[..]
        && (sectors - end) * SECTOR_BYTES < little(account.announced)
        && !account.hidden
    {
        account.verdict = Verdict::Damaged;
        account.missing_at_end = Some((sectors - end) * SECTOR_BYTES);
        account.real = search.map.exact.then_some((end * SECTOR_BYTES, end * SECTOR_BYTES));
        return;
    }
    if !silent {
        account.verdict = if wrong { Verdict::Damaged } else { Verdict::Undecided };
        return;
    }
    let lost: u64 = parts.iter().filter(|part| part.2 == State::Loses).map(|part| part.1 - part.0).sum();
    let ends_hold = [parts.first(), parts.last()].iter().all(|part| part.is_some_and(|part| part.2 != State::Loses));
    // Data of another place are not wear: two addresses shared a cell.
    let foreign =
        !search.pairs.is_empty() || account.findings.values().any(|seen| matches!(seen, SeenStamp::Foreign(_)));
    let little = (lost as f64) < LEAST_FAKE * sectors as f64 && !search.map.used_up;
    if ends_hold && little && !account.hidden && !foreign {
        account.verdict = Verdict::Damaged;
        return;
    }
    let losing = account.findings.values().filter(|seen| seen.is_silent_loss()).count();
    let most_holds = lost * 2 < sectors && losing * 2 < account.findings.len();
    if most_holds && !account.hidden && !search.shared && search.map.has_bad_spots() && !search.map.used_up {
        account.verdict = Verdict::Damaged;
        return;
    }
    account.verdict = Verdict::Fake;
    let vague = account.hidden || account.cut_short.is_some() || (foreign && lost == 0);
    account.kind = Some(if vague { FakeKind::Unknown } else { FakeKind::Limbo });
    let (least, mut most, changes) = search.map.kept(sectors);
    if search.map.is_pitted() {
        most = (most + PITS).min(sectors - 1);
    }
    let [least, most] = [least, most].map(|sectors| sectors * SECTOR_BYTES);
    let less = account.announced - SECTOR_BYTES;
    let errs = parts.iter().filter(|part| part.2 == State::Errs).map(|part| (part.1 - part.0) * SECTOR_BYTES);
    account.real = Some(if search.map.count(State::Keeps) == 0 && !vague {
        // Almost nothing holds, and it lies between samples or where the medium errs.
        (0, (2 * account.announced / PARTS + errs.sum::<u64>()).min(less))
    } else if search.map.exact && changes <= SURE_CHANGES && !vague {
        (least, most)
    } else if vague || search.map.unsteady {
        (0, less)
    } else {
        let slack = changes as u64 * (account.announced / PARTS);
        (least.saturating_sub(slack), (most + slack).min(less))
    });
}

fn extents<D: Device>(search: &Search<'_, '_, D>) -> Vec<Extent> {
    let parts = search.map.parts(search.device.sectors());
    let keeps = parts.into_iter().filter(|part| part.2 == State::Keeps);
    keeps
        .map(|(start, end, _)| Extent { offset_bytes: start * SECTOR_BYTES, bytes: (end - start) * SECTOR_BYTES })
        .collect()
}

impl Account {
    /// Offset of the first byte without memory, if writes wrap there and reads do not.
    pub(crate) fn writes_end_at(&self) -> Option<u64> {
        match self.loss_kind {
            LossKind::WritesRepeat { period, exact: true } => Some(period * SECTOR_BYTES),
            _ => None,
        }
    }

    /// Why restored data may not last, although every place reads as before.
    pub(crate) fn doubt(&self) -> Option<&'static str> {
        // If it is not known which parts hold, reading back proves as little as reading did before.
        let vague =
            self.loss_kind == LossKind::Parts && self.kind == Some(FakeKind::Unknown) && self.cut_short.is_none();
        match self.loss_kind {
            _ if self.verdict == Verdict::Failed => {
                Some("the device failed during the test, and may show data that it does not hold")
            }
            LossKind::Misaddressed(_) => Some("operations land elsewhere, so places changed that were never saved"),
            LossKind::WritesRepeat { .. } if !self.strays.is_empty() => {
                Some("writes landed at addresses that were never saved")
            }
            LossKind::TakesMemory { .. } => Some("what was written took the memory of places that were never saved"),
            LossKind::Decays | LossKind::Newest { .. } => Some("what was put back may not last"),
            // This includes a wrap-around with a failing address line.
            LossKind::Repeats(repeat) if repeat.exact && self.lands_elsewhere(&repeat) => Some(
                "it is not known where some of the data written landed, so places may have changed that were never saved",
            ),
            _ if self.hidden || vague => {
                Some("a cache that was not driven out may show data that the device does not hold")
            }
            _ => None,
        }
    }

    /// Whether a sector shows data that were sent to another cell.
    fn lands_elsewhere(&self, repeat: &Repeat) -> bool {
        self.findings.iter().any(|(sector, seen)| match seen {
            SeenStamp::Foreign(origin) => !repeat.explains(*sector, origin.sector),
            _ => false,
        })
    }

    /// Takes restored places into account that do not read as before: a medium that lost them is not genuine.
    pub(crate) fn was_restored<D: Device>(&mut self, device: &mut D, done: &Restored) {
        let Some(first) = done.differing.first().map(|place| place.offset) else { return };
        if !matches!(self.verdict, Verdict::Genuine | Verdict::Undecided) {
            return;
        }
        if self.cut_short == Some(CutShort::Exchanged) {
            // Different data may be on another medium, which is not a fault of this one.
            return;
        }
        let mut block = vec![0; device.block_bytes().max(512) as usize];
        let answers = |offset: u64, device: &mut D| device.read_at(offset, &mut block).is_ok();
        let mut answers = answers;
        let length = u64::from(device.block_bytes().max(512));
        let any =
            answers(first / length * length, device) || answers(0, device) || answers(self.announced - length, device);
        if !any {
            return self.fails(ProbeFault::AllErrors);
        }
        let refused = done.differing.iter().filter(|place| place.standing == PlaceStanding::Refused).count();
        if refused * 2 > done.differing.len() {
            return self.fails(ProbeFault::WriteErrors);
        }
        self.verdict = Verdict::Damaged;
        self.loss_kind = LossKind::NotPutBack(done.differing.len());
        self.real = None;
        self.holds.clear();
    }

    /// The device failed as a whole.
    pub(crate) fn fails(&mut self, fault: ProbeFault) {
        if matches!(self.verdict, Verdict::Genuine | Verdict::Undecided | Verdict::Failed) {
            self.verdict = Verdict::Failed;
            self.failed.get_or_insert(fault);
            self.real = None;
            self.holds.clear();
        }
    }
}

// The result of a probe in the form that all checks share.

/// Parts of the map.
const CELLS: u64 = 256;

pub(crate) fn verification(account: &Account) -> Verification {
    let mut counts = SectorCounts::default();
    let mut map = cells(account.announced);
    for (sector, seen) in &account.findings {
        let class = seen.class();
        counts.add(class, 1);
        let offset = sector * SECTOR_BYTES;
        let part = map.partition_point(|cell| cell.offset_bytes + cell.bytes <= offset);
        if let Some(cell) = map.get_mut(part) {
            cell.counts.add(class, 1);
        }
    }
    let first_error =
        account.findings.iter().find(|(_, seen)| **seen != SeenStamp::Holds).map(|(sector, seen)| FirstError {
            offset_bytes: sector * SECTOR_BYTES,
            class: seen.class(),
            holds_offset_bytes: match seen {
                SeenStamp::Foreign(origin) => Some(origin.sector * SECTOR_BYTES),
                _ => None,
            },
        });
    let checked_bytes = counts.total() * SECTOR_BYTES;
    let exact = account.real.filter(|(low, high)| low == high).map(|(low, _)| low);
    let between = account.real.filter(|_| exact.is_none());
    Verification {
        verdict: account.verdict,
        kind: account.kind,
        sign: sign(account),
        ended: ended(account),
        announced_bytes: account.announced,
        real_bytes: exact,
        real_low_bytes: between.map(|(low, _)| low),
        real_high_bytes: between.map(|(_, high)| high),
        holds: account.holds.clone(),
        checked_bytes,
        written_bytes: account.moved.written_bytes,
        counts,
        first_error,
        map,
        read_back: ReadBack::Salted { elsewhere_bytes: account.run_bytes },
        cache_bytes: account.cache_bytes,
        reach: (checked_bytes > 0).then(|| Reach {
            tested_share: (checked_bytes as f64 / account.announced as f64).min(1.0),
            loss_share: LOSS,
            loss_found: 1.0 - (1.0 - LOSS).powi(i32::try_from(account.places).unwrap_or(i32::MAX)),
            caches_up_to_bytes: (account.verdict == Verdict::Genuine).then_some(account.run_bytes),
            thin_excluded: false,
            of: Whole::Device,
            wraparounds_from_share: None,
        }),
        remarks: account.hidden.then_some(Remark::CacheHides).into_iter().collect(),
        ..Verification::undecided(Method::QuickProbe)
    }
}

/// The share of loss for which the probability of detection is stated.
const LOSS: f64 = 0.02;

/// Equal parts of whole blocks of 4 KiB; the last takes the rest.
fn cells(announced: u64) -> Vec<MapCell> {
    let parts = CELLS.min(announced / 4096).max(1);
    let edge = |part: u64| if part == parts { announced } else { announced / 4096 * part / parts * 4096 };
    let cell = |part| MapCell {
        offset_bytes: edge(part),
        bytes: edge(part + 1) - edge(part),
        counts: SectorCounts::default(),
    };
    (0..parts).map(cell).collect()
}

/// What shows the defect, beside the kind and the counts.
fn sign(account: &Account) -> Option<Sign> {
    match (account.verdict, &account.loss_kind) {
        (Verdict::Fake, LossKind::Thin) => Some(Sign::MemoryUsedUp),
        (Verdict::Fake, LossKind::WritesRepeat { .. }) => Some(Sign::OnlyWritesWrap {
            overwritten_sectors: account.strays.len() as u64,
            first_overwritten_bytes: account.strays.first().map(|first| first * SECTOR_BYTES),
        }),
        (Verdict::Fake, LossKind::TakesMemory { lost, of }) => {
            Some(Sign::TakesMemory { lost: *lost as u64, of: *of as u64 })
        }
        (Verdict::Fake, LossKind::Newest { .. }) => Some(Sign::OldestReplaced),
        (Verdict::Damaged, _) if account.missing_at_end.is_some() => {
            account.missing_at_end.map(|bytes| Sign::MissingAtEnd { bytes })
        }
        (Verdict::Damaged, LossKind::Misaddressed(distance)) => {
            Some(Sign::Misplaced { distance_bytes: Some(distance.saturating_mul(SECTOR_BYTES.cast_signed())) })
        }
        (Verdict::Damaged, LossKind::Decays) => Some(Sign::Decays),
        (Verdict::Damaged, LossKind::Unreliable) => Some(Sign::HoldsLater),
        (Verdict::Damaged, LossKind::NotPutBack(places)) => Some(Sign::NotPutBack { places: *places as u64 }),
        _ => None,
    }
}

/// Why the probe ended early.
fn ended(account: &Account) -> Option<EarlyEnd> {
    let failed = account.failed.map(|fault| match fault {
        ProbeFault::Gone => EarlyEnd::Disappeared,
        ProbeFault::ReadOnly => EarlyEnd::ReadOnly,
        ProbeFault::WriteErrors => EarlyEnd::RefusesWrites,
        ProbeFault::AllErrors => EarlyEnd::OnlyErrors,
        ProbeFault::DropsWrites => EarlyEnd::DropsWrites,
        ProbeFault::Hung => EarlyEnd::Hung,
        ProbeFault::Medium => EarlyEnd::IoError,
        ProbeFault::Denied => EarlyEnd::Denied,
        ProbeFault::Exchanged => EarlyEnd::Exchanged,
    });
    failed.or(account.cut_short.map(|why| match why {
        CutShort::Denied => EarlyEnd::Denied,
        CutShort::Exchanged => EarlyEnd::Exchanged,
        CutShort::Interrupted => EarlyEnd::Interrupted,
        CutShort::Journal => EarlyEnd::Journal,
        CutShort::Spent => EarlyEnd::WriteLimit,
    }))
}
