//! Where the jobs of a file go: jobs that share a file in fio share a part of the test area, at the same offsets.

use std::path::{Path, PathBuf};

use assay_core::suite::{SuiteWorkload, WHOLE};
use assay_core::text::quoted;
use assay_core::units::Bytes;
use assay_core::workload::Pattern;

use super::include::Section;
use crate::given::{Amount, At};
use crate::options::Options;

/// Parts of the area are multiples of this many bytes.
const PART: u64 = 1 << 20;
/// No area is larger.
const LARGEST: u64 = 1 << 60;

/// A workload, and where its section is.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    pub(crate) workload: SuiteWorkload,
    /// Of its section.
    pub(crate) line: usize,
    /// Whether it waits for those before it.
    pub(crate) waits: bool,
    /// What it uses of its file, from where on.
    pub(crate) size: Amount,
    pub(crate) offset: Option<Amount>,
    /// The names of its files; `None` where it has its own.
    pub(crate) file: Option<String>,
}

/// What all of them use of the area.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Reach {
    pub(crate) bytes: u64,
    pub(crate) percent: f64,
}

impl Reach {
    fn to(&mut self, end: Amount) {
        match end {
            Amount::Bytes(bytes) => self.bytes = self.bytes.max(bytes),
            Amount::Percent(percent) => self.percent = self.percent.max(percent),
        }
    }
}

/// What the jobs of a section use of their files together, and how a stream of several jobs goes through a shared one.
///
/// # Errors
/// What does not map, with its line.
pub(crate) fn size(
    section: &Section<'_>,
    workload: &mut SuiteWorkload,
    of_each: Amount,
    line: usize,
) -> Result<Amount, At<String>> {
    let options = &section.options;
    let jobs = u64::from(workload.jobs);
    let one_file = options.file.is_some() && !options.file_of_each;
    if jobs > 1 && one_file && workload.pattern == Pattern::Sequential {
        workload.refined.shared = true;
    }
    let size = if jobs > 1 && !one_file { of_each.times(jobs) } else { of_each };
    let shares = if workload.refined.shared { 1 } else { jobs };
    if workload.largest().saturating_mul(shares) > size.bytes_of_medium(WHOLE.0) {
        let (all, block) = (Bytes(of_each.bytes_of_medium(WHOLE.0)), Bytes(workload.largest()));
        return Err(At { value: format!("size = {all} is less than a block of {block} for each job"), line });
    }
    Ok(size)
}

/// Puts the jobs where they are in fio: those of a group that share a file at the same place, each other file behind it.
///
/// # Errors
/// What does not map, with its line.
pub(crate) fn settle(jobs: &mut [Job], notes: &mut Vec<String>) -> Result<Reach, At<String>> {
    let mut reach = Reach::default();
    let mut index = 0;
    while index < jobs.len() {
        let named = jobs[index].workload.group.as_ref();
        let same = |job: &&Job| named.is_some() && job.workload.group.as_ref() == named;
        let count = jobs[index..].iter().take_while(same).count().max(1);
        let turn = &mut jobs[index..index + count];
        index += count;
        match turn {
            [one] => {
                place_in_area(&mut one.workload, one.size, one.offset);
                reach.to(end(one)?);
            }
            all if all.iter().all(|job| job.file.is_none() && job.offset.is_none()) => {
                reach.to(parts(all)?);
                notes.push("jobs at the same time have a part of the test area each".to_owned());
            }
            all => place_by_files(all, &mut reach)?,
        }
    }
    Ok(reach)
}

fn place_in_area(workload: &mut SuiteWorkload, size: Amount, offset: Option<Amount>) {
    workload.span = Some(Bytes(size.bytes_of_medium(WHOLE.0)));
    workload.span_percent = size.percent();
    workload.offset = offset.map(|offset| Bytes(offset.bytes_of_medium(WHOLE.0)));
    workload.offset_percent = offset.and_then(Amount::percent);
}

/// Where the area of a job ends.
fn end(job: &Job) -> Result<Amount, At<String>> {
    let wrong = |value: &str| Err(At { value: value.to_owned(), line: job.line });
    match (job.offset, job.size) {
        (None, Amount::Percent(percent)) if percent > 100.0 => {
            wrong("the jobs use more than 100 % of the medium; give a smaller size")
        }
        (None, size) => Ok(size),
        (Some(Amount::Bytes(offset)), Amount::Bytes(size)) => match offset.saturating_add(size) {
            bytes if bytes > LARGEST => wrong("the jobs use more than can be addressed"),
            bytes => Ok(Amount::Bytes(bytes)),
        },
        // What is behind the end of the medium is left out, as in fio.
        (Some(Amount::Percent(offset)), Amount::Percent(size)) => Ok(Amount::Percent((offset + size).min(100.0))),
        (Some(_), Amount::Percent(percent)) => Ok(Amount::Percent(percent.min(100.0))),
        (Some(Amount::Percent(_)), Amount::Bytes(_)) => Ok(Amount::Percent(100.0)),
    }
}

/// A part of the area for each job: what all need together.
fn parts(jobs: &mut [Job]) -> Result<Amount, At<String>> {
    let (count, line) = (jobs.len() as u64, jobs[0].line);
    let wrong = |value: &str| Err(At { value: value.to_owned(), line });
    let percents: Vec<f64> = jobs.iter().filter_map(|job| job.size.percent()).collect();
    for job in jobs.iter_mut() {
        place_in_area(&mut job.workload, job.size, None);
    }
    if percents.is_empty() {
        let largest = jobs.iter().map(|job| job.size.bytes_of_medium(0)).max().unwrap_or(0);
        let all = largest.div_ceil(PART).saturating_mul(PART).saturating_mul(count);
        return if all > LARGEST {
            wrong("the jobs at the same time use more than can be addressed")
        } else {
            Ok(Amount::Bytes(all))
        };
    }
    let all = percents.iter().copied().fold(0.0, f64::max) * count as f64;
    if percents.len() < jobs.len() || all > 100.0 {
        return wrong(
            "the jobs at the same time use more than 100 % of the medium, or some of them bytes; give a size",
        );
    }
    Ok(Amount::Percent(all))
}

/// A place for each file, one behind the other; jobs of the same file are at the same place.
fn place_by_files(jobs: &mut [Job], reach: &mut Reach) -> Result<(), At<String>> {
    let mut known: Vec<(Option<String>, u64)> = Vec::new();
    let mut next = 0u64;
    let several = jobs.iter().any(|job| job.file != jobs[0].file) || jobs[0].file.is_none();
    let ends: Vec<Amount> = jobs.iter().map(end).collect::<Result<_, _>>()?;
    for index in 0..jobs.len() {
        let file = jobs[index].file.clone();
        let begins = match known.iter().find(|(name, _)| file.is_some() && *name == file) {
            Some((_, begins)) => *begins,
            None => {
                let begins = next;
                let same = |at: usize| at == index || (file.is_some() && jobs[at].file == file);
                let longest =
                    (0..jobs.len()).filter(|at| same(*at)).map(|at| ends[at].bytes_of_medium(0)).max().unwrap_or(0);
                next = next.saturating_add(longest.div_ceil(PART).saturating_mul(PART));
                known.push((file, begins));
                begins
            }
        };
        let job = &mut jobs[index];
        let in_percent = ends[index].percent().is_some();
        if several && in_percent {
            let value = "jobs at the same time on several files need sizes in bytes; give one, or --size".to_owned();
            return Err(At { value, line: job.line });
        }
        let offset = match job.offset {
            Some(Amount::Bytes(offset)) => Amount::Bytes(offset.saturating_add(begins)),
            Some(percent) => percent,
            None => Amount::Bytes(begins),
        };
        let moved = Job { offset: Some(offset), ..job.clone() };
        reach.to(end(&moved)?);
        place_in_area(&mut job.workload, job.size, Some(offset));
    }
    Ok(())
}

// Where a job file has its files.

/// Where fio would read and write by a job file. Relative paths begin at the current directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobPlace {
    /// In this directory.
    Directory(PathBuf),
    /// This device, or what else stands below `/dev`.
    Device(PathBuf),
}

impl JobPlace {
    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        let (Self::Directory(path) | Self::Device(path)) = self;
        path
    }
}

/// The files of a section.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Files {
    /// `None` where the section leaves that to the current directory.
    pub(crate) place: Option<JobPlace>,
    pub(crate) line: usize,
    /// Names that other sections may have too; `None` where each job has a file of its own.
    pub(crate) names: Option<Vec<String>>,
}

/// Whether a path names a device. Paths below `/dev/shm` name files.
fn is_device(path: &str) -> bool {
    path.starts_with("/dev/") && !path.starts_with("/dev/shm/")
}

/// The files that a section names.
pub(crate) fn files_of_section(section: &Section<'_>) -> Result<Files, At<String>> {
    let options = &section.options;
    let names = options.file.as_ref().filter(|_| !options.file_of_each);
    let mut found = Files { place: None, line: section.line, names: names.map(|file| file.value.clone()) };
    let directories: Vec<Option<&str>> = match &options.directory {
        None => vec![None],
        Some(at) => at.value.iter().map(|path| Some(path.as_str())).collect(),
    };
    let files: Vec<Option<&str>> = match &options.file {
        None => vec![None],
        Some(at) => at.value.iter().map(|path| Some(path.as_str())).collect(),
    };
    let mut first: Option<Option<JobPlace>> = None;
    for directory in &directories {
        for file in &files {
            let (place, line) = named_place(options, *directory, *file)?;
            found.line = line.unwrap_or(section.line);
            if first.as_ref().is_some_and(|first| *first != place) {
                let message = "names several places, and a job works on one medium; write a section for each, or join \
                               them to an array";
                return Err(At { value: format!("{} {message}", section.shown()), line: found.line });
            }
            first = Some(place);
        }
    }
    found.place = first.flatten();
    Ok(found)
}

/// The place of one file in one directory, and the line that says so.
fn named_place(
    options: &Options<'_>,
    directory: Option<&str>,
    file: Option<&str>,
) -> Result<(Option<JobPlace>, Option<usize>), At<String>> {
    let parent = |file: &str| Path::new(file).parent().unwrap_or(Path::new("")).to_owned();
    let line = options.directory.as_ref().map(|at| at.line).or(options.file.as_ref().map(|at| at.line));
    let path = match (directory, file) {
        (None, None) => return Ok((None, None)),
        (Some(directory), None) => PathBuf::from(directory),
        (None, Some(file)) if is_device(file) => {
            return Ok((Some(JobPlace::Device(PathBuf::from(file))), line));
        }
        (None, Some(file)) => parent(file),
        (Some(_), Some(file)) if file.starts_with('/') => {
            let message = format!("filename {} is a whole path, to which directory= is not added", quoted(file));
            return Err(At { value: message, line: options.file.as_ref().map_or(0, |at| at.line) });
        }
        (Some(directory), Some(file)) => Path::new(directory).join(parent(file)),
    };
    let named = !path.as_os_str().is_empty() && path != Path::new(".");
    Ok((named.then_some(JobPlace::Directory(path)), line))
}
