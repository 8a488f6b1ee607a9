//! The options of a job that map to a workload. Any other is refused by name.

use std::time::Duration;

use assay_core::arrivals::Process;
use assay_core::blocks::{BlockShare, Blocks};
use assay_core::distribution::Distribution;
use assay_core::suite::{MAX_BLOCK, MAX_JOBS, MAX_QUEUE_DEPTH, MAX_THINK};
use assay_core::text::{label, quoted};
use assay_core::workload::{Op, Pattern, Sync};

use crate::noted::{Noted, noted};
use crate::values::{duration, size, switch};

/// A value with the line that set it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct At<T> {
    pub(crate) value: T,
    pub(crate) line: usize,
}

/// What the options of `[global]` and of a section come to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Options<'t> {
    pub(crate) load: Option<At<(Op, Pattern)>>,
    pub(crate) block: Option<At<u64>>,
    pub(crate) depth: Option<At<u32>>,
    pub(crate) jobs: Option<At<u32>>,
    /// Of all files of a job.
    pub(crate) size: Option<At<u64>>,
    /// Of each of its files.
    pub(crate) file_size: Option<At<u64>>,
    pub(crate) files: Option<u32>,
    pub(crate) runtime: Option<At<Duration>>,
    pub(crate) ramp: bool,
    pub(crate) time_based: bool,
    pub(crate) direct: bool,
    pub(crate) engine: Option<&'static str>,
    pub(crate) fsync: Option<At<bool>>,
    pub(crate) fdatasync: Option<At<bool>>,
    pub(crate) read_percent: Option<At<u8>>,
    pub(crate) rate: Option<At<PerJob>>,
    pub(crate) process: Option<Process>,
    pub(crate) distribution: Option<Distribution>,
    pub(crate) file: Option<At<&'t str>>,
    pub(crate) directory: Option<At<&'t str>>,
    pub(crate) stonewall: bool,
    pub(crate) norandommap: bool,
    pub(crate) offset_increment: Option<At<u64>>,
    /// Where the job begins in its file, if not at the beginning.
    pub(crate) offset: Option<At<u64>>,
    pub(crate) description: Option<String>,
    pub(crate) kb_base: Option<u64>,
    /// Options that are about fio's own clock, log and output, or about how it makes its files: taken note of.
    pub(crate) unused: Vec<String>,
    /// What is to be said of options that are done in another way.
    pub(crate) replaced: Vec<&'static str>,
    pub(crate) blocks: Option<At<Blocks>>,
    pub(crate) think: Option<At<Duration>>,
    pub(crate) think_after: Option<u32>,
    pub(crate) wait_for: Option<&'t str>,
    /// The size that `[global]` gave, whatever the section says.
    pub(crate) global_size: Option<u64>,
}

/// A rate as fio takes it: of each job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PerJob {
    Iops(u32),
    BytesPerSecond(u64),
}

/// Engines that keep one operation in flight, whatever `iodepth` says.
const SYNCHRONOUS: [&str; 3] = ["psync", "sync", "pvsync"];
/// More operations per second of a job are refused.
const MOST_IOPS: u32 = 10_000_000;
/// Engines that keep a queue.
const ASYNCHRONOUS: [&str; 2] = ["io_uring", "libaio"];

impl<'t> Options<'t> {
    /// Whether the engine keeps more than one operation in flight (fio's default, psync, does not).
    pub(crate) fn queues(&self) -> bool {
        self.engine.is_some_and(|engine| ASYNCHRONOUS.contains(&engine))
    }

    pub(crate) fn sync(&self) -> Sync {
        match (self.fsync, self.fdatasync) {
            (Some(At { value: true, .. }), _) => Sync::Fsync,
            (_, Some(At { value: true, .. })) => Sync::Fdatasync,
            _ => Sync::End,
        }
    }

    /// Takes one option over, or says what is wrong with it.
    pub(crate) fn set(&mut self, key: &str, value: Option<&'t str>, line: usize) -> Result<(), String> {
        let option = Given { key, value, line };
        if self.set_switch(option)? || self.set_size(option)? || self.set_load(option)? || is_unused(option)? {
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
    pub(crate) fn bytes(&self) -> Option<At<u64>> {
        let files = u64::from(self.files.unwrap_or(1));
        self.size.or(self.file_size.map(|size| At { value: size.value.saturating_mul(files), line: size.line }))
    }

    fn unknown(&self, key: &str) -> String {
        format!("option {} does not map to a workload of assay; remove it, or run the file with fio", quoted(key))
    }

    /// Takes over what is on or off; false where it is another option.
    fn set_switch(&mut self, option: Given<'_, 't>) -> Result<bool, String> {
        let on = || switch(option.value).map_err(|message| option.named(message));
        match option.key {
            "time_based" => self.time_based = on()?,
            "direct" => self.direct = on()?,
            "buffered" => self.direct = !on()?,
            "stonewall" | "wait_for_previous" => self.stonewall = on()?,
            "norandommap" => self.norandommap = on()?,
            // assay does these always, or they change nothing that is measured.
            "end_fsync" | "group_reporting" | "randrepeat" | "refill_buffers" | "registerfiles" | "fixedbufs"
            | "thread" | "threads" | "invalidate" => {
                on()?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Takes over sizes and times; false where it is another option.
    fn set_size(&mut self, option: Given<'_, 't>) -> Result<bool, String> {
        let base = self.kb_base.unwrap_or(1024);
        let bytes = || size(option.text()?, base).map_err(|message| option.named(message));
        let time = || duration(option.text()?).map_err(|message| option.named(message));
        match option.key {
            "bs" | "blocksize" => self.block = Some(option.at(block(option.text()?, base)?)),
            "bssplit" => self.blocks = Some(option.at(split(option.text()?, base)?)),
            "bsrange" | "blocksize_range" => match range(option.text()?, base)? {
                (bytes, blocks) if blocks.is_empty() => self.block = Some(option.at(bytes)),
                (_, blocks) => self.blocks = Some(option.at(blocks)),
            },
            "size" | "filesize" => {
                let size = bytes()?;
                if size == 0 {
                    return Err("size must be larger than 0".to_owned());
                }
                let place = if option.key == "size" { &mut self.size } else { &mut self.file_size };
                *place = Some(option.at(size));
            }
            "rate" => {
                let text = one_value(option.key, option.text()?)?;
                let rate = size(text, base).map_err(|message| option.named(message))?;
                if rate == 0 {
                    return Err("rate must be larger than 0".to_owned());
                }
                self.rate = Some(option.at(PerJob::BytesPerSecond(rate)));
            }
            "offset" => self.offset = Some(option.at(bytes()?)).filter(|offset| offset.value > 0),
            "offset_increment" => self.offset_increment = Some(option.at(bytes()?)),
            "runtime" | "timeout" => {
                let length = time()?;
                if length < Duration::from_millis(100) || length > Duration::from_secs(86_400) {
                    return Err("runtime must be 100ms to 24h".to_owned());
                }
                self.runtime = Some(option.at(length));
            }
            "thinktime" => {
                let text = option.text()?;
                // A number without unit is of microseconds.
                let bare = text.chars().all(|c| c.is_ascii_digit());
                let pause = duration(&format!("{text}{}", if bare { "us" } else { "" }));
                let pause = pause.map_err(|message| option.named(message))?;
                if pause > MAX_THINK {
                    return Err("thinktime must be at most 60s".to_owned());
                }
                self.think = Some(option.at(pause)).filter(|think| !think.value.is_zero());
            }
            "ramp_time" => self.ramp = !time()?.is_zero(),
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

    /// Takes over what is read or written, how and where; false where it is another option.
    fn set_load(&mut self, option: Given<'_, 't>) -> Result<bool, String> {
        let key = option.key;
        match key {
            "rw" | "readwrite" => self.load = Some(option.at(load(option.text()?)?)),
            "iodepth" => self.depth = Some(option.at(count(key, option.text()?, MAX_QUEUE_DEPTH)?)),
            "numjobs" => self.jobs = Some(option.at(count(key, option.text()?, MAX_JOBS)?)),
            "ioengine" => {
                let wanted = option.text()?;
                let known = SYNCHRONOUS.iter().chain(&ASYNCHRONOUS).find(|name| **name == wanted);
                let known = known.ok_or_else(|| {
                    format!("ioengine {} does not map; use io_uring, libaio, psync, sync or pvsync", quoted(wanted))
                })?;
                self.engine = Some(known);
            }
            "fsync" => self.fsync = Some(option.at(each(key, option.text()?)?)),
            "fdatasync" => self.fdatasync = Some(option.at(each(key, option.text()?)?)),
            "rwmixread" => self.read_percent = Some(option.at(percent(key, option.text()?)?)),
            "rwmixwrite" => self.read_percent = Some(option.at(100 - percent(key, option.text()?)?)),
            // Sections that name a file share it; without a name each job has a file of its own.
            "filename" => self.file = Some(option.at(path(key, option.text()?)?)),
            "directory" => self.directory = Some(option.at(path(key, option.text()?)?)),
            "rate_iops" => {
                let iops = count(key, one_value(key, option.text()?)?, MOST_IOPS)?;
                self.rate = Some(option.at(PerJob::Iops(iops)));
            }
            "rate_process" => {
                self.process = Some(match option.text()? {
                    "linear" => Process::Constant,
                    "poisson" => Process::Poisson,
                    other => return Err(format!("rate_process {} must be linear or poisson", quoted(other))),
                });
            }
            "random_distribution" => self.distribution = Some(distribution(option.text()?)?),
            "wait_for" => self.wait_for = Some(option.text()?),
            "nrfiles" => {
                self.files = Some(count(key, option.text()?, u32::MAX)?);
                self.note("nrfiles");
            }
            "thinktime_blocks" => self.think_after = Some(count(key, option.text()?, u32::MAX)?),
            "description" => self.description = Some(option.text()?.to_owned()),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// An option as it stands in the file.
#[derive(Clone, Copy)]
struct Given<'k, 't> {
    key: &'k str,
    value: Option<&'t str>,
    line: usize,
}

impl<'t> Given<'_, 't> {
    fn text(&self) -> Result<&'t str, String> {
        self.value.filter(|v| !v.is_empty()).ok_or_else(|| format!("{0} needs a value: {0}=…", self.key))
    }

    fn named(&self, message: String) -> String {
        format!("{}: {message}", self.key)
    }

    fn at<T>(&self, value: T) -> At<T> {
        At { value, line: self.line }
    }
}

/// Whether an option changes nothing that is measured; its value is checked all the same.
fn is_unused(option: Given<'_, '_>) -> Result<bool, String> {
    let key = option.key;
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

/// Sizes with their shares, reads and writes alike.
fn split(text: &str, base: u64) -> Result<Blocks, String> {
    let text = one_value("bssplit", text)?;
    Blocks::read(text, |bytes| block(bytes, base)).map_err(|message| match message.strip_prefix("bs") {
        Some(rest) => format!("bssplit{rest}"),
        None => format!("bssplit: {message}"),
    })
}

/// Sizes between two, each as frequent as any other; with the smaller one.
fn range(text: &str, base: u64) -> Result<(u64, Blocks), String> {
    let text = one_value("bsrange", text)?;
    let wrong = || format!("bsrange {} must be two sizes, like 4k-64k", quoted(text));
    let (least, most) = text.split_once('-').ok_or_else(wrong)?;
    let (least, most) = (block(least, base)?, block(most, base)?);
    if least > most || !most.is_multiple_of(least) || most / least > 64 {
        return Err(format!(
            "bsrange {} must end at a multiple of where it begins, at most 64 times; use bssplit",
            quoted(text)
        ));
    }
    let sizes = most / least;
    let shares = (1..=sizes).map(|n| BlockShare { block_bytes: n * least, percent: 100.0 / sizes as f64 });
    Ok((least, Blocks::new(shares).map_err(|message| format!("bsrange: {message}"))?))
}

/// One value for reads, writes and trims alike.
fn one_value<'t>(key: &str, text: &'t str) -> Result<&'t str, String> {
    let mut values = text.split(',');
    let first = values.next().unwrap_or(text);
    match values.any(|value| value != first) {
        true => Err(format!("{key}: {} differs between reads and writes, which does not map; give one", quoted(text))),
        false => Ok(first),
    }
}

fn distribution(text: &str) -> Result<Distribution, String> {
    let wrong = || {
        format!(
            "random_distribution {} does not map; use random, zipf:THETA, pareto:H, normal:PERCENT or zoned:OPERATIONS/AREA:…",
            quoted(text)
        )
    };
    // Other zones for writes (`zoned:…,…`) and a centre (`zipf:1.1:0.3`) are none of assay's.
    Distribution::from_fio(text).map_err(|_| wrong())
}

/// One path, which fio takes as it stands: `:` divides several, `$` begins a variable, `-` is standard input.
fn path<'t>(key: &str, text: &'t str) -> Result<&'t str, String> {
    match text {
        "-" => Err(format!("{key}: standard input does not map; name a file or a device")),
        _ if text.contains(':') => {
            Err(format!("{key}: {} names several places, and assay measures one; name one", quoted(text)))
        }
        _ if text.contains(['$', '\\']) => Err(format!("{key}: {} is not a plain path; write it out", quoted(text))),
        _ => Ok(text),
    }
}

fn load(text: &str) -> Result<(Op, Pattern), String> {
    Ok(match text {
        "read" => (Op::Read, Pattern::Sequential),
        "write" => (Op::Write, Pattern::Sequential),
        "randread" => (Op::Read, Pattern::Random),
        "randwrite" => (Op::Write, Pattern::Random),
        "rw" | "readwrite" => (Op::Mixed, Pattern::Sequential),
        "randrw" => (Op::Mixed, Pattern::Random),
        _ => {
            return Err(format!(
                "rw {} does not map; use read, write, rw, randread, randwrite or randrw",
                quoted(text)
            ));
        }
    })
}

fn block(text: &str, base: u64) -> Result<u64, String> {
    let bytes = size(text, base).map_err(|message| format!("bs: {message}"))?;
    if bytes == 0 || bytes > MAX_BLOCK.0 || !bytes.is_multiple_of(512) {
        let hint = if base == 1024 && text.to_ascii_lowercase().ends_with("ib") {
            " (fio reads KiB as 1000 unless kb_base=1000; write k)"
        } else {
            ""
        };
        return Err(format!("bs = {bytes} B must be a multiple of 512 B, at most {MAX_BLOCK}{hint}"));
    }
    Ok(bytes)
}

/// A value for a message.
fn shown(text: &str) -> String {
    label(text, 80).unwrap_or_default()
}

fn count(key: &str, text: &str, limit: u32) -> Result<u32, String> {
    text.parse()
        .ok()
        .filter(|n| (1..=limit).contains(n))
        .ok_or_else(|| format!("{key} = {} must be 1 to {limit}", shown(text)))
}

fn percent(key: &str, text: &str) -> Result<u8, String> {
    text.parse().ok().filter(|n| *n <= 100).ok_or_else(|| format!("{key} = {} must be 0 to 100", shown(text)))
}

fn each(key: &str, text: &str) -> Result<bool, String> {
    match text {
        "0" => Ok(false),
        "1" => Ok(true),
        _ => Err(format!("{key} = {} must be 1, a sync after every write, or 0", shown(text))),
    }
}
