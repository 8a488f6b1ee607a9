//! The engine that does nothing: what remains is the cost of the instrument.

use crate::buffer::Pool;
use crate::contract::{Completion, Engine, Io, Submit};

/// Queues operations and calls them done at the next reap.
pub(crate) struct Null {
    pool: Pool,
    /// Slots with the bytes of their operations.
    queued: Vec<(u32, u32)>,
}

impl Null {
    pub(crate) fn new(pool: Pool, depth: u32) -> Self {
        Self { pool, queued: Vec::with_capacity(depth as usize) }
    }
}

impl Engine for Null {
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.pool.slot(slot as usize)
    }

    #[inline]
    fn submit(&mut self, io: Io) -> Submit {
        if self.queued.len() == self.queued.capacity() {
            return Submit::Full;
        }
        self.queued.push((io.slot, io.bytes));
        Submit::Queued
    }

    fn reap_within(&mut self, _wait_ns: u64, done: &mut impl FnMut(Completion)) -> std::io::Result<()> {
        self.reap(1, done)
    }

    #[inline]
    fn reap(&mut self, _min: usize, done: &mut impl FnMut(Completion)) -> std::io::Result<()> {
        for &(slot, bytes) in &self.queued {
            done(Completion { slot, result: bytes as i32 });
        }
        self.queued.clear();
        Ok(())
    }
}
