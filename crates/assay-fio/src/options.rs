//! The options of a job that map to a workload. Any other is refused by name.

use std::time::Duration;

use assay_core::arrivals::Process;
use assay_core::blocks::Blocks;
use assay_core::distribution::Distribution;
use assay_core::suite::{MAX_JOBS, MAX_QUEUE_DEPTH, MAX_THINK};
use assay_core::text::quoted;
use assay_core::workload::{Op, Pattern};

use super::given::{Load, distribution, load, paths, range, split, zones};
use crate::given::{Amount, Asked, At, Given};
use crate::values::{duration, switch};

/// What the options of `[global]` and of a section come to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Options<'t> {
    pub(crate) load: Option<At<Load>>,
    /// Of reads, and of writes.
    pub(crate) block: [Option<At<u64>>; 2],
    /// The same, where there are several sizes.
    pub(crate) blocks: [Option<At<Blocks>>; 2],
    pub(crate) align: [Option<At<u64>>; 2],
    pub(crate) depth: Option<At<u32>>,
    pub(crate) jobs: Option<At<u32>>,
    /// Of all files of a job.
    pub(crate) size: Option<At<Amount>>,
    /// Of each of its files.
    pub(crate) file_size: Option<At<Amount>>,
    pub(crate) fills: Option<At<()>>,
    pub(crate) files: Option<u32>,
    /// Its files are taken one after the other, and not in turns.
    pub(crate) in_order: bool,
    pub(crate) runtime: Option<At<Duration>>,
    pub(crate) ramp: bool,
    pub(crate) time_based: bool,
    pub(crate) direct: bool,
    pub(crate) engine: Option<&'static str>,
    pub(crate) fsync: Option<At<u32>>,
    pub(crate) fdatasync: Option<At<u32>>,
    pub(crate) read_percent: Option<At<u8>>,
    /// Of reads, and of writes.
    pub(crate) rate: [Option<At<PerJob>>; 2],
    pub(crate) process: Option<Process>,
    pub(crate) distribution: Option<Distribution>,
    pub(crate) file: Option<At<Vec<String>>>,
    /// Jobs of a section have a file each, as its name is made of the number of the job.
    pub(crate) file_of_each: bool,
    pub(crate) directory: Option<At<Vec<String>>>,
    pub(crate) stonewall: bool,
    pub(crate) norandommap: bool,
    pub(crate) offset_increment: Option<At<Amount>>,
    /// Where the job begins in its file, if not at the beginning.
    pub(crate) offset: Option<At<Amount>>,
    pub(crate) zones: Zones,
    pub(crate) latency: Latency,
    pub(crate) flow: Option<At<u32>>,
    pub(crate) flow_pause: Duration,
    pub(crate) duplicates: Option<At<u8>>,
    pub(crate) zeros: Option<At<u8>>,
    pub(crate) priorities: Asked,
    pub(crate) description: Option<String>,
    pub(crate) kb_base: Option<u64>,
    /// Options that are about fio's own clock, log and output, or about how it makes its files: taken note of.
    pub(crate) unused: Vec<String>,
    /// What is to be said of options that are done in another way.
    pub(crate) replaced: Vec<&'static str>,
    pub(crate) think: Option<At<Duration>>,
    pub(crate) think_after: Option<u32>,
    pub(crate) wait_for: Option<&'t str>,
    /// The size that `[global]` gave, whatever the section says.
    pub(crate) global_size: Option<Amount>,
}

/// Runs with gaps between them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Zones {
    pub(crate) strided: Option<At<()>>,
    pub(crate) size: Option<At<u64>>,
    pub(crate) range: Option<u64>,
    pub(crate) skip: Option<u64>,
}

/// The latency for which the largest queue depth is looked for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Latency {
    pub(crate) target: Option<At<Duration>>,
    pub(crate) percentile: Option<f64>,
}

/// A rate as fio takes it: of each job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PerJob {
    Iops(u32),
    BytesPerSecond(u64),
}

/// Engines that keep one operation in flight, whatever `iodepth` says.
const SYNCHRONOUS: [&str; 5] = ["psync", "sync", "pvsync", "pvsync2", "vsync"];
/// More operations per second of a job are refused.
const MOST_IOPS: u32 = 10_000_000;
/// Engines that keep a queue.
const ASYNCHRONOUS: [&str; 4] = ["io_uring", "libaio", "posixaio", "windowsaio"];
/// Longest runtime.
const LONGEST: Duration = Duration::from_secs(30 * 86_400);

impl<'t> Options<'t> {
    /// Whether the engine keeps more than one operation in flight (fio's default, psync, does not).
    pub(crate) fn queues(&self) -> bool {
        self.engine.is_some_and(|engine| ASYNCHRONOUS.contains(&engine))
    }

    pub(crate) fn op(&self) -> Op {
        self.load.map_or(Op::Read, |load| load.value.op)
    }

    pub(crate) fn pattern(&self) -> Pattern {
        self.load.map_or(Pattern::Sequential, |load| load.value.pattern)
    }

    /// Takes one option over, or says what is wrong with it.
    pub(crate) fn set(&mut self, key: &str, value: Option<&'t str>, line: usize) -> Result<(), String> {
        let option = Given { key, value, line, base: self.kb_base.unwrap_or(1024) };
        if self.set_switch(option)?
            || self.set_blocks(option)?
            || self.set_area(option)?
            || self.set_time(option)?
            || self.set_load(option)?
            || self.set_queue(option)?
            || self.set_content(option)?
            || self.priorities.set(option)?
            || changes_nothing(option)?
        {
            return Ok(());
        }
        if self.note(key) { Ok(()) } else { Err(self.unknown(key)) }
    }

    /// Takes note of an option that is done in another way; false where it is none of them.
    fn note(&mut self, key: &str) -> bool {
        match noted(key) {
            Some(Noted::Replaced(words)) if !self.replaced.contains(&words) => self.replaced.push(words),
            Some(Noted::Named) if !self.unused.iter().any(|known| known == key) => self.unused.push(key.to_owned()),
            Some(_) => {}
            None => return false,
        }
        true
    }

    /// The bytes of all files of a job.
    pub(crate) fn bytes(&self) -> Option<At<Amount>> {
        let files = self.file.as_ref().map_or(u64::from(self.files.unwrap_or(1)), |file| file.value.len() as u64);
        let all = self.fills.map(|at| At { value: Amount::Percent(100.0), line: at.line });
        self.size.or(self.file_size.map(|size| At { value: size.value.times(files), line: size.line })).or(all)
    }

    fn unknown(&self, key: &str) -> String {
        format!("option {} does not map to a workload of assay; remove it, or run the file with fio", quoted(key))
    }

    /// Takes over what is on or off; false where it is another option.
    fn set_switch(&mut self, option: Given<'_, 't>) -> Result<bool, String> {
        let on = || switch(option.value).map_err(|message| option.named(message));
        match option.key {
            "time_based" => self.time_based = on()?,
            "direct" | "odirect" => self.direct = on()?,
            "buffered" => self.direct = !on()?,
            "stonewall" | "wait_for_previous" => self.stonewall = on()?,
            "norandommap" => self.norandommap = on()?,
            "fill_device" | "fill_fs" => self.fills = on()?.then(|| option.at(())),
            // assay does these always, or they change nothing that is measured.
            "end_fsync" | "fsync_on_close" | "group_reporting" | "randrepeat" | "refill_buffers" | "registerfiles"
            | "fixedbufs" | "thread" | "threads" | "invalidate" | "scramble_buffers" => {
                on()?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Takes over sizes of operations, and where they begin; false where it is another option.
    fn set_blocks(&mut self, option: Given<'_, 't>) -> Result<bool, String> {
        match option.key {
            "bs" | "blocksize" => {
                // fio takes the first of two sizes, as was seen with 3.33.
                for (place, text) in self.block.iter_mut().zip(option.directions()?) {
                    let block = text.map(|text| option.block(text.split('-').next().unwrap_or(text)));
                    *place = block.transpose()?.map(|bytes| option.at(bytes)).or(*place);
                }
            }
            "bssplit" => {
                for (place, text) in self.blocks.iter_mut().zip(option.directions()?) {
                    let Some(text) = text else { continue };
                    *place = Some(option.at(split(option, text)?));
                }
            }
            "bsrange" | "blocksize_range" => {
                for (at, text) in option.directions()?.into_iter().enumerate() {
                    let Some(text) = text else { continue };
                    match range(option, text)? {
                        (bytes, blocks) if blocks.is_empty() => self.block[at] = Some(option.at(bytes)),
                        (_, blocks) => self.blocks[at] = Some(option.at(blocks)),
                    }
                }
            }
            "blockalign" | "ba" => {
                for (place, text) in self.align.iter_mut().zip(option.directions()?) {
                    let block = text.filter(|text| *text != "0").map(|text| option.block(text)).transpose()?;
                    *place = block.map(|bytes| option.at(bytes));
                }
            }
            "zonesize" => self.zones.size = Some(option.at(option.bytes()?)).filter(|size| size.value > 0),
            "zonerange" => self.zones.range = Some(option.bytes()?).filter(|range| *range > 0),
            "zoneskip" => self.zones.skip = Some(option.bytes()?),
            "zonemode" => self.zones.strided = zones(option)?.then(|| option.at(())),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Takes over the files and what is used of them; false where it is another option.
    fn set_area(&mut self, option: Given<'_, 't>) -> Result<bool, String> {
        match option.key {
            "size" | "filesize" => {
                let size = option.amount()?;
                if size == Amount::Bytes(0) || size == Amount::Percent(0.0) {
                    return Err(format!("{} must be larger than 0", option.key));
                }
                let place = if option.key == "size" { &mut self.size } else { &mut self.file_size };
                *place = Some(option.at(size));
            }
            "offset" | "file_offset" => {
                self.offset = Some(option.at(option.amount()?)).filter(|at| at.value != Amount::Bytes(0));
            }
            "offset_increment" => self.offset_increment = Some(option.at(option.amount()?)),
            // Sections that name a file share it; without a name each job has a file of its own.
            "filename" => self.file = Some(option.at(paths(option)?)),
            "directory" => self.directory = Some(option.at(paths(option)?)),
            "filename_format" => self.file_of_each = option.text()?.contains("$jobnum"),
            "file_service_type" => self.in_order = !option.text()?.starts_with("roundrobin"),
            "nrfiles" => {
                self.files = Some(option.count(65_536)?);
                self.note("nrfiles");
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Takes over times and rates; false where it is another option.
    fn set_time(&mut self, option: Given<'_, 't>) -> Result<bool, String> {
        let time = || duration(option.text()?).map_err(|message| option.named(message));
        match option.key {
            "rate" => {
                for (place, text) in self.rate.iter_mut().zip(option.directions()?) {
                    let bytes = text.map(|text| Given { value: Some(text), ..option }.bytes()).transpose()?;
                    *place = bytes.filter(|b| *b > 0).map(|bytes| option.at(PerJob::BytesPerSecond(bytes)));
                }
            }
            "rate_iops" => {
                for (place, text) in self.rate.iter_mut().zip(option.directions()?) {
                    let one = text.map(|text| Given { value: Some(text), ..option }.count_or_none(MOST_IOPS));
                    *place = one.transpose()?.flatten().map(|iops| option.at(PerJob::Iops(iops)));
                }
            }
            "rate_process" => {
                self.process = Some(match option.text()? {
                    "linear" => Process::Constant,
                    "poisson" => Process::Poisson,
                    other => return Err(format!("rate_process {} must be linear or poisson", quoted(other))),
                });
            }
            "runtime" | "timeout" => {
                let length = time()?;
                if !length.is_zero() && (length < Duration::from_millis(100) || length > LONGEST) {
                    return Err("runtime must be 100ms to 30d".to_owned());
                }
                self.runtime = Some(option.at(length)).filter(|length| !length.value.is_zero());
            }
            "thinktime" => {
                let pause = micros(option)?;
                if pause > MAX_THINK {
                    return Err("thinktime must be at most 60s".to_owned());
                }
                self.think = Some(option.at(pause)).filter(|think| !think.value.is_zero());
            }
            "thinktime_blocks" => self.think_after = Some(option.count(u32::MAX)?),
            "ramp_time" => self.ramp = !time()?.is_zero(),
            "latency_target" => {
                self.latency.target = Some(option.at(micros(option)?)).filter(|target| !target.value.is_zero());
            }
            "latency_percentile" => {
                let percent = option.text()?.parse::<f64>().ok().filter(|percent| (0.0..=100.0).contains(percent));
                self.latency.percentile = Some(percent.ok_or("latency_percentile must be 0 to 100")?);
            }
            // How long fio looks at each depth; assay's repeats have the length of the run.
            "latency_window" | "latency_run" => {
                option.text()?;
            }
            "flow_sleep" => self.flow_pause = micros(option)?.min(MAX_THINK),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Takes over what is read or written, how and where; false where it is another option.
    fn set_load(&mut self, option: Given<'_, 't>) -> Result<bool, String> {
        match option.key {
            "rw" | "readwrite" => self.load = Some(option.at(load(option)?)),
            "fsync" => self.fsync = option.count_or_none(1_000_000)?.map(|every| option.at(every)),
            "fdatasync" => self.fdatasync = option.count_or_none(1_000_000)?.map(|every| option.at(every)),
            "rwmixread" => self.read_percent = Some(option.at(option.percent()?)),
            "rwmixwrite" => self.read_percent = Some(option.at(100 - option.percent()?)),
            "random_distribution" => self.distribution = Some(distribution(option.text()?)?),
            "description" => self.description = Some(option.text()?.to_owned()),
            "flow" => self.flow = option.count_or_none(1_000_000)?.map(|weight| option.at(weight)),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Takes over engine, queue and jobs; false where it is another option.
    fn set_queue(&mut self, option: Given<'_, 't>) -> Result<bool, String> {
        match option.key {
            "iodepth" => self.depth = Some(option.at(option.count(MAX_QUEUE_DEPTH)?)),
            "numjobs" => self.jobs = Some(option.at(option.count(MAX_JOBS)?)),
            "ioengine" => {
                let wanted = option.text()?;
                let known = SYNCHRONOUS.iter().chain(&ASYNCHRONOUS).find(|name| **name == wanted);
                let known = known.ok_or_else(|| {
                    format!("ioengine {} does not map; use io_uring, libaio, psync, sync or pvsync", quoted(wanted))
                })?;
                self.engine = Some(known);
            }
            "wait_for" => self.wait_for = Some(option.text()?),
            "kb_base" => {
                self.kb_base = Some(match option.text()? {
                    "1024" => 1024,
                    "1000" => 1000,
                    other => return Err(format!("kb_base: {} must be 1024 or 1000", quoted(other))),
                });
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Takes over what is written; false where it is another option.
    fn set_content(&mut self, option: Given<'_, 't>) -> Result<bool, String> {
        let percent = || Ok::<_, String>(Some(option.at(option.percent()?)).filter(|percent| percent.value > 0));
        match option.key {
            "dedupe_percentage" => self.duplicates = percent()?,
            "buffer_compress_percentage" => self.zeros = percent()?,
            "zero_buffers" => {
                let on = switch(option.value).map_err(|message| option.named(message))?;
                self.zeros = on.then(|| option.at(100));
            }
            // Which page a copy is of, and in what pieces there are zeros.
            "dedupe_mode" | "dedupe_working_set_percentage" | "dedupe_global" | "buffer_compress_chunk" => {
                self.note(option.key);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// A time; a number without unit is in microseconds.
fn micros(option: Given<'_, '_>) -> Result<Duration, String> {
    let text = option.text()?;
    let bare = text.chars().all(|c| c.is_ascii_digit());
    duration(&format!("{text}{}", if bare { "us" } else { "" })).map_err(|message| option.named(message))
}

// Options with a note: assay does what they ask for in another way, or not at all, and says so.

/// What these say is about fio's own clock, logs and output, its generator of offsets, how it makes and removes its
/// files, and when it ends jobs beside each other: assay does each in its own way.
const OF_FIO_ALONE: [&str; 60] = [
    "allow_file_create",
    "allrandrepeat",
    "buffer_compress_chunk",
    "bwavgtime",
    "clat_percentiles",
    "clocksource",
    "create_fsync",
    "create_on_open",
    "create_serialize",
    "dedupe_global",
    "dedupe_mode",
    "dedupe_working_set_percentage",
    "disable_bw",
    "disable_bw_measurement",
    "disable_clat",
    "disable_lat",
    "disable_slat",
    "exit_what",
    "exitall",
    "exitall_on_error",
    "fadvise_hint",
    "fallocate",
    "gtod_cpu",
    "gtod_reduce",
    "hugepage-size",
    "ignore_zone_limits",
    "io_submit_mode",
    "iomem",
    "iopsavgtime",
    "lat_percentiles",
    "lockmem",
    "log_avg_msec",
    "log_compression",
    "log_compression_cpus",
    "log_entries",
    "log_hist_coarseness",
    "log_hist_msec",
    "log_issue_time",
    "log_max_value",
    "log_offset",
    "log_prio",
    "log_store_compressed",
    "log_unix_epoch",
    "mem",
    "new_group",
    "overwrite",
    "per_job_logs",
    "percentile_list",
    "random_generator",
    "randseed",
    "significant_figures",
    "slat_percentiles",
    "thinktime_blocks_type",
    "unified_rw_reporting",
    "unlink",
    "userspace_reap",
    "write_bw_log",
    "write_hist_log",
    "write_iops_log",
    "write_lat_log",
];

/// Options with what is done instead.
const REPLACEMENTS: [(&[&str], &str); 9] = [
    (
        &[
            "verify",
            "do_verify",
            "verify_async",
            "verify_async_cpus",
            "verify_backlog",
            "verify_backlog_batch",
            "verify_dump",
            "verify_fatal",
            "verify_header_seed",
            "verify_interval",
            "verify_offset",
            "verify_pattern",
            "verify_state_save",
            "verify_write_sequence",
            "verifysort",
            "verifysort_nr",
        ],
        "what is written is not read back and compared by a run; `assay verify` does that on the same directory or device",
    ),
    (
        &[
            "steadystate",
            "ss",
            "steadystate_duration",
            "ss_dur",
            "steadystate_ramp_time",
            "ss_ramp",
            "steadystate_check_interval",
            "ss_interval",
        ],
        "a repeat lasts its runtime; whether it was steady is judged and shown",
    ),
    (&["nrfiles", "openfiles"], "the files of a job are parts of one file, which a stream goes through in turns"),
    (
        &["loops"],
        "a repeat lasts its time, however often it goes through the area; --repeats sets how often it is made",
    ),
    (&["number_ios", "io_size", "io_limit"], "a repeat is ended by its time and not by what was done"),
    (
        &["numa_cpu_nodes", "numa_mem_policy", "cpus_allowed", "cpus_allowed_policy", "cpumask"],
        "processors are chosen by --cpus, and else by the kernel, as memory is",
    ),
    (&["hipri"], "completions are polled for with --poll alone"),
    (
        &["ratemin", "rate_min", "rate_iops_min", "rate_cycle", "ratecycle"],
        "a rate that is not reached is reported, and does not end the run",
    ),
    (&["startdelay"], "jobs that run at the same time begin together"),
];

/// What is to be said of an option.
pub(crate) enum Noted {
    /// The list says that assay does it in its own way.
    Named,
    /// This.
    Replaced(&'static str),
}

/// The note on an option that assay accepts and does in another way; `None` for all other options.
pub(crate) fn noted(key: &str) -> Option<Noted> {
    if OF_FIO_ALONE.contains(&key) {
        return Some(Noted::Named);
    }
    REPLACEMENTS.iter().find(|(keys, _)| keys.contains(&key)).map(|(_, words)| Noted::Replaced(words))
}

// Options that change nothing that is measured: at their default, or about what assay does in any case.

/// Options with the values that are as if they were not there, and what can be said of any other value.
const AT_DEFAULT: [(&[&str], &[&str], &str); 21] = [
    (&["sync"], &["0", "none"], "write fdatasync=1, which syncs after each write"),
    (&["atomic"], &["0"], "atomic writes are not made"),
    (&["serialize_overlap"], &["0"], "operations are not held back where they meet others in flight"),
    (&["continue_on_error"], &["none", "0"], "a run ends with the first error, which is a result"),
    (&["ignore_error"], &["0"], "a run ends with the first error, which is a result"),
    (&["error_dump"], &["0", "1"], ""),
    (&["iodepth_low"], &["0"], "as soon as one operation is done the next begins; remove it"),
    (&["priohint", "cmdprio_hint"], &["0"], "priorities have no hints, such as those for command duration limits"),
    (&["percentage_random"], &["100"], "use rw=read or rw=randread, or jobs at the same time"),
    (&["percentage_sequential"], &["0"], "use rw=read or rw=randread, or jobs at the same time"),
    (&["rw_sequencer"], &["sequential"], "each operation goes on from the one before"),
    (&["pre_read"], &["0"], "the page cache is emptied before a run; remove it"),
    (&["file_append"], &["0"], "assay measures in a file of its own"),
    (&["create_only"], &["0"], "remove the job, which only makes files"),
    (&["allow_mounted_write"], &["0", "1"], ""),
    (&["bs_is_seq_rand", "bs_unaligned"], &["0"], "give sizes of reads and of writes"),
    (&["buffer_pattern"], &["0"], "use zero_buffers or dedupe_percentage"),
    (&["max_latency"], &["0"], "latencies are reported, and end no run"),
    (&["rate_ignore_thinktime"], &["0", "1"], ""),
    (&["sqthread_poll", "nonvectored", "force_async", "nowait"], &["0"], "operations are submitted by the job itself"),
    (&["experimental_verify", "verify_only", "trim_percentage"], &["0"], "use `assay verify`"),
];

/// Whether an option changes nothing that is measured; its value is checked all the same.
///
/// # Errors
/// What its value is, where that is not the default.
pub(crate) fn changes_nothing(option: Given<'_, '_>) -> Result<bool, String> {
    let key = option.key;
    let known = AT_DEFAULT.iter().find(|(keys, _, _)| keys.contains(&key));
    if let Some((_, values, mend)) = known {
        // A switch without a value is on.
        let value = option.value.unwrap_or("1");
        return match values.contains(&value) {
            true => Ok(true),
            false => Err(format!("option `{key}` does not map to a workload of assay: {mend}")),
        };
    }
    match key {
        "name" => {
            option.text()?;
        }
        "loops" => return Ok(option.text()? == "1"),
        "iodepth_batch"
        | "iodepth_batch_submit"
        | "iodepth_batch_complete"
        | "iodepth_batch_complete_min"
        | "iodepth_batch_complete_max" => {
            option.text()?.parse::<u32>().map_err(|_| format!("{key} must be a whole number"))?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_is_told() {
        assert!(matches!(noted("verify"), Some(Noted::Replaced(words)) if words.contains("assay verify")));
        assert!(matches!(noted("write_bw_log"), Some(Noted::Named)));
        assert!(noted("zonemode").is_none() && noted("verify_only").is_none());
    }

    #[test]
    fn a_default_is_taken_and_anything_else_is_named() {
        let of = |key, value| changes_nothing(Given { key, value, line: 1, base: 1024 });
        assert_eq!(
            (of("sync", Some("0")), of("priohint", Some("0")), of("loops", Some("1"))),
            (Ok(true), Ok(true), Ok(true))
        );
        assert_eq!((of("size", Some("0")), of("loops", Some("3"))), (Ok(false), Ok(false)));
        assert!(of("sync", Some("1")).unwrap_err().contains("fdatasync=1"));
        assert!(of("atomic", None).unwrap_err().contains("`atomic`"));
    }
}
