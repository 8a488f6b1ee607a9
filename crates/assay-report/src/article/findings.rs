//! The result of a ranking for a load: a word beside the best figure, and a sentence below the table.

use std::collections::BTreeSet;

use assay_analysis::Load;
use assay_analysis::rank::{Class, LoadRanking, ModelRow};
use assay_core::text::{capitalised, clean, harmless};
use serde::Serialize;

use super::columns::{Column, block, kind};
use super::scope::Scope;
use crate::document::BEST;
use crate::rank::{First, answer_of, first, verdict};

/// The result under a load.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// Title of the load.
    pub load: String,
    /// The computer on which it was measured; null where all records are compared.
    pub host: Option<String>,
    /// The kind of result for the first place.
    pub found: First,
    /// The models in the first place.
    pub models: Vec<String>,
    /// The result as a sentence.
    pub sentence: String,
}

/// The word where the figures cannot be separated.
pub(super) const TIE: &str = "tie";
/// The word where the bus makes the figures equal.
pub(super) const BUS: &str = "tie at the bus";

/// The word beside the figure of a model; empty where the model is not in first place, or where there is none.
pub(super) fn mark(ranking: &LoadRanking, row: &ModelRow) -> &'static str {
    let (found, models) = first(ranking);
    // The first of a single model is not a result.
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

/// The results of the columns, in their order.
pub(super) fn findings(scopes: &[Scope<'_>], columns: &[&Column]) -> Vec<Finding> {
    columns.iter().filter_map(|column| Some(of(&scopes[column.scope], column)?.0)).collect()
}

/// The result of a column, and its sentence without the details of this load.
fn of(scope: &Scope<'_>, column: &Column) -> Option<(Finding, String)> {
    let host = (!scope.host.is_empty()).then(|| scope.host.clone());
    let load = column.load.title();
    if let Some(ranking) = scope.ranking(&column.load) {
        let (found, models) = first(ranking);
        let models = models.into_iter().map(|row| clean(&row.model)).collect();
        let sentence = answer_of(ranking, scope.alpha());
        return Some((Finding { load, host, found, models, sentence }, format!("{}.", verdict(ranking))));
    }
    let sentence = format!("Not ranked: {}.", harmless(&scope.ranked.as_ref().err()?.to_string()));
    Some((Finding { load, host, found: First::NotRanked, models: Vec::new(), sentence: sentence.clone() }, sentence))
}

/// The longest label in front of a result, in characters.
const LONGEST: usize = 60;

/// The results as text. Loads with the same result share a line.
pub(super) fn lines(scopes: &[Scope<'_>], columns: &[&Column]) -> Vec<(String, String)> {
    let mut alike: Vec<(String, Vec<(&Column, Finding)>)> = Vec::new();
    for column in columns {
        let Some((finding, short)) = of(&scopes[column.scope], column) else { continue };
        match alike.iter_mut().find(|(known, all)| *known == short || is_same_tie(&all[0].1, &finding)) {
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
        let label = labels(scopes, all.iter().map(|(column, _)| *column));
        // With a long list of loads, the result comes first.
        if label.chars().count() > LONGEST {
            (String::new(), format!("{sentence} Loads: {label}."))
        } else {
            (capitalised(&label), sentence)
        }
    };
    alike.into_iter().map(line).collect()
}

/// Whether both are a tie of the same models, in any order.
fn is_same_tie(a: &Finding, b: &Finding) -> bool {
    let models = |finding: &Finding| finding.models.iter().cloned().collect::<BTreeSet<String>>();
    a.found == First::Tie && b.found == First::Tie && models(a) == models(b)
}

/// Loads, those of one kind together, and those of several computers: `Random read, 4 jobs, at 4 KiB, 16 KiB; random write 4 KiB,
/// 4 jobs`.
fn labels<'a>(scopes: &[Scope<'_>], columns: impl Iterator<Item = &'a Column>) -> String {
    let mut hosts: Vec<(&str, Vec<&Load>)> = Vec::new();
    for column in columns {
        let host = scopes[column.scope].host.as_str();
        match hosts.iter_mut().find(|(known, _)| *known == host) {
            Some((_, loads)) => loads.push(&column.load),
            None => hosts.push((host, vec![&column.load])),
        }
    }
    let mut alike: Vec<(String, Vec<&str>)> = Vec::new();
    for (host, loads) in hosts {
        let loads = together(&loads);
        match alike.iter_mut().find(|(known, _)| *known == loads) {
            Some((_, on)) => on.push(host),
            None => alike.push((loads, vec![host])),
        }
    }
    let label = |(loads, on): (String, Vec<&str>)| match on.as_slice() {
        [""] => loads,
        hosts => format!("{loads} on {}", hosts.join(", ")),
    };
    alike.into_iter().map(label).collect::<Vec<_>>().join("; ")
}

fn together(loads: &[&Load]) -> String {
    let mut kinds: Vec<(String, Vec<&Load>)> = Vec::new();
    for load in loads {
        let kind = kind(load);
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, all)) => all.push(load),
            None => kinds.push((kind, vec![load])),
        }
    }
    let label = |(kind, all): (String, Vec<&Load>)| match all.as_slice() {
        [one] => one.title(),
        several => format!("{kind}, at {}", several.iter().map(|load| block(load)).collect::<Vec<_>>().join(", ")),
    };
    kinds.into_iter().map(label).collect::<Vec<_>>().join("; ")
}
