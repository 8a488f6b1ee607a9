//! Moves a database to another one, and says whether both hold the same.

use crate::database::{Connection, Database, DatabaseError, Row, Value};

/// Rows that are copied in one transaction.
const AT_ONCE: i64 = 200;

/// A table and its columns. It is copied in the order of the first columns.
struct Table {
    name: &'static str,
    key: &'static str,
    columns: &'static str,
}

/// What is copied by number. Accounts are few, and what was derived goes with its document.
const NUMBERED: [Table; 3] = [
    Table {
        name: "documents",
        key: "seq",
        columns: "seq, id, account, hash, body, received, unlisted, state, reasons, withdrawal, changed",
    },
    Table { name: "log", key: "n", columns: "n, at, id, was, now, reasons" },
    Table { name: "snapshots", key: "n", columns: "n, made, records, units, accounts, hash" },
];

/// What was derived of a document.
const DERIVED: [(&str, &str); 3] = [
    ("observations", "id, account, model, unit, class, body"),
    ("figures", "id, place, model, load, bus, account, unit, iops"),
    ("prints", "id, print"),
];

const ACCOUNTS: &str = "name, token, created, enabled";

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
    let accounts = rows(from, &format!("SELECT {ACCOUNTS} FROM accounts ORDER BY name"), &[])?;
    to.write(|connection| accounts.iter().try_for_each(|row| insert(connection, "accounts", ACCOUNTS, row)))?;
    for table in NUMBERED {
        let Table { name, key, columns } = table;
        let newest = rows(to, &format!("SELECT COALESCE(MAX({key}), 0) FROM {name}"), &[])?;
        let mut after = newest.first().map_or(Ok(0), |row| row.int(0))?;
        let query = format!("SELECT {columns} FROM {name} WHERE {key} > $1 ORDER BY {key} LIMIT $2");
        loop {
            let found = rows(from, &query, &[Value::Int(after), Value::Int(AT_ONCE)])?;
            let Some(last) = found.last() else { break };
            after = last.int(0)?;
            let derived = if name == "documents" { derived_of(from, &found)? } else { Vec::new() };
            to.write(|connection| {
                found.iter().try_for_each(|row| insert(connection, name, columns, row))?;
                derived.iter().try_for_each(|(table, columns, row)| insert(connection, table, columns, row))
            })?;
            progress(name, after);
        }
    }
    Ok(())
}

type DerivedRow = (&'static str, &'static str, Row);

fn derived_of(from: &Database, documents: &[Row]) -> Result<Vec<DerivedRow>, DatabaseError> {
    let mut all = Vec::new();
    for document in documents {
        let id = Value::from(document.text(1)?);
        for (table, columns) in DERIVED {
            let query = format!("SELECT {columns} FROM {table} WHERE id = $1 ORDER BY {columns}");
            let found = rows(from, &query, std::slice::from_ref(&id))?;
            all.extend(found.into_iter().map(|row| (table, columns, row)));
        }
    }
    Ok(all)
}

fn rows(of: &Database, query: &str, values: &[Value]) -> Result<Vec<Row>, DatabaseError> {
    of.with(|connection| connection.rows(query, values))
}

fn insert(connection: &mut dyn Connection, table: &str, columns: &str, row: &Row) -> Result<(), DatabaseError> {
    let places: Vec<String> = (1..=row.0.len()).map(|at| format!("${at}")).collect();
    let places = places.join(", ");
    connection.run(&format!("INSERT INTO {table} ({columns}) VALUES ({places}) ON CONFLICT DO NOTHING"), &row.0)?;
    Ok(())
}

/// Counts and hashes of all tables in both databases.
///
/// # Errors
/// [`DatabaseError`].
pub fn compare(from: &Database, to: &Database) -> Result<Vec<Compared>, DatabaseError> {
    let mut tables = vec![("accounts", ACCOUNTS, "name")];
    tables.extend(NUMBERED.iter().map(|table| (table.name, table.columns, table.key)));
    tables.extend(DERIVED.map(|(name, columns)| (name, columns, if name == "observations" { "id" } else { columns })));
    let one = |(table, columns, order): (&'static str, &'static str, &str)| {
        Ok(Compared { table, from: sum(from, table, columns, order)?, to: sum(to, table, columns, order)? })
    };
    tables.into_iter().map(one).collect()
}

/// Rows of a table and their BLAKE3, in order.
fn sum(of: &Database, table: &str, columns: &str, order: &str) -> Result<(u64, String), DatabaseError> {
    let mut hasher = blake3::Hasher::new();
    let mut count = 0;
    let query = format!("SELECT {columns} FROM {table} ORDER BY {order} LIMIT $1 OFFSET $2");
    loop {
        let found = rows(of, &query, &[Value::Int(AT_ONCE), Value::Int(count)])?;
        count += found.len() as i64;
        for value in found.iter().flat_map(|row| &row.0) {
            hash(&mut hasher, value);
        }
        if (found.len() as i64) < AT_ONCE {
            return Ok((count.unsigned_abs(), hasher.finalize().to_hex().to_string()));
        }
    }
}

/// Kind, length and bytes, so that no two rows are alike by where one value ends.
fn hash(hasher: &mut blake3::Hasher, value: &Value) {
    let (kind, bytes): (u8, Vec<u8>) = match value {
        Value::Null => (0, Vec::new()),
        Value::Int(number) => (1, number.to_le_bytes().to_vec()),
        Value::Real(number) => (2, number.to_le_bytes().to_vec()),
        Value::Text(text) => (3, text.as_bytes().to_vec()),
        Value::Bytes(bytes) => (4, bytes.clone()),
    };
    hasher.update(&[kind]).update(&(bytes.len() as u64).to_le_bytes()).update(&bytes);
}
