//! Windows: no raw device is opened, neither to be read nor to be written.

mod check;
mod held;

pub use check::{check_probe, check_raw};
pub use held::HeldDevice;
