//! The processors that the jobs of a load run on.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::text::quoted;

/// Numbers above this are refused: the kernel's own limit (`NR_CPUS`) is 8192 at most.
const LARGEST: u32 = 8191;
/// More parts of a list are refused.
const MOST_PARTS: usize = 1024;

/// Processors by their numbers. Each thread runs on one of them: the first on the first, and so on, from the first again at
/// the end of the list, as with fio's `cpus_allowed` and `cpus_allowed_policy=split`. Empty where the kernel chooses.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Cpus(Vec<u32>);

impl Cpus {
    /// Reads `0-3,7`, in the form of fio's `cpus_allowed` and of `taskset`. A number that stands twice is one.
    ///
    /// # Errors
    /// One line with what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let bad = |part: &str| format!("{} is not a list of processors; write it like 0-3,7", quoted(part));
        let number = |part: &str| {
            let read = part.trim().parse::<u32>().map_err(|_| bad(part))?;
            if read > LARGEST { Err(format!("processor {read} is above {LARGEST}")) } else { Ok(read) }
        };
        let (mut numbers, mut seen) = (Vec::new(), BTreeSet::new());
        if text.split(',').count() > MOST_PARTS {
            return Err(format!("a list of processors has {MOST_PARTS} parts at most"));
        }
        for part in text.split(',') {
            let (first, last) = match part.split_once('-') {
                Some((first, last)) => (number(first)?, number(last)?),
                None => (number(part)?, number(part)?),
            };
            if first > last {
                return Err(bad(part));
            }
            numbers.extend((first..=last).filter(|number| seen.insert(*number)));
        }
        Ok(Self(numbers))
    }

    /// These processors, each once.
    #[must_use]
    pub fn from_numbers(numbers: &[u32]) -> Self {
        Self(numbers.to_vec())
    }

    /// Whether the kernel chooses.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Their numbers, in the order in which threads take them.
    #[must_use]
    pub fn numbers(&self) -> &[u32] {
        &self.0
    }

    /// The processor of a thread, by its number from 0; `None` where the kernel chooses.
    #[must_use]
    pub fn of_thread(&self, thread: u32) -> Option<u32> {
        self.0.get(thread as usize % self.0.len().max(1)).copied()
    }
}

impl fmt::Display for Cpus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for number in &self.0 {
            match runs.last_mut() {
                Some((_, last)) if u64::from(*last) + 1 == u64::from(*number) => *last = *number,
                _ => runs.push((*number, *number)),
            }
        }
        for (at, (first, last)) in runs.into_iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            if first == last { write!(f, "{comma}{first}")? } else { write!(f, "{comma}{first}-{last}")? }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_as_fio_and_taskset_read_them() {
        for (text, numbers, shown) in [
            ("0", &[0][..], "0"),
            ("0-3,7", &[0, 1, 2, 3, 7], "0-3,7"),
            (" 2 , 1", &[2, 1], "2,1"),
            ("1,1,0-1", &[1, 0], "1,0"),
        ] {
            let cpus = Cpus::parse(text).unwrap();
            assert_eq!((cpus.numbers(), cpus.to_string().as_str()), (numbers, shown), "{text}");
            assert_eq!(Cpus::parse(&cpus.to_string()), Ok(cpus));
        }
        for bad in ["", "a", "3-1", "1,", "-1", "8192", "0-99999999999", "1-2-3"] {
            assert!(Cpus::parse(bad).is_err(), "{bad}");
        }
        assert!(Cpus::parse(&vec!["0-8191"; 1025].join(",")).is_err());
    }

    #[test]
    fn threads_take_them_in_turn() {
        let cpus = Cpus::parse("4,2").unwrap();
        let of: Vec<Option<u32>> = (0..5).map(|thread| cpus.of_thread(thread)).collect();
        assert_eq!(of, [Some(4), Some(2), Some(4), Some(2), Some(4)]);
        assert_eq!(Cpus::default().of_thread(3), None);
    }
}
