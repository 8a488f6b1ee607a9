//! Memory and log of a medium of 128 GB in the worst case, by its entries alone.

use assay_core::endurance::{FailureKind, WearLoad};
use assay_endure::journal::frame;
use assay_endure::{
    Begin, COLUMNS, Changed, Entry, FailedSet, Latencies, Layout, Phase, Run, SLICES, SliceRead, SliceWritten, State,
    Task,
};

use crate::memory::begin;
use crate::model::Rng;

const PAGES: u64 = 128_000_000_000 / 4096;
const CYCLES: u64 = 10_000;

#[test]
fn half_of_the_sectors_of_128_gb_at_random_take_less_than_32_mb() {
    let layout = Layout { unit: 1, pages: PAGES, load: WearLoad::Whole };
    let mut set = FailedSet::default();
    let mut rng = Rng(1);
    let mut most = 0;
    // The worst case: single sectors, without order.
    for step in 0..8_000_000u64 {
        let sector = rng.below(layout.sectors());
        set.insert(sector..sector + 1);
        if step % 100_000 == 0 {
            most = most.max(set.heap_bytes());
        }
    }
    // Three buffers of a MiB each for the medium, two for stamps, the map, the runs of an entry.
    let all = most + 5 * (1 << 20) + 4096 * COLUMNS * 4 + 10_000 * 24 * 2;
    eprintln!("failed set {most} bytes, all {all} bytes, {} sectors", set.sectors());
    assert!(all <= 32_000_000, "{all}");
}

/// Entries of a cycle in which all cells change, and `new` sectors fail, without order.
fn cycle(cycle: u64, new: u64, rng: &mut Rng, state: &mut State) -> (u64, u64) {
    let latencies = Latencies { p50_ns: 30_000_000, p99_ns: 90_000_000, max_ns: 900_000_000 };
    let (bytes, elapsed_ns, at) = (8_000_000_000, 266_000_000_000, 1_800_000_000);
    let (mut all, mut runs) = (0, 0);
    let log = |entry: Entry, state: &mut State| {
        assert!(state.apply(&entry));
        frame(&entry).len() as u64
    };
    for index in 0..SLICES {
        let task = Task { cycle, phase: Phase::Write, index };
        all += log(Entry::Written(SliceWritten { task, bytes, elapsed_ns, latencies, refused: 0, at }), state);
    }
    for index in 0..SLICES {
        let task = Task { cycle, phase: Phase::Read, index };
        let slice = task.slice(state.layout().unit);
        let pages = state.layout().slice(slice);
        let mut sectors: Vec<u64> =
            (0..new / SLICES).map(|_| pages.start * 8 + rng.below((pages.end - pages.start) * 8)).collect();
        sectors.sort_unstable();
        sectors.dedup();
        let run = |sector| Run { sectors: sector..sector + 1, kind: FailureKind::Zeros };
        let failures: Vec<Run> = sectors.into_iter().map(run).collect();
        runs += failures.len() as u64;
        let counts =
            |rng: &mut Rng| std::array::from_fn(|column| if column < 3 { rng.below(60_000) as u32 } else { 0 });
        let changes = if state.maps(cycle) {
            state.layout().cells_of(slice).map(|cell| Changed { cell, counts: counts(rng) }).collect()
        } else {
            Vec::new()
        };
        let read = SliceRead { task, bytes, elapsed_ns, latencies, transient: 0, healed: 9, failures, changes, at };
        all += log(Entry::Read(read), state);
    }
    (all, runs)
}

#[test]
fn the_log_of_128_gb_and_10_000_cycles_stays_below_1_gb() {
    let mut state = State::begin(Begin { pages: PAGES, ..begin(1, WearLoad::Whole) }).unwrap();
    let mut rng = Rng(2);
    // All of the map changes in each cycle, in three kinds.
    let mut log = 0;
    for number in 1..=CYCLES {
        log += cycle(number, 0, &mut rng, &mut state).0;
    }
    // Half of the sectors fail one by one, 12,500 in each cycle.
    let (with, runs) = cycle(CYCLES + 1, 12_500, &mut rng, &mut state);
    let (without, _) = cycle(CYCLES + 2, 0, &mut rng, &mut state);
    let of_runs = (with - without) as f64 / runs as f64 * (state.layout().sectors() / 2) as f64;
    let all = log as f64 + of_runs;
    eprintln!("log {:.0} MB, of them {:.0} MB for each failed sector", all / 1e6, of_runs / 1e6);
    assert!(all <= 1e9, "{all}");
}
