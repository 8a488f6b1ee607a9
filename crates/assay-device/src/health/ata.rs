//! SMART of ATA disks (ATA8-ACS, "SMART feature set") and their device statistics (ACS-3, log 04h).
//!
//! Raw values of attributes differ between makers. Only those are read that mean the same with all of them; the table is kept.

use assay_core::health::{CounterKind, NoAnswer};

use super::ask::{Parsed, Refusal, low_first, whole};

/// Bytes of each answer.
pub const LENGTH: usize = 512;
/// Attributes in a table, and the bytes of each.
const ATTRIBUTES: usize = 30;
const ATTRIBUTE: usize = 12;
/// Sectors of an ATA log and of old statistics.
const SECTOR: u64 = 512;
/// More hours than any disk has run: some count minutes or seconds in the same place.
const MOST_HOURS: u64 = 300_000;

/// What a disk says of its own abilities (IDENTIFY DEVICE).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abilities {
    /// SMART is there and switched on.
    pub smart: bool,
    /// General-purpose logs are there, and with them device statistics.
    pub logs: bool,
}

/// Reads IDENTIFY DEVICE data.
///
/// # Errors
/// Where it is none, or says that SMART is not there or switched off.
pub fn parse_identify(bytes: &[u8]) -> Result<Abilities, Refusal> {
    let data = whole(bytes, LENGTH)?;
    let word = |index: usize| low_first(data, index * 2, 2) as u16;
    // Word 255: signature A5h, then a sum; old disks have neither.
    if data[510] == 0xa5 && !sums_to_zero(data) {
        return Err(Refusal::contradiction("checksum of the identity"));
    }
    if word(0) & 0x8000 != 0 {
        return Err(Refusal::contradiction("not an ATA disk"));
    }
    // Words 83, 84 and 87 count where bits 15:14 are 01.
    let valid = |word: u16| word >> 14 == 0b01;
    if !valid(word(83)) || word(82) & 1 == 0 {
        return Err(NoAnswer::NotSupported.into());
    }
    if word(85) & 1 == 0 {
        return Err(NoAnswer::SwitchedOff.into());
    }
    let logs = |word: u16| valid(word) && word & 1 << 5 != 0;
    Ok(Abilities { smart: true, logs: logs(word(84)) || logs(word(87)) })
}

/// The sum of all bytes is zero in tables of SMART and in the identity.
fn sums_to_zero(bytes: &[u8]) -> bool {
    bytes.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte)) == 0
}

/// SMART READ DATA, with SMART READ THRESHOLDS where it was answered.
///
/// # Errors
/// Where it is no table of attributes.
pub fn parse_attributes(data: &[u8], thresholds: Option<&[u8]>) -> Result<Parsed, Refusal> {
    let table = whole(data, LENGTH)?;
    if !sums_to_zero(table) {
        return Err(Refusal::contradiction("checksum of the attributes"));
    }
    let attributes: Vec<&[u8]> = rows(table).collect();
    if attributes.is_empty() {
        return Err(NoAnswer::NotSupported.into());
    }
    let mut parsed = Parsed { raw: table[2..2 + ATTRIBUTES * ATTRIBUTE].to_vec(), ..Parsed::default() };
    for attribute in &attributes {
        if let Some((kind, value)) = meaning(attribute[0], low_first(attribute, 5, 6))
            && !parsed.counters.iter().any(|(known, _)| *known == kind)
        {
            parsed.put(kind, value);
        }
    }
    let thresholds = thresholds.and_then(|bytes| whole(bytes, LENGTH).ok()).filter(|bytes| sums_to_zero(bytes));
    if let Some(limits) = thresholds {
        let failing = attributes.iter().filter(|attribute| is_failing(attribute, limits)).count();
        parsed.put(CounterKind::FailingAttributes, failing as u64);
    }
    Ok(parsed)
}

/// Attributes, or thresholds, that are in use.
fn rows(table: &[u8]) -> impl Iterator<Item = &[u8]> {
    table[2..2 + ATTRIBUTES * ATTRIBUTE].chunks_exact(ATTRIBUTE).filter(|row| row[0] != 0)
}

/// What a raw value means with all makers; `None` for others, and for numbers that hold several.
fn meaning(id: u8, raw: u64) -> Option<(CounterKind, u64)> {
    let single = Some(raw).filter(|raw| *raw < 1 << 32);
    // Hours and cycles have 24 bits; the others hold parts of an hour or nothing.
    let low = raw & 0xff_ffff;
    let celsius = Some(raw & 0xff).filter(|celsius| (1..=120).contains(celsius));
    Some(match id {
        5 => (CounterKind::ReallocatedSectors, single?),
        9 => (CounterKind::PowerOnHours, Some(low).filter(|hours| *hours <= MOST_HOURS)?),
        12 => (CounterKind::PowerCycles, low),
        187 => (CounterKind::ReportedUncorrectable, single?),
        190 | 194 => (CounterKind::TemperatureCelsius, celsius?),
        196 => (CounterKind::ReallocationEvents, raw & 0xffff),
        197 => (CounterKind::PendingSectors, single?),
        198 => (CounterKind::UncorrectableSectors, single?),
        199 => (CounterKind::CrcErrors, single?),
        _ => return None,
    })
}

/// Whether an attribute that foretells a failure (bit 0 of its flags) is at or below its threshold. 0 is no threshold, and 254
/// and 255 are not valid.
fn is_failing(attribute: &[u8], limits: &[u8]) -> bool {
    let limit = rows(limits).find(|row| row[0] == attribute[0]).map_or(0, |row| row[1]);
    let value = attribute[3];
    attribute[1] & 1 != 0 && (1..=253).contains(&limit) && (1..=253).contains(&value) && value <= limit
}

/// The pages of statistics that a disk has (log 04h, page 00h).
///
/// # Errors
/// Where it is no such page.
pub fn parse_pages(bytes: &[u8]) -> Result<Vec<u8>, Refusal> {
    let page = whole(bytes, LENGTH)?;
    if page[2] != 0 {
        return Err(Refusal::contradiction(&format!("page {} instead of 0", page[2])));
    }
    let count = usize::from(page[8]);
    Ok(page.get(9..9 + count).unwrap_or_default().to_vec())
}

/// Pages with a statistic that is read.
pub const PAGES: [u8; 6] = [1, 3, 4, 5, 6, 7];

/// A page of statistics.
///
/// # Errors
/// Where it is another page or none.
pub fn parse_statistics(number: u8, bytes: &[u8], sector_bytes: u64) -> Result<Parsed, Refusal> {
    let page = whole(bytes, LENGTH)?;
    if page[2] != number {
        return Err(Refusal::contradiction(&format!("page {} instead of {number}", page[2])));
    }
    let sector = sector_bytes.max(SECTOR);
    // Byte 7 of each: bit 7 it is supported, bit 6 it is valid.
    let value = |at: usize| (page[at + 7] & 0xc0 == 0xc0).then(|| low_first(page, at, 6));
    let mut parsed = Parsed::default();
    let mut put = |kind, value: Option<u64>| value.into_iter().for_each(|value| parsed.put(kind, value));
    match number {
        1 => {
            put(CounterKind::PowerCycles, value(8));
            put(CounterKind::PowerOnHours, value(16).map(|hours| hours & 0xffff_ffff));
            put(CounterKind::WrittenBytes, value(24).map(|sectors| sectors.saturating_mul(sector)));
            put(CounterKind::ReadBytes, value(40).map(|sectors| sectors.saturating_mul(sector)));
        }
        3 => put(CounterKind::ReallocatedSectors, value(32).map(|count| count & 0xffff_ffff)),
        4 => put(CounterKind::ReportedUncorrectable, value(8).map(|count| count & 0xffff_ffff)),
        5 => {
            // A signed byte.
            let celsius = value(8).map(|value| i64::from(value as u8 as i8));
            celsius.into_iter().for_each(|celsius| parsed.put(CounterKind::TemperatureCelsius, celsius));
        }
        6 => put(CounterKind::CrcErrors, value(24).map(|count| count & 0xffff_ffff)),
        7 => put(CounterKind::PercentageUsed, value(8).map(|percent| percent & 0xff)),
        _ => {}
    }
    Ok(parsed)
}

#[cfg(test)]
#[path = "ata_tests.rs"]
mod tests;
