//! The full check of `assay verify`: as fast as memory and the medium let it.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use assay_core::verification::{Pass, Verification};
use assay_lab::{FastDevice, LimitedCard, Limits, Missing};
use assay_verify::files::{Content, FileFormat};
use assay_verify::probe::Salt;

use super::process::{binary, record};
use super::report::Target;
use crate::fio;
use crate::process::{Finished, finish};
use crate::report::{BenchRow, Report};
use crate::series::{Figure, LOOKS, Shown, measure, pairs};

const GIB: u64 = 1 << 30;
const MIB: u64 = 1 << 20;
/// Bytes that are checked on the fast device.
const CHECKED: u64 = 2 * GIB;
/// What the file system and the rewritten places need beside them.
const BESIDE: u64 = 160 * MIB;
/// More than any cache of a processor: the speed of memory shows.
const BUFFER: usize = 256 << 20;
/// Bus of the slow card in bytes a second.
const BUS: u64 = 23_000_000;

/// Content is made and compared, by what one processor moves at most: zeros written, words added up.
pub(crate) fn memory(report: &mut Report) -> Result<(), Missing> {
    let mut buffer = vec![1u8; BUFFER];
    let rate = |seconds: f64| BUFFER as f64 / seconds;
    let seen = |turn: usize| {
        let content = Content::new(FileFormat::Salted, Salt::known(turn as u64));
        let (offset, mut rates) = (turn as u64 * GIB, [0.0; 4]);
        rates[0] = rate(seconds(|| buffer.fill(turn as u8)));
        rates[1] = rate(seconds(|| content.fill(&mut buffer, offset)));
        rates[2] = rate(seconds(|| sum(&buffer)));
        rates[3] = rate(seconds(|| assert!(content.intact(&buffer, offset))));
        rates
    };
    let words = |rate: f64| format!("{:.2} GB/s", rate / 1e9);
    let figure = |what: &str, by: usize, ours: usize| Figure {
        what: what.to_owned(),
        seen: Box::new(move |rates: &[f64; 4]| rates[ours] / rates[by]),
        unit: "",
        target: Target::AtLeast(0.5),
        ours: Shown::new(move |rates: &[f64; 4]| rates[ours], words),
        peer: Some(Shown::new(move |rates: &[f64; 4]| rates[by], words)),
    };
    let made = figure("content made, one processor, by filling memory with one byte", 0, 1);
    let compared = figure("content compared, one processor, by adding up memory", 2, 3);
    measure(report, LOOKS, seen, &[made, compared]);
    Ok(())
}

fn seconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

fn sum(buffer: &[u8]) {
    let (words, _) = buffer.as_chunks::<8>();
    std::hint::black_box(words.iter().fold(0u64, |sum, word| sum.wrapping_add(u64::from_le_bytes(*word))));
}

/// Against `f3write` and `f3read`, whole processes.
pub(crate) fn f3(report: &mut Report) -> Result<(), Missing> {
    for program in ["f3write", "f3read"] {
        let found = Command::new(program).arg("--version").output();
        found.map_err(|_| Missing(format!("needs {program} (package f3)")))?;
    }
    let device = fast_device()?;
    let ours = || {
        let (_, finished) = check(&mut assay(device.path()), CHECKED);
        [finished.wall_seconds, finished.user_seconds + finished.system_seconds]
    };
    let theirs = || {
        let mut took = [0.0; 2];
        for program in ["f3write", "f3read"] {
            let finished = finish(Command::new(program).arg("--end-at=2").arg(device.path()));
            took[0] += finished.wall_seconds;
            took[1] += finished.user_seconds + finished.system_seconds;
        }
        // Removing them is not counted.
        for number in 1..=2 {
            let _ = std::fs::remove_file(device.path().join(format!("{number}.h2w")));
        }
        took
    };
    let words = |seconds: f64| format!("{seconds:.2} s");
    let wall = Figure {
        what: "f3write and f3read, 2 GiB, device in memory: wall time by that of assay".to_owned(),
        seen: Box::new(|(ours, theirs): &([f64; 2], [f64; 2])| theirs[0] / ours[0]),
        unit: "",
        target: Target::AtLeast(6.0),
        ours: Shown::new(|pair: &([f64; 2], [f64; 2])| pair.0[0], words),
        peer: Some(Shown::new(|pair: &([f64; 2], [f64; 2])| pair.1[0], words)),
    };
    let what = "check of 2 GiB, device in memory: processor time by that of f3write and f3read".to_owned();
    let processor = Figure::ratio(what, |took: &[f64; 2]| took[1], words, Target::AtMost(0.5));
    pairs(report, LOOKS, ours, theirs, &[wall, processor]);
    Ok(())
}

/// Against a sequential write and read of the same size by fio, at its best depth: what the device does.
pub(crate) fn fio(report: &mut Report) -> Result<(), Missing> {
    fio::present()?;
    let device = fast_device()?;
    let mut depths: Vec<(u32, f64)> = [1, 4, 16].map(|depth| (depth, stream(device.path(), depth))).to_vec();
    depths.sort_by(|a, b| b.1.total_cmp(&a.1));
    let words: Vec<String> = depths.iter().map(|(depth, rate)| format!("QD{depth} {:.0}", rate / 1e6)).collect();
    report.note(format!("fio by its depth, the best first, in MB/s: {}", words.join("; ")));
    let best = depths[0].0;
    let ours = || {
        let (found, _) = check(&mut assay(device.path()), CHECKED);
        let passes = [found.write.unwrap(), found.read.unwrap()];
        let elapsed = passes.iter().map(|pass| pass.elapsed_ns as f64 / 1e9).sum::<f64>();
        passes.iter().map(|pass| pass.bytes as f64).sum::<f64>() / elapsed
    };
    let what = "check of 2 GiB, device in memory: bytes per second, by a sequential write and read of fio".to_owned();
    let words = |rate: f64| format!("{:.0} MB/s", rate / 1e6);
    let figure = Figure::ratio(what, |rate: &f64| *rate, words, Target::AtLeast(0.95));
    pairs(report, LOOKS, ours, || stream(device.path(), best), &[figure]);
    Ok(())
}

/// Bytes per second of fio, which writes as much as is checked, syncs it and reads it back; start-up is not counted.
fn stream(directory: &Path, depth: u32) -> f64 {
    let file = directory.join("stream");
    let seconds: f64 = ["write", "read"]
        .iter()
        .map(|op| {
            let mut command = Command::new("fio");
            command
                .args(["--name=s", "--direct=1", "--ioengine=io_uring", "--bs=1m", "--end_fsync=1"])
                .args(["--output-format=json", "--refill_buffers"])
                .args([format!("--rw={op}"), format!("--size={CHECKED}"), format!("--iodepth={depth}")])
                .arg(format!("--filename={}", file.display()));
            let said = fio::document(&finish(&mut command));
            said["jobs"][0][op]["runtime"].as_f64().unwrap() / 1e3
        })
        .sum();
    let _ = std::fs::remove_file(file);
    2.0 * CHECKED as f64 / seconds
}

/// The share of a slow bus that is used.
pub(crate) fn buses(report: &mut Report) -> Result<(), Missing> {
    let limits = Limits { read_bytes: Some(BUS), write_bytes: Some(BUS), ..Limits::default() };
    let card = LimitedCard::new(512 << 20, limits)?;
    let found = check(&mut card.command(binary(), &arguments(card.path())), 0).0;
    for (name, pass) in [("write", &found.write), ("read", &found.read)] {
        let rate = pass.as_ref().and_then(Pass::bytes_per_second).unwrap();
        let what = format!("{name}: share of a bus of 23 MB/s");
        let ours = format!("{:.2} MB/s", rate / 1e6);
        report.add(BenchRow::exact(&what, rate / BUS as f64, "", ours, Target::AtLeast(0.98)));
    }
    Ok(())
}

/// The first write allocates the memory behind the device; this time is not measured.
fn fast_device() -> Result<FastDevice, Missing> {
    let device = FastDevice::new(CHECKED + BESIDE)?;
    check(&mut assay(device.path()), CHECKED);
    Ok(device)
}

fn assay(target: &Path) -> Command {
    let mut command = Command::new(binary());
    command.args(arguments(target)).args(["--bytes", "2GiB"]);
    command
}

fn arguments(target: &Path) -> Vec<std::ffi::OsString> {
    let fixed = ["verify", "--json", "--no-save", "--quiet"].map(Into::into);
    fixed.into_iter().chain([target.as_os_str().to_owned()]).collect()
}

/// Runs a check to its end, and asserts that it found at least `bytes` bytes good.
fn check(command: &mut Command, bytes: u64) -> (Verification, Finished) {
    let finished = finish(command);
    let found = record(&finished).verification.unwrap();
    assert!(found.counts.good >= bytes / 512 && found.counts.lost() == 0, "{}", finished.stderr);
    (found, finished)
}
