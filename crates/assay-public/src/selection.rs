//! Which records a ranking or a comparison reads. Those of a popular model are more than any answer needs: units are drawn
//! from its accounts in turn, so that none decides alone, and of a unit its newest records count.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::digest::Entry;
use crate::snapshot::{Model, Snapshot};

/// Units of one account and model that count: an account does not decide alone by many units.
const UNITS_OF_ACCOUNT: usize = 10;
/// Units of one model that count.
const UNITS_OF_MODEL: usize = 30;
/// Records of one unit that count.
const RECORDS_OF_UNIT: usize = 3;
/// Models in a ranking. Each is compared with each other, and the page of 200 has 230 kB.
const MOST_RANKED: usize = 100;

/// Where records were measured; what is left out may be anything.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Filter {
    /// Board, or processor.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub host: String,
    /// Slot or port.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub slot: String,
    /// Bus and mode.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub bus: String,
    /// Driver of the bridge.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub bridge: String,
}

impl Filter {
    fn lets(&self, entry: &Entry) -> bool {
        let pairs = [
            (&self.host, &entry.host),
            (&self.slot, &entry.slot),
            (&self.bus, &entry.bus),
            (&self.bridge, &entry.bridge),
        ];
        pairs.iter().all(|(asked, has)| asked.is_empty() || ***has == ***asked)
    }
}

/// What there is to filter a class by: the values of its records.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Values {
    /// Boards and processors.
    pub hosts: BTreeSet<String>,
    /// Slots and ports.
    pub slots: BTreeSet<String>,
    /// Buses with their modes.
    pub buses: BTreeSet<String>,
    /// Drivers of bridges.
    pub bridges: BTreeSet<String>,
}

/// The records of a ranking.
#[derive(Debug, Default)]
pub(crate) struct Selected {
    /// Identities.
    pub(crate) ids: Vec<String>,
    /// Models that take part.
    pub(crate) models: usize,
    /// Models of the class.
    pub(crate) of: usize,
    /// What there is to filter by.
    pub(crate) values: Values,
}

/// A model by its accounts, its units, and its records.
type Measured<'a> = (usize, usize, &'a Arc<Model>, Vec<&'a Arc<Entry>>);

/// The records of a class that were measured where the filter says, and have the load where one is named.
pub(crate) fn of_class(snapshot: &Snapshot, class: &str, load: Option<&str>, filter: &Filter) -> Selected {
    let mut selected = Selected::default();
    let mut measured: Vec<Measured<'_>> = Vec::new();
    let (mut hosts, mut slots) = (BTreeSet::new(), BTreeSet::new());
    let (mut buses, mut bridges) = (BTreeSet::new(), BTreeSet::new());
    for model in snapshot.models.values() {
        let in_class: Vec<&Arc<Entry>> = model.entries.iter().filter(|entry| entry.class == class).collect();
        for entry in &in_class {
            hosts.insert(&*entry.host);
            slots.insert(&*entry.slot);
            buses.insert(&*entry.bus);
            bridges.insert(&*entry.bridge);
        }
        let has = |entry: &&Arc<Entry>| {
            let loads = || entry.figures.iter().any(|figure| load.is_none_or(|load| *figure.load == *load));
            filter.lets(entry) && loads()
        };
        let chosen: Vec<&Arc<Entry>> = in_class.into_iter().filter(has).collect();
        if chosen.is_empty() {
            continue;
        }
        selected.of += 1;
        let count = |pick: fn(&Entry) -> *const u8| chosen.iter().map(|e| pick(e)).collect::<HashSet<_>>().len();
        let (accounts, units) = (count(|e| e.account.as_ptr()), count(|e| e.unit.as_ptr()));
        measured.push((accounts, units, model, chosen));
    }
    // The models with the most accounts, and of these with the most units.
    measured.sort_by(|a, b| (b.0, b.1).cmp(&(a.0, a.1)).then_with(|| a.2.name.cmp(&b.2.name)));
    measured.truncate(MOST_RANKED);
    selected.models = measured.len();
    selected.ids = measured.into_iter().flat_map(|(.., entries)| of_model(entries)).collect();
    let texts = |of: BTreeSet<&str>| of.into_iter().filter(|text| !text.is_empty()).map(str::to_owned).collect();
    selected.values = Values { hosts: texts(hosts), slots: texts(slots), buses: texts(buses), bridges: texts(bridges) };
    selected
}

/// The records of a model that count, by identity.
pub(crate) fn of_model<'a>(entries: impl IntoIterator<Item = &'a Arc<Entry>>) -> Vec<String> {
    let mut accounts: BTreeMap<&str, BTreeMap<&str, Vec<&Arc<Entry>>>> = BTreeMap::new();
    for entry in entries {
        accounts.entry(&entry.account).or_default().entry(&entry.unit).or_default().push(entry);
    }
    let mut left: Vec<_> =
        accounts.into_values().map(|units| units.into_values().take(UNITS_OF_ACCOUNT).map(newest)).collect();
    let (mut ids, mut units) = (Vec::new(), 0);
    while units < UNITS_OF_MODEL && !left.is_empty() {
        left.retain_mut(|of_account| {
            let Some(records) = of_account.next() else { return false };
            if units < UNITS_OF_MODEL {
                ids.extend(records.into_iter().map(|entry| entry.id.to_string()));
                units += 1;
            }
            true
        });
    }
    ids
}

fn newest(mut records: Vec<&Arc<Entry>>) -> Vec<&Arc<Entry>> {
    records.sort_by(|a, b| (&b.created, &b.id).cmp(&(&a.created, &a.id)));
    records.truncate(RECORDS_OF_UNIT);
    records
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::{Row, Texts};

    fn entries(texts: &mut Texts, of: &[(&str, &str, &str, &str)]) -> Vec<Arc<Entry>> {
        let one = |(at, (account, unit, created, host)): (usize, &(&str, &str, &str, &str))| {
            let digest = format!(
                r#"{{"created":"{created}","suite":"quick","host":"{host}","verdict":"valid","figures":[{{"load":"read"}}]}}"#
            );
            let (id, hash) = (format!("{at:010}"), "0".repeat(64));
            let row = Row {
                id: &id,
                account,
                hash: &hash,
                class: "sd",
                model: "Card",
                unit: &format!("{account}:{unit}"),
                digest: &digest,
            };
            Arc::new(texts.entry(&row).unwrap())
        };
        of.iter().enumerate().map(one).collect()
    }

    #[test]
    fn accounts_take_turns_and_the_newest_records_of_a_unit_count() {
        let mut texts = Texts::default();
        let units: Vec<String> = (0..100).map(|unit| format!("{unit:03}")).collect();
        let mut of: Vec<(&str, &str, &str, &str)> =
            units.iter().map(|unit| ("many", unit.as_str(), "2026", "Pi")).collect();
        of.extend([
            ("few", "1", "2024", "Pi"),
            ("few", "1", "2027", "Pi"),
            ("few", "1", "2025", "Pi"),
            ("few", "1", "2026", "Pi"),
        ]);
        let all = entries(&mut texts, &of);
        let chosen = of_model(&all);
        let few: Vec<&str> = chosen.iter().map(String::as_str).filter(|id| **id >= *"0000000100").collect();
        assert_eq!(few, ["0000000101", "0000000103", "0000000102"], "the oldest is left out");
        assert_eq!(chosen.len(), UNITS_OF_ACCOUNT + RECORDS_OF_UNIT);
        let accounts: Vec<String> = (0..70).map(|at| format!("account {at:02}")).collect();
        let of: Vec<(&str, &str, &str, &str)> =
            accounts.iter().map(|account| (account.as_str(), "1", "2026", "Pi")).collect();
        assert_eq!(of_model(&entries(&mut texts, &of)).len(), UNITS_OF_MODEL);
    }

    #[test]
    fn a_filter_names_what_has_to_be_equal() {
        let mut texts = Texts::default();
        let all = entries(&mut texts, &[("a", "1", "2026", "Pi 4"), ("a", "2", "2026", "Pi 5")]);
        let at = |host: &str| Filter { host: host.to_owned(), ..Filter::default() };
        let count = |filter: Filter| all.iter().filter(|entry| filter.lets(entry)).count();
        assert_eq!([at(""), at("Pi 4"), at("Pi")].map(count), [2, 1, 0]);
        assert_eq!(count(Filter { slot: "1".to_owned(), ..Filter::default() }), 0);
    }
}
