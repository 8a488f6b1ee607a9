//! The lab: media made for tests, on a real kernel, set up and torn down safely.
//!
//! - [`LimitedCard`]: a loop device whose IOPS and bandwidth a control group limits: a card with
//!   a known truth.
//! - [`LatencyCard`]: a block device behind nbdkit's delay and rate filters: latency and a bus.
//! - [`FaultyCard`]: errs or hangs when it is told to.
//! - [`FakeCard`]: answers as a model in the test does, such as one that lies about its size.
//!   [`media`] has a model for every kind of medium that lies, errs or fails, which checks also run
//!   against in memory, by the thousand: [`campaign`].
//! - [`independent`]: a second model of media, and attacks, written from the documents alone.
//! - [`RemovableCard`]: is taken out, shrinks or turns read-only when it is told to.
//! - [`Dying`]: a plug that is pulled after some operations, over any device of a check.
//! - [`Cluster`]: nodes with an sshd and a medium each, on a network of their own; [`Slurm`]: daemons of Slurm on one;
//!   [`Volume`]: a volume behind a narrow link that all of them share.
//! - [`fleet`]: records of cards that were never made, of which the truth is known.
//! - [`people`]: stores as people make them, with their truth, written from the documents alone.
//! - [`hostile`]: trees of files that somebody prepared to do harm.
//! - [`FastDevice`], [`FilledDevice`]: loop devices in memory, with and without a file system, to
//!   compare instruments.
//!
//! Cards and devices need root. Where something is missing, making one gives a [`Missing`] with the reason, and
//! the test says so through [`skip`]. Who measures has the lab alone ([`Lab::enter`]): media that share two processors would
//! measure each other. All others are there beside each other ([`Lab::share`]).

pub mod campaign;
mod cgroup;
mod cluster;
mod command;
mod dice;
mod dying;
mod fake;
mod fast;
mod faulty;
mod file_system;
pub mod fleet;
pub mod hostile;
pub mod independent;
mod latency;
mod limited;
mod loop_device;
pub mod media;
mod memory_disk;
mod mount;
mod nbdfuse;
pub mod people;
mod processors;
mod removable;
mod turn;

/// What was made, or the end of the test that `$test` names, which says why it did not run.
#[macro_export]
macro_rules! lab {
    ($test:expr, $made:expr) => {
        match $made {
            Ok(made) => made,
            Err(missing) => return $crate::skip($test, &missing),
        }
    };
}

pub use cgroup::{Cgroup, Limits};
pub use cluster::{Cluster, ClusterPlan, Node, NodePlan, Slurm, Space, Volume};
pub use command::{Missing, skip};
pub use dice::{Dice, SplitMix};
pub use dying::Dying;
pub use fake::{Backing, FakeCard};
pub use fast::{FastDevice, FilledDevice};
pub use faulty::{FaultyCard, WriteFault};
pub use file_system::FileSystem;
pub use latency::{Bus, LatencyCard};
pub use limited::LimitedCard;
pub use loop_device::{LoopDevice, LoopPartition};
pub use memory_disk::MemoryDisk;
pub use mount::Mount;
pub use processors::on_all_processors;
pub use removable::RemovableCard;
pub use turn::Lab;
