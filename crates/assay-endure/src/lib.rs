//! Wear to death: whole cycles of writing and reading with stamps in each sector, a log that survives a kill, and the
//! judgement of what died. `docs/endurance.md` has the formats.

mod attached;
mod entry;
mod failed;
mod foreign;
pub mod journal;
mod judge;
mod layout;
mod log;
mod map;
mod medium;
mod recognise;
mod resting;
mod sentinel;
mod stamp;
mod state;
mod wear;

pub use attached::{Attached, reserve};
pub use entry::{
    Attachment, Begin, Condition, Entry, Incident, RestBegun, RestReadBegun, Run, SliceRead, SliceRested, SliceWritten,
    Way,
};
pub use failed::FailedSet;
pub use foreign::{Foreign, Shows, mark_on, written_since};
pub use journal::JournalError;
pub use judge::{Advice, Control, Evidence, KernelSign, Ruling, Sight, judge};
pub use layout::{CELLS, Layout, PAGE_BYTES, Phase, SLICES, Task, block_at, order};
pub use log::{Keep, Log, Replayed, replay};
pub use map::{COLUMNS, Changed, Map};
pub use medium::{Fault, Latencies, Medium, Refused, Trouble};
pub use recognise::{Recognised, has_begun, recognise, unit_on};
pub use resting::{Clock, NoRest};
pub use stamp::{SECTOR, Stamp, mixed};
pub use state::{Done, State};
pub use wear::{Step, Wear};
