//! What smartctl and nvme say of the state of a medium, in the few words that people ask for.
//!
//! Names are those of smartctl's JSON (<https://www.smartmontools.org/wiki/SmartctlJSON>), and of the attributes of ATA disks,
//! whose raw values differ between makers: of these only counts are said that mean the same everywhere.

use assay_core::medium::Medium;
use assay_core::units::{counted, grouped};

/// Whether the medium says itself that it fails.
pub(crate) fn is_bad(medium: &Medium) -> bool {
    medium.health.get("smart_passed").is_some_and(|passed| passed == "false")
        || medium.health_number(&["critical_warning"]).is_some_and(|warning| warning != 0)
}

/// `SMART passed, 38 °C, 3 % used, no media errors, 1 234 h in use`; `None` where neither program said something of it.
pub(crate) fn words(medium: &Medium) -> Option<String> {
    let count = |names: &[&str], what: &str| {
        medium.health_number(names).map(|count| match count {
            0 => format!("no {what}s"),
            count => counted(usize::try_from(count).unwrap_or(0), what),
        })
    };
    let passed = medium
        .health
        .get("smart_passed")
        .map(|passed| if passed == "true" { "SMART passed".to_owned() } else { "SMART failed".to_owned() });
    let warning = medium.health_number(&["critical_warning"]).filter(|warning| *warning != 0);
    let parts = [
        passed,
        warning.map(|warning| format!("critical warning {warning:#04x}")),
        medium.health_celsius().map(|celsius| format!("{celsius} °C")),
        medium.health_number(&["percentage_used"]).map(|percent| format!("{percent} % used")),
        medium.health_number(&["available_spare"]).map(|percent| format!("{percent} % of the spare blocks left")),
        count(&["media_errors"], "media error"),
        count(&["Reallocated_Sector_Ct"], "reallocated sector"),
        count(&["Current_Pending_Sector"], "pending sector"),
        count(&["scsi_grown_defect_list"], "grown defect"),
        medium.health_number(&["power_on_hours", "Power_On_Hours"]).map(|hours| format!("{} h in use", grouped(hours))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(health: &[(&str, &str)]) -> Medium {
        let mut medium = Medium::unknown("/dev/sda");
        medium.health = health.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        medium
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
}
