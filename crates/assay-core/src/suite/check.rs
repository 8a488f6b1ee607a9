//! A suite as it is written in TOML, and what it may hold: each value within its limits, and what goes together.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use serde::de::value::{SeqAccessDeserializer, StrDeserializer};
use serde::de::{IntoDeserializer, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use super::groups::{self, Extent, LayoutRule};
use super::workload::{self, Analysis, SuiteWorkload};
use crate::arrivals::{MOST_IOPS, Process, Rate};
use crate::blocks::Blocks;
use crate::cpus::Cpus;
use crate::distribution::Distribution;
use crate::original::Original;
use crate::program::ProgramFile;
use crate::text::quoted;
use crate::units::{Bytes, exact_bytes, parse_duration, parse_share};
use crate::workload::{Op, Pattern, Sync, Think};

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
/// Fewer repeats tell nothing about how well a figure is known: the t quantile of two is 12.7.
pub const LEAST_REPEATS: u32 = 3;
/// More looks at an interval than three times as many would need a wider one.
pub const MOST_WITH_ENOUGH: u32 = 5;

/// Queue depths above this are refused: no block layer queues more per device by default.
pub const MAX_QUEUE_DEPTH: u32 = 1024;
/// More jobs than this are refused.
pub const MAX_JOBS: u32 = 256;
/// Shorter and longer think times are refused.
const MIN_THINK: Duration = Duration::from_micros(1);
/// See [`MIN_THINK`].
pub const MAX_THINK: Duration = Duration::from_secs(60);
/// Larger blocks are refused.
pub const MAX_BLOCK: Bytes = Bytes(64 << 20);

/// The share that `enough` names, or what is wrong with it.
pub(super) fn narrow_enough(
    text: &str,
    repeats: u32,
    workloads: &[SuiteWorkload],
    programs: usize,
) -> Result<f64, String> {
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
pub(super) type Refuse<'a> = dyn Fn(usize, String) -> SuiteError + 'a;

impl SuiteFile {
    /// Name, repeats and span each within its limits, and the budget as a length of time.
    pub(super) fn check_head(&self, fail: &Refuse<'_>) -> Result<Duration, SuiteError> {
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
        if self.span.get_ref().bytes().0 == 0 {
            return Err(fail(self.span.span().start, "span must be larger than 0".to_owned()));
        }
        Ok(budget)
    }
}

/// The workloads of a file, each by itself and together.
pub(super) fn checked_workloads(
    raw: Vec<Spanned<WorkloadFile>>,
    suite_span: &Bytes,
    fail: &Refuse<'_>,
) -> Result<Vec<SuiteWorkload>, SuiteError> {
    if raw.is_empty() {
        return Err(fail(0, "the suite has no [[workload]]".to_owned()));
    }
    let mut workloads: Vec<SuiteWorkload> = Vec::with_capacity(raw.len());
    let mut starts = Vec::with_capacity(raw.len());
    let mut entries = Vec::with_capacity(raw.len());
    for entry in raw {
        let start = entry.span().start;
        let variants = entry.into_inner().variants().map_err(|why| fail(start, why))?;
        entries.extend(variants.into_iter().map(|variant| (start, variant)));
    }
    for (start, entry) in entries {
        let workload = check_workload(entry, suite_span, &|at, message| {
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
    let refined = raw.refined(block.0, &blocks, &fail)?;
    let priorities = raw.priorities(&fail)?;
    let (cpus, poll_at) = (raw.processors(&fail)?, raw.poll.as_ref().map_or(0, |poll| poll.span().start));
    let original_at = raw.original.as_ref().map_or(0, |original| original.span().start);
    let shares_at = raw.priority_shares.as_ref().map_or(0, |shares| shares.span().start);
    let mut workload = SuiteWorkload {
        name: name.clone(),
        op: raw.op.one(),
        read_percent: raw.read_percent.map(Spanned::into_inner),
        pattern: raw.pattern,
        block,
        blocks,
        queue_depth: raw.queue_depth.get_ref().one(),
        jobs: raw.jobs.into_inner(),
        sync: raw.sync,
        direct: raw.direct,
        rate,
        process: raw.arrivals.map(Spanned::into_inner).unwrap_or_default(),
        distribution,
        think,
        refined,
        priorities,
        cpus,
        poll: raw.poll.is_some_and(Spanned::into_inner),
        group,
        duration,
        span: raw.span.as_ref().map(|span| span.get_ref().bytes()),
        span_percent: raw.span.as_ref().and_then(|span| span.get_ref().percent()),
        offset: raw.offset.as_ref().map(|offset| offset.get_ref().bytes()),
        offset_percent: raw.offset.as_ref().and_then(|offset| offset.get_ref().percent()),
        analysis: raw.analysis,
        original: raw.original.map(Spanned::into_inner),
    };
    if workload.poll && !workload.can_poll() {
        let what = "poll is for direct I/O without a rate and without a sync after each write".to_owned();
        return Err(fail(poll_at, what));
    }
    workload.priorities = workload.checked_priorities().map_err(|why| fail(shares_at, why))?;
    match workload.original.and_then(|original| workload::refuses(original, &workload)) {
        Some(why) => Err(fail(original_at, why)),
        None => Ok(workload),
    }
}

impl WorkloadFile {
    /// Block, queue and span each within its limits, and blocks of all jobs within the span.
    fn check_size(&self, block: Bytes, suite_span: &Bytes, fail: &Refuse<'_>) -> Result<(), SuiteError> {
        if block.0 == 0 || block > MAX_BLOCK || (self.direct && !block.0.is_multiple_of(512)) {
            let only = if self.direct { "" } else { " where I/O is direct" };
            let what = format!("block = {} B must be a multiple of 512 B{only}, at most {MAX_BLOCK}", block.0);
            return Err(fail(self.block_at(), what));
        }
        let depth = self.queue_depth.get_ref().one();
        let jobs = *self.jobs.get_ref();
        let counts = [
            ("queue_depth", depth, self.queue_depth.span().start, MAX_QUEUE_DEPTH),
            ("jobs", jobs, self.jobs.span().start, MAX_JOBS),
        ];
        for (key, value, at, limit) in counts {
            if value == 0 || value > limit {
                return Err(fail(at, format!("{key} = {value} must be 1 to {limit}")));
            }
        }
        let reach = self.span.as_ref().map_or(*suite_span, |s| s.get_ref().bytes());
        if reach > *suite_span {
            let at = self.span.as_ref().map_or(0, |s| s.span().start);
            return Err(fail(at, format!("span {reach} is larger than the suite's span {suite_span}")));
        }
        if let Some(offset) = &self.offset {
            let begins = offset.get_ref().bytes();
            if self.span.is_none() {
                return Err(fail(offset.span().start, "offset needs a span of the workload's own".to_owned()));
            }
            let in_bytes = self.span.as_ref().is_some_and(|span| span.get_ref().percent().is_none());
            if in_bytes && begins.0.saturating_add(reach.0) > suite_span.0 {
                let what = format!("offset {begins} with span {reach} ends behind the suite's span {suite_span}");
                return Err(fail(offset.span().start, what));
            }
        }
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
            (Some(block), None) => Ok((block.get_ref().one(), Blocks::default())),
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
        match (&self.read_percent, self.op.one()) {
            (Some(p), Op::Mixed) if !(1..=99).contains(p.get_ref()) => {
                return Err(fail(p.span().start, format!("read_percent = {} must be 1 to 99", p.get_ref())));
            }
            (Some(p), Op::Read | Op::Write) => {
                return Err(fail(p.span().start, "read_percent is for op = \"mixed\" only".to_owned()));
            }
            (None, Op::Mixed) => return Err(fail(0, "op = \"mixed\" needs read_percent, 1 to 99".to_owned())),
            _ => {}
        }
        if self.sync.each() && self.op.one() == Op::Read {
            return Err(fail(0, "sync is for workloads that write".to_owned()));
        }
        if self.analysis == Analysis::Soak && self.op.one() != Op::Write {
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

pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= 64 && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

/// Most workloads that a `[[workload]]` makes.
const MOST_VARIANTS: usize = 256;

/// A suite as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SuiteFile {
    pub(super) name: Spanned<String>,
    pub(super) version: u32,
    pub(super) purpose: String,
    pub(super) budget: Spanned<String>,
    pub(super) max_write: Bytes,
    pub(super) repeats: Spanned<u32>,
    pub(super) enough: Option<Spanned<String>>,
    pub(super) span: Spanned<Extent>,
    #[serde(default)]
    pub(super) layout: LayoutRule,
    pub(super) workload: Vec<Spanned<WorkloadFile>>,
    #[serde(default)]
    pub(super) program: Vec<Spanned<ProgramFile>>,
}

/// A `[[workload]]`. Lists in it make several workloads.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WorkloadFile {
    pub(super) name: Spanned<String>,
    pub(super) op: Many<Op>,
    pub(super) read_percent: Option<Spanned<u8>>,
    pub(super) pattern: Pattern,
    pub(super) block: Option<Spanned<Many<Bytes>>>,
    pub(super) blocks: Option<Spanned<String>>,
    #[serde(default = "one_of_many")]
    pub(super) queue_depth: Spanned<Many<u32>>,
    #[serde(default = "one")]
    pub(super) jobs: Spanned<u32>,
    #[serde(default)]
    pub(super) sync: Sync,
    #[serde(default = "yes")]
    pub(super) direct: bool,
    pub(super) rate: Option<Spanned<String>>,
    pub(super) arrivals: Option<Spanned<Process>>,
    pub(super) distribution: Option<Spanned<String>>,
    pub(super) think: Option<Spanned<String>>,
    pub(super) think_after: Option<Spanned<u32>>,
    pub(super) cpus: Option<Spanned<String>>,
    pub(super) poll: Option<Spanned<bool>>,
    pub(super) group: Option<Spanned<String>>,
    pub(super) duration: Option<Spanned<String>>,
    pub(super) span: Option<Spanned<Extent>>,
    pub(super) offset: Option<Spanned<Extent>>,
    pub(super) align: Option<Spanned<Bytes>>,
    pub(super) stride: Option<Spanned<String>>,
    pub(super) files: Option<Spanned<u32>>,
    #[serde(default)]
    pub(super) shared: bool,
    #[serde(default)]
    pub(super) apart: bool,
    pub(super) write_block: Option<Spanned<Bytes>>,
    pub(super) write_blocks: Option<Spanned<String>>,
    pub(super) sync_every: Option<Spanned<u32>>,
    pub(super) duplicate_percent: Option<Spanned<u8>>,
    pub(super) zero_percent: Option<Spanned<u8>>,
    pub(super) flow: Option<Spanned<u32>>,
    pub(super) flow_pause: Option<Spanned<String>>,
    pub(super) priority: Option<Spanned<String>>,
    pub(super) priority_shares: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) analysis: Analysis,
    pub(super) original: Option<Spanned<Original>>,
}

fn one() -> Spanned<u32> {
    Spanned::new(0..0, 1)
}

fn yes() -> bool {
    true
}

fn one_of_many() -> Spanned<Many<u32>> {
    Spanned::new(0..0, Many(vec![1]))
}

/// One value, or a list of them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Many<T>(Vec<T>);

impl<T: Copy> Many<T> {
    /// The value of a workload whose lists were split into single values.
    pub(super) fn one(&self) -> T {
        self.0[0]
    }

    /// A single one of these, with whether it is one of several.
    fn each(&self) -> impl Iterator<Item = (T, bool)> {
        self.0.iter().map(|value| (*value, self.0.len() > 1))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Many<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMore<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for OneOrMore<T> {
            type Value = Many<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value, or a list of values")
            }
            fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Many<T>, E> {
                T::deserialize(value.into_deserializer()).map(|one| Many(vec![one]))
            }
            fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Many<T>, E> {
                T::deserialize(value.into_deserializer()).map(|one| Many(vec![one]))
            }
            fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Many<T>, E> {
                T::deserialize(StrDeserializer::new(value)).map(|one| Many(vec![one]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Many<T>, A::Error> {
                let all = Vec::deserialize(SeqAccessDeserializer::new(list))?;
                match all.len() {
                    1..=MOST_VARIANTS => Ok(Many(all)),
                    _ => Err(serde::de::Error::custom(format!("a list has 1 to {MOST_VARIANTS} values"))),
                }
            }
        }
        deserializer.deserialize_any(OneOrMore(PhantomData))
    }
}

impl WorkloadFile {
    /// The workloads that its lists of operations, blocks and queue depths make: each with each, and named by what tells
    /// them apart. A mix alone has a share of reads, and what writes has syncs.
    ///
    /// # Errors
    /// What is wrong, where there are too many.
    pub(super) fn variants(self) -> Result<Vec<Self>, String> {
        let blocks = match &self.block {
            None => vec![None],
            Some(block) => block.get_ref().each().map(Some).collect(),
        };
        let count = self.op.0.len().saturating_mul(blocks.len()).saturating_mul(self.queue_depth.get_ref().0.len());
        if count > MOST_VARIANTS {
            return Err(format!("its lists make {count} workloads, more than {MOST_VARIANTS}"));
        }
        let mut variants = Vec::with_capacity(count);
        for (op, of_ops) in self.op.each() {
            for block in &blocks {
                for (depth, of_depths) in self.queue_depth.get_ref().each() {
                    variants.push(self.variant((op, of_ops), *block, (depth, of_depths)));
                }
            }
        }
        Ok(variants)
    }

    fn variant(&self, op: (Op, bool), block: Option<(Bytes, bool)>, depth: (u32, bool)) -> Self {
        let mut one = self.clone();
        let mut name = self.name.get_ref().clone();
        if op.1 {
            name += match op.0 {
                Op::Read => "-read",
                Op::Write => "-write",
                Op::Mixed => "-mixed",
            };
            one.read_percent = self.read_percent.clone().filter(|_| op.0 == Op::Mixed);
            if op.0 == Op::Read {
                (one.sync, one.sync_every) = (Sync::End, None);
            }
        }
        if let Some((bytes, true)) = block {
            name += &format!("-{}", exact_bytes(bytes.0));
        }
        if depth.1 {
            name += &format!("-q{}", depth.0);
        }
        one.name = Spanned::new(self.name.span(), name);
        one.op = Many(vec![op.0]);
        one.block = self.block.as_ref().zip(block).map(|(at, (bytes, _))| Spanned::new(at.span(), Many(vec![bytes])));
        one.queue_depth = Spanned::new(self.queue_depth.span(), Many(vec![depth.0]));
        one
    }
}
