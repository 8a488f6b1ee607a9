//! Suites: ordered lists of workloads with a purpose, written in TOML.

use std::time::Duration;

use serde::Deserialize;
use toml::Spanned;

use crate::arrivals::{MOST_IOPS, Process, Rate};
use crate::blocks::Blocks;
use crate::cpus::Cpus;
use crate::distribution::Distribution;
use crate::original::Original;
use crate::program::{ProgramFile, SuiteProgram};
use crate::text::{label, quoted};
use crate::think::Think;
use crate::units::{Bytes, parse_duration, parse_share};
use crate::workload::{Op, Pattern, Sync};

mod groups;
mod originals;
mod workload;

pub use groups::{MAX_TOGETHER, leaders, members, part, together};
pub use workload::{Analysis, SuiteWorkload};

/// A suite, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Suite {
    /// Name, as on the command line.
    pub name: String,
    /// Raised whenever results of the suite stop being comparable.
    pub version: u32,
    /// What it answers, in a line.
    pub purpose: String,
    /// Time for all of it.
    pub budget: Duration,
    /// Most bytes it writes.
    pub max_write: Bytes,
    /// Repeats of each workload.
    pub repeats: u32,
    /// A workload is left as soon as the interval over its repeats is within this share of its figure. Its repeats are
    /// then shorter and up to [`PARTS`] times as many, within the same time.
    pub enough: Option<f64>,
    /// Size of the test area.
    pub span: Bytes,
    /// Its workloads in order.
    pub workloads: Vec<SuiteWorkload>,
    /// Its programs in order, which run after the workloads.
    pub programs: Vec<SuiteProgram>,
}

/// What is wrong with a suite file, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {message}")]
pub struct SuiteError {
    /// File as the user named it.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// What is wrong and how to mend it.
    pub message: String,
}

/// A repeat of a suite that ends when enough is known is this part of one that does not, and there may be this many
/// times as many.
pub const PARTS: u32 = 3;
/// Fewer repeats tell nothing of how well a figure is known: the t quantile of two is 12.7.
pub const LEAST_REPEATS: u32 = 3;
/// More looks at an interval than three times as many would need a wider one.
pub const MOST_WITH_ENOUGH: u32 = 5;

/// Queue depths above this are refused: no block layer queues more per device by default.
pub const MAX_QUEUE_DEPTH: u32 = 1024;
/// More jobs than this are refused.
pub const MAX_JOBS: u32 = 256;
/// Shorter and longer think times are refused.
pub(crate) const MIN_THINK: Duration = Duration::from_micros(1);
/// See [`MIN_THINK`].
pub const MAX_THINK: Duration = Duration::from_secs(60);
/// Larger blocks are refused.
pub const MAX_BLOCK: Bytes = Bytes(64 << 20);

/// Most characters of what the TOML reader says.
const LONGEST_MESSAGE: usize = 300;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SuiteFile {
    name: Spanned<String>,
    version: u32,
    purpose: String,
    budget: Spanned<String>,
    max_write: Bytes,
    repeats: Spanned<u32>,
    enough: Option<Spanned<String>>,
    span: Spanned<Bytes>,
    workload: Vec<Spanned<WorkloadFile>>,
    #[serde(default)]
    program: Vec<Spanned<ProgramFile>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkloadFile {
    name: Spanned<String>,
    op: Op,
    read_percent: Option<Spanned<u8>>,
    pattern: Pattern,
    block: Option<Spanned<Bytes>>,
    blocks: Option<Spanned<String>>,
    #[serde(default = "one")]
    queue_depth: Spanned<u32>,
    #[serde(default = "one")]
    jobs: Spanned<u32>,
    #[serde(default)]
    sync: Sync,
    #[serde(default = "yes")]
    direct: bool,
    rate: Option<Spanned<String>>,
    arrivals: Option<Spanned<Process>>,
    distribution: Option<Spanned<String>>,
    think: Option<Spanned<String>>,
    think_after: Option<Spanned<u32>>,
    cpus: Option<Spanned<String>>,
    poll: Option<Spanned<bool>>,
    group: Option<Spanned<String>>,
    duration: Option<Spanned<String>>,
    span: Option<Spanned<Bytes>>,
    #[serde(default)]
    analysis: Analysis,
    original: Option<Spanned<Original>>,
}

fn one() -> Spanned<u32> {
    Spanned::new(0..0, 1)
}

fn yes() -> bool {
    true
}

impl Suite {
    /// Reads and checks a suite file; `file` is its name in messages.
    ///
    /// # Errors
    /// [`SuiteError`] with the line of the first thing that is wrong.
    pub fn parse(text: &str, file: &str) -> Result<Self, SuiteError> {
        let fail = |at: usize, message: String| SuiteError {
            file: file.to_owned(),
            line: text.get(..at.min(text.len())).map_or(1, |before| before.matches('\n').count() + 1),
            message,
        };
        let raw: SuiteFile = toml::from_str(text).map_err(|error| {
            // It repeats keys and values of the file.
            let message = label(error.message(), LONGEST_MESSAGE);
            fail(error.span().map_or(0, |span| span.start), message.unwrap_or_default())
        })?;
        let budget = raw.check_head(&fail)?;
        let workloads = checked_workloads(raw.workload, raw.span.get_ref(), &fail)?;
        let enough = raw.enough.as_ref().map(|text| {
            let fail = |message| fail(text.span().start, message);
            narrow_enough(text.get_ref(), *raw.repeats.get_ref(), &workloads, raw.program.len()).map_err(fail)
        });
        let enough = enough.transpose()?;
        let mut programs: Vec<SuiteProgram> = Vec::with_capacity(raw.program.len());
        for entry in raw.program {
            let start = entry.span().start;
            let program = entry.into_inner().check(is_name).map_err(|(at, message)| fail(at, message))?;
            let taken = workloads.iter().map(|w| &w.name).chain(programs.iter().map(|p| &p.name));
            if taken.into_iter().any(|name| *name == program.name) {
                return Err(fail(start, format!("two workloads are named `{}`", program.name)));
            }
            programs.push(program);
        }
        Ok(Self {
            name: raw.name.into_inner(),
            version: raw.version,
            purpose: raw.purpose,
            budget,
            max_write: raw.max_write,
            repeats: raw.repeats.into_inner(),
            enough,
            span: raw.span.into_inner(),
            workloads,
            programs,
        })
    }

    /// The suite as a file that [`Suite::parse`] reads to the same suite. Durations are kept to
    /// the millisecond.
    #[must_use]
    pub fn to_text(&self) -> String {
        let ms = |d: Duration| format!("{}ms", d.as_millis());
        let mut text = format!(
            "name = {}\nversion = {}\npurpose = {}\nbudget = \"{}\"\nmax_write = \"{}B\"\nrepeats = {}\nspan = \"{}B\"\n",
            crate::text::toml(&self.name),
            self.version,
            crate::text::toml(&self.purpose),
            ms(self.budget),
            self.max_write.0,
            self.repeats,
            self.span.0,
        );
        if let Some(enough) = self.enough {
            text += &format!("enough = \"{enough}\"\n");
        }
        for w in &self.workloads {
            let op = match w.op {
                Op::Read => "read",
                Op::Write => "write",
                Op::Mixed => "mixed",
            };
            let pattern = match w.pattern {
                Pattern::Sequential => "sequential",
                Pattern::Random => "random",
            };
            let sync = match w.sync {
                Sync::End => "end",
                Sync::Fdatasync => "fdatasync",
                Sync::Fsync => "fsync",
            };
            text += &format!(
                "\n[[workload]]\nname = {}\nop = \"{op}\"\npattern = \"{pattern}\"\n{}queue_depth = {}\njobs = {}\nsync = \"{sync}\"\ndirect = {}\n",
                crate::text::toml(&w.name),
                if w.blocks.is_empty() {
                    format!("block = \"{}B\"\n", w.block.0)
                } else {
                    format!("blocks = \"{}\"\n", w.blocks)
                },
                w.queue_depth,
                w.jobs,
                w.direct,
            );
            if let Some(percent) = w.read_percent {
                text += &format!("read_percent = {percent}\n");
            }
            if let Some(rate) = &w.rate {
                text +=
                    &format!("rate = {}\narrivals = \"{}\"\n", crate::text::toml(&rate.to_string()), w.process.name());
            }
            if !w.distribution.is_uniform() {
                text += &format!("distribution = \"{}\"\n", w.distribution);
            }
            if let Some(think) = w.think {
                text += &format!("think = \"{}us\"\nthink_after = {}\n", think.pause_ns / 1000, think.after_operations);
            }
            if !w.cpus.is_empty() {
                text += &format!("cpus = \"{}\"\n", w.cpus);
            }
            if w.poll {
                text += "poll = true\n";
            }
            if let Some(group) = &w.group {
                text += &format!("group = \"{group}\"\n");
            }
            if let Some(duration) = w.duration {
                text += &format!("duration = \"{}\"\n", ms(duration));
            }
            if let Some(span) = w.span {
                text += &format!("span = \"{}B\"\n", span.0);
            }
            if w.analysis == Analysis::Soak {
                text += "analysis = \"soak\"\n";
            }
            if let Some(original) = w.original {
                text += &format!("original = \"{}\"\n", original.name());
            }
        }
        text.extend(self.programs.iter().map(SuiteProgram::to_text));
        text
    }

    /// Most repeats that a workload has.
    #[must_use]
    pub fn most_repeats(&self) -> u32 {
        if self.enough.is_some() { self.repeats.saturating_mul(PARTS) } else { self.repeats }
    }

    /// Whether any workload writes.
    #[must_use]
    pub fn writes(&self) -> bool {
        self.workloads.iter().any(|w| w.op != Op::Read)
    }

    /// Whether any program writes.
    #[must_use]
    pub fn programs_write(&self) -> bool {
        self.programs.iter().any(|p| p.does.writes())
    }

    /// Whether every workload is a soak, for which no test area is written beforehand.
    #[must_use]
    pub fn only_soaks(&self) -> bool {
        self.workloads.iter().all(|w| w.analysis == Analysis::Soak)
    }
}

/// The share that `enough` names, or what is wrong with it.
fn narrow_enough(text: &str, repeats: u32, workloads: &[SuiteWorkload], programs: usize) -> Result<f64, String> {
    let share = parse_share(text).ok().filter(|share| (0.005..=0.5).contains(share));
    let Some(share) = share else {
        return Err(format!("enough = {} must be a share of 0.5% to 50%, like 5%", quoted(text)));
    };
    if !(LEAST_REPEATS..=MOST_WITH_ENOUGH).contains(&repeats) {
        return Err(format!("enough takes repeats = {LEAST_REPEATS} to {MOST_WITH_ENOUGH}, not {repeats}"));
    }
    let apart = |w: &&SuiteWorkload| w.group.is_some() || w.rate.is_some() || w.analysis == Analysis::Soak;
    if let Some(w) = workloads.iter().find(apart) {
        return Err(format!("enough is not for soaks, groups and workloads with a rate, like `{}`", w.name));
    }
    if programs > 0 {
        return Err("enough is not for suites with a [[program]]".to_owned());
    }
    Ok(share)
}

/// What is wrong with a rate that is a share of another workload's; nothing for any other.
fn share_of_nothing(workload: &SuiteWorkload, before: &[SuiteWorkload]) -> Option<String> {
    let Some(Rate::Share { of, .. }) = &workload.rate else { return None };
    let name = &workload.name;
    let Some(other) = before.iter().find(|w| w.name == *of) else {
        return Some(format!("workload `{name}`: the rate is a share of {}, which stands not above it", quoted(of)));
    };
    // Reading workloads run before writing ones.
    if other.rate.is_some() || (other.op == Op::Read) != (workload.op == Op::Read) {
        return Some(format!("workload `{name}`: its rate must be a share of a workload without rate and of its kind"));
    }
    None
}

/// Refuses a value at a place in the file, by why.
type Refuse<'a> = dyn Fn(usize, String) -> SuiteError + 'a;

impl SuiteFile {
    /// Name, repeats and span each within its limits, and the budget as a length of time.
    fn check_head(&self, fail: &Refuse<'_>) -> Result<Duration, SuiteError> {
        let name = self.name.get_ref();
        if !is_name(name) {
            let message = format!("name {} may hold only letters, digits, `-` and `_`", quoted(name));
            return Err(fail(self.name.span().start, message));
        }
        let text = self.budget.get_ref();
        let Some(budget) = parse_duration(text).ok().filter(|d| *d >= Duration::from_secs(1)) else {
            let message = format!("budget {} must be a duration of at least 1s, like 90s", quoted(text));
            return Err(fail(self.budget.span().start, message));
        };
        if !(1..=1000).contains(self.repeats.get_ref()) {
            let message = format!("repeats = {} must be 1 to 1000", self.repeats.get_ref());
            return Err(fail(self.repeats.span().start, message));
        }
        if self.span.get_ref().0 == 0 {
            return Err(fail(self.span.span().start, "span must be larger than 0".to_owned()));
        }
        Ok(budget)
    }
}

/// The workloads of a file, each by itself and together.
fn checked_workloads(
    raw: Vec<Spanned<WorkloadFile>>,
    suite_span: &Bytes,
    fail: &Refuse<'_>,
) -> Result<Vec<SuiteWorkload>, SuiteError> {
    if raw.is_empty() {
        return Err(fail(0, "the suite has no [[workload]]".to_owned()));
    }
    let mut workloads: Vec<SuiteWorkload> = Vec::with_capacity(raw.len());
    let mut starts = Vec::with_capacity(raw.len());
    for entry in raw {
        let start = entry.span().start;
        let workload = check_workload(entry.into_inner(), suite_span, &|at, message| {
            // A defaulted value has no place of its own: the workload's is the nearest.
            fail(if at == 0 { start } else { at }, message)
        })?;
        if let Some(message) = share_of_nothing(&workload, &workloads) {
            return Err(fail(start, message));
        }
        if workloads.iter().any(|w| w.name == workload.name) {
            return Err(fail(start, format!("two workloads are named `{}`", workload.name)));
        }
        workloads.push(workload);
        starts.push(start);
    }
    match groups::wrong(&workloads, *suite_span) {
        Some((index, message)) => Err(fail(starts[index], message)),
        None => Ok(workloads),
    }
}

fn check_workload(raw: WorkloadFile, suite_span: &Bytes, refuse: &Refuse<'_>) -> Result<SuiteWorkload, SuiteError> {
    let name = raw.name.get_ref().clone();
    if !is_name(&name) {
        let message = format!("name {} may hold only letters, digits, `-` and `_`", quoted(&name));
        return Err(refuse(raw.name.span().start, message));
    }
    let fail = |at: usize, what: String| refuse(at, format!("workload `{name}`: {what}"));
    let (block, blocks) = raw.sizes(&fail)?;
    raw.check_size(block, suite_span, &fail)?;
    raw.check_kind(&fail)?;
    let (think, group) = (raw.pauses(&fail)?, raw.together(&fail)?);
    let duration = raw.duration.as_ref().map(|text| repeat_length(text, &fail)).transpose()?;
    let rate = raw.open_loop(blocks.mean().unwrap_or(block.0), &fail)?;
    let distribution = raw.spread(&fail)?;
    let (cpus, poll_at) = (raw.processors(&fail)?, raw.poll.as_ref().map_or(0, |poll| poll.span().start));
    let original_at = raw.original.as_ref().map_or(0, |original| original.span().start);
    let workload = SuiteWorkload {
        name: name.clone(),
        op: raw.op,
        read_percent: raw.read_percent.map(Spanned::into_inner),
        pattern: raw.pattern,
        block,
        blocks,
        queue_depth: raw.queue_depth.into_inner(),
        jobs: raw.jobs.into_inner(),
        sync: raw.sync,
        direct: raw.direct,
        rate,
        process: raw.arrivals.map(Spanned::into_inner).unwrap_or_default(),
        distribution,
        think,
        cpus,
        poll: raw.poll.is_some_and(Spanned::into_inner),
        group,
        duration,
        span: raw.span.map(Spanned::into_inner),
        analysis: raw.analysis,
        original: raw.original.map(Spanned::into_inner),
    };
    if workload.poll && !workload.can_poll() {
        let what = "poll is for direct I/O without a rate and without a sync after each write".to_owned();
        return Err(fail(poll_at, what));
    }
    match workload.original.and_then(|original| originals::refuses(original, &workload)) {
        Some(why) => Err(fail(original_at, why)),
        None => Ok(workload),
    }
}

impl WorkloadFile {
    /// Block, queue and span each within its limits, and blocks of all jobs within the span.
    fn check_size(&self, block: Bytes, suite_span: &Bytes, fail: &Refuse<'_>) -> Result<(), SuiteError> {
        if block.0 == 0 || block > MAX_BLOCK || !block.0.is_multiple_of(512) {
            let what = format!("block = {} B must be a multiple of 512 B, at most {MAX_BLOCK}", block.0);
            return Err(fail(self.block_at(), what));
        }
        let counts = [("queue_depth", &self.queue_depth, MAX_QUEUE_DEPTH), ("jobs", &self.jobs, MAX_JOBS)];
        for (key, value, limit) in counts {
            if *value.get_ref() == 0 || *value.get_ref() > limit {
                return Err(fail(value.span().start, format!("{key} = {} must be 1 to {limit}", value.get_ref())));
            }
        }
        let reach = self.span.as_ref().map_or(*suite_span, |s| *s.get_ref());
        if reach > *suite_span {
            let at = self.span.as_ref().map_or(0, |s| s.span().start);
            return Err(fail(at, format!("span {reach} is larger than the suite's span {suite_span}")));
        }
        let jobs = *self.jobs.get_ref();
        if block.0.saturating_mul(u64::from(jobs)) > reach.0 {
            let what = format!(
                "block {block} × {jobs} jobs is larger than span {reach}; use a smaller block or a larger span"
            );
            return Err(fail(self.block_at(), what));
        }
        Ok(())
    }

    /// Where the size of a block stands in the file.
    fn block_at(&self) -> usize {
        let one = self.block.as_ref().map(|block| block.span().start);
        one.or(self.blocks.as_ref().map(|blocks| blocks.span().start)).unwrap_or(0)
    }

    /// The largest block, and the sizes where there are several.
    fn sizes(&self, fail: &Refuse<'_>) -> Result<(Bytes, Blocks), SuiteError> {
        match (&self.block, &self.blocks) {
            (Some(block), None) => Ok((*block.get_ref(), Blocks::default())),
            (None, Some(text)) => {
                let wrong = |why: String| fail(text.span().start, format!("blocks {}: {why}", quoted(text.get_ref())));
                let blocks = Blocks::parse(text.get_ref()).map_err(wrong)?;
                let largest = blocks.largest().ok_or_else(|| wrong("one size is written block".to_owned()))?;
                Ok((Bytes(largest), blocks))
            }
            (Some(_), Some(text)) => Err(fail(text.span().start, "block and blocks exclude each other".to_owned())),
            (None, None) => Err(fail(0, "block is missing: write block = \"4KiB\"".to_owned())),
        }
    }

    /// Pauses between operations.
    fn pauses(&self, fail: &Refuse<'_>) -> Result<Option<Think>, SuiteError> {
        let Some(text) = &self.think else {
            return match &self.think_after {
                Some(after) => Err(fail(after.span().start, "think_after needs a think time, like \"1ms\"".to_owned())),
                None => Ok(None),
            };
        };
        let at = text.span().start;
        if self.rate.is_some() {
            return Err(fail(at, "think is for a closed loop: an open one has a rate".to_owned()));
        }
        let after_operations = self.think_after.as_ref().map_or(1, |after| *after.get_ref());
        if after_operations == 0 {
            return Err(fail(at, "think_after must be 1 or more".to_owned()));
        }
        let pause = parse_duration(text.get_ref()).ok().filter(|p| (MIN_THINK..=MAX_THINK).contains(p));
        let pause = pause.ok_or_else(|| fail(at, format!("think {} must be 1us to 60s", quoted(text.get_ref()))))?;
        Ok(Some(Think { pause_ns: pause.as_nanos() as u64, after_operations }))
    }

    /// The processors that its threads run on.
    fn processors(&self, fail: &Refuse<'_>) -> Result<Cpus, SuiteError> {
        let Some(text) = &self.cpus else { return Ok(Cpus::default()) };
        Cpus::parse(text.get_ref()).map_err(|why| fail(text.span().start, format!("cpus: {why}")))
    }

    /// The group of workloads that run at the same time.
    fn together(&self, fail: &Refuse<'_>) -> Result<Option<String>, SuiteError> {
        let Some(group) = &self.group else { return Ok(None) };
        if !is_name(group.get_ref()) {
            let what = format!("group {} may hold only letters, digits, `-` and `_`", quoted(group.get_ref()));
            return Err(fail(group.span().start, what));
        }
        Ok(Some(group.get_ref().clone()))
    }

    /// The rate of an open loop, if it is one.
    fn open_loop(&self, block_bytes: u64, fail: &Refuse<'_>) -> Result<Option<Rate>, SuiteError> {
        let Some(rate) = &self.rate else {
            return match &self.arrivals {
                Some(arrivals) => {
                    Err(fail(arrivals.span().start, "arrivals needs a rate, like \"500 iops\"".to_owned()))
                }
                None => Ok(None),
            };
        };
        if self.analysis == Analysis::Soak {
            return Err(fail(
                rate.span().start,
                "a soak is written as fast as the medium takes it, without rate".to_owned(),
            ));
        }
        let read = Rate::parse(rate.get_ref()).map_err(|message| fail(rate.span().start, message))?;
        if read.iops(block_bytes).is_some_and(|iops| iops > MOST_IOPS) {
            let what = format!("rate {} is more than 10 million operations per second", quoted(rate.get_ref()));
            return Err(fail(rate.span().start, what));
        }
        Ok(Some(read))
    }

    /// How random operations are spread over the blocks.
    fn spread(&self, fail: &Refuse<'_>) -> Result<Distribution, SuiteError> {
        let Some(text) = &self.distribution else { return Ok(Distribution::Uniform) };
        let at = text.span().start;
        if self.pattern != Pattern::Random {
            return Err(fail(at, "distribution is for pattern = \"random\"".to_owned()));
        }
        Distribution::parse(text.get_ref()).map_err(|message| fail(at, message))
    }

    /// Nothing that the kind of operation cannot have.
    fn check_kind(&self, fail: &Refuse<'_>) -> Result<(), SuiteError> {
        match (&self.read_percent, self.op) {
            (Some(p), Op::Mixed) if !(1..=99).contains(p.get_ref()) => {
                return Err(fail(p.span().start, format!("read_percent = {} must be 1 to 99", p.get_ref())));
            }
            (Some(p), Op::Read | Op::Write) => {
                return Err(fail(p.span().start, "read_percent is for op = \"mixed\" only".to_owned()));
            }
            (None, Op::Mixed) => return Err(fail(0, "op = \"mixed\" needs read_percent, 1 to 99".to_owned())),
            _ => {}
        }
        if self.sync.each() && self.op == Op::Read {
            return Err(fail(0, "sync is for workloads that write".to_owned()));
        }
        if self.analysis == Analysis::Soak && self.op != Op::Write {
            return Err(fail(0, "analysis = \"soak\" is for op = \"write\"".to_owned()));
        }
        Ok(())
    }
}

fn repeat_length(text: &Spanned<String>, fail: &Refuse<'_>) -> Result<Duration, SuiteError> {
    let length = parse_duration(text.get_ref()).ok().filter(|d| *d >= Duration::from_millis(100));
    length.ok_or_else(|| {
        let what = format!("duration {} must be at least 100ms, like 5s", quoted(text.get_ref()));
        fail(text.span().start, what)
    })
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= 64 && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "name = \"x\"\nversion = 1\npurpose = \"p\"\nbudget = \"10s\"\nmax_write = \"1GiB\"\nrepeats = 3\nspan = \"64MiB\"\n";

    fn with(workload: &str) -> Result<Suite, SuiteError> {
        Suite::parse(
            &format!("{HEAD}[[workload]]\nname = \"w\"\nop = \"read\"\npattern = \"random\"\n{workload}"),
            "my.toml",
        )
    }

    #[test]
    fn a_small_suite_is_read() {
        let suite = with("block = \"4k\"\nqueue_depth = 32\n").unwrap();
        assert_eq!(suite.workloads[0].block, Bytes(4096));
        assert_eq!(suite.workloads[0].jobs, 1);
        assert!(!suite.writes());
    }

    #[test]
    fn every_mistake_names_its_line() {
        for (workload, line, words) in [
            ("block = \"4k\"\nspeed = 3\n", 13, "speed"),
            ("block = \"4k\"\nqueue_depth = 0\n", 13, "queue_depth = 0 must be 1 to 1024"),
            ("block = \"4k\"\nqueue_depth = -1\n", 13, "-1"),
            ("block = \"128MiB\"\n", 12, "at most 64 MiB"),
            ("block = \"1000\"\n", 12, "multiple of 512"),
            ("block = \"64MiB\"\njobs = 2\n", 12, "larger than span 64 MiB"),
            ("block = \"4Q\"\n", 12, "unknown unit"),
            ("block = \"4k\"\nduration = \"never\"\n", 13, "duration `never`"),
            ("block = \"4k\"\nread_percent = 70\n", 13, "mixed"),
            ("block = \"4k\"\nsync = \"fsync\"\n", 8, "sync is for workloads that write"),
            ("block = \"4k\"\nsync = \"sometimes\"\n", 13, "sometimes"),
            ("block = \"4k\"\nspan = \"1GiB\"\n", 13, "larger than the suite's span"),
            ("", 8, "block"),
            ("block = [\n", 12, ""),
            ("block = \"4k\"\nanalysis = \"soak\"\n", 8, "is for op = \"write\""),
            ("block = \"4k\"\nanalysis = \"omens\"\n", 13, "omens"),
            ("block = \"4k\"\nrate = \"fast\"\n", 13, "must be like \"500 iops\""),
            ("block = \"512B\"\nrate = \"100TB/s\"\n", 13, "more than 10 million operations"),
            ("block = \"4k\"\narrivals = \"poisson\"\n", 13, "needs a rate"),
            ("block = \"4k\"\nrate = \"9 iops\"\narrivals = \"late\"\n", 14, "late"),
            ("block = \"4k\"\nrate = \"50 % of other\"\n", 8, "stands not above it"),
            ("block = \"4k\"\ndistribution = \"zipf\"\n", 13, "must be uniform"),
            ("block = \"4k\"\ncpus = \"3-1\"\n", 13, "cpus: `3-1` is not a list of processors"),
            ("block = \"4k\"\npoll = true\ndirect = false\n", 13, "poll is for direct I/O"),
            ("block = \"4k\"\npoll = true\nrate = \"9 iops\"\n", 13, "without a rate"),
        ] {
            let error = with(workload).unwrap_err();
            assert!(error.message.contains(words), "{workload:?}: {error}");
            assert_eq!(error.line, line, "{workload:?}: {error}");
            assert!(!error.to_string().contains('\n'), "one line: {error}");
        }
    }

    #[test]
    fn a_refusal_repeats_no_character_that_a_terminal_obeys_and_nothing_long() {
        let (escape, long) = ("\\n\\u001b[2J\\u202e", "x".repeat(2000));
        for text in [escape, &long] {
            for head in [
                HEAD.replace("\"x\"", &format!("\"{text}\"")),
                HEAD.replace("\"10s\"", &format!("\"{text}\"")),
                format!("{HEAD}\"{text}\" = 1\n"),
                format!("{HEAD}[[workload]]\nname = \"{text}\"\nop = \"read\"\npattern = \"random\"\nblock = 512\n"),
                format!("{HEAD}[[workload]]\nname = \"w\"\nop = \"{text}\"\n"),
            ] {
                let error = Suite::parse(&head, "my.toml").unwrap_err();
                assert_eq!(crate::text::harmless(&error.message), error.message);
                assert!(error.message.chars().count() < 400, "{error}");
            }
        }
    }

    #[test]
    fn a_suite_written_out_is_read_as_the_same() {
        let more = "purpose = \"p\"";
        let text = HEAD.replace(more, "purpose = 'says \"hi\" \\ there'")
            + "[[workload]]\nname = \"a\"\nop = \"mixed\"\nread_percent = 70\npattern = \"random\"\nblock = \"4k\"\nqueue_depth = 8\njobs = 2\nsync = \"fdatasync\"\nduration = \"1500ms\"\nspan = \"1MiB\"\ndirect = false\noriginal = \"fio\"\n\
               [[workload]]\nname = \"b\"\nop = \"write\"\npattern = \"sequential\"\nblock = \"1MiB\"\nanalysis = \"soak\"\n\
               [[workload]]\nname = \"c\"\nop = \"read\"\npattern = \"random\"\nblock = \"4k\"\ncpus = \"0-2,7\"\npoll = true\n";
        let suite = Suite::parse(&text, "f").unwrap();
        let load = suite.workloads[2].load();
        assert_eq!((load.cpus.numbers(), load.poll), (&[0, 1, 2, 7][..], true));
        assert_eq!((load.is_plain(), load.title().as_str()), (true, "random read 4 KiB"), "the same load all the same");
        assert_eq!(Suite::parse(&suite.to_text(), "g").unwrap(), suite, "{}", suite.to_text());
    }

    #[test]
    fn a_suite_may_end_where_enough_is_known() {
        let text = |enough: &str, workload: &str| {
            let head = HEAD.replace("repeats = 3", &format!("repeats = 3\nenough = \"{enough}\""));
            head + "[[workload]]\nname = \"w\"\nop = \"write\"\npattern = \"random\"\nblock = \"4k\"\n" + workload
        };
        let suite = Suite::parse(&text("5%", ""), "f").unwrap();
        assert_eq!((suite.enough, suite.repeats, suite.most_repeats()), (Some(0.05), 3, 9));
        assert_eq!(Suite::parse(&suite.to_text(), "g").unwrap(), suite);
        for (text, line, words) in [
            (text("0.1%", ""), 7, "must be a share of 0.5% to 50%"),
            (text("most of it", ""), 7, "must be a share"),
            (text("5%", "").replace("repeats = 3", "repeats = 2"), 7, "repeats = 3 to 5, not 2"),
            (text("5%", "rate = \"9 iops\"\n"), 7, "like `w`"),
            (text("5%", "analysis = \"soak\"\n"), 7, "like `w`"),
        ] {
            let error = Suite::parse(&text, "f").unwrap_err();
            assert!(error.message.contains(words) && error.line == line, "{text}: {error}");
        }
    }

    #[test]
    fn a_suite_without_workloads_is_refused() {
        assert!(Suite::parse(&format!("{HEAD}workload = []\n"), "f").unwrap_err().message.contains("no [[workload]]"));
        assert!(Suite::parse("", "f").is_err());
    }
}
