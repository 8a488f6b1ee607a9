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

use crate::output::tell_wrapped;

/// Someone who watches a run.
pub(crate) trait Progress {
    /// Something happened.
    fn event(&mut self, event: &Event);

    /// Something happened that is no event of the run: a line for people, whatever else they see.
    fn tell(&mut self, line: &str) {
        tell_wrapped(line);
    }
}

/// Nobody watches.
pub(crate) struct Silent;

impl Progress for Silent {
    fn event(&mut self, _event: &Event) {}
}
