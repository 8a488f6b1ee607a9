//! The full check against `f3write` and `f3read`, on a fast device and on a slow card.
//!
//! `cargo bench --locked -p assay-verify --bench f3`, as root. Pairs take turns, so that whatever else the
//! machine does meets both. Prints ratios, and ends with 1 where a target is missed.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // a bench, whose output is its purpose

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use assay_core::verification::Pass;
use assay_engine::Control;
use assay_lab::{Bus, FastDevice, Lab, LatencyCard, LimitedCard, Limits, Missing, skip};
use assay_verify::files::{Plan, Settings, check};

const GIB: u64 = 1 << 30;
const PAIRS: usize = 3;
/// Bus of the slow card in bytes a second.
const BUS: u64 = 23_000_000;

/// Wall time and CPU time.
#[derive(Clone, Copy)]
struct Cost {
    wall: f64,
    cpu: f64,
}

fn main() -> ExitCode {
    // `LimitedCard` runs a command within its limits: this program again, as the command.
    if let Some(target) = std::env::var_os("ASSAY_BENCH_CARD") {
        let plan = Plan::new(Path::new(&target), &Settings::default()).unwrap();
        let checked = check(&plan, &Settings::default(), &Control::default(), &mut |_| {}).unwrap();
        for pass in [checked.verification.write, checked.verification.read] {
            println!("{}", pass.unwrap().bytes_per_second().unwrap());
        }
        return ExitCode::SUCCESS;
    }
    // `cargo bench` passes --bench; a test run of all targets does not, and is no time to measure.
    if !std::env::args().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    match fast().and_then(|fast| Ok(slow()? && fast)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(missing) => {
            skip("f3", &missing);
            ExitCode::SUCCESS
        }
    }
}

/// Whether every target was met.
fn fast() -> Result<bool, Missing> {
    let _lab = Lab::enter()?;
    let device = FastDevice::new(2 * GIB + 160 * (1 << 20))?;
    // The memory behind the device is allocated by the first write; nobody's time counts that.
    assay(device.path())?;
    let (mut walls, mut cpus) = (Vec::new(), Vec::new());
    for pair in 1..=PAIRS {
        let ours = assay(device.path())?;
        let theirs = f3(device.path())?;
        walls.push(theirs.wall / ours.wall);
        cpus.push(ours.cpu / theirs.cpu);
        println!(
            "pair {pair}: assay {:.2} s, CPU {:.2} s; f3 {:.2} s, CPU {:.2} s",
            ours.wall, ours.cpu, theirs.wall, theirs.cpu
        );
    }
    let (wall, cpu) = (median(&mut walls), median(&mut cpus));
    println!("wall time: f3 takes {wall:.2} times as long (at least 4): {}", yes(wall >= 4.0));
    println!("CPU time: assay takes {cpu:.2} of f3's (at most 0.5): {}", yes(cpu <= 0.5));
    Ok(wall >= 4.0 && cpu <= 0.5)
}

/// Whether every target was met.
fn slow() -> Result<bool, Missing> {
    let _lab = Lab::enter()?;
    let limits = Limits { read_bytes: Some(BUS), write_bytes: Some(BUS), ..Limits::default() };
    let card = LimitedCard::new(512 << 20, limits)?;
    let program = std::env::current_exe().map_err(|e| Missing(e.to_string()))?;
    let none: [&str; 0] = [];
    let output = card.command(&program, &none).env("ASSAY_BENCH_CARD", card.path()).output();
    let output = output.map_err(|e| Missing(e.to_string()))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let rates: Vec<f64> = text.lines().map(|line| line.parse().unwrap()).collect();
    let limited = shares("limited card", [rates[0], rates[1]]);

    let bus = Bus { read_ms: 1, write_ms: 3, bits_per_second: BUS * 8 };
    let card = LatencyCard::new(192 << 20, bus)?;
    let plan = Plan::new(card.path(), &Settings::default()).map_err(|e| Missing(e.to_string()))?;
    let checked = check(&plan, &Settings::default(), &Control::default(), &mut |_| {});
    let found = checked.map_err(|e| Missing(e.to_string()))?.verification;
    let latency = shares("card with latency", [found.write, found.read].map(|pass| second_half(&pass.unwrap())));
    Ok(limited && latency)
}

/// Rate of the second half: nbdkit's rate filter lets two seconds pass at any speed first.
fn second_half(pass: &Pass) -> f64 {
    let parts = &pass.speed[pass.speed.len() / 2..];
    let (bytes, elapsed) = parts.iter().fold((0, 0), |sum, part| (sum.0 + part.bytes, sum.1 + part.elapsed_ns));
    bytes as f64 / (elapsed as f64 / 1e9)
}

fn shares(card: &str, rates: [f64; 2]) -> bool {
    let mut met = true;
    for (name, rate) in ["write", "read"].iter().zip(rates) {
        let share = rate / BUS as f64;
        println!("{card}, {name}: {:.1} % of a bus of 23 MB/s (at least 98): {}", share * 100.0, yes(share >= 0.98));
        met &= share >= 0.98;
    }
    met
}

fn assay(target: &Path) -> Result<Cost, Missing> {
    let (start, before) = (Instant::now(), own_cpu());
    let settings = Settings { limit_bytes: Some(2 * GIB), ..Settings::default() };
    let plan = Plan::new(target, &settings).map_err(|e| Missing(e.to_string()))?;
    let checked = check(&plan, &settings, &Control::default(), &mut |_| {}).map_err(|e| Missing(e.to_string()))?;
    assert_eq!(checked.verification.counts.good, 2 * GIB / 512, "{:?}", checked.outcome);
    Ok(Cost { wall: start.elapsed().as_secs_f64(), cpu: (own_cpu() - before).as_secs_f64() })
}

/// Two files of f3; removing them is not counted.
fn f3(target: &Path) -> Result<Cost, Missing> {
    let (start, before) = (Instant::now(), children_cpu());
    for program in ["f3write", "f3read"] {
        let output = Command::new(program).arg("--end-at=2").arg(target).output();
        output.map_err(|_| Missing(format!("needs {program} (package f3)")))?;
    }
    let cost = Cost { wall: start.elapsed().as_secs_f64(), cpu: (children_cpu() - before).as_secs_f64() };
    for number in 1..=2 {
        let _ = std::fs::remove_file(target.join(format!("{number}.h2w")));
    }
    Ok(cost)
}

/// User and system time of this process with all its threads.
fn own_cpu() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap())
}

/// User and system time of all commands that have ended: fields 16 and 17 of `/proc/self/stat`, in
/// hundredths of a second (proc(5), USER_HZ).
fn children_cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = text.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks: u64 = [13, 14].map(|field: usize| fields[field].parse::<u64>().unwrap()).iter().sum();
    Duration::from_millis(ticks * 10)
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn yes(good: bool) -> &'static str {
    if good { "yes" } else { "NO" }
}
