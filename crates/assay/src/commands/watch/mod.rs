//! `assay watch`: media that are measured each night, and what changed.

mod add;
mod keep;
mod night;
mod status;
mod timer;
mod words;

use assay_core::exit::Exit;

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
