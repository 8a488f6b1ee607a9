//! Whether a medium is genuine: fills it and checks it, probes it quickly, and models the fakes
//! that the tests of both are made of.

pub mod fakes;
pub mod files;
pub mod probe;
pub mod quick;
