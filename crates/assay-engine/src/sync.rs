//! `pread` and `pwrite`: one operation in flight, the calling thread waits for it.

use std::io;

use assay_core::direction::Direction;
use assay_core::workload::{Sync, Workload};

use crate::buffer::Pool;
use crate::contract::{Completion, Engine, Io, Submit};
use crate::sys::{Channel, IO_ERROR};
use crate::target::Target;

/// One operation at a time on a shared target.
pub(crate) struct SyncEngine<'a> {
    pool: Pool,
    target: &'a Target,
    channel: Channel<'a>,
    sync: Sync,
    /// Writes until the next sync, and between two of them.
    until_sync: u32,
    every: u32,
}

impl<'a> SyncEngine<'a> {
    /// `turn` of `turns` threads of a job: where a sync follows several writes, they do not all sync at once.
    pub(crate) fn new(pool: Pool, target: &'a Target, workload: &Workload, turn: u32, turns: u32) -> io::Result<Self> {
        let every = workload.refined.writes_a_sync();
        let ahead = u64::from(every) * u64::from(turn % turns.max(1)) / u64::from(turns.max(1));
        let until_sync = every - u32::try_from(ahead).unwrap_or(0).min(every - 1);
        let channel = Channel::of(target.file(), target.direct())?;
        Ok(Self { pool, target, channel, sync: workload.sync, until_sync, every })
    }

    fn run(&mut self, io: Io) -> io::Result<usize> {
        let buffer = &mut self.pool.slot(io.slot as usize)[..io.bytes as usize];
        match io.direction {
            Direction::Read => self.channel.read_at(buffer, io.offset),
            Direction::Write => {
                let written = self.channel.write_at(buffer, io.offset)?;
                self.until_sync -= 1;
                if self.until_sync == 0 {
                    self.until_sync = self.every;
                    self.target.sync_as(self.sync)?;
                }
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
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Submit::Done(-error.raw_os_error().unwrap_or(IO_ERROR)),
            }
        }
    }

    fn reap_within(&mut self, _wait_ns: u64, _done: &mut impl FnMut(Completion)) -> io::Result<()> {
        Ok(())
    }

    fn reap(&mut self, _min: usize, _done: &mut impl FnMut(Completion)) -> io::Result<()> {
        Ok(())
    }
}
