//! Records that a query names: of the store, of a baseline, of files, and figures that ship with the program.

use std::cell::RefCell;
use std::collections::HashSet;
use std::path::Path;

use assay_core::observation::Observation;
use assay_core::record::Record;
use assay_core::text::{harmless, quoted};
use assay_core::units::counted;
use assay_store::{Described, ObservationDetail, SqliteStore, Store, StoreError, Stored, Terms, headed};
use assay_submit::{Accounts, FiguresError, Scope, figures};

use super::state::DataDirectory;
use crate::ending::Failure;
use crate::state::{EMPTY, OUTBOX, existing};
use crate::{imports, output};

// How a query is read: where records are looked for, and what they have to be.

/// A query, divided.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DividedQuery<'q> {
    pub(crate) place: QueryPlace<'q>,
    /// Conditions that stand behind the name of a place other than the store, which reads its own.
    terms: Option<&'q str>,
}

/// Where records are.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum QueryPlace<'q> {
    /// In the store, which reads the whole query.
    Store,
    /// In the store, under the ids of the baseline of this name.
    Baseline(&'q str),
    /// In the program: figures of articles, by what stands behind `published:`.
    Published(&'q str),
    /// At the public instance of the last login: observations of its public records.
    Site,
    /// In a file or a directory, or on standard input.
    File(&'q str),
}

impl<'q> DividedQuery<'q> {
    /// Divides a query. A path may hold blanks and `=`: the longest that is there counts.
    pub(crate) fn read(query: &'q str) -> Result<Self, Failure> {
        let trimmed = query.trim();
        if let Some(rest) = trimmed.strip_prefix(SITE_PREFIX) {
            let terms = Some(rest.trim()).filter(|rest| !rest.is_empty());
            return Ok(Self { place: QueryPlace::Site, terms });
        }
        if trimmed.starts_with(assay_analysis::PREFIX) || trimmed.starts_with(BASELINE_PREFIX) {
            let (head, terms) = match headed(trimmed).next() {
                Some((head, terms)) => (head, Some(terms)),
                None => (trimmed, None),
            };
            let published = head.strip_prefix(assay_analysis::PREFIX).map(QueryPlace::Published);
            let place = published.or_else(|| head.strip_prefix(BASELINE_PREFIX).map(QueryPlace::Baseline));
            return Ok(Self { place: place.unwrap_or(QueryPlace::Store), terms });
        }
        if imports::is_file(query) {
            return Ok(Self { place: QueryPlace::File(query), terms: None });
        }
        if let Some((head, terms)) = headed(trimmed).rev().find(|(head, _)| imports::is_file(head)) {
            return Ok(Self { place: QueryPlace::File(head), terms: Some(terms) });
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
            _ => Ok(Self { place: QueryPlace::Store, terms: None }),
        }
    }

    /// The conditions, for the store that holds the records of a baseline.
    pub(crate) fn terms(&self) -> Option<&'q str> {
        self.terms
    }

    /// Those of the records of a place that keep the conditions.
    pub(crate) fn kept<T, R: Described>(
        &self,
        mut found: Vec<T>,
        record: impl Fn(&T) -> &R,
    ) -> Result<Vec<T>, Failure> {
        if let Some(terms) = self.terms.map(Terms::parse).transpose()? {
            if let Some(misspelt) = terms.misspelt(found.iter().map(&record)) {
                return Err(Failure::usage(harmless(&misspelt.to_string())));
            }
            found.retain(|one| terms.hold(record(one)));
        }
        Ok(found)
    }
}

// Baselines: names that stand for records of the store, each a file of ids beside it. `baseline:NAME` is a query.

/// How a query names a baseline.
pub(crate) const BASELINE_PREFIX: &str = "baseline:";
const BASELINES_DIRECTORY: &str = "baselines";
/// Longest name; a file system may allow no more than 255 bytes.
const LONGEST_BASELINE_NAME: usize = 64;

/// A name that is a file's name everywhere.
fn checked_baseline_name(name: &str) -> Result<&str, Failure> {
    // As queries name it.
    let name = name.strip_prefix(BASELINE_PREFIX).unwrap_or(name);
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)) && !name.starts_with(['.', '-']);
    if plain && !name.is_empty() && name.len() <= LONGEST_BASELINE_NAME {
        return Ok(name);
    }
    Err(Failure::usage(format!(
        "{} is not a valid baseline name; use up to {LONGEST_BASELINE_NAME} letters, digits, `-`, `_` and `.`, as in baseline:main",
        quoted(name)
    )))
}

/// Ids of the records of a baseline.
pub(crate) fn read_baseline(name: &str) -> Result<Vec<String>, Failure> {
    let name = checked_baseline_name(name)?;
    let directory = DataDirectory::existing(BASELINES_DIRECTORY)?;
    if let Some(text) = directory.map(|directory| directory.read(name)).transpose()?.flatten() {
        return Ok(text.lines().map(str::trim).filter(|id| !id.is_empty()).map(str::to_owned).collect());
    }
    let known = baseline_names()?;
    let known =
        if known.is_empty() { "there is none yet".to_owned() } else { format!("there are {}", known.join(", ")) };
    let set = format!("assay baseline set {name} QUERY creates it");
    Err(Failure::usage(format!("no baseline is named `{name}`; {known}; {set}")))
}

/// Makes a baseline of these records, in place of one of the same name.
pub(crate) fn set_baseline(name: &str, ids: &[String]) -> Result<(), Failure> {
    let name = checked_baseline_name(name)?;
    DataDirectory::made(BASELINES_DIRECTORY)?.write(name, ids.join("\n") + "\n")
}

/// Removes the name; the records stay.
pub(crate) fn remove_baseline(name: &str) -> Result<(), Failure> {
    read_baseline(name)?;
    DataDirectory::made(BASELINES_DIRECTORY)?.remove(checked_baseline_name(name)?).map(drop)
}

/// Names of all baselines, sorted.
pub(crate) fn baseline_names() -> Result<Vec<String>, Failure> {
    let Some(directory) = DataDirectory::existing(BASELINES_DIRECTORY)? else { return Ok(Vec::new()) };
    let mut names = directory.names()?;
    // Other files, like one that is being written, are no baselines.
    names.retain(|name| checked_baseline_name(name).is_ok());
    Ok(names)
}

/// Records that several queries name, each once, in their order, with their documents: `published:…` names figures that
/// ship with the program, and a path the results in a file, which are not kept. The documents are as they were stored.
pub(crate) fn find(queries: &[impl AsRef<str>]) -> Result<Vec<Stored>, Failure> {
    let of = |query: &str| some(query, documented(query)?);
    let found = each_once(queries, of, |stored| &stored.record.id)?;
    let (documents, mut records): (Vec<String>, Vec<Record>) =
        found.into_iter().map(|Stored { document, record }| (document, record)).unzip();
    mark_records_verified(&mut records)?;
    Ok(documents.into_iter().zip(records).map(|(document, record)| Stored { document, record }).collect())
}

/// The same without documents and what grows.
pub(crate) fn find_all(queries: &[impl AsRef<str>], detail: ObservationDetail) -> Result<Vec<Observation>, Failure> {
    let of = |query: &str| {
        let found = observations(query, detail)?;
        if found.as_ref().is_none_or(Vec::is_empty) {
            refuse_directory(query)?;
        }
        some(query, found.ok_or_else(|| Failure::usage(EMPTY))?)
    };
    let mut records = each_once(queries, of, |observation| &observation.id)?;
    mark_verified(&mut records)?;
    Ok(records)
}

/// The same for a list, which may be empty.
pub(crate) fn listed(queries: &[impl AsRef<str>]) -> Result<Vec<Observation>, Failure> {
    let unmatched = RefCell::new(Vec::new());
    let of = |query: &str| {
        let found = observations(query, ObservationDetail::Estimates)?.unwrap_or_default();
        if found.is_empty() {
            refuse_directory(query)?;
            unmatched.borrow_mut().push(quoted(query));
        }
        Ok(found)
    };
    let mut records = each_once(queries, of, |observation| &observation.id)?;
    if !records.is_empty() {
        // The list is not about them.
        unmatched.into_inner().iter().for_each(|query| output::tell(&format!("no record matches {query}")));
    }
    mark_verified(&mut records)?;
    Ok(records)
}

/// A word that names no record, and a directory: its results were meant.
fn refuse_directory(query: &str) -> Result<(), Failure> {
    let word = query.trim();
    if word.contains(['/', '=', '.']) || !Path::new(word).is_dir() {
        return Ok(());
    }
    let shown = output::shown(Path::new(word));
    Err(Failure::usage(format!(
        "no record is named {shown}, which is a directory; write {shown}/ to read the results in it"
    )))
}

/// The queries of arguments: commas divide them, unless the argument is the path of something.
///
/// # Errors
/// An empty query beside others: alone it names all records, which a script with an empty variable did not mean.
pub(crate) fn divided(arguments: &[impl AsRef<str>]) -> Result<Vec<&str>, Failure> {
    let mut all = Vec::new();
    for argument in arguments.iter().map(AsRef::as_ref) {
        let queries = if Path::new(argument).exists() { vec![argument] } else { assay_store::divided(argument) };
        if queries.len() > 1 && queries.iter().any(|query| query.trim().is_empty()) {
            let shown = quoted(argument);
            return Err(Failure::usage(format!(
                "{shown} has an empty query beside a comma; write all for all records"
            )));
        }
        all.extend(queries);
    }
    Ok(all)
}

/// Why these queries name nothing.
pub(crate) fn nothing(queries: &[impl AsRef<str>]) -> Result<&'static str, Failure> {
    let asks_store = divided(queries)?.into_iter().all(|query| refuse_elsewhere(query).is_ok());
    let empty = match existing()? {
        Some(store) => store.list("all")?.is_empty(),
        None => true,
    };
    Ok(if asks_store && empty { EMPTY } else { "no record matches" })
}

/// Ids of the records of the store that several queries name, each once, in their order.
pub(crate) fn resolve(store: &SqliteStore, queries: &[impl AsRef<str>]) -> Result<Vec<String>, Failure> {
    let mut ids: Vec<String> = Vec::new();
    let mut known = HashSet::new();
    for query in divided(queries)? {
        refuse_elsewhere(query)?;
        refuse_misspelt(query)?;
        ids.extend(some(query, ids_of(store, query)?)?.into_iter().filter(|id| known.insert(id.clone())));
    }
    Ok(ids)
}

/// What several queries name, each once, in their order.
fn each_once<T>(
    queries: &[impl AsRef<str>],
    of: impl Fn(&str) -> Result<Vec<T>, Failure>,
    id: impl Fn(&T) -> &str,
) -> Result<Vec<T>, Failure> {
    let mut all: Vec<T> = Vec::new();
    let mut known = HashSet::new();
    for query in divided(queries)? {
        refuse_misspelt(query)?;
        let mut named = of(query)?;
        named.retain(|one| known.insert(id(one).to_owned()));
        // Of thousands of records a copy would count.
        if all.is_empty() { all = named } else { all.append(&mut named) }
    }
    Ok(all)
}

/// Refuses a query of the store with a misspelt key or value. Without it, users would take the answer about the other values for
/// the whole.
fn refuse_misspelt(query: &str) -> Result<(), Failure> {
    if DividedQuery::read(query)?.place != QueryPlace::Store {
        return Ok(());
    }
    let Some(store) = existing()? else { return Ok(()) };
    match store.misspelt(query)? {
        Some(misspelt) => Err(Failure::usage(harmless(&misspelt.to_string()))),
        None => Ok(()),
    }
}

/// What a query names, unless that is nothing.
fn some<T>(query: &str, found: Vec<T>) -> Result<Vec<T>, Failure> {
    if found.is_empty() {
        refuse_directory(query)?;
    }
    match query.trim() {
        _ if !found.is_empty() => Ok(found),
        "" | "all" => Err(Failure::usage(EMPTY)),
        _ => Err(StoreError::NoMatch { query: query.to_owned() }.into()),
    }
}

/// What a query of the store names; conditions may name nothing.
fn or_none<T>(answer: Result<Vec<T>, StoreError>) -> Result<Vec<T>, Failure> {
    match answer {
        Err(StoreError::NoMatch { .. }) => Ok(Vec::new()),
        Err(StoreError::NotSoMany { held: 0, .. }) => Err(Failure::usage(EMPTY)),
        answer => Ok(answer?),
    }
}

fn documented(query: &str) -> Result<Vec<Stored>, Failure> {
    {
        let asked = DividedQuery::read(query)?;
        let found = match asked.place {
            QueryPlace::Published(name) => {
                let stored = |record| Stored { document: Record::to_json(&record).unwrap_or_default(), record };
                Some(published(name)?.into_iter().map(stored).collect())
            }
            QueryPlace::File(path) => Some(imports::of_query(path)?),
            QueryPlace::Site => {
                return Err(Failure::usage(
                    "a public instance gives figures for rank, compare, list, plan and advise; its pages show whole records",
                ));
            }
            QueryPlace::Baseline(_) | QueryPlace::Store => None,
        };
        if let Some(found) = found {
            return asked.kept(found, |stored: &Stored| &stored.record);
        }
    }
    let store = existing()?.ok_or_else(|| Failure::usage(EMPTY))?;
    some_readable(&ids_of(&store, query)?, |id| store.load(id))
}

/// What can be read of these records, and the error about the first that was written in a way which this version of assay
/// cannot read. Such records are named in one line, and the others are kept: one of another version in a store of thousands
/// must not hide these.
pub(crate) fn readable<T>(
    ids: &[String],
    read: impl Fn(&str) -> Result<T, StoreError>,
) -> Result<(Vec<T>, Option<StoreError>), Failure> {
    let (mut found, mut first) = (Vec::with_capacity(ids.len()), None);
    let mut unread: Vec<(&str, String)> = Vec::new();
    for id in ids {
        match read(id) {
            Ok(one) => found.push(one),
            Err(StoreError::Unreadable { id: named, path, reason }) => {
                unread.push((id, reason.clone()));
                first.get_or_insert(StoreError::Unreadable { id: named, path, reason });
            }
            Err(error) => return Err(error.into()),
        }
    }
    if !found.is_empty() {
        tell_unread(unread);
    }
    Ok((found, first))
}

/// The same for an answer about these records, which is none where not one of them can be read.
fn some_readable<T>(ids: &[String], read: impl Fn(&str) -> Result<T, StoreError>) -> Result<Vec<T>, Failure> {
    match readable(ids, read)? {
        (found, Some(error)) if found.is_empty() => Err(error.into()),
        (found, _) => Ok(found),
    }
}

thread_local! {
    /// Records that were named as unreadable in this command.
    static UNREAD: RefCell<HashSet<String>> = RefCell::new(HashSet::new());
}

/// Most records that are named in one line.
const MOST_NAMED: usize = 8;

/// Names records that cannot be read, each once in a command; each page is an answer of its own.
fn tell_unread(mut unread: Vec<(&str, String)>) {
    if !output::answers_a_page() {
        UNREAD.with_borrow_mut(|told| unread.retain(|(id, _)| told.insert((*id).to_owned())));
    }
    let Some((_, reason)) = unread.first() else { return };
    let names: Vec<&str> = unread.iter().take(MOST_NAMED).map(|(id, _)| *id).collect();
    let more = unread.len() - names.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    output::tell(&format!(
        "assay: {} of another version of assay cannot be read and {} left out: {}{more} ({reason}); use the version that wrote {}",
        counted(unread.len(), "record"),
        if unread.len() == 1 { "is" } else { "are" },
        names.join(", "),
        if unread.len() == 1 { "it" } else { "them" },
    ));
}

/// The records that a query names, without what grows; `None` where it asks a store that is not there.
fn observations(query: &str, detail: ObservationDetail) -> Result<Option<Vec<Observation>>, Failure> {
    let asked = DividedQuery::read(query)?;
    let of_baseline = match asked.place {
        QueryPlace::Published(name) => {
            let records = asked.kept(published(name)?, |record| record)?;
            return Ok(Some(records.iter().map(Observation::from).collect()));
        }
        QueryPlace::File(path) => {
            let records = asked.kept(imports::of_query(path)?, |stored| &stored.record)?;
            return Ok(Some(records.iter().map(|stored| Observation::from(&stored.record)).collect()));
        }
        QueryPlace::Site => return of_site(&asked).map(Some),
        QueryPlace::Baseline(_) => true,
        QueryPlace::Store => false,
    };
    let Some(store) = existing()? else { return Ok(None) };
    if !of_baseline {
        return match store.observations(query, detail) {
            Err(StoreError::NotSoMany { held: 0, .. }) => Ok(None),
            Err(StoreError::Unreadable { .. }) => {
                let each = some_readable(&store.resolve(query)?, |id| store.observations(id, detail))?;
                Ok(Some(each.into_iter().flatten().collect()))
            }
            found => or_none(found).map(Some).map_err(|failure| as_model(&store, query, failure)),
        };
    }
    let records = some_readable(&ids_of(&store, query)?, |id| store.observations(id, detail))?;
    Ok(Some(records.into_iter().flatten().collect()))
}

/// Ids of the records of the store that a query names, `baseline:NAME` included.
fn ids_of(store: &SqliteStore, query: &str) -> Result<Vec<String>, Failure> {
    {
        let asked = DividedQuery::read(query)?;
        if let QueryPlace::Baseline(name) = asked.place {
            return ids_of_baseline(store, name, &asked);
        }
    }
    or_none(store.resolve(query)).map_err(|failure| as_model(store, query, failure))
}

/// A word that is no id, and the model of records: that was meant.
fn as_model(store: &SqliteStore, query: &str, failure: Failure) -> Failure {
    let word = query.trim();
    let meant = format!("model={word}");
    let is_model = !word.contains(['=', ',', '"', '*']) && store.list(&meant).is_ok_and(|found| !found.is_empty());
    if is_model {
        Failure::usage(format!("no record is named {}; write {}", quoted(word), quoted(&meant)))
    } else {
        refuse_directory(query).err().unwrap_or(failure)
    }
}

fn ids_of_baseline(store: &SqliteStore, name: &str, asked: &DividedQuery<'_>) -> Result<Vec<String>, Failure> {
    let mut ids = Vec::new();
    for id in read_baseline(name)? {
        ids.extend(store.resolve(&id).map_err(|error| match error {
            StoreError::UnknownId { .. } => {
                let baseline = harmless(&format!("{}{name}", BASELINE_PREFIX));
                Failure::usage(format!("{baseline}: {error}; set the baseline again"))
            }
            error => error.into(),
        })?);
    }
    if let Some(terms) = asked.terms() {
        let kept: HashSet<String> = or_none(store.resolve(terms))?.into_iter().collect();
        ids.retain(|id| kept.contains(id));
    }
    Ok(ids)
}

/// Commands that change records, or copy them as they are stored, take those of the store, and no others.
fn refuse_elsewhere(query: &str) -> Result<(), Failure> {
    let mend = match DividedQuery::read(query)?.place {
        QueryPlace::Published(_) => "figures of articles can only be read, as by assay compare".to_owned(),
        QueryPlace::Site => "figures of a public instance can only be read, as by assay compare".to_owned(),
        QueryPlace::File(path) => format!("assay import {} brings its records there", imports::operand(path)),
        QueryPlace::Baseline(_) | QueryPlace::Store => return Ok(()),
    };
    Err(Failure::usage(format!("{} is not in the store; {mend}", quoted(query))))
}

/// How a query names the public instance of the last login.
pub(crate) const SITE_PREFIX: &str = "site:";

/// Figures of the public instance of the last login that keep the conditions.
fn of_site(asked: &DividedQuery<'_>) -> Result<Vec<Observation>, Failure> {
    // A page would wait for another machine, and so would the pages behind it.
    if output::answers_a_page() {
        return Err(Failure::usage("`site:` is for the command line"));
    }
    let directory = DataDirectory::made(OUTBOX)?.into_directory();
    let accounts = Accounts::read(&directory)?;
    let account = accounts.at(None).ok_or_else(|| {
        Failure::usage(
            "`site:` is the public instance of the last login, and there is none; run: assay login https://…",
        )
    })?;
    let terms = asked.terms.map(Terms::parse).transpose()?;
    let pem = account.certificates.as_deref();
    let all = || figures(&directory, &account.site, pem, Scope::All);
    let found = match terms.as_ref().and_then(Terms::only_model) {
        None => all(),
        // Another spelling of its name may still name it.
        Some(model) => match figures(&directory, &account.site, pem, Scope::Model(model)) {
            Err(FiguresError::NoModel { .. }) => all(),
            found => found,
        },
    };
    let found = found.map_err(|error| match error {
        FiguresError::Client(error) => error.into(),
        FiguresError::Cache(error) => error.into(),
        error => Failure::usage(harmless(&error.to_string())),
    })?;
    if let Some((fetched, error)) = &found.stale {
        output::tell_wrapped(&harmless(&format!("{error}; its figures are those of {fetched}")));
    }
    asked.kept(found.observations, |observation| observation)
}

/// Figures that ship with the program.
fn published(name: &str) -> Result<Vec<Record>, Failure> {
    assay_analysis::published_records(name).map_err(|e| Failure::usage(harmless(&e.to_string())))
}

/// Gives the verdicts of the store's checks to records of the same units.
pub(crate) fn mark_verified(observations: &mut [Observation]) -> Result<(), Failure> {
    assay_analysis::share_verdicts(observations, &checks_at_hand()?);
    Ok(())
}

/// The same of whole records.
pub(crate) fn mark_records_verified(records: &mut [Record]) -> Result<(), Failure> {
    assay_analysis::share_verdicts_of_records(records, &checks_at_hand()?);
    Ok(())
}

fn checks_at_hand() -> Result<Vec<Observation>, Failure> {
    crate::state::at_hand()?.map_or_else(|| Ok(Vec::new()), |store| verified(&store))
}

/// Records of checks for genuineness, oldest first.
pub(crate) fn verified(store: &SqliteStore) -> Result<Vec<Observation>, Failure> {
    const CHECKS: &str = "suite=verify";
    match store.observations(CHECKS, ObservationDetail::Estimates) {
        Err(StoreError::NoMatch { .. }) => Ok(Vec::new()),
        Err(StoreError::Unreadable { .. }) => {
            let (found, _) =
                readable(&store.resolve(CHECKS)?, |id| store.observations(id, ObservationDetail::Estimates))?;
            Ok(found.into_iter().flatten().collect())
        }
        checks => Ok(checks?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(query: &str) -> DividedQuery<'_> {
        DividedQuery::read(query).unwrap()
    }

    #[test]
    fn a_place_and_conditions_are_told_apart() {
        let asked = |place, terms| DividedQuery { place, terms };
        for (query, expected) in [
            ("published:", asked(QueryPlace::Published(""), None)),
            ("published:a/1 unit=1", asked(QueryPlace::Published("a/1"), Some("unit=1"))),
            (
                "published: model=SanDisk U* unit=1,2",
                asked(QueryPlace::Published(""), Some("model=SanDisk U* unit=1,2")),
            ),
            ("baseline:main kind=sd", asked(QueryPlace::Baseline("main"), Some("kind=sd"))),
            ("- unit=3", asked(QueryPlace::File("-"), Some("unit=3"))),
            ("model=published:a unit=1", asked(QueryPlace::Store, None)),
            ("model=a/b unit=1", asked(QueryPlace::Store, None)),
            ("last", asked(QueryPlace::Store, None)),
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
            assert_eq!(read(path), DividedQuery { place: QueryPlace::File(path), terms: None });
            let query = format!("{path} unit=3 slot=1");
            assert_eq!(read(&query), DividedQuery { place: QueryPlace::File(path), terms: Some("unit=3 slot=1") });
        }
        let nowhere = format!("{}/nothing unit=3", place.path().display());
        assert!(DividedQuery::read(&nowhere).unwrap_err().message().contains("no such file"));
    }
}
