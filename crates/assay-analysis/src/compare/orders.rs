//! Which models the comparison tells apart: what no race and no purchase goes against.

use std::collections::BTreeSet;

use assay_core::record::Record;

use super::analyse::under;
use super::group::{By, Request, split};
use super::report::Verdict;
use crate::load::Load;
use crate::quantity::Quantity;

/// Pairs of models of which `assay compare --by model` says that one is better.
#[derive(Debug, Clone, Default)]
pub(crate) struct Orders(BTreeSet<(String, String)>);

impl Orders {
    /// What is said of these records under a load.
    pub(crate) fn of(records: &[Record], load: &Load, quantity: Quantity) -> Self {
        let named = [records.to_vec()];
        let groups = split(&named, By::Model);
        let request = Request { quantity: Some(quantity), ..Request::default() };
        let Some(found) = under(&groups, load.clone(), &request) else { return Self::default() };
        let name = |at: usize| groups[at].name.clone();
        let order = |pair: &super::report::Pair| match pair.verdict {
            Verdict::Better => Some((name(pair.second), name(pair.first))),
            Verdict::Worse => Some((name(pair.first), name(pair.second))),
            Verdict::Same | Verdict::BusTie | Verdict::CannotTell(_) => None,
        };
        Self(found.pairs.iter().filter_map(order).collect())
    }

    /// Whether one of `others` is better than `model`.
    pub(crate) fn beaten<'a>(&self, model: &str, others: impl IntoIterator<Item = &'a str>) -> bool {
        others.into_iter().any(|other| self.0.contains(&(other.to_owned(), model.to_owned())))
    }
}
