//! A run on many nodes at once.
//!
//! Launchers launch, and a rendezvous synchronises: each node runs the same program, which connects to the coordinator,
//! makes its test area, says that it is ready and waits for the word to begin. All begin at one moment of the coordinator's
//! clock, which each converts to its own monotonic clock; the bound of that conversion is part of the record. Then nodes are
//! silent but for a line a second.

mod accept;
mod ansible;
mod channel;
mod check;
mod clock;
mod collect;
mod conduct;
mod coordinator;
mod error;
mod event_queue;
mod inventory;
mod join;
mod key;
mod launch;
mod ledger;
mod meeting;
mod message;
mod node;
mod remote;
mod rotation;
mod settle;
#[cfg_attr(not(windows), path = "system/linux.rs")]
#[cfg_attr(windows, path = "system/windows.rs")]
mod system;
mod tail;
mod transport;
mod wire;

pub use accept::{
    Accepted, Asked, AskedSuite, Criteria, Guard, Home, Nowhere, RecordClaim, RecordRefusal, Way, adopt, is_misplaced,
    mark_misplaced,
};
pub use ansible::{AnsibleEvent, NodeEvent, TaskStatus, remove_left_by_killed};
pub use channel::{Channel, ChannelListener};
pub use check::{CheckRequest, Different, FleetCheck, NodeCheck, Unfit};
pub use clock::{Appointment, Clocks, Exchange, NodeClock, Offset};
pub use collect::{Cleaned, Collected, Collection, Missing, NotFetched, clean, clean_by_ssh};
pub use conduct::{Audience, Conduct, RunEvent, SuiteHandover, conduct, node_arguments};
pub use coordinator::{Coordinator, Expected, Keep, NotKept};
pub use error::{FleetError, NodeCause};
pub use event_queue::{CoordinatorEvent, CoordinatorEvents};
pub use inventory::{Ansible, InventoryNode, LAST_RUN, check_name, entries, find_again, program, run_named, variables};
pub use join::{JoinError, Joining};
pub use key::{NodeKey, RunKey};
pub use launch::{FarEnd, Launch, Launched, Launcher, NodeEnd, NodeGroup, NodePlace, Tunnel, slurm_names};
pub use ledger::{Fate, Inventory, Ledger, NodeEntry, NodeUnit, Rotation, RotationPlace, Route, RunEnd};
pub use meeting::{Decision, GroupStart, Meeting, MeetingRules, Mode};
pub use message::{Build, LONGEST_NAME, Live, known_commit};
pub use node::{LiveLine, Node};
pub use remote::{DayClock, RemoteVolume};
pub use rotation::{RotationProgress, check_plan_words, places_of, turn_of};
pub use settle::{NotCounted, NotCountedLoad, Settled, SettledShape};
pub use transport::Endpoint;
pub use wire::{MAX_RECORD, WireError};
