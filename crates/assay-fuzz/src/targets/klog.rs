//! The kernel's log: records of its ring, and the files that loggers write.

use std::path::Path;

use assay_core::text::harmless;
use assay_device::{KernelLog, Seen, Sysroot, What, look_by_dev};

use super::tree::shown;
use crate::{claims, place, tree};

/// A board whose log alone says how fast its card slot is.
const BOARD: &str = include_str!("../../../assay-device/tests/boards/sopine-a64.tree");
/// The card in it. Its slot is called mmc0.
const DISK: &str = "mmcblk0";
const NUMBER: (u32, u32) = (179, 0);
const LOG: &str = "var/log/kern.log";

/// Records, a NUL between each two, speak of the card or not; as a file the same says what its slot does. Nothing of
/// either harms who reads it.
pub(crate) fn run(data: &[u8]) {
    let directory = place::directory();
    tree::make(directory.path(), BOARD);
    std::fs::write(directory.path().join(LOG), data).expect("a log");
    let root = Sysroot::at(directory.path());
    let seen = look_by_dev(&root, Path::new("/dev/card"), Seen { what: What::BlockDevice, dev: NUMBER });
    shown(&serde_json::to_value(&seen.medium).expect("JSON"));
    let log = KernelLog::follow(&root, &[DISK.to_owned()]);
    for record in data.split(|byte| *byte == 0) {
        let Some(line) = log.trouble_in(record) else { continue };
        assert!(harmless(&line) == line && (1..=160).contains(&line.chars().count()), "{line:?}");
        let text = claims::text(record);
        let (_, text) = text.split_once(';').expect("what has no text tells of no trouble");
        let first = text.lines().next().unwrap_or_default();
        assert!(first.contains("mmc0") || first.contains(DISK), "not of the card: {first:?}");
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = claims::texts(&[
        "3,1042,5120345678,-;mmc0: error -110 whilst initialising SD card\n SUBSYSTEM=mmc\n DEVICE=+mmc:mmc0\n\0\
         6,1043,5120345999,-;mmc0: new ultra high speed SDR104 SDXC card at address 4001\n\0\
         3,1044,5120346000,c;I/O error, dev mmcblk0, sector 81920 op 0x1:(WRITE) flags 0x800 phys_seg 1 prio class 2\n\0\
         2,1045,5120346001,-;EXT4-fs error (device mmcblk0p2): ext4_journal_check_start:83: comm rs: aborted journal\n",
        "Jan  1 00:00:01 a kernel: [    1.512693] mmc0: new high speed SDHC card at address 4001\n",
        "mmc0: new  card at address 4001\nmmc0: new UHS-I speed SDR9999999999999999999 SD card at address 4001",
        "mmc0: new \0\0\u{c}\u{1b}[2J SDR104 SDXC card at address 4001\n",
        "mmc2: new HS400 Enhanced strobe MMC card at address 0001 \r\n\u{1b}[2J",
        "4,1,1,-;\u{1b}]0;x\u{7}mmcblk0: \u{202e}timeout\u{9b}31m\n",
        "4,1,1,-;mmcblk0n18446744073709551616p1p2 error",
        "4,1,1,-;xmmc0 mmc0x mmc0: mmc00 \u{130}mmc0 reset",
        ";",
        ";\n;mmc0 error",
        "mmc0: error without a head",
    ]);
    seeds.push(b"3,1,1,-;mmc0\xff\xfe: error \xc3\x28\n\x003,2,2,-;\xf0\x9f mmcblk0 failed".to_vec());
    seeds.push(format!("3,1,1,-;mmc0: error {}", "x".repeat(9000)).into_bytes());
    seeds
}
