//! Stamps in rounds that double, each read back with all before it, until a fake is proved.

use assay_core::verification::SectorClass;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

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
    /// Writes so much else that no cache of a controller still holds the stamps; `false` where the medium errs.
    fn evict_cache(&mut self) -> Result<bool, Self::StopReason>;
    /// Whether all of that is there.
    fn evicting_file_stands(&mut self) -> Result<bool, Self::StopReason>;
}

/// What was found; a place that was never read has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Probed {
    pub(crate) classes: Vec<Option<(SectorClass, Option<u64>)>>,
    /// Enough is lost for a fake.
    pub(crate) proved: bool,
    /// Much else was written before the last reading, which may stand where stamps were.
    pub(crate) evicted: bool,
    /// Some of that is not there.
    pub(crate) evicting_file_lost: bool,
    /// Places that held take nothing any more.
    pub(crate) stopped: bool,
}

impl Probed {
    /// Of so many places.
    pub(crate) fn none(places: usize) -> Self {
        Self { classes: vec![None; places], proved: false, evicted: false, evicting_file_lost: false, stopped: false }
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
    let mut random = Xoshiro256PlusPlus::seed_from_u64(salt);
    // Each round reads all before it: two reads of each place, one more at the end.
    let (mut done, total) = (0, order.len() as u64 * 4);
    let mut page = [0; STAMP];
    let (mut stamped, mut round, mut erred) = (0, 2, false);
    let mut held = vec![false; order.len()];
    let mut refused = vec![false; order.len()];
    loop {
        let end = round.min(order.len());
        for place in &order[stamped..end] {
            stamp(&mut page, salt, *place as u64);
            refused[*place] = !spread.write(*place, &page)?;
            done += 1;
            report(done, total);
        }
        stamped = end;
        erred |= !spread.settle()?;
        let last = stamped == order.len();
        if last {
            erred |= !spread.evict_cache()?;
            probed.evicted = true;
            erred |= !spread.settle()?;
        }
        let mut back = order[..stamped].to_vec();
        shuffle(&mut back, &mut random);
        for place in back {
            let class = if !refused[place] && spread.read(place, &mut page)? {
                classify(&page, salt, place as u64)
            } else {
                erred = true;
                (SectorClass::Unreadable, None)
            };
            held[place] |= class.0 == SectorClass::Good;
            probed.classes[place] = Some(class);
            done += 1;
            report(done.min(total), total);
        }
        let proved = proof(&probed.classes, stamped) || (last && lacks_the_end(spread, &probed.classes));
        if last || proved {
            probed.evicting_file_lost = last && !proved && !spread.evicting_file_stands()?;
            // A fake whose file system is destroyed errs as well, and still takes what is written where it has memory.
            if erred || probed.evicting_file_lost {
                probed.stopped = !still_stores(spread, &held, !salt)?;
            }
            probed.proved = proved && !probed.stopped;
            return Ok(());
        }
        round *= 2;
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

/// A place that holds another's stamp, or too many that hold nothing of ours.
fn proof(classes: &[Option<(SectorClass, Option<u64>)>], stamped: usize) -> bool {
    let count = |class| classes.iter().flatten().filter(|(found, _)| *found == class).count();
    let corrupted = count(SectorClass::Corrupted);
    count(SectorClass::Overwritten) > 0 || (corrupted >= LEAST_LOST && corrupted as f64 >= LEAST_SHARE * stamped as f64)
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
        /// From so many writes on, the evicting file counting as one, it drops them.
        lasts: usize,
        evicting_file: bool,
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
                evicting_file: false,
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

        fn evict_cache(&mut self) -> Result<bool, Infallible> {
            self.cache.clear();
            self.writes += 1;
            self.evicting_file = self.writes <= self.lasts;
            Ok(true)
        }

        fn evicting_file_stands(&mut self) -> Result<bool, Infallible> {
            Ok(self.evicting_file)
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
        assert_eq!(hidden.writes, 1001, "only the evicting file showed it");
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
        assert!(found.stopped && found.evicting_file_lost && !found.proved, "{found:?}");
        let found = Fake::new(1000, 1000, false).probed();
        assert!(!found.stopped && !found.evicting_file_lost);
        // In the last round, of which the second half is lost.
        let found = Fake { lasts: 700, ..Fake::new(1000, 1000, false) }.probed();
        assert!(found.proved && !found.stopped, "without an error that is a fake's: {found:?}");
    }
}
