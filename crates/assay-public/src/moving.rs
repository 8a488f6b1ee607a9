//! Moves a database to another one, and says whether both hold the same.

use crate::database::{Database, DatabaseError, Row, Value};
use crate::derived::insert_all;

/// Documents that are copied in one transaction, and rows that are compared at once.
const AT_ONCE: i64 = 200;

/// A table and its columns, of which the first are its key: it is copied and compared in their order.
#[derive(Clone, Copy)]
struct Table {
    name: &'static str,
    columns: &'static str,
    /// How many columns are the key.
    key: usize,
}

impl Table {
    const fn by_one(name: &'static str, columns: &'static str) -> Self {
        Self { name, columns, key: 1 }
    }

    const fn by_two(name: &'static str, columns: &'static str) -> Self {
        Self { name, columns, key: 2 }
    }

    /// The query of the rows behind a key: its values first, then how many rows. An offset would read all rows before it again.
    fn behind(&self, any: bool) -> String {
        let Self { name, columns, key } = self;
        let keys: Vec<&str> = columns.split(", ").take(*key).collect();
        let (keys, places) = (keys.join(", "), if *key == 1 { "$1" } else { "$1, $2" });
        let (condition, limit) =
            if any { (String::new(), 1) } else { (format!("WHERE ({keys}) > ({places})"), key + 1) };
        format!("SELECT {columns} FROM {name} {condition} ORDER BY {keys} LIMIT ${limit}")
    }
}

/// What is copied by number. Accounts are few, and what was derived goes with its document.
const NUMBERED: [Table; 3] = [
    Table::by_one("documents", "seq, id, account, hash, received, unlisted, state, reasons, withdrawal, changed"),
    Table::by_one("log", "n, at, id, was, now, reasons"),
    Table::by_one("snapshots", "n, made, records, units, accounts, hash"),
];

/// What belongs to a document.
const DERIVED: [Table; 5] = [
    Table::by_one("bodies", "id, body"),
    Table::by_one("digests", "id, model, unit, class, body"),
    Table::by_one("observations", "id, body"),
    Table::by_two("figures", "id, place, model, load, bus, account, unit, iops"),
    Table::by_two("prints", "print, id"),
];

const ACCOUNTS: Table = Table::by_one("accounts", "name, token, created, enabled");

/// A table in both databases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compared {
    /// Its name.
    pub table: &'static str,
    /// Rows and their BLAKE3 where they come from.
    pub from: (u64, String),
    /// The same where they went.
    pub to: (u64, String),
}

/// Copies what the other database does not have yet. It can be ended at any time and begun again. No server may use either.
///
/// # Errors
/// [`DatabaseError`].
pub fn copy(from: &Database, to: &Database, progress: &mut dyn FnMut(&str, i64)) -> Result<(), DatabaseError> {
    let accounts = rows(from, &format!("SELECT {} FROM accounts ORDER BY name", ACCOUNTS.columns), &[])?;
    to.write(|connection| insert_all(connection, ACCOUNTS.name, ACCOUNTS.columns, &plain(accounts)))?;
    for table in NUMBERED {
        let key = if table.name == "documents" { "seq" } else { "n" };
        let newest = rows(to, &format!("SELECT COALESCE(MAX({key}), 0) FROM {}", table.name), &[])?;
        let mut after = newest.first().map_or(Ok(0), |row| row.int(0))?;
        let query = table.behind(false);
        loop {
            let found = rows(from, &query, &[Value::Int(after), Value::Int(AT_ONCE)])?;
            let Some(last) = found.last() else { break };
            after = last.int(0)?;
            let derived = if table.name == "documents" { derived_of(from, &found)? } else { Vec::new() };
            let found = plain(found);
            to.write(|connection| {
                insert_all(connection, table.name, table.columns, &found)?;
                derived.iter().try_for_each(|(of, rows)| insert_all(connection, of.name, of.columns, rows))
            })?;
            progress(table.name, after);
        }
    }
    Ok(())
}

fn plain(rows: Vec<Row>) -> Rows {
    rows.into_iter().map(|row| row.0).collect()
}

/// Rows of a table.
type Rows = Vec<Vec<Value>>;

/// What belongs to these documents, by table.
fn derived_of(from: &Database, documents: &[Row]) -> Result<Vec<(Table, Rows)>, DatabaseError> {
    let ids: Vec<Value> = documents.iter().map(|row| Ok(Value::from(row.str(1)?))).collect::<Result<_, _>>()?;
    let places: Vec<String> = (1..=ids.len()).map(|at| format!("${at}")).collect();
    let of = |table: Table| {
        let query = format!("SELECT {} FROM {} WHERE id IN ({})", table.columns, table.name, places.join(", "));
        Ok((table, plain(rows(from, &query, &ids)?)))
    };
    DERIVED.into_iter().map(of).collect()
}

fn rows(of: &Database, query: &str, values: &[Value]) -> Result<Vec<Row>, DatabaseError> {
    of.with(|connection| connection.rows(query, values))
}

/// Counts and hashes of all tables in both databases.
///
/// # Errors
/// [`DatabaseError`].
pub fn compare(from: &Database, to: &Database) -> Result<Vec<Compared>, DatabaseError> {
    let one = |table: Table| {
        let (from, to) = std::thread::scope(|scope| {
            let from = scope.spawn(|| sum(from, table));
            let to = sum(to, table);
            (from.join(), to)
        });
        let ended = |_| DatabaseError::Away("a comparison ended early".to_owned());
        Ok(Compared { table: table.name, from: from.map_err(ended)??, to: to? })
    };
    [ACCOUNTS].into_iter().chain(NUMBERED).chain(DERIVED).map(one).collect()
}

/// Rows of a table and their BLAKE3, in order.
fn sum(of: &Database, table: Table) -> Result<(u64, String), DatabaseError> {
    let mut hasher = blake3::Hasher::new();
    let mut count = 0;
    let mut found = rows(of, &table.behind(true), &[Value::Int(AT_ONCE)])?;
    let query = table.behind(false);
    while let Some(last) = found.last() {
        count += found.len() as u64;
        found.iter().flat_map(|row| &row.0).for_each(|value| hash(&mut hasher, value));
        let mut behind: Vec<Value> = last.0.iter().take(table.key).cloned().collect();
        behind.push(Value::Int(AT_ONCE));
        found = rows(of, &query, &behind)?;
    }
    Ok((count, hasher.finalize().to_hex().to_string()))
}

/// Kind, length and bytes, so that no two rows are alike by where one value ends.
fn hash(hasher: &mut blake3::Hasher, value: &Value) {
    let mut add = |kind: u8, bytes: &[u8]| {
        hasher.update(&[kind]).update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
    };
    match value {
        Value::Null => add(0, &[]),
        Value::Int(number) => add(1, &number.to_le_bytes()),
        Value::Real(number) => add(2, &number.to_le_bytes()),
        Value::Text(text) => add(3, text.as_bytes()),
        Value::Bytes(bytes) => add(4, bytes),
    }
}
