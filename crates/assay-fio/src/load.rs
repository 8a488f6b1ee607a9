//! What a section does, as a workload of a suite: what, how and how much of it, without where.

use std::time::Duration;

use assay_core::arrivals::{MOST_IOPS, Process, Rate};
use assay_core::blocks::Blocks;
use assay_core::cpus::Cpus;
use assay_core::priority::Priorities;
use assay_core::refined::{Flow, Refined, Stride};
use assay_core::suite::{Analysis, SuiteWorkload};
use assay_core::units::Bytes;
use assay_core::workload::{Op, Pattern, Sync, Think};

use crate::given::At;
use crate::options::{Options, PerJob};

/// fio's default block size.
const BLOCK: u64 = 4096;
const READ: usize = 0;
const WRITE: usize = 1;

/// The sizes of operations of one direction.
struct Sizes {
    largest: u64,
    /// Where there are several.
    blocks: Blocks,
    line: usize,
}

impl Sizes {
    fn from_options(options: &Options<'_>, direction: usize) -> Self {
        match &options.blocks[direction] {
            Some(At { value, line }) if !value.is_empty() => {
                // One size is no mix.
                let blocks = if value.shares().len() > 1 { value.clone() } else { Blocks::default() };
                Self { largest: value.largest().unwrap_or(BLOCK), blocks, line: *line }
            }
            _ => {
                let block = options.block[direction].unwrap_or(At { value: BLOCK, line: 0 });
                Self { largest: block.value, blocks: Blocks::default(), line: block.line }
            }
        }
    }

    fn mean(&self) -> f64 {
        self.blocks.mean().unwrap_or(self.largest) as f64
    }

    fn smallest(&self) -> u64 {
        self.blocks.shares().first().map_or(self.largest, |share| share.block_bytes)
    }
}

/// The workload of a section, which is called `name`; it has no span yet.
///
/// # Errors
/// What does not map, with its line.
pub(crate) fn workload(
    options: &Options<'_>,
    name: String,
    line: usize,
    notes: &mut Vec<String>,
) -> Result<SuiteWorkload, At<String>> {
    let (mut op, pattern) = (options.op(), options.pattern());
    let mut percent = options.read_percent.map_or(50, |percent| percent.value);
    if op == Op::Mixed && matches!(percent, 0 | 100) {
        op = if percent == 0 { Op::Write } else { Op::Read };
    }
    let sizes = [Sizes::from_options(options, READ), Sizes::from_options(options, WRITE)];
    let jobs = options.jobs.map_or(1, |j| j.value);
    let rate = rate(options, op, &sizes, jobs, &mut percent)?;
    let used = &sizes[if op == Op::Write { WRITE } else { READ }];
    if let Some(odd) = sizes.iter().find(|s| options.direct && !s.largest.is_multiple_of(512)) {
        let message =
            format!("bs = {} B must be a multiple of 512 B where I/O is direct{}", odd.largest, hint(odd.largest));
        return Err(At { value: message, line: odd.line });
    }
    let refined = refined(options, op, &sizes, line)?;
    if let (Some(flow), true) = (options.flow, rate.is_some() || options.think.is_some()) {
        return Err(At { value: "flow and a rate or thinktime exclude each other".to_owned(), line: flow.line });
    }
    say(options, &name, op, notes);
    let workload = SuiteWorkload {
        op,
        read_percent: (op == Op::Mixed).then_some(percent),
        pattern,
        block: Bytes(used.largest),
        blocks: used.blocks.clone(),
        queue_depth: depth(options, &name, notes),
        jobs,
        // A sync after a write does nothing to a job that only reads, in fio too.
        sync: if op == Op::Read { Sync::End } else { sync(options)?.0 },
        direct: options.direct,
        // fio's default is another one than assay's.
        process: options.process.unwrap_or(if rate.is_some() { Process::Constant } else { Process::default() }),
        rate,
        distribution: options.distribution.clone().filter(|_| pattern == Pattern::Random).unwrap_or_default(),
        think: think(options)?,
        refined,
        priorities: Priorities::default(),
        cpus: Cpus::default(),
        poll: false,
        group: None,
        duration: options.runtime.map(|r| r.value),
        span: None,
        span_percent: None,
        offset: None,
        offset_percent: None,
        analysis: Analysis::default(),
        original: None,
        name,
    };
    let priorities = options.priorities.for_workload(&workload, options.engine)?;
    Ok(SuiteWorkload { priorities, ..workload })
}

/// Why a block may be other than its user thinks.
fn hint(bytes: u64) -> &'static str {
    if bytes.is_multiple_of(1000) { " (fio reads KiB as 1000 unless kb_base=1000; write k)" } else { "" }
}

/// Operations in flight of each job.
fn depth(options: &Options<'_>, name: &str, notes: &mut Vec<String>) -> u32 {
    let asked = options.depth.map_or(1, |d| d.value);
    if options.queues() {
        return asked;
    }
    if asked > 1 {
        let engine = options.engine.unwrap_or("psync");
        notes.push(format!("[{name}]: {engine} keeps one operation in flight, so iodepth={asked} is 1, as in fio"));
    }
    1
}

/// How writes are synced, and after how many of them.
fn sync(options: &Options<'_>) -> Result<(Sync, u32), At<String>> {
    match (options.fsync, options.fdatasync) {
        (Some(_), Some(At { line, .. })) => {
            Err(At { value: "fsync and fdatasync exclude each other".to_owned(), line })
        }
        (Some(every), None) => Ok((Sync::Fsync, every.value)),
        (None, Some(every)) => Ok((Sync::Fdatasync, every.value)),
        (None, None) => Ok((Sync::End, 0)),
    }
}

/// What it has beyond its blocks.
fn refined(options: &Options<'_>, op: Op, sizes: &[Sizes; 2], line: usize) -> Result<Refined, At<String>> {
    let pattern = options.pattern();
    let random = pattern == Pattern::Random;
    let writes = match op {
        Op::Mixed if (sizes[READ].largest, &sizes[READ].blocks) != (sizes[WRITE].largest, &sizes[WRITE].blocks) => {
            let writes = &sizes[WRITE];
            match writes.blocks.is_empty() {
                true => Blocks::one(writes.largest).map_err(|value| At { value, line: writes.line })?,
                false => writes.blocks.clone(),
            }
        }
        _ => Blocks::default(),
    };
    let stride = stride(options, sizes, op, line)?;
    let every = if op == Op::Read { 0 } else { sync(options)?.1 };
    let written = |percent: Option<At<u8>>| percent.filter(|_| op != Op::Read).map_or(0, |percent| percent.value);
    Ok(Refined {
        align_bytes: align(options, op, sizes)?.filter(|_| random),
        stride,
        // fio keeps a position of reads and one of writes.
        apart: op == Op::Mixed && !random,
        writes,
        sync_every: if every > 1 { every } else { 0 },
        duplicate_percent: written(options.duplicates),
        zero_percent: written(options.zeros),
        flow: options.flow.map(|flow| Flow {
            weight: flow.value.saturating_mul(options.jobs.map_or(1, |jobs| jobs.value)),
            pause_ns: u64::try_from(options.flow_pause.as_nanos()).unwrap_or(u64::MAX),
        }),
        ..Refined::default()
    })
}

/// Where random operations begin: at multiples of `blockalign`, else of the smallest block. `None` where that is what
/// they do in any case.
fn align(options: &Options<'_>, op: Op, sizes: &[Sizes; 2]) -> Result<Option<u64>, At<String>> {
    let of = |direction: usize| options.align[direction];
    let used: &[usize] = match op {
        Op::Read => &[READ],
        Op::Write => &[WRITE],
        Op::Mixed => &[READ, WRITE],
    };
    if let [Some(reads), Some(writes)] = [of(READ), of(WRITE)]
        && used.len() > 1
        && reads.value != writes.value
    {
        let value = "blockalign differs between reads and writes, which does not map; give one".to_owned();
        return Err(At { value, line: reads.line });
    }
    if let Some(at) = used.iter().find_map(|direction| of(*direction)) {
        if options.direct && !at.value.is_multiple_of(512) {
            let value = format!("blockalign = {} B must be a multiple of 512 B where I/O is direct", at.value);
            return Err(At { value, line: at.line });
        }
        let plain = used.iter().all(|d| sizes[*d].largest == at.value && sizes[*d].blocks.is_empty());
        return Ok(Some(at.value).filter(|_| !plain));
    }
    let several = used.len() > 1 && sizes[READ].largest != sizes[WRITE].largest;
    let smallest = used.iter().map(|d| sizes[*d].smallest()).min().unwrap_or(BLOCK);
    let mixed = several || used.iter().any(|d| !sizes[*d].blocks.is_empty());
    Ok(Some(smallest).filter(|_| mixed))
}

/// Runs of a stream with gaps between them: `rw=write:112k`, `zonemode=strided`.
fn stride(options: &Options<'_>, sizes: &[Sizes; 2], op: Op, line: usize) -> Result<Option<Stride>, At<String>> {
    let used = &sizes[if op == Op::Write { WRITE } else { READ }];
    let zones = options.zones;
    let strided = zones.strided.map(|at| at.line).or(zones.size.map(|at| at.line));
    let skip = options.load.filter(|load| load.value.skip != 0);
    let stride = match (skip, strided) {
        (None, None) => return Ok(None),
        (Some(load), None) => {
            let run = i64::try_from(used.largest).unwrap_or(i64::MAX);
            Stride { run_bytes: used.largest, step_bytes: run.saturating_add(load.value.skip) }
        }
        (_, Some(at)) => {
            let fail = |value: &str| Err(At { value: value.to_owned(), line: at });
            let Some(size) = zones.size else { return fail("zonemode=strided needs zonesize=") };
            if skip.is_some() {
                return fail("zones and rw with a number exclude each other");
            }
            if options.pattern() == Pattern::Random {
                return fail("zonemode=strided maps for sequential jobs only; use random_distribution=zoned:…");
            }
            let range = zones.range.unwrap_or(size.value).max(size.value);
            let step = range.saturating_add(zones.skip.unwrap_or(0));
            Stride { run_bytes: size.value, step_bytes: i64::try_from(step).unwrap_or(i64::MAX) }
        }
    };
    let at = strided.or(skip.map(|load| load.line)).unwrap_or(line);
    let sized = used.blocks.is_empty() && (op != Op::Mixed || sizes[READ].largest == sizes[WRITE].largest);
    if !sized || !stride.run_bytes.is_multiple_of(used.largest) {
        let value = "a stream with gaps needs blocks of one size, of which its runs are multiples".to_owned();
        return Err(At { value, line: at });
    }
    if stride.step_bytes == i64::try_from(stride.run_bytes).unwrap_or(0) {
        return Ok(None);
    }
    stride.checked().map(Some).map_err(|value| At { value: format!("the gaps of the stream: {value}"), line: at })
}

/// Pauses between operations.
fn think(options: &Options<'_>) -> Result<Option<Think>, At<String>> {
    let Some(At { value, line }) = options.think else { return Ok(None) };
    if options.rate.iter().any(Option::is_some) {
        return Err(At { value: "thinktime and a rate exclude each other".to_owned(), line });
    }
    let pause_ns = u64::try_from(value.as_nanos()).unwrap_or(u64::MAX);
    Ok(Some(Think { pause_ns, after_operations: options.think_after.unwrap_or(1) }))
}

/// The rate of all jobs: fio's is that of each job, and of a mix that of each direction, which sets the share of reads.
fn rate(
    options: &Options<'_>,
    op: Op,
    sizes: &[Sizes; 2],
    jobs: u32,
    percent: &mut u8,
) -> Result<Option<Rate>, At<String>> {
    let all = |rate: PerJob| match rate {
        PerJob::Iops(iops) => Rate::Iops(f64::from(iops) * f64::from(jobs)),
        PerJob::BytesPerSecond(bytes) => Rate::BytesPerSecond(bytes as f64 * f64::from(jobs)),
    };
    let iops = |direction: usize, rate: PerJob| match all(rate) {
        Rate::Iops(iops) => iops,
        Rate::BytesPerSecond(bytes) => bytes / sizes[direction].mean(),
        Rate::Share { .. } => 0.0,
    };
    let found = match (op, options.rate) {
        (Op::Mixed, [Some(reads), Some(writes)]) => {
            let (of_reads, of_writes) = (iops(READ, reads.value), iops(WRITE, writes.value));
            let share = 100.0 * of_reads / (of_reads + of_writes);
            *percent = (share.round() as u8).clamp(1, 99);
            if (share - f64::from(*percent)).abs() > 0.5 {
                let value = "the rates of reads and writes are too far apart for a mix; give a job to each".to_owned();
                return Err(At { value, line: writes.line });
            }
            Some(At { value: Rate::Iops(of_reads + of_writes), line: writes.line })
        }
        (Op::Mixed, [Some(At { line, .. }), None] | [None, Some(At { line, .. })]) => {
            let value =
                "a rate of reads or of writes alone does not map for a mix; give a rate to both, or a job to each";
            return Err(At { value: value.to_owned(), line });
        }
        (Op::Mixed, [None, None]) => None,
        (Op::Read, [reads, _]) => reads.map(|at| At { value: all(at.value), line: at.line }),
        (Op::Write, [_, writes]) => writes.map(|at| At { value: all(at.value), line: at.line }),
    };
    let Some(At { value, line }) = found else { return Ok(None) };
    let mean = sizes[if op == Op::Write { WRITE } else { READ }].mean();
    if value.iops(mean as u64).is_some_and(|iops| iops > MOST_IOPS) {
        return Err(At { value: "the rate is more than 10 million operations per second".to_owned(), line });
    }
    Ok(Some(value))
}

/// What the user should know of a section.
fn say(options: &Options<'_>, name: &str, op: Op, notes: &mut Vec<String>) {
    if options.pattern() == Pattern::Random && !options.norandommap {
        notes.push("random blocks may repeat; fio without norandommap visits each once".to_owned());
    }
    if options.ramp {
        notes.push("ramp_time is not used: assay warms up for 15 % of a repeat, at most 500 ms".to_owned());
    }
    notes.extend(options.replaced.iter().map(|words| format!("[{name}]: {words}")));
    if !options.unused.is_empty() {
        notes.push(format!("[{name}]: ignored: {}", options.unused.join(", ")));
    }
    if op == Op::Mixed && options.rate.iter().any(Option::is_some) && options.read_percent.is_some() {
        notes.push(format!("[{name}]: the rates of reads and writes set their shares, as in fio"));
    }
    if options.duplicates.is_some() && op != Op::Read {
        notes.push(format!("[{name}]: copies are of one page of 4 KiB"));
    }
    match (options.runtime, options.time_based) {
        (Some(_), false) => notes.push(format!("[{name}]: runs for its runtime, as with time_based")),
        (None, _) => notes.push(format!("[{name}]: has no runtime; the time budget is shared out")),
        _ => {}
    }
}

/// The queue depths at which a latency is looked for, as fio does with `latency_target`: doubled up to that of the job.
pub(crate) fn ladder(depth: u32) -> Vec<u32> {
    let doubled = std::iter::successors(Some(1u32), |depth| depth.checked_mul(2)).take_while(|d| *d < depth);
    doubled.chain([depth.max(1)]).collect()
}

/// What is said of a load at many queue depths.
pub(crate) fn of_ladder(name: &str, target: Duration, percentile: f64) -> String {
    let wanted = assay_core::units::exact_duration(target);
    format!(
        "[{name}]: is measured at each queue depth; the one that latency_target looks for is the largest whose \
         {percentile} % are within {wanted}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_are_doubled_up_to_that_of_the_job() {
        assert_eq!((ladder(1), ladder(2), ladder(128).len()), (vec![1], vec![1, 2], 8));
        assert_eq!(ladder(20), [1, 2, 4, 8, 16, 20]);
    }
}
