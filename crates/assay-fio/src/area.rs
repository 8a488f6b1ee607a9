//! Where the jobs of a file go: jobs that share a file in fio share a part of the test area, at the same offsets.

use std::path::{Component, Path, PathBuf};

use assay_core::suite::{SuiteError, SuiteWorkload, WHOLE};
use assay_core::text::quoted;
use assay_core::units::Bytes;
use assay_core::workload::Pattern;

use crate::export::Header;
use crate::given::{Amount, At};
use crate::options::Options;
use crate::values::expanded;

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

// The text of a job file with the files that it includes, and its sections, each with its options.

/// Deeper inclusion is refused: a file may include itself.
const DEEPEST: usize = 8;
/// More files are not read.
const MOST_FILES: usize = 64;
/// Longer texts are not read: a file may include others again and again.
const LONGEST: usize = 4 << 20;

/// Gives the text of an included file by its path from the folder of the job file on, or why there is none.
pub type Included<'a> = dyn Fn(&Path) -> Result<String, String> + 'a;

/// A text with the place that each of its lines has.
pub(crate) struct Source {
    pub(crate) text: String,
    files: Vec<String>,
    /// Of each line its file and its number there.
    places: Vec<(u32, u32)>,
}

impl Source {
    /// Reads `text` with the files that it includes, and with the values of environment variables.
    ///
    /// # Errors
    /// [`SuiteError`] with the line, where a file or a variable is missing.
    pub(crate) fn read(text: &str, file: &str, included: &Included<'_>) -> Result<Self, SuiteError> {
        let mut source = Self { text: String::new(), files: Vec::new(), places: Vec::new() };
        source.add(text, file, Path::new(""), included, 0)?;
        Ok(source)
    }

    /// `folder` is where the file lies, from that of the job file on.
    fn add(
        &mut self,
        text: &str,
        file: &str,
        folder: &Path,
        included: &Included<'_>,
        depth: usize,
    ) -> Result<(), SuiteError> {
        let this = u32::try_from(self.files.len()).unwrap_or(u32::MAX);
        self.files.push(file.to_owned());
        let fail = |line: usize, message: String| SuiteError { file: file.to_owned(), line, message };
        let variable = |name: &str| std::env::var(name).ok();
        let text = expanded(text, variable).map_err(|(line, message)| fail(line, message))?;
        for (index, line) in text.lines().enumerate() {
            let number = index + 1;
            let option = line.split([';', '#']).next().unwrap_or_default().trim();
            let wanted = option
                .split_once(char::is_whitespace)
                .filter(|(key, _)| key.eq_ignore_ascii_case("include"))
                .map(|(_, name)| name.trim());
            let Some(name) = wanted else {
                if depth > 0 && option.starts_with('[') {
                    return Err(fail(number, "an included file has no section of its own, as in fio".to_owned()));
                }
                if self.text.len() + line.len() > LONGEST {
                    return Err(fail(
                        number,
                        "a job file of more than 4 MiB with what it includes is not read".to_owned(),
                    ));
                }
                self.text.push_str(line);
                self.text.push('\n');
                self.places.push((this, u32::try_from(number).unwrap_or(u32::MAX)));
                continue;
            };
            if self.files.len() >= MOST_FILES {
                return Err(fail(number, format!("no more than {MOST_FILES} files are included")));
            }
            if depth >= DEEPEST {
                return Err(fail(
                    number,
                    format!("include {}: files include each other more than {DEEPEST} deep", quoted(name)),
                ));
            }
            let plain = Path::new(name).components().all(|c| matches!(c, Component::Normal(_)));
            if !plain {
                let message =
                    format!("include {}: name a file in the folder of the job file, or below it", quoted(name));
                return Err(fail(number, message));
            }
            let path = folder.join(name);
            let inner = included(&path).map_err(|why| fail(number, format!("include {}: {why}", quoted(name))))?;
            self.add(&inner, name, path.parent().unwrap_or(folder), included, depth + 1)?;
        }
        Ok(())
    }

    /// File and line of a line of the text, both from 1.
    pub(crate) fn place(&self, line: usize) -> (String, usize) {
        let place = self.places.get(line.saturating_sub(1)).or(self.places.last());
        let file = self.files.get(place.map_or(0, |(file, _)| *file as usize)).cloned().unwrap_or_default();
        (file, place.map_or(line, |(_, number)| *number as usize))
    }
}

// The sections of a job file, each with its options.

/// A job.
pub(crate) struct Section<'t> {
    pub(crate) name: String,
    pub(crate) line: usize,
    pub(crate) options: Options<'t>,
}

impl Section<'_> {
    /// Its name in messages.
    pub(crate) fn shown(&self) -> String {
        quoted(&format!("[{}]", self.name))
    }
}

/// Whether a text is a job file and no suite in TOML: its first line that says something is a section, or includes a file
/// or is the one that assay writes.
#[must_use]
pub fn is_job_text(text: &str) -> bool {
    let begins = |line: &str| Header::read(line).is_some();
    let first = text.lines().find(|line| begins(line) || !matches!(line.trim().chars().next(), None | Some('#' | ';')));
    first.is_some_and(|line| {
        let line = line.trim();
        begins(line) || line.starts_with("include ") || (line.starts_with('[') && !line.starts_with("[["))
    })
}

/// Makes an error of a line and what is wrong there.
pub(crate) type Fail<'a> = dyn Fn(usize, String) -> SuiteError + 'a;

/// Sections with the options of the `[global]` ones before them.
pub(crate) fn sections<'t>(text: &'t str, fail: &Fail<'_>) -> Result<(Vec<Section<'t>>, Option<Header>), SuiteError> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Source, SuiteError> {
        let included = |path: &Path| match path.to_str().unwrap_or_default() {
            "disk.fio" => Ok("# a disk\nsize=1g\n".to_owned()),
            "sub/a.fio" => Ok("include b.fio\n".to_owned()),
            "sub/b.fio" => Ok("bs=4k\n".to_owned()),
            "section.fio" => Ok("[b]\n".to_owned()),
            "self.fio" => Ok("include self.fio\n".to_owned()),
            "many.fio" => Ok("include disk.fio\n".repeat(40)),
            _ => Err("no such file".to_owned()),
        };
        Source::read(text, "job.fio", &included)
    }

    #[test]
    fn lines_keep_their_places() {
        let source = read("[global]\ninclude disk.fio ; as told\nrw=read\n").unwrap();
        assert_eq!(source.text, "[global]\n# a disk\nsize=1g\nrw=read\n");
        assert_eq!(source.place(3), ("disk.fio".to_owned(), 2));
        assert_eq!(source.place(4), ("job.fio".to_owned(), 3));
        assert_eq!(read("include sub/a.fio\n").unwrap().text, "bs=4k\n", "from the folder of the file that includes");
    }

    #[test]
    fn files_elsewhere_and_circles_are_refused() {
        for (name, words) in [
            ("../x.fio", "in the folder"),
            ("/etc/passwd", "in the folder"),
            ("none.fio", "no such file"),
            ("self.fio", "more than 8 deep"),
            ("section.fio", "no section of its own"),
            ("many.fio\ninclude many.fio", "no more than 64 files"),
        ] {
            let error = read(&format!("\ninclude {name}\n")).err().unwrap();
            assert!(error.message.contains(words), "{error}");
        }
        assert_eq!(read("\ninclude none.fio\n").err().unwrap().line, 2);
    }

    #[test]
    fn a_job_file_begins_with_a_section() {
        for text in [
            "[a]\nrw=read\n",
            "\n; x\n# y\n\n  [global]\n",
            "include x.fio\n",
            "; suite x version 1, 2000 ms, at most 9 bytes written: p\n",
        ] {
            assert!(is_job_text(text), "{text}");
        }
        for text in ["name = \"x\"\n[[workload]]\n", "[[workload]]\n", "# x\n", "", "rw=read\n[a]\n"] {
            assert!(!is_job_text(text), "{text}");
        }
    }
}
