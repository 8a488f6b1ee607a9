//! Sizes, the clock and the counters.

use assay_lab::media::{MediumSpec, Timing};
use assay_verify::probe::{Device, Fault};

use super::{Card, MIB};

#[test]
fn any_size_in_whole_blocks_can_be_announced() {
    for bytes in [1536, 2048, 100 * MIB + 512, 2_003_828_736, 4 << 40] {
        let mut card = Card::new(&MediumSpec::genuine(bytes));
        assert_eq!(card.0.bytes(), bytes);
        card.write(bytes - 512, 512, 7);
        assert_eq!(card.value(bytes - 512), Some(7));
        assert_eq!(card.0.write_at(bytes, &[0; 512]), Err(Fault::Medium));
    }
    for bytes in [0, 1024, 1537, (4 << 40) + 512] {
        assert!(MediumSpec::genuine(bytes).build().is_err(), "{bytes}");
    }
}

#[test]
fn large_blocks_are_read_and_written_whole() {
    let spec = MediumSpec { block_bytes: 4096, ..MediumSpec::genuine(64 * MIB) };
    let mut card = Card::new(&spec);
    assert_eq!(card.0.block_bytes(), 4096);
    assert_eq!(card.0.write_at(512, &[0; 4096]), Err(Fault::Medium));
    assert_eq!(card.0.read_at(0, &mut [0; 512]), Err(Fault::Medium));
    assert_eq!(card.0.read_at(4096, &mut [0; 8192]), Ok(()));
    assert_eq!(card.0.traffic().rejected, 2);
    assert!(MediumSpec { announced_bytes: 64 * MIB + 512, ..spec.clone() }.build().is_err());
    assert!(MediumSpec { block_bytes: 1024, ..spec }.build().is_err());
}

#[test]
fn traffic_is_counted() {
    let mut card = Card::new(&MediumSpec::genuine(64 * MIB));
    card.write(0, MIB, 1);
    card.write(MIB, 512, 1);
    card.read(0, 4096);
    card.0.sync().unwrap();
    let traffic = card.0.traffic();
    assert_eq!((traffic.writes, traffic.written_bytes), (2, MIB + 512));
    assert_eq!((traffic.reads, traffic.read_bytes, traffic.flushes), (1, 4096, 1));
}

#[test]
fn the_clock_says_what_operations_cost() {
    let timing = Timing {
        operation_ns: 1_000,
        random_read_ns: 20_000,
        random_write_ns: 300_000,
        flush_ns: 4_000_000,
        read_bytes_per_second: 1_000_000_000,
        write_bytes_per_second: 500_000_000,
        slow: vec![(32 * MIB..33 * MIB, 10)],
    };
    let mut card = Card::new(&MediumSpec { timing, ..MediumSpec::genuine(64 * MIB) });
    let mut cost = |act: &dyn Fn(&mut Card)| {
        let before = card.0.elapsed_ns();
        act(&mut card);
        card.0.elapsed_ns() - before
    };
    assert_eq!(cost(&|card| card.write(8 * MIB, 500_224, 0)), 301_000 + 1_000_448);
    assert_eq!(cost(&|card| card.write(8 * MIB + 500_224, 512, 0)), 1_000 + 1_024);
    assert_eq!(cost(&|card| drop(card.read(8 * MIB, 1024))), 21_000 + 1_024);
    assert_eq!(cost(&|card| drop(card.read(8 * MIB + 1024, 512))), 1_000 + 512);
    assert_eq!(cost(&|card| drop(card.read(33 * MIB - 512, 1024))), 10 * (21_000 + 1_024));
    assert_eq!(cost(&|card| card.0.sync().unwrap()), 4_000_000);
}

/// Processor time of this thread in seconds: other processes may use the processors, too.
fn spent() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

#[test]
fn sixty_thousand_operations_take_less_than_a_second() {
    // The operations of a probe of two tebibytes. Ten thousand probes should take minutes, not hours. The usual time is
    // a thirtieth of the bound.
    let mut times = (0..2).map(|_| {
        let mut card = Card::new(&MediumSpec::genuine(2 << 40));
        let (start, mut page) = (spent(), [7; 4096]);
        for step in 0..30_000u64 {
            let offset = step.wrapping_mul(0x9e37_79b9_7f4a_7c15) % ((2 << 40) / 4096) * 4096;
            card.0.write_at(offset, &page).unwrap();
            card.0.read_at(offset, &mut page).unwrap();
        }
        spent() - start
    });
    // The first pass waits for memory from the kernel.
    let (first, second) = (times.next().unwrap(), times.next().unwrap());
    assert!(second < 1.0, "{first} s, {second} s");
}
