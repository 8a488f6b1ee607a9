//! A tool on this host.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use assay_core::original::Original;

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
    pub(crate) program: PathBuf,
}

impl Found {
    /// Looks for a tool.
    ///
    /// # Errors
    /// Why it cannot be used, in one line, with the package that brings it.
    pub fn find(tool: Original) -> Result<Self, String> {
        if tool == Original::Hdparm && !rustix::process::geteuid().is_root() {
            return Err("hdparm reads the device itself, which needs root".to_owned());
        }
        let option = match tool {
            Original::Hdparm => "-V",
            Original::Iozone | Original::Ioping => "-v",
            Original::Fio | Original::Dd => "--version",
        };
        let name = tool.name();
        let programs =
            std::iter::once(PathBuf::from(name)).chain(ELSEWHERE.map(|place| PathBuf::from(place).join(name)));
        for program in programs {
            match Command::new(&program).arg(option).env("LC_ALL", "C").stdin(Stdio::null()).output() {
                Ok(output) => {
                    let version = version(&String::from_utf8_lossy(&output.stdout));
                    return Ok(Self { tool, version, program });
                }
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(format!("{name} could not be started: {error}")),
            }
        }
        Err(format!("{name} is not installed (its Debian package is {})", tool.package()))
    }
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
            ("BusyBox, multi-call binary", ""),
        ] {
            assert_eq!(version(text), want, "{text}");
        }
    }

    #[test]
    fn dd_is_everywhere() {
        let found = Found::find(Original::Dd).unwrap();
        assert_eq!(found.program, PathBuf::from("dd"));
    }
}
