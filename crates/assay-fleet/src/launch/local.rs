//! Nodes that are processes of this machine.

use std::process::Command;

use super::process::Launched;
use super::what::{Launch, Place};
use super::words;

pub(super) fn start(launch: &Launch<'_>, place: &Place) -> std::io::Result<Launched> {
    let mut command = Command::new(launch.program);
    command.args(words::arguments(launch, place)).env("ASSAY_FLEET_KEY", launch.key.of_node(&place.node).to_hex());
    Launched::one(command, launch.suite.unwrap_or_default())
}
