//! From what the host went through to findings.

use assay_core::finding::Finding;
use assay_device::{Firmware, HostState, ThrottleState};

/// Share of all processors that others may use.
const OTHERS: f64 = 0.25;
/// Ticks of all processors below which the share is too coarse: a second of one.
const LEAST_TICKS: u64 = 100;

/// What happened between two moments.
pub(super) fn between(before: &HostState, after: &HostState, swaps_here: bool) -> Vec<Finding> {
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
pub(super) fn in_the_past(now: &ThrottleState) -> Option<Finding> {
    let what = now.firmware?.since_start().join(", ");
    (!what.is_empty()).then_some(Finding::PastThrottling { what })
}

fn throttled(before: &ThrottleState, after: &ThrottleState) -> Vec<Finding> {
    let mut reasons = Vec::new();
    let mut voltage = None;
    let events = after.events.saturating_sub(before.events);
    if events > 0 {
        reasons.push(format!("it throttled itself {events} times for its temperature"));
    }
    for (policy, allowed, _) in &after.limits {
        // A limit that stays is a setting; one that comes or goes is throttling.
        if let Some((_, earlier, possible)) = before.limits.iter().find(|(name, ..)| name == policy)
            && earlier != allowed
            && earlier.min(allowed) < possible
        {
            reasons.push(format!("{policy} was limited to {} MHz", earlier.min(allowed) / 1000));
        }
    }
    if let Some(kind) = after.cooling.first().or(before.cooling.first()) {
        reasons.push(format!("cooling device {kind} was active"));
    }
    if let Some(flags) = after.firmware {
        let earlier = before.firmware.unwrap_or(flags);
        for condition in flags.met_after(earlier) {
            if Firmware::is_voltage(condition) {
                voltage = Some("the firmware says so (get_throttled)".to_owned());
            } else {
                reasons.push(format!("the firmware says {condition}"));
            }
        }
    }
    if after.voltage_alarm || before.voltage_alarm {
        voltage.get_or_insert_with(|| "alarm of the voltage monitor (rpi_volt)".to_owned());
    }
    let mut findings = Vec::new();
    if !reasons.is_empty() {
        findings.push(Finding::Throttled { by: reasons.join(", ") });
    }
    findings.extend(voltage.map(|by| Finding::UnderVoltage { by }));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(between(&before, &after, true), [Finding::Swapped { pages: 42 }]);
        assert_eq!(between(&before, &after, false), []);
    }
}
