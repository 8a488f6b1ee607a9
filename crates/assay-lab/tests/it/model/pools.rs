//! Memory that is allocated on demand.

use assay_lab::media::{Accounting, InitialContent, MediumSpec, Pattern, Pool, WhenFull};
use assay_verify::probe::{Device, Fault};

use super::{Card, GIB, KIB, MIB};

fn thin(mib: u64, zeros_are_free: bool, when_full: WhenFull) -> MediumSpec {
    let accounting = Accounting::Units { unit_bytes: MIB, zeros_are_free };
    MediumSpec {
        pool: Some(Pool { bytes: mib * MIB, accounting, when_full }),
        before: InitialContent { pattern: Pattern::Noise, used_bytes: 4 * MIB },
        ..MediumSpec::genuine(GIB)
    }
}

#[test]
fn any_place_holds_until_the_pool_is_used_up() {
    let mut card = Card::new(&thin(10, false, WhenFull::Drops));
    // Four of ten units hold the initial content.
    for place in 0..8 {
        card.write((place * 100 + 50) * MIB, 512, 7);
    }
    let held: Vec<_> = (0..8).map(|place| card.value((place * 100 + 50) * MIB)).collect();
    assert_eq!(held, [Some(7), Some(7), Some(7), Some(7), Some(7), Some(7), Some(0), Some(0)]);
    // A unit with memory can be written again, also at another of its sectors.
    card.write(50 * MIB + 8 * KIB, 512, 8);
    card.write(MIB, 512, 8);
    assert_eq!((card.value(50 * MIB + 8 * KIB), card.value(MIB)), (Some(8), Some(8)));
}

#[test]
fn writing_what_is_there_takes_memory_too() {
    for (zeros_are_free, held) in [(false, Some(0)), (true, Some(7))] {
        let mut card = Card::new(&thin(10, zeros_are_free, WhenFull::Drops));
        card.write(100 * MIB, 6 * MIB, 0);
        card.write(200 * MIB, 512, 7);
        assert_eq!(card.value(200 * MIB), held);
    }
}

#[test]
fn a_full_pool_may_say_so() {
    let mut card = Card::new(&thin(5, false, WhenFull::Errs));
    card.write(100 * MIB, 512, 7);
    assert_eq!(card.0.write_at(200 * MIB, &[7; 512]), Err(Fault::Medium));
    assert_eq!(card.0.write_at(100 * MIB + 4096, &[7; 512]), Ok(()));
    assert_eq!(card.value(200 * MIB), Some(0));
}

fn compressing(kib: u64) -> Card {
    let pool = Some(Pool { bytes: kib * KIB, accounting: Accounting::Compressed, when_full: WhenFull::Drops });
    let before = InitialContent { pattern: Pattern::Zeros, used_bytes: GIB };
    Card::new(&MediumSpec { pool, before, ..MediumSpec::genuine(GIB) })
}

/// A page unlike all others.
fn unlike(number: u64) -> Vec<u8> {
    let word = |index: u64| (number * 512 + index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
    (0..512).flat_map(word).collect()
}

fn holds(card: &mut Card, offset: u64, page: &[u8]) -> bool {
    card.0.write_at(offset, page).unwrap();
    card.read(offset, page.len() as u64) == page
}

#[test]
fn what_a_controller_can_make_again_costs_nothing() {
    let mut card = compressing(16);
    // The published sequence of f3: the offset of the sector, and each word computed from the one before.
    let sequence = |offset: u64| {
        let sector = |first: u64| {
            std::iter::successors(Some(first), |word| Some(word.wrapping_mul(4_294_967_311).wrapping_add(17)))
                .take(64)
                .flat_map(u64::to_le_bytes)
        };
        (0..8).flat_map(|index| sector(offset + index * 512)).collect::<Vec<u8>>()
    };
    for page in 0..100 {
        assert!(holds(&mut card, page * MIB, &sequence(page * MIB)));
        assert!(holds(&mut card, page * MIB + 4 * KIB, &[page as u8; 4096]));
        assert!(holds(&mut card, page * MIB + 8 * KIB, &unlike(0)));
    }
    // One of four pages is in use, shared by all equal ones.
    assert!((1..4).all(|page| holds(&mut card, (200 + page) * MIB, &unlike(page))));
    assert!(!holds(&mut card, 300 * MIB, &unlike(4)));
    // An overwritten page frees its memory when it was the last equal one.
    assert!(holds(&mut card, 201 * MIB, &[0; 4096]));
    assert!(holds(&mut card, 300 * MIB, &unlike(4)));
    assert!(!holds(&mut card, 301 * MIB, &unlike(5)));
    // The freed page has to be stored again.
    assert!(!holds(&mut card, 301 * MIB, &unlike(1)));
}

#[test]
fn what_was_there_before_counts() {
    let pool = Some(Pool { bytes: 8 * MIB, accounting: Accounting::Compressed, when_full: WhenFull::Drops });
    let before = InitialContent { pattern: Pattern::Noise, used_bytes: 8 * MIB };
    let mut card = Card::new(&MediumSpec { pool, before, ..MediumSpec::genuine(GIB) });
    assert!(!holds(&mut card, 100 * MIB, &unlike(1)));
    // A write over initial content has memory.
    assert!(holds(&mut card, 0, &unlike(1)));
    assert!(holds(&mut card, 4096, &[0; 4096]) && holds(&mut card, 100 * MIB, &unlike(2)));
}

#[test]
fn what_was_there_before_has_to_fit() {
    let full = |spec: MediumSpec| MediumSpec { before: InitialContent::full_of(Pattern::Noise), ..spec };
    assert!(full(thin(10, false, WhenFull::Drops)).build().is_err());
    let pool = Some(Pool { bytes: 10 * MIB, accounting: Accounting::Compressed, when_full: WhenFull::Drops });
    assert!(full(MediumSpec { pool, ..MediumSpec::genuine(GIB) }).build().is_err());
    assert!(
        MediumSpec { before: InitialContent::full_of(Pattern::Ones), pool, ..MediumSpec::genuine(GIB) }.build().is_ok()
    );
}
