//! Consumers of the event stream.

mod lines;
mod live;
mod machine;
mod painter;
mod status;

pub(crate) use lines::Lines;
pub(crate) use live::Live;
pub(crate) use machine::Machine;
pub(crate) use status::Status;

use assay_core::event::Event;

/// Someone who watches a run.
pub(crate) trait Progress {
    /// Something happened.
    fn event(&mut self, event: &Event);
}

/// Nobody watches.
pub(crate) struct Silent;

impl Progress for Silent {
    fn event(&mut self, _event: &Event) {}
}
