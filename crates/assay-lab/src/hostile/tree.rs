//! A tree of files laid out by an attacker against assay.

use std::ffi::OsStr;
use std::fs::Permissions;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::state::{absurd, honest};
use crate::dice::Dice;

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
        std::fs::write(at.join("state.json"), honest(area))?;
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
            std::fs::write(at.join("state.json"), absurd(&mut self.dice))?;
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
