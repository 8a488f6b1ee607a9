//! What is kept: accounts, documents with their states, the log and the snapshots. Their statements are here; those on what was
//! derived of documents are in [`crate::derived`].

use jiff::Timestamp;

use crate::database::{Connection, DatabaseError, Row, Value};
use crate::intake::Submission;
use crate::states::{Reason, Receipt, Standing, State};

type Done<T> = Result<T, DatabaseError>;

/// 256 random bits of the kernel as 64 hexadecimal digits.
///
/// # Errors
/// Where the kernel gives none.
pub fn secret() -> std::io::Result<String> {
    let mut bits = [0; 32];
    assay_runner::random(&mut bits)?;
    Ok(blake3::Hash::from_bytes(bits).to_hex().to_string())
}

/// A hash as its hexadecimal digits: what is kept of tokens and of keys.
#[must_use]
pub fn hash_of(secret: &str) -> String {
    blake3::hash(secret.as_bytes()).to_hex().to_string()
}

fn now() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

fn number(connection: &mut dyn Connection, query: &str, values: &[Value]) -> Done<i64> {
    connection.rows(query, values)?.first().map_or(Ok(0), |row| row.int(0))
}

// Accounts.

/// An account, as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// Its name, which is public.
    pub name: String,
    /// When it was made.
    pub created: String,
    /// Whether its token is accepted.
    pub enabled: bool,
    /// Its submissions.
    pub records: i64,
}

/// Makes an account; false where the name is taken.
///
/// # Errors
/// [`DatabaseError`].
pub fn add_account(connection: &mut dyn Connection, name: &str, token: &str) -> Done<bool> {
    let made = connection.run(
        "INSERT INTO accounts (name, token, created, enabled) VALUES ($1, $2, $3, 1) ON CONFLICT DO NOTHING",
        &[name.into(), hash_of(token).into(), now().into()],
    )?;
    Ok(made == 1)
}

/// Accepts or refuses the token of an account; false where there is no such account.
///
/// # Errors
/// [`DatabaseError`].
pub fn enable_account(connection: &mut dyn Connection, name: &str, enabled: bool) -> Done<bool> {
    let changed = connection
        .run("UPDATE accounts SET enabled = $1 WHERE name = $2", &[Value::Int(i64::from(enabled)), name.into()])?;
    Ok(changed == 1)
}

/// All accounts.
///
/// # Errors
/// [`DatabaseError`].
pub fn accounts(connection: &mut dyn Connection) -> Done<Vec<Account>> {
    let rows = connection.rows(
        "SELECT name, created, enabled, (SELECT COUNT(*) FROM documents WHERE account = name) FROM accounts ORDER BY name",
        &[],
    )?;
    let one = |row: &Row| {
        Ok(Account { name: row.text(0)?, created: row.text(1)?, enabled: row.int(2)? == 1, records: row.int(3)? })
    };
    rows.iter().map(one).collect()
}

/// Submissions of an account.
///
/// # Errors
/// [`DatabaseError`].
pub fn submissions_of(connection: &mut dyn Connection, account: &str) -> Done<i64> {
    number(connection, "SELECT COUNT(*) FROM documents WHERE account = $1", &[account.into()])
}

/// The name of the account with a token.
///
/// # Errors
/// [`DatabaseError`].
pub fn account_of(connection: &mut dyn Connection, token: &str) -> Done<Option<String>> {
    let rows =
        connection.rows("SELECT name FROM accounts WHERE token = $1 AND enabled = 1", &[hash_of(token).into()])?;
    rows.first().map(|row| row.text(0)).transpose()
}

// Submissions.

/// A document on its way in.
#[derive(Debug)]
pub struct Incoming {
    /// Who sent it.
    pub account: String,
    /// The document.
    pub submission: Submission,
    /// Whether it is to be shown at its address alone.
    pub unlisted: bool,
    /// What its owner takes it back with.
    pub key: String,
}

/// What became of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Submitted {
    /// It is kept.
    New(Kept),
    /// It was kept before.
    Same(Kept),
    /// Another one has its identity.
    Taken(Kept),
}

/// A document that is kept, without its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Identity of the record.
    pub id: String,
    /// Who sent it.
    pub account: String,
    /// BLAKE3 of its bytes.
    pub hash: String,
    /// When it was received.
    pub received: String,
    /// Where it stands.
    pub standing: Standing,
    /// Whether its owner asked for no list to show it.
    pub unlisted: bool,
    /// BLAKE3 of the key that takes it back.
    pub withdrawal: String,
    /// Counts up with each change of any document.
    pub changed: i64,
}

impl Kept {
    /// Its receipt. `site` is the address of the server.
    #[must_use]
    pub fn receipt(&self, site: &str, withdrawal_key: Option<String>) -> Receipt {
        Receipt {
            id: self.id.clone(),
            hash: self.hash.clone(),
            state: self.standing.state,
            reasons: self.standing.reasons.clone(),
            received: self.received.clone(),
            address: format!("{site}/records/{}", self.id),
            withdrawal_key,
        }
    }
}

const KEPT: &str = "SELECT id, account, hash, received, state, reasons, unlisted, withdrawal, changed FROM documents";

fn kept(row: &Row) -> Done<Kept> {
    let state = row.text(4)?;
    let state = State::named(&state).ok_or_else(|| DatabaseError::Damaged(format!("there is no state {state}")))?;
    Ok(Kept {
        id: row.text(0)?,
        account: row.text(1)?,
        hash: row.text(2)?,
        received: row.text(3)?,
        standing: Standing { state, reasons: reasons(&row.text(5)?)? },
        unlisted: row.int(6)? == 1,
        withdrawal: row.text(7)?,
        changed: row.int(8)?,
    })
}

fn reasons(text: &str) -> Done<Vec<Reason>> {
    serde_json::from_str(text).map_err(|error| DatabaseError::Damaged(format!("reasons: {error}")))
}

pub(crate) fn reasons_text(reasons: &[Reason]) -> Done<String> {
    serde_json::to_string(reasons).map_err(|error| DatabaseError::Refused(error.to_string()))
}

/// What is kept of a record.
///
/// # Errors
/// [`DatabaseError`].
pub fn find(connection: &mut dyn Connection, id: &str) -> Done<Option<Kept>> {
    connection.rows(&format!("{KEPT} WHERE id = $1"), &[id.into()])?.first().map(kept).transpose()
}

/// The bytes of a document; none where it is gone or never was.
///
/// # Errors
/// [`DatabaseError`].
pub fn document(connection: &mut dyn Connection, id: &str) -> Done<Option<Vec<u8>>> {
    let rows = connection.rows("SELECT body FROM bodies WHERE id = $1", &[id.into()])?;
    rows.first().map_or(Ok(None), |row| row.bytes(0))
}

/// Keeps a document, within a transaction.
///
/// # Errors
/// [`DatabaseError`].
pub fn submit(connection: &mut dyn Connection, incoming: &Incoming) -> Done<Submitted> {
    let Incoming { account, submission, unlisted, key } = incoming;
    let id = &submission.record.id;
    if let Some(there) = find(connection, id)? {
        let gone = there.standing.state == State::Withdrawn;
        let same = there.account == *account && there.hash == submission.hash && !gone;
        return Ok(if same { Submitted::Same(there) } else { Submitted::Taken(there) });
    }
    let changed = next_change(connection)?;
    let new = Kept {
        id: id.clone(),
        account: account.clone(),
        hash: submission.hash.clone(),
        received: now(),
        standing: Standing { state: State::Received, reasons: Vec::new() },
        unlisted: *unlisted,
        withdrawal: hash_of(key),
        changed,
    };
    connection.run(
        "INSERT INTO documents (id, seq, account, hash, received, unlisted, state, reasons, withdrawal, changed)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        &[
            id.into(),
            // A change's number was never used before: it also says in which order documents came.
            Value::Int(changed),
            account.into(),
            new.hash.clone().into(),
            new.received.clone().into(),
            Value::Int(i64::from(*unlisted)),
            State::Received.name().into(),
            "[]".into(),
            new.withdrawal.clone().into(),
            Value::Int(changed),
        ],
    )?;
    connection.run("INSERT INTO bodies (id, body) VALUES ($1, $2)", &[id.into(), submission.bytes.clone().into()])?;
    Ok(Submitted::New(new))
}

pub(crate) fn next_change(connection: &mut dyn Connection) -> Done<i64> {
    Ok(number(connection, "SELECT COALESCE(MAX(changed), 0) FROM documents", &[])? + 1)
}

/// Documents in a state, the oldest first.
///
/// # Errors
/// [`DatabaseError`].
pub fn in_state(connection: &mut dyn Connection, state: State, most: i64) -> Done<Vec<Kept>> {
    let query = format!("{KEPT} WHERE state = $1 ORDER BY seq LIMIT $2");
    connection.rows(&query, &[state.name().into(), Value::Int(most)])?.iter().map(kept).collect()
}

/// Documents that came after a place in their order, and that place of each.
///
/// # Errors
/// [`DatabaseError`].
pub fn after(connection: &mut dyn Connection, seq: i64, most: i64) -> Done<Vec<(i64, Kept)>> {
    let query = KEPT.replace(" FROM documents", ", seq FROM documents") + " WHERE seq > $1 ORDER BY seq LIMIT $2";
    let rows = connection.rows(&query, &[Value::Int(seq), Value::Int(most)])?;
    rows.iter().map(|row| Ok((row.int(9)?, kept(row)?))).collect()
}

/// Documents in each state.
///
/// # Errors
/// [`DatabaseError`].
pub fn counts(connection: &mut dyn Connection) -> Done<Vec<(String, i64)>> {
    let rows = connection.rows("SELECT state, COUNT(*) FROM documents GROUP BY state ORDER BY state", &[])?;
    rows.iter().map(|row| Ok((row.text(0)?, row.int(1)?))).collect()
}

// The log, which is only added to.

/// An entry of the log.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Entry {
    /// Its number.
    pub n: i64,
    /// When.
    pub at: String,
    /// The record.
    pub id: String,
    /// Its state before.
    pub from: String,
    /// Its state after.
    pub to: String,
    /// Why.
    pub reasons: Vec<Reason>,
}

pub(crate) fn note(connection: &mut dyn Connection, id: &str, was: &str, now_is: &str, reasons: &str) -> Done<()> {
    let n = number(connection, "SELECT COALESCE(MAX(n), 0) FROM log", &[])? + 1;
    connection.run(
        "INSERT INTO log (n, at, id, was, now, reasons) VALUES ($1, $2, $3, $4, $5, $6)",
        &[Value::Int(n), now().into(), id.into(), was.into(), now_is.into(), reasons.into()],
    )?;
    Ok(())
}

/// Entries after a number.
///
/// # Errors
/// [`DatabaseError`].
pub fn log(connection: &mut dyn Connection, after: i64, most: i64) -> Done<Vec<Entry>> {
    let rows = connection.rows(
        "SELECT n, at, id, was, now, reasons FROM log WHERE n > $1 ORDER BY n LIMIT $2",
        &[Value::Int(after), Value::Int(most)],
    )?;
    let one = |row: &Row| {
        Ok(Entry {
            n: row.int(0)?,
            at: row.text(1)?,
            id: row.text(2)?,
            from: row.text(3)?,
            to: row.text(4)?,
            reasons: reasons(&row.text(5)?)?,
        })
    };
    rows.iter().map(one).collect()
}

// Snapshots.

/// What a snapshot is made of.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Cited {
    /// Its number.
    pub number: i64,
    /// When it was made first.
    pub made: String,
    /// Public records.
    pub records: i64,
    /// Their units.
    pub units: i64,
    /// Their accounts.
    pub accounts: i64,
    /// BLAKE3 over the identities and hashes of its documents, in the order of the identities.
    pub hash: String,
}

impl Cited {
    /// What answers that rest on it are known by.
    #[must_use]
    pub fn tag(&self) -> String {
        format!("{}-{}", self.number, self.hash.get(..12).unwrap_or_default())
    }
}

/// Numbers a set of public records, within a transaction: by a new number, unless the newest snapshot is of this set.
///
/// # Errors
/// [`DatabaseError`].
pub fn cite(connection: &mut dyn Connection, hash: &str, counts: [i64; 3]) -> Done<Cited> {
    let rows = connection
        .rows("SELECT n, made, records, units, accounts, hash FROM snapshots ORDER BY n DESC LIMIT 1", &[])?;
    let newest = rows.first().map(|row| {
        Ok::<_, DatabaseError>(Cited {
            number: row.int(0)?,
            made: row.text(1)?,
            records: row.int(2)?,
            units: row.int(3)?,
            accounts: row.int(4)?,
            hash: row.text(5)?,
        })
    });
    let newest = newest.transpose()?;
    let number = newest.as_ref().map_or(1, |newest| newest.number + 1);
    if let Some(newest) = newest.filter(|newest| newest.hash == hash) {
        return Ok(newest);
    }
    let [records, units, accounts] = counts;
    let new = Cited { number, made: now(), records, units, accounts, hash: hash.to_owned() };
    connection.run(
        "INSERT INTO snapshots (n, made, records, units, accounts, hash) VALUES ($1, $2, $3, $4, $5, $6)",
        &[
            Value::Int(number),
            new.made.clone().into(),
            Value::Int(records),
            Value::Int(units),
            Value::Int(accounts),
            hash.into(),
        ],
    )?;
    Ok(new)
}
