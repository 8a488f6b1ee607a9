//! Comparisons with fio on media made for it, in interleaved pairs, and the targets they must meet.
//!
//! `make bench` runs this as root. It prints a table for `docs/benchmarks.md` and fails where a
//! target is missed.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

use assay_core::record::Record;
use assay_lab::{Bus, FilledDevice, Lab, LatencyCard};
use serde_json::Value;

const MIB: u64 = 1 << 20;
/// Pairs of each comparison: the median of odd many.
const PAIRS: usize = 11;
/// Seconds of each side of a pair: short ones in turn, as the speed of a shared machine drifts.
const SECONDS: u32 = 2;

/// One line of the table.
struct Row {
    what: &'static str,
    ours: String,
    theirs: String,
    ratio: f64,
    target: String,
    met: bool,
}

fn main() -> ExitCode {
    // `cargo test --benches` passes flags meant for a harness; it measures nothing.
    if std::env::args().any(|a| a == "--test" || a == "--list") {
        return ExitCode::SUCCESS;
    }
    let lab = match Lab::enter() {
        Ok(lab) => lab,
        Err(missing) => {
            println!("SKIP: benches: {missing}");
            return ExitCode::SUCCESS;
        }
    };
    let mut rows = Vec::new();
    let outcome = all(&mut rows);
    drop(lab);
    if let Err(missing) = outcome {
        println!("SKIP: benches: {missing}");
    }
    println!("| comparison | assay | peer | ratio | target | met |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for r in &rows {
        println!(
            "| {} | {} | {} | {:.3} | {} | {} |",
            r.what,
            r.ours,
            r.theirs,
            r.ratio,
            r.target,
            if r.met { "yes" } else { "NO" }
        );
    }
    if rows.iter().all(|r| r.met) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn all(rows: &mut Vec<Row>) -> Result<(), assay_lab::Missing> {
    rows.push(start_up());
    rows.push(binary_size());

    // Both tools read the same bytes of the same bare device.
    let fast = FilledDevice::new(256 * MIB)?;
    rows.push(null_engine(fast.path()));
    rows.push(pairs(
        fast.path(),
        "random read 4 KiB QD32, one thread, bare loop device in memory: IOPS",
        32,
        &[
            "--ioengine=io_uring",
            "--registerfiles",
            "--fixedbufs",
            "--iodepth_batch=32",
            "--iodepth_batch_complete_min=1",
            "--iodepth_batch_complete_max=32",
        ],
        |ratio| ratio >= 1.0,
        "≥ 1.00",
    ));
    rows.push(pairs(
        fast.path(),
        "random read 4 KiB QD1, pread, bare loop device in memory: IOPS",
        1,
        &["--ioengine=psync"],
        |ratio| ratio >= 1.0,
        "≥ 1.00",
    ));
    drop(fast);

    let card = LatencyCard::new(512 * MIB, Bus { read_ms: 1, write_ms: 3, bits_per_second: 184_000_000 })?;
    rows.push(pairs(
        card.path(),
        "random read 4 KiB QD1, pread, card with 1 ms latency: IOPS",
        1,
        &["--ioengine=psync"],
        |ratio| (ratio - 1.0).abs() <= 0.03,
        "0.97 to 1.03",
    ));
    Ok(())
}

/// `assay --version`, whole process.
fn start_up() -> Row {
    let mut times: Vec<f64> = (0..31)
        .map(|_| {
            let start = Instant::now();
            let output = Command::new(binary()).arg("--version").output().unwrap();
            assert!(output.status.success());
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    let ms = median(&mut times);
    Row {
        what: "`assay --version`, whole process",
        ours: format!("{ms:.1} ms"),
        theirs: "–".into(),
        ratio: ms / 10.0,
        target: "< 10 ms".into(),
        met: ms < 10.0,
    }
}

fn binary_size() -> Row {
    let mb = std::fs::metadata(binary()).unwrap().len() as f64 / 1e6;
    Row {
        what: "release binary",
        ours: format!("{mb:.1} MB"),
        theirs: "–".into(),
        ratio: mb / 15.0,
        target: "≤ 15 MB".into(),
        met: mb <= 15.0,
    }
}

/// Cost of the instrument: both null engines, random 4 KiB reads, 32 in flight.
fn null_engine(directory: &Path) -> Row {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..PAIRS {
        theirs.push(1e9 / fio(directory, 32, &["--ioengine=null"], 1));
        ours.push(1e9 / assay(directory, 32, 1, &["--engine", "null"]));
    }
    let (ours, theirs) = (median(&mut ours), median(&mut theirs));
    Row {
        what: "null engine, histogram and samples on: ns per operation",
        ours: format!("{ours:.1}"),
        theirs: format!("{theirs:.1}"),
        ratio: ours / theirs,
        target: "≤ 60 ns".into(),
        met: ours <= 60.0,
    }
}

fn pairs(
    directory: &Path,
    what: &'static str,
    depth: u32,
    fio_engine: &[&str],
    met: impl Fn(f64) -> bool,
    target: &str,
) -> Row {
    let (mut ours, mut theirs, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    // The first pair warms the machine up.
    for pair in 0..=PAIRS {
        let (a, b) = if pair % 2 == 0 {
            let b = fio(directory, depth, fio_engine, SECONDS);
            (assay(directory, depth, SECONDS, &[]), b)
        } else {
            let a = assay(directory, depth, SECONDS, &[]);
            (a, fio(directory, depth, fio_engine, SECONDS))
        };
        if pair > 0 {
            ours.push(a);
            theirs.push(b);
            ratios.push(a / b);
        }
    }
    let ratio = median(&mut ratios);
    Row {
        what,
        ours: format!("{:.0}", median(&mut ours)),
        theirs: format!("{:.0}", median(&mut theirs)),
        ratio,
        target: target.into(),
        met: met(ratio),
    }
}

fn assay(target: &Path, depth: u32, seconds: u32, more: &[&str]) -> f64 {
    let suite = std::env::temp_dir().join(format!("assay-bench-{}.toml", std::process::id()));
    std::fs::write(
        &suite,
        format!(
            "name = \"bench\"\nversion = 1\npurpose = \"bench\"\nbudget = \"30s\"\nmax_write = \"256MiB\"\nrepeats = 1\nspan = \"256MiB\"\n\
             [[workload]]\nname = \"w\"\nop = \"read\"\npattern = \"random\"\nblock = \"4KiB\"\nqueue_depth = {depth}\nduration = \"{seconds}s\"\n"
        ),
    )
    .unwrap();
    let fixed: [&OsStr; 5] =
        ["run".as_ref(), "--json".as_ref(), "--no-save".as_ref(), "--suite".as_ref(), suite.as_os_str()];
    let raw = (!target.is_dir()).then_some("--raw");
    let output = Command::new(binary()).args(fixed).args(more).args(raw).arg(target).output().unwrap();
    let record: Record = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)));
    record.measurements[0].repeats[0].iops
}

fn fio(target: &Path, depth: u32, engine: &[&str], seconds: u32) -> f64 {
    let file = if target.is_dir() { target.join("fio.data") } else { target.to_owned() };
    let output = Command::new("fio")
        .args(["--name=r", "--rw=randread", "--bs=4k", "--direct=1", "--size=256m", "--norandommap", "--time_based"])
        .args(["--ramp_time=500ms", "--output-format=json"])
        .arg(format!("--runtime={seconds}"))
        .arg(format!("--iodepth={depth}"))
        .arg(format!("--filename={}", file.display()))
        .args(engine)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let start = text.find('{').unwrap_or_else(|| panic!("fio: {}", String::from_utf8_lossy(&output.stderr)));
    let report: Value = serde_json::from_str(&text[start..]).unwrap();
    report["jobs"][0]["read"]["iops"].as_f64().unwrap()
}

fn binary() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_assay"))
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
