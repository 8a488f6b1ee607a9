//! What pages and answers rest on: the public records at one moment, under a number that they cite. It is made in the
//! background and swapped whole, so a page never shows a half of two moments, and reads no documents.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use assay_analysis::Load;
use assay_analysis::rank::{RankOptions, RankReport, rank};
use assay_core::observation::Observation;
use assay_core::text::clean;

use crate::classes;
use crate::database::{Database, DatabaseError};
use crate::store::{Cited, changes, cite};

/// Accounts from which a model's figures are confirmed.
pub const CONFIRMED: usize = 3;
/// Units of one account and model that count in a ranking: an account does not decide alone by many units.
const UNITS_OF_ACCOUNT: usize = 10;
/// Models in a ranking. Each is compared with each other: of 300 the answer has 4 MB, and of 3,000 it would have 400.
const MOST_RANKED: usize = 200;
/// Changes that are read at once.
const AT_ONCE: i64 = 500;

/// A public record.
#[derive(Debug)]
pub struct Entry {
    /// Who sent it.
    pub account: String,
    /// BLAKE3 of its document.
    pub hash: String,
    /// Its class.
    pub class: String,
    /// Name of its model.
    pub model: String,
    /// Name of its unit on this site.
    pub unit: String,
    /// What rankings read of it.
    pub observation: Observation,
}

/// A ranking, and of how many models.
#[derive(Debug)]
pub struct Ranked {
    /// The ranking, or why there is none.
    pub report: Result<RankReport, String>,
    /// Models that take part.
    pub models: usize,
    /// Models of the class.
    pub of: usize,
}

/// Rankings by class and load; the empty load is the one that decides by default.
type Rankings = BTreeMap<(String, String), Arc<OnceLock<Arc<Ranked>>>>;
type Entries = BTreeMap<String, Arc<Entry>>;

/// The public records at one moment.
#[derive(Debug)]
pub struct Snapshot {
    /// Its number, and what it is made of.
    pub cited: Cited,
    /// By identity.
    pub records: Entries,
    /// Identities by model.
    pub models: BTreeMap<String, Vec<Arc<Entry>>>,
    /// The same by unit.
    pub units: BTreeMap<String, Vec<Arc<Entry>>>,
    /// Titles of loads by class, with the number of records that have them.
    pub loads: BTreeMap<String, BTreeMap<String, usize>>,
    rankings: Mutex<Rankings>,
}

impl Snapshot {
    fn of(records: Entries, cited: Cited) -> Self {
        let (mut models, mut units) = (BTreeMap::<_, Vec<_>>::new(), BTreeMap::<_, Vec<_>>::new());
        let mut loads = BTreeMap::<String, BTreeMap<String, usize>>::new();
        for entry in records.values() {
            models.entry(entry.model.clone()).or_default().push(Arc::clone(entry));
            units.entry(entry.unit.clone()).or_default().push(Arc::clone(entry));
            let of_class = loads.entry(entry.class.clone()).or_default();
            for measurement in &entry.observation.measurements {
                *of_class.entry(Load::from_workload(&measurement.workload).title()).or_default() += 1;
            }
        }
        Self { cited, records, models, units, loads, rankings: Mutex::default() }
    }

    /// What answers are known by.
    #[must_use]
    pub fn tag(&self) -> String {
        format!("{}-{}", self.cited.number, self.cited.hash.get(..12).unwrap_or_default())
    }

    fn rankings(&self) -> MutexGuard<'_, Rankings> {
        self.rankings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The ranking of a class by a load, as `assay rank --load` has it; none where the class or the load is not here. It is
    /// computed once.
    #[must_use]
    pub fn ranking(&self, class: &str, load: Option<&str>) -> Option<Arc<Ranked>> {
        let loads = self.loads.get(class)?;
        if load.is_some_and(|load| !loads.contains_key(load)) {
            return None;
        }
        let key = (class.to_owned(), load.unwrap_or_default().to_owned());
        let place = Arc::clone(self.rankings().entry(key).or_default());
        Some(Arc::clone(place.get_or_init(|| Arc::new(self.ranked(class, load)))))
    }

    fn ranked(&self, class: &str, load: Option<&str>) -> Ranked {
        let of_class: Vec<&Arc<Entry>> = self.records.values().filter(|entry| entry.class == class).collect();
        let of = of_class.iter().map(|entry| &entry.model).collect::<BTreeSet<_>>().len();
        let chosen = most_measured(&of_class, MOST_RANKED);
        let mut counted = BTreeMap::<(&str, &str), BTreeSet<&str>>::new();
        let mut observations: Vec<&Observation> = Vec::new();
        for entry in of_class.into_iter().filter(|entry| chosen.contains(entry.model.as_str())) {
            let units = counted.entry((&entry.account, &entry.model)).or_default();
            if units.contains(entry.unit.as_str()) || units.len() < UNITS_OF_ACCOUNT {
                units.insert(&entry.unit);
                observations.push(&entry.observation);
            }
        }
        let ask = RankOptions { primary: load.map(str::to_owned), ..RankOptions::default() };
        let report = rank(&observations, &ask).map_err(|error| error.to_string());
        Ranked { report, models: chosen.len(), of }
    }

    /// Accounts with records among these.
    #[must_use]
    pub fn accounts(entries: &[Arc<Entry>]) -> usize {
        entries.iter().map(|entry| &entry.account).collect::<BTreeSet<_>>().len()
    }

    /// Units among these.
    #[must_use]
    pub fn unit_count(entries: &[Arc<Entry>]) -> usize {
        entries.iter().map(|entry| &entry.unit).collect::<BTreeSet<_>>().len()
    }

    /// Models whose name holds each of these words, the most measured first.
    #[must_use]
    pub fn search(&self, words: &str, most: usize) -> Vec<(&String, &Vec<Arc<Entry>>)> {
        let words: Vec<String> = words.to_lowercase().split_whitespace().map(str::to_owned).collect();
        let matches = |name: &str| {
            let name = name.to_lowercase();
            words.iter().all(|word| name.contains(word))
        };
        let mut found: Vec<_> = self.models.iter().filter(|(name, _)| matches(name)).collect();
        found.sort_by_key(|(_, entries)| std::cmp::Reverse(entries.len()));
        found.truncate(most);
        found
    }
}

/// The models with the most accounts, and of these with the most units.
fn most_measured<'a>(entries: &[&'a Arc<Entry>], most: usize) -> BTreeSet<&'a str> {
    let mut models = BTreeMap::<&str, (BTreeSet<&str>, BTreeSet<&str>)>::new();
    for entry in entries {
        let (accounts, units) = models.entry(&entry.model).or_default();
        accounts.insert(&entry.account);
        units.insert(&entry.unit);
    }
    let mut models: Vec<(usize, usize, &str)> =
        models.into_iter().map(|(model, (accounts, units))| (accounts.len(), units.len(), model)).collect();
    models.sort_by(|a, b| (b.0, b.1).cmp(&(a.0, a.1)).then_with(|| a.2.cmp(b.2)));
    models.into_iter().take(most).map(|(.., model)| model).collect()
}

/// The newest snapshot, and how it is made.
#[derive(Debug)]
pub struct Snapshots {
    database: Arc<Database>,
    newest: RwLock<Arc<Snapshot>>,
    made: Mutex<Made>,
}

/// What the next snapshot goes on from.
#[derive(Debug, Default)]
struct Made {
    /// The last change that it has seen.
    after: i64,
    records: Entries,
}

impl Snapshots {
    /// Makes the first snapshot.
    ///
    /// # Errors
    /// [`DatabaseError`].
    pub fn open(database: Arc<Database>) -> Result<Self, DatabaseError> {
        let nothing = Cited { number: 0, made: String::new(), records: 0, units: 0, accounts: 0, hash: String::new() };
        let newest = RwLock::new(Arc::new(Snapshot::of(Entries::new(), nothing)));
        let snapshots = Self { database, newest, made: Mutex::default() };
        snapshots.renew()?;
        Ok(snapshots)
    }

    /// The newest.
    #[must_use]
    pub fn newest(&self) -> Arc<Snapshot> {
        Arc::clone(&self.newest.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes in what changed since, and swaps the newest where it did; whether it did.
    ///
    /// # Errors
    /// [`DatabaseError`]; the newest then stays.
    pub fn renew(&self) -> Result<bool, DatabaseError> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let mut touched = self.newest().cited.number == 0;
        loop {
            let found = self.database.with(|connection| changes(connection, made.after, AT_ONCE))?;
            let Some((last, _)) = found.last() else { break };
            made.after = last.changed;
            for (kept, counts) in found {
                touched |= match counts {
                    Some((class, observation)) => {
                        let entry = Entry {
                            model: clean(&assay_analysis::identity(&observation).model),
                            unit: observation.medium.unit.clone().unwrap_or_default(),
                            account: kept.account,
                            hash: kept.hash,
                            class,
                            observation,
                        };
                        made.records.insert(kept.id, Arc::new(entry));
                        true
                    }
                    None => made.records.remove(&kept.id).is_some(),
                };
            }
        }
        if !touched {
            return Ok(false);
        }
        let next = self.next(made.records.clone())?;
        *self.newest.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(next);
        Ok(true)
    }

    fn next(&self, records: Entries) -> Result<Snapshot, DatabaseError> {
        let mut hasher = blake3::Hasher::new();
        for (id, entry) in &records {
            hasher.update(id.as_bytes()).update(entry.hash.as_bytes());
        }
        let hash = hasher.finalize().to_hex().to_string();
        let all: Vec<Arc<Entry>> = records.values().cloned().collect();
        let counts = [all.len(), Snapshot::unit_count(&all), Snapshot::accounts(&all)];
        let counts = counts.map(|count| i64::try_from(count).unwrap_or(i64::MAX));
        let cited = self.database.write(|connection| cite(connection, &hash, counts))?;
        Ok(Snapshot::of(records, cited))
    }

    /// Computes what most visitors ask for first.
    pub fn warm(&self) {
        let newest = self.newest();
        for (class, _) in classes::ALL {
            let _ = newest.ranking(class, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use assay_core::draft::Draft;
    use assay_core::medium::Medium;
    use assay_core::outcome::Outcome;
    use assay_core::record::{SuiteRef, Tool};

    use super::*;

    #[test]
    fn models_of_more_accounts_come_before_those_of_more_units() {
        let draft =
            Draft::begin("id", "", Tool::assay("1", "sync", ""), SuiteRef::new("s", 1), Medium::unknown("/mnt"));
        let observation = Observation::from(draft.close(Outcome::Completed));
        let entry = |model: &str, account: &str, unit: &str| {
            Arc::new(Entry {
                account: account.to_owned(),
                hash: String::new(),
                class: "sd".to_owned(),
                model: model.to_owned(),
                unit: format!("{account}:{unit}"),
                observation: observation.clone(),
            })
        };
        let mut all =
            vec![entry("two accounts", "a", "1"), entry("two accounts", "b", "1"), entry("one unit", "a", "1")];
        all.extend(["1", "2", "3", "4"].map(|unit| entry("four units", "a", unit)));
        let all: Vec<&Arc<Entry>> = all.iter().collect();
        assert_eq!(most_measured(&all, 1), BTreeSet::from(["two accounts"]));
        assert_eq!(most_measured(&all, 2), BTreeSet::from(["two accounts", "four units"]));
        assert_eq!(most_measured(&all, 9).len(), 3);
    }
}
