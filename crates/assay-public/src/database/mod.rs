//! The database: one trait with two implementations, SQLite and PostgreSQL. All statements are written once, in
//! [`crate::store`]; both databases run the same text.

mod address;
mod connection;
mod pool;
mod postgres;
mod schema;
mod sqlite;
mod tls;

pub use connection::{Connection, DatabaseError, Row, Value};
pub use pool::{Database, Place, PlaceError};
