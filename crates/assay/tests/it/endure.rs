//! `assay endure` from its command line: whole lives on a device that fails as it is told, kills, refusals, a full disk.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use assay_core::endurance::{CensorReason, DeathCause, Endurance, FailureKind, LifeEnd, WearLoad};
use assay_endure::journal::{first_bytes, frame};
use assay_endure::{Begin, Entry, Latencies, Phase, Run, SECTOR, SliceRead, SliceWritten, Stamp, State};
use assay_lab::{Backing, Cgroup, FakeCard, Lab, LoopDevice, LoopPartition, Missing, Mount, lab};
use rustix::process::Signal;

use crate::common::{ASSAY, Done, Place, Running, is_installed, run};

/// 16 slices of 64 KiB.
const BYTES: usize = 1 << 20;
const SECTORS: u64 = (BYTES / SECTOR) as u64;
/// What is waited for comes within this time, or never.
const TIMEOUT: Duration = Duration::from_secs(120);

/// What a card holds, and how its sectors fail.
#[derive(Default)]
pub(crate) struct Content {
    bytes: Vec<u8>,
    /// From which cycle on a sector fails, and how.
    pub(crate) fates: BTreeMap<u64, (u64, FailureKind)>,
    /// Sectors that faded since they were written.
    pub(crate) faded: BTreeMap<u64, FailureKind>,
}

/// A card in memory that fails as its content says.
pub(crate) struct Worn {
    content: Arc<Mutex<Content>>,
    /// Time of an operation.
    pause: Duration,
}

/// The device, and what it holds.
pub(crate) fn card(pause: Duration) -> Result<(FakeCard, Arc<Mutex<Content>>), Missing> {
    let content = Arc::new(Mutex::new(Content { bytes: vec![0; BYTES], ..Content::default() }));
    let card = FakeCard::new(Worn { content: Arc::clone(&content), pause })?;
    Ok((card, content))
}

impl Backing for Worn {
    fn bytes(&self) -> u64 {
        BYTES as u64
    }

    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        std::thread::sleep(self.pause);
        let content = self.content.lock().unwrap();
        buffer.copy_from_slice(&content.bytes[offset as usize..offset as usize + buffer.len()]);
        for (sector, address) in buffer.chunks_exact_mut(SECTOR).zip(offset / SECTOR as u64..) {
            let cycle = Stamp::read(sector).map_or(0, |stamp| stamp.round);
            let worn = content.fates.get(&address).filter(|(from, _)| *from <= cycle).map(|(_, kind)| kind);
            match worn.or_else(|| content.faded.get(&address)) {
                None => {}
                Some(FailureKind::Unreadable) => return Err(io::ErrorKind::Other.into()),
                Some(FailureKind::Ones) => sector.fill(0xff),
                Some(FailureKind::BitFlips) => sector[100] ^= 1,
                Some(_) => sector.fill(0),
            }
        }
        Ok(())
    }

    fn write(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        std::thread::sleep(self.pause);
        let mut content = self.content.lock().unwrap();
        content.bytes[offset as usize..offset as usize + data.len()].copy_from_slice(data);
        let written = offset / SECTOR as u64..(offset + data.len() as u64) / SECTOR as u64;
        content.faded.retain(|sector, _| !written.contains(sector));
        Ok(())
    }
}

/// `assay endure` with these arguments.
pub(crate) fn endure(place: &Place, arguments: &[&str]) -> Done {
    run(place.assay(["endure"].iter().chain(arguments)))
}

/// The only test of a command with `--json`.
#[track_caller]
pub(crate) fn only(done: &Done) -> Endurance {
    let printed: serde_json::Value =
        serde_json::from_str(&done.stdout).unwrap_or_else(|e| panic!("{e}: {}\n{}", done.stdout, done.stderr));
    assert_eq!(printed["tests"].as_array().map(Vec::len), Some(1), "{printed}");
    serde_json::from_value(printed["tests"][0].clone()).unwrap()
}

#[test]
fn a_whole_life_has_each_milestone_at_its_cycle_and_each_kind() {
    const TEST: &str = "a_whole_life_has_each_milestone_at_its_cycle_and_each_kind";
    let _lab = lab!(TEST, Lab::share());
    let place = Place::new();
    let (card, content) = lab!(TEST, card(Duration::ZERO));
    let mut fates = BTreeMap::new();
    let mut fail = |sectors: std::ops::Range<u64>, from: u64, kind: FailureKind| {
        fates.extend(sectors.map(|sector| (sector, (from, kind))));
    };
    fail(100..101, 2, FailureKind::Zeros);
    fail(200..203, 3, FailureKind::BitFlips);
    fail(400..432, 4, FailureKind::Unreadable);
    fail(600..800, 5, FailureKind::Ones);
    fail(1000..1900, 6, FailureKind::Zeros);
    content.lock().unwrap().fates = fates;
    let device = card.path().to_str().unwrap();
    let done = endure(&place, &[device, "--overwrite", device, "--json", "-q"]);
    assert_eq!(done.code, Some(3), "{}\n{}", done.stdout, done.stderr);
    let test = only(&done);
    let reached = test.milestones;
    let marks = [reached.first_error, reached.per_mille, reached.one_percent, reached.ten_percent, reached.half];
    assert_eq!(marks.map(|at| at.map(|at| at.cycle)), [2, 3, 4, 5, 6].map(Some));
    assert_eq!(reached.death.map(|at| at.cycle), Some(6));
    assert_eq!(test.end, LifeEnd::Died { cause: DeathCause::SilentLoss });
    let count = |kind: FailureKind| test.kinds.get(&kind).copied().unwrap_or(0);
    assert_eq!((count(FailureKind::BitFlips), count(FailureKind::Unreadable), count(FailureKind::Ones)), (3, 32, 200));
    assert!(count(FailureKind::Zeros) >= SECTORS / 2 - 236, "{:?}", test.kinds);
    // It is over: neither resumed nor at rest, and its map is drawn.
    endure(&place, &["--resume", device]).refuses(2, &[device, "is over"]);
    endure(&place, &["--read-back", device]).refuses(2, &["is over"]);
    let done = endure(&place, &["--status", &test.id[..6], "-o", "map.svg"]);
    done.succeeds();
    let map = fs::read_to_string(place.path().join("map.svg")).unwrap();
    assert!(map.contains("failed first in cycle 2") && map.contains("unreadable"), "{map}");
    endure(&place, &["--status", "-o", "map.html"]).succeeds();
    let page = fs::read_to_string(place.path().join("map.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("lost half of its sectors"), "{page}");
    endure(&place, &["--status", "zz"]).refuses(2, &["no test", "zz"]);
    assert_eq!(
        only(&endure(&place, &["--status", "--json"])),
        only(&endure(&place, &["--status", &test.id, "--json"]))
    );
}

/// Waits until the log of the only test has grown by this much.
fn wait_for_log(place: &Place, bytes: u64) -> u64 {
    let length = || {
        let logs = fs::read_dir(place.data().join("endure")).into_iter().flatten();
        let log = logs.filter_map(Result::ok).find(|entry| entry.path().extension().is_some_and(|end| end == "log"));
        log.map_or(0, |log| log.metadata().unwrap().len())
    };
    let (start, before) = (Instant::now(), length());
    while length() < before + bytes {
        assert!(start.elapsed() < TIMEOUT, "the log does not grow");
        std::thread::sleep(Duration::from_millis(5));
    }
    length()
}

#[test]
fn a_test_goes_on_after_ctrl_c_and_kills_and_counts_each_byte_once() {
    const TEST: &str = "a_test_goes_on_after_ctrl_c_and_kills_and_counts_each_byte_once";
    let _lab = lab!(TEST, Lab::share());
    let place = Place::new();
    let (card, _content) = lab!(TEST, card(Duration::from_millis(4)));
    let device = card.path().to_str().unwrap();
    // An entry of a slice has some tens of bytes, and the two before them some hundreds: of a test without a slice nothing is on
    // the medium by which it is recognised.
    let running = Running::start(place.assay(["endure", device, "--overwrite", device, "-q"]));
    wait_for_log(&place, 1200);
    running.signal(Signal::INT);
    let done = running.end();
    assert_eq!(done.code, Some(130), "{}\n{}", done.stdout, done.stderr);
    let mut kills = 0;
    for _ in 0..3 {
        let running = Running::start(place.assay(["endure", "--resume", device, "-q"]));
        wait_for_log(&place, 500);
        running.kill();
        until_free(&place, card.path());
        kills += 1;
    }
    let before = only(&endure(&place, &["--status", "--json"]));
    assert_eq!(before.end, LifeEnd::Running);
    let until = format!("{} cycles", before.cycles + 1);
    let running = Running::start(place.assay(["endure", "--resume", device, "--until", &until]));
    let done = running.end();
    done.succeeds();
    let after = only(&endure(&place, &["--status", "--json"]));
    assert_eq!((after.cycles, after.failed_sectors), (before.cycles + 1, 0));
    assert_eq!(after.end, LifeEnd::Censored { reason: CensorReason::Limit });
    assert_eq!((after.written_bytes, after.read_bytes), (after.cycles * BYTES as u64, after.cycles * BYTES as u64));
    assert!(after.uncounted_bytes <= (kills + 1) * BYTES as u64 / 16, "{}", after.uncounted_bytes);
    // What was asked for is reached, and nothing more is written.
    endure(&place, &["--resume", device, "--until", &until, "-q"]).succeeds();
    assert_eq!(only(&endure(&place, &["--status", "--json"])).written_bytes, after.written_bytes);
}

/// Waits until a process that was killed holds neither device nor log: its last operation ends after it.
fn until_free(place: &Place, device: &Path) {
    let start = Instant::now();
    let logs =
        || fs::read_dir(place.data().join("endure")).unwrap().map(|entry| File::open(entry.unwrap().path()).unwrap());
    let exclusive = || File::options().read(true).custom_flags(libc::O_EXCL).open(device).is_ok();
    while !exclusive() || logs().any(|log| log.try_lock().is_err()) {
        assert!(start.elapsed() < TIMEOUT, "it is still held");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A file as a loop device.
pub(crate) fn loop_device(place: &Place, name: &str, bytes: u64) -> Result<LoopDevice, Missing> {
    let image = place.file(name, []);
    File::options().write(true).open(&image).unwrap().set_len(bytes).unwrap();
    LoopDevice::attach(&image, false)
}

#[test]
fn what_is_not_meant_is_refused_in_a_line_and_left_as_it_was() {
    const TEST: &str = "what_is_not_meant_is_refused_in_a_line_and_left_as_it_was";
    let _lab = lab!(TEST, Lab::share());
    let place = Place::new();
    let refuses = |arguments: &[&str], code: i32, words: &[&str]| {
        endure(&place, arguments).refuses(code, words);
    };
    let free = lab!(TEST, loop_device(&place, "free.img", 4 << 20));
    let held = lab!(TEST, loop_device(&place, "held.img", 16 << 20));
    let twice = lab!(TEST, loop_device(&place, "twice.img", 4 << 20));
    let mount = lab!(TEST, Mount::ext4(held.path(), &place.path().join("mnt")));
    let (free, held) = (free.path().to_str().unwrap().to_owned(), held.path().to_str().unwrap().to_owned());
    refuses(&["/no/such/device"], 2, &["/no/such/device"]);
    refuses(&["tiny.toml"], 2, &["tiny.toml", "is a file"]);
    refuses(&[&free], 2, &["--overwrite", &free]);
    refuses(&[&held, "--overwrite", &held], 2, &[&held, "mounted"]);
    refuses(&[&free, &free, "--overwrite", &free], 2, &["named twice", "nothing was touched"]);
    refuses(&[&free, "--overwrite", &held], 2, &["does not name a target"]);
    refuses(&[&free, "--overwrite", &free, "--until", "2025-01-01"], 2, &["has passed", "nothing was touched"]);
    refuses(&[&free, "--overwrite", &free, "--control", &free], 2, &["is the medium of the target"]);
    // The same under other names: another loop device of the file, a link, a partition.
    let again = lab!(TEST, LoopDevice::attach(&place.path().join("free.img"), false));
    let (again, link) = (again.path().to_str().unwrap(), place.path().join("link"));
    std::os::unix::fs::symlink(&free, &link).unwrap();
    let part = lab!(TEST, LoopPartition::add(&twice, 1, 2048, 2048));
    let part = part.path().to_str().unwrap().to_owned();
    let (twice, link) = (twice.path().to_str().unwrap(), link.to_str().unwrap());
    for (target, control) in [(&*free, again), (again, &*free), (&*free, link), (twice, &*part)] {
        let words = ["is the medium of the target", target, "nothing was touched"];
        refuses(&[target, "--overwrite", target, "--control", control], 2, &words);
    }
    refuses(&[&free, again, "--overwrite", &free, "--overwrite", again], 2, &["on one medium", "nothing was touched"]);
    refuses(&[&free, link, "--overwrite", &free, "--overwrite", link], 2, &["named twice"]);
    refuses(
        &[&free, "--overwrite", &free, "--control", "/no/such/control"],
        2,
        &["/no/such/control", "cannot be read"],
    );
    refuses(&["--resume", &free], 2, &["nothing on it is of a test"]);
    refuses(&["--read-back", &free], 2, &["nothing on it is of a test"]);
    refuses(&["--resume", "medium"], 2, &["no test of endurance is there"]);
    refuses(&[&free, "--overwrite", &free, "-o", "map.svg"], 2, &["--status"]);
    let busy = File::options().write(true).open(mount.path().join("busy")).err();
    assert!(busy.is_some(), "nothing was made on the mounted one");
    let image = fs::read(place.path().join("free.img")).unwrap();
    assert!(image.iter().all(|byte| *byte == 0), "a refusal wrote to the device");
    let done = endure(&place, &["--status"]);
    assert!(done.succeeds().stdout.contains("no test of endurance"), "{}", done.stdout);
    assert_eq!(done.stdout.lines().count(), 1);
    let none = endure(&place, &["--status", "--json"]);
    assert_eq!(none.stdout.split_whitespace().collect::<String>(), r#"{"tests":[]}"#);
}

#[test]
fn copies_damaged_logs_and_files_on_the_medium_are_named() {
    const TEST: &str = "copies_damaged_logs_and_files_on_the_medium_are_named";
    let _lab = lab!(TEST, Lab::share());
    let place = Place::new();
    let one = lab!(TEST, loop_device(&place, "one.img", BYTES as u64));
    let one = one.path().to_str().unwrap().to_owned();
    let test = only(endure(&place, &[&one, "--overwrite", &one, "--until", "1 cycle", "--json", "-q"]).succeeds());
    // A picture may be shared: the model of a loop device is the path of its file.
    endure(&place, &["--status", "-o", "map.svg"]).succeeds();
    let map = fs::read_to_string(place.path().join("map.svg")).unwrap();
    assert!(map.contains(&test.id[..8]) && !map.contains(&*place.path().to_string_lossy()), "{map}");
    // A copy of the medium.
    fs::copy(place.path().join("one.img"), place.path().join("two.img")).unwrap();
    let two = lab!(TEST, LoopDevice::attach(&place.path().join("two.img"), false));
    let two = two.path().to_str().unwrap().to_owned();
    until_free(&place, Path::new(&one));
    let both = ["--resume", &one, &two, "--until", "3 cycles", "-q"];
    endure(&place, &both).refuses(2, &[&one, &two, "both hold", &test.id, "nothing was written"]);
    let after = only(&endure(&place, &["--status", "--json"]));
    assert_eq!((after.end, after.uncounted_bytes), (LifeEnd::Censored { reason: CensorReason::Limit }, 0));
    // A file system on the medium of a directory, and a device on the file system of a target.
    let disk = lab!(TEST, loop_device(&place, "disk.img", 32 << 20));
    let mount = lab!(TEST, Mount::ext4(disk.path(), &place.path().join("mnt")));
    let inner = mount.path().join("inner.img");
    File::create(&inner).unwrap().set_len(BYTES as u64).unwrap();
    let inner = lab!(TEST, LoopDevice::attach(&inner, false));
    let (inner, mnt) = (inner.path().to_str().unwrap(), mount.path().to_str().unwrap());
    let disk = disk.path().to_str().unwrap();
    for (target, control) in [(mnt, inner), (mnt, disk), (inner, disk)] {
        let words = ["is the medium of the target", target, "nothing was touched"];
        endure(&place, &[target, "--overwrite", target, "--control", control]).refuses(2, &words);
    }
    let two_targets = [mnt, inner, "--overwrite", mnt, "--overwrite", inner];
    endure(&place, &two_targets).refuses(2, &["on one medium", "nothing was touched"]);
    // A log that is damaged in its middle.
    let log = place.data().join("endure").join(format!("{}.log", test.id));
    let whole = fs::read(&log).unwrap();
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 0x10;
    fs::write(&log, damaged).unwrap();
    endure(&place, &["--resume", &one, "--until", "3 cycles"]).refuses(4, &[&*log.to_string_lossy(), "damaged"]);
    let status = endure(&place, &["--status"]);
    assert_eq!((status.code, &*status.stdout), (Some(6), ""));
    assert!(status.stderr.contains(&test.id), "{}", status.stderr);
    // The log of another machine.
    fs::remove_file(&log).unwrap();
    endure(&place, &["--resume", &one, "--until", "3 cycles"])
        .refuses(2, &[&test.id, "whose log is not here", "copy it"]);
}

/// Stamps that are left between the parts of a file system still name the test. Nor is content without a mark written over.
#[test]
fn what_was_written_since_is_not_overwritten_unless_it_is_named() {
    const TEST: &str = "what_was_written_since_is_not_overwritten_unless_it_is_named";
    let _lab = lab!(TEST, Lab::share());
    let place = Place::new();
    let card = lab!(TEST, loop_device(&place, "card.img", 16 << 20));
    let device = card.path().to_str().unwrap().to_owned();
    endure(&place, &[&device, "--overwrite", &device, "--until", "2 cycles", "-q"]).succeeds();
    // What is open is in use.
    let image = place.path().join("card.img");
    let whole = || fs::read(&image).unwrap();
    let write =
        |bytes: &[u8], at: u64| File::options().write(true).open(&image).unwrap().write_all_at(bytes, at).unwrap();
    let resume = |words: &[&str]| {
        let (held, status) = (whole(), endure(&place, &["--status", "--json"]).stdout);
        for arguments in [&["--until", "4 cycles"][..], &["--until", "4 cycles", "--retain", "1d"]] {
            let words = [&["nothing was written", "--overwrite"], words].concat();
            endure(&place, &[&["--resume", &device, "-q"], arguments].concat()).refuses(2, &words);
        }
        assert!(whole() == held, "the device was written");
        assert_eq!(endure(&place, &["--status", "--json"]).stdout, status);
    };
    // The front of an image that is encrypted or compressed.
    let front = whole();
    let bytes = (0..4 * 4096u64).map(|at| assay_endure::mixed(5, at) as u8).collect::<Vec<_>>();
    write(&bytes, 8 << 12);
    resume(&["something else has written"]);
    write(&front[..1 << 20], 0);
    if !is_installed("mkfs.ext4", &format!("{TEST}, file system")) {
        return;
    }
    let made = Command::new("mkfs.ext4").args(["-q", "-F", "-E", "nodiscard", &device]).status().unwrap();
    assert!(made.success());
    resume(&["ext2/ext3/ext4 file system"]);
    endure(&place, &["--read-back", &device]).refuses(2, &["ext2/ext3/ext4 file system", "nothing of its rest"]);
    // Named, it goes on.
    endure(&place, &["--resume", &device, "--overwrite", &device, "--until", "3 cycles", "-q"]).succeeds();
    let test = only(&endure(&place, &["--status", "--json"]));
    assert_eq!((test.cycles, test.failed_sectors), (3, 0));
}

/// A medium in trouble is attached again and again: where it bears a file system meanwhile, nothing is written.
#[test]
fn what_is_written_while_a_test_waits_for_its_medium_is_not_overwritten() {
    const TEST: &str = "what_is_written_while_a_test_waits_for_its_medium_is_not_overwritten";
    let _lab = lab!(TEST, Lab::share());
    let place = Place::new();
    let (card, content) = lab!(TEST, card(Duration::from_millis(1)));
    let device = card.path().to_str().unwrap();
    let running =
        Running::start(place.assay(["endure", device, "--overwrite", device, "--wait", "20s", "--json", "-q"]));
    let log = || {
        let mut logs = fs::read_dir(place.data().join("endure")).into_iter().flatten().filter_map(Result::ok);
        logs.find(|entry| entry.path().extension().is_some_and(|end| end == "log")).map(|entry| entry.path())
    };
    let until = |seen: &dyn Fn(&State, bool) -> bool| {
        let start = Instant::now();
        loop {
            let mut trouble = false;
            let mut each = |entry: &Entry| trouble |= matches!(entry, Entry::Incident(_));
            let state = log().and_then(|log| assay_endure::Log::look_at_each(&log, &mut each).ok());
            if state.is_some_and(|state| seen(&state, trouble)) {
                return;
            }
            assert!(start.elapsed() < TIMEOUT, "it does not come");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    until(&|state, _| state.cycles() >= 1);
    let all = (0..SECTORS).map(|sector| (sector, (0, FailureKind::Unreadable)));
    content.lock().unwrap().fates = all.collect();
    until(&|_, trouble| trouble);
    let held = {
        let mut content = content.lock().unwrap();
        content.fates.clear();
        content.bytes[1024..1536].fill(0);
        content.bytes[0x438..0x43a].copy_from_slice(b"\x53\xef");
        content.bytes.clone()
    };
    let done = running.end();
    assert_eq!(done.code, Some(6), "{}{}", done.stdout, done.stderr);
    assert_eq!(only(&done).end, LifeEnd::Censored { reason: CensorReason::Exchanged });
    assert!(content.lock().unwrap().bytes == held, "the file system was written");
}

/// The free space of a directory, in a file that the next command finds.
#[test]
fn a_directory_is_worn_resumed_and_read_at_rest() {
    let place = Place::new();
    let worn = ["medium", "--overwrite", "medium", "--part", "1MiB", "--until", "1 cycles", "-q"];
    // The disk of the system is worn only where it is named once more.
    endure(&place, &["medium", "--part", "1MiB", "-q"]).refuses(2, &["whose medium would wear out", "--overwrite"]);
    endure(&place, &worn).succeeds();
    endure(&place, &worn).refuses(2, &["--resume"]);
    endure(&place, &["--resume", "medium", "--until", "2 cycles", "-q"]).succeeds();
    let done = endure(&place, &["--read-back", "medium", "--json"]);
    let test = only(done.succeeds());
    assert_eq!((test.cycles, test.failed_sectors, test.area_bytes), (2, 0, BYTES as u64));
    assert_eq!((test.rest_reads.len(), test.rest_reads[0].lost_sectors, test.rest_reads[0].slices), (1, 0, 16));
}

#[test]
fn a_full_disk_of_the_log_ends_a_test_that_goes_on_when_there_is_room() {
    const TEST: &str = "a_full_disk_of_the_log_ends_a_test_that_goes_on_when_there_is_room";
    let _lab = lab!(TEST, Lab::share());
    let place = Place::new();
    let disk = lab!(TEST, loop_device(&place, "disk.img", 2 << 20));
    let data = lab!(TEST, Mount::ext4(disk.path(), &place.path().join("disk")));
    let device = lab!(TEST, loop_device(&place, "card.img", BYTES as u64));
    let device = device.path().to_str().unwrap();
    let endure = |arguments: &[&str]| {
        let mut command = place.assay(["endure"].iter().chain(arguments));
        run({
            command.env("ASSAY_DATA", data.path());
            command
        })
    };
    endure(&[device, "--overwrite", device, "--until", "1 cycles", "-q"]).succeeds();
    let filler = data.path().join("filler");
    fill(&filler);
    let done = endure(&["--resume", device, "--until", "50 cycles", "-q"]);
    done.refuses(4, &["No space left"]);
    fs::remove_file(&filler).unwrap();
    let before = only(&endure(&["--status", "--json"]));
    let until = format!("{} cycles", before.cycles + 2);
    let test = only(endure(&["--resume", device, "--until", &until, "--json", "-q"]).succeeds());
    assert_eq!((test.cycles, test.failed_sectors), (before.cycles + 2, 0));
    assert_eq!(test.written_bytes, test.cycles * BYTES as u64);
}

/// Takes all space that is left, to the last block.
fn fill(path: &Path) {
    let path: PathBuf = path.to_owned();
    let mut file = File::create(path).unwrap();
    for block in [64 << 10, 4096, 512, 1] {
        while io::Write::write_all(&mut file, &vec![1; block]).and_then(|()| file.sync_all()).is_ok() {}
    }
}

/// The log of a medium of 128 GB of which two pages in a hundred have four single failures, which come in twelve cycles: more
/// than what is known of them may take in memory.
fn worn_log(path: &Path) -> State {
    let pages = 128_000_000_000 / 4096;
    let begin = Begin {
        version: 1,
        id: "00000000000128ab".to_owned(),
        started: "2026-11-28T12:00:00Z".to_owned(),
        model: None,
        unit: None,
        capacity_bytes: pages * 4096,
        pages,
        load: WearLoad::Whole,
        labels: BTreeMap::new(),
    };
    let (mut state, mut log) = (State::begin(begin.clone()).unwrap(), first_bytes(&Entry::Begin(begin)));
    let (elapsed_ns, latencies, at) = (1, Latencies::default(), 1_800_000_000);
    while state.cycles() < 12 {
        let task = state.task();
        let bytes = state.slice_bytes(task);
        let entry = if task.phase == Phase::Write {
            Entry::Written(SliceWritten { task, bytes, elapsed_ns, latencies, refused: 0, at })
        } else {
            let slice = state.layout().slice(task.slice(state.layout().unit));
            let failing = slice.filter(|page| page % 600 == 50 * (task.cycle % 12));
            let runs = failing.flat_map(|page| [0, 2, 4, 6].map(|sector| page * 8 + sector));
            let failures = runs.map(|sector| Run { sectors: sector..sector + 1, kind: FailureKind::Zeros }).collect();
            let (transient, healed, changes) = (0, 0, Vec::new());
            Entry::Read(SliceRead { task, bytes, elapsed_ns, latencies, transient, healed, failures, changes, at })
        };
        assert!(state.apply(&entry));
        log.extend(frame(&entry));
    }
    fs::write(path, log).unwrap();
    state
}

/// Without the pages of the program itself, which the kernel gives back; it kills what takes more.
#[test]
fn the_state_of_a_worn_medium_of_128_gb_takes_less_than_24_mb() {
    const TEST: &str = "the_state_of_a_worn_medium_of_128_gb_takes_less_than_24_mb";
    let _lab = lab!(TEST, Lab::share());
    let group = lab!(TEST, Cgroup::of_memory(24_000_000));
    let place = Place::new();
    let logs = place.data().join("endure");
    fs::create_dir_all(&logs).unwrap();
    let state = worn_log(&logs.join("00000000000128ab.log"));
    assert!(state.failed().sectors() > 1_500_000, "{}", state.failed().sectors());
    let mut command = group.command(Path::new(ASSAY), &["endure", "--status", "--json"]);
    place.at_home(&mut command);
    let test = only(run(command).succeeds());
    assert_eq!((test.cycles, test.failed_sectors), (12, state.failed().sectors()));
}
