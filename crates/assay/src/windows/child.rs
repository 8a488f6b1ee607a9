//! The work of a command, which Windows can end whatever its threads do: in this process.

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
    std::process::exit(i32::from(exit as u8))
}
