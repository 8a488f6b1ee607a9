//! Model media: one device with parameters for every kind of medium that lies, errs or fails.

mod address;
mod before;
mod cells;
mod dropped;
mod layout;

pub use address::{LineFault, Misaddress, On};
pub use before::{Before, Pattern};
pub use dropped::Dropped;
pub use layout::{Layout, Order, Repeats};
