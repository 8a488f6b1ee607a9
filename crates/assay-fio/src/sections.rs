//! The sections of a job file, each with its options.

use assay_core::suite::SuiteError;
use assay_core::text::quoted;

use crate::export::Header;
use crate::options::Options;

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
