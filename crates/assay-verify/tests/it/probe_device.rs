//! The quick probe of real block devices that are fakes, with and without a kill. Needs root and the lab.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use assay_core::verification::{FakeKind, Verdict};
use assay_device::guard::check_raw;
use assay_device::{DeviceError, Sysroot};
use assay_engine::Control;
use assay_lab::media::{Cache, CachedWrites, Layout, MediumSpec, SharedMedium};
use assay_lab::{FakeCard, Lab, LoopDevice, LoopPartition, Missing, Mount, lab, skip};
use assay_verify::probe::{
    BlockDevice, Device, Identity, Journal, JournalLeft, JournalPlace, Salt, Settings, restore, run,
};

const MIB: u64 = 1 << 20;
const QUICK: Settings = Settings { cache_limit_bytes: 8 * MIB };

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

fn identity(device: &BlockDevice, path: &Path) -> Identity {
    Identity { bytes: device.bytes(), name: path.display().to_string(), serial: None, attachment: None }
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
            .args(["--exact", &format!("probe_device::{TEST}"), "--nocapture"])
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
