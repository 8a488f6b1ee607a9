//! Ctrl-C, SIGTERM and SIGHUP end the run in good order; a second one ends it at once.

use assay_engine::Control;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::failure::Failure;

/// Makes the signals stop `control`.
pub(crate) fn stop_on_signals(control: &Control) -> Result<(), Failure> {
    let flag = control.flag();
    let fail = |e: std::io::Error| Failure::environment(format!("signals cannot be handled: {e}"));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // The order matters: the second signal finds the flag set and exits, the first sets it.
        signal_hook::flag::register_conditional_shutdown(signal, 130, flag.clone()).map_err(fail)?;
        signal_hook::flag::register(signal, flag.clone()).map_err(fail)?;
    }
    Ok(())
}
