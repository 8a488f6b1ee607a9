//! Where records and reports are kept.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::{Duration, Instant};

use assay_analysis::share_verdicts;
use assay_core::record::Record;
use assay_core::text::harmless;
use assay_device::owned::Directory;
use assay_report::Redactor;
use assay_store::{Detail, Keeper, Spool, SqliteStore, Store, StoreError, Stored, data_dir};
use rustix::fs::Access;

use crate::failure::Failure;
use crate::{baselines, imports, output};

/// What is said of a store without records.
pub(crate) const EMPTY: &str = "the store is empty; measure something first: assay run";

/// Work that takes longer than this is told.
const LONG: Duration = Duration::from_secs(1);

/// The data directory.
pub(crate) fn directory() -> Result<PathBuf, Failure> {
    Ok(data_dir(&|name| std::env::var_os(name))?)
}

/// Refuses a run that could not keep its record, and says how it can be made all the same.
pub(crate) fn refuse_homeless() -> Result<(), Failure> {
    match data_dir(&|name| std::env::var_os(name)) {
        Err(error @ StoreError::NoHome) => {
            Err(Failure::environment(format!("{error}, or measure without keeping the record: --no-save")))
        }
        _ => Ok(()),
    }
}

/// The store and the spool beside it, made where they are missing.
pub(crate) fn keeper() -> Result<Keeper, Failure> {
    let directory = directory()?;
    let mut keeper = Keeper::open(&directory)?;
    if let Some(store) = keeper.store() {
        take_in(store, &directory);
    }
    Ok(keeper)
}

/// The store, made where it is missing.
pub(crate) fn opened() -> Result<SqliteStore, Failure> {
    let directory = directory()?;
    let mut store = SqliteStore::open(&directory)?;
    take_in(&mut store, &directory);
    Ok(store)
}

/// The same at the end of long work, whose record goes to the spool whatever is wrong with the store.
pub(crate) fn keeper_at_any_rate() -> Result<Keeper, Failure> {
    Ok(Keeper::with(None, Spool::in_directory(&directory()?)))
}

/// The store before a run, and whether that is locked even for readers: the run then keeps its record
/// in the spool, unless it resumes one that has to be read.
pub(crate) fn before_a_run(resume: bool) -> Result<(Option<SqliteStore>, bool), Failure> {
    match open_existing(&directory()?) {
        Err(StoreError::Locked { .. }) if !resume => Ok((None, true)),
        Err(error) => Err(error.into()),
        Ok(_) => Ok((existing()?, false)),
    }
}

/// The store as it is; none where there is none yet.
pub(crate) fn existing() -> Result<Option<SqliteStore>, Failure> {
    existing_in(&directory()?)
}

/// Opens the store, and says so where it takes long to bring an older one up to date.
fn open_existing(directory: &Path) -> Result<Option<SqliteStore>, StoreError> {
    let (begun, mut told) = (Instant::now(), false);
    SqliteStore::open_existing_telling(directory, &mut |done, of| {
        if !told && begun.elapsed() > LONG {
            told = true;
            output::tell_wrapped(&format!(
                "brings the store of an older version up to date, once: {done} of {of} records are done"
            ));
        }
    })
}

fn existing_in(directory: &Path) -> Result<Option<SqliteStore>, Failure> {
    let store = match open_existing(directory)? {
        // Its records wait for a store that was moved away.
        None if Spool::in_directory(directory).waits() => Some(SqliteStore::open(directory)?),
        store => store,
    };
    let Some(mut store) = store else { return Ok(None) };
    take_in(&mut store, directory);
    Ok(Some(store))
}

/// Said once by all threads of a command.
static TAKEN_IN: Once = Once::new();
/// How long other users of the store are waited for before the command continues without.
const FOR_THE_SPOOL: Duration = Duration::from_millis(500);
const USUAL: Duration = Duration::from_secs(5);

/// Lets the store take in what a run could not save in it. What goes wrong is told, and nothing is lost by it.
fn take_in(store: &mut SqliteStore, directory: &Path) {
    TAKEN_IN.call_once(|| {
        let mut spool = Spool::in_directory(directory);
        if !spool.waits() {
            return;
        }
        let _ = store.set_patience(FOR_THE_SPOOL);
        let place = output::shown(spool.path());
        match store.take_in(&mut spool) {
            Ok(intake) => {
                for id in &intake.taken {
                    let id = harmless(id);
                    output::tell_wrapped(&format!("record {id} was kept in {place} and is in the store now"));
                }
                for left in &intake.left {
                    output::tell_wrapped(&format!(
                        "{place}/{} cannot be taken into the store: {}; move it away",
                        harmless(&left.name),
                        harmless(&left.reason)
                    ));
                }
            }
            Err(error) => output::tell_wrapped(&format!("records wait in {place} for the store: {error}")),
        }
        let _ = store.set_patience(USUAL);
    });
}

/// A directory in the data directory, for this user only; made where it is missing.
pub(crate) fn subdirectory(name: &str) -> Result<PathBuf, Failure> {
    let directory = directory()?.join(name);
    assay_store::make_directory(&directory)?;
    Ok(directory)
}

/// The same for a command that can do without: also none where the environment names no place for one.
fn at_hand() -> Result<Option<SqliteStore>, Failure> {
    match directory() {
        Ok(directory) => existing_in(&directory),
        Err(_) => Ok(None),
    }
}

/// Records that a query names, with their documents; `published:…` names figures that ship with the program, and a path
/// the results in a file, which are not kept.
pub(crate) fn find(query: &str) -> Result<Vec<Stored>, Failure> {
    if let Some(query) = query.strip_prefix(assay_analysis::PREFIX) {
        let stored = |record| Stored { document: serde_json::json!(record).to_string(), record };
        return Ok(published(query)?.into_iter().map(stored).collect());
    }
    if imports::is_file(query) {
        return imports::of_query(query);
    }
    let store = existing()?.ok_or_else(|| Failure::usage(EMPTY))?;
    let ids = resolve(&store, query)?;
    ids.iter().map(|id| store.load(id).map_err(Failure::from)).collect()
}

/// Ids of the records that a query names, `baseline:NAME` included.
pub(crate) fn resolve(store: &SqliteStore, query: &str) -> Result<Vec<String>, Failure> {
    named(query, |query| store.resolve(query))
}

/// What the store answers to a query, or to each id of a baseline.
fn named<T>(query: &str, of: impl Fn(&str) -> Result<Vec<T>, StoreError>) -> Result<Vec<T>, Failure> {
    if let Some(ids) = baselines::of_query(query)? {
        let mut all = Vec::new();
        for id in &ids {
            all.extend(of(id).map_err(|error| match error {
                StoreError::UnknownId { .. } => Failure::usage(format!("{query}: {error}; set the baseline anew")),
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
pub(crate) fn published(query: &str) -> Result<Vec<Record>, Failure> {
    assay_analysis::published(query).map_err(|e| Failure::usage(harmless(&e.to_string())))
}

/// Records that several queries name, each once, in their order, without what grows.
pub(crate) fn find_all(queries: &[impl AsRef<str>], detail: Detail) -> Result<Vec<Record>, Failure> {
    let mut records: Vec<Record> = Vec::new();
    let mut known = HashSet::new();
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
fn mark_verified(records: &mut [Record]) -> Result<(), Failure> {
    let checks = at_hand()?.map_or_else(|| Ok(Vec::new()), |store| verified(&store))?;
    share_verdicts(records, &checks);
    Ok(())
}

/// Records of checks for genuineness, oldest first.
pub(crate) fn verified(store: &SqliteStore) -> Result<Vec<Record>, Failure> {
    match store.observations("suite=verify", Detail::Estimates) {
        Err(StoreError::NoMatch { .. }) => Ok(Vec::new()),
        checks => Ok(checks?),
    }
}

/// Takes identities out of what is written, unless they are asked for.
pub(crate) fn redactor(identities: bool) -> Result<Redactor, Failure> {
    if identities {
        return Ok(Redactor::keeping_identities());
    }
    // Without a place for a store, what is shown are figures that ship with the program.
    if directory().is_err() { redactor_of(None) } else { redactor_of(at_hand()?.as_mut()) }
}

/// Takes identities out by the key of the store; without a store by one that is not kept, so that the short
/// names mean nothing outside of the report.
pub(crate) fn redactor_of(store: Option<&mut SqliteStore>) -> Result<Redactor, Failure> {
    let key = match store {
        Some(store) => store.identity_key()?,
        None => random_key()?,
    };
    Ok(Redactor::with_key(key))
}

/// The same at the end of long work, whose result is shown whatever is wrong with the store.
pub(crate) fn redactor_at_any_rate(store: Option<&mut SqliteStore>) -> Result<Redactor, Failure> {
    redactor_of(store).or_else(|_| redactor_of(None))
}

fn random_key() -> Result<[u8; 32], Failure> {
    let mut key = [0; 32];
    let filled = rustix::rand::getrandom(&mut key, rustix::rand::GetRandomFlags::empty());
    match filled {
        Ok(32) => Ok(key),
        // A key that could be guessed would be worse than no report.
        _ => Err(Failure::environment(
            "the kernel gives no random numbers, which stand for serial numbers; use --identities",
        )),
    }
}

/// Checks that a file can be written, before the work that it is for; leaves everything as it was.
pub(crate) fn check_writable(path: &Path) -> Result<(), Failure> {
    let attempt = place(path).and_then(|place| match place {
        Place::InPlace(file) => OpenOptions::new().append(true).open(file).map(drop),
        Place::Swapped { directory, .. } => Ok(directory.can_make()?),
    });
    attempt.map_err(|error| cannot_write(path, &error))
}

/// Writes a file whole or not at all where that is possible: into a neighbour first, which then
/// takes its place, with its mode and owner.
pub(crate) fn write_whole(path: &Path, content: impl AsRef<[u8]>) -> Result<(), Failure> {
    let attempt = place(path).and_then(|place| match place {
        Place::InPlace(file) => std::fs::write(file, content),
        Place::Swapped { directory, name } => Ok(directory.replace(&name, content.as_ref())?),
    });
    attempt.map_err(|error| cannot_write(path, &error))
}

/// S_ISVTX and S_IWOTH, inode(7).
const STICKY: u32 = 0o1000;
const FOR_ALL: u32 = 0o002;

/// How a file is written.
enum Place {
    /// A pipe or a device, or a file in a directory where nothing else can be made.
    InPlace(PathBuf),
    /// Under another name first.
    Swapped { directory: Directory, name: OsString },
}

fn place(path: &Path) -> std::io::Result<Place> {
    refuse_planted(path)?;
    // Links are followed: the file takes the new content, not the link's place.
    let file = std::fs::canonicalize(path)
        // A link to what is not there yet, or no link at all.
        .or_else(|_| std::fs::read_link(path).map(|to| path.parent().unwrap_or(Path::new("")).join(to)))
        .unwrap_or_else(|_| path.to_owned());
    let exists = file.symlink_metadata();
    let directory = above(&file);
    let mut swappable = rustix::fs::access(directory, Access::WRITE_OK | Access::EXEC_OK).is_ok();
    if let (Ok(meta), Ok(above)) = (&exists, directory.metadata()) {
        // In a sticky directory like /tmp only the owner takes a file's name away (rename(2)).
        let me = rustix::process::geteuid();
        let owner = me.is_root() || [meta.uid(), above.uid()].contains(&me.as_raw());
        swappable &= owner || above.mode() & STICKY == 0;
    }
    if exists.as_ref().is_ok_and(|meta| !meta.is_file() || !swappable) {
        return Ok(Place::InPlace(file));
    }
    let name = file.file_name().ok_or(std::io::ErrorKind::IsADirectory)?.to_owned();
    Ok(Place::Swapped { directory: Directory::open(directory)?, name })
}

/// In a directory that all may write in, a link of another user is not followed, as the kernel does not where
/// `fs.protected_symlinks` is set (proc_sys_fs(5)).
fn refuse_planted(path: &Path) -> std::io::Result<()> {
    let (Ok(link), Ok(above)) = (path.symlink_metadata(), above(path).metadata()) else { return Ok(()) };
    let open = above.mode() & STICKY != 0 && above.mode() & FOR_ALL != 0;
    let trusted = [rustix::process::geteuid().as_raw(), above.uid()].contains(&link.uid());
    if link.is_symlink() && open && !trusted {
        return Err(std::io::Error::other("it is a link that another user made where all may write"));
    }
    Ok(())
}

fn above(file: &Path) -> &Path {
    file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    Failure::environment(format!("{} cannot be written: {error}; name another file", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_file_is_replaced_whole_and_a_link_stays_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("a.md"), dir.path().join("link.md"));
        std::os::unix::fs::symlink(&file, &link).unwrap();
        for text in ["one", "two"] {
            check_writable(&link).unwrap();
            write_whole(&link, text).unwrap();
            assert_eq!(std::fs::read_to_string(&link).unwrap(), text);
        }
        assert!(link.is_symlink() && file.is_file());
        assert!(std::fs::read_dir(dir.path()).unwrap().all(|e| !e.unwrap().path().to_string_lossy().contains("part")));
    }

    /// Threat 20.
    #[test]
    fn a_file_that_is_replaced_keeps_its_mode_and_a_planted_link_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.md");
        std::fs::write(&file, "secret").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
        write_whole(&file, "two").unwrap();
        assert_eq!((std::fs::read(&file).unwrap(), file.metadata().unwrap().mode() & 0o7777), (b"two".to_vec(), 0o640));

        let open = dir.path().join("open");
        std::fs::create_dir(&open).unwrap();
        std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o1777)).unwrap();
        let link = open.join("b.md");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_whole(&link, "three").unwrap();
        if !rustix::process::geteuid().is_root() {
            return;
        }
        std::os::unix::fs::lchown(&link, Some(65534), None).unwrap();
        assert!(write_whole(&link, "four").is_err() && check_writable(&link).is_err());
        assert_eq!(std::fs::read(&file).unwrap(), b"three");
    }

    #[test]
    fn what_is_no_file_is_written_to_and_not_replaced() {
        let null = Path::new("/dev/null");
        check_writable(null).unwrap();
        write_whole(null, "text").unwrap();
        assert!(!null.symlink_metadata().unwrap().is_file());
    }

    #[test]
    fn a_check_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        check_writable(&dir.path().join("new.html")).unwrap();
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        assert!(check_writable(&dir.path().join("no/such/new.html")).is_err());
        assert!(check_writable(dir.path()).is_err(), "a directory");
    }
}
