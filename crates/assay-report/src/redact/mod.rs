//! What identifies a unit, a machine or a person, taken out of anything shared. See `docs/sharing.md`.
//!
//! By allow-list: [`rules`] says of every field of the record what becomes of it, and a field without a
//! rule stays behind.

mod identity;
mod known;
mod redactor;
mod rules;

pub(crate) use identity::{Kind, Rule};
pub use redactor::{RedactError, Redactor, unredacted};
