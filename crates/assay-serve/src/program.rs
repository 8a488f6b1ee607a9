//! What pages ask of the program that serves them.

use std::path::PathBuf;

use assay_core::observation::Observation;
use assay_core::record::Record;
use assay_report::{Lives, Part};
use assay_store::Summary;

/// Why a question has no answer: one line for people, as the command line says it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// What is wrong, where, and the mend.
    pub message: String,
    /// Whether it is about what was asked, and not about the machine.
    pub is_usage: bool,
}

/// An answer of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// What it says.
    pub part: Part,
    /// What the command would say on standard error.
    pub notes: Vec<String>,
    /// Its picture as SVG; none where it has none.
    pub picture: Option<String>,
    /// A picture for each block size, as HTML; none where the records have too few sizes.
    pub slider: Option<Part>,
}

/// A medium of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Its mount point, or the device.
    pub path: PathBuf,
    /// Vendor and model.
    pub title: String,
    /// What kind of medium it is.
    pub kind: &'static str,
    /// Its size; empty where it is unknown.
    pub size: String,
    /// Whether it is mounted; otherwise it is a device that nothing uses.
    pub is_mounted: bool,
}

/// A built-in suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuiteLine {
    /// Its name.
    pub name: String,
    /// What it is for, in a line.
    pub about: String,
    /// Whether it writes.
    pub writes: bool,
}

/// A run on many nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetRunLine {
    /// Its name.
    pub name: String,
    /// When it was begun.
    pub created: String,
    /// How many nodes have a result.
    pub recorded: usize,
    /// How many nodes it has.
    pub nodes: usize,
    /// Whether it is under way.
    pub is_open: bool,
    /// Changes whenever a node begins, ends or is tried again.
    pub stand: String,
}

/// A plan that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptPlan {
    /// The command that says how far it is.
    pub command: Vec<String>,
    /// What that says.
    pub status: Part,
    /// What is measured where and in which order, with the commands, as text.
    pub order: String,
    /// Its file.
    pub file: String,
}

/// A plan that could be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPlan {
    /// Its label.
    pub label: String,
    /// What it takes and what it would distinguish, as text.
    pub outlook: String,
}

/// Groups of a comparison on a page: more cannot be distinguished in a picture, and are rather ranked.
pub const MOST_COMPARED: usize = 6;

/// The program behind the pages. Each function may take as long as the command does; it is called on a thread of its own.
pub trait Program: Send + Sync + 'static {
    /// Summaries of the records of the store that a query names, oldest first.
    ///
    /// # Errors
    /// The query is none, or the store cannot be read.
    fn summaries(&self, query: &str) -> Result<Vec<Summary>, Refusal>;

    /// Records of the store by their ids, with their estimates and the verdicts of checks, and without what grows.
    ///
    /// # Errors
    /// An id is unknown, or the store cannot be read.
    fn records(&self, ids: &[String]) -> Result<Vec<Observation>, Refusal>;

    /// The same with everything that was measured.
    ///
    /// # Errors
    /// As [`Program::records`].
    fn whole_records(&self, ids: &[String]) -> Result<Vec<Record>, Refusal>;

    /// Model and unit of each of these lines, as comparisons and rankings group their records.
    ///
    /// # Errors
    /// The store cannot be read.
    fn units(&self, lines: &[Summary]) -> Result<Vec<(String, String)>, Refusal>;

    /// What is known of the processes that make records which are not finished.
    fn lives(&self) -> Lives;

    /// The answer to the words of a command, without the name of the program. Queries name no files.
    ///
    /// # Errors
    /// As the command refuses it.
    fn answer(&self, words: &[String]) -> Result<Answer, Refusal>;

    /// Media of this machine, mounted ones first.
    fn places(&self) -> Vec<Place>;

    /// The built-in suites.
    fn suites(&self) -> Vec<SuiteLine>;

    /// Baselines by name, with the ids of their records.
    ///
    /// # Errors
    /// Their files cannot be read.
    fn baselines(&self) -> Result<Vec<(String, Vec<String>)>, Refusal>;

    /// Gives records a name, in place of those that have it.
    ///
    /// # Errors
    /// The name is none, an id is unknown, or the file cannot be written.
    fn set_baseline(&self, name: &str, ids: &[String]) -> Result<(), Refusal>;

    /// Removes a name; its records stay.
    ///
    /// # Errors
    /// There is none of this name, or its file cannot be removed.
    fn remove_baseline(&self, name: &str) -> Result<(), Refusal>;

    /// Runs on many nodes, the newest first.
    ///
    /// # Errors
    /// The store cannot be read.
    fn fleet_runs(&self) -> Result<Vec<FleetRunLine>, Refusal>;

    /// Names of the watches, sorted.
    ///
    /// # Errors
    /// They cannot be read.
    fn watches(&self) -> Result<Vec<String>, Refusal>;

    /// Labels of the plans that are kept.
    ///
    /// # Errors
    /// They cannot be read.
    fn plans(&self) -> Result<Vec<String>, Refusal>;

    /// A plan by its label; none where it is not kept.
    ///
    /// # Errors
    /// It cannot be read.
    fn plan(&self, label: &str) -> Result<Option<KeptPlan>, Refusal>;

    /// The plan that the words of `plan new` ask for, kept if so wished. They name no files.
    ///
    /// # Errors
    /// As the command refuses it, or it cannot be written.
    fn new_plan(&self, words: &[String], keep: bool) -> Result<NewPlan, Refusal>;

    /// The program to start for a run or a check.
    fn executable(&self) -> PathBuf;
}
