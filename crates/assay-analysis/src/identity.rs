//! The model and unit that a record measured, its day and host, and which computers a common unit connects.

use std::collections::{BTreeMap, BTreeSet};

use assay_core::medium::MediumKind;
use assay_core::observation::Observation;
use assay_core::text::clean;
use assay_stats::days::{day_of_each, days_of_sittings};
use jiff::Timestamp;
use serde::Serialize;

/// The model and unit that a record measured. Text is as the medium or the user gave it: escape it before it is shown.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Identity {
    /// The product: label `model`, or the name that the medium reports. A record that names neither model nor unit gets
    /// a model of its own, because it is unknown whether two such records are of one medium.
    pub model: String,
    /// The physical piece: label `unit`, or its serial number; in a run on many nodes the node, where neither is known, as each node
    /// has one. Otherwise empty: all records of a model without a unit count as one unit. A unit of a published article is kept distinct from a unit of the same number
    /// here.
    pub unit: String,
    /// The slot: label `slot`, or the slot that the host reports.
    pub slot: Option<String>,
    /// Round of a plan: label `round`.
    pub round: Option<String>,
}

/// The model and unit that a record measured.
#[must_use]
pub fn identity(record: &Observation) -> Identity {
    let label = |key: &str| record.labels.get(key).filter(|value| !value.is_empty()).cloned();
    let unit = if names_unit(record) { unit_of(record) } else { node_of(record).unwrap_or_default() };
    let own = unit.is_empty() && !names_model(record);
    Identity {
        model: if own { format!("{} {}", record.medium.kind.title(), record.id) } else { record.model() },
        unit: if record.is_published() { format!("{unit}{PUBLISHED}").trim_start().to_owned() } else { unit },
        slot: label("slot").or_else(|| record.host.slot.clone()),
        round: label("round"),
    }
}

/// What a line of a store's list says of a medium.
#[derive(Debug, Clone, Copy)]
pub struct Listed<'a> {
    /// Label `model`, or else the title of the medium.
    pub model: &'a str,
    /// Serial number of the medium.
    pub serial: Option<&'a String>,
    /// Labels of the record.
    pub labels: &'a BTreeMap<String, String>,
}

/// The model and unit of a run of assay by a line of a list, as [`identity`] has them; none where only the whole record tells:
/// a figure that was printed elsewhere may name no medium at all.
#[must_use]
pub fn listed_identity(line: &Listed<'_>) -> Option<(String, String)> {
    let unit = named_unit(line.labels, line.serial);
    let unit = if unit.is_empty() { named_node(line.labels).unwrap_or_default() } else { unit };
    (!unit.is_empty()).then(|| (line.model.to_owned(), unit))
}

/// Whether label or medium name the unit.
#[must_use]
pub(crate) fn names_unit(record: &Observation) -> bool {
    !unit_of(record).is_empty()
}

/// The node of a record of a run on many nodes.
pub(crate) fn node_of(record: &Observation) -> Option<String> {
    let part = record.cluster.as_ref().map(|part| part.node.clone());
    part.or_else(|| named_node(&record.labels))
}

/// The node that labels name.
fn named_node(labels: &BTreeMap<String, String>) -> Option<String> {
    let label = |key: &str| labels.get(key).filter(|value| !value.is_empty());
    label("fleet").and(label("node")).cloned()
}

/// Label `unit`, or the serial number; empty where neither is known.
#[must_use]
pub fn unit_of(record: &Observation) -> String {
    named_unit(&record.labels, record.medium.unit.as_ref())
}

fn named_unit(labels: &BTreeMap<String, String>, serial: Option<&String>) -> String {
    let label = labels.get("unit").filter(|value| !value.is_empty());
    label.or(serial).cloned().unwrap_or_default()
}

/// Whether the model of a record is known. The output of other tools often names none. A run of assay inspects the medium
/// under a path, so its record counts as named unless not even the kind of the medium was found: two media of unknown kind
/// and equal size need not be of one model.
#[must_use]
pub fn names_model(record: &Observation) -> bool {
    let is_given = |text: Option<&String>| text.is_some_and(|text| !clean(text).is_empty());
    let medium = &record.medium;
    (!record.is_printed() && medium.kind != MediumKind::Unknown)
        || is_given(record.labels.get("model"))
        || is_given(medium.model.as_ref())
        || is_given(medium.vendor.as_ref())
}

/// The suite a record was measured with, and its version. For an imported record only the name of the tool, which has a
/// version of its own.
pub(crate) fn suite(record: &Observation) -> String {
    let suite = &record.suite;
    if record.is_printed() { suite.name.clone() } else { format!("{} {}", suite.name, suite.version) }
}

/// A name for a column or a row: model, and unit where there is one.
#[must_use]
pub fn short_name(identity: &Identity) -> String {
    unit_name(&identity.model, &identity.unit)
}

/// The same, from its parts: `Card · unit 2`, `Samsung EVO Plus 64GB · EU`.
#[must_use]
pub fn unit_name(model: &str, unit: &str) -> String {
    match unit {
        "" => model.to_owned(),
        // A published figure without a unit.
        _ if unit == PUBLISHED.trim_start() => format!("{model}{PUBLISHED}"),
        _ => format!("{model} · {}", unit_words(unit)),
    }
}

/// Longest number of a unit: longer ones are serial numbers, which are known as such.
const LONGEST_NUMBER: usize = 3;

/// A unit beside its model. A bare number would read as a part of the model's name: `unit 2`.
#[must_use]
pub fn unit_words(unit: &str) -> String {
    let number = unit.strip_suffix(PUBLISHED).unwrap_or(unit);
    let is_number = number.len() <= LONGEST_NUMBER && number.chars().all(|c| c.is_ascii_digit());
    if is_number && !number.is_empty() { format!("unit {unit}") } else { unit.to_owned() }
}

/// Behind the unit of a published figure: one of the same number is another piece.
const PUBLISHED: &str = " (published)";

// The day and host of each record: what its unit is a further value of.

/// Model, unit and host.
type UnitAtHost = (String, String, Option<String>);

/// The days of some records, by unit and host ([`assay_stats::days`]).
///
/// An evening at a host is one day for all units that were measured in it, also for those whose turn came after midnight: by
/// the calendar alone, the units of one evening would be on two days, and 18 of 100 rankings of equal models, each measured on
/// an evening of its own, told them apart (simulated by an independent model).
#[derive(Debug, Default)]
pub(crate) struct HostDays {
    /// When runs began, in seconds, and the days of their host.
    places: BTreeMap<UnitAtHost, BTreeMap<i64, i64>>,
}

impl HostDays {
    /// Of all records of a question.
    pub(crate) fn of<'a>(records: impl IntoIterator<Item = &'a Observation>) -> Self {
        let mut units: BTreeMap<UnitAtHost, Vec<i64>> = BTreeMap::new();
        let mut hosts: BTreeMap<String, Vec<i64>> = BTreeMap::new();
        for record in records {
            let Some(seconds) = began_seconds(&record.created) else { continue };
            units.entry(unit_at_host(record)).or_default().push(seconds);
            if let Some(host) = named_host(record) {
                hosts.entry(host.to_owned()).or_default().push(seconds);
            }
        }
        let by_second = |began: Vec<i64>, days: Vec<i64>| began.into_iter().zip(days).collect::<BTreeMap<i64, i64>>();
        let of_host = |(host, began): (String, Vec<i64>)| {
            let days = day_of_each(&began);
            (host, by_second(began, days))
        };
        let hosts: BTreeMap<String, BTreeMap<i64, i64>> = hosts.into_iter().map(of_host).collect();
        let days = |(place, began): (UnitAtHost, Vec<i64>)| {
            // Nothing says that units of unknown hosts were measured together.
            let days = match place.2.as_ref().and_then(|host| hosts.get(host)) {
                Some(at_host) => days_of_sittings(&began, |second| at_host.get(&second).copied().unwrap_or_default()),
                None => day_of_each(&began),
            };
            (place, by_second(began, days))
        };
        Self { places: units.into_iter().map(days).collect() }
    }

    /// The day and the host of a record of them, by one name; `None` where it does not tell when it began.
    pub(crate) fn name(&self, record: &Observation) -> Option<String> {
        let day = self.places.get(&unit_at_host(record))?.get(&began_seconds(&record.created)?)?;
        let host = record.host.hostname.as_deref().map_or_else(String::new, |host| format!(" {host}"));
        Some(format!("{day}{host}"))
    }
}

fn unit_at_host(record: &Observation) -> UnitAtHost {
    let of = identity(record);
    (of.model, of.unit, named_host(record).map(str::to_owned))
}

fn named_host(record: &Observation) -> Option<&str> {
    record.host.hostname.as_deref().filter(|host| !host.is_empty())
}

/// The days of records that are of one thing, such as the runs of one cluster.
pub(crate) fn days_of_one<'a>(records: impl IntoIterator<Item = &'a Observation>) -> Vec<Option<String>> {
    let began: Vec<Option<i64>> = records.into_iter().map(|record| began_seconds(&record.created)).collect();
    let known: Vec<i64> = began.iter().copied().flatten().collect();
    let mut days = day_of_each(&known).into_iter();
    began.into_iter().map(|known| known.and_then(|_| days.next()).map(|day| day.to_string())).collect()
}

/// Seconds since 1970 of an RFC 3339 timestamp; `None` for other text.
fn began_seconds(created: &str) -> Option<i64> {
    Some(created.parse::<Timestamp>().ok()?.as_second())
}

// Whether the compared figures were measured with computers that a common unit connects.
//
// A small board and a PC differ by 20 to 200 % at 4 KiB. If all units of one model were measured with one computer and
// all units of another model with the other, no number of units separates the models from the computers. One unit that
// was measured with both computers does.

/// The kind of computer a record was made with: its board and processor. `None` where the record does not say; most
/// published and imported records do not. The kernel is left out: an update between two days would turn one computer
/// into two, and its effect is a few percent, while another board changes figures by a factor.
pub(crate) fn computer(record: &Observation) -> Option<String> {
    let host = &record.host;
    let cpu = host.cpu.as_deref().filter(|cpu| !cpu.is_empty())?;
    Some(format!("{} {cpu}", host.board.as_deref().unwrap_or_default()))
}

/// One figure: its group, its unit, and its computer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen<'a, G> {
    pub(crate) group: G,
    pub(crate) unit: (&'a str, &'a str),
    pub(crate) computer: Option<&'a str>,
}

/// Pairs of groups that were measured with different kinds of computers, with no chain of common units between those
/// kinds. Each pair is listed in both orders. A group with a figure of an unknown computer is in no pair.
pub(crate) fn not_connected<G: Ord + Copy>(seen: &[Seen<'_, G>]) -> BTreeSet<(G, G)> {
    let mut kinds: Vec<&str> = seen.iter().filter_map(|one| one.computer).collect();
    kinds.sort_unstable();
    kinds.dedup();
    if kinds.len() < 2 {
        return BTreeSet::new();
    }
    let mut part: Vec<usize> = (0..kinds.len()).collect();
    let mut first: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for one in seen {
        let Some(kind) = one.computer.and_then(|computer| kinds.binary_search(&computer).ok()) else { continue };
        let before = *first.entry(one.unit).or_insert(kind);
        let (from, to) = (part[kind], part[before]);
        part.iter_mut().filter(|of| **of == from).for_each(|of| *of = to);
    }
    let mut parts: BTreeMap<G, Option<BTreeSet<usize>>> = BTreeMap::new();
    for one in seen {
        let kind = one.computer.and_then(|computer| kinds.binary_search(&computer).ok());
        let of = parts.entry(one.group).or_insert_with(|| Some(BTreeSet::new()));
        *of = of.take().zip(kind).map(|(mut known, kind)| {
            known.insert(part[kind]);
            known
        });
    }
    let known: Vec<(G, &BTreeSet<usize>)> =
        parts.iter().filter_map(|(group, of)| Some((*group, of.as_ref()?))).collect();
    let pairs = known.iter().flat_map(|a| known.iter().map(move |b| (a, b)));
    pairs.filter(|(a, b)| a.1.is_disjoint(b.1)).map(|(a, b)| (a.0, b.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::record;

    #[test]
    fn times_are_those_of_the_calendar() {
        assert_eq!(began_seconds("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(began_seconds("2000-02-29T12:00:01Z"), Some(951_825_601));
        assert_eq!(began_seconds("2026-11-27T02:53:16.5Z"), Some(1_795_747_996));
        assert_eq!(began_seconds("2026-11-27T04:53:16+02:00"), Some(1_795_747_996), "the offset counts");
        for none in ["", "2026", "2026-13-01T00:00:00Z", "2026-01-01T25:00:00Z", "T", "2026-01-01T0", "x-y-zT00:00:00"]
        {
            assert_eq!(began_seconds(none), None, "{none}");
        }
    }

    #[test]
    fn an_evening_at_a_host_is_one_day_and_another_host_has_its_own() {
        let at = |unit: &str, created: &str, host: Option<&str>| {
            let mut record = record(&format!("{unit}{created}"), "Model", unit, Vec::new());
            record.created = created.to_owned();
            record.host.hostname = host.map(str::to_owned);
            record
        };
        let all = [
            at("1", "2026-01-01T23:50:00Z", Some("a")),
            at("1", "2026-01-02T00:10:00Z", Some("a")),
            at("1", "2026-01-02T00:10:00Z", Some("b")),
            at("2", "2026-01-02T00:30:00Z", Some("a")),
            at("1", "", Some("a")),
            at("1", "2026-01-01T23:50:00Z", None),
            at("2", "2026-01-02T00:10:00Z", Some("")),
            at("2", "2026-01-02T09:00:00Z", Some("a")),
        ];
        let days = HostDays::of(&all);
        let names: Vec<Option<String>> = all.iter().map(|record| days.name(record)).collect();
        assert!(names[0].is_some() && names[0] == names[1]);
        assert_ne!(names[1], names[2]);
        assert_eq!(names[0], names[3], "the turn of the second unit came after midnight");
        assert_eq!(names[4], None);
        assert_ne!(names[5], names[6], "hosts that are not known may be two");
        assert_ne!(names[3], names[7]);
        assert_eq!(days_of_one(&all[..2]), [Some("20454".to_owned()), Some("20454".to_owned())]);
    }

    #[test]
    fn one_unit_on_both_computers_connects_them() {
        let seen = |group: usize, unit: &'static str, computer: Option<&'static str>| Seen {
            group,
            unit: ("m", unit),
            computer,
        };
        let mut all = vec![seen(0, "1", Some("pi")), seen(0, "2", Some("pi")), seen(1, "3", Some("pc"))];
        assert_eq!(not_connected(&all), BTreeSet::from([(0, 1), (1, 0)]));
        all.push(seen(2, "1", Some("pc")));
        assert_eq!(not_connected(&all), BTreeSet::new(), "unit 1 was on both");
        assert_eq!(not_connected(&[seen(0, "1", Some("pi")), seen(1, "2", None)]), BTreeSet::new());
        let both = [seen(0, "1", Some("pi")), seen(0, "2", Some("pc")), seen(1, "3", Some("pc"))];
        assert_eq!(
            not_connected(&both),
            BTreeSet::new(),
            "the spread between the units of the first holds the computers"
        );
    }
}
