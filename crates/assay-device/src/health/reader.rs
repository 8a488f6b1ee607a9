//! Reads the health of the medium under a path: which sources it has, in what order they are asked, and for how long. The
//! kernel's trees show some of it to every user, without a command to the medium.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use assay_core::health::{CounterKind, HealthReadings, HealthSource, NoAnswer};
use assay_core::medium::MediumKind;

use super::ask::{Argument, Ask, Disk, Parsed, Question, Refusal};
use super::{ata, cmd56, ext_csd, nvme};
use crate::block::Node;
use crate::files::{self, Sysroot};
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
        found.and_then(|(kind, node)| file_system(&self.sysroot, kind, &node.name)).unwrap_or_default()
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
        if let Some(readings) = ufs(&self.sysroot, &node) {
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
        let seen = emmc(&self.sysroot, node);
        let digits = ext_csd_digits(&self.sysroot, node);
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

/// A number in a file, in hexadecimal digits or decimal ones.
fn number(text: &str) -> Option<u8> {
    match text.strip_prefix("0x") {
        Some(digits) => u8::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// `life_time` (`0x01 0x02`) and `pre_eol_info` of an eMMC (kernel Documentation/driver-api/mmc/mmc-dev-attrs.rst).
pub(super) fn emmc(sysroot: &Sysroot, disk: &Node) -> Option<HealthReadings> {
    let dir = card_directory(sysroot, disk)?;
    let life = files::text(&dir.join("life_time")).unwrap_or_default();
    let mut life = life.split_whitespace().map(|text| number(text).unwrap_or(0));
    let (a, b) = (life.next().unwrap_or(0), life.next().unwrap_or(0));
    let pre_end = files::text(&dir.join("pre_eol_info")).and_then(|text| number(&text)).unwrap_or(0);
    let parsed = ext_csd::life(a, b, pre_end);
    (!parsed.counters.is_empty()).then(|| parsed.of(HealthSource::ExtCsd))
}

/// The same register whole, as debugfs shows it to root.
pub(super) fn ext_csd_digits(sysroot: &Sysroot, disk: &Node) -> Option<String> {
    let dir = card_directory(sysroot, disk)?;
    let card = files::file_name(&dir)?;
    let host = card.split(':').next()?;
    files::text(&sysroot.path("/sys/kernel/debug").join(host).join(&card).join("ext_csd"))
}

/// `eol_info`, `life_time_estimation_a` and `_b` of a UFS device (kernel Documentation/ABI/testing/sysfs-driver-ufs).
pub(super) fn ufs(sysroot: &Sysroot, disk: &Node) -> Option<HealthReadings> {
    let dir = disk.ancestor(sysroot, |dir| dir.join("health_descriptor").is_dir())?.join("health_descriptor");
    let value = |name: &str| files::text(&dir.join(name)).and_then(|text| number(&text)).unwrap_or(0);
    let parsed = ext_csd::life(value("life_time_estimation_a"), value("life_time_estimation_b"), value("eol_info"));
    Some(parsed.of(HealthSource::UfsDescriptor))
}

/// Bytes that ext4 and f2fs wrote since they were made (kernel Documentation/ABI/testing/sysfs-fs-ext4 and sysfs-fs-f2fs,
/// `lifetime_write_kbytes`), by the name of the device that is mounted.
pub(super) fn file_system(sysroot: &Sysroot, kind: &str, device: &str) -> Option<HealthReadings> {
    if !matches!(kind, "ext4" | "f2fs") {
        return None;
    }
    let path = sysroot.path("/sys/fs").join(kind).join(device).join("lifetime_write_kbytes");
    let mut parsed = Parsed::default();
    parsed.put(CounterKind::FileSystemWrittenBytes, files::number(&path)?.saturating_mul(1024));
    Some(parsed.of(HealthSource::FileSystem))
}

// Trees of Linux have links, and names that Windows does not have.
#[cfg(not(windows))]
#[cfg(test)]
mod tests {
    //! Media that answer, that refuse, and that hang.

    use std::sync::Mutex;
    use std::sync::mpsc::{Receiver, Sender};

    use super::*;
    use crate::look::{Seen, What, look_by_dev};
    use assay_core::health::CounterKind;

    /// A tree with one disk of number 8:0, in `dir`, with these files; links are `name -> target`.
    fn tree(disk: &str, dir: &str, files: &[(&str, &str)]) -> (tempfile::TempDir, Sysroot) {
        let root = tempfile::tempdir().unwrap();
        let block = root.path().join(dir);
        std::fs::create_dir_all(&block).unwrap();
        for (name, text) in [("dev", "8:0\n"), ("size", "1000\n")] {
            std::fs::write(block.join(name), text).unwrap();
        }
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            match text.strip_prefix("-> ") {
                Some(target) => std::os::unix::fs::symlink(target, path).unwrap(),
                None => std::fs::write(path, text).unwrap(),
            }
        }
        for (class, name) in [("sys/dev/block", "8:0"), ("sys/class/block", disk)] {
            let class = root.path().join(class);
            std::fs::create_dir_all(&class).unwrap();
            std::os::unix::fs::symlink(&block, class.join(name)).unwrap();
        }
        let sysroot = Sysroot::at(root.path());
        (root, sysroot)
    }

    fn target(sysroot: &Sysroot) -> TargetInfo {
        look_by_dev(sysroot, std::path::Path::new("/dev/disk"), Seen { what: What::BlockDevice, dev: (8, 0) })
    }

    type Answers = Box<dyn Fn(Question) -> Result<Vec<u8>, Refusal> + Send + Sync>;

    /// Somebody who answers, and notes what was asked.
    struct Told {
        answer: Answers,
        asked: Mutex<Vec<Question>>,
    }

    impl Told {
        fn new(answer: impl Fn(Question) -> Result<Vec<u8>, Refusal> + Send + Sync + 'static) -> Arc<Self> {
            Arc::new(Self { answer: Box::new(answer), asked: Mutex::default() })
        }
    }

    impl Ask for Told {
        fn ask(&self, disk: &Disk, question: Question) -> Result<Vec<u8>, Refusal> {
            assert_eq!(disk.number, (8, 0));
            self.asked.lock().unwrap().push(question);
            (self.answer)(question)
        }
    }

    const AMPLE: Duration = Duration::from_secs(60);

    fn why(readings: &HealthReadings) -> Vec<(HealthSource, NoAnswer)> {
        readings.unread.iter().map(|unread| (unread.source, unread.why)).collect()
    }

    const CARD: &str = "sys/devices/platform/soc/mmc_host/mmc0/mmc0:aaaa";

    fn card(files: &[(&str, &str)]) -> (tempfile::TempDir, Sysroot) {
        let own = [("type", "SD"), ("name", "SD64G"), ("manfid", "0x000003"), ("oemid", "0x5344")];
        let own: Vec<(String, &str)> = own.iter().map(|(name, text)| (format!("{CARD}/{name}"), *text)).collect();
        let all = own
            .iter()
            .map(|(name, text)| (name.as_str(), *text))
            .filter(|(name, _)| !files.iter().any(|(n, _)| n == name));
        let all: Vec<(&str, &str)> = all.chain(files.iter().copied()).collect();
        tree("mmcblk0", &format!("{CARD}/block/mmcblk0"), &all)
    }

    #[test]
    fn a_card_that_answers_is_read_before_and_after() {
        let (_root, sysroot) = card(&[]);
        let used = Arc::new(Mutex::new(0x05u8));
        let now = Arc::clone(&used);
        let told = Told::new(move |_| {
            let mut block = vec![0u8; 512];
            block[..2].copy_from_slice(b"DS");
            block[8] = *now.lock().unwrap();
            Ok(block)
        });
        let mut reader = HealthReader::asking(&sysroot, &target(&sysroot), told.clone(), AMPLE);
        let mut readings = reader.read();
        *used.lock().unwrap() = 0x07;
        readings.finish(reader.read());
        let counter = readings.counters.iter().find(|counter| counter.kind == CounterKind::PercentageUsed).unwrap();
        assert_eq!((counter.moved(), readings.failing().count()), (Some((4, 6)), 0));
        assert_eq!(readings.raw.len(), 1);
        assert_eq!(*told.asked.lock().unwrap(), [Question::SdVendor(Argument::First); 2]);
    }

    #[test]
    fn a_card_that_answers_with_nothing_says_why() {
        for (answer, wanted) in [
            (Ok(vec![0xff; 512]), NoAnswer::AllOnes),
            (Ok(vec![0x00; 512]), NoAnswer::AllZeros),
            (Ok(vec![b'D'; 100]), NoAnswer::Short),
            (Ok(vec![0x13; 512]), NoAnswer::Inconsistent),
            (Err(Refusal::from(NoAnswer::NeedsRoot)), NoAnswer::NeedsRoot),
        ] {
            let (_root, sysroot) = card(&[]);
            let told = Told::new(move |_| answer.clone());
            let readings = HealthReader::asking(&sysroot, &target(&sysroot), told, AMPLE).read();
            assert_eq!(why(&readings), [(HealthSource::SdCmd56, wanted)]);
            assert!(readings.counters.is_empty() && readings.raw.is_empty());
        }
    }

    #[test]
    fn a_card_without_a_layout_and_a_host_that_hangs_are_not_asked() {
        let never = || Told::new(|question| panic!("asked {question:?}"));
        let samsung: &[(&str, &str)] = &[(&format!("{CARD}/manfid"), "0x00001b"), (&format!("{CARD}/oemid"), "0x534d")];
        let (_root, sysroot) = card(samsung);
        let readings = HealthReader::asking(&sysroot, &target(&sysroot), never(), AMPLE).read();
        assert_eq!(why(&readings), [(HealthSource::SdCmd56, NoAnswer::NoPublicLayout)]);
        let (_root, sysroot) =
            card(&[("sys/devices/platform/soc/driver", "-> ../../bus/platform/drivers/sdhost-bcm2835")]);
        let readings = HealthReader::asking(&sysroot, &target(&sysroot), never(), AMPLE).read();
        assert_eq!(why(&readings), [(HealthSource::SdCmd56, NoAnswer::HostHangs)]);
    }

    /// Somebody who waits for good, as a system call for a hung medium does.
    struct Hangs {
        begun: Mutex<Sender<()>>,
        end: Mutex<Receiver<()>>,
    }

    impl Ask for Hangs {
        fn ask(&self, _: &Disk, _: Question) -> Result<Vec<u8>, Refusal> {
            self.begun.lock().unwrap().send(()).unwrap();
            let _ = self.end.lock().unwrap().recv();
            Ok(vec![0x41; 512])
        }
    }

    #[test]
    fn a_medium_that_hangs_is_left_behind_and_not_asked_again() {
        let (_root, sysroot) = tree("nvme0n1", "sys/devices/pci0/nvme/nvme0/nvme0n1", &[]);
        let ((begun, has_begun), (end, ends)) = (channel(), channel());
        let hangs = Arc::new(Hangs { begun: Mutex::new(begun), end: Mutex::new(ends) });
        let mut reader = HealthReader::asking(&sysroot, &target(&sysroot), hangs, Duration::from_millis(50));
        let mut readings = reader.read();
        assert_eq!(why(&readings), [(HealthSource::NvmeSmartLog, NoAnswer::TimedOut)]);
        has_begun.recv().unwrap();
        let later = reader.read();
        assert_eq!(why(&later), [(HealthSource::NvmeSmartLog, NoAnswer::HungBefore)]);
        assert!(has_begun.try_recv().is_err(), "it was asked again");
        readings.finish(later);
        assert_eq!(why(&readings), [(HealthSource::NvmeSmartLog, NoAnswer::TimedOut)]);
        drop(end);
    }

    #[test]
    fn a_drive_without_an_error_log_keeps_its_health() {
        let (_root, sysroot) = tree("nvme0n1", "sys/devices/pci0/nvme/nvme0/nvme0n1", &[]);
        let told = Told::new(|question| match question {
            Question::NvmeSmart => {
                let mut log = vec![0u8; 512];
                log[..6].copy_from_slice(&[0, 0x38, 1, 100, 10, 3]);
                Ok(log)
            }
            _ => Err(Refusal { why: NoAnswer::Refused, detail: Some("NVMe status 0x4002".to_owned()) }),
        });
        let readings = HealthReader::asking(&sysroot, &target(&sysroot), told, AMPLE).read();
        assert_eq!(readings.count(CounterKind::PercentageUsed), Some(3));
        assert_eq!(why(&readings), [(HealthSource::NvmeErrorLog, NoAnswer::Refused)]);
    }

    const BRIDGE: &str = "sys/devices/pci0/usb2/2-1";

    fn bridge(maker: &str, product: &str) -> (tempfile::TempDir, Sysroot) {
        let dir = format!("{BRIDGE}/2-1:1.0/host0/target0:0:0/0:0:0:0/block/sda");
        let scsi = format!("{BRIDGE}/2-1:1.0/host0/target0:0:0/0:0:0:0");
        let files = [
            (format!("{BRIDGE}/idVendor"), maker),
            (format!("{BRIDGE}/idProduct"), product),
            (format!("{BRIDGE}/speed"), "5000"),
            (format!("{scsi}/vendor"), "Generic"),
            (format!("{scsi}/model"), "Disk"),
            (format!("{dir}/device"), "-> ../.."),
            (format!("{dir}/removable"), "0"),
        ];
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        tree("sda", &dir, &files)
    }

    #[test]
    fn bridges_that_hang_are_not_asked_and_others_may_refuse() {
        for (maker, product) in [("0bc2", "ab24"), ("13fd", "3940"), ("2109", "0711")] {
            let (_root, sysroot) = bridge(maker, product);
            let told = Told::new(|question| panic!("asked {question:?}"));
            let readings = HealthReader::asking(&sysroot, &target(&sysroot), told, AMPLE).read();
            assert_eq!(why(&readings), [(HealthSource::AtaSmart, NoAnswer::BridgeHangs)], "{maker}:{product}");
        }
        // smartmontools issue 160: a JMS551 knows no such command.
        let (_root, sysroot) = bridge("152d", "0561");
        let told = Told::new(|_| Err(NoAnswer::NotSupported.into()));
        let readings = HealthReader::asking(&sysroot, &target(&sysroot), told.clone(), AMPLE).read();
        assert_eq!(why(&readings), [(HealthSource::AtaSmart, NoAnswer::NotSupported)]);
        assert_eq!(*told.asked.lock().unwrap(), [Question::AtaIdentify], "no second question after a refusal");
    }

    #[test]
    fn statistics_are_preferred_to_attributes_and_only_pages_that_are_there_are_read() {
        let (_root, sysroot) = bridge("152d", "0586");
        let told = Told::new(|question| {
            let mut block = vec![0u8; 512];
            match question {
                Question::AtaIdentify => {
                    for (word, value) in [(0usize, 0x40u16), (82, 1), (83, 0x4000), (84, 0x4020), (85, 1)] {
                        block[word * 2..word * 2 + 2].copy_from_slice(&value.to_le_bytes());
                    }
                }
                Question::AtaStatistics(0) => block[..11].copy_from_slice(&[1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1]),
                Question::AtaStatistics(1) => {
                    block[..3].copy_from_slice(&[1, 0, 1]);
                    block[16..24].copy_from_slice(&[0x7e, 0x08, 0, 0, 0, 0, 0, 0xc0]);
                }
                Question::AtaSmartData => {
                    block[0] = 1;
                    block[2..14].copy_from_slice(&[9, 0x32, 0, 1, 1, 0xff, 0xff, 0, 0, 0, 0, 0]);
                    block[14..26].copy_from_slice(&[197, 0x12, 0, 1, 1, 8, 0, 0, 0, 0, 0, 0]);
                    let sum = block.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
                    block[511] = sum.wrapping_neg();
                }
                other => return Err(Refusal { why: NoAnswer::Refused, detail: Some(format!("{other:?}")) }),
            }
            Ok(block)
        });
        let readings = HealthReader::asking(&sysroot, &target(&sysroot), told.clone(), AMPLE).read();
        assert_eq!(readings.count(CounterKind::PowerOnHours), Some(2174), "the statistic");
        assert_eq!(readings.count(CounterKind::PendingSectors), Some(8), "the attribute");
        assert!(!told.asked.lock().unwrap().contains(&Question::AtaStatistics(7)), "a page that is not there");
    }

    #[test]
    fn an_emmc_without_root_has_what_everybody_sees() {
        const EMMC: &str = "sys/devices/platform/fe2e0000.mmc/mmc_host/mmc0/mmc0:0001";
        let own = |name: &str| format!("{EMMC}/{name}");
        let files = [(own("type"), "MMC"), (own("life_time"), "0x01 0x02"), (own("pre_eol_info"), "0x01")];
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        let (root, sysroot) = tree("mmcblk0", &format!("{EMMC}/block/mmcblk0"), &files);
        let told = Told::new(|_| Err(NoAnswer::NeedsRoot.into()));
        let readings = HealthReader::asking(&sysroot, &target(&sysroot), told.clone(), AMPLE).read();
        let of = |readings: &HealthReadings| {
            [CounterKind::LifeUsedATenths, CounterKind::LifeUsedBTenths, CounterKind::PreEndOfLife]
                .map(|kind| readings.count(kind))
        };
        assert_eq!((of(&readings), readings.unread.len()), ([Some(1), Some(2), Some(1)], 0));
        // With the file of debugfs no command is sent.
        let mut digits = "00".repeat(512);
        for (byte, text) in [(192, "08"), (267, "02"), (268, "0a"), (269, "0b")] {
            digits.replace_range(byte * 2..byte * 2 + 2, text);
        }
        let debug = root.path().join("sys/kernel/debug/mmc0/mmc0:0001");
        std::fs::create_dir_all(&debug).unwrap();
        std::fs::write(debug.join("ext_csd"), digits).unwrap();
        told.asked.lock().unwrap().clear();
        let readings = HealthReader::asking(&sysroot, &target(&sysroot), told.clone(), AMPLE).read();
        assert_eq!(of(&readings), [Some(10), Some(11), Some(2)]);
        assert!(told.asked.lock().unwrap().is_empty());
    }

    #[test]
    fn ufs_and_file_systems_are_read_from_sysfs() {
        const UFS: &str = "sys/devices/platform/ufs";
        let dir = format!("{UFS}/host0/target0:0:0/0:0:0:0/block/sda");
        let files = [
            (format!("{UFS}/health_descriptor/eol_info"), "0x01"),
            (format!("{UFS}/health_descriptor/life_time_estimation_a"), "0x03"),
            (format!("{UFS}/health_descriptor/life_time_estimation_b"), "0x00"),
            ("sys/fs/ext4/sda/lifetime_write_kbytes".to_owned(), "2048\n"),
        ];
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        let (_root, sysroot) = tree("sda", &dir, &files);
        let mut target = target(&sysroot);
        target.medium.filesystem = Some("ext4".to_owned());
        let told = Told::new(|question| panic!("asked {question:?}"));
        let readings = HealthReader::asking(&sysroot, &target, told, AMPLE).read();
        let counts = [CounterKind::PreEndOfLife, CounterKind::LifeUsedATenths, CounterKind::FileSystemWrittenBytes];
        assert_eq!(counts.map(|kind| readings.count(kind)), [Some(1), Some(3), Some(2 << 20)]);
        assert_eq!(readings.count(CounterKind::LifeUsedBTenths), None);
    }
}
