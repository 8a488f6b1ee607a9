//! What stands before a raw device is written: nothing in use is ever written, nothing that holds
//! data without its name given once more.

mod blocks;
mod marks;
mod permit;
mod signature;
mod usage;

pub use permit::{RawPermit, check_raw};
pub use signature::signature;
pub use usage::{MountPoint, mounted_on};
