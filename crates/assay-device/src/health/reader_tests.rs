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
    let all =
        own.iter().map(|(name, text)| (name.as_str(), *text)).filter(|(name, _)| !files.iter().any(|(n, _)| n == name));
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
    let (_root, sysroot) = card(&[("sys/devices/platform/soc/driver", "-> ../../bus/platform/drivers/sdhost-bcm2835")]);
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
