//! What a consumer of events does.

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

/// No progress is shown.
pub(crate) struct Silent;

impl Progress for Silent {
    fn event(&mut self, _event: &Event) {}
}
