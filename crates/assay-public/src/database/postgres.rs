//! PostgreSQL.

use std::collections::HashMap;
use std::error::Error;
use std::path::Path;

use postgres::types::{ToSql, Type};
use postgres::{Client, NoTls, Statement};

use super::address::{self, Address};
use super::tls::Verified;
use super::{Connection, DatabaseError, Row, Value};

/// Writers of all processes take turns by this lock (`assay pu` as a number).
const WRITER: i64 = 0x6173_7361_7920_7075;

pub(super) struct Postgres {
    client: Client,
    prepared: HashMap<String, Statement>,
}

impl Postgres {
    pub(super) fn open(address: &str) -> Result<Self, DatabaseError> {
        let Address { config, authorities } = address::read(address).map_err(DatabaseError::Address)?;
        let client = match authorities {
            None => config.connect(NoTls),
            Some(file) => config.connect(Verified::by(&file).map_err(DatabaseError::Address)?),
        };
        let mut client = client.map_err(|error| said(&error))?;
        // A receipt is sent after a commit: it has to be on the medium, whatever the server's configuration says.
        client
            .batch_execute("SET synchronous_commit = on; SET client_encoding = 'UTF8'")
            .map_err(|error| said(&error))?;
        Ok(Self { client, prepared: HashMap::new() })
    }

    /// Text is compared by its bytes, as SQLite does it.
    pub(super) fn dialect(step: &str) -> String {
        step.replace(" TEXT", " TEXT COLLATE \"C\"")
    }

    fn statement(&mut self, text: &str) -> Result<Statement, DatabaseError> {
        if let Some(known) = self.prepared.get(text) {
            return Ok(known.clone());
        }
        let made = self.client.prepare(text).map_err(|error| said(&error))?;
        self.prepared.insert(text.to_owned(), made.clone());
        Ok(made)
    }
}

fn said(error: &postgres::Error) -> DatabaseError {
    let text = error.as_db_error().map_or_else(
        || error.source().map_or_else(|| error.to_string(), |source| format!("{error}: {source}")),
        |said| said.message().to_owned(),
    );
    match error.code() {
        // The server ends, or has no room: classes 08, 53 and 57 of its error codes.
        Some(code) if !["08", "53", "57"].iter().any(|class| code.code().starts_with(class)) => {
            DatabaseError::Refused(text)
        }
        _ => DatabaseError::Away(text),
    }
}

/// What the driver takes. Only bytes may be absent.
fn given(values: &[Value]) -> Vec<Box<dyn ToSql + Sync>> {
    let one = |value: &Value| -> Box<dyn ToSql + Sync> {
        match value {
            Value::Null => Box::new(Option::<Vec<u8>>::None),
            Value::Int(number) => Box::new(*number),
            Value::Real(number) => Box::new(*number),
            Value::Text(text) => Box::new(text.clone()),
            Value::Bytes(bytes) => Box::new(bytes.clone()),
        }
    };
    values.iter().map(one).collect()
}

fn borrowed(values: &[Box<dyn ToSql + Sync>]) -> Vec<&(dyn ToSql + Sync)> {
    values.iter().map(AsRef::as_ref).collect()
}

fn values(row: &postgres::Row) -> Result<Row, DatabaseError> {
    let one = |at: usize, ty: &Type| -> Result<Value, postgres::Error> {
        Ok(match *ty {
            Type::INT8 => row.try_get::<_, Option<i64>>(at)?.map_or(Value::Null, Value::Int),
            Type::FLOAT8 => row.try_get::<_, Option<f64>>(at)?.map_or(Value::Null, Value::Real),
            Type::BYTEA => row.try_get::<_, Option<Vec<u8>>>(at)?.map_or(Value::Null, Value::Bytes),
            _ => row.try_get::<_, Option<String>>(at)?.map_or(Value::Null, Value::Text),
        })
    };
    let all: Result<Vec<Value>, _> =
        row.columns().iter().enumerate().map(|(at, column)| one(at, column.type_())).collect();
    all.map(Row).map_err(|error| DatabaseError::Damaged(error.to_string()))
}

impl Connection for Postgres {
    fn run(&mut self, statement: &str, values: &[Value]) -> Result<u64, DatabaseError> {
        let prepared = self.statement(statement)?;
        self.client.execute(&prepared, &borrowed(&given(values))).map_err(|error| said(&error))
    }

    fn rows(&mut self, query: &str, asked: &[Value]) -> Result<Vec<Row>, DatabaseError> {
        let prepared = self.statement(query)?;
        let found = self.client.query(&prepared, &borrowed(&given(asked))).map_err(|error| said(&error))?;
        found.iter().map(values).collect()
    }

    fn batch(&mut self, statements: &str) -> Result<(), DatabaseError> {
        self.client.batch_execute(statements).map_err(|error| said(&error))
    }

    fn begin(&mut self) -> Result<(), DatabaseError> {
        self.batch("BEGIN")?;
        let locked = self.client.execute("SELECT pg_advisory_xact_lock($1)", &[&WRITER]);
        locked.map(|_| ()).map_err(|error| said(&error))
    }

    fn commit(&mut self) -> Result<(), DatabaseError> {
        self.batch("COMMIT")
    }

    fn roll_back(&mut self) {
        let _ = self.batch("ROLLBACK");
    }

    fn is_lost(&self) -> bool {
        self.client.is_closed()
    }

    fn back_up(&mut self, _: &Path) -> Result<(), DatabaseError> {
        let mend = "pg_dump backs up PostgreSQL while it is used; `assay-public copy` makes a file of SQLite";
        Err(DatabaseError::Refused(mend.to_owned()))
    }
}
