//! Which engines work on this kernel.

use assay_core::priority::Priority;

use crate::contract::{Availability, Capabilities, EngineKind};
use crate::sys;
use crate::target::Target;

/// Asks whether `kind` works on this kernel, without touching any medium.
#[must_use]
pub fn probe(kind: EngineKind) -> Availability {
    match kind {
        EngineKind::Null => Availability::Yes(Capabilities { asynchronous: true, ..Capabilities::default() }),
        EngineKind::Sync => Availability::Yes(Capabilities::default()),
        kind if kind == sys::ASYNCHRONOUS => sys::probe(),
        EngineKind::Uring => Availability::No("io_uring is a part of Linux".to_owned()),
        EngineKind::Iocp => Availability::No("I/O completion ports are a part of Windows".to_owned()),
    }
}

/// Tries whether completions can be polled for on a target that is open for direct I/O, by reading `bytes` at its start.
///
/// # Errors
/// Why they cannot, in words.
pub fn probe_poll(target: &Target, bytes: u32) -> Result<(), String> {
    sys::probe_poll(target, bytes)
}

/// Asks the system whether operations of this process may have a priority, by a thread that is there for nothing else.
///
/// # Errors
/// Why they may not, in words.
pub fn probe_priority(priority: Priority) -> Result<(), String> {
    let asked = std::thread::Builder::new().spawn(move || sys::prioritise(priority));
    let asked = asked.map_err(|error| format!("no thread could be made: {error}"))?;
    asked.join().unwrap_or_else(|_| Err("the thread that asks ended early".to_owned()))
}
