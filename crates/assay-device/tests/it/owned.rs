//! Directories of assay's own among files that others put on a medium.

use std::ffi::{CString, OsStr};
use std::fs::Permissions;
use std::io::{ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use crate::common::alone;
use assay_device::owned::{Access, Caching, Cause, Directory, OwnDir, OwnedError};
use rustix::fs::{CWD, FileType, Mode, XattrFlags, getxattr, makedev, mknodat, removexattr, setxattr};

const OWN: &str = ".own";
const NAME: &str = "state";

fn place() -> (tempfile::TempDir, Directory, OwnDir) {
    let dir = tempfile::tempdir().unwrap();
    let parent = Directory::open(dir.path()).unwrap();
    let own = parent.make(OWN).unwrap();
    (dir, parent, own)
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn node(path: &Path, kind: FileType) {
    let path = CString::new(path.as_os_str().as_bytes()).unwrap();
    // 7:524287 and 1:3: a loop device that does not exist, and /dev/null. qemu's emulators of 32 bits take the number
    // as signed, and the C library refuses negative ones.
    let device = if kind == FileType::BlockDevice { makedev(7, 524_287) } else { makedev(1, 3) };
    mknodat(CWD, &path, kind, Mode::RUSR | Mode::WUSR, device).unwrap();
}

#[track_caller]
fn cause<T: std::fmt::Debug>(result: Result<T, OwnedError>) -> Cause {
    match result {
        Err(OwnedError::Foreign { cause, .. }) => cause,
        other => panic!("{other:?}"),
    }
}

/// All kinds of files that may be found where assay expects one of its own.
fn hostile() -> Vec<&'static str> {
    let mut all = vec!["link", "dangling", "pipe", "socket", "hard link", "directory"];
    if is_root() {
        all.extend(["block device", "character device", "foreign"]);
    } else {
        println!("SKIP: owned: devices and files of others need root");
    }
    all
}

fn put(what: &str, at: &Path, precious: &Path) {
    match what {
        "link" => symlink(precious, at).unwrap(),
        "dangling" => symlink("/nowhere/at/all", at).unwrap(),
        "pipe" => node(at, FileType::Fifo),
        "socket" => drop(UnixListener::bind(at).unwrap()),
        "hard link" => std::fs::hard_link(precious, at).unwrap(),
        "directory" => std::fs::create_dir(at).unwrap(),
        "block device" => node(at, FileType::BlockDevice),
        "character device" => node(at, FileType::CharacterDevice),
        _ => {
            std::fs::write(at, b"theirs").unwrap();
            chown(at, Some(65534), None).unwrap();
        }
    }
}

fn take_away(at: &Path) {
    if at.symlink_metadata().unwrap().is_dir() {
        std::fs::remove_dir(at).unwrap();
    } else {
        std::fs::remove_file(at).unwrap();
    }
}

#[test]
fn nothing_but_an_own_file_is_opened_read_replaced_locked_or_removed() {
    let (dir, _, own) = place();
    let precious = dir.path().join("precious");
    std::fs::write(&precious, b"dear").unwrap();
    let at = dir.path().join(OWN).join(NAME);
    for what in hostile() {
        put(what, &at, &precious);
        for access in [Access::Read, Access::ReadWrite] {
            cause(own.open_file(NAME, access, Caching::Cached));
        }
        cause(own.read_small(NAME, 100));
        cause(own.replace_small(NAME, b"new"));
        cause(own.lock(NAME));
        cause(own.remove(NAME));
        cause(own.entries(10, &|_| true, &mut |_| {}));
        let made = own.create_file(NAME, Caching::Cached).unwrap_err();
        assert_eq!(made.kind(), Some(ErrorKind::AlreadyExists), "{what}: {made}");
        assert!(at.symlink_metadata().is_ok(), "{what} is still there");
        assert_eq!(std::fs::read(&precious).unwrap(), b"dear", "{what}");
        assert_eq!(std::fs::read_dir(own.path()).unwrap().count(), 1, "{what}: nothing temporary is left");
        take_away(&at);
    }
    assert!(!Path::new("/nowhere").exists());
}

#[test]
fn an_own_file_is_replaced_whole_read_within_its_limit_and_removed() {
    let (_dir, _, own) = place();
    assert_eq!(own.read_small(NAME, 3).unwrap(), None);
    for content in ["one", "two"] {
        own.replace_small(NAME, content.as_bytes()).unwrap();
        assert_eq!(own.read_small(NAME, 3).unwrap().unwrap(), content.as_bytes());
    }
    assert_eq!(cause(own.read_small(NAME, 2)), Cause::Long(2));
    let mut entries = Vec::new();
    own.entries(1, &|name| name == NAME, &mut |entry| entries.push((entry.name, entry.bytes))).unwrap();
    assert_eq!(entries, [(NAME.to_owned(), 3)]);
    assert!(own.remove(NAME).unwrap() && !own.remove(NAME).unwrap());
    own.remove_self().unwrap();
}

#[test]
fn what_is_read_of_a_directory_is_bounded_and_names_are_shown_harmless() {
    let (dir, _, own) = place();
    std::fs::write(dir.path().join(OWN).join("evil\n\x1b[2J"), b"").unwrap();
    let error = own.entries(10, &|name| name == NAME, &mut |_| {}).unwrap_err().to_string();
    assert!(!error.contains('\n') && !error.contains('\x1b') && error.contains("move it away"), "{error}");
    for number in 0..20 {
        std::fs::write(dir.path().join(OWN).join(number.to_string()), b"").unwrap();
    }
    let mut seen = 0;
    assert_eq!(cause(own.entries(10, &|_| true, &mut |_| seen += 1)), Cause::Many(10));
    assert_eq!(seen, 10);
}

#[test]
fn a_file_is_only_opened_again_where_it_is_the_same() {
    let (dir, _, own) = place();
    let first = own.create_file(NAME, Caching::Cached).unwrap();
    std::fs::write(dir.path().join(OWN).join(NAME), b"x").unwrap();
    let mut text = String::new();
    own.reopen(NAME, &first, Access::Read, Caching::Cached).unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "x");
    let at = dir.path().join(OWN).join(NAME);
    std::fs::rename(&at, dir.path().join("aside")).unwrap();
    std::fs::write(&at, b"another").unwrap();
    assert_eq!(cause(own.reopen(NAME, &first, Access::ReadWrite, Caching::Cached)), Cause::Replaced);
}

#[test]
fn what_is_done_goes_on_in_the_directory_that_was_opened() {
    let (dir, parent, own) = place();
    own.create_file(NAME, Caching::Cached).unwrap();
    let elsewhere = dir.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::write(elsewhere.join(NAME), b"dear").unwrap();
    std::fs::rename(dir.path().join(OWN), dir.path().join("aside")).unwrap();
    symlink(&elsewhere, dir.path().join(OWN)).unwrap();
    assert!(!own.is_in_place());
    assert!(own.remove(NAME).unwrap());
    assert!(elsewhere.join(NAME).exists() && !dir.path().join("aside").join(NAME).exists());
    assert_eq!(cause(own.remove_self()), Cause::Replaced);
    assert!(matches!(cause(parent.own(OWN)), Cause::Kind { .. }));
    assert_eq!(parent.make(OWN).unwrap_err().kind(), Some(ErrorKind::AlreadyExists));
}

#[test]
fn a_directory_is_only_taken_for_our_own_where_nobody_else_may_write() {
    let (dir, parent, own) = place();
    let at = dir.path().join(OWN);
    assert_eq!(at.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    assert!(parent.own("none").unwrap().is_none());
    std::fs::set_permissions(&at, Permissions::from_mode(0o770)).unwrap();
    assert_eq!(cause(parent.own(OWN)), Cause::Mode(0o770));
    std::fs::set_permissions(&at, Permissions::from_mode(0o700)).unwrap();
    assert!(parent.own(OWN).unwrap().is_some());
    drop(own);
    for what in ["link", "pipe", "socket"] {
        std::fs::remove_dir(&at).unwrap();
        put(what, &at, Path::new("/etc"));
        assert!(matches!(cause(parent.own(OWN)), Cause::Kind { .. }), "{what}");
        take_away(&at);
        std::fs::create_dir(&at).unwrap();
    }
    if !is_root() {
        println!("SKIP: owned: directories of others need root");
        return;
    }
    chown(&at, Some(65534), None).unwrap();
    assert_eq!(cause(parent.own(OWN)), Cause::Owner { is: 65534, wanted: 0 });
}

#[test]
fn files_of_others_are_read_where_they_are_files() {
    let (dir, parent, _) = place();
    std::fs::write(dir.path().join("1.h2w"), b"x").unwrap();
    std::fs::hard_link(dir.path().join("1.h2w"), dir.path().join("2.h2w")).unwrap();
    assert!(parent.read_file("1.h2w", Caching::Cached).is_ok() && parent.read_file("2.h2w", Caching::Cached).is_ok());
    node(&dir.path().join("3.h2w"), FileType::Fifo);
    symlink("/dev/zero", dir.path().join("4.h2w")).unwrap();
    for name in ["3.h2w", "4.h2w"] {
        assert!(matches!(cause(parent.read_file(name, Caching::Cached)), Cause::Kind { .. }));
        assert_eq!(parent.file_bytes(name.as_ref()), None);
    }
    assert_eq!(parent.file_bytes("1.h2w".as_ref()), Some(1));
    assert!(Directory::open(&dir.path().join("1.h2w")).is_err());
}

/// Content that gets its name before it is on the medium is empty after a power cut, and a name that is not yet written
/// to its directory leads to the old content.
#[test]
fn new_content_is_synced_before_it_takes_the_name_and_the_directory_afterwards() {
    const TEST: &str = "new_content_is_synced_before_it_takes_the_name_and_the_directory_afterwards";
    const PLACE: &str = "ASSAY_TEST_TRACED";
    if let Some(traced) = std::env::var_os(PLACE) {
        let own = Directory::open(Path::new(&traced)).unwrap().own(OWN).unwrap().unwrap();
        return own.replace_small(NAME, b"content").unwrap();
    }
    // For a program of another processor, its emulator makes the calls.
    let emulator = std::env::var("ASSAY_EMULATOR").unwrap_or_default();
    let strace = |trace: &Path, program: &[&OsStr]| {
        let mut command = Command::new("strace");
        let calls = "trace=fsync,fdatasync,?rename,?renameat,renameat2";
        command.args(["-f", "-y", "-e", calls, "-o"]).arg(trace).args(program);
        command
    };
    let _alone = alone();
    let (dir, ..) = place();
    let trace = dir.path().join("trace");
    if !strace(&trace, &["true".as_ref()]).output().is_ok_and(|done| done.status.success()) {
        println!("SKIP: {TEST}: needs strace, and the right to trace");
        return;
    }
    let own = std::env::current_exe().unwrap();
    let program: Vec<&OsStr> = emulator.split_whitespace().map(OsStr::new).chain([own.as_os_str()]).collect();
    let mut command = strace(&trace, &program);
    let done = command
        .args(["--exact", &format!("owned::{TEST}"), "--test-threads=1"])
        .env(PLACE, dir.path())
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
    assert_eq!(std::fs::read(dir.path().join(OWN).join(NAME)).unwrap(), b"content");
    let trace = std::fs::read_to_string(trace).unwrap();
    let own = dir.path().canonicalize().unwrap().join(OWN);
    let (of_file, of_directory) = (format!("<{}/new-", own.display()), format!("<{}>)", own.display()));
    let at = |call: &str, object: &str| {
        trace.lines().position(|line| line.contains(call) && line.contains(object) && line.ends_with("= 0"))
    };
    let (file, name, directory) = (at("sync(", &of_file), at("rename", "\"new-"), at("fsync(", &of_directory));
    assert!(file.is_some() && file < name && name < directory, "{trace}");
}

/// An access list in the format of `system.posix_acl_access` and `system.posix_acl_default` (linux/posix_acl_xattr.h).
/// The user may read and write, user 1001 has the rights `named`, the group has none, the mask is `mask`, others have
/// none.
fn access_list(named: u16, mask: u16) -> Vec<u8> {
    const ALL: u32 = u32::MAX;
    let entries: [(u16, u16, u32); 5] = [(1, 6, ALL), (2, named, 1001), (4, 0, ALL), (0x10, mask, ALL), (0x20, 0, ALL)];
    let mut list = 2u32.to_le_bytes().to_vec();
    for (tag, may, id) in entries {
        list.extend(tag.to_le_bytes().into_iter().chain(may.to_le_bytes()).chain(id.to_le_bytes()));
    }
    list
}

fn attribute(path: &Path, name: &str) -> Option<Vec<u8>> {
    let mut value = vec![0; 1 << 16];
    let length = getxattr(path, name, value.as_mut_slice()).ok()?;
    value.truncate(length);
    Some(value)
}

const LIST: &str = "system.posix_acl_access";

#[test]
fn a_file_of_the_user_that_is_replaced_keeps_its_access_list_and_attributes() {
    let place = tempfile::tempdir().unwrap();
    let (path, name) = (place.path().join("report.html"), OsStr::new("report.html"));
    std::fs::write(&path, "one").unwrap();
    let list = access_list(4, 6);
    if let Err(error) = setxattr(&path, LIST, &list, XattrFlags::empty()) {
        println!("SKIP: owned: the file system has no access lists: {error}");
        return;
    }
    setxattr(&path, "user.comment", b"mine", XattrFlags::empty()).unwrap();
    let mode = || path.metadata().unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(), 0o660, "the mask stands where the rights of the group were");
    let second = place.path().join("second");
    std::fs::hard_link(&path, &second).unwrap();
    let directory = Directory::open(place.path()).unwrap();
    directory.replace(name, b"two").unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"two");
    assert_eq!(attribute(&path, LIST), Some(list));
    assert_eq!((attribute(&path, "user.comment"), mode()), (Some(b"mine".to_vec()), 0o660));
    assert_eq!(std::fs::read(&second).unwrap(), b"one", "another name keeps the old content");

    // Attributes that a directory gives to new files are not given to an existing file without them.
    setxattr(place.path(), "system.posix_acl_default", &access_list(7, 7), XattrFlags::empty()).unwrap();
    removexattr(&path, LIST).unwrap();
    std::fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
    directory.replace(name, b"three").unwrap();
    assert_eq!((attribute(&path, LIST), mode()), (None, 0o640));
    assert_eq!(std::fs::read(&path).unwrap(), b"three");
}

/// A file that this user may not read is replaced like any other.
#[test]
fn a_file_that_cannot_be_read_is_replaced_with_its_access_list() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("report.html");
    std::fs::write(&path, "one").unwrap();
    std::fs::set_permissions(&path, Permissions::from_mode(0o200)).unwrap();
    Directory::open(place.path()).unwrap().replace(OsStr::new("report.html"), b"two").unwrap();
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o7777, 0o200);
}
