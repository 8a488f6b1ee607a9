//! The work of a command in this process: macOS tells no process of the death of its parent, so that work in another one
//! would go on where the one that waits for it is killed.

use std::io::Write;

use assay_core::exit::Exit;

use crate::failure::Failure;

/// Does `work`. Where it is killed nothing is left that could do `_left`: the next run does.
pub(crate) fn in_child(
    work: impl FnOnce() -> Result<Exit, Failure>,
    _left: impl FnOnce() -> Vec<String> + Send + 'static,
) -> Result<Exit, Failure> {
    work()
}

/// Ends the process at once, whatever its threads do.
pub(crate) fn leave(exit: Exit) -> ! {
    let _ = std::io::stdout().flush();
    signal_hook::low_level::exit(i32::from(exit as u8))
}

/// No other process waits for this one.
pub(crate) fn stop_with_parent() {}
