//! What stands before a raw device is written: nothing in use is ever written, nothing that holds
//! data without its name given once more, and nothing but the device that was checked.

mod blocks;
mod contents;
mod held;
mod marks;
mod openers;
mod permit;
mod signature;
mod usage;

pub use held::HeldDevice;
pub use permit::{RawPermit, check_raw};
pub use signature::signature;
pub use usage::{MountPoint, mounted_on};
