//! `assay powercut` from its command line: what is on a device since a cut was checked is not of the test.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::process::Command;
use std::time::{Duration, Instant};

use assay_lab::{Lab, lab};
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
    let ledger = place.path().join("ledger");
    fs::create_dir(&ledger).unwrap();
    let home = ledger.to_str().unwrap();
    let powercut = |arguments: &[&str]| place.assay([&["powercut", &device, "--ledger", home], arguments].concat());
    let noted = || {
        let files = fs::read_dir(&ledger).unwrap().flatten();
        files.filter_map(|entry| Some(entry.metadata().ok()?.len())).sum::<u64>()
    };
    let running = Running::start(powercut(&["--overwrite", &device, "--size", "8MiB", "--writers", "1"]));
    let start = Instant::now();
    while noted() < 20_000 {
        assert!(start.elapsed() < TIMEOUT, "the load writes nothing");
        std::thread::sleep(Duration::from_millis(20));
    }
    running.signal(Signal::INT);
    let ended = running.end();
    assert_eq!(ended.code, Some(130), "{}", ended.stderr);
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
