//! The full check of media at the limits of its distinctions: silent damage all over, media that keep only the latest
//! writes, file systems with checksums, and files that are only read.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::ops::Range;
use std::time::{Duration, Instant};

use assay_core::verification::{FakeKind, Reach, Remark, Verdict, Verification, Whole};
use assay_engine::Control;
use assay_lab::media::{Layout, MediumSpec, SharedMedium};
use assay_lab::{Backing, FakeCard, FileSystem, Lab, Missing, Mount, lab, skip};
use assay_verify::files::{CheckPhase, CheckPlan, CheckSettings, Checked, check};
use assay_verify::quick::{self, Quick};

const MIB: u64 = 1 << 20;
const PAGE: u64 = 4096;

/// A medium with a file system on it. Dropped in order: the mount before the device.
struct Real {
    mount: Mount,
    _card: FakeCard,
    _directory: tempfile::TempDir,
}

fn real(backing: impl Backing, file_system: FileSystem) -> Result<Real, Missing> {
    let card = FakeCard::new(backing)?;
    let directory = tempfile::tempdir().unwrap();
    let mount = Mount::make(file_system, card.path(), &directory.path().join("mnt"))?;
    Ok(Real { mount, _card: card, _directory: directory })
}

fn model(spec: MediumSpec) -> SharedMedium {
    SharedMedium::new(spec.blank().build().unwrap())
}

fn full(real: &Real, settings: &CheckSettings) -> Checked {
    let plan = CheckPlan::new(real.mount.path(), settings).unwrap();
    check(&plan, settings, &Control::default(), &mut |_| {}).unwrap()
}

fn quick(real: &Real) -> Verification {
    quick::check(real.mount.path(), &Quick::default(), &Control::default(), &mut |_, _| {}).unwrap().verification
}

fn caches(mib: u64) -> CheckSettings {
    CheckSettings { cache_bytes: mib * MIB, ..CheckSettings::default() }
}

/// Lower and upper bound of the stated size.
fn interval(found: &Verification) -> Option<(u64, u64)> {
    found.real_bytes.map(|bytes| (bytes, bytes)).or(found.real_low_bytes.zip(found.real_high_bytes))
}

/// From `from` on, every `nth` block of 4 KiB loses its data.
fn every(nth: u64, from: u64, announced: u64) -> Layout {
    let mut holds: Vec<Range<u64>> = std::iter::once(0..from).collect();
    holds
        .extend((from..announced).step_by((nth * PAGE) as usize).map(|at| at + PAGE..(at + nth * PAGE).min(announced)));
    Layout::holds(holds.into_iter().filter(|part| part.start < part.end).collect::<Vec<_>>())
}

/// It was called a limbo that ends where the bad blocks begin: the many lost parts were joined to one.
#[test]
fn bad_blocks_all_over_are_damage_and_no_more_is_called_lost_than_is() {
    const TEST: &str = "bad_blocks_all_over_are_damage_and_no_more_is_called_lost_than_is";
    let _lab = lab!(TEST, Lab::share());
    for (announced, nth, from) in [(320, 7, 100), (420, 7, 60), (160, 3, 60)] {
        let (announced, from) = (announced * MIB, from * MIB);
        let layout = every(nth, from, announced);
        let holds: u64 = layout.reliable(announced).iter().map(|part| part.end - part.start).sum();
        let medium = lab!(TEST, real(model(MediumSpec::laid_out(announced, layout)), FileSystem::Ext4));
        let found = full(&medium, &caches(8)).verification;
        println!("every {nth} from {from}: {}", assay_lab::outline(&found));
        assert_eq!((found.verdict, found.kind), (Verdict::Damaged, None), "{}", assay_lab::outline(&found));
        let (low, high) = interval(&found).unwrap();
        assert!(low <= holds && holds <= high, "{holds}: {low} to {high}, {}", assay_lab::outline(&found));
        // Not exact: the file system's own space was not tested.
        assert_eq!(found.real_bytes, None);
        assert_eq!(high, announced - found.counts.lost() * 512);
    }
}

/// Keeps only the newest pages, wherever they are written.
struct Newest {
    bytes: u64,
    most: usize,
    pages: HashMap<u64, (u64, Vec<u8>)>,
    ages: BTreeMap<u64, u64>,
    age: u64,
}

impl Newest {
    fn new(bytes: u64, keeps: u64) -> Self {
        let most = usize::try_from(keeps / PAGE).unwrap();
        Self { bytes, most, pages: HashMap::new(), ages: BTreeMap::new(), age: 0 }
    }

    fn pieces(offset: u64, bytes: usize) -> impl Iterator<Item = (u64, usize, Range<usize>)> {
        let end = offset + bytes as u64;
        (offset / PAGE..end.div_ceil(PAGE)).map(move |page| {
            let (from, to) = (offset.max(page * PAGE), end.min((page + 1) * PAGE));
            (page, (from % PAGE) as usize, (from - offset) as usize..(to - offset) as usize)
        })
    }
}

impl Backing for Newest {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        for (page, within, part) in Self::pieces(offset, buffer.len()) {
            let length = part.len();
            match self.pages.get(&page) {
                Some((_, data)) => buffer[part].copy_from_slice(&data[within..within + length]),
                None => buffer[part].fill(0),
            }
        }
        Ok(())
    }

    fn write(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        for (page, within, part) in Self::pieces(offset, data.len()) {
            self.age += 1;
            let (before, mut content) = self.pages.remove(&page).unwrap_or((0, vec![0; PAGE as usize]));
            self.ages.remove(&before);
            content[within..within + part.len()].copy_from_slice(&data[part]);
            self.pages.insert(page, (self.age, content));
            self.ages.insert(self.age, page);
            if self.pages.len() > self.most
                && let Some((_, oldest)) = self.ages.pop_first()
            {
                self.pages.remove(&oldest);
            }
        }
        Ok(())
    }
}

/// It was called a limbo of 123 to 138 MiB: the lowest addresses had been written last.
#[test]
fn a_medium_that_keeps_what_was_written_last_is_told_with_its_size() {
    const TEST: &str = "a_medium_that_keeps_what_was_written_last_is_told_with_its_size";
    let _lab = lab!(TEST, Lab::share());
    for (announced, keeps, cache) in [(320, 100, 64), (192, 60, 8)] {
        let medium = lab!(TEST, real(Newest::new(announced * MIB, keeps * MIB), FileSystem::Ext4));
        let found = full(&medium, &caches(cache)).verification;
        println!("newest {keeps} of {announced} MiB: {}", assay_lab::outline(&found));
        assert_eq!(
            (found.verdict, found.kind),
            (Verdict::Fake, Some(FakeKind::Newest)),
            "{}",
            assay_lab::outline(&found)
        );
        let (low, high) = interval(&found).unwrap();
        assert!(low <= keeps * MIB && keeps * MIB <= high, "{low} to {high}: {}", assay_lab::outline(&found));
        assert!(found.holds.is_empty(), "they hold at one moment only: {:?}", found.holds);
    }
}

/// Its checksums turn data dropped by a fake into errors, and all of free space was called all of the device.
#[test]
fn on_a_file_system_with_checksums_a_fake_is_left_to_the_probe_of_the_device() {
    const TEST: &str = "on_a_file_system_with_checksums_a_fake_is_left_to_the_probe_of_the_device";
    let _lab = lab!(TEST, Lab::share());
    let genuine = match real(model(MediumSpec::genuine(320 * MIB)), FileSystem::Btrfs) {
        Ok(genuine) => genuine,
        Err(missing) => return skip(TEST, &missing),
    };
    let found = full(&genuine, &caches(8)).verification;
    println!("genuine: {}", assay_lab::outline(&found));
    assert_eq!(
        (found.verdict, found.remarks.as_slice()),
        (Verdict::Genuine, &[][..]),
        "{}",
        assay_lab::outline(&found)
    );
    let Reach { tested_share: share, of, .. } = found.reach.unwrap();
    assert!((share - found.checked_bytes as f64 / (320 * MIB) as f64).abs() < 0.01 && share < 0.85, "{share}");
    assert_eq!(of, Whole::FileSystem);
    drop(genuine);
    for (announced, layout) in
        [(320, Layout::first(200 * MIB)), (320, Layout::first(280 * MIB)), (400, Layout::wraparound(200 * MIB))]
    {
        let spec = MediumSpec::laid_out(announced * MIB, layout.clone());
        let medium = lab!(TEST, real(model(spec.clone()), FileSystem::Btrfs));
        let found = full(&medium, &caches(8)).verification;
        println!("full {layout:?}: {}", assay_lab::outline(&found));
        let is_told = |found: &Verification| {
            found.verdict == Verdict::Fake
                || (matches!(found.verdict, Verdict::Damaged | Verdict::Failed)
                    && found.remarks.contains(&Remark::ProbeDecides))
        };
        assert!(is_told(&found), "{layout:?}: {}", assay_lab::outline(&found));
        assert!(found.verdict == Verdict::Fake || interval(&found).is_none(), "{found:?}");
        drop(medium);
        let medium = lab!(TEST, real(model(spec), FileSystem::Btrfs));
        let found = quick(&medium);
        println!("quick {layout:?}: {}", assay_lab::outline(&found));
        assert!(is_told(&found), "{layout:?}: {}", assay_lab::outline(&found));
    }
}

/// After reading the files of a full disk, all of its free space was called real.
#[test]
fn what_was_only_read_is_not_called_free_space() {
    const TEST: &str = "what_was_only_read_is_not_called_free_space";
    let _lab = lab!(TEST, Lab::share());
    let medium = lab!(TEST, real(model(MediumSpec::genuine(96 * MIB)), FileSystem::Ext4));
    let limit_bytes = Some(40 * MIB);
    let kept = full(&medium, &CheckSettings { keep: true, limit_bytes, ..caches(8) });
    assert_eq!(kept.verification.verdict, Verdict::Genuine, "{}", assay_lab::outline(&kept.verification));
    let found = full(&medium, &CheckSettings { only_read: true, ..caches(8) }).verification;
    println!("{}", assay_lab::outline(&found));
    assert_eq!(found.verdict, Verdict::Genuine);
    assert_eq!((found.checked_bytes, found.area_bytes.unwrap_or(found.announced_bytes)), (40 * MIB, 40 * MIB));
    assert_eq!((found.remarks.as_slice(), interval(&found)), (&[Remark::OnlyRead][..], None));
}

/// A medium with configured speed and latency.
struct Slow {
    medium: SharedMedium,
    /// Bytes per second of reading and of writing.
    speeds: (u64, u64),
    /// Added to each operation.
    latency: Duration,
    /// Bytes written so far, and the number of bytes after which writing is four times as slow.
    written: u64,
    fast: u64,
}

impl Slow {
    fn new(bytes: u64, speeds: (u64, u64), latency: Duration, fast: u64) -> Self {
        Self { medium: model(MediumSpec::genuine(bytes)), speeds, latency, written: 0, fast }
    }
}

impl Backing for Slow {
    fn bytes(&self) -> u64 {
        self.medium.bytes()
    }

    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        std::thread::sleep(self.latency + Duration::from_secs_f64(buffer.len() as f64 / self.speeds.0 as f64));
        self.medium.read(offset, buffer)
    }

    fn write(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.written += data.len() as u64;
        let slower = if self.written > self.fast { 4.0 } else { 1.0 };
        let seconds = slower * data.len() as f64 / self.speeds.1 as f64;
        std::thread::sleep(self.latency + Duration::from_secs_f64(seconds));
        self.medium.write(offset, data)
    }
}

/// Takes minutes and a quiet machine: `ASSAY_TIMES=1 cargo test -p assay-verify --test it the_time_that_is_told`.
#[test]
fn the_time_that_is_told_is_about_what_it_takes() {
    const TEST: &str = "the_time_that_is_told_is_about_what_it_takes";
    if std::env::var_os("ASSAY_TIMES").is_none() {
        return;
    }
    let _lab = lab!(TEST, Lab::share());
    const MB: u64 = 1_000_000;
    let mut wrong = Vec::new();
    for (mib, speeds, latency_ms, fast) in [
        (128, (20 * MB, 10 * MB), 0, u64::MAX),
        (128, (60 * MB, 12 * MB), 1, u64::MAX),
        (256, (80 * MB, 30 * MB), 0, u64::MAX),
        (160, (15 * MB, 30 * MB), 2, u64::MAX),
        (128, (60 * MB, 20 * MB), 0, 40 * MIB),
    ] {
        let slow = Slow::new(mib * MIB, speeds, Duration::from_millis(latency_ms), fast);
        let medium = lab!(TEST, real(slow, FileSystem::Ext4));
        let settings = CheckSettings::default();
        let plan = CheckPlan::new(medium.mount.path(), &settings).unwrap();
        let (start, mut told) = (Instant::now(), None);
        check(&plan, &settings, &Control::default(), &mut |progress| {
            if let Some(left) = progress.whole_remaining.filter(|_| progress.phase == CheckPhase::Write) {
                told.get_or_insert(start.elapsed() + left);
            }
        })
        .unwrap();
        let (told, took) = (told.unwrap().as_secs_f64(), start.elapsed().as_secs_f64());
        let words =
            format!("{mib} MiB at {speeds:?} and {latency_ms} ms, fast up to {fast}: {told:.1} s told, {took:.1} s");
        println!("{words}");
        // The speed at the start says nothing about a cache that fills up later.
        let most = if fast == u64::MAX { 1.5 } else { f64::INFINITY };
        if took > told * most || told > took * 1.5 {
            wrong.push(words);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
