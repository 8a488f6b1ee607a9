//! What the host goes through beside a run is in its record, and what it does not is not.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use assay_core::finding::{Finding, Severity};
use assay_core::units::MIB;
use assay_lab::{FastDevice, Lab, LimitedCard, Limits, lab};

use crate::common::known::{findings, read_for};

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
fn programs_that_use_the_processors_are_noticed() {
    const TEST: &str = "programs_that_use_the_processors_are_noticed";
    let _lab = lab!(TEST, Lab::enter());
    let limits = Limits { read_iops: Some(500), ..Limits::default() };
    let card = lab!(TEST, LimitedCard::new(64 * MIB, limits));
    let hogs = Hogs::start(std::thread::available_parallelism().map_or(2, usize::from));
    let record = read_for(card.path(), "5s", &[]);
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
    let fast = lab!(TEST, FastDevice::new(64 * MIB));
    let record = read_for(fast.path(), "4s", &[]);
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
