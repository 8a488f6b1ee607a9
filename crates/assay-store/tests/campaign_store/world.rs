//! File events in order, and the files that remain after a power cut.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use assay_lab::SplitMix;

/// A disk keeps or loses whole sectors; SQLite relies on that (`SQLITE_IOCAP_POWERSAFE_OVERWRITE`).
const SECTOR: usize = 512;

/// One change of a file or of a name.
#[derive(Debug, Clone)]
pub enum Event {
    Create(PathBuf),
    Write(PathBuf, u64, Vec<u8>),
    Truncate(PathBuf, u64),
    Sync(PathBuf),
    Rename(PathBuf, PathBuf),
    Remove(PathBuf),
    /// Names in a directory are durable from here on.
    SyncNames(PathBuf),
}

/// The error that a call returns instead of doing its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    Io,
    NoSpace,
}

/// Calls that fail: `count` calls from number `from` on.
#[derive(Debug, Clone, Copy)]
pub struct Fault {
    pub from: usize,
    pub count: usize,
    pub refusal: Refusal,
}

/// The events so far.
#[derive(Debug, Default)]
pub struct World {
    pub log: Vec<Event>,
    pub calls: usize,
    pub fault: Option<Fault>,
}

impl World {
    /// Counts a modifying call, and returns whether it fails.
    pub fn call(&mut self) -> Result<(), Refusal> {
        let number = self.calls;
        self.calls += 1;
        match self.fault {
            Some(fault) if (fault.from..fault.from + fault.count).contains(&number) => Err(fault.refusal),
            _ => Ok(()),
        }
    }
}

thread_local! {
    /// The world of the case that runs on this thread.
    static HERE: RefCell<Option<Rc<RefCell<World>>>> = const { RefCell::new(None) };
}

/// The world of this thread, if a case runs on it.
pub fn here() -> Option<Rc<RefCell<World>>> {
    HERE.with(|here| here.borrow().clone())
}

/// Sets the world of this thread.
pub fn enter(world: Option<Rc<RefCell<World>>>) {
    HERE.with(|here| *here.borrow_mut() = world);
}

#[derive(Default)]
struct Inode {
    /// Changes of the content, and whether a sync followed them.
    changes: Vec<(Event, bool)>,
}

enum Naming {
    Bind(PathBuf, usize),
    Move(PathBuf, PathBuf, usize),
    Unbind(PathBuf, usize),
}

/// Files after the power failed at the end of `log`: synced data, and of the rest what is randomly kept, lost or torn.
/// Without dice nothing is lost: the process was killed.
pub fn survivors(log: &[Event], mut dice: Option<&mut SplitMix>) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut inodes: Vec<Inode> = Vec::new();
    let mut live: BTreeMap<PathBuf, usize> = BTreeMap::new();
    let mut namings: Vec<(PathBuf, Naming, bool)> = Vec::new();
    let above = |path: &Path| path.parent().unwrap_or(Path::new("")).to_owned();
    for event in log {
        match event {
            Event::Create(path) => {
                live.insert(path.clone(), inodes.len());
                namings.push((above(path), Naming::Bind(path.clone(), inodes.len()), false));
                inodes.push(Inode::default());
            }
            Event::Write(path, ..) | Event::Truncate(path, _) => {
                if let Some(inode) = live.get(path) {
                    inodes[*inode].changes.push((event.clone(), false));
                }
            }
            Event::Sync(path) => {
                if let Some(inode) = live.get(path) {
                    inodes[*inode].changes.iter_mut().for_each(|change| change.1 = true);
                }
            }
            Event::Rename(from, to) => {
                if let Some(inode) = live.remove(from) {
                    live.insert(to.clone(), inode);
                    namings.push((above(to), Naming::Move(from.clone(), to.clone(), inode), false));
                }
            }
            Event::Remove(path) => {
                if let Some(inode) = live.remove(path) {
                    namings.push((above(path), Naming::Unbind(path.clone(), inode), false));
                }
            }
            Event::SyncNames(directory) => {
                namings.iter_mut().filter(|naming| naming.0 == *directory).for_each(|naming| naming.2 = true);
            }
        }
    }
    let mut kept = |durable: bool| durable || dice.as_mut().is_none_or(|dice| dice.one_in(2));
    let mut names: BTreeMap<PathBuf, usize> = BTreeMap::new();
    for (_, naming, durable) in namings {
        if !kept(durable) {
            continue;
        }
        match naming {
            Naming::Bind(path, inode) => drop(names.insert(path, inode)),
            Naming::Move(from, to, inode) => {
                if names.get(&from) == Some(&inode) {
                    names.remove(&from);
                }
                names.insert(to, inode);
            }
            Naming::Unbind(path, inode) => {
                if names.get(&path) == Some(&inode) {
                    names.remove(&path);
                }
            }
        }
    }
    let contents: Vec<Vec<u8>> = inodes.iter().map(|inode| content(inode, dice.as_deref_mut())).collect();
    names.into_iter().map(|(path, inode)| (path, contents[inode].clone())).collect()
}

fn content(inode: &Inode, mut dice: Option<&mut SplitMix>) -> Vec<u8> {
    let mut bytes: Vec<u8> = Vec::new();
    for (change, durable) in &inode.changes {
        let lot = match &mut dice {
            Some(dice) if !durable => dice.below(3),
            _ => 0,
        };
        match (change, lot) {
            // Lost.
            (_, 1) => {}
            (Event::Truncate(_, length), _) => bytes.resize(*length as usize, 0),
            (Event::Write(_, at, data), lot) => {
                let at = *at as usize;
                if bytes.len() < at + data.len() {
                    bytes.resize(at + data.len(), 0);
                }
                for (number, sector) in data.chunks(SECTOR).enumerate() {
                    let torn = lot == 2 && dice.as_mut().is_some_and(|dice| dice.one_in(2));
                    if !torn {
                        let from = at + number * SECTOR;
                        bytes[from..from + sector.len()].copy_from_slice(sector);
                    }
                }
            }
            _ => {}
        }
    }
    bytes
}
