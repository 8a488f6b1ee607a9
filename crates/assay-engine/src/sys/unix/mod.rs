//! What Linux and macOS have in common.

pub(super) mod clock;
pub(super) mod files;
pub(super) mod programs;
pub(super) mod user;
