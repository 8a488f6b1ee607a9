//! The answers of f3, the well-known peer, on the catalogue's media as real devices.
//!
//! They show that the models are what their names say: the figures were first seen on media that were made
//! independently of these. Rows that take seconds each are judged only if `ASSAY_F3_ALL` is set: `ASSAY_F3_ALL=1 cargo
//! test -p assay-lab --test it f3:: -- --nocapture` shows the whole table.

mod files;
mod probe;

use std::process::Command;

use assay_lab::{Lab, Missing};

/// Duration of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// Less than a second.
    Little,
    /// Seconds to a minute.
    Long,
}

impl Takes {
    fn is_judged(self) -> bool {
        self == Self::Little || std::env::var_os("ASSAY_F3_ALL").is_some()
    }
}

/// The right to have devices, if f3 is installed.
fn lab() -> Result<Lab, Missing> {
    match Command::new("f3probe").arg("--version").output() {
        Ok(_) => Lab::share(),
        Err(_) => Err(Missing("needs f3".to_owned())),
    }
}
