//! Events as JSON lines, for programs.

use std::io::Write;

use assay_core::event::Event;
use assay_core::text;

use super::watcher::Progress;

/// Writes each event as a line on standard output.
pub(crate) struct Machine;

impl Progress for Machine {
    fn event(&mut self, event: &Event) {
        // A reader that went away does not end the run; its record is still wanted.
        if let Ok(line) = serde_json::to_string(event) {
            let mut out = std::io::stdout().lock();
            let _ = writeln!(out, "{}", text::json(&line)).and_then(|()| out.flush());
        }
    }
}
