//! What a medium is asked, and who asks: the system, or a test.
//!
//! Only these questions can be put. Each reads; none writes to the medium, changes a setting or starts a test of the medium's
//! own.

use super::answer::Refusal;
use super::cmd56::Argument;

/// A question to a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// eMMC CMD8, SEND_EXT_CSD: sends the register (JESD84-B51, 6.10.4). The kernel sends it at each start.
    ExtCsd,
    /// SD CMD56, GEN_CMD, with the direction from the card: sends a block of the maker's own (SD Physical Layer, 4.13).
    SdVendor(Argument),
    /// NVMe Get Log Page (02h), log 02h for the whole drive.
    NvmeSmart,
    /// NVMe Get Log Page (02h), log 01h. Reading it does not clear it.
    NvmeErrors,
    /// ATA IDENTIFY DEVICE (ECh).
    AtaIdentify,
    /// ATA SMART READ DATA (B0h, D0h).
    AtaSmartData,
    /// ATA SMART READ THRESHOLDS (B0h, D1h).
    AtaSmartThresholds,
    /// ATA READ LOG EXT (2Fh), log 04h, this page: device statistics.
    AtaStatistics(u8),
}

/// A disk that is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disk {
    /// Its node: `/dev/sda`.
    pub path: String,
    /// Major and minor, which the node must have.
    pub number: (u32, u32),
}

/// Puts a question to a disk, and waits for the answer.
pub trait Ask: Send + Sync {
    /// The bytes of the answer.
    ///
    /// # Errors
    /// Where the system or the disk refuses.
    fn ask(&self, disk: &Disk, question: Question) -> Result<Vec<u8>, Refusal>;
}
