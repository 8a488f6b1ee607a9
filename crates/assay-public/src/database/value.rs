//! Values of statements and rows of answers.

use super::DatabaseError;

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
        match self.0.get(at) {
            Some(Value::Text(text)) => Ok(text.clone()),
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
