//! What a workload of a suite has beyond pattern, block and queue, and its priorities.

use toml::Spanned;

use super::check::{MAX_BLOCK, MAX_THINK, Refuse, SuiteError, WorkloadFile};
use super::workload::SuiteWorkload;
use crate::blocks::Blocks;
use crate::priority::{Priorities, Priority};
use crate::refined::{Flow, Refined, Stride};
use crate::text::quoted;
use crate::units::{exact_bytes, parse_duration};
use crate::workload::{Op, Pattern};

/// Most files that a stream goes through in turns.
const MOST_FILES: u32 = 65_536;
/// Most writes between two syncs, and largest weight.
const MOST_WRITES: u32 = 1_000_000;

impl WorkloadFile {
    /// What it has of it, where all of it goes together.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub(super) fn refined(&self, block: u64, blocks: &Blocks, fail: &Refuse<'_>) -> Result<Refined, SuiteError> {
        let refined = Refined {
            align_bytes: self.alignment(fail)?,
            stride: self.strides(block, fail)?,
            files: number("files", self.files.as_ref(), MOST_FILES, fail)?.filter(|files| *files > 1).unwrap_or(0),
            shared: self.shared,
            apart: self.apart,
            writes: self.write_sizes(fail)?,
            sync_every: self.syncs(fail)?,
            duplicate_percent: percent("duplicate_percent", self.duplicate_percent.as_ref(), fail)?,
            zero_percent: percent("zero_percent", self.zero_percent.as_ref(), fail)?,
            flow: self.flows(fail)?,
        };
        let sequential = self.pattern == Pattern::Sequential;
        let wrong = |what: &str| Err(fail(0, what.to_owned()));
        match &refined {
            r if !sequential && (r.shared || r.apart || r.files > 1 || r.stride.is_some()) => {
                wrong("stride, files, shared and apart are for pattern = \"sequential\"")
            }
            r if r.apart && self.op.one() != Op::Mixed => wrong("apart is for op = \"mixed\""),
            r if !r.writes.is_empty() && self.op.one() != Op::Mixed => {
                wrong("write_block and write_blocks are for op = \"mixed\"; write block or blocks")
            }
            r if (r.stride.is_some() || r.files > 1) && !(blocks.is_empty() && r.writes.is_empty()) => {
                wrong("stride and files are for blocks of one size")
            }
            r if r.stride.is_some() && r.files > 1 => wrong("stride and files exclude each other"),
            r if (r.duplicate_percent > 0 || r.zero_percent > 0) && self.op.one() == Op::Read => {
                wrong("duplicate_percent and zero_percent are for workloads that write")
            }
            _ => Ok(refined),
        }
    }

    fn alignment(&self, fail: &Refuse<'_>) -> Result<Option<u64>, SuiteError> {
        let Some(align) = &self.align else { return Ok(None) };
        let (at, bytes) = (align.span().start, align.get_ref().0);
        if self.pattern != Pattern::Random {
            return Err(fail(at, "align is for pattern = \"random\"".to_owned()));
        }
        if bytes == 0 || bytes > MAX_BLOCK.0 || !bytes.is_multiple_of(512) {
            return Err(fail(
                at,
                format!("align = {} must be a multiple of 512 B, at most {MAX_BLOCK}", exact_bytes(bytes)),
            ));
        }
        Ok(Some(bytes))
    }

    fn strides(&self, block: u64, fail: &Refuse<'_>) -> Result<Option<Stride>, SuiteError> {
        let Some(text) = &self.stride else { return Ok(None) };
        let wrong = |why: String| fail(text.span().start, why);
        let stride = Stride::parse(text.get_ref()).map_err(wrong)?;
        if !stride.run_bytes.is_multiple_of(block.max(1)) {
            return Err(wrong(format!("stride {stride}: a run must be whole blocks of {}", exact_bytes(block))));
        }
        Ok(Some(stride))
    }

    fn write_sizes(&self, fail: &Refuse<'_>) -> Result<Blocks, SuiteError> {
        match (&self.write_block, &self.write_blocks) {
            (Some(_), Some(text)) => {
                Err(fail(text.span().start, "write_block and write_blocks exclude each other".to_owned()))
            }
            (Some(block), None) if *block.get_ref() > MAX_BLOCK => {
                Err(fail(block.span().start, format!("write_block must be at most {MAX_BLOCK}")))
            }
            (Some(block), None) => {
                Blocks::one(block.get_ref().0).map_err(|why| fail(block.span().start, format!("write_block: {why}")))
            }
            (None, Some(text)) => {
                let wrong =
                    |why: String| fail(text.span().start, format!("write_blocks {}: {why}", quoted(text.get_ref())));
                let sizes = Blocks::parse(text.get_ref()).map_err(wrong)?;
                match sizes.largest() {
                    None => Err(wrong("one size is written write_block".to_owned())),
                    Some(largest) if largest > MAX_BLOCK.0 => Err(wrong(format!("at most {MAX_BLOCK}"))),
                    Some(_) => Ok(sizes),
                }
            }
            (None, None) => Ok(Blocks::default()),
        }
    }

    fn syncs(&self, fail: &Refuse<'_>) -> Result<u32, SuiteError> {
        let Some(every) = number("sync_every", self.sync_every.as_ref(), MOST_WRITES, fail)? else { return Ok(0) };
        if !self.sync.each() {
            let at = self.sync_every.as_ref().map_or(0, |every| every.span().start);
            return Err(fail(at, "sync_every needs sync = \"fsync\" or \"fdatasync\"".to_owned()));
        }
        Ok(if every > 1 { every } else { 0 })
    }

    fn flows(&self, fail: &Refuse<'_>) -> Result<Option<Flow>, SuiteError> {
        let weight = number("flow", self.flow.as_ref(), MOST_WRITES, fail)?;
        let pause = self.flow_pause.as_ref().map(|text| {
            let wrong = || format!("flow_pause {} must be 0us to 60s", quoted(text.get_ref()));
            let pause = parse_duration(text.get_ref()).ok().filter(|pause| *pause <= MAX_THINK);
            pause.ok_or_else(|| fail(text.span().start, wrong()))
        });
        let pause = pause.transpose()?;
        let at = self.flow.as_ref().map_or(0, |flow| flow.span().start);
        match (weight, pause) {
            (None, Some(_)) => {
                let at = self.flow_pause.as_ref().map_or(0, |pause| pause.span().start);
                Err(fail(at, "flow_pause needs flow, the weight in the group".to_owned()))
            }
            (Some(_), _) if self.group.is_none() => Err(fail(at, "flow is for workloads of a group".to_owned())),
            (Some(_), _) if self.rate.is_some() || self.think.is_some() => {
                Err(fail(at, "flow is for a closed loop without rate and think".to_owned()))
            }
            (Some(weight), pause) => {
                let pause_ns = pause.map_or(0, |pause| u64::try_from(pause.as_nanos()).unwrap_or(0));
                Ok(Some(Flow { weight, pause_ns }))
            }
            (None, None) => Ok(None),
        }
    }
}

fn number(key: &str, value: Option<&Spanned<u32>>, most: u32, fail: &Refuse<'_>) -> Result<Option<u32>, SuiteError> {
    match value {
        Some(value) if !(1..=most).contains(value.get_ref()) => {
            Err(fail(value.span().start, format!("{key} = {} must be 1 to {most}", value.get_ref())))
        }
        value => Ok(value.map(|value| *value.get_ref())),
    }
}

fn percent(key: &str, value: Option<&Spanned<u8>>, fail: &Refuse<'_>) -> Result<u8, SuiteError> {
    match value {
        Some(value) if *value.get_ref() > 100 => {
            Err(fail(value.span().start, format!("{key} = {} must be 0 to 100", value.get_ref())))
        }
        value => Ok(value.map_or(0, |value| *value.get_ref())),
    }
}

// Priorities of a workload of a suite.

impl WorkloadFile {
    /// The priorities as they are written.
    ///
    /// # Errors
    /// What cannot be read.
    pub(super) fn priorities(&self, fail: &Refuse<'_>) -> Result<Priorities, SuiteError> {
        let job = self
            .priority
            .as_ref()
            .map(|text| Priority::parse(text.get_ref()).map_err(|why| fail(text.span().start, why)));
        let shares = self.priority_shares.as_ref().map(|text| {
            let wrong = |why: String| fail(text.span().start, format!("priority_shares: {why}"));
            Priorities::parse_shares(text.get_ref()).map_err(wrong)
        });
        Ok(Priorities { job: job.transpose()?, shares: shares.transpose()?.unwrap_or_default() })
    }
}

impl SuiteWorkload {
    /// Its priorities in the form in which loads that do the same are the same.
    ///
    /// # Errors
    /// One line, where shares of its operations cannot have priorities, are about operations that it does not make, or come
    /// to more than all.
    pub fn checked_priorities(&self) -> Result<Priorities, String> {
        let load = self.load();
        if !self.priorities.shares.is_empty() && self.sync.each() {
            // What is synced after each write is not queued.
            return Err("priority_shares is for workloads without a sync after each write".to_owned());
        }
        let sizes = |op| load.sizes_of(op);
        self.priorities.settled(self.op, &sizes(Op::Read), &sizes(Op::Write))
    }
}

#[cfg(test)]
mod tests {
    use crate::suite::Suite;

    const HEAD: &str = "name = \"x\"\nversion = 1\npurpose = \"p\"\nbudget = \"10s\"\nmax_write = \"1GiB\"\nrepeats = 3\nspan = \"64MiB\"\n\
        [[workload]]\nname = \"w\"\npattern = \"random\"\nblock = \"4KiB\"\n";

    /// A load has its priorities in one form, in its title and in what it is.
    #[test]
    fn priorities_are_read_and_checked() {
        let with = |more: &str| Suite::parse(&format!("{HEAD}{more}"), "my.toml");
        let shares = |text: &str| with(&format!("op = \"read\"\npriority = \"idle\"\npriority_shares = \"{text}\"\n"));
        let suite = shares("20 % of reads realtime").unwrap();
        let load = suite.workloads[0].load();
        assert_eq!(load.title(), "random read 4 KiB, priority idle, 20 % realtime");
        assert!(!load.is_plain());
        assert_eq!(Suite::parse(&suite.to_text(), "my.toml").unwrap(), suite);
        for (text, words) in [
            ("20 % of writes realtime", "no such operations"),
            ("20 % of 8KiB idle", "no such operations"),
            ("60 % idle, 50 % realtime", "110 %"),
            ("20 idle", "must be like"),
        ] {
            let error = shares(text).unwrap_err();
            assert!(error.message.contains(words) && error.line == 14, "{text}: {error}");
        }
        let synced = |more: &str| with(&format!("op = \"write\"\nsync = \"fsync\"\n{more}"));
        assert!(synced("priority = \"idle\"\n").is_ok());
        assert!(synced("priority_shares = \"5 % idle\"\n").unwrap_err().message.contains("without a sync"));
        assert!(synced("priority = \"urgent\"\n").unwrap_err().message.contains("must be realtime"));
    }
}
