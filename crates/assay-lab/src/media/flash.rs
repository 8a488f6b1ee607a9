//! Everything below the caches: from addresses to cells, with the faults in between.

use std::convert::Infallible;
use std::ops::Range;

use assay_verify::probe::Fault;

use super::address::{AddressMap, Direction};
use super::content::{Cells, PAGE, PAGE_SECTORS, pieces};
use super::content::{Content, SECTOR};
use super::decay::{Bus, Decaying, DroppedRead, Filler, Flipping, Slipping};
use super::layout::CellPlace;
use super::pool::Pooled;
use super::spec::MediumSpec;

/// The memory of a medium and the way to it.
#[derive(Debug, Clone)]
pub(super) struct Flash {
    map: AddressMap,
    cells: Cells,
    filler: Filler,
    flipping: Flipping,
    slipping: Option<Slipping>,
    decaying: Option<Decaying>,
    pooled: Option<Pooled>,
    bus: Bus,
    /// Whether writes have no effect any more.
    pub(super) drops_writes: bool,
    /// Whether a write was dropped that would have changed the content.
    lost_writes: bool,
}

impl Flash {
    pub(super) fn new(spec: &MediumSpec) -> Self {
        let before = Content::new(spec.before, spec.seed);
        let pooled = spec.pool.map(|pool| Pooled::new(pool, &before, spec.announced_bytes));
        Self {
            map: AddressMap::new(spec.announced_bytes, spec.misaddress.clone(), spec.layout.clone()),
            cells: Cells::new(before),
            filler: Filler::new(spec.dropped, spec.seed ^ 1),
            flipping: Flipping::new(spec.flips.clone(), spec.seed ^ 2),
            slipping: spec.slips.is_some().then(|| Slipping::new(spec.slips, spec.seed ^ 4)),
            decaying: spec.decay.clone().map(Decaying::new),
            pooled,
            bus: Bus::new(),
            drops_writes: false,
            lost_writes: false,
        }
    }

    /// Whether a write ever found no memory.
    pub(super) fn is_exhausted(&self) -> bool {
        self.pooled.as_ref().is_some_and(Pooled::is_exhausted)
    }

    /// Whether [`Self::drops_writes`] ever made a difference.
    pub(super) fn has_lost_writes(&self) -> bool {
        self.lost_writes
    }

    /// Reads whole sectors.
    pub(super) fn read(&mut self, sector: u64, into: &mut [u8]) {
        let Ok(()) = self.each_run::<Infallible>(sector, into.len(), Direction::Read, |flash, at, place, part| {
            let part = &mut into[part];
            match place {
                CellPlace::Cell(cell) => flash.read_cells(at, cell, part),
                CellPlace::Dropped => flash.read_dropped(at, part),
            }
            flash.carry(at, part);
            Ok(())
        });
    }

    /// Writes whole sectors.
    ///
    /// # Errors
    /// If a pool is full and returns errors.
    pub(super) fn write(&mut self, sector: u64, data: &[u8]) -> Result<(), Fault> {
        if self.drops_writes {
            return self.each_run(sector, data.len(), Direction::Write, |flash, _, place, part| {
                if let CellPlace::Cell(cell) = place {
                    let mut now = vec![0; part.len()];
                    flash.cells.read(cell, &mut now);
                    flash.lost_writes |= now != data[part];
                }
                Ok(())
            });
        }
        self.each_run(sector, data.len(), Direction::Write, |flash, _, place, part| {
            let CellPlace::Cell(cell) = place else { return Ok(()) };
            let (part, sectors) = (&data[part.clone()], (part.len() / SECTOR) as u64);
            match (&mut flash.pooled, &mut flash.slipping) {
                (Some(pooled), _) => pooled.write(&mut flash.cells, cell, part)?,
                (None, Some(slipping)) => slipping.write(&mut flash.cells, cell, part),
                (None, None) => flash.cells.write(cell, part),
            }
            flash.flipping.stored(&mut flash.cells, cell, sectors);
            if let Some(decaying) = &mut flash.decaying {
                decaying.written(cell, sectors);
            }
            Ok(())
        })
    }

    /// Records a transfer from or to the host, if reads can show it again.
    pub(super) fn carry(&mut self, sector: u64, data: &[u8]) {
        if self.filler.dropped == DroppedRead::LastOnBus {
            self.bus.carry(sector, data);
        }
    }

    /// Calls `act` with each part of an operation that lies in one piece.
    fn each_run<E>(
        &mut self,
        sector: u64,
        bytes: usize,
        direction: Direction,
        mut act: impl FnMut(&mut Self, u64, CellPlace, Range<usize>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (mut at, end) = (sector, sector + (bytes / SECTOR) as u64);
        while at < end {
            let run = self.map.locate(at, direction, end - at);
            let from = (at - sector) as usize * SECTOR;
            act(self, at, run.place, from..from + run.sectors as usize * SECTOR)?;
            at += run.sectors;
        }
        Ok(())
    }

    /// Reads `cell` and the following cells for the address `sector`.
    fn read_cells(&mut self, sector: u64, cell: u64, into: &mut [u8]) {
        self.cells.read(cell, into);
        if self.decaying.is_some() {
            for piece in pieces(cell, into.len()) {
                if self.decaying.as_ref().is_some_and(|decaying| decaying.is_lost(piece.page)) {
                    let at = sector + (piece.from / SECTOR) as u64;
                    self.read_dropped(at, &mut into[piece.from..piece.to]);
                }
                if let Some(decaying) = &mut self.decaying {
                    decaying.read(piece.page);
                }
            }
        }
        self.flipping.lay_over(cell, into);
        self.flipping.read(into);
    }

    fn read_dropped(&mut self, sector: u64, into: &mut [u8]) {
        if self.steady_dropped(sector, into) {
            return;
        }
        match self.filler.dropped {
            DroppedRead::Random => self.filler.random(into),
            // All others are the same at each read.
            _ => Filler::from_bus(&self.bus, sector, into),
        }
    }

    /// Fills `into` with the data of a place without memory if they are the same at each read; else returns false.
    fn steady_dropped(&self, sector: u64, into: &mut [u8]) -> bool {
        match self.filler.dropped {
            DroppedRead::Stale => self.cells.before().fill(sector, into),
            DroppedRead::Elsewhere => {
                let cells = self.map.layout().cells().max(1);
                for (sector, part) in (sector..).zip(into.chunks_exact_mut(SECTOR)) {
                    // Data lost from a cell must not read as that cell.
                    let cell = |nth| self.map.layout().nth_cell(nth);
                    match cell(sector % cells).filter(|cell| *cell != sector).or_else(|| cell((sector + 1) % cells)) {
                        Some(cell) => self.cells.read(cell, part),
                        None => part.fill(0),
                    }
                }
            }
            _ => return self.filler.constant(sector, into),
        }
        true
    }

    /// Whether the cells of a page differ from those in `before`. Most were restored, and need no comparison by
    /// address.
    fn differs(&self, before: &Self, page: u64) -> bool {
        let [mut now, mut then] = [[0; PAGE]; 2];
        self.cells.read(page * PAGE_SECTORS, &mut now);
        before.cells.read(page * PAGE_SECTORS, &mut then);
        now != then
    }

    /// The content of one sector as it reads, without side effects; `None` if it differs at each read.
    fn owners(&self, sector: u64) -> Option<[u8; SECTOR]> {
        let mut content = [0; SECTOR];
        let steady = match self.map.locate(sector, Direction::Read, 1).place {
            CellPlace::Cell(cell) => {
                let lost = self.decaying.as_ref().is_some_and(|decaying| decaying.is_lost(cell / PAGE_SECTORS));
                if !lost {
                    self.cells.read(cell, &mut content);
                }
                let steady = !lost || self.steady_dropped(sector, &mut content);
                self.flipping.lay_over(cell, &mut content);
                steady
            }
            CellPlace::Dropped => self.steady_dropped(sector, &mut content),
        };
        steady.then_some(content)
    }

    /// Sectors that read differently than in `before`, ascending. All cells that were ever written are compared, at one
    /// of the addresses that read them.
    pub(super) fn changed_since(&self, before: &Self) -> Vec<u64> {
        let lost = self.decaying.iter().flat_map(Decaying::lost_pages);
        let written = self.cells.pages().chain(before.cells.pages());
        let mut pages: Vec<u64> = written.filter(|page| self.differs(before, *page)).chain(lost).collect();
        pages.sort_unstable();
        pages.dedup();
        let cells = pages.into_iter().flat_map(|page| page * PAGE_SECTORS..(page + 1) * PAGE_SECTORS);
        let mut changed: Vec<u64> = cells
            .filter_map(|cell| self.map.reader_of(cell))
            .filter(|sector| self.owners(*sector).is_some_and(|now| before.owners(*sector) != Some(now)))
            .collect();
        changed.sort_unstable();
        changed
    }
}
