//! The full check of simulated media of every kind: the passes, the real pattern and the verdict,
//! with the files laid over a model whose truth is known.
//!
//! A full check writes all of a medium, so the sizes here are those that can be filled: 64 MiB to
//! 2 GiB. Media up to 2 TiB are the quick probe's tests.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use assay_core::verification::{FakeKind, SECTOR_BYTES};
use assay_device::owned::Directory;
use assay_engine::Control;

use super::beneath::Beneath;
use super::content::{Content, Format};
use super::medium::{Medium, Piece};
use super::pass;
use super::plan::{Plan, Settings, files_of};
use super::pool::Pool;
use super::state::State;
use super::tally::Tally;
use super::verdict::{Judged, Scope, judge};
use super::work::Work;
use crate::fakes::{Damage, Geometry, Model, Stack};
use crate::probe::{Device, Fault, Salt};

const MIB: u64 = 1 << 20;
const BLOCK: u64 = 4096;

/// Files that lie one after another on a model, behind what a file system takes for itself.
#[derive(Clone)]
struct Laid {
    stack: Arc<Mutex<Stack>>,
    front: u64,
    number: u64,
}

impl Laid {
    fn at(&self, offset: u64) -> u64 {
        self.front + pass::start_of(self.number) + offset
    }
}

fn error(fault: Fault) -> io::Error {
    match fault {
        Fault::Medium => io::Error::from_raw_os_error(5),
        other => io::Error::other(other),
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
        self.stack.lock().unwrap().write_at(self.at(offset), data).map_err(error)
    }

    fn read_at(&self, data: &mut [u8], offset: u64) -> io::Result<usize> {
        self.stack.lock().unwrap().read_at(self.at(offset), data).map_err(error)?;
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
fn plan(area: u64) -> Plan {
    let here = std::env::temp_dir();
    Plan {
        handle: Arc::new(Directory::open(&here).unwrap()),
        target: here.clone(),
        directory: here,
        free_bytes: area,
        reserve_bytes: 0,
        whole_bytes: area,
        area_bytes: area,
        write_bytes: area,
        read_bytes: area,
        device_bytes: None,
        foreign: Vec::new(),
        files: files_of(area),
    }
}

/// Fills and reads all of `model` behind `front` bytes.
fn checked(model: &Model, front: u64) -> (Tally, Judged) {
    let stack = Arc::new(Mutex::new(model.build().unwrap()));
    let area = (model.geometry.announced_bytes - front) / MIB * MIB;
    let laid = Arc::new(Laid { stack, front, number: 1 });
    let pool = Pool::new(laid, Duration::from_secs(60), &Control::default()).unwrap();
    let (plan, settings) = (plan(area), Settings { cache_bytes: 8 * MIB, ..Settings::default() });
    let format = if model.seed.is_multiple_of(2) { Format::Salted } else { Format::F3 };
    let mut state = State { content: Content::new(format, Salt::known(model.seed)), ..State::new(area) };
    let beneath = Beneath::Nothing;
    let place = tempfile::tempdir().unwrap();
    let own = Arc::new(Directory::open(place.path()).unwrap().make("own").unwrap());
    let work =
        Work { plan: &plan, settings: &settings, pool: &pool, beneath: &beneath, own: Some(&own), state: &mut state };
    let done = work.run(&mut |_| {});
    assert!(done.halt().is_none());
    let scope = Scope { whole_bytes: area, complete: true, rewritten: done.rewritten, ..Scope::default() };
    let judged = judge(&done.tally, &scope);
    (done.tally, judged)
}

/// What is wrong with the answer for `model`; nothing where it is right.
fn miss(model: &Model, front: u64) -> Option<String> {
    let (tally, judged) = checked(model, front);
    let (expected, counts) = (model.expected(), tally.counts);
    let area = (model.geometry.announced_bytes - front) / MIB * MIB;
    // Cells are numbered from the start of the device. A limbo's first ones are the file system's;
    // those of the others were overwritten by later laps, and hold data.
    let real = expected.real_bytes.map(|real| {
        if expected.kind == Some(FakeKind::Wraparound) || expected.kind == Some(FakeKind::Chain) {
            real
        } else {
            real - front
        }
    });
    let near = real.is_none_or(|real| found_bytes(&judged).is_some_and(|found| found.abs_diff(real) <= MIB));
    let right = (judged.verdict, judged.kind) == (expected.verdict, expected.kind) && near;

    let sectors = |bytes: u64| bytes / SECTOR_BYTES;
    let wrap = model.geometry.wrap_bytes.unwrap_or(u64::MAX);
    let kept = |at: &u64| at % wrap < model.geometry.real_bytes;
    let kept = sectors((front..front + area).step_by(BLOCK as usize).filter(kept).count() as u64 * BLOCK);
    // The edges of bad places are lost in whole chunks.
    let edges = sectors(model.damage.len() as u64 * 2 * MIB);
    let bad = |damage: Damage| {
        let bad = |at: &u64| model.damage.iter().any(|(range, what)| *what == damage && range.contains(at));
        sectors((front..front + area).step_by(BLOCK as usize).filter(bad).count() as u64 * BLOCK)
    };
    let within = |found: u64, expected: u64, tolerance: u64| found.abs_diff(expected) <= tolerance;
    let consistent = counts.total() == sectors(area)
        && counts.changed == 0
        && tally.map().iter().map(|cell| cell.counts.total()).sum::<u64>() == counts.total()
        && match model.geometry.kind() {
            None => {
                within(counts.unreadable, bad(Damage::Errs), edges)
                    && within(counts.corrupted, bad(Damage::Corrupts), edges)
            }
            Some(_) => {
                let dropped = sectors(area) - kept;
                within(counts.corrupted, dropped, sectors(MIB))
                    && within(
                        counts.overwritten,
                        kept.saturating_sub(sectors(found_bytes(&judged).unwrap_or(0))),
                        sectors(MIB),
                    )
                    && counts.unreadable == 0
            }
        };
    (!right || !consistent).then(|| {
        format!(
            "{model:?} behind {front}\n  expected {expected:?}, found {:?} {:?} {:?}\n  {counts:?}, kept {kept}, consistent: {consistent}",
            judged.verdict, judged.kind, judged.size
        )
    })
}

fn found_bytes(judged: &Judged) -> Option<u64> {
    judged.size.fields().0
}

/// Numbers that repeat from run to run (splitmix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end.max(1)
    }

    /// Whole blocks between two thousandths of `bytes`.
    fn part(&mut self, bytes: u64, low: u64, high: u64) -> u64 {
        (bytes / 1000 * low + self.below(bytes / 1000 * (high - low))) / BLOCK * BLOCK
    }
}

/// Sizes that can be filled many times, not all of them powers of two or whole MiB.
const SIZES: [u64; 4] = [64 * MIB, 66_666_496, 70_000_640, 72 * MIB];

/// The `index`-th of a population of media, a fifth of each kind, half of them with caches.
fn medium(index: u64) -> (Model, u64) {
    let mut dice = Dice(index);
    let size = SIZES[dice.below(SIZES.len() as u64) as usize] / BLOCK * BLOCK;
    let shuffled = |geometry: Geometry, dice: &mut Dice| {
        let whole = |bytes: Option<u64>| bytes.is_none_or(|bytes| bytes.is_multiple_of(MIB));
        let can = whole(geometry.wrap_bytes) && whole(Some(geometry.real_bytes));
        if can && dice.below(2) == 0 { geometry.shuffled() } else { geometry }
    };
    let mut model = match index % 5 {
        0 => Model::of(Geometry::genuine(size)),
        1 => Model::of(Geometry::limbo(size, dice.part(size, 80, 790))),
        2 => {
            let odd = dice.part(size, 60, 900);
            let wrap = if dice.below(2) == 0 { odd } else { odd / MIB * MIB };
            Model::of(shuffled(Geometry::wraparound(size, wrap), &mut dice))
        }
        3 => {
            let wrap = dice.part(size, 400, 900) / MIB * MIB;
            // What drives the cache out is data that are held, and lie before the last sixth.
            let real = dice.part(wrap, 100, 940).max(18 * MIB);
            let real = if dice.below(2) == 0 { real } else { real / MIB * MIB };
            Model::of(shuffled(Geometry::chain(size, real, wrap), &mut dice))
        }
        _ => {
            let mut model = Model::of(Geometry::genuine(size));
            for _ in 0..=dice.below(3) {
                let start = dice.part(size, 0, 800);
                let damage = if dice.below(2) == 0 { Damage::Errs } else { Damage::Corrupts };
                model = model.with_damage(start..start + size / 20 / BLOCK * BLOCK, damage);
            }
            model
        }
    };
    model.dropped = if dice.below(2) == 0 { 0 } else { 0xff };
    model.seed = index;
    if index / 5 % 2 == 1 {
        model = model.with_caches([8 << 10, 64 << 10, MIB][dice.below(3) as usize], 4 * MIB);
    }
    // Nothing, or the tables of a small vfat or ext4.
    let front = [0, 64 << 10, 3 * MIB][dice.below(3) as usize];
    (model, front)
}

fn none_missed(media: Vec<(Model, u64)>) {
    let misses: Vec<String> = media.iter().filter_map(|(model, front)| miss(model, *front)).collect();
    assert!(misses.is_empty(), "{} of {} wrong\n{}", misses.len(), media.len(), misses.join("\n"));
}

#[test]
fn media_of_every_kind_are_told_with_their_real_size() {
    // Others are judged with `ASSAY_TEST_SEEDS=1000..1400`.
    let asked = std::env::var("ASSAY_TEST_SEEDS").unwrap_or("0..200".to_owned());
    let (from, to) = asked.split_once("..").unwrap();
    let seeds = from.parse().unwrap()..to.parse().unwrap();
    none_missed(seeds.map(medium).collect());
}

#[test]
fn no_genuine_medium_is_accused() {
    let media = (0..500).map(|index| {
        let mut dice = Dice(index);
        let mut model = Model::of(Geometry::genuine(dice.part(24 * MIB, 100, 1000).max(2 * MIB)));
        model.seed = index;
        if index % 2 == 1 {
            model = model.with_caches(8 << 10, 4 * MIB);
        }
        (model, [0, 64 << 10, MIB][dice.below(3) as usize])
    });
    none_missed(media.collect());
}

#[test]
fn larger_ones_in_several_files_and_the_ends_of_the_range_are_told() {
    let media = [
        Geometry::limbo(1100 * MIB, 300 * MIB),
        Geometry::limbo(256 * MIB, 243 * MIB),
        Geometry::limbo(512 * MIB, 4 * MIB),
        Geometry::wraparound(2048 * MIB, 128 * MIB),
        Geometry::wraparound(256 * MIB, 252 * MIB),
        Geometry::wraparound(300 * MIB, 100 * MIB).shuffled(),
        Geometry::chain(1300 * MIB, 100 * MIB, 256 * MIB),
        // It starts again just before its end: little is overwritten.
        Geometry::chain(256 * MIB, 64 * MIB, 253 * MIB),
        Geometry::chain(256 * MIB, 61 * MIB, 64 * MIB).shuffled(),
    ];
    none_missed(media.map(|geometry| (Model::of(geometry), MIB)).to_vec());
}
