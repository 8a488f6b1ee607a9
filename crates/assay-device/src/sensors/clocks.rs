//! Processor clocks in kHz (kernel Documentation/admin-guide/pm/cpufreq.rst).

use std::fs::File;

use assay_core::sensor::SensorKind;

use super::probe::{Found, Probe};
use crate::files;
use crate::sysroot::Sysroot;

/// Most policies that are read: on x86, kernels before 5.17 sleep 10 ms in the reading of each, and large machines have
/// hundreds that run alike.
const MOST: usize = 8;

/// The clock of each policy, or of an evenly spaced selection if there are many.
pub(super) fn find(sysroot: &Sysroot) -> Vec<Found> {
    let dir = sysroot.path("/sys/devices/system/cpu/cpufreq");
    let names: Vec<String> = files::entries(&dir).into_iter().filter(|name| name.starts_with("policy")).collect();
    let step = names.len().div_ceil(MOST).max(1);
    let found = names.iter().step_by(step).filter_map(|name| {
        let policy = dir.join(name);
        let probe = Probe::Number { file: File::open(policy.join("scaling_cur_freq")).ok()?, times: 1e3, over: 1.0 };
        let most = files::number(&policy.join("cpuinfo_max_freq")).map(|khz| khz as f64 * 1e3);
        let name = format!("cpu{} clock", name.trim_start_matches("policy"));
        Some(Found { name, kind: SensorKind::Frequency, source: "cpufreq", most, probe })
    });
    found.collect()
}
