//! File systems whose driver is a program (FUSE): it keeps data of the device in the host's memory, past
//! which a direct read of a file does not go.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Advice, fadvise, statfs};

/// `FUSE_SUPER_MAGIC` of linux/magic.h.
const FUSE: u64 = 0x6573_5546;

/// What lies between the files and the medium, beside the kernel.
#[derive(Debug)]
pub(crate) enum Beneath {
    /// Nothing.
    Nothing,
    /// A program, and the device under it.
    Program(File),
    /// A program, and a device that is not known or may not be opened.
    Unknown,
}

impl Beneath {
    /// What lies under the directory.
    pub(crate) fn of(directory: &Path) -> Self {
        match is_program(directory) {
            true => device(directory)
                .and_then(|path| File::open(path).ok())
                .filter(|file| file.metadata().is_ok_and(|meta| is_block_device(&meta)))
                .map_or(Self::Unknown, Self::Program),
            false => Self::Nothing,
        }
    }

    /// Why what is read need not come from the medium.
    pub(crate) fn doubt(&self) -> Option<String> {
        matches!(self, Self::Unknown).then(|| {
            "the driver of this file system is a program that keeps data in memory, and its device cannot be opened; \
             run as root, or check with a driver of the kernel"
                .to_owned()
        })
    }

    /// What makes durable, and forgets, what the program keeps of the device.
    pub(crate) fn settle(&self) -> io::Result<Option<impl FnOnce() -> io::Result<()> + Send + 'static>> {
        let Self::Program(device) = self else { return Ok(None) };
        let device = device.try_clone()?;
        Ok(Some(move || {
            device.sync_all()?;
            fadvise(&device, 0, None, Advice::DontNeed).map_err(Into::into)
        }))
    }
}

fn is_block_device(meta: &std::fs::Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_block_device(&meta.file_type())
}

fn is_program(directory: &Path) -> bool {
    statfs(directory).is_ok_and(|fs| fs.f_type as u64 == FUSE)
}

/// The one device that is mounted there: by its number, or as a driver told the kernel.
pub(super) fn device(directory: &Path) -> Option<PathBuf> {
    let number = directory.metadata().ok()?.dev();
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    let event = std::fs::read_to_string(format!("/sys/dev/block/{major}:{minor}/uevent")).unwrap_or_default();
    if let Some(name) = event.lines().find_map(|line| line.strip_prefix("DEVNAME=")) {
        return Some(Path::new("/dev").join(name));
    }
    // File systems of the kernel without a number of their device lie on several, or on none.
    is_program(directory).then_some(())?;
    // Fields of proc(5): the third is the number, the second behind the hyphen the source.
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    let wanted = format!("{major}:{minor}");
    let line = mounts.lines().find(|line| line.split(' ').nth(2) == Some(&wanted))?;
    let source = line.split_once(" - ")?.1.split(' ').nth(1)?;
    source.starts_with("/dev/").then(|| PathBuf::from(source))
}
