//! Ctrl-C, SIGTERM and SIGHUP end the run in good order; a second one ends it at once. One that was ignored
//! when the program was started stays ignored: nohup(1) means SIGHUP, a shell without job control means SIGINT
//! for what it starts in the background.

use std::time::{Duration, Instant};

use assay_core::exit::Exit;
use assay_engine::Control;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::failure::Failure;

/// One wish to stop often comes as several signals: `timeout` sends its own to the process and to
/// its group, and when a terminal is closed both shell and kernel send SIGHUP. Only a signal that
/// comes later than this is a second wish.
const ONE_WISH: Duration = Duration::from_millis(500);

/// The signals that ask for the end, without those that whoever started the program had ignored. To be asked
/// before any of them is handled.
pub(crate) fn wishes() -> Vec<i32> {
    [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !ignored(*signal)).collect()
}

fn ignored(signal: i32) -> bool {
    // SAFETY: `sigaction` is a C structure of numbers, for which zeros are a value.
    let mut now: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: without a new action sigaction(2) only writes the present one to `now`, which is ours alone.
    let read = unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut now) };
    read == 0 && now.sa_sigaction == libc::SIG_IGN
}

/// Makes the signals stop `control`.
pub(crate) fn stop_on_signals(control: &Control) -> Result<(), Failure> {
    let fail = |e: std::io::Error| Failure::environment(format!("signals cannot be handled: {e}"));
    let mut signals = Signals::new(wishes()).map_err(fail)?;
    let control = control.clone();
    let wait = move || {
        let mut first: Option<Instant> = None;
        for _ in signals.forever() {
            control.stop();
            if first.get_or_insert_with(Instant::now).elapsed() > ONE_WISH {
                crate::apart::leave(Exit::Interrupted);
            }
        }
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(wait).map(drop).map_err(fail)
}
