//! The register EXT_CSD of an eMMC (JESD84-B51, 7.4), and its copy in debugfs.

use assay_core::health::{CounterKind, NoAnswer};

use super::ask::{Parsed, Refusal, whole};

/// Bytes of the register.
pub const LENGTH: usize = 512;
/// `EXT_CSD_REV`; 7 is eMMC 5.0, the first with a health report.
const REVISION: usize = 192;
const FIRST_WITH_HEALTH: u8 = 7;
/// No device has a later one.
const LAST_REVISION: u8 = 16;
/// `PRE_EOL_INFO`.
const PRE_END_OF_LIFE: usize = 267;
/// `DEVICE_LIFE_TIME_EST_TYP_A` and `_B`.
const LIFE_A: usize = 268;
const LIFE_B: usize = 269;
/// `VENDOR_PROPRIETARY_HEALTH_REPORT`.
const OF_VENDOR: std::ops::Range<usize> = 270..302;

/// The health in the register.
///
/// # Errors
/// Where it is no such register, or has no health.
pub fn parse(bytes: &[u8]) -> Result<Parsed, Refusal> {
    let register = whole(bytes, LENGTH)?;
    let revision = register[REVISION];
    if revision > LAST_REVISION {
        return Err(Refusal::contradiction(&format!("revision {revision}")));
    }
    if revision < FIRST_WITH_HEALTH {
        return Err(NoAnswer::NotSupported.into());
    }
    let mut parsed = life(register[LIFE_A], register[LIFE_B], register[PRE_END_OF_LIFE]);
    parsed.raw = register[OF_VENDOR].to_vec();
    if parsed.counters.is_empty() { Err(NoAnswer::NotSupported.into()) } else { Ok(parsed) }
}

/// Life used and reserve; values that are not defined are left out (0 is "not defined").
pub(super) fn life(a: u8, b: u8, pre_end: u8) -> Parsed {
    let mut parsed = Parsed::default();
    for (kind, value, most) in [
        (CounterKind::PreEndOfLife, pre_end, 3),
        (CounterKind::LifeUsedATenths, a, 11),
        (CounterKind::LifeUsedBTenths, b, 11),
    ] {
        if (1..=most).contains(&value) {
            parsed.put(kind, value);
        }
    }
    parsed
}

/// The bytes of `/sys/kernel/debug/mmc0/mmc0:0001/ext_csd`: hexadecimal digits, byte 0 first (kernel
/// drivers/mmc/core/debugfs.c, `mmc_ext_csd_open`).
///
/// # Errors
/// Where it is no text of digits.
pub fn from_digits(text: &str) -> Result<Vec<u8>, Refusal> {
    let digits = text.trim().as_bytes();
    if digits.len() < 2 * LENGTH {
        return Err(NoAnswer::Short.into());
    }
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Option<Vec<u8>> = digits[..2 * LENGTH].chunks_exact(2).map(byte).collect();
    bytes.ok_or_else(|| Refusal::contradiction("no hexadecimal digits"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::ask::tests::{block, count, refuses_fillers};

    #[test]
    fn what_fills_a_buffer_is_no_register() {
        refuses_fillers(LENGTH, parse);
    }

    #[test]
    fn the_emmc_of_a_remarkable_tells_its_life() {
        // toltec-dev/toltec pull request 490: life 0x01 and 0x01, reserve 0x01; revision 8 (eMMC 5.1).
        let parsed = parse(&block(512, &[(192, &[8]), (267, &[1, 1, 1])])).unwrap();
        assert_eq!(count(&parsed, CounterKind::LifeUsedATenths), Some(1));
        assert_eq!(count(&parsed, CounterKind::LifeUsedBTenths), Some(1));
        assert_eq!(count(&parsed, CounterKind::PreEndOfLife), Some(1));
    }

    #[test]
    fn emmcs_of_bredos_and_of_netmodule_tell_their_life() {
        // BredOS/wiki, how-to/disk-failure.md: `Extended CSD rev 1.8 (MMC 5.1)`, sectors 0x1d200000, life 0x01 and 0x01, reserve 0x01,
        // CMD6 timer 0x05, power-off time 0x64. NetModule's manual "(e)MMC, health status": life 0x01 and 0x01, reserve 0x01.
        let known: &[(usize, &[u8])] =
            &[(192, &[8]), (212, &[0, 0, 0x20, 0x1d]), (247, &[0x64, 0x05]), (267, &[1, 1, 1])];
        for register in [block(512, known), block(512, &[(192, &[8]), (267, &[1, 1, 1])])] {
            let kinds = [CounterKind::LifeUsedATenths, CounterKind::LifeUsedBTenths, CounterKind::PreEndOfLife];
            let parsed = parse(&register).unwrap();
            assert_eq!(kinds.map(|kind| count(&parsed, kind)), [Some(1); 3]);
        }
    }

    #[test]
    fn the_emmc_of_an_espressobin_is_too_old_for_a_health_report() {
        // openwrt/openwrt pull request 3360: `Extended CSD rev 1.6 (MMC 4.5)`, S_CMD_SET 0x01, HPI_FEATURE 0x01.
        let register = block(512, &[(192, &[6]), (502, &[1, 1, 1])]);
        assert_eq!(parse(&register).unwrap_err().why, NoAnswer::NotSupported);
    }

    #[test]
    fn a_worn_emmc_is_beyond_its_life_and_its_vendor_bytes_are_kept() {
        // Values of JESD84-B51 tables 141 and 142: 0x0B is beyond the estimated life, reserve 0x03 is urgent.
        let register = block(512, &[(192, &[8]), (267, &[3, 11, 10]), (270, &[0xde, 0xad])]);
        let parsed = parse(&register).unwrap();
        assert_eq!(count(&parsed, CounterKind::LifeUsedATenths), Some(11));
        assert_eq!(count(&parsed, CounterKind::PreEndOfLife), Some(3));
        assert_eq!(parsed.raw[..2], [0xde, 0xad]);
    }

    #[test]
    fn the_register_of_a_board_that_defines_no_life_has_none() {
        // linux4sam/at91bootstrap issue 107, bytes 158 to 241 as printed there: EXT_CSD_REV 5 (eMMC 4.41).
        let register = block(
            512,
            &[
                (157, &[0xca, 1, 0, 3]),
                (166, &[5, 0, 1]),
                (192, &[5, 0, 2, 0, 7, 0, 2, 1]),
                (205, &[8, 8, 8, 8, 8, 8]),
                (225, &[5, 8, 0, 7, 3, 2, 0x15, 6]),
            ],
        );
        assert_eq!(parse(&register).unwrap_err().why, NoAnswer::NotSupported);
        // A later revision that defines neither is without health, too.
        assert_eq!(parse(&block(512, &[(192, &[8])])).unwrap_err().why, NoAnswer::NotSupported);
    }

    #[test]
    fn nonsense_contradicts_itself_and_undefined_values_are_left_out() {
        assert_eq!(parse(&block(512, &[(192, &[0x99]), (267, &[1, 1, 1])])).unwrap_err().why, NoAnswer::Inconsistent);
        let odd = parse(&block(512, &[(192, &[8]), (267, &[9, 0x40, 2])])).unwrap();
        assert_eq!(odd.counters, [(CounterKind::LifeUsedBTenths, 2)]);
    }

    #[test]
    fn digits_of_debugfs_are_bytes() {
        // PenUniverse/PenMods issue 216: `cut -c 537-538` of the file of a YoudaoDictionaryPen is `01`, its life A.
        let mut text = "00".repeat(512);
        text.replace_range(536..538, "01");
        text.replace_range(384..386, "08");
        let parsed = parse(&from_digits(&format!("{text}\n")).unwrap()).unwrap();
        assert_eq!(parsed.counters, [(CounterKind::LifeUsedATenths, 1)]);
        assert_eq!(from_digits("0011").unwrap_err().why, NoAnswer::Short);
        assert_eq!(from_digits(&"xy".repeat(512)).unwrap_err().why, NoAnswer::Inconsistent);
        assert_eq!(from_digits(&"é".repeat(512)).unwrap_err().why, NoAnswer::Inconsistent);
    }
}
