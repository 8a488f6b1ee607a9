//! The full check of fake or failing media, as real devices with real file systems.
//!
//! Sizes are smaller than those of the sold media, in the same proportions, and caches as large as the check assumes.
//! The media in their full size take minutes: `ASSAY_MOUNTED_ALL=1 cargo test -p assay-verify --test it mounted:: --
//! --nocapture`.

use std::time::{Duration, Instant};

use assay_core::verification::{FakeKind, Verdict, Verification};
use assay_engine::Control;
use assay_lab::media::{Accounting, Cache, Failure, Layout, MediumSpec, Pool, SharedMedium, WhenFull, catalogue};
use assay_lab::{FakeCard, FileSystem, Lab, Missing, Mount, lab, skip};
use assay_verify::files::{CheckPlan, CheckSettings, Checked, FileFormat, check};
use assay_verify::quick::{self, Quick};

const MIB: u64 = 1 << 20;

/// A medium with a file system on it. Dropped in order: the mount before the device.
struct Real {
    mount: Mount,
    _card: FakeCard,
    medium: SharedMedium,
    _directory: tempfile::TempDir,
}

fn real(spec: MediumSpec, file_system: FileSystem) -> Result<Real, Missing> {
    let medium = SharedMedium::new(spec.blank().build().unwrap());
    let card = FakeCard::new(medium.clone())?;
    let directory = tempfile::tempdir().unwrap();
    let mount = Mount::make(file_system, card.path(), &directory.path().join("mnt"))?;
    Ok(Real { mount, _card: card, medium, _directory: directory })
}

impl Real {
    /// Waits until `bytes` are free.
    fn until_free(&self, bytes: u64) {
        let start = Instant::now();
        let free = || {
            let space = rustix::fs::statvfs(self.mount.path()).unwrap();
            space.f_bavail * space.f_frsize
        };
        while free() < bytes {
            assert!(start.elapsed() < Duration::from_secs(20), "{} of {bytes} bytes are free", free());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

fn checked(real: &Real, settings: &CheckSettings) -> Checked {
    let plan = CheckPlan::new(real.mount.path(), settings).unwrap();
    check(&plan, settings, &Control::default(), &mut |_| {}).unwrap()
}

fn caches(mib: u64) -> CheckSettings {
    CheckSettings { cache_bytes: mib * MIB, ..CheckSettings::default() }
}

/// Whether the stated size, or interval, matches the medium.
#[track_caller]
fn assert_size(found: &Verification, real: u64) {
    let within = match (found.real_bytes, found.real_low_bytes, found.real_high_bytes) {
        (Some(bytes), ..) => bytes == real,
        (None, Some(low), Some(high)) => (low..=high).contains(&real),
        _ => false,
    };
    assert!(
        within,
        "{real}: {:?} {:?} {:?}, {}",
        found.real_bytes,
        found.real_low_bytes,
        found.real_high_bytes,
        assay_lab::outline(found)
    );
}

/// The end of the real part is found for a file that lies in any order on the device, whatever the cache hides.
#[test]
fn a_limbo_is_told_by_its_addresses_behind_any_file_system() {
    const TEST: &str = "a_limbo_is_told_by_its_addresses_behind_any_file_system";
    let _lab = lab!(TEST, Lab::share());
    for (file_system, announced, kept, cache) in [
        (FileSystem::Ext4, 300, 100, 1),
        (FileSystem::Ext4, 300, 100, 32),
        (FileSystem::Ext2, 128, 100, 16),
        // Nearly genuine: less is missing than the cache and the file system's own space hold together.
        (FileSystem::Ext4, 256, 250, 8),
        (FileSystem::Xfs, 320, 297, 16),
    ] {
        let what = format!("{file_system:?} {kept} of {announced} MiB, cache of {cache} MiB");
        let spec = MediumSpec::limbo(announced * MIB, kept * MIB).with_cache(Cache::with_bytes(cache * MIB));
        let medium = match real(spec, file_system) {
            Ok(medium) => medium,
            Err(missing) => {
                skip(TEST, &Missing(format!("{what}: {missing}")));
                continue;
            }
        };
        let found = checked(&medium, &caches(cache.max(8))).verification;
        println!("{what}: {}", assay_lab::outline(&found));
        assert_eq!(
            (found.verdict, found.kind),
            (Verdict::Fake, Some(FakeKind::Limbo)),
            "{what}: {}",
            assay_lab::outline(&found)
        );
        assert_eq!(found.announced_bytes, announced * MIB, "{what}");
        assert_size(&found, kept * MIB);
        // Data that share a page of the cache with a table that is written until the end stay in the cache.
        let parts = || found.holds.iter().filter(|part| part.bytes >= 4096);
        assert!(parts().all(|part| part.offset_bytes + part.bytes <= kept * MIB), "{what}: {:?}", found.holds);
    }
}

/// Later data overwrite the tables of the file system, whose driver then errs or dies. The data on the device show the
/// layout of the addresses, to the sector.
#[test]
fn a_fake_that_destroys_its_file_system_is_told_by_what_stands_on_the_device() {
    const TEST: &str = "a_fake_that_destroys_its_file_system_is_told_by_what_stands_on_the_device";
    let _lab = lab!(TEST, Lab::share());
    for (file_system, announced, layout, real, cache) in [
        (FileSystem::Exfat, 76, Layout::wraparound(65 * MIB + 55_808), 65 * MIB + 55_808, 4),
        (FileSystem::Exfat, 92, Layout::wraparound(73 * MIB + 512), 73 * MIB + 512, 1),
        (FileSystem::Ext2, 80, Layout::window(38 * MIB + 512, 4 * MIB), 42 * MIB + 512, 1),
    ] {
        let what = format!("{file_system:?}, {layout:?}");
        let spec = MediumSpec::laid_out(announced * MIB, layout).with_cache(Cache::with_bytes(cache * MIB));
        let medium = lab!(TEST, self::real(spec, file_system));
        let found = checked(&medium, &caches(8)).verification;
        println!("{what}: {}", assay_lab::outline(&found));
        assert_eq!(
            (found.verdict, found.kind),
            (Verdict::Fake, Some(FakeKind::Wraparound)),
            "{what}: {}",
            assay_lab::outline(&found)
        );
        assert_eq!((found.announced_bytes, found.real_bytes), (announced * MIB, Some(real)), "{what}");
    }
}

/// A cache as large as the check assumes is evicted; otherwise the end of a fake looks genuine.
#[test]
fn a_fake_that_lacks_no_more_than_its_cache_shows_is_found() {
    const TEST: &str = "a_fake_that_lacks_no_more_than_its_cache_shows_is_found";
    let _lab = lab!(TEST, Lab::share());
    let spec = MediumSpec::limbo(192 * MIB, 180 * MIB).with_cache(Cache::with_bytes(32 * MIB));
    let medium = lab!(TEST, real(spec, FileSystem::Ext2));
    let found = checked(&medium, &caches(32)).verification;
    assert_eq!((found.verdict, found.kind), (Verdict::Fake, Some(FakeKind::Limbo)), "{}", assay_lab::outline(&found));
    assert_size(&found, 180 * MIB);
    assert_eq!(found.reach.unwrap().caches_up_to_bytes, Some(32 * MIB));
}

/// Without direct I/O the page cache answers for a fake, unless it is synced and dropped.
#[test]
fn through_the_page_cache_a_fake_is_found_too() {
    const TEST: &str = "through_the_page_cache_a_fake_is_found_too";
    let _lab = lab!(TEST, Lab::share());
    let medium = lab!(TEST, real(MediumSpec::limbo(128 * MIB, 100 * MIB), FileSystem::Ext4));
    let found = checked(&medium, &CheckSettings { direct: false, ..caches(8) }).verification;
    assert_eq!((found.verdict, found.kind), (Verdict::Fake, Some(FakeKind::Limbo)), "{}", assay_lab::outline(&found));
    assert_size(&found, 100 * MIB);
}

/// Memory that is allocated on write, also where compressible data take no memory.
#[test]
fn thin_and_compressing_media_are_used_up() {
    const TEST: &str = "thin_and_compressing_media_are_used_up";
    let _lab = lab!(TEST, Lab::share());
    for accounting in [Accounting::Units { unit_bytes: MIB, zeros_are_free: false }, Accounting::Compressed] {
        let pool = Some(Pool { bytes: 50 * MIB, accounting, when_full: WhenFull::Drops });
        let medium = lab!(TEST, real(MediumSpec { pool, ..MediumSpec::genuine(200 * MIB) }, FileSystem::Ext4));
        let found = checked(&medium, &caches(8)).verification;
        println!("{accounting:?}: {}", assay_lab::outline(&found));
        assert_eq!(found.verdict, Verdict::Fake, "{accounting:?}: {}", assay_lab::outline(&found));
        // The file system had already taken some of the pool.
        assert_size(&found, 50 * MIB);
    }
}

/// Content of an earlier check is not accepted, in either format.
#[test]
fn writes_that_are_dropped_since_an_earlier_check_are_missed() {
    const TEST: &str = "writes_that_are_dropped_since_an_earlier_check_are_missed";
    let _lab = lab!(TEST, Lab::share());
    for format in [FileFormat::Salted, FileFormat::F3] {
        let medium = lab!(TEST, real(MediumSpec::genuine(96 * MIB), FileSystem::Ext2));
        let settings = CheckSettings { format, ..caches(8) };
        let before = checked(&medium, &settings).verification;
        assert_eq!(before.verdict, Verdict::Genuine, "{format:?}: {}", assay_lab::outline(&before));
        // Space of removed files becomes free when no process has them open any more. Processes that other tests start
        // have copies of all open files until they execute their own programs.
        medium.until_free(before.checked_bytes);
        medium.medium.fail(Failure::DropsWrites);
        let after = checked(&medium, &settings).verification;
        println!("{format:?}: {}", assay_lab::outline(&after));
        assert_eq!(after.verdict, Verdict::Failed, "{format:?}: {}", assay_lab::outline(&after));
    }
}

/// Every file system of the lab, with the reach that its verdict states.
#[test]
fn genuine_media_are_genuine_on_every_file_system() {
    const TEST: &str = "genuine_media_are_genuine_on_every_file_system";
    let _lab = lab!(TEST, Lab::share());
    for (file_system, mib) in
        [(FileSystem::Ext2, 96), (FileSystem::Ext4, 96), (FileSystem::Xfs, 320), (FileSystem::Exfat, 96)]
    {
        let medium = match real(MediumSpec::genuine(mib * MIB).with_cache(Cache::with_bytes(4 * MIB)), file_system) {
            Ok(medium) => medium,
            Err(missing) => {
                skip(TEST, &Missing(format!("{file_system:?}: {missing}")));
                continue;
            }
        };
        let found = checked(&medium, &caches(8)).verification;
        println!("{file_system:?}: {}", assay_lab::outline(&found));
        assert_eq!(found.verdict, Verdict::Genuine, "{file_system:?}: {}", assay_lab::outline(&found));
        let reach = found.reach.unwrap();
        assert!(reach.thin_excluded && reach.caches_up_to_bytes == Some(8 * MIB), "{file_system:?}: {reach:?}");
    }
}

/// A driver that is a program caches data of the device; the check reads them from the medium again.
#[test]
fn a_driver_that_keeps_data_in_memory_answers_for_no_fake() {
    const TEST: &str = "a_driver_that_keeps_data_in_memory_answers_for_no_fake";
    let _lab = lab!(TEST, Lab::share());
    let medium = lab!(TEST, real(MediumSpec::limbo(128 * MIB, 64 * MIB), FileSystem::Exfat));
    let found = checked(&medium, &caches(8)).verification;
    assert_eq!(found.verdict, Verdict::Fake, "{}", assay_lab::outline(&found));
    // Such a driver does not report where a file lies, so sizes are those of the free space.
    assert!(found.real_bytes.unwrap().abs_diff(64 * MIB) < 8 * MIB, "{}", assay_lab::outline(&found));
}

/// The quick check also reads its places from the medium again.
#[test]
fn a_driver_that_keeps_data_in_memory_answers_for_no_fake_in_a_quick_check_either() {
    const TEST: &str = "a_driver_that_keeps_data_in_memory_answers_for_no_fake_in_a_quick_check_either";
    let _lab = lab!(TEST, Lab::share());
    for (spec, expected) in
        [(MediumSpec::limbo(128 * MIB, 64 * MIB), Verdict::Fake), (MediumSpec::genuine(128 * MIB), Verdict::Genuine)]
    {
        let medium = lab!(TEST, real(spec, FileSystem::Exfat));
        let checked = quick::check(medium.mount.path(), &Quick::default(), &Control::default(), &mut |_, _| {});
        let found = checked.unwrap().verification;
        assert_eq!(found.verdict, expected, "{}", assay_lab::outline(&found));
        let most = quick::most_written(found.area_bytes.unwrap());
        assert!((1..=most).contains(&found.written_bytes), "{} of at most {most}", found.written_bytes);
    }
}

/// Media that earlier checks judged wrongly, in their real sizes.
#[test]
fn the_rows_of_the_catalogue_are_judged() {
    const TEST: &str = "the_rows_of_the_catalogue_are_judged";
    if std::env::var_os("ASSAY_MOUNTED_ALL").is_none() {
        return;
    }
    let _lab = lab!(TEST, Lab::share());
    for (named, file_system) in catalogue::mounted() {
        let medium = lab!(TEST, real(named.spec, file_system));
        let found = checked(&medium, &CheckSettings::default()).verification;
        println!("{:<50} {}", named.name, assay_lab::outline(&found));
        let expected = if named.name.starts_with("genuine") { Verdict::Genuine } else { Verdict::Fake };
        assert_eq!(found.verdict, expected, "{}: {}", named.name, assay_lab::outline(&found));
    }
}
