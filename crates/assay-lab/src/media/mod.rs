//! Model media: one device with parameters for every kind of medium that lies, errs or fails.

mod address;
mod before;
mod cache;
pub mod catalogue;
mod cells;
mod decay;
mod dropped;
mod failure;
mod flash;
mod flips;
mod gate;
mod layout;
mod medium;
mod pace;
mod pool;
pub mod population;
mod shared;
mod spec;
mod truth;

pub use address::{LineFault, Misaddress, On};
pub use before::{Before, Pattern};
pub use cache::{Cache, Policy, Takes, Writing};
pub use decay::{Decay, Lasts};
pub use dropped::Dropped;
pub use failure::{Fails, Failure, Hang, Trigger};
pub use flips::{BadCells, Flips, StuckBits};
pub use gate::Gate;
pub use layout::{Layout, Order, Repeats};
pub use medium::{ModelMedium, Snapshot, Traffic};
pub use pace::Pace;
pub use pool::{Counting, Pool, WhenFull};
pub use shared::SharedMedium;
pub use spec::{MediumSpec, SpecError};
pub use truth::{Class, Found, Reach, Truth};
