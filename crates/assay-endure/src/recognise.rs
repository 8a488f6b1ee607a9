//! Whether a medium is the one of a test, by the stamps on it: under any name, in any reader.

use std::time::{Duration, Instant};

use crate::layout::{PAGE_BYTES, PAGE_SECTORS, block_at};
use crate::medium::{Fault, Medium};
use crate::stamp::{SECTOR, Stamp, mixed};
use crate::state::State;

/// Places that are read.
const PLACES: u64 = 64;
/// Places that are read where none of those is of the test: a medium that lost nearly all may keep one in a hundred.
const MORE: u64 = 1024;
const DRAWS: u64 = 16 * MORE;
/// Time for the many: one that errs may take a second.
const PATIENCE: Duration = Duration::from_secs(20);
/// Stamps of one test that tell it apart: of an earlier test, whose stamps are left in places, there are fewer.
const ENOUGH: u32 = 32;

/// What a medium holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recognised {
    /// Stamps of this test.
    Ours,
    /// Stamps of another test, with its number.
    Other(u64),
    /// It can be read, and no stamp is where one should be.
    Foreign,
    /// No place can be read.
    Unreadable,
    /// No slice was logged as written, so that nothing is known to be on it.
    NothingYet,
}

/// Reads places that were written.
pub fn recognise(medium: &mut dyn Medium, state: &State) -> Recognised {
    let layout = state.layout();
    let task = state.task();
    if state.is_new() || medium.bytes() < layout.pages * PAGE_BYTES {
        return if state.is_new() { Recognised::NothingYet } else { Recognised::Foreign };
    }
    let (mut read, mut ours, mut at_home, mut tried) = (0u32, 0u32, 0u32, 0u64);
    let (mut others, mut other) = (0u32, 0u64);
    let (mut page, began) = (vec![0; PAGE_BYTES as usize], Instant::now());
    for draw in 0..DRAWS {
        let enough = tried >= PLACES && (at_home > 0 || began.elapsed() > PATIENCE);
        if enough || tried == MORE {
            break;
        }
        let number = mixed(layout.unit ^ draw, task.cycle) % layout.pages;
        if !layout.was_written(number, task) {
            continue;
        }
        tried += 1;
        match medium.read(number * PAGE_BYTES, &mut page) {
            Err(Fault::Gone | Fault::Hung) => return Recognised::Unreadable,
            Err(_) => continue,
            Ok(()) => read += 1,
        }
        match Stamp::read(&page[..SECTOR]) {
            Some(stamp) if [layout.unit, Stamp::tried(layout.unit)].contains(&stamp.unit) => {
                ours += 1;
                at_home += u32::from(stamp.address == number * PAGE_SECTORS);
            }
            Some(stamp) => (others, other) = (others + 1, stamp.unit),
            None => {}
        }
    }
    match (read, ours) {
        (0, _) => Recognised::Unreadable,
        // A fake or a dying medium holds few stamps of the test, and no more of another. A device that carries the file of a test
        // holds all stamps at other addresses.
        (_, ours) if ours > others && at_home > 0 => Recognised::Ours,
        _ if others > 0 => Recognised::Other(other),
        _ => Recognised::Foreign,
    }
}

/// The number of the test whose stamps are on a medium; `None` where no place that is read has one of its own address. The
/// stamps of a file on the medium are at other places.
pub fn unit_on(medium: &mut dyn Medium) -> Option<u64> {
    let pages = medium.bytes() / PAGE_BYTES;
    let mut page = vec![0; PAGE_BYTES as usize];
    let mut seen = std::collections::BTreeMap::<u64, u32>::new();
    let began = Instant::now();
    for draw in 0..MORE {
        let enough = draw >= 4 * PLACES && !seen.is_empty();
        if enough || began.elapsed() > PATIENCE {
            break;
        }
        let number = mixed(draw, pages) % pages.max(1);
        match medium.read(number * PAGE_BYTES, &mut page) {
            Err(Fault::Gone | Fault::Hung) => break,
            Err(_) => {}
            Ok(()) => {
                let at_home = |stamp: &Stamp| stamp.address == number * PAGE_SECTORS;
                if let Some(stamp) = Stamp::read(&page[..SECTOR]).filter(at_home) {
                    let count = seen.entry(stamp.unit).or_default();
                    *count += 1;
                    if *count == ENOUGH {
                        return Some(stamp.unit);
                    }
                }
            }
        }
    }
    seen.into_iter().max_by_key(|(_, count)| *count).map(|(unit, _)| unit)
}

/// Whether a medium holds the first blocks of a test of random blocks, whose number and pages are known: too few for
/// [`unit_on`] to find.
pub fn has_begun(medium: &mut dyn Medium, unit: u64, pages: u64) -> bool {
    let mut page = vec![0; PAGE_BYTES as usize];
    (0..PLACES.min(pages)).any(|place| {
        let number = block_at(unit, 1, place, pages);
        let read = medium.read(number * PAGE_BYTES, &mut page).is_ok();
        let ours = |stamp: Stamp| stamp.unit == unit && stamp.address == number * PAGE_SECTORS;
        read && Stamp::read(&page[..SECTOR]).is_some_and(ours)
    })
}
