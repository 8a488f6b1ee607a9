//! smartctl 7: its JSON (`-j`), for the health of a medium and what tells it from others. It holds no figure of speed.
//!
//! Names: <https://www.smartmontools.org/wiki/SmartctlJSON>.

use assay_core::medium::MediumKind;
use serde_json::Value;

use crate::date;
use crate::format::{Format, Section};
use crate::json;
use crate::report::Report;
use crate::text::Text;

/// smartctl.
pub(crate) struct Smartctl;

const NAME: &str = "smartctl";
/// Longest document that is read, in bytes; with all logs of a disk it has some 100 KB.
const LONGEST: usize = 1 << 20;
/// Most names of health that are kept.
const MOST: usize = 200;

impl Format for Smartctl {
    fn name(&self) -> &'static str {
        NAME
    }

    fn words(&self) -> &'static [&'static str] {
        &["\"smartctl\"", "json_format_version", "smart_status", "power_on_time", "model_name"]
    }

    fn begins(&self, text: &Text, at: usize) -> bool {
        json::begins(text, at, "\"json_format_version\"")
    }

    fn read(&self, text: &Text, at: usize) -> Section {
        let (body, end, cut) = json::body(text, at, |line| self.begins(text, line));
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
        Section::of(report, end)
    }
}

fn report(value: &Value) -> Report {
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
    // Firmware alone says nothing of the state: without the rest there is no health.
    if value["smart_status"].is_object() || value["temperature"].is_object() {
        add("firmware", &value["firmware_version"]);
    }
    for (name, value) in value["nvme_smart_health_information_log"].as_object().into_iter().flatten() {
        add(name, value);
    }
    for attribute in value["ata_smart_attributes"]["table"].as_array().into_iter().flatten() {
        if let Some(name) = attribute["name"].as_str() {
            // As smartctl prints it: what the bytes mean depends on the attribute and the maker.
            add(name, &attribute["raw"]["string"]);
        }
    }
    report
}
