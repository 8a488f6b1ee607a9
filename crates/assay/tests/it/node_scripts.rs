//! What the scripts of the collection put into a directory of a node, and take away: never what somebody else has there.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::packaging::{root, said};

/// The mark of a directory that look.sh made.
const MARK: &str = ".assay-fleet";

fn script(name: &str, arguments: &[&str]) -> Output {
    let files = root().join("fleet/ansible_collections/assay/fleet/roles/node/files");
    Command::new("sh").arg(files.join(name)).args(arguments).output().unwrap()
}

#[track_caller]
fn printed(name: &str, arguments: &[&str]) -> String {
    let output = script(name, arguments);
    assert!(output.status.success(), "{name}: {}", said(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// One line says why.
#[track_caller]
fn refused(name: &str, arguments: &[&str], why: &str) {
    let output = script(name, arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{name}: {said}");
    assert!(said.starts_with("assay: ") && said.lines().count() == 1 && said.contains(why), "{name}: {said}");
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// All names below, sorted.
fn below(directory: &Path) -> Vec<String> {
    fn walk(top: &Path, directory: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            found.push(path.strip_prefix(top).unwrap().to_string_lossy().into_owned());
            if path.is_dir() && !path.is_symlink() {
                walk(top, &path, found);
            }
        }
    }
    let mut found = Vec::new();
    walk(directory, directory, &mut found);
    found.sort();
    found
}

fn write(directory: &Path, names: &[&str]) {
    for name in names {
        let path = directory.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "dear").unwrap();
    }
}

/// A directory of the place, and its path as text.
fn directory(place: &tempfile::TempDir, name: &str) -> (PathBuf, String) {
    let path = place.path().join(name);
    let text = path.to_str().unwrap().to_owned();
    (path, text)
}

#[test]
fn a_directory_of_the_user_is_neither_written_nor_emptied() {
    let place = tempfile::tempdir().unwrap();
    let (home, at) = directory(&place, "home");
    write(&home, &["key", "suite.toml", "assay", "data/holiday.jpg", "data/assay.sqlite"]);
    let before = below(&home);
    refused("look.sh", &[&at, ""], "did not put there");
    refused("clean.sh", &[&at, "", "True"], "did not make");
    // Nor by a mark that leads elsewhere.
    write(place.path(), &["mark"]);
    symlink(place.path().join("mark"), home.join(MARK)).unwrap();
    refused("look.sh", &[&at, ""], "did not put there");
    refused("clean.sh", &[&at, "", "True"], "did not make");
    fs::remove_file(home.join(MARK)).unwrap();
    assert_eq!(below(&home), before);
    // Where the user says whose it is, it is taken.
    fs::write(home.join(MARK), "").unwrap();
    mode(&home, 0o700);
    printed("look.sh", &[&at, ""]);
}

#[test]
fn a_directory_is_made_with_a_mark_and_for_its_owner_alone() {
    let place = tempfile::tempdir().unwrap();
    let (node, at) = directory(&place, "a b/node");
    for at in [at.clone(), format!("{at}//")] {
        assert!(printed("look.sh", &[&at, ""]).contains("directory="));
        assert_eq!(fs::metadata(&node).unwrap().mode() & 0o7777, 0o700);
        assert_eq!(below(&node), [MARK]);
    }
    assert_eq!(printed("clean.sh", &[&at, "", "False"]), "kept=\n");
    assert!(!node.exists());
    // An empty one is taken; one that others may write in, or a link, is not.
    fs::create_dir(&node).unwrap();
    mode(&node, 0o755);
    printed("look.sh", &[&at, ""]);
    assert_eq!(below(&node), [MARK]);
    mode(&node, 0o775);
    refused("look.sh", &[&at, ""], "others may write");
    mode(&node, 0o757);
    refused("look.sh", &[&at, ""], "others may write");
    mode(&node, 0o700);
    let (link, through) = directory(&place, "link");
    symlink(&node, &link).unwrap();
    for through in [through.clone(), format!("{through}/")] {
        refused("look.sh", &[&through, ""], "not a directory");
    }
    refused("clean.sh", &[&through, "", "True"], "did not make");
}

#[test]
fn clean_removes_what_was_put_there_and_names_what_stays() {
    let place = tempfile::tempdir().unwrap();
    let (node, at) = directory(&place, "node");
    printed("look.sh", &[&at, ""]);
    let own = [
        "key",
        "suite.toml",
        "last.log",
        "data/assay.sqlite",
        "data/assay.sqlite-wal",
        "data/assay.sqlite-shm",
        "data/spool/0123456789-0123456789abcdef.spool",
        "data/spool/0123456789-0123456789abcdef.part",
        "data/reports/0123456789.html",
    ];
    write(&node, &own);
    // Records are somebody's data.
    let all = printed("clean.sh", &[&at, "", "False"]);
    assert!(all.contains(&format!("removed={at}/key\n")) && all.ends_with(&format!("kept={at}\n")), "{all}");
    assert!(node.join("data/assay.sqlite").exists() && node.join(MARK).exists() && !node.join("key").exists());

    write(&node, &own);
    let theirs = [
        "notes.txt",
        "data/holiday.jpg",
        "data/journals/dev-sda-20260101-000000.journal",
        "data/spool/thesis.spool",
        "data/spool/0123456789-0123456789abcdeg.spool",
        "data/reports/summary.html",
        "elsewhere/reports",
    ];
    write(&node, &theirs);
    write(place.path(), &["outside", "store/assay.sqlite"]);
    symlink(place.path().join("outside"), node.join("assay")).unwrap();
    symlink(place.path().join("outside"), node.join("data/assay.sqlite-journal")).unwrap();
    fs::create_dir(node.join("last.json")).unwrap();
    let all = printed("clean.sh", &[&at, "", "True"]);
    for name in own {
        assert!(!node.join(name).exists(), "{name}: {all}");
    }
    for name in theirs.iter().chain(&["assay", "last.json", "data/assay.sqlite-journal"]) {
        assert!(node.join(name).exists(), "{name}: {all}");
    }
    let left = |name: &str| all.contains(&format!("left={at}/{name}\n"));
    assert!(left("notes.txt") && left("assay") && left("data/holiday.jpg") && left("data/journals"), "{all}");
    assert!(left("data/spool") && !left("data/assay.sqlite") && !all.contains("kept=/"), "{all}");
    assert_eq!(fs::read(place.path().join("outside")).unwrap(), b"dear");

    // A directory of records that is a link belongs to somebody else.
    for name in ["data", "elsewhere"] {
        fs::remove_dir_all(node.join(name)).unwrap();
    }
    symlink(place.path().join("store"), node.join("data")).unwrap();
    printed("clean.sh", &[&at, "", "True"]);
    assert!(node.join("data").is_symlink() && place.path().join("store/assay.sqlite").exists());
    fs::remove_file(node.join("data")).unwrap();
    for name in ["notes.txt", "assay"] {
        fs::remove_file(node.join(name)).unwrap();
    }
    fs::remove_dir(node.join("last.json")).unwrap();
    assert_eq!(printed("clean.sh", &[&at, "", "True"]), "kept=\n");
    assert!(!node.exists());
}

#[test]
fn what_a_run_says_is_not_written_through_a_link() {
    let place = tempfile::tempdir().unwrap();
    let (node, at) = directory(&place, "node");
    printed("look.sh", &[&at, ""]);
    write(place.path(), &["outside"]);
    for name in ["last.json", "last.log", "send.json"] {
        symlink(place.path().join("outside"), node.join(name)).unwrap();
    }
    fs::write(node.join("assay"), "#!/bin/sh\necho said\n").unwrap();
    mode(&node.join("assay"), 0o700);
    printed("run.sh", &[&at, "/medium"]);
    printed("send.sh", &[&at, "0123456789"]);
    assert_eq!(fs::read(place.path().join("outside")).unwrap(), b"dear");
}
