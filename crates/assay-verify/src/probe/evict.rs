//! Drives what was written out of the caches of the medium.

use std::ops::Range;

use super::contract::Device;
use super::plan::{DECOYS, UNIT, UNIT_BLOCKS};
use super::session::{End, Session};
use super::stamp::BLOCK;

/// Scattered blocks first, a longer and longer run then: a cache of random writes is not driven
/// out by a sequential run on media that keep one for each.
const SCATTERED: [u64; 5] = [0, 8, 32, 128, DECOYS];

/// What is written to drive out, and how much of it was in this round.
#[derive(Debug)]
pub(crate) struct Evictor {
    run_start: u64,
    run_units: u64,
    decoys: Vec<u64>,
    used_units: u64,
    used_decoys: usize,
}

impl Evictor {
    /// `run_units` units from block `run_start` on, and single blocks.
    pub(crate) fn new(run_start: u64, run_units: u64, decoys: Vec<u64>) -> Self {
        Self { run_start, run_units, decoys, used_units: 0, used_decoys: 0 }
    }

    /// Blocks that a full run covers.
    pub(crate) fn reach(&self) -> Range<u64> {
        self.run_start..self.run_start + self.run_units * UNIT_BLOCKS
    }

    /// Blocks that the run of this round covers.
    pub(crate) fn covered(&self) -> Range<u64> {
        self.run_start..self.run_start + self.used_units * UNIT_BLOCKS
    }

    pub(crate) fn is_decoy(&self, block: u64) -> bool {
        self.decoys.contains(&block)
    }

    /// Leaves out decoys at these blocks.
    pub(crate) fn spare(&mut self, blocks: &[u64]) {
        self.decoys.retain(|block| !blocks.contains(block));
    }

    pub(crate) fn begin_round(&mut self) {
        (self.used_units, self.used_decoys) = (0, 0);
    }

    /// Decoys and units that stand written at a level.
    fn goal(&self, level: usize) -> (usize, u64) {
        match SCATTERED.get(level) {
            Some(decoys) => (*decoys as usize, 0),
            None => (DECOYS as usize, (1 << (level - SCATTERED.len()).min(40)).min(self.run_units)),
        }
    }

    /// The level at which everything is used.
    pub(crate) fn last_level(&self) -> usize {
        SCATTERED.len() + self.run_units.next_power_of_two().trailing_zeros() as usize
    }

    /// Size in bytes of the largest cache that a level drives out.
    pub(crate) fn bytes(&self, level: usize) -> u64 {
        match self.goal(level) {
            (decoys, 0) => decoys as u64 * BLOCK,
            (_, units) => units * UNIT,
        }
    }

    /// Goes up to `level` in this round.
    pub(crate) fn rise<D: Device>(&mut self, session: &mut Session<'_, D>, level: usize) -> Result<(), End> {
        let (decoys, units) = self.goal(level);
        let decoys = decoys.min(self.decoys.len());
        if self.used_decoys < decoys {
            let more = &self.decoys[self.used_decoys..decoys];
            session.save(more)?;
            session.stamp(more)?;
            self.used_decoys = decoys;
        }
        if self.used_units < units {
            session.stamp_run(self.run_start + self.used_units * UNIT_BLOCKS, units - self.used_units)?;
            self.used_units = units;
        }
        session.settle()
    }
}
