//! Places that held what was written, looked at when something fails: a place that fails alone is a failure of the medium,
//! while a medium on which nothing holds may have lost its reader.

use std::ops::RangeInclusive;

use assay_core::endurance::WearLoad;

use crate::layout::{Layout, PAGE_BYTES, PAGE_SECTORS, Task, block_at};
use crate::medium::{Fault, Medium, Trouble};
use crate::stamp::{SECTOR, Stamp, mixed};
use crate::state::State;

/// Places that are looked at.
const PLACES: usize = 32;
/// Draws for them.
const DRAWS: u64 = 256;

/// What the places show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Looked {
    /// At least one holds what was written, or there is none to look at.
    Holds,
    /// None does.
    Trouble(Trouble),
}

/// Reads places that should hold what was written. The first that does is enough.
pub(crate) fn look(medium: &mut dyn Medium, state: &State, task: Task, page: &mut [u8]) -> Looked {
    let (mut errors, mut newer, mut others, mut all) = (0, 0, 0, 0);
    for (number, rounds) in places(state, task) {
        all += 1;
        match medium.read(number * PAGE_BYTES, page) {
            Err(Fault::Gone) => return Looked::Trouble(Trouble::Gone),
            Err(Fault::Hung) => return Looked::Trouble(Trouble::Hung),
            Err(Fault::Errs | Fault::ReadOnly) => errors += 1,
            Ok(()) => match Stamp::read(&page[..SECTOR]) {
                Some(stamp) if stamp.unit != state.layout().unit => others += 1,
                Some(stamp) if stamp.address != number * PAGE_SECTORS => {}
                Some(stamp) if rounds.contains(&stamp.round) => return Looked::Holds,
                Some(stamp) if stamp.round > *rounds.end() => newer += 1,
                // An earlier cycle: that it drops writes is only shown by writing.
                Some(_) => {}
                None => {}
            },
        }
    }
    Looked::Trouble(match all {
        0 => return answers(medium, page),
        _ if errors == all => Trouble::OnlyErrors,
        _ if 2 * newer >= all => Trouble::LogBehind,
        _ if 2 * others >= all => Trouble::Exchanged,
        _ => Trouble::LostAll,
    })
}

/// Places of a later cycle that are looked for.
const LATER: u64 = 64;

/// Whether the medium holds a cycle that is later than that of the log: then the log is an older copy, and what the medium holds
/// must not be taken for lost. The first pages that the next cycle writes are read, and pages all over the area.
pub(crate) fn holds_later(medium: &mut dyn Medium, state: &State, task: Task, page: &mut [u8]) -> bool {
    let layout = *state.layout();
    let next = Task { cycle: task.cycle + 1, ..Task::FIRST };
    let first = match layout.load {
        WearLoad::RandomSync { .. } => {
            (0..4).map(|place| block_at(layout.unit, next.cycle, place, layout.pages)).collect()
        }
        WearLoad::Whole | WearLoad::Other => vec![layout.slice(next.slice(layout.unit)).start],
    };
    let anywhere = (0..LATER).map(|draw| mixed(layout.unit ^ draw, task.cycle) % layout.pages);
    first.into_iter().chain(anywhere).any(|number| {
        let is_later = |stamp: Stamp| {
            stamp.unit == layout.unit && stamp.address == number * PAGE_SECTORS && stamp.round > task.cycle
        };
        medium.read(number * PAGE_BYTES, page).is_ok() && Stamp::read(&page[..SECTOR]).is_some_and(is_later)
    })
}

/// Where no place is known to hold anything, an answer is all that can be asked for.
fn answers(medium: &mut dyn Medium, page: &mut [u8]) -> Looked {
    match medium.read(0, page) {
        Ok(()) => Looked::Holds,
        Err(Fault::Gone) => Looked::Trouble(Trouble::Gone),
        Err(Fault::Hung) => Looked::Trouble(Trouble::Hung),
        Err(Fault::Errs | Fault::ReadOnly) => Looked::Trouble(Trouble::OnlyErrors),
    }
}

/// Writes to these places what they hold already; whether one takes it. `None` where there is no place.
pub(crate) fn takes_writes(medium: &mut dyn Medium, state: &State, task: Task, page: &mut [u8]) -> Option<bool> {
    let mut found = None;
    for (number, _) in places(state, task) {
        let ours = |stamp: Stamp| stamp.unit == state.layout().unit && stamp.address == number * PAGE_SECTORS;
        let read = medium.read(number * PAGE_BYTES, page).is_ok();
        if !read || !Stamp::read(&page[..SECTOR]).is_some_and(ours) {
            continue;
        }
        if medium.write(number * PAGE_BYTES, page).and_then(|()| medium.sync()).is_ok() {
            return Some(true);
        }
        found = Some(false);
    }
    found
}

/// The content of pages from `page` on.
pub(crate) fn fill(layout: &Layout, page: u64, round: u64, bytes: &mut [u8]) {
    let first = page * PAGE_SECTORS;
    for (sector, address) in bytes.chunks_exact_mut(SECTOR).zip(first..) {
        Stamp { unit: layout.unit, round, address }.fill(sector);
    }
}

/// Pages that never failed, with the cycles whose stamp they may hold.
fn places(state: &State, task: Task) -> Vec<(u64, RangeInclusive<u64>)> {
    let layout = state.layout();
    let mut places = Vec::new();
    for draw in 0..DRAWS {
        let page = mixed(layout.unit ^ draw, task.cycle * 64 + task.index) % layout.pages;
        let fine = state.failed().count(page * PAGE_SECTORS..(page + 1) * PAGE_SECTORS) == 0;
        let rounds = match (layout.round_of(page, task), layout.load) {
            (Some(round), _) => round..=round,
            (None, WearLoad::RandomSync { .. }) => task.cycle - 1..=task.cycle,
            (None, _) => continue,
        };
        if fine && *rounds.start() > 0 {
            places.push((page, rounds));
            if places.len() == PLACES {
                break;
            }
        }
    }
    places
}
