//! A directory of the user alone, for as long as a command of Ansible takes.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::collection::{FILES, PLAYBOOKS};
use crate::key::nonce;
use assay_core::private;

/// Where Ansible looks for collections beside a playbook, before all other places.
const COLLECTION: &str = "collections/ansible_collections/assay/fleet";

/// The directory: playbooks, the collection beside them, and what a command is told by files. It is removed with this value.
#[derive(Debug)]
pub struct PrivateDirectory {
    path: PathBuf,
}

impl PrivateDirectory {
    /// Makes it among temporary files.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn new() -> std::io::Result<Self> {
        let parent = std::path::absolute(std::env::temp_dir())?;
        let path = parent.join(format!("assay-fleet-{}", &nonce()?[..16]));
        // Whoever has made it before, it is not taken.
        private::directories().create(&path)?;
        let directory = Self { path };
        for (name, text) in FILES {
            directory.write(&format!("{COLLECTION}/{name}"), text.as_bytes())?;
        }
        for (name, text) in PLAYBOOKS {
            directory.write(name.trim_start_matches("playbooks/"), text.as_bytes())?;
        }
        Ok(directory)
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file that nobody else can read.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn write(&self, name: &str, content: &[u8]) -> std::io::Result<PathBuf> {
        let path = self.path.join(name);
        if let Some(parent) = path.parent() {
            private::directories().recursive(true).create(parent)?;
        }
        let mut file = private::file().create(true).truncate(true).write(true).open(&path)?;
        file.write_all(content)?;
        Ok(path)
    }
}

impl Drop for PrivateDirectory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn it_is_the_users_alone_and_gone_afterwards() {
        let directory = PrivateDirectory::new().unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        let key = directory.write("key", b"secret").unwrap();
        assert_eq!((mode(directory.path()), mode(&key)), (0o700, 0o600));
        assert!(directory.path().join("check.yml").is_file());
        assert!(directory.path().join(COLLECTION).join("plugins/callback/jsonl.py").is_file());
        assert_ne!(PrivateDirectory::new().unwrap().path(), directory.path());
        let path = directory.path().to_owned();
        drop(directory);
        assert!(!path.exists());
    }
}
