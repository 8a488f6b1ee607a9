//! Media that break their promise in a known way: 100 campaigns of 10 cuts each, told in at least 99.

use assay_lab::on_all_processors;
use assay_powercut::{Answer, CutReport, PowerCuts};

use crate::model::Kind;
use crate::rounds::Test;

const YES: Option<bool> = Some(true);
const NO: Option<bool> = Some(false);

/// What the cuts of a campaign found together: lost, torn, reordered, garbage, older data damaged, unreadable.
fn found(document: &PowerCuts) -> [u64; 6] {
    let of = |cut: &CutReport| [cut.lost, cut.torn, cut.reordered, cut.garbage, cut.older_damaged, cut.unreadable];
    let mut all = [0; 6];
    document.cuts.iter().for_each(|cut| all.iter_mut().zip(of(cut)).for_each(|(sum, one)| *sum += one));
    all
}

/// How many of 100 campaigns of 10 cuts find just these kinds; `None` stands for either.
fn right(kind: impl Fn(u64) -> Kind + Sync, wanted: [Option<bool>; 6]) -> usize {
    let campaigns = on_all_processors(0..100, |seed| {
        let mut test = Test::new(kind(seed), seed);
        test.steps = 400;
        let document = test.cuts(10);
        let (found, failed) = (found(&document), document.cuts.iter().any(|cut| cut.answer == Answer::Failed));
        let told =
            failed && found.iter().zip(wanted).all(|(count, wanted)| wanted.is_none_or(|any| any == (*count > 0)));
        if !told {
            eprintln!("seed {seed}: {found:?}");
        }
        let share = document.share.unwrap();
        assert!(share.n <= 10 && share.low.unwrap() <= share.point && share.point <= share.high.unwrap());
        told
    });
    campaigns.into_iter().filter(|told| *told).count()
}

#[test]
fn a_medium_that_ignores_flush_loses_the_last_writes() {
    let right = right(|seed| Kind::IgnoresFlush(10 + seed as usize % 50), [YES, NO, NO, NO, NO, NO]);
    assert!(right >= 99, "{right}");
}

#[test]
fn a_medium_that_flushes_in_part_loses_writes_before_later_ones() {
    let right = right(|_| Kind::Reorders, [YES, NO, YES, NO, NO, NO]);
    assert!(right >= 99, "{right}");
}

#[test]
fn a_medium_that_tears_what_it_acknowledged_is_told() {
    // What is torn is older than the last write that is there, nearly always.
    let right = right(|_| Kind::Tears, [NO, YES, None, NO, NO, NO]);
    assert!(right >= 99, "{right}");
}

#[test]
fn a_medium_that_damages_neighbours_is_told() {
    let right = right(|_| Kind::DamagesNeighbour, [NO, NO, NO, NO, YES, NO]);
    assert!(right >= 99, "{right}");
}

#[test]
fn a_medium_that_returns_garbage_is_told() {
    let right = right(|_| Kind::Garbage, [NO, NO, NO, YES, NO, NO]);
    assert!(right >= 99, "{right}");
}

#[test]
fn a_medium_that_cannot_read_what_it_acknowledged_is_told() {
    let right = right(|_| Kind::Unreadable, [NO, NO, NO, NO, NO, YES]);
    assert!(right >= 99, "{right}");
}
