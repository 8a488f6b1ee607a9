//! Directories of assay's own, and what is under a path, on Windows.
#![cfg(windows)]

use std::fs;
use std::io::{ErrorKind, Write};
use std::os::windows::fs::{MetadataExt, symlink_dir};
use std::path::Path;
use std::process::Command;

use assay_device::owned::{Access, Caching, Cause, Directory, Locked, OwnDir, OwnedError};
use assay_device::{ProofMeter, Sysroot, What, available_memory, host, look};

const NAME: &str = "state";

fn place() -> (tempfile::TempDir, Directory, OwnDir) {
    let dir = tempfile::tempdir().unwrap();
    let parent = Directory::open(dir.path()).unwrap();
    let own = parent.make(".own").unwrap();
    (dir, parent, own)
}

#[track_caller]
fn cause<T: std::fmt::Debug>(result: Result<T, OwnedError>) -> Cause {
    match result {
        Err(OwnedError::Foreign { cause, .. }) => cause,
        other => panic!("{other:?}"),
    }
}

/// A junction needs no rights, a symbolic link does; wine may create neither.
fn lead(from: &Path, to: &Path) -> bool {
    let made = Command::new("cmd").args(["/c", "mklink", "/J"]).args([from, to]).output();
    made.is_ok_and(|made| made.status.success()) && fs::symlink_metadata(from).is_ok() || symlink_dir(to, from).is_ok()
}

#[test]
fn what_is_made_is_found_again_and_removed_and_nothing_else_is() {
    let (dir, parent, own) = place();
    fs::write(dir.path().join("theirs"), "dear").unwrap();
    own.create_file(NAME, Caching::Cached).unwrap().write_all(b"12345").unwrap();
    assert_eq!(own.create_file(NAME, Caching::Cached).unwrap_err().kind(), Some(ErrorKind::AlreadyExists));
    own.replace_small(NAME, b"new").unwrap();
    assert_eq!(own.read_small(NAME, 100).unwrap().unwrap(), b"new");
    assert!(own.is_in_place());
    assert_eq!(own.remove_self().unwrap_err().kind(), Some(ErrorKind::DirectoryNotEmpty));
    assert_eq!(own.read_small(NAME, 100).unwrap().unwrap(), b"new", "it is still kept");
    assert!(own.remove(NAME).unwrap() && !own.remove(NAME).unwrap());
    own.remove_self().unwrap();
    assert!(parent.own(".own").unwrap().is_none());
    assert_eq!(fs::read_to_string(dir.path().join("theirs")).unwrap(), "dear");
}

#[test]
fn a_directory_that_is_open_is_neither_renamed_nor_removed() {
    let (dir, _parent, own) = place();
    assert!(fs::rename(dir.path().join(".own"), dir.path().join("elsewhere")).is_err());
    assert!(fs::remove_dir(dir.path().join(".own")).is_err());
    own.remove_self().unwrap();
    assert!(fs::symlink_metadata(dir.path().join(".own")).is_err());
}

#[test]
fn a_file_of_the_user_that_is_replaced_keeps_its_attributes() {
    let dir = tempfile::tempdir().unwrap();
    let parent = Directory::open(dir.path()).unwrap();
    let file = dir.path().join("theirs.md");
    parent.replace(file.file_name().unwrap(), b"one").unwrap();
    let hidden = Command::new("attrib").arg("+h").arg(&file).status().is_ok_and(|status| status.success());
    let before = fs::metadata(&file).unwrap().file_attributes();
    parent.replace(file.file_name().unwrap(), b"two").unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"two");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left beside it");
    assert!(parent.is_in_place().unwrap());
    // In wine, ReplaceFileW keeps no attributes; tests/windows.sh sets the variable.
    if !hidden || std::env::var_os("WINEPREFIX").is_some() {
        println!("SKIP: a_file_of_the_user_that_is_replaced_keeps_its_attributes: wine keeps none");
        return;
    }
    assert_eq!(fs::metadata(&file).unwrap().file_attributes(), before);
}

#[test]
fn a_drive_letter_that_is_given_to_another_directory_is_seen() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let subst = |arguments: &[&std::ffi::OsStr]| {
        Command::new("subst").args(arguments).output().is_ok_and(|done| done.status.success())
    };
    if !subst(&["R:".as_ref(), one.path().as_os_str()]) || fs::metadata(r"R:\").is_err() {
        println!("SKIP: a_drive_letter_that_is_given_to_another_directory_is_seen: subst makes no drive here");
        return;
    }
    let parent = Directory::open(Path::new(r"R:\")).unwrap();
    let moved = subst(&["R:".as_ref(), "/d".as_ref()]) && subst(&["R:".as_ref(), two.path().as_os_str()]);
    let made = parent.make(".own").map(drop);
    let strange = fs::read_dir(two.path()).unwrap().count();
    subst(&["R:".as_ref(), "/d".as_ref()]);
    assert!(moved && strange == 0, "nothing is made elsewhere: {made:?}");
}

#[test]
fn what_leads_elsewhere_is_not_followed() {
    let (dir, parent, own) = place();
    let precious = dir.path().join("precious");
    fs::create_dir(&precious).unwrap();
    fs::write(precious.join(NAME), "dear").unwrap();
    let link = own.path().join("files");
    // wine creates links that lead nowhere.
    if !lead(&link, &precious) || fs::read(link.join(NAME)).is_err() {
        println!("SKIP: what_leads_elsewhere_is_not_followed: no link can be made here");
        return;
    }
    assert!(matches!(cause(own.directory().own("files")), Cause::Kind { .. }));
    assert!(matches!(cause(own.tree(&|_, _| true)), Cause::Kind { .. } | Cause::Name));
    assert!(own.remove_tree(&|_, _| true).is_err());
    assert!(own.directory().inside("files").unwrap().is_none());
    assert_eq!(fs::read_to_string(precious.join(NAME)).unwrap(), "dear");
    drop(parent);
}

#[test]
fn a_file_with_another_name_and_a_directory_are_not_assays() {
    let (dir, _parent, own) = place();
    let theirs = dir.path().join("theirs");
    fs::write(&theirs, "dear").unwrap();
    fs::hard_link(&theirs, own.path().join(NAME)).unwrap();
    assert_eq!(cause(own.open_file(NAME, Access::ReadWrite, Caching::Cached)), Cause::Links(2));
    assert_eq!(cause(own.remove(NAME)), Cause::Links(2));
    fs::remove_file(own.path().join(NAME)).unwrap();
    fs::create_dir(own.path().join(NAME)).unwrap();
    assert!(matches!(cause(own.remove(NAME)), Cause::Kind { .. }));
    assert_eq!(fs::read_to_string(theirs).unwrap(), "dear");
}

#[test]
fn names_of_devices_and_ways_out_are_refused() {
    let (_dir, parent, own) = place();
    for name in ["NUL", "con", "COM1.txt", r"..\theirs", "a:b", "a/b", "trailing.", ""] {
        let error = own.create_file(name, Caching::Cached).unwrap_err();
        assert_eq!(error.kind(), Some(ErrorKind::InvalidInput), "{name}");
        assert!(parent.make(name).is_err() && own.remove(name).is_err(), "{name}");
    }
}

#[test]
fn a_lock_is_held_once_and_goes_with_its_directory() {
    let (_dir, parent, own) = place();
    let Locked::Held(lock) = own.lock("lock").unwrap() else { panic!("not held") };
    let other = parent.own(".own").unwrap().unwrap();
    assert!(matches!(other.lock("lock").unwrap(), Locked::Taken));
    assert!(other.is_locked("lock"));
    drop(other);
    own.remove_with("lock", Some(lock)).unwrap();
    assert!(parent.own(".own").unwrap().is_none());
}

#[test]
fn a_tree_is_removed_where_all_of_it_is_known_and_else_nothing() {
    let (_dir, _parent, own) = place();
    let inner = own.directory().make("d").unwrap();
    inner.create_file("f", Caching::Cached).unwrap().write_all(b"12345").unwrap();
    own.sync_all().unwrap();
    assert!(own.remove_tree(&|depth, name| depth == 0 && name == "d").is_err());
    assert!(inner.path().join("f").exists());
    drop(inner);
    assert_eq!(own.remove_tree(&|_, _| true).unwrap().bytes, 5);
    own.remove_self().unwrap();
}

#[test]
fn a_file_is_opened_past_the_cache_and_must_be_the_same() {
    let (_dir, _parent, own) = place();
    let first = own.create_file(NAME, Caching::Cached).unwrap();
    drop(own.reopen(NAME, &first, Access::ReadWrite, Caching::Direct).unwrap());
    drop(own.create_file("other", Caching::Cached).unwrap());
    assert_eq!(cause(own.reopen("other", &first, Access::Read, Caching::Cached)), Cause::Replaced);
    assert!(own.directory().space().unwrap().free_bytes > 0);
}

#[test]
fn the_machine_and_the_medium_are_told_as_far_as_windows_does() {
    let sysroot = Sysroot::real();
    let found_host = host(&sysroot);
    assert!(found_host.cores.unwrap() > 0 && found_host.memory_bytes.unwrap() > 1 << 20, "{found_host:?}");
    assert!(found_host.hostname.is_some() && found_host.os.as_ref().unwrap().split('.').count() == 3, "{found_host:?}");
    assert!(available_memory(&sysroot).unwrap() > 0);
    let dir = tempfile::tempdir().unwrap();
    let target = look(&sysroot, dir.path()).unwrap();
    assert_eq!(target.what, What::Directory);
    assert!(target.medium.mount_point.is_some(), "{target:?}");
    println!("{found_host:?}\n{target:?}");
    // A refusal is an error that names the device, and not a zero that would prove something.
    match ProofMeter::open(&sysroot, &target.devices) {
        Ok(meter) => println!("{:?}", meter.read()),
        Err(error) => println!("{error}"),
    }
    assert!(look(&sysroot, Path::new(r"Q:\nowhere")).is_err());
}
