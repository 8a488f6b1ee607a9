//! fio's job files, read into a suite.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use assay_core::suite::{
    LEAST_REPEATS, LayoutRule, MAX_TOGETHER, MOST_WITH_ENOUGH, Suite, SuiteError, SuiteWorkload, WHOLE, leaders,
    members, part,
};
use assay_core::text::harmless;
use assay_core::units::{Bytes, span};
use assay_core::workload::{Op, Pattern};

use super::area::{Files, JobPlace, Section, files_of_section, sections};
use crate::area::{Included, Job, Reach, Source, settle, size};
use crate::export::{Header, share_of};
use crate::given::{Amount, At};
use crate::load::{ladder, of_ladder, workload};

/// A job file as a suite, and what is different from how fio would run it.
#[derive(Debug, Clone, PartialEq)]
pub struct JobFile {
    /// The suite.
    pub suite: Suite,
    /// Where fio would measure; `None` is the current directory.
    pub place: Option<JobPlace>,
    /// Other directories and devices that the file names. The suite is of the jobs at `place` alone.
    pub others: Vec<JobPlace>,
    /// What the user should know, each in one line.
    pub notes: Vec<String>,
}

/// What is asked for beside the file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Wish {
    /// The size of each job, whatever the file says.
    pub size: Option<Amount>,
    /// Of the places that the file names, this one.
    pub at: Option<PathBuf>,
}

/// A small file may be written over more often.
const LEAST_WRITTEN: u64 = 64 << 20;
/// Bytes per second that a writing job may write in its runtime: fio has no limit.
const WRITTEN_A_SECOND: u64 = 2 << 30;
/// Budget where the file gives no time.
const UNTIMED: Duration = Duration::from_secs(90);
/// Repeats share three quarters of the budget; the rest is for writing the test area.
const BUDGET_SHARE: f64 = 0.75;

/// Reads a job file; `file` is its name in messages, and `included` gives the text of a file that it includes. Every
/// option either maps to a workload, has a note, or is refused; no option is passed over.
///
/// # Errors
/// [`SuiteError`] with the line of the first thing that is wrong.
pub fn read_job_file(text: &str, file: &str, included: &Included<'_>, wish: &Wish) -> Result<JobFile, SuiteError> {
    let source = Source::read(text, file, included)?;
    let fail = |line: usize, message: String| {
        let (file, line) = source.place(line);
        SuiteError { file, line, message }
    };
    let (mut sections, header) = sections(&source.text, &fail)?;
    if sections.is_empty() {
        return Err(SuiteError {
            file: file.to_owned(),
            line: 1,
            message: "the file has no job: write a [section] with rw=, bs= and size=".to_owned(),
        });
    }
    let mut notes = Vec::new();
    let (place, others) = one_place(&mut sections, wish, &mut notes).map_err(|e| fail(e.line, e.value))?;
    let ours = header.is_some();
    let mut jobs = jobs(&sections, ours, wish, &mut notes).map_err(|e| fail(e.line, e.value))?;
    together(&mut jobs, &mut notes).map_err(|e| fail(e.line, e.value))?;
    let reach = settle(&mut jobs, &mut notes).map_err(|e| fail(e.line, e.value))?;
    let mut workloads: Vec<SuiteWorkload> = jobs.into_iter().map(|job| job.workload).collect();
    let description = sections[0].options.description.clone();
    let written = sections[0].options.global_size.filter(|_| ours).map(|size| size.bytes_of_medium(WHOLE.0));
    if ours {
        as_parts(&mut workloads, reach.bytes);
    }
    let span = settle_spans(&mut workloads, reach, written);
    if sections.iter().any(|s| s.options.file.is_some()) && !matches!(place, Some(JobPlace::Device(_))) {
        notes.push("the file of filename= is not touched: assay measures in a file of its own beside it".to_owned());
    }
    let (mut workloads, repeats) = fold(workloads, ours);
    name(&mut workloads);
    let percent = Some(reach.percent).filter(|percent| *percent > 0.0);
    let suite = match header {
        Some(header) => as_it_was(header, repeats, (span, percent), workloads),
        None => {
            let stem = std::path::Path::new(file).file_stem().map_or("fio".into(), |s| s.to_string_lossy());
            let device = matches!(place, Some(JobPlace::Device(_)));
            let layout = if device { LayoutRule::None } else { LayoutRule::Whole };
            let read = Read { repeats, span, percent, layout };
            as_fio_runs(&stem, description, read, workloads, &mut notes)
        }
    };
    let mut known = HashSet::new();
    notes.retain(|note| known.insert(note.clone()));
    Ok(JobFile { suite, place, others, notes })
}

/// The place that is measured and the others that the file names; takes away the sections of those.
fn one_place(
    sections: &mut Vec<Section<'_>>,
    wish: &Wish,
    notes: &mut Vec<String>,
) -> Result<(Option<JobPlace>, Vec<JobPlace>), At<String>> {
    let found: Vec<Option<JobPlace>> =
        sections.iter().map(|section| files_of_section(section).map(|files| files.place)).collect::<Result<_, _>>()?;
    let mut all: Vec<Option<JobPlace>> = Vec::new();
    for place in &found {
        if !all.contains(place) {
            all.push(place.clone());
        }
    }
    if all.len() < 2 {
        return Ok((all.pop().flatten(), Vec::new()));
    }
    let path = |place: &Option<JobPlace>| place.as_ref().map_or(PathBuf::from("."), |place| place.path().to_owned());
    let wanted = wish.at.as_ref().and_then(|at| all.iter().position(|place| path(place) == *at)).unwrap_or(0);
    let wanted = all.remove(wanted);
    let named = |place: &Option<JobPlace>| harmless(&path(place).to_string_lossy());
    let left: Vec<String> = all.iter().map(named).collect();
    notes.push(format!(
        "the jobs are on several places, and a run measures one: {} here. Those on {} are left out; name it as the target to \
         measure it",
        named(&wanted),
        left.join(", ")
    ));
    let mut kept = found.iter().map(|place| *place == wanted);
    sections.retain(|_| kept.next().unwrap_or(false));
    let others = all.iter().map(|place| place.clone().unwrap_or(JobPlace::Directory(PathBuf::from(".")))).collect();
    Ok((wanted, others))
}

/// The jobs of all sections.
fn jobs(sections: &[Section<'_>], ours: bool, wish: &Wish, notes: &mut Vec<String>) -> Result<Vec<Job>, At<String>> {
    let mut names = Names::default();
    let mut jobs: Vec<Job> = Vec::with_capacity(sections.len());
    let waits = waits(sections)?;
    for (section, waits) in sections.iter().zip(waits) {
        let options = &section.options;
        let Files { place, names: file, .. } = files_of_section(section)?;
        let device = matches!(place, Some(JobPlace::Device(_)));
        let name = names.unused(&section.name);
        let mut workload = workload(options, name, section.line, notes)?;
        if ours {
            workload.refined.apart = false;
            workload.refined.align_bytes = workload.refined.align_bytes.filter(|_| options.align[0].is_some());
        }
        let count = file.as_ref().map_or(options.files.unwrap_or(1), |file| u32::try_from(file.len()).unwrap_or(1));
        let plain =
            workload.pattern == Pattern::Sequential && !workload.has_sizes() && workload.refined.stride.is_none();
        if count > 1 && plain && !options.in_order {
            workload.refined.files = count;
        }
        let of_each = of_each(section, wish, device)?;
        // fio's file of each job, or the device that all are on.
        let file = file.map(|file| file.join(":"));
        let job = Job { workload, line: section.line, waits, size: of_each.value, offset: None, file };
        if let Some(apart) = increments(section, &job)? {
            jobs.extend(apart);
            continue;
        }
        let mut job = job;
        job.size = size(section, &mut job.workload, of_each.value, of_each.line)?;
        if ours && options.offset_increment.is_some() {
            // What assay wrote has a region for each job.
            job.workload.refined.shared = false;
            job.size = of_each.value.times(u64::from(job.workload.jobs));
        }
        job.offset = options.offset.map(|offset| offset.value);
        jobs.extend(depths(section, job, notes)?);
    }
    Ok(jobs)
}

/// The size of each job of a section.
fn of_each(section: &Section<'_>, wish: &Wish, device: bool) -> Result<At<Amount>, At<String>> {
    let asked = wish.size.map(|value| At { value, line: section.line }).or(section.options.bytes());
    // fio uses all of a device.
    let all = device.then_some(At { value: Amount::Percent(100.0), line: section.line });
    asked.or(all).ok_or_else(|| At {
        value: format!("{} has no size; write size=256m, or give --size 256MiB", section.shown()),
        line: section.line,
    })
}

/// The jobs of a section as workloads that begin at the same time, where each begins `offset_increment` after the one
/// before; `None` where it has none, or one that leaves each a part of its own.
fn increments(section: &Section<'_>, job: &Job) -> Result<Option<Vec<Job>>, At<String>> {
    let options = &section.options;
    let Some(At { value: increment, line }) = options.offset_increment else { return Ok(None) };
    let count = job.workload.jobs;
    let wrong = |value: &str| Err(At { value: value.to_owned(), line });
    let parts = matches!((increment, job.size), (Amount::Bytes(a), Amount::Bytes(b))
        if a == b / job.workload.block.0.max(1) * job.workload.block.0.max(1));
    match increment {
        Amount::Bytes(0) => return Ok(None),
        Amount::Percent(0.0) => return Ok(None),
        _ if count == 1 => return wrong("offset_increment is for numjobs above 1"),
        _ if parts && job.workload.pattern == Pattern::Sequential && options.offset.is_none() => {
            let each = increment.bytes_of_medium(0);
            let mut one = job.clone();
            one.size = Amount::Bytes(each.saturating_mul(u64::from(count)));
            return Ok(Some(vec![one]));
        }
        _ => {}
    }
    let begins = options.offset.map_or(Amount::Bytes(0), |offset| offset.value);
    let offset = |number: u64| match (begins, increment) {
        (Amount::Bytes(begins), Amount::Bytes(step)) => {
            Some(Amount::Bytes(begins.saturating_add(step.saturating_mul(number))))
        }
        (Amount::Percent(begins), Amount::Percent(step)) => {
            Some(begins + step * number as f64).filter(|percent| *percent <= 100.0).map(Amount::Percent)
        }
        (Amount::Bytes(0), Amount::Percent(step)) => {
            Some(step * number as f64).filter(|percent| *percent <= 100.0).map(Amount::Percent)
        }
        _ => None,
    };
    let mut apart = Vec::with_capacity(count as usize);
    for number in 0..count {
        let Some(offset) = offset(u64::from(number)) else {
            return wrong("offset and offset_increment must both be in bytes or in percent, within the medium");
        };
        let mut one = job.clone();
        one.workload.jobs = 1;
        if number > 0 {
            one.workload.name = format!("{}_of_{}", job.workload.name, number + 1);
            one.waits = false;
        }
        one.offset = Some(offset);
        one.file.get_or_insert_with(String::new);
        apart.push(one);
    }
    Ok(Some(apart))
}

/// A job, or one for each queue depth where fio looks for the largest that keeps a latency.
fn depths(section: &Section<'_>, job: Job, notes: &mut Vec<String>) -> Result<Vec<Job>, At<String>> {
    let latency = section.options.latency;
    let Some(At { value: target, line }) = latency.target else { return Ok(vec![job]) };
    if job.workload.rate.is_some() {
        return Err(At { value: "latency_target and a rate exclude each other".to_owned(), line });
    }
    notes.push(of_ladder(&job.workload.name, target, latency.percentile.unwrap_or(100.0)));
    let at = |(number, depth): (usize, u32)| {
        let mut one = job.clone();
        one.workload.queue_depth = depth;
        one.workload.name = format!("{}_q{depth}", job.workload.name);
        one.waits = one.waits || number > 0;
        one
    };
    Ok(ladder(job.workload.queue_depth).into_iter().enumerate().map(at).collect())
}

/// Puts those that run at the same time into groups.
fn together(jobs: &mut [Job], notes: &mut Vec<String>) -> Result<(), At<String>> {
    let waits: Vec<bool> = jobs.iter().map(|job| job.waits).collect();
    let mut workloads: Vec<SuiteWorkload> = jobs.iter().map(|job| job.workload.clone()).collect();
    group(&mut workloads, &waits, notes).map_err(|(index, value)| At { value, line: jobs[index].line })?;
    for (job, mut workload) in jobs.iter_mut().zip(workloads) {
        if workload.group.is_none() {
            // Alone it has all operations.
            workload.refined.flow = None;
        }
        job.workload = workload;
    }
    Ok(())
}

/// Takes the offsets from the members of each group that have the parts of its members in a file that assay wrote.
fn as_parts(workloads: &mut [SuiteWorkload], area_bytes: u64) {
    let mut plain = workloads.to_vec();
    plain.iter_mut().for_each(|w| w.offset = None);
    for leader in leaders(&plain) {
        let group = members(&plain, leader);
        let fits = |index: usize| {
            let (begins, most) = part(&plain, index, area_bytes);
            let w = &workloads[index];
            w.offset.is_none_or(|offset| offset.0 == begins) && w.span.is_none_or(|span| span.0 <= most)
        };
        if group.clone().all(fits) {
            group.for_each(|index| workloads[index].offset = None);
        }
    }
}

/// The area that the workloads need, of `written` bytes in a file that assay wrote; takes the span from those that use
/// all that they may.
fn settle_spans(workloads: &mut [SuiteWorkload], reach: Reach, written: Option<u64>) -> Bytes {
    let mut span = Bytes(reach.bytes.max(Amount::Percent(reach.percent).bytes_of_medium(WHOLE.0)).max(512));
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
    let all = Some(reach.percent).filter(|percent| *percent > 0.0);
    for (w, most) in workloads.iter_mut().zip(parts) {
        if w.offset.is_none()
            && w.span.is_some_and(|span| span.0 == most)
            && (w.span_percent == all || w.group.is_some())
        {
            (w.span, w.span_percent) = (None, None);
        }
    }
    span
}

/// The suite that assay wrote the file from.
fn as_it_was(
    header: Header,
    repeats: u32,
    (span, percent): (Bytes, Option<f64>),
    mut workloads: Vec<SuiteWorkload>,
) -> Suite {
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
        span_percent: percent,
        layout: header.layout,
        workloads,
        programs: Vec::new(),
    }
}

/// What all workloads of a file have.
struct Read {
    repeats: u32,
    span: Bytes,
    percent: Option<f64>,
    layout: LayoutRule,
}

/// The suite of a file that somebody wrote for fio: its budget is what its runtimes come to.
fn as_fio_runs(
    stem: &str,
    description: Option<String>,
    read: Read,
    workloads: Vec<SuiteWorkload>,
    notes: &mut Vec<String>,
) -> Suite {
    let timed: Duration = leaders(&workloads).iter().filter_map(|index| workloads[*index].duration).sum();
    let seconds = timed.as_secs_f64() * f64::from(read.repeats) / BUDGET_SHARE;
    let budget = if timed.is_zero() { UNTIMED } else { Duration::from_secs_f64((seconds + 1.0).ceil()) };
    let limit = may_write(&read, &workloads);
    if workloads.iter().any(|w| w.op != Op::Read) {
        let said = match read.percent {
            None => limit.to_string(),
            Some(_) => format!("{} times the area", limit.0 / read.span.0.max(1)),
        };
        notes.push(format!("at most {said} are written in all; --max-write changes that"));
    }
    Suite {
        name: clean(stem),
        version: 1,
        purpose: description.unwrap_or_else(|| format!("fio job file {stem}")),
        budget: budget.max(Duration::from_secs(1)),
        max_write: limit,
        repeats: read.repeats,
        enough: None,
        span: read.span,
        span_percent: read.percent,
        layout: read.layout,
        workloads,
        programs: Vec::new(),
    }
}

/// Most bytes that the workloads write: the area, and what each may write in its runtime.
fn may_write(read: &Read, workloads: &[SuiteWorkload]) -> Bytes {
    let area = read.span.0;
    let writers = workloads.iter().filter(|w| w.op != Op::Read);
    let of = |w: &SuiteWorkload| {
        let timed = w.duration.map_or(0, |length| length.as_secs().saturating_add(1)).saturating_mul(WRITTEN_A_SECOND);
        let timed = if read.percent.is_some() { 0 } else { timed.saturating_mul(u64::from(read.repeats)) };
        timed.max(area.saturating_mul(4))
    };
    let written = writers.map(of).fold(area, u64::saturating_add);
    Bytes(written.max(LEAST_WRITTEN))
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

// Jobs of a file that run at the same time.

/// Puts the jobs into groups of those that run at the same time: fio begins each with the one before it, unless it
/// waits (`stonewall`, `wait_for`). All of a group run for as long as the longest of them.
///
/// # Errors
/// The index of the job that is one too many, and why.
pub(crate) fn group(
    workloads: &mut [SuiteWorkload],
    waits: &[bool],
    notes: &mut Vec<String>,
) -> Result<(), (usize, String)> {
    let starts: Vec<usize> = (0..workloads.len()).filter(|index| *index == 0 || waits[*index]).collect();
    for (number, begin) in starts.iter().enumerate() {
        let end = starts.get(number + 1).copied().unwrap_or(workloads.len());
        let group = &mut workloads[*begin..end];
        if group.len() < 2 {
            continue;
        }
        if group.len() > MAX_TOGETHER {
            return Err((begin + MAX_TOGETHER, format!("no more than {MAX_TOGETHER} jobs run at the same time")));
        }
        let longest: Option<Duration> = group.iter().filter_map(|w| w.duration).max();
        if let Some(longest) = longest.filter(|longest| group.iter().any(|w| w.duration != Some(*longest))) {
            notes.push(format!("jobs at the same time all run for {}, as the longest of them", span(longest)));
        }
        for workload in group.iter_mut() {
            workload.duration = longest;
            workload.group = Some(format!("group-{}", number + 1));
        }
    }
    Ok(())
}

/// Names the groups by their order.
pub(crate) fn name(workloads: &mut [SuiteWorkload]) {
    let groups: Vec<Range<usize>> = leaders(workloads).into_iter().map(|leader| members(workloads, leader)).collect();
    for (number, group) in groups.into_iter().filter(|group| group.len() > 1).enumerate() {
        for member in group {
            workloads[member].group = Some(format!("group-{}", number + 1));
        }
    }
}

// Repeats that stand in a job file as sections of their own.

/// Folds `x-1`, `x-2`, … that are otherwise alike into one workload `x` with repeats, where all of
/// the file is written so; of jobs at the same time all have the number. A single repeat is distinguished from names
/// that end in `-1` only in a file that assay wrote (`ours`).
pub(crate) fn fold(workloads: Vec<SuiteWorkload>, ours: bool) -> (Vec<SuiteWorkload>, u32) {
    let turns: Vec<&[SuiteWorkload]> = workloads.chunk_by(|a, b| a.group.is_some() && a.group == b.group).collect();
    let repeats = count(&turns).filter(|n| (*n > 1 || ours) && *n <= 1000);
    let Some((repeats, number)) = repeats.and_then(|n| Some((n, u32::try_from(n).ok()?))) else {
        return (workloads, 1);
    };
    let stem = |w: &SuiteWorkload| SuiteWorkload {
        name: split(&w.name).map_or(w.name.as_str(), |(stem, _)| stem).to_owned(),
        ..w.clone()
    };
    let folded = turns.chunks(repeats).filter_map(|same| same.first()).flat_map(|turn| turn.iter().map(stem)).collect();
    (folded, number)
}

/// How many repeats every turn has; `None` where they are not written as repeats.
fn count(turns: &[&[SuiteWorkload]]) -> Option<usize> {
    let (stems, _) = numbered(turns.first()?)?;
    let repeats = turns.iter().take_while(|turn| numbered(turn).is_some_and(|(others, _)| others == stems)).count();
    let mut known: HashSet<&str> = HashSet::new();
    for same in turns.chunks(repeats) {
        let first = same.first()?;
        let (stems, _) = numbered(first)?;
        let like = |a: &SuiteWorkload, b: &SuiteWorkload| {
            *a == SuiteWorkload { name: a.name.clone(), group: a.group.clone(), ..b.clone() }
        };
        let alike = same.len() == repeats
            && same.iter().enumerate().all(|(i, turn)| {
                numbered(turn) == Some((stems.clone(), i + 1)) && turn.iter().zip(*first).all(|(a, b)| like(a, b))
            });
        if !alike || stems.iter().any(|stem| stem.is_empty() || known.contains(stem)) {
            return None;
        }
        known.extend(stems);
    }
    Some(repeats)
}

/// Names without the number that all of them end in, and that number.
fn numbered(turn: &[SuiteWorkload]) -> Option<(Vec<&str>, usize)> {
    let split: Option<Vec<_>> = turn.iter().map(|w| split(&w.name)).collect();
    let (stems, numbers): (Vec<&str>, Vec<usize>) = split?.into_iter().unzip();
    let first = *numbers.first()?;
    numbers.iter().all(|number| *number == first).then_some((stems, first))
}

fn split(name: &str) -> Option<(&str, usize)> {
    let (stem, number) = name.rsplit_once('-')?;
    Some((stem, number.parse().ok()?))
}

// Names of workloads.

/// A name in letters that a suite may have.
pub(crate) fn clean(name: &str) -> String {
    let clean: String = name
        .chars()
        .take(56)
        .map(|c| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '-' })
        .collect();
    if clean.is_empty() { "job".to_owned() } else { clean }
}

/// Names of workloads, each different from those before it.
#[derive(Default)]
pub(crate) struct Names {
    taken: HashSet<String>,
    /// The number to try next for a name that is taken.
    next: HashMap<String, usize>,
}

impl Names {
    /// A name like this that was not given out yet.
    pub(crate) fn unused(&mut self, name: &str) -> String {
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
