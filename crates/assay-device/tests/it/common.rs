//! Trees of other machines, written as manifests.
//!
//! `[dir]` begins a directory; the lines after it are `name = content` (escapes `\n \t \0 \\ \xNN`,
//! a newline is added as sysfs does), `name -> target` for a link, or `name/` for an empty
//! directory. As the kernel does, every directory with `dev` and `size` is also linked from
//! `sys/dev/block`, `sys/class/block` and, unless it is a partition, from `sys/block`.

use std::fs;
use std::fs::File;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use assay_device::{Seen, Sysroot, TargetInfo, What, look_by_dev};

pub struct Board {
    dir: tempfile::TempDir,
}

impl Board {
    pub fn new(name: &str) -> Self {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/boards").join(format!("{name}.tree"));
        Self::from_text(&fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display())))
    }

    pub fn from_text(text: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut section = PathBuf::new();
        for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
            if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                section = PathBuf::from(name.trim_start_matches('/'));
            } else if let Some((name, content)) = line.split_once(" = ") {
                let path = dir.path().join(&section).join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                let mut bytes = unescape(content);
                bytes.push(b'\n');
                fs::write(&path, bytes).unwrap();
            } else if let Some((name, target)) = line.split_once(" -> ") {
                let path = dir.path().join(&section).join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                symlink(target, &path).unwrap_or_else(|error| panic!("{line}: {error}"));
            } else if let Some(name) = line.strip_suffix('/') {
                fs::create_dir_all(dir.path().join(&section).join(name)).unwrap();
            } else {
                panic!("not a line of a tree: {line}");
            }
        }
        let board = Self { dir };
        board.link_blocks(&board.dir.path().join("sys/devices"));
        board
    }

    fn link_blocks(&self, dir: &Path) {
        let Ok(entries) = fs::read_dir(dir) else { return };
        for entry in entries.map(Result::unwrap).filter(|entry| entry.file_type().unwrap().is_dir()) {
            let path = entry.path();
            if path.join("dev").exists() && path.join("size").exists() {
                let number = fs::read_to_string(path.join("dev")).unwrap();
                let name = entry.file_name().into_string().unwrap();
                let inside = path.strip_prefix(self.dir.path().join("sys")).unwrap().to_path_buf();
                self.link(&format!("sys/dev/block/{}", number.trim()), &Path::new("../..").join(&inside));
                self.link(&format!("sys/class/block/{name}"), &Path::new("../..").join(&inside));
                if !path.join("partition").exists() {
                    self.link(&format!("sys/block/{name}"), &Path::new("..").join(&inside));
                }
            }
            self.link_blocks(&path);
        }
    }

    fn link(&self, name: &str, target: &Path) {
        let path = self.dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
    }

    pub fn sysroot(&self) -> Sysroot {
        Sysroot::at(self.dir.path())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A directory on the file system with the number given.
    pub fn directory(&self, path: &str, dev: (u32, u32)) -> TargetInfo {
        look_by_dev(&self.sysroot(), Path::new(path), Seen { what: What::Directory, dev })
    }

    /// A block device with the number given.
    pub fn device(&self, path: &str, dev: (u32, u32)) -> TargetInfo {
        look_by_dev(&self.sysroot(), Path::new(path), Seen { what: What::BlockDevice, dev })
    }
}

fn unescape(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        match bytes.next() {
            Some(b'n') => out.push(b'\n'),
            Some(b't') => out.push(b'\t'),
            Some(b'0') => out.push(0),
            Some(b'x') => {
                let hex = [bytes.next().unwrap(), bytes.next().unwrap()];
                out.push(u8::from_str_radix(std::str::from_utf8(&hex).unwrap(), 16).unwrap());
            }
            Some(other) => out.push(other),
            None => panic!("a backslash ends a line"),
        }
    }
    out
}

/// The stack as `name:role` words.
pub fn stack(target: &TargetInfo) -> String {
    let words: Vec<String> = target.medium.stack.iter().map(|node| format!("{}:{}", node.name, node.role)).collect();
    words.join(" ")
}

/// Ceiling of the bus in MB/s.
pub fn ceiling(target: &TargetInfo) -> Option<f64> {
    target.medium.bus.as_ref()?.ceiling_bytes_per_second.map(|bytes| bytes / 1e6)
}

/// Mode of the bus.
pub fn mode(target: &TargetInfo) -> &str {
    target.medium.bus.as_ref().map_or("", |bus| bus.mode.as_str())
}

/// Where the bus was read.
pub fn source(target: &TargetInfo) -> &str {
    target.medium.bus.as_ref().map_or("", |bus| bus.source.as_str())
}

// Loop devices for tests on a real machine.

pub const MIB: usize = 1 << 20;

/// A process started by another test has a copy of every open file for a moment, and so holds a device that was
/// released. Such tests run one after another.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A loop device over a file, detached in any case.
pub struct Loop {
    pub device: PathBuf,
    pub file: PathBuf,
    _dir: Option<tempfile::TempDir>,
}

impl Loop {
    pub fn new(size: usize, read_only: bool) -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("medium \"quoted\".img");
        File::create(&file).unwrap().set_len(size as u64).unwrap();
        Self::attach(file, Some(dir), read_only)
    }

    /// Over an existing file or device.
    pub fn over(file: &Path) -> Option<Self> {
        Self::attach(file.to_owned(), None, false)
    }

    /// Over a file, for reading only.
    pub fn read_only(file: &Path) -> Option<Self> {
        Self::attach(file.to_owned(), None, true)
    }

    fn attach(file: PathBuf, dir: Option<tempfile::TempDir>, read_only: bool) -> Option<Self> {
        let attach = || {
            let mut command = Command::new("losetup");
            command.args(["-f", "--show"]).args(read_only.then_some("-r"));
            command.arg(&file).output()
        };
        let mut output = attach();
        // Another process may take a free device between finding and taking it (losetup(8)).
        for _ in 0..20 {
            if output.as_ref().is_ok_and(|output| output.status.success()) {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
            output = attach();
        }
        let output = match output {
            Ok(output) => output,
            Err(error) => {
                eprintln!("SKIP: losetup cannot be run ({error})");
                return None;
            }
        };
        if !output.status.success() {
            eprintln!("SKIP: no loop device ({})", String::from_utf8_lossy(&output.stderr).trim());
            return None;
        }
        let device = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
        // If udev runs, it reads every new device, which the counters would show.
        let _ = Command::new("udevadm").args(["settle", "--timeout=5"]).output();
        Some(Self { device, file, _dir: dir })
    }

    pub fn name(&self) -> String {
        self.device.file_name().unwrap().to_str().unwrap().to_owned()
    }

    pub fn path(&self) -> &str {
        self.device.to_str().unwrap()
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("-d").arg(&self.device).status();
    }
}
