//! Records that a query names: of the store, of a baseline, of files, and figures that ship with the program.

use assay_core::record::Record;
use assay_store::{Detail, SqliteStore, Store, StoreError, Stored};

use crate::failure::Failure;
use crate::state::{EMPTY, existing};
#[cfg(feature = "whole")]
use crate::{baselines, imports};

/// Records that several queries name, each once, in their order, with their documents: `published:…` names figures that
/// ship with the program, and a path the results in a file, which are not kept. The documents are as they were stored.
pub(crate) fn find(queries: &[impl AsRef<str>]) -> Result<Vec<Stored>, Failure> {
    let (mut documents, mut records): (Vec<String>, Vec<Record>) = (Vec::new(), Vec::new());
    for query in queries {
        for Stored { document, record } in documented(query.as_ref())? {
            if !records.iter().any(|known| known.id == record.id) {
                documents.push(document);
                records.push(record);
            }
        }
    }
    mark_verified(&mut records)?;
    Ok(documents.into_iter().zip(records).map(|(document, record)| Stored { document, record }).collect())
}

fn documented(query: &str) -> Result<Vec<Stored>, Failure> {
    #[cfg(feature = "whole")]
    if let Some(query) = query.strip_prefix(assay_analysis::PREFIX) {
        let stored = |record| Stored { document: Record::to_json(&record).unwrap_or_default(), record };
        return Ok(published(query)?.into_iter().map(stored).collect());
    }
    #[cfg(feature = "whole")]
    if imports::is_file(query) {
        return imports::of_query(query);
    }
    #[cfg(not(feature = "whole"))]
    refuse_elsewhere(query)?;
    let store = existing()?.ok_or_else(|| Failure::usage(EMPTY))?;
    let ids = resolve(&store, query)?;
    ids.iter().map(|id| store.load(id).map_err(Failure::from)).collect()
}

/// A node has the records of its store, and no others.
#[cfg(not(feature = "whole"))]
pub(crate) fn refuse_elsewhere(query: &str) -> Result<(), Failure> {
    if query == "-" || query.contains('/') || query.starts_with("published:") || query.starts_with("baseline:") {
        let words = "no record of this store; files, baselines and published figures are read by the whole program";
        return Err(Failure::usage(format!("{}: names {words}", assay_core::text::harmless(query))));
    }
    Ok(())
}

/// Ids of the records that a query names, `baseline:NAME` included.
pub(crate) fn resolve(store: &SqliteStore, query: &str) -> Result<Vec<String>, Failure> {
    named(query, |query| store.resolve(query))
}

/// What the store answers to a query, or to each id of a baseline.
fn named<T>(query: &str, of: impl Fn(&str) -> Result<Vec<T>, StoreError>) -> Result<Vec<T>, Failure> {
    #[cfg(feature = "whole")]
    if let Some(ids) = baselines::of_query(query)? {
        let mut all = Vec::new();
        for id in &ids {
            all.extend(of(id).map_err(|error| match error {
                StoreError::UnknownId { .. } => Failure::usage(format!("{query}: {error}; set the baseline again")),
                error => error.into(),
            })?);
        }
        return Ok(all);
    }
    match of(query) {
        Err(StoreError::NotSoMany { held: 0, .. }) => Err(Failure::usage(EMPTY)),
        Ok(all) if all.is_empty() => Err(Failure::usage(EMPTY)),
        all => Ok(all?),
    }
}

/// The records that a query names, without what grows; `published:…` names figures that ship with the program.
#[cfg(feature = "whole")]
fn observations(query: &str, detail: Detail) -> Result<Vec<Record>, Failure> {
    if let Some(query) = query.strip_prefix(assay_analysis::PREFIX) {
        return published(query);
    }
    if imports::is_file(query) {
        return Ok(imports::of_query(query)?.into_iter().map(|stored| stored.record).collect());
    }
    let store = existing()?.ok_or_else(|| Failure::usage(EMPTY))?;
    named(query, |query| store.observations(query, detail))
}

/// Figures that ship with the program.
#[cfg(feature = "whole")]
pub(crate) fn published(query: &str) -> Result<Vec<Record>, Failure> {
    assay_analysis::published(query).map_err(|e| Failure::usage(assay_core::text::harmless(&e.to_string())))
}

/// Records that several queries name, each once, in their order, without what grows.
#[cfg(feature = "whole")]
pub(crate) fn find_all(queries: &[impl AsRef<str>], detail: Detail) -> Result<Vec<Record>, Failure> {
    let mut records: Vec<Record> = Vec::new();
    let mut known = std::collections::HashSet::new();
    for query in queries {
        let mut named = observations(query.as_ref(), detail)?;
        named.retain(|record| known.insert(record.id.clone()));
        // Of thousands of records a copy would count.
        if records.is_empty() { records = named } else { records.append(&mut named) }
    }
    mark_verified(&mut records)?;
    Ok(records)
}

/// Gives the verdicts of the store's checks to records of the same units.
pub(crate) fn mark_verified(records: &mut [Record]) -> Result<(), Failure> {
    let checks = crate::state::at_hand()?.map_or_else(|| Ok(Vec::new()), |store| verified(&store))?;
    assay_analysis::share_verdicts(records, &checks);
    Ok(())
}

/// Records of checks for genuineness, oldest first.
pub(crate) fn verified(store: &SqliteStore) -> Result<Vec<Record>, Failure> {
    match store.observations("suite=verify", Detail::Estimates) {
        Err(StoreError::NoMatch { .. }) => Ok(Vec::new()),
        checks => Ok(checks?),
    }
}
