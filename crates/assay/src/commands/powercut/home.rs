//! Where ledgers are: a directory of this host, or a keeper on another machine.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use assay_core::exit::Exit;
use assay_core::text::harmless;
use assay_device::owned::Directory;
use assay_fleet::{NodeKey, RunKey};
use assay_powercut::{Begin, FileKeep, Keep, Keeper, LedgerError, RemoteKeep, State};

use super::target::Opening;
use crate::cli::PowercutArgs;
use crate::ending::Failure;
use crate::output::{self, shown};
use crate::state::DataDirectory;

/// Where ledgers are, in the data directory.
const LEDGERS: &str = "powercut";
/// A key file is shorter.
const LONGEST_KEY: u64 = 1024;

/// A place for ledgers.
#[derive(Debug)]
pub(super) enum Home {
    Directory(PathBuf),
    Machine { address: String, key: NodeKey },
}

impl Home {
    /// As the options say; the data directory is made where it is missing.
    pub(super) fn of(args: &PowercutArgs) -> Result<Self, Failure> {
        let Some(ledger) = &args.ledger else { return Ok(Self::Directory(own(&DataDirectory::made(LEDGERS)?))) };
        if ledger.is_dir() {
            return Ok(Self::Directory(ledger.clone()));
        }
        let address = ledger.to_str().filter(|text| is_address(text)).ok_or_else(|| {
            Failure::usage(format!("--ledger {}: it is no directory, and not HOST:PORT of a keeper", shown(ledger)))
        })?;
        let file = args.key_file.as_ref().ok_or_else(|| {
            Failure::usage("--ledger HOST:PORT needs --key-file with the key that `assay powercut --listen` made")
        })?;
        Ok(Self::Machine { address: address.to_owned(), key: key(file)? })
    }

    /// Refuses one that is on the medium itself.
    pub(super) fn apart_from(&self, opening: &Opening) -> Result<(), Failure> {
        match self {
            Self::Directory(directory) => opening.apart_from(directory),
            Self::Machine { .. } => Ok(()),
        }
    }

    /// Makes a ledger. Also returns where it is, in words.
    pub(super) fn create(&self, begin: &Begin) -> Result<(Box<dyn Keep>, String), Failure> {
        match self {
            Self::Directory(directory) => {
                let file = directory.join(format!("{}.ledger", begin.id));
                let keep = FileKeep::create(&file, begin).map_err(ledger_failure)?;
                Ok((Box::new(keep), shown(&file)))
            }
            Self::Machine { address, key } => {
                let keep = RemoteKeep::create(address, key, begin).map_err(ledger_failure)?;
                Ok((Box::new(keep), harmless(address)))
            }
        }
    }

    /// Opens the ledger of a test, to go on with it.
    pub(super) fn open(&self, id: &str) -> Result<(Box<dyn Keep>, State), Failure> {
        match self {
            Self::Directory(directory) => {
                let (keep, state) = FileKeep::open(&directory.join(format!("{id}.ledger"))).map_err(ledger_failure)?;
                Ok((Box::new(keep), state))
            }
            Self::Machine { address, key } => {
                let (keep, state) = RemoteKeep::open(address, key, id).map_err(ledger_failure)?;
                Ok((Box::new(keep), state))
            }
        }
    }

    /// Whether the ledger of this test is there; a keeper says so when it is opened.
    pub(super) fn has(&self, id: &str) -> bool {
        match self {
            Self::Directory(directory) => directory.join(format!("{id}.ledger")).exists(),
            Self::Machine { .. } => true,
        }
    }

    /// The tests by their ledgers, in the order of their beginnings; of a keeper none are listed.
    pub(super) fn known(&self) -> Result<Vec<State>, Failure> {
        match self {
            Self::Directory(directory) => known_in(directory),
            Self::Machine { .. } => Ok(Vec::new()),
        }
    }

    /// Its name for messages.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Directory(directory) => shown(directory),
            Self::Machine { address, .. } => harmless(address),
        }
    }
}

/// The home that `--status` shows, which may be missing.
pub(super) fn existing(args: &PowercutArgs) -> Result<Option<Home>, Failure> {
    match &args.ledger {
        Some(directory) if directory.is_dir() => Ok(Some(Home::Directory(directory.clone()))),
        Some(other) => Err(Failure::usage(format!("--ledger {}: it is no directory", shown(other)))),
        None => Ok(DataDirectory::existing(LEDGERS)?.map(|directory| Home::Directory(own(&directory)))),
    }
}

/// The path of a directory of the data directory, without a slash at its end.
fn own(directory: &DataDirectory) -> PathBuf {
    directory.path("").components().collect()
}

fn known_in(directory: &Path) -> Result<Vec<State>, Failure> {
    let failed = |error: std::io::Error| Failure::environment(format!("{}: {error}", shown(directory)));
    let mut tests = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        if file.extension().is_none_or(|extension| extension != "ledger") {
            continue;
        }
        match FileKeep::look(&file) {
            Ok(state) => tests.push(state),
            Err(error) => output::tell_wrapped(&format!("{}: {}", shown(&file), harmless(&error.to_string()))),
        }
    }
    tests.sort_by(|one, other| one.begun().started.cmp(&other.begun().started));
    Ok(tests)
}

/// What could not be kept or read.
pub(super) fn ledger_failure(error: LedgerError) -> Failure {
    Failure::environment(harmless(&error.to_string()))
}

fn is_address(text: &str) -> bool {
    text.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
}

fn key(file: &Path) -> Result<NodeKey, Failure> {
    let failed = |error: std::io::Error| Failure::usage(format!("--key-file {}: {error}", shown(file)));
    let mut text = String::new();
    std::fs::File::open(file).and_then(|file| file.take(LONGEST_KEY).read_to_string(&mut text)).map_err(failed)?;
    NodeKey::from_hex(&text)
        .ok_or_else(|| Failure::usage(format!("--key-file {}: a key is 64 hexadecimal digits", shown(file))))
}

/// The key in a file, which is made, for this user alone, where it is missing or empty.
fn key_or_made(path: &Path) -> Result<NodeKey, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::environment(format!("--key-file {}: {error}", shown(path)));
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| Failure::usage(format!("--key-file {}: it is no name of a file", shown(path))))?;
    let mut file =
        Directory::open(parent).and_then(|directory| directory.file_or_made(name)).map_err(|e| failed(&e))?;
    if file.metadata().map_err(|error| failed(&error))?.len() > 0 {
        return key(path);
    }
    let key = RunKey::new().map_err(|error| failed(&error))?.of_node("ledger");
    let written = file.write_all(format!("{}\n", key.to_hex()).as_bytes()).and_then(|()| file.sync_all());
    written.map_err(|error| failed(&error))?;
    Ok(key)
}

/// Keeps ledgers of tests on other machines, until a signal ends it.
pub(super) fn listen(args: &PowercutArgs, address: SocketAddr) -> Result<Exit, Failure> {
    let file = args.key_file.as_ref().ok_or_else(|| Failure::usage("--listen needs --key-file"))?;
    let key = key_or_made(file)?;
    let Home::Directory(directory) = Home::of(args)? else {
        return Err(Failure::usage("--listen keeps ledgers here: --ledger is a directory then"));
    };
    let failed = |error: std::io::Error| Failure::environment(format!("--listen {address}: {error}"));
    let listener = Keeper::listen(address, key).map_err(failed)?;
    let at = listener.address().map_err(failed)?;
    output::tell_wrapped(&format!(
        "keeps ledgers in {}; on the machine with the medium: --ledger HOST:{} --key-file, with a copy of {}",
        shown(&directory),
        at.port(),
        shown(file)
    ));
    Keeper::new(directory).serve(listener).map_err(failed)?;
    Ok(Exit::Good)
}
