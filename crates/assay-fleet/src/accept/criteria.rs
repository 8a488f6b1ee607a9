//! What nodes were asked to measure, and what a record has to be to belong to a run.

use std::fmt;
use std::path::PathBuf;

use assay_core::outcome::Outcome;
use assay_core::record::{Record, SuiteRef, Tool};
use assay_core::text::{clean, harmless};
use assay_store::StoreError;

/// What nodes were asked to measure, as far as it is known here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// Version of the program.
    pub version: String,
    /// The suite; none where this machine does not have its text.
    pub suite: Option<AskedSuite>,
}

/// A suite whose text this machine has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedSuite {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: u32,
    /// As it is to be in records; none where variables of an inventory may change it for a node.
    pub text: Option<String>,
}

impl Asked {
    /// Refuses a record of something else: of another program, or by another suite.
    ///
    /// # Errors
    /// [`RecordRefusal::Imported`], [`RecordRefusal::OtherProgram`], [`RecordRefusal::OtherSuite`] or [`RecordRefusal::ChangedSuite`].
    pub fn check(&self, record: &Record) -> Result<(), RecordRefusal> {
        let Tool { name, version, .. } = &record.tool;
        let Some(settings) = record.settings() else {
            return Err(RecordRefusal::Imported { asked: self.version.clone() });
        };
        if name != "assay" || *version != self.version {
            let (name, version) = (name.clone(), version.clone());
            return Err(RecordRefusal::OtherProgram { name, version, asked: self.version.clone() });
        }
        let Some(asked) = &self.suite else { return Ok(()) };
        let SuiteRef { name, version } = &record.suite;
        if (name, *version) != (&asked.name, asked.version) {
            let (name, version) = (name.clone(), *version);
            return Err(RecordRefusal::OtherSuite {
                name,
                version,
                asked: asked.name.clone(),
                asked_version: asked.version,
            });
        }
        if asked.text.as_ref().is_some_and(|text| *text != settings.suite_text) {
            return Err(RecordRefusal::ChangedSuite { name: name.clone() });
        }
        Ok(())
    }
}

/// Judges whether the record of a node is of the medium that was to be there: the reason where it is not.
pub type Guard = Box<dyn Fn(&str, &Record) -> Result<(), String> + Send + Sync>;

/// What all records of a run have to be.
pub struct Criteria {
    /// Identity of the run.
    pub run: String,
    /// What was asked for; none where that is not known, as of a run that another version of this program began.
    pub asked: Option<Asked>,
    /// What judges media; none where any will do.
    pub guard: Option<Guard>,
}

impl fmt::Debug for Criteria {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { run, asked, guard } = self;
        let guarded = guard.is_some();
        f.debug_struct("Criteria").field("run", run).field("asked", asked).field("guarded", &guarded).finish()
    }
}

/// Where a record comes from.
#[derive(Debug, Clone, Copy)]
pub struct RecordClaim<'a> {
    /// The node.
    pub node: &'a str,
    /// How it came.
    pub way: Way<'a>,
}

/// How a record came, and what is known of it by that.
#[derive(Debug, Clone, Copy)]
pub enum Way<'a> {
    /// The node handed it to the coordinator, in this attempt or an earlier one.
    HandedOver {
        /// The attempt that is under way.
        attempt: u32,
    },
    /// It was fetched from the node, or is here.
    Fetched {
        /// The identifier that was asked for.
        id: &'a str,
        /// Attempts of the node so far; none where that is not known.
        attempts: Option<u32>,
    },
}

impl Criteria {
    /// Refuses a record that is not what it is claimed to be, is not over, or is not what was asked for. A node may hand over what it
    /// had measured in an earlier attempt.
    ///
    /// # Errors
    /// [`RecordRefusal`] has the first reason.
    pub fn judge(&self, claim: &RecordClaim<'_>, record: &Record) -> Result<(), RecordRefusal> {
        let (named, attempts, coordinated) = match claim.way {
            Way::HandedOver { attempt } => (true, Some(attempt), true),
            Way::Fetched { id, attempts } => (record.id == id, attempts, false),
        };
        let own = match record.cluster.as_deref() {
            Some(part) => {
                let begun = attempts.is_none_or(|attempts| part.attempt <= attempts);
                part.run == self.run && part.node == claim.node && begun
            }
            // Of a node that began by itself, or was killed: its labels alone say of what it is.
            None => !coordinated && self.is_labelled(claim.node, record),
        };
        if !(named && own) {
            return Err(RecordRefusal::SomethingElse);
        }
        if record.outcome == Outcome::Running {
            return Err(RecordRefusal::Unfinished);
        }
        if let Some(asked) = &self.asked {
            asked.check(record)?;
        }
        if let Some(guard) = &self.guard {
            guard(claim.node, record).map_err(RecordRefusal::Misplaced)?;
        }
        if !self.is_labelled(claim.node, record) {
            return Err(RecordRefusal::Labels);
        }
        Ok(())
    }

    /// Whether the labels of a record are those of a node in this run.
    pub(super) fn is_labelled(&self, node: &str, record: &Record) -> bool {
        let label = |name: &str| record.labels.get(name).map(String::as_str);
        label("fleet") == Some(&self.run) && label("node") == Some(node)
    }
}

// Why a record of a node is not accepted.

/// Why a record is not accepted. As text it goes to the node that sent it, and into the file of the run.
#[derive(Debug, thiserror::Error)]
pub enum RecordRefusal {
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
