//! What a run on many nodes asks of the system here, on Linux.

use std::process::Child;

use assay_engine::Signal;
use rustix::process::{Pid, kill_process, kill_process_group};

/// Sends a signal to a process that was not waited for yet, or to the whole group that it leads.
pub(crate) fn end(child: &Child, whole_group: bool, signal: Signal) {
    if let Some(process) = Pid::from_raw(child.id().cast_signed()) {
        let _ = if whole_group { kill_process_group } else { kill_process }(process, signal);
    }
}
