//! Which build of the program measures: figures of two builds of one version may differ.

use std::fmt;

use serde_json::{Map, Value, json};

use crate::system;

/// A build of this program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Build {
    /// Its version.
    pub version: String,
    /// The commit of its source; none where it is not known.
    pub commit: Option<String>,
}

impl Build {
    /// The build that `--version` tells of: the version in the first line, and the commit in one of its own.
    #[must_use]
    pub fn from_words(said: &str) -> Option<Self> {
        let mut lines = said.lines().map(str::trim);
        let version = lines.next()?.strip_prefix("assay ")?.to_owned();
        let commit = lines.find_map(|line| line.strip_prefix("commit ")).map(str::trim);
        Some(Self { version, commit: commit.and_then(known_commit) })
    }

    /// Whether both are of one source, as far as that is known.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.version == other.version
            && self.commit.as_ref().zip(other.commit.as_ref()).is_none_or(|(own, other)| own == other)
    }

    /// Its version; with the commit, where that is what differs from the other.
    #[must_use]
    pub fn told_from(&self, other: &Self) -> String {
        match &self.commit {
            Some(commit) if self.version == other.version => format!("{} of commit {commit}", self.version),
            _ => self.version.clone(),
        }
    }
}

impl fmt::Display for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "assay {}", self.version)?;
        self.commit.as_ref().map_or(Ok(()), |commit| write!(f, " of commit {commit}"))
    }
}

/// A commit as a build names it; none where it says that it is not known.
#[must_use]
pub fn known_commit(named: &str) -> Option<String> {
    Some(named).filter(|named| !named.is_empty() && *named != "unknown").map(str::to_owned)
}

/// The variables by which nodes like this machine get this program where no directory with programs is named.
pub(crate) fn own_program() -> Map<String, Value> {
    let Some(program) = std::env::current_exe().ok().and_then(|path| path.into_os_string().into_string().ok()) else {
        return Map::new();
    };
    let machine = format!("{}-{}", system::machine(), usize::BITS);
    Map::from_iter([("assay_own_program".to_owned(), json!(program)), ("assay_own_machine".to_owned(), json!(machine))])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_of_two_commits_differ_and_what_is_not_known_does_not() {
        let of = |text: &str| Build::from_words(text).unwrap();
        let own = of("assay 1.0\ncommit    abc, with changes\ntarget    x\n");
        assert_eq!((own.version.as_str(), own.commit.as_deref()), ("1.0", Some("abc, with changes")));
        let (other, unknown, older) =
            (of("assay 1.0\ncommit    def"), of("assay 1.0\ncommit unknown"), of("assay 0.9"));
        assert!(!own.is_same(&other) && own.is_same(&unknown) && other.is_same(&unknown) && !own.is_same(&older));
        assert_eq!([own.told_from(&other), older.told_from(&own)], ["1.0 of commit abc, with changes", "0.9"]);
        assert_eq!(Build::from_words("fio-3.33"), None);
    }
}
