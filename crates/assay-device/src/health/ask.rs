//! What a medium is asked, who asks (the system, or a test), and its answer: bytes that are whole, what they mean, or why they
//! mean nothing.
//!
//! Only these questions can be put. Each reads; none writes to the medium, changes a setting or starts a test of the medium's
//! own.

use assay_core::health::{Counter, CounterKind, HealthReadings, HealthSource, NoAnswer, RawAnswer, Unread};

/// What CMD56 asks of an SD card. Each only reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Argument {
    /// SanDisk, Western Digital and Longsys, which differ in their signatures.
    First,
    /// ADATA.
    Adata,
    /// Transcend.
    Transcend,
    /// Micron.
    Micron,
    /// Innodisk.
    Innodisk,
    /// Swissbit.
    Swissbit,
    /// Controllers of Silicon Motion: Apacer, Kingston, GoodRam.
    SiliconMotion,
}

impl Argument {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::First, Self::Adata, Self::Transcend, Self::Micron, Self::Innodisk, Self::Swissbit, Self::SiliconMotion];

    /// The argument of the command.
    #[must_use]
    pub fn value(self) -> u32 {
        match self {
            Self::First => 0x0000_0001,
            Self::Adata => 0x1100_05f1,
            Self::Transcend => 0x1100_05f9,
            Self::Micron => 0x1100_05fb,
            Self::Innodisk => 0x1100_05fd,
            Self::Swissbit => 0x5342_0001,
            Self::SiliconMotion => 0x0000_0021,
        }
    }

    /// What to ask a card of this maker, by the number in its CID; nothing where the maker is known and publishes no layout.
    /// Longsys, Micron and Innodisk have numbers that are not public, so cards of unknown makers are asked for theirs.
    #[must_use]
    pub fn of_maker(number: u32, is_known: bool) -> &'static [Self] {
        match number {
            0x03 => &[Self::First],
            0x1d => &[Self::Adata],
            // Some cards of Transcend answer in the form of ADATA (sdmon issue 44).
            0x1c | 0x1e | 0x74 => &[Self::Transcend, Self::Adata],
            0x41 | 0x9f => &[Self::SiliconMotion],
            0x5d => &[Self::Swissbit],
            _ if is_known => &[],
            _ => &[Self::First, Self::Micron, Self::Innodisk],
        }
    }
}

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

/// Why there is nothing to use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Why.
    pub why: NoAnswer,
    /// More of it.
    pub detail: Option<String>,
}

impl From<NoAnswer> for Refusal {
    fn from(why: NoAnswer) -> Self {
        Self { why, detail: None }
    }
}

impl Refusal {
    /// An answer that contradicts itself, and how.
    pub(super) fn contradiction(detail: &str) -> Self {
        Self { why: NoAnswer::Inconsistent, detail: Some(detail.to_owned()) }
    }

    pub(super) fn of(self, source: HealthSource) -> HealthReadings {
        let unread = vec![Unread { source, why: self.why, detail: self.detail }];
        HealthReadings { unread, ..HealthReadings::default() }
    }
}

/// What an answer says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parsed {
    /// Counters.
    pub counters: Vec<(CounterKind, i64)>,
    /// Bytes in a maker's own form.
    pub raw: Vec<u8>,
}

impl Parsed {
    /// Adds a counter; a number that does not fit becomes the largest that does.
    pub(super) fn put(&mut self, kind: CounterKind, value: impl TryInto<i64>) {
        self.counters.push((kind, value.try_into().unwrap_or(i64::MAX)));
    }

    /// Adds a share in percent, unless it is none: some cards say 453 % (sdmon issue 2).
    pub(super) fn percent(&mut self, kind: CounterKind, value: u32) {
        if value <= 100 {
            self.put(kind, value);
        }
    }

    /// As readings of this source.
    pub(super) fn of(self, source: HealthSource) -> HealthReadings {
        HealthReadings {
            counters: self.counters.iter().map(|(kind, value)| Counter::read(*kind, source, *value)).collect(),
            raw: RawAnswer::new(source, &self.raw).into_iter().collect(),
            unread: Vec::new(),
        }
    }
}

/// The first `length` bytes of an answer.
///
/// # Errors
/// Where there are fewer, or all of them are 0xFF or 0x00: readers, bridges and cards leave a buffer so where they do not answer
/// (sdmon issues 42 and 43: such an answer was shown as 655 % of life left).
pub(super) fn whole(bytes: &[u8], length: usize) -> Result<&[u8], Refusal> {
    let bytes = bytes.get(..length).ok_or(NoAnswer::Short)?;
    match bytes.first() {
        Some(first @ (0x00 | 0xff)) if bytes.iter().all(|byte| byte == first) => {
            Err(Refusal::from(if *first == 0 { NoAnswer::AllZeros } else { NoAnswer::AllOnes }))
        }
        _ => Ok(bytes),
    }
}

/// A number of up to eight bytes, lowest first; 0 beyond the end.
pub(super) fn low_first(bytes: &[u8], at: usize, length: usize) -> u64 {
    let number = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
    bytes.get(at..at + length).unwrap_or_default().iter().rev().fold(0, number)
}

/// A number of up to eight bytes, highest first; 0 beyond the end.
pub(super) fn high_first(bytes: &[u8], at: usize, length: usize) -> u64 {
    let number = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
    bytes.get(at..at + length).unwrap_or_default().iter().fold(0, number)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A block of zeros with these bytes at these places.
    pub(crate) fn block(length: usize, parts: &[(usize, &[u8])]) -> Vec<u8> {
        let mut block = vec![0; length];
        for (at, bytes) in parts {
            block[*at..at + bytes.len()].copy_from_slice(bytes);
        }
        block
    }

    /// The value of a counter.
    pub(crate) fn count(parsed: &Parsed, kind: CounterKind) -> Option<i64> {
        parsed.counters.iter().find(|(other, _)| *other == kind).map(|(_, value)| *value)
    }

    /// What is no answer for any parser of blocks of `length` bytes.
    pub(crate) fn refuses_fillers(length: usize, parse: impl Fn(&[u8]) -> Result<Parsed, Refusal>) {
        for (bytes, why) in [
            (vec![0xff; length], NoAnswer::AllOnes),
            (vec![0x00; length], NoAnswer::AllZeros),
            (vec![0x41; length - 1], NoAnswer::Short),
            (Vec::new(), NoAnswer::Short),
        ] {
            assert_eq!(parse(&bytes).unwrap_err().why, why, "{} bytes", bytes.len());
        }
    }

    #[test]
    fn numbers_are_read_in_both_orders() {
        assert_eq!((low_first(&[1, 2, 3], 0, 3), high_first(&[1, 2, 3], 0, 3)), (0x03_0201, 0x01_0203));
        assert_eq!((low_first(&[1, 2, 3], 1, 4), high_first(&[1], 9, 2)), (0, 0));
        assert_eq!(low_first(&[0xff; 8], 0, 8), u64::MAX);
    }

    #[test]
    fn one_other_byte_makes_an_answer() {
        let mut bytes = [0xff; 512];
        bytes[511] = 0xfe;
        assert!(whole(&bytes, 512).is_ok());
        assert_eq!(whole(&bytes, 511).unwrap_err().why, NoAnswer::AllOnes);
    }
}
