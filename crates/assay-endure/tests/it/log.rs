//! The log: whatever is cut off its end, what is left is what it was.

use assay_core::endurance::{LifeEnd, WearLoad};
use assay_endure::{Entry, JournalError, Log, State, Step, Wear};

use crate::lives::{Life, fates};
use crate::memory::{begin, entries};
use crate::model::{Model, Rng};

/// A log of a few cycles, and its state.
fn lived() -> (Vec<u8>, State) {
    let mut rng = Rng(4);
    let fates = fates(&mut rng, 6.0, true);
    let mut life = Life::new(4, Model::new(fates.len() as u64, fates), WearLoad::Whole);
    let state = life.live(4);
    let log = life.log.borrow().clone();
    (log, state)
}

#[test]
fn a_log_cut_at_any_byte_is_what_it_was_before() {
    let (log, _) = lived();
    let mut ends = vec![16];
    for entry in entries(&log) {
        ends.push(ends.last().unwrap() + assay_endure::journal::frame(&entry).len());
    }
    assert_eq!(ends.last(), Some(&log.len()));
    for cut in (16..log.len()).step_by(1 + log.len() / 3000) {
        let whole = ends.iter().rfind(|end| **end <= cut).copied().unwrap();
        let replayed = assay_endure::replay(&mut &log[..cut], cut as u64).unwrap();
        assert_eq!(replayed.whole_bytes, whole as u64);
        // Zeros in place of what was not written out, as file systems leave them after a power cut.
        let mut zeros = log[..cut].to_vec();
        zeros.resize(log.len().min(cut + 4096), 0);
        let padded = assay_endure::replay(&mut &*zeros, zeros.len() as u64).unwrap();
        // Where the rest of an entry is zeros, it is whole.
        let kept = padded.whole_bytes as usize;
        assert!(kept >= whole && zeros[..kept] == log[..kept], "{cut}");
    }
}

#[test]
fn damage_before_the_end_is_refused_and_never_cut_off() {
    let (log, _) = lived();
    for at in (24..log.len() * 3 / 4).step_by(97) {
        let mut damaged = log.clone();
        damaged[at] ^= 0x10;
        let answer = assay_endure::replay(&mut &*damaged, damaged.len() as u64);
        assert!(
            matches!(answer, Err(JournalError::Damaged { .. } | JournalError::OutOfOrder { .. })),
            "{at}: {answer:?}"
        );
    }
    let nothing = assay_endure::replay(&mut &b"something else, of another program"[..], 34);
    assert!(matches!(nothing, Err(JournalError::NotOne)));
}

#[test]
fn a_log_in_a_file_is_held_by_one_process_and_goes_on() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.log");
    let mut life = Life::new(9, Model::new(2048, vec![crate::model::NEVER; 2048]), WearLoad::Whole);
    let begun = Entry::Begin(begin(9, WearLoad::Whole));
    let log = Log::create(&path, &begun).unwrap();
    assert!(matches!(Log::open(&path), Err(JournalError::InUse)));
    drop(log);
    for round in 1..=3 {
        let (log, state) = Log::open(&path).unwrap();
        let mut wear = Wear::new(life.medium.clone(), log, state);
        for _ in 0..20 {
            assert!(matches!(wear.step(&mut |_| true), Ok(Step::Done(_))));
        }
        drop(wear);
        // A kill leaves a part of an entry.
        let mut bytes = std::fs::read(&path).unwrap();
        bytes.extend([7, 0, 0, 0, 1, 2, 3]);
        std::fs::write(&path, bytes).unwrap();
        let state = Log::look(&path).unwrap();
        assert_eq!(state.cycles(), 20 * round / 32);
        assert_eq!(state.end(), LifeEnd::Running);
    }
    assert_eq!(life.rng.below(1), 0);
}
