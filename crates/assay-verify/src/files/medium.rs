//! The files on the medium. They are created, opened, written and read past the page cache where possible.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use assay_core::verification::{Doubt, NoDirect, ReadBack};
use assay_device::owned::{Access, Caching, Directory, OwnDir, OwnedError};
use assay_engine::{DirectSupport, FileExt, direct_support_of};

use super::directory::gone;
use super::state::file_name;
use crate::sys;
use crate::sys::Extent;

/// Cached writes are flushed at this distance. The page cache then never holds everything at once, and no flush takes
/// long enough to look like a hang.
const FLUSH_BYTES: u64 = 8 << 20;

/// What holds the files. Every call may block as long as the medium does.
pub(crate) trait Medium: Send + Sync {
    /// Creates file `number` with `bytes`, or opens it again if it is partly written.
    fn make(&self, number: u64, bytes: u64) -> io::Result<Arc<dyn Piece>>;
    /// Opens file `number` to read.
    fn open(&self, number: u64) -> io::Result<Arc<dyn Piece>>;
    /// Whether the medium is no longer there.
    fn gone(&self) -> bool;
}

/// One file.
pub(crate) trait Piece: Send + Sync {
    /// Writes all of `data` at the byte `offset`.
    fn write_at(&self, data: &[u8], offset: u64) -> io::Result<()>;
    /// Reads `data` from the byte `offset`. Reads less only at the end of the file.
    fn read_at(&self, data: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Makes it durable and drops its cached data.
    fn sync(&self) -> io::Result<()>;
    /// Truncates it to `bytes`.
    fn cut(&self, bytes: u64) -> io::Result<()>;
    /// Whether writes must come in order, since each extends the file. Out of order, file systems without sparse files
    /// would fill the gap with zeros first.
    fn one_by_one(&self) -> bool;
    /// Smallest part that is read or written separately, in bytes.
    fn grain(&self) -> usize;
    /// Where its first `bytes` lie on the device; `None` if unknown.
    fn extents(&self, _bytes: u64) -> Option<Vec<Extent>> {
        None
    }
}

/// Where the files lie.
#[derive(Debug, Clone)]
pub(crate) enum Folder {
    /// In a directory of assay's own.
    Own(Arc<OwnDir>),
    /// In any directory, to be read.
    Any(Arc<Directory>),
}

impl Folder {
    pub(crate) fn directory(&self) -> &Directory {
        match self {
            Self::Own(own) => own.directory(),
            Self::Any(directory) => directory,
        }
    }

    fn read(&self, name: &str, caching: Caching) -> Result<File, OwnedError> {
        match self {
            Self::Own(own) => own.open_file(name, Access::Read, caching),
            Self::Any(directory) => directory.read_file(name, caching),
        }
    }

    /// Alignment of direct I/O in bytes for the file `sample` on this file system, and how reads are assured to come
    /// from the medium.
    ///
    /// # Errors
    /// Where the file cannot be opened.
    pub(crate) fn how(&self, sample: &str, wanted: bool) -> Result<(Option<u32>, ReadBack), OwnedError> {
        let file = self.read(sample, Caching::Cached)?;
        let (support, _) = direct_support_of(&file, None, || Ok(self.read(sample, Caching::Direct)?));
        let answer = match support {
            _ if !wanted => Err(NoDirect::Asked),
            DirectSupport::Yes { alignment, .. } if alignment <= 4096 => Ok(alignment),
            DirectSupport::Yes { alignment, .. } => Err(NoDirect::Blocks { bytes: u64::from(alignment) }),
            DirectSupport::No { reason } => Err(NoDirect::Refused { said: reason }),
        };
        Ok(match answer {
            Ok(alignment) => (Some(alignment), ReadBack::Direct),
            Err(because) => (None, ReadBack::Cached { because, dropped: sys::CACHED_DOUBT.is_none() }),
        })
    }
}

/// A directory of a mounted file system.
pub(crate) struct Mounted {
    folder: Folder,
    /// Alignment of direct I/O in bytes; `None` if the page cache is used.
    direct: Option<u32>,
}

impl Mounted {
    pub(crate) fn new(folder: Folder, direct: Option<u32>) -> Self {
        Self { folder, direct }
    }

    fn piece(&self, file: File, one_by_one: bool) -> Arc<dyn Piece> {
        Arc::new(OnDisk { file, direct: self.direct, one_by_one })
    }

    fn caching(&self) -> Caching {
        if self.direct.is_some() { Caching::Direct } else { Caching::Cached }
    }
}

impl Medium for Mounted {
    fn make(&self, number: u64, bytes: u64) -> io::Result<Arc<dyn Piece>> {
        let Folder::Own(own) = &self.folder else { return Err(io::ErrorKind::PermissionDenied.into()) };
        let name = file_name(number);
        sys::still_there(own.directory())?;
        let file = match own.create_file(&name, self.caching()) {
            // Partly written by the check that this one resumes.
            Err(error) if error.kind() == Some(io::ErrorKind::AlreadyExists) => {
                own.open_file(&name, Access::ReadWrite, self.caching())?
            }
            made => made?,
        };
        // Tested again: another medium may have been inserted while it was opened, and must not be overwritten.
        sys::still_there(own.directory())?;
        let one_by_one = sys::set_aside(&file, bytes);
        Ok(self.piece(file, one_by_one))
    }

    fn open(&self, number: u64) -> io::Result<Arc<dyn Piece>> {
        let file = self.folder.read(&file_name(number), self.caching())?;
        sys::still_there(self.folder.directory())?;
        if self.direct.is_none() {
            sys::forget(&file, 0, None)?;
        }
        Ok(self.piece(file, false))
    }

    fn gone(&self) -> bool {
        gone(self.folder.directory())
    }
}

struct OnDisk {
    file: File,
    direct: Option<u32>,
    one_by_one: bool,
}

impl Piece for OnDisk {
    fn write_at(&self, data: &[u8], offset: u64) -> io::Result<()> {
        self.file.write_all_at(data, offset)?;
        let end = offset + data.len() as u64;
        if self.direct.is_none() && end / FLUSH_BYTES > offset / FLUSH_BYTES {
            self.sync()?;
        }
        Ok(())
    }

    fn read_at(&self, data: &mut [u8], offset: u64) -> io::Result<usize> {
        let (mut done, wanted) = (0, data.len());
        // A direct read that ends within a block reached the end of the file.
        while done < wanted && done.is_multiple_of(self.grain()) {
            match self.file.read_at(&mut data[done..], offset + done as u64) {
                Ok(0) => break,
                Ok(read) => done += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        if self.direct.is_none() {
            // Data read are not kept, so that no later reader is answered from memory.
            sys::forget(&self.file, offset, std::num::NonZeroU64::new(wanted as u64))?;
        }
        Ok(done)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()?;
        sys::forget(&self.file, 0, None)
    }

    fn cut(&self, bytes: u64) -> io::Result<()> {
        self.file.set_len(bytes)
    }

    fn one_by_one(&self) -> bool {
        self.one_by_one
    }

    fn grain(&self) -> usize {
        self.direct.map_or(4096, |alignment| alignment.max(512) as usize)
    }

    fn extents(&self, bytes: u64) -> Option<Vec<Extent>> {
        sys::extents(&self.file, bytes)
    }
}

// File systems whose driver is a program (FUSE). It caches data of the device in the host's memory, and a direct read
// of a file does not bypass that cache.

/// The layer between the files and the medium, beside the kernel.
#[derive(Debug)]
pub(crate) enum DriverLayer {
    /// Nothing.
    Nothing,
    /// A program, and the device under it.
    Program(File),
    /// A program. Its device is unknown, or may not be opened.
    Unknown,
}

impl DriverLayer {
    /// The layer under the directory.
    pub(crate) fn under(directory: &Path) -> Self {
        match sys::is_program(directory) {
            true => sys::cached_device_under(directory).map_or(Self::Unknown, Self::Program),
            false => Self::Nothing,
        }
    }

    /// Why data read may not come from the medium, with direct I/O or through the page cache.
    pub(crate) fn doubt(&self, direct: bool) -> Option<Doubt> {
        match self {
            Self::Unknown => Some(Doubt::DriverKeepsData),
            _ if direct => None,
            _ => sys::CACHED_DOUBT,
        }
    }

    /// Work that flushes and drops what the program caches of the device.
    pub(crate) fn settle(&self) -> io::Result<Option<impl FnOnce() -> io::Result<()> + Send + 'static>> {
        let Self::Program(device) = self else { return Ok(None) };
        let device = device.try_clone()?;
        Ok(Some(move || {
            device.sync_all()?;
            sys::forget(&device, 0, None)
        }))
    }
}

#[cfg(test)]
#[cfg(not(windows))]
mod tests {
    use assay_device::owned::Directory as Opened;
    use assay_lab::media::{MediumSpec, SharedMedium};
    use assay_lab::{FakeCard, FileSystem, Lab, Mount, skip};

    use super::*;

    /// Synced data have reached the medium. Otherwise a check would read what the page cache holds.
    #[test]
    fn a_sync_writes_to_the_medium() {
        const TEST: &str = "a_sync_writes_to_the_medium";
        let directory = tempfile::tempdir().unwrap();
        let made = Lab::enter().and_then(|lab| {
            let medium = SharedMedium::new(MediumSpec::genuine(64 << 20).blank().build().unwrap());
            let card = FakeCard::new(medium.clone())?;
            let mount = Mount::make(FileSystem::Ext2, card.path(), &directory.path().join("mnt"))?;
            Ok((mount, card, medium, lab))
        });
        let (mount, _card, medium, _lab) = match made {
            Ok(made) => made,
            Err(missing) => return skip(TEST, &missing),
        };
        let own = Arc::new(Opened::open(mount.path()).unwrap().make("own").unwrap());
        let piece = Mounted::new(Folder::Own(own), None).make(1, 4 << 20).unwrap();
        // Less than what is flushed automatically.
        piece.write_at(&vec![7; 1 << 20], 0).unwrap();
        let before = medium.with(|medium| medium.traffic().written_bytes);
        piece.sync().unwrap();
        let written = medium.with(|medium| medium.traffic().written_bytes) - before;
        assert!(written >= 1 << 20, "{written}");
    }
}
