//! Directories of assay's own on media that others prepared.
//!
//! What assay creates, opens again or removes on a medium goes through the handle of a directory that was opened once.
//! A path that is resolved twice may lead elsewhere the second time, and a name on a medium may belong to a link, a
//! pipe or a device instead of a file. So:
//!
//! - a [`Directory`] is any directory; assay writes nothing to it but what it creates in it;
//! - an [`OwnDir`] is one that assay created: owned by the user who runs it, not writable for others, on the mount of
//!   its parent, never reached through a link;
//! - files are created with `O_EXCL`, and opened again only if they are regular, have one link, belong to the same user
//!   and are on the same mount; nothing else is read, written or removed;
//! - the amount that is read from them is limited, and so is the number of names that are listed.

mod attributes;
mod directory;
mod lock;
mod own;
mod system;

pub use attributes::{Access, Caching, Cause, OwnedError, Space, is_temporary};
pub use directory::Directory;
pub use lock::{Lock, Locked};
pub use own::{OwnDir, OwnEntry, Tree, copy_data};
