//! What an earlier check kept, read again: how old it is, and how fast it is read beside the first reading.

use std::time::{SystemTime, UNIX_EPOCH};

use assay_core::retention::{Age, NoAge, Retention, SameWay};
use assay_core::verification::{PassSpeed, Verification};
use assay_stats::{TwoReadings, speed_by_age};

use crate::files::Writer;

/// Parts in which both readings are compared.
const GROUPS: usize = 16;

/// Seconds since 1970 by the clock of the host; 0 before that.
#[must_use]
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// How old what a check kept is at `now`.
///
/// # Errors
/// Where the clock cannot tell.
pub fn age(writer: &Writer, now: u64) -> Result<Option<Age>, NoAge> {
    Age::at(now, writer.began, writer.ended)
}

/// What a later reading shows beside that of the check which wrote: `first`, where its record is known.
#[must_use]
pub fn retention(
    writer: &Writer,
    age: Option<Age>,
    same: SameWay,
    first: Option<&Verification>,
    later: &Verification,
) -> Retention {
    // The same offset is the same place only where both count from the same.
    let first = first.filter(|first| first.offsets == later.offsets);
    let parts = first.map(|first| parts(speed_of(first), speed_of(later))).unwrap_or_default();
    Retention { by_check: writer.check.clone(), age, speed: speed_by_age(&parts, same) }
}

fn speed_of(check: &Verification) -> &[PassSpeed] {
    check.read.as_ref().map_or(&[], |pass| &pass.speed)
}

/// Both readings in the same sixteenths of the addresses. A single part of a pass is as long as the transfers that were under way
/// when it ended.
fn parts(first: &[PassSpeed], later: &[PassSpeed]) -> Vec<TwoReadings> {
    let starts = || first.iter().chain(later).map(|part| part.offset_bytes);
    let (Some(low), Some(high)) = (starts().min(), starts().max()) else { return Vec::new() };
    let sixteenth = |at: u64| (u128::from(at - low) * GROUPS as u128 / (u128::from(high - low) + 1)) as usize;
    let sums = |parts: &[PassSpeed]| {
        let mut sums = [(0u64, 0u64); GROUPS];
        for part in parts {
            let sum = &mut sums[sixteenth(part.offset_bytes)];
            *sum = (sum.0.saturating_add(part.bytes), sum.1.saturating_add(part.elapsed_ns));
        }
        sums
    };
    let both = sums(first).into_iter().zip(sums(later)).filter(|((first, _), (later, _))| *first > 0 && *later > 0);
    both.map(|((first_bytes, first_ns), (bytes, later_ns))| {
        // For as many bytes.
        let first_ns = (first_ns as f64 * bytes as f64 / first_bytes as f64) as u64;
        TwoReadings { bytes, first_ns, later_ns }
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use assay_core::retention::{CLOCK_SET, SpeedSign};
    use assay_core::verification::{Method, Offsets, Pass, PassSpeed};

    use super::*;

    fn read(parts: &[(u64, u64, u64)]) -> Verification {
        let part = |(offset_bytes, bytes, elapsed_ns): &(u64, u64, u64)| PassSpeed {
            offset_bytes: *offset_bytes,
            bytes: *bytes,
            elapsed_ns: *elapsed_ns,
        };
        let read = Some(Pass { bytes: 0, elapsed_ns: 0, speed: parts.iter().map(part).collect() });
        Verification { read, ..Verification::undecided(Method::Full) }
    }

    #[test]
    fn the_same_sixteenths_are_compared() {
        let writer = Writer { check: "c".to_owned(), reader: None, bus: None, began: CLOCK_SET, ended: CLOCK_SET + 5 };
        let same = SameWay { host: Some(true), reader: Some(true), bus: Some(true) };
        // One half of the addresses is slower than the other, in both readings.
        let ns = |at: u64| if at < 128 { 1000 } else { 4000 };
        let first: Vec<_> = (0..256).map(|at| (at * 100, 100, ns(at))).collect();
        // Twice as slow, in another order; of one part some bytes went to its neighbour, and a few parts are missing.
        let mut later: Vec<_> = first.iter().rev().map(|(at, bytes, ns)| (*at, *bytes, 2 * ns)).collect();
        (later[3].1, later[4].1) = (50, 150);
        later.drain(100..103);
        let age = age(&writer, CLOCK_SET + 100).unwrap();
        let found = retention(&writer, age, same, Some(&read(&first)), &read(&later));
        let speed = found.speed.unwrap();
        assert_eq!((speed.ratio.point, speed.ratio.n, speed.sign), (0.5, 16, SpeedSign::Slower));
        assert_eq!(found.age, Some(Age { low_seconds: 95, high_seconds: 100 }));
        let mut elsewhere = read(&later);
        elsewhere.offsets = Offsets::Device;
        for (first, later) in [(None, read(&later)), (Some(read(&first)), elsewhere), (Some(read(&[])), read(&later))] {
            assert_eq!(retention(&writer, age, same, first.as_ref(), &later).speed, None);
        }
    }
}
