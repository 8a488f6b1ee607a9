//! Checks before a raw device may be written.

use std::fs::{File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{Read, Seek};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use assay_core::text::harmless;
use rustix::fs::{Advice, FlockOperation, OFlags, fadvise, flock};
use rustix::io::Errno;

use super::held::HeldDevice;
use crate::block::Node;
use crate::error::{DeviceError, shown};
use crate::files::{self, FileId, Stat, Sysroot};
use crate::guard::permit::RawPermit;
use crate::guard::signature::{BLOCK, Blocks, marked};
use crate::guard::usage::{MountPoint, Reach, UnknownLoop, mounted_on};
use crate::look::{Seen, What};
use crate::system;

/// udev and others open a new device for a moment: they get this long to close it.
const TIMEOUT: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(20);
/// Description of a use that only the kernel sees.
const BUSY: &str = "busy, as the kernel says";

/// What must be free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// Everything with the data of the device.
    Device,
    /// Everything else on its disks too.
    Disks,
}

/// Checks whether the block device at `path` may be overwritten. A device in use is always refused. A device not shown
/// to be blank is refused, unless `forced_by_name` is exactly the given path; then it is not read at all.
///
/// # Errors
/// The reason for the refusal.
pub fn check_raw(sysroot: &Sysroot, path: &Path, forced_by_name: Option<&str>) -> Result<RawPermit, DeviceError> {
    check(sysroot, path, Scope::Device, names(forced_by_name, path))
}

/// Checks whether the block device at `path` may be probed. Its content is not read, since it is restored. Other parts
/// of its disks must not be in use either: a fake that wraps around stores writes to one partition in another, which
/// was not saved.
///
/// # Errors
/// The reason for the refusal.
pub fn check_probe(sysroot: &Sysroot, path: &Path) -> Result<RawPermit, DeviceError> {
    check(sysroot, path, Scope::Disks, true)
}

fn check(sysroot: &Sysroot, path: &Path, scope: Scope, forced: bool) -> Result<RawPermit, DeviceError> {
    let seen = Seen::at(path)?;
    if seen.what != What::BlockDevice {
        return Err(DeviceError::NotABlockDevice { path: shown(path) });
    }
    let missing = || DeviceError::Unreadable { path: shown(path), source: not_in_sysfs() };
    let node = Node::by_number(sysroot, seen.dev).ok_or_else(missing)?;
    // This comes first for its messages, as the kernel only reports that the device is busy.
    refuse_in_use(sysroot, path, &node, scope)?;
    let held = HeldDevice::exclusively(sysroot, path).map_err(|error| match error {
        DeviceError::Mounted { .. } => {
            refuse_opened(sysroot, path, &node, scope, Duration::ZERO).err().unwrap_or(error)
        }
        error => error,
    })?;
    // From here on the device that is now open counts, wherever the path leads.
    let node = Node::by_number(sysroot, held.seen().dev).ok_or_else(missing)?;
    let others = hold_others(sysroot, path, &node, scope)?;
    let lock = lock(sysroot, &held, &node)?;
    refuse_in_use(sysroot, path, &node, scope)?;
    refuse_opened(sysroot, path, &node, scope, TIMEOUT)?;
    if !forced {
        // Single blocks: read-ahead would fail together with an unreadable place.
        let _ = fadvise(held.file(), 0, None, Advice::Random);
        let found = contents(&mut held.file());
        let _ = fadvise(held.file(), 0, None, Advice::DontNeed);
        refuse_data(path, found)?;
    }
    Ok(RawPermit::new(held, node.name, others.into_iter().chain(lock).collect()))
}

fn not_in_sysfs() -> std::io::Error {
    std::io::Error::other("the device is not in /sys/dev/block")
}

fn refuse_in_use(sysroot: &Sysroot, path: &Path, node: &Node, scope: Scope) -> Result<(), DeviceError> {
    let reach = Reach::from_node(sysroot, node);
    let uses = reach.uses(sysroot);
    if let Some(first) = uses.first() {
        return Err(in_use(path, &describe_use(first, node), uses.len()));
    }
    if let Some(UnknownLoop { name, why, is_refused, is_own }) = reach.unknown() {
        let mounted = mounted_on(sysroot, &name).into_iter().find(|used| used.device == name).map(|used| used.place);
        let (path, device, why) = (shown(path), harmless(&name), harmless(&why));
        if is_refused && !rustix::process::geteuid().is_root() {
            return Err(DeviceError::LoopForRoot { path, device });
        }
        return Err(DeviceError::UnknownLoop { path, device, why, is_own, mounted });
    }
    if node.read_only() {
        return Err(DeviceError::ReadOnly { device: shown(path) });
    }
    if scope == Scope::Disks
        && let Some(first) = Reach::of_disks(sysroot, node).uses(sysroot).first()
    {
        return Err(DeviceError::DiskInUse { device: shown(path), place: describe_use(first, node) });
    }
    Ok(())
}

/// Description of the use of a device, relative to `node`.
fn describe_use(used: &MountPoint, node: &Node) -> String {
    match (used.device == node.name, used.alias) {
        (true, _) => used.place.clone(),
        (false, true) => format!("{}, the same storage, {}", used.device, used.place),
        (false, false) => format!("{} {}", used.device, used.place),
    }
}

fn in_use(path: &Path, first: &str, count: usize) -> DeviceError {
    let more = match count {
        0 | 1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    DeviceError::Mounted { device: shown(path), place: format!("{first}{more}") }
}

/// Refuses if programs have it open, unless they close it within `timeout`.
fn refuse_opened(
    sysroot: &Sysroot,
    path: &Path,
    node: &Node,
    scope: Scope,
    timeout: Duration,
) -> Result<(), DeviceError> {
    let reach = Reach::from_node(sysroot, node);
    let mut numbers: Vec<_> = reach.numbers().collect();
    if scope == Scope::Disks {
        numbers.extend(Reach::of_disks(sysroot, node).numbers());
    }
    let (files, start) = (reach.files(), Instant::now());
    loop {
        let found = openers(sysroot, &numbers, &files);
        let Some(first) = found.first() else { return Ok(()) };
        if start.elapsed() >= timeout {
            return Err(in_use(path, &first.to_string(), found.len()));
        }
        std::thread::sleep(TICK);
    }
}

/// Opens the other names of the storage and, with [`Scope::Disks`], the other partitions, so that nothing uses them
/// while the permit exists. The kernel also knows mounts in name spaces that are not visible here. A device without a
/// node here cannot be tested.
fn hold_others(sysroot: &Sysroot, path: &Path, node: &Node, scope: Scope) -> Result<Vec<File>, DeviceError> {
    let reach = Reach::from_node(sysroot, node);
    let of_disks = (scope == Scope::Disks).then(|| Reach::of_disks(sysroot, node));
    let all = reach.others().iter().map(|other| (other, true));
    let all = all.chain(of_disks.iter().flat_map(Reach::others).map(|other| (other, false)));
    let mut held: Vec<(&str, File)> = Vec::new();
    // Whole devices first: they cannot be held together with their partitions.
    let (parts, wholes): (Vec<_>, Vec<_>) = all.partition(|(other, _)| other.is_partition());
    for (other, is_same) in wholes.into_iter().chain(parts) {
        let names = [other.name.clone(), other.whole().name];
        let has = |name: &str| names.iter().any(|own| own == name);
        if has(&node.name) || held.iter().any(|(name, _)| has(name)) {
            continue;
        }
        match open_node(sysroot, other, OFlags::EXCL) {
            Ok(file) => held.extend(file.map(|file| (other.name.as_str(), file))),
            Err(_) => {
                let alias = MountPoint { device: harmless(&other.name), place: BUSY.to_owned(), alias: is_same };
                let place = describe_use(&alias, node);
                return Err(match is_same {
                    true => in_use(path, &place, 1),
                    false => DeviceError::DiskInUse { device: shown(path), place },
                });
            }
        }
    }
    Ok(held.into_iter().map(|(_, file)| file).collect())
}

/// Takes the lock on the whole disk's node that udev and partitioning programs respect (systemd.io, "Locking Block
/// Device Access"). Without such a node the device itself is locked.
fn lock(sysroot: &Sysroot, held: &HeldDevice, node: &Node) -> Result<Option<File>, DeviceError> {
    let whole = match node.is_partition() {
        true => open_node(sysroot, &node.whole(), OFlags::empty()).ok().flatten(),
        false => None,
    };
    let file = whole.as_ref().unwrap_or_else(|| held.file());
    let start = Instant::now();
    while let Err(error) = flock(file, FlockOperation::NonBlockingLockExclusive) {
        if error != rustix::io::Errno::WOULDBLOCK {
            return Err(DeviceError::from_io(held.path(), error.into()));
        }
        if start.elapsed() >= TIMEOUT {
            refuse_opened(sysroot, held.path(), node, Scope::Device, Duration::ZERO)?;
            return Err(in_use(held.path(), "locked by another program", 1));
        }
        std::thread::sleep(TICK);
    }
    Ok(whole)
}

/// The node of a device in `/dev`, if it is that device and can be opened.
///
/// # Errors
/// If it is in use and `flags` request exclusive access.
fn open_node(sysroot: &Sysroot, node: &Node, flags: OFlags) -> Result<Option<File>, Errno> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | flags).bits() as i32;
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(sysroot.path(&node.dev_path())) {
        Ok(file) => file,
        Err(error) => {
            return match Errno::from_io_error(&error) {
                Some(Errno::BUSY) => Err(Errno::BUSY),
                _ => Ok(None),
            };
        }
    };
    let Ok(meta) = file.metadata() else { return Ok(None) };
    let number = (rustix::fs::major(meta.rdev()), rustix::fs::minor(meta.rdev()));
    Ok((meta.file_type().is_block_device() && node.number() == Some(number)).then_some(file))
}

/// Whether the name is exactly the path.
fn names(forced: Option<&str>, path: &Path) -> bool {
    forced.is_some_and(|name| Path::new(name).as_os_str() == path.as_os_str())
}

fn refuse_data(path: &Path, contents: Contents) -> Result<(), DeviceError> {
    let device = shown(path);
    match contents {
        Contents::Blank => Ok(()),
        Contents::Marked(what) => Err(DeviceError::HoldsData { device, what: what.to_owned() }),
        Contents::Unknown { offset } => {
            let what = format!("of an unknown kind, first at byte {offset}");
            Err(DeviceError::HoldsData { device, what })
        }
        Contents::Unreadable { offset } => Err(DeviceError::NotShownBlank { device, offset }),
    }
}

// Processes that have a device open. The kernel allows this beside an exclusive user.

/// No real process has more ancestors; more is a loop in a table that changes while it is read.
const DEEPEST: usize = 64;

/// A process that has one of the devices open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Opener {
    pid: u32,
    program: String,
}

impl std::fmt::Display for Opener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "open in {}, process {}", self.program, self.pid)
    }
}

/// Processes other than this one and its children that have a device of `numbers` open, or one of the files in
/// `backing` behind loop devices, as far as this process may inspect them (proc(5), `/proc/PID/fd`).
pub(super) fn openers(sysroot: &Sysroot, numbers: &[(u32, u32)], backing: &[FileId]) -> Vec<Opener> {
    let proc = sysroot.path("/proc");
    let all = files::entries(&proc).into_iter().filter_map(|name| name.parse::<u32>().ok());
    let open = |pid: &u32| {
        let fds = proc.join(pid.to_string()).join("fd");
        let is_one = |stat: Stat| match stat.of_block_device {
            Some(number) => numbers.contains(&number),
            None => backing.contains(&stat.id()),
        };
        files::entries(&fds).iter().filter_map(|fd| system::stat(&fds.join(fd))).any(is_one)
    };
    all.filter(open)
        .filter(|pid| !is_own(&proc, *pid))
        .map(|pid| {
            let name = files::text(&proc.join(pid.to_string()).join("comm"));
            Opener { pid, program: name.map_or_else(|| "a program".to_owned(), |name| harmless(&name)) }
        })
        .collect()
}

/// Whether it is this process or one that it started.
fn is_own(proc: &Path, pid: u32) -> bool {
    let own = std::process::id();
    let mut at = pid;
    for _ in 0..DEEPEST {
        if at == own {
            return true;
        }
        match parent_process(&proc.join(at.to_string()).join("stat")) {
            Some(above) if above > 0 => at = above,
            _ => return false,
        }
    }
    false
}

/// The fourth field; the second, the name, may hold spaces and parentheses (proc(5)).
fn parent_process(stat: &Path) -> Option<u32> {
    let text = files::text(stat)?;
    text.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

// Whether a device is blank.
//
// A mark shows what a device holds, but a missing mark proves nothing: dm-crypt without a header, a tar archive or a
// database on the bare device have no mark. So a device is blank only if samples show it: every block of its first and
// last MiB, and one block at random of each of 256 equal parts of the whole. Data that fill one of the parts are found
// for certain. A smaller piece of data in the middle of an otherwise blank device may be missed.

/// Blocks at either end of the device that are all read.
const EDGE: u64 = (1 << 20) / BLOCK;
/// Number of parts with one sampled block each.
const PARTS: u64 = 256;

/// Content of a device, as far as samples show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Contents {
    /// Each sample is all zeros, or all ones as in erased flash.
    Blank,
    /// A known mark.
    Marked(&'static str),
    /// Data without a known mark.
    Unknown {
        /// Byte offset of the first such sample.
        offset: u64,
    },
    /// All samples read are blank, but some cannot be read.
    Unreadable {
        /// Byte offset of the first unreadable sample.
        offset: u64,
    },
}

/// Samples a device.
pub(super) fn contents<R: Read + Seek>(device: &mut R) -> Contents {
    let mut blocks = Blocks::on_device(device);
    if let Some(name) = marked(&mut blocks) {
        return Contents::Marked(name);
    }
    let random = RandomState::new();
    for number in samples(blocks.bytes().div_ceil(BLOCK), |part| random.hash_one(part)) {
        if blocks.block(number).is_some_and(|block| !is_blank(block)) {
            return Contents::Unknown { offset: number * BLOCK };
        }
    }
    match blocks.first_failed() {
        Some(offset) => Contents::Unreadable { offset },
        None => Contents::Blank,
    }
}

/// All zeros or all ones.
fn is_blank(block: &[u8]) -> bool {
    [0x00, 0xff].iter().any(|blank| block.iter().all(|byte| byte == blank))
}

/// Numbers of the blocks to sample, of `count`, in order.
fn samples(count: u64, random: impl Fn(u64) -> u64) -> Vec<u64> {
    if count <= 2 * EDGE + PARTS {
        return (0..count).collect();
    }
    let edge = |part: u64| (u128::from(count) * u128::from(part) / u128::from(PARTS)) as u64;
    let spread = (0..PARTS).map(|part| edge(part) + random(part) % (edge(part + 1) - edge(part)));
    let mut all: Vec<u64> = (0..EDGE).chain(spread).chain(count - EDGE..count).collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use std::io::{self, Cursor, SeekFrom};

    use super::*;

    #[test]
    fn data_are_overwritten_only_by_the_exact_name() {
        let path = Path::new("/dev/sdb");
        assert!(names(Some("/dev/sdb"), path));
        for wrong in [None, Some("/dev/sdc"), Some("sdb"), Some(""), Some("/dev/sdb1"), Some("/dev/../dev/sdb")] {
            assert!(!names(wrong, path), "{wrong:?}");
        }
    }

    #[test]
    fn only_what_is_shown_to_be_blank_is_overwritten_unnamed() {
        let path = Path::new("/dev/sdb");
        assert!(refuse_data(path, Contents::Blank).is_ok());
        let words = |contents| refuse_data(path, contents).unwrap_err().to_string();
        assert!(words(Contents::Marked("XFS file system")).contains("holds data (XFS file system)"));
        assert!(
            words(Contents::Unknown { offset: 4096 }).contains("holds data (of an unknown kind, first at byte 4096)")
        );
        assert!(words(Contents::Unreadable { offset: 0 }).contains("nothing shows it to be blank"));
    }

    #[test]
    fn the_parent_is_found_behind_any_name() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "42 (a) R 1 (b) S 7 42 42 0").unwrap();
        assert_eq!(parent_process(file.path()), Some(7));
        assert_eq!(parent_process(Path::new("/proc/self/stat")), Some(std::os::unix::process::parent_id()));
        assert!(is_own(Path::new("/proc"), std::process::id()));
        assert!(!is_own(Path::new("/proc"), 1));
    }

    /// 64 MiB, so that the middle is sampled and not read in full.
    const LARGE: usize = 64 << 20;

    #[test]
    fn zeros_and_ones_are_blank_at_any_size() {
        for byte in [0x00, 0xff] {
            for size in [0, 1, 511, 4096, 4097, (1 << 20) + 512, LARGE] {
                assert_eq!(contents(&mut Cursor::new(vec![byte; size])), Contents::Blank, "{byte} {size}");
            }
        }
    }

    #[test]
    fn erased_and_zeroed_blocks_may_stand_beside_each_other() {
        let mut bytes = vec![0xff; 8 << 20];
        bytes[..4096].fill(0);
        assert_eq!(contents(&mut Cursor::new(bytes)), Contents::Blank);
    }

    #[test]
    fn one_byte_at_either_end_is_data() {
        for at in [0, 4095, (1 << 20) - 1, LARGE - (1 << 20), LARGE - 1] {
            let mut bytes = vec![0; LARGE];
            bytes[at] = 1;
            let offset = at as u64 / 4096 * 4096;
            assert_eq!(contents(&mut Cursor::new(bytes)), Contents::Unknown { offset }, "{at}");
        }
    }

    #[test]
    fn data_that_fill_a_part_are_found_wherever_they_are() {
        let part = LARGE / 256;
        for start in [5, 17, 100, 130, 200, 250] {
            let mut bytes = vec![0; LARGE];
            bytes[start * part..(start + 1) * part].fill(0xa5);
            let found = contents(&mut Cursor::new(bytes));
            assert!(matches!(found, Contents::Unknown { .. }), "{start}: {found:?}");
        }
    }

    #[test]
    fn samples_are_all_over_and_not_the_same_each_time() {
        let count = 1 << 28; // 1 TiB
        let once = samples(count, |part| RandomState::new().hash_one(part));
        let again = samples(count, |part| RandomState::new().hash_one(part));
        assert!(once.is_sorted() && once.last() == Some(&(count - 1)) && once[0] == 0);
        assert!((2 * EDGE + PARTS - 4..=2 * EDGE + PARTS).contains(&(once.len() as u64)));
        assert_ne!(once, again);
        for part in 0..PARTS {
            let range = count / PARTS * part..count / PARTS * (part + 1);
            assert!(once.iter().any(|block| range.contains(block)), "{part}");
        }
    }

    #[test]
    fn three_mebibytes_are_looked_at_in_full() {
        let all = 2 * EDGE + PARTS;
        assert_eq!(samples(all, |part| part), (0..all).collect::<Vec<_>>());
        assert!((samples(all + 1, |part| part).len() as u64) < all);
    }

    /// An image that is unreadable in some places.
    struct Failing {
        image: Cursor<Vec<u8>>,
        bad: std::ops::Range<u64>,
        tried: u32,
    }

    impl Failing {
        fn new(size: usize, bad: std::ops::Range<u64>) -> Self {
            Self { image: Cursor::new(vec![0; size]), bad, tried: 0 }
        }
    }

    impl Read for Failing {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.bad.contains(&self.image.position()) {
                self.tried += 1;
                return Err(io::Error::from_raw_os_error(5));
            }
            self.image.read(buffer)
        }
    }

    impl Seek for Failing {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.image.seek(to)
        }
    }

    #[test]
    fn what_cannot_be_read_is_not_blank_and_is_not_tried_without_end() {
        let size = 8 << 20;
        let last = size as u64 - 4096;
        for bad in [0..4096, last..last + 4096, 4 << 20..size as u64, 0..size as u64] {
            let mut device = Failing::new(size, bad.clone());
            let found = contents(&mut device);
            assert!(
                matches!(found, Contents::Unreadable { offset } if (bad.start..bad.end).contains(&offset)),
                "{bad:?}: {found:?}"
            );
            assert!(device.tried <= 4, "{bad:?}: {} reads failed", device.tried);
        }
    }

    #[test]
    fn a_mark_is_named_though_another_place_cannot_be_read() {
        let mut device = Failing::new(8 << 20, 0..4096);
        device.image.get_mut()[0x1_0040..0x1_0048].copy_from_slice(b"_BHRfS_M");
        assert_eq!(contents(&mut device), Contents::Marked("btrfs file system"));
    }
}
