//! What was found, in words, and what mends it.

use std::time::Duration;

use super::kind::Finding;
use crate::units::{Bytes, figures, grouped, latency, span};

impl Finding {
    /// What was found, in a sentence without a full stop.
    #[must_use]
    pub fn cause(&self) -> String {
        let cause = self.method_cause().or_else(|| self.repeats_cause());
        let cause = cause.or_else(|| self.run_cause()).or_else(|| self.host_cause()).or_else(|| self.source_cause());
        cause.unwrap_or_else(|| "a finding of a newer version of assay".to_owned())
    }

    /// What is known of how the figures came about.
    fn method_cause(&self) -> Option<String> {
        Some(match self {
            Self::CachedIo { reason } => {
                format!("direct I/O is not possible here ({reason}); cached I/O was used")
            }
            Self::CachedByRequest => {
                "the suite asks for cached I/O, so the page cache is part of the number".to_owned()
            }
            Self::CacheNotDropped { reason } => {
                format!("what was written before may have been read from memory: {reason}")
            }
            Self::ServedFromCache { proof_ratio } => {
                format!("served from a cache: only {} % of the bytes crossed the device", percent(*proof_ratio))
            }
            Self::OthersUsedDevice { proof_ratio } => {
                format!("something else used the device: it moved {} % of the bytes issued", percent(*proof_ratio))
            }
            Self::NoProof { medium, reason } => no_proof(medium, reason.as_deref()),
            Self::ServerCache { medium } => format!(
                "this {medium} is on another machine: what that has in its memory is read without its medium, and neither \
                 direct I/O nor counters of this host show it"
            ),
            Self::MemoryNotMedium { medium } => format!("this is {medium}: memory was measured, not a storage medium"),
            Self::OverlayHidesMedium => "an overlay file system hides which medium is used".to_owned(),
            Self::UnwrittenReads => {
                "reads of a raw device may touch blocks that were never written, which some media answer without work"
                    .to_owned()
            }
            Self::LittlesLaw { ratio } => format!(
                "latency and rate contradict each other (Little's law off by {} %)",
                percent((ratio - 1.0).abs())
            ),
            Self::ShallowQueue { in_flight, asked } => {
                format!("{} operations were in flight on average instead of {}", figures(*in_flight), figures(*asked))
            }
            Self::EndedByNeighbour { lasted_ns, planned_ns } => format!(
                "a repeat was ended by another workload at the same time after {} of {}",
                latency(*lasted_ns as f64),
                latency(*planned_ns as f64)
            ),
            Self::RateNotReached { asked_iops, reached_iops, unserved } => {
                let unserved = match unserved {
                    0 => String::new(),
                    1 => ", one operation was never begun".to_owned(),
                    n => format!(", {} operations were never begun", grouped(i64::try_from(*n).unwrap_or(i64::MAX))),
                };
                format!(
                    "the medium did not keep up: {} IOPS were offered and {} done{unserved}; its queue grows as long as \
                     it lasts, so the latency is at least what is shown",
                    figures(*asked_iops),
                    figures(*reached_iops)
                )
            }
            Self::BegunLate { late_ns, share } => format!(
                "operations were begun {} late on average though nothing was in their way, {} % of their latency",
                latency(*late_ns),
                percent(*share)
            ),
            Self::DepthByThreads { threads } => {
                format!("no asynchronous engine here: the queue depth was made by {threads} threads")
            }
            Self::SeveralPriorities => "latencies are of operations of all priorities together".to_owned(),
            Self::InstrumentLimited { null_operations_per_second } => format!(
                "instrument-limited: this host issues at most {} million operations per second even to no device at all",
                figures(null_operations_per_second / 1e6)
            ),
            Self::BusLimited { share } => format!(
                "bus-limited: {} % of what the bus reaches, so the medium may be faster than this",
                percent(*share)
            ),
            Self::CrosscheckDiffers { peer, ratio, low, high } => format!(
                "{peer} disagrees: assay saw {} times its rate ({} to {})",
                figures(*ratio),
                figures(*low),
                figures(*high)
            ),
            _ => return None,
        })
    }

    /// What repeats and seconds show, and what the budget left of them.
    fn repeats_cause(&self) -> Option<String> {
        Some(match self {
            Self::FewOperations { operations } => {
                format!("only {operations} operations: the figure is a rough estimate")
            }
            Self::Unsteady { repeats, of } => {
                format!("erratic: {repeats} of {of} repeats never became steady")
            }
            Self::NotReached { asked, reached, repeats } => {
                let reached = reached.map_or_else(|| "no interval".to_owned(), |r| format!("±{} %", percent(r)));
                format!("±{} % was not reached: {reached} over {repeats} repeats", percent(*asked))
            }
            Self::Drift { change, over } => {
                let way = if *change < 0.0 { "fell" } else { "rose" };
                format!("not steady: the rate {way} by {} % over the {over}", percent(change.abs()))
            }
            Self::TwoSpeeds { ratio, slow_share, over } => format!(
                "two speeds: {} % of the {over} ran at {} % of the rate of the others",
                percent(*slow_share),
                percent(*ratio)
            ),
            Self::UnevenRepeats { ratio } => {
                format!("the fastest repeat was {} times as fast as the slowest", figures(*ratio))
            }
            Self::FewerRepeats { planned, ran, reason } => format!("{ran} of {planned} repeats: {reason}"),
            Self::ProgramLeftOut { program, planned, ran: 0, reason } => {
                format!("{program} was left out, {planned} repeats were planned: {reason}")
            }
            Self::ProgramLeftOut { program, planned, ran, reason } => {
                format!("{program}: {ran} of {planned} repeats: {reason}")
            }
            Self::ScaledDown { asked, used, by_all } => {
                let who = if *by_all { "not all nodes of the run could" } else { "this medium could not" };
                format!("ran {used} instead of {asked}, which {who} do within the budget")
            }
            Self::SmallerSpan { asked_bytes, used_bytes, reason } => {
                format!("test area of {} instead of {}: {reason}", Bytes(*used_bytes), Bytes(*asked_bytes))
            }
            Self::SweepStopped { at_block_bytes } => {
                format!("left out: {} blocks already reach what the bus allows", Bytes(*at_block_bytes))
            }
            _ => return None,
        })
    }

    /// What happened to the run, its files and its record.
    fn run_cause(&self) -> Option<String> {
        Some(match self {
            Self::AnotherRun => "another run of assay is measuring the same file system".to_owned(),
            Self::LeftoversRemoved { directories, bytes } => {
                format!(
                    "removed what {directories} killed {} left here ({})",
                    if *directories == 1 { "run" } else { "runs" },
                    Bytes(*bytes)
                )
            }
            Self::FileLeft { path, reason } => format!("the test file in {path} could not be removed: {reason}"),
            Self::CheckUnfinished { path } => format!("the check ended early; its files are in {path}"),
            Self::NotPutBack { journal, reason } => {
                format!("not everything could be put back: {reason}; what is missing is in {journal}")
            }
            Self::Resumed { rested_ns } => {
                format!("the run was interrupted and resumed {} later", span(Duration::from_nanos(*rested_ns)))
            }
            Self::SoakPaused { after_ns, rested_ns } => format!(
                "the soak was interrupted after {} and resumed {} later: the medium rested and cooled down",
                span(Duration::from_nanos(*after_ns)),
                span(Duration::from_nanos(*rested_ns))
            ),
            Self::NotSaved { reason } => format!("the record is not in the store: {reason}"),
            Self::SensorDropped { sensor, reason } => format!("sensor {sensor} is no longer read: {reason}"),
            Self::FieldsLeftOut { fields } => {
                let (what, they) =
                    if *fields == 1 { ("1 field", "it") } else { (&*format!("{fields} fields"), "they") };
                format!(
                    "this copy lacks {what} of the record: this version of assay does not know whether {they} may identify somebody"
                )
            }
            Self::Suspended { suspended_ns } => format!(
                "the process was stopped for {}; what was measured meanwhile is not counted",
                span(Duration::from_nanos(*suspended_ns))
            ),
            _ => return None,
        })
    }

    /// What an imported text is like.
    fn source_cause(&self) -> Option<String> {
        Some(match self {
            Self::BestOf { runs } => {
                let runs = runs.map_or_else(|| "several".to_owned(), |runs| runs.to_string());
                format!("the best of {runs} runs: an upper bound, not what a run reaches on average")
            }
            Self::CachedByTool { tool } => {
                format!("{tool} went through the page cache, which may be part of the number")
            }
            Self::NotTold { tool, what } => format!("{tool} does not report: {what}"),
            Self::CopyOf { record } => {
                format!("a copy: its repeats are those of record {record} to the last digit")
            }
            Self::MarkedDoubtful { why } => {
                let why = if why.is_empty() { String::new() } else { format!(": {why}") };
                format!(
                    "marked as doubtful when it was imported{why}; it is kept as printed and not used for decisions"
                )
            }
            Self::ToolFailed { tool, how } => {
                format!("{tool} ended with an error ({how}); its figures are of what it did until then")
            }
            Self::SourceContradicts { how } => format!("the imported text contradicts itself: {how}"),
            Self::SourceIncomplete { what } => format!("the imported text is not complete: {what}"),
            _ => return None,
        })
    }

    /// What the host was like meanwhile.
    fn host_cause(&self) -> Option<String> {
        Some(match self {
            Self::SwapOnMedium => "the host swaps on the medium under test".to_owned(),
            Self::Throttled { by } => format!("the processor was slowed down while it measured: {by}"),
            Self::UnderVoltage { by } => format!("the supply voltage was too low: {by}"),
            Self::PastThrottling { what } => format!("before this run, since the host was started: {what}"),
            Self::LowClock { share, governor } => {
                let by = if governor.is_empty() { String::new() } else { format!(" (governor {governor})") };
                format!("the processors ran at {} % of their maximum clock on average{by}", percent(*share))
            }
            Self::LoadOfOthers { share, most } => {
                let most = match most.as_str() {
                    "" => String::new(),
                    "assay" => ", most of it another assay process".to_owned(),
                    most => format!(", most of it {most}"),
                };
                format!("other programs used up to {} % of all processors{most}", percent(*share))
            }
            Self::KernelErrors { lines, first } => {
                let more = if *lines > 1 { format!(" and {} more lines", lines - 1) } else { String::new() };
                format!("the kernel reported errors of the device: {first}{more}")
            }
            Self::Swapped { pages } => format!("the host swapped {pages} pages while the medium was measured"),
            _ => return None,
        })
    }
}

/// Why nothing shows what crossed a device.
fn no_proof(medium: &str, reason: Option<&str>) -> String {
    let why = match reason {
        Some(reason) => format!("the counters of the block device under this {medium} cannot be read ({reason})"),
        None => format!("no block device whose counters could be read is known under this {medium}"),
    };
    format!("{why}: nothing proves that the bytes reached a medium")
}

/// A share as percent with three figures.
fn percent(share: f64) -> String {
    figures(share * 100.0)
}

// What mends what was found.

impl Finding {
    /// What mends it; empty where nothing does.
    #[must_use]
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::CachedIo { .. } => "measure a directory on a file system with direct I/O (ext4, xfs, f2fs, btrfs)",
            Self::CacheNotDropped { .. } => {
                "measure with direct I/O on a file system that has it, or a span several times the size of memory"
            }
            Self::CachedByRequest => "set direct = true in the suite",
            Self::ServedFromCache { .. } => "use direct I/O, or a span several times the size of memory",
            Self::OthersUsedDevice { .. } => "stop what else uses the medium and run again",
            Self::NoProof { .. } => {
                "compare with what the disk itself counts (SMART), or with the counters of the machine that holds it"
            }
            Self::ServerCache { .. } => "to read from its medium, use a span larger than the memory of that machine",
            Self::MemoryNotMedium { .. } | Self::OverlayHidesMedium => {
                "name a directory on the medium: assay run /mnt/card"
            }
            Self::LittlesLaw { .. } => "run again; if it stays, report it as a bug with the record",
            Self::RateNotReached { .. } => "offer less, or read it as a rate that the medium cannot sustain",
            Self::EndedByNeighbour { .. } => "let it write more (--max-write), or take fewer repeats",
            Self::BegunLate { .. } => "stop other programs, or offer less",
            Self::ShallowQueue { .. } => "use more jobs, or read the figure as one at the depth shown",
            Self::DepthByThreads { .. } => {
                "allow io_uring (sysctl kernel.io_uring_disabled=0, container seccomp profile)"
            }
            Self::SeveralPriorities => {
                "to see them apart, run a workload of each priority at the same time (priority, group)"
            }
            Self::InstrumentLimited { .. } => "use more jobs, or read the figure as a lower bound",
            Self::BusLimited { .. } => "use a faster slot or reader to see what the medium itself can do",
            Self::SmallerSpan { reason, .. } if reason.contains("all nodes") => {
                "free some space on the node that has least, or raise --budget"
            }
            Self::SmallerSpan { reason, .. } if reason.contains("write limit") => "raise --max-write",
            Self::SmallerSpan { reason, .. } if reason.contains("time") => "raise --budget",
            Self::SmallerSpan { .. } => "free some space",
            Self::ScaledDown { .. } => "raise --budget",
            Self::FewOperations { .. } | Self::FewerRepeats { .. } | Self::ProgramLeftOut { .. } => {
                "raise --budget or --max-write"
            }
            Self::Unsteady { .. } => "run the suite soak to see what happens over time",
            Self::NotReached { .. } => "raise --budget and --max-write, or ask for less",
            Self::AnotherRun => "run one after the other",
            Self::UnwrittenReads => "measure a directory, or write the device full first",
            Self::SwapOnMedium => "swapoff the medium during the run",
            Self::FileLeft { .. } => "the next run in this directory removes it",
            Self::CheckUnfinished { .. } => "resume it: assay verify --resume; a new check removes them",
            Self::NotPutBack { .. } => "plug the device in again, then: assay verify --restore JOURNAL DEVICE",
            Self::SoakPaused { .. } => "let the medium cool down and run the soak again without a pause",
            Self::NotSaved { .. } => "point ASSAY_DATA at a writable directory with a sound store",
            Self::Throttled { .. } => "cool the host (heat sink, fan, pause before the run) and run again",
            Self::UnderVoltage { .. } => "use a stronger power supply and a shorter, thicker cable",
            Self::PastThrottling { .. } => "check power supply and cooling",
            Self::LowClock { .. } => "for latencies at full clock: cpupower frequency-set -g performance",
            Self::LoadOfOthers { .. } => "stop the other programs and run again",
            Self::KernelErrors { .. } => "check plug, cable and power, then whether the medium is dying (dmesg)",
            Self::Swapped { .. } => "free memory, or swapoff during the run",
            Self::Drift { .. } => "measure for longer (--budget), or cold and warm separately",
            Self::TwoSpeeds { .. } | Self::UnevenRepeats { .. } => {
                "raise --repeats and look at the samples in the report"
            }
            Self::SensorDropped { .. } => {
                "run the command by hand: it must print a number and succeed; if no thread could be started, end other programs"
            }
            Self::CrosscheckDiffers { .. } => "measure with more --repeats; if it stays, report it with the record",
            Self::FieldsLeftOut { .. } => {
                "write the report with the version that made the record, or with --identities"
            }
            Self::CopyOf { .. } => "remove one of the two with assay rm",
            Self::BestOf { .. } => "compare it with other figures that are the best of as many runs",
            Self::ToolFailed { .. } => "find out why it failed, and run it again",
            Self::CachedByTool { .. } => "run the tool with direct I/O, or assay in its place",
            Self::SourceContradicts { .. } | Self::SourceIncomplete { .. } | Self::MarkedDoubtful { .. } => {
                "look at the original text"
            }
            Self::LeftoversRemoved { .. }
            | Self::NotTold { .. }
            | Self::Resumed { .. }
            | Self::Suspended { .. }
            | Self::SweepStopped { .. }
            | Self::Unknown => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One finding of each kind, by the schema of the record.
    #[cfg(feature = "schema")]
    fn one_of_each() -> Vec<Finding> {
        use serde_json::{Map, Value, json};

        let schema = schemars::schema_for!(Finding).to_value();
        let kinds = schema["oneOf"].as_array().unwrap();
        let value = |property: &Value| match property {
            property if property.get("const").is_some() => property["const"].clone(),
            // One that may be absent has the types of both.
            property if property["type"] == "string" || property["type"][0] == "string" => json!("words"),
            property if property["type"] == "boolean" => json!(true),
            _ => json!(1),
        };
        let one = |kind: &Value| {
            let properties = kind["properties"].as_object().unwrap();
            let fields: Map<String, Value> = properties.iter().map(|(name, p)| (name.clone(), value(p))).collect();
            serde_json::from_value(Value::Object(fields)).unwrap()
        };
        kinds.iter().map(one).collect()
    }

    #[cfg(feature = "schema")]
    #[test]
    fn every_finding_has_words_of_its_own() {
        let mut causes: Vec<String> = one_of_each().iter().map(Finding::cause).collect();
        let all = causes.len();
        assert!(all > 40, "{all}");
        causes.sort();
        causes.dedup();
        assert_eq!(causes.len(), all, "two of a kind, or one without a cause: {causes:#?}");
    }

    #[test]
    fn what_proves_nothing_says_why_where_it_is_known() {
        let of = |text: &str| serde_json::from_str::<Finding>(text).unwrap();
        let old = of(r#"{"kind":"no_proof","medium":"NFS mount"}"#);
        assert!(old.cause().starts_with("no block device whose counters could be read is known"), "{}", old.cause());
        assert_eq!(serde_json::to_string(&old).unwrap(), r#"{"kind":"no_proof","medium":"NFS mount"}"#);
        let new = of(r#"{"kind":"no_proof","medium":"USB stick","reason":"not supported"}"#);
        assert!(new.cause().contains("USB stick cannot be read (not supported)"), "{}", new.cause());
    }

    #[test]
    fn a_load_of_this_program_is_that_of_another_process() {
        let of = |most: &str| Finding::LoadOfOthers { share: 0.5, most: most.to_owned() }.cause();
        assert!(of("assay").ends_with("most of it another assay process"), "{}", of("assay"));
        assert!(of("make").ends_with("most of it make") && of("").ends_with("of all processors"));
    }

    #[test]
    fn a_small_test_area_is_mended_by_what_made_it_small() {
        for (reason, remedy) in [
            ("free space allows no more", "free some space"),
            ("the file system was full", "free some space"),
            ("the write limit allows no more", "raise --max-write"),
            ("all nodes of the run use the same area", "free some space on the node that has least, or raise --budget"),
            ("writing at 1.2 MB/s there was no time for more", "raise --budget"),
        ] {
            let finding = Finding::SmallerSpan { asked_bytes: 2, used_bytes: 1, reason: reason.to_owned() };
            assert_eq!(finding.remedy(), remedy, "{reason}");
        }
    }
}
