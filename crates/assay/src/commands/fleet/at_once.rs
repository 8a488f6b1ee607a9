//! Work on many nodes, some of them at a time.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

use assay_engine::Control;

use crate::failure::Failure;

/// Nodes that are asked at a time.
const AT_ONCE: usize = 28;

/// Does `work` for each, and gives what came of them in their order.
pub(super) fn each<T: Sync, R: Send>(
    all: &[T],
    control: &Control,
    work: impl Fn(&T) -> R + Sync,
) -> Result<Vec<R>, Failure> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..all.len().min(AT_ONCE) {
            let begun = std::thread::Builder::new().spawn_scoped(scope, || {
                while let Some((at, one)) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, all.get(at)?)))
                    && !control.stopped()
                {
                    let result = work(one);
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((at, result));
                }
            });
            begun.map_err(|error| Failure::environment(format!("no thread: {error}")))?;
        }
        Ok::<(), Failure>(())
    })?;
    if control.stopped() {
        return Err(Failure::interrupted("interrupted"));
    }
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    Ok(done.into_iter().map(|(_, result)| result).collect())
}
