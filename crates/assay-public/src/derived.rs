//! What is derived of a document that counts, and changes of its state. All statements on it are here.

use std::collections::{BTreeMap, HashMap};

use assay_core::observation::Observation;

use crate::database::{Connection, DatabaseError, Value};
use crate::digest::{Entry, Row, Texts};
use crate::states::{Code, Reason, Standing, State};
use crate::store::{Kept, next_change, note, reasons_text};

type Done<T> = Result<T, DatabaseError>;

/// Rows that one question or one statement is about.
const TOGETHER: usize = 50;

/// A figure of a record that is compared with those of others.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Title of the load.
    pub load: String,
    /// Operations per second.
    pub iops: f64,
}

/// What is derived of a document that counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Derived {
    /// Name of the model.
    pub model: String,
    /// Name of the unit on this site.
    pub unit: String,
    /// Its class.
    pub class: String,
    /// By what it was attached.
    pub bus: String,
    /// Figures.
    pub figures: Vec<Figure>,
    /// Fingerprints of its repeats.
    pub prints: Vec<String>,
    /// What pages read, as JSON.
    pub digest: String,
    /// What rankings read, as JSON.
    pub observation: String,
}

/// Changes where a document stands, within a transaction, and writes the log. False where it stands elsewhere than
/// `was` by now, and nothing is changed. `derived` replaces what was derived before; of a held document the
/// fingerprints alone are kept, so that a copy of it is still found.
///
/// # Errors
/// [`DatabaseError`].
pub fn settle(
    connection: &mut dyn Connection,
    there: &Kept,
    standing: &Standing,
    derived: Option<&Derived>,
) -> Done<bool> {
    let id = Value::from(&there.id);
    let (was, reasons) = (there.standing.state.name(), reasons_text(&standing.reasons)?);
    let changed = next_change(connection)?;
    let done = connection.run(
        "UPDATE documents SET state = $1, reasons = $2, changed = $3 WHERE id = $4 AND state = $5",
        &[standing.state.name().into(), reasons.clone().into(), Value::Int(changed), id.clone(), was.into()],
    )?;
    if done == 0 {
        return Ok(false);
    }
    connection.run("DELETE FROM digests WHERE id = $1", std::slice::from_ref(&id))?;
    connection.run("DELETE FROM observations WHERE id = $1", std::slice::from_ref(&id))?;
    connection.run("DELETE FROM figures WHERE id = $1", std::slice::from_ref(&id))?;
    if standing.state == State::Withdrawn {
        connection.run("DELETE FROM bodies WHERE id = $1", std::slice::from_ref(&id))?;
        connection.run("DELETE FROM prints WHERE id = $1", std::slice::from_ref(&id))?;
    }
    if let Some(derived) = derived {
        derive(connection, there, standing.state, derived)?;
    }
    // What becomes public as it was sent is no decision about anybody.
    if !(there.standing.state == State::Received && standing.state == State::Public) {
        note(connection, &there.id, was, standing.state.name(), &reasons)?;
    }
    Ok(true)
}

fn derive(connection: &mut dyn Connection, of: &Kept, state: State, derived: &Derived) -> Done<()> {
    let id = Value::from(&of.id);
    let Derived { model, unit, class, bus, figures, prints, digest, observation } = derived;
    let prints: Vec<Vec<Value>> = prints.iter().map(|print| vec![print.into(), id.clone()]).collect();
    insert_all(connection, "prints", "print, id", &prints)?;
    if state != State::Public {
        return Ok(());
    }
    connection.run(
        "INSERT INTO digests (id, model, unit, class, body) VALUES ($1, $2, $3, $4, $5)",
        &[id.clone(), model.into(), unit.into(), class.into(), digest.into()],
    )?;
    connection.run("INSERT INTO observations (id, body) VALUES ($1, $2)", &[id.clone(), observation.into()])?;
    let row = |(place, figure): (i64, &Figure)| {
        let texts = [model, &figure.load, bus, &of.account, unit].map(Value::from);
        let mut row = vec![id.clone(), Value::Int(place)];
        row.extend(texts);
        row.push(Value::Real(figure.iops));
        row
    };
    let rows: Vec<Vec<Value>> = (0..).zip(figures).map(row).collect();
    insert_all(connection, "figures", "id, place, model, load, bus, account, unit, iops", &rows)
}

/// Puts rows into a table, many with one statement; those that are there already stay as they are.
///
/// # Errors
/// [`DatabaseError`].
pub(crate) fn insert_all(connection: &mut dyn Connection, table: &str, columns: &str, rows: &[Vec<Value>]) -> Done<()> {
    for chunk in rows.chunks(TOGETHER) {
        let mut next = 0;
        let one = |row: &Vec<Value>| {
            let places: Vec<String> = row
                .iter()
                .map(|_| {
                    next += 1;
                    format!("${next}")
                })
                .collect();
            format!("({})", places.join(", "))
        };
        let places: Vec<String> = chunk.iter().map(one).collect();
        let statement = format!("INSERT INTO {table} ({columns}) VALUES {} ON CONFLICT DO NOTHING", places.join(", "));
        let values: Vec<Value> = chunk.iter().flatten().cloned().collect();
        connection.run(&statement, &values)?;
    }
    Ok(())
}

/// Records that have repeats with these fingerprints, each with how many.
///
/// # Errors
/// [`DatabaseError`].
pub fn with_prints(connection: &mut dyn Connection, prints: &[String], but: &str) -> Done<Vec<(String, usize)>> {
    let mut found = BTreeMap::<String, usize>::new();
    for print in prints {
        let rows = connection
            .rows("SELECT id FROM prints WHERE print = $1 AND id <> $2 LIMIT 100", &[print.into(), but.into()])?;
        for row in rows {
            *found.entry(row.text(0)?).or_default() += 1;
        }
    }
    let mut found: Vec<(String, usize)> = found.into_iter().collect();
    found.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    Ok(found)
}

/// Public figures of a model under a load on one kind of bus: account, unit, operations per second.
///
/// # Errors
/// [`DatabaseError`].
pub fn figures_like(
    connection: &mut dyn Connection,
    model: &str,
    load: &str,
    bus: &str,
) -> Done<Vec<(String, String, f64)>> {
    let rows = connection.rows(
        "SELECT account, unit, iops FROM figures WHERE model = $1 AND load = $2 AND bus = $3 ORDER BY id LIMIT 2000",
        &[model.into(), load.into(), bus.into()],
    )?;
    rows.iter().map(|row| Ok((row.text(0)?, row.text(1)?, row.real(2)?.unwrap_or(0.0)))).collect()
}

/// Whether another account has a public figure below this one, of a model under a load on one kind of bus.
///
/// # Errors
/// [`DatabaseError`].
pub fn any_below(
    connection: &mut dyn Connection,
    (model, load, bus): (&str, &str, &str),
    account: &str,
    iops: f64,
) -> Done<bool> {
    let rows = connection.rows(
        "SELECT account FROM figures
         WHERE model = $1 AND load = $2 AND bus = $3 AND iops > 0 AND iops < $4 AND account <> $5 LIMIT 1",
        &[model.into(), load.into(), bus.into(), Value::Real(iops), account.into()],
    )?;
    Ok(!rows.is_empty())
}

/// A document that changed.
#[derive(Debug)]
pub struct Change {
    /// Identity of its record.
    pub id: String,
    /// The number of the change.
    pub changed: i64,
    /// The record, where it is public.
    pub entry: Option<Entry>,
}

/// Documents that changed after a number, in the order of their changes.
///
/// # Errors
/// [`DatabaseError`].
pub fn changes(connection: &mut dyn Connection, after: i64, most: i64, texts: &mut Texts) -> Done<Vec<Change>> {
    let rows = connection.rows(
        "SELECT d.id, d.changed, d.state, d.account, d.hash, g.model, g.unit, g.class, g.body
         FROM documents d LEFT JOIN digests g ON g.id = d.id WHERE d.changed > $1 ORDER BY d.changed LIMIT $2",
        &[Value::Int(after), Value::Int(most)],
    )?;
    let mut all = Vec::with_capacity(rows.len());
    for row in &rows {
        let (id, changed, state) = (row.str(0)?, row.int(1)?, row.str(2)?);
        let entry = if state == State::Public.name() {
            let row = Row {
                id,
                account: row.str(3)?,
                hash: row.str(4)?,
                model: row.str(5)?,
                unit: row.str(6)?,
                class: row.str(7)?,
                digest: row.str(8)?,
            };
            Some(texts.entry(&row).map_err(|error| DatabaseError::Damaged(format!("{id}: {error}")))?)
        } else {
            None
        };
        all.push(Change { id: id.to_owned(), changed, entry });
    }
    Ok(all)
}

/// What rankings read of records, as JSON, in the order of their identities as they are given. One that was taken back
/// meanwhile is left out.
///
/// # Errors
/// [`DatabaseError`].
pub fn observation_texts(connection: &mut dyn Connection, ids: &[&str]) -> Done<Vec<(String, String)>> {
    let mut all = Vec::with_capacity(ids.len());
    for chunk in ids.chunks(TOGETHER) {
        let places: Vec<String> = (1..=chunk.len()).map(|at| format!("${at}")).collect();
        let query = format!("SELECT id, body FROM observations WHERE id IN ({})", places.join(", "));
        let values: Vec<Value> = chunk.iter().map(|id| Value::from(*id)).collect();
        let mut found = HashMap::new();
        for row in connection.rows(&query, &values)? {
            found.insert(row.text(0)?, row.text(1)?);
        }
        all.extend(chunk.iter().filter_map(|id| found.remove_entry(*id)));
    }
    Ok(all)
}

/// The same, read.
///
/// # Errors
/// [`DatabaseError`].
pub fn observations(connection: &mut dyn Connection, ids: &[&str]) -> Done<Vec<Observation>> {
    let damaged = |id: &str, error: serde_json::Error| DatabaseError::Damaged(format!("{id}: {error}"));
    let texts = observation_texts(connection, ids)?;
    texts.iter().map(|(id, text)| serde_json::from_str(text).map_err(|error| damaged(id, error))).collect()
}

// Decisions of owners and of the operator.

/// Takes a document back, within a transaction. False where it is gone already.
///
/// # Errors
/// [`DatabaseError`].
pub fn withdraw(connection: &mut dyn Connection, there: &Kept, why: Reason) -> Done<bool> {
    if there.standing.state == State::Withdrawn {
        return Ok(false);
    }
    settle(connection, there, &Standing { state: State::Withdrawn, reasons: vec![why] }, None)
}

/// Holds a document by a decision of the operator, within a transaction. False where it is gone.
///
/// # Errors
/// [`DatabaseError`].
pub fn hold(connection: &mut dyn Connection, there: &Kept, why: &str) -> Done<bool> {
    if there.standing.state == State::Withdrawn {
        return Ok(false);
    }
    let reasons = vec![Reason::new(Code::ByOperator, why)];
    settle(connection, there, &Standing { state: State::Held, reasons }, None)
}
