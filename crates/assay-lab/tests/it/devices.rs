//! Model media as real block devices, with every file system, that hang, return errors and are removed in use.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use assay_lab::media::{Cache, Failure, Gate, MediumSpec, SharedMedium, WritePolicy};
use assay_lab::{FakeCard, FileSystem, FilledDevice, Lab, Missing, Mount, lab, skip};
use assay_verify::probe::Device;
use rustix::fs::{Advice, Mode, OFlags, fadvise};

const MIB: u64 = 1 << 20;
const SOON: Duration = Duration::from_secs(20);

/// A model, its device, and the right to have one. The gate is opened at the end, so that nothing waits for ever.
struct Real {
    card: FakeCard,
    medium: SharedMedium,
    _open: OpenAtTheEnd,
    _lab: Lab,
}

struct OpenAtTheEnd(Gate);

impl Drop for OpenAtTheEnd {
    fn drop(&mut self) {
        self.0.open();
    }
}

fn real(spec: &MediumSpec) -> Result<Real, Missing> {
    let lab = Lab::share()?;
    let medium = SharedMedium::new(spec.build().unwrap());
    let card = FakeCard::new(medium.clone())?;
    Ok(Real { _open: OpenAtTheEnd(medium.gate()), card, medium, _lab: lab })
}

/// Content that no file system writes by itself.
fn content(bytes: u64) -> Vec<u8> {
    (0..bytes / 8).flat_map(|word| (word + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes()).collect()
}

/// Writes to a new file, and waits until the medium has the data: fusefat does not pass on fsync(2).
fn write(real: &Real, path: &Path, data: &[u8]) -> std::io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_all(data)?;
    file.sync_all()?;
    File::open(real.card.path())?.sync_all()
}

/// Reads without the page cache.
fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    fadvise(&file, 0, None, Advice::DontNeed)?;
    let mut data = Vec::new();
    file.read_to_end(&mut data)?;
    Ok(data)
}

#[test]
fn the_kernel_reads_and_writes_what_the_model_holds() {
    const TEST: &str = "the_kernel_reads_and_writes_what_the_model_holds";
    for block_bytes in [512, 4096] {
        let spec = MediumSpec { block_bytes, ..MediumSpec::limbo(64 * MIB, 8 * MIB) };
        let real = lab!(TEST, real(&spec));
        let mut device = File::options().read(true).write(true).open(real.card.path()).unwrap();
        let data = content(MIB);
        // Half of the data lie where the medium holds nothing.
        device.seek(SeekFrom::Start(8 * MIB - MIB / 2)).unwrap();
        device.write_all(&data).unwrap();
        device.sync_all().unwrap();
        fadvise(&device, 0, None, Advice::DontNeed).unwrap();
        let mut back = vec![1; MIB as usize];
        device.seek(SeekFrom::Start(8 * MIB - MIB / 2)).unwrap();
        device.read_exact(&mut back).unwrap();
        let half = back.len() / 2;
        assert!(back[..half] == data[..half] && back[half..].iter().all(|byte| *byte == 0));
        let mut inside = vec![0; half];
        real.medium.with(|medium| medium.read_at(8 * MIB - MIB / 2, &mut inside)).unwrap();
        assert!(inside == data[..half]);
        let size = std::process::Command::new("blockdev").arg("--getss").arg(real.card.path()).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&size.stdout).trim(), block_bytes.to_string());
        assert_eq!(real.medium.with(|medium| medium.traffic().rejected), 0);
    }
}

#[test]
fn a_flush_reaches_the_model() {
    const TEST: &str = "a_flush_reaches_the_model";
    let cache = Cache { write_policy: WritePolicy::Back { ignores_flush: false }, ..Cache::with_bytes(MIB) };
    let real = lab!(TEST, real(&MediumSpec::genuine(64 * MIB).with_cache(cache)));
    let before = real.medium.with(|medium| medium.traffic().flushes);
    let mut device = File::options().write(true).open(real.card.path()).unwrap();
    device.write_all(&content(4096)).unwrap();
    device.sync_all().unwrap();
    assert!(real.medium.with(|medium| medium.traffic().flushes) > before);
}

#[test]
fn every_file_system_holds_hangs_and_fails_with_its_medium() {
    const TEST: &str = "every_file_system_holds_hangs_and_fails_with_its_medium";
    for (file_system, failure) in [
        (FileSystem::Ext2, Failure::WriteErrors),
        (FileSystem::Ext4, Failure::Gone),
        (FileSystem::Xfs, Failure::ReadOnly),
        (FileSystem::Vfat, Failure::WriteErrors),
        (FileSystem::Exfat, Failure::Gone),
    ] {
        let real = lab!(TEST, real(&MediumSpec::genuine(320 * MIB).blank()));
        let directory = tempfile::tempdir().unwrap();
        let mount = match Mount::make(file_system, real.card.path(), &directory.path().join("mnt")) {
            Ok(mount) => mount,
            Err(missing) => {
                skip(TEST, &Missing(format!("{file_system:?}: {missing}")));
                continue;
            }
        };
        let file = |name: &str| mount.path().join(name);
        let data = content(4 * MIB);
        write(&real, &file("held"), &data).unwrap();
        assert!(read(&file("held")).unwrap() == data, "{file_system:?}");
        assert!(real.medium.with(|medium| medium.traffic().written_bytes) > 4 * MIB, "{file_system:?}");

        let gate = real.medium.gate();
        gate.close();
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| write(&real, &file("waits"), &data));
            let (held, finished) = (gate.wait_until_blocked(SOON), writer.is_finished());
            gate.open();
            assert!(held && !finished, "{file_system:?}");
            assert!(writer.join().unwrap().is_ok(), "{file_system:?}");
        });
        assert!(read(&file("waits")).unwrap() == data, "{file_system:?}");

        real.medium.fail(failure);
        assert!(write(&real, &file("lost"), &data).is_err(), "{file_system:?} {failure:?}");
    }
}

/// A namespace made in between has a copy of the mount, and the file system writes when that copy is gone.
#[test]
fn a_device_is_free_when_its_mount_is_dropped() {
    let checked = (|| {
        let _lab = Lab::share()?;
        let device = FilledDevice::new(32 << 20)?;
        let mount = Mount::ext4(device.path(), &device.beside().join("mnt"))?;
        let mut copy =
            Command::new("unshare").args(["--mount", "sleep", "1"]).spawn().map_err(|e| Missing(e.to_string()))?;
        std::thread::sleep(Duration::from_millis(300));
        drop(mount);
        let free = rustix::fs::open(device.path(), OFlags::RDONLY | OFlags::EXCL, Mode::empty());
        copy.wait().unwrap();
        Ok(free.is_ok())
    })();
    match checked {
        Ok(free) => assert!(free, "the device is still mounted elsewhere"),
        Err(missing) => skip("a_device_is_free_when_its_mount_is_dropped", &missing),
    }
}
