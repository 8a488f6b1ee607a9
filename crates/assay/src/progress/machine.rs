//! Events as JSON lines, for programs.

use assay_core::event::Event;

use super::watcher::Progress;
use crate::output;

/// Writes each event as a line on standard output.
pub(crate) struct Machine;

impl Progress for Machine {
    fn event(&mut self, event: &Event) {
        // The run goes on without its reader, or on a full disk: its record is still wanted. The first error is reported at the end.
        if let Err(failure) = output::print_event(event) {
            output::keep_lost(failure);
        }
    }
}
