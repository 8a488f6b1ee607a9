//! Mounted media as docs/verify.md describes them, in a separate model: results must match what the document says.
//!
//! `ASSAY_MOUNTED_ALL=1 cargo test -p assay-verify --test it mounted_second:: -- --nocapture` takes some minutes.

use std::collections::{HashMap, VecDeque};
use std::io;

use assay_core::verification::{FakeKind, Remark, Verdict, Verification, Whole};
use assay_engine::Control;
use assay_lab::{Backing, FakeCard, FileSystem, Lab, Missing, Mount, lab};
use assay_verify::files::{CheckPlan, CheckSettings, check};
use assay_verify::quick::{self, Quick};

const MIB: u64 = 1 << 20;
const SECTOR: u64 = 512;

/// Destination of a sector: a cell, given in sectors; nothing; or an error.
#[derive(Clone, Copy, PartialEq)]
enum To {
    Cell(u64),
    Nowhere,
    Error,
}

type Map = Box<dyn Fn(u64) -> To + Send>;

/// Memory behind a map of sectors.
struct Second {
    bytes: u64,
    map: Map,
    cells: HashMap<u64, [u8; 512]>,
    /// Most cells, each taken at the first write; later writes to others are dropped.
    thin: usize,
    /// Most cells, the newest ones; with the time of the last write of each.
    newest: usize,
    order: VecDeque<(u64, u64)>,
    age: HashMap<u64, u64>,
    clock: u64,
    written: u64,
    /// Writes are dropped, or refused, while the number of written bytes is in this range.
    drops: std::ops::Range<u64>,
    refuses_from: u64,
    /// One in this many sectors is stored with a wrong bit.
    flips: u64,
    salt: u64,
}

impl Second {
    fn of(bytes: u64, map: impl Fn(u64) -> To + Send + 'static) -> Self {
        Self {
            bytes,
            map: Box::new(map),
            cells: HashMap::new(),
            thin: usize::MAX,
            newest: usize::MAX,
            order: VecDeque::new(),
            age: HashMap::new(),
            clock: 0,
            written: 0,
            drops: 0..0,
            refuses_from: u64::MAX,
            flips: 0,
            salt: 1,
        }
    }

    fn genuine(mib: u64) -> Self {
        Self::of(mib * MIB, To::Cell)
    }

    fn limbo(mib: u64, real: u64) -> Self {
        Self::of(mib * MIB, move |at| if at < real / SECTOR { To::Cell(at) } else { To::Nowhere })
    }

    fn wrap(mib: u64, period: u64) -> Self {
        Self::of(mib * MIB, move |at| To::Cell(at % (period / SECTOR)))
    }

    fn keep(&mut self, cell: u64) {
        if self.newest == usize::MAX {
            return;
        }
        self.clock += 1;
        self.age.insert(cell, self.clock);
        self.order.push_back((self.clock, cell));
        while self.cells.len() > self.newest {
            let Some((clock, oldest)) = self.order.pop_front() else { return };
            if self.age.get(&oldest) == Some(&clock) {
                self.age.remove(&oldest);
                self.cells.remove(&oldest);
            }
        }
    }
}

impl Backing for Second {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        for (at, part) in (offset / SECTOR..).zip(buffer.chunks_mut(512)) {
            match (self.map)(at) {
                To::Cell(cell) => match self.cells.get(&cell) {
                    Some(data) => part.copy_from_slice(data),
                    None => part.fill(0),
                },
                To::Nowhere => part.fill(0),
                To::Error => return Err(io::Error::other("bad")),
            }
        }
        Ok(())
    }

    fn write(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.written += data.len() as u64;
        if self.written > self.refuses_from {
            return Err(io::ErrorKind::ReadOnlyFilesystem.into());
        }
        if self.drops.contains(&self.written) {
            return Ok(());
        }
        for (at, part) in (offset / SECTOR..).zip(data.chunks(512)) {
            match (self.map)(at) {
                To::Cell(cell) => {
                    if self.cells.len() >= self.thin && !self.cells.contains_key(&cell) {
                        continue;
                    }
                    let mut sector = [0; 512];
                    sector.copy_from_slice(part);
                    self.salt =
                        self.salt.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    if self.flips > 0 && at > 60 * MIB / SECTOR && (self.salt >> 33).is_multiple_of(self.flips) {
                        sector[77] ^= 4;
                    }
                    self.cells.insert(cell, sector);
                    self.keep(cell);
                }
                To::Nowhere => {}
                To::Error => return Err(io::Error::other("bad")),
            }
        }
        Ok(())
    }
}

/// The expected result.
struct Expected {
    verdicts: &'static [Verdict],
    /// Any of these, if it is a fake.
    kinds: &'static [FakeKind],
    /// Size in mebibytes of the device. A stated interval must contain it.
    real: Option<f64>,
    /// Whether a size must be stated.
    stated: bool,
    remark: Option<Remark>,
    of: Option<Whole>,
}

impl Expected {
    fn new(verdicts: &'static [Verdict]) -> Self {
        Self { verdicts, kinds: &[], real: None, stated: false, remark: None, of: None }
    }

    fn fake(kinds: &'static [FakeKind], real: f64) -> Self {
        Self { kinds, real: Some(real), stated: true, ..Self::new(&[Verdict::Fake]) }
    }

    fn wrong(&self, found: &Verification) -> Option<String> {
        let mut wrong = Vec::new();
        if !self.verdicts.contains(&found.verdict) {
            wrong.push(format!("{:?}, not {:?}", found.verdict, self.verdicts));
        }
        if let (Some(kind), false) = (found.kind, self.kinds.is_empty())
            && !self.kinds.contains(&kind)
        {
            wrong.push(format!("{kind:?}"));
        }
        let interval = found.real_bytes.map(|bytes| (bytes, bytes)).or(found.real_low_bytes.zip(found.real_high_bytes));
        let inside = |real: f64| {
            let real = (real * MIB as f64) as u64;
            interval.is_none_or(|(low, high)| low <= real && real <= high)
        };
        if self.real.is_some_and(|real| !inside(real)) || (self.stated && interval.is_none()) {
            wrong.push(format!("size {interval:?}"));
        }
        if self.remark.is_some_and(|remark| !found.remarks.contains(&remark)) {
            wrong.push(format!("remarks {:?}", found.remarks));
        }
        let of = found.reach.map(|reach| reach.of);
        if self.of.is_some() && of != self.of {
            wrong.push(format!("tested of {of:?}"));
        }
        (!wrong.is_empty()).then(|| wrong.join("; "))
    }
}

/// `None` if no file system can be made, mounted or written.
fn found(card: Second, system: FileSystem, quick: bool, cache: u64) -> Result<Option<Verification>, Missing> {
    let card = FakeCard::new(card)?;
    let directory = tempfile::tempdir().unwrap();
    let Ok(mount) = Mount::make(system, card.path(), &directory.path().join("mnt")) else { return Ok(None) };
    if quick {
        let checked = quick::check(mount.path(), &Quick::default(), &Control::default(), &mut |_, _| {});
        return Ok(checked.ok().map(|checked| checked.verification));
    }
    let settings = CheckSettings { cache_bytes: cache * MIB, ..CheckSettings::default() };
    let Ok(plan) = CheckPlan::new(mount.path(), &settings) else { return Ok(None) };
    let checked = check(&plan, &settings, &Control::default(), &mut |_| {});
    Ok(checked.ok().map(|checked| checked.verification))
}

/// A bad block in every `nth`; a block is 4 KiB here.
fn every(mib: u64, from: u64, nth: u64, block: u64) -> Second {
    Second::of(mib * MIB, move |at| {
        let bad = at >= from * MIB / SECTOR && (at / (block / SECTOR)).is_multiple_of(nth);
        if bad { To::Nowhere } else { To::Cell(at) }
    })
}

/// Pages in this range are stored at their neighbour's place, and read from their own.
fn misplaced(mib: u64, from: u64, to: u64) -> Second {
    let range = from * MIB / SECTOR..to * MIB / SECTOR;
    Second::of(mib * MIB, move |at| To::Cell(if range.contains(&at) { at ^ 8 } else { at }))
}

fn scrambled(mib: u64, period: u64) -> Second {
    let (lap, block) = (period / SECTOR, MIB / SECTOR);
    Second::of(mib * MIB, move |at| {
        let turned = (at % lap + at / lap * 37 * block) % lap;
        To::Cell(turned)
    })
}

type Row = (&'static str, FileSystem, bool, u64, Second, Expected);

fn genuine(of: Option<Whole>) -> Expected {
    Expected { of, ..Expected::new(&[Verdict::Genuine]) }
}

fn told(verdicts: &'static [Verdict]) -> Expected {
    Expected { remark: Some(Remark::ProbeDecides), ..Expected::new(verdicts) }
}

/// Addresses in these parts, in MiB, err.
fn bad(mib: u64, parts: &'static [(u64, u64)]) -> Second {
    Second::of(mib * MIB, move |at| if within(parts, at) { To::Error } else { To::Cell(at) })
}

/// Only addresses in these parts, in MiB, hold data.
fn only(mib: u64, parts: &'static [(u64, u64)]) -> Second {
    Second::of(mib * MIB, move |at| if within(parts, at) { To::Cell(at) } else { To::Nowhere })
}

fn within(parts: &[(u64, u64)], sector: u64) -> bool {
    parts.iter().any(|(from, to)| (from * MIB / SECTOR..to * MIB / SECTOR).contains(&sector))
}

fn window(mib: u64, protected: u64, window: u64) -> Second {
    let (protected, window) = (protected * MIB / SECTOR, window * MIB / SECTOR);
    Second::of(mib * MIB, move |at| To::Cell(if at < protected { at } else { protected + (at - protected) % window }))
}

fn newest(mib: u64, keeps: u64) -> Second {
    Second { newest: (keeps * MIB / SECTOR) as usize, ..Second::genuine(mib) }
}

fn fakes() -> Vec<Row> {
    use FakeKind::{Chain, Limbo, Newest, Unknown, Wraparound};
    use FileSystem::{Btrfs, Exfat, Ext2, Ext4, Xfs};
    use Verdict::{Damaged, Failed, Fake};
    let fake = Expected::fake;
    let odd = 111 * MIB + 17 * SECTOR;
    vec![
        ("limbo 90 of 160", Ext4, false, 16, Second::limbo(160, 90 * MIB), fake(&[Limbo], 90.0)),
        ("limbo 97 of 100 %", Ext4, false, 8, Second::limbo(200, 194 * MIB), fake(&[Limbo], 194.0)),
        ("limbo 90 of 160", Exfat, false, 16, Second::limbo(160, 90 * MIB), Expected::new(&[Fake])),
        (
            "limbo 90 of 160 through ext2",
            Ext2,
            false,
            16,
            Second::limbo(160, 90 * MIB),
            Expected { real: Some(90.0), ..Expected::new(&[Fake, Damaged]) },
        ),
        (
            "wrap 111 MiB and 17 sectors",
            Ext4,
            false,
            16,
            Second::wrap(200, odd),
            fake(&[Wraparound], odd as f64 / MIB as f64),
        ),
        ("wrap 230 of 330", Xfs, false, 16, Second::wrap(330, 230 * MIB), fake(&[Wraparound], 230.0)),
        ("wrap 220 of 340", Btrfs, false, 16, Second::wrap(340, 220 * MIB), told(&[Damaged, Failed])),
        ("limbo 260 of 320", Btrfs, false, 16, Second::limbo(320, 260 * MIB), told(&[Damaged])),
        ("newest 80 of 240", Ext4, false, 16, newest(240, 80), fake(&[Newest], 80.0)),
        ("newest 120 of 330", Xfs, false, 32, newest(330, 120), fake(&[Newest], 120.0)),
        ("newest 70 of 160 through exFAT", Exfat, false, 16, newest(160, 70), told(&[Fake, Damaged])),
        (
            "thin, 70 of 200",
            Ext4,
            false,
            16,
            Second { thin: (70 * MIB / SECTOR) as usize, ..Second::genuine(200) },
            fake(&[Unknown, Limbo], 70.0),
        ),
        ("60 protected, window of 8", Ext4, false, 16, window(200, 60, 8), fake(&[Wraparound, Chain, Unknown], 68.0)),
        (
            "first 60 and last 40 of 200",
            Ext4,
            false,
            16,
            only(200, &[(0, 60), (160, 200)]),
            fake(&[Unknown, Limbo], 100.0),
        ),
        (
            "laps of 100 MiB, turned",
            Ext4,
            false,
            16,
            scrambled(260, 100 * MIB),
            fake(&[Wraparound, Chain, Unknown], 100.0),
        ),
    ]
}

fn no_fakes() -> Vec<Row> {
    use FileSystem::{Btrfs, Exfat, Ext4, Xfs};
    let damaged = || Expected::new(&[Verdict::Damaged]);
    let failed = || Expected::new(&[Verdict::Failed]);
    vec![
        ("genuine", Ext4, false, 16, Second::genuine(160), genuine(Some(Whole::Device))),
        ("genuine", Xfs, false, 16, Second::genuine(320), genuine(Some(Whole::Device))),
        ("genuine", Btrfs, false, 16, Second::genuine(320), genuine(Some(Whole::FileSystem))),
        ("genuine", Exfat, false, 16, Second::genuine(96), genuine(Some(Whole::Device))),
        (
            "every 7th 4 KiB from 50",
            Ext4,
            false,
            16,
            every(300, 50, 7, 4096),
            Expected { real: Some(300.0 - 250.0 / 7.0), stated: true, ..damaged() },
        ),
        (
            "every 2nd 64 KiB from 60",
            Ext4,
            false,
            16,
            every(200, 60, 2, 65536),
            Expected { real: Some(130.0), stated: true, ..damaged() },
        ),
        (
            "errors at three places",
            Ext4,
            false,
            16,
            bad(160, &[(70, 71), (90, 92), (120, 121)]),
            Expected { real: Some(156.0), ..damaged() },
        ),
        (
            "1 of 5000 sectors has a wrong bit",
            Ext4,
            false,
            16,
            Second { flips: 5000, ..Second::genuine(160) },
            damaged(),
        ),
        (
            "drops all from 90 MiB on",
            Ext4,
            false,
            16,
            Second { drops: 90 * MIB..u64::MAX, ..Second::genuine(160) },
            failed(),
        ),
        (
            "refuses all from 90 MiB on",
            Ext4,
            false,
            16,
            Second { refuses_from: 90 * MIB, ..Second::genuine(160) },
            failed(),
        ),
        (
            "drops what is written from 20 to 70 MiB",
            Ext4,
            false,
            16,
            Second { drops: 20 * MIB..70 * MIB, ..Second::genuine(160) },
            damaged(),
        ),
        ("neighbours exchanged for reads and writes", Ext4, false, 16, misplaced(160, 80, 120), genuine(None)),
    ]
}

fn quick_rows() -> Vec<Row> {
    use FileSystem::{Btrfs, Exfat, Ext2, Ext4, Xfs};
    use Verdict::{Damaged, Failed, Fake, Genuine, Undecided};
    let fake = || Expected::new(&[Fake]);
    let not_excluded = Expected { remark: Some(Remark::WraparoundNotExcluded), ..Expected::new(&[Genuine]) };
    vec![
        ("genuine", Ext4, true, 0, Second::genuine(256), Expected::new(&[Genuine])),
        ("genuine", Xfs, true, 0, Second::genuine(320), Expected::new(&[Genuine])),
        ("genuine", Exfat, true, 0, Second::genuine(128), not_excluded),
        ("genuine", Ext2, true, 0, Second::genuine(160), Expected::new(&[Undecided])),
        ("wrap of 93 %", Ext4, true, 0, Second::wrap(300, 279 * MIB), fake()),
        ("wrap of a half", Xfs, true, 0, Second::wrap(330, 165 * MIB), fake()),
        ("wrap of 59 %, 17 sectors more", Xfs, true, 0, Second::wrap(340, 200 * MIB + 17 * SECTOR), fake()),
        ("150 protected, window of 20", Ext4, true, 0, window(300, 150, 20), fake()),
        ("250 protected, window of 20", Ext4, true, 0, window(300, 250, 20), fake()),
        ("limbo of 97 %", Ext4, true, 0, Second::limbo(300, 291 * MIB), fake()),
        ("limbo 260 of 320", Btrfs, true, 0, Second::limbo(320, 260 * MIB), told(&[Damaged])),
        ("wrap 220 of 340", Btrfs, true, 0, Second::wrap(340, 220 * MIB), told(&[Damaged, Failed])),
        ("laps of 100 MiB, turned", Ext4, true, 0, scrambled(260, 100 * MIB), fake()),
        (
            "refuses all from 30 MiB on",
            Ext4,
            true,
            0,
            Second { refuses_from: 30 * MIB, ..Second::genuine(256) },
            Expected::new(&[Failed]),
        ),
        (
            "drops all from 30 MiB on",
            Ext4,
            true,
            0,
            Second { drops: 30 * MIB..u64::MAX, ..Second::genuine(256) },
            Expected::new(&[Failed]),
        ),
    ]
}

#[test]
fn media_are_answered_as_the_page_says() {
    const TEST: &str = "media_are_answered_as_the_page_says";
    if std::env::var_os("ASSAY_MOUNTED_ALL").is_none() {
        return;
    }
    let mut wrong = Vec::new();
    for (name, system, quick, cache, card, expected) in fakes().into_iter().chain(no_fakes()).chain(quick_rows()) {
        let _lab = lab!(TEST, Lab::share());
        let what = format!("{} {name} on {system:?}", if quick { "quick" } else { "full" });
        let Some(found) = lab!(TEST, found(card, system, quick, cache)) else {
            println!("{what}: cannot be mounted");
            continue;
        };
        println!("{what}: {}", assay_lab::outline(&found));
        if let Some(miss) = expected.wrong(&found) {
            println!("    WRONG: {miss}");
            wrong.push(format!("{what}: {miss}: {}", assay_lab::outline(&found)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
