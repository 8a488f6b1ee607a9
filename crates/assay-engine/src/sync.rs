//! `pread` and `pwrite`: one operation in flight, the calling thread waits for it.

use std::os::fd::AsFd;

use assay_core::workload::Sync;
use rustix::io::Errno;

use crate::buffer::Pool;
use crate::contract::{Completion, Direction, Engine, Io, Submit};
use crate::target::Target;

/// One operation at a time on a shared target.
pub(crate) struct SyncEngine<'a> {
    pool: Pool,
    target: &'a Target,
    sync: Sync,
}

impl<'a> SyncEngine<'a> {
    pub(crate) fn new(pool: Pool, target: &'a Target, sync: Sync) -> Self {
        Self { pool, target, sync }
    }

    fn run(&mut self, io: Io) -> Result<usize, Errno> {
        let file = self.target.file().as_fd();
        let buffer = &mut self.pool.slot(io.slot as usize)[..io.bytes as usize];
        match io.direction {
            Direction::Read => rustix::io::pread(file, buffer, io.offset),
            Direction::Write => {
                let written = rustix::io::pwrite(file, buffer, io.offset)?;
                self.target.sync_as(self.sync)?;
                Ok(written)
            }
        }
    }
}

impl Engine for SyncEngine<'_> {
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.pool.slot(slot as usize)
    }

    #[inline]
    fn submit(&mut self, io: Io) -> Submit {
        loop {
            match self.run(io) {
                Ok(bytes) => return Submit::Done(bytes as i32),
                Err(Errno::INTR) => {}
                Err(error) => return Submit::Done(-error.raw_os_error()),
            }
        }
    }

    fn reap_within(&mut self, _wait_ns: u64, _done: &mut impl FnMut(Completion)) -> std::io::Result<()> {
        Ok(())
    }

    fn reap(&mut self, _min: usize, _done: &mut impl FnMut(Completion)) -> std::io::Result<()> {
        Ok(())
    }
}
