//! Windows: no raw device is opened, neither for reading nor for writing.

mod check;
mod held;

pub use check::{check_probe, check_raw};
pub use held::HeldDevice;
