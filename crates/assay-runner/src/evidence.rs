//! Whether something beside the medium made the numbers: the host, others, the kernel's own
//! words, and the shape of the numbers themselves.

use std::cell::RefCell;

use assay_core::estimate::Estimate;
use assay_core::finding::{Finding, FirmwareFlag, Over, Throttling, VoltageSign};
use assay_core::outcome::Outcome;
use assay_core::record::{Measurement, Repeat, Sensor};
use assay_core::sensor::SensorKind;
use assay_device::{HostState, KernelLog, Sysroot, TargetInfo, ThrottleState, swaps_on};
use assay_stats::{drift, drift_along, geometric_like, two_speeds, uneven};
#[cfg(test)]
pub(crate) use tests::measurement;

use crate::summary::replace_findings;

// Looks at the host before and after each repeat.

/// What the host was like before a repeat.
#[derive(Debug)]
pub(crate) struct Mark(HostState);

/// Looks at the host and at the kernel log.
#[derive(Debug)]
pub(crate) struct HostMonitor {
    sysroot: Sysroot,
    log: RefCell<KernelLog>,
    /// What the kernel said while nothing was measured.
    between: RefCell<Vec<String>>,
    swaps_here: bool,
}

impl HostMonitor {
    /// Begins to listen to the kernel.
    pub(crate) fn new(sysroot: &Sysroot, seen: &TargetInfo) -> Self {
        let mut devices: Vec<String> = seen.medium.stack.iter().map(|node| node.name.clone()).collect();
        devices.extend(seen.leaves.iter().cloned());
        Self {
            sysroot: sysroot.clone(),
            log: RefCell::new(KernelLog::follow(sysroot, &devices)),
            between: RefCell::default(),
            swaps_here: swaps_on(sysroot, &seen.leaves),
        }
    }

    /// What is known before the first repeat.
    pub(crate) fn at_start(&self) -> Option<Finding> {
        in_the_past(&HostState::read(&self.sysroot).throttle)
    }

    /// Before a repeat.
    pub(crate) fn before(&self) -> Mark {
        self.between.borrow_mut().extend(self.log.borrow_mut().trouble());
        Mark(HostState::read(&self.sysroot))
    }

    /// After it: what happened meanwhile.
    pub(crate) fn after(&self, mark: &Mark) -> Vec<Finding> {
        let mut findings = host_findings_between(&mark.0, &HostState::read(&self.sysroot), self.swaps_here);
        findings.extend(host_errors(&self.log.borrow_mut().trouble()));
        findings
    }

    /// At the end of the run: what the kernel said outside of repeats.
    pub(crate) fn at_end(&self) -> Option<Finding> {
        let mut lines = self.between.take();
        lines.extend(self.log.borrow_mut().trouble());
        host_errors(&lines)
    }
}

fn host_errors(lines: &[String]) -> Option<Finding> {
    let first = lines.first()?.clone();
    Some(Finding::KernelErrors { lines: lines.len() as u64, first })
}

/// Adds what one repeat brought to what earlier ones did: of each kind one finding, the gravest.
pub(crate) fn keep(measurement: &mut Measurement, findings: Vec<Finding>) {
    for fresh in findings {
        let alike = |known: &Finding| std::mem::discriminant(known) == std::mem::discriminant(&fresh);
        let merged = match measurement.warnings.iter().map(|w| &w.finding).find(|known| alike(known)) {
            Some(known) => merge(known, &fresh),
            None => fresh.clone(),
        };
        measurement.warnings.retain(|w| !alike(&w.finding));
        measurement.warn(merged);
    }
}

fn merge(known: &Finding, fresh: &Finding) -> Finding {
    match (known, fresh) {
        (Finding::LoadOfOthers { share, .. }, Finding::LoadOfOthers { share: other, .. }) if other <= share => {
            known.clone()
        }
        (Finding::KernelErrors { lines, first }, Finding::KernelErrors { lines: more, .. }) => {
            Finding::KernelErrors { lines: lines + more, first: first.clone() }
        }
        (Finding::Suspended { suspended_ns }, Finding::Suspended { suspended_ns: more }) => {
            Finding::Suspended { suspended_ns: suspended_ns + more }
        }
        (Finding::Swapped { pages }, Finding::Swapped { pages: more }) => Finding::Swapped { pages: pages + more },
        _ => fresh.clone(),
    }
}

// From what the host went through to findings.

/// Share of all processors that others may use.
const OTHERS: f64 = 0.25;
/// Ticks of all processors below which the share is too coarse: a second of one.
const LEAST_TICKS: u64 = 100;

/// What happened between two moments.
fn host_findings_between(before: &HostState, after: &HostState, swaps_here: bool) -> Vec<Finding> {
    let mut findings = throttled(&before.throttle, &after.throttle);
    if let Some(load) = after.load.since(&before.load)
        && load.ticks >= LEAST_TICKS
        && load.share > OTHERS
    {
        findings.push(Finding::LoadOfOthers { share: load.share, most: load.most });
    }
    let pages = after.swapped_pages.saturating_sub(before.swapped_pages);
    if swaps_here && pages > 0 {
        findings.push(Finding::Swapped { pages });
    }
    findings
}

/// What the firmware says of the time before the run.
fn in_the_past(now: &ThrottleState) -> Option<Finding> {
    let flags = now.firmware?.since_start();
    (!flags.is_empty()).then_some(Finding::PastThrottling { flags })
}

fn throttled(before: &ThrottleState, after: &ThrottleState) -> Vec<Finding> {
    let mut signs = Vec::new();
    let mut voltage = None;
    let events = after.events.saturating_sub(before.events);
    if events > 0 {
        signs.push(Throttling::OwnTemperature { times: events });
    }
    for (policy, allowed, _) in &after.limits {
        // A limit that stays is a setting; one that comes or goes is throttling.
        if let Some((_, earlier, possible)) = before.limits.iter().find(|(name, ..)| name == policy)
            && earlier != allowed
            && earlier.min(allowed) < possible
        {
            signs.push(Throttling::ClockLimit { policy: policy.clone(), khz: *earlier.min(allowed) });
        }
    }
    if let Some(kind) = after.cooling.first().or(before.cooling.first()) {
        signs.push(Throttling::CoolingDevice { device: kind.clone() });
    }
    if let Some(flags) = after.firmware {
        let earlier = before.firmware.unwrap_or(flags);
        for flag in flags.met_after(earlier) {
            if flag == FirmwareFlag::UnderVoltage {
                voltage = Some(VoltageSign::Firmware);
            } else {
                signs.push(Throttling::Firmware { flag });
            }
        }
    }
    if after.voltage_alarm || before.voltage_alarm {
        voltage.get_or_insert(VoltageSign::Monitor);
    }
    let mut findings = Vec::new();
    if !signs.is_empty() {
        findings.push(Finding::Throttled { signs });
    }
    findings.extend(voltage.map(|sign| Finding::UnderVoltage { sign }));
    findings
}

// Whether repeats and seconds are alike.

/// Fewer seconds of a repeat are not judged.
const LEAST_SECONDS: usize = 10;

/// Judges the shape of a measurement; replaces what was judged before.
pub(crate) fn judge_shape(measurement: &mut Measurement) {
    // How the rate changes is what a soak is for; it says so itself.
    if measurement.soak.is_some() {
        return;
    }
    let completed: Vec<&Repeat> = measurement.repeats.iter().filter(|r| r.outcome == Outcome::Completed).collect();
    let repeats: Vec<f64> = completed.iter().map(|r| r.iops).collect();
    let ramp = measurement.workload.stop.ramp_ns;
    let seconds: Vec<Vec<f64>> =
        completed.iter().map(|r| repeat_rates(r, ramp)).filter(|rates| rates.len() >= LEAST_SECONDS).collect();

    // The gravest of the repeats, unless the repeats themselves say it.
    let over_all = || drift_along(&seconds).filter(|_| seconds.len() == repeats.len());
    let going = drift(&repeats).or_else(over_all).map(|change| (change, Over::Repeats)).or_else(|| {
        let all = seconds.iter().filter_map(|rates| drift(rates));
        all.max_by(|a, b| a.abs().total_cmp(&b.abs())).map(|change| (change, Over::Seconds))
    });
    let two = two_speeds(&repeats).map(|two| (two, Over::Repeats)).or_else(|| {
        let all = seconds.iter().filter_map(|rates| two_speeds(rates));
        all.min_by(|a, b| a.ratio.total_cmp(&b.ratio)).map(|two| (two, Over::Seconds))
    });
    let uneven = uneven(&repeats);

    let finding = going.map(|(change, over)| Finding::Drift { change, over });
    replace_findings(measurement, |f| matches!(f, Finding::Drift { .. }), finding);
    let finding = two.map(|(two, over)| Finding::TwoSpeeds { ratio: two.ratio, slow_share: two.slow_share, over });
    replace_findings(measurement, |f| matches!(f, Finding::TwoSpeeds { .. }), finding);
    let finding = uneven.map(|ratio| Finding::UnevenRepeats { ratio });
    replace_findings(measurement, |f| matches!(f, Finding::UnevenRepeats { .. }), finding);
}

/// Operations per second of the full intervals after the warm-up.
fn repeat_rates(repeat: &Repeat, ramp_ns: u64) -> Vec<f64> {
    let Some(first) = repeat.samples.first() else { return Vec::new() };
    let measured = first.t_ns.saturating_sub(first.interval_ns).saturating_add(ramp_ns);
    let longest = repeat.samples.iter().map(|s| s.interval_ns).max().unwrap_or(0);
    let full = repeat.samples.iter().filter(|s| {
        s.interval_ns > 0 && s.interval_ns >= longest / 2 && s.t_ns.saturating_sub(s.interval_ns) >= measured
    });
    full.map(|s| s.operations as f64 / (s.interval_ns as f64 / 1e9)).collect()
}

// Work for a joule, where power is known.

/// Which power counts: what the user measures, then what the board measures, then the processor
/// alone. Values read by eye say nothing about a moment.
const ORDER: [&str; 3] = ["command", "hwmon", "rapl"];

/// Fills in the work for a joule from the mean power in each repeat.
pub(crate) fn efficiency(measurement: &mut Measurement, sensors: &[Sensor]) {
    let power = ORDER.iter().find_map(|source| {
        sensors.iter().find(|s| s.source == *source && s.kind == SensorKind::Power.name() && !s.samples.is_empty())
    });
    // The power of a workload among others at the same time is not known.
    let Some(power) = power.filter(|_| measurement.workload.together.is_none()) else { return };
    let work = |rate: &dyn Fn(&Repeat) -> f64| -> Option<Box<Estimate>> {
        let completed = measurement.repeats.iter().filter(|r| r.outcome == Outcome::Completed);
        let values: Vec<f64> = completed.filter_map(|r| Some(rate(r) / watts(power, r)?)).collect();
        let mut estimate = geometric_like(&values, measurement.iops.as_ref())?;
        estimate.method = format!("mean power of {} over each repeat; {}", power.name, estimate.method);
        Some(estimate.into())
    };
    let (bytes, operations) = (work(&|r| r.bytes_per_second), work(&|r| r.iops));
    (measurement.bytes_per_joule, measurement.operations_per_joule) = (bytes, operations);
}

/// Mean power while the repeat ran.
fn watts(power: &Sensor, repeat: &Repeat) -> Option<f64> {
    let first = repeat.samples.first()?;
    let window = first.t_ns.saturating_sub(first.interval_ns)..=repeat.samples.last()?.t_ns;
    let within: Vec<f64> = power.samples.iter().filter(|(t, _)| window.contains(t)).map(|(_, watts)| *watts).collect();
    let mean = within.iter().sum::<f64>() / within.len() as f64;
    (mean > 0.0).then_some(mean)
}

#[cfg(test)]
mod tests {
    use assay_core::record::Sample;
    use assay_core::workload::{Op, Pattern, Stop, Workload};
    use assay_device::Firmware;

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// A measurement with a repeat for each list of rates, one a second, after one of warm-up.
    pub(crate) fn measurement(repeats: &[&[f64]]) -> Measurement {
        let stop = Stop { ramp_ns: SECOND, duration_ns: 0, max_bytes: None };
        let workload = Workload { stop, ..Workload::new("w", Op::Read, Pattern::Random, 4096) };
        let mut m = Measurement::empty(workload, "sync");
        for (index, rates) in repeats.iter().enumerate() {
            let start = index as u64 * 100 * SECOND;
            let sample = |second: usize, rate: f64| Sample {
                t_ns: start + (second as u64 + 1) * SECOND,
                interval_ns: SECOND,
                operations: rate as u64,
                bytes: rate as u64 * 4096,
                p50_ns: None,
                p99_ns: None,
            };
            // The warm-up is not judged.
            let mut samples = vec![sample(0, 9e9)];
            samples.extend(rates.iter().enumerate().map(|(second, rate)| sample(second + 1, *rate)));
            let iops = rates.iter().sum::<f64>() / rates.len() as f64;
            m.repeats.push(Repeat {
                elapsed_ns: rates.len() as u64 * SECOND,
                operations: rates.iter().sum::<f64>() as u64,
                iops,
                bytes_per_second: iops * 4096.0,
                in_flight: 1.0,
                samples,
                ..Repeat::empty("", Outcome::Completed)
            });
        }
        m
    }

    fn kinds(repeats: &[&[f64]]) -> Vec<&'static str> {
        let mut m = measurement(repeats);
        judge_shape(&mut m);
        judge_shape(&mut m);
        m.warnings
            .iter()
            .map(|w| match &w.finding {
                Finding::Drift { over: Over::Repeats, .. } => "drift of repeats",
                Finding::Drift { .. } => "drift of seconds",
                Finding::TwoSpeeds { .. } => "two speeds",
                Finding::UnevenRepeats { .. } => "uneven",
                other => panic!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn steady_seconds_have_no_findings() {
        let steady: Vec<f64> = (0..30).map(|i| 1000.0 + f64::from(i % 5) * 7.0).collect();
        assert_eq!(kinds(&[&steady, &steady]), Vec::<&str>::new());
        assert_eq!(kinds(&[]), Vec::<&str>::new());
    }

    #[test]
    fn a_falling_rate_and_two_speeds_within_a_repeat_are_found() {
        let falling: Vec<f64> = (0..30).map(|i| 1000.0 - f64::from(i) * 10.0 + f64::from(i % 5) * 3.0).collect();
        assert_eq!(kinds(&[&falling]), ["drift of seconds"]);
        let two: Vec<f64> = (0..30).map(|i| if i / 3 % 2 == 0 { 1000.0 } else { 600.0 } + f64::from(i % 5)).collect();
        assert_eq!(kinds(&[&two]), ["two speeds"]);
    }

    /// Each repeat by itself changes by less than a tenth.
    #[test]
    fn three_repeats_that_get_slower_all_the_time_are_found() {
        let falling: Vec<f64> = (0..30).map(|i| 1000.0 - f64::from(i) * 6.0 + f64::from(i % 5) * 3.0).collect();
        let repeats: Vec<&[f64]> = falling.chunks(10).collect();
        assert_eq!(kinds(&repeats), ["drift of repeats"]);
        assert_eq!(kinds(&repeats[..1]), Vec::<&str>::new());
        // In another order it is chance.
        assert_eq!(kinds(&[repeats[1], repeats[2], repeats[0]]), Vec::<&str>::new());
    }

    #[test]
    fn ten_seconds_of_a_repeat_are_judged_and_nine_are_not() {
        let falling: Vec<f64> = (0..10).map(|i| 1000.0 - f64::from(i) * 30.0 + f64::from(i % 3)).collect();
        assert_eq!(kinds(&[&falling]), ["drift of seconds"]);
        assert_eq!(kinds(&[&falling[..9]]), Vec::<&str>::new());
    }

    #[test]
    fn repeats_that_differ_are_noted_and_those_that_go_one_way_found() {
        assert_eq!(kinds(&[&[100.0], &[140.0], &[101.0]]), ["uneven"]);
        let down = [100.0, 95.0, 90.0, 84.0, 80.0, 75.0, 69.0];
        let repeats: Vec<&[f64]> = down.iter().map(std::slice::from_ref).collect();
        assert_eq!(kinds(&repeats), ["drift of repeats"]);
    }

    #[test]
    fn of_each_kind_the_gravest_is_kept() {
        let mut m = measurement(&[]);
        let load = |share: f64| Finding::LoadOfOthers { share, most: "make".into() };
        let error = |first: &str| Finding::KernelErrors { lines: 2, first: first.into() };
        keep(&mut m, vec![load(0.5), error("one")]);
        let suspended = |seconds: u64| Finding::Suspended { suspended_ns: seconds * 1_000_000_000 };
        keep(&mut m, vec![load(0.3), suspended(2)]);
        keep(&mut m, vec![suspended(3)]);
        keep(&mut m, vec![load(0.9), error("two"), Finding::Swapped { pages: 3 }]);
        let findings: Vec<Finding> = m.warnings.iter().map(|w| w.finding.clone()).collect();
        let errors = Finding::KernelErrors { lines: 4, first: "one".into() };
        assert_eq!(findings, [suspended(5), load(0.9), errors, Finding::Swapped { pages: 3 }]);
    }

    #[test]
    fn no_line_is_no_error() {
        assert_eq!(host_errors(&[]), None);
    }

    fn limits(khz: u64) -> Vec<(String, u64, u64)> {
        vec![("policy0".to_owned(), khz, 1_500_000)]
    }

    fn found(before: ThrottleState, after: ThrottleState) -> Vec<String> {
        throttled(&before, &after).into_iter().map(|finding| finding.cause()).collect()
    }

    #[test]
    fn a_host_that_was_left_alone_has_no_findings() {
        let state = ThrottleState {
            events: 7,
            limits: limits(1_500_000),
            firmware: Some(Firmware(0x5_0000)),
            ..ThrottleState::default()
        };
        assert_eq!(found(state.clone(), state.clone()), Vec::<String>::new());
        let capped = ThrottleState { limits: limits(600_000), ..state.clone() };
        assert_eq!(found(capped.clone(), capped), Vec::<String>::new(), "a limit that stays is a setting");
        let past = in_the_past(&state).unwrap().cause();
        assert_eq!(past, "before this run, since the host was started: under-voltage, throttled");
        assert_eq!(in_the_past(&ThrottleState::default()), None);
    }

    #[test]
    fn each_way_of_being_held_back_is_told() {
        let rest = ThrottleState { limits: limits(1_500_000), firmware: Some(Firmware(0)), ..ThrottleState::default() };
        let events = found(rest.clone(), ThrottleState { events: 12, ..rest.clone() });
        assert!(events[0].contains("throttled itself 12 times"), "{events:?}");
        let limit = found(rest.clone(), ThrottleState { limits: limits(1_000_000), ..rest.clone() });
        assert!(limit[0].contains("policy0 was limited to 1000 MHz"), "{limit:?}");
        let cooling = found(rest.clone(), ThrottleState { cooling: vec!["cpufreq-cpu0".into()], ..rest.clone() });
        assert!(cooling[0].contains("cpufreq-cpu0"), "{cooling:?}");
        let flags = found(rest.clone(), ThrottleState { firmware: Some(Firmware(0x5_0005)), ..rest.clone() });
        assert_eq!(flags.len(), 2);
        assert!(flags[0].contains("says throttled") && flags[1].contains("voltage"), "{flags:?}");
        let alarm = found(rest.clone(), ThrottleState { voltage_alarm: true, ..rest });
        assert!(alarm[0].contains("rpi_volt"), "{alarm:?}");
    }

    #[test]
    fn swapping_counts_where_the_medium_holds_swap() {
        let before = HostState { swapped_pages: 10, ..HostState::default() };
        let after = HostState { swapped_pages: 52, ..HostState::default() };
        assert_eq!(host_findings_between(&before, &after, true), [Finding::Swapped { pages: 42 }]);
        assert_eq!(host_findings_between(&before, &after, false), []);
    }

    fn sensor(name: &str, source: &str, watts: &[f64]) -> Sensor {
        let mut sensor = SensorKind::Power.series(name, source);
        sensor.samples = watts.iter().enumerate().map(|(i, w)| (i as u64 * SECOND, *w)).collect();
        sensor
    }

    #[test]
    fn work_for_a_joule_by_hand() {
        let mut m = measurement(&[&[1000.0, 1000.0]]);
        // The repeat and its warm-up take the seconds 0 to 3; what is after them does not count.
        let sensors = [sensor("package-0", "rapl", &[50.0; 9]), sensor("plug", "command", &[2.0, 2.0, 3.0, 3.0, 99.0])];
        efficiency(&mut m, &sensors);
        let operations = m.operations_per_joule.unwrap();
        assert!((operations.point - 400.0).abs() < 1e-9, "{operations:?}");
        assert!(operations.method.contains("plug"), "{operations:?}");
        assert!((m.bytes_per_joule.unwrap().point - 400.0 * 4096.0).abs() < 1e-6);
    }

    #[test]
    fn without_power_in_the_repeat_there_is_none() {
        let mut m = measurement(&[&[1000.0]]);
        efficiency(&mut m, &[]);
        efficiency(&mut m, &[sensor("plug", "note", &[3.0; 3])]);
        let mut late = sensor("plug", "command", &[3.0]);
        late.samples[0].0 = 50 * SECOND;
        efficiency(&mut m, &[late, sensor("board", "hwmon", &[])]);
        assert_eq!((m.bytes_per_joule, m.operations_per_joule), (None, None));
    }
}
