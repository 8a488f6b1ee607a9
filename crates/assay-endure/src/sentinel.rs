//! Places that held what was written, looked at when something fails: a place that fails alone is a failure of the medium,
//! while a medium on which nothing holds may have lost its reader.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use assay_core::endurance::WearLoad;

use crate::layout::{Layout, PAGE_BYTES, PAGE_SECTORS, Phase, SLICES, Task};
use crate::medium::{Fault, Medium, Trouble};
use crate::stamp::{SECTOR, Stamp, mixed};
use crate::state::State;

/// Places that are looked at first.
const PLACES: usize = 32;
/// Places that are looked at where none of those holds. Of a medium that keeps one place in a hundred none is among them once in
/// 30,000 times (0.99^1024).
pub(crate) const MORE: usize = 1024;
/// Draws for each place that is wanted.
const DRAWS: usize = 8;
/// Readings of a place, after the first, that have to hold, too.
const SURE: usize = 4;
/// Time for the many: one that errs may take a second.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// What the places show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Looked {
    /// At least one holds what was written, or there is none to look at.
    Holds,
    /// None does.
    Trouble(Trouble),
}

/// How often a place has to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Readings {
    /// Once, unless another did not hold before it.
    Once,
    /// Each time of several: a reader that gives errors may work now and then.
    Several,
    /// Once, at all places: the medium shows content of another test.
    Every,
}

/// A page, with the cycles whose stamp it may hold.
type Place = (u64, RangeInclusive<u64>);

/// What a place shows.
enum Shown {
    Holds,
    Errs,
    /// Of the test, and of a later cycle.
    Newer,
    /// Of another test.
    Other,
    /// An earlier cycle, another address, or no stamp. That a medium drops writes is only shown by writing.
    Nothing,
}

/// Reads places that should hold what was written. The first that does is enough.
pub(crate) fn look(medium: &mut dyn Medium, state: &State, task: Task, readings: Readings, page: &mut [u8]) -> Looked {
    let first = places(state, task, PLACES);
    let looked = look_at(medium, state, task, &first, readings, page);
    let more_may_hold = match looked {
        Looked::Trouble(Trouble::OnlyErrors | Trouble::LostAll) => true,
        // In the first cycle a medium that loses nearly all still shows what an earlier test left.
        Looked::Trouble(Trouble::Exchanged) => task.cycle == 1,
        _ => false,
    };
    if !more_may_hold {
        return looked;
    }
    match few_hold(medium, state, task, &first, page) {
        Ok(true) => Looked::Holds,
        Ok(false) => looked,
        Err(trouble) => Looked::Trouble(trouble),
    }
}

fn look_at(
    medium: &mut dyn Medium,
    state: &State,
    task: Task,
    places: &[Place],
    mut readings: Readings,
    page: &mut [u8],
) -> Looked {
    let every = readings == Readings::Every;
    let (mut holds, mut errors, mut newer, mut others, all) = (0, 0, 0, 0, places.len());
    for place in places {
        match shown_by(medium, state, place, readings, page) {
            // Where another test wrote, its share of the places decides.
            Ok(Shown::Holds) if others == 0 && !every => return Looked::Holds,
            Ok(Shown::Holds) => holds += 1,
            Ok(Shown::Errs) => errors += 1,
            Ok(Shown::Newer) => newer += 1,
            Ok(Shown::Other) => others += 1,
            Ok(Shown::Nothing) => {}
            Err(trouble) => return Looked::Trouble(trouble),
        }
        readings = Readings::Several;
    }
    Looked::Trouble(match all {
        0 => return answers(medium, page),
        _ if errors == all => Trouble::OnlyErrors,
        _ if 2 * newer >= all => Trouble::LogBehind,
        // In the first cycle a write that was lost leaves what an earlier test wrote; later it leaves the cycle before.
        _ if 2 * others >= all && (task.cycle > 1 || holds == 0) => Trouble::Exchanged,
        _ if holds > 0 => return Looked::Holds,
        _ => Trouble::LostAll,
    })
}

/// What a place shows in each of its readings, or in the one that shows something else.
fn shown_by(
    medium: &mut dyn Medium,
    state: &State,
    place: &Place,
    readings: Readings,
    page: &mut [u8],
) -> Result<Shown, Trouble> {
    let mut seen = shown(medium, state, place, page)?;
    for _ in 0..if readings == Readings::Once { 0 } else { SURE } {
        if !matches!(seen, Shown::Holds) {
            break;
        }
        seen = shown(medium, state, place, page)?;
    }
    Ok(seen)
}

fn shown(medium: &mut dyn Medium, state: &State, place: &Place, page: &mut [u8]) -> Result<Shown, Trouble> {
    let (number, rounds) = place;
    match medium.read(number * PAGE_BYTES, page) {
        Err(Fault::Gone) => return Err(Trouble::Gone),
        Err(Fault::Hung) => return Err(Trouble::Hung),
        Err(Fault::Errs | Fault::ReadOnly) => return Ok(Shown::Errs),
        Ok(()) => {}
    }
    Ok(match Stamp::read(&page[..SECTOR]) {
        Some(stamp) if stamp.unit == Stamp::tried(state.layout().unit) => Shown::Nothing,
        Some(stamp) if stamp.unit != state.layout().unit => Shown::Other,
        Some(stamp) if stamp.address != number * PAGE_SECTORS => Shown::Nothing,
        Some(stamp) if rounds.contains(&stamp.round) => Shown::Holds,
        Some(stamp) if stamp.round > *rounds.end() => Shown::Newer,
        Some(_) | None => Shown::Nothing,
    })
}

/// Whether a few places hold where the first ones do not: then the way to the medium works, and what it lost is its own. A reader
/// that works now and then holds such a place once and not each time; where the first places hold again, it was something else
/// that has passed.
fn few_hold(
    medium: &mut dyn Medium,
    state: &State,
    task: Task,
    first: &[Place],
    page: &mut [u8],
) -> Result<bool, Trouble> {
    let began = Instant::now();
    for place in more(state, task) {
        if began.elapsed() > PATIENCE {
            break;
        }
        if !matches!(shown_by(medium, state, &place, Readings::Several, page)?, Shown::Holds) {
            continue;
        }
        for passed in first {
            if matches!(shown(medium, state, passed, page)?, Shown::Holds) {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    Ok(false)
}

/// Places of a later cycle that are looked for.
const LATER: u64 = 64;

/// The number of slices by which a medium may be ahead of the log: the slice under way, and one whose entry a power cut lost.
const AHEAD: u64 = 2;

/// Pages of a slice that are read for it: the first, and as many that are spread over it, since any of them may have died.
const OF_SLICE: u64 = 4;

/// Whether the medium holds what is later than the log: then the log is an older copy, and what the medium holds must not be
/// taken for lost. Read are pages of the first slice that the next cycle writes, of the slices of this cycle that are not under
/// way yet, and of all the area.
pub(crate) fn holds_later(medium: &mut dyn Medium, state: &State, task: Task, page: &mut [u8]) -> bool {
    let layout = *state.layout();
    let some_of = |task: Task| {
        let numbers = layout.numbers_of(task);
        let step = ((numbers.end - numbers.start) / OF_SLICE).max(1) as usize;
        let first = layout.written_by(task).take(OF_SLICE as usize);
        first.chain(numbers.step_by(step).skip(1).map(move |number| layout.page_of(task, number)))
    };
    let next = some_of(Task { cycle: task.cycle + 1, ..Task::FIRST });
    let from = if task.phase == Phase::Write { task.index + AHEAD } else { SLICES };
    let of_cycle = (from..SLICES).flat_map(|index| some_of(Task { index, ..task })).map(|page| (page, task.cycle - 1));
    let anywhere = (0..LATER).map(|draw| mixed(layout.unit ^ draw, task.cycle) % layout.pages);
    let began = Instant::now();
    let in_time = |_: &(u64, u64)| began.elapsed() <= PATIENCE;
    of_cycle.chain(next.chain(anywhere).map(|page| (page, task.cycle))).take_while(in_time).any(|(number, latest)| {
        let is_later =
            |stamp: Stamp| stamp.unit == layout.unit && stamp.address == number * PAGE_SECTORS && stamp.round > latest;
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
    let (mut found, began) = (None, Instant::now());
    for (number, _) in places(state, task, PLACES).into_iter().chain(more(state, task)) {
        if began.elapsed() > PATIENCE {
            break;
        }
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

/// The many places, each once.
fn more(state: &State, task: Task) -> Vec<Place> {
    let mut seen = BTreeSet::new();
    let mut places = places(state, task, PLACES + MORE);
    places.retain(|(page, _)| seen.insert(*page));
    places
}

/// Pages that never failed, with the cycles whose stamp they may hold.
fn places(state: &State, task: Task, wanted: usize) -> Vec<Place> {
    let layout = state.layout();
    let mut places = Vec::new();
    for draw in 0..(DRAWS * wanted) as u64 {
        let page = mixed(layout.unit ^ draw, task.cycle * 64 + task.index) % layout.pages;
        let fine = state.failed().count(page * PAGE_SECTORS..(page + 1) * PAGE_SECTORS) == 0;
        let rounds = match (layout.round_of(page, task), layout.load) {
            (Some(round), _) => round..=round,
            (None, WearLoad::RandomSync { .. }) => task.cycle - 1..=task.cycle,
            (None, _) => continue,
        };
        if fine && *rounds.start() > 0 {
            places.push((page, rounds));
            if places.len() == wanted {
                break;
            }
        }
    }
    places
}
