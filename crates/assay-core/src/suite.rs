//! Suites: ordered lists of workloads with a purpose, written in TOML.

use std::fmt::Write as _;
use std::time::Duration;

pub use check::{LEAST_REPEATS, MAX_BLOCK, MAX_JOBS, MAX_QUEUE_DEPTH, MAX_THINK, MOST_WITH_ENOUGH, PARTS, SuiteError};
use check::{SuiteFile, checked_workloads, is_name, narrow_enough};
use groups::{Extent, share};
pub use groups::{LayoutRule, MAX_TOGETHER, WHOLE, leaders, members, part, together};
pub use workload::{Analysis, SuiteWorkload};

use crate::priority::shares_text;
use crate::program::SuiteProgram;
use crate::text::{label, toml};
use crate::units::{Bytes, exact_bytes, exact_duration};
use crate::workload::{Op, Pattern, Sync};

mod check;
mod groups;
mod refine;
mod workload;

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
    /// Size of the test area; where it is a share of the medium, that of one of [`WHOLE`] bytes.
    pub span: Bytes,
    /// The size in percent of what can be used of the medium, where it was given so: [`Suite::settled`] has the bytes.
    pub span_percent: Option<f64>,
    /// How the test area is made.
    pub layout: LayoutRule,
    /// Its workloads in order.
    pub workloads: Vec<SuiteWorkload>,
    /// Its programs in order, which run after the workloads.
    pub programs: Vec<SuiteProgram>,
}

/// Most characters of what the TOML reader says.
const LONGEST_MESSAGE: usize = 300;

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
        let workloads = checked_workloads(raw.workload, &raw.span.get_ref().bytes(), &fail)?;
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
            span: raw.span.get_ref().bytes(),
            span_percent: raw.span.get_ref().percent(),
            layout: raw.layout,
            workloads,
            programs,
        })
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

// A suite on a medium of known size.

impl Suite {
    /// Whether a size in it is a share of the medium.
    #[must_use]
    pub fn has_shares(&self) -> bool {
        self.span_percent.is_some()
            || self.workloads.iter().any(|w| w.span_percent.is_some() || w.offset_percent.is_some())
    }

    /// The suite on a medium with `whole` usable bytes: shares become bytes.
    ///
    /// # Errors
    /// What is wrong, where blocks of a workload do not fit into its share.
    pub fn settled(&self, whole: u64) -> Result<Self, String> {
        if !self.has_shares() {
            return Ok(self.clone());
        }
        let mut suite = self.clone();
        if let Some(percent) = suite.span_percent.take() {
            // The importer of fio's jobs derives the limit from the area, which is never larger: that limit scales with the
            // medium. Any other limit was stated in bytes and stays.
            if suite.max_write >= suite.span {
                let ratio = whole as f64 / WHOLE.0 as f64;
                suite.max_write = Bytes((suite.max_write.0 as f64 * ratio) as u64);
            }
            suite.span = Bytes(share(percent, whole));
        }
        for w in &mut suite.workloads {
            if let Some(percent) = w.offset_percent.take() {
                w.offset = Some(Bytes(share(percent, whole)));
            }
            if let Some(percent) = w.span_percent.take() {
                // What is behind the end of the medium is left out.
                let most = whole.saturating_sub(w.offset.map_or(0, |offset| offset.0));
                w.span = Some(Bytes(share(percent, whole).min(most)));
            }
            let end = w.span.map_or(0, |span| span.0).saturating_add(w.offset.map_or(0, |offset| offset.0));
            suite.span = suite.span.max(Bytes(end));
            let reach = w.span.unwrap_or(suite.span).0;
            if w.largest().saturating_mul(u64::from(w.jobs)) > reach {
                return Err(format!("workload `{}`: its share of {} has no room for its blocks", w.name, Bytes(whole)));
            }
        }
        if suite.span.0 > whole {
            return Err(format!("the suite uses {}, and {} can be used", suite.span, Bytes(whole)));
        }
        match groups::wrong(&suite.workloads, suite.span) {
            Some((_, why)) => Err(why),
            None => Ok(suite),
        }
    }
}

// A suite as text.

impl Suite {
    /// The suite as a file that [`Suite::parse`] reads to the same suite. Durations are kept to the microsecond.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = format!(
            "name = {}\nversion = {}\npurpose = {}\nbudget = \"{}\"\nmax_write = \"{}\"\nrepeats = {}\nspan = \"{}\"\n",
            toml(&self.name),
            self.version,
            toml(&self.purpose),
            exact_duration(self.budget),
            exact_bytes(self.max_write.0),
            self.repeats,
            Extent::from_size(self.span, self.span_percent),
        );
        if self.layout != LayoutRule::default() {
            let _ = writeln!(text, "layout = \"{}\"", self.layout.name());
        }
        if let Some(enough) = self.enough {
            let _ = writeln!(text, "enough = \"{enough}\"");
        }
        self.workloads.iter().for_each(|w| write_workload(w, &mut text));
        text.extend(self.programs.iter().map(SuiteProgram::to_text));
        text
    }
}

fn write_workload(w: &SuiteWorkload, text: &mut String) {
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
    let sizes = match w.blocks.is_empty() {
        true => format!("block = \"{}\"", exact_bytes(w.block.0)),
        false => format!("blocks = \"{}\"", w.blocks),
    };
    let _ = write!(
        text,
        "\n[[workload]]\nname = {}\nop = \"{op}\"\npattern = \"{pattern}\"\n{sizes}\nqueue_depth = {}\njobs = {}\n\
         sync = \"{sync}\"\ndirect = {}\n",
        toml(&w.name),
        w.queue_depth,
        w.jobs,
        w.direct,
    );
    let mut line = |key: &str, value: Option<String>| {
        if let Some(value) = value {
            let _ = writeln!(text, "{key} = {value}");
        }
    };
    let string = |text: String| format!("\"{text}\"");
    line("read_percent", w.read_percent.map(|percent| percent.to_string()));
    line("rate", w.rate.as_ref().map(|rate| toml(&rate.to_string())));
    line("arrivals", w.rate.as_ref().map(|_| string(w.process.name().to_owned())));
    line("distribution", (!w.distribution.is_uniform()).then(|| string(w.distribution.to_string())));
    line("think", w.think.map(|think| string(format!("{}us", think.pause_ns / 1000))));
    line("think_after", w.think.map(|think| think.after_operations.to_string()));
    write_refined(w, &mut line);
    line("priority", w.priorities.job.map(|job| string(job.to_string())));
    let shares = &w.priorities.shares;
    line("priority_shares", (!shares.is_empty()).then(|| string(shares_text(shares))));
    line("cpus", (!w.cpus.is_empty()).then(|| string(w.cpus.to_string())));
    line("poll", w.poll.then(|| "true".to_owned()));
    line("group", w.group.as_ref().map(|group| string(group.clone())));
    line("duration", w.duration.map(|duration| string(exact_duration(duration))));
    line("span", w.span.map(|span| string(Extent::from_size(span, w.span_percent).to_string())));
    line("offset", w.offset.map(|offset| string(Extent::from_size(offset, w.offset_percent).to_string())));
    line("analysis", (w.analysis == Analysis::Soak).then(|| string("soak".to_owned())));
    line("original", w.original.map(|original| string(original.name().to_owned())));
}

fn write_refined(w: &SuiteWorkload, line: &mut impl FnMut(&str, Option<String>)) {
    let string = |text: String| format!("\"{text}\"");
    let r = &w.refined;
    let sizes = if r.writes.shares().len() == 1 { "write_block" } else { "write_blocks" };
    line(sizes, (!r.writes.is_empty()).then(|| string(r.writes.to_string())));
    line("align", r.align_bytes.map(|bytes| string(exact_bytes(bytes))));
    line("stride", r.stride.map(|stride| string(stride.to_string())));
    line("files", (r.files > 1).then(|| r.files.to_string()));
    line("shared", r.shared.then(|| "true".to_owned()));
    line("apart", r.apart.then(|| "true".to_owned()));
    line("sync_every", (r.sync_every > 1).then(|| r.sync_every.to_string()));
    line("duplicate_percent", (r.duplicate_percent > 0).then(|| r.duplicate_percent.to_string()));
    line("zero_percent", (r.zero_percent > 0).then(|| r.zero_percent.to_string()));
    line("flow", r.flow.map(|flow| flow.weight.to_string()));
    let pause = r.flow.filter(|flow| flow.pause_ns > 0);
    line("flow_pause", pause.map(|flow| string(format!("{}us", flow.pause_ns / 1000))));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::GIB;
    use crate::workload::Sync;

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
    fn lists_of_a_workload_make_one_each() {
        let text = |lists: &str| {
            format!(
                "{HEAD}[[workload]]\nname = \"m\"\npattern = \"random\"\nread_percent = 70\nsync = \"fsync\"\n{lists}"
            )
        };
        let lists = "op = [\"read\", \"mixed\"]\nblock = [\"4KiB\", 65536]\nqueue_depth = [1, 32]\n";
        let suite = Suite::parse(&text(lists), "f").unwrap();
        let names: Vec<&str> = suite.workloads.iter().map(|w| w.name.as_str()).collect();
        assert_eq!(names[..3], ["m-read-4KiB-q1", "m-read-4KiB-q32", "m-read-64KiB-q1"]);
        assert_eq!((names.len(), names[7]), (8, "m-mixed-64KiB-q32"));
        let [first, .., last] = &suite.workloads[..] else { panic!() };
        assert_eq!((first.read_percent, first.sync), (None, Sync::End), "reads have no share of reads and no sync");
        assert_eq!((last.read_percent, last.sync, last.queue_depth), (Some(70), Sync::Fsync, 32));
        assert_eq!(Suite::parse(&suite.to_text(), "g").unwrap(), suite);
        for (lists, line, words) in [
            ("op = []\nblock = 512\n", 13, "a list has 1 to 256"),
            ("op = [\"read\", \"erase\"]\nblock = 512\n", 13, "erase"),
            ("op = \"mixed\"\nblock = [512, 513]\n", 14, "513 B must be a multiple"),
        ] {
            let error = Suite::parse(&text(lists), "f").unwrap_err();
            assert!(error.message.contains(words) && error.line == line, "{lists}: {error}");
        }
    }

    #[test]
    fn what_a_load_has_beyond_its_blocks_is_read_and_written() {
        let workload = |name: &str, rest: &str| format!("[[workload]]\nname = \"{name}\"\nblock = \"4KiB\"\n{rest}\n");
        let text = HEAD.to_owned()
            + &workload(
                "a",
                "op = \"write\"\npattern = \"random\"\nalign = \"8KiB\"\nsync = \"fsync\"\nsync_every = 8",
            )
            + &workload(
                "b",
                "op = \"read\"\npattern = \"sequential\"\nstride = \"4KiB/-4KiB\"\nspan = \"1MiB\"\noffset = \"2MiB\"",
            )
            + &workload(
                "c",
                "op = \"mixed\"\nread_percent = 50\npattern = \"sequential\"\napart = true\nshared = true\nwrite_block = \"16KiB\"",
            )
            + &workload(
                "d",
                "op = \"write\"\npattern = \"sequential\"\nfiles = 4\nduplicate_percent = 30\nzero_percent = 50\ngroup = \"g\"\nflow = 8\nflow_pause = \"1ms\"",
            )
            + &workload("e", "op = \"read\"\npattern = \"random\"\ngroup = \"g\"\nflow = 1");
        let suite = Suite::parse(&text, "f").unwrap();
        assert_eq!(Suite::parse(&suite.to_text(), "g").unwrap(), suite, "{}", suite.to_text());
        assert_eq!(part(&suite.workloads, 1, 64 << 20).0, 2 << 20);
        let mixed = suite.workloads[2].load();
        assert_eq!((mixed.block_bytes, mixed.largest_block()), (10_240, 16_384), "the mean, and the largest");
        assert!(mixed.title().contains("4KiB") && mixed.title().contains("writes of 16KiB"), "{}", mixed.title());
        for (rest, words) in [
            ("op = \"read\"\npattern = \"sequential\"\nalign = 512", "align is for"),
            ("op = \"read\"\npattern = \"random\"\nstride = \"4KiB/8KiB\"", "sequential"),
            ("op = \"read\"\npattern = \"sequential\"\nstride = \"512B/8KiB\"", "whole blocks"),
            ("op = \"write\"\npattern = \"random\"\nsync_every = 3", "needs sync"),
            ("op = \"read\"\npattern = \"random\"\nwrite_block = \"8KiB\"", "op = \"mixed\""),
            ("op = \"read\"\npattern = \"random\"\nflow = 1", "of a group"),
            ("op = \"read\"\npattern = \"random\"\noffset = 0", "needs a span"),
            ("op = \"read\"\npattern = \"random\"\nspan = \"60MiB\"\noffset = \"5MiB\"", "ends behind"),
            ("op = \"read\"\npattern = \"random\"\nduplicate_percent = 5", "that write"),
        ] {
            let error = Suite::parse(&(HEAD.to_owned() + &workload("w", rest)), "f").unwrap_err();
            assert!(error.message.contains(words), "{rest}: {error}");
        }
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

    const TEXT: &str = "name = \"x\"\nversion = 1\npurpose = \"p\"\nbudget = \"10s\"\nmax_write = \"4096TiB\"\nrepeats = 1\n\
        span = \"100%\"\nlayout = \"none\"\n[[workload]]\nname = \"a\"\nop = \"read\"\npattern = \"random\"\n\
        block = \"4KiB\"\nspan = \"12.5%\"\noffset = \"50%\"\n";

    #[test]
    fn shares_are_of_the_medium_that_is_there() {
        let suite = Suite::parse(TEXT, "x.toml").unwrap();
        assert!(suite.has_shares() && suite.layout.keeps_size());
        assert_eq!(Suite::parse(&suite.to_text(), "y.toml").unwrap(), suite, "{}", suite.to_text());
        let settled = suite.settled(8 * GIB).unwrap();
        assert_eq!((settled.span, settled.max_write), (Bytes(8 * GIB), Bytes(32 * GIB)));
        let w = &settled.workloads[0];
        assert_eq!((w.span, w.offset), (Some(Bytes(GIB)), Some(Bytes(4 * GIB))));
        assert!(!settled.has_shares());
        let none = suite.settled(8192).unwrap_err();
        assert!(none.contains("no room for its blocks"), "{none}");
    }

    #[test]
    fn a_limit_of_writes_in_bytes_does_not_shrink_with_the_medium() {
        let text = TEXT
            .replace("4096TiB", "1GiB")
            .replace("100%", "50%")
            .replace("12.5%", "10%")
            .replace("offset = \"50%\"\n", "");
        let suite = Suite::parse(&text, "x.toml").unwrap();
        let settled = suite.settled(8 * GIB).unwrap();
        assert_eq!((settled.span, settled.max_write), (Bytes(4 * GIB), Bytes(GIB)));
    }
}
