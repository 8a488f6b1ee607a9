//! How a query is read: where records are looked for, and what they have to be.

use std::path::Path;

use assay_core::record::Record;
use assay_core::text::harmless;
use assay_store::{Terms, headed};

use crate::failure::Failure;
use crate::{baselines, imports, output};

/// A query, divided.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Asked<'q> {
    pub(crate) place: Place<'q>,
    /// Conditions that stand behind the name of a place other than the store, which reads its own.
    terms: Option<&'q str>,
}

/// Where records are.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Place<'q> {
    /// In the store, which reads the whole query.
    Store,
    /// In the store, under the ids of the baseline of this name.
    Baseline(&'q str),
    /// In the program: figures of articles, by what stands behind `published:`.
    Published(&'q str),
    /// In a file or a directory, or on standard input.
    File(&'q str),
}

impl<'q> Asked<'q> {
    /// Divides a query. A path may hold blanks and `=`: the longest that is there counts.
    pub(crate) fn read(query: &'q str) -> Result<Self, Failure> {
        let trimmed = query.trim();
        if trimmed.starts_with(assay_analysis::PREFIX) || trimmed.starts_with(baselines::PREFIX) {
            let (head, terms) = match headed(trimmed).next() {
                Some((head, terms)) => (head, Some(terms)),
                None => (trimmed, None),
            };
            let published = head.strip_prefix(assay_analysis::PREFIX).map(Place::Published);
            let place = published.or_else(|| head.strip_prefix(baselines::PREFIX).map(Place::Baseline));
            return Ok(Self { place: place.unwrap_or(Place::Store), terms });
        }
        if imports::is_file(query) {
            return Ok(Self { place: Place::File(query), terms: None });
        }
        if let Some((head, terms)) = headed(trimmed).rev().find(|(head, _)| imports::is_file(head)) {
            return Ok(Self { place: Place::File(head), terms: Some(terms) });
        }
        match headed(trimmed).next() {
            // No id and no label has a slash.
            Some((head, _)) if head.contains('/') && !head.contains('=') => Err(Failure::usage(format!(
                "{}: no such file or directory; name one before the conditions, or none for records of the store",
                output::shown(Path::new(head))
            ))),
            None if trimmed.contains('/') && !trimmed.contains('=') => Err(Failure::usage(format!(
                "{}: no such file or directory; `assay list` shows the records of the store",
                output::shown(Path::new(trimmed))
            ))),
            _ => Ok(Self { place: Place::Store, terms: None }),
        }
    }

    /// The conditions, for the store that holds the records of a baseline.
    pub(crate) fn terms(&self) -> Option<&'q str> {
        self.terms
    }

    /// Those of the records of a place that keep the conditions.
    pub(crate) fn kept<T>(&self, mut found: Vec<T>, record: impl Fn(&T) -> &Record) -> Result<Vec<T>, Failure> {
        if let Some(terms) = self.terms.map(Terms::parse).transpose()? {
            if let Some(misspelt) = terms.misspelt(found.iter().map(&record)) {
                return Err(Failure::usage(harmless(&misspelt.to_string())));
            }
            found.retain(|one| terms.hold(record(one)));
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(query: &str) -> Asked<'_> {
        Asked::read(query).unwrap()
    }

    #[test]
    fn a_place_and_conditions_are_told_apart() {
        let asked = |place, terms| Asked { place, terms };
        for (query, expected) in [
            ("published:", asked(Place::Published(""), None)),
            ("published:a/1 unit=1", asked(Place::Published("a/1"), Some("unit=1"))),
            ("published: model=SanDisk U* unit=1,2", asked(Place::Published(""), Some("model=SanDisk U* unit=1,2"))),
            ("baseline:main kind=sd", asked(Place::Baseline("main"), Some("kind=sd"))),
            ("- unit=3", asked(Place::File("-"), Some("unit=3"))),
            ("model=published:a unit=1", asked(Place::Store, None)),
            ("model=a/b unit=1", asked(Place::Store, None)),
            ("last", asked(Place::Store, None)),
        ] {
            assert_eq!(read(query), expected, "{query}");
        }
    }

    #[test]
    fn a_path_may_hold_what_looks_like_a_condition() {
        let place = tempfile::tempdir().unwrap();
        for name in ["run a=1", "run a=1 b=2"] {
            let path = place.path().join(name);
            std::fs::write(&path, "").unwrap();
            let path = path.to_str().unwrap();
            assert_eq!(read(path), Asked { place: Place::File(path), terms: None });
            let query = format!("{path} unit=3 slot=1");
            assert_eq!(read(&query), Asked { place: Place::File(path), terms: Some("unit=3 slot=1") });
        }
        let nowhere = format!("{}/nothing unit=3", place.path().display());
        assert!(Asked::read(&nowhere).unwrap_err().message().contains("no such file"));
    }
}
