//! Media that fail after a while.

use std::time::Duration;

use assay_lab::media::{Cache, Failure, Hang, MediumSpec, Traffic, Trigger, WritePolicy};
use assay_verify::probe::{Device, Fault};

use super::{Card, KIB, MIB};

fn failing(trigger: Trigger, failure: Failure) -> Card {
    Card::new(&MediumSpec::genuine(64 * MIB).that_fails(trigger, failure))
}

fn read(card: &mut Card, offset: u64) -> Result<(), Fault> {
    card.0.read_at(offset, &mut [0; 512])
}

fn write(card: &mut Card, offset: u64) -> Result<(), Fault> {
    card.0.write_at(offset, &[7; 512])
}

#[test]
fn the_write_that_meets_the_end_is_torn() {
    let mut card = failing(Trigger::AfterWritten(10 * KIB), Failure::WriteErrors);
    card.write(0, 8 * KIB, 7);
    assert!(!card.0.has_failed());
    assert_eq!(card.0.write_at(MIB, &[7; 8 << 10]), Err(Fault::Medium));
    assert!(card.0.has_failed());
    assert_eq!(card.value(MIB + 2 * KIB - 512), Some(7));
    assert_ne!(card.value(MIB + 2 * KIB), Some(7));
}

#[test]
fn each_failure_does_what_it_is_named_for() {
    let now = || Trigger::AfterOperations(0);
    for (how, reads, writes) in [
        (Failure::ReadOnly, Ok(()), Err(Fault::ReadOnly)),
        (Failure::WriteErrors, Ok(()), Err(Fault::Medium)),
        (Failure::AllErrors, Err(Fault::Medium), Err(Fault::Medium)),
        (Failure::DropsWrites, Ok(()), Ok(())),
        (Failure::Gone, Err(Fault::Gone), Err(Fault::Gone)),
        (Failure::Hangs(Hang::TimesOut(30_000_000_000)), Err(Fault::Medium), Err(Fault::Medium)),
        (Failure::Shrinks(32 * MIB), Err(Fault::Medium), Err(Fault::Medium)),
    ] {
        let mut card = failing(now(), how);
        let far = 40 * MIB;
        assert_eq!((read(&mut card, far), write(&mut card, far)), (reads, writes), "{how:?}");
        assert_eq!(card.0.present(), how != Failure::Gone);
    }
    let mut shrunk = failing(now(), Failure::Shrinks(32 * MIB));
    assert_eq!((shrunk.0.bytes(), write(&mut shrunk, 32 * MIB - 512)), (64 * MIB, Ok(())));
    assert_eq!((shrunk.0.bytes(), write(&mut shrunk, 32 * MIB)), (32 * MIB, Err(Fault::Medium)));

    let mut dropping = failing(Trigger::AfterWritten(512), Failure::DropsWrites);
    dropping.write(0, 1024, 7);
    assert_eq!(dropping.value(0), Some(7));
    assert_ne!(dropping.value(512), Some(7));
}

#[test]
fn a_touch_or_a_number_of_operations_brings_a_failure_about() {
    let mut card = failing(Trigger::AtTouch(8 * MIB..9 * MIB), Failure::Gone);
    assert_eq!((write(&mut card, 8 * MIB - 512), read(&mut card, 9 * MIB)), (Ok(()), Ok(())));
    assert_eq!(read(&mut card, 9 * MIB - 512), Err(Fault::Gone));
    assert_eq!(read(&mut card, 0), Err(Fault::Gone));

    let mut card = failing(Trigger::AfterOperations(3), Failure::AllErrors);
    assert_eq!([0; 4].map(|offset| read(&mut card, offset)), [Ok(()), Ok(()), Ok(()), Err(Fault::Medium)]);
}

#[test]
fn a_hang_that_times_out_takes_time_on_the_clock_alone() {
    let mut card = failing(Trigger::AfterOperations(1), Failure::Hangs(Hang::TimesOut(30_000_000_000)));
    read(&mut card, 0).unwrap();
    let before = card.0.elapsed_ns();
    assert_eq!(read(&mut card, 0), Err(Fault::Medium));
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
    assert_eq!(read(&mut card, 0), Err(Fault::Gone));
}

#[test]
fn plugged_in_again_it_has_lost_what_only_the_cache_knew() {
    let cache = Cache { write_policy: WritePolicy::Back { ignores_flush: false }, ..Cache::with_bytes(64 * KIB) };
    let spec = MediumSpec::genuine(64 * MIB).with_cache(cache).that_fails(Trigger::AfterOperations(2), Failure::Gone);
    let mut card = Card::new(&spec);
    card.write(0, 512, 7);
    card.0.sync().unwrap();
    card.write(MIB, 512, 7);
    assert_eq!(read(&mut card, 0), Err(Fault::Gone));
    card.0.power_cycle();
    assert_eq!((card.0.traffic(), card.0.elapsed_ns()), (Traffic::default(), 0));
    assert_eq!(card.value(0), Some(7));
    assert_ne!(card.value(MIB), Some(7));
    // A worn-out medium stays read-only.
    card.0.fail(Failure::ReadOnly);
    card.0.power_cycle();
    assert_eq!(write(&mut card, 0), Err(Fault::ReadOnly));
}
