//! Accounts at sites, and the tokens that open them.

use std::path::Path;

use assay_device::owned::{Directory, OwnedError};
use serde::{Deserialize, Serialize};

use crate::outbox::{OutboxError, read_limited};
use crate::site::Site;

/// The file in the directory of the outbox, which is for its user alone.
const FILE: &str = "accounts.json";

/// An account.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// Where it is.
    pub site: Site,
    /// Opens it.
    pub token: String,
    /// Certificates in PEM that this site is known by, beside those that the program knows.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub certificates: Option<String>,
}

impl std::fmt::Debug for Account {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Account({}, secret token)", self.site)
    }
}

/// All accounts. The one that was used for `assay login` last stands first, and is meant where no site is named.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accounts(Vec<Account>);

impl Accounts {
    /// Those of a directory; none where it holds none.
    ///
    /// # Errors
    /// [`OutboxError`] where the file cannot be read.
    pub fn read(directory: &Directory) -> Result<Self, OutboxError> {
        let Some(text) = read_limited(directory, FILE)? else { return Ok(Self::default()) };
        serde_json::from_str(&text).map_err(|error| OutboxError::damaged(directory.path(), FILE, &error))
    }

    /// Keeps them, durably.
    ///
    /// # Errors
    /// The system's.
    pub fn write(&self, directory: &Directory) -> Result<(), OwnedError> {
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        directory.replace(Path::new(FILE).as_os_str(), text.as_bytes())
    }

    /// The account at this site, or the first.
    #[must_use]
    pub fn at(&self, site: Option<&Site>) -> Option<&Account> {
        match site {
            Some(site) => self.0.iter().find(|account| account.site == *site),
            None => self.0.first(),
        }
    }

    /// Puts an account first; it replaces the one at the same site.
    pub fn put(&mut self, account: Account) {
        self.remove(&account.site);
        self.0.insert(0, account);
    }

    /// Removes the account at a site; whether there was one.
    pub fn remove(&mut self, site: &Site) -> bool {
        let before = self.0.len();
        self.0.retain(|account| account.site != *site);
        self.0.len() < before
    }
}
