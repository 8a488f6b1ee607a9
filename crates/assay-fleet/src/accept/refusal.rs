//! Why a record of a node is not accepted.

use std::path::PathBuf;

use assay_core::text::{clean, harmless};
use assay_store::StoreError;

/// Why a record is not accepted. As text it goes to the node that sent it, and into the file of the run.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// It is not UTF-8.
    #[error("it is not text")]
    NotText,
    /// It is no record in a format that this program reads.
    #[error("{}", not_a_record(.0))]
    NotARecord(StoreError),
    /// It is of another run or node, of an attempt that was not begun, or has another identifier than the node says.
    #[error("it is a record of something else")]
    SomethingElse,
    /// Its labels name another run or node, or none.
    #[error("its labels are those of something else")]
    Labels,
    /// Its run is under way.
    #[error("it is not finished")]
    Unfinished,
    /// Another tool measured it.
    #[error("it is of another tool, and was imported, and assay {asked} was asked for")]
    Imported {
        /// Version of assay that was asked for.
        asked: String,
    },
    /// Another program, or another version, measured it.
    #[error("it is of {}, and assay {asked} was asked for", clean(&format!("{name} {version}")))]
    OtherProgram {
        /// Name of the program.
        name: String,
        /// Its version.
        version: String,
        /// Version of assay that was asked for.
        asked: String,
    },
    /// It is by another suite.
    #[error(
        "it is by suite {} version {version}, and {} version {asked_version} was asked for",
        clean(name),
        clean(asked)
    )]
    OtherSuite {
        /// Name of its suite.
        name: String,
        /// Version of its suite.
        version: u32,
        /// Name of the suite that was asked for.
        asked: String,
        /// Version of the suite that was asked for.
        asked_version: u32,
    },
    /// It is by a suite of the same name and version with another content.
    #[error("it is by a suite {} that differs from the one that was asked for", clean(name))]
    ChangedSuite {
        /// Name of the suite.
        name: String,
    },
    /// It is of another medium than the one that was to be there.
    #[error("{0}")]
    Misplaced(String),
    /// Another record is here of the same node and attempt.
    #[error("{id} is here of the same attempt")]
    SameAttempt {
        /// Identifier of the record that is here.
        id: String,
    },
    /// A record of something else is here under the same identifier.
    #[error("another record here is called {id}")]
    SameId {
        /// The identifier.
        id: String,
    },
    /// The store cannot tell what is here.
    #[error("{0}")]
    Store(StoreError),
    /// Neither store nor spool took it.
    #[error("{0}")]
    Nowhere(Box<Nowhere>),
}

/// Why a record could not be kept anywhere.
#[derive(Debug, thiserror::Error)]
#[error("{}", harmless(&format!(
    "{store}; nor can it be kept in {}: {spool}; --json or -o FILE.json write it elsewhere", place.display()
)))]
pub struct Nowhere {
    /// Why the store did not take it.
    pub store: StoreError,
    /// Why the spool did not.
    pub spool: StoreError,
    /// Where the spool is.
    pub place: PathBuf,
}

fn not_a_record(error: &StoreError) -> String {
    match error {
        StoreError::NotARecord { reason } => format!("it is not a record: {}", clean(reason)),
        newer => newer.to_string(),
    }
}
