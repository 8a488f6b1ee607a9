//! YABS (`yabs.sh`, <https://github.com/masonr/yet-another-bench-script>): its tables of fio, and its JSON (`-j`).
//!
//! Each column is one call of fio: `--rw=randrw --rwmixread=50 --bs=… --iodepth=64 --numjobs=2 --direct=1 --runtime=30`, and of
//! its terse form the rates (`disk_test`). Up to July 2026 what it calls MB/s are the KiB/s of fio by 1000, 1,024,000 bytes,
//! since then 10^6 (`format_speed`, its change 3125fed): the version tells which, or operations and block size. Operations are
//! cut off, `97.1k`, so those of a figure come from its rate.

use std::sync::LazyLock;

use assay_core::finding::{Contradiction, Finding, Missing, Place, SourceQuantity};
use assay_core::workload::{Op, Pattern, Sync};
use serde_json::Value;

use crate::number::{Printed, printed};
use crate::pattern::{Regex, regex};
use crate::report::{Figure, Format, Load, Report, Section};
use crate::text::Text;

/// YABS.
pub(crate) struct Yabs;

const NAME: &str = "YABS";
/// Most lines of the description of the system above its tables.
const MOST_ABOVE: usize = 45;
/// Most lines between two rows of its tables.
const MOST_BETWEEN: usize = 4;
/// Most lines of the list of its JSON.
const MOST_JSON: usize = 400;
/// The first version whose MB/s are 10^6 bytes.
const DECIMAL_FROM: &str = "2026-07-03";
/// Share by which operations may differ from those by rate and block size, beside what both were cut off by.
const NEAR: f64 = 0.003;
/// Share by which reads and writes may differ from their sum.
const UNLIKE: f64 = 0.02;

static TITLE: LazyLock<Regex> =
    LazyLock::new(|| regex(r"fio Disk Speed Tests \(Mixed R/W (\d+)/\d+\)(?: \(Partition ([^)]+)\))?"));
static HEADING: LazyLock<Regex> = LazyLock::new(|| regex(r"^Block Size(?: *\||  ) *(\d+[kKmM])i?[bB]? +\(IOPS\)"));
static BLOCK: LazyLock<Regex> = LazyLock::new(|| regex(r"(?i)\b(\d+)([km])(?:i?b)?(?: +\(IOPS\)|$)"));
static ROW: LazyLock<Regex> = LazyLock::new(|| regex(r"^(Read|Write|Total)(?: *\||  )(.+)$"));
static CELL: LazyLock<Regex> = LazyLock::new(|| regex(r"^ *([0-9.]+) ([KMG])B/s +\(([0-9.]+)([km]?)\)"));
static VERSION: LazyLock<Regex> = LazyLock::new(|| regex(r"^#? *v(20\d\d-\d\d-\d\d)"));

impl Format for Yabs {
    fn name(&self) -> &'static str {
        NAME
    }

    fn keywords(&self) -> &'static [&'static str] {
        &["fio disk speed tests", "yet-another-bench-script", "yabs", "\"speed_rw\""]
    }

    fn needs(&self) -> &'static str {
        "the row `Block Size` above those of `Read`, `Write` and `Total`, or the list `fio` of its JSON"
    }

    fn begins(&self, text: &Text, at: usize) -> bool {
        is_title(text.line(at)) || is_heading(text.line(at)) || list(text, at).is_some()
    }

    fn read(&self, text: &Text, at: usize) -> Section {
        let mut report = Report::new(NAME);
        let end = match list(text, at) {
            Some((values, end)) => {
                of_json(&mut report, text.long_line(at), &values);
                end
            }
            None => tables(&mut report, text, at),
        };
        if report.is_empty() {
            return Section::nothing(end, text.number(at), "tables of YABS without a rate");
        }
        Section::from_report(report, end)
    }
}

fn is_title(line: &str) -> bool {
    line.contains("fio Disk Speed Tests") && TITLE.is_match(line)
}

fn is_heading(line: &str) -> bool {
    line.contains("(IOPS)") && HEADING.is_match(line.trim())
}

/// Results of one block size: rate and operations of reads, writes and both, where the text has them.
#[derive(Debug, Clone, Default)]
struct Column {
    block: u64,
    rates: [Option<Printed>; 3],
    operations: [Option<Printed>; 3],
}

// The tables.

/// Reads the tables from line `at` on; the first line behind them.
fn tables(report: &mut Report, text: &Text, at: usize) -> usize {
    system(report, text, at);
    let title = TITLE.captures(text.line(at));
    let share = title.as_ref().and_then(|title| title[1].parse().ok()).unwrap_or(50);
    if let Some(place) = title.and_then(|title| Some(title.get(2)?.as_str().trim().to_owned())) {
        report.medium.device = place.starts_with("/dev/").then(|| place.clone());
        report.medium.path = place;
    }
    let (mut done, mut columns): (Vec<Column>, Vec<Column>) = (Vec::new(), Vec::new());
    let mut end = at + 1;
    for number in at..text.len() {
        let line = text.line(number).trim();
        if number > end + MOST_BETWEEN || number > at && is_title(line) {
            break;
        }
        if is_heading(line) {
            let of = |found: regex_lite::Captures<'_>| size(&found[1], &found[2]);
            let sizes: Vec<u64> = BLOCK.captures_iter(line).filter_map(of).collect();
            // The same again is another run.
            if sizes.iter().any(|size| done.iter().chain(&columns).any(|known| known.block == *size)) {
                break;
            }
            done.append(&mut columns);
            columns = sizes.into_iter().map(|block| Column { block, ..Column::default() }).collect();
            end = number + 1;
        } else if let Some(row) = ROW.captures(line).filter(|_| !columns.is_empty()) {
            let place = ["Read", "Write", "Total"].iter().position(|name| *name == &row[1]).unwrap_or(0);
            // Rows come in this order: one of a table whose heading is lost has other block sizes.
            if columns.iter().any(|column| column.rates[place..].iter().any(Option::is_some)) {
                report.find(Finding::SourceIncomplete { missing: Missing::Heading { section: None } });
                break;
            }
            let cells = cells(&row[2], columns.len());
            for (column, cell) in columns.iter_mut().zip(cells) {
                let Some(cell) = CELL.captures(cell) else { continue };
                let kilo = match &cell[2] {
                    "K" => 1.0,
                    "M" => 1e3,
                    _ => 1e6,
                };
                let letter = match &cell[4] {
                    "k" => 1e3,
                    "m" => 1e6,
                    _ => 1.0,
                };
                column.rates[place] = printed(&cell[1]).map(|rate| rate.times(kilo * 1024.0));
                column.operations[place] = printed(&cell[3]).map(|iops| iops.times(letter));
            }
            end = number + 1;
        }
    }
    done.append(&mut columns);
    if report.version.as_deref().is_some_and(|version| version >= DECIMAL_FROM) || is_decimal(&done) {
        let decimal = |rate: Option<Printed>| rate.map(|rate| rate.times(1.0 / 1.024));
        done.iter_mut().for_each(|column| column.rates = column.rates.map(decimal));
    }
    add(report, &mut done, share);
    end
}

/// Whether operations and block sizes say that rates are by 1000, where they were taken to be KiB/s by 1000.
fn is_decimal(columns: &[Column]) -> bool {
    let mut only = [0_u32; 2];
    for column in columns {
        for (rate, operations) in column.rates.into_iter().zip(column.operations).filter_map(|(r, o)| r.zip(o)) {
            // Both are cut off.
            let fits = |scale: f64| {
                let least = rate.value * scale / column.block as f64;
                let most = (rate.value + rate.step) * scale / column.block as f64;
                least <= (operations.value + operations.step) * (1.0 + NEAR) && most >= operations.value * (1.0 - NEAR)
            };
            match (fits(1.0), fits(1.0 / 1.024)) {
                (true, false) => only[0] += 1,
                (false, true) => only[1] += 1,
                _ => {}
            }
        }
    }
    only[1] > only[0]
}

/// The cells of a row. Those of a table of Markdown have lost their bars; then each ends with its operations.
fn cells(row: &str, columns: usize) -> Vec<&str> {
    if row.contains('|') {
        return row.split('|').collect();
    }
    let cells: Vec<&str> = row.trim_end().split_inclusive(')').collect();
    if cells.len() == columns { cells } else { Vec::new() }
}

fn size(digits: &str, letter: &str) -> Option<u64> {
    let unit = if letter.eq_ignore_ascii_case("k") { 1 << 10 } else { 1 << 20 };
    digits.parse::<u64>().ok()?.checked_mul(unit).filter(|bytes| *bytes > 0)
}

/// What stands above the tables of the system.
fn system(report: &mut Report, text: &Text, at: usize) {
    for number in at.saturating_sub(MOST_ABOVE)..at {
        let line = text.line(number).trim();
        if let Some(version) = VERSION.captures(line) {
            report.version = Some(version[1].to_owned());
        }
        let Some((key, value)) = line.split_once(':') else { continue };
        let value = Some(value.trim().to_owned()).filter(|value| !value.is_empty());
        match key.trim() {
            "Processor" => report.host.cpu = value,
            "Distro" => report.host.os = value,
            "Kernel" => report.host.kernel = value,
            _ => {}
        }
    }
}

// JSON.

/// The list of what fio came to, whose key stands in line `at`, and the first line behind the list.
fn list(text: &Text, at: usize) -> Option<(Vec<Value>, usize)> {
    let line = text.long_line(at);
    let from = line.find("\"fio\"")?;
    let begin = from + line[from..].find('[')?;
    let next = line[begin + 1..].trim_start();
    if !(next.starts_with("{\"bs\"") || next.starts_with("{ \"bs\"") || next.is_empty() || next == "{") {
        return None;
    }
    let mut whole = line[begin..].to_owned();
    for end in at + 1..=text.len().min(at + MOST_JSON) {
        if let Some(Ok(Value::Array(values))) = serde_json::Deserializer::from_str(&whole).into_iter::<Value>().next() {
            let known = values.iter().any(|value| value["speed_rw"].is_number() || value["speed_r"].is_number());
            return known.then_some((values, end));
        }
        whole.push('\n');
        whole.push_str(text.long_line(end));
    }
    None
}

fn of_json(report: &mut Report, line: &str, values: &[Value]) {
    let whole =
        line.find('{').map(|from| serde_json::Deserializer::from_str(&line[from..]).into_iter::<Value>().next());
    if let Some(Some(Ok(value))) = whole {
        let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        report.version = text(&value["version"]).map(|version| version.trim_start_matches('v').to_owned());
        report.host.cpu = text(&value["cpu"]["model"]);
        report.host.os = text(&value["os"]["distro"]);
        report.host.kernel = text(&value["os"]["kernel"]);
        if let Some(place) = text(&value["partition"]) {
            report.medium.device = place.starts_with("/dev/").then(|| place.clone());
            report.medium.path = place;
        }
    }
    let mut columns: Vec<Column> = Vec::new();
    for value in values {
        let block = value["bs"].as_str().and_then(|bs| BLOCK.captures(bs).and_then(|found| size(&found[1], &found[2])));
        let Some(block) = block.filter(|_| value["speed_units"].as_str().is_none_or(|unit| unit == "KBps")) else {
            continue;
        };
        let number = |key: &str| value[key].as_f64().filter(|number| *number > 0.0);
        let rate = |key: &str| number(key).map(|kib| Printed { value: kib * 1024.0, step: 1024.0 });
        let iops = |key: &str| number(key).map(|value| Printed { value, step: 1.0 });
        columns.push(Column {
            block,
            rates: ["speed_r", "speed_w", "speed_rw"].map(rate),
            operations: ["iops_r", "iops_w", "iops_rw"].map(iops),
        });
    }
    add(report, &mut columns, 50);
}

// Figures.

/// Adds what each block size came to. Half of a mix is no load: the other was done beside it.
fn add(report: &mut Report, columns: &mut Vec<Column>, share: u8) {
    for column in std::mem::take(columns) {
        let [reads, writes, both] = column.rates;
        let name = format!("randrw {} KiB", column.block >> 10);
        for (half, rate) in [("reads of the mix", reads), ("writes of the mix", writes)] {
            // None is printed as `0.00 KB/s (0)`, where fio gave nothing.
            if let Some(rate) = rate.filter(|rate| rate.value > 0.0) {
                report.score(&format!("{NAME} {name}: {half}"), rate.value, "B/s", true);
            }
        }
        let sum = reads
            .zip(writes)
            .map(|(reads, writes)| Printed { value: reads.value + writes.value, step: reads.step + writes.step });
        let Some(rate) = both.or(sum).filter(|rate| rate.value > 0.0 && !report.is_full()) else {
            if both.is_none() && reads.or(writes).is_some() {
                report.find(Finding::SourceIncomplete {
                    missing: Missing::Heading { section: Some("Total".to_owned()) },
                });
            }
            continue;
        };
        let load = Load {
            read_percent: Some(share),
            pattern: Some(Pattern::Random),
            block_bytes: Some(column.block),
            queue_depth: Some(64),
            jobs: Some(2),
            direct: Some(true),
            sync: Some(Sync::End),
            duration_ns: Some(30_000_000_000),
            ..Load::new(&name, Op::Mixed)
        };
        let mut figure = Figure::new(load);
        figure.rate(Some(rate));
        figure.told.iops = column.operations[2];
        let unlike = sum.filter(|sum| both.is_some_and(|both| (sum.value - both.value).abs() > UNLIKE * both.value));
        if let Some(sum) = unlike {
            let (whole, parts) = ((Place::Summary, rate.value), (Place::Sum, sum.value));
            let contradiction = Contradiction::places(SourceQuantity::BytesPerSecond, "", whole, parts);
            figure.findings.push(Finding::SourceContradicts { contradiction });
        }
        report.figures.push(figure);
    }
}
