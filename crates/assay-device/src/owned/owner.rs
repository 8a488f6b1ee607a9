//! Whom that belongs to what assay makes in a place.
//!
//! On most file systems that is the user who runs it. FAT and its like keep no owners: everything belongs to whom
//! the mount says. Servers may give what root makes to somebody else (root_squash, exports(5)).

//!
//! Windows keeps lists of who may do what, which are not asked here: there all belongs to nobody in particular, and
//! what a link, a device or a file with two names is refused for is all that tells.

use std::ffi::OsStr;
use std::io;

use super::error::Cause;
use super::names::temporary;
use super::open::Caching;
use super::stat::Stat;
use super::system::{self, Handle, Mode};

/// The user to whom all in an own directory belongs. `made` says that it was made just now.
pub(super) fn owner(directory: &Handle, own: &Stat, parent: &Stat, made: bool) -> Result<u32, Cause> {
    let me = system::user();
    let free = system::keeps_no_owners(directory);
    if !free && own.mode & 0o022 != 0 {
        return Err(Cause::Mode(own.mode & 0o777));
    }
    let mine = own.uid == me || free && own.uid == parent.uid;
    if mine || made && learned(directory).is_ok_and(|given| given == own.uid) {
        return Ok(own.uid);
    }
    Err(Cause::Owner { is: own.uid, wanted: me })
}

/// To whom a file belongs that is made there.
fn learned(directory: &Handle) -> io::Result<u32> {
    let name = temporary()?;
    let name = OsStr::new(&name);
    let file = system::make_file(directory, name, Caching::Cached, Mode::Private)?;
    let uid = system::stat_file(&file).map(|stat| stat.uid);
    system::remove_file(directory, name)?;
    uid
}
