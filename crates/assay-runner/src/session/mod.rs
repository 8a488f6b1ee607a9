//! A run under way, step by step: it begins, lays the test area out, measures and ends.

mod begin;
mod end;
mod enough;
mod execute;
mod layout;
mod order;
mod outcome;
mod plan;
mod program_sides;
mod programs;
mod repeat;
mod settle;
#[cfg(test)]
mod tests;
mod turn;
mod write_out;

pub(crate) use begin::Session;
