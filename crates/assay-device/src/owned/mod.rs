//! Directories of assay's own on media that somebody else prepared.
//!
//! What assay makes, opens again or removes on a medium goes through the handle of a directory that was opened
//! once: a path that is looked up twice may lead elsewhere the second time, and what lies on a medium may be a
//! link, a pipe or a device whose name is that of a file. So:
//!
//! - a [`Directory`] is any directory, and is never written to but for what assay makes in it;
//! - an [`OwnDir`] is one that assay made: of the user who runs it, not writable for others, on the mount of its
//!   parent, never reached through a link;
//! - files are made with `O_EXCL`, and opened again only where they are regular, have one link, belong to the
//!   same user and lie on the same mount; nothing else is read, written or removed;
//! - what is read of them is bounded, and so is what is listed.

mod data;
mod directory;
mod error;
mod lock;
mod names;
mod open;
mod own;
mod owner;
mod removal;
mod stat;
mod system;
mod tree;

pub use data::copy_data;
pub use directory::Directory;
pub use error::{Cause, OwnedError};
pub use lock::{Lock, Locked};
pub use names::is_temporary;
pub use open::{Access, Caching, Space};
pub use own::{Entry, OwnDir};
pub use tree::Tree;
