//! States of a submission, why it has them, and its receipt.

use serde::{Deserialize, Serialize};

/// Where a submission stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It is kept, and not judged yet.
    Received,
    /// It counts, and everybody sees it.
    Public,
    /// It is shown at its own address alone, and counts nowhere.
    Unlisted,
    /// It is kept and not shown, for a reason that is public.
    Held,
    /// It was taken back or removed; its document is gone.
    Withdrawn,
}

impl State {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Received => "received",
            Self::Public => "public",
            Self::Unlisted => "unlisted",
            Self::Held => "held",
            Self::Withdrawn => "withdrawn",
        }
    }

    /// The state with a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Self::Received, Self::Public, Self::Unlisted, Self::Held, Self::Withdrawn]
            .into_iter()
            .find(|state| state.name() == name)
    }
}

/// What a reason is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// A figure or a finding is not what the repeats come to.
    EstimatesDiffer,
    /// Counts of a repeat contradict each other.
    SumsDiffer,
    /// Latencies, rates and operations in flight contradict each other.
    LittlesLaw,
    /// The bytes that crossed the device say otherwise.
    ProofRatio,
    /// More than the bus carries.
    AboveCeiling,
    /// Times contradict each other.
    Dates,
    /// Far faster than the same model at three other accounts or more.
    Outlier,
    /// The same measurement is here with another identity.
    Copy,
    /// More was tested than the medium holds.
    Capacity,
    /// No medium of this kind does that.
    Impossible,
    /// The operator says so.
    ByOperator,
    /// The submitter asked for it.
    Asked,
    /// Figures that another tool printed: there is nothing to compute them from.
    NotRecomputable,
}

/// Why a submission is in its state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// What it is about.
    pub code: Code,
    /// In a line. It is public.
    pub detail: String,
}

impl Reason {
    /// A reason in a line.
    #[must_use]
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into() }
    }
}

/// Where a submission stands and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// Its state.
    pub state: State,
    /// Why.
    pub reasons: Vec<Reason>,
}

/// What is known of a submission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Receipt {
    /// Identity of the record.
    pub id: String,
    /// BLAKE3 of the document's bytes, in hexadecimal digits.
    pub hash: String,
    /// Where it stands.
    pub state: State,
    /// Why it is not public.
    pub reasons: Vec<Reason>,
    /// When it was received, RFC 3339, UTC.
    pub received: String,
    /// Its page.
    pub address: String,
    /// What its owner takes it back with; sent once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub withdrawal_key: Option<String>,
}
