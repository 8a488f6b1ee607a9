//! Where a database is, and its connections.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::postgres::Postgres;
use super::sqlite::Sqlite;
use super::{Connection, DatabaseError, schema};

/// Where a database is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A file of SQLite.
    Sqlite(PathBuf),
    /// An address of PostgreSQL, as libpq writes it: `postgres://user@host/name`, or `host=/run/postgresql dbname=assay`. To
    /// another machine it has `sslmode=verify-full` and `sslrootcert=FILE`, or `sslmode=disable`.
    Postgres(String),
}

/// A text names no database.
#[derive(Debug, thiserror::Error)]
#[error("{0} names no database; write postgres://USER@HOST/NAME, or the path of a file for SQLite")]
pub struct PlaceError(String);

impl FromStr for Place {
    type Err = PlaceError;

    fn from_str(text: &str) -> Result<Self, PlaceError> {
        if ["postgres://", "postgresql://", "host="].iter().any(|start| text.starts_with(start)) {
            return Ok(Self::Postgres(text.to_owned()));
        }
        if text.is_empty() || text.contains("://") {
            return Err(PlaceError(text.to_owned()));
        }
        Ok(Self::Sqlite(PathBuf::from(text)))
    }
}

impl Place {
    /// What may be said of it: an address may hold a password.
    #[must_use]
    pub fn shown(&self) -> String {
        match self {
            Self::Sqlite(path) => path.display().to_string(),
            Self::Postgres(_) => "PostgreSQL".to_owned(),
        }
    }

    fn connect(&self) -> Result<Box<dyn Connection>, DatabaseError> {
        Ok(match self {
            Self::Sqlite(path) => Box::new(Sqlite::open(path)?),
            Self::Postgres(address) => Box::new(Postgres::open(address)?),
        })
    }

    fn dialect(&self) -> fn(&str) -> String {
        match self {
            Self::Sqlite(_) => Sqlite::dialect,
            Self::Postgres(_) => Postgres::dialect,
        }
    }
}

/// Connections that are kept for later.
const KEPT: usize = 8;

/// A database with connections to it.
pub struct Database {
    place: Place,
    idle: Mutex<Vec<Box<dyn Connection>>>,
    /// Writers of this process take turns here: SQLite lets those of several connections try again and again, and one of them
    /// may find no turn for seconds.
    writing: Mutex<()>,
}

impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Database({})", self.place.shown())
    }
}

impl Database {
    /// Opens a database, and brings it to the version of this program.
    ///
    /// # Errors
    /// [`DatabaseError`].
    pub fn open(place: &Place) -> Result<Self, DatabaseError> {
        let mut connection = place.connect()?;
        schema::migrate(connection.as_mut(), place.dialect())?;
        Ok(Self { place: place.clone(), idle: Mutex::new(vec![connection]), writing: Mutex::default() })
    }

    /// Where it is.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.place
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Box<dyn Connection>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with a connection.
    ///
    /// # Errors
    /// Those of `what`, and [`DatabaseError::Away`].
    pub fn with<T, E: From<DatabaseError>>(
        &self,
        what: impl FnOnce(&mut dyn Connection) -> Result<T, E>,
    ) -> Result<T, E> {
        let known = self.idle().pop();
        let mut connection = match known {
            Some(connection) => connection,
            None => self.place.connect()?,
        };
        let done = what(connection.as_mut());
        let mut idle = self.idle();
        if connection.is_lost() {
            // The server was started anew: the others are lost, too.
            idle.clear();
        } else if idle.len() < KEPT {
            idle.push(connection);
        }
        done
    }

    /// Does something in a transaction, as the only writer. Where it fails, nothing was done.
    ///
    /// # Errors
    /// As [`Database::with`].
    pub fn write<T, E: From<DatabaseError>>(
        &self,
        what: impl FnOnce(&mut dyn Connection) -> Result<T, E>,
    ) -> Result<T, E> {
        let _turn = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        self.with(|connection| {
            connection.begin()?;
            match what(connection) {
                Ok(done) => connection.commit().map(|()| done).map_err(E::from),
                Err(error) => Err(error),
            }
            .inspect_err(|_| connection.roll_back())
        })
    }

    /// Writes a copy of the whole database to a new file.
    ///
    /// # Errors
    /// [`DatabaseError`].
    pub fn back_up(&self, file: &Path) -> Result<(), DatabaseError> {
        self.with(|connection| connection.back_up(file))
    }
}
