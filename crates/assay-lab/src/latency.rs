//! A card with latency and a bus, behind a server of network block devices.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::host::{Missing, need, try_run};
use super::mount::LoopDevice;
use crate::mount::Mount;

/// The speed of the card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bus {
    /// Delay of each read in milliseconds.
    pub read_ms: u64,
    /// Delay of each write in milliseconds.
    pub write_ms: u64,
    /// Bits per second through the bus, both ways together.
    pub bits_per_second: u64,
}

/// nbdkit with delay and rate filters. nbdfuse shows it as a file, a loop device shows the file as a block device, and
/// ext4 lies on it. Random reads take latency plus size divided by bandwidth, as on a microSD card.
#[derive(Debug)]
pub struct LatencyCard {
    mount: Option<Mount>,
    device: Option<LoopDevice>,
    fuse: Option<NbdFuse>,
    server: Child,
    directory: tempfile::TempDir,
}

impl LatencyCard {
    /// Makes a card of `bytes`.
    ///
    /// # Errors
    /// [`Missing`] with the reason.
    pub fn new(bytes: u64, bus: Bus) -> Result<Self, Missing> {
        let served = [
            "--filter=delay".to_owned(),
            "--filter=rate".to_owned(),
            "memory".to_owned(),
            format!("{bytes}"),
            format!("rdelay={}ms", bus.read_ms),
            format!("wdelay={}ms", bus.write_ms),
            format!("rate={}", bus.bits_per_second),
        ];
        Self::served(bytes, &served)
    }

    /// Makes a card of `bytes` that performs one operation after the other, each in the same time: a queue with a
    /// constant service time.
    ///
    /// # Errors
    /// [`Missing`] with the reason.
    pub fn one_at_a_time(bytes: u64, milliseconds: u64) -> Result<Self, Missing> {
        let served = [
            "--filter=noparallel".to_owned(),
            "--filter=delay".to_owned(),
            "memory".to_owned(),
            format!("{bytes}"),
            format!("rdelay={milliseconds}ms"),
            "serialize=all-requests".to_owned(),
        ];
        Self::served(bytes, &served)
    }

    /// The card that nbdkit serves with these arguments.
    fn served(bytes: u64, arguments: &[String]) -> Result<Self, Missing> {
        need(&["nbdkit", "nbdfuse", "losetup", "fusermount3"])?;
        let directory = tempfile::Builder::new()
            .prefix("assay-lab-")
            .tempdir()
            .map_err(|e| Missing(format!("temporary directory: {e}")))?;
        let socket = directory.path().join("socket");
        let server = Command::new("nbdkit")
            .args(["--foreground", "--exit-with-parent", "--unix"])
            .arg(&socket)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| Missing(format!("nbdkit: {e}")))?;
        wait_for(|| socket.exists(), "nbdkit")?;
        let mut card = Self { mount: None, device: None, fuse: None, server, directory };
        let fuse = card.fuse.insert(NbdFuse::mount(&socket, card.directory.path().join("disk"), bytes)?);
        let device = LoopDevice::attach(fuse.point(), true)?;
        let mount = Mount::ext4(device.path(), &card.directory.path().join("mnt"))?;
        (card.device, card.mount) = (Some(device), Some(mount));
        Ok(card)
    }

    /// The mount point.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.mount.as_ref().map_or(self.directory.path(), Mount::path)
    }

    /// Its block device.
    #[must_use]
    pub fn device(&self) -> Option<&LoopDevice> {
        self.device.as_ref()
    }
}

impl Drop for LatencyCard {
    fn drop(&mut self) {
        drop(self.mount.take());
        drop(self.device.take());
        drop(self.fuse.take());
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

// A file that an NBD server backs.

/// The nbdfuse process and the file that it mounts.
#[derive(Debug)]
pub(crate) struct NbdFuse {
    process: Child,
    point: PathBuf,
}

impl NbdFuse {
    /// Mounts the `bytes` that the server at `socket` serves as the file `point`.
    pub(crate) fn mount(socket: &Path, point: PathBuf, bytes: u64) -> Result<Self, Missing> {
        File::create(&point).map_err(|e| Missing(format!("{}: {e}", point.display())))?;
        let process = Command::new("nbdfuse")
            .arg(&point)
            .arg("--unix")
            .arg(socket)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| Missing(format!("nbdfuse: {e}")))?;
        let fuse = Self { process, point };
        wait_for(|| std::fs::metadata(&fuse.point).is_ok_and(|file| file.len() == bytes), "nbdfuse")?;
        Ok(fuse)
    }

    /// The file.
    pub(crate) fn point(&self) -> &Path {
        &self.point
    }
}

impl Drop for NbdFuse {
    fn drop(&mut self) {
        try_run("fusermount3", &["-u".as_ref(), self.point.as_os_str()]);
        let _ = self.process.kill();
        let _ = self.process.wait();
        try_run("fusermount3", &["-u".as_ref(), "-z".as_ref(), self.point.as_os_str()]);
    }
}

/// Waits until a started program is ready.
pub(crate) fn wait_for(ready: impl Fn() -> bool, what: &str) -> Result<(), Missing> {
    let start = Instant::now();
    while !ready() {
        if start.elapsed() > Duration::from_secs(10) {
            return Err(Missing(format!("{what} did not start")));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}
