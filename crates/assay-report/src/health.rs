//! What a medium says of its own state, in the few words that people ask for: read by assay, or by smartctl and nvme, whose
//! JSON names the readings (<https://www.smartmontools.org/wiki/SmartctlJSON>).
//!
//! Attributes of ATA disks have raw values that differ between makers: of these only counts are said that mean the same
//! everywhere.

use assay_core::health::{Bad, Counter, CounterKind, Unit};
use assay_core::medium::Medium;
use assay_core::text::{clean, harmless};
use assay_core::units::{Bytes, counted, grouped};

/// The value at which type A or B memory is beyond its life.
const BEYOND: i64 = 11;

/// Whether the medium says itself that it fails.
pub(crate) fn is_bad(medium: &Medium) -> bool {
    let count = |kind| medium.count(kind).unwrap_or(0);
    medium.health.get("smart_passed").is_some_and(|passed| passed == "false")
        || count(CounterKind::CriticalWarning) != 0
        || count(CounterKind::FailingAttributes) > 0
        || count(CounterKind::PreEndOfLife) > 1
        || used_tenths(medium) == Some(BEYOND)
        || medium.readings.failing().next().is_some()
}

/// `SMART passed, 38 °C, 3 % used, no media errors, 1 234 h in use`; `None` where nothing is known of it.
pub(crate) fn words(medium: &Medium) -> Option<String> {
    let count = |kind: CounterKind, what: &str| {
        medium.count(kind).map(|count| match count {
            0 => format!("no {what}s"),
            count => counted(usize::try_from(count).unwrap_or(0), what),
        })
    };
    let some = |kind| medium.count(kind).filter(|count| *count != 0);
    let passed = medium
        .health
        .get("smart_passed")
        .map(|passed| if passed == "true" { "SMART passed".to_owned() } else { "SMART failed".to_owned() });
    let grown = || medium.health.get("scsi_grown_defect_list")?.trim().parse::<usize>().ok();
    let parts = [
        passed,
        some(CounterKind::CriticalWarning).map(|warning| format!("critical warning {warning:#04x}")),
        some(CounterKind::FailingAttributes)
            .map(|count| counted(usize::try_from(count).unwrap_or(0), "failing attribute")),
        medium.count(CounterKind::TemperatureCelsius).map(|celsius| format!("{celsius} °C")),
        medium.count(CounterKind::PercentageUsed).map(|percent| format!("{percent} % used")),
        used_tenths(medium).map(tenths),
        medium.count(CounterKind::LifeLeftPercent).map(|percent| format!("{percent} % of its life left")),
        reserve(medium),
        medium.count(CounterKind::AvailableSparePercent).map(|percent| format!("{percent} % of the spare blocks left")),
        count(CounterKind::MediaErrors, "media error"),
        count(CounterKind::ReallocatedSectors, "reallocated sector"),
        count(CounterKind::PendingSectors, "pending sector"),
        count(CounterKind::LaterBadBlocks, "later bad block"),
        grown().map(|count| if count == 0 { "no grown defects".to_owned() } else { counted(count, "grown defect") }),
        medium.count(CounterKind::PowerOnHours).map(|hours| format!("{} h in use", grouped(hours))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The more worn of both types of memory of an eMMC or UFS device.
fn used_tenths(medium: &Medium) -> Option<i64> {
    [CounterKind::LifeUsedATenths, CounterKind::LifeUsedBTenths].into_iter().filter_map(|kind| medium.count(kind)).max()
}

/// `10 to 20 % used`.
fn tenths(value: i64) -> String {
    match value {
        BEYOND.. => "beyond its estimated life".to_owned(),
        value => format!("{} to {} % used", (value - 1) * 10, value * 10),
    }
}

/// What the reserve of an eMMC or UFS device says beside "normal" (JESD84-B51, `PRE_EOL_INFO`).
fn reserve(medium: &Medium) -> Option<String> {
    let used = match medium.count(CounterKind::PreEndOfLife)? {
        2 => "80 %",
        3 => "90 %",
        _ => return None,
    };
    Some(format!("{used} of the reserved blocks used"))
}

/// A value with its unit.
fn value(kind: CounterKind, value: i64) -> String {
    match kind.unit() {
        Unit::Percent => format!("{value} %"),
        Unit::Tenths => tenths(value),
        Unit::Celsius => format!("{value} °C"),
        Unit::Bytes => Bytes(value.max(0).unsigned_abs()).to_string(),
        Unit::Hours => format!("{} h", grouped(value)),
        Unit::Minutes => format!("{} min", grouped(value)),
        Unit::Bits => format!("{value:#04x}"),
        Unit::Count | Unit::Step => grouped(value),
    }
}

/// The words and the value of a counter by the name that records give it; of a newer kind, the name and the number.
pub(crate) fn by_name(name: &str, number: i64) -> (String, String) {
    match serde_json::from_value(name.into()).unwrap_or(CounterKind::Unknown) {
        CounterKind::Unknown => (harmless(name), grouped(number)),
        kind => (kind.words().to_owned(), value(kind, number)),
    }
}

/// Counters that got worse meanwhile: `media error 3 → 5`; `None` where none did.
pub(crate) fn changes(medium: &Medium) -> Option<String> {
    let change = |counter: &Counter| {
        let (before, after) = counter.worsened()?;
        Some(format!("{} {} → {}", counter.kind.words(), value(counter.kind, before), value(counter.kind, after)))
    };
    let parts: Vec<String> = medium.readings.counters.iter().filter_map(change).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// All counters with their values before and after, by what counts most.
pub(crate) fn counters(medium: &Medium) -> Option<String> {
    let one = |counter: &Counter| {
        let words = counter.kind.words();
        let shown = match (counter.moved(), counter.last()) {
            (Some((before, after)), _) => format!("{} → {}", value(counter.kind, before), value(counter.kind, after)),
            (None, last) => value(counter.kind, last?),
        };
        let mark = if counter.kind.bad() == Bad::Neither || counter.worsened().is_none() { "" } else { " (worse)" };
        Some(format!("{words} {shown}{mark}"))
    };
    let of_kind = |kind| medium.readings.counters.iter().filter(move |counter| counter.kind == kind);
    let known = CounterKind::all().flat_map(of_kind).filter_map(one);
    let parts: Vec<String> = known.collect();
    (!parts.is_empty()).then(|| parts.join(" · "))
}

/// Sources that gave nothing, each with the reason.
pub(crate) fn unread(medium: &Medium) -> Option<String> {
    let parts: Vec<String> = medium.readings.unread.iter().map(|unread| clean(&unread.sentence())).collect();
    (!parts.is_empty()).then(|| parts.join(" · "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_core::health::{HealthReadings, HealthSource, NoAnswer, Unread};

    fn of(health: &[(&str, &str)]) -> Medium {
        let mut medium = Medium::unknown("/dev/sda");
        medium.health = health.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        medium
    }

    #[test]
    fn a_counter_is_named_as_people_call_it() {
        let of = |name, number| by_name(name, number);
        assert_eq!(of("life_used_a_tenths", 2), ("life used (type A)".to_owned(), "10 to 20 % used".to_owned()));
        assert_eq!(of("media_errors", 1234).1, "1 234");
        assert_eq!(of("quarks\u{1b}[31m", 3), (harmless("quarks\u{1b}[31m"), "3".to_owned()));
    }

    #[test]
    fn the_state_of_a_medium_is_said_in_a_few_words() {
        let nvme = of(&[
            ("critical_warning", "0"),
            ("temperature_celsius", "38"),
            ("percentage_used", "3"),
            ("available_spare", "100"),
            ("media_errors", "0"),
            ("power_on_hours", "1234"),
            ("smart_passed", "true"),
            ("data_units_read", "17"),
        ]);
        let want = "SMART passed, 38 °C, 3 % used, 100 % of the spare blocks left, no media errors, 1 234 h in use";
        assert_eq!((words(&nvme).as_deref(), is_bad(&nvme)), (Some(want), false));
        let ata = of(&[
            ("Airflow_Temperature_Cel", "34 (Min/Max 19/54)"),
            ("Power_On_Hours", "54118h+30m+12.1s"),
            ("Reallocated_Sector_Ct", "1"),
            ("smart_passed", "false"),
        ]);
        let want = "SMART failed, 34 °C, 1 reallocated sector, 54 118 h in use";
        assert_eq!((words(&ata).as_deref(), is_bad(&ata)), (Some(want), true));
        let warned = of(&[("critical_warning", "0x04"), ("temperature_celsius", "-3")]);
        assert_eq!((words(&warned).as_deref(), is_bad(&warned)), (Some("critical warning 0x04, -3 °C"), true));
        for nothing in [&[][..], &[("firmware", "7")], &[("life_time", "0x01 0x02")], &[("temperature_celsius", "x")]] {
            assert_eq!((words(&of(nothing)), is_bad(&of(nothing))), (None, false));
        }
    }

    fn read(before: &[(CounterKind, i64)], after: &[(CounterKind, i64)]) -> Medium {
        let all = |counters: &[(CounterKind, i64)]| HealthReadings {
            counters: counters.iter().map(|(kind, value)| Counter::read(*kind, HealthSource::ExtCsd, *value)).collect(),
            ..HealthReadings::default()
        };
        let mut medium = Medium::unknown("/mnt/card");
        medium.readings = all(before);
        medium.readings.finish(all(after));
        medium
    }

    #[test]
    fn the_life_of_an_emmc_is_said_in_percent() {
        use CounterKind::{LifeUsedATenths, LifeUsedBTenths, PreEndOfLife};
        let emmc = |a, b, reserve| read(&[(LifeUsedATenths, a), (LifeUsedBTenths, b), (PreEndOfLife, reserve)], &[]);
        for (medium, want, bad) in [
            (emmc(1, 2, 1), "10 to 20 % used", false),
            (emmc(10, 1, 2), "90 to 100 % used, 80 % of the reserved blocks used", true),
            (emmc(11, 11, 3), "beyond its estimated life, 90 % of the reserved blocks used", true),
        ] {
            assert_eq!((words(&medium).as_deref(), is_bad(&medium)), (Some(want), bad));
        }
    }

    #[test]
    fn what_changed_during_the_run_is_shown_with_both_values() {
        use CounterKind::{MediaErrors, PercentageUsed, PowerOnHours, WrittenBytes};
        let medium = read(
            &[(MediaErrors, 3), (PercentageUsed, 4), (PowerOnHours, 1), (WrittenBytes, 1 << 30)],
            &[(MediaErrors, 1005), (PercentageUsed, 4), (PowerOnHours, 2), (WrittenBytes, 2 << 30)],
        );
        assert_eq!(changes(&medium).as_deref(), Some("media error 3 → 1 005"));
        let want = "life used 4 % · media error 3 → 1 005 (worse) · written by hosts 1 GiB → 2 GiB · in use 1 h → 2 h";
        assert_eq!(counters(&medium).as_deref(), Some(want));
        assert!(is_bad(&medium));
        // Use without an error is no failure.
        let worn = read(&[(PercentageUsed, 4)], &[(PercentageUsed, 5)]);
        assert_eq!((changes(&worn).as_deref(), is_bad(&worn)), (Some("life used 4 % → 5 %"), false));
        let same = read(&[(MediaErrors, 3)], &[(MediaErrors, 3)]);
        assert_eq!((changes(&same), is_bad(&same)), (None, false));
    }

    #[test]
    fn a_source_without_an_answer_is_said_with_its_reason() {
        let mut medium = Medium::unknown("/mnt/card");
        medium.readings.unread.push(Unread::because(HealthSource::SdCmd56, NoAnswer::AllOnes));
        assert_eq!(unread(&medium).as_deref(), Some("SD health (CMD56): no answer (all bytes 0xFF)"));
        assert_eq!((words(&medium), counters(&medium), is_bad(&medium)), (None, None, false));
    }
}
