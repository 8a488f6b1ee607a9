//! The first look: is anything lost at all?

use super::contract::Device;
use super::plan::{MOST_COMB, SAMPLES, UNIT_BLOCKS, comb_step};
use super::round::{Canary, Search};
use super::session::{End, Phase};
use super::stamp::{BLOCK, Seen};

/// Samples that are looked at after each step of eviction, beside ladder and end.
const WATCHED: usize = 16;

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Discovery {
    /// Two blocks that are the same memory.
    pub(crate) alias: Option<(u64, u64)>,
    /// A block whose data were lost without an error.
    pub(crate) lost: Option<u64>,
    /// Something could not be read or written.
    pub(crate) erred: bool,
}

impl<D: Device> Search<'_, '_, D> {
    /// Writes a ladder (a block near the start and those a power of two above it, from the highest
    /// down, so that the period shows if it is a power of two), the last block, and samples all
    /// over; then evicts step by step until something is lost, or to the end.
    pub(crate) fn discover(&mut self) -> Result<Discovery, End> {
        self.session.phase = Phase::Discovering;
        let mut first = vec![self.base];
        let rungs = (UNIT_BLOCKS.trailing_zeros()..40).map(|power| self.base + (1 << power));
        let rungs: Vec<u64> = rungs.take_while(|block| *block < self.arena).collect();
        first.extend(rungs.iter().rev());
        first.push(self.arena - 1);
        let samples = self.samples.clone();
        let points = [&first[..], &samples].concat();
        self.write_and_evict(&points)?;
        let watched = [&first[..], &samples[..WATCHED.min(samples.len())]].concat();
        'evict: for level in 0..=self.evictor.last_level() {
            self.evictor.rise(self.session, level)?;
            for block in &watched {
                if !matches!(self.session.check(*block)?, Seen::Holds | Seen::Unreadable) {
                    break 'evict;
                }
            }
        }
        for block in &points {
            self.session.check(*block)?;
        }
        self.session.strangers(0, UNIT_BLOCKS)?;
        let found = self.found();
        if found.lost.is_none() && found.alias.is_none() {
            self.comb(self.evictor.reach().start)?;
        }
        let found = self.found();
        self.canary = match found {
            Discovery { alias: Some((at, other)), .. } => Some(Canary { writes: vec![at, other], look: at }),
            Discovery { lost: Some(at), .. } => Some(Canary { writes: vec![at], look: at }),
            _ => None,
        };
        self.spare_canary();
        Ok(found)
    }

    /// Reads single blocks before `end` at distances that no alias of a whole run fits between.
    pub(crate) fn comb(&mut self, end: u64) -> Result<Option<(u64, u64)>, End> {
        let reach = self.evictor.reach();
        let step = comb_step((reach.end - reach.start) * BLOCK).max(end.div_ceil(MOST_COMB));
        let mut block = 0;
        while block < end {
            if let Some(pair) = self.session.glance(block)? {
                return Ok(Some(pair));
            }
            block += step;
        }
        Ok(None)
    }

    fn found(&self) -> Discovery {
        let mut found = Discovery::default();
        for (block, finding) in &self.session.findings {
            match finding.seen {
                Seen::Holds => {}
                Seen::Alias(other) if other / UNIT_BLOCKS != block / UNIT_BLOCKS => {
                    found.alias = found.alias.or(Some((*block, other)));
                }
                Seen::Alias(_) | Seen::Lost(_) => found.lost = found.lost.or(Some(*block)),
                Seen::Unreadable => found.erred = true,
            }
        }
        found
    }

    /// Samples and both ends of the arena, as one round.
    pub(crate) fn sample(&mut self) -> Result<Vec<(u64, Seen)>, End> {
        self.session.phase = Phase::Sampling;
        let mut points = self.samples.clone();
        points.extend([self.base, self.arena - 1]);
        // One block alone may be canary and sample; of two that are one memory, each spoils the other.
        let paired = self.canary.as_ref().filter(|canary| canary.writes.len() > 1);
        points.retain(|block| paired.is_none_or(|canary| !canary.writes.contains(block)));
        debug_assert!(points.len() as u64 <= SAMPLES + 2);
        self.round(&points)
    }
}
