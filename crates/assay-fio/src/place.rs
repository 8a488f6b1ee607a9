//! Where a job file has its files.

use std::path::{Path, PathBuf};

use assay_core::text::quoted;

use crate::given::At;
use crate::options::Options;
use crate::sections::Section;

/// Where fio would read and write by a job file. Relative paths begin at the current directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In this directory.
    Directory(PathBuf),
    /// This device, or what else stands below `/dev`.
    Device(PathBuf),
}

impl Place {
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
    pub(crate) place: Option<Place>,
    pub(crate) line: usize,
    /// Names that other sections may have too; `None` where each job has a file of its own.
    pub(crate) names: Option<Vec<String>>,
}

/// Whether a path is that of a device, and not of a file in shared memory.
fn is_device(path: &str) -> bool {
    path.starts_with("/dev/") && !path.starts_with("/dev/shm/")
}

/// The files that a section names.
pub(crate) fn files(section: &Section<'_>) -> Result<Files, At<String>> {
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
    let mut first: Option<Option<Place>> = None;
    for directory in &directories {
        for file in &files {
            let (place, line) = place(options, *directory, *file)?;
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
fn place(
    options: &Options<'_>,
    directory: Option<&str>,
    file: Option<&str>,
) -> Result<(Option<Place>, Option<usize>), At<String>> {
    let parent = |file: &str| Path::new(file).parent().unwrap_or(Path::new("")).to_owned();
    let line = options.directory.as_ref().map(|at| at.line).or(options.file.as_ref().map(|at| at.line));
    let path = match (directory, file) {
        (None, None) => return Ok((None, None)),
        (Some(directory), None) => PathBuf::from(directory),
        (None, Some(file)) if is_device(file) => {
            return Ok((Some(Place::Device(PathBuf::from(file))), line));
        }
        (None, Some(file)) => parent(file),
        (Some(_), Some(file)) if file.starts_with('/') => {
            let message = format!("filename {} is a whole path, to which directory= is not added", quoted(file));
            return Err(At { value: message, line: options.file.as_ref().map_or(0, |at| at.line) });
        }
        (Some(directory), Some(file)) => Path::new(directory).join(parent(file)),
    };
    let named = !path.as_os_str().is_empty() && path != Path::new(".");
    Ok((named.then_some(Place::Directory(path)), line))
}
