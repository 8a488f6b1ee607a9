//! smartctl and `nvme smart-log`: the text that they print of model, serial number, capacity and health.
//!
//! Shapes: `ataprint.cpp`, `scsiprint.cpp` and `nvmeprint.cpp` of smartmontools (<https://www.smartmontools.org/>, GPL) as of
//! 6 and 7, and `nvme-print-stdout.c` of nvme-cli (<https://github.com/linux-nvme/nvme-cli>, GPL) as of 1 and 2. Names of
//! health are those that smartctl has in its JSON, so that both forms can be laid beside each other.

use std::sync::LazyLock;

use assay_core::finding::{Finding, Untold};
use assay_core::medium::MediumKind;

use crate::command::{commands, commands_above, is_device, named_path};
use crate::pattern::{Regex, regex};
use crate::report::{Format, Report, Section};
use crate::text::Text;

/// smartctl's text, and that of nvme.
pub(crate) struct SmartText;

const NAME: &str = "smartctl text";
/// Most lines of a report, with all its logs.
const LONGEST: usize = 600;
/// Most lines between the title and the first section.
const MOST_ABOVE: usize = 12;
/// Most names of health that are kept.
const MOST: usize = 200;
/// Most lines into which a mail wraps a row.
const MOST_WRAPPED: usize = 3;
/// Lines of an excerpt that are looked at, how many of them have to be of health, and most lines of something else between two.
const EXCERPT: usize = 8;
const LEAST_EXCERPT: usize = 3;
const MOST_FOREIGN: usize = 3;
/// The same behind the result of the self-assessment, which stands far above the attributes.
const MOST_TO_ATTRIBUTES: usize = 80;
/// The result of the self-assessment of a disk on SATA or NVMe.
const ASSESSMENT: &str = "SMART overall-health self-assessment test result:";

static VERSION: LazyLock<Regex> = LazyLock::new(|| regex(r"^smartctl (?:version )?(\d+\.\d+)[ -]"));
static NVME: LazyLock<Regex> = LazyLock::new(|| regex(r"^Smart Log for NVME device: ?(\S+) namespace-id"));
static ATTRIBUTE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^\s*\d{1,3} +([A-Za-z][A-Za-z0-9_-]*) +0x[0-9a-f]{4} +\d{3} +\d{3} +(?:\d{3}|---) +\S+ +\S+ +(\S+) +(\S.*)$",
    )
});
/// The same in the brief form of `-x`: `  5 Reallocated_Sector_Ct   PO--CK   100   100   010    -    3`.
static BRIEF: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^\s*\d{1,3} +([A-Za-z][A-Za-z0-9_-]*) +[A-Z-]{6} +(?:\d{3}|---) +(?:\d{3}|---) +(?:\d{3}|---) +\S+ +(\S.*)$",
    )
});
/// How a row of attributes begins, which may be wrapped.
static ROW: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"^\s*\d{1,3} +[A-Za-z][A-Za-z0-9_-]* +(?:0x[0-9a-f]{4} +\d{3} |[A-Z-]{6} +(?:\d{3}|---) )")
});
/// Versions up to 5.39 print nothing behind the bytes.
static BYTES: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^([0-9][0-9,.'’\u{a0}\u{202f} ]*)(?:(?: bytes)? \[| bytes\s*$)"));
/// A count, whose thousands are divided as in the language of the system.
static COUNT: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^(0x[0-9a-f]+|-?[0-9]{1,3}(?:[,.'’\u{a0}\u{202f} ][0-9]{3})+|-?[0-9]+)(?:[^0-9]|$)"));
/// nvme in a country of Fahrenheit: `86 °F (303 K)`; before 2.3 the kelvins are missing.
static FAHRENHEIT: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^(-?[0-9]+) *[°º]? *(?:F|Fahrenheit)\b(?: *\(([0-9]+) ?K)?"));
/// Hours of a SAS disk: `Accumulated power on time, hours:minutes 51234:11`.
static HOURS: LazyLock<Regex> = LazyLock::new(|| regex(r"^Accumulated power on time, hours:minutes ([0-9]+):[0-9]+"));

/// A row of the error counter log of a SAS disk, whose last numbers are gigabytes and errors that stayed.
static COUNTERS: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^(read|write|verify): +(?:[0-9]+ +){5}([0-9]+(?:[.,][0-9]+)?) +([0-9]+)$"));

/// Names of health as both tools print them, in small letters with a line between words, and those of smartctl's JSON.
const NAMES: [(&str, &str); 25] = [
    ("critical_warning", "critical_warning"),
    ("temperature", "temperature_celsius"),
    ("current_drive_temperature", "temperature_celsius"),
    ("available_spare", "available_spare"),
    ("available_spare_threshold", "available_spare_threshold"),
    ("percentage_used", "percentage_used"),
    ("data_units_read", "data_units_read"),
    ("data_units_written", "data_units_written"),
    ("host_read_commands", "host_reads"),
    ("host_write_commands", "host_writes"),
    ("controller_busy_time", "controller_busy_time"),
    ("power_cycles", "power_cycles"),
    ("power_on_hours", "power_on_hours"),
    ("unsafe_shutdowns", "unsafe_shutdowns"),
    ("media_errors", "media_errors"),
    ("media_and_data_integrity_errors", "media_errors"),
    ("num_err_log_entries", "num_err_log_entries"),
    ("error_information_log_entries", "num_err_log_entries"),
    ("warning_temperature_time", "warning_temp_time"),
    ("critical_composite_temperature_time", "critical_comp_time"),
    ("warning_comp._temperature_time", "warning_temp_time"),
    ("critical_comp._temperature_time", "critical_comp_time"),
    ("elements_in_grown_defect_list", "scsi_grown_defect_list"),
    ("accumulated_start-stop_cycles", "accumulated_start_stop_cycles"),
    ("accumulated_load-unload_cycles", "accumulated_load_unload_cycles"),
];

impl Format for SmartText {
    fn name(&self) -> &'static str {
        NAME
    }

    fn keywords(&self) -> &'static [&'static str] {
        &[
            "smartctl",
            "smart data section",
            "self-assessment",
            "smart log for nvme",
            "percentage used",
            "power_on_hours",
            "smart health status",
            "transport protocol",
            "supports smart",
        ]
    }

    fn needs(&self) -> &'static str {
        "rows of attributes, lines of the log of NVMe, or the result of the self-assessment"
    }

    fn begins(&self, text: &Text, at: usize) -> bool {
        let line = text.line(at).trim();
        is_section(line)
            || is_table(line)
            || line.starts_with(NVME_LOG)
            || is_scsi(text, at)
            || is_named(text, at)
            || line.starts_with("Smart Log for NVME") && NVME.is_match(line)
            || is_excerpt(text, at)
    }

    fn read(&self, text: &Text, at: usize) -> Section {
        let first = text.line(at).trim();
        let mut report = Report::new(if NVME.is_match(first) { "nvme" } else { "smartctl" });
        report.version = (at.saturating_sub(MOST_ABOVE)..at)
            .rev()
            .find_map(|line| VERSION.captures(text.line(line).trim()))
            .filter(|_| report.tool == "smartctl")
            .map(|found| found[1].to_owned());
        let called = || {
            commands_above(text, at, MOST_ABOVE, "smartctl")
                .flatten()
                .find(|word| is_device(word) && named_path(word).is_some())
        };
        let device = match NVME.captures(first) {
            Some(nvme) => {
                report.medium.kind = MediumKind::Nvme;
                Some(device(&nvme[1]))
            }
            None => called(),
        };
        report.medium.path = device.clone().unwrap_or_default();
        report.medium.device = device;
        let (end, unread) = lines(&mut report, text, at);
        if report.is_empty() {
            let what = match unread {
                Some(_) => "attributes of smartctl whose rows are cut off",
                None => "output of smartctl or nvme without health in it",
            };
            return Section::nothing(end, text.number(unread.unwrap_or(at)), what);
        }
        if is_emulated(&report) {
            report.find(Finding::NotTold { tool: report.tool.clone(), untold: Untold::Health });
        }
        Section::from_report(report, end)
    }
}

/// Takes the lines of a report that begins at line `at`. The first line behind it, and a row that cannot be read.
fn lines(report: &mut Report, text: &Text, at: usize) -> (usize, Option<usize>) {
    let first = text.line(at).trim();
    let headed = is_section(first) || is_table(first) || first.starts_with(NVME_LOG) || NVME.is_match(first);
    let named = is_scsi(text, at) || is_named(text, at);
    let headless = !(headed || named);
    let most_foreign = match first {
        _ if first.starts_with(ASSESSMENT) => MOST_TO_ATTRIBUTES,
        _ if ROW.is_match(first) => 0,
        _ => MOST_FOREIGN,
    };
    // smartctl repeats attributes that failed above the table of all.
    let (mut failed, mut unread, mut foreign) = (false, None, 0);
    let (mut end, mut tabled) = (at + 1, is_table(first) || first.starts_with(NVME_LOG));
    let mut number = if headless || named { at } else { at + 1 };
    while number < text.len().min(at + LONGEST) {
        let (whole, next) = unwrapped(text, number);
        let line = if headless { bare(&whole) } else { whole.trim() };
        if number > at && headless && calls(line).any(|device| report.medium.device.as_ref() != Some(&device)) {
            break;
        }
        let first_again = NVME.is_match(line) || line.starts_with("=== START OF INFORMATION");
        if number > at && first_again || VERSION.is_match(line) {
            break;
        }
        let (again, seen) = (is_table(line) || line.starts_with(NVME_LOG), &report.medium.health);
        let scsi = line.starts_with("Vendor:") || line.starts_with("Product:");
        // Those of another drive.
        let other = !seen.is_empty() && (scsi && is_scsi(text, number) || is_named(text, number))
            || headless && !seen.is_empty() && is_identity(line)
            || headless && name_of(line).is_some_and(|name| seen.contains_key(&name))
            || headless && ROW.is_match(line) && NAMES.iter().any(|(_, name)| seen.contains_key(*name));
        if number > at && (again && tabled || other) {
            break;
        }
        tabled |= again && !failed;
        failed = line.starts_with("Failed Attributes:") || failed && !again;
        if is_section(line) || take(report, line) {
            (end, foreign) = (next, 0);
        } else if report.tool == "nvme" && !line.is_empty() && !line.contains(':') {
            break;
        } else if !line.is_empty() {
            if ROW.is_match(line) {
                unread = unread.or(Some(number));
            }
            foreign += 1;
            if headless && foreign > most_foreign {
                break;
            }
        }
        number = next;
    }
    (end, unread)
}

/// A row of attributes with the lines into which a mail has wrapped it, and the first line behind it.
fn unwrapped(text: &Text, at: usize) -> (String, usize) {
    let whole = |line: &str| ATTRIBUTE.is_match(line) || BRIEF.is_match(line);
    let first = text.line(at);
    if !ROW.is_match(first) || whole(first) {
        return (first.to_owned(), at + 1);
    }
    let mut joined = first.to_owned();
    for next in at + 1..at + MOST_WRAPPED {
        let more = text.line(next).trim();
        if more.is_empty() || ROW.is_match(more) {
            break;
        }
        joined = format!("{} {more}", joined.trim_end());
        if whole(&joined) {
            return (joined, next + 1);
        }
    }
    (first.to_owned(), at + 1)
}

/// The name under which a line tells of health.
fn name_of(line: &str) -> Option<String> {
    if let Some(found) = ATTRIBUTE.captures(line).or_else(|| BRIEF.captures(line)) {
        return Some(found[1].to_owned());
    }
    if line.starts_with(ASSESSMENT) {
        return Some("smart_passed".to_owned());
    }
    let (name, value) = line.split_once(':')?;
    known(name.trim()).filter(|_| COUNT.is_match(value.trim())).map(str::to_owned)
}

/// Whether lines of health begin without a heading, as people copy them: a row of attributes, the result of the
/// self-assessment, either below the name of the drive, or several lines of the log of an NVMe device.
fn is_excerpt(text: &Text, at: usize) -> bool {
    let line = bare(text.line(at));
    if is_identity(line) {
        let mut below = (at + 1..at + MOST_IDENTITY).map(|next| bare(text.line(next)));
        return below
            .find(|line| !is_identity(line))
            .is_some_and(|line| line.starts_with(ASSESSMENT) || ROW.is_match(line));
    }
    if line.starts_with(ASSESSMENT) {
        return line.len() == text.line(at).trim().len() || is_answer(text, at);
    }
    // Most lines are of something else, which is seen at once.
    if line.starts_with(|c: char| c.is_ascii_digit()) {
        return line.contains(" 0x") && ROW.is_match(line) && name_of(&unwrapped(text, at).0).is_some();
    }
    let of_log = |line: &str| {
        let Some((name, value)) = line.split_once(':') else { return false };
        known(name.trim()).is_some() && COUNT.is_match(value.trim())
    };
    let own = |line: &str| {
        let line = line.trim().to_lowercase().replace('_', " ");
        ["available spare", "percentage used", "media and data integrity", "data units written"]
            .iter()
            .any(|name| line.starts_with(name))
    };
    let below = || (at..at + EXCERPT).map(|line| text.line(line));
    of_log(line)
        && (below().filter(|line| of_log(line)).count() >= LEAST_EXCERPT && below().any(own) || is_answer(text, at))
}

/// Whether a line tells which drive it is.
fn is_identity(line: &str) -> bool {
    ["Model Family:", "Device Model:", "Model Number:", "Serial Number:"].iter().any(|name| line.starts_with(name))
}

/// Most such lines of a drive, with the first of its health.
const MOST_IDENTITY: usize = 5;

/// Whether a line is what a call of smartctl that looks for single lines (`smartctl -a /dev/nvme0 | grep Temperature`)
/// printed: it stands right above.
fn is_answer(text: &Text, at: usize) -> bool {
    let mut above = (at.saturating_sub(MOST_TO_ANSWER)..at).rev().map(|line| text.line(line));
    let line = above.find(|line| !line.trim().is_empty());
    line.is_some_and(|line| line.contains("| grep ") && calls(line).next().is_some())
}

/// Most lines between such a call and its answer.
const MOST_TO_ANSWER: usize = 3;

/// Devices that calls of smartctl in a line name.
fn calls(line: &str) -> impl Iterator<Item = String> {
    commands(line, "smartctl").into_iter().flatten().filter(|word| is_device(word))
}

/// A line without the mark of a comment, with which guides show the output of a command.
fn bare(line: &str) -> &str {
    let line = line.trim();
    line.strip_prefix("# ").unwrap_or(line).trim_start()
}

/// Whether a device tells of nothing: its temperature is that of no memory at all.
fn is_emulated(report: &Report) -> bool {
    let health = &report.medium.health;
    let zero = |name: &str| health.get(name).is_some_and(|value| value == "0");
    !health.contains_key("temperature_celsius")
        && ["available_spare", "power_on_hours", "power_cycles"].into_iter().all(zero)
}

/// The first line of the log of an NVMe device, as smartctl prints it. People copy it without the lines above.
const NVME_LOG: &str = "SMART/Health Information (NVMe Log 0x02";
/// Most lines from the name of a SCSI device to its health.
const MOST_TO_HEALTH: usize = 20;

/// Whether the lines of a SCSI device begin without the line of a section.
fn is_scsi(text: &Text, at: usize) -> bool {
    let health = |at: usize| text.line(at).trim().starts_with("SMART Health Status:");
    let line = text.line(at).trim();
    let named = line.starts_with("Vendor:") || line.starts_with("Product:");
    health(at) || named && (at + 1..at + MOST_TO_HEALTH).any(health)
}

/// Whether the name of a drive stands without the line of its section, with its health below.
fn is_named(text: &Text, at: usize) -> bool {
    let named = |line: &str| is_identity(line) && !line.starts_with("Serial");
    let health = |line: &str| {
        is_section(line) && !line.contains("INFORMATION")
            || line.starts_with(NVME_LOG)
            || line.starts_with("SMART Health Status:")
            || is_table(line)
    };
    let mut below = (at + 1..at + MOST_TO_HEALTH).map(|next| text.line(next).trim());
    named(text.line(at).trim()) && below.any(health)
}

/// Whether the table of attributes begins.
fn is_table(line: &str) -> bool {
    line.strip_prefix("ID#").is_some_and(|rest| rest.trim_start().starts_with("ATTRIBUTE_NAME "))
}

fn is_section(line: &str) -> bool {
    ["INFORMATION", "SMART DATA", "READ SMART DATA"]
        .iter()
        .any(|name| line.strip_prefix("=== START OF ").and_then(|rest| rest.strip_suffix(" SECTION ===")) == Some(name))
}

/// `nvme0n1` as a device.
fn device(name: &str) -> String {
    if name.starts_with('/') { name.to_owned() } else { format!("/dev/{name}") }
}

/// Takes what a line says; whether it said something.
fn take(report: &mut Report, line: &str) -> bool {
    if let Some(attribute) = ATTRIBUTE.captures(line) {
        insert(report, &attribute[1], attribute[3].trim());
        return true;
    }
    if let Some(attribute) = BRIEF.captures(line) {
        insert(report, &attribute[1], attribute[2].trim());
        return true;
    }
    if let Some(hours) = HOURS.captures(line) {
        insert(report, "power_on_hours", &hours[1]);
        return true;
    }
    if let Some(counters) = COUNTERS.captures(line) {
        insert(report, &format!("{}_gigabytes_processed", &counters[1]), &counters[2].replace(',', "."));
        insert(report, &format!("{}_total_uncorrected_errors", &counters[1]), &counters[3]);
        return true;
    }
    let Some((name, value)) = line.split_once(':') else { return false };
    let (name, value) = (name.trim(), value.trim());
    let medium = &mut report.medium;
    let given = || Some(value.to_owned()).filter(|value| !value.is_empty());
    match name {
        "Device Model" | "Model Number" | "Product" => medium.model = medium.model.take().or_else(given),
        "Vendor" => medium.vendor = given(),
        "Serial Number" | "Serial number" => medium.unit = given(),
        "User Capacity" | "Total NVM Capacity" | "Namespace 1 Size/Capacity" => {
            medium.capacity_bytes = medium.capacity_bytes.or_else(|| bytes(value));
        }
        "Firmware Version" => insert(report, "firmware", value),
        "SMART overall-health self-assessment test result" | "SMART Health Status" => {
            // Marks of a page may stand behind it.
            let word = value.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
            if matches!(word, "PASSED" | "OK") {
                insert(report, "smart_passed", "true");
            } else if value.contains("FAIL") || value.contains("EXCEEDED") {
                insert(report, "smart_passed", "false");
            }
        }
        "NVMe Version" => medium.kind = MediumKind::Nvme,
        _ => return health(report, name, value),
    }
    true
}

/// A line of the log of an NVMe device, in the words of either tool.
fn health(report: &mut Report, name: &str, value: &str) -> bool {
    let Some(known) = known(name) else { return false };
    if known == "temperature_celsius"
        && let Some(found) = FAHRENHEIT.captures(value)
    {
        let number = |at: usize| found.get(at)?.as_str().parse::<i64>().ok().map(i128::from);
        let celsius = number(2).map(|kelvins| kelvins - 273).or_else(|| number(1).map(|f| ((f - 32) * 5 + 4) / 9));
        let celsius = celsius.filter(|celsius| *celsius > ABSOLUTE_ZERO);
        celsius.into_iter().for_each(|celsius| insert(report, known, &celsius.to_string()));
        return true;
    }
    let Some(count) = COUNT.captures(value) else { return false };
    let number = match count[1].strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok().map(|number| number.to_string()),
        None => Some(count[1].chars().filter(|c| c.is_ascii_digit() || *c == '-').collect()),
    };
    let is_none = |number: &String| {
        known == "temperature_celsius" && number.parse::<i128>().is_ok_and(|celsius| celsius <= ABSOLUTE_ZERO)
    };
    if let Some(number) = number.filter(|number| !is_none(number)) {
        insert(report, known, &number);
    }
    true
}

/// The name that smartctl's JSON has for one that either tool prints.
fn known(name: &str) -> Option<&'static str> {
    // Names of other lines are longer.
    if name.len() > LONGEST_NAME {
        return None;
    }
    let spelt = name.to_lowercase().split_whitespace().collect::<Vec<_>>().join("_");
    NAMES.iter().find(|(printed, _)| *printed == spelt).map(|(_, known)| *known)
}

/// Longest name of health in bytes.
const LONGEST_NAME: usize = 48;
/// What a device without a sensor tells, which has 0 K.
const ABSOLUTE_ZERO: i128 = -273;

fn insert(report: &mut Report, name: &str, value: &str) {
    let health = &mut report.medium.health;
    if health.len() < MOST && !value.is_empty() {
        health.entry(name.to_owned()).or_insert_with(|| value.to_owned());
    }
}

/// `4,000,787,030,016 bytes [4.00 TB]`, or without the brackets.
fn bytes(text: &str) -> Option<u64> {
    let found = BYTES.captures(text)?;
    found[1].chars().filter(char::is_ascii_digit).collect::<String>().parse().ok()
}
