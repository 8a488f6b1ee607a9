//! Model media: one device with parameters for every kind of medium that lies, returns errors or fails.

mod address;
mod cache;
pub mod catalogue;
mod cells;
mod content;
mod decay;
mod dropped;
mod failure;
mod flash;
mod flips;
mod gate;
mod layout;
mod medium;
mod pool;
pub mod population;
mod shared;
mod slips;
mod spec;
mod timing;
mod truth;

pub use address::{LineFault, Misaddress, Operations};
pub use cache::{Cache, CachedWrites, Eviction, WritePolicy};
pub use content::{InitialContent, Pattern};
pub use decay::{Decay, Retention};
pub use dropped::DroppedRead;
pub use failure::{Failure, FailurePlan, Hang, Trigger};
pub use flips::{BadCells, Flips, StuckBits};
pub use gate::Gate;
pub use layout::{BlockRule, Blocks, Layout, Order, Repeats};
pub use medium::{ModelMedium, Snapshot, Traffic};
pub use pool::{Accounting, Pool, WhenFull};
pub use shared::SharedMedium;
pub use slips::Slips;
pub use spec::{MediumSpec, SpecError};
pub use timing::Timing;
pub use truth::{Class, Found, Reach, Truth};
