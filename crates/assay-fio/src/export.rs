//! A suite as a job file that fio runs unchanged.

use std::fmt::Write as _;
use std::time::Duration;

use assay_core::arrivals::{Process, Rate};
use assay_core::blocks::Blocks;
use assay_core::cpus::Cpus;
use assay_core::suite::{LayoutRule, Suite, SuiteWorkload, leaders, members, part};
use assay_core::text::harmless;
use assay_core::units::{Bytes, parse_share};
use assay_core::workload::{Op, Pattern, Sync, Workload, fio_rw};

/// Names of more files are not written.
const MOST_FILES: u32 = 64;

/// The suite as a job file that fio runs in the current directory: the same blocks, depths, jobs,
/// span and sync policy, one after the other, each as long as its share of the time budget.
#[must_use]
pub fn job_file(suite: &Suite) -> String {
    let share = share_of(suite.budget, suite.repeats, leaders(&suite.workloads).len());
    let mut text = Header::write(suite);
    let size = suite.span_percent.map_or_else(|| suite.span.0.to_string(), |percent| format!("{percent}%"));
    text.push_str(&format!(
        "[global]\nfilename=assay-fio.data\nsize={size}\ndirect=1\ntime_based\nramp_time=500ms\n\
         refill_buffers\nrandrepeat=0\nnorandommap\nloops=1\n"
    ));
    for leader in leaders(&suite.workloads) {
        let able: Vec<usize> = members(&suite.workloads, leader).collect();
        let left_out = able.iter().filter(|index| !able_to(&suite.workloads[**index], &mut text)).count();
        if left_out > 0 {
            if able.len() > 1 {
                text.push_str("# and so are those that run at the same time\n");
            }
            continue;
        }
        for repeat in 1..=suite.repeats {
            for (number, index) in able.iter().enumerate() {
                // Those at the same time begin with the first of them.
                let waits = if number == 0 { "stonewall\n" } else { "" };
                let _ = write!(text, "\n[{}-{repeat}]\n{waits}", suite.workloads[*index].name);
                section(suite, *index, share, &mut text);
            }
        }
    }
    for program in &suite.programs {
        text.push_str(&format!("\n# {} is left out: fio has no such work\n", program.name));
    }
    text
}

/// Whether fio has a job for a workload; says so in the file where it has none.
fn able_to(w: &SuiteWorkload, text: &mut String) -> bool {
    let why = match &w.rate {
        Some(Rate::Share { .. }) => "fio has no rate that is a share of another job's",
        _ if w.refined.files > MOST_FILES => "it goes through more files in turns than fit into a line",
        _ => return true,
    };
    let _ = write!(text, "\n# {} is left out: {why}\n", w.name);
    false
}

/// The options of one workload.
fn section(suite: &Suite, index: usize, share: Duration, text: &mut String) {
    let w = &suite.workloads[index];
    text.push_str(&kind(w));
    text.push_str(&sizes(w));
    text.push_str(&refined(w));
    let shares = !w.priorities.shares.is_empty();
    let engine = if w.queue_depth > 1 || w.poll || shares { "io_uring" } else { "psync" };
    let _ = writeln!(text, "ioengine={engine}\niodepth={}\nnumjobs={}", w.queue_depth, w.jobs);
    if w.jobs > 1 {
        text.push_str("group_reporting\n");
    }
    if w.refined.files > 1 {
        let names: Vec<String> = (1..=w.refined.files).map(|file| format!("assay-fio.data.{file}")).collect();
        let _ = writeln!(text, "filename={}", names.join(":"));
    }
    let (offset, most) = part(&suite.workloads, index, suite.span.0);
    match w.offset_percent {
        Some(percent) => {
            let _ = writeln!(text, "offset={percent}%");
        }
        None if w.group.is_some() || w.offset.is_some() => {
            let _ = writeln!(text, "offset={offset}");
        }
        None => {}
    }
    let region = w.span.map_or(most, |span| span.0);
    if let Some(percent) = w.span_percent {
        let _ = writeln!(text, "size={percent}%");
    } else if w.jobs > 1 && w.pattern == Pattern::Sequential && !w.refined.shared {
        let each = region / u64::from(w.jobs) / w.block.0.max(1) * w.block.0;
        let _ = writeln!(text, "offset_increment={each}\nsize={each}");
    } else if w.span.is_some() || w.group.is_some() {
        let _ = writeln!(text, "size={region}");
    }
    if let Some(percent) = w.read_percent {
        let _ = writeln!(text, "rwmixread={percent}");
    }
    if let Some((option, each)) = rate(w) {
        let _ = writeln!(text, "{option}={each}\nrate_process={}", process(w.process));
    }
    if !w.distribution.is_uniform() {
        let _ = writeln!(text, "random_distribution={}", w.distribution.to_fio());
    }
    if let Some(think) = w.think {
        let _ = writeln!(text, "thinktime={}\nthinktime_blocks={}", think.pause_ns / 1000, think.after_operations);
    }
    text.push_str(&host_options(&w.cpus, w.poll));
    text.push_str(&priority_options(&w.load()));
    let every = w.refined.writes_a_sync();
    match w.sync {
        Sync::Fsync => drop(writeln!(text, "fsync={every}")),
        Sync::Fdatasync => drop(writeln!(text, "fdatasync={every}")),
        Sync::End if w.op != Op::Read => text.push_str("end_fsync=1\n"),
        Sync::End => {}
    }
    if !w.direct {
        text.push_str("direct=0\n");
    }
    let _ = writeln!(text, "runtime={}ms", w.duration.unwrap_or(share).as_millis());
}

/// What operations do and where they go on.
fn kind(w: &SuiteWorkload) -> String {
    let rw = fio_rw(w.op, w.pattern);
    match w.refined.stride {
        None => format!("rw={rw}\n"),
        Some(stride) if stride.run_bytes == w.block.0 || stride.step_bytes < 0 => {
            format!("rw={rw}:{}\n", i128::from(stride.step_bytes) - i128::from(stride.run_bytes))
        }
        Some(stride) => {
            let skip = stride.step_bytes.unsigned_abs().saturating_sub(stride.run_bytes);
            format!("rw={rw}\nzonemode=strided\nzonesize={}\nzoneskip={skip}\n", stride.run_bytes)
        }
    }
}

/// The sizes of operations: of reads and writes, where these have others.
fn sizes(w: &SuiteWorkload) -> String {
    let writes = &w.refined.writes;
    let split = |blocks: &Blocks, block: u64| match blocks.is_empty() {
        true => format!("{block}/100"),
        false => blocks.to_fio(),
    };
    match (w.blocks.is_empty(), writes.is_empty()) {
        (true, true) => format!("bs={}\n", w.block.0),
        (false, true) => format!("bssplit={}\n", w.blocks.to_fio()),
        (_, false) => format!("bssplit={},{}\n", split(&w.blocks, w.block.0), writes.to_fio()),
    }
}

/// What a load has beyond its blocks.
fn refined(w: &SuiteWorkload) -> String {
    let refined = &w.refined;
    let mut text = String::new();
    let mut line = |option: &str, value: Option<u64>| {
        if let Some(value) = value {
            let _ = writeln!(text, "{option}={value}");
        }
    };
    line("blockalign", refined.align_bytes);
    let percent = |percent: u8| Some(u64::from(percent)).filter(|percent| *percent > 0);
    line("dedupe_percentage", percent(refined.duplicate_percent));
    line("buffer_compress_percentage", percent(refined.zero_percent));
    line("flow", refined.flow.map(|flow| u64::from(flow.weight / w.jobs.max(1)).max(1)));
    line("flow_sleep", refined.flow.map(|flow| flow.pause_ns / 1000).filter(|pause| *pause > 0));
    text
}

/// fio's options for processors and polled completions.
pub(crate) fn host_options(cpus: &Cpus, poll: bool) -> String {
    let cpus =
        if cpus.is_empty() { String::new() } else { format!("cpus_allowed={cpus}\ncpus_allowed_policy=split\n") };
    cpus + if poll { "hipri\n" } else { "" }
}

/// fio's options for priorities; those of shares have to stand behind `ioengine`.
pub(crate) fn priority_options(w: &Workload) -> String {
    let options = w.priorities.to_fio(&w.sizes_of(Op::Read), &w.sizes_of(Op::Write));
    options.into_iter().map(|(option, value)| format!("{option}={value}\n")).collect()
}

/// fio's option for the rate of a workload, and its value for each of its jobs; nothing for a closed loop, and for a
/// share of what is not measured yet.
fn rate(workload: &SuiteWorkload) -> Option<(&'static str, String)> {
    let jobs = f64::from(workload.jobs);
    let each = |all: f64| {
        let part = |share: f64| ((all * share / jobs).round().max(1.0) as u64).to_string();
        match (workload.op, workload.read_percent) {
            (Op::Mixed, Some(reads)) => {
                let reads = f64::from(reads) / 100.0;
                format!("{},{}", part(reads), part(1.0 - reads))
            }
            _ => part(1.0),
        }
    };
    match workload.rate.as_ref()? {
        Rate::Iops(iops) => Some(("rate_iops", each(*iops))),
        Rate::BytesPerSecond(bytes) => Some(("rate", each(*bytes))),
        Rate::Share { .. } => None,
    }
}

fn process(process: Process) -> &'static str {
    match process {
        Process::Poisson => "poisson",
        Process::Constant => "linear",
    }
}

/// How long a repeat runs where the suite leaves that to the budget: whole milliseconds.
pub(crate) fn share_of(budget: Duration, repeats: u32, workloads: usize) -> Duration {
    let all = f64::from(repeats.max(1)) * workloads.max(1) as f64;
    Duration::from_millis(((budget.as_secs_f64() * 0.75 / all).max(1.0) * 1000.0).round() as u64)
}

/// What a job file has no option for, in its first line: fio takes it for a comment.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Header {
    pub(crate) name: String,
    pub(crate) version: u32,
    pub(crate) budget: Duration,
    pub(crate) max_write: Bytes,
    /// When a workload is left early, which fio does not do.
    pub(crate) enough: Option<f64>,
    /// How its test area is made.
    pub(crate) layout: LayoutRule,
    pub(crate) purpose: String,
}

impl Header {
    fn write(suite: &Suite) -> String {
        // A line break would end the comment.
        let purpose = harmless(&suite.purpose.split_whitespace().collect::<Vec<_>>().join(" "));
        let enough = suite.enough.map_or_else(String::new, |share| format!(", enough {share}"));
        let layout = match suite.layout {
            LayoutRule::Budget => String::new(),
            layout => format!(", layout {}", layout.name()),
        };
        format!(
            "; suite {} version {}, {} ms, at most {} bytes written{enough}{layout}: {purpose}\n",
            suite.name,
            suite.version,
            suite.budget.as_millis(),
            suite.max_write.0,
        )
    }

    /// The header in `line`, where it is one.
    pub(crate) fn read(line: &str) -> Option<Self> {
        let rest = line.strip_prefix("; suite ")?;
        let (name, rest) = rest.split_once(" version ")?;
        let (version, rest) = rest.split_once(", ")?;
        let (budget, rest) = rest.split_once(" ms, at most ")?;
        let (bytes, rest) = rest.split_once(" bytes written")?;
        let (enough, purpose) = rest.split_once(": ")?;
        let (enough, layout) = enough.split_once(", layout ").unwrap_or((enough, "budget"));
        let known = [LayoutRule::Budget, LayoutRule::Whole, LayoutRule::None];
        let layout = known.into_iter().find(|known| known.name() == layout)?;
        let enough = enough.strip_prefix(", enough ").map(parse_share).transpose().ok()?;
        let budget = Duration::from_millis(budget.parse().ok()?);
        Some(Self {
            name: name.to_owned(),
            version: version.parse().ok()?,
            budget: Some(budget).filter(|b| *b >= Duration::from_secs(1) && b.as_secs() <= 30 * 86_400)?,
            max_write: Bytes(bytes.parse().ok()?),
            enough: enough.filter(|share| (0.005..=0.5).contains(share)),
            layout,
            purpose: purpose.trim().to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_quarters_of_the_budget_are_shared_by_all_repeats() {
        let share =
            |seconds, repeats, workloads| share_of(Duration::from_secs(seconds), repeats, workloads).as_millis();
        assert_eq!(share(60, 3, 5), 3000);
        assert_eq!(share(60, 1, 1), 45_000);
        assert_eq!(share(60, 0, 0), 45_000, "what cannot be shared is for one");
        assert_eq!(share(2, 10, 10), 1000, "no repeat is shorter than a second");
    }
}
