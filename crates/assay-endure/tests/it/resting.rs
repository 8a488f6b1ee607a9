//! Rest: a reading at rest counts lost sectors by kind and age, and none of them as wear.

use std::cell::RefCell;
use std::rc::Rc;

use assay_core::endurance::{CensorReason, FailureKind, LifeEnd, WearLoad};
use assay_core::retention::{Age, NoAge, SpeedSign};
use assay_endure::{
    Attachment, Clock, Entry, Keep, Latencies, NoRest, Phase, RestBegun, RestReadBegun, SLICES, SliceRead, SliceRested,
    SliceWritten, State, Step, Task, Trouble, Way, Wear,
};

use crate::memory::{Memory, PAGES, begin, replayed};
use crate::model::{Event, Fate, Handle, Model, NEVER, Rng};

const SECTORS: u64 = PAGES * 8;
const DAY: u64 = 86_400;
/// When the tests below begin.
const START: u64 = 1_800_000_000;

type Worn = Wear<Handle, Memory>;

fn way(reader: &str) -> Way {
    Way { host: Some("h".to_owned()), reader: Some(reader.to_owned()), bus: Some("usb 3.0".to_owned()) }
}

fn attached(reader: &str) -> Entry {
    Entry::Attached(Attachment {
        at: String::new(),
        path: "model".to_owned(),
        way: way(reader),
        attachment: None,
        partly: false,
    })
}

fn limit() -> Entry {
    Entry::End(LifeEnd::Censored { reason: CensorReason::Limit })
}

fn rest(days: u64) -> Entry {
    Entry::Rest(RestBegun { at: String::new(), seconds: days * DAY })
}

fn reading(at: u64, reader: &str) -> Entry {
    Entry::RestRead(RestReadBegun { at, path: "model".to_owned(), way: way(reader) })
}

/// A test at rest after some cycles of one second each.
fn resting(seed: u64, load: WearLoad, fates: Vec<Fate>, cycles: u64) -> (Worn, Rc<RefCell<Vec<u8>>>) {
    let log = Rc::new(RefCell::new(b"assay endurance\n".to_vec()));
    let begun = begin(seed | 1 << 40, load);
    let mut keep = Memory::new(Rc::clone(&log));
    keep.append(&Entry::Begin(begun.clone())).unwrap();
    let medium = Handle(Rc::new(RefCell::new(Model::new(SECTORS, fates))));
    let mut wear = Wear::new(medium, keep, State::begin(begun).unwrap()).timed_by(Clock::new(|| START));
    wear.note(&attached("1-1")).unwrap();
    while wear.state().cycles() < cycles {
        assert!(matches!(wear.step(&mut |_| true), Ok(Step::Done(_))));
    }
    wear.note(&limit()).unwrap();
    wear.note(&rest(30)).unwrap();
    (wear, log)
}

fn read_all(wear: &mut Worn, at: u64, reader: &str) {
    assert_eq!(wear.state().may_read_rested(at), Ok(()));
    wear.note(&reading(at, reader)).unwrap();
    for index in 0..SLICES {
        assert!(matches!(wear.read_rested(index, &mut |_| true), Ok(Step::Done(_))));
    }
}

#[test]
fn what_fades_is_told_by_kind_at_each_age_and_is_no_wear() {
    for seed in 0..30 {
        let mut rng = Rng(seed);
        let mut fates = vec![NEVER; SECTORS as usize];
        let worn = rng.below(SECTORS);
        fates[worn as usize] = Fate { from: 2, until: u64::MAX, kind: FailureKind::Zeros };
        let load = if seed % 3 == 0 { WearLoad::RandomSync { block_bytes: 4096 } } else { WearLoad::Whole };
        let (mut wear, log) = resting(seed, load, fates, 3);
        let before = wear.state().document(String::new());
        let mut expected = Vec::new();
        for days in [10, 30, 90] {
            // More of it fades each time; what is worn stays worn.
            for _ in 0..=rng.below(20) {
                let sector = rng.below(SECTORS);
                let kind = FailureKind::ALL[rng.below(8) as usize];
                if sector != worn {
                    wear.medium().0.borrow_mut().faded.entry(sector).or_insert(kind);
                }
            }
            let mut kinds = std::collections::BTreeMap::new();
            wear.medium().0.borrow().faded.values().for_each(|kind| *kinds.entry(*kind).or_insert(0) += 1);
            expected.push((days, kinds));
            read_all(&mut wear, START + days * DAY, "1-1");
        }
        let after = wear.state().document(String::new());
        assert_eq!((&after.milestones, after.failed_sectors, &after.kinds), (&before.milestones, 1, &before.kinds));
        assert_eq!(
            (after.cycles, after.written_bytes, after.read_bytes, after.end),
            (3, before.written_bytes, before.read_bytes, before.end)
        );
        assert_eq!(after.rest_reads.len(), 3);
        for (read, (days, kinds)) in after.rest_reads.iter().zip(expected) {
            assert_eq!(read.age, Some(Age { low_seconds: days * DAY, high_seconds: days * DAY }), "seed {seed}");
            assert_eq!((read.early, read.slices, read.read_bytes), (days < 30, 16, SECTORS * 512));
            assert_eq!((read.lost_sectors, &read.kinds), (kinds.values().sum::<u64>(), &kinds), "seed {seed}");
            assert_eq!((read.worn_sectors, read.cycle, read.rates.len()), (1, 3, 16));
        }
        // The log gives the same state. Another cycle finds all sectors good, so that no loss at rest was wear.
        let state = replayed(&mut log.borrow_mut());
        assert_eq!(state.document(String::new()), after);
        wear.note(&attached("1-1")).unwrap();
        while wear.state().cycles() < 4 {
            assert!(matches!(wear.step(&mut |_| true), Ok(Step::Done(_))));
        }
        assert_eq!(wear.state().failed().sectors(), 1);
        assert_eq!(wear.state().document(String::new()).rest, None);
        assert_eq!(wear.state().document(String::new()).rest_reads.len(), 3, "earlier readings are kept");
    }
}

#[test]
fn no_age_is_told_by_a_clock_that_cannot_be_right() {
    let (mut wear, _) = resting(1, WearLoad::Whole, vec![NEVER; SECTORS as usize], 1);
    assert_eq!(wear.state().may_read_rested(START - DAY), Err(NoAge::ClockBehind { seconds: DAY }.into()));
    assert_eq!(wear.state().may_read_rested(0), Err(NoAge::ClockUnset.into()));
    assert_eq!(wear.state().may_read_rested(u64::MAX), Err(NoRest::TooMany), "a time that no document can tell");
    read_all(&mut wear, START + 40 * DAY, "1-1");
    // A later reading that the clock puts before an earlier one.
    assert!(matches!(wear.state().may_read_rested(START + 39 * DAY), Err(NoRest::Clock(NoAge::ClockBehind { .. }))));
    let entry = reading(START - 1, "1-1");
    assert!(!State::clone(wear.state()).apply(&entry), "nor is it taken from a log");
    // The clock of this test stands still while it reads, and then is 40 days back.
    let read = wear.state().document(String::new()).rest_reads[0].clone();
    assert_eq!(read.clock_jump_seconds, -(40 * DAY as i64));
}

#[test]
fn a_clock_that_was_not_set_when_it_was_written_tells_no_age() {
    let log = Rc::new(RefCell::new(b"assay endurance\n".to_vec()));
    let begun = begin(9, WearLoad::Whole);
    let mut keep = Memory::new(Rc::clone(&log));
    keep.append(&Entry::Begin(begun.clone())).unwrap();
    let medium = Handle(Rc::new(RefCell::new(Model::new(SECTORS, vec![NEVER; SECTORS as usize]))));
    let mut wear = Wear::new(medium, keep, State::begin(begun).unwrap()).timed_by(Clock::new(|| 5));
    while wear.state().cycles() < 1 {
        wear.step(&mut |_| true).unwrap();
    }
    wear.note(&limit()).unwrap();
    read_all(&mut wear, START, "1-1");
    assert_eq!(wear.state().document(String::new()).rest_reads[0].age, None);
}

#[test]
fn what_is_worn_or_was_touched_since_is_not_at_rest() {
    let (wear, _) = resting(2, WearLoad::Whole, vec![NEVER; SECTORS as usize], 2);
    let (medium, mut keep, state) = wear.into_parts();
    let rested = |state: &State| state.may_read_rested(START).is_ok();
    assert!(rested(&state));
    let Entry::Attached(again) = attached("1-1") else { unreachable!() };
    for partly in [false, true] {
        let mut state = state.clone();
        assert!(state.apply(&Entry::Attached(Attachment { partly, ..again.clone() })));
        assert!(!rested(&state), "it may be written from now on");
        assert!(state.apply(&limit()));
        // Whether an earlier process began to write is not known where it was killed.
        assert_eq!(rested(&state), !partly);
        assert_eq!(state.apply(&rest(60)), !partly);
    }
    keep.torn_after = None;
    let mut wear = Wear::new(medium, keep, state).timed_by(Clock::new(|| START));
    wear.note(&attached("1-1")).unwrap();
    assert!(matches!(wear.step(&mut |_| true), Ok(Step::Done(_))));
    wear.note(&limit()).unwrap();
    assert!(!rested(wear.state()), "a slice of the next cycle is written");
    assert!(matches!(wear.read_rested(0, &mut |_| true), Ok(Step::Ended(_))));
}

/// The reader dies while it reads: what was read until then is kept, and nothing of it counts as lost.
#[test]
fn a_reader_that_dies_loses_nothing() {
    let (mut wear, _) = resting(3, WearLoad::Whole, vec![NEVER; SECTORS as usize], 1);
    wear.note(&reading(START + DAY, "1-1")).unwrap();
    for index in 0..5 {
        assert!(matches!(wear.read_rested(index, &mut |_| true), Ok(Step::Done(_))));
    }
    assert_eq!(wear.read_rested(5, &mut |_| false).unwrap(), Step::Stopped);
    let operations = wear.medium().0.borrow().operations;
    wear.medium().0.borrow_mut().event = Some((operations, Event::Fails(assay_endure::Fault::Errs, u64::MAX)));
    assert_eq!(wear.read_rested(5, &mut |_| true).unwrap(), Step::Trouble(Trouble::OnlyErrors));
    let read = wear.state().document(String::new()).rest_reads[0].clone();
    assert_eq!((read.slices, read.lost_sectors, read.transient), (5, 0, 0));
    assert!(!wear.state().is_rest_read());
}

/// A log of one cycle and two readings, with the times of each slice.
fn timed(first_ns: u64, later_ns: u64, reader: &str) -> SpeedSign {
    let mut state = State::begin(begin(4, WearLoad::Whole)).unwrap();
    let mut take = |entry: Entry| assert!(state.apply(&entry), "{entry:?}");
    let (latencies, at, bytes) = (Latencies::default(), START, 65_536);
    let jitter = |index: u64| 1000 + index * 7 % 11;
    take(attached("1-1"));
    for index in 0..SLICES {
        let task = Task { cycle: 1, phase: Phase::Write, index };
        take(Entry::Written(SliceWritten { task, bytes, elapsed_ns: 1, latencies, refused: 0, at }));
    }
    for index in 0..SLICES {
        let task = Task { cycle: 1, phase: Phase::Read, index };
        let (failures, changes, elapsed_ns) = (Vec::new(), Vec::new(), first_ns * jitter(index));
        take(Entry::Read(SliceRead {
            task,
            bytes,
            elapsed_ns,
            latencies,
            transient: 0,
            healed: 0,
            failures,
            changes,
            at,
        }));
    }
    take(limit());
    take(rest(30));
    take(reading(START + 31 * DAY, reader));
    for index in 0..SLICES {
        let elapsed_ns = later_ns * jitter(index + 3);
        let at = START + 31 * DAY;
        take(Entry::Rested(SliceRested {
            index,
            at,
            bytes,
            elapsed_ns,
            latencies,
            transient: 0,
            worn: 0,
            lost: [0; 8],
        }));
    }
    assert!(state.is_rest_read());
    let document = state.document(String::new());
    assert_eq!(document.rest.unwrap().until, "2027-02-14T08:00:00Z");
    document.rest_reads[0].speed.clone().unwrap().sign
}

#[test]
fn a_read_speed_that_falls_with_age_is_a_sign_in_the_same_reader_alone() {
    assert_eq!(timed(1000, 1000, "1-1"), SpeedSign::AsBefore);
    assert_eq!(timed(1000, 2000, "1-1"), SpeedSign::Slower);
    assert_eq!(timed(1000, 2000, "1-2"), SpeedSign::SlowerElsewhere);
    assert_eq!(timed(1000, 1000, "1-2"), SpeedSign::AsBefore, "no slower in another reader, so that nothing faded");
}
