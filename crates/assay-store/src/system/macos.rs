//! macOS. It compiles, and was never run.

use std::ffi::c_int;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{fcntl_fullfsync, fsync, statfs};
use rustix::io::Errno;

use super::ProcessState;

/// The variables that name a place for the store, each with what is below it, in the order in which they count.
pub(crate) const HOMES: [(&str, &str); 2] = [("XDG_DATA_HOME", "assay"), ("HOME", "Library/Application Support/assay")];

/// `MNT_LOCAL` of sys/mount.h.
const LOCAL: u32 = libc::MNT_LOCAL.cast_unsigned();

/// Fills `bytes` from the kernel, which gives at most 256 at once (getentropy(2)).
pub(crate) fn random(bytes: &mut [u8]) -> io::Result<()> {
    for part in bytes.chunks_mut(256) {
        // SAFETY: the system writes as many bytes as `part` has.
        if unsafe { libc::getentropy(part.as_mut_ptr().cast(), part.len()) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Returns when the names in the directory survive a power cut.
pub(crate) fn sync_directory(dir: &Path) -> io::Result<()> {
    match File::open(dir).and_then(sync_open) {
        // A directory that may be used and not read, and file systems that sync no directories (fsync(2)).
        Err(error) if matches!(Errno::from_io_error(&error), Some(Errno::ACCESS | Errno::INVAL | Errno::NOTSUP)) => {
            Ok(())
        }
        other => other,
    }
}

/// Returns when the names in a directory that is open survive a power cut. fsync(2) leaves them in the cache of the
/// medium; where `F_FULLFSYNC` is refused it is all there is.
pub(crate) fn sync_open(directory: impl AsFd) -> io::Result<()> {
    match fcntl_fullfsync(&directory) {
        Err(Errno::INVAL | Errno::NOTSUP | Errno::NOTTY) => Ok(fsync(&directory)?),
        synced => Ok(synced?),
    }
}

/// Kind of a directory's file system by the numbers of Linux: SMB where it is on another host, else 0.
pub(crate) fn kind_of(dir: &Path) -> io::Result<u64> {
    const SMB2: u64 = 0xfe53_4d42;
    Ok(if statfs(dir)?.f_flags & LOCAL == 0 { SMB2 } else { 0 })
}

/// Whether the file system of a directory has no block or no inode left.
pub(crate) fn is_full(dir: &Path) -> bool {
    statfs(dir).is_ok_and(|fs| fs.f_bavail == 0 || (fs.f_files > 0 && fs.f_ffree == 0))
}

/// Which boot of the host this is (sysctl(3), `kern.bootsessionuuid`); empty where unknown.
pub(crate) fn boot_id() -> String {
    let mut room = [0u8; 64];
    let mut length = room.len();
    // SAFETY: the name ends with a zero; the system writes at most `length` bytes to `room`, and how many they were;
    // nothing is set.
    let status = unsafe {
        libc::sysctlbyname(
            c"kern.bootsessionuuid".as_ptr(),
            room.as_mut_ptr().cast(),
            &raw mut length,
            std::ptr::null_mut(),
            0,
        )
    };
    let bytes = room.get(..length).filter(|_| status == 0).unwrap_or_default();
    String::from_utf8_lossy(bytes).trim_end_matches('\0').to_owned()
}

/// All processes of a host have numbers of one kind.
pub(crate) fn process_numbers() -> String {
    String::new()
}

/// What is known of a process: when it started, in microseconds since 1970 (libproc.h, `PROC_PIDTBSDINFO`).
pub(crate) fn process(pid: u32) -> ProcessState {
    let Ok(pid) = c_int::try_from(pid) else { return ProcessState::Gone };
    // SAFETY: a structure of numbers and bytes, for which zeros are values.
    let mut info: libc::proc_bsdinfo = unsafe { std::mem::zeroed() };
    let length = size_of_val(&info) as c_int;
    // SAFETY: the structure of this flavour and its length; it is written for the time of the call.
    let written = unsafe { libc::proc_pidinfo(pid, libc::PROC_PIDTBSDINFO, 0, (&raw mut info).cast(), length) };
    if written != length {
        // Of processes of others nothing may be told. One that ended and was not waited for is gone, too.
        let gone = Errno::from_io_error(&io::Error::last_os_error()) == Some(Errno::SRCH);
        return if gone { ProcessState::Gone } else { ProcessState::Hidden };
    }
    if info.pbi_status == libc::SZOMB {
        return ProcessState::Gone;
    }
    ProcessState::There(info.pbi_start_tvsec.saturating_mul(1_000_000).saturating_add(info.pbi_start_tvusec))
}
