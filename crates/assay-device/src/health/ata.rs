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
mod tests {
    //! Answers of disks, built again from what their owners published.

    use super::*;
    use crate::health::ask::tests::{block, count, refuses_fillers};
    use CounterKind as K;

    /// Makes the sum of all bytes zero by the last one.
    fn summed(mut bytes: Vec<u8>) -> Vec<u8> {
        bytes[511] = 0;
        bytes[511] = bytes.iter().fold(0u8, |sum, byte| sum.wrapping_sub(*byte));
        bytes
    }

    /// A table of attributes: number, flags, value, raw.
    fn attributes(rows: &[(u8, u16, u8, u64)]) -> Vec<u8> {
        let mut table = vec![0u8; 512];
        table[0] = 16;
        for (index, (id, flags, value, raw)) in rows.iter().enumerate() {
            let row = &mut table[2 + index * 12..14 + index * 12];
            row[0] = *id;
            row[1..3].copy_from_slice(&flags.to_le_bytes());
            row[3..5].fill(*value);
            row[5..11].copy_from_slice(&raw.to_le_bytes()[..6]);
        }
        summed(table)
    }

    fn thresholds(rows: &[(u8, u8)]) -> Vec<u8> {
        let mut table = vec![0u8; 512];
        table[0] = 16;
        for (index, (id, limit)) in rows.iter().enumerate() {
            table[2 + index * 12] = *id;
            table[3 + index * 12] = *limit;
        }
        summed(table)
    }

    /// A page of statistics, all supported and valid.
    fn page(number: u8, values: &[(usize, u64)]) -> Vec<u8> {
        let mut page = block(512, &[(0, &[1, 0, number])]);
        for (at, value) in values {
            page[*at..at + 7].copy_from_slice(&value.to_le_bytes()[..7]);
            page[at + 7] = 0xc0;
        }
        page
    }

    /// Identity with the words 82 to 85 and 87.
    fn identity(words: [u16; 5]) -> Vec<u8> {
        let mut data = block(512, &[(0, &[0x40, 0])]);
        for (word, value) in [82, 83, 84, 85, 87].into_iter().zip(words) {
            data[word * 2..word * 2 + 2].copy_from_slice(&value.to_le_bytes());
        }
        data[510] = 0xa5;
        summed(data)
    }

    #[test]
    fn what_fills_a_buffer_is_no_answer() {
        refuses_fillers(LENGTH, |bytes| parse_attributes(bytes, None));
        refuses_fillers(LENGTH, |bytes| parse_statistics(1, bytes, 512));
        refuses_fillers(LENGTH, |bytes| parse_identify(bytes).map(|_| Parsed::default()));
        refuses_fillers(LENGTH, |bytes| parse_pages(bytes).map(|_| Parsed::default()));
        // smartmontools issue 496: a JMS583 answers after 61 seconds, with zeros alone and without an error.
        assert_eq!(parse_identify(&[0; 512]).unwrap_err().why, NoAnswer::AllZeros);
    }

    #[test]
    fn an_mb010000gwayn_behind_1352_a006_is_read() {
        // smartmontools issue 283, `-d sat`, device statistics.
        let general = page(1, &[(8, 49), (16, 53_867), (24, 142_746_558_722), (40, 898_119_519_849)]);
        let parsed = parse_statistics(1, &general, 512).unwrap();
        let of = |kind| count(&parsed, kind).unwrap();
        assert_eq!((of(K::PowerCycles), of(K::PowerOnHours)), (49, 53_867));
        assert_eq!((of(K::WrittenBytes), of(K::ReadBytes)), (142_746_558_722 * 512, 898_119_519_849 * 512));
        let turning = parse_statistics(3, &page(3, &[(8, 53_857), (32, 0), (40, 612)]), 512).unwrap();
        assert_eq!(turning.counters, [(K::ReallocatedSectors, 0)]);
        let errors = parse_statistics(4, &page(4, &[(8, 1), (16, 16)]), 512).unwrap();
        assert_eq!(errors.counters, [(K::ReportedUncorrectable, 1)]);
    }

    #[test]
    fn a_biwin_ssd_behind_152d_0586_is_read() {
        // smartmontools issue 617.
        let parsed = parse_statistics(1, &page(1, &[(8, 2928), (16, 2174)]), 512).unwrap();
        assert_eq!(parsed.counters, [(K::PowerCycles, 2928), (K::PowerOnHours, 2174)]);
    }

    #[test]
    fn a_milan_ii_behind_1058_25f3_is_read() {
        // smartmontools issue 642: a My Passport SSD, 0 % of its endurance used.
        let parsed = parse_statistics(7, &page(7, &[(8, 0)]), 512).unwrap();
        assert_eq!(parsed.counters, [(K::PercentageUsed, 0)]);
    }

    #[test]
    fn an_870_evo_behind_a_usb_cable_with_bad_blocks_is_read() {
        // slittorin/home-assistant-maintenance, "SSD disk crash": `smartctl -d sat -a`, of an SSD that files were lost on.
        let rows = [
            (5, 0x33, 43, 338),
            (9, 0x32, 98, 8830),
            (12, 0x32, 99, 46),
            (177, 0x13, 99, 4),
            (179, 0x13, 43, 338),
            (181, 0x32, 100, 0),
            (182, 0x32, 100, 0),
            (183, 0x13, 43, 338),
            (187, 0x32, 99, 2638),
            (190, 0x32, 68, 32),
            (195, 0x1a, 199, 2638),
            (199, 0x3e, 100, 0),
            (235, 0x12, 99, 44),
            (241, 0x32, 99, 3_168_011_128),
        ];
        let limits = thresholds(&[(5, 10), (179, 10), (181, 10), (182, 10), (183, 10)]);
        let parsed = parse_attributes(&attributes(&rows), Some(&limits)).unwrap();
        let kinds = [K::ReallocatedSectors, K::PowerOnHours, K::PowerCycles, K::ReportedUncorrectable, K::CrcErrors];
        assert_eq!(kinds.map(|kind| count(&parsed, kind).unwrap()), [338, 8830, 46, 2638, 0]);
        assert_eq!(count(&parsed, K::TemperatureCelsius), Some(32));
        assert_eq!(count(&parsed, K::FailingAttributes), Some(0), "it passes, as its owner found");
    }

    #[test]
    fn an_st12000nm0127_with_pending_sectors_is_read() {
        // olafkfreund/nixos_config issue 1259; of the model behind a bridge: smartmontools pull request 247.
        let rows = [
            (5, 0x33, 100, 2872),
            (9, 0x32, 84, 14_101),
            (197, 0x12, 99, 624),
            (198, 0x10, 99, 624),
            (199, 0x3e, 200, 0),
        ];
        let limits = thresholds(&[(5, 10), (197, 0)]);
        let parsed = parse_attributes(&attributes(&rows), Some(&limits)).unwrap();
        let kinds = [K::ReallocatedSectors, K::PowerOnHours, K::PendingSectors, K::UncorrectableSectors, K::CrcErrors];
        assert_eq!(kinds.map(|kind| count(&parsed, kind).unwrap()), [2872, 14_101, 624, 624, 0]);
        assert_eq!(count(&parsed, K::FailingAttributes), Some(0), "it passes, as its owner found");
    }

    #[test]
    fn an_sa400_of_kingston_keeps_what_only_its_maker_knows() {
        // hiyohiyo/CrystalDiskInfo issue 178; the raw values as printed there, highest byte first.
        let rows = [
            (0x01, 0x0b, 100, 0),
            (0x09, 0x12, 100, 0x0ff9),
            (0x0c, 0x12, 100, 0x0322),
            (0xaa, 0x12, 100, 7),
            (0xad, 0x12, 100, 0x0083_0096),
            (0xbb, 0x12, 100, 0),
            (0xc2, 0x22, 70, 0x000c_0026_001e),
            (0xc4, 0x12, 100, 0),
            (0xc7, 0x12, 100, 0),
            (0xe7, 0x12, 14, 0x56),
        ];
        let table = attributes(&rows);
        let parsed = parse_attributes(&table, None).unwrap();
        let kinds = [K::PowerOnHours, K::PowerCycles, K::TemperatureCelsius, K::ReallocationEvents, K::CrcErrors];
        assert_eq!(kinds.map(|kind| count(&parsed, kind).unwrap()), [4089, 802, 30, 0, 0]);
        assert_eq!(count(&parsed, K::LifeLeftPercent), None, "0xe7 means another thing with each maker");
        assert_eq!(parsed.raw, table[2..362]);
    }

    #[test]
    fn a_disk_that_counts_minutes_gets_no_hours() {
        // openhardwaremonitor issue 366: SAMSUNG HM040HI, 1D5C05000000, lowest byte first, is 351,261.
        let parsed = parse_attributes(&attributes(&[(9, 0x32, 100, 351_261), (5, 0x33, 253, 0)]), None).unwrap();
        assert_eq!(parsed.counters, [(K::ReallocatedSectors, 0)]);
        // Three numbers in one: not a count.
        let parsed =
            parse_attributes(&attributes(&[(197, 0x12, 100, 3 << 32 | 5), (199, 0x3e, 200, 1)]), None).unwrap();
        assert_eq!(parsed.counters, [(K::CrcErrors, 1)]);
    }

    #[test]
    fn an_attribute_at_its_threshold_fails_if_it_foretells() {
        let limits = thresholds(&[(5, 36), (9, 90), (10, 0), (11, 255)]);
        let of = |rows: &[(u8, u16, u8, u64)]| {
            count(&parse_attributes(&attributes(rows), Some(&limits)).unwrap(), K::FailingAttributes)
        };
        assert_eq!(of(&[(5, 0x33, 37, 1)]), Some(0));
        assert_eq!(of(&[(5, 0x33, 36, 1)]), Some(1));
        assert_eq!(of(&[(9, 0x32, 10, 1)]), Some(0), "old age alone");
        assert_eq!(of(&[(10, 0x33, 1, 1), (11, 0x33, 1, 1)]), Some(0), "no threshold");
        let mut broken = limits.clone();
        broken[511] ^= 1;
        let parsed = parse_attributes(&attributes(&[(5, 0x33, 1, 1)]), Some(&broken)).unwrap();
        assert_eq!(count(&parsed, K::FailingAttributes), None);
    }

    #[test]
    fn a_wrong_checksum_or_page_contradicts_itself() {
        let mut table = attributes(&[(5, 0x33, 100, 7)]);
        table[7] ^= 1;
        assert_eq!(parse_attributes(&table, None).unwrap_err().why, NoAnswer::Inconsistent);
        assert_eq!(parse_attributes(&attributes(&[]), None).unwrap_err().why, NoAnswer::NotSupported);
        assert_eq!(parse_statistics(1, &page(7, &[(8, 3)]), 512).unwrap_err().why, NoAnswer::Inconsistent);
        assert_eq!(parse_pages(&page(1, &[])).unwrap_err().why, NoAnswer::Inconsistent);
        // Invalid entries are left out.
        let mut invalid = page(7, &[(8, 3)]);
        invalid[15] = 0x80;
        assert_eq!(parse_statistics(7, &invalid, 512).unwrap().counters, []);
    }

    #[test]
    fn pages_and_temperatures_and_large_sectors_are_read() {
        assert_eq!(parse_pages(&block(512, &[(0, &[1]), (8, &[3, 0, 1, 7])])).unwrap(), [0, 1, 7]);
        assert_eq!(parse_pages(&block(512, &[(0, &[1]), (8, &[255, 9])])).unwrap().len(), 255);
        let cold = parse_statistics(5, &page(5, &[(8, 0xf6)]), 512).unwrap();
        assert_eq!(cold.counters, [(K::TemperatureCelsius, -10)]);
        let written = parse_statistics(1, &page(1, &[(24, 2)]), 4096).unwrap();
        assert_eq!(written.counters, [(K::WrittenBytes, 8192)]);
        assert_eq!(parse_statistics(6, &page(6, &[(24, 5)]), 512).unwrap().counters, [(K::CrcErrors, 5)]);
    }

    #[test]
    fn a_disk_says_whether_it_has_smart_and_logs() {
        let abilities = |words| parse_identify(&identity(words));
        let all = [0x0001, 0x4000, 0x4020, 0x0001, 0x4020];
        assert_eq!(abilities(all), Ok(Abilities { smart: true, logs: true }));
        assert_eq!(abilities([1, 0x4000, 0x4000, 1, 0x4000]), Ok(Abilities { smart: true, logs: false }));
        assert_eq!(
            abilities([1, 0x4000, 0xffff, 1, 0]),
            Ok(Abilities { smart: true, logs: false }),
            "bits 15:14 are 01"
        );
        assert_eq!(abilities([0, 0x4000, 0, 1, 0]).unwrap_err().why, NoAnswer::NotSupported);
        assert_eq!(abilities([1, 0x4000, 0, 0, 0]).unwrap_err().why, NoAnswer::SwitchedOff);
        let mut broken = identity(all);
        broken[20] ^= 1;
        assert_eq!(parse_identify(&broken).unwrap_err().why, NoAnswer::Inconsistent);
    }
}
