//! Loads by the options of a job, or by the line that fio prints of a job before it starts.

use std::collections::BTreeMap;

use assay_core::arrivals::{Arrivals, Process};
use assay_core::blocks::Blocks;
use assay_core::distribution::Distribution;
use assay_core::priority::{LOWEST_LEVEL, Priorities, Priority, PriorityClass, PriorityShare};
use assay_core::workload::{Op, Pattern, Sync, Think};

use super::job::{Job, Side};
use crate::report::Load;

/// A job as fio prints it before it starts: `job: (g=0): rw=randread, bs=(R) 4096B-4096B, …, iodepth=64`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Definition {
    pub(super) name: String,
    pub(super) group: u32,
    pub(super) rw: String,
    pub(super) engine: String,
    pub(super) depth: Option<u32>,
    /// Sizes of reads and of writes, where all are alike.
    pub(super) blocks: [Option<u64>; 2],
}

impl Definition {
    /// What is true of this job and of another that is reported with it: what they have alike.
    pub(super) fn shared_with(mut self, other: &Self) -> Self {
        let keep = |same: bool, text: &mut String| {
            if !same {
                text.clear()
            }
        };
        keep(self.rw == other.rw, &mut self.rw);
        let (ours, theirs) = (depth(&self.engine, self.depth), depth(&other.engine, other.depth));
        self.depth = ours.filter(|_| ours == theirs);
        keep(self.engine == other.engine, &mut self.engine);
        for (ours, theirs) in self.blocks.iter_mut().zip(other.blocks) {
            *ours = ours.filter(|_| *ours == theirs);
        }
        self
    }
}

/// Engines that have one operation under way whatever `iodepth` says (fio's manual, `iodepth`).
const SYNCHRONOUS: [&str; 7] = ["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice"];

/// Engines that make, look at and delete files and directories, which fio counts as reads of a block each (fio's manual,
/// `ioengine`).
const FILE_OPERATIONS: [&str; 6] = ["filecreate", "filestat", "filedelete", "dircreate", "dirstat", "dirdelete"];

/// The engine of a job that moves no bytes.
pub(super) fn file_operations<'a>(job: &'a Job, definition: Option<&'a Definition>) -> Option<&'a str> {
    let engine = definition.map(|definition| &definition.engine).or(job.options.get("ioengine"))?;
    FILE_OPERATIONS.into_iter().find(|known| engine.trim() == *known)
}

/// What a direction of a job did.
pub(super) fn load(job: &Job, side: &Side, definition: Option<&Definition>) -> Load {
    let name = match job.name.as_str() {
        "" => "fio",
        name => name,
    };
    let rw = definition.map(|definition| definition.rw.as_str());
    let option = || job.options.get("rw").or(job.options.get("readwrite")).filter(|_| !job.grouped);
    let op = direction(side.op, rw.or_else(|| option().map(String::as_str)));
    let mut load = Load::new(name, op);
    load.jobs = job.jobs;
    if let Some(definition) = definition {
        load.pattern = pattern(&definition.rw);
        load.queue_depth = depth(&definition.engine, definition.depth);
        load.block_bytes = block(op, definition.blocks);
    }
    if !job.options.is_empty() && !job.grouped {
        by_options(&mut load, side.runtime_ms, &job.options, job.jobs);
    }
    load
}

/// With `unified_rw_reporting` fio calls mixed what it counts together, though all of it may be reads, or writes.
fn direction(op: Op, rw: Option<&str>) -> Op {
    let kind = rw.map(|rw| rw.split(':').next().unwrap_or_default().trim());
    match (op, kind) {
        (Op::Mixed, Some("read" | "randread")) => Op::Read,
        (Op::Mixed, Some("write" | "randwrite")) => Op::Write,
        _ => op,
    }
}

/// Options that are not given have the defaults of fio's manual.
fn by_options(load: &mut Load, runtime_ms: f64, options: &BTreeMap<String, String>, counted: Option<u32>) {
    let op = load.op;
    let get = |names: &[&str]| names.iter().find_map(|name| options.get(*name)).map(|value| value.trim());
    let number = |name: &str| get(&[name]).and_then(|value| value.parse::<u32>().ok());
    let base = if get(&["kb_base"]) == Some("1000") { 1000 } else { 1024 };
    let bytes = |text: &str| size(text, base);
    let rw = get(&["rw", "readwrite"]).unwrap_or("read");
    let spread = match get(&["random_distribution"]) {
        None => Some(Distribution::Uniform),
        Some(text) => Distribution::from_fio(text).ok(),
    };
    let everywhere = get(&["percentage_random", "zonemode", "zonesize"]).is_none();
    // What writes was told to: where that is not among the options, they are not all there.
    let told = op == Op::Read || get(&["rw", "readwrite"]).is_some();
    load.pattern = pattern(rw).filter(|_| told && spread.is_some() && everywhere);
    load.distribution = spread.filter(|_| load.pattern == Some(Pattern::Random)).unwrap_or_default();
    let engine = get(&["ioengine"]);
    // What is given and is no number is not the default.
    let iodepth = if get(&["iodepth"]).is_some() { number("iodepth") } else { Some(1) };
    load.queue_depth = match engine {
        Some(engine) => depth(engine, iodepth),
        // The default depends on the system, and is synchronous on all of them but Windows.
        None => iodepth.filter(|depth| *depth == 1),
    };
    load.blocks = get(&["bssplit"]).and_then(|text| blocks(text, base)).unwrap_or_default();
    load.block_bytes = match get(&["bs", "blocksize"]) {
        _ if !load.blocks.is_empty() => load.blocks.mean(),
        _ if get(&["bssplit", "bs_is_seq_rand"]).is_some() => None,
        _ if get(&["bsrange", "blocksize_range"]).is_some() => {
            get(&["bsrange", "blocksize_range"]).and_then(|range| only_size(range, base))
        }
        None => Some(4096),
        Some(text) => block(op, block_sizes(text, base)),
    };
    let clones = number("numjobs").unwrap_or(1);
    // Reported as one where there are no results of single ones: `group_reporting` itself is not among the options that
    // fio prints.
    load.jobs = Some(counted.unwrap_or(1).max(clones));
    let on = |name: &str| get(&[name]).map(|value| value != "0");
    load.direct = Some(on("direct").or(on("buffered").map(|buffered| !buffered)).unwrap_or(false));
    // Clones have a file each, unless they are given one by name.
    let files = if get(&["filename"]).is_some() { 1 } else { u64::from(clones.max(1)) };
    load.span_bytes = get(&["size"]).and_then(bytes).and_then(|size| size.checked_mul(files));
    if op != Op::Read {
        let (sync, every) = sync(&get).unzip();
        (load.sync, load.sync_every) = (sync, every.unwrap_or_default());
    }
    if let Some(rate) = rate(&get, op, load.block_bytes, base) {
        let process = if get(&["rate_process"]) == Some("poisson") { Process::Poisson } else { Process::Constant };
        load.arrivals = Some(Arrivals { iops: rate * f64::from(clones.max(1)), process });
    } else if let Some(think) = think(&get, base) {
        load.think = Some(think);
    } else if HELD_BACK.iter().any(|name| options.contains_key(*name)) {
        // Then the queue is not as full as `iodepth` says.
        load.queue_depth = None;
    }
    match priorities(&get, op) {
        Some(priorities) => load.priorities = priorities,
        // A load with other priorities than these is another load.
        None => load.queue_depth = None,
    }
    // `time_based` is not printed either: what ran as long was meant to.
    let reached = |percentile_ns: &u64| runtime_ms * 1e6 >= *percentile_ns as f64 * 0.99;
    load.duration_ns = get(&["runtime", "timeout"]).and_then(duration).filter(reached);
    load.read_percent = (op == Op::Mixed).then(|| {
        let percent = |name: &str| number(name).and_then(|percent| u8::try_from(percent.min(100)).ok());
        percent("rwmixread").or(percent("rwmixwrite").map(|writes| 100 - writes)).unwrap_or(50)
    });
}

/// Priorities of the job and of a share of its operations; `None` where they are by block size or cannot be read. Without a class
/// a level is one of best effort, and a share is of the realtime class (fio's manual, `prio` and `cmdprio_percentage`).
fn priorities<'a>(get: &impl Fn(&[&str]) -> Option<&'a str>, op: Op) -> Option<Priorities> {
    let class = |text: &str| {
        let number: u8 = text.parse().ok().filter(|number| *number <= 3)?;
        Some(PriorityClass::ALL.into_iter().find(|class| class.number() == number).unwrap_or(PriorityClass::BestEffort))
    };
    let level = |text: &str| text.parse::<u8>().ok().filter(|level| *level <= LOWEST_LEVEL);
    // The value for reads, and that for writes, which is the same where one is given.
    let of = |name: &str, op: Op| {
        let mut parts = get(&[name])?.split(',').map(str::trim);
        let reads = parts.next();
        if op == Op::Write { parts.next().or(reads) } else { reads }
    };
    if get(&["cmdprio_bssplit"]).is_some() {
        return None;
    }
    let given = get(&["prioclass", "prio"]).is_some();
    let job = Priority {
        class: get(&["prioclass"]).map_or(Some(PriorityClass::BestEffort), class)?,
        level: get(&["prio"]).map_or(Some(0), level)?,
    };
    let mut shares = Vec::new();
    for one in [Op::Read, Op::Write].into_iter().filter(|one| op == Op::Mixed || op == *one) {
        let percent = of("cmdprio_percentage", one).map_or(Some(0), |text| text.parse::<u8>().ok())?;
        let priority = Priority {
            class: of("cmdprio_class", one).map_or(Some(PriorityClass::Realtime), class)?,
            level: of("cmdprio", one).map_or(Some(0), level)?,
        };
        if percent > 0 {
            shares.push(PriorityShare { op: Some(one), block_bytes: None, percent, priority });
        }
    }
    // No share is of one size of blocks, so that any size will do.
    Priorities { job: given.then_some(job), shares }.settled(op, &[4096], &[4096]).ok()
}

/// Sizes with their shares, the same for reads and writes.
fn blocks(text: &str, base: u64) -> Option<Blocks> {
    let mut directions = text.split(',');
    let first = directions.next()?;
    let same = directions.all(|other| other == first);
    let bytes = |text: &str| size(text, base).ok_or_else(|| "no size".to_owned());
    Blocks::read(first, bytes).ok().filter(|_| same)
}

/// Pauses of a job that nothing else holds back, in microseconds where no unit is given.
fn think<'a>(get: &impl Fn(&[&str]) -> Option<&'a str>, base: u64) -> Option<Think> {
    let others = HELD_BACK.iter().filter(|name| **name != "thinktime");
    if others.into_iter().any(|name| get(&[name]).is_some()) || get(&["thinktime_spin", "thinktime_iotime"]).is_some() {
        return None;
    }
    let micros: u64 = get(&["thinktime"])?.trim_end_matches("us").parse().ok().filter(|micros| *micros > 0)?;
    let after = get(&["thinktime_blocks"]).map_or(Some(1), |text| size(text, base))?;
    Some(Think { pause_ns: micros.checked_mul(1000)?, after_operations: u32::try_from(after).ok().filter(|n| *n > 0)? })
}

/// Options by which a job does less than the device lets it.
const HELD_BACK: [&str; 8] =
    ["rate", "rate_iops", "rate_cycle", "thinktime", "thinkcycles", "flow", "latency_target", "max_latency"];

/// Operations per second that a job was held to: that of reads or writes, of a mix their sum.
fn rate<'a>(get: &impl Fn(&[&str]) -> Option<&'a str>, op: Op, block: Option<u64>, base: u64) -> Option<f64> {
    let of = |text: &str, one: &dyn Fn(&str) -> Option<f64>| -> Option<f64> {
        let mut parts = text.split(',').map(|part| one(part.trim()));
        let reads = parts.next().flatten();
        // A rate for one direction goes for the other too.
        let writes = parts.next().unwrap_or(reads);
        match op {
            Op::Read => reads,
            Op::Write => writes,
            Op::Mixed => Some(reads? + writes?),
        }
    };
    let all = match (get(&["rate_iops"]), get(&["rate"])) {
        (Some(text), None) => of(text, &|part| part.parse::<u32>().ok().map(f64::from)),
        (None, Some(text)) => of(text, &|part| Some(size(part, base)? as f64 / block? as f64)),
        _ => None,
    };
    all.filter(|iops| *iops > 0.0 && iops.is_finite())
}

/// The kind of sync, and the writes between two; 0 where that is one.
fn sync<'a>(get: &impl Fn(&[&str]) -> Option<&'a str>) -> Option<(Sync, u32)> {
    let every = |name: &str| get(&[name]).filter(|value| *value != "0");
    let several = |value: &str| value.parse::<u32>().ok().filter(|writes| *writes > 1);
    match (every("fsync"), every("fdatasync"), every("sync")) {
        (None, None, None | Some("none")) => Some((Sync::End, 0)),
        (Some("1"), _, _) => Some((Sync::Fsync, 0)),
        (_, Some("1"), _) => Some((Sync::Fdatasync, 0)),
        // O_SYNC and O_DSYNC have the same effect as a call behind each write.
        (None, None, Some("dsync")) => Some((Sync::Fdatasync, 0)),
        (None, None, Some(_)) => Some((Sync::Fsync, 0)),
        (Some(value), None, None | Some("none")) => Some((Sync::Fsync, several(value)?)),
        (None, Some(value), None | Some("none")) => Some((Sync::Fdatasync, several(value)?)),
        // Two kinds at different distances: assay has no such load.
        _ => None,
    }
}

/// Whether fio times a write and the sync behind it apart, so that the latency of a write is without it.
pub(super) fn synced_apart(options: &BTreeMap<String, String>) -> bool {
    ["fsync", "fdatasync"].iter().any(|name| options.get(*name).is_some_and(|value| value.trim() != "0"))
}

/// Whether a rate of writes has the final sync in its time.
pub(super) fn durable(options: &BTreeMap<String, String>) -> bool {
    let on = |name: &str| options.get(name).is_some_and(|value| !matches!(value.trim(), "0" | "none"));
    on("end_fsync")
        || on("sync")
        || ["fsync", "fdatasync"].iter().any(|name| options.get(*name).is_some_and(|v| v == "1"))
}

fn pattern(rw: &str) -> Option<Pattern> {
    match rw {
        "read" | "write" | "rw" | "readwrite" => Some(Pattern::Sequential),
        "randread" | "randwrite" | "randrw" => Some(Pattern::Random),
        // With a number behind it operations are strided or repeated.
        _ => None,
    }
}

fn depth(engine: &str, depth: Option<u32>) -> Option<u32> {
    if SYNCHRONOUS.contains(&engine) { Some(1) } else { depth }
}

/// Sizes of reads and of writes. One of them may be the default.
pub(super) fn block_sizes(text: &str, base: u64) -> [Option<u64>; 2] {
    let mut all = text.split(',').map(|part| if part.is_empty() { Some(4096) } else { size(part, base) });
    let read = all.next().flatten();
    // A size for one direction goes for those behind it too.
    [read, all.next().unwrap_or(read)]
}

/// The size of a range that begins and ends with it: `4k-4k`.
fn only_size(range: &str, base: u64) -> Option<u64> {
    let (least, most) = range.split_once('-')?;
    size(least, base).filter(|least| size(most, base) == Some(*least))
}

fn block(op: Op, [read, write]: [Option<u64>; 2]) -> Option<u64> {
    match op {
        Op::Read => read,
        Op::Write => write,
        Op::Mixed => read.filter(|_| read == write),
    }
}

/// A size as it is given: `4k`, `1m`, `2g`, `4096`, `0x1000`, a calculation not; `KiB` is 1000 with the base of 1024
/// (fio's manual, "Parameter types").
fn size(text: &str, base: u64) -> Option<u64> {
    let lower = text.trim().to_ascii_lowercase();
    if let Some(hex) = lower.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).ok();
    }
    let digits = lower.find(|c: char| !c.is_ascii_digit()).unwrap_or(lower.len());
    let (number, unit) = lower.split_at(digits);
    let number: u64 = number.parse().ok()?;
    let mut letters = unit.chars();
    let power = match letters.next() {
        None => return Some(number),
        Some('b') if unit == "b" => return Some(number),
        Some('k') => 1,
        Some('m') => 2,
        Some('g') => 3,
        Some('t') => 4,
        Some('p') => 5,
        Some(_) => return None,
    };
    let step: u64 = match (letters.as_str(), base) {
        ("ib", 1024) => 1000,
        ("ib" | "i", 1000) => 1024,
        ("" | "b" | "i", base) => base,
        _ => return None,
    };
    number.checked_mul(step.checked_pow(power)?)
}

/// A duration in nanoseconds; a bare number is seconds.
fn duration(text: &str) -> Option<u64> {
    let lower = text.trim().to_ascii_lowercase();
    let digits = lower.find(|c: char| !c.is_ascii_digit()).unwrap_or(lower.len());
    let (number, unit) = lower.split_at(digits);
    let nanoseconds: u64 = match unit {
        "us" | "usec" => 1_000,
        "ms" | "msec" => 1_000_000,
        "" | "s" | "sec" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(nanoseconds)
}

/// Whether a job moved data in a direction that its options do not have: it is the sum of several jobs, with the options of the
/// first.
pub(super) fn is_sum_of_several(job: &Job, definition: Option<&Definition>) -> bool {
    let moved = |op| job.sides.iter().any(|side| side.op == op);
    let (reads, writes) = (moved(Op::Read), moved(Op::Write));
    match asked(job, definition) {
        Some("read" | "randread") => writes,
        Some("write" | "randwrite") => reads && !(writes && verifies(job, definition)),
        _ => false,
    }
}

/// Whether a job that was to write reads back what it wrote. Where the output lists all jobs before they start, nothing else can
/// have read.
pub(super) fn verifies(job: &Job, definition: Option<&Definition>) -> bool {
    definition.is_some()
        || job.options.is_empty()
        || job.options.keys().any(|name| name.starts_with("verify") || name == "do_verify")
}

/// What a job was asked to do, by its definition or its options.
pub(super) fn asked<'a>(job: &'a Job, definition: Option<&'a Definition>) -> Option<&'a str> {
    let rw = definition.map(|definition| &definition.rw).or(job.options.get("rw")).or(job.options.get("readwrite"));
    rw.and_then(|rw| rw.split(':').next())
}

/// Whether a job with one direction is half of what it did: its operations say so, or it was to mix and is not told to
/// its end.
pub(super) fn is_half(job: &Job, definition: Option<&Definition>) -> bool {
    let mix = asked(job, definition).is_some_and(|rw| matches!(rw, "rw" | "readwrite" | "randrw"));
    let unified = job.sides.iter().any(|side| side.op == Op::Mixed);
    // All of one may have been asked for.
    let share = job.options.get("rwmixread").or(job.options.get("rwmixwrite")).map(String::as_str);
    let both = !job.options.is_empty() && !matches!(share, Some("0" | "100"));
    !unified && (job.half || mix && (both || job.missing.is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(options: &[(&str, &str)], op: Op) -> Load {
        let options = options.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        load(&Job { options, ..Job::default() }, &Side::new(op), None)
    }

    #[test]
    fn sizes_and_durations_as_fio_reads_them() {
        for (text, bytes) in
            [("4k", 4096), ("1m", 1 << 20), ("4KiB", 4000), ("0x1000", 4096), ("512", 512), ("2G", 2 << 30)]
        {
            assert_eq!(size(text, 1024), Some(bytes), "{text}");
        }
        assert_eq!((size("4k", 1000), size("4KiB", 1000)), (Some(4000), Some(4096)));
        for bad in ["", "50%", "1.5k", "99999999999999999999", "16777216p", "4*1k"] {
            assert_eq!(size(bad, 1024), None, "{bad}");
        }
        assert_eq!(
            (duration("30"), duration("2m"), duration("x")),
            (Some(30_000_000_000), Some(120_000_000_000), None)
        );
    }

    /// What was held to a rate tells nothing about what the device can do.
    #[test]
    fn a_job_that_was_held_back_is_no_plain_load() {
        let load = of(&[("rate_iops", "100,50"), ("numjobs", "2"), ("rw", "randread")], Op::Read);
        assert_eq!(load.arrivals, Some(Arrivals { iops: 200.0, process: Process::Constant }));
        let bytes = of(&[("rate", "1m"), ("rate_process", "poisson"), ("bs", "4k")], Op::Write);
        assert_eq!(bytes.arrivals, Some(Arrivals { iops: 256.0, process: Process::Poisson }));
        let mix = of(&[("rate_iops", "70,30"), ("rw", "randrw")], Op::Mixed);
        assert_eq!(mix.arrivals.map(|a| a.iops), Some(100.0));
        let thinking = of(&[("thinktime", "1000"), ("thinktime_blocks", "8")], Op::Read);
        assert_eq!(thinking.think, Some(Think { pause_ns: 1_000_000, after_operations: 8 }));
        let unclear = of(&[("thinktime", "1000"), ("thinktime_spin", "9")], Op::Read);
        assert_eq!((unclear.think, unclear.queue_depth), (None, None));
        assert_eq!(of(&[("rate", "fast")], Op::Read).queue_depth, None);
    }

    #[test]
    fn sizes_and_distributions_are_a_part_of_the_load() {
        let random = |more: &[(&'static str, &'static str)]| of(&[&[("rw", "randread")], more].concat(), Op::Read);
        let split = random(&[("bssplit", "4k/60:64k/40,4k/60:64k/40")]);
        assert_eq!((split.blocks.to_string().as_str(), split.block_bytes), ("4KiB/60:64KiB/40", Some(28_672)));
        assert_eq!(random(&[("bssplit", "4k/60:64k/40,8k/100")]).block_bytes, None);
        let zones = random(&[("random_distribution", "zoned:50/5:30/15:20/")]);
        assert_eq!(zones.distribution.to_string(), "zones:50/5:30/15:20/80");
        let (known, unknown) = ("zipf:1.1", "zipf:1.1:0.3");
        assert_eq!(random(&[("random_distribution", known)]).distribution.to_string(), known);
        assert_eq!(random(&[("random_distribution", unknown)]).pattern, None);
    }

    #[test]
    fn options_that_are_not_given_have_fios_defaults() {
        let load = of(&[("name", "x")], Op::Read);
        assert_eq!((load.pattern, load.block_bytes), (Some(Pattern::Sequential), Some(4096)));
        assert_eq!((load.queue_depth, load.direct, load.jobs), (Some(1), Some(false), Some(1)));
        assert_eq!((load.span_bytes, load.duration_ns), (None, None));
    }

    #[test]
    fn what_is_counted_together_is_what_was_asked_for() {
        let load = of(&[("rw", "randwrite"), ("unified_rw_reporting", "1")], Op::Mixed);
        assert_eq!((load.op, load.read_percent, load.sync), (Op::Write, None, Some(Sync::End)));
        assert_eq!(of(&[("readwrite", "read"), ("unified_rw_reporting", "1")], Op::Mixed).op, Op::Read);
        assert_eq!(of(&[("rw", "randrw"), ("unified_rw_reporting", "1")], Op::Mixed).op, Op::Mixed);
    }

    #[test]
    fn options_count_as_fio_takes_them() {
        let load = of(&[("ioengine", "psync"), ("iodepth", "16"), ("bs", "4k,8k"), ("rw", "randwrite")], Op::Write);
        assert_eq!((load.queue_depth, load.block_bytes), (Some(1), Some(8192)), "a synchronous engine queues nothing");
        let load = of(&[("rw", "randrw"), ("bs", "4k,8k"), ("rwmixwrite", "30")], Op::Mixed);
        assert_eq!((load.block_bytes, load.read_percent), (None, Some(70)));
        let load = of(&[("rw", "read:4k"), ("size", "50%"), ("runtime", "5")], Op::Read);
        assert_eq!((load.pattern, load.span_bytes, load.duration_ns), (None, None, None));
        let load = of(&[("group_reporting", ""), ("numjobs", "4"), ("size", "1g")], Op::Read);
        assert_eq!((load.jobs, load.span_bytes), (Some(4), Some(4 << 30)));
        for (option, value, sync) in [
            ("fsync", "1", Some((Sync::Fsync, 0))),
            ("fsync", "32", Some((Sync::Fsync, 32))),
            ("fsync", "x", None),
            ("fdatasync", "1", Some((Sync::Fdatasync, 0))),
            ("fdatasync", "8", Some((Sync::Fdatasync, 8))),
            ("sync", "dsync", Some((Sync::Fdatasync, 0))),
            ("sync", "1", Some((Sync::Fsync, 0))),
            ("sync", "none", Some((Sync::End, 0))),
            ("end_fsync", "1", Some((Sync::End, 0))),
        ] {
            let load = of(&[(option, value)], Op::Write);
            assert_eq!(load.sync.map(|kind| (kind, load.sync_every)), sync, "{option}={value}");
        }
        let both = of(&[("fsync", "32"), ("fdatasync", "8")], Op::Write);
        assert_eq!((both.sync, both.sync_every), (None, 0));
    }
}
