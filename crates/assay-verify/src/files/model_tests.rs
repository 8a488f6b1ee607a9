//! The full check on simulated media of every kind: the passes, the real pattern and the verdict, with the files laid
//! over a model whose truth is known.
//!
//! A full check writes all of a medium, so the sizes here can be filled: 64 MiB to 2 GiB. Media up to 2 TiB are covered
//! by the tests of the probe.

use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use assay_core::verification::{FakeKind, SECTOR_BYTES, Verdict};
use assay_device::owned::Directory;
use assay_engine::Control;
use assay_lab::media::{
    Cache, CachedWrites, DroppedRead, Failure, Layout, MediumSpec, Operations, Repeats, SharedMedium, Trigger,
};
use assay_lab::{Backing, SplitMix};

use super::content::{Content, FileFormat};
use super::medium::{DriverLayer, Medium, Piece};
use super::pass;
use super::plan::{CheckPlan, CheckSettings};
use super::pool::Pool;
use super::state::{State, files_of};
use super::tally::Tally;
use super::verdict::{Judged, Scope, judge};
use super::work::Work;
use crate::probe::Salt;

const MIB: u64 = 1 << 20;
const BLOCK: u64 = 4096;
/// Size of the caches that the checks here evict.
const CACHE: u64 = 8 * MIB;

/// Consecutive files on a model, behind the part that a file system takes for itself.
#[derive(Clone)]
struct Laid {
    medium: SharedMedium,
    front: u64,
    number: u64,
    late: Option<Late>,
}

/// A write that a medium finishes only when the end of the area has been written.
#[derive(Clone)]
struct Late {
    /// Where it begins, in bytes of the file.
    at: u64,
    /// Where the end begins.
    end: u64,
    /// Bytes of the end that were written.
    written: Arc<AtomicU64>,
    /// Number of these bytes to wait for.
    until: u64,
}

impl Late {
    /// The longest wait: what has not begun before this write is done never comes.
    const LONGEST: Duration = Duration::from_secs(2);

    fn meet(&self, offset: u64, bytes: u64) {
        if offset >= self.end {
            self.written.fetch_add(bytes, Ordering::Relaxed);
        }
        let start = Instant::now();
        while offset == self.at && self.written.load(Ordering::Relaxed) < self.until && start.elapsed() < Self::LONGEST
        {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Laid {
    fn at(&self, offset: u64) -> u64 {
        self.front + pass::start_of(self.number) + offset
    }
}

impl Medium for Laid {
    fn make(&self, number: u64, _: u64) -> io::Result<Arc<dyn Piece>> {
        Ok(Arc::new(Self { number, ..self.clone() }))
    }

    fn open(&self, number: u64) -> io::Result<Arc<dyn Piece>> {
        self.make(number, 0)
    }

    fn gone(&self) -> bool {
        false
    }
}

impl Piece for Laid {
    fn write_at(&self, data: &[u8], offset: u64) -> io::Result<()> {
        if let Some(late) = &self.late {
            late.meet(offset, data.len() as u64);
        }
        self.medium.clone().write(self.at(offset), data)
    }

    fn read_at(&self, data: &mut [u8], offset: u64) -> io::Result<usize> {
        self.medium.clone().read(self.at(offset), data)?;
        Ok(data.len())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn cut(&self, _: u64) -> io::Result<()> {
        Ok(())
    }

    fn one_by_one(&self) -> bool {
        false
    }

    fn grain(&self) -> usize {
        BLOCK as usize
    }
}

/// A check of `area` bytes.
fn plan(area: u64) -> CheckPlan {
    let here = std::env::temp_dir();
    CheckPlan {
        handle: Arc::new(Directory::open(&here).unwrap()),
        kept: None,
        target: here.clone(),
        directory: here,
        free_bytes: area,
        reserve_bytes: 0,
        whole_bytes: area,
        area_bytes: area,
        write_bytes: area,
        read_bytes: area,
        again_bytes: 0,
        device_bytes: None,
        file_system_bytes: area,
        foreign: Vec::new(),
        files: files_of(area),
    }
}

/// Fills and reads all of a medium behind `front` bytes.
fn checked(spec: &MediumSpec, front: u64) -> (Tally, Judged) {
    checked_late(spec, front, None)
}

/// The same on a medium that is slow to finish a write.
fn checked_late(spec: &MediumSpec, front: u64, late: Option<Late>) -> (Tally, Judged) {
    let medium = SharedMedium::new(spec.build().unwrap());
    let area = (spec.announced_bytes - front) / MIB * MIB;
    let laid = Arc::new(Laid { medium, front, number: 1, late });
    let pool = Pool::new(laid, Duration::from_secs(60), &Control::default()).unwrap();
    let (plan, settings) = (plan(area), CheckSettings { cache_bytes: CACHE, ..CheckSettings::default() });
    let format = if spec.seed.is_multiple_of(2) { FileFormat::Salted } else { FileFormat::F3 };
    let mut state = State { content: Content::new(format, Salt::known(spec.seed)), ..State::new(area) };
    let driver_layer = DriverLayer::Nothing;
    let place = tempfile::tempdir().unwrap();
    let own = Arc::new(Directory::open(place.path()).unwrap().make("own").unwrap());
    let work = Work {
        plan: &plan,
        settings: &settings,
        pool: &pool,
        driver_layer: &driver_layer,
        own: Some(&own),
        state: &mut state,
    };
    let done = work.run(&mut |_| {});
    assert!(done.stop_reason().is_none());
    let scope = Scope {
        whole_bytes: area,
        complete: true,
        rewritten: done.rewritten,
        retried: done.retried,
        ..Scope::default()
    };
    let judged = judge(&done.tally, &scope);
    (done.tally, judged)
}

/// The effect of a bad place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Damage {
    /// Reads and writes fail.
    Errs,
    /// Reads give something else than what was written.
    Corrupts,
}

/// A medium with the expected result.
#[derive(Debug, Clone)]
struct Case {
    spec: MediumSpec,
    /// Bytes in front of the files.
    front: u64,
    kind: Option<FakeKind>,
    damage: Vec<(Range<u64>, Damage)>,
}

impl Case {
    fn genuine(size: u64) -> Self {
        Self { spec: MediumSpec::genuine(size), front: 0, kind: None, damage: Vec::new() }
    }

    fn fake(kind: FakeKind, size: u64, layout: Layout) -> Self {
        Self { spec: MediumSpec::laid_out(size, layout), kind: Some(kind), ..Self::genuine(size) }
    }

    fn limbo(size: u64, real: u64) -> Self {
        Self::fake(FakeKind::Limbo, size, Layout::first(real))
    }

    fn wraparound(size: u64, real: u64) -> Self {
        Self::fake(FakeKind::Wraparound, size, Layout::wraparound(real))
    }

    fn chain(size: u64, real: u64, period: u64) -> Self {
        Self::fake(FakeKind::Chain, size, Layout::chain(period, real))
    }

    fn shuffled(mut self) -> Self {
        self.spec.layout = self.spec.layout.shuffled();
        self
    }

    /// The same with bad places.
    fn damaged(mut self, damage: Vec<(Range<u64>, Damage)>) -> Self {
        let mut holds: Vec<Range<u64>> = std::iter::once(0..self.spec.announced_bytes).collect();
        for (bad, what) in &damage {
            match what {
                Damage::Errs => self.spec = self.spec.with_errors(bad.clone(), Operations::Both),
                Damage::Corrupts => {
                    let cut =
                        |part: Range<u64>| [part.start..part.end.min(bad.start), part.start.max(bad.end)..part.end];
                    holds = holds.into_iter().flat_map(cut).filter(|part| part.start < part.end).collect();
                }
            }
        }
        self.spec.layout = Layout::holds(holds);
        self.damage = damage;
        self
    }

    fn with_caches(mut self, random_bytes: u64, sequence_bytes: u64) -> Self {
        for (bytes, takes) in [(random_bytes, CachedWrites::Random), (sequence_bytes, CachedWrites::Sequential)] {
            self.spec = self.spec.with_cache(Cache { takes, ..Cache::with_bytes(bytes) });
        }
        self
    }

    /// The period after which addresses wrap around, and how many of its bytes hold data.
    fn period_and_real(&self) -> (u64, u64) {
        match &self.spec.layout {
            Layout::Repeats(Repeats { period_bytes, real_bytes, .. }) => (*period_bytes, *real_bytes),
            Layout::Holds(ranges) => (u64::MAX, ranges.last().map_or(0, |range| range.end)),
            // No medium here has blocks of this sort.
            Layout::Blocks(_) => (u64::MAX, 0),
        }
    }

    /// What is wrong with the result; `None` if it is right.
    fn miss(&self) -> Option<String> {
        let (tally, judged) = checked(&self.spec, self.front);
        let (counts, front) = (tally.counts, self.front);
        let (period, holds) = self.period_and_real();
        let verdict = match (self.kind, self.damage.is_empty()) {
            (Some(_), _) => Verdict::Fake,
            (None, true) => Verdict::Genuine,
            (None, false) => Verdict::Damaged,
        };
        // Cells are numbered from the start of the device. In a limbo the first ones belong to the file system; in
        // others later laps overwrote these, and they hold data.
        let real = match self.kind {
            Some(FakeKind::Wraparound | FakeKind::Chain) => Some(holds),
            _ => (verdict != Verdict::Damaged).then_some(holds - front),
        };
        let near = real.is_none_or(|real| found_bytes(&judged).is_some_and(|found| found.abs_diff(real) <= MIB));
        let right = (judged.verdict, judged.kind) == (verdict, self.kind) && near;

        let sectors = |bytes: u64| bytes / SECTOR_BYTES;
        let area = (self.spec.announced_bytes - front) / MIB * MIB;
        let blocks = || (front..front + area).step_by(BLOCK as usize);
        let kept = sectors(blocks().filter(|at| at % period < holds).count() as u64 * BLOCK);
        // The edges of bad places are lost in whole chunks.
        let edges = sectors(self.damage.len() as u64 * 2 * MIB);
        let bad = |damage: Damage| {
            let bad = |at: &u64| self.damage.iter().any(|(range, what)| *what == damage && range.contains(at));
            sectors(blocks().filter(bad).count() as u64 * BLOCK)
        };
        let within = |found: u64, expected: u64, tolerance: u64| found.abs_diff(expected) <= tolerance;
        let found = found_bytes(&judged).unwrap_or(0);
        let consistent = counts.total() == sectors(area)
            && counts.changed == 0
            && tally.map().iter().map(|cell| cell.counts.total()).sum::<u64>() == counts.total()
            && match self.kind {
                None => {
                    within(counts.unreadable, bad(Damage::Errs), edges)
                        && within(counts.corrupted, bad(Damage::Corrupts), edges)
                }
                Some(_) => {
                    within(counts.corrupted, sectors(area) - kept, sectors(MIB))
                        && within(counts.overwritten, kept.saturating_sub(sectors(found)), sectors(MIB))
                        && counts.unreadable == 0
                }
            };
        (!right || !consistent).then(|| {
            format!(
                "{:?} behind {front}\n  expected {verdict:?} {:?} {real:?}, found {:?} {:?} {:?}\n  {counts:?}, kept {kept}, consistent: {consistent}",
                self.spec, self.kind, judged.verdict, judged.kind, judged.size
            )
        })
    }
}

fn found_bytes(judged: &Judged) -> Option<u64> {
    judged.size.fields().0
}

/// A multiple of the block size between two thousandths of `bytes`.
fn part(dice: &mut SplitMix, bytes: u64, low: u64, high: u64) -> u64 {
    (bytes / 1000 * low + dice.below(bytes / 1000 * (high - low))) / BLOCK * BLOCK
}

/// Sizes that are quick to fill many times; not all are powers of two or whole MiB.
const SIZES: [u64; 4] = [64 * MIB, 66_666_496, 70_000_640, 72 * MIB];

/// Medium `index` of a population: a fifth of each kind, half of them with caches.
fn medium(index: u64) -> Case {
    let mut dice = SplitMix::new(index);
    let size = SIZES[dice.below(SIZES.len() as u64) as usize] / BLOCK * BLOCK;
    let shuffled = |case: Case, dice: &mut SplitMix| if dice.below(2) == 0 { case.shuffled() } else { case };
    let mut case = match index % 5 {
        0 => Case::genuine(size),
        1 => Case::limbo(size, part(&mut dice, size, 80, 790)),
        2 => {
            let odd = part(&mut dice, size, 60, 900);
            let period = if dice.below(2) == 0 { odd } else { odd / MIB * MIB };
            shuffled(Case::wraparound(size, period), &mut dice)
        }
        3 => {
            let period = part(&mut dice, size, 400, 900) / MIB * MIB;
            // The data that evict the cache must be held, and must lie before the last sixth.
            let real = part(&mut dice, period, 100, 940).max(18 * MIB);
            let real = if dice.below(2) == 0 { real } else { real / MIB * MIB };
            shuffled(Case::chain(size, real, period), &mut dice)
        }
        _ => {
            let mut damage: Vec<(Range<u64>, Damage)> = Vec::new();
            for _ in 0..=dice.below(3) {
                let start = part(&mut dice, size, 0, 800);
                let what = if dice.below(2) == 0 { Damage::Errs } else { Damage::Corrupts };
                damage.push((start..start + size / 20 / BLOCK * BLOCK, what));
            }
            Case::genuine(size).damaged(damage)
        }
    };
    case.spec.dropped = if dice.below(2) == 0 { DroppedRead::Zeros } else { DroppedRead::Ones };
    case.spec.seed = index;
    if index / 5 % 2 == 1 {
        case = case.with_caches([8 << 10, 64 << 10, MIB][dice.below(3) as usize], 4 * MIB);
    }
    // Nothing, or the tables of a small vfat or ext4 file system.
    Case { front: [0, 64 << 10, 3 * MIB][dice.below(3) as usize], ..case }
}

fn none_missed(cases: Vec<Case>) {
    let misses: Vec<String> = cases.iter().filter_map(Case::miss).collect();
    assert!(misses.is_empty(), "{} of {} wrong\n{}", misses.len(), cases.len(), misses.join("\n"));
}

#[test]
fn media_of_every_kind_are_told_with_their_real_size() {
    // `ASSAY_TEST_SEEDS=1000..1400` tests other seeds.
    let asked = std::env::var("ASSAY_TEST_SEEDS").unwrap_or("0..200".to_owned());
    let (from, to) = asked.split_once("..").unwrap();
    let seeds = from.parse().unwrap()..to.parse().unwrap();
    none_missed(seeds.map(medium).collect());
}

#[test]
fn no_genuine_medium_is_accused() {
    let media = (0..500).map(|index| {
        let mut dice = SplitMix::new(index);
        let mut case = Case::genuine(part(&mut dice, 24 * MIB, 100, 1000).max(2 * MIB));
        case.spec.seed = index;
        if index % 2 == 1 {
            case = case.with_caches(8 << 10, 4 * MIB);
        }
        Case { front: [0, 64 << 10, MIB][dice.below(3) as usize], ..case }
    });
    none_missed(media.collect());
}

#[test]
fn larger_ones_in_several_files_and_the_ends_of_the_range_are_told() {
    let media = [
        Case::limbo(1100 * MIB, 300 * MIB),
        Case::limbo(256 * MIB, 243 * MIB),
        Case::limbo(512 * MIB, 4 * MIB),
        Case::wraparound(2048 * MIB, 128 * MIB),
        Case::wraparound(256 * MIB, 252 * MIB),
        Case::wraparound(300 * MIB, 100 * MIB).shuffled(),
        Case::chain(1300 * MIB, 100 * MIB, 256 * MIB),
        // It wraps around just before its end: little is overwritten.
        Case::chain(256 * MIB, 64 * MIB, 253 * MIB),
        Case::chain(256 * MIB, 61 * MIB, 64 * MIB).shuffled(),
    ];
    none_missed(media.into_iter().map(|case| Case { front: MIB, ..case }).collect());
}

/// A cache showed what was written again to evict caches, and the medium was called a limbo.
#[test]
fn a_medium_that_drops_writes_from_some_moment_on_is_no_fake_whatever_its_cache_shows() {
    for seed in 0..2 {
        for cache in [MIB, 8 * MIB] {
            let spec = MediumSpec { seed, ..MediumSpec::genuine(94 * MIB) }.with_cache(Cache::with_bytes(cache));
            let spec = spec.that_fails(Trigger::AfterWritten(53 * MIB), Failure::DropsWrites);
            let judged = checked(&spec, MIB).1;
            assert_eq!(judged.verdict, Verdict::Failed, "{seed} {cache}: {judged:?}");
        }
    }
}

/// On a busy machine a limbo was reported two MiB too large: a cache showed data from before the end that were written
/// after a part of the end.
#[test]
fn what_lies_before_the_end_is_written_before_it() {
    let (area, real) = (96 * MIB, 86 * MIB);
    let end = area - CACHE;
    let late = Late { at: real, end, written: Arc::default(), until: 2 * MIB };
    let spec = MediumSpec::limbo(area, real).with_cache(Cache::with_bytes(CACHE));
    let judged = checked_late(&spec, 0, Some(late)).1;
    assert_eq!((judged.kind, found_bytes(&judged)), (Some(FakeKind::Limbo), Some(real)), "{judged:?}");
}

/// On a busy machine a fake that holds less than the end was reported too large: a cache showed data that were written
/// late and had been overwritten before that.
#[test]
fn the_end_is_written_in_its_order() {
    let (size, real) = (66_666_496, 7_020_544);
    // The first part of the end would be written after the next five, in the cells of the last two.
    let late = Late { at: 55 * MIB, end: 56 * MIB, written: Arc::default(), until: 5 * MIB };
    for case in [Case::wraparound(size, real), Case::wraparound(size, real).shuffled()] {
        let case = case.with_caches(8 << 10, 4 * MIB);
        let judged = checked_late(&case.spec, 0, Some(late.clone())).1;
        assert_eq!((judged.kind, found_bytes(&judged)), (Some(FakeKind::Wraparound), Some(real)), "{judged:?}");
    }
}
