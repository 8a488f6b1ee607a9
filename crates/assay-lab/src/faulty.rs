//! A card that fails when it is told to.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::command::{Missing, need, try_run};
use crate::loop_device::LoopDevice;
use crate::mount::Mount;

/// How long an operation takes in milliseconds, so that a repeat does not fill a histogram.
const DELAY_MS: u64 = 10;
/// A server is there, or gone, within this.
const TIMEOUT: Duration = Duration::from_secs(10);

/// What a write meets while [`FaultyCard::fail_writes`] holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteFault {
    /// `EIO`: the cells are worn out.
    Io,
    /// `ENOSPC`: a thinly provisioned volume whose pool is full.
    NoSpace,
}

/// nbdkit with its error and delay filters, as a file through nbdfuse, as a loop device, with ext4
/// on it.
///
/// Errors begin and end with a file that nbdkit looks for; the card hangs while nbdkit is stopped.
#[derive(Debug)]
pub struct FaultyCard {
    // Dropped in order: whatever stands on something else goes first.
    mount: Option<Mount>,
    device: Option<LoopDevice>,
    _fuse: Fuse,
    server: Process,
    directory: tempfile::TempDir,
}

impl FaultyCard {
    /// Makes a sound card of `bytes`, whose writes will fail by `fault` once they do.
    ///
    /// # Errors
    /// [`Missing`] with the reason.
    pub fn new(bytes: u64, fault: WriteFault) -> Result<Self, Missing> {
        need(&["nbdkit", "nbdfuse", "losetup", "fusermount3"])?;
        let fail = |e: std::io::Error| Missing(format!("temporary directory: {e}"));
        let directory = tempfile::Builder::new().prefix("assay-lab-").tempdir().map_err(fail)?;
        let (socket, point) = (directory.path().join("socket"), directory.path().join("disk"));
        let mut nbdkit = Command::new("nbdkit");
        nbdkit
            .args(["--foreground", "--exit-with-parent", "--unix"])
            .arg(&socket)
            .args(["--filter=error", "--filter=delay", "memory"])
            .arg(format!("{bytes}"))
            .args([format!("rdelay={DELAY_MS}ms"), format!("wdelay={DELAY_MS}ms")])
            .args(["error-pread=EIO", "error-pread-rate=100%", "error-pwrite-rate=100%"])
            .arg(match fault {
                WriteFault::Io => "error-pwrite=EIO",
                WriteFault::NoSpace => "error-pwrite=ENOSPC",
            })
            .arg(format!("error-pread-file={}", trigger(directory.path(), "read").display()))
            .arg(format!("error-pwrite-file={}", trigger(directory.path(), "write").display()));
        let server = Process::start(nbdkit, "nbdkit")?;
        wait_for(|| socket.exists(), "nbdkit")?;
        File::create(&point).map_err(fail)?;
        let fuse = Fuse::start(&socket, &point, bytes)?;
        let mut card = Self { mount: None, device: None, _fuse: fuse, server, directory };
        let device = card.device.insert(LoopDevice::attach(&point, true)?);
        card.mount = Some(Mount::ext4(device.path(), &card.directory.path().join("mnt"))?);
        Ok(card)
    }

    /// Where it is mounted.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.mount.as_ref().map_or(self.directory.path(), Mount::path)
    }

    /// From now on every read fails, or none does.
    ///
    /// # Errors
    /// [`Missing`] where the file cannot be made.
    pub fn fail_reads(&self, on: bool) -> Result<(), Missing> {
        self.set("read", on)
    }

    /// From now on every write fails, or none does.
    ///
    /// # Errors
    /// [`Missing`] where the file cannot be made.
    pub fn fail_writes(&self, on: bool) -> Result<(), Missing> {
        self.set("write", on)
    }

    fn set(&self, what: &str, on: bool) -> Result<(), Missing> {
        let path = trigger(self.directory.path(), what);
        let done = if on { File::create(&path).map(drop) } else { std::fs::remove_file(&path) };
        done.map_err(|e| Missing(format!("{}: {e}", path.display())))
    }

    /// From now on nothing is answered, until [`Self::recover`].
    pub fn hang(&self) {
        self.server.signal(Signal::STOP);
    }

    /// Answers again, also what was asked meanwhile.
    pub fn recover(&self) {
        self.server.signal(Signal::CONT);
    }

    /// The reader loses the card: every operation fails at once, and it does not come back.
    pub fn lose(&mut self) {
        self.server.end();
    }
}

impl Drop for FaultyCard {
    fn drop(&mut self) {
        // A file system is unmounted only when what it waits for is answered.
        self.recover();
        for what in ["read", "write"] {
            let _ = std::fs::remove_file(trigger(self.directory.path(), what));
        }
    }
}

fn trigger(directory: &Path, what: &str) -> PathBuf {
    directory.join(format!("fail-{what}"))
}

/// A program of the lab; ended when dropped.
#[derive(Debug)]
struct Process(Child);

impl Process {
    fn start(mut command: Command, what: &str) -> Result<Self, Missing> {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().map(Self).map_err(|e| Missing(format!("{what}: {e}")))
    }

    fn signal(&self, signal: Signal) {
        if let Some(pid) = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process(pid, signal);
        }
    }

    fn end(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

/// nbdfuse and its mount.
#[derive(Debug)]
struct Fuse {
    point: PathBuf,
    process: Process,
}

impl Fuse {
    fn start(socket: &Path, point: &Path, bytes: u64) -> Result<Self, Missing> {
        let mut nbdfuse = Command::new("nbdfuse");
        nbdfuse.arg(point).arg("--unix").arg(socket);
        let fuse = Self { point: point.to_owned(), process: Process::start(nbdfuse, "nbdfuse")? };
        wait_for(|| std::fs::metadata(point).is_ok_and(|m| m.len() == bytes), "nbdfuse")?;
        Ok(fuse)
    }
}

impl Drop for Fuse {
    fn drop(&mut self) {
        try_run("fusermount3", &["-u".as_ref(), self.point.as_os_str()]);
        let end = Instant::now() + Duration::from_secs(2);
        while Instant::now() < end && matches!(self.process.0.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(20));
        }
        // Killed, it closes /dev/fuse, and the kernel fails all that still waits for an answer.
        self.process.end();
        try_run("fusermount3", &["-u".as_ref(), "-z".as_ref(), self.point.as_os_str()]);
    }
}

fn wait_for(ready: impl Fn() -> bool, what: &str) -> Result<(), Missing> {
    let start = Instant::now();
    while !ready() {
        if start.elapsed() > TIMEOUT {
            return Err(Missing(format!("{what} did not start")));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}
