//! What a disk is: kind, identity, bus.

mod bus;
mod describe;
mod facts;
mod mmc;
mod scsi;

pub(crate) use bus::bus_towards;
pub(crate) use describe::describe;
pub(crate) use facts::{clean, maker_of_model as maker};
