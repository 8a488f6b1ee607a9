//! Writes stamps in rounds that double, and reads all of them back after each, until a fake is proved.

use assay_core::verification::SectorClass;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::pages::{End, STAMP, classify, stamp};

/// At least this many stamps of a round are lost on a fake: a single one may be a worn block.
const LEAST_LOST: usize = 2;
/// At least this share is lost too: a fake announces a twentieth too much or more.
const LEAST_SHARE: f64 = 0.05;
/// Of at least `ENOUGH` places, at least `LAST_LOST` are lost, and these are exactly the last ones. The probability
/// that wear does this is less than 10^-4.
const ENOUGH: usize = 32;
const LAST_LOST: usize = 4;
/// Places that held and are written once more, if something was lost or erred. A medium that stopped working does not
/// keep that.
pub(crate) const AGAIN: usize = 8;

/// Places all over the medium, each with one stamp. Any operation may end the check.
pub(crate) trait Spread {
    /// Why the check ends.
    type StopReason;
    fn places(&self) -> usize;
    /// Address of a place on the device, if the file system reports it.
    fn address(&mut self, place: usize) -> Option<u64>;
    /// `false` if the medium errs.
    fn write(&mut self, place: usize, page: &[u8; STAMP]) -> Result<bool, Self::StopReason>;
    /// `false` if the place cannot be read.
    fn read(&mut self, place: usize, page: &mut [u8; STAMP]) -> Result<bool, Self::StopReason>;
    /// Flushes everything and drops what is cached; `false` if the medium errs.
    fn settle(&mut self) -> Result<bool, Self::StopReason>;
    /// Writes a run of pages at one end of the space; `false` if the medium errs. After both runs, no cache of a
    /// controller still holds the stamps.
    fn write_run(&mut self, end: End) -> Result<bool, Self::StopReason>;
    /// Findings for both runs.
    fn read_run(&mut self) -> Result<Ran, Self::StopReason>;
    /// Whether a stamp is also at another address than its own, read past the file system. False if that cannot be
    /// read.
    fn stands_twice(&mut self) -> Result<bool, Self::StopReason>;
    /// Whether the page with this name holds what was written to it.
    fn owner_stands(&mut self, owner: u64) -> Result<bool, Self::StopReason>;
}

/// Findings for the runs of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Ran {
    /// Pages that do not hold what was written.
    pub(crate) lost: usize,
    /// Name of the other page whose content was found in one of them, if any.
    pub(crate) owner: Option<u64>,
}

/// Findings of the check; `None` for a place that was never read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Probed {
    pub(crate) classes: Vec<Option<(SectorClass, Option<u64>)>>,
    /// Enough is lost to prove a fake.
    pub(crate) proved: bool,
    /// Two places share memory: what is written to one is also found at the other.
    pub(crate) shared: bool,
    /// Both runs were written before the last reading: no cache shows stamps any more.
    pub(crate) evicted: bool,
    /// Pages of the runs that are lost.
    pub(crate) run_lost: usize,
    /// The medium erred, or a file system did not find its tables.
    pub(crate) erred: bool,
    /// Places that held before take no writes any more.
    pub(crate) stopped: bool,
}

impl Probed {
    /// Without findings, for this number of places.
    pub(crate) fn none(places: usize) -> Self {
        let classes = vec![None; places];
        Self { classes, proved: false, shared: false, evicted: false, run_lost: 0, erred: false, stopped: false }
    }
}

/// First, last, and then ever finer between them: the bit-reversed sequence of van der Corput (1935).
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

/// Writes stamps and reads them back. `report` gets the number of operations done, and the total.
pub(crate) fn probe<S: Spread>(
    spread: &mut S,
    salt: u64,
    probed: &mut Probed,
    report: &mut dyn FnMut(u64, u64),
) -> Result<(), S::StopReason> {
    let order = order(spread.places());
    let places = order.len();
    let random = Xoshiro256PlusPlus::seed_from_u64(salt);
    // Each round reads all places before it: two readings of each place, and two more after the runs.
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
    // The lower run first: on a fake it lies on the real part, and the upper run overwrites places below.
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

/// A check in progress.
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

    /// Reads `places` in random order. Returns whether they prove a fake.
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
        // A stamp that is only at another place was misplaced, so it proves no shared memory.
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

    /// A medium that stopped working keeps nothing that is written now. A fake with a destroyed file system errs as
    /// well, but still takes writes where it has memory.
    fn conclude(self) -> Result<(), S::StopReason> {
        let Self { spread, salt, probed, held, .. } = self;
        if !probed.shared && (probed.erred || probed.run_lost > 0) {
            probed.stopped = !still_stores(spread, &held, !salt)?;
        }
        probed.proved &= !probed.stopped;
        Ok(())
    }
}

/// Whether the lost places are those with the highest addresses, however few: the medium ends there.
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

/// Whether places that `held` still take writes, even if those land at another address. True if none held.
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

/// Whether too many places hold foreign data.
fn proof(classes: &[Option<(SectorClass, Option<u64>)>], stamped: usize) -> bool {
    let corrupted = classes.iter().flatten().filter(|(found, _)| *found == SectorClass::Corrupted).count();
    corrupted >= LEAST_LOST && corrupted as f64 >= LEAST_SHARE * stamped as f64
}

/// Fisher-Yates shuffle. The bias of the remainder does not matter here.
fn shuffle(places: &mut [usize], random: &mut Xoshiro256PlusPlus) {
    for last in (1..places.len()).rev() {
        places.swap(last, (random.next_u64() % (last as u64 + 1)) as usize);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::convert::Infallible;

    use super::*;

    /// Announces `places`, has `real`, and shows the latest writes from a cache until it is evicted.
    struct Fake {
        places: usize,
        real: usize,
        wraps: bool,
        worn: Option<usize>,
        cells: HashMap<usize, [u8; STAMP]>,
        cache: HashMap<usize, [u8; STAMP]>,
        cached: bool,
        writes: usize,
        /// Writes after this number are dropped; each run counts as one.
        lasts: usize,
        /// Runs that were written and not dropped.
        runs: usize,
        /// Data sent to either of these land at the other.
        swapped: Option<(usize, usize)>,
        /// Writes to every place with this remainder of 10 err.
        refuses: Option<usize>,
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
                refuses: None,
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
            if self.refuses == Some(place % 10) {
                return Ok(false);
            }
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

    /// Less than a twentieth is lost, all of it at the end: the memory ends there, and it is not wear.
    #[test]
    fn a_little_that_is_missing_at_the_end_is_a_fake() {
        assert!(Fake::new(1000, 990, false).probed().proved);
        assert!(!Fake::new(1000, 998, false).probed().proved, "two may be worn");
        let classes: Vec<_> = (0..1000)
            .map(|place| Some((if place % 100 == 99 { SectorClass::Corrupted } else { SectorClass::Good }, None)))
            .collect();
        assert!(!lacks_the_end(&mut Fake::new(1000, 1000, false), &classes), "here and there");
    }

    /// All stamps hold, but nothing that came after them: the medium was called genuine.
    #[test]
    fn a_medium_that_takes_no_more_writes_is_told_from_one_that_lacks_memory() {
        let mut stops = Fake { lasts: 1000, ..Fake::new(1000, 1000, false) };
        let found = stops.probed();
        assert!(found.stopped && found.run_lost == 2 && !found.proved, "{found:?}");
        let found = Fake::new(1000, 1000, false).probed();
        assert!(!found.stopped && found.run_lost == 0);
        // In the last round, the second half is lost.
        let found = Fake { lasts: 700, ..Fake::new(1000, 1000, false) }.probed();
        assert!(found.proved && !found.stopped, "without an error that is a fake's: {found:?}");
    }

    /// What stands where the medium refused a stamp is old, and not foreign: a medium with errors is no fake.
    #[test]
    fn places_that_refuse_writes_err_and_make_no_fake() {
        let found = Fake { refuses: Some(7), ..Fake::new(1000, 1000, false) }.probed();
        assert!(found.erred && !found.proved && !found.stopped, "{found:?}");
        for (place, class) in found.classes.iter().enumerate() {
            let expected = if place % 10 == 7 { SectorClass::Unreadable } else { SectorClass::Good };
            assert_eq!(*class, Some((expected, None)), "{place}");
        }
    }

    /// Two places whose data are at each other's address are all there: a fake has fewer.
    #[test]
    fn places_that_are_exchanged_make_no_fake() {
        let found = Fake { swapped: Some((300, 700)), ..Fake::new(1000, 1000, false) }.probed();
        assert!(!found.proved && !found.shared, "{found:?}");
        let overwritten =
            |class: &&Option<(SectorClass, Option<u64>)>| matches!(class, Some((SectorClass::Overwritten, Some(_))));
        assert_eq!(found.classes.iter().filter(overwritten).count(), 2);
    }
}
