//! A card that fails on request.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::host::{Missing, need, try_run};
use super::mount::LoopDevice;
use crate::mount::Mount;

/// Duration of an operation in milliseconds; it keeps a repeat from filling a histogram.
const DELAY_MS: u64 = 10;
/// A server starts or ends within this time.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The error of a write while [`FaultyCard::fail_writes`] is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteFault {
    /// `EIO`: the cells are worn out.
    Io,
    /// `ENOSPC`: a thinly provisioned volume whose pool is full.
    NoSpace,
}

/// nbdkit with its error and delay filters. nbdfuse shows it as a file, a loop device shows the file as a block device,
/// and ext4 lies on it.
///
/// Errors begin and end with the existence of a file that nbdkit tests. The card hangs while nbdkit is stopped.
#[derive(Debug)]
pub struct FaultyCard {
    // Dropped in this order: each layer before the one below it.
    mount: Option<Mount>,
    device: Option<LoopDevice>,
    _fuse: Fuse,
    server: Process,
    directory: tempfile::TempDir,
}

impl FaultyCard {
    /// Makes a sound card of `bytes`. Its writes fail by `fault` after [`Self::fail_writes`].
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

    /// The mount point.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.mount.as_ref().map_or(self.directory.path(), Mount::path)
    }

    /// Makes every read fail from now on, or none.
    ///
    /// # Errors
    /// [`Missing`] if the trigger file cannot be made.
    pub fn fail_reads(&self, on: bool) -> Result<(), Missing> {
        self.set("read", on)
    }

    /// Makes every write fail from now on, or none.
    ///
    /// # Errors
    /// [`Missing`] if the trigger file cannot be made.
    pub fn fail_writes(&self, on: bool) -> Result<(), Missing> {
        self.set("write", on)
    }

    fn set(&self, what: &str, on: bool) -> Result<(), Missing> {
        let path = trigger(self.directory.path(), what);
        let done = if on { File::create(&path).map(drop) } else { std::fs::remove_file(&path) };
        done.map_err(|e| Missing(format!("{}: {e}", path.display())))
    }

    /// Stops all answers until [`Self::recover`].
    pub fn hang(&self) {
        self.server.signal(Signal::STOP);
    }

    /// Resumes answers, also to earlier requests.
    pub fn recover(&self) {
        self.server.signal(Signal::CONT);
    }

    /// Removes the card as a lost reader would: every operation fails at once, for good.
    pub fn lose(&mut self) {
        self.server.end();
    }
}

impl Drop for FaultyCard {
    fn drop(&mut self) {
        // A file system is unmounted only when its pending requests are answered.
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
        // When nbdfuse is killed, it closes /dev/fuse, and the kernel fails all pending requests.
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
