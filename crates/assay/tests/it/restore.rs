//! Restoring from the journal of a probe that was cut off, as its user meets it. Needs root and loop devices.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use assay_core::finding::Finding;
use assay_core::outcome::{Outcome, RunFailure};
use assay_core::record::Record;
use assay_core::verification::Verdict;
use assay_device::Sysroot;
use assay_device::guard::check_raw;
use assay_engine::Control;
use assay_lab::media::{MediumSpec, SharedMedium};
use assay_lab::{Backing, Dying, FakeCard, FileSystem, Lab, LoopDevice, Mount, lab};
use assay_verify::probe::{
    BlockDevice, Device, Journal, JournalIdentity, JournalLeft, ProbeSettings, Salt, run as probe,
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::common::family::{wait_for, wait_until_stopped};
use crate::common::{Place, Running, can_be_apart, run};

const MIB: u64 = 1 << 20;
const SIZE: u64 = 64 * MIB;
const SETTINGS: ProbeSettings = ProbeSettings { cache_limit_bytes: 2 * MIB };

/// An image in which no two sectors are the same.
fn image(place: &Place, name: &str, seed: u64) -> PathBuf {
    let mut content = vec![0u8; SIZE as usize];
    for (number, word) in (seed << 32..).zip(content.chunks_exact_mut(8)) {
        word.copy_from_slice(&number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes());
    }
    place.file(name, content)
}

/// A probe of `device` that ends after some operations as if it had been killed; its journal.
fn cut_off(place: &Place, device: &Path) -> PathBuf {
    let journals = place.data().join("journals");
    std::fs::create_dir_all(&journals).unwrap();
    let path = journals.join("card.journal");
    let name = device.to_string_lossy().into_owned();
    let permit = check_raw(&Sysroot::real(), device, Some(&name)).unwrap();
    let mut dying = Dying::new(BlockDevice::open(&permit).unwrap(), 1500);
    let identity = JournalIdentity { bytes: dying.bytes(), name, serial: None, attachment: None };
    let journal = Journal::create(&path, &identity, Salt::random().unwrap()).unwrap();
    assert!(
        probe(&mut dying, journal, &SETTINGS, &Control::default(), &mut |_| {}).unwrap().journal == JournalLeft::Needed
    );
    path
}

/// Everything that a test of a cut off probe needs.
struct Cut {
    place: Place,
    image: PathBuf,
    before: Vec<u8>,
    device: LoopDevice,
    journal: PathBuf,
}

fn cut() -> Result<Cut, assay_lab::Missing> {
    let place = Place::new();
    let image = image(&place, "card.img", 1);
    let before = std::fs::read(&image).unwrap();
    let device = LoopDevice::attach(&image, false)?;
    let journal = cut_off(&place, device.path());
    assert!(std::fs::read(&image).unwrap() != before, "there is something to put back");
    Ok(Cut { place, image, before, device, journal })
}

impl Cut {
    fn restore(&self, device: &Path, more: &[&str]) -> crate::common::Done {
        let mut command = self.place.assay(["verify", "--quiet", "--restore"]);
        command.arg(&self.journal).arg(device).args(more);
        run(command)
    }

    #[track_caller]
    fn assert_as_before(&self) {
        assert!(std::fs::read(&self.image).unwrap() == self.before, "every byte as before");
        assert!(self.journal.exists(), "a cache may lose with the power what was put back");
        // It goes when the device was attached anew and still reads as before.
        let before = run(self.info(&self.device));
        assert!(before.succeeds().stderr.is_empty() && self.journal.exists(), "{}", before.stderr);
        let Ok(again) = LoopDevice::attach(&self.image, false) else { return };
        let seen = run(self.info(&again));
        assert!(seen.succeeds().stderr.contains("after it was attached anew"), "{}", seen.stderr);
        assert!(!self.journal.exists(), "the journal is not needed any more");
    }

    fn info(&self, device: &LoopDevice) -> Command {
        let mut command = self.place.assay(["info"]);
        command.arg(device.path());
        command
    }
}

/// Threat 3: 4.7 MB of another card of equal size were overwritten, and the journal deleted.
#[test]
fn another_card_of_equal_size_is_refused_and_the_right_one_restored() {
    const TEST: &str = "another_card_of_equal_size_is_refused_and_the_right_one_restored";
    let _lab = lab!(TEST, Lab::share());
    let cut = lab!(TEST, cut());
    let wrong = image(&cut.place, "wrong.img", 2);
    let content = std::fs::read(&wrong).unwrap();
    let other = lab!(TEST, LoopDevice::attach(&wrong, false));
    for more in [&[][..], &["--keep-newer"]] {
        cut.restore(other.path(), more).refuses(2, &["another card", "nothing was written"]);
    }
    assert!(std::fs::read(&wrong).unwrap() == content && cut.journal.exists());
    let done = cut.restore(cut.device.path(), &[]);
    assert!(done.succeeds().stdout.contains("is as before"), "{}", done.stdout);
    cut.assert_as_before();
}

/// Threat 4: one flipped bit ended the reading; the rest was lost, exit 0.
#[test]
fn a_flipped_bit_in_the_journal_is_told_and_the_rest_put_back() {
    const TEST: &str = "a_flipped_bit_in_the_journal_is_told_and_the_rest_put_back";
    let _lab = lab!(TEST, Lab::share());
    let cut = lab!(TEST, cut());
    let file = File::options().read(true).write(true).open(&cut.journal).unwrap();
    let at = 100_000;
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ 1], at).unwrap();
    let done = cut.restore(cut.device.path(), &[]);
    assert_eq!(done.code, Some(1), "{}", done.stderr);
    for word in ["journal is damaged", "1 place is missing", "first at byte", "is kept", "--discard"] {
        assert!(done.stdout.contains(word), "{word}: {}", done.stdout);
    }
    let now = std::fs::read(&cut.image).unwrap();
    let blocks = now.chunks(4096).zip(cut.before.chunks(4096)).filter(|(a, b)| a != b).count();
    // Of a probe that was cut early the place of that record may not have been written yet.
    assert!(blocks <= 256, "one record: {blocks}");
    assert!(cut.journal.exists());
    // Its owner closes it by its name, and by nothing else.
    let discard = |answer: &str| {
        let mut command = cut.place.shell(&format!("echo {answer} | \"$ASSAY\" verify --discard \"$JOURNAL\""));
        command.env("JOURNAL", &cut.journal);
        run(command)
    };
    assert_eq!(discard("yes").code, Some(2));
    assert!(cut.journal.exists());
    discard("card.journal").succeeds();
    assert!(!cut.journal.exists());
}

/// Threat 5: a journal went over the file system that had been made since.
#[test]
fn a_file_system_made_since_is_refused_and_left() {
    const TEST: &str = "a_file_system_made_since_is_refused_and_left";
    let _lab = lab!(TEST, Lab::share());
    let cut = lab!(TEST, cut());
    let made = Command::new("mkfs.ext4").args(["-q", "-F", "-E", "nodiscard"]).arg(cut.device.path()).status();
    assert!(made.unwrap().success());
    let with_files = std::fs::read(&cut.image).unwrap();
    let refused = cut.restore(cut.device.path(), &[]);
    refused.refuses(2, &["newer data at", "mkfs since?", "nothing was written", "--keep-newer"]);
    assert!(std::fs::read(&cut.image).unwrap() == with_files && cut.journal.exists());
    // On request what mkfs did not touch is put back, and nothing else.
    let done = cut.restore(cut.device.path(), &["--keep-newer"]);
    assert_eq!(done.code, Some(1), "{} {}", done.stdout, done.stderr);
    assert!(cut.journal.exists());
    let now = std::fs::read(&cut.image).unwrap();
    assert!(now != with_files);
    let sectors = now.chunks(512).zip(cut.before.chunks(512)).zip(with_files.chunks(512));
    assert!(sectors.clone().all(|((now, before), newer)| now == before || now == newer));
    let checked = Command::new("e2fsck").args(["-f", "-n"]).arg(cut.device.path()).output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
}

/// Threat 9: the card came back under another name and was probed again without a word.
#[test]
fn a_card_under_another_name_is_recognised_by_run_verify_and_info() {
    const TEST: &str = "a_card_under_another_name_is_recognised_by_run_verify_and_info";
    let _lab = lab!(TEST, Lab::share());
    let mut cut = lab!(TEST, cut());
    // The image is attached a second time before the first goes, so its name is another one whatever else attaches devices.
    let old = cut.device.path().to_owned();
    let again = lab!(TEST, LoopDevice::attach(&cut.image, false));
    drop(std::mem::replace(&mut cut.device, again));
    assert_ne!(cut.device.path(), old);
    let device = cut.device.path().to_str().unwrap();
    let journal = cut.journal.to_str().unwrap();
    let mend = format!("assay verify --restore {journal} {device}");
    for arguments in [
        &["verify", "--quick", "--quiet", device][..],
        &["verify", "--quick", device],
        &["run", "--suite", "tiny.toml", "--raw", "--overwrite", device, device],
    ] {
        let refused = run(cut.place.assay(arguments));
        refused.refuses(4, &["blocks of a quick probe", &mend]);
    }
    let info = run(cut.place.assay(["info", device]));
    assert!(info.succeeds().stdout.contains(&mend), "{}", info.stdout);
    let pending = |cut: &Cut| cut.place.json(["info", "--json", device])["pending_journals"].clone();
    let all = pending(&cut);
    let [of_cut] = &all.as_array().unwrap()[..] else { panic!("{all}") };
    assert_eq!((of_cut["journal"].as_str(), of_cut["device"].as_str()), (Some(journal), Some(device)));
    assert_eq!(of_cut["probed"], json!({ "name": old, "bytes": SIZE, "serial": null }));
    assert!(of_cut["places"].as_u64() > Some(0) && of_cut["created_seconds"].as_u64() > Some(1_500_000_000));
    cut.restore(cut.device.path(), &[]).succeeds();
    cut.assert_as_before();
    let info = run(cut.place.assay(["info", device]));
    assert!(!info.succeeds().stdout.contains("--restore"), "{}", info.stdout);
    assert_eq!(pending(&cut), json!([]));
}

/// A journal elsewhere is found through a pointer, which goes with it.
#[test]
fn a_journal_elsewhere_is_found_again() {
    const TEST: &str = "a_journal_elsewhere_is_found_again";
    let _lab = lab!(TEST, Lab::share());
    let mut cut = lab!(TEST, cut());
    let elsewhere = cut.place.path().join("undo");
    std::fs::rename(&cut.journal, &elsewhere).unwrap();
    let pointer = cut.place.data().join("journals/card.elsewhere");
    std::fs::write(&pointer, elsewhere.to_str().unwrap()).unwrap();
    cut.journal = elsewhere;
    let mut command = cut.place.assay(["verify", "--quick"]);
    command.arg(cut.device.path());
    run(command).refuses(4, &["undo"]);
    cut.restore(cut.device.path(), &[]).succeeds();
    cut.assert_as_before();
    assert!(!pointer.exists());
    // A probe that ends by itself leaves both until the device is seen again.
    let mut command = cut.place.assay(["verify", "--quick", "--quiet", "--journal", "mine.journal"]);
    command.arg(cut.device.path());
    let done = run(command);
    assert!(done.succeeds().stderr.contains("--restore"), "the command is told beforehand: {}", done.stderr);
    assert!(done.stderr.contains("everything is put back; wait a moment before you unplug"), "{}", done.stderr);
    let data = cut.place.data().join("journals");
    let pointers = || std::fs::read_dir(&data).unwrap().count();
    cut.journal = cut.place.path().join("mine.journal");
    assert_eq!((pointers(), cut.journal.exists()), (1, true));
    cut.assert_as_before();
    assert_eq!(pointers(), 0);
}

/// A full disk of the journal was found out in the middle: exit 3, and a restoration that failed.
#[test]
fn a_disk_too_small_for_the_journal_is_refused_beforehand() {
    const TEST: &str = "a_disk_too_small_for_the_journal_is_refused_beforehand";
    let _lab = lab!(TEST, Lab::share());
    if !can_be_apart(TEST) {
        return;
    }
    let place = Place::new();
    let image = image(&place, "card.img", 1);
    let before = std::fs::read(&image).unwrap();
    let device = lab!(TEST, LoopDevice::attach(&image, false));
    let mut command = place.apart(
        "mkdir small; mount -t tmpfs -o size=2m tmpfs small
         code=0; \"$ASSAY\" verify --quick --journal small/undo \"$DEVICE\" || code=$?
         [ -z \"$(ls -A small)\" ] && exit $code",
    );
    command.env("DEVICE", device.path());
    run(command).refuses(4, &["needs up to", "free", "--journal"]);
    drop(device);
    assert!(std::fs::read(&image).unwrap() == before);
}

/// A genuine card that the kernel reads and writes, at will very slowly.
#[derive(Clone)]
struct Served {
    medium: SharedMedium,
    slow: Arc<AtomicBool>,
    writes: Arc<AtomicU64>,
    /// Something was written since the last flush.
    unflushed: Arc<AtomicBool>,
    /// What happens elsewhere before the [`MIDDLE`]th write is answered.
    meanwhile: Option<Arc<dyn Fn() + Send + Sync>>,
}

/// By then a probe has written to many places, and has many before it.
const MIDDLE: u64 = 200;

impl Served {
    fn new() -> Self {
        Self {
            medium: SharedMedium::new(MediumSpec::genuine(SIZE).build().unwrap()),
            slow: Arc::default(),
            writes: Arc::default(),
            unflushed: Arc::default(),
            meanwhile: None,
        }
    }

    /// Whether it reads as when it was made.
    fn is_as_before(&self) -> bool {
        self.medium.with(|medium| medium.changed_since(&medium.spec().build().unwrap().snapshot()).is_empty())
    }
}

impl Backing for Served {
    fn bytes(&self) -> u64 {
        self.medium.bytes()
    }
    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.medium.read(offset, buffer)
    }
    fn write(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        let before = self.writes.fetch_add(1, Ordering::AcqRel);
        if let Some(meanwhile) = self.meanwhile.as_ref().filter(|_| before + 1 == MIDDLE) {
            meanwhile();
        }
        self.unflushed.store(true, Ordering::Release);
        if self.slow.load(Ordering::Acquire) {
            std::thread::sleep(Duration::from_millis(20)); // The medium is slow.
        }
        self.medium.write(offset, data)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.unflushed.store(false, Ordering::Release);
        Ok(())
    }
}

/// Takes all the room of a file system, to the last block.
fn fill_up(ballast: &Path) {
    let mut file = File::create(ballast).unwrap();
    for piece in [64 << 10, 4 << 10, 1 << 10] {
        let piece = vec![0x5a; piece];
        while file.write_all(&piece).is_ok() {}
    }
    // Nothing of it waits to be given room.
    let _ = file.sync_all();
}

/// Room is taken for a journal beforehand where the file system can; ext2 cannot, and others write there too.
#[test]
fn a_disk_of_the_journal_that_fills_up_ends_the_probe_and_everything_is_put_back() {
    const TEST: &str = "a_disk_of_the_journal_that_fills_up_ends_the_probe_and_everything_is_put_back";
    let _lab = lab!(TEST, Lab::share());
    let place = Place::new();
    let small = place.path().join("small.img");
    File::create(&small).and_then(|file| file.set_len(2 * SIZE)).unwrap();
    let small = lab!(TEST, LoopDevice::attach(&small, false));
    let disk = lab!(TEST, Mount::make(FileSystem::Ext2, small.path(), &place.path().join("disk")));
    let (journal, ballast) = (disk.path().join("undo"), disk.path().join("ballast"));
    let filled = ballast.clone();
    let served = Served { meanwhile: Some(Arc::new(move || fill_up(&filled))), ..Served::new() };
    let card = lab!(TEST, FakeCard::new(served.clone()));
    let mut command = place.assay(["verify", "--quick", "--quiet", "--json", "--journal"]);
    command.arg(&journal).arg(card.path());
    let done = run(command);
    assert!(ballast.exists(), "it filled up in the middle: {}", done.stderr);
    assert_eq!(done.code, Some(4), "{}\n{}", done.stdout, done.stderr);
    assert!(!done.stderr.contains("not everything is put back"), "{}", done.stderr);
    let record: Record = serde_json::from_str(&done.stdout).unwrap();
    let Outcome::Failed { failure, detail, .. } = &record.outcome else { panic!("{:?}", record.outcome) };
    assert_eq!(*failure, RunFailure::OutOfSpace, "the card is not to blame");
    assert!(detail.contains("undo: the journal cannot be written"), "{detail}");
    assert_eq!(record.verification.unwrap().verdict, Verdict::Undecided);
    assert!(served.is_as_before(), "every byte as before");
    assert!(journal.exists() && !served.unflushed.load(Ordering::Acquire));
    drop(card);
}

/// A stop that is longer than a device may hang is no hang of the device.
#[test]
fn a_probe_that_was_stopped_goes_on() {
    const TEST: &str = "a_probe_that_was_stopped_goes_on";
    let _lab = lab!(TEST, Lab::share());
    let ((arrive, arrived), (release, released)) = (channel(), channel::<()>());
    let gate = Mutex::new((arrive, released));
    let wait = move || {
        let gate = gate.lock().unwrap();
        gate.0.send(()).unwrap();
        let _ = gate.1.recv();
    };
    let served = Served { meanwhile: Some(Arc::new(wait)), ..Served::new() };
    let card = lab!(TEST, FakeCard::new(served.clone()));
    let place = Place::new();
    let mut command = place.assay(["verify", "--quick", "--quiet", "--json", "--hang-after", "5s"]);
    command.arg(card.path());
    let running = Running::start(command);
    if arrived.recv_timeout(Duration::from_secs(30)).is_err() {
        panic!("{:?}", running.end());
    }
    let worker = running.workers()[0];
    running.signal(Signal::STOP);
    wait_until_stopped(worker, true);
    std::thread::sleep(Duration::from_secs(7));
    drop(release);
    running.signal(Signal::CONT);
    let done = running.end();
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let record: Record = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(record.outcome, Outcome::Completed);
    assert!(record.warnings.iter().any(|warning| matches!(warning.finding, Finding::Suspended { .. })));
    assert!(served.is_as_before());
}

/// The first Ctrl-C puts everything back; the second ended half way without a word.
#[test]
fn the_second_ctrl_c_says_what_stays_and_how_to_mend_it() {
    const TEST: &str = "the_second_ctrl_c_says_what_stays_and_how_to_mend_it";
    let _lab = lab!(TEST, Lab::share());
    let served = Served::new();
    let card = lab!(TEST, FakeCard::new(served.clone()));
    let place = Place::new();
    let mut command = place.assay(["verify", "--quick", "--quiet", "--no-save"]);
    command.arg(card.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    served.slow.store(true, Ordering::Release);
    let mut child = command.spawn().unwrap();
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    wait_for("some writes", || served.writes.load(Ordering::Acquire) >= MIDDLE);
    kill_process(pid, Signal::INT).unwrap();
    // Signals within half a second are one wish.
    std::thread::sleep(Duration::from_millis(700));
    assert!(child.try_wait().unwrap().is_none(), "it still puts back");
    kill_process(pid, Signal::INT).unwrap();
    let lines: Vec<String> = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap).collect();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{lines:?}");
    let journals: Vec<PathBuf> =
        std::fs::read_dir(place.data().join("journals")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let [journal] = &journals[..] else { panic!("{journals:?}") };
    let mend = format!("assay verify --restore {} {}", journal.display(), card.path().display());
    assert!(lines.first().unwrap().contains(&mend), "before the first write: {lines:?}");
    let last = lines.last().unwrap();
    assert!(last.contains("not everything is put back") && last.contains(&mend), "{lines:?}");
    assert!(!served.is_as_before());
    served.slow.store(false, Ordering::Release);
    let mut command = place.assay(["verify", "--restore"]);
    command.arg(journal).arg(card.path());
    // What the kernel still does for the killed process ends first.
    wait_for("the device", || File::options().read(true).write(true).open(card.path()).is_ok());
    run(command).succeeds();
    assert!(!served.unflushed.load(Ordering::Acquire), "it ends when the device has flushed");
    assert!(served.is_as_before() && journal.exists());
}
