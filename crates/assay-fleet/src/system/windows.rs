//! Windows. No run on many nodes is led from there: what is here lets the rest be read and compiled.

use std::fs::{DirBuilder, OpenOptions};
use std::process::Child;

use assay_engine::Signal;

/// Directories take over the rights of those above.
pub(crate) fn private_directories() -> DirBuilder {
    DirBuilder::new()
}

/// Files take over the rights of their directory.
pub(crate) fn private_file() -> OpenOptions {
    OpenOptions::new()
}

/// A process is ended with this one, by the job that both belong to.
pub(crate) fn end(_child: &Child, _whole_group: bool, _signal: Signal) {}
