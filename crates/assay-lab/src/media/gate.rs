//! A gate that holds operations until a test releases them.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Operations of a medium wait while its gate is closed. Clones share the gate, so a test can release another thread.
#[derive(Debug, Clone, Default)]
pub struct Gate(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    closed: bool,
    waiting: usize,
}

impl Gate {
    /// Makes operations wait from now on.
    pub fn close(&self) {
        self.lock().closed = true;
    }

    /// Releases all waiting operations, and lets later ones pass.
    pub fn open(&self) {
        self.lock().closed = false;
        self.0.changed.notify_all();
    }

    /// Waits until an operation is held; returns false if none came within `most`.
    #[must_use]
    pub fn wait_until_blocked(&self, most: Duration) -> bool {
        let end = Instant::now() + most;
        let mut state = self.lock();
        while state.waiting == 0 {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            state = self.0.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Returns when the gate is open.
    pub(super) fn pass(&self) {
        let mut state = self.lock();
        if !state.closed {
            return;
        }
        state.waiting += 1;
        self.0.changed.notify_all();
        while state.closed {
            state = self.0.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.waiting -= 1;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
