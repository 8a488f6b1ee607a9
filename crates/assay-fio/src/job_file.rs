//! fio's job files, read into a suite.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use assay_core::arrivals::{MOST_IOPS, Process, Rate};
use assay_core::cpus::Cpus;
use assay_core::refined::Refined;
use assay_core::suite::{
    Analysis, LEAST_REPEATS, LayoutRule, MOST_WITH_ENOUGH, Suite, SuiteError, SuiteWorkload, leaders, part,
};
use assay_core::text::quoted;
use assay_core::think::Think;
use assay_core::units::Bytes;
use assay_core::workload::{Op, Pattern, Sync};

use crate::beside::{area, group, name};
use crate::export::{Header, share_of};
use crate::fold::fold;
use crate::include::{Included, Source};
use crate::options::{At, Options, PerJob};
use crate::place::{Place, place};

/// A job file as a suite, and what is different from how fio would run it.
#[derive(Debug, Clone, PartialEq)]
pub struct JobFile {
    /// The suite.
    pub suite: Suite,
    /// Where fio would measure; `None` is the current directory.
    pub place: Option<Place>,
    /// What the user should know, each in one line.
    pub notes: Vec<String>,
}

/// fio's default block size.
const BLOCK: u64 = 4096;
/// How much of a device is used where a job names no size: fio uses all of it.
const OF_A_DEVICE: u64 = 1 << 30;
/// A small file may be written over more often.
const LEAST_WRITTEN: u64 = 64 << 20;
/// Budget where the file gives no time.
const UNTIMED: Duration = Duration::from_secs(90);
/// Repeats share three quarters of the budget; the rest is for writing the test area.
const BUDGET_SHARE: f64 = 0.75;

struct Section<'t> {
    name: String,
    line: usize,
    options: Options<'t>,
}

impl Section<'_> {
    fn shown(&self) -> String {
        quoted(&format!("[{}]", self.name))
    }
}

/// Reads a job file; `file` is its name in messages, and `included` gives the text of a file that it includes. Every
/// option either maps to a workload, is told in the notes or is refused; none is passed over.
///
/// # Errors
/// [`SuiteError`] with the line of the first thing that is wrong.
pub fn read_job_file(text: &str, file: &str, included: &Included<'_>) -> Result<JobFile, SuiteError> {
    let source = Source::read(text, file, included)?;
    let fail = |line: usize, message: String| {
        let (file, line) = source.place(line);
        SuiteError { file, line, message }
    };
    let (sections, header) = sections(&source.text, &fail)?;
    let Some(first) = sections.first() else {
        return Err(SuiteError {
            file: file.to_owned(),
            line: 1,
            message: "the file has no job: write a [section] with rw=, bs= and size=".to_owned(),
        });
    };
    let mut notes = Vec::new();
    let mut workloads = workloads(&sections, header.is_some(), &mut notes).map_err(|e| fail(e.line, e.value))?;
    let span = settle_spans(&mut workloads, first.options.global_size.filter(|_| header.is_some()));
    let place = one_place(&sections).map_err(|e| fail(e.line, e.value))?;
    if sections.iter().any(|s| s.options.file.is_some()) && !matches!(place, Some(Place::Device(_))) {
        notes.push("the file of filename= is not touched: assay measures in a file of its own beside it".to_owned());
    }
    let (mut workloads, repeats) = fold(workloads, header.is_some());
    name(&mut workloads);
    let suite = match header {
        Some(header) => as_it_was(header, repeats, span, workloads),
        None => {
            let stem = std::path::Path::new(file).file_stem().map_or("fio".into(), |s| s.to_string_lossy());
            as_fio_runs(&stem, first.options.description.clone(), repeats, span, workloads, &mut notes)
        }
    };
    let mut known = HashSet::new();
    notes.retain(|note| known.insert(note.clone()));
    Ok(JobFile { suite, place, notes })
}

/// The workloads of all sections, with those that run at the same time in groups. Where assay did not write the file,
/// offsets have no place.
fn workloads(
    sections: &[Section<'_>],
    is_ours: bool,
    notes: &mut Vec<String>,
) -> Result<Vec<SuiteWorkload>, At<String>> {
    let mut names = Names::default();
    let mut workloads: Vec<SuiteWorkload> = Vec::with_capacity(sections.len());
    for section in sections {
        let name = names.unused(&section.name);
        workloads.push(workload(section, name, notes)?);
    }
    let waits = waits(sections)?;
    group(&mut workloads, &waits, notes).map_err(|(index, value)| At { value, line: sections[index].line })?;
    let single = sections.iter().zip(&workloads).filter(|(_, w)| w.group.is_none());
    match single.filter_map(|(s, _)| s.options.offset.as_ref()).next() {
        Some(at) if !is_ours => Err(At {
            value: "offset does not map: assay measures from the beginning of its area".to_owned(),
            line: at.line,
        }),
        _ => Ok(workloads),
    }
}

/// The area that the workloads need, of `written` bytes in a file that assay wrote; takes the span from those that use
/// all that they may.
fn settle_spans(workloads: &mut [SuiteWorkload], written: Option<u64>) -> Bytes {
    let mut span = area(workloads).unwrap_or(Bytes(BLOCK));
    let parts = |workloads: &[SuiteWorkload], size: u64| -> Vec<u64> {
        (0..workloads.len()).map(|index| part(workloads, index, size).1).collect()
    };
    if let Some(size) = written {
        // Regions of jobs are the span divided and rounded to blocks.
        let parts = parts(workloads, size);
        for (w, most) in workloads.iter_mut().zip(parts) {
            let lost = w.block.0.saturating_mul(u64::from(w.jobs));
            let whole = if w.group.is_some() { most } else { size };
            w.span = w.span.map(|s| if w.jobs > 1 && s.0 <= whole && whole - s.0 < lost { Bytes(whole) } else { s });
        }
        span = span.max(Bytes(size));
    }
    let parts = parts(workloads, span.0);
    for (w, most) in workloads.iter_mut().zip(parts) {
        w.span = w.span.filter(|s| s.0 != most);
    }
    span
}

/// The suite that assay wrote the file from.
fn as_it_was(header: Header, repeats: u32, span: Bytes, mut workloads: Vec<SuiteWorkload>) -> Suite {
    let share = share_of(header.budget, repeats, leaders(&workloads).len());
    for w in workloads.iter_mut().filter(|w| w.duration == Some(share)) {
        w.duration = None;
    }
    Suite {
        name: clean(&header.name),
        version: header.version,
        purpose: header.purpose,
        budget: header.budget,
        max_write: header.max_write,
        repeats,
        enough: header.enough.filter(|_| (LEAST_REPEATS..=MOST_WITH_ENOUGH).contains(&repeats)),
        span,
        span_percent: None,
        layout: LayoutRule::default(),
        workloads,
        programs: Vec::new(),
    }
}

/// The suite of a file that somebody wrote for fio: its budget is what its runtimes come to.
fn as_fio_runs(
    stem: &str,
    description: Option<String>,
    repeats: u32,
    span: Bytes,
    workloads: Vec<SuiteWorkload>,
    notes: &mut Vec<String>,
) -> Suite {
    let timed: Duration = leaders(&workloads).iter().filter_map(|index| workloads[*index].duration).sum();
    let seconds = timed.as_secs_f64() * f64::from(repeats) / BUDGET_SHARE;
    let budget = if timed.is_zero() { UNTIMED } else { Duration::from_secs_f64(seconds + 1.0) };
    let writers = workloads.iter().filter(|w| w.op != Op::Read).count() as u64;
    let limit = Bytes(span.0.saturating_mul(4 + writers).max(LEAST_WRITTEN));
    if writers > 0 {
        notes.push(format!("at most {limit} are written in all; --max-write changes that"));
    }
    Suite {
        name: clean(stem),
        version: 1,
        purpose: description.unwrap_or_else(|| format!("fio job file {stem}")),
        budget: budget.max(Duration::from_secs(1)),
        max_write: limit,
        repeats,
        enough: None,
        span,
        span_percent: None,
        layout: LayoutRule::default(),
        workloads,
        programs: Vec::new(),
    }
}

/// Which sections wait for those before them: fio begins the others at the same time as the one before.
///
/// `wait_for` waits for one job, and what stands below begins without waiting: it is the same as `stonewall` only where
/// that job is all that runs, and where the next sections wait too.
fn waits(sections: &[Section<'_>]) -> Result<Vec<bool>, At<String>> {
    let mut waits = Vec::with_capacity(sections.len());
    let (mut running, mut single) = (0..0, false);
    for (index, section) in sections.iter().enumerate() {
        let wrong = |value: String| Err(At { value, line: section.line });
        let named = section.options.wait_for;
        let alone = running.len() == 1 && named == Some(sections[running.start].name.as_str());
        match named {
            Some(_) if !alone => {
                return wrong(format!(
                    "{}: wait_for maps only where it names the one job that runs before it; use stonewall",
                    section.shown()
                ));
            }
            None if single && !section.options.stonewall => {
                return wrong(format!(
                    "{} begins in fio beside the job that the section above waits for; add stonewall",
                    section.shown()
                ));
            }
            _ => {}
        }
        let waiting = index > 0 && (alone || section.options.stonewall);
        running = if waiting || index == 0 { index..index + 1 } else { running.start..index + 1 };
        single = if section.options.stonewall { false } else { single || named.is_some() };
        waits.push(waiting);
    }
    Ok(waits)
}

/// The place of all sections; they have to agree, because a run is about one medium.
fn one_place(sections: &[Section<'_>]) -> Result<Option<Place>, At<String>> {
    let mut first: Option<Option<Place>> = None;
    for section in sections {
        let found = place(&section.options)?;
        let line = found.as_ref().map_or(section.line, |at| at.line);
        let found = found.map(|at| at.value);
        if first.as_ref().is_some_and(|first| *first != found) {
            let message = format!(
                "{} names another directory or device than the jobs before it, and a run measures one medium",
                section.shown()
            );
            return Err(At { value: message, line });
        }
        first = Some(found);
    }
    Ok(first.flatten())
}

type Fail<'a> = dyn Fn(usize, String) -> SuiteError + 'a;

/// Sections with the options of the `[global]` ones before them.
fn sections<'t>(text: &'t str, fail: &Fail<'_>) -> Result<(Vec<Section<'t>>, Option<Header>), SuiteError> {
    let mut global = Options::default();
    let mut sections: Vec<Section<'t>> = Vec::new();
    let mut in_global = false;
    let mut begun = false;
    let mut header = None;
    for (index, raw) in text.lines().enumerate() {
        let number = index + 1;
        if header.is_none() && !begun {
            header = Header::read(raw);
        }
        // fio takes `;` and `#` for the start of a comment anywhere in a line.
        let line = raw.split([';', '#']).next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        if let Some(inner) = line.strip_prefix('[') {
            let Some(name) = inner.strip_suffix(']').map(str::trim).filter(|n| !n.is_empty()) else {
                return Err(fail(number, format!("{} is not a section; write [name]", quoted(line))));
            };
            begun = true;
            in_global = name.eq_ignore_ascii_case("global");
            if !in_global {
                sections.push(Section {
                    name: name.to_owned(),
                    line: number,
                    options: Options { global_size: global.size.map(|s| s.value), ..global.clone() },
                });
            }
            continue;
        }
        let (key, value) = match line.split_once('=') {
            Some((key, value)) => (key.trim(), Some(value.trim())),
            None => (line, None),
        };
        let options = match (in_global, sections.last_mut()) {
            (true, _) => &mut global,
            (false, Some(section)) => &mut section.options,
            (false, None) => return Err(fail(number, format!("option {} stands before any [section]", quoted(key)))),
        };
        options.set(key, value, number).map_err(|message| fail(number, message))?;
    }
    Ok((sections, header))
}

fn workload(section: &Section<'_>, name: String, notes: &mut Vec<String>) -> Result<SuiteWorkload, At<String>> {
    let options = &section.options;
    // fio's default is a sequential read.
    let (op, pattern) = options.load.map_or((Op::Read, Pattern::Sequential), |l| l.value);
    let blocks = options.blocks.as_ref().map(|b| b.value.clone()).unwrap_or_default();
    let block = blocks.largest().unwrap_or(options.block.map_or(BLOCK, |b| b.value));
    let jobs = options.jobs.map_or(1, |j| j.value);
    let asked = options.depth.map_or(1, |d| d.value);
    let queue_depth = if options.queues() { asked } else { 1 };
    if queue_depth < asked {
        let engine = options.engine.unwrap_or("psync");
        notes.push(format!("[{name}]: {engine} keeps one operation in flight, so iodepth={asked} is 1, as in fio"));
    }
    if let (Some(At { value: true, line }), Some(At { value: true, .. })) = (options.fsync, options.fdatasync) {
        return Err(At { value: "fsync=1 and fdatasync=1 exclude each other".to_owned(), line });
    }
    let read_percent = read_percent(op, options)?;
    let span = span(section, pattern, block, jobs)?;
    let rate = checked_rate(options, op, blocks.mean().unwrap_or(block), jobs)?;
    if pattern == Pattern::Random && !options.norandommap {
        notes.push("blocks are drawn independently, as with norandommap".to_owned());
    }
    if options.ramp {
        notes.push("ramp_time is not used: assay warms up for 15 % of a repeat, at most 500 ms".to_owned());
    }
    notes.extend(options.replaced.iter().map(|words| format!("[{name}]: {words}")));
    if options.bytes().is_none() {
        notes.push(format!("[{name}]: names no size: {} of the device are used", Bytes(OF_A_DEVICE)));
    }
    if jobs > 1 && pattern == Pattern::Sequential && options.file.is_some() && options.offset_increment.is_none() {
        notes.push(format!(
            "[{name}]: each of the {jobs} jobs goes through a part of the area, and not through all of it"
        ));
    }
    if !options.unused.is_empty() {
        notes.push(format!("[{name}]: not used, as assay does it in its own way: {}", options.unused.join(", ")));
    }
    match (options.runtime, options.time_based) {
        (Some(_), false) => notes.push(format!("[{name}]: runs for its runtime, as with time_based")),
        (None, _) => notes.push(format!("[{name}]: has no runtime; the time budget is shared out")),
        _ => {}
    }
    Ok(SuiteWorkload {
        name,
        op,
        read_percent,
        pattern,
        block: Bytes(block),
        blocks,
        queue_depth,
        jobs,
        // A sync after a write does nothing to a job that only reads, in fio too.
        sync: if op == Op::Read { Sync::End } else { options.sync() },
        direct: options.direct,
        rate,
        // fio's default is another one than assay's.
        process: options.process.unwrap_or(if options.rate.is_some() { Process::Constant } else { Process::default() }),
        distribution: options.distribution.clone().filter(|_| pattern == Pattern::Random).unwrap_or_default(),
        think: think(options)?,
        refined: Refined::default(),
        cpus: Cpus::default(),
        poll: false,
        group: None,
        duration: options.runtime.map(|r| r.value),
        span: Some(Bytes(span)),
        span_percent: None,
        offset: None,
        offset_percent: None,
        analysis: Analysis::default(),
        original: None,
    })
}

/// Pauses between operations.
fn think(options: &Options<'_>) -> Result<Option<Think>, At<String>> {
    let Some(At { value, line }) = options.think else { return Ok(None) };
    if options.rate.is_some() {
        return Err(At { value: "thinktime and a rate exclude each other".to_owned(), line });
    }
    let pause_ns = u64::try_from(value.as_nanos()).unwrap_or(u64::MAX);
    Ok(Some(Think { pause_ns, after_operations: options.think_after.unwrap_or(1) }))
}

/// The rate of all jobs: fio's is that of each job, and of a mix that of each direction.
fn checked_rate(options: &Options<'_>, op: Op, block: u64, jobs: u32) -> Result<Option<Rate>, At<String>> {
    let Some(At { value, line }) = options.rate else { return Ok(None) };
    let rate = match value {
        PerJob::Iops(iops) => Rate::Iops(f64::from(iops) * f64::from(jobs)),
        PerJob::BytesPerSecond(bytes) => Rate::BytesPerSecond(bytes as f64 * f64::from(jobs)),
    };
    let wrong = match op {
        // Of reads and of writes alike: both are twice as many.
        Op::Mixed if options.read_percent.is_none_or(|percent| percent.value == 50) => {
            return Ok(Some(match rate {
                Rate::BytesPerSecond(bytes) => Rate::BytesPerSecond(2.0 * bytes),
                Rate::Iops(iops) => Rate::Iops(2.0 * iops),
                share @ Rate::Share { .. } => share,
            }));
        }
        Op::Mixed => {
            "a rate of a mix is that of reads and that of writes in fio, and of both together here; give it in a suite"
        }
        _ if rate.iops(block).is_some_and(|iops| iops > MOST_IOPS) => {
            "the rate is more than 10 million operations per second"
        }
        _ => return Ok(Some(rate)),
    };
    Err(At { value: wrong.to_owned(), line })
}

/// Share of reads in percent; 50 where a mix does not say, as in fio.
fn read_percent(op: Op, options: &Options<'_>) -> Result<Option<u8>, At<String>> {
    match (op, options.read_percent) {
        (Op::Mixed, None) => Ok(Some(50)),
        (Op::Mixed, Some(At { value: percent @ 1..=99, .. })) => Ok(Some(percent)),
        (Op::Mixed, Some(At { line, value })) => {
            let message = format!("a mix with {value} % reads is none: use rw=read or rw=write, or 1 to 99");
            Err(At { value: message, line })
        }
        _ => Ok(None),
    }
}

/// Bytes of the test area that the jobs of a section use together.
fn span(section: &Section<'_>, pattern: Pattern, block: u64, jobs: u32) -> Result<u64, At<String>> {
    let options = &section.options;
    let wrong = |line, value: String| Err(At { value, line });
    let whole = options.file.filter(|file| file.value.starts_with("/dev/"));
    let Some(size) = options.bytes().or(whole.map(|file| At { value: OF_A_DEVICE, line: file.line })) else {
        return wrong(section.line, format!("{} has no size; write size=256m", section.shown()));
    };
    let each = size.value / block * block;
    let all = size.value.saturating_mul(u64::from(jobs));
    let span = match (jobs, pattern, options.offset_increment, options.file.is_some()) {
        (1, _, None | Some(At { value: 0, .. }), _) => size.value,
        (1, _, Some(At { line, .. }), _) => {
            return wrong(line, "offset_increment is for numjobs above 1".to_owned());
        }
        (_, Pattern::Sequential, Some(at), _) if at.value == each => each.saturating_mul(u64::from(jobs)),
        (_, _, Some(at), _) if at.value != 0 => {
            let message = "offset_increment maps only where it equals size and the jobs are sequential".to_owned();
            return wrong(at.line, message);
        }
        // Each job has a file of its own, as it has a region of its own in assay.
        (_, _, _, false) => all,
        // One file for all; those that are sequential have a part of it each.
        _ => size.value,
    };
    if block.saturating_mul(u64::from(jobs)) > span {
        let message = format!("size = {} is less than a block of {} for each job", Bytes(size.value), Bytes(block));
        return wrong(size.line, message);
    }
    Ok(span)
}

/// A name in letters that a suite may have.
fn clean(name: &str) -> String {
    let clean: String = name
        .chars()
        .take(56)
        .map(|c| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '-' })
        .collect();
    if clean.is_empty() { "job".to_owned() } else { clean }
}

/// Names of workloads, each different from those before it.
#[derive(Default)]
struct Names {
    taken: HashSet<String>,
    /// The number to try next for a name that is taken.
    next: HashMap<String, usize>,
}

impl Names {
    fn unused(&mut self, name: &str) -> String {
        let clean = clean(name);
        let mut candidate = clean.clone();
        let number = self.next.entry(clean.clone()).or_insert(2);
        while !self.taken.insert(candidate.clone()) {
            candidate = format!("{clean}_{number}");
            *number += 1;
        }
        candidate
    }
}
