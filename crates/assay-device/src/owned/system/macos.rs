//! macOS. It compiles, and was never run.

use std::ffi::{OsStr, c_int};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode as Bits, OFlags, fcntl_fullfsync, fcntl_nocache, fstat, fsync, openat, statat};
use rustix::io::Errno;
use rustix::mm::{MapFlags, MsyncFlags, ProtFlags, mmap, msync, munmap};

use super::Mode;
use super::unix::{Handle, keep_rights, make_at, open_at, plain};
use crate::owned::open::OpenHow;
use crate::owned::stat::Stat;
use crate::owned::{Access, Caching, Space};
use crate::system::{Mounted, sysctl_text};

unsafe extern "C" {
    /// unistd.h, since macOS 10.8.
    fn fsync_volume_np(file: c_int, flags: c_int) -> c_int;
}

/// `SYNC_VOLUME_FULLSYNC` and `SYNC_VOLUME_WAIT` of unistd.h: to the medium and not to its cache, and until it is done.
const TO_THE_MEDIUM: c_int = 0x01 | 0x02;

/// File systems whose owners and modes are the mount's or the server's, as statfs(2) names them.
const KEEP_NO_OWNERS: [&str; 8] = ["msdos", "exfat", "ntfs", "udf", "cd9660", "smbfs", "afpfs", "webdav"];

/// Opens a directory, whose links are followed.
pub(in crate::owned) fn open_directory(path: &Path) -> io::Result<Handle> {
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
    match openat(CWD, path, flags | OFlags::RDONLY, Bits::empty()) {
        // One that may be written and not be read cannot be listed, and that is all (open(2), `O_SEARCH`).
        Err(Errno::ACCESS) => {
            let search = OFlags::from_bits_retain(libc::O_SEARCH.cast_unsigned());
            Ok(openat(CWD, path, flags | search, Bits::empty())?)
        }
        opened => Ok(opened?),
    }
}

/// What goes past the cache is told so once it is open (fcntl(2), `F_NOCACHE`).
fn with(file: File, caching: Caching) -> io::Result<File> {
    if caching == Caching::Direct {
        fcntl_nocache(&file, true)?;
    }
    Ok(file)
}

/// Drops what the system has cached of a file, which is read from memory also where a file goes past the cache
/// (fcntl(2), `F_NOCACHE`): a mapping of it is invalidated (msync(2)). Nothing is dropped of what is no regular file.
fn forget(file: &File) -> io::Result<()> {
    let meta = file.metadata()?;
    let length = usize::try_from(meta.len()).map_err(io::Error::other)?;
    if !meta.is_file() || length == 0 {
        return Ok(());
    }
    // SAFETY: a new mapping at an address of the kernel's choice, through which nothing is read or written.
    let start = unsafe { mmap(std::ptr::null_mut(), length, ProtFlags::empty(), MapFlags::SHARED, file, 0)? };
    // SAFETY: start and length are those of the mapping.
    let dropped = unsafe { msync(start, length, MsyncFlags::SYNC | MsyncFlags::INVALIDATE) };
    // SAFETY: as above; nothing refers to it.
    unsafe { munmap(start, length)? };
    dropped.map_err(Into::into)
}

/// Opens a file; links are not followed, and no device waits for anything.
pub(in crate::owned) fn open_file(directory: &Handle, name: &OsStr, how: OpenHow) -> io::Result<File> {
    let file = with(open_at(directory, name, how.access, OFlags::empty())?, how.caching)?;
    if how.caching == Caching::Direct {
        forget(&file)?;
    }
    Ok(file)
}

/// Makes a file that must not be there, to be read and written.
pub(in crate::owned) fn make_file(directory: &Handle, name: &OsStr, caching: Caching, mode: Mode) -> io::Result<File> {
    with(make_at(directory, name, mode, OFlags::empty())?, caching)
}

/// Returns when the names in it survive a power cut, where the file system lets. fsync(2) leaves them in the cache of
/// the medium; where `F_FULLFSYNC` is refused it is all there is.
pub(in crate::owned) fn sync_names(directory: &Handle) -> io::Result<()> {
    // Some file systems know no such thing for directories, and one that may not be read was not opened for it.
    let unknown = |error: Errno| matches!(error, Errno::INVAL | Errno::NOTSUP | Errno::NOTTY | Errno::BADF);
    match fcntl_fullfsync(directory) {
        Err(error) if unknown(error) => match fsync(directory) {
            Err(error) if !unknown(error) => Err(error.into()),
            _ => Ok(()),
        },
        synced => Ok(synced?),
    }
}

/// Returns when all in it and below survives a power cut, and all else on its file system with it.
pub(in crate::owned) fn sync_all(directory: &Handle) -> io::Result<()> {
    // SAFETY: the call takes two numbers, and the descriptor is open.
    let status = unsafe { fsync_volume_np(directory.as_raw_fd(), TO_THE_MEDIUM) };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Size and room of the file system. statfs(2) has numbers of 64 bits for it, statvfs(3) of 32.
pub(in crate::owned) fn space(directory: &Handle) -> io::Result<Space> {
    let fs = rustix::fs::fstatfs(directory)?;
    let block = u64::from(fs.f_bsize);
    Ok(Space {
        bytes: fs.f_blocks.saturating_mul(block),
        free_bytes: fs.f_bavail.saturating_mul(block),
        read_only: Mounted::of(&fs).is_read_only(),
    })
}

/// Of what has a name in a directory; links are not followed.
pub(in crate::owned) fn stat_in(directory: &Handle, name: &OsStr) -> io::Result<Stat> {
    Ok(plain(&statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?))
}

/// Of a directory that is open.
pub(in crate::owned) fn stat_directory(directory: &Handle) -> io::Result<Stat> {
    Ok(plain(&fstat(directory)?))
}

/// Of a file that is open.
pub(in crate::owned) fn stat_file(file: &File) -> io::Result<Stat> {
    Ok(plain(&fstat(file)?))
}

/// Whether other hosts may use the file system at the same time.
pub(in crate::owned) fn is_shared(directory: &Handle, _dev: (u32, u32)) -> bool {
    rustix::fs::fstatfs(directory).is_ok_and(|fs| Mounted::of(&fs).is_remote())
}

/// What is new at each start of the host (sysctl(3), `kern.bootsessionuuid`).
pub(in crate::owned) fn boot() -> String {
    sysctl_text(c"kern.bootsessionuuid").unwrap_or_default()
}

/// Whether the file system has no owners and modes of its own. Where the system does not say, it has.
pub(in crate::owned) fn keeps_no_owners(directory: &Handle) -> bool {
    let Ok(fs) = rustix::fs::fstatfs(directory) else { return false };
    let mounted = Mounted::of(&fs);
    mounted.ignores_owners() || KEEP_NO_OWNERS.contains(&mounted.kind.as_str())
}

/// Gives `file` what the one that it replaces, which is `old` and has `name`, says of who may do what: owner, where the
/// system lets, access list and mode; and other attributes, where the system lets.
///
/// # Errors
/// Where the access list cannot be read or kept: others could do more with the file than before.
pub(in crate::owned) fn keep(directory: &Handle, name: &OsStr, old: &Stat, file: &File) -> io::Result<()> {
    keep_rights(old, file, || keep_attributes(directory, name, old, file))
}

/// Gives `file` the access list and the extended attributes of the one that has `name` and is `old` (copyfile(3)).
fn keep_attributes(directory: &Handle, name: &OsStr, old: &Stat, file: &File) -> io::Result<()> {
    let from = open_at(directory, name, Access::Read, OFlags::empty())?;
    if !stat_file(&from)?.is_same(old) {
        return Err(io::Error::other("another file has taken its place meanwhile"));
    }
    let what = libc::COPYFILE_ACL | libc::COPYFILE_XATTR;
    // SAFETY: both files are open until the call returns, and it needs no state between calls.
    let status = unsafe { libc::fcopyfile(from.as_raw_fd(), file.as_raw_fd(), std::ptr::null_mut(), what) };
    if status < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
