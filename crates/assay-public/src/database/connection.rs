//! What a database has to be able to do, with the values that go in and out, and its errors.

use std::path::Path;

/// A connection. Statements name their values `$1`, `$2` and so on, in rising order of their first use, as SQLite numbers
/// them by that.
pub trait Connection: Send {
    /// Runs a statement; the number of rows that it changed.
    ///
    /// # Errors
    /// [`DatabaseError`].
    fn run(&mut self, statement: &str, values: &[Value]) -> Result<u64, DatabaseError>;

    /// The rows of a query.
    ///
    /// # Errors
    /// [`DatabaseError`].
    fn rows(&mut self, query: &str, values: &[Value]) -> Result<Vec<Row>, DatabaseError>;

    /// Runs several statements without values.
    ///
    /// # Errors
    /// [`DatabaseError`].
    fn batch(&mut self, statements: &str) -> Result<(), DatabaseError>;

    /// Begins a transaction, as the only writer of all processes until it ends.
    ///
    /// # Errors
    /// [`DatabaseError`].
    fn begin(&mut self) -> Result<(), DatabaseError>;

    /// Ends the transaction. When this returns, what it wrote survives a loss of power.
    ///
    /// # Errors
    /// [`DatabaseError`]; whether the transaction counts is then not known where the connection was lost.
    fn commit(&mut self) -> Result<(), DatabaseError>;

    /// Ends the transaction as if it had not been.
    fn roll_back(&mut self);

    /// Whether it is of use no more.
    fn is_lost(&self) -> bool;

    /// Writes a copy of the whole database to a new file, while others go on.
    ///
    /// # Errors
    /// [`DatabaseError`], also where this database has a tool of its own for it.
    fn back_up(&mut self, file: &Path) -> Result<(), DatabaseError>;
}

/// What a database cannot do.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// It cannot be reached, or the connection was lost: the same may work later.
    #[error("the database cannot be reached: {0}")]
    Away(String),
    /// Its address is malformed, or the way to it is not protected.
    #[error("{0}")]
    Address(String),
    /// It was reached and refuses.
    #[error("the database refuses: {0}")]
    Refused(String),
    /// It is of a newer version of this program.
    #[error("the database is of version {found}, and this program knows versions up to {known}: use the newer program")]
    Newer {
        /// Its version.
        found: i64,
        /// What this program knows.
        known: i64,
    },
    /// What it holds was not written by this program.
    #[error("the database holds what this program did not write: {0}")]
    Damaged(String),
}

/// A value of a statement or a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// No bytes: nothing else may be absent.
    Null,
    /// An integer.
    Int(i64),
    /// A number.
    Real(f64),
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Real(number)
    }
}

impl From<Vec<u8>> for Value {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes)
    }
}

/// A row of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Row(pub Vec<Value>);

impl Row {
    fn wrong<T>(&self, at: usize, what: &str) -> Result<T, DatabaseError> {
        Err(DatabaseError::Damaged(format!("column {at} of an answer is no {what}")))
    }

    /// The text in a column.
    ///
    /// # Errors
    /// [`DatabaseError::Damaged`] where it is none.
    pub fn text(&self, at: usize) -> Result<String, DatabaseError> {
        self.str(at).map(str::to_owned)
    }

    /// The same, as it is in the row.
    ///
    /// # Errors
    /// [`DatabaseError::Damaged`] where it is none.
    pub fn str(&self, at: usize) -> Result<&str, DatabaseError> {
        match self.0.get(at) {
            Some(Value::Text(text)) => Ok(text),
            _ => self.wrong(at, "text"),
        }
    }

    /// The integer in a column.
    ///
    /// # Errors
    /// [`DatabaseError::Damaged`] where it is none.
    pub fn int(&self, at: usize) -> Result<i64, DatabaseError> {
        match self.0.get(at) {
            Some(Value::Int(number)) => Ok(*number),
            _ => self.wrong(at, "integer"),
        }
    }

    /// The number in a column; none where it is null.
    ///
    /// # Errors
    /// [`DatabaseError::Damaged`] where it is neither.
    pub fn real(&self, at: usize) -> Result<Option<f64>, DatabaseError> {
        match self.0.get(at) {
            Some(Value::Real(number)) => Ok(Some(*number)),
            Some(Value::Int(number)) => Ok(Some(*number as f64)),
            Some(Value::Null) => Ok(None),
            _ => self.wrong(at, "number"),
        }
    }

    /// The bytes in a column; none where it is null.
    ///
    /// # Errors
    /// [`DatabaseError::Damaged`] where it is neither.
    pub fn bytes(&self, at: usize) -> Result<Option<Vec<u8>>, DatabaseError> {
        match self.0.get(at) {
            Some(Value::Bytes(bytes)) => Ok(Some(bytes.clone())),
            Some(Value::Null) => Ok(None),
            _ => self.wrong(at, "bytes"),
        }
    }
}
