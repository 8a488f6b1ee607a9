//! Loop devices for tests on a real machine.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

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
