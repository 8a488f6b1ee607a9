//! Which places a probe samples first.

use rand_core::Rng;

use super::super::contract::Device;
use super::super::settings::{PARTS, WIDE};
use super::stamped::{SectorRange, StampedDevice};

/// Single blocks near the end and the start at distances that are powers of two, and both sides of each quarter. They
/// meet losses at the end even if these are small, and periods that are powers of two at once.
pub(crate) fn power_of_two_places<D: Device>(device: &mut StampedDevice<'_, D>) -> Vec<SectorRange> {
    let (sectors, unit) = (device.sectors(), device.unit());
    let last = (sectors / unit - 1) * unit;
    let mut places = vec![device.place(last, 1), device.place(0, 1)];
    // A small part that holds, away from both ends, is most likely in the middle.
    for part in [2, 3, 1] {
        let at = sectors * part / 4;
        // The upper one first: a write that continues another goes to a cache for sequential writes.
        places.extend([at, at - 1].map(|at| device.place(at, 1)));
    }
    // Beside the very start, which holds partition tables and file system headers.
    let base = unit.min(last);
    let steps = (0..64).map(|power| unit << power).take_while(|step| *step < sectors);
    for step in steps {
        places.extend(last.checked_sub(step).map(|at| device.place(at, 1)));
        if base + step < sectors {
            places.push(device.place(base + step, 1));
        }
    }
    places.push(device.place(base, 1));
    without_repetition(places)
}

/// A place at random in each of [`PARTS`] equal parts, in random order.
pub(crate) fn stratified_places<D: Device>(
    device: &mut StampedDevice<'_, D>,
    clear: &[SectorRange],
    run: SectorRange,
) -> Vec<SectorRange> {
    let (sectors, unit) = (device.sectors(), device.unit());
    let parts = PARTS.min(sectors / (4 * unit)).max(1);
    let width = sectors / parts;
    // Later samples evict earlier ones, but write no more than the run does.
    let wide = WIDE.min(width / 2).min(run.sectors / parts).max(unit) / unit * unit;
    let mut places = Vec::new();
    for part in 0..parts {
        let room = width.saturating_sub(wide).max(1);
        // In whole blocks, so that the place does not become wider.
        let at = (part * width + device.random.next_u64() % room) / unit * unit;
        let place = device.place(at, wide);
        if place.sectors > 0 && !clear.iter().any(|other| other.meets(place)) {
            places.push(place);
        }
    }
    // Fisher-Yates shuffle: neither order of address nor order of time may hide the other.
    for index in (1..places.len()).rev() {
        let other = (device.random.next_u64() % (index as u64 + 1)) as usize;
        places.swap(index, other);
    }
    places
}

/// Without repetition, in the order given.
pub(crate) fn without_repetition(places: Vec<SectorRange>) -> Vec<SectorRange> {
    let mut kept: Vec<SectorRange> = Vec::new();
    for place in places {
        if place.sectors > 0 && !kept.iter().any(|other| other.meets(place)) {
            kept.push(place);
        }
    }
    kept
}
