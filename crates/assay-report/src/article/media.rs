//! Whose figures stand in the rows.

use std::collections::{BTreeMap, BTreeSet};

use assay_analysis::rank::{LoadRanking, ModelRow, Precedence, RankError, RankOptions, RankReport, rank};
use assay_analysis::{Identity, Load, Quantity, admit, deciding_quantity, identity, loads};
use assay_core::observation::Observation;
use assay_core::text::{capitalised, clean, harmless};
use assay_core::units::Bytes;
use assay_core::workload::Op;
use serde::Serialize;

use crate::document::BEST;
use crate::facts;
use crate::rank::{First, answer_of, first, verdict};

/// A model with its units.
pub(super) struct Model<'a> {
    /// Its name in rankings.
    pub(super) key: String,
    /// Its name for people.
    pub(super) title: String,
    pub(super) units: Vec<Unit<'a>>,
}

/// A physical piece.
pub(super) struct Unit<'a> {
    /// Its name in rankings; empty where the records tell none.
    pub(super) key: String,
    /// Its name for people.
    pub(super) title: String,
    /// Whether that is the node, where none knows the unit.
    pub(super) is_node: bool,
    pub(super) records: Vec<&'a Observation>,
}

/// A row of a table.
#[derive(Clone, Copy)]
pub(super) enum Medium<'a> {
    /// A model of several units.
    Whole(&'a Model<'a>),
    /// A unit.
    One(&'a Model<'a>, &'a Unit<'a>),
}

impl<'a> Medium<'a> {
    pub(super) fn model(self) -> &'a Model<'a> {
        match self {
            Self::Whole(model) | Self::One(model, _) => model,
        }
    }

    /// The unit; `None` of a model as a whole.
    pub(super) fn unit(self) -> Option<&'a Unit<'a>> {
        match self {
            Self::Whole(_) => None,
            Self::One(_, unit) => Some(unit),
        }
    }
}

/// All media, models in the order of the ranking, which is that of the records where nothing was ranked.
pub(super) fn media<'a>(records: &'a [Observation], ranked: Option<&RankReport>) -> Vec<Model<'a>> {
    let mut all: Vec<Model<'a>> = Vec::new();
    for record in records {
        let Identity { model, unit, .. } = identity(record);
        let at = all.iter().position(|known| known.key == model).unwrap_or_else(|| {
            all.push(Model { key: model, title: record.title(), units: Vec::new() });
            all.len() - 1
        });
        let units = &mut all[at].units;
        match units.iter_mut().find(|known| known.key == unit) {
            Some(known) => known.records.push(record),
            None => {
                let own = facts::unit(record);
                let is_node = own.is_empty() && !unit.is_empty() && !record.is_published();
                let title = if is_node { clean(&unit) } else { own };
                units.push(Unit { key: unit, title, is_node, records: vec![record] });
            }
        }
    }
    for model in &mut all {
        model.units.sort_by_key(unit_number);
    }
    if let Some(report) = ranked.filter(|report| report.primary.refusal.is_none()) {
        let place = |model: &Model<'_>| report.primary.models.iter().position(|row| row.model == model.key);
        all.sort_by_key(|model| place(model).unwrap_or(usize::MAX));
    }
    all
}

/// Numbers in their order, then all others in that of the records.
fn unit_number(unit: &Unit<'_>) -> u64 {
    unit.title.parse().unwrap_or(u64::MAX)
}

/// The rows of a table of these media: a model of several units, and under it each of them.
pub(super) fn medium_rows<'a>(media: &'a [Model<'a>]) -> Vec<Medium<'a>> {
    let of = |model: &'a Model<'a>| {
        let whole = (model.units.len() > 1).then_some(Medium::Whole(model));
        whole.into_iter().chain(model.units.iter().map(move |unit| Medium::One(model, unit)))
    };
    media.iter().flat_map(of).collect()
}

// The records behind the columns of a table: all of them, or those of one kind of computer, with their ranking.

/// All records, or those of one computer.
pub(super) struct Scope<'a> {
    /// Which computer; empty for all records.
    pub(super) host: String,
    pub(super) records: Vec<&'a Observation>,
    /// The ranking of all its loads, or why there is none.
    pub(super) ranked: Result<RankReport, RankError>,
}

impl<'a> Scope<'a> {
    /// All records.
    pub(super) fn of_all(records: &'a [Observation]) -> Self {
        Self::new(String::new(), records.iter().collect())
    }

    /// Those of one computer.
    pub(super) fn of_computer(records: &'a [Observation], host: &str) -> Self {
        Self::new(host.to_owned(), records.iter().filter(|record| computer(record) == host).collect())
    }

    fn new(host: String, records: Vec<&'a Observation>) -> Self {
        let ranked = rank(&records, &RankOptions::default());
        Self { host, records, ranked }
    }

    /// Whether it is about a record of the article.
    pub(super) fn holds(&self, record: &Observation) -> bool {
        self.host.is_empty() || computer(record) == self.host
    }

    /// What the ranking says of a load.
    pub(super) fn ranking(&self, load: &Load) -> Option<&LoadRanking> {
        let report = self.ranked.as_ref().ok()?;
        std::iter::once(&report.primary).chain(&report.exploratory).find(|ranking| ranking.load == *load)
    }

    /// The figure that decides under a load.
    pub(super) fn quantity(&self, load: &Load) -> Quantity {
        let decides = || deciding_quantity(self.records.iter().copied(), load).quantity;
        self.ranking(load).map_or_else(decides, |ranking| ranking.quantity)
    }

    /// Chance of a false order of a load.
    pub(super) fn alpha(&self) -> f64 {
        self.ranked.as_ref().map_or(RankOptions::default().alpha, |report| report.alpha)
    }
}

/// The kind of computer: its board, else its processor, else its name; empty if the record has no such field.
pub(super) fn computer(record: &Observation) -> String {
    let host = &record.host;
    let all = [&host.board, &host.cpu, &host.hostname];
    all.into_iter().flatten().map(|name| clean(name)).find(|name| !name.is_empty()).unwrap_or_default()
}

/// The computers of these records, each once, in the order of the records.
pub(super) fn computers<'a>(records: impl IntoIterator<Item = &'a Observation>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for name in records.into_iter().map(computer).filter(|name| !name.is_empty()) {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

/// Loads under which some model was measured with two kinds of computers or more: what differs there tells of the computers,
/// too. A computer for each medium compares none.
pub(super) fn crossed(records: &[Observation]) -> BTreeSet<Load> {
    let mut seen: BTreeMap<(Load, String), BTreeSet<String>> = BTreeMap::new();
    for record in records {
        let name = computer(record);
        for load in loads([record]).into_iter().filter(|_| !name.is_empty()) {
            seen.entry((load, identity(record).model)).or_default().insert(name.clone());
        }
    }
    seen.into_iter().filter(|(_, with)| with.len() > 1).map(|((load, _), _)| load).collect()
}

// Which loads stand in which table.

/// Columns of figures of a table: more are no longer read beside each other.
const MOST: usize = 6;

/// A column of a table: figures of some of the records under a load.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LoadColumn {
    /// Place of its records among the scopes.
    pub(super) scope: usize,
    pub(super) load: Load,
    /// Over it, without the unit.
    pub(super) title: String,
}

/// A table before its cells are known.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TablePlan {
    pub(super) title: String,
    pub(super) columns: Vec<LoadColumn>,
    /// Whether one medium alone has these loads.
    pub(super) alone: bool,
}

/// Media by loads: those of several media before those of one alone, reads before writes, no table wider than [`MOST`].
pub(super) fn by_loads(
    records: &[Observation],
    all: &Scope<'_>,
    scope: usize,
    wanted: impl Fn(&Load) -> bool,
) -> Vec<TablePlan> {
    let mut holders: BTreeMap<Load, BTreeSet<Identity>> = BTreeMap::new();
    for record in records {
        for load in loads([record]).into_iter().filter(|load| wanted(load)) {
            let counts = admit(record, &load, all.quantity(&load)).0.is_some();
            let known = holders.entry(load).or_default();
            if counts {
                let Identity { model, unit, .. } = identity(record);
                known.insert(Identity { model, unit, slot: None, round: None });
            }
        }
    }
    let several = holders.values().flatten().collect::<BTreeSet<&Identity>>().len() > 1;
    let figured = holders.into_iter().filter(|(_, of)| !of.is_empty());
    let alike: Vec<(Load, bool)> = figured.map(|(load, of)| (load, several && of.len() < 2)).collect();
    let of = |op, alone| {
        let loads = alike.iter().filter(|(load, lonely)| load.op() == op && *lonely == alone);
        split_plans(loads.map(|(load, _)| load.clone()).collect(), scope, alone)
    };
    let all = [false, true].into_iter().flat_map(|alone| [Op::Read, Op::Mixed, Op::Write].map(|op| of(op, alone)));
    all.flatten().collect()
}

/// Tables of loads of one operation: kinds of loads stay together.
fn split_plans(loads: Vec<Load>, scope: usize, alone: bool) -> Vec<TablePlan> {
    let mut kinds: Vec<(String, Vec<Load>)> = Vec::new();
    for load in loads {
        let kind = load_kind(&load);
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, of)) => of.push(load),
            None => kinds.push((kind, vec![load])),
        }
    }
    let mut tables: Vec<Vec<Load>> = Vec::new();
    for (_, of) in kinds {
        match tables.last_mut() {
            Some(last) if last.len() + of.len() <= MOST => last.extend(of),
            _ => tables.extend(of.chunks(MOST).map(<[Load]>::to_vec)),
        }
    }
    tables.into_iter().map(|loads| plan_of_loads(loads, scope, alone)).collect()
}

fn plan_of_loads(loads: Vec<Load>, scope: usize, alone: bool) -> TablePlan {
    let mut kinds: Vec<String> = loads.iter().map(load_kind).collect();
    kinds.dedup();
    let one = kinds.len() == 1 && loads.len() > 1;
    let column = |load: Load| {
        let title = if one { load_block(&load) } else { capitalised(&load.title()) };
        LoadColumn { scope, load, title }
    };
    let title = match loads.first() {
        Some(_) if one => capitalised(&kinds.concat()),
        Some(load) => capitalised(match load.op() {
            Op::Read => "reads",
            Op::Write => "writes",
            Op::Mixed => "mixed work",
        }),
        None => String::new(),
    };
    TablePlan { title, columns: loads.into_iter().map(column).collect(), alone }
}

/// The size of its blocks.
pub(super) fn load_block(load: &Load) -> String {
    match load.block_bytes {
        _ if !load.blocks.is_empty() => load.blocks.clone(),
        0 => "unknown".to_owned(),
        bytes => Bytes(bytes).to_string(),
    }
}

/// The load without its block size.
pub(super) fn load_kind(load: &Load) -> String {
    let mut kind = load.clone();
    kind.block_bytes = 0;
    kind.title_of_sizes()
}

/// Media by computers: a table for each load.
pub(super) fn by_computers(scopes: &[Scope<'_>], crossed: &BTreeSet<Load>) -> Vec<TablePlan> {
    let tables = |load: &Load| {
        let has = |scope: &Scope<'_>| {
            !scope.host.is_empty() && scope.records.iter().any(|r| admit(r, load, scope.quantity(load)).0.is_some())
        };
        let column =
            |(at, scope): (usize, &Scope<'_>)| LoadColumn { scope: at, load: load.clone(), title: scope.host.clone() };
        let columns: Vec<LoadColumn> = scopes.iter().enumerate().filter(|(_, scope)| has(scope)).map(column).collect();
        let title = capitalised(&load.title());
        let table = |part: &[LoadColumn]| TablePlan { title: title.clone(), columns: part.to_vec(), alone: false };
        columns.chunks(MOST).map(table).collect::<Vec<_>>()
    };
    crossed.iter().flat_map(tables).collect()
}

// The result of a ranking for a load: a word beside the best figure, and a sentence below the table.

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
pub(super) fn mark_of(ranking: &LoadRanking, row: &ModelRow) -> &'static str {
    let (found, models) = first(ranking);
    // The first of a single model is not a result.
    let compared = ranking.models.iter().filter(|row| row.layer.is_some()).count() > 1;
    if !compared || row.class != Precedence::Sound || !models.iter().any(|model| model.model == row.model) {
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
pub(super) fn findings(scopes: &[Scope<'_>], columns: &[&LoadColumn]) -> Vec<Finding> {
    columns.iter().filter_map(|column| Some(finding_of(&scopes[column.scope], column)?.0)).collect()
}

/// The result of a column, and its sentence without the details of this load.
fn finding_of(scope: &Scope<'_>, column: &LoadColumn) -> Option<(Finding, String)> {
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
pub(super) fn finding_lines(scopes: &[Scope<'_>], columns: &[&LoadColumn]) -> Vec<(String, String)> {
    let mut alike: Vec<(String, Vec<(&LoadColumn, Finding)>)> = Vec::new();
    for column in columns {
        let Some((finding, short)) = finding_of(&scopes[column.scope], column) else { continue };
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
    let line = |(short, all): (String, Vec<(&LoadColumn, Finding)>)| {
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
fn labels<'a>(scopes: &[Scope<'_>], columns: impl Iterator<Item = &'a LoadColumn>) -> String {
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
        let loads = findings_together(&loads);
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

fn findings_together(loads: &[&Load]) -> String {
    let mut kinds: Vec<(String, Vec<&Load>)> = Vec::new();
    for load in loads {
        let kind = load_kind(load);
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, all)) => all.push(load),
            None => kinds.push((kind, vec![load])),
        }
    }
    let label = |(kind, all): (String, Vec<&Load>)| match all.as_slice() {
        [one] => one.title(),
        several => format!("{kind}, at {}", several.iter().map(|load| load_block(load)).collect::<Vec<_>>().join(", ")),
    };
    kinds.into_iter().map(label).collect::<Vec<_>>().join("; ")
}
