//! Intercepts SQLite's file layer: writes, syncs and removals are logged in the world of the thread, and calls fail as
//! the world demands.
//!
//! The VFS is a copy of the default one with `xOpen` and `xDelete` replaced. Files are opened by the
//! default VFS itself; then the four methods that change or end a file are replaced in a copy of its
//! method table (<https://www.sqlite.org/vfs.html>). Locks, shared memory and reads are untouched.

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, Once, OnceLock, PoisonError};

use rusqlite::ffi;

use super::world::{Event, Refusal, here};

struct Default(*mut ffi::sqlite3_vfs);
// SAFETY: the default VFS is a static of SQLite that never changes after sqlite3_initialize.
unsafe impl Send for Default {}
// SAFETY: as above; it is only read.
unsafe impl Sync for Default {}

static DEFAULT: OnceLock<Default> = OnceLock::new();

#[derive(Clone)]
struct Open {
    methods: usize,
    path: PathBuf,
}

static FILES: Mutex<Option<HashMap<usize, Open>>> = Mutex::new(None);

fn files() -> MutexGuard<'static, Option<HashMap<usize, Open>>> {
    FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn open_file(file: *mut ffi::sqlite3_file) -> Option<Open> {
    files().as_ref()?.get(&(file as usize)).cloned()
}

/// Makes the intercepting VFS the default of this process.
pub fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: sqlite3_vfs_find returns the default VFS, a static that lives for ever; its copy is leaked, so that
        // it does too. Both have the same size, since they have the same type.
        unsafe {
            let default = ffi::sqlite3_vfs_find(std::ptr::null());
            assert!(!default.is_null());
            let _ = DEFAULT.set(Default(default));
            let mut copy = Box::new(*default);
            copy.zName = c"campaign".as_ptr();
            copy.pNext = std::ptr::null_mut();
            copy.xOpen = Some(open);
            copy.xDelete = Some(delete);
            assert_eq!(ffi::sqlite3_vfs_register(Box::into_raw(copy), 1), ffi::SQLITE_OK);
        }
    });
}

fn refused(refusal: Refusal, io: c_int) -> c_int {
    match refusal {
        Refusal::Io => io,
        Refusal::NoSpace => ffi::SQLITE_FULL,
    }
}

fn log(event: Event) {
    if let Some(world) = here() {
        world.borrow_mut().log.push(event);
    }
}

fn call() -> Result<(), Refusal> {
    here().map_or(Ok(()), |world| world.borrow_mut().call())
}

/// A path named by SQLite; `None` for a temporary file.
///
/// # Safety
/// `name` is null or a string that ends with a zero.
unsafe fn path_of(name: *const c_char) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    if name.is_null() {
        return None;
    }
    // SAFETY: the caller's promise.
    let bytes = unsafe { CStr::from_ptr(name) }.to_bytes();
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(bytes)))
}

unsafe extern "C" fn open(
    _vfs: *mut ffi::sqlite3_vfs,
    name: ffi::sqlite3_filename,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    let Some(default) = DEFAULT.get() else { return ffi::SQLITE_CANTOPEN };
    // SAFETY: SQLite passes a string or null.
    let path = unsafe { path_of(name) };
    let new = path.as_ref().is_some_and(|path| !path.exists());
    if new && call().is_err() {
        // SAFETY: `file` points to szOsFile bytes, and pMethods is the first member; null there means that the file is
        // not open.
        unsafe { (*file).pMethods = std::ptr::null() };
        return ffi::SQLITE_CANTOPEN;
    }
    // SAFETY: the default VFS is called with the arguments that it would have received; our copy has its szOsFile, so
    // that `file` is large enough.
    let code =
        unsafe { (*default.0).xOpen.map_or(ffi::SQLITE_CANTOPEN, |open| open(default.0, name, file, flags, out)) };
    // SAFETY: after xOpen pMethods is null or points to the method table of the open file, a static.
    let methods = unsafe { (*file).pMethods };
    if let (ffi::SQLITE_OK, Some(path), false) = (code, path, methods.is_null()) {
        // SAFETY: not null, and a method table; the copy is leaked, as SQLite keeps the pointer until the
        // file is closed.
        let mut copy = Box::new(unsafe { *methods });
        copy.xWrite = Some(write);
        copy.xTruncate = Some(truncate);
        copy.xSync = Some(sync);
        copy.xClose = Some(close);
        // SAFETY: as above, `file` is an open file, whose first member this is.
        unsafe { (*file).pMethods = Box::into_raw(copy) };
        if new {
            log(Event::Create(path.clone()));
        }
        let open = Open { methods: methods as usize, path };
        files().get_or_insert_default().insert(file as usize, open);
    }
    code
}

/// The method table that the file was opened with.
///
/// `open` must describe an open file: the table is then a static of SQLite.
unsafe fn methods(open: &Open) -> &'static ffi::sqlite3_io_methods {
    // SAFETY: the caller's promise; the address was that of the table when the file was opened.
    unsafe { &*(open.methods as *const ffi::sqlite3_io_methods) }
}

unsafe extern "C" fn write(file: *mut ffi::sqlite3_file, data: *const c_void, bytes: c_int, at: i64) -> c_int {
    let Some(open) = open_file(file) else { return ffi::SQLITE_IOERR_WRITE };
    let refusal = call().err();
    // A failed write has often done a part of the work.
    let bytes = if refusal.is_some() { bytes / 2 } else { bytes };
    // SAFETY: SQLite passes this many bytes; a part of them is shorter.
    let content = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), bytes as usize) };
    // SAFETY: `file` is open, and the method is called as SQLite called this one.
    let code = unsafe { methods(&open).xWrite.map_or(ffi::SQLITE_IOERR_WRITE, |write| write(file, data, bytes, at)) };
    if code == ffi::SQLITE_OK {
        log(Event::Write(open.path, at as u64, content.to_vec()));
    }
    refusal.map_or(code, |refusal| refused(refusal, ffi::SQLITE_IOERR_WRITE))
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, size: i64) -> c_int {
    let Some(open) = open_file(file) else { return ffi::SQLITE_IOERR_TRUNCATE };
    if call().is_err() {
        return ffi::SQLITE_IOERR_TRUNCATE;
    }
    // SAFETY: `file` is open, and the method is called as SQLite called this one.
    let code = unsafe { methods(&open).xTruncate.map_or(ffi::SQLITE_IOERR_TRUNCATE, |truncate| truncate(file, size)) };
    if code == ffi::SQLITE_OK {
        log(Event::Truncate(open.path, size as u64));
    }
    code
}

unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, _flags: c_int) -> c_int {
    let Some(open) = open_file(file) else { return ffi::SQLITE_IOERR_FSYNC };
    if let Err(refusal) = call() {
        return refused(refusal, ffi::SQLITE_IOERR_FSYNC);
    }
    // The log is the medium, so the files themselves need no sync. The store syncs the directory before its first
    // transaction, after SQLite has created its log; a test of the program verifies that.
    log(Event::Sync(open.path.clone()));
    log(Event::SyncNames(open.path.parent().unwrap_or(std::path::Path::new("")).to_owned()));
    ffi::SQLITE_OK
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    let open = files().get_or_insert_default().remove(&(file as usize));
    let Some(open) = open else { return ffi::SQLITE_IOERR_CLOSE };
    // SAFETY: `file` is open; the table's own close is what SQLite would have called.
    unsafe { methods(&open).xClose.map_or(ffi::SQLITE_IOERR_CLOSE, |close| close(file)) }
}

unsafe extern "C" fn delete(_vfs: *mut ffi::sqlite3_vfs, name: *const c_char, sync: c_int) -> c_int {
    let Some(default) = DEFAULT.get() else { return ffi::SQLITE_IOERR_DELETE };
    if call().is_err() {
        return ffi::SQLITE_IOERR_DELETE;
    }
    // SAFETY: SQLite passes a string, and the default VFS gets the same arguments.
    let (path, code) = unsafe {
        (path_of(name), (*default.0).xDelete.map_or(ffi::SQLITE_IOERR_DELETE, |delete| delete(default.0, name, sync)))
    };
    if let (ffi::SQLITE_OK, Some(path)) = (code, path) {
        let above = path.parent().unwrap_or(std::path::Path::new("")).to_owned();
        log(Event::Remove(path));
        if sync != 0 {
            log(Event::SyncNames(above));
        }
    }
    code
}
