//! One call of fio: what it printed, put together.

use std::collections::{BTreeMap, BTreeSet};

use assay_core::estimate::Estimate;
use assay_core::finding::{Finding, JobPart, Missing, Untold};
use assay_core::histogram::StoredHistogram;
use assay_core::outcome::{Outcome, RunFailure};
use assay_core::record::{Repeat, Score};
use assay_core::workload::{Op, Workload};

use super::command::Command;
use super::job::{Job, Side, States, together};
use super::load::Definition;
use super::machine::ALL_CLIENTS;
use super::printed::{NAME, is_fios, version};
use super::{load, machine, status, text};
use crate::command::named_path;
use crate::date;
use crate::number::Told;
use crate::report::{Figure, Latencies, Load, Report, Section};
use crate::text::Text;

/// Lines of other programs between the start of fio and its results.
const MOST_BETWEEN: usize = 64;
/// First number for lines without a group.
const LINES: u32 = 1 << 31;
/// Most jobs that are named in a finding.
const MOST_NAMES: usize = 5;
/// Most jobs of a call in one form of output.
const MOST_JOBS: usize = 2_000;

/// What is known of a call.
#[derive(Debug, Clone, Default)]
struct Call {
    version: Option<String>,
    created: Option<String>,
    definitions: Vec<Definition>,
    json: States,
    text: States,
    terse: States,
    /// The job in terse form that was printed last.
    printed: Option<Job>,
    cut: bool,
    /// The sum of each group, where its jobs are not there.
    sums: Vec<Job>,
    /// The group whose sum is printed.
    group: u32,
    /// How many processes or threads it began.
    begun: Option<u32>,
    /// How many results each group has.
    results: BTreeMap<u32, usize>,
    /// Whether jobs trimmed, which is no figure here.
    trims: bool,
    path: Option<String>,
    /// The command that stands above it.
    command: Option<Command>,
}

/// Whether a line is the first of a result, or tells of a job.
pub(super) fn begins(text: &Text, at: usize) -> bool {
    let line = text.line(at);
    machine::begins_terse(line)
        || text::is_result(line)
        || text::is_definition(text, at)
        || machine::begins_json(text, at)
}

/// Reads what one call printed.
pub(super) fn read(text: &Text, at: usize) -> Section {
    let mut call = Call { command: Command::above(text, at), ..Call::default() };
    let (mut line, mut end) = (at, at + 1);
    while line < text.len() {
        let here = text.line(line);
        let full =
            [&call.json.jobs, &call.text.jobs, &call.terse.jobs, &call.sums].iter().any(|jobs| jobs.len() >= MOST_JOBS);
        // A sum without its results stands at the end of what a call printed.
        if full || !call.sums.is_empty() && begins(text, line) {
            break;
        }
        let next = if text::is_definition(text, line) {
            // Definitions come before results.
            if !call.is_empty() {
                break;
            }
            // One that was stopped has no result: the next has a command of its own.
            if call.begun.is_some() {
                call.command = Command::above(text, line);
            }
            let found = text::definition_at(text, line);
            let end = found.as_ref().map(|(_, end)| *end);
            call.define(found.map(|(definition, _)| definition));
            end
        } else if machine::begins_json(text, line) {
            let document = machine::read_json(text, line);
            call.json.again();
            if !document.jobs.into_iter().all(|job| call.json.add(job)) {
                break;
            }
            call.version = document.version.or(call.version);
            call.created = document.created.or(call.created);
            call.cut |= document.cut;
            Some(document.end)
        } else if machine::begins_terse(here) {
            if !call.terse_line(here) {
                break;
            }
            Some(line + 1)
        } else if text::is_result(here) {
            let Some(end) = call.result(text, line) else { break };
            Some(end)
        } else if let Some((side, end)) =
            Some(line).filter(|_| call.is_empty()).and_then(|at| status::status_lines(text, at))
        {
            call.line_alone(side, status::file_of(here));
            Some(end)
        } else if let Some(version) = version(here) {
            call.version = call.version.or(Some(version));
            Some(line + 1)
        } else if is_fios(here) {
            let starts = here.trim_start().strip_prefix("Starting ").and_then(|rest| rest.split(' ').next());
            call.begun = call.begun.or(starts.and_then(|number| number.parse().ok()));
            call.sum(&status::whole_sum(text, line));
            // Empty lines belong to it where something of it follows.
            line += 1;
            if !here.trim().is_empty() {
                end = line;
            }
            continue;
        } else if let Some(end) = call.other_half(text, line) {
            Some(end)
        } else if call.is_empty() && call.sums.is_empty() && line < end + MOST_BETWEEN {
            line += 1;
            continue;
        } else {
            break;
        };
        line = next.unwrap_or(line + 1);
        end = line;
    }
    closed(call, end.max(at + 1), text.number(at))
}

/// The report of a call that ends before this line, or that there is none.
fn closed(call: Call, end: usize, number: u32) -> Section {
    let mut section = Section { end, ..Section::default() };
    let what = if call.trims {
        "fio trimmed here, which is not measured; of reads and writes there is nothing"
    } else {
        "output of fio without a result that is complete"
    };
    match call.report(end) {
        Some(report) => section.reports.push(report),
        None => section.problems.extend(Section::nothing(end, number, what).problems),
    }
    section
}

/// Whether a job in terse form was printed at another time than the one before it: its line has other values of disks. In
/// a line without disks, the name of the job occurred before.
fn apart(last: &Job, job: &Job, known: &[Job]) -> bool {
    match last.disks.is_empty() && job.disks.is_empty() {
        true => known.iter().any(|old| old.name == job.name && old.group == job.group),
        false => last.disks != job.disks,
    }
}

/// The jobs of the most detailed form of output that has a result. Jobs that only another form has are added: a document may be
/// cut off, or a copy may end within the text.
fn one_form(forms: [Vec<Job>; 3]) -> Vec<Job> {
    let mut all: Vec<Job> = Vec::new();
    for form in forms.into_iter().filter(|jobs| jobs.iter().any(|job| !job.sides.is_empty())) {
        if all.is_empty() {
            all = form;
            continue;
        }
        for job in form.into_iter().filter(|job| !job.sides.is_empty()) {
            match all.iter_mut().find(|known| known.name == job.name && known.group == job.group) {
                Some(known) if known.sides.is_empty() => *known = job,
                Some(_) => {}
                None => all.push(job),
            }
        }
    }
    all
}

impl Call {
    fn is_empty(&self) -> bool {
        self.json.jobs.is_empty() && self.text.jobs.is_empty() && self.terse.jobs.is_empty()
    }

    /// Takes a line in terse form; `false` where it is of another call.
    fn terse_line(&mut self, line: &str) -> bool {
        let Some((version, job)) = machine::read_terse(line) else {
            self.cut = true;
            return true;
        };
        let later = self.printed.as_ref().is_some_and(|last| apart(last, &job, &self.terse.jobs));
        if later && !self.is_clone(&job) || self.terse.is_later_state(&job) {
            self.terse.again();
        }
        self.printed = Some(job.clone());
        if !self.terse.add(job) {
            return false;
        }
        self.version = Some(version);
        true
    }

    /// Whether a job in terse form without disks is a clone (`numjobs`) that the command asks for, beside those before it.
    fn is_clone(&self, job: &Job) -> bool {
        let known = self.terse.jobs.iter().filter(|old| old.name == job.name && old.group == job.group).count();
        let command = self.command.as_ref().filter(|command| command.doubt.is_none() && job.disks.is_empty());
        command.is_some_and(|command| command.clones(&job.name) > known)
    }

    /// Takes a result of the text that begins at a line; the first line behind it. `None` where it is of another call.
    fn result(&mut self, text: &Text, at: usize) -> Option<usize> {
        let Some((job, rest, end)) = text::read_text(text, at, |job, op| self.block(job, op)) else {
            return Some(at + 1);
        };
        // What all clients of a server did is the sum of results above.
        if job.name == ALL_CLIENTS && !self.text.jobs.is_empty() {
            return Some(end);
        }
        if self.text.is_later_state(&job) {
            self.text.again();
        }
        if !self.text.add(job) {
            return None;
        }
        self.created = self.created.take().or_else(|| date::of_ctime(&rest));
        self.trims |= (at..end).any(|line| text.line(line).trim_start().starts_with("trim"));
        Some(end)
    }

    /// Takes the line of a direction without a result. Below the only job that was to start it is of that one; else the
    /// output does not say whether the directions belong to one job.
    fn line_alone(&mut self, side: Side, file: Option<&str>) {
        let only = match self.definitions.as_slice() {
            [only] if file.is_none() => Some((only.name.clone(), only.group)),
            _ => None,
        };
        if let (Some((name, group)), [first]) = (&only, self.sums.as_mut_slice())
            && (&first.name, &first.group) == (name, group)
            && first.sides.iter().all(|known| known.op != side.op)
        {
            first.sides.push(side);
            return;
        }
        let of_only = only.filter(|_| self.sums.is_empty());
        let (name, group) = of_only.unwrap_or_else(|| {
            (file.unwrap_or_default().to_owned(), LINES + u32::try_from(self.sums.len()).unwrap_or(0))
        });
        self.sums.push(Job { name, group, sides: vec![side], missing: Some(JobPart::AllButLines), ..Job::default() });
    }

    /// Takes the other direction of the last result, where it was to mix and prose stands between; the first line behind
    /// it.
    fn other_half(&mut self, text: &Text, at: usize) -> Option<usize> {
        let job = self.text.jobs.last()?;
        let mix = matches!(load::asked(job, self.definition(job).as_ref())?, "rw" | "readwrite" | "randrw");
        let (side, end) = status::other_half(text, at, job, begins).filter(|_| mix)?;
        self.text.jobs.last_mut()?.sides.push(side);
        Some(end)
    }

    /// Takes a line behind the results: what follows is a later state, or another call. The sum of a group is read where there
    /// are no results.
    fn sum(&mut self, line: &str) {
        if let Some(group) = status::group_sum(line) {
            self.text.again();
            self.group = group;
        } else if let Some(side) = Some(line).filter(|_| self.lacks_results()).and_then(status::status_side)
            && self.sums.len() < MOST_JOBS
            && self.sums.first().is_none_or(|sum| sum.group < LINES)
        {
            status::add_status(&mut self.sums, self.group, side);
        }
    }

    /// Whether the group whose sum is printed has no result above: a copy may begin behind those of the first groups.
    fn lacks_results(&self) -> bool {
        let of_group = |job: &Job| job.group == self.group;
        self.is_empty()
            || self.json.jobs.is_empty() && self.terse.jobs.is_empty() && !self.text.jobs.iter().any(of_group)
    }

    /// Takes a job that is to start. Where jobs have started already, it is one of another call, and those have no results.
    fn define(&mut self, definition: Option<Definition>) {
        if self.begun.is_some() {
            self.begun = None;
            self.definitions.clear();
        }
        self.definitions.extend(definition.filter(|_| self.definitions.len() < MOST_JOBS));
    }

    /// The names of the jobs that are reported together as this one, where they are several: with `group_reporting` a group
    /// of jobs has one result, which has the name of the first. In the text it says how many they are; elsewhere it is the
    /// only one of its group.
    fn members(&self, job: &Job) -> Vec<&str> {
        let members: BTreeSet<&str> =
            self.definitions.iter().filter(|d| d.group == job.group).map(|d| d.name.as_str()).collect();
        let together = match job.jobs {
            Some(jobs) => jobs > 1,
            None => self.alone(job),
        };
        if together && members.len() > 1 { members.into_iter().collect() } else { Vec::new() }
    }

    /// Whether no other result is of the group of this one, in a form that does not tell of how many jobs it is.
    fn alone(&self, job: &Job) -> bool {
        self.results.get(&job.group) == Some(&1)
    }

    fn definition(&self, job: &Job) -> Option<Definition> {
        let members = self.members(job);
        // Of the sum of several the definition of one is not that of all.
        if job.grouped && members.is_empty() {
            return None;
        }
        if !members.is_empty() {
            let mut all = self.definitions.iter().filter(|d| d.group == job.group);
            let first = all.next()?.clone();
            return Some(all.fold(first, Definition::shared_with));
        }
        let named = |d: &&Definition| d.name == job.name;
        let both = self.definitions.iter().find(|d| named(d) && d.group == job.group);
        // A mark of the page, such as `[code]` or a backtick, may stand at the first line.
        let marked = |d: &&Definition| {
            let mark = d.name.strip_suffix(job.name.as_str());
            d.group == job.group && mark.is_some_and(|mark| mark.ends_with([']', '`', '>', '"', '\'']))
        };
        let any = both.or_else(|| self.definitions.iter().find(named)).or_else(|| self.definitions.iter().find(marked));
        // A sum has no name.
        let mut group = self.definitions.iter().filter(|d| job.name.is_empty() && d.group == job.group);
        any.or(group.next().filter(|_| group.next().is_none())).cloned()
    }

    fn block(&self, job: &Job, op: Op) -> Option<u64> {
        let blocks = self.definition(job)?.blocks;
        blocks.get(usize::from(op == Op::Write)).copied().flatten()
    }

    /// The report of what a call printed before line `end`.
    fn report(mut self, end: usize) -> Option<Report> {
        let headless = self.definitions.is_empty() && self.version.is_none();
        let forms = [&mut self.json, &mut self.text, &mut self.terse].map(|form| std::mem::take(&mut form.jobs));
        // Sums of groups whose results are not there come first.
        let jobs = std::mem::take(&mut self.sums).into_iter().chain(one_form(forms));
        let mut jobs: Vec<Job> = jobs.collect();
        jobs.iter().find(|job| !job.sides.is_empty())?;
        let mut report = Report::new(NAME);
        report.version = self.version.take();
        report.created = self.created.take();
        let mut runs: Vec<Vec<Job>> = Vec::new();
        for job in &jobs {
            *self.results.entry(job.group).or_default() += 1;
        }
        // Where there are as many processes as jobs, no job is a clone.
        if self.begun.is_some_and(|begun| usize::try_from(begun).is_ok_and(|begun| begun == self.definitions.len())) {
            let single = jobs.iter_mut().filter(|job| self.members(job).is_empty());
            single.for_each(|job| job.jobs = job.jobs.or(Some(1)));
        }
        self.commanded(&mut report, &mut jobs, end);
        for mut job in jobs {
            job.grouped =
                !self.members(&job).is_empty() || load::is_sum_of_several(&job, self.definition(&job).as_ref());
            job.contradictions = self.contradictions(&job);
            match runs.iter_mut().find(|run| run.first().is_some_and(|first| clones(first, &job))) {
                Some(run) => run.push(job),
                None => runs.push(vec![job]),
            }
        }
        let jobs: Vec<Job> = runs.into_iter().filter_map(together).collect();
        self.path = same(jobs.iter().map(|job| job.options.get("filename").or(job.options.get("directory"))));
        if let Some(path) = self.path.take().filter(|path| named_path(path).is_some()) {
            report.medium.device = path.starts_with("/dev/").then(|| path.clone());
            report.medium.path = path;
        }
        report.host.hostname =
            same(jobs.iter().map(|job| job.host.as_ref())).filter(|_| jobs.iter().all(|j| j.name != ALL_CLIENTS));
        let told: u32 = jobs.iter().map(|job| job.jobs.unwrap_or(1)).fold(0, u32::saturating_add);
        // Of a result that does not tell of how many jobs it is, none may be missing.
        let untold = jobs.iter().any(|job| job.grouped && job.jobs.is_none());
        if let Some(begun) = self.begun.filter(|begun| *begun > told && !untold) {
            let missing = Missing::Results { missing: begun - told, of: begun };
            report.findings.push(Finding::SourceIncomplete { missing });
        }
        if headless {
            report.findings.push(Finding::SourceIncomplete { missing: Missing::Beginning { tool: NAME.to_owned() } });
        }
        if self.cut {
            report.findings.push(Finding::SourceIncomplete { missing: Missing::End { tool: NAME.to_owned() } });
        }
        for job in &jobs {
            self.add(&mut report, job, &jobs);
        }
        (!report.is_empty()).then_some(report)
    }

    /// Gives jobs the options of the command above them, where the output does not tell options.
    fn commanded(&self, report: &mut Report, jobs: &mut Vec<Job>, end: usize) {
        let Some(command) = &self.command else { return };
        // Lines of reads and of writes, alone behind a command that mixes, are those of its job.
        if let [one, other] = jobs.as_mut_slice()
            && command.is_mix_of(one, other)
        {
            one.sides.append(&mut other.sides);
            jobs.truncate(1);
        }
        let alone = jobs.len() == 1 && command.is_of_one();
        let mut contradiction = None;
        for job in jobs.iter_mut().filter(|job| job.options.is_empty()) {
            if !self.members(job).is_empty() {
                continue;
            }
            let definition = self.definition(job);
            let found = command.give(job, definition.as_ref(), alone);
            if command.doubt.is_some() && job.options.is_empty() {
                // It is the command of another output.
                continue;
            }
            if found.is_some() || !job.options.is_empty() {
                // The command belongs to the text that is kept.
                report.lines = Some((command.line, end));
                command.doubt.iter().for_each(|doubt| report.find(doubt.clone()));
            }
            contradiction = contradiction.or(found);
        }
        report.findings.extend(contradiction.map(|contradiction| Finding::SourceContradicts { contradiction }));
    }

    /// What the directions of a job tell that contradicts itself.
    fn contradictions(&self, job: &Job) -> Vec<Finding> {
        let definition = self.definition(job);
        let of = |side: &Side| {
            let load = load::load(job, side, definition.as_ref());
            // Of a mix the size may be one of each direction.
            let block = match side.op {
                Op::Mixed => None,
                _ => load.block_bytes.filter(|_| load.blocks.is_empty()),
            };
            side.told.contradiction(block)
        };
        job.sides.iter().filter_map(of).collect()
    }

    fn add(&self, report: &mut Report, job: &Job, all: &[Job]) {
        let name = || Some(job.name.clone()).filter(|name| !name.is_empty());
        if let Some(part) = job.missing {
            report.find(Finding::SourceIncomplete { missing: Missing::OfJob { job: name(), part } });
        }
        if job.error != 0 {
            let said = job.said.clone();
            report.find(Finding::ToolFailed { tool: NAME.to_owned(), job: name(), error: i64::from(job.error), said });
            if report.outcome == Outcome::Completed {
                report.outcome = failed(job);
            }
        }
        let parallel =
            all.iter().any(|other| !std::ptr::eq(other, job) && other.group == job.group && other.host == job.host);
        let definition = self.definition(job);
        let definition = definition.as_ref();
        if job.grouped {
            report.find(together_told(job, &self.members(job)));
        }
        if let Some(engine) = load::file_operations(job, definition) {
            let untold = Untold::RateOfBytes { job: job.name.clone(), engine: engine.to_owned() };
            report.find(Finding::NotTold { tool: NAME.to_owned(), untold });
            let of = |side: &Side| parts(job, &Side { bytes_per_second: None, ..side.clone() }, engine);
            report.scores.extend(job.sides.iter().flat_map(of));
            return;
        }
        if let [side] = job.sides.as_slice()
            && load::is_half(job, definition)
        {
            // It is no load of that half: the other was done beside it.
            let (of, part) = match side.op {
                Op::Read => ("reads of the mix", JobPart::Writes),
                _ => ("writes of the mix", JobPart::Reads),
            };
            report.findings.push(Finding::SourceIncomplete { missing: Missing::OfJob { job: name(), part } });
            report.findings.extend(job.contradictions.iter().take(1).cloned());
            report.scores.extend(parts(job, side, of));
            return;
        }
        let only_writes = load::asked(job, definition).is_some_and(|rw| matches!(rw, "write" | "randwrite"))
            && load::verifies(job, definition);
        let score = |report: &mut Report, side, of| report.scores.extend(parts(job, side, of));
        let alone = |side| figure(job, side, load::load(job, side, definition));
        let side_of = |op| job.sides.iter().find(|side| side.op == op);
        let figures: Vec<Figure> = match (side_of(Op::Read), side_of(Op::Write)) {
            // It reads back what it wrote, to verify it, when the writes are over.
            (Some(read), Some(write)) if only_writes => {
                score(report, read, "reads of its verification");
                vec![alone(write)]
            }
            (Some(read), Some(write)) => {
                score(report, read, "reads of the mix");
                score(report, write, "writes of the mix");
                vec![mixed(job, read, write, definition)]
            }
            _ => job.sides.iter().map(alone).collect(),
        };
        for mut figure in figures {
            figure.findings.extend(job.contradictions.iter().take(1).cloned());
            if parallel {
                figure.findings.push(Finding::NotTold { tool: NAME.to_owned(), untold: Untold::Alone });
            }
            report.figures.push(figure);
        }
    }
}

/// That one result is of several jobs, named as far as they are known.
fn together_told(job: &Job, names: &[&str]) -> Finding {
    let jobs = names.iter().take(MOST_NAMES).map(|name| (*name).to_owned()).collect();
    Finding::NotTold { tool: NAME.to_owned(), untold: Untold::Parts { sum: job.name.clone(), jobs } }
}

/// Whether two jobs are one with `numjobs`.
fn clones(first: &Job, job: &Job) -> bool {
    first.name == job.name && first.group == job.group && first.host == job.host && first.options == job.options
}

/// What all of them have alike.
fn same<'a>(mut all: impl Iterator<Item = Option<&'a String>>) -> Option<String> {
    let first = all.next()??;
    all.all(|other| other == Some(first)).then(|| first.clone())
}

fn failed(job: &Job) -> Outcome {
    // Error numbers of Linux, which fio prints.
    let failure = match job.error {
        5 => RunFailure::IoError,
        28 => RunFailure::OutOfSpace,
        30 => RunFailure::ReadOnly,
        6 | 19 => RunFailure::Disappeared,
        4 => RunFailure::Interrupted,
        _ => RunFailure::Other,
    };
    let longest = job.sides.iter().map(|side| side.runtime_ms).fold(0.0, f64::max);
    let written = job.sides.iter().find(|side| side.op == Op::Write).map_or(0.0, |side| side.bytes);
    Outcome::Failed {
        failure,
        detail: format!("error {}", job.error),
        workload: Some(job.name.clone()),
        elapsed_ns: (longest * 1e6) as u64,
        written_bytes: written as u64,
    }
}

fn figure(job: &Job, side: &Side, load: Load) -> Figure {
    let (op, workload) = (load.op, load.workload());
    let mut figure = Figure::new(load);
    figure.bytes_per_second = side.bytes_per_second;
    figure.iops = side.iops;
    figure.latency_ns = side.latency;
    figure.told = Told::LOOKED_AT;
    if op != Op::Read && load::durable(&job.options) {
        figure.durable_bytes_per_second = side.bytes_per_second;
    }
    figure.repeat = repeat(side, &workload, figure.durable_bytes_per_second);
    figure
}

/// The run itself, where its latencies are told.
fn repeat(side: &Side, workload: &Workload, durable: Option<f64>) -> Option<Repeat> {
    let histogram = side.histogram.as_ref()?;
    let elapsed_ns = (side.runtime_ms * 1e6) as u64;
    let in_flight = f64::from(workload.queue_depth) * f64::from(workload.jobs);
    Some(Repeat {
        elapsed_ns,
        operations: side.operations.unwrap_or(histogram.total()),
        bytes: side.bytes as u64,
        iops: side.iops.filter(|rate| rate.is_finite())?,
        bytes_per_second: side.bytes_per_second.filter(|rate| rate.is_finite())?,
        issued_bytes: side.bytes as u64,
        durable_bytes_per_second: durable,
        in_flight,
        histogram: StoredHistogram::from(histogram).into(),
        first_done_ns: elapsed_ns,
        last_done_ns: elapsed_ns,
        ..Repeat::empty("", Outcome::Completed)
    })
}

/// Reads and writes of one job as one load, which is what the medium had to do: neither half compares with a load of
/// reads or of writes alone.
fn mixed(job: &Job, read: &Side, write: &Side, definition: Option<&Definition>) -> Figure {
    let sum = |a: Option<f64>, b: Option<f64>| a.zip(b).map(|(a, b)| a + b);
    let mut side = Side::new(Op::Mixed);
    side.bytes = read.bytes + write.bytes;
    side.runtime_ms = read.runtime_ms.max(write.runtime_ms);
    side.operations = read.operations.zip(write.operations).map(|(a, b)| a.saturating_add(b));
    side.bytes_per_second = sum(read.bytes_per_second, write.bytes_per_second);
    side.iops = sum(read.iops, write.iops);
    let weigh = |(a, b): (f64, f64)| {
        let (reads, writes) = (read.iops?, write.iops?);
        Some((a * reads + b * writes) / (reads + writes))
    };
    side.latency = Latencies {
        mean: read.latency.mean.zip(write.latency.mean).and_then(weigh),
        max: read.latency.max.zip(write.latency.max).map(|(a, b)| a.max(b)),
        ..Latencies::default()
    };
    side.histogram = read.histogram.clone().zip(write.histogram.as_ref()).map(|(mut whole, more)| {
        whole.merge(more);
        whole
    });
    let mut load = load::load(job, &side, definition);
    // Where the share is not among the options it is as it was done.
    let share =
        read.iops.zip(side.iops).map(|(reads, all)| (reads / all * 100.0).round()).filter(|share| share.is_finite());
    load.read_percent = load.read_percent.or(share.map(|share| share as u8));
    figure(job, &side, load)
}

/// The figures of a half, as they are printed.
fn parts(job: &Job, side: &Side, of: &str) -> Vec<Score> {
    let score = |value: Option<f64>, unit: &str| {
        value.map(|value| Score {
            name: format!("{}: {of}, {unit}", if job.name.is_empty() { NAME } else { &job.name }),
            value: Estimate::bare(value, 1, "as printed by fio, one run"),
            unit: unit.to_owned(),
            more_is_better: true,
            program: None,
        })
    };
    [score(side.bytes_per_second, "B/s"), score(side.iops, "IOPS")].into_iter().flatten().collect()
}
