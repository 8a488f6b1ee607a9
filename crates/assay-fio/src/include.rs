//! The text of a job file with the files that it includes, and its sections, each with its options.

use std::path::{Component, Path};

use assay_core::suite::SuiteError;
use assay_core::text::quoted;

use crate::export::Header;
use crate::options::Options;
use crate::values::expanded;

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
