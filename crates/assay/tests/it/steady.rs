//! Measuring over time: soaks, and repeats that last as long as they must.
//!
//! Where a test needs root and a lab that cannot be made, it says so and is counted.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use assay_core::finding::Finding;
use assay_core::outcome::Outcome;
use assay_core::record::Record;
use assay_core::soak::SoakCause;
use assay_lab::{Lab, LimitedCard, Limits, lab};

const MIB: u64 = 1 << 20;

fn command(card: &LimitedCard, arguments: &[&str]) -> Command {
    let path = card.path().to_string_lossy().into_owned();
    let all: Vec<&str> =
        ["run", "--json", "--no-save", "--quiet"].iter().chain(arguments).copied().chain([path.as_str()]).collect();
    card.command(Path::new(env!("CARGO_BIN_EXE_assay")), &all)
}

fn record(output: std::process::Output) -> Record {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// A suite file with one workload.
fn suite(directory: &Path, workload: &str) -> String {
    let path = directory.join("suite.toml");
    let head = "name = \"lab\"\nversion = 1\npurpose = \"test\"\nbudget = \"10s\"\nmax_write = \"1GiB\"\nrepeats = 3\nspan = \"64MiB\"\n[[workload]]\nname = \"w\"\n";
    std::fs::write(&path, format!("{head}{workload}")).unwrap();
    path.to_string_lossy().into_owned()
}

#[test]
fn a_card_that_slows_down_in_mid_soak_is_seen_with_time_and_rates() {
    const TEST: &str = "a_card_that_slows_down_in_mid_soak_is_seen_with_time_and_rates";
    const FALL: f64 = 24.0;
    let _lab = lab!(TEST, Lab::share());
    let fast = Limits { write_bytes: Some(40_000_000), ..Limits::default() };
    let card = lab!(TEST, LimitedCard::new(512 * MIB, fast));
    let mut run = command(&card, &["--suite", "soak", "--budget", "70s", "--max-write", "2GiB"]);
    let run = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The soak begins right after its directory is made.
    let patience = Instant::now();
    while !std::fs::read_dir(card.path())
        .unwrap()
        .any(|e| e.unwrap().file_name().to_string_lossy().starts_with(".assay-"))
    {
        assert!(patience.elapsed() < Duration::from_secs(30), "the soak did not start");
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_secs_f64(FALL));
    card.change(Limits { write_bytes: Some(12_000_000), ..Limits::default() }).unwrap();
    let record = record(run.wait_with_output().unwrap());

    assert_eq!(record.outcome, Outcome::Completed);
    assert!(record.settings.layout.is_none(), "a soak begins on a medium that was not just written");
    let m = &record.measurements[0];
    let soak = m.soak.as_ref().unwrap_or_else(|| panic!("{:?}", m.warnings));
    let megabytes = |e: &assay_core::estimate::Estimate| e.point / 1e6;
    let (burst, sustained) = (megabytes(&soak.burst_bytes_per_second), megabytes(&soak.sustained_bytes_per_second));
    assert!((38.0..=42.0).contains(&burst), "{burst}");
    assert!((11.4..=12.6).contains(&sustained), "{sustained}");
    let cliff = soak.cliff.as_ref().unwrap_or_else(|| panic!("{soak:?}"));
    let at = cliff.time_ns as f64 / 1e9;
    assert!((at - FALL).abs() <= 3.0, "{at}");
    assert!((cliff.bytes_at as f64 / (at * 40e6) - 1.0).abs() < 0.1, "{cliff:?}");
    assert!((0.65..=0.75).contains(&cliff.drop) && cliff.p_value <= 0.01, "{cliff:?}");
    assert_eq!(cliff.cause, SoakCause::TemperatureUnknown, "a loop device has no sensor");
    assert!(m.proof_ratio.unwrap() > 0.98, "{:?}", m.proof_ratio);
}

#[test]
fn what_cannot_become_steady_says_that_it_was_not_reached_and_keeps_the_budget() {
    const TEST: &str = "what_cannot_become_steady_says_that_it_was_not_reached_and_keeps_the_budget";
    let _lab = lab!(TEST, Lab::share());
    let fast = Limits { read_iops: Some(2000), ..Limits::default() };
    let slow = Limits { read_iops: Some(200), ..Limits::default() };
    let card = lab!(TEST, LimitedCard::new(256 * MIB, fast));
    let directory = tempfile::tempdir().unwrap();
    let suite = suite(directory.path(), "op = \"read\"\npattern = \"random\"\nblock = \"4KiB\"\nqueue_depth = 8\n");
    let mut run = command(&card, &["--suite", &suite, "--confidence", "2%", "--budget", "30s"]);
    let start = Instant::now();
    // In a thread of its own, so that the record does not wait in a full pipe.
    let run = std::thread::spawn(move || run.output().unwrap());
    let mut turn = 0u32;
    while !run.is_finished() {
        // Uneven times, so that no number of batches makes them alike.
        std::thread::sleep(Duration::from_millis(700 + u64::from(turn * 389 % 1500)));
        card.change(if turn.is_multiple_of(2) { slow } else { fast }).unwrap();
        turn += 1;
        assert!(start.elapsed() < Duration::from_secs(60), "far over its budget");
    }
    let record = record(run.join().unwrap());
    assert!(record.settings.elapsed_ns < 35_000_000_000, "{}", record.settings.elapsed_ns);
    let m = &record.measurements[0];
    let not_reached = m.warnings.iter().any(|w| matches!(w.finding, Finding::NotReached { asked: 0.02, .. }));
    assert!(not_reached, "{:?}", m.warnings);
    assert!(m.repeats.iter().all(|r| r.steady.is_some()));
}

#[test]
fn a_confidence_is_refused_where_it_means_nothing() {
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_assay")).arg("run").args(arguments).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, words) = run(&["--suite", "soak", "--confidence", "5%", "/nowhere"]);
    assert!(code == Some(2) && words.contains("soaks"), "{words}");
    let (code, words) = run(&["--confidence", "5%", "--repeats", "3", "/nowhere"]);
    assert!(code == Some(2) && words.contains("--repeats"), "{words}");
    let (code, words) = run(&["--confidence", "5", "/nowhere"]);
    assert!(code == Some(2) && words.contains("5%"), "{words}");
}
