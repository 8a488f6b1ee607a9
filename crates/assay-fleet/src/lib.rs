//! A run on many nodes at once.
//!
//! Launchers launch, and a rendezvous synchronises: each node runs the same program, which connects to the coordinator,
//! makes its test area, says that it is ready and waits for the word to begin. All begin at one moment of the coordinator's
//! clock, which each converts to its own monotonic clock; the bound of that conversion is part of the record. Then nodes are
//! silent but for a line a second.

mod ansible;
mod appointment;
mod cause;
mod clock;
mod coordinator;
mod inventory;
mod join;
mod key;
mod launch;
mod ledger;
mod meeting;
mod node;
mod node_clock;
mod remote;
mod rotation;
#[cfg_attr(not(windows), path = "system/linux.rs")]
#[cfg_attr(windows, path = "system/windows.rs")]
mod system;
mod tail;
mod unauthenticated;
mod wire;

pub use ansible::{Event, NodeEvent, Play, Playbook, PrivateDirectory, Status, Step};
pub use appointment::Appointment;
pub use cause::Cause;
pub use clock::{Clocks, Exchange, Offset};
pub use coordinator::{Coordinator, CoordinatorEvent, Expected, Keep, NotKept};
pub use inventory::{Inventory, Route};
pub use join::{JoinError, Joining};
pub use key::Key;
pub use launch::{Group, Launch, Launched, Launcher, NodeEnd, Place, slurm_names};
pub use ledger::{Entry, Fate, Ledger};
pub use meeting::{Decision, GroupStart, Meeting, Mode, Rules};
pub use node::{LiveLine, Node};
pub use node_clock::NodeClock;
pub use remote::{CommandOutput, DayClock, NodeInfo, RemoteError, RemoteNode};
pub use rotation::{Cell, Rotation, RotationPlace};
pub use wire::{Live, MAX_RECORD, WireError};
