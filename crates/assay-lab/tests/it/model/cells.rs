//! Wrong bits, bad places and data that do not last.

use std::time::Duration;

use assay_lab::media::{
    BadCells, Cache, Decay, Failure, Flips, Hang, MediumSpec, Operations, Retention, StuckBits, Traffic, Trigger,
    WritePolicy,
};
use assay_verify::probe::{Device, ProbeFault};

use super::{Card, KIB, MIB};

fn flipping(flips: Flips) -> Card {
    Card::new(&MediumSpec { flips, ..MediumSpec::genuine(64 * MIB) })
}

/// Sectors of the first `mib` MiB, all written as 0, that have wrong bits, each with their number.
fn wrong(card: &mut Card, mib: u64) -> Vec<(usize, u32)> {
    let read = card.read(0, mib * MIB);
    let bits = |sector: &[u8]| sector.iter().map(|byte| byte.count_ones()).sum::<u32>();
    read.chunks(512).map(bits).enumerate().filter(|(_, bits)| *bits > 0).collect()
}

#[test]
fn bits_flip_on_the_way_in_and_stay() {
    let mut card = flipping(Flips { per_write: 1e-3, ..Flips::none() });
    card.write(0, 32 * MIB, 0);
    let flipped = wrong(&mut card, 32);
    // 65,536 sectors: 65 with a deviation of 8.
    assert!((30..110).contains(&flipped.len()), "{}", flipped.len());
    assert!(flipped.iter().all(|(_, bits)| *bits == 1));
    assert_eq!(wrong(&mut card, 32), flipped);
}

#[test]
fn bits_flip_on_the_way_out_and_do_not_stay() {
    let mut card = flipping(Flips { per_read: 1e-3, ..Flips::none() });
    card.write(0, 32 * MIB, 0);
    let (first, second) = (wrong(&mut card, 32), wrong(&mut card, 32));
    assert!((30..110).contains(&first.len()) && (30..110).contains(&second.len()));
    assert_ne!(first, second);
}

#[test]
fn bad_sectors_are_as_many_as_stated_and_the_same_for_ever() {
    for bad in [BadCells::StuckByte, BadCells::Noise] {
        let mut card = flipping(Flips { bad_density: 0.01, bad, ..Flips::none() });
        card.write(0, 32 * MIB, 0);
        let first = wrong(&mut card, 32);
        // 655 of 65,536. One in 256 of them is stuck at the right byte.
        assert!((540..770).contains(&first.len()), "{bad:?}: {}", first.len());
        card.write(0, 32 * MIB, 0);
        assert_eq!(wrong(&mut card, 32), first, "{bad:?}");
    }
    let all = flipping(Flips { bad_density: 1.0, bad: BadCells::Noise, ..Flips::none() }).read(0, MIB);
    let mut card = flipping(Flips { bad_density: 1.0, bad: BadCells::Noise, ..Flips::none() });
    card.write(0, MIB, 7);
    assert_eq!(card.read(0, MIB), all);
}

#[test]
fn stuck_bits_read_as_one_value() {
    for (high, expected) in [(true, [7 | 0x18, 0]), (false, [7 & !0x18, 0])] {
        let stuck = StuckBits { byte: 3, bits: 0x18, high, range: 4 * MIB..8 * MIB };
        let mut card = flipping(Flips { stuck: Some(stuck), ..Flips::none() });
        card.write(4 * MIB - 512, 1024, 7);
        assert_eq!(card.value(4 * MIB - 512), Some(7));
        assert_eq!(card.sector(4 * MIB)[2..5], [7, expected[0], 7]);
        card.write(5 * MIB, 512, 0xff);
        assert_eq!(card.sector(5 * MIB)[3], if high { 0xff } else { !0x18 });
    }
}

#[test]
fn errors_concern_their_range_and_direction() {
    let spec = MediumSpec::genuine(64 * MIB);
    for (on, reads, writes) in
        [(Operations::Reads, true, false), (Operations::Writes, false, true), (Operations::Both, true, true)]
    {
        let mut card = Card::new(&spec.clone().with_errors(8 * MIB..9 * MIB, on));
        for (offset, bad) in [(8 * MIB - 1024, false), (8 * MIB - 512, true), (9 * MIB - 512, true), (9 * MIB, false)] {
            let mut two = [0; 1024];
            let expected = |errs: bool| if errs && bad { Err(ProbeFault::Medium) } else { Ok(()) };
            assert_eq!(card.0.write_at(offset, &two), expected(writes), "{on:?} {offset}");
            assert_eq!(card.0.read_at(offset, &mut two), expected(reads), "{on:?} {offset}");
        }
    }
}

#[test]
fn data_last_for_so_many_readings() {
    for most in 1..=4 {
        let decay = Some(Decay { retention: Retention::Reads(most), range: 8 * MIB..64 * MIB });
        let mut card = Card::new(&MediumSpec { decay, ..MediumSpec::genuine(64 * MIB) });
        for _ in 0..2 {
            card.write(8 * MIB, 4 * KIB, 7);
            for _ in 0..most {
                assert_eq!(card.value(8 * MIB), Some(7));
            }
            assert_eq!(card.value(8 * MIB), Some(0));
        }
        card.write(4 * MIB, 4 * KIB, 7);
        assert!((0..10).all(|_| card.value(4 * MIB) == Some(7)));
    }
}

#[test]
fn data_last_until_so_much_more_was_written() {
    let decay = Some(Decay { retention: Retention::WrittenBytes(MIB), range: 0..64 * MIB });
    let mut card = Card::new(&MediumSpec { decay, ..MediumSpec::genuine(64 * MIB) });
    let before = card.sector(0);
    card.write(8 * MIB, 4 * KIB, 7);
    card.write(16 * MIB, MIB - 512, 1);
    assert_eq!(card.value(8 * MIB), Some(7));
    card.write(32 * MIB, 512, 1);
    assert_eq!((card.value(8 * MIB), card.value(32 * MIB)), (Some(0), Some(1)));
    // Initial content stays.
    assert_eq!(card.sector(0), before);
}

// Media that fail after a while.

fn failing(trigger: Trigger, failure: Failure) -> Card {
    Card::new(&MediumSpec::genuine(64 * MIB).that_fails(trigger, failure))
}

fn read(card: &mut Card, offset: u64) -> Result<(), ProbeFault> {
    card.0.read_at(offset, &mut [0; 512])
}

fn write(card: &mut Card, offset: u64) -> Result<(), ProbeFault> {
    card.0.write_at(offset, &[7; 512])
}

#[test]
fn the_write_that_meets_the_end_is_torn() {
    let mut card = failing(Trigger::AfterWritten(10 * KIB), Failure::WriteErrors);
    card.write(0, 8 * KIB, 7);
    assert!(!card.0.has_failed());
    assert_eq!(card.0.write_at(MIB, &[7; 8 << 10]), Err(ProbeFault::Medium));
    assert!(card.0.has_failed());
    assert_eq!(card.value(MIB + 2 * KIB - 512), Some(7));
    assert_ne!(card.value(MIB + 2 * KIB), Some(7));
}

#[test]
fn each_failure_does_what_it_is_named_for() {
    let now = || Trigger::AfterOperations(0);
    for (how, reads, writes) in [
        (Failure::ReadOnly, Ok(()), Err(ProbeFault::ReadOnly)),
        (Failure::WriteErrors, Ok(()), Err(ProbeFault::Medium)),
        (Failure::AllErrors, Err(ProbeFault::Medium), Err(ProbeFault::Medium)),
        (Failure::DropsWrites, Ok(()), Ok(())),
        (Failure::Gone, Err(ProbeFault::Gone), Err(ProbeFault::Gone)),
        (Failure::Hangs(Hang::TimesOut(30_000_000_000)), Err(ProbeFault::Medium), Err(ProbeFault::Medium)),
        (Failure::Shrinks(32 * MIB), Err(ProbeFault::Medium), Err(ProbeFault::Medium)),
    ] {
        let mut card = failing(now(), how);
        let far = 40 * MIB;
        assert_eq!((read(&mut card, far), write(&mut card, far)), (reads, writes), "{how:?}");
        assert_eq!(card.0.present(), how != Failure::Gone);
    }
    let mut shrunk = failing(now(), Failure::Shrinks(32 * MIB));
    assert_eq!((shrunk.0.bytes(), write(&mut shrunk, 32 * MIB - 512)), (64 * MIB, Ok(())));
    assert_eq!((shrunk.0.bytes(), write(&mut shrunk, 32 * MIB)), (32 * MIB, Err(ProbeFault::Medium)));

    let mut dropping = failing(Trigger::AfterWritten(512), Failure::DropsWrites);
    dropping.write(0, 1024, 7);
    assert_eq!(dropping.value(0), Some(7));
    assert_ne!(dropping.value(512), Some(7));
}

#[test]
fn a_touch_or_a_number_of_operations_brings_a_failure_about() {
    let mut card = failing(Trigger::AtTouch(8 * MIB..9 * MIB), Failure::Gone);
    assert_eq!((write(&mut card, 8 * MIB - 512), read(&mut card, 9 * MIB)), (Ok(()), Ok(())));
    assert_eq!(read(&mut card, 9 * MIB - 512), Err(ProbeFault::Gone));
    assert_eq!(read(&mut card, 0), Err(ProbeFault::Gone));

    let mut card = failing(Trigger::AfterOperations(3), Failure::AllErrors);
    assert_eq!([0; 4].map(|offset| read(&mut card, offset)), [Ok(()), Ok(()), Ok(()), Err(ProbeFault::Medium)]);
}

#[test]
fn a_hang_that_times_out_takes_time_on_the_clock_alone() {
    let mut card = failing(Trigger::AfterOperations(1), Failure::Hangs(Hang::TimesOut(30_000_000_000)));
    read(&mut card, 0).unwrap();
    let before = card.0.elapsed_ns();
    assert_eq!(read(&mut card, 0), Err(ProbeFault::Medium));
    assert!(card.0.elapsed_ns() - before >= 30_000_000_000);
}

#[test]
fn a_hang_that_blocks_answers_when_it_is_released() {
    let mut card = failing(Trigger::AfterOperations(1), Failure::Hangs(Hang::Blocks));
    let gate = card.0.gate();
    card.write(0, 512, 7);
    assert!(!gate.wait_until_blocked(Duration::ZERO));
    let waiting = std::thread::spawn(move || (card.value(0), card.value(0)));
    assert!(gate.wait_until_blocked(Duration::from_secs(10)));
    assert!(!waiting.is_finished());
    gate.open();
    assert_eq!(waiting.join().unwrap(), (Some(7), Some(7)));
}

#[test]
fn a_test_lets_it_fail_and_hang_when_it_wants() {
    let mut card = Card::new(&MediumSpec::genuine(64 * MIB));
    card.0.gate().close();
    card.0.gate().open();
    card.write(0, 512, 7);
    card.0.fail(Failure::DropsWrites);
    card.write(0, 512, 8);
    assert_eq!(card.value(0), Some(7));
    card.0.fail(Failure::Gone);
    assert_eq!(read(&mut card, 0), Err(ProbeFault::Gone));
}

#[test]
fn plugged_in_again_it_has_lost_what_only_the_cache_knew() {
    let cache = Cache { write_policy: WritePolicy::Back { ignores_flush: false }, ..Cache::with_bytes(64 * KIB) };
    let spec = MediumSpec::genuine(64 * MIB).with_cache(cache).that_fails(Trigger::AfterOperations(2), Failure::Gone);
    let mut card = Card::new(&spec);
    card.write(0, 512, 7);
    card.0.sync().unwrap();
    card.write(MIB, 512, 7);
    assert_eq!(read(&mut card, 0), Err(ProbeFault::Gone));
    card.0.power_cycle();
    assert_eq!((card.0.traffic(), card.0.elapsed_ns()), (Traffic::default(), 0));
    assert_eq!(card.value(0), Some(7));
    assert_ne!(card.value(MIB), Some(7));
    // A worn-out medium stays read-only.
    card.0.fail(Failure::ReadOnly);
    card.0.power_cycle();
    assert_eq!(write(&mut card, 0), Err(ProbeFault::ReadOnly));
}
