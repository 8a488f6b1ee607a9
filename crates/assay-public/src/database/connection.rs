//! What a database has to be able to do.

use std::path::Path;

use super::{DatabaseError, Row, Value};

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
