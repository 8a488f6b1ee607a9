//! Where a medium holds data, and what it returns elsewhere.

use assay_lab::media::{
    Accounting, DroppedRead, InitialContent, Layout, LineFault, MediumSpec, Misaddress, Operations, Pattern, Pool,
    WhenFull,
};
use assay_verify::probe::{Device, ProbeFault};

use super::{Card, GIB, KIB, MIB};

#[test]
fn data_hold_where_the_layout_says_and_nowhere_else() {
    let announced = 64 * MIB;
    for layout in [
        Layout::first(61 * MIB + 512),
        Layout::last(announced, 7 * MIB),
        Layout::middle(announced, 4 * MIB),
        Layout::both_ends(announced, 4 * MIB),
        Layout::holds([512..1024, MIB..MIB + 512]),
    ] {
        let real = layout.reliable(announced);
        let mut card = Card::new(&MediumSpec::laid_out(announced, layout));
        for range in &real {
            // Across both edges, in one write.
            let (from, to) = (range.start.saturating_sub(512), (range.end + 512).min(announced));
            card.write(from, to - from, 9);
            assert_eq!(card.value(range.start), Some(9), "{range:?}");
            assert_eq!(card.value(range.end - 512), Some(9), "{range:?}");
            for beside in [from, to - 512] {
                let holds = real.iter().any(|range| range.contains(&beside));
                assert_eq!(card.value(beside), Some(if holds { 9 } else { 0 }), "{beside} beside {range:?}");
            }
        }
    }
}

#[test]
fn addresses_start_again_after_any_period() {
    for period in [512, 4 * KIB, 93 * MIB + 796_672, 512 * MIB] {
        let mut card = Card::new(&MediumSpec::laid_out(GIB, Layout::wraparound(period)));
        card.write(period, 512, 7);
        assert_eq!(card.value(0), Some(7), "{period}");
        card.write(0, 512, 8);
        assert_eq!((card.value(period), card.value(GIB / period / 2 * period)), (Some(8), Some(8)), "{period}");
    }
}

#[test]
fn a_window_behind_a_protected_part_takes_everything_else() {
    let mut card = Card::new(&MediumSpec::laid_out(GIB, Layout::window(500 * MIB, 4 * MIB)));
    card.write(500 * MIB - 512, 1024, 1);
    card.write(504 * MIB, 512, 2);
    assert_eq!(card.value(500 * MIB - 512), Some(1));
    assert_eq!((card.value(500 * MIB), card.value(GIB - 20 * MIB)), (Some(2), Some(2)));
}

#[test]
fn of_a_chain_only_a_part_of_each_period_holds() {
    let mut card = Card::new(&MediumSpec::laid_out(GIB, Layout::chain(256 * MIB, 61 * MIB)));
    card.write(256 * MIB, 512, 3);
    card.write(256 * MIB + 61 * MIB, 512, 3);
    assert_eq!((card.value(0), card.value(61 * MIB), card.value(317 * MIB)), (Some(3), Some(0), Some(0)));
}

#[test]
fn later_laps_are_shuffled_within_a_mebibyte() {
    let mut card = Card::new(&MediumSpec::laid_out(GIB, Layout::wraparound(8 * MIB).shuffled()));
    for block in 0..256 {
        card.write(8 * MIB + block * 4 * KIB, 4 * KIB, block as u8);
    }
    let mut first: Vec<u8> = (0..256).filter_map(|block| card.value(block * 4 * KIB)).collect();
    assert_ne!(first, (0..=255).collect::<Vec<u8>>());
    first.sort_unstable();
    assert_eq!(first, (0..=255).collect::<Vec<u8>>());
}

#[test]
fn dropped_places_read_as_they_are_told_to() {
    let card = |dropped| Card::new(&MediumSpec::limbo(64 * MIB, 8 * MIB).with_dropped(dropped));
    let far = 40 * MIB;
    for (dropped, value) in [(DroppedRead::Zeros, 0), (DroppedRead::Ones, 0xff)] {
        let mut card = card(dropped);
        card.write(far, 512, 7);
        assert_eq!(card.value(far), Some(value));
    }

    let mut random = card(DroppedRead::Random);
    assert_ne!(random.sector(far), random.sector(far));

    let mut noise = card(DroppedRead::Noise);
    let before = noise.sector(far);
    noise.write(far, 512, 7);
    assert_eq!(noise.sector(far), before);
    assert_ne!(noise.sector(far + 512), before);

    let mut stale = card(DroppedRead::Stale);
    let before = stale.sector(far);
    stale.write(far, 512, 7);
    assert_eq!(stale.sector(far), before);
    assert_eq!(before, Card::new(&MediumSpec::genuine(64 * MIB)).sector(far));

    let mut bus = card(DroppedRead::LastOnBus);
    bus.write(far, 4 * KIB, 7);
    assert_eq!(bus.value(far + 8 * MIB), Some(7));
    let read = bus.read(MIB, 4 * KIB);
    assert_eq!(bus.read(far, 4 * KIB), read);

    let mut elsewhere = card(DroppedRead::Elsewhere);
    elsewhere.write(5 * MIB, 512, 6);
    elsewhere.write(13 * MIB, 512, 7);
    assert_eq!((elsewhere.value(13 * MIB), elsewhere.value(5 * MIB)), (Some(6), Some(6)));
}

#[test]
fn a_shift_moves_one_direction_by_sectors() {
    let shifted = |by_sectors, on| MediumSpec {
        misaddress: Some(Misaddress::Shift { from_bytes: 32 * MIB, by_sectors, on }),
        ..MediumSpec::genuine(64 * MIB)
    };
    for (by_sectors, on, read_back) in [
        (-1, Operations::Reads, 512i64),
        (1, Operations::Reads, -512),
        (8, Operations::Writes, 4096),
        (-8, Operations::Writes, -4096),
    ] {
        let mut card = Card::new(&shifted(by_sectors, on));
        card.write(40 * MIB, 512, 7);
        assert_eq!(card.value((40 * MIB).checked_add_signed(read_back).unwrap()), Some(7), "{by_sectors} {on:?}");
        assert_ne!(card.value(40 * MIB), Some(7));
        card.write(20 * MIB, 512, 7);
        assert_eq!(card.value(20 * MIB), Some(7));
    }
    // If both directions are shifted, only the edge shows it.
    let mut both = Card::new(&shifted(1, Operations::Both));
    both.write(32 * MIB, 512, 7);
    assert_eq!(both.value(32 * MIB), Some(7));
}

#[test]
fn a_failing_address_line_makes_places_one_or_exchanges_them() {
    // Bit 13 of the sector number is 4 MiB.
    let line = |fault, on| {
        let misaddress = Some(Misaddress::Line { bit: 13, fault, range: 32 * MIB..64 * MIB, on });
        Card::new(&MediumSpec { misaddress, ..MediumSpec::genuine(64 * MIB) })
    };
    let mut ignored = line(LineFault::Ignored, Operations::Both);
    ignored.write(36 * MIB, 512, 7);
    assert_eq!((ignored.value(32 * MIB), ignored.value(36 * MIB)), (Some(7), Some(7)));
    ignored.write(4 * MIB, 512, 7);
    assert_ne!(ignored.value(0), Some(7));

    let mut exchanged = line(LineFault::Inverted, Operations::Writes);
    exchanged.write(36 * MIB, 512, 7);
    exchanged.write(32 * MIB, 512, 8);
    assert_eq!((exchanged.value(32 * MIB), exchanged.value(36 * MIB)), (Some(7), Some(8)));

    let mut unnoticed = line(LineFault::Inverted, Operations::Both);
    unnoticed.write(36 * MIB, 512, 7);
    assert_eq!(unnoticed.value(36 * MIB), Some(7));
    assert_ne!(unnoticed.value(32 * MIB), Some(7));
}

// Memory that is allocated on demand.

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
    assert_eq!(card.0.write_at(200 * MIB, &[7; 512]), Err(ProbeFault::Medium));
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
