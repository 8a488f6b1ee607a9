//! Priorities of operations: the priorities of Windows are others.

use assay_core::priority::Priority;

/// Whether operations can have a priority.
pub const PRIORITIES: bool = false;

/// Refuses.
pub(crate) fn prioritise(_: Priority) -> Result<(), String> {
    Err("priorities of operations are a part of Linux".to_owned())
}
