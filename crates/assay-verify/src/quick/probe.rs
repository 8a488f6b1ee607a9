//! Stamps in rounds that double, each read back with all before it, until a fake is proved.

use assay_core::verification::SectorClass;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::run::End;
use super::stamp::{STAMP, classify, stamp};

/// Of the stamps of a round, at least this many lost make a fake: one alone may be a worn block.
const LEAST_LOST: usize = 2;
/// And at least this share: a fake announces a twentieth too much or more.
const LEAST_SHARE: f64 = 0.05;
/// Of at least so many places, at least so many are lost, and these are all that lie behind the others: that places
/// that are worn do so has a probability of less than 10^-4.
const ENOUGH: usize = 32;
const LAST_LOST: usize = 4;
/// Places that held which are written once more where something was lost or erred: a medium that stopped working
/// keeps nothing of that.
const AGAIN: usize = 8;

/// Places all over the medium, each of one stamp. Everything may end the check.
pub(crate) trait Spread {
    /// Why the check ends.
    type StopReason;
    fn places(&self) -> usize;
    /// Where a place lies on the device, as far as the file system tells.
    fn address(&mut self, place: usize) -> Option<u64>;
    /// `false` where the medium errs.
    fn write(&mut self, place: usize, page: &[u8; STAMP]) -> Result<bool, Self::StopReason>;
    /// `false` where the place cannot be read.
    fn read(&mut self, place: usize, page: &mut [u8; STAMP]) -> Result<bool, Self::StopReason>;
    /// Makes all durable and forgets what is cached; `false` where the medium errs.
    fn settle(&mut self) -> Result<bool, Self::StopReason>;
    /// Writes a run of pages at one end of the space; `false` where the medium errs. No cache of a controller still holds
    /// the stamps after both.
    fn write_run(&mut self, end: End) -> Result<bool, Self::StopReason>;
    /// What became of both.
    fn read_run(&mut self) -> Result<Ran, Self::StopReason>;
    /// Looks past the file system whether a stamp stands at another address than its own, too. False where that cannot be
    /// looked at.
    fn stands_twice(&mut self) -> Result<bool, Self::StopReason>;
    /// Whether the page of this name holds what was written to it.
    fn owner_stands(&mut self, owner: u64) -> Result<bool, Self::StopReason>;
}

/// What became of the runs of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Ran {
    /// Pages that do not hold what was written.
    pub(crate) lost: usize,
    /// Whose is what stands in one of them, where it is another's.
    pub(crate) owner: Option<u64>,
}

/// What was found; a place that was never read has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Probed {
    pub(crate) classes: Vec<Option<(SectorClass, Option<u64>)>>,
    /// Enough is lost for a fake.
    pub(crate) proved: bool,
    /// Two places are one: what is written to one stands at the other, too.
    pub(crate) shared: bool,
    /// Both runs were written before the last reading: no cache shows stamps any more.
    pub(crate) evicted: bool,
    /// Pages of the runs that are not there.
    pub(crate) run_lost: usize,
    /// Something erred: the medium, or a file system that does not find its tables.
    pub(crate) erred: bool,
    /// Places that held take nothing any more.
    pub(crate) stopped: bool,
}

impl Probed {
    /// Of so many places.
    pub(crate) fn none(places: usize) -> Self {
        let classes = vec![None; places];
        Self { classes, proved: false, shared: false, evicted: false, run_lost: 0, erred: false, stopped: false }
    }
}

/// First, last, and then ever finer between: the bit-reversed sequence of van der Corput (1935).
pub(crate) fn order(places: usize) -> Vec<usize> {
    let bits = places.next_power_of_two().trailing_zeros();
    let reversed = |index: usize| if bits == 0 { 0 } else { index.reverse_bits() >> (usize::BITS - bits) };
    let mut order: Vec<usize> = (0..places.next_power_of_two()).map(reversed).filter(|p| *p < places).collect();
    let last = places.saturating_sub(1);
    order.retain(|place| *place != last || places == 1);
    if places > 1 {
        order.insert(1, last);
    }
    order
}

/// Stamps and reads back. `report` hears how many operations of how many are done.
pub(crate) fn probe<S: Spread>(
    spread: &mut S,
    salt: u64,
    probed: &mut Probed,
    report: &mut dyn FnMut(u64, u64),
) -> Result<(), S::StopReason> {
    let order = order(spread.places());
    let places = order.len();
    let random = Xoshiro256PlusPlus::seed_from_u64(salt);
    // Each round reads all before it: two readings of each place, and two more after the runs.
    let progress = Progress { done: 0, total: places as u64 * 5, report };
    let (held, refused) = (vec![false; places], vec![false; places]);
    let mut work = Work { spread, salt, probed, progress, random, held, refused };
    let (mut stamped, mut round) = (0, 2);
    while stamped < places {
        let end = round.min(places);
        work.stamp(&order[stamped..end])?;
        stamped = end;
        round *= 2;
        if work.reads_back(&order[..stamped])? {
            return work.conclude();
        }
    }
    if work.stands_twice()? {
        return work.conclude();
    }
    // The lower run first: on a fake it lies on what it has, and the other one on what stands below.
    for end in [End::Low, End::High] {
        let taken = work.spread.write_run(end)?;
        work.probed.erred |= !taken;
        work.probed.evicted = end == End::High;
        if work.reads_back(&order)? {
            return work.conclude();
        }
    }
    let ran = work.spread.read_run()?;
    work.probed.run_lost = ran.lost;
    if let Some(owner) = ran.owner {
        work.probed.shared |= work.spread.owner_stands(owner)?;
    }
    work.probed.proved = work.probed.shared || lacks_the_end(work.spread, &work.probed.classes);
    work.conclude()
}

struct Progress<'a> {
    done: u64,
    total: u64,
    report: &'a mut dyn FnMut(u64, u64),
}

impl Progress<'_> {
    fn step(&mut self) {
        self.done += 1;
        (self.report)(self.done.min(self.total), self.total);
    }
}

/// A check under way.
struct Work<'a, S: Spread> {
    spread: &'a mut S,
    salt: u64,
    probed: &'a mut Probed,
    progress: Progress<'a>,
    random: Xoshiro256PlusPlus,
    /// Places that held their stamp at some time.
    held: Vec<bool>,
    /// Places that could not be written.
    refused: Vec<bool>,
}

impl<S: Spread> Work<'_, S> {
    fn stamp(&mut self, places: &[usize]) -> Result<(), S::StopReason> {
        let mut page = [0; STAMP];
        for place in places {
            stamp(&mut page, self.salt, *place as u64);
            self.refused[*place] = !self.spread.write(*place, &page)?;
            self.progress.step();
        }
        Ok(())
    }

    /// Reads `places` in any order; whether they prove a fake.
    fn reads_back(&mut self, places: &[usize]) -> Result<bool, S::StopReason> {
        self.probed.erred |= !self.spread.settle()?;
        let mut back = places.to_vec();
        shuffle(&mut back, &mut self.random);
        let (mut page, mut owner) = ([0; STAMP], None);
        for place in back {
            let class = if !self.refused[place] && self.spread.read(place, &mut page)? {
                classify(&page, self.salt, place as u64)
            } else {
                self.probed.erred = true;
                (SectorClass::Unreadable, None)
            };
            self.held[place] |= class.0 == SectorClass::Good;
            owner = owner.or(class.1);
            self.probed.classes[place] = Some(class);
            self.progress.step();
        }
        // What stands in another's place alone was misplaced.
        if let Some(owner) = owner {
            self.probed.shared |= self.spread.owner_stands(owner)?;
        }
        self.probed.proved = self.probed.shared || proof(&self.probed.classes, places.len());
        Ok(self.probed.proved)
    }

    fn stands_twice(&mut self) -> Result<bool, S::StopReason> {
        self.probed.shared |= self.spread.stands_twice()?;
        self.probed.proved |= self.probed.shared;
        Ok(self.probed.shared)
    }

    /// A medium that stopped working keeps nothing that is written now. A fake whose file system is destroyed errs as
    /// well, and still takes what is written where it has memory.
    fn conclude(self) -> Result<(), S::StopReason> {
        let Self { spread, salt, probed, held, .. } = self;
        if !probed.shared && (probed.erred || probed.run_lost > 0) {
            probed.stopped = !still_stores(spread, &held, !salt)?;
        }
        probed.proved &= !probed.stopped;
        Ok(())
    }
}

/// Whether the places that are lost are those with the highest addresses, however few: the medium ends there.
fn lacks_the_end<S: Spread>(spread: &mut S, classes: &[Option<(SectorClass, Option<u64>)>]) -> bool {
    let lost = |class: &Option<(SectorClass, Option<u64>)>| !matches!(class, Some((SectorClass::Good, _)));
    let all = classes.iter().filter(|class| lost(class)).count();
    if classes.len() < ENOUGH || !(LAST_LOST..classes.len()).contains(&all) {
        return false;
    }
    let addressed: Option<Vec<(u64, bool)>> =
        classes.iter().enumerate().map(|(place, class)| Some((spread.address(place)?, lost(class)))).collect();
    let Some(mut addressed) = addressed else { return false };
    addressed.sort_unstable();
    addressed[addressed.len() - all..].iter().all(|(_, lost)| *lost)
}

/// Whether places that `held` still take what is written, be it under another's address. True where none held.
fn still_stores<S: Spread>(spread: &mut S, held: &[bool], salt: u64) -> Result<bool, S::StopReason> {
    let held: Vec<usize> = (0..held.len()).filter(|place| held[*place]).collect();
    let step = held.len().div_ceil(AGAIN).max(1);
    let again: Vec<usize> = held.into_iter().step_by(step).collect();
    let mut page = [0; STAMP];
    for place in &again {
        stamp(&mut page, salt, *place as u64);
        spread.write(*place, &page)?;
    }
    spread.settle()?;
    let mut took = 0;
    for place in &again {
        let here = spread.read(*place, &mut page)? && classify(&page, salt, *place as u64).0 != SectorClass::Corrupted;
        took += usize::from(here);
    }
    Ok(took * 2 >= again.len())
}

/// Whether too many places hold nothing of ours.
fn proof(classes: &[Option<(SectorClass, Option<u64>)>], stamped: usize) -> bool {
    let corrupted = classes.iter().flatten().filter(|(found, _)| *found == SectorClass::Corrupted).count();
    corrupted >= LEAST_LOST && corrupted as f64 >= LEAST_SHARE * stamped as f64
}

/// Fisher and Yates; the bias of the remainder is no matter here.
fn shuffle(places: &mut [usize], random: &mut Xoshiro256PlusPlus) {
    for last in (1..places.len()).rev() {
        places.swap(last, (random.next_u64() % (last as u64 + 1)) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use std::convert::Infallible;

    /// Announces `places`, has `real`, and shows the latest writes from a cache until driven out.
    struct Fake {
        places: usize,
        real: usize,
        wraps: bool,
        worn: Option<usize>,
        cells: HashMap<usize, [u8; STAMP]>,
        cache: HashMap<usize, [u8; STAMP]>,
        cached: bool,
        writes: usize,
        /// From so many writes on, each run counting as one, it drops them.
        lasts: usize,
        /// Runs that were written and not dropped.
        runs: usize,
        /// What is sent to either of these lands at the other.
        swapped: Option<(usize, usize)>,
    }

    impl Fake {
        fn new(places: usize, real: usize, wraps: bool) -> Self {
            let (cells, cache) = (HashMap::new(), HashMap::new());
            Self {
                places,
                real,
                wraps,
                worn: None,
                cells,
                cache,
                cached: false,
                writes: 0,
                lasts: usize::MAX,
                runs: 0,
                swapped: None,
            }
        }

        fn probed(&mut self) -> Probed {
            let mut probed = Probed::none(self.places);
            let Ok(()) = probe(self, 77, &mut probed, &mut |_, _| {});
            probed
        }
    }

    impl Spread for Fake {
        type StopReason = Infallible;

        fn places(&self) -> usize {
            self.places
        }

        fn address(&mut self, place: usize) -> Option<u64> {
            Some(place as u64)
        }

        fn write(&mut self, place: usize, page: &[u8; STAMP]) -> Result<bool, Infallible> {
            self.writes += 1;
            if self.writes > self.lasts {
                return Ok(true);
            }
            if self.cached {
                self.cache.insert(place, *page);
            }
            let place = match self.swapped {
                Some((one, other)) if place == one => other,
                Some((one, other)) if place == other => one,
                _ => place,
            };
            let cell = if self.wraps { place % self.real } else { place };
            if cell < self.real && self.worn != Some(cell) {
                self.cells.insert(cell, *page);
            }
            Ok(true)
        }

        fn read(&mut self, place: usize, page: &mut [u8; STAMP]) -> Result<bool, Infallible> {
            let cell = if self.wraps { place % self.real } else { place };
            *page = self.cache.get(&place).or(self.cells.get(&cell)).copied().unwrap_or([0; STAMP]);
            Ok(true)
        }

        fn settle(&mut self) -> Result<bool, Infallible> {
            Ok(true)
        }

        fn write_run(&mut self, _: End) -> Result<bool, Infallible> {
            self.cache.clear();
            self.writes += 1;
            self.runs += usize::from(self.writes <= self.lasts);
            Ok(true)
        }

        fn read_run(&mut self) -> Result<Ran, Infallible> {
            Ok(Ran { lost: 2 - self.runs, owner: None })
        }

        fn stands_twice(&mut self) -> Result<bool, Infallible> {
            Ok(false)
        }

        fn owner_stands(&mut self, owner: u64) -> Result<bool, Infallible> {
            let mut page = [0; STAMP];
            self.read(owner as usize, &mut page)?;
            Ok(classify(&page, 77, owner).0 == SectorClass::Good)
        }
    }

    #[test]
    fn the_order_is_all_places_ends_first() {
        assert_eq!(order(8), [0, 7, 4, 2, 6, 1, 5, 3]);
        for places in [1, 2, 3, 100, 1024] {
            let mut all = order(places);
            assert!(places < 2 || all[1] == places - 1);
            all.sort_unstable();
            assert_eq!(all, (0..places).collect::<Vec<_>>());
        }
    }

    #[test]
    fn fakes_are_found_early_and_a_genuine_one_is_not_accused() {
        let mut genuine = Fake::new(1000, 1000, false);
        let found = genuine.probed();
        assert!(!found.proved && found.classes.iter().all(|class| *class == Some((SectorClass::Good, None))));
        for (real, most) in [(500, 8), (125, 4), (950, 64)] {
            for wraps in [false, true] {
                let mut fake = Fake::new(1000, real, wraps);
                assert!(fake.probed().proved, "{real} {wraps}");
                assert!(wraps || fake.writes <= most, "{real}: {}", fake.writes);
            }
        }
    }

    #[test]
    fn one_worn_block_is_no_fake_and_a_cache_hides_nothing() {
        let mut worn = Fake { worn: Some(999), ..Fake::new(1000, 1000, false) };
        let found = worn.probed();
        assert!(!found.proved);
        assert_eq!(found.classes[999], Some((SectorClass::Corrupted, None)));
        let mut hidden = Fake { cached: true, ..Fake::new(1000, 500, false) };
        assert!(hidden.probed().proved);
        assert_eq!(hidden.writes, 1001, "only the first run showed it");
    }

    /// Less than a twentieth is lost, all of it at the end: that is where the memory ends, and no wear.
    #[test]
    fn a_little_that_is_missing_at_the_end_is_a_fake() {
        assert!(Fake::new(1000, 990, false).probed().proved);
        assert!(!Fake::new(1000, 998, false).probed().proved, "two may be worn");
        let classes: Vec<_> = (0..1000)
            .map(|place| Some((if place % 100 == 99 { SectorClass::Corrupted } else { SectorClass::Good }, None)))
            .collect();
        assert!(!lacks_the_end(&mut Fake::new(1000, 1000, false), &classes), "here and there");
    }

    /// All stamps stand, and nothing that came after them: it was called genuine.
    #[test]
    fn a_medium_that_takes_no_more_writes_is_told_from_one_that_lacks_memory() {
        let mut stops = Fake { lasts: 1000, ..Fake::new(1000, 1000, false) };
        let found = stops.probed();
        assert!(found.stopped && found.run_lost == 2 && !found.proved, "{found:?}");
        let found = Fake::new(1000, 1000, false).probed();
        assert!(!found.stopped && found.run_lost == 0);
        // In the last round, of which the second half is lost.
        let found = Fake { lasts: 700, ..Fake::new(1000, 1000, false) }.probed();
        assert!(found.proved && !found.stopped, "without an error that is a fake's: {found:?}");
    }

    /// Two places whose data stand at each other's address are all there: a fake has fewer.
    #[test]
    fn places_that_are_exchanged_make_no_fake() {
        let found = Fake { swapped: Some((300, 700)), ..Fake::new(1000, 1000, false) }.probed();
        assert!(!found.proved && !found.shared, "{found:?}");
        let overwritten =
            |class: &&Option<(SectorClass, Option<u64>)>| matches!(class, Some((SectorClass::Overwritten, Some(_))));
        assert_eq!(found.classes.iter().filter(overwritten).count(), 2);
    }
}
