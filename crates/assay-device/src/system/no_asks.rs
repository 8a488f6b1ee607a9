//! A system on which disks are not asked.

use assay_core::health::NoAnswer;

use crate::health::{Ask, Disk, Question, Refusal};

/// The system.
#[derive(Debug)]
pub(crate) struct SystemAsks {
    /// Whether the trees are of this machine.
    pub(crate) is_here: bool,
}

impl Ask for SystemAsks {
    fn ask(&self, _disk: &Disk, _question: Question) -> Result<Vec<u8>, Refusal> {
        Err(if self.is_here { NoAnswer::NotAsked } else { NoAnswer::NotHere }.into())
    }
}
