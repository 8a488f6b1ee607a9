//! Logs of NVMe drives: SMART / Health Information (02h) and Error Information (01h) of the NVM Express base specification, "Get
//! Log Page".

use assay_core::health::CounterKind;

use super::ask::{Parsed, Refusal, low_first, whole};

/// Bytes of the health log.
pub const SMART_LENGTH: usize = 512;
/// Bytes of an entry of the error log, and how many are asked for: a drive may keep fewer, and some refuse to give more than they
/// have (smartmontools issue 193).
pub const ENTRY: usize = 64;
/// Bytes asked for of the error log.
pub const ERRORS_LENGTH: usize = 8 * ENTRY;
/// A unit of data is 1,000 blocks of 512 bytes.
const DATA_UNIT: u64 = 512_000;
/// 0 °C in whole kelvins, as the specification's readers round it.
const ZERO_CELSIUS: i64 = 273;
/// Status code type of errors of the medium and of data (base specification, "Status Code Type").
const MEDIA: u16 = 2;

/// The health log.
///
/// # Errors
/// Where it is none.
pub fn parse_smart(bytes: &[u8]) -> Result<Parsed, Refusal> {
    let log = whole(bytes, SMART_LENGTH)?;
    let (spare, threshold) = (log[3], log[4]);
    if spare > 100 || threshold > 100 {
        return Err(Refusal::contradiction(&format!("{spare} % of the spare left, threshold {threshold} %")));
    }
    let mut parsed = Parsed::default();
    parsed.put(CounterKind::CriticalWarning, log[0]);
    let kelvins = low_first(log, 1, 2) as i64;
    // A drive without a sensor has 0 K; a filled field is none.
    if (ZERO_CELSIUS - 90..=ZERO_CELSIUS + 200).contains(&kelvins) {
        parsed.put(CounterKind::TemperatureCelsius, kelvins - ZERO_CELSIUS);
    }
    parsed.put(CounterKind::AvailableSparePercent, spare);
    parsed.put(CounterKind::AvailableSpareThresholdPercent, threshold);
    parsed.put(CounterKind::PercentageUsed, log[5]);
    parsed.put(CounterKind::ReadBytes, wide(log, 32).saturating_mul(DATA_UNIT));
    parsed.put(CounterKind::WrittenBytes, wide(log, 48).saturating_mul(DATA_UNIT));
    for (kind, at) in [
        (CounterKind::PowerCycles, 112),
        (CounterKind::PowerOnHours, 128),
        (CounterKind::UnsafeShutdowns, 144),
        (CounterKind::MediaErrors, 160),
        (CounterKind::ErrorLogEntries, 176),
    ] {
        parsed.put(kind, wide(log, at));
    }
    parsed.put(CounterKind::WarningTemperatureMinutes, low_first(log, 192, 4));
    parsed.put(CounterKind::CriticalTemperatureMinutes, low_first(log, 196, 4));
    Ok(parsed)
}

/// A number of sixteen bytes; the largest of eight where it is larger.
fn wide(log: &[u8], at: usize) -> u64 {
    if low_first(log, at + 8, 8) == 0 { low_first(log, at, 8) } else { u64::MAX }
}

/// How many entries of the error log are of the medium. An empty log is an answer: entries that were never used are zero.
///
/// # Errors
/// Where it is no log.
pub fn parse_errors(bytes: &[u8]) -> Result<Parsed, Refusal> {
    let log = match whole(bytes, ERRORS_LENGTH) {
        Err(refusal) if refusal.why == assay_core::health::NoAnswer::AllZeros => &[],
        other => other?,
    };
    let of_medium = |entry: &&[u8]| {
        let number = low_first(entry, 0, 8);
        let status = low_first(entry, 12, 2) as u16;
        // Bit 0 is the phase, bits 8:1 the code, bits 11:9 its type.
        number != 0 && number != u64::MAX && status >> 9 & 0b111 == MEDIA
    };
    let mut parsed = Parsed::default();
    parsed.put(CounterKind::LoggedMediaErrors, log.chunks_exact(ENTRY).filter(of_medium).count() as u64);
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::ask::tests::{block, count, refuses_fillers};
    use CounterKind as K;
    use assay_core::health::NoAnswer;

    /// A log with these figures: warning, kelvins, spare, threshold, used; then numbers of sixteen bytes by their places.
    fn log(head: (u8, u16, u8, u8, u8), numbers: &[(usize, u64)]) -> Vec<u8> {
        let (warning, kelvins, spare, threshold, used) = head;
        let [low, high] = kelvins.to_le_bytes();
        let mut log = block(512, &[(0, &[warning, low, high, spare, threshold, used])]);
        for (at, number) in numbers {
            log[*at..at + 8].copy_from_slice(&number.to_le_bytes());
        }
        log
    }

    #[test]
    fn what_fills_a_buffer_is_no_log() {
        refuses_fillers(SMART_LENGTH, parse_smart);
        assert_eq!(parse_errors(&[0xff; ERRORS_LENGTH]).unwrap_err().why, NoAnswer::AllOnes);
        assert_eq!(parse_errors(&[0; 63]).unwrap_err().why, NoAnswer::Short);
    }

    #[test]
    fn a_log_as_it_was_dumped_is_read() {
        // linux-nvme/nvme-cli issue 2759, `nvme get-log -i 0x2`: the first 98 bytes.
        let mut bytes = vec![0u8; 512];
        bytes[..6].copy_from_slice(&[0x00, 0x38, 0x01, 0x64, 0x0a, 0x01]);
        bytes[0x20..0x24].copy_from_slice(&[0x3a, 0xbc, 0x28, 0x08]);
        bytes[0x30..0x34].copy_from_slice(&[0xc4, 0xfc, 0x4c, 0x03]);
        bytes[0x40..0x44].copy_from_slice(&[0x2a, 0x46, 0xac, 0x1c]);
        bytes[0x50..0x54].copy_from_slice(&[0xd9, 0xe5, 0x8b, 0x2f]);
        bytes[0x60..0x62].copy_from_slice(&[0xd7, 0x04]);
        let parsed = parse_smart(&bytes).unwrap();
        let of = |kind| count(&parsed, kind).unwrap();
        assert_eq!((of(K::TemperatureCelsius), of(K::AvailableSparePercent), of(K::PercentageUsed)), (39, 100, 1));
        assert_eq!(of(K::ReadBytes), 0x0828_bc3a * 512_000);
        assert_eq!(of(K::WrittenBytes), 0x034c_fcc4 * 512_000);
    }

    #[test]
    fn the_same_drive_with_all_zeros_gives_no_answer() {
        // The same issue, and 1645: a version of nvme-cli printed zeros, and -273 °C.
        assert_eq!(parse_smart(&[0; 512]).unwrap_err().why, NoAnswer::AllZeros);
    }

    #[test]
    fn a_server_drive_is_read() {
        // linux-nvme/nvme-cli issue 48.
        let numbers = [(32, 203_913_228), (48, 64_663_716), (96, 399), (112, 9), (128, 742), (144, 5)];
        let parsed = parse_smart(&log((0, 307, 100, 10, 0), &numbers)).unwrap();
        let of = |kind| count(&parsed, kind).unwrap();
        assert_eq!((of(K::TemperatureCelsius), of(K::PowerOnHours), of(K::UnsafeShutdowns)), (34, 742, 5));
        assert_eq!(of(K::WrittenBytes), 33_107_822_592_000);
        assert_eq!((of(K::MediaErrors), of(K::ErrorLogEntries)), (0, 0));
    }

    #[test]
    fn a_legend_710_of_adata_is_read() {
        // BredOS/wiki, how-to/disk-failure.md: 35 °C, spare 100 %, threshold 32 %, 0 % used.
        let numbers =
            [(32, 840_013), (48, 1_699_047), (64, 7_031_574), (80, 25_090_339), (112, 33), (128, 229), (144, 23)];
        let parsed = parse_smart(&log((0, 308, 100, 32, 0), &numbers)).unwrap();
        let of = |kind| count(&parsed, kind).unwrap();
        assert_eq!((of(K::TemperatureCelsius), of(K::AvailableSpareThresholdPercent)), (35, 32));
        assert_eq!((of(K::PowerCycles), of(K::PowerOnHours), of(K::UnsafeShutdowns)), (33, 229, 23));
        assert_eq!(of(K::WrittenBytes), 1_699_047 * 512_000);
    }

    #[test]
    fn a_drive_beyond_its_life_warns() {
        // smartmontools issue 537: SAMSUNG MZVL2512HCJQ, warning 0x04, 28 °C, spare 100 %, threshold 10 %, used 100 %.
        let parsed = parse_smart(&log((4, 301, 100, 10, 100), &[])).unwrap();
        let of = |kind| count(&parsed, kind).unwrap();
        assert_eq!((of(K::CriticalWarning), of(K::PercentageUsed), of(K::TemperatureCelsius)), (4, 100, 28));
    }

    #[test]
    fn entries_about_refused_commands_are_no_media_errors() {
        // canonical/checkbox issue 102: 6,726 hours, 4,804 entries in the error log, no media error.
        let numbers = [(48, 64_768_925), (112, 3693), (128, 6726), (144, 3682), (176, 4804)];
        let parsed = parse_smart(&log((0, 303, 100, 10, 0), &numbers)).unwrap();
        assert_eq!((count(&parsed, K::ErrorLogEntries), count(&parsed, K::MediaErrors)), (Some(4804), Some(0)));
        let entry = |number: u64, status: u16| {
            let mut entry = [0u8; ENTRY];
            entry[..8].copy_from_slice(&number.to_le_bytes());
            entry[12..14].copy_from_slice(&status.to_le_bytes());
            entry
        };
        // Type 0, code 02h: an invalid field; type 2, code 81h: a read that could not be corrected.
        let (refused, unread) = (entry(4804, 0x02 << 1), entry(4803, (2 << 9) | (0x81 << 1) | 1));
        let mut errors = [refused, unread, unread].concat();
        errors.resize(ERRORS_LENGTH, 0);
        assert_eq!(parse_errors(&errors).unwrap().counters, [(K::LoggedMediaErrors, 2)]);
        assert_eq!(parse_errors(&[0; ERRORS_LENGTH]).unwrap().counters, [(K::LoggedMediaErrors, 0)]);
    }

    #[test]
    fn a_spare_above_100_percent_contradicts_itself_and_large_numbers_stay() {
        assert_eq!(parse_smart(&log((0, 300, 101, 10, 0), &[])).unwrap_err().why, NoAnswer::Inconsistent);
        let parsed = parse_smart(&log((0, 0, 100, 10, 255), &[(48, u64::MAX), (136, 1)])).unwrap();
        assert_eq!(count(&parsed, K::TemperatureCelsius), None, "0 K is no sensor");
        assert_eq!(
            (count(&parsed, K::WrittenBytes), count(&parsed, K::PowerOnHours)),
            (Some(i64::MAX), Some(i64::MAX))
        );
    }
}
