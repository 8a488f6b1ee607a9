//! Directories of assay's own with directories in them.

use std::ffi::OsString;

use super::error::{Cause, OwnedError};
use super::own::{OwnDir, is_hidden};
use super::stat::Kind;

/// No program nests directories deeper than this.
const DEEPEST: u32 = 32;
/// No directory of a program has more names.
const MOST_NAMES: u64 = 1_000_000;

/// Content of a directory of assay's own, including all directories below.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tree {
    /// Files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Whether assay uses such a name, at this depth below the first directory.
type Known<'a> = dyn Fn(u32, &str) -> bool + 'a;

impl OwnDir {
    /// Counts its content, including everything below.
    ///
    /// # Errors
    /// Where a name is unknown or a file is not assay's, or the system's.
    pub fn tree(&self, known: &Known<'_>) -> Result<Tree, OwnedError> {
        let mut found = Tree::default();
        self.walk(known, 0, false, &mut found)?;
        Ok(found)
    }

    /// Removes its content, including everything below, if all names are known and all files are assay's; otherwise
    /// nothing.
    ///
    /// # Errors
    /// As [`OwnDir::tree`].
    pub fn remove_tree(&self, known: &Known<'_>) -> Result<Tree, OwnedError> {
        self.tree(known)?;
        let mut found = Tree::default();
        self.walk(known, 0, true, &mut found)?;
        Ok(found)
    }

    fn walk(&self, known: &Known<'_>, depth: u32, remove: bool, found: &mut Tree) -> Result<(), OwnedError> {
        let mut names: Vec<OsString> = Vec::new();
        self.directory().names(MOST_NAMES, &mut |name| {
            if !is_hidden(name) {
                names.push(name.to_owned());
            }
        })?;
        for name in names {
            let foreign = |cause| OwnedError::foreign(&self.path().join(&name), cause);
            let text = name.to_str().filter(|name| depth < DEEPEST && known(depth, name));
            let Some(text) = text else { return Err(foreign(Cause::Name)) };
            let is_directory = match self.stat_in(&name) {
                Ok(stat) => stat.kind == Kind::Directory,
                // Removed meanwhile.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => return Err(OwnedError::io(&self.path().join(&name), error)),
            };
            if is_directory {
                let Some(inside) = self.directory().own(text)? else { continue };
                inside.walk(known, depth + 1, remove, found)?;
                if remove {
                    inside.remove_self()?;
                }
                continue;
            }
            if let Some(entry) = self.entry(&name, &|_| true)? {
                found.files += 1;
                found.bytes = found.bytes.saturating_add(entry.bytes);
            }
            if remove {
                self.remove(text)?;
            }
        }
        Ok(())
    }
}

// These tests create links, which Windows permits only few users to do.
#[cfg(not(windows))]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::owned::{Caching, Directory};

    fn known(depth: u32, name: &str) -> bool {
        match depth {
            0 => name == "d",
            _ => ["d", "f"].contains(&name),
        }
    }

    fn made(at: &std::path::Path) -> OwnDir {
        let top = Directory::open(at).unwrap().make("own").unwrap();
        let inner = top.directory().make("d").unwrap().directory().make("d").unwrap();
        std::io::Write::write_all(&mut inner.create_file("f", Caching::Cached).unwrap(), b"12345").unwrap();
        top
    }

    #[test]
    fn a_tree_is_counted_and_removed() {
        let at = tempfile::tempdir().unwrap();
        let top = made(at.path());
        assert_eq!(top.tree(&known).unwrap(), Tree { files: 1, bytes: 5 });
        assert_eq!(top.remove_tree(&known).unwrap().files, 1);
        top.remove_self().unwrap();
        assert_eq!(std::fs::read_dir(at.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_tree_with_anything_else_in_it_is_left_as_it_is() {
        let at = tempfile::tempdir().unwrap();
        let theirs = at.path().join("theirs");
        std::fs::write(&theirs, b"dear").unwrap();
        let top = made(at.path());
        let inner = at.path().join("own/d/d");
        type Put<'a> = &'a dyn Fn();
        let foreign: [(&str, Put<'_>); 3] = [
            ("thesis.tex", &|| std::fs::write(inner.join("thesis.tex"), b"dear").unwrap()),
            ("d", &|| symlink(at.path(), inner.join("d")).unwrap()),
            ("d", &|| std::fs::hard_link(&theirs, inner.join("d")).unwrap()),
        ];
        for (name, put) in foreign {
            put();
            assert!(top.tree(&known).is_err() && top.remove_tree(&known).is_err());
            assert!(inner.join("f").exists() && theirs.exists(), "nothing was removed");
            std::fs::remove_file(inner.join(name)).unwrap();
        }
        assert!(top.remove_tree(&known).is_ok());
    }
}
