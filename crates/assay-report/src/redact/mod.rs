//! What identifies a unit, a machine or a person, taken out of anything shared. See `docs/sharing.md`.
//!
//! By allow-list: [`rules`] says of every field of the record what becomes of it, and a field without a
//! rule stays behind.

mod known;
mod name;
mod options;
mod path;
mod plain;
mod redactor;
mod rule;
mod rules;
mod scrub;
mod unique;

pub(crate) use name::Kind;
pub use redactor::{RedactError, Redactor};
pub(crate) use rule::Rule;
