//! Owner of the files that assay creates in a place.
//!
//! On most file systems it is the user who runs assay. FAT and similar file systems store no owners: everything belongs
//! to the user given by the mount. Servers may assign files of root to another user (root_squash, exports(5)).

//!
//! Windows has access control lists, which are not tested here. There files have no particular owner, and only the
//! checks for links, devices and files with two names apply.

use std::ffi::OsStr;
use std::io;

use super::error::Cause;
use super::names::temporary;
use super::open::Caching;
use super::stat::Stat;
use super::system::{self, Handle, Mode};

/// The owner of everything in a directory of assay's own. `made` says that it was just created.
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

/// The owner of a file that is created there.
fn learned(directory: &Handle) -> io::Result<u32> {
    let name = temporary()?;
    let name = OsStr::new(&name);
    let file = system::make_file(directory, name, Caching::Cached, Mode::Private)?;
    let uid = system::stat_file(&file).map(|stat| stat.uid);
    system::remove_file(directory, name)?;
    uid
}
