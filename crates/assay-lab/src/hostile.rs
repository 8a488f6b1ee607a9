//! Media prepared by an attacker: directory trees by seed, and a proof that no foreign file changed.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::Permissions;
use std::io;
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::dice::Dice;

// A tree of files laid out by an attacker against assay.

/// Names that assay uses; an attacker may put anything there.
const VERIFY: [&str; 8] =
    ["state.json", "lock", "state.new", "1.h2w", "2.h2w", "0.quick", "1.quick", "new-0123456789abcdef"];
const RUN: [&str; 2] = ["data", "lock"];
/// User id of `nobody` on Debian.
const NOBODY: u32 = 65534;

/// The targets of an attacker: a file and a device outside of the medium.
#[derive(Debug, Clone)]
pub struct Tree {
    dice: Dice,
    victim: PathBuf,
    device: u64,
    /// Directories that look exactly as assay leaves them: their content may be removed.
    own: Vec<PathBuf>,
    story: Vec<String>,
}

impl Tree {
    /// Lays out the tree of `seed` in the empty directory `root`, as root. Links lead to `victim`, device nodes to the
    /// block device with the number `device`.
    ///
    /// # Errors
    /// The error of the system.
    pub fn lay_out(seed: u64, root: &Path, victim: &Path, device: u64) -> io::Result<Self> {
        let dice = Dice::new(seed);
        let mut tree = Self { dice, victim: victim.to_owned(), device, own: Vec::new(), story: Vec::new() };
        if tree.dice.chance(0.85) {
            tree.check(root)?;
        }
        for _ in 0..tree.dice.below(3) {
            tree.run(root)?;
        }
        tree.outside(root)?;
        Ok(tree)
    }

    /// Whether assay may remove the content of `path`, since only assay can have made it.
    #[must_use]
    pub fn is_own(&self, path: &Path) -> bool {
        self.own.iter().any(|own| path.starts_with(own))
    }

    /// A description of the tree, for messages.
    #[must_use]
    pub fn description(&self) -> String {
        self.story.join(", ")
    }

    /// Files that a check could have left.
    fn check(&mut self, root: &Path) -> io::Result<()> {
        let at = root.join(".assay-verify");
        if self.dice.chance(0.1) {
            self.story.push("the directory of a check is something else".to_owned());
            return self.poison(&at);
        }
        self.directory(&at)?;
        let area = self.dice.within(1..8) << 20;
        std::fs::write(at.join("state.json"), honest_state(area))?;
        std::fs::write(at.join("1.h2w"), b"of a check")?;
        if self.dice.chance(0.5) {
            std::fs::write(at.join("lock"), b"")?;
        }
        self.spoil(&at, &VERIFY, true)
    }

    /// Files that a run could have left.
    fn run(&mut self, root: &Path) -> io::Result<()> {
        let id: String = (0..10).map(|_| char::from(b'a' + self.dice.below(26) as u8)).collect();
        let at = root.join(format!(".assay-{id}"));
        if self.dice.chance(0.2) {
            self.story.push("the directory of a run is something else".to_owned());
            return self.poison(&at);
        }
        self.directory(&at)?;
        std::fs::write(at.join("data"), vec![7; self.dice.below(1 << 16) as usize])?;
        if self.dice.chance(0.5) {
            std::fs::write(at.join("lock"), b"")?;
        }
        self.spoil(&at, &RUN, false)
    }

    /// Makes some of the files hostile, or leaves them unchanged.
    fn spoil(&mut self, at: &Path, names: &[&str], has_state: bool) -> io::Result<()> {
        let mut spoilt = false;
        for _ in 0..self.dice.below(4) {
            let name = names[self.dice.below(names.len() as u64) as usize];
            take_away(&at.join(name))?;
            self.story.push(format!("{} in {}", name, at.file_name().unwrap_or_default().to_string_lossy()));
            self.poison(&at.join(name))?;
            spoilt = true;
        }
        if has_state && self.dice.chance(0.4) {
            take_away(&at.join("state.json"))?;
            std::fs::write(at.join("state.json"), absurd_state(&mut self.dice))?;
            self.story.push("an absurd state".to_owned());
            spoilt = true;
        }
        if self.dice.chance(0.2) {
            let name = [b"holiday.jpg".as_slice(), b"new\nline", b"\x1b[2J\xff", b"..."][self.dice.below(4) as usize];
            std::fs::write(at.join(OsStr::from_bytes(name)), b"dear")?;
            self.story.push("a file of somebody".to_owned());
            spoilt = true;
        }
        if self.dice.chance(0.1) {
            std::fs::set_permissions(at, Permissions::from_mode(0o777))?;
            self.story.push("writable for all".to_owned());
            spoilt = true;
        }
        if self.dice.chance(0.1) {
            chown(at, Some(NOBODY), Some(NOBODY))?;
            self.story.push("of nobody".to_owned());
            spoilt = true;
        }
        if !spoilt {
            self.own.push(at.to_owned());
        }
        Ok(())
    }

    /// Other files on the medium, under names that assay reads or writes.
    fn outside(&mut self, root: &Path) -> io::Result<()> {
        for _ in 0..self.dice.below(6) {
            let names = [
                b"1.h2w".as_slice(),
                b"2.h2w",
                b"18446744073709551615.h2w",
                b"\n.h2w",
                b".assay-",
                b".assay-ABCDEFGHIJ",
                b"\xff\xfe",
                b"photo\nmove it away.jpg",
                b"\x1b]0;x\x07",
            ];
            let at = root.join(OsStr::from_bytes(names[self.dice.below(names.len() as u64) as usize]));
            if at.symlink_metadata().is_err() {
                if self.dice.chance(0.5) { std::fs::write(&at, b"dear")? } else { self.poison(&at)? }
            }
        }
        if self.dice.chance(0.3) {
            let mut deep = root.join("deep");
            for _ in 0..self.dice.below(40) {
                std::fs::create_dir_all(&deep)?;
                symlink("..", deep.join("up"))?;
                symlink(root, deep.join("top"))?;
                deep.push("d");
            }
        }
        Ok(())
    }

    fn directory(&mut self, at: &Path) -> io::Result<()> {
        std::fs::create_dir(at)?;
        std::fs::set_permissions(at, Permissions::from_mode(0o700))
    }

    /// Puts any file there, except one of assay's own.
    fn poison(&mut self, at: &Path) -> io::Result<()> {
        let node = |kind, device| mknodat(CWD, at, kind, Mode::RUSR | Mode::WUSR, device).map_err(io::Error::from);
        let kind = self.dice.below(12);
        self.story.push(format!("kind {kind}"));
        match kind {
            0 => symlink(&self.victim, at),
            1 => symlink("/dev/zero", at),
            2 => symlink(at.file_name().unwrap_or_default(), at),
            3 => symlink("../nowhere/at/all", at),
            4 => node(FileType::Fifo, 0),
            5 => UnixListener::bind(at).map(drop),
            6 => node(FileType::BlockDevice, self.device),
            // 1:5, /dev/zero, which has no end.
            7 => node(FileType::CharacterDevice, rustix::fs::makedev(1, 5)),
            8 => {
                std::fs::create_dir(at)?;
                symlink(".", at.join("lock"))?;
                std::fs::write(at.join("thesis.tex"), b"dear")
            }
            9 => {
                let first = at.with_file_name(format!("first-{}", self.dice.below(1 << 40)));
                std::fs::write(&first, b"dear")?;
                std::fs::hard_link(first, at)
            }
            10 => {
                std::fs::write(at, b"theirs")?;
                chown(at, Some(NOBODY), Some(NOBODY))
            }
            _ => symlink("/proc/self/mem", at),
        }
    }
}

fn take_away(at: &Path) -> io::Result<()> {
    match at.symlink_metadata() {
        Ok(meta) if meta.is_dir() => std::fs::remove_dir_all(at),
        Ok(_) => std::fs::remove_file(at),
        Err(_) => Ok(()),
    }
}

// State files of a check, from valid to absurd.

/// The state that a check of `area` bytes saves when it is killed while it writes.
fn honest_state(area: u64) -> String {
    format!(
        r#"{{"version":1,"pid":4242,"host":"there","area_bytes":{area},"written_bytes":0,"kept":false,"read":null}}"#
    )
}

/// A state that no check saves.
fn absurd_state(dice: &mut Dice) -> Vec<u8> {
    let huge = ["18446744073709551615", "9223372036854775808", "-1", "1e300", "281474976710656"];
    let number = huge[dice.below(huge.len() as u64) as usize];
    let counts = r#"{"good":0,"changed":0,"overwritten":0,"corrupted":0,"unreadable":0}"#;
    let tally = |cell: &str, cells: &str, area: &str| {
        format!(
            r#"{{"version":1,"pid":1,"host":"h","area_bytes":1048576,"written_bytes":1048576,"kept":false,"read":[0,{{"cell_bytes":{cell},"counts":{counts},"first":null,"last_lost_end":0,"good_since":0,"cells":{cells},"area_bytes":{area}}}]}}"#
        )
    };
    let text = match dice.below(9) {
        0 => honest_state(0).replace("\"area_bytes\":0", &format!("\"area_bytes\":{number}")),
        1 => honest_state(1 << 20).replace("\"written_bytes\":0", &format!("\"written_bytes\":{number}")),
        2 => tally("0", "[]", "1048576"),
        3 => tally(number, "[]", "1048576"),
        4 => tally("1048576", &format!("[{counts}]"), number),
        5 => "[".repeat(100_000),
        6 => format!("\"{}\"", "x".repeat(2 << 20)),
        7 => String::new(),
        _ => return (0..dice.below(4096)).map(|_| dice.below(256) as u8).collect(),
    };
    text.into_bytes()
}

// The state of a tree, to be compared with its later state.

/// Everything below a directory: kind, mode, owner, names, and content by checksum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Witness(BTreeMap<PathBuf, String>);

impl Witness {
    /// Records everything below `root`. Links are not followed, and only files and block devices are opened.
    ///
    /// # Errors
    /// The error of the system.
    pub fn of_tree(root: &Path) -> std::io::Result<Self> {
        let mut seen = BTreeMap::new();
        let mut todo = vec![root.to_owned()];
        while let Some(directory) = todo.pop() {
            for entry in std::fs::read_dir(&directory)? {
                let path = entry?.path();
                let meta = path.symlink_metadata()?;
                let content = match meta.file_type() {
                    kind if kind.is_symlink() => format!("{:?}", std::fs::read_link(&path)?),
                    kind if kind.is_file() => checksum(&path)?,
                    kind if kind.is_block_device() || kind.is_char_device() => format!("device {}", meta.rdev()),
                    kind if kind.is_dir() => {
                        todo.push(path.clone());
                        String::new()
                    }
                    _ => String::new(),
                };
                let links = if meta.is_dir() { 0 } else { meta.nlink() };
                let text = format!("{:o} {}:{} {links} {content}", meta.mode(), meta.uid(), meta.gid());
                seen.insert(path, text);
            }
        }
        Ok(Self(seen))
    }

    /// The content of a file or device by checksum.
    ///
    /// # Errors
    /// The error of the system.
    pub fn content(path: &Path) -> std::io::Result<Self> {
        Ok(Self(BTreeMap::from([(path.to_owned(), checksum(path)?)])))
    }

    /// The paths that differ in `now`: gone, changed or new. `may_go` selects those that assay may remove.
    #[must_use]
    pub fn differences(&self, now: &Self, may_go: &dyn Fn(&Path) -> bool) -> Vec<String> {
        let mut all = Vec::new();
        for (path, was) in &self.0 {
            match now.0.get(path) {
                None if may_go(path) => {}
                None => all.push(format!("gone: {}", shown(path))),
                Some(is) if is == was || may_go(path) => {}
                Some(is) => all.push(format!("changed: {}: {was} -> {is}", shown(path))),
            }
        }
        all.extend(now.0.keys().filter(|path| !self.0.contains_key(*path)).map(|path| format!("new: {}", shown(path))));
        all
    }
}

fn shown(path: &Path) -> String {
    OsString::from(path).into_vec().escape_ascii().to_string()
}

/// FNV-1a of 64 bits over the length and the words of the content. It detects changes by chance or by a write of
/// another content; no test forges it.
fn checksum(path: &Path) -> std::io::Result<String> {
    let mut file = std::fs::File::open(path)?;
    let (mut hash, mut bytes) = (0xcbf2_9ce4_8422_2325u64, 0u64);
    let mut buffer = vec![0; 1 << 18];
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok(format!("{bytes} bytes {hash:016x}"));
        }
        bytes += read as u64;
        for word in buffer[..read].chunks(8) {
            let mut whole = [0; 8];
            whole[..word.len()].copy_from_slice(word);
            hash = (hash ^ u64::from_le_bytes(whole)).wrapping_mul(0x0100_0000_01b3);
            hash ^= hash >> 29;
        }
    }
}
