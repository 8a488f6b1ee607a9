//! The engines that any system has, and which engines work on this kernel.
//!
//! `pread` and `pwrite` have one operation in flight: the calling thread waits for it.

use std::io;

use assay_core::priority::Priority;
use assay_core::workload::{Direction, Sync, Workload};

use crate::buffer::Pool;
use crate::contract::{Availability, Capabilities, Completion, Engine, EngineKind, Io, Submit};
use crate::sys;
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
        let channel = Channel::to_file(target.file(), target.direct())?;
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

// The engine that does nothing: what remains is the cost of the instrument.

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

// Which engines work on this kernel.

/// Asks whether `kind` works on this kernel, without touching any medium.
#[must_use]
pub fn probe(kind: EngineKind) -> Availability {
    match kind {
        EngineKind::Null => Availability::Yes(Capabilities { asynchronous: true, ..Capabilities::default() }),
        EngineKind::Sync => Availability::Yes(Capabilities::default()),
        kind if kind == sys::ASYNCHRONOUS => sys::probe(),
        EngineKind::Uring => Availability::No("io_uring is a part of Linux".to_owned()),
        EngineKind::Iocp => Availability::No("I/O completion ports are a part of Windows".to_owned()),
    }
}

/// Tries whether completions can be polled for on a target that is open for direct I/O, by reading `bytes` at its start.
///
/// # Errors
/// Why they cannot, in words.
pub fn probe_poll(target: &Target, bytes: u32) -> Result<(), String> {
    sys::probe_poll(target, bytes)
}

/// Asks the system whether operations of this process may have a priority, by a thread that is there for nothing else.
///
/// # Errors
/// Why they may not, in words.
pub fn probe_priority(priority: Priority) -> Result<(), String> {
    let asked = std::thread::Builder::new().spawn(move || sys::prioritise(priority));
    let asked = asked.map_err(|error| format!("no thread could be made: {error}"))?;
    asked.join().unwrap_or_else(|_| Err("the thread that asks ended early".to_owned()))
}
