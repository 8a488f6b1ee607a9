//! Workloads of a suite that run at the same time.

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Deserializer, Serialize};

use super::workload::{Analysis, SuiteWorkload};
use crate::arrivals::Rate;
use crate::units::{Bytes, GIB, parse_share, trimmed};
use crate::workload::Together;

/// Parts of the area begin at multiples of this many bytes.
const PART_ALIGNMENT: u64 = 1 << 20;
/// Most workloads at the same time.
pub const MAX_TOGETHER: usize = 64;

/// Indices of the workloads that run at the same time as the one at `index`, itself included; itself alone where it is
/// in no group. The members of a group stand one after the other.
#[must_use]
pub fn members(workloads: &[SuiteWorkload], index: usize) -> Range<usize> {
    let Some(group) = workloads.get(index).and_then(|w| w.group.as_ref()) else { return index..index + 1 };
    let same = |w: &&SuiteWorkload| w.group.as_ref() == Some(group);
    let before = workloads[..index].iter().rev().take_while(same).count();
    let after = workloads[index..].iter().take_while(same).count();
    index - before..index + after
}

/// Indices of the workloads that begin a turn of their own: those of no group, and the first of each group.
#[must_use]
pub fn leaders(workloads: &[SuiteWorkload]) -> Vec<usize> {
    let follows = |index: usize| {
        index > 0 && workloads[index].group.is_some() && workloads[index].group == workloads[index - 1].group
    };
    (0..workloads.len()).filter(|index| !follows(*index)).collect()
}

/// What runs beside the workload at `index`; `None` where nothing does.
#[must_use]
pub fn together(workloads: &[SuiteWorkload], index: usize) -> Option<Together> {
    let group = workloads.get(index)?.group.clone()?;
    let others = members(workloads, index).filter(|other| *other != index);
    Some(Together { group, beside: others.map(|other| workloads[other].title()).collect() })
}

/// The part of an area of `area_bytes` that the workload at `index` uses: its first byte, and most bytes. A workload that
/// says where it begins has all from there on; the other members of a group have a part each, all alike.
#[must_use]
pub fn part(workloads: &[SuiteWorkload], index: usize, area_bytes: u64) -> (u64, u64) {
    if let Some(offset) = workloads.get(index).and_then(|w| w.offset) {
        // In an area that became smaller a part behind its end begins at the beginning.
        let begins = if offset.0 < area_bytes { offset.0 } else { 0 };
        return (begins, area_bytes - begins);
    }
    let group = members(workloads, index);
    let each = area_bytes / group.len().max(1) as u64;
    let each = if each > PART_ALIGNMENT { each / PART_ALIGNMENT * PART_ALIGNMENT } else { each / 4096 * 4096 };
    match group.len() {
        1 => (0, area_bytes),
        _ => ((index - group.start) as u64 * each, each),
    }
}

/// What is wrong with the groups of a suite, with the index of the workload; nothing where all is well.
pub(super) fn wrong(workloads: &[SuiteWorkload], span: Bytes) -> Option<(usize, String)> {
    let mut ended: HashSet<&String> = HashSet::new();
    workloads.iter().enumerate().find_map(|(index, workload)| {
        let group = workload.group.as_ref()?;
        let members = members(workloads, index);
        let other = &workloads[members.start];
        let again = members.start == index && !ended.insert(group);
        let (_, most) = part(workloads, index, span.0);
        let needs = workload.span.map_or(0, |s| s.0).max(workload.largest().saturating_mul(u64::from(workload.jobs)));
        let share =
            matches!(&workload.rate, Some(Rate::Share { of, .. }) if workloads[members.clone()].iter().any(|w| w.name == *of));
        let why = if again {
            "has other workloads between its own: they must stand one after the other".to_owned()
        } else if members.len() < 2 {
            "has one workload only".to_owned()
        } else if members.len() > MAX_TOGETHER {
            format!("has more than {MAX_TOGETHER} workloads")
        } else if workload.analysis == Analysis::Soak {
            "holds a soak, which runs alone".to_owned()
        } else if workload.duration != other.duration {
            "has workloads of different durations, which must be alike".to_owned()
        } else if share {
            "has a rate that is a share of a workload in the same group".to_owned()
        } else if needs > most {
            format!("leaves each workload {} of the span, and this one uses {}", Bytes(most), Bytes(needs))
        } else {
            return None;
        };
        Some((index, format!("group `{group}` {why}")))
    })
}

// Sizes that are shares of the medium, and how the test area is made.

/// Placeholder for the size of the medium until it is known. Shares are computed from it.
pub const WHOLE: Bytes = Bytes(1024 * 1024 * GIB);
/// Settled shares are multiples of this many bytes.
const UNIT: u64 = 4096;

/// How the test area is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LayoutRule {
    /// It is written out beforehand, within a fifth of the budget: what does not fit into that is left out.
    #[default]
    Budget,
    /// All of it is written out, however long that takes; the budget begins after that. Where there is no room for it,
    /// nothing is measured.
    Whole,
    /// It is used as it is, all of it. Of a file, which has nothing yet, all is written out.
    None,
}

impl LayoutRule {
    /// Its name in suites.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Budget => "budget",
            Self::Whole => "whole",
            Self::None => "none",
        }
    }

    /// Whether the size that is asked for is used, or nothing is measured.
    #[must_use]
    pub fn keeps_size(self) -> bool {
        self != Self::Budget
    }
}

/// A size as it is written: in bytes, or in percent of the medium.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Extent {
    Bytes(Bytes),
    Percent(f64),
}

impl Extent {
    /// In bytes, of a medium of [`WHOLE`].
    pub(super) fn bytes(self) -> Bytes {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Percent(percent) => Bytes(share(percent, WHOLE.0)),
        }
    }

    /// The percent, where it was written so.
    pub(super) fn percent(self) -> Option<f64> {
        match self {
            Self::Bytes(_) => None,
            Self::Percent(percent) => Some(percent),
        }
    }

    /// Of a size that was given as one of these.
    pub(super) fn from_size(bytes: Bytes, percent: Option<f64>) -> Self {
        percent.map_or(Self::Bytes(bytes), Self::Percent)
    }
}

impl<'de> Deserialize<'de> for Extent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Extent;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a size like \"1GiB\", a number of bytes or a share like \"50%\"")
            }
            fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Extent, E> {
                Ok(Extent::Bytes(Bytes(value)))
            }
            fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Extent, E> {
                let bytes = u64::try_from(value).map_err(|_| E::custom("a size cannot be negative"))?;
                Ok(Extent::Bytes(Bytes(bytes)))
            }
            fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Extent, E> {
                if !value.trim_end().ends_with('%') {
                    return value.parse().map(Extent::Bytes).map_err(E::custom);
                }
                let share = parse_share(value).ok().filter(|share| (0.0..=1.0).contains(share));
                let percent = share.map(|share| share * 100.0);
                percent.map(Extent::Percent).ok_or_else(|| E::custom("a share of the medium is 0% to 100%"))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// As it is read.
impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => f.write_str(&crate::units::exact_bytes(bytes.0)),
            Self::Percent(percent) => write!(f, "{}%", trimmed(*percent, 6)),
        }
    }
}

/// `percent` percent of `whole`, as a multiple of 4 KiB.
pub(super) fn share(percent: f64, whole: u64) -> u64 {
    (percent / 100.0 * whole as f64) as u64 / UNIT * UNIT
}

#[cfg(test)]
mod tests {
    use super::super::Suite;
    use super::*;

    fn suite(first: &str, second: &str) -> Result<Suite, String> {
        let head = "name = \"x\"\nversion = 1\npurpose = \"p\"\nbudget = \"10s\"\nmax_write = \"1GiB\"\nrepeats = 3\nspan = \"64MiB\"\n";
        let workload = |name: &str, more: &str| {
            format!("[[workload]]\nname = \"{name}\"\nop = \"read\"\npattern = \"random\"\nblock = \"4k\"\n{more}\n")
        };
        let text = [head, &workload("a", first), &workload("b", second), &workload("c", "")].concat();
        Suite::parse(&text, "x.toml").map_err(|error| error.to_string())
    }

    #[test]
    fn members_have_a_part_each() {
        let both = suite("group = \"g\"", "group = \"g\"").unwrap();
        let (all, area) = (&both.workloads, (9 << 20) + 5);
        assert_eq!((members(all, 1), members(all, 2)), (0..2, 2..3));
        assert_eq!(leaders(all), [0, 2]);
        let beside = together(all, 1).unwrap();
        assert_eq!((beside.group.as_str(), beside.to_string().as_str()), ("g", "beside random read 4 KiB"));
        assert_eq!(together(all, 2), None);
        assert_eq!(part(all, 0, area), (0, 4 << 20));
        assert_eq!(part(all, 1, area), (4 << 20, 4 << 20));
        assert_eq!(part(all, 2, area), (0, area));
        assert_eq!(part(all, 1, 100_000), (49_152, 49_152));
        assert_eq!(Suite::parse(&both.to_text(), "y.toml").unwrap(), both);
    }

    #[test]
    fn members_stand_one_after_the_other() {
        let text = suite("group = \"g\"", "group = \"g\"").unwrap().to_text();
        let more = |name: &str| {
            format!(
                "[[workload]]\nname = \"{name}\"\nop = \"read\"\npattern = \"random\"\nblock = \"4k\"\ngroup = \"g\"\n"
            )
        };
        let message = Suite::parse(&(text + &more("d") + &more("e")), "x.toml").unwrap_err().message;
        assert!(message.contains("group `g` has other workloads between"), "{message}");
    }

    #[test]
    fn groups_that_cannot_run_are_refused_with_their_line() {
        for (first, second, line, words) in [
            ("group = \"g\"", "", 8, "has one workload only"),
            ("group = \"g\"\nduration = \"1s\"", "group = \"g\"", 15, "different durations"),
            ("group = \"g\"", "group = \"g\"\nspan = \"40MiB\"", 14, "leaves each workload 32 MiB"),
            ("group = \"g\"", "group = \"g\"\nrate = \"50 % of a\"", 14, "a share of a workload in the same group"),
            ("group = \"a b\"", "group = \"a b\"", 13, "only letters"),
        ] {
            let message = suite(first, second).unwrap_err();
            assert!(message.contains(words) && message.starts_with(&format!("x.toml:{line}:")), "{message}");
        }
    }
}
