//! Threads that read the sensors during a run, so that neither a drive that
//! hangs nor a slow command stops the clock of the samples.

mod command;
mod machine;
mod message;

pub(crate) use command::Command;
pub(crate) use machine::Machine;
pub(crate) use message::SensorMessage;
