//! The lab: media made for tests on a real kernel, with safe setup and removal.
//!
//! - [`LimitedCard`]: a loop device whose IOPS and bandwidth a control group limits: a card with
//!   a known truth.
//! - [`LatencyCard`]: a block device behind nbdkit's delay and rate filters: latency and a bus.
//! - [`FaultyCard`]: a card that returns errors or hangs on request.
//! - [`FakeCard`]: a card that answers like a model in the test, for example one that lies about its size.
//!   [`media`] has a model for every kind of medium that lies, returns errors or fails. Checks also run against thousands
//!   of these models in memory: [`campaign`].
//! - [`independent`]: a second model of media, and attacks, written from the documents alone.
//! - [`RemovableCard`]: a card that is removed, shrinks or turns read-only on request.
//! - [`Dying`]: a wrapper for any device of a check that is unplugged after some operations.
//! - [`Cluster`]: nodes with an sshd and a medium each, on their own network; [`Slurm`]: daemons of Slurm on one;
//!   [`Volume`]: a volume behind a narrow link that all of them share.
//! - [`fleet`]: records of simulated cards with a known truth.
//! - [`people`]: stores as users make them, with their truth, written from the documents alone.
//! - [`hostile`]: trees of files prepared by an attacker.
//! - [`browser`]: pages in Chromium, and what they lack for those who use them.
//! - [`FastDevice`], [`FilledDevice`]: loop devices in memory, with and without a file system, to
//!   compare instruments.
//!
//! Cards and devices need root. If a requirement is missing, the constructor returns a [`Missing`] with the reason, and
//! the test reports it through [`skip`]. A test that measures has the lab alone ([`Lab::enter`]), since media on the
//! same two processors would disturb its measurement. All other tests share the lab ([`Lab::share`]).

pub mod browser;
pub mod campaign;
mod cluster;
mod dice;
mod fake;
mod faulty;
pub mod fleet;
mod host;
pub mod hostile;
pub mod independent;
mod limited;
pub mod media;
mod mount;
pub mod people;

/// Returns the value that was made, or ends the test named `$test` with a report why it was skipped.
#[macro_export]
macro_rules! lab {
    ($test:expr, $made:expr) => {
        match $made {
            Ok(made) => made,
            Err(missing) => return $crate::skip($test, &missing),
        }
    };
}

pub use campaign::outline;
pub use cluster::{Cluster, ClusterPlan, Node, NodePlan, Slurm, Space, Volume};
pub use dice::{Dice, SplitMix};
pub use fake::{Backing, FakeCard};
pub use faulty::{Dying, FaultyCard, RemovableCard, WriteFault};
pub use host::{Lab, Missing, on_all_processors, skip};
pub use limited::{Bus, Cgroup, LatencyCard, LimitedCard, Limits};
pub use mount::{FastDevice, FileSystem, FilledDevice, LoopDevice, LoopPartition, MemoryDisk, Mount};
