//! Directories in directories that assay made. Only those above the last file are open.

use std::collections::HashSet;

use assay_device::owned::{OwnDir, OwnedError};

use crate::names::directory;

/// The directories of a tree.
pub(crate) struct Directories<'p> {
    root: &'p OwnDir,
    /// Open, from the outermost to that of the last file.
    open: Vec<(u32, OwnDir)>,
    made: HashSet<u32>,
    /// Names of this tree begin behind those of the ones before.
    first: u32,
}

impl<'p> Directories<'p> {
    /// A tree in `root`, whose directories are named from `first` on.
    pub(crate) fn new(root: &'p OwnDir, first: u32) -> Self {
        Self { root, open: Vec::new(), made: HashSet::new(), first }
    }

    /// The directory of this number, made with those above it where they are not there; the first one is the root.
    pub(crate) fn at(&mut self, number: u32, parents: &[u32]) -> Result<&OwnDir, OwnedError> {
        let mut way = Vec::new();
        let mut up = number;
        while up != 0 {
            way.push(up);
            up = parents.get(up as usize).copied().unwrap_or(0);
        }
        way.reverse();
        let shared = self.open.iter().zip(&way).take_while(|((open, _), number)| open == *number).count();
        self.open.truncate(shared);
        for number in way.into_iter().skip(shared) {
            let name = directory(self.first + number);
            let above = self.open.last().map_or(self.root, |(_, directory)| directory).directory();
            let opened = if self.made.insert(number) { Some(above.make(&name)?) } else { above.own(&name)? };
            match opened {
                Some(directory) => self.open.push((number, directory)),
                None => return Err(OwnedError::io(&above.path().join(&name), std::io::ErrorKind::NotFound)),
            }
        }
        Ok(self.open.last().map_or(self.root, |(_, directory)| directory))
    }
}
