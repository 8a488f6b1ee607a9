//! What an earlier check kept, read again: how old it is, and how fast it is read beside the first reading.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use assay_core::retention::{Age, NoAge, Retention, SameWay};
use assay_core::verification::Verification;
use assay_stats::{TwoReadings, speed_by_age};

use crate::files::Writer;

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
    let first = first.filter(|first| first.offsets == later.offsets).and_then(|first| first.read.as_ref());
    let known: BTreeMap<u64, (u64, u64)> = first
        .into_iter()
        .flat_map(|pass| &pass.speed)
        .map(|part| (part.offset_bytes, (part.bytes, part.elapsed_ns)))
        .collect();
    let parts: Vec<TwoReadings> = later
        .read
        .iter()
        .flat_map(|pass| &pass.speed)
        .filter_map(|part| {
            let (bytes, first_ns) = *known.get(&part.offset_bytes)?;
            (bytes == part.bytes).then_some(TwoReadings { bytes, first_ns, later_ns: part.elapsed_ns })
        })
        .collect();
    Retention { by_check: writer.check.clone(), age, speed: speed_by_age(&parts, same) }
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
    fn parts_are_compared_with_those_at_the_same_place_alone() {
        let writer = Writer { check: "c".to_owned(), reader: None, bus: None, began: CLOCK_SET, ended: CLOCK_SET + 5 };
        let same = SameWay { host: Some(true), reader: Some(true), bus: Some(true) };
        let first: Vec<_> = (0..20).map(|at| (at * 100, 100, 1000 + at)).collect();
        // Twice as slow, the other way round; two parts are of another size.
        let mut later: Vec<_> = first.iter().rev().map(|(at, bytes, ns)| (*at, *bytes, 2 * ns)).collect();
        (later[3].1, later[9].0) = (50, 77);
        let age = age(&writer, CLOCK_SET + 100).unwrap();
        let found = retention(&writer, age, same, Some(&read(&first)), &read(&later));
        let speed = found.speed.unwrap();
        assert_eq!((speed.ratio.point, speed.ratio.n, speed.sign), (0.5, 18, SpeedSign::Slower));
        assert_eq!(found.age, Some(Age { low_seconds: 95, high_seconds: 100 }));
        let mut elsewhere = read(&later);
        elsewhere.offsets = Offsets::Device;
        for (first, later) in [(None, read(&later)), (Some(read(&first)), elsewhere), (Some(read(&[])), read(&later))] {
            assert_eq!(retention(&writer, age, same, first.as_ref(), &later).speed, None);
        }
    }
}
