//! bench.sh of Teddysun (<https://github.com/teddysun/across>) and its many forks: the rates of three calls of dd.
//!
//! Each is `dd if=/dev/zero of=… conv=fdatasync` of 1 GiB, in blocks of 64 or 512 KiB by the version; it prints the last words of
//! dd, whose MB are 10^6 bytes and GB 10^9. Its mean takes a GB for 1024 MB, so it is not used where a run was printed.
//!
//! The script of freevps.us, from which it came, has one call: `dd if=/dev/zero of=… bs=64k count=16k conv=fdatasync`, and
//! prints `I/O speed : 116 MB/s`. Its forks change size and block.
//!
//! nench (<https://github.com/n-st/nench>) calls `dd bs=64k count=16k conv=fdatasync` three times, and prints MiB.

use std::sync::LazyLock;

use assay_core::workload::{Op, Pattern, Sync};

use crate::number::{Base, printed, unit};
use crate::pattern::{Regex, regex};
use crate::report::{Figure, Format, Load, Report, Section, Statistic};
use crate::text::Text;

/// bench.sh.
pub(crate) struct BenchSh;

const NAME: &str = "bench.sh";
/// Most lines of the description of the system above its rates.
const MOST_ABOVE: usize = 30;
/// The same of the script that it came from.
const MOST_SYSTEM: usize = 12;
/// Most lines between two rates.
const MOST_BETWEEN: usize = 2;

static RUN: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^I/O [Ss]peed ?\((\d)(?:st|nd|rd|th) run\) *: *([0-9.]+) ([kKMG]B)/s$"));
static MEAN: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^(?:I/O [Ss]peed ?\(average\)|Average I/O [Ss]peed) *: *([0-9.]+) MB/s$"));
/// The only run of the script that it came from.
static ONLY: LazyLock<Regex> = LazyLock::new(|| regex(r"^I/O speed *: *([0-9.]+) ([kKMG]B)/s$"));
static VERSION: LazyLock<Regex> = LazyLock::new(|| regex(r"^Version +: +v?(20\d\d-\d\d-\d\d)"));

static NENCH: LazyLock<Regex> = LazyLock::new(|| regex(r"^dd(?:: sequential write speed| test)$"));
static NENCH_RUN: LazyLock<Regex> = LazyLock::new(|| regex(r"^(\d)(?:st|nd|rd|th) run: *([0-9.]+) (MiB)/s$"));
static NENCH_VERSION: LazyLock<Regex> = LazyLock::new(|| regex(r"^nench\.sh v(20\d\d\.\d\d\.\d\d)\b"));

impl Format for BenchSh {
    fn name(&self) -> &'static str {
        NAME
    }

    fn keywords(&self) -> &'static [&'static str] {
        &[
            "i/o speed(",
            "i/o speed (",
            "i/o speed :",
            "average i/o speed",
            "bench.sh",
            "nench",
            "dd: sequential write speed",
        ]
    }

    fn needs(&self) -> &'static str {
        "a line `I/O Speed(1st run) : … MB/s`"
    }

    fn begins(&self, text: &Text, at: usize) -> bool {
        is_rate(text.line(at)) || is_only(text, at) || is_nench(text, at)
    }

    fn read(&self, text: &Text, at: usize) -> Section {
        let nench = is_nench(text, at);
        let head = head(text, at, if nench { "nench" } else { NAME });
        let (run, base, load) =
            if nench { (&NENCH_RUN, Base::Binary, nench_load()) } else { (&RUN, Base::Decimal, load()) };
        let mut section = Section { end: at + 1, ..Section::default() };
        if is_only(text, at) {
            let found = ONLY.captures(text.line(at).trim());
            let rate = found.and_then(|run| Some(printed(&run[1])?.times(unit(&run[2], base)?)));
            if let Some(rate) = rate.filter(|rate| rate.value > 0.0) {
                let mut figure = Figure::new(load);
                figure.rate(Some(rate));
                figure.durable_bytes_per_second = Some(rate.value);
                section.reports.push(Report { figures: vec![figure], ..head });
                return section;
            }
            return Section::nothing(section.end, text.number(at), "bench.sh printed no rate");
        }
        let (mut last, mut mean) = (0, None);
        for number in at + usize::from(nench)..text.len() {
            let line = text.line(number).trim();
            if number > section.end + MOST_BETWEEN {
                break;
            }
            if let Some(run) = run.captures(line) {
                let turn = run[1].parse::<u32>().unwrap_or(0);
                // The first again is that of another call.
                if turn <= last {
                    break;
                }
                last = turn;
                section.end = number + 1;
                let rate = printed(&run[2]).zip(unit(&run[3], base)).map(|(rate, unit)| rate.times(unit));
                let Some(rate) = rate.filter(|rate| rate.value > 0.0) else { continue };
                let mut figure = Figure::new(load.clone());
                figure.rate(Some(rate));
                figure.durable_bytes_per_second = Some(rate.value);
                // Each is a run of its own.
                let lines = Some((number, number + 1));
                section.reports.push(Report { figures: vec![figure], lines, begins: true, ..head.clone() });
            } else if let Some(found) = MEAN.captures(line) {
                mean = printed(&found[1]).map(|rate| rate.times(1e6)).filter(|rate| rate.value > 0.0);
                section.end = number + 1;
                break;
            }
        }
        // Below 1000 MB/s no run was printed in GB.
        if let Some(rate) = mean.filter(|rate| section.reports.is_empty() && rate.value < 1e9) {
            let mut figure = Figure { statistic: Statistic::MeanOf(3), ..Figure::new(load) };
            figure.rate(Some(rate));
            figure.durable_bytes_per_second = Some(rate.value);
            section.reports.push(Report { figures: vec![figure], ..head });
        }
        if section.reports.is_empty() {
            return Section::nothing(section.end, text.number(at), "bench.sh printed no rate");
        }
        section
    }
}

fn is_rate(line: &str) -> bool {
    let line = line.trim();
    (line.starts_with("I/O ") || line.starts_with("Average I/O ")) && (RUN.is_match(line) || MEAN.is_match(line))
}

/// Whether the only rate of the script that it came from stands here, below what it says of the system.
fn is_only(text: &Text, at: usize) -> bool {
    let line = text.line(at).trim();
    let system = |line: usize| text.line(line).trim().starts_with("CPU model ");
    line.starts_with("I/O speed") && ONLY.is_match(line) && (at.saturating_sub(MOST_SYSTEM)..at).any(system)
}

/// Whether the runs of dd of nench begin.
fn is_nench(text: &Text, at: usize) -> bool {
    let line = text.line(at).trim();
    line.starts_with("dd") && NENCH.is_match(line) && NENCH_RUN.is_match(text.line(at + 1).trim())
}

fn nench_load() -> Load {
    Load { name: "dd".to_owned(), block_bytes: Some(64 << 10), span_bytes: Some(1 << 30), ..load() }
}

fn load() -> Load {
    Load {
        pattern: Some(Pattern::Sequential),
        queue_depth: Some(1),
        jobs: Some(1),
        direct: Some(false),
        sync: Some(Sync::End),
        ..Load::new("I/O Speed", Op::Write)
    }
}

/// What stands above the rates of the system.
fn head(text: &Text, at: usize, tool: &str) -> Report {
    let mut report = Report::new(tool);
    for number in at.saturating_sub(MOST_ABOVE)..at {
        let line = text.line(number).trim();
        if let Some(version) = VERSION.captures(line).or_else(|| NENCH_VERSION.captures(line)) {
            report.version = Some(version[1].to_owned());
        }
        let Some((key, value)) = line.split_once(':') else { continue };
        let value = Some(value.trim().to_owned()).filter(|value| !value.is_empty());
        match key.trim() {
            "CPU Model" | "CPU model" | "Processor" => report.host.cpu = value,
            "OS" => report.host.os = value,
            "Kernel" => report.host.kernel = value,
            _ => {}
        }
    }
    report
}
