//! A ledger on another machine, which keeps its power when this one loses it: a keeper that listens, and the side that
//! appends. What they say is sealed with a key that both hold.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use assay_endure::journal::{first_bytes, frame, is_entry};
use assay_fleet::{Channel, ChannelListener, NodeKey, WireError};
use serde::{Deserialize, Serialize};

use crate::entry::Entry;
use crate::ledger::{Keep, LedgerError, Replayed, replay};
use crate::round::Begin;
use crate::state::State;

/// What both sides say that they want.
const PURPOSE: &str = "assay power cut ledger 1";
/// An answer takes at most this long.
const ANSWER: Duration = Duration::from_secs(20);
/// A connection without a word for so long is closed; the ledger stays.
const SILENCE: Duration = Duration::from_secs(24 * 3600);
/// Bytes that are announced at once.
const PART: usize = 8 << 20;
/// Digits of the name of a test.
const DIGITS: &str = "0123456789abcdef";

/// What the side with the medium asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "asks", rename_all = "snake_case")]
enum Ask {
    /// To make the ledger, which must not exist, with these bytes.
    Create { bytes: u64 },
    /// For all bytes of the ledger, to go on with it.
    Open,
    /// To append these bytes.
    Append { bytes: u64 },
}

/// What the keeper answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "says", rename_all = "snake_case")]
enum Say {
    /// They are written. The ledger is this long.
    Kept { bytes: u64 },
    /// The ledger follows.
    Has { bytes: u64 },
    /// It cannot.
    Refused { reason: String },
}

/// A ledger that a keeper on another machine holds.
#[derive(Debug)]
pub struct RemoteKeep {
    channel: Channel,
    address: String,
}

impl RemoteKeep {
    fn connect(address: &str, key: &NodeKey, id: &str) -> Result<Self, LedgerError> {
        let channel = Channel::connect(address, PURPOSE, id, key).map_err(|error| failed(address, &error))?;
        Ok(Self { channel, address: address.to_owned() })
    }

    /// Makes a ledger there.
    ///
    /// # Errors
    /// Where the keeper cannot be reached, does not hold the key, or refuses.
    pub fn create(address: &str, key: &NodeKey, begin: &Begin) -> Result<Self, LedgerError> {
        let mut keep = Self::connect(address, key, &begin.id)?;
        let bytes = first_bytes(&Entry::Begin(begin.clone()));
        keep.ask(&Ask::Create { bytes: bytes.len() as u64 }, &bytes)?;
        Ok(keep)
    }

    /// Opens a ledger there, to go on with it. The connection that had it open can append no more.
    ///
    /// # Errors
    /// As [`Self::create`], and where it is damaged.
    pub fn open(address: &str, key: &NodeKey, id: &str) -> Result<(Self, State), LedgerError> {
        let mut keep = Self::connect(address, key, id)?;
        keep.channel.send(&Ask::Open).map_err(|error| failed(address, &error))?;
        let bytes = match keep.answer()? {
            Say::Has { bytes } => bytes,
            _ => return Err(LedgerError::Keeper(format!("{address}: the keeper gave another answer"))),
        };
        let mut content = Vec::new();
        while (content.len() as u64) < bytes {
            let part = (bytes - content.len() as u64).min(PART as u64);
            content.extend(keep.channel.receive_bytes(part, ANSWER).map_err(|error| failed(address, &error))?);
        }
        Ok((keep, replay(&content)?.state))
    }

    fn ask(&mut self, ask: &Ask, bytes: &[u8]) -> Result<(), LedgerError> {
        let sent = self.channel.send(ask).and_then(|()| self.channel.send_bytes(bytes));
        sent.map_err(|error| failed(&self.address, &error))?;
        match self.answer()? {
            Say::Kept { .. } => Ok(()),
            _ => Err(LedgerError::Keeper(format!("{}: the keeper gave another answer", self.address))),
        }
    }

    fn answer(&mut self) -> Result<Say, LedgerError> {
        match self.channel.receive(ANSWER).map_err(|error| failed(&self.address, &error))? {
            Say::Refused { reason } => Err(LedgerError::Keeper(format!("{}: {reason}", self.address))),
            say => Ok(say),
        }
    }
}

impl Keep for RemoteKeep {
    fn append(&mut self, entry: &Entry) -> Result<(), LedgerError> {
        let bytes = frame(entry);
        self.ask(&Ask::Append { bytes: bytes.len() as u64 }, &bytes)
    }
}

fn failed(address: &str, error: &WireError) -> LedgerError {
    LedgerError::Keeper(match error {
        WireError::Seal => format!("{address}: the other side does not hold the key of --key-file"),
        error => format!("{address}: the keeper of the ledger: {error}"),
    })
}

/// A ledger that is open, and how often it was opened: the last opening alone may append.
#[derive(Debug)]
struct Open {
    file: File,
    openings: u64,
}

/// Keeps ledgers of tests on other machines, in a directory.
#[derive(Debug, Clone)]
pub struct Keeper {
    directory: PathBuf,
    open: Arc<Mutex<HashMap<String, Open>>>,
}

impl Keeper {
    /// Keeps them in this directory.
    #[must_use]
    pub fn new(directory: PathBuf) -> Self {
        Self { directory, open: Arc::default() }
    }

    /// Listens at an address; [`ChannelListener::address`] tells which one it got.
    ///
    /// # Errors
    /// Where the system does not give it.
    pub fn listen(address: SocketAddr, key: NodeKey) -> std::io::Result<ChannelListener> {
        ChannelListener::bind(address, PURPOSE, key)
    }

    /// Serves connections until the process ends.
    ///
    /// # Errors
    /// Where the system accepts none any more.
    pub fn serve(self, listener: ChannelListener) -> std::io::Result<()> {
        listener.serve(move |mut channel, id| {
            // An error ends the connection alone; what was appended before stays.
            let _ = self.serve_one(&mut channel, id);
        })
    }

    fn open(&self) -> MutexGuard<'_, HashMap<String, Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve_one(&self, channel: &mut Channel, id: &str) -> Result<(), WireError> {
        let mut opening = None;
        if id.len() != 16 || !id.chars().all(|digit| DIGITS.contains(digit)) {
            return channel.send(&Say::Refused { reason: "a name of a test has 16 hexadecimal digits".to_owned() });
        }
        loop {
            let answer = match channel.receive(SILENCE)? {
                Ask::Create { bytes } => {
                    let content = channel.receive_bytes(bytes, ANSWER)?;
                    self.create(id, &content).map(|length| {
                        opening = Some(1);
                        Say::Kept { bytes: length }
                    })
                }
                Ask::Append { bytes } => {
                    let content = channel.receive_bytes(bytes, ANSWER)?;
                    self.append(id, opening, &content).map(|bytes| Say::Kept { bytes })
                }
                Ask::Open => match self.reopen(id) {
                    Ok((content, number)) => {
                        opening = Some(number);
                        channel.send(&Say::Has { bytes: content.len() as u64 })?;
                        content.chunks(PART).try_for_each(|part| channel.send_bytes(part))?;
                        continue;
                    }
                    Err(reason) => Err(reason),
                },
            };
            match answer {
                Ok(say) => channel.send(&say)?,
                Err(reason) => return channel.send(&Say::Refused { reason }),
            }
        }
    }

    fn path(&self, id: &str) -> PathBuf {
        self.directory.join(format!("{id}.ledger"))
    }

    fn create(&self, id: &str, content: &[u8]) -> Result<u64, String> {
        if replay(content).map_or(true, |replayed| replayed.state.begun().id != id) {
            return Err("it is no ledger of this test".to_owned());
        }
        let mut open = self.open();
        let made = File::options().read(true).write(true).create_new(true).open(self.path(id));
        let mut file = made.map_err(|error| error.to_string())?;
        file.write_all(content).and_then(|()| file.sync_all()).map_err(|error| error.to_string())?;
        open.insert(id.to_owned(), Open { file, openings: 1 });
        Ok(content.len() as u64)
    }

    fn reopen(&self, id: &str) -> Result<(Vec<u8>, u64), String> {
        let mut open = self.open();
        let mut content = match std::fs::read(self.path(id)) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(format!("the ledger of test {id} is not here"));
            }
            content => content.map_err(|error| error.to_string())?,
        };
        // A keeper that was killed may have left a part of an entry.
        let Replayed { whole_bytes, .. } = replay(&content).map_err(|error| error.to_string())?;
        content.truncate(usize::try_from(whole_bytes).unwrap_or(content.len()));
        let openings = open.get(id).map_or(0, |known| known.openings) + 1;
        let file = File::options().read(true).write(true).open(self.path(id));
        let mut file = file.map_err(|error| error.to_string())?;
        let ready = file.set_len(whole_bytes).and_then(|()| file.seek(SeekFrom::Start(whole_bytes)));
        ready.map_err(|error| error.to_string())?;
        open.insert(id.to_owned(), Open { file, openings });
        Ok((content, openings))
    }

    /// Appends one entry. It is not synced: this machine keeps its power.
    fn append(&self, id: &str, opening: Option<u64>, content: &[u8]) -> Result<u64, String> {
        let mut open = self.open();
        let known = open.get_mut(id).filter(|known| Some(known.openings) == opening);
        let known = known.ok_or_else(|| "another program went on with this test".to_owned())?;
        if !is_entry::<Entry>(content) {
            return Err("it is no entry of a ledger".to_owned());
        }
        known.file.write_all(content).map_err(|error| error.to_string())?;
        known.file.stream_position().map_err(|error| error.to_string())
    }
}
