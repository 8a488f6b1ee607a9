//! smartctl 7: its JSON (`-j`), for the health of a medium and what tells it from others. It holds no figure of speed. That
//! of `nvme smart-log` has the health alone. Names may stand in any order, as jq and exporters sort them.
//!
//! Names: <https://www.smartmontools.org/wiki/SmartctlJSON>.

use assay_core::medium::MediumKind;
use serde_json::Value;

use crate::date;
use crate::report::{Format, Report, Section};
use crate::text::{Text, json_begins, json_body};

/// smartctl.
pub(crate) struct Smartctl;

const NAME: &str = "smartctl";
/// Longest document that is read, in bytes; with all logs of a disk it has some 100 KB.
const LONGEST: usize = 1 << 20;
/// Most lines of it before a name by which it is known.
const MOST_LINES: usize = 20_000;
/// What the first name of an object begins with, of those that smartctl and nvme print beside others.
const FIRST: [&str; 23] = [
    "ata_",
    "avail_spare",
    "controller_busy",
    "critical_",
    "device",
    "endurance",
    "firmware_version",
    "form_factor",
    "in_smartctl",
    "interface_speed",
    "local_time",
    "logical_block",
    "model_",
    "nvme_",
    "power_",
    "rotation_rate",
    "sata_",
    "scsi_",
    "serial_number",
    "smart",
    "temperature",
    "user_capacity",
    "wwn",
];
/// Most names of health that are kept.
const MOST: usize = 200;

impl Format for Smartctl {
    fn name(&self) -> &'static str {
        NAME
    }

    fn keywords(&self) -> &'static [&'static str] {
        &["\"smartctl\"", "json_format_version", "smart_status", "power_on_time", "model_name"]
    }

    fn needs(&self) -> &'static str {
        "a whole document of JSON"
    }

    fn begins(&self, text: &Text, at: usize) -> bool {
        json_begins(text, at, "\"json_format_version\"")
            || is_sorted(text, at)
            || json_begins(text, at, "\"avail_spare\"")
    }

    fn read(&self, text: &Text, at: usize) -> Section {
        let (body, end, cut) = json_body(text, at, |line| self.begins(text, line));
        let nothing = |what: &str| Section::nothing(end, text.number(at), what);
        if cut || body.len() > LONGEST {
            return nothing("output of smartctl that is not complete");
        }
        let Ok(value) = serde_json::from_str::<Value>(&body) else {
            return nothing("output of smartctl that is no JSON");
        };
        let report = report(&value);
        if report.is_empty() {
            let message = value["smartctl"]["messages"][0]["string"].as_str().unwrap_or("no health in it");
            return nothing(&format!("output of smartctl without a result: {message}"));
        }
        Section::from_report(report, end)
    }
}

/// Whether an object begins that has another name of smartctl or nvme first.
fn is_sorted(text: &Text, at: usize) -> bool {
    let first = text.long_line(at + 1).trim_start().strip_prefix('"').unwrap_or_default();
    text.long_line(at).trim_end().ends_with('{')
        && FIRST.iter().any(|name| first.starts_with(name))
        && text.is_known_object(at, MOST_LINES)
}

/// A whole number. nvme 2.0 and 2.1 print those of 128 bits as strings.
fn whole(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

/// The health that nvme prints, by the names of smartctl. It has kelvins.
fn of_nvme(value: &Value) -> Report {
    let mut report = Report::new("nvme");
    report.medium.kind = MediumKind::Nvme;
    let health = &mut report.medium.health;
    for (name, value) in value.as_object().into_iter().flatten().take(MOST) {
        let Some(number) = whole(value).map(i128::from) else { continue };
        let (name, number) = match name.as_str() {
            // Below zero, too: a drive outdoors.
            "temperature" if number > 200 => ("temperature_celsius", number - 273),
            // A device without a sensor has 0 K.
            "temperature" if number == 0 => continue,
            "avail_spare" => ("available_spare", number),
            "spare_thresh" => ("available_spare_threshold", number),
            "percent_used" => ("percentage_used", number),
            "host_read_commands" => ("host_reads", number),
            "host_write_commands" => ("host_writes", number),
            name => (name, number),
        };
        health.insert(name.to_owned(), number.to_string());
    }
    report
}

fn report(value: &Value) -> Report {
    if whole(&value["avail_spare"]).is_some() {
        return of_nvme(value);
    }
    let mut report = Report::new(NAME);
    let text = |value: &Value| value.as_str().filter(|text| !text.trim().is_empty()).map(|text| text.trim().to_owned());
    let version = value["smartctl"]["version"].as_array().map(Vec::as_slice).unwrap_or_default();
    let parts: Vec<String> = version.iter().filter_map(|part| Some(part.as_u64()?.to_string())).collect();
    report.version = Some(parts.join(".")).filter(|version| !version.is_empty());
    report.created = value["local_time"]["time_t"].as_u64().and_then(date::of_unix);
    let medium = &mut report.medium;
    medium.model =
        text(&value["model_name"]).or_else(|| text(&value["scsi_model_name"])).or_else(|| text(&value["product"]));
    medium.vendor = text(&value["vendor"]).or_else(|| text(&value["scsi_vendor"]));
    medium.unit = text(&value["serial_number"]);
    medium.capacity_bytes = value["user_capacity"]["bytes"].as_u64().or(value["nvme_total_capacity"].as_u64());
    medium.device = text(&value["device"]["name"]);
    medium.path = medium.device.clone().unwrap_or_default();
    // A disk on SATA and one behind a USB bridge look the same.
    if value["device"]["type"] == "nvme" {
        medium.kind = MediumKind::Nvme;
    }
    let health = &mut medium.health;
    let mut add = |name: &str, value: &Value| {
        let reading = match value {
            Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
            other => text(other),
        };
        if let Some(reading) = reading.filter(|_| health.len() < MOST) {
            health.insert(name.to_owned(), reading);
        }
    };
    add("smart_passed", &value["smart_status"]["passed"]);
    add("temperature_celsius", &value["temperature"]["current"]);
    add("power_on_hours", &value["power_on_time"]["hours"]);
    add("power_cycles", &value["power_cycle_count"]);
    // Firmware alone says nothing about the state: without the rest there is no health.
    if value["smart_status"].is_object() || value["temperature"].is_object() {
        add("firmware", &value["firmware_version"]);
    }
    // Of a SAS disk, by the names within their objects.
    add("scsi_grown_defect_list", &value["scsi_grown_defect_list"]);
    for name in ["accumulated_start_stop_cycles", "accumulated_load_unload_cycles"] {
        add(name, &value["scsi_start_stop_cycle_counter"][name]);
    }
    for op in ["read", "write", "verify"] {
        for name in ["gigabytes_processed", "total_uncorrected_errors"] {
            add(&format!("{op}_{name}"), &value["scsi_error_counter_log"][op][name]);
        }
    }
    for (name, value) in value["nvme_smart_health_information_log"].as_object().into_iter().flatten() {
        // As in the text, and where smartctl gives it a name of its own.
        add(if name == "temperature" { "temperature_celsius" } else { name }, value);
    }
    for attribute in value["ata_smart_attributes"]["table"].as_array().into_iter().flatten() {
        if let Some(name) = attribute["name"].as_str() {
            // As smartctl prints it: what the bytes mean depends on the attribute and the maker.
            add(name, &attribute["raw"]["string"]);
        }
    }
    report
}
