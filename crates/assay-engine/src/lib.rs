//! The instrument: engines, buffers, addresses, data, the hot loop and its sampler.
//!
//! An engine answers a small contract ([`contract::Engine`]); the hot loop ([`closed`]) owns
//! preallocated buffers and a histogram, takes no lock, makes no allocation, reads the clock once
//! per batch of completions and talks to the sampler through plain counters.

mod address;
mod batching;
mod buffer;
mod clock;
mod closed;
mod contract;
mod counters;
mod engines;
mod open;
mod operations;
mod peer;
mod repeat;
#[cfg(test)]
mod repeat_tests;
mod spread;
mod sys;
mod target;
mod threads;
mod work;

pub use batching::{Batching, Stretch, Trial};
pub use buffer::{AlignedBuffer, buffer_bytes, fill_unique, mix, stamp};
pub use clock::{Clock, Control, Moment, Timeout, answer_within, sleep_until, wall_clock};
pub use contract::{Availability, Capabilities, EngineKind};
pub use counters::{LiveSample, OnSample};
pub use engines::{probe, probe_poll, probe_priority};
pub use peer::{Watched, memory, read_back, watch};
pub use repeat::{NullCost, RepeatReport, SYNC, WindowRate, null_cost, run_repeat, run_together, sync_within};
pub use sys::{
    ASYNCHRONOUS, AsOpen, CALLS, FileExt, PINS, PRIORITIES, QUEUE, RUNS_TOOLS, Signal, end_with_this_process, forget,
    is_root, lead_a_group, monotonic, processors,
};
pub use target::{DirectSupport, Target, TargetError, direct_support, direct_support_of};
pub use threads::{OnSampleOf, RepeatSpec, RepeatTrouble};
