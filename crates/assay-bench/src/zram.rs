//! A compressed device in memory, which the kernel makes on request.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::path::{Path, PathBuf};

use assay_lab::Missing;

/// Where devices are made: reading `hot_add` makes one and gives its number, and a number written
/// to `hot_remove` removes it (kernel documentation, admin-guide/blockdev/zram).
const CONTROL: &str = "/sys/class/zram-control";

/// A zram device of our own, filled with random bytes: pages never written read as zeros without
/// any work, and what compresses well reads faster. Reset and removed when dropped.
#[derive(Debug)]
pub(crate) struct Zram {
    number: u32,
    path: PathBuf,
}

impl Zram {
    pub(crate) fn filled(bytes: u64) -> Result<Self, Missing> {
        let control = format!("{CONTROL}/hot_add");
        let fail = |what: &str, e: std::io::Error| Missing(format!("{what}: {e}"));
        let number = std::fs::read_to_string(&control).map_err(|e| fail(&control, e))?;
        let number = number.trim().parse().map_err(|_| Missing(format!("{control}: `{}`", number.trim())))?;
        let device = Self { number, path: PathBuf::from(format!("/dev/zram{number}")) };
        std::fs::write(device.setting("disksize"), bytes.to_string()).map_err(|e| fail("disksize", e))?;
        let random = File::open("/dev/urandom").map_err(|e| fail("/dev/urandom", e))?;
        let name = device.path.display().to_string();
        let mut file = OpenOptions::new().write(true).open(&device.path).map_err(|e| fail(&name, e))?;
        std::io::copy(&mut random.take(bytes), &mut file).and_then(|_| file.sync_all()).map_err(|e| fail(&name, e))?;
        Ok(device)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn setting(&self, name: &str) -> PathBuf {
        Path::new("/sys/block").join(format!("zram{}", self.number)).join(name)
    }
}

impl Drop for Zram {
    fn drop(&mut self) {
        // Who used it last may take a moment to close it.
        for _ in 0..50 {
            let removed = std::fs::write(self.setting("reset"), "1")
                .and_then(|()| std::fs::write(format!("{CONTROL}/hot_remove"), self.number.to_string()));
            if removed.is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        println!("note: {} was not removed", self.path.display());
    }
}
