//! Reads the health of the medium under a path: which sources it has, in what order they are asked, and for how long.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use assay_core::health::{HealthReadings, HealthSource, NoAnswer};
use assay_core::medium::MediumKind;

use super::ask::{Argument, Ask, Disk, Question};
use super::ask::{Parsed, Refusal};
use super::cmd56;
use super::{ata, ext_csd, nvme, sysfs};
use crate::block::Node;
use crate::files;
use crate::files::Sysroot;
use crate::look::TargetInfo;
use crate::medium::{self, card_directory};
use crate::system::SystemAsks;

/// How long all questions to one source may take together.
const LIMIT: Duration = Duration::from_secs(5);

/// Host controllers that hang on CMD56, so that the card vanishes for the system: those of the Raspberry Pi 3 and before
/// (raspberrypi/linux issue 2728, sdmon issue 43).
const HOSTS_THAT_HANG: [&str; 2] = ["sdhost-bcm2835", "mmc-bcm2835"];

/// Bridges that hang on ATA commands, as the kernel lists them (drivers/usb/storage/unusual_uas.h, `US_FL_NO_ATA_1X`; of Seagate
/// all, as uas-detect.h): maker and product, `None` for all of a maker.
const BRIDGES_THAT_HANG: [(u16, Option<u16>); 3] = [(0x0bc2, None), (0x13fd, Some(0x3940)), (0x2109, Some(0x0711))];

/// Reads the health of one medium, again and again. A source that hung once is not asked again.
pub struct HealthReader {
    sysroot: Sysroot,
    target: TargetInfo,
    asks: Arc<dyn Ask>,
    limit: Duration,
    hung: Vec<HealthSource>,
}

impl std::fmt::Debug for HealthReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HealthReader")
            .field("leaves", &self.target.leaves)
            .field("hung", &self.hung)
            .finish_non_exhaustive()
    }
}

impl HealthReader {
    /// Of the medium that was found under a path. A tree of another machine has no devices to be asked.
    #[must_use]
    pub fn new(sysroot: &Sysroot, target: &TargetInfo) -> Self {
        Self::asking(sysroot, target, Arc::new(SystemAsks { is_here: sysroot.is_real() }), LIMIT)
    }

    /// The same with somebody else who asks, and another limit.
    #[must_use]
    pub fn asking(sysroot: &Sysroot, target: &TargetInfo, asks: Arc<dyn Ask>, limit: Duration) -> Self {
        Self { sysroot: sysroot.clone(), target: target.clone(), asks, limit, hung: Vec::new() }
    }

    /// What the medium says now.
    pub fn read(&mut self) -> HealthReadings {
        let mut readings = self.of_file_system();
        readings.add(self.of_medium());
        readings
    }

    fn of_file_system(&self) -> HealthReadings {
        let medium = &self.target.medium;
        let found = medium.filesystem.as_deref().zip(medium.stack.first());
        found.and_then(|(kind, node)| sysfs::file_system(&self.sysroot, kind, &node.name)).unwrap_or_default()
    }

    fn of_medium(&mut self) -> HealthReadings {
        let kind = self.target.medium.kind;
        let none = |why| Refusal::from(why).of(HealthSource::Medium);
        let leaf = match self.target.leaves.as_slice() {
            _ if kind.is_virtual() => {
                return if self.target.leaves.is_empty() { HealthReadings::default() } else { none(NoAnswer::Virtual) };
            }
            [] => return HealthReadings::default(),
            [leaf] => leaf,
            _ => return none(NoAnswer::SeveralDisks),
        };
        let Some(node) = Node::by_name(&self.sysroot, leaf) else { return none(NoAnswer::NotHere) };
        if let Some(readings) = sysfs::ufs(&self.sysroot, &node) {
            return readings;
        }
        match kind {
            MediumKind::Emmc => self.of_emmc(&node),
            MediumKind::Sd => self.of_card(&node),
            MediumKind::Nvme => self.of_nvme(&node),
            MediumKind::SataSsd | MediumKind::SataHdd if is_below_ata(&node) => self.of_ata(&node),
            MediumKind::UsbDisk => self.of_bridge(&node),
            // Readers look like sticks, and of both many hang on commands that they do not know.
            MediumKind::UsbStick => none(NoAnswer::NotNative),
            _ => none(NoAnswer::NotAsked),
        }
    }

    /// The whole register by debugfs or a command, else what every user may see.
    fn of_emmc(&mut self, node: &Node) -> HealthReadings {
        let seen = sysfs::emmc(&self.sysroot, node);
        let digits = sysfs::ext_csd_digits(&self.sysroot, node);
        let whole = match digits.map(|text| ext_csd::from_digits(&text).and_then(|bytes| ext_csd::parse(&bytes))) {
            Some(Ok(parsed)) => Ok(parsed),
            _ => {
                self.parsed(node, HealthSource::ExtCsd, |asks, disk| ext_csd::parse(&asks.ask(disk, Question::ExtCsd)?))
            }
        };
        match (whole, seen) {
            (Ok(parsed), _) => parsed.of(HealthSource::ExtCsd),
            (Err(_), Some(seen)) => seen,
            (Err(refusal), None) => refusal.of(HealthSource::ExtCsd),
        }
    }

    fn of_card(&mut self, node: &Node) -> HealthReadings {
        let source = HealthSource::SdCmd56;
        if medium::card_host_driver(&self.sysroot, node)
            .is_some_and(|driver| HOSTS_THAT_HANG.contains(&driver.as_str()))
        {
            return Refusal::from(NoAnswer::HostHangs).of(source);
        }
        let dir = card_directory(&self.sysroot, node);
        let hex = |name: &str| {
            let text = files::text(&dir.as_ref()?.join(name))?;
            u32::from_str_radix(text.trim_start_matches("0x"), 16).ok()
        };
        let Some(maker) = hex("manfid") else { return Refusal::from(NoAnswer::NoPublicLayout).of(source) };
        let arguments = Argument::of_maker(maker, medium::is_known_sd_maker(maker, hex("oemid")));
        let parsed = self.parsed(node, source, |asks, disk| {
            cmd56::first_usable(arguments, |argument| asks.ask(disk, Question::SdVendor(argument)))
        });
        parsed.map_or_else(|refusal| refusal.of(source), |parsed| parsed.of(source))
    }

    fn of_nvme(&mut self, node: &Node) -> HealthReadings {
        let mut readings = HealthReadings::default();
        let smart = self.parsed(node, HealthSource::NvmeSmartLog, |asks, disk| {
            nvme::parse_smart(&asks.ask(disk, Question::NvmeSmart)?)
        });
        let answered = smart.is_ok();
        readings
            .add(smart.map_or_else(|no| no.of(HealthSource::NvmeSmartLog), |yes| yes.of(HealthSource::NvmeSmartLog)));
        if answered {
            let source = HealthSource::NvmeErrorLog;
            let errors =
                self.parsed(node, source, |asks, disk| nvme::parse_errors(&asks.ask(disk, Question::NvmeErrors)?));
            readings.add(errors.map_or_else(|no| no.of(source), |yes| yes.of(source)));
        }
        readings
    }

    fn of_bridge(&mut self, node: &Node) -> HealthReadings {
        let ids = medium::usb_ids(&self.sysroot, node);
        let hangs = |(maker, product): (u16, u16)| {
            BRIDGES_THAT_HANG.iter().any(|(bad, of)| *bad == maker && of.is_none_or(|of| of == product))
        };
        if ids.is_some_and(hangs) {
            return Refusal::from(NoAnswer::BridgeHangs).of(HealthSource::AtaSmart);
        }
        self.of_ata(node)
    }

    fn of_ata(&mut self, node: &Node) -> HealthReadings {
        let source = HealthSource::AtaSmart;
        let sector = files::number(&node.dir.join("queue/logical_block_size")).unwrap_or(512);
        let parsed = self.parsed(node, source, move |asks, disk| ata_health(asks, disk, sector));
        parsed.map_or_else(|refusal| refusal.of(source), |parsed| parsed.of(source))
    }

    /// Asks in a thread of its own, which is left behind where it hangs: a system call that waits for a hung medium cannot be
    /// broken off.
    fn parsed(
        &mut self,
        node: &Node,
        source: HealthSource,
        work: impl FnOnce(&dyn Ask, &Disk) -> Result<Parsed, Refusal> + Send + 'static,
    ) -> Result<Parsed, Refusal> {
        if self.hung.contains(&source) {
            return Err(NoAnswer::HungBefore.into());
        }
        let Some(number) = node.number() else { return Err(NoAnswer::NotHere.into()) };
        let disk = Disk { path: node.dev_path(), number };
        let asks = Arc::clone(&self.asks);
        let (sender, answer) = channel();
        let begun = std::thread::Builder::new().name("health".to_owned()).spawn(move || {
            let _ = sender.send(work(asks.as_ref(), &disk));
        });
        if let Err(error) = begun {
            return Err(Refusal { why: NoAnswer::Refused, detail: Some(format!("no thread could be made: {error}")) });
        }
        answer.recv_timeout(self.limit).unwrap_or_else(|_| {
            self.hung.push(source);
            Err(NoAnswer::TimedOut.into())
        })
    }
}

/// Statistics first, as they are the same with all makers, then attributes.
fn ata_health(asks: &dyn Ask, disk: &Disk, sector: u64) -> Result<Parsed, Refusal> {
    let abilities = ata::parse_identify(&asks.ask(disk, Question::AtaIdentify)?)?;
    let mut parsed = Parsed::default();
    let mut add = |more: Parsed| {
        for (kind, value) in more.counters {
            if !parsed.counters.iter().any(|(known, _)| *known == kind) {
                parsed.put(kind, value);
            }
        }
        if parsed.raw.is_empty() {
            parsed.raw = more.raw;
        }
    };
    if abilities.logs {
        let pages = asks.ask(disk, Question::AtaStatistics(0)).and_then(|bytes| ata::parse_pages(&bytes));
        let pages = pages.unwrap_or_default();
        for page in ata::PAGES.into_iter().filter(|page| pages.contains(page)) {
            let answer = asks.ask(disk, Question::AtaStatistics(page));
            if let Ok(more) = answer.and_then(|bytes| ata::parse_statistics(page, &bytes, sector)) {
                add(more);
            }
        }
    }
    let thresholds = asks.ask(disk, Question::AtaSmartThresholds).ok();
    let data = asks.ask(disk, Question::AtaSmartData);
    match data.and_then(|data| ata::parse_attributes(&data, thresholds.as_deref())) {
        Ok(more) => add(more),
        Err(refusal) if parsed.counters.is_empty() => return Err(refusal),
        Err(_) => {}
    }
    Ok(parsed)
}

fn is_below_ata(node: &Node) -> bool {
    node.component(|part| crate::block::is_numbered(part, "ata")).is_some()
}

// Trees of Linux have links, and names that Windows does not have.
#[cfg(not(windows))]
#[cfg(test)]
#[path = "reader_tests.rs"]
mod tests;
