//! io_uring: registered file, fixed buffers, one issuer, deferred task work where the kernel has
//! them. Everything is probed; what is missing is done without and noted.

use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::time::Duration;

use assay_core::workload::{Direction, Workload};
use io_uring::{Builder, IoUring, Probe, cqueue, opcode, squeue, types};

use crate::buffer::{AlignedBuffer, Pool};
use crate::contract::{Availability, Capabilities, Completion, Engine, Io, Submit};
use crate::target::Target;

/// Asks the kernel for a ring and its opcodes.
pub(crate) fn probe() -> Availability {
    let (ring, mut capabilities) = match open(8, false) {
        Ok(opened) => opened,
        Err(error) => return Availability::No(explain(&error)),
    };
    let mut probe = Probe::new();
    if ring.submitter().register_probe(&mut probe).is_err() {
        return Availability::No("this kernel cannot list its io_uring opcodes (older than 5.6)".to_owned());
    }
    let missing: Vec<&str> = [(opcode::Read::CODE, "READ"), (opcode::Write::CODE, "WRITE")]
        .iter()
        .filter(|(code, _)| !probe.is_supported(*code))
        .map(|(_, name)| *name)
        .collect();
    if !missing.is_empty() {
        return Availability::No(format!("this kernel's io_uring lacks {}", missing.join(", ")));
    }
    capabilities.fixed_buffers =
        probe.is_supported(opcode::ReadFixed::CODE) && probe.is_supported(opcode::WriteFixed::CODE);
    capabilities.registered_files = true;
    Availability::Yes(capabilities)
}

/// Why a ring could not be opened, in words (EPERM and ENOSYS have distinct usual causes).
fn explain(error: &std::io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => {
            "io_uring is forbidden here (kernel.io_uring_disabled or a seccomp profile)".to_owned()
        }
        Some(libc::ENOSYS) => "this kernel has no io_uring, or it is filtered".to_owned(),
        Some(libc::ENOMEM) => "no locked memory for io_uring (ulimit -l)".to_owned(),
        _ => format!("io_uring: {error}"),
    }
}

/// Reads `bytes` from the start of a target by a ring whose completions are polled for.
pub(crate) fn probe_poll(target: &Target, bytes: u32) -> Result<(), String> {
    let (mut ring, _) = open(1, true).map_err(|error| explain(&error))?;
    let mut buffer = ManuallyDrop::new(AlignedBuffer::new(bytes as usize).map_err(|error| error.to_string())?);
    let fd = types::Fd(target.file().as_raw_fd());
    let entry = opcode::Read::new(fd, buffer.as_ptr(), bytes).build();
    // SAFETY: the entry names memory that is unmapped below only when its completion was seen, and a file that is open
    // for longer than this function runs: each return before that leaks the memory.
    unsafe { ring.submission().push(&entry) }.map_err(|error| error.to_string())?;
    loop {
        match ring.submit_and_wait(1) {
            Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
            Err(error) => return Err(no_polling(&error)),
            Ok(_) => {
                if let Some(entry) = ring.completion().next() {
                    // SAFETY: the operation on it is over, and it is not used again.
                    unsafe { ManuallyDrop::drop(&mut buffer) };
                    return match entry.result() {
                        0.. => Ok(()),
                        errno => Err(no_polling(&std::io::Error::from_raw_os_error(-errno))),
                    };
                }
            }
        }
    }
}

/// Why completions cannot be polled for, in words.
fn no_polling(error: &std::io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::EOPNOTSUPP) => "its device or file system has no queue to poll (EOPNOTSUPP)".to_owned(),
        _ => format!("a first read failed: {error}"),
    }
}

/// A ring with what it needs to poll for completions, where that is asked for.
fn builder(poll: bool) -> Builder<squeue::Entry, cqueue::Entry> {
    let mut builder = IoUring::builder();
    if poll {
        builder.setup_iopoll();
    }
    builder
}

/// Opens a ring with the best flags that the kernel takes.
fn open(entries: u32, poll: bool) -> std::io::Result<(IoUring, Capabilities)> {
    let mut capabilities = Capabilities { asynchronous: true, ..Capabilities::default() };
    // Linux 6.1: completions are processed in the submitting thread when it asks for them.
    if let Ok(ring) = builder(poll).setup_single_issuer().setup_defer_taskrun().build(entries) {
        capabilities.single_issuer = true;
        capabilities.deferred_task_work = true;
        return Ok((ring, capabilities));
    }
    capabilities.fallbacks.push("no deferred task work (before Linux 6.1)".to_owned());
    // Linux 5.19: no interrupt of the thread for a completion.
    if let Ok(ring) = builder(poll).setup_coop_taskrun().build(entries) {
        return Ok((ring, capabilities));
    }
    capabilities.fallbacks.push("no cooperative task work (before Linux 5.19)".to_owned());
    builder(poll).build(entries).map(|ring| (ring, capabilities))
}

/// How often it is looked for completions where the kernel cannot end a wait.
const POLL_NS: u64 = 20_000;

/// One ring with its buffers, for one thread.
///
/// The pool is dropped by hand: while operations are in flight the kernel may write to it.
pub(crate) struct Uring<'a> {
    ring: ManuallyDrop<IoUring>,
    pool: ManuallyDrop<Pool>,
    /// Of the target, which therefore stays open for as long as the ring may name it.
    fd: BorrowedFd<'a>,
    fixed_buffers: bool,
    registered_file: bool,
    /// Handed to the kernel or about to be, and not yet reaped.
    in_flight: usize,
}

impl<'a> Uring<'a> {
    pub(crate) fn new(pool: Pool, target: &'a Target, depth: u32, workload: &Workload) -> std::io::Result<Self> {
        let block = usize::try_from(workload.largest_block()).map_err(|_| std::io::ErrorKind::InvalidInput)?;
        let (ring, _) = open(depth.next_power_of_two().max(8), workload.poll)?;
        let fd = target.file().as_fd();
        let registered_file = ring.submitter().register_files(&[fd.as_raw_fd()]).is_ok();
        let vectors: Vec<libc::iovec> = (0..depth as usize)
            .map(|slot| libc::iovec { iov_base: pool.slot_ptr(slot).cast(), iov_len: block })
            .collect();
        // SAFETY: the buffers lie within `pool`, which this value keeps mapped until the ring is closed and
        // nothing is in flight (see `drop`). Registering pins the pages and writes nothing.
        let fixed_buffers = unsafe { ring.submitter().register_buffers(&vectors) }.is_ok();
        Ok(Self {
            ring: ManuallyDrop::new(ring),
            pool: ManuallyDrop::new(pool),
            fd,
            fixed_buffers,
            registered_file,
            in_flight: 0,
        })
    }

    #[inline]
    fn entry(&self, io: Io) -> io_uring::squeue::Entry {
        let pointer = self.pool.slot_ptr(io.slot as usize);
        let slot = io.slot as u16;
        macro_rules! build {
            ($read:expr, $write:expr) => {
                match io.direction {
                    Direction::Read => $read.offset(io.offset).ioprio(io.priority).build(),
                    Direction::Write => $write.offset(io.offset).ioprio(io.priority).build(),
                }
            };
        }
        let length = io.bytes;
        let fd = types::Fd(self.fd.as_raw_fd());
        let entry = match (self.registered_file, self.fixed_buffers) {
            (true, true) => build!(
                opcode::ReadFixed::new(types::Fixed(0), pointer, length, slot),
                opcode::WriteFixed::new(types::Fixed(0), pointer, length, slot)
            ),
            (true, false) => build!(
                opcode::Read::new(types::Fixed(0), pointer, length),
                opcode::Write::new(types::Fixed(0), pointer, length)
            ),
            (false, true) => build!(
                opcode::ReadFixed::new(fd, pointer, length, slot),
                opcode::WriteFixed::new(fd, pointer, length, slot)
            ),
            (false, false) => build!(opcode::Read::new(fd, pointer, length), opcode::Write::new(fd, pointer, length)),
        };
        entry.user_data(u64::from(io.slot))
    }
}

impl Uring<'_> {
    /// Submits what is queued and waits for one completion or the end of the time.
    fn wait_within(&mut self, wait_ns: u64) -> std::io::Result<()> {
        let result = if self.ring.params().is_feature_ext_arg() {
            let time = types::Timespec::from(Duration::from_nanos(wait_ns));
            let arguments = types::SubmitArgs::new().timespec(&time);
            self.ring.submitter().submit_with_args(1, &arguments)
        } else {
            // Before Linux 5.11 there is no end of a wait: it is looked for completions again and again.
            let submitted = self.ring.submit();
            if self.ring.completion().is_empty() && wait_ns > 0 {
                std::thread::sleep(Duration::from_nanos(wait_ns.min(POLL_NS)));
            }
            submitted
        };
        match result {
            Err(error)
                if !matches!(error.raw_os_error(), Some(libc::ETIME | libc::EINTR | libc::EBUSY | libc::EAGAIN)) =>
            {
                Err(error)
            }
            _ => Ok(()),
        }
    }
}

impl Engine for Uring<'_> {
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.pool.slot(slot as usize)
    }

    #[inline]
    fn submit(&mut self, io: Io) -> Submit {
        let entry = self.entry(io);
        // SAFETY: the entry names a slot's memory, which this value keeps mapped until nothing is in flight
        // (`drop`), and the target's file, which is borrowed and so stays open. The hot loop
        // takes a slot again only when its completion was reaped, so that no reference to its memory exists
        // while the kernel reads or writes it; `Pool::slot` forms none to its neighbours.
        match unsafe { self.ring.submission().push(&entry) } {
            Ok(()) => {
                self.in_flight += 1;
                Submit::Queued
            }
            Err(_) => Submit::Full,
        }
    }

    fn reap_within(&mut self, wait_ns: u64, done: &mut impl FnMut(Completion)) -> std::io::Result<()> {
        if self.in_flight > 0 {
            self.wait_within(wait_ns)?;
        }
        let queue = self.ring.completion();
        for entry in queue {
            self.in_flight -= 1;
            done(Completion { slot: entry.user_data() as u32, result: entry.result() });
        }
        Ok(())
    }

    #[inline]
    fn reap(&mut self, min: usize, done: &mut impl FnMut(Completion)) -> std::io::Result<()> {
        loop {
            match self.ring.submit_and_wait(min.min(self.in_flight)) {
                Ok(_) => break,
                Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
                // Out of completion space or memory for the moment: take what is there first.
                Err(error) if matches!(error.raw_os_error(), Some(libc::EBUSY | libc::EAGAIN)) => break,
                Err(error) => return Err(error),
            }
        }
        let queue = self.ring.completion();
        for entry in queue {
            self.in_flight -= 1;
            done(Completion { slot: entry.user_data() as u32, result: entry.result() });
        }
        Ok(())
    }
}

impl Drop for Uring<'_> {
    fn drop(&mut self) {
        // Unmapping a buffer that the kernel still writes to would corrupt whatever is mapped
        // there next, so wait for what is in flight. A thread that hangs here is abandoned by
        // the sampler together with its memory.
        while self.in_flight > 0 {
            if self.reap(1, &mut |_| {}).is_err() {
                return; // leaks ring and buffers on purpose
            }
        }
        // SAFETY: neither is used again, and this runs once. Nothing is in flight, and the ring is closed before
        // its registered buffers are unmapped.
        unsafe {
            ManuallyDrop::drop(&mut self.ring);
            ManuallyDrop::drop(&mut self.pool);
        }
    }
}
