//! Which engines work on this kernel.

use crate::contract::{Availability, Capabilities, EngineKind};
use crate::target::Target;

/// Asks whether `kind` works on this kernel, without touching any medium.
#[must_use]
pub fn probe(kind: EngineKind) -> Availability {
    match kind {
        EngineKind::Null => Availability::Yes(Capabilities { asynchronous: true, ..Capabilities::default() }),
        EngineKind::Sync => Availability::Yes(Capabilities::default()),
        #[cfg(target_pointer_width = "64")]
        EngineKind::Uring => crate::uring::probe(),
        #[cfg(not(target_pointer_width = "64"))]
        EngineKind::Uring => Availability::No("io_uring is not used on 32-bit systems".to_owned()),
    }
}

/// Tries whether completions can be polled for on a target that is open for direct I/O, by reading `bytes` at its start.
///
/// # Errors
/// Why they cannot, in words.
#[cfg(target_pointer_width = "64")]
pub fn probe_poll(target: &Target, bytes: u32) -> Result<(), String> {
    crate::uring::probe_poll(target, bytes)
}

/// The same where there is no io_uring.
///
/// # Errors
/// Always.
#[cfg(not(target_pointer_width = "64"))]
pub fn probe_poll(_: &Target, _: u32) -> Result<(), String> {
    Err("io_uring is not used on 32-bit systems".to_owned())
}
