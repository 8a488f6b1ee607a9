//! Compares the truth of each map with a small medium where every address is written and read.

use assay_lab::independent::caches::{PoolRule, PoolSpec};
use assay_lab::independent::maps::{Map, PageAt};
use assay_lab::independent::numbers::{SECTOR, Sector, Void, fill};
use assay_lab::independent::spec::{FAKE_MAPS, Spec, fake_of};
use assay_lab::independent::truths::{Held, Size, Word};
use std::collections::HashSet;

/// Writes a different sector to each address. Counts the sectors that can be read anywhere and those that read at their
/// own address, and returns whether both ends do.
fn exhaust(spec: &Spec, descending: bool) -> (u64, u64, bool) {
    let mut medium = spec.build();
    let block = u64::from(medium.block());
    let blocks = medium.bytes() / block;
    let stamp = |at: u64| {
        let mut data = vec![0; block as usize];
        fill(at ^ 0x5741, &mut data);
        data
    };
    for i in 0..blocks {
        let at = if descending { blocks - 1 - i } else { i };
        _ = medium.write(at * block, &stamp(at));
    }
    medium.flush().unwrap();
    let stamps: HashSet<Vec<u8>> = (0..blocks).map(stamp).collect();
    let (mut seen, mut own) = (HashSet::new(), HashSet::new());
    let mut data = vec![0; block as usize];
    for round in 0..2 {
        for at in 0..blocks {
            // There is a single FLUSH between the rounds, so that each address is read by an odd and by an even
            // operation.
            if medium.read(at * block, &mut data).is_ok() && stamps.contains(&data) {
                if data == stamp(at) {
                    own.insert(at);
                }
                seen.insert(data.clone());
            }
        }
        if round == 0 && blocks.is_multiple_of(2) {
            medium.flush().unwrap();
        }
    }
    let ends = own.contains(&0) && own.contains(&(blocks - 1));
    (seen.len() as u64 * block / SECTOR, own.len() as u64 * block / SECTOR, ends)
}

fn check(spec: &Spec) {
    let n = spec.card.sectors;
    let held = spec.card.map.held(n);
    let (seen, own, ends) = exhaust(spec, false);
    // A sector that shares a cell with an end is lost in one order or the other.
    let ends = ends && exhaust(spec, true).2;
    match held {
        Held::Exactly(size) => assert_eq!(seen, size, "{spec}"),
        Held::Between(low, high) => assert!(low <= seen && seen <= high, "{low} {seen} {high} {spec}"),
    }
    let truth = spec.truth();
    assert!(own <= seen, "{spec}");
    if truth.at_end {
        assert!(!ends, "{spec}: the truth says that an end is lost");
    } else if !matches!(
        spec.card.map,
        Map::Pool(_) | Map::Hashed { .. } | Map::Scattered { .. } | Map::LinesShorted { .. }
    ) {
        assert!(ends, "{spec}: the truth says that both ends hold");
    }
    if let Size::Exact(sizes) = &truth.size {
        assert!(sizes.contains(&(seen * SECTOR)), "{spec}");
    }
    assert_eq!(truth.right.contains(&Word::Genuine), seen == n && own == n, "{spec}");
}

/// Maps with parameters chosen by hand, on 4096 sectors.
fn by_hand() -> Vec<Map> {
    let pool = |rule, unit, units, owned| Map::Pool(PoolSpec { rule, unit, units, owned });
    vec![
        Map::Genuine,
        Map::Limbo { real: 1021 },
        Map::Limbo { real: 4095 },
        Map::Wrap { period: 1021 },
        Map::Wrap { period: 4095 },
        Map::Chain { period: 1024, real: 700 },
        Map::Window { protected: 1000, window: 24 },
        Map::TwoWindows { protected: 100, first: 50, split: 2000, second: 77 },
        Map::Ends { head: 100, tail: 300 },
        Map::Middle { from: 100, to: 1300 },
        Map::Tail { real: 5 },
        Map::MissingBank { from: 1024, to: 2048 },
        Map::Rotated { period: 1280, unit: 128, seed: 3 },
        Map::Rotated { period: 1280, unit: 8, seed: 3 },
        Map::Scrambled { period: 1024, unit: 8, seed: 3 },
        Map::BitReversed { period: 1024, unit: 8 },
        Map::Reversed { period: 1200, unit: 8 },
        Map::Uneven { real: 500, seed: 9 },
        Map::WrapOffset { real: 1000, offset: 300 },
        Map::WrapEnds { head: 32, tail: 64, window: 100 },
        Map::Neighbours { k: 3, unit: 8 },
        Map::EveryKth { k: 3, unit: 8 },
        Map::Worn { every: 7, unit: 64 },
        Map::Hashed { cells: 300, unit: 8, seed: 4 },
        Map::Scattered { permille: 300, unit: 8, seed: 4 },
        Map::Interleaved { unit: 16, small: 40, wraps: true },
        Map::Interleaved { unit: 16, small: 40, wraps: false },
        Map::WriteWrap { real: 1001 },
        Map::ReadWrap { real: 1001 },
        Map::OnePage { real: 1024, page: PageAt::First, unit: 8 },
        Map::OnePage { real: 1024, page: PageAt::Last, unit: 8 },
        Map::OnePage { real: 1024, page: PageAt::Spare, unit: 8 },
        Map::LineStuck { bit: 7, high: false },
        Map::LineStuck { bit: 11, high: true },
        Map::LinesExchanged { a: 3, b: 9 },
        Map::LinesShorted { a: 3, b: 9 },
        Map::BySize { real: 1000, large: 2 },
        Map::ByParity { real: 1000 },
        pool(PoolRule::FirstCome, 8, 100, 0),
        pool(PoolRule::FirstCome, 8, 100, 50),
        pool(PoolRule::FirstComeErrs, 8, 100, 50),
        pool(PoolRule::Newest, 8, 100, 100),
        pool(PoolRule::Newest, 8, 100, 30),
        pool(PoolRule::Lru, 8, 100, 30),
        pool(PoolRule::Compressing, 1, 777, 0),
        pool(PoolRule::Deduplicating, 1, 777, 0),
        pool(PoolRule::Turning { real: 1000 }, 1, 500, 0),
    ]
}

#[test]
fn truths_of_maps_by_hand() {
    for map in by_hand() {
        check(&Spec::plain(4096, map, 7));
    }
}

#[test]
fn at_least_30_maps() {
    let names: HashSet<String> = by_hand().iter().map(Map::name).collect();
    assert!(names.len() >= 30, "{}", names.len());
}

#[test]
fn truths_of_drawn_maps() {
    let mut checked = 0;
    for which in 0..FAKE_MAPS {
        for seed in 0.. {
            let mut spec = fake_of(which, seed);
            // Sizes that can be exhausted. A mirror would return data that it should not, and an error is not a read.
            spec.card.void = Void::Ones;
            if spec.card.sectors <= 8192 {
                check(&spec);
                checked += 1;
            }
            if seed > 15 {
                break;
            }
        }
    }
    assert!(checked > 40, "{checked}");
}

#[test]
fn the_owner_s_content_is_what_was_read_first() {
    for map in by_hand() {
        let spec = Spec::plain(4096, map, 11);
        let mut medium = spec.build();
        let mut data = [0; SECTOR as usize];
        for at in 0..4096 {
            medium.read(at * SECTOR, &mut data).unwrap();
            if let Some(cell) =
                spec.card.map.cell(4096, at, assay_lab::independent::maps::Side::Read, &Default::default())
                && !matches!(spec.card.map, Map::Pool(_) | Map::ByParity { .. } | Map::BySize { .. })
            {
                assert_eq!(data, medium.card(0).original(cell), "{at} {spec}");
            }
        }
        assert!(medium.card(0).losses().is_none());
        let junk: Sector = [0xa5; SECTOR as usize];
        medium.write(0, &junk).unwrap();
        let held = !matches!(spec.card.map, Map::Middle { .. } | Map::Tail { .. });
        let is_owners = !matches!(&spec.card.map, Map::Pool(p) if !p.is_owned(0));
        assert_eq!(medium.card(0).losses().changed, u64::from(held && is_owners), "{spec}");
    }
}
