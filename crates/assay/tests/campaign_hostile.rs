//! Directory trees that somebody prepared to do harm, by seed, against every command that looks at a directory.
//!
//! Every foreign file inside and outside of the medium and the device that nodes lead to is the same afterwards by
//! checksum, no command takes longer than five seconds beside the time that it was asked to measure, and none needs
//! more than 200 MB. `ASSAY_CAMPAIGN_SEEDS` says how many trees (`make campaign ONLY=hostile SEEDS=1000`).
#![allow(clippy::unwrap_used, clippy::print_stdout)] // a test fails by panicking, and a campaign prints its figures

mod common;

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use assay_lab::hostile::{Tree, Witness};
use assay_lab::{FastDevice, LoopDevice, lab};

use common::Place;

const MIB: u64 = 1 << 20;
/// In the tests of each day.
const SEEDS: u64 = 10;
const LONGEST: Duration = Duration::from_secs(5);
/// What `run` is told to take.
const BUDGET: Duration = Duration::from_secs(1);
const MOST_KIB: i64 = 200_000;
/// What hangs is killed after this.
const TIMEOUT_SECONDS: &str = "20";

/// Largest resident size of all processes that were waited for, in KiB (getrusage(2)).
fn largest_kib() -> i64 {
    // SAFETY: a `rusage` is plain numbers, for which zeros are valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a value that outlives the call.
    let done = unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage) };
    assert_eq!(done, 0);
    usage.ru_maxrss
}

fn empty(directory: &Path) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let removed = if path.symlink_metadata().unwrap().is_dir() {
            std::fs::remove_dir_all(&path)
        } else {
            std::fs::remove_file(&path)
        };
        removed.unwrap();
    }
}

#[test]
fn hostile_media_cost_an_error_line_and_nothing_else() {
    const TEST: &str = "hostile_media_cost_an_error_line_and_nothing_else";
    // No turn in the lab: nothing is measured, and a long campaign would keep it from others.
    let seeds = std::env::var("ASSAY_CAMPAIGN_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(SEEDS);
    let first = std::env::var("ASSAY_CAMPAIGN_FIRST").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    let medium = lab!(TEST, FastDevice::new(64 * MIB));
    let place = Place::new();
    let image = place.file("other.img", vec![0xa5; 4 * MIB as usize]);
    let other = lab!(TEST, LoopDevice::attach(&image, false));
    let device = std::fs::metadata(other.path()).unwrap().rdev();
    let outside = place.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    let victim = outside.join("shadow");
    std::fs::write(&victim, b"root:*:1:0:99999:7:::\n").unwrap();
    let commands: [&[&str]; 6] = [
        &["info"],
        &["run", "--suite", "smoke", "--budget", "2s", "--no-save", "--quiet"],
        &["verify", "--resume", "--no-save", "--quiet"],
        &["verify", "--quick", "--no-save", "--quiet"],
        &["verify", "--bytes", "2MiB", "--no-save", "--quiet"],
        &["verify", "--remove"],
    ];
    let (mut longest, mut failed, mut ran) = (Duration::ZERO, Vec::new(), 0u64);
    for seed in first..first + seeds {
        empty(medium.path());
        let tree = Tree::lay_out(seed, medium.path(), &victim, device).unwrap();
        let before = [
            Witness::of_tree(medium.path()).unwrap(),
            Witness::of_tree(&outside).unwrap(),
            Witness::content(other.path()).unwrap(),
        ];
        // Each tree meets them in another order: what one removes, the next does not meet.
        for turn in 0..commands.len() {
            let arguments = commands[(turn + seed as usize) % commands.len()];
            let mut command = Command::new("timeout");
            command.args(["--signal=KILL", TIMEOUT_SECONDS, common::ASSAY]).args(arguments).arg(medium.path());
            place.at_home(&mut command);
            let begun = Instant::now();
            let output = command.stdin(Stdio::null()).output().unwrap();
            let took = begun.elapsed();
            ran += 1;
            let own = took.saturating_sub(if arguments[0] == "run" { BUDGET } else { Duration::ZERO });
            longest = longest.max(own);
            let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
            common::assert_harmless(&stderr);
            let mut wrong = Vec::new();
            if own > LONGEST {
                wrong.push(format!("took {took:?}"));
            }
            if output.status.code().is_none_or(|code| code > 6) || stderr.contains("panicked") {
                wrong.push(format!("ended with {}", output.status));
            }
            let now = [
                Witness::of_tree(medium.path()).unwrap(),
                Witness::of_tree(&outside).unwrap(),
                Witness::content(other.path()).unwrap(),
            ];
            for (was, is) in before.iter().zip(&now) {
                wrong.extend(was.differences(is, &|path| tree.is_own(path)));
            }
            if !wrong.is_empty() {
                failed.push(format!(
                    "seed {seed}: {}: {}\n  {}\n  {stderr}",
                    arguments.join(" "),
                    wrong.join("; "),
                    tree.description()
                ));
            }
        }
    }
    empty(medium.path());
    let kib = largest_kib();
    println!(
        "{seeds} hostile trees, {ran} commands: {} with harm; slowest {:.2} s, largest {:.0} MB",
        failed.len(),
        longest.as_secs_f64(),
        kib as f64 * 1024.0 / 1e6
    );
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(kib < MOST_KIB, "{kib} KiB");
}
