//! One round: write many places, drive them out of the caches, read them back. Whether they are
//! out is known and not hoped: a canary, written last at a place that is known to lose, has died.

use std::ops::Range;

use assay_core::units::MIB;
use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::contract::Device;
use super::evict::Evictor;
use super::plan::{DECOYS, SAMPLES, Settings, UNIT_BLOCKS};
use super::session::{End, Session};
use super::stamp::Seen;

const _: () = assert!(UNIT_BLOCKS * super::stamp::BLOCK == MIB);

/// Places whose loss is known: written in this order, what stands at `look` is lost, unless a
/// cache answers for it.
#[derive(Debug, Clone)]
pub(crate) struct Canary {
    pub(crate) writes: Vec<u64>,
    pub(crate) look: u64,
}

/// The search for the truth about a device.
pub(crate) struct Search<'s, 'a, D> {
    pub(crate) session: &'s mut Session<'a, D>,
    settings: Settings,
    /// No two blocks before this one are the same memory, as far as is known.
    pub(crate) arena: u64,
    pub(crate) evictor: Evictor,
    /// How far eviction has to go.
    level: usize,
    /// The last level at which a canary was seen alive.
    hidden: Option<usize>,
    pub(crate) canary: Option<Canary>,
    /// A block of the first unit that is tested beside the samples.
    pub(crate) base: u64,
    pub(crate) samples: Vec<u64>,
}

impl<'s, 'a, D: Device> Search<'s, 'a, D> {
    pub(crate) fn new(session: &'s mut Session<'a, D>, settings: Settings) -> Self {
        let base = 1 + below(&mut session.random, UNIT_BLOCKS - 1);
        let arena = session.blocks();
        let evictor = Evictor::new(0, 0, Vec::new());
        let mut search =
            Self { session, settings, arena, evictor, level: 0, hidden: None, canary: None, base, samples: Vec::new() };
        search.enter(arena);
        search
    }

    /// From now on only blocks before `arena` are written, beside canaries.
    pub(crate) fn enter(&mut self, arena: u64) {
        self.arena = arena;
        let units = self.run_units();
        // The last unit stays out of the run: its last block is a sample.
        let start = ((arena - 1) / UNIT_BLOCKS).saturating_sub(units) * UNIT_BLOCKS;
        let random = &mut self.session.random;
        let decoys = scattered(random, arena);
        self.evictor = Evictor::new(start, units, decoys);
        self.samples = (0..SAMPLES)
            .map(|part| {
                let (from, to) = (arena * part / SAMPLES, arena * (part + 1) / SAMPLES);
                from + below(random, (to - from).max(1))
            })
            .filter(|block| !self.evictor.is_decoy(*block) && *block != 0)
            .collect();
        shuffle(&mut self.samples, random);
        self.spare_canary();
    }

    /// What drives out must not write where the canary is looked for: it would seem alive.
    pub(crate) fn spare_canary(&mut self) {
        let Some(canary) = self.canary.clone() else { return };
        self.keep_clear(&(canary.look..canary.look + 1));
        self.evictor.spare(&canary.writes);
    }

    fn run_units(&self) -> u64 {
        self.settings.run_bytes(self.arena * super::stamp::BLOCK) / super::plan::UNIT
    }

    /// Moves the run out of the way of `avoid`.
    pub(crate) fn keep_clear(&mut self, avoid: &Range<u64>) {
        let units = self.run_units();
        let free = |start: u64| {
            let end = start + units * UNIT_BLOCKS;
            end <= self.arena && (end <= avoid.start || avoid.end <= start)
        };
        if free(self.evictor.reach().start) {
            return;
        }
        let all = self.arena / UNIT_BLOCKS;
        let starts = [all / 2, all / 8, all * 3 / 4, 0].map(|unit| unit * UNIT_BLOCKS);
        if let Some(start) = starts.into_iter().find(|start| free(*start)) {
            let random = &mut self.session.random;
            let mut decoys = scattered(random, self.arena);
            decoys.retain(|block| !avoid.contains(block) || avoid.end - avoid.start > self.arena / 8);
            self.evictor = Evictor::new(start, units, decoys);
            if let Some(canary) = &self.canary {
                self.evictor.spare(&canary.writes);
            }
        }
    }

    /// Writes `points` in this order, evicts, and says what became of each; those that the run of
    /// the eviction overwrote are left out.
    pub(crate) fn round(&mut self, points: &[u64]) -> Result<Vec<(u64, Seen)>, End> {
        self.write_and_evict(points)?;
        let covered = self.evictor.covered();
        let mut order: Vec<u64> = points.iter().copied().filter(|block| !covered.contains(block)).collect();
        shuffle(&mut order, &mut self.session.random);
        let mut seen = Vec::with_capacity(order.len());
        for block in order {
            seen.push((block, self.session.check(block)?));
        }
        seen.sort_unstable_by_key(|(block, _)| *block);
        seen.dedup_by_key(|(block, _)| *block);
        Ok(seen)
    }

    /// The first half of a round.
    pub(crate) fn write_and_evict(&mut self, points: &[u64]) -> Result<(), End> {
        self.session.generation += 1;
        self.evictor.spare(points);
        self.evictor.begin_round();
        let canary = self.canary.clone();
        let last = canary.as_ref().map_or(&[][..], |canary| &canary.writes);
        self.session.save(&[points, last].concat())?;
        self.session.stamp(points)?;
        self.session.stamp(last)?;
        self.session.settle()?;
        self.evictor.rise(self.session, self.level)?;
        let Some(canary) = canary else { return Ok(()) };
        while self.session.check(canary.look)?.holds() {
            self.hidden = Some(self.level);
            if self.level >= self.evictor.last_level() {
                return Err(End::Hidden);
            }
            self.level += 1;
            self.evictor.rise(self.session, self.level)?;
        }
        Ok(())
    }

    /// Size in bytes of the cache that hides losses, rounded up to the next level; `None` where
    /// none hid any.
    pub(crate) fn cache_bytes(&self) -> Option<u64> {
        self.hidden.map(|level| self.evictor.bytes(level + 1))
    }
}

/// A number below `limit`, which is not zero; the bias of the remainder is below 2^-32 here.
pub(crate) fn below(random: &mut Xoshiro256PlusPlus, limit: u64) -> u64 {
    random.next_u64() % limit
}

/// Different blocks here and there, in no order.
fn scattered(random: &mut Xoshiro256PlusPlus, arena: u64) -> Vec<u64> {
    let mut blocks: Vec<u64> = (0..DECOYS).map(|_| below(random, arena)).filter(|block| *block != 0).collect();
    blocks.sort_unstable();
    blocks.dedup();
    shuffle(&mut blocks, random);
    blocks
}

/// Puts blocks into random order, in which none follows its neighbour: that would be a sequential
/// write, and fall into another cache.
pub(crate) fn shuffle(blocks: &mut [u64], random: &mut Xoshiro256PlusPlus) {
    for last in (1..blocks.len()).rev() {
        blocks.swap(last, below(random, last as u64 + 1) as usize);
    }
    for next in 1..blocks.len() {
        if blocks[next] == blocks[next - 1] + 1 {
            blocks.swap(next, next - 1);
        }
    }
}
