//! Limits that the kernel enforces, and a card with a known truth made by them.

use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::host::{Missing, need, try_run};
use super::mount::LoopDevice;
use crate::mount::Mount;

/// An ext4 file system on a loop device in memory. Commands run through it are subject to its limits.
///
/// Fields are dropped in order: the group before the mount, the mount before the device, the
/// device before its file.
#[derive(Debug)]
pub struct LimitedCard {
    group: Cgroup,
    mount: Mount,
    device: LoopDevice,
    _directory: tempfile::TempDir,
}

impl LimitedCard {
    /// Makes a card of `bytes`.
    ///
    /// # Errors
    /// [`Missing`] with the reason.
    pub fn new(bytes: u64, limits: Limits) -> Result<Self, Missing> {
        let fail = |e: std::io::Error| Missing(format!("/dev/shm: {e}"));
        let directory = tempfile::Builder::new().prefix("assay-lab-").tempdir_in("/dev/shm").map_err(fail)?;
        let image = directory.path().join("card.img");
        std::fs::File::create(&image).and_then(|file| file.set_len(bytes)).map_err(fail)?;
        let device = LoopDevice::attach(&image, false)?;
        let mount = Mount::ext4(device.path(), &directory.path().join("mnt"))?;
        let group = Cgroup::new(&device.number()?, limits)?;
        Ok(Self { group, mount, device, _directory: directory })
    }

    /// The mount point.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.mount.path()
    }

    /// The mount, for changes.
    #[must_use]
    pub fn mount(&self) -> &Mount {
        &self.mount
    }

    /// Its block device.
    #[must_use]
    pub fn device(&self) -> &LoopDevice {
        &self.device
    }

    /// Changes the limits during use: a full cache, or a part that got hot.
    ///
    /// # Errors
    /// [`Missing`] if the kernel refuses.
    pub fn change(&self, limits: Limits) -> Result<(), Missing> {
        self.group.change(&self.device.number()?, limits)
    }

    /// Also limits another card, for commands that are run through this one.
    ///
    /// # Errors
    /// [`Missing`] if the kernel refuses.
    pub fn limit_too(&self, other: &Self, limits: Limits) -> Result<(), Missing> {
        self.group.change(&other.device.number()?, limits)
    }

    /// A command that is subject to the limits.
    #[must_use]
    pub fn command<A: AsRef<OsStr>>(&self, program: &Path, arguments: &[A]) -> Command {
        self.group.command(program, arguments)
    }

    /// The same command, subject to the limits.
    #[must_use]
    pub fn limited(&self, command: &Command) -> Command {
        let arguments: Vec<&OsStr> = command.get_args().collect();
        let mut within = self.command(Path::new(command.get_program()), &arguments);
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => within.env(name, value),
                None => within.env_remove(name),
            };
        }
        within
    }
}

// Limits that the kernel enforces: the truth that a measurement is compared with.

/// Limits of one device; `None` means no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// Read operations per second.
    pub read_iops: Option<u64>,
    /// Write operations per second.
    pub write_iops: Option<u64>,
    /// Bytes read per second.
    pub read_bytes: Option<u64>,
    /// Bytes written per second.
    pub write_bytes: Option<u64>,
}

/// A control group with limits on one device, or on memory; removed when dropped.
#[derive(Debug)]
pub struct Cgroup {
    path: PathBuf,
}

impl Cgroup {
    /// Makes a group that limits the device `number` (`major:minor`). It uses cgroup v1 `blkio` or v2 `io.max`,
    /// depending on the host.
    ///
    /// # Errors
    /// [`Missing`] without root or either controller.
    pub fn new(number: &str, limits: Limits) -> Result<Self, Missing> {
        need(&[])?;
        let name = format!("assay-lab-{}-{}", std::process::id(), number.replace(':', "-"));
        let (root, _) = settings(number, limits)?;
        let path = root.join(name);
        std::fs::create_dir_all(&path).map_err(|e| Missing(format!("{}: {e}", path.display())))?;
        let group = Self { path };
        group.change(number, limits)?;
        Ok(group)
    }

    /// Makes a group limited to `bytes` of memory, page cache included. The kernel kills a process that exceeds the
    /// limit.
    ///
    /// # Errors
    /// [`Missing`] without root or the memory controller.
    pub fn of_memory(bytes: u64) -> Result<Self, Missing> {
        need(&[])?;
        let (root, limit) = [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")]
            .into_iter()
            .find(|(root, limit)| {
                let listed = std::fs::read_to_string(Path::new(root).join("cgroup.subtree_control"));
                Path::new(root).join(limit).exists() || listed.is_ok_and(|controllers| controllers.contains("memory"))
            })
            .ok_or_else(|| Missing("needs the memory controller of control groups".to_owned()))?;
        let path = Path::new(root).join(format!("assay-lab-{}-memory-{bytes}", std::process::id()));
        let fail = |e: std::io::Error| Missing(format!("{}: {e}", path.display()));
        std::fs::create_dir_all(&path).map_err(fail)?;
        let group = Self { path: path.clone() };
        std::fs::write(path.join(limit), bytes.to_string()).map_err(fail)?;
        // Swap must not extend the limit.
        let (swap, most) = if root.ends_with("memory") {
            ("memory.memsw.limit_in_bytes", bytes.to_string())
        } else {
            ("memory.swap.max", "0".to_owned())
        };
        let swaps = std::fs::read_to_string("/proc/swaps").is_ok_and(|text| text.lines().count() > 1);
        match std::fs::write(path.join(swap), most) {
            Err(e) if swaps => Err(fail(e)),
            _ => Ok(group),
        }
    }

    /// Sets other limits for the device `number` at once. Where a limit is `None`, the old one stays.
    ///
    /// # Errors
    /// [`Missing`] if the kernel refuses.
    pub fn change(&self, number: &str, limits: Limits) -> Result<(), Missing> {
        for (file, line) in settings(number, limits)?.1 {
            let file = self.path.join(file);
            std::fs::write(&file, line).map_err(|e| Missing(format!("{}: {e}", file.display())))?;
        }
        Ok(())
    }

    /// A command that runs inside the group from its first instruction on.
    #[must_use]
    pub fn command<A: AsRef<OsStr>>(&self, program: &Path, arguments: &[A]) -> Command {
        let mut command = Command::new("sh");
        command
            .arg("-c")
            .arg("echo $$ > \"$0\" && exec \"$@\"")
            .arg(self.path.join("cgroup.procs"))
            .arg(program)
            .args(arguments);
        command
    }
}

/// Files of a controller and what to write into them.
type Settings = (&'static Path, Vec<(&'static str, String)>);

/// Where limits are set on this host, and what to write into which file.
fn settings(number: &str, limits: Limits) -> Result<Settings, Missing> {
    let v1 = Path::new("/sys/fs/cgroup/blkio");
    let v2 = Path::new("/sys/fs/cgroup");
    if v1.join("blkio.throttle.read_iops_device").exists()
        || v1.join("blkio.throttle.io_serviced").exists()
        || v1.join("cgroup.procs").exists()
    {
        let line = |value: u64| format!("{number} {value}");
        let all = [
            ("blkio.throttle.read_iops_device", limits.read_iops),
            ("blkio.throttle.write_iops_device", limits.write_iops),
            ("blkio.throttle.read_bps_device", limits.read_bytes),
            ("blkio.throttle.write_bps_device", limits.write_bytes),
        ];
        Ok((v1, all.into_iter().filter_map(|(file, value)| value.map(|v| (file, line(v)))).collect()))
    } else if std::fs::read_to_string(v2.join("cgroup.subtree_control")).is_ok_and(|c| c.contains("io")) {
        let part = |key: &str, value: Option<u64>| value.map(|v| format!(" {key}={v}")).unwrap_or_default();
        let line = format!(
            "{number}{}{}{}{}",
            part("riops", limits.read_iops),
            part("wiops", limits.write_iops),
            part("rbps", limits.read_bytes),
            part("wbps", limits.write_bytes)
        );
        Ok((v2, vec![("io.max", line)]))
    } else {
        Err(Missing("needs the blkio or io controller of control groups".to_owned()))
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // Processes that just ended leave the group only after a moment.
        for _ in 0..50 {
            if std::fs::remove_dir(&self.path).is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }
}

// A card with latency and a bus, behind a server of network block devices.

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
