//! Trees as the kernel lays them out under `/sys` and `/proc`, made of a text, in a directory of their own.
//!
//! `[dir]` begins a directory; the lines after it are `name = content` (escapes `\n \t \0 \\ \xNN`),
//! `name -> target` for a link, or `name/` for an empty directory, as in the boards of `assay-device`'s tests.
//! Nothing outside of the directory is ever written or read: names have no `..`, links are made last and
//! lead below the root alone.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};

/// More lines are left out.
const MOST_LINES: usize = 150;
/// Names of disks that are linked from `sys/dev/block` and `sys/block`.
const MOST_DISKS: usize = 16;

/// Makes the tree below `root`, which is empty.
pub(crate) fn make(root: &Path, text: &str) {
    let mut section = PathBuf::new();
    let mut links = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')).take(MOST_LINES) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = below(name).unwrap_or_default();
        } else if let Some((name, content)) = line.split_once(" = ") {
            if let Some(path) = below(name).map(|name| root.join(&section).join(name)) {
                let mut bytes = unescaped(content);
                bytes.push(b'\n');
                let _ = path.parent().map(fs::create_dir_all);
                let _ = fs::write(&path, bytes);
            }
        } else if let Some((name, target)) = line.split_once(" -> ") {
            links.extend(below(name).map(|name| (section.join(name), target.to_owned())));
        } else if let Some(path) = line.strip_suffix('/').and_then(below) {
            let _ = fs::create_dir_all(root.join(&section).join(path));
        }
    }
    let mut disks = Vec::new();
    find_disks(root, Path::new("sys/devices"), 0, &mut disks);
    for (disk, number) in disks {
        let name = disk.file_name().unwrap_or_default().to_owned();
        let inside = disk.strip_prefix("sys").unwrap_or(&disk).to_owned();
        links.push((Path::new("sys/dev/block").join(number), Path::new("../..").join(&inside).display().to_string()));
        let of = |class: &str| Path::new("sys").join(class).join(&name);
        links.push((of("class/block"), Path::new("../..").join(&inside).display().to_string()));
        links.push((of("block"), Path::new("..").join(&inside).display().to_string()));
    }
    // All directories first: below a link nothing is made.
    for (link, _) in &links {
        let _ = root.join(link).parent().map(fs::create_dir_all);
    }
    for (link, target) in links.iter().filter(|(link, target)| stays_below(link, target)) {
        let _ = symlink(target, root.join(link));
    }
}

/// A path of plain names.
fn below(name: &str) -> Option<PathBuf> {
    let path = Path::new(name.trim_start_matches('/'));
    let plain = path.components().all(|part| matches!(part, Component::Normal(name) if name.len() < 200));
    (plain && !name.contains('\0') && name.len() < 2000).then(|| path.to_owned())
}

/// Upwards first, at most to the root, then down.
fn stays_below(link: &Path, target: &str) -> bool {
    let mut up = link.components().count().saturating_sub(1);
    let mut down = false;
    target.len() < 1000
        && !target.is_empty()
        && Path::new(target).components().all(|part| match part {
            Component::ParentDir if !down && up > 0 => {
                up -= 1;
                true
            }
            Component::Normal(_) => {
                down = true;
                true
            }
            Component::CurDir => true,
            _ => false,
        })
}

/// Directories with `dev` and `size`, and what `dev` says.
fn find_disks(root: &Path, at: &Path, depth: usize, found: &mut Vec<(PathBuf, String)>) {
    let Ok(entries) = fs::read_dir(root.join(at)) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        let path = at.join(entry.file_name());
        if let Ok(number) = fs::read_to_string(root.join(&path).join("dev"))
            && root.join(&path).join("size").exists()
            && below(number.trim()).is_some_and(|name| name.components().count() == 1)
            && found.len() < MOST_DISKS
        {
            found.push((path.clone(), number.trim().to_owned()));
        }
        if depth < 20 {
            find_disks(root, &path, depth + 1, found);
        }
    }
}

fn unescaped(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let (byte, used) = match (first, tail) {
            (b'\\', [b'n', ..]) => (b'\n', 1),
            (b'\\', [b't', ..]) => (b'\t', 1),
            (b'\\', [b'0', ..]) => (0, 1),
            (b'\\', [b'x', high, low, ..]) => {
                let hex = [*high, *low];
                let byte = std::str::from_utf8(&hex).ok().and_then(|hex| u8::from_str_radix(hex, 16).ok());
                (byte.unwrap_or(b'?'), 3)
            }
            (b'\\', [other, ..]) => (*other, 1),
            (other, _) => (*other, 0),
        };
        out.push(byte);
        rest = &tail[used..];
    }
    out
}
