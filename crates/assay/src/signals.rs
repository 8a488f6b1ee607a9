//! Ctrl-C, SIGTERM and SIGHUP end the run in good order; a second one ends it at once. One that was ignored
//! when the program was started stays ignored: nohup(1) means SIGHUP, a shell without job control means SIGINT
//! for what it starts in the background.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use assay_core::exit::Exit;
use assay_engine::Control;
use assay_runner::RunError;
use signal_hook::consts::SIGCONT;
use signal_hook::iterator::Signals;

use crate::failure::Failure;

/// One wish to stop often comes as several signals: `timeout` sends its own to the process and to
/// its group, and when a terminal is closed both shell and kernel send SIGHUP. Only a signal that
/// comes later than this is a second wish.
const ONE_WISH: Duration = Duration::from_millis(500);

/// What a second wish leaves undone, and how that is mended.
static LAST_WORDS: Mutex<Option<String>> = Mutex::new(None);

/// Says what stays undone if a second signal ends the command at once; `None` where nothing does.
pub(crate) fn last_words(words: Option<String>) {
    *LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner) = words;
}

/// A stop shorter than this is not told from a busy host.
const NOTICEABLE: Duration = Duration::from_millis(50);
/// A continued process has noticed it by then.
const KNOWN: Duration = Duration::from_millis(20);

/// Makes the signals stop `control`, and tells it of time in which the process was stopped.
pub(crate) fn stop_on_signals(control: &Control) -> Result<(), Failure> {
    let fail = |e: std::io::Error| Failure::environment(format!("signals cannot be handled: {e}"));
    let mut signals = Signals::new(crate::wishes::wishes()).map_err(fail)?;
    let (control, watched) = (control.clone(), control.clone());
    let wait = move || {
        let mut first: Option<Instant> = None;
        for _ in signals.forever() {
            control.stop();
            if first.get_or_insert_with(Instant::now).elapsed() > ONE_WISH {
                let words = LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner).take();
                words.iter().for_each(|words| crate::output::tell(words));
                crate::child::leave(Exit::Interrupted);
            }
        }
    };
    let begin = |name: &str, work: Box<dyn FnOnce() + Send>| {
        std::thread::Builder::new().name(name.to_owned()).spawn(work).map(drop).map_err(RunError::NoThread)
    };
    begin("signals", Box::new(wait))?;
    let continued = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGCONT, Arc::clone(&continued)).map_err(fail)?;
    begin("stops", Box::new(move || watch_for_stops(&watched, &continued)))?;
    Ok(())
}

/// A stop cannot be caught (SIGSTOP), and its length is not reported. But no process leaves one without
/// SIGCONT, and a thread that wakes up ten times a second misses the time.
fn watch_for_stops(control: &Control, continued: &AtomicBool) {
    let mut last = Instant::now();
    loop {
        std::thread::sleep(Control::BEAT);
        let missed = last.elapsed().saturating_sub(Control::BEAT);
        last = Instant::now();
        let limit = last + if missed < NOTICEABLE { Duration::ZERO } else { KNOWN };
        while !continued.load(Ordering::Relaxed) && Instant::now() < limit {
            std::thread::sleep(Duration::from_millis(1));
        }
        let stopped = continued.swap(false, Ordering::Relaxed) && missed >= NOTICEABLE;
        control.beat(if stopped { missed } else { Duration::ZERO });
        crate::child::stop_with_parent();
    }
}
