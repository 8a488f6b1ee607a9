//! The passes on a medium in memory with configured errors.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use assay_core::outcome::RunFailure;
use assay_core::verification::SectorClass;
use assay_engine::Control;

use super::content::{Content, Format};
use super::medium::{Medium, Piece};
use super::pass::{self, Area, Ended, StopReason};
use super::place::failure_of;
use super::pool::Pool;
use super::tally::Tally;
use crate::probe::Salt;

const MIB: u64 = 1 << 20;
const FILES: [(u64, u64); 1] = [(1, 24 * MIB)];

/// One file. Reads of `bad` fail, writes from `full` on fail, and operations from `hangs` on get no answer.
#[derive(Default)]
struct Memory {
    data: Mutex<Vec<u8>>,
    bad: std::ops::Range<u64>,
    bad_to_write: std::ops::Range<u64>,
    full: Option<u64>,
    hangs: Option<u64>,
    gone: AtomicBool,
    reads: AtomicU64,
    in_order: AtomicU64,
    ordered: bool,
}

#[derive(Clone)]
struct Shared(Arc<Memory>);

impl Medium for Shared {
    fn make(&self, _: u64, bytes: u64) -> io::Result<Arc<dyn Piece>> {
        self.0.data.lock().unwrap().resize(bytes as usize, 0);
        Ok(Arc::new(self.clone()))
    }

    fn open(&self, _: u64) -> io::Result<Arc<dyn Piece>> {
        Ok(Arc::new(self.clone()))
    }

    fn gone(&self) -> bool {
        self.0.gone.load(Ordering::Relaxed)
    }
}

/// ENOSPC; ERROR_DISK_FULL.
const FULL: i32 = if cfg!(windows) { 112 } else { 28 };

impl Piece for Shared {
    fn write_at(&self, data: &[u8], offset: u64) -> io::Result<()> {
        if self.0.hangs.is_some_and(|from| offset >= from) {
            std::thread::sleep(Duration::from_secs(3600));
        }
        let end = offset + data.len() as u64;
        if offset < self.0.bad_to_write.end && end > self.0.bad_to_write.start {
            return Err(io::Error::from_raw_os_error(5));
        }
        if self.0.full.is_some_and(|from| offset + data.len() as u64 > from) {
            return Err(io::Error::from_raw_os_error(FULL));
        }
        if self.0.in_order.swap(offset + data.len() as u64, Ordering::Relaxed) != offset && self.0.ordered {
            return Err(io::Error::other("out of order"));
        }
        self.0.data.lock().unwrap()[offset as usize..][..data.len()].copy_from_slice(data);
        Ok(())
    }

    fn read_at(&self, data: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.reads.fetch_add(1, Ordering::Relaxed);
        if offset < self.0.bad.end && offset + data.len() as u64 > self.0.bad.start {
            return Err(io::Error::from_raw_os_error(5));
        }
        data.copy_from_slice(&self.0.data.lock().unwrap()[offset as usize..][..data.len()]);
        Ok(data.len())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn cut(&self, bytes: u64) -> io::Result<()> {
        self.0.data.lock().unwrap().truncate(bytes as usize);
        Ok(())
    }

    fn one_by_one(&self) -> bool {
        self.0.ordered
    }

    fn grain(&self) -> usize {
        512
    }
}

fn pool(memory: &Arc<Memory>) -> Pool {
    Pool::new(Arc::new(Shared(Arc::clone(memory))), Duration::from_secs(1), &Control::default()).unwrap()
}

fn content() -> Arc<Content> {
    Arc::new(Content::new(Format::Salted, Salt::known(1)))
}

fn write(pool: &Pool) -> Ended {
    pass::write(pool, Area::all(&FILES, &content()), &mut |_| {}, &mut |_, _| None)
}

fn read(pool: &Pool) -> (Ended, Tally) {
    let mut tally = Tally::new(24 * MIB);
    let content = content();
    let ended = pass::read(pool, Area::all(&FILES, &content), &[], &mut tally, &mut |_| {}, &mut |_, _, _| None);
    (ended, tally)
}

#[test]
fn a_region_that_errs_is_mapped_to_the_sector_and_the_rest_is_read() {
    let bad = 5 * MIB + 1024..7 * MIB + 512;
    let memory = Arc::new(Memory { bad: bad.clone(), ..Memory::default() });
    let pool = pool(&memory);
    assert!(write(&pool).stop_reason.is_none());
    let (ended, tally) = read(&pool);
    assert!(ended.stop_reason.is_none(), "{:?}", ended.stop_reason);
    assert_eq!(tally.counts.unreadable, (bad.end - bad.start) / 512);
    assert_eq!(tally.counts.total(), 24 * 2048);
    assert_eq!(tally.counts.good, tally.counts.total() - tally.counts.unreadable);
    let first = tally.first.unwrap();
    assert_eq!((first.offset_bytes, first.class), (bad.start, SectorClass::Unreadable));
}

#[test]
fn a_region_without_any_good_sector_is_tried_less_and_less() {
    let memory = Arc::new(Memory { bad: 0..22 * MIB, ..Memory::default() });
    let pool = pool(&memory);
    assert!(write(&pool).stop_reason.is_none());
    let (_, tally) = read(&pool);
    assert_eq!((tally.counts.unreadable, tally.counts.good), (22 * 2048, 2 * 2048));
    // Every part of 22 chunks would be 51 thousand reads.
    let reads = memory.reads.load(Ordering::Relaxed);
    assert!(reads < 13 * 2400, "{reads}");
}

#[test]
fn a_medium_that_has_gone_ends_it_at_once() {
    let memory = Arc::new(Memory { bad: 3 * MIB..24 * MIB, gone: AtomicBool::new(true), ..Memory::default() });
    let pool = pool(&memory);
    assert!(write(&pool).stop_reason.is_none());
    let (ended, tally) = read(&pool);
    match ended.stop_reason {
        Some(StopReason::Failed(error)) => assert_eq!(failure_of(&error), RunFailure::Disappeared),
        other => panic!("{other:?}"),
    }
    assert_eq!((tally.counts.good, tally.counts.lost()), (3 * 2048, 0));
}

#[test]
fn a_file_system_that_is_full_early_ends_the_area_there() {
    let memory = Arc::new(Memory { full: Some(10 * MIB + 5), ..Memory::default() });
    let ended = write(&pool(&memory));
    assert!(matches!(ended.stop_reason, Some(StopReason::Full)));
    assert_eq!((ended.upto, memory.data.lock().unwrap().len() as u64), (10 * MIB, 10 * MIB));
}

#[test]
fn a_medium_that_does_not_answer_is_left_behind() {
    let memory = Arc::new(Memory { hangs: Some(4 * MIB), ..Memory::default() });
    let ended = write(&pool(&memory));
    assert!(matches!(ended.stop_reason, Some(StopReason::Hung)));
    assert_eq!(ended.upto, 0, "what was not synced is not taken as written");
}

#[test]
fn where_order_matters_it_is_kept() {
    let memory = Arc::new(Memory { ordered: true, ..Memory::default() });
    let ended = write(&pool(&memory));
    assert!(ended.stop_reason.is_none() && ended.refused.is_empty());
}

/// What could not be written does not count as corrupted: the medium reported an error.
#[test]
fn what_could_not_be_written_is_an_error_and_no_corruption() {
    let bad_to_write = 5 * MIB + 1024..5 * MIB + 3072;
    let memory = Arc::new(Memory { bad_to_write: bad_to_write.clone(), ..Memory::default() });
    let pool = pool(&memory);
    let ended = write(&pool);
    let refused: u64 = ended.refused.iter().map(|(start, end)| end - start).sum();
    assert_eq!(refused, bad_to_write.end - bad_to_write.start);
    let (content, mut tally) = (content(), Tally::new(24 * MIB));
    let area = Area::all(&FILES, &content);
    pass::read(&pool, area, &ended.refused, &mut tally, &mut |_| {}, &mut |_, _, _| None);
    assert_eq!((tally.counts.unreadable, tally.counts.corrupted), (refused / 512, 0));
    assert_eq!(tally.lost.runs()[0].class, SectorClass::Unreadable);
    let first = tally.first.unwrap();
    assert_eq!((first.offset_bytes, first.class), (bad_to_write.start, SectorClass::Unreadable));
}
