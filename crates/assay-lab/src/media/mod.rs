//! Model media: one device with parameters for every kind of medium that lies, errs or fails.

mod address;
mod before;
mod cells;
mod decay;
mod dropped;
mod failure;
mod flips;
mod gate;
mod layout;
mod pace;
mod pool;

pub use address::{LineFault, Misaddress, On};
pub use before::{Before, Pattern};
pub use decay::{Decay, Lasts};
pub use dropped::Dropped;
pub use failure::{Failure, Fails, Hang, Trigger};
pub use flips::{BadCells, Flips, StuckBits};
pub use gate::Gate;
pub use layout::{Layout, Order, Repeats};
pub use pace::Pace;
pub use pool::{Counting, Pool, WhenFull};
