//! A tool on this host.

use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use assay_core::original::Original;

use assay_engine::{RUNS_TOOLS, is_root};

/// Where programs for administrators lie, which are not on everybody's path.
const ELSEWHERE: [&str; 2] = ["/usr/sbin", "/sbin"];
/// Longest version that is kept.
const LONGEST: usize = 40;

/// A tool as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Which one.
    pub tool: Original,
    /// Its version; empty where it tells none.
    pub version: String,
    /// Its programs, in the order of [`Found::names`].
    pub(crate) programs: Vec<PathBuf>,
}

impl Found {
    /// Looks for a tool.
    ///
    /// # Errors
    /// Why it cannot be used, in one line, with the package that brings it.
    pub fn find(tool: Original) -> Result<Self, String> {
        if !RUNS_TOOLS {
            return Err(format!("{} is run in place of an engine on Linux alone", tool.name()));
        }
        if tool == Original::Hdparm && !is_root() {
            return Err("hdparm reads the device itself, which needs root".to_owned());
        }
        // PostMark has no options: what it is given is a file of commands.
        let option = match tool {
            Original::Hdparm => "-V",
            Original::Iozone | Original::Ioping => "-v",
            Original::Bonnie => "-h",
            Original::Postmark => "/dev/null",
            Original::Fio | Original::Dd | Original::F3 | Original::Sysbench => "--version",
        };
        let (mut programs, mut said) = (Vec::new(), String::new());
        for name in names(tool) {
            let (program, output) = started(name, option)
                .map_err(|error| format!("{name} could not be started: {error}"))?
                .ok_or_else(|| format!("{name} is not installed (its Debian package is {})", tool.package()))?;
            said = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
            programs.push(program);
        }
        Ok(Self { tool, version: version(&said), programs })
    }

    /// The names of its programs.
    pub(crate) fn names(&self) -> &'static [&'static str] {
        names(self.tool)
    }
}

/// The programs of a tool.
fn names(tool: Original) -> &'static [&'static str] {
    match tool {
        Original::Fio => &["fio"],
        Original::Hdparm => &["hdparm"],
        Original::Dd => &["dd"],
        Original::Iozone => &["iozone"],
        Original::Ioping => &["ioping"],
        Original::F3 => &["f3write", "f3read"],
        Original::Bonnie => &["bonnie++"],
        Original::Sysbench => &["sysbench"],
        Original::Postmark => &["postmark"],
    }
}

/// A program and what it says to `option`; `None` where there is none of that name.
fn started(name: &str, option: &str) -> io::Result<Option<(PathBuf, Output)>> {
    let places = ELSEWHERE.map(|place| PathBuf::from(place).join(name));
    for program in std::iter::once(PathBuf::from(name)).chain(places) {
        match Command::new(&program).arg(option).env("LC_ALL", "C").stdin(Stdio::null()).output() {
            Ok(output) => return Ok(Some((program, output))),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// The first word that is a number with a point in it, before which a letter may stand: `v9.65`.
fn version(text: &str) -> String {
    let number = |word: &&str| {
        let digits = word.strip_prefix('v').unwrap_or(word);
        digits.starts_with(|c: char| c.is_ascii_digit()) && digits.contains('.')
    };
    let word = text.split_whitespace().find(number).unwrap_or_default();
    word.trim_start_matches('v').chars().filter(char::is_ascii_graphic).take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_the_first_number_with_a_point() {
        for (text, want) in [
            ("hdparm v9.65\n", "9.65"),
            ("dd (coreutils) 9.1\nCopyright (C) 2022 Free Software Foundation, Inc.\n", "9.1"),
            ("       'Iozone' Filesystem Benchmark Program\n\n\t\tVersion $Revision: 3.508 $\n", "3.508"),
            ("ioping 1.3\n", "1.3"),
            ("PostMark v1.51 : 8/14/01\nReading configuration from file '/dev/null'\npm>", "1.51"),
            ("F3 Write 8.0\nCopyright (C) 2010 Digirati Internet LTDA.\n", "8.0"),
            ("      [-m machine-name] [-r ram-size-in-MiB]\n\nVersion: 2.00a\n", "2.00a"),
            ("BusyBox, multi-call binary", ""),
        ] {
            assert_eq!(version(text), want, "{text}");
        }
    }

    #[test]
    fn dd_is_everywhere() {
        let found = Found::find(Original::Dd).unwrap();
        assert_eq!(found.programs, [PathBuf::from("dd")]);
    }
}
