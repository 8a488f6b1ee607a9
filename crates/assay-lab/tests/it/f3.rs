//! The answers of f3, the well-known peer, on the catalogue's media as real devices.
//!
//! They show that the models are what their names say: the figures were first seen on media that were made
//! independently of these. Rows that take seconds each are judged only if `ASSAY_F3_ALL` is set: `ASSAY_F3_ALL=1 cargo
//! test -p assay-lab --test it f3:: -- --nocapture` shows the whole table.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use assay_lab::media::catalogue::{self, Named};
use assay_lab::media::{Failure, MediumSpec, SharedMedium};
use assay_lab::{FakeCard, FileSystem, Lab, Missing, Mount, skip};

use self::Takes::{Little, Long};

/// Duration of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// Less than a second.
    Little,
    /// Seconds to a minute.
    Long,
}

impl Takes {
    fn is_judged(self) -> bool {
        self == Self::Little || std::env::var_os("ASSAY_F3_ALL").is_some()
    }
}

/// The right to have devices, if f3 is installed.
fn lab() -> Result<Lab, Missing> {
    match Command::new("f3probe").arg("--version").output() {
        Ok(_) => Lab::share(),
        Err(_) => Err(Missing("needs f3".to_owned())),
    }
}

// f3write and f3read on file systems.

const MIB: u64 = 1 << 20;

/// The loss that f3read finds in the files of f3write, in MiB; within 2 %, since it includes a cache and the file
/// system's own data. A controller that compresses the data of f3write loses nothing.
const TABLE: [(&str, Takes, u64); 7] = [
    ("limbo of 200 in 600 MiB, cache of 1 MiB", Little, 378),
    ("limbo of 200 in 600 MiB, cache of 64 MiB", Long, 371),
    ("limbo of 2000 MiB in 2 GiB, cache of 64 MiB", Long, 48),
    ("limbo of 1900 MiB in 2 GiB, cache of 64 MiB", Long, 144),
    ("thin, 100 of 600 MiB", Long, 490),
    ("compresses the known pattern, 100 of 600 MiB", Long, 0),
    ("genuine, 600 MiB", Long, 0),
];

#[test]
fn f3read_loses_on_the_models_what_it_loses_on_such_media() {
    const TEST: &str = "f3read_loses_on_the_models_what_it_loses_on_such_media";
    let _lab = match lab() {
        Ok(lab) => lab,
        Err(missing) => return skip(TEST, &missing),
    };
    let mut wrong = Vec::new();
    for (medium, file_system) in catalogue::mounted() {
        let (_, takes, expected) = TABLE.into_iter().find(|(row, ..)| *row == medium.name).unwrap();
        if !takes.is_judged() {
            continue;
        }
        let start = Instant::now();
        let lost = match lost_bytes(&medium, file_system) {
            Ok(lost) => lost,
            Err(missing) => return skip(TEST, &missing),
        };
        println!("{:<50}{:>7.1} s  {} MiB lost", medium.name, start.elapsed().as_secs_f64(), lost / MIB);
        if lost.abs_diff(expected * MIB) > expected * MIB / 50 {
            wrong.push((medium.name, lost / MIB, expected));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn f3_finds_writes_that_are_dropped_since_an_earlier_check() {
    const TEST: &str = "f3_finds_writes_that_are_dropped_since_an_earlier_check";
    if !Long.is_judged() {
        return;
    }
    let _lab = match lab() {
        Ok(lab) => lab,
        Err(missing) => return skip(TEST, &missing),
    };
    let found = || {
        let (Named { spec, .. }, file_system) =
            catalogue::mounted().into_iter().find(|row| row.0.name == "genuine, 600 MiB").unwrap();
        let medium = SharedMedium::new(spec.build().unwrap());
        let card = FakeCard::new(medium.clone())?;
        let directory = tempfile::tempdir().unwrap();
        let mount = Mount::make(file_system, card.path(), &directory.path().join("mnt"))?;
        write(mount.path())?;
        medium.fail(Failure::DropsWrites);
        write(mount.path())?;
        // The data of the second f3write are only in the page cache.
        std::fs::write("/proc/sys/vm/drop_caches", "1").unwrap();
        read(mount.path())
    };
    match found() {
        Ok(lost) => assert!(lost > 100 * MIB, "{lost}"),
        Err(missing) => skip(TEST, &missing),
    }
}

/// Bytes that f3read finds lost, after a remount that empties the page cache.
fn lost_bytes(medium: &Named, file_system: FileSystem) -> Result<u64, Missing> {
    let card = FakeCard::new(SharedMedium::new(medium.spec.build().unwrap()))?;
    let directory = tempfile::tempdir().unwrap();
    let point = directory.path().join("mnt");
    let mount = Mount::make(file_system, card.path(), &point)?;
    write(mount.path())?;
    drop(mount);
    let mount = Mount::existing(card.path(), &point, "rw")?;
    read(mount.path())
}

fn write(directory: &Path) -> Result<(), Missing> {
    run("f3write", directory).map(drop)
}

fn read(directory: &Path) -> Result<u64, Missing> {
    let output = run("f3read", directory)?;
    let lost = output.lines().find_map(|line| line.trim().strip_prefix("Data LOST:")).unwrap();
    let (_, sectors) = lost.split_once('(').unwrap();
    let sectors: u64 = sectors.split_whitespace().next().unwrap().parse().unwrap();
    Ok(sectors * 512)
}

fn run(program: &str, directory: &Path) -> Result<String, Missing> {
    let output = Command::new(program).arg(directory).output().map_err(|e| Missing(format!("{program}: {e}")))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

// f3probe against bare devices.

/// The answer of f3probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProbeAnswer {
    Real,
    Damaged,
    /// Usable size in sectors.
    Limbo(u64),
    /// Usable size in sectors, or up to a MiB less: a decaying sector is lost where it happened to be read once more.
    LimboAbout(u64),
    Chain(u64),
    /// A different answer each time.
    Chance,
}

const fn sectors(mib: u64) -> u64 {
    mib * MIB / 512
}

/// f3probe 8.0 on the catalogue. It tests powers of two and one place at a time. Many of its answers are wrong.
/// These are not the right answers of a check, but those of a known one.
const PROBED: [(&str, Takes, ProbeAnswer); 33] = [
    ("genuine", Long, ProbeAnswer::Real),
    ("genuine, 2 TiB", Long, ProbeAnswer::Real),
    ("wraparound of 93.76 MiB", Long, ProbeAnswer::Damaged),
    ("wraparound of 127 MiB + 512 KiB", Long, ProbeAnswer::Damaged),
    ("wraparound of 1999 MiB + 512 KiB in 8 GiB", Long, ProbeAnswer::Chance),
    ("wraparound of 7580 MiB in 64 GiB", Long, ProbeAnswer::Real),
    ("wraparound of 7580 MiB in 2 TiB", Long, ProbeAnswer::Real),
    ("limbo of 61 MiB that reads as before", Little, ProbeAnswer::Limbo(sectors(61))),
    ("limbo of 61 MiB that reads what was last on the bus", Little, ProbeAnswer::Limbo(sectors(61))),
    ("chain of 61 MiB in 256 MiB", Little, ProbeAnswer::Chain(sectors(61))),
    ("chain of 61 MiB in 64 MiB, LRU cache of 4 MiB", Little, ProbeAnswer::Chance),
    ("500 MiB protected, then a window of 4 MiB", Little, ProbeAnswer::Limbo(sectors(500))),
    ("8 MiB protected, then a window of 4 KiB", Little, ProbeAnswer::Limbo(sectors(8))),
    ("limbo of 61 MiB, LRU cache of 64 MiB", Long, ProbeAnswer::Limbo(sectors(61))),
    ("limbo of 61 MiB, LRU cache of 96 MiB", Long, ProbeAnswer::Limbo(sectors(61))),
    ("limbo of 2 GiB in 16 GiB, random cache of 8 MiB", Little, ProbeAnswer::Chance),
    ("flips of 1 in 10000 sectors", Long, ProbeAnswer::Chance),
    ("reads 512 bytes lower from 512 MiB on", Little, ProbeAnswer::Limbo(sectors(512))),
    ("decays after 1 read", Little, ProbeAnswer::LimboAbout(sectors(512))),
    ("decays after 2 reads", Little, ProbeAnswer::LimboAbout(sectors(512))),
    ("decays after 4 reads", Long, ProbeAnswer::Real),
    ("hangs after 1000 operations", Long, ProbeAnswer::Damaged),
    ("read-only after 4 MB", Little, ProbeAnswer::Damaged),
    ("read-only after 60 MB", Little, ProbeAnswer::Damaged),
    ("drops writes after 4 MB", Little, ProbeAnswer::Damaged),
    ("drops writes after 60 MB", Long, ProbeAnswer::Damaged),
    ("thin, 61 MiB", Little, ProbeAnswer::Damaged),
    ("thin, 256 MiB", Long, ProbeAnswer::Damaged),
    ("last 256 MiB", Long, ProbeAnswer::Damaged),
    ("middle 256 MiB", Little, ProbeAnswer::Damaged),
    ("128 MiB at both ends", Long, ProbeAnswer::Limbo(sectors(128))),
    ("errors in the last 124 MiB", Little, ProbeAnswer::Damaged),
    ("errors in the first 4 KiB", Long, ProbeAnswer::Real),
];

#[test]
fn f3probe_says_of_the_models_what_it_says_of_such_media() {
    const TEST: &str = "f3probe_says_of_the_models_what_it_says_of_such_media";
    let _lab = match lab() {
        Ok(lab) => lab,
        Err(missing) => return skip(TEST, &missing),
    };
    let devices = catalogue::devices();
    let mut named: Vec<&str> = devices.iter().map(|named| named.name).collect();
    named.retain(|name| PROBED.iter().all(|(row, ..)| row != name));
    assert!(named.is_empty(), "not in the table: {named:?}");
    let mut wrong = Vec::new();
    for Named { name, spec } in &devices {
        let (_, takes, expected) = PROBED.into_iter().find(|(row, ..)| row == name).unwrap();
        if !takes.is_judged() {
            continue;
        }
        let start = Instant::now();
        let stated = match probe(spec) {
            Ok(stated) => stated,
            Err(missing) => return skip(TEST, &missing),
        };
        println!("{name:<55}{:>7.1} s  {stated:?}", start.elapsed().as_secs_f64());
        let is_as_expected = match (stated, expected) {
            (_, ProbeAnswer::Chance) => true,
            (ProbeAnswer::Limbo(stated), ProbeAnswer::LimboAbout(expected)) => {
                (expected - sectors(1)..=expected).contains(&stated)
            }
            _ => stated == expected,
        };
        if !is_as_expected {
            wrong.push((*name, stated, expected));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

fn probe(spec: &MediumSpec) -> Result<ProbeAnswer, Missing> {
    let medium = SharedMedium::new(spec.build().unwrap());
    let card = FakeCard::new(medium)?;
    let output = f3probe(card.path())?;
    let line = |start: &str| output.lines().find_map(|line| line.trim().strip_prefix(start));
    if line("Good news:").is_some() {
        return Ok(ProbeAnswer::Real);
    }
    let bad = line("Bad news:").unwrap_or_else(|| panic!("{output}"));
    let usable = || {
        let (_, blocks) = line("*Usable* size:").unwrap().split_once('(').unwrap();
        blocks.split_whitespace().next().unwrap().parse().unwrap()
    };
    Ok(match bad.rsplit(' ').next() {
        Some("damaged") => ProbeAnswer::Damaged,
        Some("limbo") => ProbeAnswer::Limbo(usable()),
        Some("chain") => ProbeAnswer::Chain(usable()),
        _ => panic!("{output}"),
    })
}

fn f3probe(device: &Path) -> Result<String, Missing> {
    // There is no reset between writing and reading: the loop device cannot be plugged in again.
    let output = Command::new("f3probe").args(["--destructive", "--reset-type=2"]).arg(device).output();
    output
        .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
        .map_err(|error| Missing(format!("f3probe: {error}")))
}
