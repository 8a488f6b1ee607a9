//! Linux.

use std::fs::{DirBuilder, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::process::Child;

use assay_engine::Signal;
use rustix::process::{Pid, kill_process, kill_process_group};

/// What makes directories for this user only.
pub(crate) fn private_directories() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.mode(0o700);
    builder
}

/// How a file for this user only is opened where it is made.
pub(crate) fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

/// Sends a signal to a process that was not waited for yet, or to the whole group that it leads.
pub(crate) fn end(child: &Child, whole_group: bool, signal: Signal) {
    if let Some(process) = Pid::from_raw(child.id().cast_signed()) {
        let _ = if whole_group { kill_process_group } else { kill_process }(process, signal);
    }
}
