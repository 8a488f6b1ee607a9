//! What media answer when their health is read: blocks of bytes that a dying or a foreign device fills.

use assay_core::health::{Bad, CounterKind, NoAnswer, RawAnswer, Unit};
use assay_device::health::Argument;
use assay_device::health::{Parsed, Refusal, ata, cmd56, ext_csd, nvme};

use crate::input;

/// A refusal says why in one line; counters are of known kinds, each once, and within their scales.
fn claims(answer: Result<Parsed, Refusal>) {
    let parsed = match answer {
        Ok(parsed) => parsed,
        Err(refusal) => {
            assert_ne!(refusal.why, NoAnswer::Unknown);
            return refusal.detail.iter().for_each(|detail| input::one_line(detail));
        }
    };
    for (at, (kind, value)) in parsed.counters.iter().enumerate() {
        assert!(!parsed.counters[..at].iter().any(|(other, _)| other == kind), "{kind:?} twice");
        let holds = match (kind, kind.unit()) {
            (CounterKind::PercentageUsed, _) => (0..=25_500).contains(value),
            (_, Unit::Percent) => (0..=100).contains(value),
            (_, Unit::Tenths) => (1..=11).contains(value),
            (_, Unit::Step) => (1..=3).contains(value),
            (_, Unit::Celsius) => (-128..=200).contains(value),
            (_, Unit::Bits) => (0..=255).contains(value),
            _ => *value >= 0,
        };
        assert!(holds, "{kind:?}: {value}");
        assert!(kind.bad() != Bad::Rising || !kind.is_worse(*value, *value), "{kind:?}");
    }
    if let Some(raw) = RawAnswer::new(assay_core::health::HealthSource::Medium, &parsed.raw) {
        assert!(raw.hex.len() <= 1024 && raw.hex.bytes().all(|byte| byte.is_ascii_hexdigit()));
    }
}

/// Bytes, and the same filled up to a block: few inputs are as long as one.
fn each(data: &[u8], parse: impl Fn(&[u8])) {
    parse(data);
    let mut block = data.to_vec();
    block.resize(512, 0);
    parse(&block);
}

/// EXT_CSD as bytes, and as the digits of debugfs.
pub(crate) fn ext_csd(data: &[u8]) {
    each(data, |bytes| claims(ext_csd::parse(bytes)));
    claims(ext_csd::from_digits(&input::text(data)).and_then(|bytes| ext_csd::parse(&bytes)));
}

pub(crate) fn ext_csd_seeds() -> Vec<Vec<u8>> {
    let mut register = block(&[(192, &[8]), (267, &[1, 1, 2]), (270, &[7; 32])]);
    let digits: String = register.iter().map(|byte| format!("{byte:02x}")).collect();
    let good = register.clone();
    register[192] = 99;
    vec![good, register, digits.into_bytes(), vec![0xff; 512], vec![0; 512], Vec::new()]
}

/// Blocks of SD cards, as the answer to each argument.
pub(crate) fn card(data: &[u8]) {
    for argument in Argument::ALL {
        each(data, |bytes| claims(cmd56::parse(argument, bytes)));
    }
}

pub(crate) fn card_seeds() -> Vec<Vec<u8>> {
    vec![
        block(&[(0, b"DW200710"), (8, &[1, 1, 1, 0x1f]), (26, &[0x11])]),
        block(&[(0, b"ME"), (7, &[1, 1, 0])]),
        block(&[(0, b"Sw"), (48, &[0, 1, 0x86, 0xa0, 0, 0, 0, 3]), (80, &[99])]),
        block(&[(0, &[9, 0x41]), (70, &[100])]),
        block(&[(0, b"Tr"), (27, &[0x33]), (70, &[100])]),
        block(&[(0, b"LX"), (24, &[60, 4, 1])]),
        block(&[(0, &[0x70, 0x58]), (44, &[98])]),
        block(&[(0, &[0x98, 0x3e]), (64, &[0x26, 0xfd]), (96, &[0x27, 0x0d, 0, 1, 0, 1, 0, 1])]),
        block(&[(0, &[0xfa, 0xb8]), (510, &[0x55, 0xaa])]),
        vec![0xff; 512],
        vec![0; 512],
        Vec::new(),
    ]
}

/// Logs of NVMe drives.
pub(crate) fn nvme(data: &[u8]) {
    each(data, |bytes| claims(nvme::parse_smart(bytes)));
    each(data, |bytes| claims(nvme::parse_errors(bytes)));
}

pub(crate) fn nvme_seeds() -> Vec<Vec<u8>> {
    vec![
        block(&[(0, &[0, 0x38, 1, 100, 10, 1]), (48, &[0xc4, 0xfc, 0x4c, 3]), (160, &[2])]),
        block(&[(0, &[4, 0xff, 0xff, 101, 10, 255]), (48, &[0xff; 16])]),
        block(&[(0, &[1]), (12, &[2, 5]), (64, &[2]), (76, &[4, 0])]),
        vec![0xff; 512],
        vec![0; 512],
        Vec::new(),
    ]
}

/// Tables, statistics and the identity of ATA disks. The second half of an input are the thresholds.
pub(crate) fn ata(data: &[u8]) {
    each(data, |bytes| {
        let table = summed(bytes);
        let thresholds = bytes.get(bytes.len() / 2..).map(summed);
        for table in [bytes, &table] {
            claims(ata::parse_attributes(table, thresholds.as_deref()));
            claims(ata::parse_identify(table).map(|_| Parsed::default()));
        }
        let pages = ata::parse_pages(bytes).unwrap_or_default();
        for page in ata::PAGES.into_iter().chain(pages) {
            claims(ata::parse_statistics(page, bytes, u64::from(page)));
        }
    });
}

pub(crate) fn ata_seeds() -> Vec<Vec<u8>> {
    vec![
        block(&[(0, &[16]), (2, &[5, 0x33, 0, 100, 100, 8]), (14, &[9, 0x32, 0, 84, 84, 0x15, 0x37])]),
        block(&[(0, &[1, 0, 1]), (8, &[49, 0, 0, 0, 0, 0, 0, 0xc0]), (16, &[0xff; 8])]),
        block(&[(0, &[1, 0, 0]), (8, &[3, 0, 1, 7])]),
        block(&[(0, &[0x40]), (164, &[1, 0, 0, 0x40, 0x20, 0x40, 1]), (510, &[0xa5])]),
        vec![0xff; 512],
        vec![0; 512],
        Vec::new(),
    ]
}

fn block(parts: &[(usize, &[u8])]) -> Vec<u8> {
    let mut block = vec![0; 512];
    for (at, bytes) in parts {
        block[*at..at + bytes.len()].copy_from_slice(bytes);
    }
    block
}

/// With a checksum that holds, which a mutation would seldom find.
fn summed(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes.resize(512, 0);
    bytes[511] = 0;
    bytes[511] = bytes.iter().fold(0u8, |sum, byte| sum.wrapping_sub(*byte));
    bytes
}
