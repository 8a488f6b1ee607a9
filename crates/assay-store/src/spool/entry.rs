//! Format of a spool file: a line with the name of the format and the BLAKE3 hash of the rest, a line of JSON with the
//! owner of the run, and the document.

use std::path::PathBuf;

use assay_core::record::Record;
use serde::{Deserialize, Serialize};

use crate::document;
use crate::error::StoreError;
use crate::owner::Owner;
use crate::store::RunState;
use crate::system;

const FORMAT: &str = "assay-spool-1";

/// What the store keeps about a run in progress.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    /// The process that makes the record; null if the run is over.
    owner: Option<Owner>,
    /// Bytes of the path of the directory with the test files.
    scratch: Option<Vec<u8>>,
}

/// A record from the spool.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) record: Record,
    pub(crate) document: String,
    owner: Option<Owner>,
    scratch: Option<PathBuf>,
}

impl Entry {
    /// State of the run.
    pub(crate) fn run(&self) -> RunState<'_> {
        match &self.owner {
            Some(owner) => RunState::Running { owner, scratch: self.scratch.as_deref() },
            None => RunState::Finished,
        }
    }

    /// Encodes the bytes of a file.
    pub(crate) fn encode(record: &Record, run: RunState<'_>) -> Result<Vec<u8>, StoreError> {
        let no = |reason| StoreError::NotARecord { reason };
        // Refuses what the store would refuse.
        document::Columns::of(record)?;
        let header = match run {
            RunState::Running { owner, scratch } => {
                Header { owner: Some(owner.clone()), scratch: scratch.map(system::bytes_of) }
            }
            RunState::Finished => Header { owner: None, scratch: None },
        };
        let header = document::to_json(&header).map_err(no)?;
        let json = document::to_json(record).map_err(no)?;
        document::bounded(&json)?;
        let body = format!("{header}\n{json}");
        Ok(format!("{FORMAT} {}\n{body}", blake3::hash(body.as_bytes()).to_hex()).into_bytes())
    }

    /// Decodes a file. A torn or changed file, or one of a newer version, is refused with the reason.
    pub(crate) fn decode(bytes: Vec<u8>) -> Result<Self, String> {
        let text = String::from_utf8(bytes).map_err(|_| "it is not text".to_owned())?;
        let (first, body) = text.split_once('\n').ok_or("it has no second line")?;
        let sum =
            first.strip_prefix(FORMAT).and_then(|rest| rest.strip_prefix(' ')).ok_or("it is of another format")?;
        if sum != blake3::hash(body.as_bytes()).to_hex().as_str() {
            return Err("it is not whole".to_owned());
        }
        let (header, json) = body.split_once('\n').ok_or("it has no document")?;
        let header: Header = serde_json::from_str(header).map_err(|error| error.to_string())?;
        let record = document::read(json).map_err(|error| error.to_string())?;
        document::Columns::of(&record).map_err(|error| error.to_string())?;
        Ok(Self {
            record,
            document: json.to_owned(),
            owner: header.owner,
            scratch: header.scratch.map(system::path_of),
        })
    }
}
