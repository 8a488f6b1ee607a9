//! `assay compare` and `assay baseline`: records are compared, and named for later comparisons.

use assay_analysis::compare::{
    By, CompareError, CompareRequest, Comparison, Gate, RecordGroup, compare as analyse, gate, nameless, split,
};
use assay_core::exit::Exit;
use assay_core::finding::ValidityVerdict;
use assay_core::observation::Observation;
use assay_core::outcome::Outcome;
use assay_core::text::harmless;
use assay_pictures::Drawing;
use assay_report::{Document, Style, compare};
use assay_store::ObservationDetail;
use serde::Serialize;
use serde_json::Value;

use crate::answer::{Answer, Target, WITH_PICTURE, tell_chosen};
use crate::cli::{BaselineArgs, BaselineCommand, CompareArgs, GateFormatArg};
use crate::documents::{BaselineDocument, CompareDocument, RemovedBaseline};
use crate::ending::Failure;
use crate::{ending, output, queries, state};

pub(super) fn compare(mut args: CompareArgs) -> Result<Exit, Failure> {
    if args.queries.is_empty() {
        args.queries = last_two_media(&queries::find_all(&["all"], ObservationDetail::Estimates)?)?;
        output::tell(&format!("$ assay compare {}", args.queries.join(" ")));
    }
    let args = &args;
    let mut target = match args.format {
        Some(_) => Target::of_text(&args.file)?,
        None => Target::new(&args.file, WITH_PICTURE)?,
    };
    let answer = compare_answer(args, &mut target)?;
    match (&answer.gate, args.format) {
        (Some(gate), Some(format)) => target.deliver_text(&limits(&answer.comparison, gate, format))?,
        _ => target.deliver(&answer, args.json)?,
    }
    if let (Some(gate), true) = (&answer.gate, target.is_file()) {
        // What a log should show, whatever the file holds.
        output::print(&compare::gate_text(&answer.comparison, gate, &output::stdout_style()))?;
    }
    Ok(ending::of_comparison(&answer.comparison, answer.gate.as_ref()))
}

/// The newest records with figures of the two media that were measured last, the older first.
fn last_two_media(records: &[Observation]) -> Result<Vec<String>, Failure> {
    let counts = |record: &&Observation| {
        record.outcome == Outcome::Completed
            && record.validity.verdict != ValidityVerdict::Invalid
            && !record.measurements.is_empty()
    };
    let measured: Vec<Observation> = records.iter().filter(counts).cloned().collect();
    let measured = [measured];
    let newest = |group: &RecordGroup<'_>| {
        group.records.iter().max_by_key(|record| &record.created).map(|newest| (*newest).clone())
    };
    let mut media: Vec<Observation> = split(&measured, By::Unit).iter().filter_map(newest).collect();
    media.sort_by(|a, b| a.created.cmp(&b.created));
    match &media[media.len().saturating_sub(2)..] {
        [first, second] => Ok(vec![first.id.clone(), second.id.clone()]),
        [one] => Err(Failure::usage(format!(
            "only one medium has figures, {}: measure another, or name records, like assay compare last~1 last",
            harmless(&one.title())
        ))),
        _ => Err(Failure::usage(state::EMPTY)),
    }
}

/// The answer, wherever it goes.
pub(super) fn compare_answer(args: &CompareArgs, target: &mut Target) -> Result<CompareAnswer, Failure> {
    let of = |group: &String| queries::find_all(&[group], ObservationDetail::Latencies);
    let mut named = target.redacted_parts(args.queries.iter().map(of).collect::<Result<_, _>>()?)?;
    target.settle(named.iter_mut().flatten());
    let groups = groups(args, &named);
    let request = CompareRequest {
        quantity: args.metric,
        primary: args.load.clone(),
        margin: args.margin,
        level: args.level,
        runs: args.runs,
        units: !matches!(args.grouping(), Some(By::Model)),
    };
    let nameless = args.grouping().and_then(|by| nameless(&named, by));
    let refused = |error: CompareError| {
        // Of records that are in no group, none may be left.
        let why = nameless.as_ref().map_or_else(String::new, |note| format!("; {note}"));
        Failure::usage(format!("{error}{why}"))
    };
    let mut comparison = analyse(&groups, &request).map_err(refused)?;
    comparison.notes.extend(nameless.clone());
    if let Some(decides) = comparison.primary() {
        tell_chosen(args.load.as_deref(), named.iter().flatten(), &decides.load);
    }
    let gate = match &args.limits[..] {
        [] => None,
        limits => Some(gate(&groups, &request, &comparison, limits, args.fail_if_unknown).map_err(refused)?),
    };
    Ok(CompareAnswer { comparison, gate })
}

/// A comparison, and whether it keeps the limits that were set.
pub(super) struct CompareAnswer {
    comparison: Comparison,
    gate: Option<Gate>,
}

impl CompareAnswer {
    /// How many groups are compared.
    pub(super) fn groups(&self) -> usize {
        self.comparison.groups.len()
    }
}

impl Answer for CompareAnswer {
    fn text(&self, style: &Style) -> String {
        let limits = self.gate.as_ref().map(|gate| compare::gate_text(&self.comparison, gate, style));
        compare::text(&self.comparison, style) + &limits.unwrap_or_default()
    }

    /// The comparison, whether it is answered, and its limits.
    fn json(&self) -> Result<Value, Failure> {
        output::json(&CompareDocument {
            comparison: &self.comparison,
            answered: self.comparison.is_answered(),
            limits: self.gate.as_ref(),
        })
    }

    fn document(&self) -> Document {
        compare::document(&self.comparison, self.gate.as_ref())
    }

    fn picture(&self) -> Option<Drawing> {
        compare::picture(&self.comparison)
    }
}

fn limits(c: &Comparison, gate: &Gate, format: GateFormatArg) -> String {
    match format {
        GateFormatArg::Junit => compare::gate_junit(c, gate),
        GateFormatArg::Github => compare::gate_github(c, gate),
    }
}

fn groups<'a>(args: &CompareArgs, named: &'a [Vec<Observation>]) -> Vec<RecordGroup<'a>> {
    if let Some(by) = args.grouping() {
        return split(named, by);
    }
    // A query may hold a serial number, which is not for a file that is shared.
    let whole = args.file.output.is_none() || args.file.identities;
    let group = |(at, (query, records)): (usize, (&String, &'a Vec<Observation>))| RecordGroup {
        name: if whole || is_told(query, records) { query.clone() } else { format!("query {}", at + 1) },
        records: records.iter().collect(),
    };
    args.queries.iter().zip(named).enumerate().map(group).collect()
}

/// Whether a query says nothing that its records, as they are shown, do not say themselves: an id, or labels.
fn is_told(query: &str, records: &[Observation]) -> bool {
    let label =
        |record: &Observation, (key, value): (&str, &str)| record.labels.get(key).is_some_and(|own| own == value);
    let says = |record: &Observation, word: &str| {
        record.id == word || word.split_once('=').is_some_and(|pair| label(record, pair))
    };
    let by_all = |record: &Observation| says(record, query) || query.split_whitespace().all(|word| says(record, word));
    !records.is_empty() && records.iter().all(by_all)
}

// `assay baseline`

pub(super) fn baseline(args: &BaselineArgs) -> Result<Exit, Failure> {
    match &args.command {
        BaselineCommand::Set { name, queries, json } => {
            let store = state::existing()?.ok_or_else(|| Failure::usage(state::EMPTY))?;
            let ids = queries::resolve(&store, queries)?;
            queries::set_baseline(name, &ids)?;
            let line = described(name, &ids);
            tell_baseline(*json, &BaselineDocument { baseline: name.clone(), records: ids }, &line)?;
        }
        BaselineCommand::List { names, json } => {
            let mut all = Vec::new();
            for name in if names.is_empty() { queries::baseline_names()? } else { each_once(names) } {
                let ids = queries::read_baseline(&name)?;
                all.push((name, ids));
            }
            if *json {
                let row = |(baseline, records)| BaselineDocument { baseline, records };
                output::print_json(&all.into_iter().map(row).collect::<Vec<_>>())?;
            } else if all.is_empty() {
                output::tell("there is no baseline; assay baseline set NAME QUERY creates one");
            } else {
                let lines: Vec<String> = all.iter().map(|(name, ids)| described(name, ids)).collect();
                output::print(&assay_core::text::visible(&lines.join("\n")))?;
            }
        }
        BaselineCommand::Rm { name, json } => {
            queries::remove_baseline(name)?;
            tell_baseline(*json, &RemovedBaseline { removed: name.clone() }, &format!("removed baseline {name}"))?;
        }
    }
    Ok(Exit::Good)
}

fn each_once(names: &[String]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for name in names {
        // As a query names it, too.
        let name = name.strip_prefix(queries::BASELINE_PREFIX).unwrap_or(name);
        if !all.iter().any(|known| known == name) {
            all.push(name.to_owned());
        }
    }
    all
}

fn described(name: &str, ids: &[String]) -> String {
    format!("{name}: {}", ids.join(", "))
}

fn tell_baseline(json: bool, document: &impl Serialize, line: &str) -> Result<(), Failure> {
    if json {
        return output::print_json(document);
    }
    output::tell(line);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A published figure under another name, unit and time.
    fn measured(id: &str, unit: &str, created: &str) -> Observation {
        let mut record = assay_analysis::published("sandisk-ultra-a1/1").unwrap().remove(0);
        (record.id, record.created) = (id.to_owned(), created.to_owned());
        record.labels.insert("unit".to_owned(), unit.to_owned());
        record
    }

    #[test]
    fn without_queries_the_last_two_media_are_compared() {
        let records = [
            measured("old", "1", "2026-01-01T00:00:00Z"),
            measured("first", "2", "2026-01-02T00:00:00Z"),
            measured("again", "2", "2026-01-03T00:00:00Z"),
            measured("last", "3", "2026-01-04T00:00:00Z"),
            measured("twice", "3", "2026-01-05T00:00:00Z"),
        ];
        assert_eq!(last_two_media(&records).ok().unwrap(), ["again", "twice"]);
        let mut cut = records.clone();
        cut[4].outcome = Outcome::Running;
        cut[2].validity.verdict = ValidityVerdict::Invalid;
        assert_eq!(last_two_media(&cut).ok().unwrap(), ["first", "last"]);
        assert!(last_two_media(&records[1..3]).unwrap_err().message().contains("only one medium has figures"));
        assert!(last_two_media(&[]).is_err());
    }
}
