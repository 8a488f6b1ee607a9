//! What pages and answers rest on: the public records at one moment, under a number that they cite. It is made in the
//! background and swapped whole, so a page never shows a half of two moments. The next one shares with it all that did not
//! change.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use crate::database::{Database, DatabaseError};
use crate::derived::changes;
use crate::digest::{Entry, Text, Texts};
use crate::store::{Cited, cite};

/// Accounts from which a model's figures are confirmed.
pub const CONFIRMED: usize = 3;
/// Changes that are read at once.
const AT_ONCE: i64 = 2000;
/// Parts of the records, by the first two digits of their identities, and of the units: a part without a change is shared with
/// the snapshot before.
const PARTS: usize = 36 * 36;

type Entries = Vec<Arc<Entry>>;

/// All records of a model.
#[derive(Debug)]
pub struct Model {
    /// Its name.
    pub name: Text,
    /// The name in small letters.
    small: String,
    /// Its records, in the order of their identities.
    pub entries: Entries,
    /// How many accounts have it.
    pub accounts: usize,
    /// How many units there are.
    pub units: usize,
    /// Its page without what differs from snapshot to snapshot, once it was asked for.
    pub(crate) page: OnceLock<String>,
    /// Hosts with the number of records and of units, once they were asked for.
    hosts: OnceLock<BTreeMap<Text, (usize, usize)>>,
}

impl Model {
    fn new(name: Text, entries: Entries) -> Self {
        Self {
            small: name.to_lowercase(),
            name,
            accounts: different(&entries, |entry| &entry.account),
            units: different(&entries, |entry| &entry.unit),
            entries,
            page: OnceLock::new(),
            hosts: OnceLock::new(),
        }
    }

    /// Whether three accounts have it.
    #[must_use]
    pub fn is_confirmed(&self) -> bool {
        self.accounts >= CONFIRMED
    }

    /// The class of its first record.
    #[must_use]
    pub fn class(&self) -> &'static str {
        self.entries.first().map_or("", |entry| entry.class)
    }

    /// Its classes.
    #[must_use]
    pub fn classes(&self) -> BTreeSet<&'static str> {
        self.entries.iter().map(|entry| entry.class).collect()
    }

    /// At which hosts it was measured: records and units of each.
    #[must_use]
    pub fn hosts(&self) -> &BTreeMap<Text, (usize, usize)> {
        self.hosts.get_or_init(|| {
            let mut hosts: BTreeMap<Text, (usize, HashSet<*const u8>)> = BTreeMap::new();
            for entry in &self.entries {
                let (records, units) = hosts.entry(Arc::clone(&entry.host)).or_default();
                *records += 1;
                units.insert(entry.unit.as_ptr());
            }
            hosts.into_iter().map(|(host, (records, units))| (host, (records, units.len()))).collect()
        })
    }
}

/// How many different texts there are among these. Equal texts are one in memory.
pub(crate) fn different<'a>(
    entries: impl IntoIterator<Item = &'a Arc<Entry>>,
    pick: impl Fn(&'a Entry) -> &'a Text,
) -> usize {
    entries.into_iter().map(|entry| pick(entry).as_ptr()).collect::<HashSet<_>>().len()
}

/// The public records at one moment.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// Its number, and what it is made of.
    pub cited: Cited,
    /// Models by their names.
    pub models: Arc<BTreeMap<Text, Arc<Model>>>,
    /// Titles of loads by class, with the number of records that have them.
    pub loads: Arc<BTreeMap<&'static str, BTreeMap<Text, usize>>>,
    /// In the order of their identities.
    records: Vec<Arc<Entries>>,
    units: Vec<Arc<HashMap<Text, Entries>>>,
    accounts: HashMap<Text, usize>,
}

/// The part of a record: as identities are ordered, so are these.
fn part_of_id(id: &str) -> usize {
    let digit = |at: usize| id.as_bytes().get(at).and_then(|byte| char::from(*byte).to_digit(36)).unwrap_or(0) as usize;
    digit(0) * 36 + digit(1)
}

fn part_of_unit(unit: &str) -> usize {
    let mut hasher = DefaultHasher::new();
    unit.hash(&mut hasher);
    (hasher.finish() % PARTS as u64) as usize
}

/// What becomes of records: the new one, or none.
type Changed = BTreeMap<Box<str>, Option<Arc<Entry>>>;
/// Records that leave a list, and those that come into it.
type Moves = (HashSet<*const Entry>, Entries);

/// A list without those that leave it and with those that come, in the order of identities.
fn moved(entries: &[Arc<Entry>], (leave, come): &Moves) -> Entries {
    let mut all: Entries = entries.iter().filter(|entry| !leave.contains(&Arc::as_ptr(entry))).cloned().collect();
    all.extend(come.iter().cloned());
    all.sort_by(|a, b| a.id.cmp(&b.id));
    all
}

impl Snapshot {
    fn empty() -> Self {
        let cited = Cited { number: 0, made: String::new(), records: 0, units: 0, accounts: 0, hash: String::new() };
        Self {
            cited,
            models: Arc::default(),
            loads: Arc::default(),
            records: vec![Arc::default(); PARTS],
            units: vec![Arc::default(); PARTS],
            accounts: HashMap::new(),
        }
    }

    /// What answers are known by.
    #[must_use]
    pub fn tag(&self) -> String {
        self.cited.tag()
    }

    /// A record by its identity.
    #[must_use]
    pub fn record(&self, id: &str) -> Option<&Arc<Entry>> {
        let part = self.records.get(part_of_id(id))?;
        part.binary_search_by(|entry| (*entry.id).cmp(id)).ok().and_then(|at| part.get(at))
    }

    /// All records, in the order of their identities.
    pub fn records(&self) -> impl Iterator<Item = &Arc<Entry>> + Clone {
        self.records.iter().flat_map(|part| part.iter())
    }

    /// The records of a unit.
    #[must_use]
    pub fn unit(&self, name: &str) -> Option<&[Arc<Entry>]> {
        self.units.get(part_of_unit(name))?.get(name).map(Vec::as_slice)
    }

    /// Models whose name holds each of these words, the most measured first.
    #[must_use]
    pub fn search(&self, words: &str, most: usize) -> Vec<&Arc<Model>> {
        let words: Vec<String> = words.to_lowercase().split_whitespace().map(str::to_owned).collect();
        let matches = |model: &&Arc<Model>| words.iter().all(|word| model.small.contains(word));
        let mut found: Vec<&Arc<Model>> = self.models.values().filter(matches).collect();
        found.sort_by_key(|model| std::cmp::Reverse(model.entries.len()));
        found.truncate(most);
        found
    }

    /// Takes changes in; whether anything is different now. `prepare` gets each model that changed and whose page was asked
    /// for before.
    fn take_in(&mut self, changed: &Changed, prepare: &dyn Fn(&Model)) -> bool {
        let mut parts: BTreeMap<usize, Moves> = BTreeMap::new();
        let mut models: BTreeMap<Text, Moves> = BTreeMap::new();
        let mut units: BTreeMap<Text, Moves> = BTreeMap::new();
        for (id, new) in changed {
            if let Some(old) = self.record(id).cloned() {
                self.count(&old, false);
                parts.entry(part_of_id(id)).or_default().0.insert(Arc::as_ptr(&old));
                models.entry(Arc::clone(&old.model)).or_default().0.insert(Arc::as_ptr(&old));
                units.entry(Arc::clone(&old.unit)).or_default().0.insert(Arc::as_ptr(&old));
            }
            if let Some(new) = new {
                self.count(new, true);
                parts.entry(part_of_id(id)).or_default().1.push(Arc::clone(new));
                models.entry(Arc::clone(&new.model)).or_default().1.push(Arc::clone(new));
                units.entry(Arc::clone(&new.unit)).or_default().1.push(Arc::clone(new));
            }
        }
        for (at, moves) in &parts {
            self.records[*at] = Arc::new(moved(&self.records[*at], moves));
        }
        for (name, moves) in units {
            let part = Arc::make_mut(&mut self.units[part_of_unit(&name)]);
            let now = moved(part.get(&name).map(Vec::as_slice).unwrap_or_default(), &moves);
            if now.is_empty() {
                part.remove(&name)
            } else {
                part.insert(name, now)
            };
        }
        let all = Arc::make_mut(&mut self.models);
        for (name, moves) in models {
            let before = all.get(&name);
            let now = moved(before.map(|model| model.entries.as_slice()).unwrap_or_default(), &moves);
            let was_asked_for = before.is_some_and(|model| model.page.get().is_some());
            if now.is_empty() {
                all.remove(&name);
            } else {
                let model = Model::new(Arc::clone(&name), now);
                if was_asked_for {
                    prepare(&model);
                }
                all.insert(name, Arc::new(model));
            }
        }
        !parts.is_empty()
    }

    /// Counts a record among those of its account and its loads, or no more.
    fn count(&mut self, entry: &Entry, here: bool) {
        let account = self.accounts.entry(Arc::clone(&entry.account)).or_default();
        *account = if here { *account + 1 } else { account.saturating_sub(1) };
        if *account == 0 {
            self.accounts.remove(&entry.account);
        }
        let loads = Arc::make_mut(&mut self.loads).entry(entry.class).or_default();
        for figure in &entry.figures {
            let count = loads.entry(Arc::clone(&figure.load)).or_default();
            *count = if here { *count + 1 } else { count.saturating_sub(1) };
            if *count == 0 {
                loads.remove(&figure.load);
            }
        }
        if loads.is_empty() {
            Arc::make_mut(&mut self.loads).remove(entry.class);
        }
    }

    fn hash(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for entry in self.records() {
            hasher.update(entry.id.as_bytes()).update(entry.hash.to_hex().as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }

    fn counts(&self) -> [i64; 3] {
        let records = self.records.iter().map(|part| part.len()).sum();
        let units = self.units.iter().map(|part| part.len()).sum();
        [records, units, self.accounts.len()].map(|count: usize| i64::try_from(count).unwrap_or(i64::MAX))
    }
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
    texts: Texts,
}

impl Snapshots {
    /// Makes the first snapshot.
    ///
    /// # Errors
    /// [`DatabaseError`].
    pub fn open(database: Arc<Database>) -> Result<Self, DatabaseError> {
        let newest = RwLock::new(Arc::new(Snapshot::empty()));
        let snapshots = Self { database, newest, made: Mutex::default() };
        snapshots.renew(&|_| ())?;
        Ok(snapshots)
    }

    /// The newest.
    #[must_use]
    pub fn newest(&self) -> Arc<Snapshot> {
        Arc::clone(&self.newest.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes in what changed since, and swaps the newest where it did; whether it did. `prepare` gets models that changed, whose
    /// pages were asked for: who asks next need not wait for theirs.
    ///
    /// # Errors
    /// [`DatabaseError`]; the newest then stays.
    pub fn renew(&self, prepare: &dyn Fn(&Model)) -> Result<bool, DatabaseError> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let Made { after, texts } = &mut *made;
        let (mut changed, mut seen) = (Changed::new(), *after);
        loop {
            let found = self.database.with(|connection| changes(connection, seen, AT_ONCE, texts))?;
            let Some(last) = found.last() else { break };
            seen = last.changed;
            changed.extend(found.into_iter().map(|change| (change.id.into(), change.entry.map(Arc::new))));
        }
        let newest = self.newest();
        let mut next = Snapshot::clone(&newest);
        if !next.take_in(&changed, prepare) && newest.cited.number > 0 {
            *after = seen;
            return Ok(false);
        }
        let (hash, counts) = (next.hash(), next.counts());
        next.cited = self.database.write(|connection| cite(connection, &hash, counts))?;
        *self.newest.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(next);
        *after = seen;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::Row;

    /// A record whose digest has two loads.
    fn entry(texts: &mut Texts, id: &str, model: &str, account: &str) -> Arc<Entry> {
        let digest = r#"{"created":"2026-01-01T00:00:00Z","suite":"quick","host":"Pi","verdict":"valid",
            "figures":[{"load":"random read 4 KiB","iops":[1.0,null,null]},{"load":"write","rate":2.0}]}"#;
        let (hash, unit) = (blake3::hash(id.as_bytes()).to_hex().to_string(), format!("{account}:1"));
        let row = Row { id, account, hash: &hash, class: "sd", model, unit: &unit, digest };
        Arc::new(texts.entry(&row).unwrap())
    }

    /// What a snapshot says of itself, without what it is stored by.
    fn said(snapshot: &Snapshot) -> String {
        let models: Vec<_> =
            snapshot.models.values().map(|m| (&m.name, m.entries.len(), m.accounts, m.units)).collect();
        format!("{models:?} {:?} {:?} {}", snapshot.loads, snapshot.counts(), snapshot.hash())
    }

    #[test]
    fn changes_that_were_taken_in_come_to_the_same_as_all_at_once() {
        let mut texts = Texts::default();
        let mut step = |seed: u64| {
            let id = format!("{}{:09}", ["0", "a", "z"][(seed % 3) as usize], seed % 37);
            let (model, account) = (format!("model {}", seed % 5), format!("account {}", seed % 7));
            let new = (seed % 11 > 2).then(|| entry(&mut texts, &id, &model, &account));
            (Box::<str>::from(id), new)
        };
        let steps: Vec<(Box<str>, Option<Arc<Entry>>)> = (0..400).map(|at| step(at * 7919 % 1009)).collect();
        let mut one_by_one = Snapshot::empty();
        for (id, new) in &steps {
            one_by_one.take_in(&Changed::from([(id.clone(), new.clone())]), &|_| ());
        }
        let mut at_once = Snapshot::empty();
        at_once.take_in(&steps.iter().cloned().collect(), &|_| ());
        assert_eq!(said(&one_by_one), said(&at_once));
        let ids: Vec<&str> = at_once.records().map(|entry| &*entry.id).collect();
        assert!(ids.is_sorted() && !ids.is_empty());
        assert!(ids.iter().all(|id| at_once.record(id).is_some_and(|found| *found.id == **id)));
        let before = said(&at_once);
        let mut later = at_once.clone();
        let gone: Changed = at_once.records().map(|entry| (entry.id.clone(), None)).collect();
        assert!(later.take_in(&gone, &|_| ()) && !later.take_in(&gone, &|_| ()));
        assert_eq!(said(&later), said(&Snapshot::empty()), "nothing is left");
        assert_eq!(said(&at_once), before, "the snapshot before stays as it was");
    }
}
