//! The options of a job that map to a workload. Any other is refused by name.

use std::time::Duration;

use assay_core::arrivals::Process;
use assay_core::blocks::Blocks;
use assay_core::distribution::Distribution;
use assay_core::suite::{MAX_JOBS, MAX_QUEUE_DEPTH, MAX_THINK};
use assay_core::text::quoted;
use assay_core::workload::{Op, Pattern};

use super::given::{Load, distribution, load, paths, range, split, zones};
use super::noted::changes_nothing;
use crate::given::{Amount, At, Given};
use crate::noted::{Noted, noted};
use crate::priorities::Asked;
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
