//! Stamps in rounds that double, each read back with all before it, until a fake is proved.

use assay_core::verification::SectorClass;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::stamp::{STAMP, classify, stamp};

/// Of the stamps of a round, at least this many lost make a fake: one alone may be a worn block.
const LEAST_LOST: usize = 2;
/// And at least this share: a fake announces a twentieth too much or more.
const LEAST_SHARE: f64 = 0.05;

/// Places all over the medium, each of one stamp. Everything may end the check.
pub(crate) trait Spread {
    /// Why the check ends.
    type Halt;
    fn places(&self) -> usize;
    fn write(&mut self, place: usize, page: &[u8; STAMP]) -> Result<(), Self::Halt>;
    /// `false` where the place cannot be read.
    fn read(&mut self, place: usize, page: &mut [u8; STAMP]) -> Result<bool, Self::Halt>;
    /// Makes all durable and forgets what is cached.
    fn settle(&mut self) -> Result<(), Self::Halt>;
    /// Writes so much else that no cache of a controller still holds the stamps.
    fn crowd_out(&mut self) -> Result<(), Self::Halt>;
}

/// What was found; a place that was never read has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Probed {
    pub(crate) classes: Vec<Option<(SectorClass, Option<u64>)>>,
    /// Enough is lost for a fake.
    pub(crate) proved: bool,
    /// Much else was written before the last reading, which may stand where stamps were.
    pub(crate) crowded: bool,
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

/// Stamps and reads back. `told` hears how many operations of how many are done.
pub(crate) fn probe<S: Spread>(
    spread: &mut S,
    salt: u64,
    probed: &mut Probed,
    told: &mut dyn FnMut(u64, u64),
) -> Result<(), S::Halt> {
    let order = order(spread.places());
    let mut random = Xoshiro256PlusPlus::seed_from_u64(salt);
    // Each round reads all before it: two reads of each place, one more at the end.
    let (mut done, total) = (0, order.len() as u64 * 4);
    let mut page = [0; STAMP];
    let (mut stamped, mut round) = (0, 2);
    loop {
        let end = round.min(order.len());
        for place in &order[stamped..end] {
            stamp(&mut page, salt, *place as u64);
            spread.write(*place, &page)?;
            done += 1;
            told(done, total);
        }
        stamped = end;
        spread.settle()?;
        let last = stamped == order.len();
        if last {
            spread.crowd_out()?;
            probed.crowded = true;
            spread.settle()?;
        }
        let mut back = order[..stamped].to_vec();
        shuffle(&mut back, &mut random);
        for place in back {
            let class = if spread.read(place, &mut page)? {
                classify(&page, salt, place as u64)
            } else {
                (SectorClass::Unreadable, None)
            };
            probed.classes[place] = Some(class);
            done += 1;
            told(done.min(total), total);
        }
        probed.proved = proof(&probed.classes, stamped);
        if last || probed.proved {
            return Ok(());
        }
        round *= 2;
    }
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

    /// Announces `places`, has `real`, and shows the latest writes from a cache until crowded out.
    struct Fake {
        places: usize,
        real: usize,
        wraps: bool,
        worn: Option<usize>,
        cells: HashMap<usize, [u8; STAMP]>,
        cache: HashMap<usize, [u8; STAMP]>,
        cached: bool,
        writes: usize,
    }

    impl Fake {
        fn new(places: usize, real: usize, wraps: bool) -> Self {
            let (cells, cache) = (HashMap::new(), HashMap::new());
            Self { places, real, wraps, worn: None, cells, cache, cached: false, writes: 0 }
        }

        fn probed(&mut self) -> Probed {
            let mut probed = Probed { classes: vec![None; self.places], proved: false, crowded: false };
            let Ok(()) = probe(self, 77, &mut probed, &mut |_, _| {});
            probed
        }
    }

    impl Spread for Fake {
        type Halt = Infallible;

        fn places(&self) -> usize {
            self.places
        }

        fn write(&mut self, place: usize, page: &[u8; STAMP]) -> Result<(), Infallible> {
            self.writes += 1;
            if self.cached {
                self.cache.insert(place, *page);
            }
            let cell = if self.wraps { place % self.real } else { place };
            if cell < self.real && self.worn != Some(cell) {
                self.cells.insert(cell, *page);
            }
            Ok(())
        }

        fn read(&mut self, place: usize, page: &mut [u8; STAMP]) -> Result<bool, Infallible> {
            let cell = if self.wraps { place % self.real } else { place };
            *page = self.cache.get(&place).or(self.cells.get(&cell)).copied().unwrap_or([0; STAMP]);
            Ok(true)
        }

        fn settle(&mut self) -> Result<(), Infallible> {
            Ok(())
        }

        fn crowd_out(&mut self) -> Result<(), Infallible> {
            self.cache.clear();
            Ok(())
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
        assert_eq!(hidden.writes, 1000, "only the crowd showed it");
    }
}
