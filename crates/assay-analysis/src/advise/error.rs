//! Why there is no advice. Each message is one line that names the problem, its place and the remedy.

use assay_stats::decide::Refusal;

/// Input that allows no advice.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AdviseError {
    /// No record is left.
    #[error("no record of {what} is left to judge{}; name others", because(.reasons))]
    NothingLeft {
        /// What the records are of.
        what: &'static str,
        /// Why each was left out.
        reasons: Vec<String>,
    },
    /// The records do not hold a load that the question needs.
    #[error("{whose} has no {load}; {mend}")]
    NoSuchLoad {
        /// Whose records.
        whose: String,
        /// The load that was looked for.
        load: String,
        /// The remedy.
        mend: String,
    },
    /// No load matches the requested one.
    #[error("{0}")]
    NotNamed(#[from] crate::LoadError),
    /// Several models where one is needed.
    #[error("{what} has to be one model, and the records are of {models}; name one")]
    ManyModels {
        /// The role of the model.
        what: &'static str,
        /// The models.
        models: String,
    },
    /// The best offer is the best of several runs, and another offer is not.
    #[error("{model} is the best of several runs and {other} is not; figures made in the same way would tell")]
    BestOf {
        /// The model that leads.
        model: String,
        /// One that may be better.
        other: String,
    },
    /// A model that is not the best offer was held by its bus, and the best one was not.
    #[error("{model} was held by its bus and may be faster than {other}; measure both where the bus is no limit")]
    AtCeiling {
        /// The model that was held.
        model: String,
        /// The one that leads.
        other: String,
    },
    /// Two models were measured with computers of different kinds, and no unit was on both.
    #[error("{model} was measured on another computer than {other}; measure one unit on both")]
    OtherComputer {
        /// One of them.
        model: String,
        /// The other.
        other: String,
    },
    /// A price or a power is missing, or two differ.
    #[error("{model}: {problem}")]
    Label {
        /// The model.
        model: String,
        /// The problem and its remedy.
        problem: String,
    },
    /// Prices in several currencies.
    #[error("prices are in {currencies}; give all in one currency, like --price 'MODEL=12.90USD'")]
    Currencies {
        /// Which ones.
        currencies: String,
    },
    /// An answer that needs something that was not given.
    #[error("{0}")]
    Missing(&'static str),
    /// The two sides were measured with different workloads.
    #[error("both sides need the same {what}: {local} is compared with {other}")]
    Unlike {
        /// What differs.
        what: &'static str,
        /// The value of the medium.
        local: u64,
        /// The value of the other side.
        other: u64,
    },
    /// The statistics cannot answer.
    #[error("{0}")]
    Refused(#[from] Refusal),
}

fn because(reasons: &[String]) -> String {
    let first: Vec<&str> = reasons.iter().take(3).map(String::as_str).collect();
    match reasons.len() {
        0 => String::new(),
        n if n > first.len() => format!(" ({}, and {} more)", first.join("; "), n - first.len()),
        _ => format!(" ({})", first.join("; ")),
    }
}
