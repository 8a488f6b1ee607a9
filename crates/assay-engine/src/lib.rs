//! The instrument: engines, buffers, addresses, data, the hot loop and its sampler.
//!
//! An engine answers a small contract ([`contract::Engine`]); the hot loop ([`job`]) owns
//! preallocated buffers and a histogram, takes no lock, makes no allocation, reads the clock once
//! per batch of completions and talks to the sampler through plain counters.

mod address;
mod batching;
mod buffer;
mod calibrate;
mod clock;
mod closed;
mod contract;
mod control;
mod counters;
mod data;
mod flow;
mod gate;
mod gather;
mod job;
mod null;
mod open;
mod operations;
mod pauses;
mod peer;
mod pieces;
mod place;
mod priorities;
mod probe;
mod repeat;
mod sampler;
mod schedule;
mod sizes;
mod spec;
mod spread;
mod strides;
mod sync;
#[cfg(test)]
mod sync_tests;
mod sys;
mod target;
mod threads;
mod timeout;
#[cfg(test)]
mod together_tests;
mod traffic;
mod window;
mod work;

pub use batching::{Batching, Stretch, Trial};
pub use buffer::{AlignedBuffer, buffer_bytes};
pub use calibrate::{NullCost, null_cost};
pub use clock::{Clock, sleep_until, wall_clock};
pub use contract::{Availability, Capabilities, EngineKind};
pub use control::{Control, Moment};
pub use data::{fill_unique, mix, stamp};
pub use gather::OnSampleOf;
pub use peer::{Watched, memory, read_back, watch};
pub use probe::{probe, probe_poll, probe_priority};
pub use repeat::{RepeatReport, SYNC, Window, run_repeat, run_together, sync_within};
pub use sampler::{LiveSample, OnSample};
pub use spec::{RepeatSpec, Trouble};
pub use sys::{
    ASYNCHRONOUS, AsOpen, CALLS, FileExt, PINS, PRIORITIES, QUEUE, RUNS_TOOLS, Signal, end_with_this_process, forget,
    is_root, lead_a_group, monotonic, processors,
};
pub use target::{DirectSupport, Target, TargetError, direct_support, direct_support_of};
pub use timeout::{Timeout, answer_within};
