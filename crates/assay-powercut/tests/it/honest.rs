//! A medium that keeps its promise is never accused: whatever was under way, whatever is torn, whichever medium it is.

use std::time::{Duration, Instant};

use assay_endure::{Fault, Medium, Refused};
use assay_lab::on_all_processors;
use assay_powercut::{Answer, Cannot, CutKind, NotShown, Unacknowledged, judge, look, replay};

use crate::model::{Handle, Kind};
use crate::rounds::{Test, about};

fn seeds() -> u64 {
    std::env::var("ASSAY_CAMPAIGN_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(2000)
}

fn add(sum: &mut Unacknowledged, one: &Unacknowledged) {
    sum.there += one.there;
    sum.partly += one.partly;
    sum.absent += one.absent;
    sum.out_of_order += one.out_of_order;
    sum.torn_sectors += one.torn_sectors;
    sum.damaged_sectors += one.damaged_sectors;
}

#[test]
fn a_medium_that_keeps_its_promise_is_never_accused() {
    let documents = on_all_processors(0..seeds(), |seed| {
        let mut test = Test::new(Kind::Honest, seed);
        (test.anywhere, test.steps) = (true, 20 + seed % 300);
        test.disk.disk().flaky = (seed % 3 == 0).then_some(20);
        let document = test.cuts(4);
        for cut in &document.cuts {
            let allowed =
                matches!(cut.answer, Answer::Kept | Answer::CannotTell { reason: Cannot::NothingAcknowledged });
            assert!(allowed, "seed {seed}: {cut:#?}");
            assert_eq!((cut.reordered, cut.longest_ago_ns, cut.examples.len()), (0, None, 0), "seed {seed}");
        }
        document
    });
    // The cuts met all that they were to meet.
    let mut sum = Unacknowledged::default();
    let cuts: Vec<_> = documents.iter().flat_map(|document| &document.cuts).collect();
    cuts.iter().for_each(|cut| add(&mut sum, &cut.unacknowledged));
    for (count, what) in [
        (sum.there, "there"),
        (sum.partly, "partly"),
        (sum.absent, "absent"),
        (sum.out_of_order, "out of order"),
        (sum.torn_sectors, "torn sectors"),
        (sum.damaged_sectors, "damaged sectors"),
    ] {
        assert!(count >= seeds() / 20, "{what}: {count}");
    }
    let kept = cuts.iter().filter(|cut| cut.answer == Answer::Kept).count();
    assert!(kept * 2 > cuts.len() && kept < cuts.len(), "{kept} of {}", cuts.len());
}

#[test]
fn ten_cuts_without_a_loss_bound_the_share_to_26_percent() {
    let mut test = Test::new(Kind::Honest, 5);
    test.steps = 100_000;
    for _ in 0..10 {
        test.steps = 400;
        test.round();
        let report = test.check();
        assert_ne!(report.answer, Answer::Failed);
    }
    let document = test.state().document();
    let share = document.share.clone().unwrap();
    let counted = document.cuts.iter().filter(|cut| cut.counts()).count();
    assert_eq!((share.point, share.low, share.n as usize), (0.0, Some(0.0), counted));
    let bound = 1.0 - 0.05f64.powf(1.0 / counted as f64);
    assert!((share.high.unwrap() - bound).abs() < 1e-9 && (counted < 10 || (bound - 0.2589).abs() < 1e-4));
    assert!(document.not_shown.contains(&NotShown::OtherStates));
}

#[test]
fn the_same_cut_read_twice_is_one_cut() {
    let mut test = Test::new(Kind::Reorders, 3);
    test.steps = 400;
    test.round();
    let (first, second) = (test.check(), test.check());
    assert_eq!(first, second);
    assert_eq!(first.answer, Answer::Failed);
    assert_eq!(test.state().cuts().len(), 1);
    // What is known to be wrong is not counted again: the places are written anew.
    test.disk.disk().kind = Kind::Honest;
    test.round();
    assert_ne!(test.check().answer, Answer::Failed);
}

#[test]
fn another_medium_or_an_older_ledger_gets_no_answer() {
    let mut test = Test::new(Kind::Honest, 8);
    test.steps = 400;
    test.round();
    let state = test.state();
    let answer = |mut disk: Handle| {
        let seen = look(&mut disk, &state, Duration::ZERO, &mut |_| true).unwrap();
        judge(&state, Ok(&seen), about()).report.answer
    };
    let cannot = |reason| Answer::CannotTell { reason };
    assert_eq!(answer(Handle::new(Kind::Honest, 1)), cannot(Cannot::NotTheMedium));
    let mut other = Test::new(Kind::Honest, 9);
    other.round();
    assert_eq!(answer(other.disk.clone()), cannot(Cannot::NotTheMedium));
    test.check();
    let older = test.memory.bytes.lock().unwrap().clone();
    test.round();
    let state = replay(&older).unwrap().state;
    let seen = look(&mut test.disk.clone(), &state, Duration::ZERO, &mut |_| true).unwrap();
    assert_eq!(judge(&state, Ok(&seen), about()).report.answer, cannot(Cannot::LedgerBehind));
}

#[test]
fn a_medium_that_only_errs_gets_no_answer_and_a_cut_that_nothing_shows_does_not_count() {
    let mut test = Test::new(Kind::Honest, 8);
    test.steps = 400;
    test.round();
    let state = test.state();
    test.disk.disk().flaky = Some(1);
    let seen = look(&mut test.disk.clone(), &state, Duration::ZERO, &mut |_| true).unwrap();
    let report = judge(&state, Ok(&seen), about()).report;
    assert_eq!(report.answer, Answer::CannotTell { reason: Cannot::OnlyErrors });
    assert!(!report.counts());
    test.disk.disk().flaky = None;
    let seen = look(&mut test.disk.clone(), &state, Duration::ZERO, &mut |_| true).unwrap();
    let unseen = assay_powercut::Circumstances { how: CutKind::Unseen, ..about() };
    let report = judge(&state, Ok(&seen), unseen).report;
    assert_eq!(report.answer, Answer::Kept);
    assert!(!report.counts());
    let mut lost = Test::new(Kind::Reorders, 8);
    lost.steps = 400;
    lost.round();
    let seen = look(&mut lost.disk.clone(), &lost.state(), Duration::ZERO, &mut |_| true).unwrap();
    let of = |how| judge(&lost.state(), Ok(&seen), assay_powercut::Circumstances { how, ..about() }).report.answer;
    assert_eq!(of(CutKind::Host), Answer::Failed);
    assert_eq!(of(CutKind::Unseen), Answer::CannotTell { reason: Cannot::NoCutSeen });
}

#[test]
fn a_ledger_is_cut_off_at_its_torn_end_and_refused_where_it_is_damaged() {
    let mut test = Test::new(Kind::Honest, 2);
    test.steps = 60;
    test.cuts(2);
    let bytes = test.memory.bytes.lock().unwrap().clone();
    let whole = replay(&bytes).unwrap().whole_bytes;
    assert_eq!(whole, bytes.len() as u64);
    let mut ends = 0;
    for cut in bytes.len() - 400..bytes.len() {
        let replayed = replay(&bytes[..cut]).unwrap();
        assert!(replayed.whole_bytes <= cut as u64);
        ends += u32::from(replayed.whole_bytes == cut as u64);
    }
    assert!(ends < 40);
    for at in [40, bytes.len() / 2] {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x40;
        assert!(replay(&damaged).is_err(), "{at}");
    }
    assert!(replay(b"something else").is_err());
}

/// A medium that errs for some time after it is attached: what errs is read again later.
#[test]
fn what_errs_only_for_some_time_is_not_unreadable() {
    struct Late(Handle, Instant);
    impl Medium for Late {
        fn bytes(&self) -> u64 {
            self.0.bytes()
        }
        fn read(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
            if offset == 0 && Instant::now() < self.1 { Err(Fault::Errs) } else { self.0.read(offset, buffer) }
        }
        fn write(&mut self, _: u64, _: &[u8]) -> Result<(), Refused> {
            unreachable!("it is only read")
        }
        fn sync(&mut self) -> Result<(), Refused> {
            unreachable!("it is only read")
        }
    }
    let mut test = Test::new(Kind::Honest, 8);
    test.steps = 400;
    test.round();
    let state = test.state();
    let answer = |errs_for| {
        let mut medium = Late(test.disk.clone(), Instant::now() + errs_for);
        let seen = look(&mut medium, &state, Duration::from_millis(400), &mut |_| true).unwrap();
        judge(&state, Ok(&seen), about()).report.answer
    };
    assert_eq!(answer(Duration::from_millis(300)), Answer::Kept);
    assert_eq!(answer(Duration::from_secs(3600)), Answer::Failed);
}
