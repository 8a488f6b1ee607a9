//! Bus mode of an SD card or eMMC, from debugfs or from the kernel log.

use std::fs::File;
use std::io::ErrorKind;

use assay_core::medium::{Bus, MediumKind};
use assay_core::text::label;

use super::ceilings::{self, Lane};
use super::mmc_card::Card;
use crate::files;
use crate::klog;
use crate::sysroot::Sysroot;

/// Most characters of a line of the kernel log that are kept.
const LONGEST_LINE: usize = 300;

pub(crate) fn bus(sysroot: &Sysroot, card: &Card) -> Bus {
    let kind = if card.kind == MediumKind::Emmc { "mmc" } else { "sd" };
    let shown = format!("/sys/kernel/debug/{}/ios", card.host);
    let path = sysroot.path(&shown);
    if let Some(lane) = files::text(&path).and_then(|text| from_ios(&text, card.kind)) {
        return lane.into_bus(kind, None, shown);
    }
    if let Some((lane, line)) = from_log(sysroot, card) {
        let lines = if kind == "mmc" { ", assuming 8 data lines" } else { "" };
        // A logger's file may contain anything.
        let line = label(&line, LONGEST_LINE).unwrap_or_default();
        return lane.into_bus(kind, None, format!("kernel log `{line}`{lines}"));
    }
    let why = match File::open(&path).map_err(|error| error.kind()) {
        Err(ErrorKind::PermissionDenied) => format!("{shown} needs root"),
        Err(_) => format!("{shown} is not there (is debugfs mounted?)"),
        Ok(_) => format!("{shown} names no mode"),
    };
    Lane::unknown("unknown").into_bus(kind, None, format!("{why}; the kernel log has no line on {}", card.host))
}

/// The file is written by drivers/mmc/core/debugfs.c, `mmc_ios_show`:
/// `clock:`, `actual clock:`, `bus width: 2 (4 bits)`, `timing spec: 6 (sd uhs SDR104)`.
fn from_ios(text: &str, kind: MediumKind) -> Option<Lane> {
    let field = |name: &str| {
        text.lines().find_map(|line| line.split_once(':').filter(|(key, _)| key.trim() == name).map(|(_, v)| v.trim()))
    };
    let hertz = |name: &str| field(name)?.split_whitespace().next()?.parse::<u64>().ok().filter(|hz| *hz > 0);
    let inside = |name: &str| field(name)?.split_once('(')?.1.split_once(')').map(|(inner, _)| inner);
    let mode = mode_of_timing(inside("timing spec")?, kind)?;
    let nominal = ceilings::mmc_nominal(mode);
    // Runtime power management may have stopped the actual clock at the moment.
    let clock = hertz("actual clock").or_else(|| hertz("clock")).or(nominal.map(|(clock, ..)| clock))?;
    let lines = inside("bus width").and_then(|text| text.split(' ').next()?.parse().ok());
    let lines = lines.or(nominal.map(|(_, lines, _)| lines))?;
    Some(ceilings::mmc(mode, clock, lines, mode.starts_with("DDR") || mode == "HS400"))
}

fn mode_of_timing(timing: &str, kind: MediumKind) -> Option<&'static str> {
    Some(match timing {
        "legacy" if kind == MediumKind::Emmc => "MMC legacy",
        "legacy" => "Default Speed",
        "sd high-speed" => "High Speed",
        "mmc high-speed" => "MMC HS",
        other => word_mode(other)?,
    })
}

/// The mode named by a word of the text.
fn word_mode(text: &str) -> Option<&'static str> {
    const MODES: [&str; 8] = ["SDR12", "SDR25", "SDR50", "SDR104", "DDR50", "DDR52", "HS200", "HS400"];
    MODES.into_iter().find(|mode| text.split_whitespace().any(|word| word == *mode))
}

/// drivers/mmc/core/bus.c, `mmc_add_card`:
/// `mmc0: new ultra high speed SDR104 SDXC card at address aaaa`, `mmc1: new HS400 MMC card at …`,
/// `mmc0: new high speed SDHC card at …`, `mmc0: new SD card at …`. The last one counts.
fn from_log(sysroot: &Sysroot, card: &Card) -> Option<(Lane, String)> {
    let start = format!("{}: new ", card.host);
    let end = format!(" card at address {}", card.address);
    let line = klog::last_line(sysroot, |line| line.contains(&start) && line.trim_end().ends_with(&end))?;
    let what = line.get(line.find(&start)?..)?.trim_end();
    let mode = mode_of_log(what.strip_prefix(&start)?.strip_suffix(&end)?, card.kind)?;
    let (clock, lines, double) = ceilings::mmc_nominal(mode)?;
    Some((ceilings::mmc(mode, clock, lines, double), what.to_owned()))
}

fn mode_of_log(words: &str, kind: MediumKind) -> Option<&'static str> {
    let emmc = kind == MediumKind::Emmc;
    match word_mode(words) {
        Some(mode) => Some(mode),
        None if words.contains("UHS") || words.contains("ultra") => None, // UHS-II says no rate
        None if emmc && words.split(' ').any(|word| word == "DDR") => Some("DDR52"),
        None if words.contains("high speed") => Some(if emmc { "MMC HS" } else { "High Speed" }),
        None => Some(if emmc { "MMC legacy" } else { "Default Speed" }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stopped_clock_of_an_idle_card_does_not_make_its_ceiling_zero() {
        let ios =
            "clock:\t\t208000000 Hz\nactual clock:\t0 Hz\nbus width:\t2 (4 bits)\ntiming spec:\t6 (sd uhs SDR104)\n";
        let lane = from_ios(ios, MediumKind::Sd).unwrap();
        assert_eq!((lane.mode.as_str(), lane.ceiling), ("SDR104", Some(104e6)));
    }

    #[test]
    fn a_narrow_emmc_has_half_the_ceiling() {
        let ios = "clock:\t\t52000000 Hz\nbus width:\t2 (4 bits)\ntiming spec:\t8 (mmc DDR52)\n";
        assert_eq!(from_ios(ios, MediumKind::Emmc).unwrap().ceiling, Some(52e6));
    }

    #[test]
    fn log_lines_of_old_and_new_kernels_name_the_mode() {
        let sd = |words| mode_of_log(words, MediumKind::Sd);
        let mmc = |words| mode_of_log(words, MediumKind::Emmc);
        assert_eq!(sd("ultra high speed SDR104 SDXC"), Some("SDR104"));
        assert_eq!(sd("UHS-I speed DDR50 SDHC"), Some("DDR50"));
        assert_eq!(sd("high speed SDHC"), Some("High Speed"));
        assert_eq!(sd("SD"), Some("Default Speed"));
        assert_eq!(sd("UHS-II speed SDXC"), None);
        assert_eq!(mmc("HS400 Enhanced strobe MMC"), Some("HS400"));
        assert_eq!(mmc("DDR MMC"), Some("DDR52"));
        assert_eq!(mmc("high speed DDR MMC"), Some("DDR52"));
        assert_eq!(mmc("high speed MMC"), Some("MMC HS"));
    }

    #[test]
    fn an_ios_file_without_a_card_names_no_mode() {
        assert_eq!(from_ios("clock:\t\t0 Hz\ntiming spec:\t0 (invalid)\n", MediumKind::Sd), None);
        assert_eq!(from_ios("", MediumKind::Sd), None);
    }
}
