//! The state of a tree, to be compared with its later state.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Read;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Everything below a directory: kind, mode, owner, names, and content by checksum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Witness(BTreeMap<PathBuf, String>);

impl Witness {
    /// Records everything below `root`. Links are not followed, and only files and block devices are opened.
    ///
    /// # Errors
    /// The error of the system.
    pub fn of(root: &Path) -> std::io::Result<Self> {
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
