//! The files on the medium: made, opened, written and read past the page cache where it can be.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assay_engine::{DirectSupport, direct_support};
use rustix::fs::{Advice, FallocateFlags, OFlags, fadvise, fallocate, fstatfs};

use super::place::{file_name, gone};

/// `MSDOS_SUPER_MAGIC` of linux/magic.h, the file system vfat.
const VFAT: u64 = 0x4d44;
/// Cached writes are made durable at this distance: the page cache cannot take all at once, and no
/// flush is long enough to look like a hang.
const FLUSH_BYTES: u64 = 8 << 20;

/// What the files lie on. Everything may block for as long as the medium does.
pub(crate) trait Medium: Send + Sync {
    /// Makes file `number` of `bytes`, or opens it again where it is partly written.
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
    /// Reads `data` from the byte `offset`; less than all of it only at the end of the file.
    fn read_at(&self, data: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Makes it durable and drops what is cached of it.
    fn sync(&self) -> io::Result<()>;
    /// Cuts it to `bytes`.
    fn cut(&self, bytes: u64) -> io::Result<()>;
    /// Writes must come one after the other, since each makes the file longer: out of order, file
    /// systems without holes would fill what is between with zeros first.
    fn one_by_one(&self) -> bool;
    /// Smallest part that is read or written by itself, in bytes.
    fn grain(&self) -> usize;
}

/// Alignment of direct I/O in bytes on the file system of the file `sample`, and how it is assured
/// that reads come from the medium.
pub(crate) fn how(sample: &Path, wanted: bool) -> (Option<u32>, String) {
    let answer = match direct_support(sample, None) {
        _ if !wanted => Err("it was asked not to".to_owned()),
        DirectSupport::Yes { alignment, .. } if alignment <= 4096 => Ok(alignment),
        DirectSupport::Yes { alignment, .. } => Err(format!("it wants blocks of {alignment} bytes")),
        DirectSupport::No { reason } => Err(reason),
    };
    match answer {
        Ok(alignment) => (Some(alignment), "direct I/O: reads go past the page cache to the medium".to_owned()),
        Err(why) => (
            None,
            format!(
                "no direct I/O ({why}): what was written was synced and dropped from the page cache before it was \
                 read (fdatasync, POSIX_FADV_DONTNEED)"
            ),
        ),
    }
}

/// Whether a file lies on vfat, which gives a file its size by writing zeros.
pub(crate) fn is_vfat(file: &File) -> bool {
    fstatfs(file).is_ok_and(|fs| fs.f_type as u64 == VFAT)
}

/// A directory of a mounted file system.
pub(crate) struct Mounted {
    directory: PathBuf,
    /// Alignment of direct I/O in bytes; `None` where the page cache is in between.
    direct: Option<u32>,
}

impl Mounted {
    pub(crate) fn new(directory: &Path, direct: Option<u32>) -> Self {
        Self { directory: directory.to_owned(), direct }
    }

    fn path(&self, number: u64) -> PathBuf {
        self.directory.join(file_name(number))
    }

    fn piece(&self, file: File, one_by_one: bool) -> Arc<dyn Piece> {
        Arc::new(OnDisk { file, direct: self.direct, one_by_one })
    }

    fn flags(&self) -> i32 {
        let direct = if self.direct.is_some() { OFlags::DIRECT } else { OFlags::empty() };
        (OFlags::NOFOLLOW | direct).bits().cast_signed()
    }
}

impl Medium for Mounted {
    fn make(&self, number: u64, bytes: u64) -> io::Result<Arc<dyn Piece>> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(self.flags())
            .open(self.path(number))?;
        let vfat = is_vfat(&file);
        // Space is set aside, and the size set only where that writes nothing.
        let mode = if vfat { FallocateFlags::KEEP_SIZE } else { FallocateFlags::empty() };
        let allocated = fallocate(&file, mode, 0, bytes).is_ok();
        Ok(self.piece(file, vfat || !allocated))
    }

    fn open(&self, number: u64) -> io::Result<Arc<dyn Piece>> {
        let file = OpenOptions::new().read(true).custom_flags(self.flags()).open(self.path(number))?;
        if self.direct.is_none() {
            fadvise(&file, 0, None, Advice::DontNeed)?;
        }
        Ok(self.piece(file, false))
    }

    fn gone(&self) -> bool {
        gone(&self.directory)
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
        // A direct read that ends within a block was the last of the file.
        while done < wanted && done.is_multiple_of(self.grain()) {
            match self.file.read_at(&mut data[done..], offset + done as u64) {
                Ok(0) => break,
                Ok(read) => done += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        if self.direct.is_none() {
            // What was read is not kept, so that no later reader is answered from memory.
            fadvise(&self.file, offset, std::num::NonZeroU64::new(wanted as u64), Advice::DontNeed)?;
        }
        Ok(done)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()?;
        fadvise(&self.file, 0, None, Advice::DontNeed).map_err(Into::into)
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
}
