//! What each bus carries, and how much of it payload usually reaches, with the sources; and the network as a bus.

use std::net::{IpAddr, Ipv4Addr};

use assay_core::medium::{Bus, Medium, MediumKind};
use assay_core::text::{harmless, label};

use crate::files;
use crate::files::Sysroot;

/// 10^6 bytes.
const MB: f64 = 1e6;

/// A mode with its limits.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Lane {
    pub(crate) mode: String,
    pub(crate) ceiling: Option<f64>,
    pub(crate) reachable: Option<f64>,
}

impl Lane {
    fn new(mode: impl Into<String>, ceiling: f64, reachable: f64) -> Self {
        Self { mode: mode.into(), ceiling: Some(ceiling), reachable: Some(reachable) }
    }

    pub(crate) fn unknown(mode: impl Into<String>) -> Self {
        Self { mode: mode.into(), ceiling: None, reachable: None }
    }

    pub(crate) fn into_bus(self, kind: &str, driver: Option<String>, source: String) -> Bus {
        Bus {
            kind: kind.to_owned(),
            mode: self.mode,
            ceiling_bytes_per_second: self.ceiling,
            reachable_bytes_per_second: self.reachable,
            driver,
            source,
        }
    }
}

/// SD and eMMC: 23 MB/s of the 25 of SDR25, as cluster owners measured it; other modes reach 85 to
/// 95 % of theirs.
const MMC_REACHABLE: f64 = 0.92;

/// SD Physical Layer Simplified Specification, "Bus Speed Modes"; JESD84-B51, "Bus Speed Modes":
/// clock × data lines × edges ÷ 8.
pub(crate) fn mmc(mode: &str, clock_hz: u64, lines: u32, double_rate: bool) -> Lane {
    let edges = if double_rate { 2.0 } else { 1.0 };
    let ceiling = clock_hz as f64 * f64::from(lines) * edges / 8.0;
    Lane::new(mode, ceiling, ceiling * MMC_REACHABLE)
}

/// UHS-II: 312 MB/s half duplex, 156 MB/s full duplex (SD Physical Layer Simplified Specification, "Bus Speed Modes": HD312,
/// FD156). The kernel does not say which of them, so the ceiling is that of the faster one.
pub(crate) fn uhs_2() -> Lane {
    Lane { mode: "UHS-II".to_owned(), ceiling: Some(312.0 * MB), reachable: None }
}

/// Highest clock, data lines and double rate of a mode that is only known by name. eMMC may be wired with fewer than 8
/// lines, which the kernel log does not report.
pub(crate) fn mmc_nominal(mode: &str) -> Option<(u64, u32, bool)> {
    Some(match mode {
        "Default Speed" | "SDR12" => (25_000_000, 4, false),
        "High Speed" | "SDR25" => (50_000_000, 4, false),
        "SDR50" => (100_000_000, 4, false),
        "DDR50" => (50_000_000, 4, true),
        "SDR104" => (208_000_000, 4, false),
        "MMC legacy" => (26_000_000, 8, false),
        "MMC HS" => (52_000_000, 8, false),
        "DDR52" => (52_000_000, 8, true),
        "HS200" => (200_000_000, 8, false),
        "HS400" => (200_000_000, 8, true),
        _ => return None,
    })
}

/// USB by signalling rate in Mbit/s (kernel Documentation/ABI/stable/sysfs-bus-usb, `speed`).
///
/// 12: USB 2.0 table 5-9, 19 × 64 bytes a frame. 480: table 5-10, 13 × 512 bytes a microframe;
/// disks reach 30 to 42 MB/s. 5000: 8b/10b; 400 to 460 MB/s with UAS, less with one command at a
/// time. 10000 and 20000: 128b/132b; 900 to 1100 and about 2000 MB/s.
pub(crate) fn usb(mbit: &str, uas: bool) -> Lane {
    let pick = |with, without| if uas { with } else { without };
    match mbit {
        "1.5" => Lane::unknown("USB low speed"),
        "12" => Lane::new("USB 1.1", 1.216 * MB, 1.0 * MB),
        "480" => Lane::new("USB 2.0", 53.248 * MB, 40.0 * MB),
        "5000" => Lane::new("USB 5 Gbit/s", 500.0 * MB, pick(440.0, 400.0) * MB),
        "10000" => Lane::new("USB 10 Gbit/s", 1212.0 * MB, pick(1000.0, 900.0) * MB),
        "20000" => Lane::new("USB 20 Gbit/s", 2424.0 * MB, pick(2000.0, 1800.0) * MB),
        other => Lane::unknown(format!("USB {other} Mbit/s")),
    }
}

/// SATA: 8b/10b leaves a tenth of the line rate in bytes; frames leave 93 % of that (about 560 MB/s at 6 Gbit/s, as
/// specified for drives).
pub(crate) fn sata(gbit: f64) -> Lane {
    let ceiling = gbit * 1e9 / 10.0;
    let rate = if gbit.fract() == 0.0 { format!("{gbit:.0}") } else { format!("{gbit}") };
    Lane::new(format!("SATA {rate} Gbit/s"), ceiling, ceiling * 0.93)
}

/// PCIe by transfers a second and lanes (PCI Express Base Specification, "Encoding"): 8b/10b up to
/// 5 GT/s, 128b/130b from 8 GT/s on. Packets of 128 to 256 bytes leave 86 and 90 %: 430 MB/s of
/// PCIe 2.0 x1, 850 to 900 MB/s of PCIe 3.0 x1.
pub(crate) fn pcie(gigatransfers: f64, lanes: u32) -> Lane {
    let (generation, coding, payload) = match gigatransfers {
        g if g <= 2.5 => ("1.0", 0.8, 0.86),
        g if g <= 5.0 => ("2.0", 0.8, 0.86),
        g if g <= 8.0 => ("3.0", 128.0 / 130.0, 0.90),
        g if g <= 16.0 => ("4.0", 128.0 / 130.0, 0.90),
        g if g <= 32.0 => ("5.0", 128.0 / 130.0, 0.90),
        // 64 GT/s carries 242 of 256 bytes of each flit.
        _ => ("6.0", 242.0 / 256.0, 0.90),
    };
    let ceiling = gigatransfers * 1e9 * coding / 8.0 * f64::from(lanes);
    Lane::new(format!("PCIe {generation} x{lanes}"), ceiling, ceiling * payload)
}

/// Ethernet by Mbit/s: 1448 bytes of TCP payload in 1538 on the wire (IEEE 802.3 framing, RFC 7323
/// time stamps) leave 94 %: 117 MB/s of 1 Gbit/s.
pub(crate) fn ethernet(mbit: f64) -> Lane {
    let ceiling = mbit * 1e6 / 8.0;
    let mode = if mbit >= 1000.0 { format!("{} Gbit/s", mbit / 1000.0) } else { format!("{mbit} Mbit/s") };
    Lane::new(format!("network {mode}"), ceiling, ceiling * 1448.0 / 1538.0)
}

// The network as a bus: the interface that reaches a server, and its speed.

/// The bus towards `server`. `None` if the server is this machine.
pub(crate) fn bus_towards(sysroot: &Sysroot, server: Option<IpAddr>, driver: &str) -> Option<Bus> {
    if server.is_some_and(|server| server.is_loopback()) {
        return None;
    }
    let driver = Some(driver.to_owned());
    let Some((name, how)) = interface(sysroot, server) else {
        let source = "no network interface could be told from the routes".to_owned();
        return Some(Lane::unknown("network").into_bus("network", driver, source));
    };
    let shown = format!("/sys/class/net/{}/speed", harmless(&name));
    let speed = files::text(&sysroot.path("/sys/class/net").join(&name).join("speed"));
    // -1 and an error mean unknown (kernel Documentation/ABI/testing/sysfs-class-net).
    let bus = match speed.and_then(|text| text.parse::<f64>().ok()).filter(|mbit| *mbit > 0.0) {
        Some(mbit) => ethernet(mbit).into_bus("network", driver, format!("{shown}, {how}")),
        None => Lane::unknown("network").into_bus("network", driver, format!("{shown} tells no rate; {how}")),
    };
    Some(bus)
}

fn interface(sysroot: &Sysroot, server: Option<IpAddr>) -> Option<(String, String)> {
    if let Some(IpAddr::V4(address)) = server
        && let Some(name) = routed(sysroot, address)
    {
        return Some((name, format!("the route to {address}")));
    }
    if let Some(name) = routed(sysroot, Ipv4Addr::UNSPECIFIED) {
        return Some((name, "guessed from the default route".to_owned()));
    }
    let class = sysroot.path("/sys/class/net");
    let up = |name: &String| {
        name != "lo"
            && class.join(name).join("device").exists()
            && files::text(&class.join(name).join("operstate")).as_deref() == Some("up")
    };
    let mut names = files::entries(&class).into_iter().filter(up);
    match (names.next(), names.next()) {
        (Some(name), None) => Some((name, "guessed: the only interface that is up".to_owned())),
        _ => None,
    }
}

/// The interface of the longest matching line of `/proc/net/route`. Destination and mask are hexadecimal numbers in the
/// machine's byte order (net/ipv4/fib_trie.c).
fn routed(sysroot: &Sysroot, address: Ipv4Addr) -> Option<String> {
    let text = files::text(&sysroot.path("/proc/net/route"))?;
    let line = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let hex = |index: usize| u32::from_str_radix(fields.get(index)?, 16).ok();
        let (destination, mask, name) = (hex(1)?, hex(7)?, *fields.first()?);
        let wanted = u32::from_ne_bytes(address.octets());
        (name != "lo" && wanted & mask == destination).then(|| (mask.count_ones(), name.to_owned()))
    };
    text.lines().skip(1).filter_map(line).max_by_key(|(length, _)| *length).map(|(_, name)| name)
}

/// A queue in shared memory has no wire, and so no ceiling.
pub(crate) fn paravirtual(mode: &str) -> Bus {
    let source = "the driver; a paravirtual queue has no ceiling of its own".to_owned();
    Lane::unknown(mode).into_bus("virtio", None, source)
}

// What a disk and the kernel report about it, as a [`Medium`] without a path; makers by the names of models.

/// Longest name that is kept. The longest that a standard allows is an iSCSI name with 223 (RFC 7143, 4.2.7).
const LONGEST: usize = 223;

/// A disk with only its kind known.
pub(crate) fn of_kind(kind: MediumKind) -> Medium {
    Medium { kind, ..Medium::default() }
}

/// Stores a health value if there is one.
pub(crate) fn note(medium: &mut Medium, name: &str, value: Option<String>) {
    if let Some(value) = value.and_then(|value| clean(&value)) {
        medium.health.insert(name.to_owned(), value);
    }
}

/// A name from a device, made harmless; `None` if it is empty.
pub(crate) fn clean(text: &str) -> Option<String> {
    label(text, LONGEST)
}

// Makers of SATA and NVMe drives, which have no vendor field, by the beginning of their model names.

/// Beginning of the model name, maker.
const MAKERS: &[(&str, &str)] = &[
    ("samsung", "Samsung"),
    ("wdc", "WDC"),
    ("wd_black", "WDC"),
    ("wd ", "WDC"),
    ("kingston", "KINGSTON"),
    ("sandisk", "SanDisk"),
    ("intel", "INTEL"),
    ("toshiba", "TOSHIBA"),
    ("kioxia", "KIOXIA"),
    ("hgst", "HGST"),
    ("hitachi", "Hitachi"),
    ("crucial", "Crucial"),
    ("micron", "Micron"),
    ("adata", "ADATA"),
    ("transcend", "Transcend"),
    ("corsair", "Corsair"),
    ("seagate", "Seagate"),
    ("sk hynix", "SK hynix"),
    ("skhynix", "SK hynix"),
    ("patriot", "Patriot"),
    ("lexar", "Lexar"),
    ("qemu", "QEMU"),
];

pub(crate) fn maker_of_model(model: &str) -> Option<&'static str> {
    let lower = model.to_lowercase();
    if let Some((_, name)) = MAKERS.iter().find(|(word, _)| lower.starts_with(word)) {
        return Some(name);
    }
    // Seagate ST4000VN008, Crucial CT500MX500SSD1, Western Digital WD40EFRX: letters, then a size.
    let code =
        |letters: &str| lower.strip_prefix(letters).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    match () {
        () if code("st") => Some("Seagate"),
        () if code("ct") => Some("Crucial"),
        () if code("wd") => Some("WDC"),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(lane: &Lane, mode: &str, ceiling: f64) {
        assert_eq!(lane.mode, mode);
        let got = lane.ceiling.unwrap();
        assert!((got - ceiling).abs() < ceiling * 1e-3, "{mode}: {got}");
        assert!(lane.reachable.unwrap() < got);
    }

    #[test]
    fn ceilings_are_those_of_the_specifications() {
        close(&mmc("SDR25", 50_000_000, 4, false), "SDR25", 25e6);
        close(&mmc("DDR50", 50_000_000, 4, true), "DDR50", 50e6);
        close(&mmc("HS400", 200_000_000, 8, true), "HS400", 400e6);
        close(&usb("480", false), "USB 2.0", 53.248e6);
        close(&sata(6.0), "SATA 6 Gbit/s", 600e6);
        close(&sata(1.5), "SATA 1.5 Gbit/s", 150e6);
        close(&pcie(5.0, 1), "PCIe 2.0 x1", 500e6);
        close(&pcie(8.0, 1), "PCIe 3.0 x1", 984.6e6);
        close(&pcie(16.0, 4), "PCIe 4.0 x4", 7877e6);
        close(&ethernet(1000.0), "network 1 Gbit/s", 125e6);
        close(&ethernet(2500.0), "network 2.5 Gbit/s", 312.5e6);
    }

    #[test]
    fn every_named_mode_has_its_nominal_rate() {
        let rate = |mode| mmc_nominal(mode).map(|(c, l, d)| mmc(mode, c, l, d).ceiling.unwrap() / 1e6);
        // MB/s: SD Physical Layer Simplified Specification 3.9, table 3-3; JESD84-B51, table 4.
        for (mode, rated) in [
            ("Default Speed", 12.5),
            ("SDR12", 12.5),
            ("High Speed", 25.0),
            ("SDR25", 25.0),
            ("SDR50", 50.0),
            ("DDR50", 50.0),
            ("SDR104", 104.0),
            ("MMC legacy", 26.0),
            ("MMC HS", 52.0),
            ("DDR52", 104.0),
            ("HS200", 200.0),
            ("HS400", 400.0),
        ] {
            assert_eq!(rate(mode), Some(rated), "{mode}");
        }
        assert_eq!(rate("nonsense"), None);
    }

    #[test]
    fn makers_are_known_by_their_models() {
        assert_eq!(maker_of_model("Samsung SSD 860 EVO 500GB"), Some("Samsung"));
        assert_eq!(maker_of_model("ST4000VN008-2DR166"), Some("Seagate"));
        assert_eq!(maker_of_model("CT500MX500SSD1"), Some("Crucial"));
        assert_eq!(maker_of_model("STRANGE"), None);
        assert_eq!(maker_of_model(""), None);
    }
}
