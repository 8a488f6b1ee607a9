//! The options of a job that map to a workload. Any other is refused by name.

use std::time::Duration;

use assay_core::suite::{MAX_BLOCK, MAX_JOBS, MAX_QUEUE_DEPTH};
use assay_core::text::{label, quoted};
use assay_core::workload::{Op, Pattern, Sync};

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
    pub(crate) size: Option<At<u64>>,
    pub(crate) runtime: Option<At<Duration>>,
    pub(crate) ramp: bool,
    pub(crate) time_based: bool,
    pub(crate) direct: bool,
    pub(crate) engine: Option<&'static str>,
    pub(crate) fsync: Option<At<bool>>,
    pub(crate) fdatasync: Option<At<bool>>,
    pub(crate) read_percent: Option<At<u8>>,
    pub(crate) file: Option<At<&'t str>>,
    pub(crate) directory: Option<At<&'t str>>,
    pub(crate) stonewall: bool,
    pub(crate) norandommap: bool,
    pub(crate) offset_increment: Option<At<u64>>,
    pub(crate) description: Option<String>,
    pub(crate) kb_base: Option<u64>,
    /// The size that `[global]` gave, whatever the section says.
    pub(crate) global_size: Option<u64>,
}

/// Engines that keep one operation in flight, whatever `iodepth` says.
const SYNCHRONOUS: [&str; 3] = ["psync", "sync", "pvsync"];
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
        let base = self.kb_base.unwrap_or(1024);
        let needed = || value.filter(|v| !v.is_empty()).ok_or_else(|| format!("{key} needs a value: {key}=…"));
        let named = |message: String| format!("{key}: {message}");
        let at = |value| At { value, line };
        match key {
            "rw" | "readwrite" => {
                let load = load(needed()?)?;
                self.load = Some(At { value: load, line });
            }
            "bs" | "blocksize" => self.block = Some(At { value: block(needed()?, base)?, line }),
            "iodepth" => self.depth = Some(At { value: count(key, needed()?, MAX_QUEUE_DEPTH)?, line }),
            "numjobs" => self.jobs = Some(At { value: count(key, needed()?, MAX_JOBS)?, line }),
            "size" => {
                let bytes = size(needed()?, base).map_err(named)?;
                if bytes == 0 {
                    return Err("size must be larger than 0".to_owned());
                }
                self.size = Some(At { value: bytes, line });
            }
            "offset_increment" => {
                self.offset_increment = Some(At { value: size(needed()?, base).map_err(named)?, line });
            }
            "runtime" => {
                let length = duration(needed()?).map_err(named)?;
                if length < Duration::from_millis(100) || length > Duration::from_secs(86_400) {
                    return Err("runtime must be 100ms to 24h".to_owned());
                }
                self.runtime = Some(At { value: length, line });
            }
            "ramp_time" => self.ramp = !duration(needed()?).map_err(named)?.is_zero(),
            "time_based" => self.time_based = switch(value).map_err(named)?,
            "direct" => self.direct = switch(value).map_err(named)?,
            "buffered" => self.direct = !switch(value).map_err(named)?,
            "ioengine" => {
                let wanted = needed()?;
                let known = SYNCHRONOUS.iter().chain(&ASYNCHRONOUS).find(|name| **name == wanted);
                let known = known.ok_or_else(|| {
                    format!("ioengine {} does not map; use io_uring, libaio, psync, sync or pvsync", quoted(wanted))
                })?;
                self.engine = Some(known);
            }
            "fsync" => self.fsync = Some(At { value: each(key, needed()?)?, line }),
            "fdatasync" => self.fdatasync = Some(At { value: each(key, needed()?)?, line }),
            "rwmixread" => self.read_percent = Some(at(percent(key, needed()?)?)),
            "rwmixwrite" => self.read_percent = Some(at(100 - percent(key, needed()?)?)),
            // Sections that name a file share it; without a name each job has a file of its own.
            "filename" => self.file = Some(At { value: path(key, needed()?)?, line }),
            "directory" => self.directory = Some(At { value: path(key, needed()?)?, line }),
            "stonewall" | "wait_for_previous" => self.stonewall = switch(value).map_err(named)?,
            "norandommap" => self.norandommap = switch(value).map_err(named)?,
            "description" => self.description = Some(needed()?.to_owned()),
            "name" => {
                needed()?;
            }
            "kb_base" => {
                self.kb_base = Some(match needed()? {
                    "1024" => 1024,
                    "1000" => 1000,
                    other => return Err(format!("kb_base: {} must be 1024 or 1000", quoted(other))),
                });
            }
            "loops" => {
                if needed()? != "1" {
                    return Err("loops: only 1 maps; assay repeats with --repeats".to_owned());
                }
            }
            // assay does these always, or they change nothing that is measured.
            "end_fsync" | "group_reporting" | "randrepeat" | "refill_buffers" | "registerfiles" | "fixedbufs"
            | "thread" | "invalidate" => {
                switch(value).map_err(named)?;
            }
            "iodepth_batch"
            | "iodepth_batch_submit"
            | "iodepth_batch_complete"
            | "iodepth_batch_complete_min"
            | "iodepth_batch_complete_max" => {
                needed()?.parse::<u32>().map_err(|_| format!("{key} must be a whole number"))?;
            }
            "include" => return Err("`include` is refused: put the options into this file".to_owned()),
            _ => {
                return Err(format!(
                    "option {} does not map to a workload of assay; remove it, or run the file with fio",
                    quoted(key)
                ));
            }
        }
        Ok(())
    }
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
