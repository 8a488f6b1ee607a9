//! In place of io_uring where it is not used: it cannot be made, and says why. `mod.rs` says where.

use assay_core::workload::Workload;

use crate::buffer::Pool;
use crate::contract::{Availability, Completion, Engine, Io, Submit};
use crate::target::Target;

const WHY: &str = if cfg!(target_pointer_width = "64") {
    "io_uring is not used on this kind of processor"
} else {
    "io_uring is not used on 32-bit systems"
};

pub(crate) fn probe() -> Availability {
    Availability::No(WHY.to_owned())
}

pub(crate) fn probe_poll(_: &Target, _: u32) -> Result<(), String> {
    Err(WHY.to_owned())
}

/// There is none.
pub(crate) enum Uring {}

impl Uring {
    pub(crate) fn new(_: Pool, _: &Target, _: u32, _: &Workload) -> std::io::Result<Self> {
        Err(std::io::Error::other(WHY))
    }
}

impl Engine for Uring {
    fn buffer(&mut self, _: u32) -> &mut [u8] {
        match *self {}
    }

    fn submit(&mut self, _: Io) -> Submit {
        match *self {}
    }

    fn reap_within(&mut self, _: u64, _: &mut impl FnMut(Completion)) -> std::io::Result<()> {
        match *self {}
    }

    fn reap(&mut self, _: usize, _: &mut impl FnMut(Completion)) -> std::io::Result<()> {
        match *self {}
    }
}
