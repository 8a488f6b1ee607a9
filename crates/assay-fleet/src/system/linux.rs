//! What a run on many nodes asks of the system here, on Linux.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::process::Child;

use assay_engine::Signal;
use rustix::process::{Pid, geteuid, kill_process, kill_process_group};

/// Whether a directory was made by this user for himself alone, and is none that a link leads to.
pub(crate) fn is_private(directory: &Metadata) -> bool {
    directory.is_dir() && directory.uid() == geteuid().as_raw() && directory.mode() & 0o7777 == 0o700
}

/// Sends a signal to a process that was not waited for yet, or to the whole group that it leads.
pub(crate) fn end(child: &Child, whole_group: bool, signal: Signal) {
    if let Some(process) = Pid::from_raw(child.id().cast_signed()) {
        let _ = if whole_group { kill_process_group } else { kill_process }(process, signal);
    }
}
