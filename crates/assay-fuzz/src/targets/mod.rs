//! The targets, one module each: `run` makes the claims, `seeds` gives inputs to begin with.

pub(crate) mod sensor;
pub(crate) mod suite;
pub(crate) mod text;
pub(crate) mod units;
