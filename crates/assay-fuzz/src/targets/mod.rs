//! The targets, by what they feed: each has a function that makes the claims, and one with inputs to begin with.

pub(crate) mod endurance;
pub(crate) mod foreign;
pub(crate) mod health;
pub(crate) mod machine;
pub(crate) mod record;
pub(crate) mod state;
pub(crate) mod typed;
