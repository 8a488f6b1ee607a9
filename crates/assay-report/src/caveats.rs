//! Lines for what is left out of an answer, in the same words below every answer.

use std::collections::{BTreeMap, BTreeSet};

use assay_analysis::{Absence, Excluded, Needed, Values};
use assay_core::finding::{Cause, Finding, Severity, Warning};
use assay_core::observation::Observation;
use assay_core::text::{clean, statement};
use assay_core::units::{counted, grouped, percent};

use crate::change::difference;

/// The label of such a line.
pub(crate) const LEFT_OUT: &str = "left out";

/// What is said of a figure without the effects of slots and rounds. A computer is a slot, too.
pub(crate) const ADJUSTED: &str = "adjusted for slot, round and computer";

/// How often chance alone brings something about, in words.
pub(crate) fn cases(p: f64) -> String {
    if p < 0.001 { "less than 0.1 % of cases".to_owned() } else { format!("{:.1} % of cases", p * 100.0) }
}

/// The number of names or loads in a shortened line.
const FEW: usize = 6;

/// One line for each reason, with the names it applies to and, where it is about some loads only, those loads: `B: not
/// measured at this depth, but at QD1: random read 4 KiB`.
///
/// `name` gives the name of an entry. Long lists are shortened where `rest` gives the option that shows all entries,
/// such as `--all`.
pub(crate) fn left_out_lines<'a>(
    all: impl IntoIterator<Item = &'a Excluded>,
    name: impl Fn(&Excluded) -> String,
    rest: Option<&str>,
) -> Vec<String> {
    // An entry about a whole record is kept separate from entries about single loads.
    let mut loads: BTreeMap<(String, String, bool), Vec<String>> = BTreeMap::new();
    for e in all {
        let known = loads.entry((statement(&e.reason.to_string()), name(e), e.load.is_none())).or_default();
        known.extend(e.load.as_deref().map(clean).filter(|load| !known.contains(load)));
    }
    // Entries with the same reason and the same loads share a line.
    let mut shared: BTreeMap<(String, Vec<String>), Vec<String>> = BTreeMap::new();
    for ((reason, name, _), loads) in loads {
        shared.entry((reason, loads)).or_default().push(name);
    }
    let line = |((reason, loads), names): ((String, Vec<String>), Vec<String>)| {
        let loads = if loads.is_empty() { String::new() } else { format!(": {}", listed_names(&loads, "; ", rest)) };
        format!("{}: {reason}{loads}", listed_names(&names, ", ", rest))
    };
    shared.into_iter().map(line).collect()
}

/// The same for an answer about one load, which the answer itself names: records, by model and unit.
pub(crate) fn left_out_of_one_load(all: &[Excluded], rest: Option<&str>) -> Vec<String> {
    let all: Vec<Excluded> = all.iter().map(|e| Excluded { load: None, ..e.clone() }).collect();
    left_out_lines(&all, record_name, rest)
}

/// The same in numbers: of many records that lack the load only how many; of few, and of other reasons, which.
pub(crate) fn left_out_in_numbers(all: &[Excluded], rest: &str) -> Vec<String> {
    let kind = |e: &Excluded| match e.reason.absence() {
        Some(Absence::OtherLoad(words) | Absence::LoadNotTold(words)) => Some(words),
        Some(Absence::NoFigure) | None => None,
    };
    let mut lines = Vec::new();
    let mut named: Vec<Excluded> = all.iter().filter(|e| kind(e).is_none()).cloned().collect();
    let mut kinds: Vec<&str> = all.iter().filter_map(kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    for words in kinds {
        let of: Vec<&Excluded> = all.iter().filter(|e| kind(e) == Some(words)).collect();
        let records: BTreeSet<&str> = of.iter().map(|e| e.record.as_str()).collect();
        if records.len() > NAMED {
            lines.push(format!("{} records: {words} ({rest} names them)", records.len()));
        } else {
            named.extend(of.into_iter().cloned());
        }
    }
    lines.extend(left_out_of_one_load(&named, Some(rest)));
    lines
}

/// Models whose left-out records are all named one by one: always with `all`, else if they are few ([`left_out_in_numbers`]).
pub(crate) fn named_one_by_one(excluded: &[Excluded], all: bool) -> BTreeSet<&str> {
    let kind = |e: &Excluded| e.reason.to_string();
    let records = |of: &Excluded| {
        let alike = excluded.iter().filter(|e| kind(e) == kind(of));
        alike.map(|e| e.record.as_str()).collect::<BTreeSet<&str>>().len()
    };
    let numbered = excluded.iter().filter(|e| !all && records(e) > NAMED).map(|e| e.model.as_str());
    let numbered: BTreeSet<&str> = numbered.collect();
    excluded.iter().map(|e| e.model.as_str()).filter(|model| !numbered.contains(model)).collect()
}

/// Most records that are named one by one.
const NAMED: usize = 3;

pub(crate) fn listed_names(all: &[String], between: &str, rest: Option<&str>) -> String {
    match (all.split_at_checked(FEW), rest) {
        (Some((few, more)), Some(rest)) if more.len() > 1 => {
            format!("{} and {} more ({rest})", few.join(between), more.len())
        }
        _ => all.join(between),
    }
}

/// A record with its model and unit. A published record is shown by its id only, which contains both.
pub(crate) fn record_name(e: &Excluded) -> String {
    let (record, unit) = (clean(&e.record), clean(&e.name()));
    if record.starts_with(assay_analysis::PREFIX) {
        return record;
    }
    // The model of a record without one is made from its id.
    if unit.ends_with(&record) { unit } else { format!("{record} ({unit})") }
}

// The number of values that would settle an undecided answer, as text.

/// `12 units of each would show a difference of 24 % (chance 80 %)`, `showing a difference of 3.0 % would need 64 units of each`.
pub(crate) fn needed(needed: &Needed) -> String {
    needed_for(needed, None)
}

/// The same beside an observed ratio, in whose direction the difference is told: where `−31 %` was seen, `31 %` and not the `45 %`
/// of the other direction.
pub(crate) fn needed_for(needed: &Needed, observed: Option<f64>) -> String {
    let of = match needed.of {
        Values::Units => "units of each",
        Values::Pairs => "units in both",
        Values::Runs if needed.number == 1 => "run of each on another day",
        Values::Runs => "runs of each on as many days",
        Values::Others => "other units",
    };
    let (difference, number) = (needed_difference(needed.ratio, observed), grouped(needed.number.into()));
    if needed.number > ANYBODY {
        return format!("showing {difference} would need {number} {of}");
    }
    format!("{number} {of} would show {difference} (chance {})", percent(needed.power, 0))
}

/// A larger number is not practical, and is not given as advice.
const ANYBODY: u32 = 20;

fn needed_difference(ratio: f64, observed: Option<f64>) -> String {
    if ratio >= 2.0 {
        return difference(ratio);
    }
    // The smallest difference that matters is shown as the user gave it.
    let below = observed.filter(|seen| *seen < 1.0 && (seen * ratio - 1.0).abs() < 1e-6);
    format!("a difference of {}", difference(below.map_or(ratio, |seen| 2.0 - seen)))
}

// What a choice by expected loss does not say: that the chosen model was shown to be the better one.

/// A sentence on the models that `rank` and `compare` cannot separate from the chosen one; none where they separate all.
pub(crate) fn least_loss(not_separated: &[String]) -> Option<String> {
    let names: Vec<String> = not_separated.iter().map(|name| clean(name)).collect();
    (!names.is_empty()).then(|| {
        format!(
            "rank and compare cannot separate it from {}: it is the choice that costs least on average, not one that was shown \
             to be better.",
            names.join(", ")
        )
    })
}

// Warnings of a record, the same ones said once.

/// A warning with the workloads it is about.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Note {
    pub(crate) severity: Severity,
    /// The first of the findings that it tells.
    pub(crate) finding: Finding,
    /// One cause; of several that differ in numbers, with the range of each number.
    pub(crate) cause: String,
    pub(crate) remedy: String,
    pub(crate) about: About,
}

/// What a note is about.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum About {
    /// The run as a whole.
    Run,
    /// Each of several loads, which are all of the record.
    AllLoads,
    /// The loads of these titles.
    Loads(Vec<String>),
}

impl Note {
    /// The cause and its subject.
    pub(crate) fn sentence(&self) -> String {
        match &self.about {
            About::Run => self.cause.clone(),
            About::AllLoads => format!("all loads: {}", self.cause),
            About::Loads(titles) => {
                // Titles of an open loop have commas themselves.
                let between = if titles.iter().any(|title| title.contains(", ")) { "; " } else { ", " };
                format!("{}: {}", titles.join(between), self.cause)
            }
        }
    }

    /// The same with the remedy, as sentences.
    pub(crate) fn sentences(&self) -> String {
        let cause = format!("{}.", statement(&self.sentence()));
        if self.remedy.is_empty() { cause } else { format!("{cause} Remedy: {}.", statement(&self.remedy)) }
    }

    pub(crate) fn word(&self) -> &'static str {
        word(self.severity)
    }

    /// The cause with one workload it is about and how many others; without them where it is about all of `loads`.
    pub(crate) fn short_sentence(&self, loads: usize) -> String {
        let About::Loads(titles) = &self.about else { return self.cause.clone() };
        match titles.as_slice() {
            titles if titles.len() == loads => self.cause.clone(),
            [] => self.cause.clone(),
            [one] => format!("{one}: {}", self.cause),
            [first, others @ ..] => format!("{first} and {}: {}", counted(others.len(), "other load"), self.cause),
        }
    }
}

/// A severity as people read it.
pub(crate) fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Invalid => "invalid",
        Severity::Suspect => "suspect",
        Severity::Note => "note",
    }
}

/// All warnings, the gravest first, each cause once.
pub(crate) fn notes(record: &Observation) -> Vec<Note> {
    let of_run = record.warnings.iter().map(|warning| (warning, None));
    let of_workloads =
        record.measurements.iter().flat_map(|m| m.warnings.iter().map(|w| (w, Some(record.load_title(m)))));
    let mut groups: Vec<(&Warning, Cause, Vec<String>)> = Vec::new();
    for (warning, about) in of_run.chain(of_workloads) {
        // That a workload was skipped stands in its own row, with the reason.
        if matches!(warning.finding, Finding::FewerRepeats { ran: 0, .. }) {
            continue;
        }
        let cause = common_cause(warning);
        let known = groups.iter_mut().find_map(|(first, known, titles)| {
            let alike = first.severity == warning.severity && first.remedy() == warning.remedy();
            (alike && known.merge(&cause)).then_some(titles)
        });
        match known {
            // What the whole run suffers from is said of no single workload.
            Some(titles) => {
                if let Some(title) = about.filter(|title| !titles.is_empty() && !titles.contains(title)) {
                    titles.push(title);
                }
            }
            None => groups.push((warning, cause, about.into_iter().collect())),
        }
    }
    let all = record.measurements.len();
    let note = |(warning, cause, about): (&Warning, Cause, Vec<String>)| Note {
        severity: warning.severity,
        finding: warning.finding.clone(),
        cause: cause.to_string(),
        remedy: warning.remedy().to_owned(),
        about: match about.len() {
            0 => About::Run,
            // As most notes on an imported figure are.
            loads if all > 2 && loads == all => About::AllLoads,
            _ => About::Loads(about),
        },
    };
    let mut notes: Vec<Note> = groups.into_iter().map(note).collect();
    notes.sort_by_key(|n| std::cmp::Reverse(n.severity));
    notes
}

/// The cause without what differs between workloads and stands in the table anyway.
fn common_cause(warning: &Warning) -> Cause {
    match warning.finding {
        Finding::BusLimited { .. } => Cause::words("bus-limited, so the medium may be faster than this"),
        _ => warning.pieces(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_analysis::Reason;

    fn excluded(record: usize, load: Option<&str>, reason: Reason) -> Excluded {
        Excluded {
            record: format!("r{record}"),
            model: "Card".to_owned(),
            unit: record.to_string(),
            load: load.map(str::to_owned),
            reason,
        }
    }

    #[test]
    fn each_reason_is_told_once_with_all_that_it_holds_for() {
        let all = [
            excluded(1, Some("random read 4 KiB"), Reason::NotMeasured),
            excluded(2, Some("random read 4 KiB"), Reason::NotMeasured),
            excluded(1, Some("random write 4 KiB"), Reason::NotMeasured),
            excluded(2, Some("random write 4 KiB"), Reason::NotMeasured),
            excluded(3, None, Reason::LoadNotTold),
        ];
        let (measured, told) = (Reason::NotMeasured, Reason::LoadNotTold);
        let mut expected = [
            format!("r1 (Card · unit 1), r2 (Card · unit 2): {measured}: random read 4 KiB; random write 4 KiB"),
            format!("r3 (Card · unit 3): {told}"),
        ];
        let mut found = left_out_lines(&all, record_name, None);
        expected.sort();
        found.sort();
        assert_eq!(found, expected);
    }

    #[test]
    fn of_many_a_few_are_told_and_where_the_rest_is() {
        let all: Vec<Excluded> = (1..=9).map(|at| excluded(at, None, Reason::NotMeasured)).collect();
        let of = |many: usize| left_out_lines(&all[..many], |e| e.record.clone(), Some("--all"));
        assert_eq!(of(9), [format!("r1, r2, r3, r4, r5, r6 and 3 more (--all): {}", Reason::NotMeasured)]);
        assert!(!of(7)[0].contains("more"), "one more takes no more room than to say so: {:?}", of(7));
    }

    #[test]
    fn many_records_of_other_loads_are_a_number() {
        let depths = || Reason::OtherDepths { measured: vec!["QD1".to_owned()] };
        let mut all: Vec<Excluded> = (1..=11).map(|at| excluded(at, None, depths())).collect();
        all.push(excluded(12, None, Reason::NotMeasured));
        all.push(excluded(13, None, Reason::Unfinished));
        let said = left_out_in_numbers(&all, "--all");
        assert_eq!(said[0], "11 records: other queue depths (--all names them)");
        assert_eq!(said.len(), 3, "{said:?}");
        assert!(said[1..].iter().all(|line| line.starts_with("r1")), "few are named: {said:?}");
    }

    #[test]
    fn a_model_is_named_once_where_its_records_are() {
        let of =
            |model: &str, record| Excluded { model: model.to_owned(), ..excluded(record, None, Reason::NotMeasured) };
        let few = [of("A", 1), of("B", 2)];
        assert_eq!(named_one_by_one(&few, false), BTreeSet::from(["A", "B"]));
        let many: Vec<Excluded> = (1..=4).map(|at| of("A", at)).collect();
        assert!(named_one_by_one(&many, false).is_empty(), "they are a number");
        assert_eq!(named_one_by_one(&many, true), BTreeSet::from(["A"]));
    }

    #[test]
    fn it_is_said_how_many_find_which_difference() {
        let say = |number, of, ratio| needed(&Needed { number, of, ratio, power: 0.8 });
        assert_eq!(say(12, Values::Units, 1.24), "12 units of each would show a difference of 24 % (chance 80 %)");
        assert_eq!(
            say(4, Values::Runs, 1.055),
            "4 runs of each on as many days would show a difference of 5.5 % (chance 80 %)"
        );
        assert_eq!(say(738, Values::Units, 1.03), "showing a difference of 3.0 % would need 738 units of each");
        assert!(say(3, Values::Pairs, 2.5).contains("3 units in both would show a factor of 2.5"));
    }

    #[test]
    fn the_difference_that_was_seen_keeps_its_direction() {
        let say = |ratio: f64, observed| {
            needed_for(&Needed { number: 4, of: Values::Units, ratio, power: 0.8 }, Some(observed))
        };
        assert!(say(1.0 / 0.69, 0.69).contains("a difference of 31 %"), "{}", say(1.0 / 0.69, 0.69));
        assert!(say(1.45, 1.45).contains("a difference of 45 %"));
        assert!(say(1.03, 0.99).contains("a difference of 3.0 %"), "the margin, as it was asked for");
        assert!(say(5.0, 0.2).contains("a factor of 5.0"));
    }
}
