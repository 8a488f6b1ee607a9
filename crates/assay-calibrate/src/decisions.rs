//! What the commands say, by the functions that they call. Where those change, this changes and the rows do not.

use assay_analysis::compare::{self, By, Group, Request, Side, Verdict};
use assay_analysis::rank::{self, Ask, Better, RankReport};
use assay_core::record::Record;
use assay_lab::fleet::Fleet;
use assay_store::{Detail, observed};

use crate::row::Failure;

/// The records of a fleet as a store gives them back.
///
/// # Errors
/// A record that cannot be stored.
pub fn stored(fleet: &Fleet) -> Result<Vec<Record>, Failure> {
    let read = |record: &Record| observed(record, Detail::Repeats).map_err(Failure::from);
    fleet.records().iter().map(read).collect()
}

/// What `compare` says of the second of two groups against the first.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// In a word.
    pub word: Word,
    /// The second over the first: its interval.
    pub interval: Option<(f64, f64)>,
    /// Both groups with their own intervals.
    pub sides: Vec<Side>,
}

/// The answer of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// The second is better.
    Better,
    /// The second is worse.
    Worse,
    /// Neither by more than the margin.
    Same,
    /// Not known.
    CannotTell,
}

impl Word {
    /// Whether a difference is claimed.
    #[must_use]
    pub fn differs(self) -> bool {
        matches!(self, Self::Better | Self::Worse)
    }
}

/// `assay compare` with a query for each group.
///
/// # Errors
/// Groups that cannot be compared.
pub fn compare(first: &[Record], second: &[Record]) -> Result<Compared, Failure> {
    let groups = [("A", first), ("B", second)];
    said(&groups.map(|(name, records)| Group { name: name.to_owned(), records: records.iter().collect() }))
}

/// `assay compare --by model`, of two models.
///
/// # Errors
/// Groups that cannot be compared.
pub fn compare_models(records: &[Record]) -> Result<Compared, Failure> {
    let named = [records.to_vec()];
    said(&compare::split(&named, By::Model))
}

fn said(groups: &[Group<'_>]) -> Result<Compared, Failure> {
    let mut found = compare::compare(groups, &Request::default())?;
    let at = found.loads.iter().position(|load| load.primary).ok_or("no load is in both groups")?;
    let load = found.loads.swap_remove(at);
    let pair = load.pairs.first().ok_or("no pair was compared")?;
    let word = match pair.verdict {
        Verdict::Better => Word::Better,
        Verdict::Worse => Word::Worse,
        Verdict::Same => Word::Same,
        Verdict::BusTie | Verdict::CannotTell(_) => Word::CannotTell,
    };
    Ok(Compared { word, interval: pair.low.zip(pair.high), sides: load.sides })
}

/// `assay rank`.
///
/// # Errors
/// Records that nothing can be said of.
pub fn rank(records: &[Record], ask: &Ask) -> Result<RankReport, Failure> {
    Ok(rank::rank(&records.iter().collect::<Vec<_>>(), ask)?)
}

/// Pairs of models of which the ranking says that the first is better.
#[must_use]
pub fn orders(report: &RankReport) -> Vec<(String, String)> {
    let ordered = |better| matches!(better, Better::First | Better::FirstPerhapsSlightly);
    let pairs = report.primary.pairs.iter().filter(|pair| ordered(pair.verdict));
    pairs.map(|pair| (pair.first.clone(), pair.second.clone())).collect()
}

/// A model, and which of its units; `None` where it is not told which.
pub type Named = (String, Option<String>);

/// What the ranking shows of units that deviate: each that it names, under the load that decides or under several, and
/// each model of which it says that its units differ by more than chance.
#[must_use]
pub fn odd(report: &RankReport) -> Vec<Named> {
    let said = report.primary.odd.iter().filter(|odd| odd.unit.is_some() || odd.tested);
    let several = report.deviations.iter().filter(|deviation| deviation.loads > 1);
    let over_loads = several.map(|d| (d.model.clone(), Some(d.unit.clone())));
    said.map(|odd| (odd.model.clone(), odd.unit.clone())).chain(over_loads).collect()
}

/// The same with every load by itself, as `--all` and `--json` show it.
#[must_use]
pub fn odd_under_any_load(report: &RankReport) -> Vec<Named> {
    let each = report.exploratory.iter().flat_map(|load| &load.odd).filter(|odd| odd.unit.is_some() || odd.tested);
    each.map(|odd| (odd.model.clone(), odd.unit.clone())).chain(odd(report)).collect()
}
