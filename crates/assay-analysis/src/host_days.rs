//! The day and host of each record: what its unit is a further value of.

use std::collections::BTreeMap;

use assay_core::record::Record;
use assay_stats::days::{day_of_each, days_of_sittings};
use jiff::Timestamp;

use crate::identity::identity;

/// Model, unit and host.
type Place = (String, String, Option<String>);

/// The days of some records, by unit and host ([`assay_stats::days`]).
///
/// An evening at a host is one day for all units that were measured in it, also for those whose turn came after midnight: by
/// the calendar alone, the units of one evening would be on two days, and 18 of 100 rankings of equal models, each measured on
/// an evening of its own, told them apart (simulated by an independent model).
#[derive(Debug, Default)]
pub(crate) struct HostDays {
    /// When runs began, in seconds, and the days of their host.
    places: BTreeMap<Place, BTreeMap<i64, i64>>,
}

impl HostDays {
    /// Of all records of a question.
    pub(crate) fn of<'a>(records: impl IntoIterator<Item = &'a Record>) -> Self {
        let mut units: BTreeMap<Place, Vec<i64>> = BTreeMap::new();
        let mut hosts: BTreeMap<String, Vec<i64>> = BTreeMap::new();
        for record in records {
            let Some(seconds) = began_seconds(&record.created) else { continue };
            units.entry(place(record)).or_default().push(seconds);
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
        let days = |(place, began): (Place, Vec<i64>)| {
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
    pub(crate) fn name(&self, record: &Record) -> Option<String> {
        let day = self.places.get(&place(record))?.get(&began_seconds(&record.created)?)?;
        let host = record.host.hostname.as_deref().map_or_else(String::new, |host| format!(" {host}"));
        Some(format!("{day}{host}"))
    }
}

fn place(record: &Record) -> Place {
    let of = identity(record);
    (of.model, of.unit, named_host(record).map(str::to_owned))
}

fn named_host(record: &Record) -> Option<&str> {
    record.host.hostname.as_deref().filter(|host| !host.is_empty())
}

/// The days of records that are of one thing, such as the runs of one cluster.
pub(crate) fn days_of_one<'a>(records: impl IntoIterator<Item = &'a Record>) -> Vec<Option<String>> {
    let began: Vec<Option<i64>> = records.into_iter().map(|record| began_seconds(&record.created)).collect();
    let known: Vec<i64> = began.iter().copied().flatten().collect();
    let mut days = day_of_each(&known).into_iter();
    began.into_iter().map(|known| known.and_then(|_| days.next()).map(|day| day.to_string())).collect()
}

/// Seconds since 1970 of an RFC 3339 timestamp; `None` for other text.
fn began_seconds(created: &str) -> Option<i64> {
    Some(created.parse::<Timestamp>().ok()?.as_second())
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
}
