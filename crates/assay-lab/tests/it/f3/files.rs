//! f3write and f3read on file systems.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use assay_lab::media::catalogue::{self, Named};
use assay_lab::media::{Failure, SharedMedium};
use assay_lab::{FakeCard, FileSystem, Missing, Mount, skip};

use super::Takes::{self, Little, Long};

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
    let _lab = match super::lab() {
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
    let _lab = match super::lab() {
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
