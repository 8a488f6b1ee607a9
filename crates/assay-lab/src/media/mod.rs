//! Model media: one device with parameters for every kind of medium that lies, returns errors or fails.

mod address;
mod cache;
pub mod catalogue;
mod content;
mod decay;
mod failure;
mod layout;
mod medium;
mod pool;
pub mod population;
mod spec;
mod truth;

pub use address::{LineFault, Misaddress, Operations};
pub use content::{InitialContent, Pattern};
pub use decay::{BadCells, Decay, DroppedRead, Flips, Retention, Slips, StuckBits};
pub use failure::{Failure, FailurePlan, Hang, Timing, Trigger};
pub use layout::{BlockRule, Blocks, Layout, Order, Repeats};
pub use medium::{Gate, ModelMedium, SharedMedium, Snapshot, Traffic};
pub use pool::{Accounting, Pool, WhenFull};
pub use spec::{Cache, CachedWrites, Eviction, MediumSpec, SpecError, WritePolicy};
pub use truth::{Class, FoundVerdict, Reach, Truth};
