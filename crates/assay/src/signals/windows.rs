//! Ctrl-C, Ctrl-Break and the end of the console or the session end the run in good order; a second Ctrl-C ends it at once.

use std::io::Write;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use assay_core::exit::Exit;
use assay_engine::Control;
use windows_sys::Win32::System::Console::{CTRL_BREAK_EVENT, CTRL_C_EVENT, SetConsoleCtrlHandler};
use windows_sys::core::BOOL;

use crate::ending::Failure;

/// One wish to stop may come as several events; one that comes later than this is a second wish.
const ONE_WISH: Duration = Duration::from_millis(500);

/// What a second wish leaves undone, and how that is mended.
static LAST_WORDS: Mutex<Option<String>> = Mutex::new(None);
/// What a wish stops, and when the first one came.
static WISHED: Mutex<(Option<Control>, Option<Instant>)> = Mutex::new((None, None));

/// Says what stays undone if a second wish ends the command at once; `None` where nothing does.
pub(crate) fn last_words(words: Option<String>) {
    *LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner) = words;
}

/// Makes the events stop `control`.
pub(crate) fn stop_on_signals(control: &Control) -> Result<(), Failure> {
    WISHED.lock().unwrap_or_else(PoisonError::into_inner).0 = Some(control.clone());
    // SAFETY: the handler is a function that lives as long as the program, and the system calls it in a thread of its own.
    if unsafe { SetConsoleCtrlHandler(Some(on_event), 1) } == 0 {
        let error = std::io::Error::last_os_error();
        return Err(Failure::environment(format!("Ctrl-C cannot be handled: {error}")));
    }
    Ok(())
}

/// Called by the system in a thread of its own; 1 says that nothing else is to be done.
unsafe extern "system" fn on_event(event: u32) -> BOOL {
    let second = {
        let mut wished = WISHED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(control) = &wished.0 {
            control.stop();
        }
        wished.1.get_or_insert_with(Instant::now).elapsed() > ONE_WISH
    };
    if second {
        let words = LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner).take();
        words.iter().for_each(|words| crate::output::tell(words));
        leave(Exit::Interrupted);
    }
    // After the end of a console, a session or the host the process is gone as soon as this returns.
    if ![CTRL_C_EVENT, CTRL_BREAK_EVENT].contains(&event) {
        // It may return without a cause.
        loop {
            std::thread::park();
        }
    }
    1
}

// The work of a command, which Windows can end whatever its threads do: in this process.

/// Does `work`. Where it is killed nothing is left that could do `_left`: the next run does.
pub(crate) fn in_child(
    work: impl FnOnce() -> Result<Exit, Failure>,
    _left: impl FnOnce() -> Vec<String> + Send + 'static,
) -> Result<Exit, Failure> {
    work()
}

/// Ends the process at once, whatever its threads do.
fn leave(exit: Exit) -> ! {
    let _ = std::io::stdout().flush();
    std::process::exit(i32::from(exit as u8))
}
