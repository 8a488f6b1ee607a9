//! Where a medium holds data, and what it returns elsewhere.

use assay_lab::media::{DroppedRead, Layout, LineFault, MediumSpec, Misaddress, Operations};

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
