//! How often a place is tried again. A reader that errs fails at all places alike, a medium at some of them: the share of places
//! that fail once and hold later tells how often a good place fails.

use std::time::Duration;

use crate::layout::SLICES;

/// How often a page that fails is read after the first time, and how often a refused page is written again.
pub(super) const AGAIN: u32 = 2;
/// After this time failing places of a chunk are tried at most [`AGAIN`] times.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);
/// From this share of pages on that fail once and hold later, the way errs; below it, single places do.
const OF_THE_WAY: f64 = 0.005;
/// Pages of a slice that may fail by errors of the way alone, in the mean.
const WRONG: f64 = 0.0001;
/// The most readings or writings of a page.
const MOST: u32 = 60;

/// Pages of the last cycle, and what was tried again.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Again {
    /// Pages that were read or written.
    pages: u64,
    /// Those that failed at first and held later.
    passed: u64,
    /// How often these pages were tried after the first time.
    tries: u64,
}

impl Again {
    /// A new slice begins: what was before counts less, so that a cycle is remembered.
    pub(super) fn fade(&mut self) {
        let less = |count: u64| count - count.div_ceil(SLICES);
        *self = Self { pages: less(self.pages), passed: less(self.passed), tries: less(self.tries) };
    }

    pub(super) fn looked_at(&mut self, pages: u64) {
        self.pages += pages;
    }

    /// Notes pages that failed at first and held in this try, counted after the first.
    pub(super) fn passed(&mut self, pages: usize, tries: u32) {
        self.passed += pages as u64;
        self.tries += pages as u64 * u64::from(tries);
    }

    /// Tries after the first, so that fewer than [`WRONG`] of `pages` fail by errors of the way alone, if each try errs for itself.
    pub(super) fn tries(self, pages: u64) -> u32 {
        let share = self.passed as f64 / self.pages.max(1) as f64;
        if share < OF_THE_WAY {
            return AGAIN;
        }
        let failing = 1.0 - self.passed as f64 / self.tries as f64;
        let needed = (WRONG / pages.max(1) as f64).ln() / failing.clamp(share.min(0.8), 0.8).ln();
        (needed.ceil() as u32).clamp(AGAIN, MOST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_that_errs_is_tried_more_often_and_places_that_err_are_not() {
        let mut way = Again::default();
        way.looked_at(1000);
        assert_eq!(way.tries(100_000), AGAIN);
        // One reading in four fails: of 250 pages 188 hold at the second, 47 at the third, 15 at the fourth.
        [(188, 1), (47, 2), (15, 3)].into_iter().for_each(|(pages, tries)| way.passed(pages, tries));
        assert_eq!(way.tries(100_000), 15, "0.25^15 of 100,000 pages are 0.0001");
        let mut places = Again::default();
        places.looked_at(100_000);
        places.passed(50, 2);
        assert_eq!(places.tries(100_000), AGAIN);
        way.fade();
        assert_eq!(way.tries(100_000), 15);
    }
}
