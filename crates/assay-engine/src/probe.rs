//! Which engines work on this kernel.

use crate::contract::{Availability, Capabilities, EngineKind};

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
