//! Raw devices: what is refused, and that nothing but the device that was checked is written.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use assay_core::event::EventKind;
use assay_core::finding::Finding;
use assay_core::record::Record;
use assay_core::units::MIB;
use assay_lab::{Backing, FakeCard, Lab, LoopDevice, Missing, lab, skip};
use rustix::process::{Pid, Signal, kill_process};

use crate::common::{Place, Running, TINY, random, run, suite};

/// Writes past the cache first and through it then.
fn direct_then_cached() -> String {
    let cached = random("cached", "write", "1s") + "direct = false\n";
    suite("direct-then-cached", "20s", 1, &[random("direct", "write", "1s"), cached]).replace("256MiB", "512MiB")
}

const BYTES: u64 = 32 * MIB;

/// A file of zeros, and the device over it.
struct Card {
    device: LoopDevice,
    image: PathBuf,
}

impl Card {
    fn new(place: &Place, name: &str) -> Result<Self, Missing> {
        let image = place.file(name, []);
        File::options().write(true).open(&image).unwrap().set_len(BYTES).unwrap();
        Ok(Self { device: LoopDevice::attach(&image, false)?, image })
    }

    /// What the medium holds. Another process that has the device open at the end of a write keeps it in the cache.
    fn content(&self) -> Vec<u8> {
        File::open(self.device.path()).unwrap().sync_all().unwrap();
        fs::read(&self.image).unwrap()
    }

    fn write(&self, offset: u64, bytes: &[u8]) {
        let device = OpenOptions::new().write(true).open(self.device.path()).unwrap();
        device.write_all_at(bytes, offset).unwrap();
        device.sync_all().unwrap();
    }
}

/// A node of the device under another name.
fn node(device: &LoopDevice, path: &Path) -> Result<PathBuf, Missing> {
    let number = device.number()?;
    let (major, minor) = number.split_once(':').unwrap();
    let made = Command::new("mknod").arg(path).args(["b", major, minor]).status();
    if !made.is_ok_and(|status| status.success()) || File::open(path).is_err() {
        return Err(Missing("needs mknod, and nodes that work where the tests run".to_owned()));
    }
    Ok(path.to_owned())
}

/// Threat 6: the cached workload opened the path again and wrote to whatever had taken its place.
#[test]
fn a_node_that_is_replaced_between_two_workloads_leads_to_no_other_device() {
    const TEST: &str = "a_node_that_is_replaced_between_two_workloads_leads_to_no_other_device";
    let _lab = lab!(TEST, Lab::share());
    let place = Place::new();
    place.file("two.toml", direct_then_cached());
    let card = lab!(TEST, Card::new(&place, "card.img"));
    let other = lab!(TEST, Card::new(&place, "other.img"));
    let path = lab!(TEST, node(&card.device, &place.path().join("node")));
    let mut command = place.assay(["run", "--events", "--raw", "--suite", "two.toml"]);
    command.arg(&path);
    let mut running = Running::start(command);
    running.wait_for_repeat("direct", 1);
    fs::remove_file(&path).unwrap();
    lab!(TEST, node(&other.device, &path));
    running.wait_for(|event| matches!(event, EventKind::RepeatFinished { .. }));
    running.wait_for_repeat("cached", 1);
    running.end().measures();
    assert!(other.content().iter().all(|byte| *byte == 0), "a device that was never checked was written");
    assert!(card.content().iter().any(|byte| *byte != 0));
    let record = place.only_record();
    assert_eq!(record.measurements[1].repeats.len(), 1);
}

/// Threat 7: a tar archive on the bare device was overwritten without a word.
#[test]
fn an_archive_on_a_bare_device_is_data() {
    const TEST: &str = "an_archive_on_a_bare_device_is_data";
    let _lab = lab!(TEST, Lab::share());
    let place = Place::new();
    let card = lab!(TEST, Card::new(&place, "card.img"));
    place.file("letter.txt", "Dear reader");
    let made =
        Command::new("tar").arg("-cf").arg(card.device.path()).arg("-C").arg(place.path()).arg("letter.txt").status();
    if !made.is_ok_and(|status| status.success()) {
        return skip(TEST, &Missing("needs tar".to_owned()));
    }
    let before = card.content();
    assert!(before.windows(5).any(|bytes| bytes == b"ustar"));
    let path = card.device.path().to_str().unwrap();
    let raw = |more: &[&str]| {
        let mut command = place.assay(["run", "--suite", "tiny.toml", "--raw"]);
        command.args(more).arg(path);
        run(command)
    };
    raw(&[]).refuses(2, &[path, "holds data", "--overwrite"]).at_once();
    assert!(card.content() == before, "a refusal changed the device");
    assert!(!place.store().exists(), "a refusal made a store");
    raw(&["--overwrite", path]).measures();
    assert!(card.content() != before);
}

/// What a run left is data too: whoever means it names the device.
#[test]
fn what_an_earlier_run_wrote_is_data() {
    const TEST: &str = "what_an_earlier_run_wrote_is_data";
    let _lab = lab!(TEST, Lab::share());
    let place = Place::new();
    let card = lab!(TEST, Card::new(&place, "card.img"));
    let path = card.device.path().to_str().unwrap();
    run(place.assay(["run", "--suite", "tiny.toml", "--raw", path])).measures();
    run(place.assay(["run", "--suite", "tiny.toml", "--raw", path])).refuses(2, &[path, "holds data"]);
}

/// A process that has the device open, and is nobody's child; ended when dropped.
struct Stranger(i32);

impl Stranger {
    fn with(device: &Path) -> Self {
        // The shell ends at once, and what it started then has another parent.
        let script = "sleep 600 3<>\"$0\" >/dev/null 2>&1 </dev/null & echo $!";
        let output = Command::new("sh").args(["-c", script]).arg(device).output().unwrap();
        let stranger = Self(String::from_utf8_lossy(&output.stdout).trim().parse().unwrap());
        while fs::read_link(format!("/proc/{}/fd/3", stranger.0)).is_err() {
            std::thread::yield_now();
        }
        stranger
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_raw(self.0).unwrap(), Signal::KILL);
    }
}

/// Threat 8: a device that another process held open for writing was measured and probed.
#[test]
fn a_device_that_another_process_has_open_is_refused_and_the_process_named() {
    const TEST: &str = "a_device_that_another_process_has_open_is_refused_and_the_process_named";
    let _lab = lab!(TEST, Lab::share());
    let place = Place::new();
    let card = lab!(TEST, Card::new(&place, "card.img"));
    let path = card.device.path().to_str().unwrap();
    let stranger = Stranger::with(card.device.path());
    let words = [path, "in use", "sleep", &format!("process {}", stranger.0)];
    run(place.assay(["run", "--suite", "tiny.toml", "--raw", path])).refuses(2, &words);
    run(place.assay(["run", "--suite", "tiny.toml", "--raw", "--overwrite", path, path])).refuses(2, &words);
    run(place.assay(["verify", "--quick", path])).refuses(2, &words);
    assert!(card.content().iter().all(|byte| *byte == 0), "a refusal changed the device");
}

/// Threat 15: every run by `/dev/disk/by-id` went through the page cache.
#[test]
fn a_device_that_a_link_names_is_measured_with_direct_io() {
    const TEST: &str = "a_device_that_a_link_names_is_measured_with_direct_io";
    let _lab = lab!(TEST, Lab::share());
    let place = Place::new();
    let card = lab!(TEST, Card::new(&place, "card.img"));
    let link = place.path().join("by-id");
    std::os::unix::fs::symlink(card.device.path(), &link).unwrap();
    for suite in ["tiny.toml", "read-only"] {
        let mut command = place.assay(["run", "--json", "--raw", "--budget", "2s", "--suite", suite]);
        command.arg(&link);
        let record: Record = serde_json::from_str(&run(command).measures().stdout).unwrap();
        assert!(
            record.settings().unwrap().direct_alignment_bytes.is_some(),
            "{suite}: {}",
            record.settings().unwrap().direct_source
        );
        let cached = record.warnings.iter().any(|w| matches!(w.finding, Finding::CachedIo { .. }));
        assert!(!cached, "{suite}: {:?}", record.warnings);
        assert_eq!(record.medium.path, link.to_str().unwrap());
    }
}

/// Cannot be read in some places.
struct Failing {
    content: Vec<u8>,
    bad: std::ops::Range<u64>,
    written: Arc<Mutex<u64>>,
}

impl Backing for Failing {
    fn bytes(&self) -> u64 {
        self.content.len() as u64
    }

    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        if offset < self.bad.end && offset + buffer.len() as u64 > self.bad.start {
            return Err(io::Error::from_raw_os_error(5));
        }
        buffer.copy_from_slice(&self.content[offset as usize..][..buffer.len()]);
        Ok(())
    }

    fn write(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        *self.written.lock().unwrap() += data.len() as u64;
        self.content[offset as usize..][..data.len()].copy_from_slice(data);
        Ok(())
    }
}

/// Finding 7: a device whose marks cannot be read was refused by the probe ("check the cable"). For
/// a run it is not shown to be blank.
#[test]
fn a_first_or_last_block_that_cannot_be_read_stops_a_run_and_not_the_probe() {
    const TEST: &str = "a_first_or_last_block_that_cannot_be_read_stops_a_run_and_not_the_probe";
    let _lab = lab!(TEST, Lab::share());
    // The least that the probe takes.
    const BYTES: u64 = 64 * MIB;
    for bad in [0..4096, BYTES - 4096..BYTES] {
        let place = Place::new();
        let written = Arc::new(Mutex::new(0));
        let backing = Failing { content: vec![0; BYTES as usize], bad: bad.clone(), written: Arc::clone(&written) };
        let card = lab!(TEST, FakeCard::new(backing));
        let path = card.path().to_str().unwrap();
        let refused = run(place.assay(["run", "--suite", "tiny.toml", "--raw", path]));
        refused.refuses(2, &[path, &format!("at byte {}", bad.start), "blank", "--overwrite"]);
        assert_eq!(*written.lock().unwrap(), 0, "a refusal wrote to the device");
        // A cache that the probe cannot drive out here would be said to be driven out.
        run(place.assay(["verify", "--quick", "--cache", "9MiB", path])).refuses(2, &[path, "8 MiB at most"]);
        assert_eq!(*written.lock().unwrap(), 0, "a refusal wrote to the device");
        let probed = run(place.assay(["verify", "--quick", "--json", path]));
        let record: Record = serde_json::from_str(&probed.stdout).unwrap_or_else(|_| panic!("{}", probed.stderr));
        assert!(record.verification.is_some());
    }
}

/// Without a permit the device is opened to be read alone.
#[test]
fn suites_that_only_read_leave_a_raw_device_as_it_was() {
    const TEST: &str = "suites_that_only_read_leave_a_raw_device_as_it_was";
    let _lab = lab!(TEST, Lab::share());
    let place = Place::new();
    let card = lab!(TEST, Card::new(&place, "card.img"));
    card.write(5 * MIB, b"somebody's");
    let before = card.content();
    let reads = TINY.replace("\"write\"", "\"read\"");
    place.file("reads.toml", reads);
    let path = card.device.path().to_str().unwrap();
    run(place.assay(["run", "--suite", "reads.toml", "--raw", path])).measures();
    assert!(card.content() == before);
}

/// A report, an answer, a plan and the page of a run: a device keeps what is on it, by its name and by a link.
#[test]
fn no_output_goes_to_a_device() {
    const TEST: &str = "no_output_goes_to_a_device";
    let _lab = lab!(TEST, Lab::share());
    let place = Place::new();
    place.measured();
    let card = lab!(TEST, Card::new(&place, "card.img"));
    card.write(0, b"dear");
    let before = card.content();
    let link = place.path().join("page.html");
    std::os::unix::fs::symlink(card.device.path(), &link).unwrap();
    let (link, device) = (link.to_str().unwrap(), card.device.path().to_str().unwrap());
    for arguments in [
        &["report", "-o", link][..],
        &["report", "--format", "html", "-o", device],
        &["rank", "-o", link],
        &["plan", "new", "--units", "A=1;B=1", "--slots", "2", "--rounds", "2", "-o", device],
        &["run", "--suite", "tiny.toml", "-o", link, "medium"],
    ] {
        let done = run(place.assay(arguments));
        let said = done.stderr.replace("\n  ", " ");
        assert!(done.code == Some(4) && said.contains("cannot be written: it is a device"), "{arguments:?}: {said}");
    }
    rustix::fs::sync();
    assert!(card.content() == before, "the device was written");
}
