//! `ansible-playbook` with the user's own inventory and the collection that is part of this program.

mod collection;
mod event;
mod play;
mod private;

pub use event::{Event, NodeEvent, Status};
pub use play::{Play, Playbook, Step};
pub use private::PrivateDirectory;
