//! The database: one trait with two implementations, SQLite and PostgreSQL. All statements are written once, in
//! [`crate::store`]; both databases run the same text.

mod connection;
mod error;
mod pool;
mod postgres;
mod schema;
mod sqlite;
mod value;

pub use connection::Connection;
pub use error::DatabaseError;
pub use pool::{Database, Place, PlaceError};
pub use value::{Row, Value};
