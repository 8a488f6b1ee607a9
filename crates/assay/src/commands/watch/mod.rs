//! `assay watch`: media that are measured each night, and what changed.

mod add;
mod fleet;
mod keep;
mod night;
mod status;
mod tell;
mod timer;

use assay_core::exit::Exit;
pub(super) use fleet::fleet_watch;
pub(super) use keep::names;
pub(super) use status::status_answer;

use crate::cli::{WatchArgs, WatchCommand, WatchRunArgs};
use crate::ending::Failure;

pub(super) fn watch(args: &WatchArgs) -> Result<Exit, Failure> {
    match &args.command {
        None => night::run(&WatchRunArgs { names: Vec::new(), json: false }),
        Some(WatchCommand::Run(args)) => night::run(args),
        Some(WatchCommand::Add(args)) => add::add(args),
        Some(WatchCommand::Status(args)) => status::status(args),
        Some(WatchCommand::Ack { event }) => status::acknowledge(event),
        Some(WatchCommand::Remove { name }) => add::remove(name),
    }
}
