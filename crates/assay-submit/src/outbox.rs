//! What is on its way to a site, and the receipts of what arrived.
//!
//! An entry is written before its document is sent, and holds the document until there is a receipt: a computer that
//! is switched off, or a site that cannot be reached, loses nothing. Sending again is harmless, because a site counts
//! the same document once.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use assay_device::owned::{Caching, Directory, OwnedError};
use serde::{Deserialize, Serialize};

use crate::site::{Receipt, Refusal, Site};

/// Longest file that is read, in bytes. A document is at most 16 MiB, and its text grows by quotes.
const LONGEST_FILE: u64 = 64 << 20;
/// More entries are not read.
const MOST_ENTRIES: u64 = 1_000_000;
/// Ends the name of an entry's file.
const ENDING: &str = ".entry.json";
/// One process sends at a time.
const LOCK: &str = "lock";

/// A record that was submitted to a site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Where it goes.
    pub site: Site,
    /// Id of the record.
    pub record: String,
    /// When it was submitted, RFC 3339.
    pub submitted: String,
    /// Whether it is to be found only by its address.
    pub unlisted: bool,
    /// Where it is.
    pub status: Status,
}

/// Where a record is on its way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Status {
    /// Not sent yet, or not known to have arrived.
    Waiting {
        /// Exactly what is sent.
        document: String,
        /// How often it was tried.
        attempts: u32,
    },
    /// The site has it.
    Received {
        /// What the site answered last.
        receipt: Receipt,
        /// Withdraws it; none if the answer that held it was lost.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        withdrawal_key: Option<String>,
    },
    /// The site does not take it. Sending the same again would change nothing.
    Refused {
        /// Why.
        refusal: Refusal,
    },
    /// Taken back.
    Withdrawn {
        /// When, RFC 3339.
        at: String,
    },
}

/// The outbox cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OutboxError {
    /// The system's.
    #[error(transparent)]
    Owned(#[from] OwnedError),
    /// A file was changed from outside.
    #[error("{path} is damaged ({reason}); move it away")]
    Damaged {
        /// The file.
        path: String,
        /// What is wrong in it.
        reason: String,
    },
    /// Another process sends.
    #[error("another `assay submit` is sending; wait until it ends")]
    Busy,
}

impl OutboxError {
    pub(crate) fn damaged(directory: &Path, name: &str, reason: &dyn std::fmt::Display) -> Self {
        let path = directory.join(name).display().to_string();
        Self::Damaged { path: assay_core::text::harmless(&path), reason: reason.to_string() }
    }
}

/// The outbox of a user, which one process uses at a time.
#[derive(Debug)]
pub struct Outbox {
    directory: Directory,
    /// Holds the lock for as long as it is open.
    _lock: File,
}

impl Outbox {
    /// Opens the outbox in a directory that is for its user alone.
    ///
    /// # Errors
    /// [`OutboxError::Busy`] where another process sends, or the system's.
    pub fn open(directory: Directory) -> Result<Self, OutboxError> {
        let lock = directory.file_or_made(LOCK)?;
        lock.try_lock().map_err(|error| match error {
            std::fs::TryLockError::WouldBlock => OutboxError::Busy,
            std::fs::TryLockError::Error(error) => OwnedError::io(&directory.path().join(LOCK), error).into(),
        })?;
        Ok(Self { directory, _lock: lock })
    }

    /// The directory, which also holds the accounts.
    #[must_use]
    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    /// The entry of a record at a site.
    ///
    /// # Errors
    /// [`OutboxError::Damaged`], or the system's.
    pub fn entry(&self, site: &Site, record: &str) -> Result<Option<Entry>, OutboxError> {
        self.read(&name_of(site, record))
    }

    /// All entries, the earliest submission first.
    ///
    /// # Errors
    /// As [`Outbox::entry`].
    pub fn entries(&self) -> Result<Vec<Entry>, OutboxError> {
        let mut names = Vec::new();
        self.directory.names(MOST_ENTRIES, &mut |name| {
            names.extend(name.to_str().filter(|name| name.ends_with(ENDING)).map(str::to_owned));
        })?;
        names.sort();
        let mut entries = Vec::new();
        for name in names {
            entries.extend(self.read(&name)?);
        }
        entries.sort_by(|a: &Entry, b| (&a.submitted, &a.record).cmp(&(&b.submitted, &b.record)));
        Ok(entries)
    }

    /// Saves an entry durably. It replaces the earlier state.
    ///
    /// # Errors
    /// The system's; the earlier state remains.
    pub fn put(&self, entry: &Entry) -> Result<(), OutboxError> {
        let name = name_of(&entry.site, &entry.record);
        let text = serde_json::to_vec_pretty(entry)
            .map_err(|error| OutboxError::damaged(self.directory.path(), &name, &error))?;
        Ok(self.directory.replace(OsStr::new(&name), &text)?)
    }

    fn read(&self, name: &str) -> Result<Option<Entry>, OutboxError> {
        let Some(text) = read_limited(&self.directory, name)? else { return Ok(None) };
        let entry: Entry =
            serde_json::from_str(&text).map_err(|error| OutboxError::damaged(self.directory.path(), name, &error))?;
        if name_of(&entry.site, &entry.record) != name {
            let reason = "it is of another record or site";
            return Err(OutboxError::damaged(self.directory.path(), name, &reason));
        }
        Ok(Some(entry))
    }
}

/// The file of a record at a site. Ids of imported records are texts from elsewhere, so the name is a hash.
fn name_of(site: &Site, record: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(site.origin().as_bytes()).update(b"\0").update(record.as_bytes());
    format!("{}{ENDING}", &hasher.finalize().to_hex()[..32])
}

/// The text of a file in the directory; none where there is none.
pub(crate) fn read_limited(directory: &Directory, name: &str) -> Result<Option<String>, OutboxError> {
    let file = match directory.read_file(name, Caching::Cached) {
        Err(error) if error.kind() == Some(ErrorKind::NotFound) => return Ok(None),
        file => file?,
    };
    let mut text = String::new();
    match file.take(LONGEST_FILE + 1).read_to_string(&mut text) {
        Ok(bytes) if bytes as u64 > LONGEST_FILE => {
            Err(OutboxError::damaged(directory.path(), name, &"it is longer than 64 MiB"))
        }
        Ok(_) => Ok(Some(text)),
        Err(error) => Err(OwnedError::io(&directory.path().join(name), error).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(record: &str) -> Entry {
        Entry {
            site: Site::parse("https://results.example.org").expect("a site"),
            record: record.to_owned(),
            submitted: "2026-11-28T12:00:00Z".to_owned(),
            unlisted: false,
            status: Status::Waiting { document: "{\"a\":\"\\u0000\"}".to_owned(), attempts: 0 },
        }
    }

    #[test]
    fn what_is_put_is_there_for_the_next_process() {
        let made = tempfile::tempdir().expect("a directory");
        let open = || Outbox::open(Directory::open(made.path()).expect("open"));
        let outbox = open().expect("free");
        assert!(matches!(open(), Err(OutboxError::Busy)));
        // An id as an imported record may have it.
        let odd = entry("../../etc/passwd");
        outbox.put(&odd).expect("kept");
        outbox.put(&entry("b")).expect("kept");
        drop(outbox);
        let outbox = open().expect("free again");
        assert_eq!(outbox.entry(&odd.site, &odd.record).expect("read"), Some(odd.clone()));
        assert_eq!(outbox.entries().expect("read"), [odd.clone(), entry("b")]);
        assert_eq!(outbox.entry(&Site::parse("https://other.example").expect("a site"), "b").expect("read"), None);
    }

    #[test]
    fn a_damaged_entry_is_named() {
        let made = tempfile::tempdir().expect("a directory");
        let outbox = Outbox::open(Directory::open(made.path()).expect("open")).expect("free");
        let name = name_of(&entry("a").site, "a");
        std::fs::write(made.path().join(&name), "{").expect("written");
        let error = outbox.entries().expect_err("damaged").to_string();
        assert!(error.contains(&name) && error.contains("move it away"), "{error}");
    }
}
