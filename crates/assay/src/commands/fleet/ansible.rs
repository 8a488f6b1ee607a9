//! The inventory of the command line.

use assay_engine::Control;
use assay_fleet::{Ansible, FleetError};

use crate::cli::{InventoryArgs, ViaArg};
use crate::failure::Failure;

/// How nodes are reached.
pub(super) fn via(via: Option<ViaArg>, inventory: &InventoryArgs) -> Result<ViaArg, Failure> {
    match (via, inventory.inventory.is_empty()) {
        (None | Some(ViaArg::Ansible), false) => Ok(ViaArg::Ansible),
        (Some(ViaArg::Ansible), true) => Err(Failure::usage("--via ansible needs an inventory: -i FILE")),
        (Some(_), false) => Err(Failure::usage("an inventory is for --via ansible")),
        (Some(via), true) => Ok(via),
        (None, true) => Ok(ViaArg::Ssh),
    }
}

/// Ansible with the inventory of the command line.
pub(super) fn ansible(args: &InventoryArgs, control: &Control) -> Result<Ansible, FleetError> {
    Ansible::new(&args.inventory, args.limit.as_deref(), args.forks, control)
}
