//! `assay powercut` from its command line: what something else wrote is not of the test, and what counts as a cut.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::process::Command;
use std::time::{Duration, Instant};

use assay_lab::{Backing, FakeCard, Lab, LoopDevice, Mount, lab};
use assay_powercut::FileKeep;
use rustix::process::Signal;
use serde_json::Value;

use crate::common::{Place, Running, is_installed, run};
use crate::endure::loop_device;

const TIMEOUT: Duration = Duration::from_secs(120);

/// Where the user ends the load, all that was acknowledged is there. A file system that is made then, or bytes that
/// something else writes, stay where the test is resumed, and change no answer.
#[test]
fn what_was_written_since_a_check_is_neither_overwritten_nor_blamed_on_the_cut() {
    const TEST: &str = "what_was_written_since_a_check_is_neither_overwritten_nor_blamed_on_the_cut";
    let _lab = lab!(TEST, Lab::share());
    let place = Place::new();
    let card = lab!(TEST, loop_device(&place, "card.img", 16 << 20));
    let device = card.path().to_str().unwrap().to_owned();
    let home = &ledgers(&place);
    let powercut = |arguments: &[&str]| place.assay([&["powercut", &device, "--ledger", home], arguments].concat());
    loaded(&place, &[&device, "--overwrite", &device, "--size", "8MiB", "--writers", "1"], home);
    let checked = run(powercut(&["--check"]));
    let answer = |text: &str| -> Value {
        let document: Value = serde_json::from_str(text).unwrap();
        document["tests"][0]["cuts"][0].clone()
    };
    let status = || answer(&run(place.assay(["powercut", "--status", "--ledger", home, "--json"])).stdout);
    let before = status();
    assert_eq!(before["answer"]["answer"], "kept", "{before} {checked:?}");

    for option in ["--check", "--resume"] {
        run(place.assay(["powercut", option, "/dev/nowhere", "--ledger", home])).refuses(2, &["no such device"]);
    }

    // Bytes of something else, which have no mark.
    let medium = File::options().read(true).write(true).open(&device).unwrap();
    let whole = || {
        let mut bytes = vec![0; 16 << 20];
        medium.read_exact_at(&mut bytes, 0).unwrap();
        bytes
    };
    medium.write_all_at(&[7; 8 * 4096], 512 << 10).unwrap();
    medium.sync_all().unwrap();
    let held = whole();
    run(powercut(&["--resume"])).refuses(2, &["changed since cut 1", "nothing was written", "--overwrite"]);
    let again = run(powercut(&["--check"]));
    assert!(again.stderr.contains("that answer stands"), "{again:?}");
    assert_eq!((again.code, status()), (checked.code, before.clone()));
    assert!(whole() == held, "the device was written");

    // A file system, between whose parts stamps of the test are left.
    if !is_installed("mkfs.ext4", &format!("{TEST}, file system")) {
        return;
    }
    let made = Command::new("mkfs.ext4").args(["-q", "-F", "-E", "nodiscard", &device]).status().unwrap();
    assert!(made.success());
    let held = whole();
    run(powercut(&["--resume"])).refuses(2, &["ext", "nothing was written", "--overwrite"]);
    assert!(whole() == held, "the file system was written");
}

/// A directory for ledgers.
fn ledgers(place: &Place) -> String {
    let ledger = place.path().join("ledger");
    fs::create_dir(&ledger).unwrap();
    ledger.to_str().unwrap().to_owned()
}

/// Lets the load of a new round write until some writes are acknowledged, and ends it.
fn loaded(place: &Place, arguments: &[&str], home: &str) {
    let look = || {
        let file = fs::read_dir(home).unwrap().next()?.unwrap().path();
        Some((fs::metadata(&file).ok()?.len(), FileKeep::look(&file).ok()?))
    };
    let rounds = look().map_or(0, |(_, state)| state.rounds());
    let running = Running::start(place.assay([&["powercut"], arguments, &["--ledger", home, "-q"]].concat()));
    let (mut bytes, mut grew) = (0, Instant::now());
    loop {
        let (now, acknowledged) = look().map_or((0, 0), |(bytes, state)| {
            let acknowledged = state.acknowledged().values().sum::<u64>();
            (bytes, if state.rounds() > rounds { acknowledged } else { 0 })
        });
        if acknowledged >= 50 {
            break;
        }
        if now > bytes {
            (bytes, grew) = (now, Instant::now());
        }
        assert!(grew.elapsed() < TIMEOUT, "the load writes nothing");
        std::thread::sleep(Duration::from_millis(20));
    }
    running.signal(Signal::INT);
    assert_eq!(running.wait_for_end().code(), Some(130));
}

/// The last cut of the only test.
fn last_cut(place: &Place, home: &str) -> Value {
    let status = run(place.assay(["powercut", "--status", "--ledger", home, "--json"]));
    let document: Value = serde_json::from_str(&status.stdout).unwrap();
    document["tests"][0]["cuts"].as_array().unwrap().last().unwrap().clone()
}

/// Memory loses all with its power, and the system disk is under a directory where nothing is mounted any more.
#[test]
fn memory_is_no_medium_and_a_directory_that_is_not_mounted_gets_no_answer() {
    const TEST: &str = "memory_is_no_medium_and_a_directory_that_is_not_mounted_gets_no_answer";
    let _lab = lab!(TEST, Lab::share());
    let place = Place::new();
    let home = ledgers(&place);
    let memory = tempfile::tempdir_in("/dev/shm").unwrap();
    let refused = run(place.assay(["powercut", memory.path().to_str().unwrap(), "--ledger", &home]));
    refused.refuses(2, &["/dev/shm", "lies in memory"]);
    assert_eq!(fs::read_dir(memory.path()).unwrap().count(), 0);
    // Not on the disk of the ledger.
    let image = memory.path().join("disk.img");
    File::create(&image).and_then(|file| file.set_len(64 << 20)).unwrap();
    let disk = lab!(TEST, LoopDevice::attach(&image, false));
    let point = place.path().join("mnt");
    let mount = lab!(TEST, Mount::ext4(disk.path(), &point));
    let path = point.to_str().unwrap().to_owned();
    loaded(&place, &[&path, "--size", "8MiB", "--writers", "1"], &home);
    // Also of a test whose last cut has an answer, which stands.
    for answered in [false, true] {
        if answered {
            assert_eq!(
                run(place.assay(["powercut", "--check", &path, "--ledger", &home])).code,
                Some(6),
                "no cut seen"
            );
            assert_eq!(last_cut(&place, &home)["answer"]["answer"], "kept");
        }
        assert!(Command::new("umount").arg(&path).status().unwrap().success());
        let checked = run(place.assay(["powercut", "--check", &path, "--ledger", &home]));
        assert_eq!(checked.code, Some(6), "{answered} {checked:?}");
        let cut = last_cut(&place, &home);
        let (key, value) = if answered { ("answer", "kept") } else { ("reason", "not_mounted") };
        assert_eq!(cut["answer"][key], value, "{cut}");
        assert!(Command::new("mount").arg(disk.path()).arg(&path).status().unwrap().success());
    }
    drop(mount);
}

/// The medium is attached anew, so that a cut is seen, and bears a file system when it is checked.
#[test]
fn a_file_system_that_is_made_between_a_cut_and_its_check_is_no_damage() {
    const TEST: &str = "a_file_system_that_is_made_between_a_cut_and_its_check_is_no_damage";
    let _lab = lab!(TEST, Lab::share());
    if !is_installed("mkfs.ext4", TEST) {
        return;
    }
    let place = Place::new();
    let (home, image) = (ledgers(&place), place.path().join("card.img"));
    let card = lab!(TEST, loop_device(&place, "card.img", 16 << 20));
    let device = card.path().to_str().unwrap().to_owned();
    loaded(&place, &[&device, "--overwrite", &device, "--size", "8MiB", "--writers", "1"], &home);
    drop(card);
    let card = lab!(TEST, LoopDevice::attach(&image, false));
    let device = card.path().to_str().unwrap().to_owned();
    let made = Command::new("mkfs.ext4").args(["-q", "-F", "-E", "nodiscard", &device]).status().unwrap();
    assert!(made.success());
    let held = fs::read(&image).unwrap();
    let checked = run(place.assay(["powercut", "--check", &device, "--ledger", &home]));
    assert_eq!(checked.code, Some(6), "{checked:?}");
    let cut = last_cut(&place, &home);
    assert_eq!((&cut["how"], &cut["answer"]["reason"]), (&"attached".into(), &"written_since".into()), "{cut}");
    let resumed = run(place.assay(["powercut", "--resume", &device, "--ledger", &home]));
    resumed.refuses(2, &["ext2/ext3/ext4 file system", "nothing was written", "--overwrite"]);
    assert!(fs::read(&image).unwrap() == held, "the file system was written");
    // Named, it goes on, and the next cut is not blamed for what was written over.
    loaded(&place, &["--resume", &device, "--overwrite", &device], &home);
    drop(card);
    let card = lab!(TEST, LoopDevice::attach(&image, false));
    let device = card.path().to_str().unwrap().to_owned();
    run(place.assay(["powercut", "--check", &device, "--ledger", &home]));
    let cut = last_cut(&place, &home);
    assert_eq!((&cut["cut"], &cut["answer"]["answer"]), (&2.into(), &"kept".into()), "{cut}");
}

/// A card of 1 MiB on which every fortieth write gives an error, and all else holds.
struct Errs {
    bytes: Vec<u8>,
    writes: u64,
}

impl Backing for Errs {
    fn bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        buffer.copy_from_slice(&self.bytes[offset as usize..offset as usize + buffer.len()]);
        Ok(())
    }

    fn write(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.writes += 1;
        if self.writes.is_multiple_of(40) {
            return Err(io::ErrorKind::Other.into());
        }
        self.bytes[offset as usize..offset as usize + data.len()].copy_from_slice(data);
        Ok(())
    }
}

#[test]
fn a_round_without_a_cut_uses_up_no_cut_and_three_in_turn_end_a_test() {
    const TEST: &str = "a_round_without_a_cut_uses_up_no_cut_and_three_in_turn_end_a_test";
    let _lab = lab!(TEST, Lab::share());
    let place = Place::new();
    let home = ledgers(&place);
    let card = lab!(TEST, FakeCard::new(Errs { bytes: vec![0; 1 << 20], writes: 0 }));
    let device = card.path().to_str().unwrap();
    let arguments = ["powercut", device, "--overwrite", device, "--writers", "1", "--ledger", &home, "--json", "-q"];
    let done = run(place.assay(arguments));
    assert_eq!(done.code, Some(6), "{done:?}");
    let document: Value = serde_json::from_str(&done.stdout).unwrap();
    let cuts = document["tests"][0]["cuts"].as_array().unwrap();
    assert_eq!(cuts.len(), 3, "{document}");
    assert!(cuts.iter().all(|cut| cut["how"] == "unseen"), "{document}");
}
