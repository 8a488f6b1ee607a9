//! Work on many nodes, some of them at a time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use assay_engine::Control;

use crate::error::FleetError;

/// Nodes that are asked at a time.
const AT_ONCE: usize = 28;

/// Does `work` for each, and gives what came of them in their order.
///
/// # Errors
/// [`FleetError::NoThread`], and [`FleetError::Interrupted`] where the user ends the work.
pub(crate) fn each_at_once<T: Sync, R: Send>(
    all: &[T],
    control: &Control,
    work: impl Fn(&T) -> R + Sync,
) -> Result<Vec<R>, FleetError> {
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
            begun.map_err(FleetError::NoThread)?;
        }
        Ok::<(), FleetError>(())
    })?;
    if control.stopped() {
        return Err(FleetError::Interrupted);
    }
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    Ok(done.into_iter().map(|(_, result)| result).collect())
}
