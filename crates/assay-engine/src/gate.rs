//! All threads of a repeat begin together, however many there are.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Where threads wait until all are ready. Unlike a barrier it need not know beforehand how many
/// there will be, so that it opens too where the system makes no more.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    ready: usize,
    open: bool,
}

impl Gate {
    /// Says that the thread is ready, and waits until the gate is open.
    pub(crate) fn wait(&self) {
        let mut state = self.lock();
        state.ready += 1;
        self.changed.notify_all();
        while !state.open {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits until `threads` threads are ready.
    pub(crate) fn wait_for(&self, threads: usize) {
        let mut state = self.lock();
        while state.ready < threads {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits until `threads` threads are ready, and lets them go.
    pub(crate) fn open(&self, threads: usize) {
        self.wait_for(threads);
        let mut state = self.lock();
        state.open = true;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn no_thread_goes_before_all_are_ready() {
        let (gate, gone) = (Arc::new(Gate::default()), Arc::new(AtomicUsize::new(0)));
        let start = || {
            let (gate, gone) = (Arc::clone(&gate), Arc::clone(&gone));
            std::thread::spawn(move || {
                gate.wait();
                gone.fetch_add(1, Ordering::SeqCst);
            })
        };
        let threads: Vec<_> = (0..3).map(|_| start()).collect();
        while gate.lock().ready < 3 {
            std::thread::yield_now();
        }
        assert_eq!(gone.load(Ordering::SeqCst), 0);
        gate.open(3);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(gone.load(Ordering::SeqCst), 3);
        // Who comes late finds it open.
        start().join().unwrap();
    }
}
