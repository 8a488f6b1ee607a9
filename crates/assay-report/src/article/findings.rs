//! What a ranking says of a load, in a word beside the best and in a sentence below the table.

use assay_analysis::rank::{Class, LoadRanking, ModelRow};
use assay_core::text::{capitalised, clean};
use serde::Serialize;

use super::columns::{Column, block, kind};
use super::scope::Scope;
use crate::rank::{First, answer_of, first, verdict};

/// What was found under a load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// Title of the load.
    pub load: String,
    /// The computer on which it was measured; null where all records are compared.
    pub host: Option<String>,
    /// What was found of the first place.
    pub found: First,
    /// The models that this is about.
    pub models: Vec<String>,
    /// The same in words.
    pub sentence: String,
}

/// The word beside a figure of the best model.
pub(super) const BEST: &str = "best";
/// The word where the figures cannot be separated.
pub(super) const TIE: &str = "tie";
/// The word where the bus makes the figures equal.
pub(super) const BUS: &str = "tie at the bus";

/// The word beside the figure of a model; empty where the ranking gives it no first place, or gives none.
pub(super) fn mark(ranking: &LoadRanking, row: &ModelRow) -> &'static str {
    let (found, models) = first(ranking);
    // The best of one is no finding.
    let compared = ranking.models.iter().filter(|row| row.layer.is_some()).count() > 1;
    if !compared || row.class != Class::Sound || !models.iter().any(|model| model.model == row.model) {
        return "";
    }
    match found {
        First::Best => BEST,
        First::BusLimit => BUS,
        First::Tie | First::TieWithFailures => TIE,
        First::NotRanked | First::Corrupt | First::Failing | First::OneUnit | First::OtherComputers => "",
    }
}

/// What is found of each column, in their order.
pub(super) fn findings(scopes: &[Scope<'_>], columns: &[&Column]) -> Vec<Finding> {
    columns.iter().filter_map(|column| Some(of(&scopes[column.scope], column)?.0)).collect()
}

/// What is found of a column, and its sentence without what is true of this load alone.
fn of(scope: &Scope<'_>, column: &Column) -> Option<(Finding, String)> {
    let host = (!scope.host.is_empty()).then(|| scope.host.clone());
    let load = column.load.title();
    if let Some(ranking) = scope.ranking(&column.load) {
        let (found, models) = first(ranking);
        let models = models.into_iter().map(|row| clean(&row.model)).collect();
        let sentence = answer_of(ranking, scope.alpha());
        return Some((Finding { load, host, found, models, sentence }, format!("{}.", verdict(ranking))));
    }
    let sentence = format!("Not ranked: {}.", scope.ranked.as_ref().err()?);
    Some((Finding { load, host, found: First::NotRanked, models: Vec::new(), sentence: sentence.clone() }, sentence))
}

/// The same in words: loads of which the same is found share a line.
pub(super) fn lines(scopes: &[Scope<'_>], columns: &[&Column]) -> Vec<(String, String)> {
    let mut alike: Vec<(String, Vec<(&Column, Finding)>)> = Vec::new();
    for column in columns {
        let Some((finding, short)) = of(&scopes[column.scope], column) else { continue };
        match alike.iter_mut().find(|(known, _)| *known == short) {
            Some((_, all)) => all.push((column, finding)),
            None => alike.push((short, vec![(column, finding)])),
        }
    }
    if let [(short, all)] = alike.as_slice()
        && all.len() > 1
    {
        return vec![("All loads".to_owned(), short.clone())];
    }
    let line = |(short, all): (String, Vec<(&Column, Finding)>)| {
        let sentence = if all.len() == 1 { all[0].1.sentence.clone() } else { short };
        (labels(scopes, all.iter().map(|(column, _)| *column)), sentence)
    };
    alike.into_iter().map(line).collect()
}

/// Loads, those of one kind together: `Random read, 4 jobs, at 4 KiB, 16 KiB; random write 4 KiB, 4 jobs`.
fn labels<'a>(scopes: &[Scope<'_>], columns: impl Iterator<Item = &'a Column>) -> String {
    let mut kinds: Vec<(String, &str, Vec<&Column>)> = Vec::new();
    for column in columns {
        let (kind, host) = (kind(&column.load), scopes[column.scope].host.as_str());
        match kinds.iter_mut().find(|(known, on, _)| *known == kind && *on == host) {
            Some((.., all)) => all.push(column),
            None => kinds.push((kind, host, vec![column])),
        }
    }
    let label = |(kind, host, all): (String, &str, Vec<&Column>)| {
        let loads = match all.as_slice() {
            [one] => one.load.title(),
            several => {
                let blocks: Vec<String> = several.iter().map(|column| block(&column.load)).collect();
                format!("{kind}, at {}", blocks.join(", "))
            }
        };
        if host.is_empty() { loads } else { format!("{loads}, {host}") }
    };
    capitalised(&kinds.into_iter().map(label).collect::<Vec<_>>().join("; "))
}
