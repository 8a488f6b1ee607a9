//! Results of the search on small media with every sector known. The campaign covers caches, errors and failures.
#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::collections::HashMap;
use std::path::Path;

use assay_core::verification::SECTOR_BYTES;
use assay_engine::Control;

use super::super::device::{Device, ProbeFault};
use super::super::journal::{Journal, JournalIdentity};
use super::super::plan::ProbeSettings;
use super::super::stamp::{SECTOR_LEN, Salt};
use super::map::State;
use super::stages::{LossKind, Repeat, Search};
use super::stamped::{End, SectorRange, StampedDevice, Watch};

/// 32 MiB, and 64 MiB where blocks are dealt out in stripes.
const SECTORS: u64 = 65_536;
const SETTINGS: ProbeSettings = ProbeSettings { cache_limit_bytes: 1 << 20 };

/// A medium in memory.
struct Small {
    sectors: u64,
    block_bytes: u32,
    /// The cell behind a sector; `None` if there is none, and zeros are read.
    cell: fn(u64) -> Option<u64>,
    cells: HashMap<u64, [u8; SECTOR_LEN]>,
    /// The answer to a flush.
    flush: Result<(), ProbeFault>,
    /// Whether the device is still there.
    present: bool,
}

impl Small {
    fn new(sectors: u64, block_bytes: u32, cell: fn(u64) -> Option<u64>) -> Self {
        Self { sectors, block_bytes, cell, cells: HashMap::new(), flush: Ok(()), present: true }
    }
}

impl Device for Small {
    fn bytes(&self) -> u64 {
        self.sectors * SECTOR_BYTES
    }

    fn block_bytes(&self) -> u32 {
        self.block_bytes
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), ProbeFault> {
        for (sector, part) in (offset / SECTOR_BYTES..).zip(buffer.chunks_exact_mut(SECTOR_LEN)) {
            match (self.cell)(sector).map(|cell| (cell, self.cells.get(&cell))) {
                Some((_, Some(content))) => part.copy_from_slice(content),
                Some((cell, None)) => part.fill(cell as u8 | 1),
                None => part.fill(0),
            }
        }
        Ok(())
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<(), ProbeFault> {
        for (sector, part) in (offset / SECTOR_BYTES..).zip(data.as_chunks::<SECTOR_LEN>().0) {
            if let Some(cell) = (self.cell)(sector) {
                self.cells.insert(cell, *part);
            }
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<(), ProbeFault> {
        self.flush
    }

    fn present(&mut self) -> bool {
        self.present
    }
}

/// The expected result, in sectors.
#[derive(Debug, PartialEq, Eq)]
enum Expected {
    Nothing,
    /// Protected part, period, and how much of it holds.
    Repeats(u64, u64, u64),
    /// First sector and end of each part that holds.
    Parts(Vec<(u64, u64)>),
    Other(LossKind),
    /// The result is not exact to the sector.
    Vague(Vec<(u64, u64)>),
}

/// Runs `act` with a search of a medium.
fn with<T>(
    (sectors, block_bytes, cell): (u64, u32, fn(u64) -> Option<u64>),
    seed: u64,
    act: impl FnOnce(&mut Search<'_, '_, Small>) -> T,
) -> T {
    with_medium(Small::new(sectors, block_bytes, cell), seed, act)
}

fn with_medium<T>(mut medium: Small, seed: u64, act: impl FnOnce(&mut Search<'_, '_, Small>) -> T) -> T {
    let memory = Path::new("/dev/shm");
    let directory = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
    let identity = JournalIdentity { bytes: medium.bytes(), name: "small".to_owned(), serial: None, attachment: None };
    let mut journal = Journal::create(&directory.path().join("journal"), &identity, Salt::known(seed)).unwrap();
    let watch = Watch { control: &Control::default(), progress: &mut |_| {} };
    let mut device = StampedDevice::new(&mut medium, &mut journal, u64::MAX, watch);
    act(&mut Search::new(&mut device, &SETTINGS))
}

fn found(search: &mut Search<'_, '_, Small>) -> Expected {
    search.work().unwrap();
    let parts = search.map.parts(search.device.sectors());
    let parts = parts.into_iter().filter(|part| part.2 == State::Keeps).map(|part| (part.0, part.1)).collect();
    match search.loss_kind.clone() {
        LossKind::None => Expected::Nothing,
        LossKind::Repeats(Repeat { protected, period, real, exact: true, .. }) => {
            Expected::Repeats(protected, period, real)
        }
        LossKind::Parts if search.map.exact => Expected::Parts(parts),
        LossKind::Parts => Expected::Vague(parts),
        loss_kind => Expected::Other(loss_kind),
    }
}

/// Deals out the blocks of each whole stripe of 1 MiB in another order in each lap.
fn dealt(period: u64, sector: u64) -> u64 {
    let (lap, inside) = (sector / period, sector % period);
    let stripe = inside / 2048 * 2048;
    if lap == 0 || stripe + 2048 > period {
        return inside;
    }
    // An odd factor is invertible modulo a power of two.
    let block = (inside - stripe) / 8 * (2 * lap + 1) + 37 * lap;
    stripe + block % 256 * 8 + inside % 8
}

#[test]
fn what_is_known_of_small_media_is_found_to_the_sector() {
    type Case = (&'static str, u64, u32, fn(u64) -> Option<u64>, Expected);
    let parts = |parts: &[(u64, u64)]| Expected::Parts(parts.to_vec());
    let table: Vec<Case> = vec![
        ("genuine", SECTORS, 512, Some, Expected::Nothing),
        ("genuine, blocks of 4 KiB", SECTORS, 4096, Some, Expected::Nothing),
        ("the first part", SECTORS, 512, |s| (s < 23_457).then_some(s), parts(&[(0, 23_457)])),
        ("the first part, ends in a block", SECTORS, 4096, |s| (s < 23_457).then_some(s), parts(&[(0, 23_457)])),
        ("all but the last sector", SECTORS, 512, |s| (s < SECTORS - 1).then_some(s), parts(&[(0, SECTORS - 1)])),
        ("the last part", SECTORS, 512, |s| (s >= 40_001).then_some(s), parts(&[(40_001, SECTORS)])),
        ("the middle", SECTORS, 512, |s| (30_000..35_001).contains(&s).then_some(s), parts(&[(30_000, 35_001)])),
        (
            "a few sectors in the middle",
            SECTORS,
            512,
            |s| (32_763..32_771).contains(&s).then_some(s),
            parts(&[(32_763, 32_771)]),
        ),
        (
            "both ends",
            SECTORS,
            512,
            |s| (!(9_999..60_007).contains(&s)).then_some(s),
            parts(&[(0, 9_999), (60_007, SECTORS)]),
        ),
        ("a period that is a power of two", SECTORS, 512, |s| Some(s % 16_384), Expected::Repeats(0, 16_384, 16_384)),
        ("a period that is a prime", SECTORS, 512, |s| Some(s % 10_007), Expected::Repeats(0, 10_007, 10_007)),
        (
            "single bad sectors, blocks of 4 KiB",
            SECTORS,
            4096,
            |s| (s % 97 != 5).then_some(s),
            Expected::Other(LossKind::Scattered),
        ),
        // The writes that clear the bus overwrite nearly all of it.
        ("a period of next to nothing", SECTORS, 512, |s| Some(s % 11), Expected::Repeats(0, 11, 11)),
        ("a period of more than half", SECTORS, 512, |s| Some(s % 40_009), Expected::Repeats(0, 40_009, 40_009)),
        ("a period, blocks of 4 KiB", SECTORS, 4096, |s| Some(s % 10_008), Expected::Repeats(0, 10_008, 10_008)),
        (
            "a prefix, then a window",
            SECTORS,
            512,
            |s| Some(if s < 5_003 { s } else { 5_003 + (s - 5_003) % 641 }),
            Expected::Repeats(5_003, 641, 641),
        ),
        ("a prefix, then one sector", SECTORS, 512, |s| Some(s.min(3_000)), Expected::Repeats(3_000, 1, 1)),
        ("a chain", SECTORS, 512, |s| (s % 16_384 < 5_001).then_some(s % 16_384), Expected::Repeats(0, 16_384, 5_001)),
        (
            "a chain of any period",
            SECTORS,
            512,
            |s| (s % 12_345 < 10_001).then_some(s % 12_345),
            Expected::Repeats(0, 12_345, 10_001),
        ),
        (
            "stripes in another order each lap",
            2 * SECTORS,
            512,
            |s| Some(dealt(12 * 2048, s)),
            Expected::Repeats(0, 12 * 2048, 12 * 2048),
        ),
        (
            "two stripes in another order each lap, and a part of one",
            2 * SECTORS,
            512,
            |s| Some(dealt(2 * 2048 + 499, s)),
            Expected::Repeats(0, 2 * 2048 + 499, 2 * 2048 + 499),
        ),
    ];
    let mut wrong = Vec::new();
    for (name, sectors, block_bytes, cell, expected) in table {
        for seed in 0..3 {
            let found = with((sectors, block_bytes, cell), seed, found);
            if found != expected {
                wrong.push(format!("{name}, seed {seed}: {found:?} instead of {expected:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A place under test that was also read between two checks was taken for data left on the bus.
#[test]
fn what_is_read_between_two_looks_is_none_of_what_is_looked_at() {
    const PERIOD: u64 = 10_007;
    let real = with((SECTORS, 512, |s| Some(s % PERIOD)), 1, |search| {
        let page = SectorRange { at: PERIOD - 515, sectors: 8 };
        search.device.begin_round();
        search.device.save(&[page]).unwrap();
        search.device.write(page).unwrap();
        search.device.check(page).unwrap();
        search.samples = vec![page];
        search.real_of(0, PERIOD, 1).unwrap()
    });
    assert_eq!(real, PERIOD);
}

/// Stamps whose flush failed may be in a cache alone: what is read back says nothing about the medium.
#[test]
fn a_flush_that_fails_ends_the_search_unless_the_medium_goes_on() {
    let end = |flush, present| {
        let medium = Small { flush: Err(flush), present, ..Small::new(SECTORS, 512, Some) };
        with_medium(medium, 1, |search| match search.device.settle() {
            Ok(()) => None,
            Err(End::Fault(fault)) => Some(fault),
            Err(other) => panic!("{other:?}"),
        })
    };
    assert_eq!(end(ProbeFault::Hung, true), Some(ProbeFault::Hung));
    assert_eq!(end(ProbeFault::Gone, true), Some(ProbeFault::Gone));
    assert_eq!(end(ProbeFault::Medium, false), Some(ProbeFault::Gone), "it erred because it is gone");
    assert_eq!(end(ProbeFault::Medium, true), None, "an error in one place is borne");
}
