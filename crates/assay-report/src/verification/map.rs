//! The map of the medium: as many equal parts as there is room for, each shown as the worst that
//! was found in it.

use assay_core::verification::{MapCell, SectorClass, SectorCounts};

/// What a part of the map is shown as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shade {
    /// Nothing in it was tested.
    Untested,
    /// All that was tested is good.
    Good,
    /// The worst in it is slightly changed.
    Changed,
    /// The worst in it holds what was written for another place.
    Overwritten,
    /// The worst in it holds something else.
    Corrupted,
    /// Something in it cannot be read.
    Unreadable,
}

/// Shades in the order of a legend.
pub(crate) const ALL: [Shade; 6] =
    [Shade::Good, Shade::Changed, Shade::Overwritten, Shade::Corrupted, Shade::Unreadable, Shade::Untested];

impl From<SectorClass> for Shade {
    fn from(class: SectorClass) -> Self {
        match class {
            SectorClass::Good => Self::Good,
            SectorClass::Changed => Self::Changed,
            SectorClass::Overwritten => Self::Overwritten,
            SectorClass::Corrupted => Self::Corrupted,
            SectorClass::Unreadable => Self::Unreadable,
        }
    }
}

impl Shade {
    /// Whether data are lost.
    pub(crate) fn lost(self) -> bool {
        !matches!(self, Self::Good | Self::Untested)
    }

    fn of(counts: &SectorCounts) -> Self {
        let classes = [
            (counts.unreadable, Self::Unreadable),
            (counts.corrupted, Self::Corrupted),
            (counts.overwritten, Self::Overwritten),
            (counts.changed, Self::Changed),
        ];
        match classes.into_iter().find(|(sectors, _)| *sectors > 0) {
            Some((_, shade)) => shade,
            None if counts.good > 0 => Self::Good,
            None => Self::Untested,
        }
    }

    /// A character that tells it without colour; the terminal's fonts and ASCII have it.
    pub(crate) fn symbol(self) -> char {
        match self {
            Self::Untested => '.',
            Self::Good => '#',
            Self::Changed => 'c',
            Self::Overwritten => 'o',
            Self::Corrupted => 'x',
            Self::Unreadable => '!',
        }
    }

    /// Its name in a legend.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Untested => "not tested",
            Self::Good => "good",
            Self::Changed => "slightly changed",
            Self::Overwritten => "overwritten",
            Self::Corrupted => "corrupted",
            Self::Unreadable => "unreadable",
        }
    }

    /// Sectors of it.
    pub(crate) fn sectors(self, counts: &SectorCounts) -> u64 {
        match self {
            Self::Untested => 0,
            Self::Good => counts.good,
            Self::Changed => counts.changed,
            Self::Overwritten => counts.overwritten,
            Self::Corrupted => counts.corrupted,
            Self::Unreadable => counts.unreadable,
        }
    }
}

/// The map in at most `parts` parts, each of as many cells.
pub(crate) fn shades(map: &[MapCell], parts: usize) -> Vec<Shade> {
    let parts = parts.min(map.len()).max(1);
    (0..parts)
        .map(|part| {
            let cells = &map[part * map.len() / parts..(part + 1) * map.len() / parts];
            let mut counts = SectorCounts::default();
            cells.iter().for_each(|cell| counts.merge(&cell.counts));
            Shade::of(&counts)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(good: u64, overwritten: u64) -> MapCell {
        MapCell { offset_bytes: 0, bytes: 0, counts: SectorCounts { good, overwritten, ..SectorCounts::default() } }
    }

    #[test]
    fn one_lost_sector_shows_in_any_size_of_map() {
        let mut map = vec![cell(9, 0); 1000];
        map[700] = cell(8, 1);
        map[999] = cell(0, 0);
        for parts in [1, 7, 64, 512] {
            let shades = shades(&map, parts);
            assert_eq!(shades.len(), parts);
            let lost = Shade::Overwritten;
            assert_eq!(shades.iter().filter(|s| **s == lost).count(), 1, "{parts}");
        }
        assert_eq!(shades(&map, 5000)[999], Shade::Untested);
    }
}
