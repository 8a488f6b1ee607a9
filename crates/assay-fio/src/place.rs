//! Where a job file has its files.

use std::path::{Path, PathBuf};

use assay_core::text::quoted;

use crate::options::{At, Options};

/// Where fio would read and write by a job file. Relative paths begin at the current directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In this directory.
    Directory(PathBuf),
    /// This device, or what else stands below `/dev`.
    Device(PathBuf),
}

/// The place that a section names; `None` where it leaves that to the current directory.
pub(crate) fn place(options: &Options<'_>) -> Result<Option<At<Place>>, At<String>> {
    let parent = |file: &str| Path::new(file).parent().unwrap_or(Path::new("")).to_owned();
    let (path, line) = match (&options.directory, &options.file) {
        (None, None) => return Ok(None),
        (Some(directory), None) => (PathBuf::from(directory.value), directory.line),
        (None, Some(file)) if file.value.starts_with("/dev/") => {
            return Ok(Some(At { value: Place::Device(PathBuf::from(file.value)), line: file.line }));
        }
        (None, Some(file)) => (parent(file.value), file.line),
        (Some(_), Some(file)) if file.value.starts_with('/') => {
            let message = format!("filename {} is a whole path, to which directory= is not added", quoted(file.value));
            return Err(At { value: message, line: file.line });
        }
        (Some(directory), Some(file)) => (Path::new(directory.value).join(parent(file.value)), directory.line),
    };
    let named = !path.as_os_str().is_empty() && path != Path::new(".");
    Ok(named.then_some(At { value: Place::Directory(path), line }))
}
