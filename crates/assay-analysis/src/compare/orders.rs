//! Which models the comparison tells apart. No race and no purchase contradicts it.

use std::collections::BTreeSet;

use assay_core::record::Record;

use super::analyse::under;
use super::group::{By, Request, split};
use super::report::{PairVerdict, Why};
use crate::load::Load;
use crate::quantity::Quantity;

/// The verdicts of `assay compare --by model` on pairs of models.
#[derive(Debug, Clone, Default)]
pub(crate) struct Orders {
    /// The better one, then the other.
    better: BTreeSet<(String, String)>,
    /// Undecided pairs, each in both orders.
    open: BTreeSet<(String, String)>,
    /// Pairs that are undecided because no common unit connects their computers, each in both orders.
    apart: BTreeSet<(String, String)>,
}

impl Orders {
    /// Compares the models of these records under a load.
    pub(crate) fn of(records: &[Record], load: &Load, quantity: Quantity) -> Self {
        let named = [records.to_vec()];
        let groups = split(&named, By::Model);
        let request = Request { quantity: Some(quantity), ..Request::default() };
        let Some(found) = under(&groups, load.clone(), &request) else { return Self::default() };
        let mut orders = Self::default();
        for pair in &found.pairs {
            let (first, second) = (groups[pair.first].name.clone(), groups[pair.second].name.clone());
            match pair.verdict {
                PairVerdict::Better => drop(orders.better.insert((second, first))),
                PairVerdict::Worse => drop(orders.better.insert((first, second))),
                PairVerdict::CannotTell(Why::OtherComputer) => {
                    orders.apart.extend([(first.clone(), second.clone()), (second, first)]);
                }
                PairVerdict::CannotTell(_) => orders.open.extend([(first.clone(), second.clone()), (second, first)]),
                PairVerdict::Same | PairVerdict::BusTie => {}
            }
        }
        orders
    }

    /// Whether one of `others` is better than `model`.
    pub(crate) fn beaten<'a>(&self, model: &str, others: impl IntoIterator<Item = &'a str>) -> bool {
        others.into_iter().any(|other| self.better.contains(&(other.to_owned(), model.to_owned())))
    }

    /// Two of these models whose computers no common unit connects.
    pub(crate) fn apart(&self, models: &[&str]) -> Option<(String, String)> {
        let among = |(a, b): &&(String, String)| models.contains(&a.as_str()) && models.contains(&b.as_str());
        self.apart.iter().find(among).cloned()
    }

    /// The models of `others` that the comparison does not separate from `model`: it cannot tell which is better.
    pub(crate) fn not_separated<'a>(&self, model: &str, others: impl IntoIterator<Item = &'a str>) -> Vec<String> {
        let open = |other: &&str| self.open.contains(&(model.to_owned(), (*other).to_owned()));
        others.into_iter().filter(open).map(str::to_owned).collect()
    }
}
