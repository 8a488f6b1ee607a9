//! `assay advise`.

use assay_analysis::advise::{
    self, BuyQuestion, CacheQuestion, CacheUse, CacheWord, Choice, HitSource, Link, NasQuestion, NasVerdict, Standing,
    Status,
};
use assay_core::record::Record;

use crate::found::Failure;

/// The answer of `assay advise class A1` for one unit: whether it meets the class; `None` where it is undecided.
///
/// # Errors
/// Records without the loads of the class.
pub fn class_a1(records: &[Record]) -> Result<Option<bool>, Failure> {
    let found = advise::class(records, &["A1"])?;
    let answer = found.units.first().and_then(|unit| unit.classes.first()).ok_or("no unit was judged")?;
    Ok(match answer.status {
        Status::Pass => Some(true),
        Status::Fail => Some(false),
        Status::Indeterminate | Status::BusLimited | Status::NotMeasured | Status::NotTestable => None,
    })
}

/// The answer of `assay advise nas`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LocalOrNas {
    /// A medium in each node.
    Local,
    /// The volume.
    Nas,
    /// Undecided.
    Undecided,
}

/// Bytes per second of the line of the volume: 1 Gbit/s.
const LINE: f64 = 125e6;
/// Nodes of the fleet.
const NODES: u32 = 28;

/// `assay advise nas --nodes 28 --link 1Gbit`, with records of the volume or without.
///
/// # Errors
/// Records without a load that both have.
pub fn nas(local: &[Record], volume: &[Record]) -> Result<LocalOrNas, Failure> {
    let question = NasQuestion::of(NODES, Link::Line(LINE));
    let found = advise::nas(local, volume, &question)?;
    let row = found.models.first().and_then(|model| model.rows.first()).ok_or("no load was judged")?;
    Ok(match row.verdict {
        NasVerdict::Local => LocalOrNas::Local,
        NasVerdict::Nas => LocalOrNas::Nas,
        NasVerdict::CannotTell(_) => LocalOrNas::Undecided,
    })
}

/// The recommended purchase.
#[derive(Debug, Clone, PartialEq)]
pub struct Bought {
    /// The model; `None` where it is undecided.
    pub model: Option<String>,
    /// Whether it states that more testing cannot gain more than 1 %.
    pub tested_enough: bool,
    /// Models that are certainly on the Pareto front of price and performance.
    pub certain: Vec<String>,
}

/// `assay advise buy --nodes 28`.
///
/// # Errors
/// Records without prices.
pub fn buy(records: &[Record]) -> Result<Bought, Failure> {
    let question = BuyQuestion::of(NODES);
    let found = advise::buy(records, &question)?;
    let certain = found.options.iter().filter(|o| o.standing == Standing::Certain).map(|o| o.model.clone()).collect();
    Ok(match found.choice {
        Choice::Buy { index, tested_enough, .. } => {
            Bought { model: Some(found.options[index].model.clone()), tested_enough, certain }
        }
        Choice::CannotTell { .. } | Choice::OverBudget => Bought { model: None, tested_enough: false, certain },
    })
}

/// The answer of `assay advise cache`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cached {
    /// Reads get faster by more than a fifth.
    Good,
    /// Reads get slower.
    Harmful,
    /// Neither is certain.
    Undecided,
}

/// `assay advise cache --hits 50%` with next to no feed.
///
/// # Errors
/// Records without the loads that it takes.
pub fn cache(medium: &[Record], volume: &[Record]) -> Result<Cached, Failure> {
    let question = CacheQuestion {
        use_as: CacheUse::L2arc,
        hits: HitSource::Share(0.5),
        ram_bytes: None,
        size_bytes: None,
        feed_bytes_per_second: 1000.0,
        block_bytes: Some(4096),
    };
    Ok(match advise::cache(medium, volume, &question)?.word {
        CacheWord::Good => Cached::Good,
        CacheWord::Harmful => Cached::Harmful,
        CacheWord::Marginal | CacheWord::CannotTell(_) => Cached::Undecided,
    })
}
