//! What Linux and macOS have in common.

mod clock;
mod files;
mod programs;
mod user;

pub use clock::monotonic;
pub use files::{AsOpen, FileExt};
pub(crate) use files::{Channel, IO_ERROR, private};
pub use programs::lead_a_group;
pub(crate) use programs::{ended, interrupt, kill_all};
pub use user::is_root;
