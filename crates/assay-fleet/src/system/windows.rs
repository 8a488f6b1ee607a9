//! What a run on many nodes asks of the system here, on Windows. None is led from there: this lets the rest be compiled.

use std::process::Child;

use assay_engine::Signal;

/// A process is ended with this one, by the job that both belong to.
pub(crate) fn end(_child: &Child, _whole_group: bool, _signal: Signal) {}
