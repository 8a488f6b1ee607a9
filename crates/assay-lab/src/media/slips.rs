//! Writes that fail silently now and then, at any address: an unreliable medium of full size.

use super::cells::{Cells, pieces};
use super::content::SECTOR;
use crate::dice::Dice;

/// How often writes fail; 0 means never.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slips {
    /// One in this many written sectors is dropped.
    pub drops_one_in: u64,
    /// One in this many written pages of 4 KiB is exchanged with the page written before it.
    pub swaps_one_in: u64,
}

impl Slips {
    /// No write fails.
    #[must_use]
    pub fn none() -> Self {
        Self { drops_one_in: 0, swaps_one_in: 0 }
    }

    pub(super) fn is_some(self) -> bool {
        self != Self::none()
    }

    /// Share of the written data that is lost.
    pub(super) fn share(self) -> f64 {
        let each =
            [self.drops_one_in, self.swaps_one_in].map(|times| if times == 0 { 0.0 } else { 1.0 / times as f64 });
        each.into_iter().sum::<f64>().min(1.0)
    }
}

/// State of [`Slips`].
#[derive(Debug, Clone)]
pub(super) struct Slipping {
    slips: Slips,
    dice: Dice,
    /// Place and content of the last written page.
    last: Option<(u64, Vec<u8>)>,
}

impl Slipping {
    pub(super) fn new(slips: Slips, seed: u64) -> Self {
        Self { slips, dice: Dice::new(seed), last: None }
    }

    /// Writes `data` from `cell` on, except for the slips.
    pub(super) fn write(&mut self, cells: &mut Cells, cell: u64, data: &[u8]) {
        for piece in pieces(cell, data.len()) {
            let (at, part) = (cell + (piece.from / SECTOR) as u64, &data[piece.from..piece.to]);
            let swapped = self.slips.swaps_one_in > 0 && self.dice.below(self.slips.swaps_one_in) == 0;
            match self.last.take() {
                Some((before, content)) if swapped && content.len() == part.len() && before != at => {
                    cells.write(before, part);
                    cells.write(at, &content);
                }
                _ => self.write_sectors(cells, at, part),
            }
            self.last = Some((at, part.to_vec()));
        }
    }

    fn write_sectors(&mut self, cells: &mut Cells, cell: u64, data: &[u8]) {
        if self.slips.drops_one_in == 0 {
            return cells.write(cell, data);
        }
        for (at, sector) in (cell..).zip(data.chunks_exact(SECTOR)) {
            if self.dice.below(self.slips.drops_one_in) > 0 {
                cells.write(at, sector);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::content::{Content, InitialContent, Pattern};
    use super::*;

    #[test]
    fn one_in_so_many_is_dropped_or_exchanged() {
        let lost = |slips: Slips| {
            let mut cells = Cells::new(Content::new(InitialContent::full_of(Pattern::Zeros), 1));
            let mut slipping = Slipping::new(slips, 1);
            (0..1000u64).for_each(|page| slipping.write(&mut cells, page * 8, &[(page % 251) as u8 + 1; 4096]));
            let mut sector = [0; SECTOR];
            let mut differs = |at: u64| {
                cells.read(at, &mut sector);
                sector[0] != (at / 8 % 251) as u8 + 1
            };
            (0..8000).filter(|at| differs(*at)).count()
        };
        assert_eq!(lost(Slips::none()), 0);
        let (dropped, swapped) =
            (lost(Slips { drops_one_in: 100, ..Slips::none() }), lost(Slips { swaps_one_in: 100, ..Slips::none() }));
        assert!((50..120).contains(&dropped) && (60..300).contains(&swapped), "{dropped} {swapped}");
    }
}
