//! What a disk is: kind, identity, bus.

mod ata;
mod ceilings;
mod describe;
mod facts;
mod inquiry;
mod iscsi;
mod mmc;
mod mmc_bus;
mod mmc_card;
mod mmc_vendors;
mod network;
mod nvme;
mod scsi;
mod ssr;
mod usb;
mod vendors;
mod virt;

pub(crate) use describe::describe;
pub(crate) use facts::clean;
pub(crate) use network::bus_towards;
pub(crate) use vendors::of_model as maker;
