//! The quick probe's plan, compared with what a model counts.

use std::cell::Cell;
use std::path::Path;
use std::process::Command;
use std::rc::Rc;
use std::time::{Duration, Instant};

use assay_core::verification::{FakeKind, Verdict};
use assay_device::guard::check_raw;
use assay_device::{DeviceError, Sysroot};
use assay_engine::Control;
use assay_lab::media::{Cache, CachedWrites, Layout, MediumSpec, ModelMedium, SharedMedium, Timing};
use assay_lab::{FakeCard, Lab, LoopDevice, LoopPartition, Missing, Mount, lab, skip};
use assay_verify::probe::{
    BlockDevice, Device, Forecast, Journal, JournalIdentity, JournalLeft, JournalPlace, ProbeFault, ProbeProgress,
    ProbeSettings, Salt, plan, restore, run,
};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const TIB: u64 = 1 << 40;

/// A medium whose clock is shared.
struct Clocked {
    medium: ModelMedium,
    ns: Rc<Cell<u64>>,
}

impl Device for Clocked {
    fn bytes(&self) -> u64 {
        self.medium.bytes()
    }
    fn block_bytes(&self) -> u32 {
        self.medium.block_bytes()
    }
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), ProbeFault> {
        let done = self.medium.read_at(offset, buffer);
        self.ns.set(self.medium.elapsed_ns());
        done
    }
    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<(), ProbeFault> {
        let done = self.medium.write_at(offset, data);
        self.ns.set(self.medium.elapsed_ns());
        done
    }
    fn sync(&mut self) -> Result<(), ProbeFault> {
        self.medium.sync()
    }
}

/// Probes a medium. Returns it, and the largest size of its journal in bytes.
fn probe(
    spec: &MediumSpec,
    settings: &ProbeSettings,
    ns: &Rc<Cell<u64>>,
    report: &mut dyn FnMut(ProbeProgress),
) -> (ModelMedium, u64, Verdict) {
    let mut medium = Clocked { medium: spec.build().unwrap(), ns: Rc::clone(ns) };
    let memory = Path::new("/dev/shm");
    let directory = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
    let path = directory.path().join("journal");
    let identity =
        JournalIdentity { bytes: spec.announced_bytes, name: "model".to_owned(), serial: None, attachment: None };
    let journal = Journal::create(&path, &identity, Salt::known(5)).unwrap();
    let mut journal_bytes = 0;
    let probed = run(&mut medium, journal, settings, &Control::default(), &mut |progress| {
        journal_bytes = journal_bytes.max(std::fs::metadata(&path).map_or(0, |meta| meta.len()));
        report(progress);
    })
    .unwrap();
    (medium.medium, journal_bytes, probed.verification.verdict)
}

/// Whether both are within a factor of 1.5.
fn near(said: u64, came: u64) -> bool {
    said * 2 <= came * 3 && said * 3 >= came * 2
}

/// The announced bytes were those of another search: they were never compared.
#[test]
fn a_genuine_device_costs_what_was_said_within_a_factor_of_one_and_a_half() {
    let mut wrong = Vec::new();
    for (bytes, block) in [
        (64 * MIB, 512),
        (500 * MIB, 512),
        (4 * GIB, 512),
        (64 * GIB, 4096),
        (512 * GIB, 512),
        (TIB, 512),
        (2 * TIB, 512),
        (2 * TIB, 4096),
    ] {
        let settings = ProbeSettings::usual(bytes);
        let said = plan(bytes, block, &settings);
        let (medium, journal, verdict) = probe(
            &MediumSpec { block_bytes: block, ..MediumSpec::genuine(bytes) },
            &settings,
            &Rc::default(),
            &mut |_| {},
        );
        assert_eq!(verdict, Verdict::Genuine);
        let came = medium.traffic();
        let line = format!("{bytes} in blocks of {block}: {said:?}, {came:?}");
        let pairs = [
            (said.written_bytes, came.written_bytes),
            (said.read_bytes, came.read_bytes),
            (said.writes, came.writes),
            (said.reads, came.reads),
        ];
        if !pairs.iter().all(|(said, came)| near(*said, *came)) || journal > said.most_journal_bytes {
            wrong.push(line);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Each restored byte is read before, and written in two rounds. That takes 15 s at most on a fast device, and 3
/// minutes on a card.
#[test]
fn a_genuine_device_of_2_tib_costs_at_most_400_mb() {
    for (timing, most_s) in [(Timing::ssd(), 15), (Timing::card(), 180)] {
        let spec = MediumSpec { timing, ..MediumSpec::genuine(2 * TIB) };
        let (medium, ..) = probe(&spec, &ProbeSettings::usual(2 * TIB), &Rc::default(), &mut |_| {});
        let came = medium.traffic();
        println!("{} bytes, {} ns", came.read_bytes + came.written_bytes, medium.elapsed_ns());
        assert!(came.read_bytes + came.written_bytes <= 400_000_000, "{came:?}");
        assert!(medium.elapsed_ns() <= most_s * 1_000_000_000, "{} ns", medium.elapsed_ns());
    }
}

/// The journal of a small device needs no more room than the size of the device and the heads of the records.
#[test]
fn the_journal_takes_no_more_than_was_demanded_and_that_is_no_more_than_the_device_holds() {
    for bytes in [64 << 10, MIB, 16 * MIB, 128 * MIB] {
        let specs = [
            MediumSpec::genuine(bytes),
            MediumSpec::limbo(bytes, bytes / 4).with_cache(Cache::with_bytes(bytes / 32)),
            MediumSpec::laid_out(bytes, Layout::wraparound(bytes / 4)),
            MediumSpec::laid_out(bytes, Layout::chain(bytes / 4, bytes / 8)),
        ];
        let demanded = plan(bytes, 512, &ProbeSettings::usual(bytes)).most_journal_bytes;
        assert!(demanded <= bytes + bytes / 4 + (64 << 10), "{demanded} for {bytes}");
        for spec in specs {
            let (_, journal, _) = probe(&spec, &ProbeSettings::usual(bytes), &Rc::default(), &mut |_| {});
            assert!(0 < journal && journal <= demanded, "{journal} of {demanded}: {spec:?}");
        }
    }
}

/// No time was announced at all.
#[test]
fn the_time_said_after_the_first_transfers_comes_within_a_factor_of_one_and_a_half() {
    let mut wrong = Vec::new();
    for timing in [Timing::card(), Timing::slow_card(), Timing::ssd()] {
        for bytes in [256 * MIB, 32 * GIB, 2 * TIB] {
            let settings = ProbeSettings::usual(bytes);
            let (ns, mut first) = (Rc::new(Cell::new(0)), None);
            let mut forecast = Forecast::new(plan(bytes, 512, &settings));
            let spec = MediumSpec { timing: timing.clone(), ..MediumSpec::genuine(bytes) };
            let (medium, ..) = probe(&spec, &settings, &ns, &mut |progress| {
                let now = Duration::from_nanos(ns.get());
                forecast.observe(&progress, now);
                first = first.or(forecast.left().map(|left| (now, now + left)));
            });
            let (at, said) = first.unwrap();
            let came = medium.elapsed_ns();
            if !near(said.as_nanos() as u64, came) || at.as_nanos() as u64 > came / 2 {
                wrong.push(format!("{bytes}: {said:?} said after {at:?}, {} s came", came / 1_000_000_000));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// `lost` was always 0, and `places` counted sectors.
#[test]
fn progress_counts_places_and_those_whose_loss_was_seen() {
    let settings = ProbeSettings::usual(GIB);
    for (spec, fake) in [(MediumSpec::genuine(GIB), false), (MediumSpec::limbo(GIB, GIB / 2), true)] {
        let (mut places, mut of, mut lost) = (0, 0, 0);
        probe(&spec, &settings, &Rc::default(), &mut |progress| {
            if progress.of > 0 {
                assert!(places <= progress.places && lost <= progress.lost && progress.lost <= progress.places);
                (places, of, lost) = (progress.places, progress.of, progress.lost);
            }
        });
        if fake {
            assert!(lost > 100, "{lost} of {places}");
        } else {
            assert_eq!((places, lost), (of, 0));
        }
    }
}

// The quick probe of real block devices that are fakes, with and without a kill. Needs root and the lab.

const QUICK: ProbeSettings = ProbeSettings { cache_limit_bytes: 8 * MIB };

/// Opens it as `assay verify` does, after the kernel has finished its work for a killed process.
fn open(path: &Path) -> BlockDevice {
    let start = Instant::now();
    loop {
        let permit = check_raw(&Sysroot::real(), path, Some(&path.to_string_lossy()));
        match permit.and_then(|permit| BlockDevice::open(&permit)) {
            Ok(device) => return device,
            Err(error) if start.elapsed() > Duration::from_secs(10) => panic!("{error}"),
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

fn identity(device: &BlockDevice, path: &Path) -> JournalIdentity {
    JournalIdentity { bytes: device.bytes(), name: path.display().to_string(), serial: None, attachment: None }
}

fn chain() -> SharedMedium {
    let spec = MediumSpec::laid_out(1024 * MIB, Layout::chain(256 * MIB, 100 * MIB))
        .with_cache(Cache { takes: CachedWrites::Random, ..Cache::with_bytes(8 << 10) })
        .with_cache(Cache { takes: CachedWrites::Sequential, ..Cache::with_bytes(4 * MIB) });
    SharedMedium::new(spec.build().unwrap())
}

/// Whether it reads as it was made.
fn is_as_before(medium: &SharedMedium) -> bool {
    medium.with(|medium| medium.changed_since(&medium.spec().build().unwrap().snapshot()).is_empty())
}

#[test]
fn a_fake_block_device_is_told_and_left_as_it_was() {
    let made = Lab::share().and_then(|lab| {
        let medium = chain();
        Ok((lab, medium.clone(), FakeCard::new(medium)?))
    });
    let (_lab, medium, card) = match made {
        Ok(made) => made,
        Err(missing) => return skip("a_fake_block_device_is_told_and_left_as_it_was", &missing),
    };
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    let mut device = open(card.path());
    Journal::refuse_same_device(&path, card.path()).unwrap();
    let journal = Journal::create(&path, &identity(&device, card.path()), Salt::random().unwrap()).unwrap();
    let probed = run(&mut device, journal, &QUICK, &Control::default(), &mut |_| {}).unwrap();
    let found = probed.verification;
    assert_eq!((found.verdict, found.kind), (Verdict::Fake, Some(FakeKind::Chain)), "{}", assay_lab::outline(&found));
    assert_eq!(found.real_bytes, Some(100 * MIB));
    assert!(probed.journal == JournalLeft::UntilSeenAgain && path.exists());
    assert!(is_as_before(&medium));
}

#[test]
fn killed_while_it_probes_a_real_device_everything_is_restored() {
    const TEST: &str = "killed_while_it_probes_a_real_device_everything_is_restored";
    // A process of its own, with the same test, is killed.
    if let (Some(device), Some(journal)) = (std::env::var_os("PROBED_DEVICE"), std::env::var_os("PROBE_JOURNAL")) {
        let path = Path::new(&device);
        let mut device = open(path);
        let journal = Journal::create(Path::new(&journal), &identity(&device, path), Salt::random().unwrap()).unwrap();
        run(&mut device, journal, &QUICK, &Control::default(), &mut |_| {}).unwrap();
        return;
    }
    let _lab = match Lab::share() {
        Ok(lab) => lab,
        Err(missing) => return skip(TEST, &missing),
    };
    let mut cut = 0;
    for moment in 0..5u64 {
        let medium = chain();
        let card = match FakeCard::new(medium.clone()) {
            Ok(card) => card,
            Err(missing) => return skip(TEST, &missing),
        };
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", &format!("probe_plan::{TEST}"), "--nocapture"])
            .env("PROBED_DEVICE", card.path())
            .env("PROBE_JOURNAL", &path)
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        // Time is counted from the first changed block.
        let start = Instant::now();
        while is_as_before(&medium) {
            assert!(start.elapsed() < Duration::from_secs(30), "nothing was written");
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(moment * 37));
        child.kill().unwrap(); // SIGKILL
        child.wait().unwrap();
        let mut device = open(card.path());
        cut += u64::from(!is_as_before(&medium));
        if path.exists() {
            let identity = identity(&device, card.path());
            assert!(restore(&path, &mut device, &identity).unwrap().differing.is_empty());
        }
        assert!(is_as_before(&medium), "moment {moment}");
    }
    assert!(cut > 0, "every child had ended before it was killed");
}

#[test]
fn a_mounted_device_and_a_journal_on_it_are_refused() {
    let made = Lab::share().and_then(|lab| {
        let directory = tempfile::tempdir().map_err(|error| Missing(error.to_string()))?;
        let image = directory.path().join("image");
        std::fs::File::create(&image).and_then(|file| file.set_len(64 * MIB)).map_err(|e| Missing(e.to_string()))?;
        let device = LoopDevice::attach(&image, false)?;
        let mount = Mount::ext4(device.path(), &directory.path().join("mnt"))?;
        Ok((mount, device, directory, lab))
    });
    let (mount, device, _directory, _lab) = match made {
        Ok(made) => made,
        Err(missing) => return skip("a_mounted_device_and_a_journal_on_it_are_refused", &missing),
    };
    let named = device.path().to_string_lossy().into_owned();
    let refused = check_raw(&Sysroot::real(), device.path(), Some(&named));
    assert!(matches!(refused, Err(DeviceError::Mounted { .. })), "{refused:?}");
    let journal = mount.path().join("journal");
    assert!(Journal::refuse_same_device(&journal, device.path()).is_err());
    assert!(Journal::refuse_same_device(device.path(), device.path()).is_err());
}

/// The file system of one partition holds the journal for another: a failure or a wrap-around of the disk affects both.
#[test]
fn a_journal_on_another_partition_of_the_disk_is_told() {
    const TEST: &str = "a_journal_on_another_partition_of_the_disk_is_told";
    let _lab = lab!(TEST, Lab::share());
    let directory = tempfile::tempdir().unwrap();
    let image = directory.path().join("image");
    std::fs::File::create(&image).unwrap().set_len(64 * MIB).unwrap();
    let device = lab!(TEST, LoopDevice::attach(&image, false));
    let first = lab!(TEST, LoopPartition::add(&device, 1, 2048, 65536));
    let second = lab!(TEST, LoopPartition::add(&device, 2, 67584, 61440));
    let mount = lab!(TEST, Mount::ext4(&first.path(), &directory.path().join("mnt")));
    let place = |journal: &Path, device: &Path| Journal::refuse_same_device(journal, device).unwrap();
    assert_eq!(place(&mount.path().join("journal"), &second.path()), JournalPlace::SameDisk(device.name()));
    // The same in a file system in a file there.
    let inner = mount.path().join("inner");
    std::fs::File::create(&inner).unwrap().set_len(8 * MIB).unwrap();
    let inner = lab!(TEST, LoopDevice::attach(&inner, false));
    let within = lab!(TEST, Mount::ext4(inner.path(), &directory.path().join("inner")));
    assert_eq!(place(&within.path().join("journal"), &second.path()), JournalPlace::SameDisk(device.name()));
    // An image is a medium of its own, not the disk that holds it.
    let other = directory.path().join("other");
    std::fs::File::create(&other).unwrap().set_len(MIB).unwrap();
    let other = lab!(TEST, LoopDevice::attach(&other, false));
    assert_eq!(place(&directory.path().join("journal"), other.path()), JournalPlace::Apart);
}
