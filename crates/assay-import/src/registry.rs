//! The formats there are. A new one is a file in `formats` and a line here.

use assay_core::text::quoted;
use assay_core::units::Bytes;

use crate::formats;
use crate::report::Format;
use crate::text::Text;

/// All formats. A line is offered to each in this order: those with a frame of their own come before those of single
/// lines, which may stand within it.
#[rustfmt::skip]
pub const FORMATS: &[&dyn Format] = &[
    &formats::CrystalDiskMark,
    &formats::Phoronix,
    &formats::Fio,
    &formats::KDiskMark,
    &formats::AmorphousDiskMark,
    &formats::AsSsd,
    &formats::HdTune,
    &formats::Bonnie,
    &formats::Smartctl,
    &formats::SmartText,
    &formats::Ioping,
    &formats::IopingJson,
    &formats::PiBenchmarks,
    &formats::PiDiagnostics,
    &formats::F3,
    &formats::H2testw,
    &formats::Iozone,
    &formats::Sysbench,
    &formats::Linpack,
    &formats::Elbencho,
    &formats::ElbenchoText,
    &formats::EzFio,
    &formats::Diskspd,
    &formats::Ior,
    &formats::Mdtest,
    &formats::PostMark,
    &formats::DiskspdXml,
    &formats::Winsat,
    &formats::Yabs,
    &formats::BenchSh,
    &formats::Pveperf,
    &formats::RadosBench,
    &formats::Hdparm,
    &formats::Dd,
];

/// Their names.
#[must_use]
pub fn names() -> Vec<&'static str> {
    FORMATS.iter().map(|format| format.name()).collect()
}

/// Whether a report of some format begins at a line.
pub(crate) fn begins(text: &Text, at: usize) -> bool {
    FORMATS.iter().any(|format| format.begins(text, at))
}

/// Characters of a line that are looked at for words.
const LONGEST_LOOK: usize = 4_096;

/// Words that the texts of many tools have: one of them alone names none.
const COMMON: [&str; 13] = [
    "mb/s",
    "mb/sec",
    "iops",
    "msec",
    "random",
    "sequential",
    "sequential read",
    "random read",
    "score:",
    "rewrite",
    "reread",
    "access time",
    "copied,",
];
/// What a word that only one tool prints counts, beside one for a common word.
const TELLING: usize = 3;

/// The format that is nearest to a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nearest {
    /// Its name.
    pub name: &'static str,
    /// The first line that has one of its words.
    pub line: u32,
    /// What the text lacks.
    pub needs: &'static str,
}

/// The format whose words occur most often in a text, where enough do.
pub(crate) fn nearest(text: &Text) -> Option<Nearest> {
    let lower: Vec<String> = text
        .lines()
        .iter()
        .take(2_000)
        .map(|line| {
            // What begins a report stands early in a line.
            line.text.chars().take(LONGEST_LOOK).flat_map(char::to_lowercase).collect()
        })
        .collect();
    let occurs = |word: &str| lower.iter().any(|line| line.contains(word));
    let weight = |word: &&str| match occurs(word) {
        true if COMMON.contains(word) => 1,
        true => TELLING,
        false => 0,
    };
    let counts = FORMATS.iter().map(|format| (format.keywords().iter().map(weight).sum::<usize>(), format));
    // The first of those with as many.
    let (_, format) = counts.rev().max_by_key(|(count, _)| *count).filter(|(count, _)| *count >= TELLING)?;
    let telling = |line: &String| format.keywords().iter().any(|word| !COMMON.contains(word) && line.contains(word));
    let line = lower.iter().position(telling).unwrap_or(0);
    Some(Nearest { name: format.name(), line: text.number(line), needs: format.needs() })
}

// Why nothing was imported.

/// Why nothing was imported of a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// No format that is known.
    #[error("{}: {}; {}", quoted(.file), unknown_format(*.lines), nearest_words(*.nearest))]
    Unknown {
        /// The file.
        file: String,
        /// How many lines it has.
        lines: usize,
        /// The format that is nearest by its words.
        nearest: Option<Nearest>,
    },
    /// A format is known, and nothing of it could be used.
    #[error("{}, line {line}: {what}", quoted(.file))]
    Nothing {
        /// The file.
        file: String,
        /// The line.
        line: u32,
        /// What is wrong with it.
        what: String,
    },
    /// It is too large to be the output of a tool.
    #[error("{}: larger than {}; results of tools are smaller: name the results themselves", quoted(.file), Bytes(*.most))]
    TooLarge {
        /// The file.
        file: String,
        /// What would be read, in bytes.
        most: u64,
    },
    /// It holds more records than are taken of one file; the first were.
    #[error("{}: more than {most} results; the first {most} were taken: divide the file", quoted(.file))]
    TooMany {
        /// The file.
        file: String,
        /// How many were taken.
        most: usize,
    },
    /// A compressed file or an archive cannot be unpacked.
    #[error("{}: cannot be unpacked: {reason}", quoted(.file))]
    Packed {
        /// The file.
        file: String,
        /// Why.
        reason: String,
    },
    /// A record of assay that cannot be read.
    #[error("{}: {reason}", quoted(.file))]
    Own {
        /// The file.
        file: String,
        /// Why.
        reason: String,
    },
}

fn unknown_format(lines: usize) -> &'static str {
    if lines == 0 { "the file is empty" } else { "no result of a known format is in it" }
}

fn nearest_words(nearest: Option<Nearest>) -> String {
    match nearest {
        Some(Nearest { name, line, needs }) => {
            format!(
                "line {line} is nearest to {name}, but without {needs}; `assay import --formats` lists what is read"
            )
        }
        None => "`assay import --formats` lists what is read".to_owned(),
    }
}
