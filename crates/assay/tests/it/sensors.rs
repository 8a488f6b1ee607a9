//! Sensors of the user and what the host goes through, in the record of a real run.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use assay_core::finding::{Finding, Severity};
use assay_core::record::Record;
use assay_lab::{FastDevice, Lab, LimitedCard, Limits, lab};

fn suite(directory: &Path, budget: &str) -> String {
    let path = directory.join("suite.toml");
    let text = format!(
        "name = \"lab\"\nversion = 1\npurpose = \"test\"\nbudget = \"{budget}\"\nmax_write = \"64MiB\"\nrepeats = 1\nspan = \"8MiB\"\n\
         [[workload]]\nname = \"read\"\nop = \"read\"\npattern = \"random\"\nblock = \"4KiB\"\nqueue_depth = 1\n"
    );
    std::fs::write(&path, text).unwrap();
    path.to_string_lossy().into_owned()
}

fn measured(target: &Path, budget: &str, arguments: &[&str]) -> Record {
    let directory = tempfile::tempdir().unwrap();
    let suite = suite(directory.path(), budget);
    let output = Command::new(env!("CARGO_BIN_EXE_assay"))
        .args(["run", "--json", "--no-save", "--suite", &suite])
        .args(arguments)
        .arg(target)
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)))
}

fn findings(record: &Record) -> Vec<&Finding> {
    record.all_warnings().map(|w| &w.finding).collect()
}

/// Programs that do nothing but use a processor each, for twenty seconds at most.
struct Hogs(Vec<Child>);

impl Hogs {
    fn start(count: usize) -> Self {
        let hog = |_| {
            Command::new("timeout")
                .args(["20", "sh", "-c", "while :; do :; done"])
                .stdin(Stdio::null())
                .process_group(0)
                .spawn()
                .unwrap()
        };
        Self((0..count).map(hog).collect())
    }
}

impl Drop for Hogs {
    fn drop(&mut self) {
        for child in &mut self.0 {
            if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
                let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
            }
            let _ = child.wait();
        }
    }
}

#[test]
fn commands_and_notes_become_sensors_and_power_becomes_work_for_a_joule() {
    let directory = tempfile::tempdir().unwrap();
    let mark = directory.path().join("ran");
    let failing = format!("broken:C=echo x >> {}; exit 1", mark.display());
    let begun = Instant::now();
    let record = measured(
        directory.path(),
        "4s",
        &[
            "--sensor",
            "plug:W=echo 'now 2.5 W'",
            "--sensor",
            "slow:C=sleep 1000; echo 1",
            "--sensor",
            &failing,
            "--note",
            "temperature=46C",
            "--note",
            "temperature=47C",
        ],
    );
    assert!(begun.elapsed().as_secs() < 60, "a slow command was waited for: {:?}", begun.elapsed());
    let sensor = |name: &str| record.sensors.iter().find(|s| s.name == name);
    let plug = sensor("plug").unwrap();
    assert_eq!((plug.kind.as_str(), plug.unit.as_str(), plug.source.as_str()), ("power", "W", "command"));
    assert!(plug.samples.len() >= 2 && plug.samples.iter().all(|(_, watts)| *watts == 2.5), "{plug:?}");
    let note = sensor("temperature").unwrap();
    assert_eq!((note.source.as_str(), note.samples.as_slice()), ("note", &[(0, 46.0), (0, 47.0)][..]));
    assert!(sensor("slow").is_none() && sensor("broken").is_none());
    assert_eq!(std::fs::read_to_string(&mark).unwrap(), "x\n", "run once");
    let dropped = findings(&record)
        .into_iter()
        .filter(|f| matches!(f, Finding::SensorDropped { sensor, .. } if sensor == "broken"));
    assert_eq!(dropped.count(), 1, "{:?}", record.warnings);
    let m = &record.measurements[0];
    let wanted = m.iops.as_ref().unwrap().point / 2.5;
    let got = m.operations_per_joule.as_ref().unwrap().point;
    assert!((got / wanted - 1.0).abs() < 1e-9, "{got} {wanted}");
}

#[test]
fn programs_that_use_the_processors_are_noticed() {
    const TEST: &str = "programs_that_use_the_processors_are_noticed";
    let _lab = lab!(TEST, Lab::enter());
    let limits = Limits { read_iops: Some(500), ..Limits::default() };
    let card = lab!(TEST, LimitedCard::new(64 << 20, limits));
    let hogs = Hogs::start(std::thread::available_parallelism().map_or(2, usize::from));
    let record = measured(card.path(), "5s", &[]);
    drop(hogs);
    let share = findings(&record).into_iter().find_map(|f| match f {
        Finding::LoadOfOthers { share, .. } => Some(*share),
        _ => None,
    });
    assert!(share.is_some_and(|share| share > 0.25), "{:?}", findings(&record));
}

#[test]
fn a_quiet_run_has_no_findings_about_the_host() {
    const TEST: &str = "a_quiet_run_has_no_findings_about_the_host";
    let _lab = lab!(TEST, Lab::enter());
    let fast = lab!(TEST, FastDevice::new(64 << 20));
    let record = measured(fast.path(), "4s", &[]);
    let suspect: Vec<&Finding> =
        record.all_warnings().filter(|w| w.severity == Severity::Suspect).map(|w| &w.finding).collect();
    for finding in suspect {
        match finding {
            // Other work on this machine is seen, and is no fault; the kernel's own for us is not.
            Finding::LoadOfOthers { most, .. } => {
                eprintln!("others used the processors: {most}");
                assert!(!most.starts_with("kworker") && !most.starts_with("loop"), "{most}");
            }
            Finding::Throttled { .. }
            | Finding::UnderVoltage { .. }
            | Finding::KernelErrors { .. }
            | Finding::Swapped { .. }
            | Finding::Drift { .. }
            | Finding::TwoSpeeds { .. } => panic!("{finding:?}"),
            _ => {}
        }
    }
}
