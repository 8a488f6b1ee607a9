//! A run under way, step by step: it begins, lays the test area out, measures and ends.

mod layout;
mod order;
mod plan;
mod programs;
mod repeat;
mod run;
#[cfg(test)]
mod tests;

pub(crate) use run::Session;
