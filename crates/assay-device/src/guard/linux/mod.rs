//! Linux, where raw devices are read and written.

mod check;
mod held;

pub use check::{check_probe, check_raw};
pub use held::HeldDevice;
