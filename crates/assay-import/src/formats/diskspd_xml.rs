//! diskspd 2: its XML (`-Rxml`).
//!
//! Elements: `XmlResultParser/XmlResultParser.cpp` and the profile's schema of microsoft/diskspd (MIT). What was asked for
//! stands in `Profile`, what was done in the `TimeSpan` behind it, by thread and target.

use std::sync::LazyLock;

use assay_core::finding::{Finding, Missing, RowFlaw};
use assay_core::workload::Pattern;

use super::diskspd::{Parsed, Total, figures};
use crate::date;
use crate::pattern::{Regex, regex};
use crate::report::{Format, Report, Section};
use crate::text::Text;

/// diskspd's XML.
pub(crate) struct DiskspdXml;

/// Most lines of a report: thousands of threads, or of readings in time.
const LONGEST: usize = 100_000;

static ELEMENT: LazyLock<Regex> = LazyLock::new(|| regex(r"<(/?[A-Za-z0-9]+)(?: [^<>]*)?>([^<]*)"));

impl Format for DiskspdXml {
    fn name(&self) -> &'static str {
        "diskspd XML"
    }

    fn keywords(&self) -> &'static [&'static str] {
        &["<timespan>", "<testtimeseconds>", "<targets>", "<readbytes>", "<writebytes>"]
    }

    fn needs(&self) -> &'static str {
        "the element `Results`"
    }

    fn begins(&self, text: &Text, at: usize) -> bool {
        let next = |name: &str| (at..at + 4).any(|line| text.long_line(line).contains(name));
        text.long_line(at).contains("<Results>") && (next("<System>") || next("<TimeSpan>") || next("<Profile>"))
    }

    fn read(&self, text: &Text, at: usize) -> Section {
        let mut report = Report::new("diskspd");
        let mut seen = Seen::default();
        let mut end = at;
        for number in at..text.len().min(at + LONGEST) {
            let line = text.long_line(number);
            if number > at && self.begins(text, number) {
                break;
            }
            end = number + 1;
            for element in ELEMENT.captures_iter(line) {
                seen.element(&mut report, &element[1], element[2].trim());
            }
            if line.contains("</Results>") {
                break;
            }
        }
        let seen_threads = seen.threads;
        let parsed = seen.parsed();
        figures(&mut report, &parsed);
        if report.figures.is_empty() {
            return Section::nothing(end, text.number(at), "XML of diskspd without a result that moved data");
        }
        if !parsed.complete || parsed.threads.is_some_and(|threads| seen_threads < threads) {
            report.findings.push(Finding::SourceIncomplete { missing: Missing::Row { flaw: RowFlaw::Broken } });
        }
        Section::from_report(report, end)
    }
}

#[derive(Debug, Default)]
struct Seen {
    parsed: Parsed,
    profile: bool,
    /// Threads that have a result.
    threads: u32,
    percentile: Option<f64>,
    reads: [f64; 2],
    writes: [f64; 2],
    means: [Option<f64>; 3],
}

impl Seen {
    fn element(&mut self, report: &mut Report, name: &str, value: &str) {
        let number = || value.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
        let whole = || value.parse::<u64>().ok();
        let parsed = &mut self.parsed;
        match (self.profile, name) {
            (_, "Profile") => self.profile = true,
            (false, "/Thread") => self.threads = self.threads.saturating_add(1),
            (_, "/Profile") => self.profile = false,
            (_, "/Results") => parsed.complete = true,
            (_, "ComputerName") => report.host.hostname = Some(value.to_owned()).filter(|name| !name.is_empty()),
            (_, "RunTime") => report.created = date::of_digits(value),
            (false, "Version") => report.version = Some(value.to_owned()),
            (true, "Path") => parsed.target(value),
            (true, "BlockSize") => parsed.block = whole(),
            (true, "Random") => parsed.pattern = Some(Pattern::Random),
            (true, "StrideSize" | "InterlockedSequential") => {
                let gaps = name == "StrideSize" && whole() != parsed.block;
                parsed.pattern = (!gaps && value != "false").then_some(Pattern::Sequential).or(parsed.pattern);
            }
            (true, "RequestCount") => parsed.depth = value.parse().ok(),
            (true, "WriteRatio") => {
                parsed.read_percent = value.parse::<u8>().ok().and_then(|writes| 100u8.checked_sub(writes));
            }
            (true, "DisableAllCache") if value == "true" => (parsed.cached, parsed.through) = (Some(false), true),
            (true, "DisableOSCache") => parsed.cached = Some(value != "true"),
            (true, "WriteThrough") => parsed.through |= value == "true",
            (true, "Duration") => parsed.duration_ns = whole().and_then(|seconds| seconds.checked_mul(1_000_000_000)),
            (_, "FileSize") => parsed.span = whole().filter(|size| *size > 0).or(parsed.span),
            (false, "TestTimeSeconds") => parsed.seconds = number(),
            (false, "ThreadCount") => parsed.threads = value.parse().ok(),
            (false, "ReadBytes") => self.reads[0] += number().unwrap_or(0.0),
            (false, "ReadCount") => self.reads[1] += number().unwrap_or(0.0),
            (false, "WriteBytes") => self.writes[0] += number().unwrap_or(0.0),
            (false, "WriteCount") => self.writes[1] += number().unwrap_or(0.0),
            (false, "AverageReadMilliseconds") => self.means[0] = number(),
            (false, "AverageWriteMilliseconds") => self.means[1] = number(),
            (false, "AverageTotalMilliseconds" | "AverageMilliseconds") => self.means[2] = number(),
            (false, "Bucket" | "/Bucket") => self.percentile = None,
            (false, "Percentile") => self.percentile = number(),
            (false, "ReadMilliseconds") => self.latency(0, number()),
            (false, "WriteMilliseconds") => self.latency(1, number()),
            (false, "TotalMilliseconds") => self.latency(2, number()),
            _ => {}
        }
    }

    fn latency(&mut self, of: usize, ms: Option<f64>) {
        let (Some(latencies), Some(share)) = (self.parsed.latencies.get_mut(of), self.percentile) else { return };
        let value = ms.filter(|ms| *ms > 0.0).map(|ms| ms * 1e6);
        let is = |other: f64| (share - other).abs() < 1e-6;
        if is(50.0) {
            latencies.p50 = value;
        } else if is(90.0) {
            latencies.p90 = value;
        } else if is(99.0) {
            latencies.p99 = value;
        } else if is(99.9) {
            latencies.p99_9 = value;
        } else if is(100.0) {
            latencies.max = value;
        }
    }

    fn parsed(self) -> Parsed {
        let mut parsed = self.parsed;
        let seconds = parsed.seconds.unwrap_or(0.0);
        let [mean_read, mean_write, mean_all] = self.means.map(|mean| mean.filter(|ms| *ms > 0.0));
        let total = |[bytes, count]: [f64; 2], mean_ms| {
            // Without a time there is no rate.
            let finite = |rate: f64| if rate.is_finite() { rate } else { 0.0 };
            let (rate, iops) = (finite(bytes / seconds), finite(count / seconds));
            Total { bytes: if rate > 0.0 { bytes } else { 0.0 }, rate, iops, mean_ms, ..Total::default() }
        };
        parsed.reads = total(self.reads, mean_read);
        parsed.writes = total(self.writes, mean_write);
        parsed.all = total([self.reads[0] + self.writes[0], self.reads[1] + self.writes[1]], mean_all);
        parsed
    }
}
