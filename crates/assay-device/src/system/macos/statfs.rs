//! statfs(2).

use std::ffi::c_char;

use crate::system::mounted::Mounted;

impl Mounted {
    /// What the system says.
    pub(crate) fn of(fs: &rustix::fs::StatFs) -> Self {
        Self {
            kind: text(&fs.f_fstypename),
            from: text(&fs.f_mntfromname),
            on: text(&fs.f_mntonname),
            flags: fs.f_flags,
        }
    }
}

/// A text that ends with a zero, or with its room.
fn text(room: &[c_char]) -> String {
    let bytes: Vec<u8> = room.iter().take_while(|unit| **unit != 0).map(|unit| unit.cast_unsigned()).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
