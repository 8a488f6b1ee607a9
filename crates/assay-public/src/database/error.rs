//! What a database cannot do.

/// What a database cannot do.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// It cannot be reached, or the connection was lost: the same may work later.
    #[error("the database cannot be reached: {0}")]
    Away(String),
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
