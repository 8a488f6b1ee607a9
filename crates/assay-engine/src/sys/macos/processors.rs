//! Threads on processors of their own: macOS has no call that keeps a thread on one.

/// No thread can be kept on a processor.
pub const PINS: bool = false;

/// The processors that this process may use: the system does not tell.
#[must_use]
pub fn processors() -> Vec<u32> {
    Vec::new()
}

/// Refuses.
pub(crate) fn pin(processor: u32) -> Result<(), String> {
    Err(format!("a thread could not be kept on processor {processor}: macOS has no call for that"))
}
