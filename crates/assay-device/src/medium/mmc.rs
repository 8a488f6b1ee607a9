//! SD cards and eMMC (kernel Documentation/driver-api/mmc/mmc-dev-attrs.rst): their registers, makers, classes and bus, and
//! whether a card's command queue is in use.
//!
//! Mainline does not queue on SD cards. Raspberry Pi's kernel does since March 2024, on controllers with a queue of their own
//! (raspberrypi/linux pull request 6046); since January 2025 `supports-cqe` of the controller in the device tree is a number: 0
//! is off, 1 is cards on a list, 2 is all cards but those on a second list (pull request 6591). In mainline it has no value.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use assay_core::medium::{Bus, CommandQueue, Medium, MediumKind};
use assay_core::text::label;

use super::bus::{self, Lane, clean, note, of_kind};
use crate::block::{Node, is_numbered};
use crate::files::{self, Sysroot};
use crate::klog;

pub(crate) fn describe_mmc(sysroot: &Sysroot, card: &Card) -> Medium {
    let read = |name: &str| files::text(&card.dir.join(name));
    let hex = |name: &str| u32::from_str_radix(read(name)?.trim_start_matches("0x"), 16).ok();
    let mut facts = of_kind(card.kind);
    facts.model = read("name").and_then(|text| clean(&text));
    let (maker, oem) = (hex("manfid"), hex("oemid"));
    facts.vendor = match card.kind {
        MediumKind::Sd => maker.and_then(|id| sd_maker(id, oem)),
        _ => maker.and_then(emmc_maker),
    }
    .map(str::to_owned);
    // The whole CID identifies a unit; the serial number in it repeats between makers.
    let cid = read("cid").filter(|cid| cid.bytes().all(|b| b.is_ascii_hexdigit()) && cid.bytes().any(|b| b != b'0'));
    facts.unit = cid.or_else(|| read("serial")).and_then(|text| clean(&text));
    if card.kind == MediumKind::Sd {
        facts.claimed_classes = read("ssr").map(|text| claimed_classes(&text)).unwrap_or_default();
    }
    note(&mut facts, "manufactured", read("date"));
    note(&mut facts, "firmware", read("fwrev"));
    note(&mut facts, "manfid", read("manfid"));
    note(&mut facts, "oemid", read("oemid"));
    if card.kind == MediumKind::Emmc
        && let Some(value) = read("cmdq_en").and_then(|text| clean(&text))
    {
        facts.queue.insert("cmdq_en".to_owned(), value);
    }
    facts.bus = Some(mmc_bus(sysroot, card));
    facts
}

// The SD card or eMMC behind a disk.

/// The card under a disk.
pub(crate) struct Card {
    pub(crate) dir: PathBuf,
    /// `mmc0`.
    pub(crate) host: String,
    /// `aaaa`, the relative card address.
    pub(crate) address: String,
    pub(crate) kind: MediumKind,
}

/// The directory `mmc0:aaaa` above the disk, even if the reader is on USB or PCIe.
pub(crate) fn card_of(sysroot: &Sysroot, disk: &Node) -> Option<Card> {
    let dir = disk.ancestor(sysroot, |dir| split_name(dir).is_some())?;
    let (host, address) = split_name(&dir)?;
    let kind = match files::text(&dir.join("type")).as_deref() {
        Some("SD" | "SDcombo") => MediumKind::Sd,
        Some("MMC") => MediumKind::Emmc,
        _ => MediumKind::Unknown,
    };
    Some(Card { dir, host, address, kind })
}

/// The directory of the SD card or eMMC behind a disk.
pub(crate) fn card_directory(sysroot: &Sysroot, disk: &Node) -> Option<PathBuf> {
    card_of(sysroot, disk).map(|card| card.dir)
}

/// The device of the host controller of a card: `…/soc/fe340000.mmc` above `mmc_host/mmc0/mmc0:aaaa`.
pub(crate) fn host_device(card: &Path) -> Option<&Path> {
    card.ancestors().nth(3)
}

/// The driver of the host controller of the card behind a disk.
pub(crate) fn card_host_driver(sysroot: &Sysroot, disk: &Node) -> Option<String> {
    files::link_name(&host_device(&card_directory(sysroot, disk)?)?.join("driver"))
}

/// Whether the maker of an SD card is known by the numbers in its CID.
pub(crate) fn is_known_sd_maker(maker: u32, oem: Option<u32>) -> bool {
    sd_maker(maker, oem).is_some()
}

fn split_name(dir: &Path) -> Option<(String, String)> {
    let name = files::file_name(dir)?;
    let (host, address) = name.split_once(':')?;
    let hex = address.len() == 4 && address.bytes().all(|b| b.is_ascii_hexdigit());
    (is_numbered(host, "mmc") && hex).then(|| (host.to_owned(), address.to_owned()))
}

// Bus mode of an SD card or eMMC, from debugfs or from the kernel log.

/// Most characters of a line of the kernel log that are kept.
const LONGEST_LINE: usize = 300;

pub(crate) fn mmc_bus(sysroot: &Sysroot, card: &Card) -> Bus {
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
    if mode == "UHS-II" {
        return Some(bus::uhs_2());
    }
    let nominal = bus::mmc_nominal(mode);
    // Runtime power management may have stopped the actual clock at the moment.
    let clock = hertz("actual clock").or_else(|| hertz("clock")).or(nominal.map(|(clock, ..)| clock))?;
    let lines = inside("bus width").and_then(|text| text.split(' ').next()?.parse().ok());
    let lines = lines.or(nominal.map(|(_, lines, _)| lines))?;
    Some(bus::mmc(mode, clock, lines, mode.starts_with("DDR") || mode == "HS400"))
}

fn mode_of_timing(timing: &str, kind: MediumKind) -> Option<&'static str> {
    Some(match timing {
        "legacy" if kind == MediumKind::Emmc => "MMC legacy",
        "legacy" => "Default Speed",
        "sd high-speed" => "High Speed",
        other if is_second(other) => "UHS-II",
        "mmc high-speed" => "MMC HS",
        other => word_mode(other)?,
    })
}

/// Whether a text names UHS-II: `UHS-II speed SDXC` in the log (drivers/mmc/core/bus.c), `sd uhs2 speed A` in debugfs.
fn is_second(text: &str) -> bool {
    let text = text.to_lowercase();
    text.contains("uhs-ii") || text.contains("uhs2")
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
    let lane = if mode == "UHS-II" {
        bus::uhs_2()
    } else {
        let (clock, lines, double) = bus::mmc_nominal(mode)?;
        bus::mmc(mode, clock, lines, double)
    };
    Some((lane, what.to_owned()))
}

fn mode_of_log(words: &str, kind: MediumKind) -> Option<&'static str> {
    let emmc = kind == MediumKind::Emmc;
    match word_mode(words) {
        Some(mode) => Some(mode),
        None if is_second(words) => Some("UHS-II"),
        None if words.contains("UHS") || words.contains("ultra") => None,
        None if emmc && words.split(' ').any(|word| word == "DDR") => Some("DDR52"),
        None if words.contains("high speed") => Some(if emmc { "MMC HS" } else { "High Speed" }),
        None => Some(if emmc { "MMC legacy" } else { "Default Speed" }),
    }
}

// Makers by the identification register. The SD Card Association publishes no list. These are the names in the kernel
// (drivers/mmc/core/card.h, quirks.h) and in mmc-utils (lsmmc.c); the kernel's name is used where they differ. If
// several makers share a number, the OEM letters of their cards decide; other letters give no name.

/// Maker number, OEM letters if needed to distinguish makers, name.
const SD_MAKERS: &[(u32, Option<[u8; 2]>, &str)] = &[
    (0x01, None, "Panasonic"),
    (0x02, Some(*b"TM"), "Toshiba"),
    (0x03, None, "SanDisk"),
    (0x1b, Some(*b"SM"), "Samsung"),
    (0x1c, None, "Transcend"),
    (0x1d, Some(*b"AD"), "ADATA"),
    (0x1e, None, "Transcend"),
    (0x27, Some(*b"PH"), "Phison"),
    (0x28, None, "Lexar"),
    (0x31, None, "Silicon Power"),
    (0x41, None, "Kingston"),
    (0x5d, None, "Swissbit"),
    (0x74, None, "Transcend"),
    (0x76, None, "Patriot"),
    (0x9f, None, "Kingston"),
];

const EMMC_MAKERS: &[(u32, &str)] = &[
    (0x02, "SanDisk"),
    (0x11, "Toshiba"),
    (0x13, "Micron"),
    (0x15, "Samsung"),
    (0x37, "KingMax"),
    (0x44, "ATP"),
    (0x45, "SanDisk"),
    (0x70, "Kingston"),
    (0x90, "SK hynix"),
    (0xfe, "Micron"),
];

pub(crate) fn sd_maker(maker: u32, oem: Option<u32>) -> Option<&'static str> {
    let letters = oem.map(|oem| [(oem >> 8) as u8, oem as u8]);
    SD_MAKERS
        .iter()
        .find(|(id, wanted, _)| *id == maker && wanted.is_none_or(|wanted| letters == Some(wanted)))
        .map(|(_, _, name)| *name)
}

pub(crate) fn emmc_maker(maker: u32) -> Option<&'static str> {
    EMMC_MAKERS.iter().find(|(id, _)| *id == maker).map(|(_, name)| *name)
}

// Classes that an SD card claims in its SD Status register (SD Physical Layer Simplified
// Specification 4.10.2): 512 bits, which the kernel prints as hex, most significant bit first
// (drivers/mmc/core/sd.c, `ssr`), so bit 511 is the first of byte 0.

/// SPEED_CLASS, bits 447:440.
const SPEED_CLASS: usize = 8;
/// UHS_SPEED_GRADE, bits 399:396.
const UHS_GRADE: usize = 14;
/// VIDEO_SPEED_CLASS, bits 391:384.
const VIDEO_CLASS: usize = 15;
/// APP_PERF_CLASS, bits 339:336.
const APP_CLASS: usize = 21;

/// `["C10", "U3", "V30", "A2"]`; empty if the text is no register.
pub(crate) fn claimed_classes(hex: &str) -> Vec<String> {
    let byte = |index: usize| hex.get(index * 2..index * 2 + 2).and_then(|text| u8::from_str_radix(text, 16).ok());
    let mut classes = Vec::new();
    if hex.len() > 128 || !hex.bytes().all(|b| b.is_ascii_hexdigit()) {
        return classes;
    }
    match byte(SPEED_CLASS) {
        Some(1) => classes.push("C2".to_owned()),
        Some(2) => classes.push("C4".to_owned()),
        Some(3) => classes.push("C6".to_owned()),
        Some(4) => classes.push("C10".to_owned()),
        _ => {}
    }
    if let Some(grade @ (1 | 3)) = byte(UHS_GRADE).map(|byte| byte >> 4) {
        classes.push(format!("U{grade}"));
    }
    if let Some(class @ (6 | 10 | 30 | 60 | 90)) = byte(VIDEO_CLASS) {
        classes.push(format!("V{class}"));
    }
    if let Some(class @ (1 | 2)) = byte(APP_CLASS).map(|byte| byte & 0x0f) {
        classes.push(format!("A{class}"));
    }
    classes
}

pub(super) fn of_card(sysroot: &Sysroot, card: &Card, is_a2: bool) -> CommandQueue {
    let shown = files::text(&card.dir.join("cmdq_en"));
    if shown.as_deref() == Some("1") {
        return CommandQueue::On;
    }
    if !is_a2 {
        return CommandQueue::CardHasNone;
    }
    let Some(host) = host_device(&card.dir).filter(|dir| dir.exists()) else { return CommandQueue::Unknown };
    let said_on = || shown.is_none() && log_says_on(sysroot, card);
    match supports(&host.join("of_node")) {
        Supports::No => CommandQueue::HostHasNone,
        Supports::Setting(0) => CommandQueue::SwitchedOff,
        _ if said_on() => CommandQueue::On,
        Supports::Setting(1) => CommandQueue::CardNotListed,
        Supports::Setting(_) => CommandQueue::Unknown,
        // Without a device tree, as in PCs, it is mainline or a kernel near to it.
        Supports::Upstream | Supports::NoTree => CommandQueue::KernelHasNone,
    }
}

/// What the device tree says of the controller.
enum Supports {
    /// It has no queue, or is not used with it.
    No,
    /// It has one; the property has no value.
    Upstream,
    /// The setting of Raspberry Pi's kernel.
    Setting(u32),
    /// There is no device tree.
    NoTree,
}

fn supports(node: &Path) -> Supports {
    if !node.is_dir() {
        return Supports::NoTree;
    }
    let path = node.join("supports-cqe");
    // A cell of a device tree has its highest byte first.
    match path.exists().then(|| files::bytes(&path).unwrap_or_default()) {
        None => Supports::No,
        Some(value) => match value.first_chunk::<4>() {
            Some(cell) => Supports::Setting(u32::from_be_bytes(*cell)),
            None => Supports::Upstream,
        },
    }
}

/// Whether the driver says so after the last card was taken out: `mmc0: Command Queue Engine enabled, 31 tags`, `mmc0: card
/// aaaa removed`.
fn log_says_on(sysroot: &Sysroot, card: &Card) -> bool {
    let on = format!("{}: Command Queue Engine enabled", card.host);
    let begin = format!("{}: card ", card.host);
    let is_either = |line: &str| line.contains(&on) || line.contains(&begin) && line.trim_end().ends_with(" removed");
    klog::last_line(sysroot, is_either).is_some_and(|line| line.contains(&on))
}

#[cfg(not(windows))]
#[cfg(test)]
mod tests {
    use super::*;
    use assay_core::medium::MediumKind;

    #[test]
    fn the_stopped_clock_of_an_idle_card_does_not_make_its_ceiling_zero() {
        let ios =
            "clock:\t\t208000000 Hz\nactual clock:\t0 Hz\nbus width:\t2 (4 bits)\ntiming spec:\t6 (sd uhs SDR104)\n";
        let lane = from_ios(ios, MediumKind::Sd).unwrap();
        assert_eq!((lane.mode.as_str(), lane.ceiling), ("SDR104", Some(104e6)));
    }

    #[test]
    fn uhs_2_has_the_ceiling_of_its_fastest_mode() {
        let ios = "clock:\t\t52000000 Hz\nbus width:\t2 (4 bits)\ntiming spec:\t12 (sd uhs2 speed B)\n";
        let lane = from_ios(ios, MediumKind::Sd).unwrap();
        assert_eq!((lane.mode.as_str(), lane.ceiling, lane.reachable), ("UHS-II", Some(312e6), None));
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
        assert_eq!(sd("UHS-II speed SDXC"), Some("UHS-II"));
        assert_eq!(sd("UHS-9 speed SDXC"), None);
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

    #[test]
    fn shared_numbers_need_the_oem_letters() {
        assert_eq!(sd_maker(0x03, Some(0x5344)), Some("SanDisk"));
        assert_eq!(sd_maker(0x1b, Some(0x534d)), Some("Samsung"));
        assert_eq!(sd_maker(0x1b, Some(0x3030)), None);
        assert_eq!(sd_maker(0x02, None), None);
        assert_eq!(sd_maker(0x99, Some(0x5344)), None);
        assert_eq!(emmc_maker(0x15), Some("Samsung"));
    }

    #[test]
    fn a_real_register_is_read() {
        // SanDisk SC16G (Ultra A1) as udevadm showed it on a BeagleBone; one digit was lost at the end.
        let ultra = "0000000004000000040090000f051a00000000000001000000000000000000000000000000000000\
                     00000000000000000000000000000000000000000000000";
        assert_eq!(claimed_classes(ultra), ["C10", "U1", "A1"]);
    }

    #[test]
    fn every_class_is_found_at_its_place() {
        let mut register = [0u8; 64];
        register[8] = 4;
        register[14] = 0x3a;
        register[15] = 30;
        register[21] = 0x02;
        let hex: String = register.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(claimed_classes(&hex), ["C10", "U3", "V30", "A2"]);
    }

    #[test]
    fn nonsense_claims_nothing() {
        assert!(claimed_classes("").is_empty());
        assert!(claimed_classes("04").is_empty());
        assert!(claimed_classes(&"f".repeat(128)).is_empty());
        assert!(claimed_classes("0000000000000000é4").is_empty());
    }

    /// A card below a controller, with this property and these lines in the log.
    fn queue(property: Option<&[u8]>, tree: bool, cmdq: Option<&str>, log: &str, is_a2: bool) -> CommandQueue {
        let root = tempfile::tempdir().unwrap();
        let host = root.path().join("sys/devices/platform/soc/1000fff000.mmc");
        let dir = host.join("mmc_host/mmc0/mmc0:aaaa");
        std::fs::create_dir_all(&dir).unwrap();
        if tree {
            std::fs::create_dir_all(host.join("of_node")).unwrap();
        }
        if let Some(bytes) = property {
            std::fs::write(host.join("of_node/supports-cqe"), bytes).unwrap();
        }
        if let Some(text) = cmdq {
            std::fs::write(dir.join("cmdq_en"), text).unwrap();
        }
        let logs = root.path().join("var/log");
        std::fs::create_dir_all(&logs).unwrap();
        std::fs::write(logs.join("kern.log"), log).unwrap();
        let card = Card { dir, host: "mmc0".to_owned(), address: "aaaa".to_owned(), kind: MediumKind::Sd };
        of_card(&Sysroot::at(root.path()), &card, is_a2)
    }

    #[test]
    fn each_part_that_lacks_a_queue_is_named() {
        let on = "mmc0: Command Queue Engine enabled, 31 tags\n";
        let removed = format!("{on}mmc0: card 59b4 removed\n");
        for (property, tree, cmdq, log, wanted) in [
            (None, true, None, "", CommandQueue::HostHasNone),
            (Some(&[][..]), true, None, "", CommandQueue::KernelHasNone),
            (Some(&[0, 0, 0, 0]), true, None, "", CommandQueue::SwitchedOff),
            (Some(&[0, 0, 0, 1]), true, None, "", CommandQueue::CardNotListed),
            (Some(&[0, 0, 0, 2]), true, None, "", CommandQueue::Unknown),
            (Some(&[0, 0, 0, 1]), true, None, on, CommandQueue::On),
            (Some(&[0, 0, 0, 1]), true, Some("1\n"), "", CommandQueue::On),
            (Some(&[0, 0, 0, 1]), true, Some("0\n"), on, CommandQueue::CardNotListed),
            (Some(&[0, 0, 0, 0]), true, None, on, CommandQueue::SwitchedOff),
            (Some(&[0, 0, 0, 1]), true, None, &removed, CommandQueue::CardNotListed),
            (Some(&[0, 0, 0, 1]), true, None, "mmc1: Command Queue Engine enabled\n", CommandQueue::CardNotListed),
            (None, false, None, "", CommandQueue::KernelHasNone),
        ] {
            let found = queue(property, tree, cmdq, log, true);
            assert_eq!(found, wanted, "{property:?} {tree} {cmdq:?} {log:?}");
        }
        assert_eq!(queue(Some(&[0, 0, 0, 1]), true, None, "", false), CommandQueue::CardHasNone);
    }
}
