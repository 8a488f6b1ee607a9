//! Who reads sensors while a run goes on: threads of their own, so that neither a drive that
//! hangs nor a slow command stops the clock of the samples.

mod command;
mod machine;
mod told;

pub(crate) use command::Command;
pub(crate) use machine::Machine;
pub(crate) use told::Told;
