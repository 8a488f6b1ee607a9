//! Priorities of operations before those of others, as Linux has them (ioprio_set(2)): of all operations of a load, and
//! of a share of them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::text::quoted;
use crate::units::{Bytes, exact_bytes};
use crate::workload::Op;

/// The lowest level of a class, where 0 is the highest.
pub const LOWEST_LEVEL: u8 = 7;
/// Most shares of a load.
const MOST_SHARES: usize = 64;

/// What is served before what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PriorityClass {
    /// Before all others; for privileged processes.
    Realtime,
    /// As operations are that have no priority of their own.
    BestEffort,
    /// When no other process uses the medium.
    Idle,
}

impl PriorityClass {
    /// All of them, the first to be served first.
    pub const ALL: [Self; 3] = [Self::Realtime, Self::BestEffort, Self::Idle];

    /// As suites call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Realtime => "realtime",
            Self::BestEffort => "best-effort",
            Self::Idle => "idle",
        }
    }

    /// Its number in the kernel's interface (include/uapi/linux/ioprio.h) and in fio's options.
    #[must_use]
    pub fn number(self) -> u8 {
        match self {
            Self::Realtime => 1,
            Self::BestEffort => 2,
            Self::Idle => 3,
        }
    }
}

/// The priority of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Priority {
    /// Its class.
    pub class: PriorityClass,
    /// Its place in the class: 0, the highest, to 7.
    pub level: u8,
}

impl Priority {
    /// As the kernel takes it: the class in the upper three bits of sixteen, the level in the lower three.
    #[must_use]
    pub fn value(self) -> u16 {
        u16::from(self.class.number()) << 13 | u16::from(self.level.min(LOWEST_LEVEL))
    }

    /// Reads `idle`, `realtime/0` or `best-effort/7`; without a level it is 0.
    ///
    /// # Errors
    /// One line with what can be written.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (class, level) = text.trim().split_once('/').unwrap_or((text.trim(), "0"));
        let class = PriorityClass::ALL.into_iter().find(|known| known.name() == class);
        let level = level.parse::<u8>().ok().filter(|level| *level <= LOWEST_LEVEL);
        let read = class.zip(level).map(|(class, level)| Self { class, level });
        read.ok_or_else(|| {
            format!("priority {} must be realtime, best-effort or idle, with a level like best-effort/7", quoted(text))
        })
    }
}

/// As [`Priority::parse`] reads it.
impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.class.name())?;
        if self.level > 0 { write!(f, "/{}", self.level) } else { Ok(()) }
    }
}

/// A share of the operations of one kind, with a priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PriorityShare {
    /// Reads or writes; null for both, and where the load has one of them alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub op: Option<Op>,
    /// Their size in bytes; null for all sizes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_bytes: Option<u64>,
    /// How many of them, in percent: 1 to 100.
    pub percent: u8,
    /// What these have.
    pub priority: Priority,
}

impl PriorityShare {
    /// Whether it is about operations of this kind and size.
    #[must_use]
    pub fn is_of(&self, op: Op, block_bytes: u64) -> bool {
        self.op.is_none_or(|of| of == op) && self.block_bytes.is_none_or(|of| of == block_bytes)
    }

    /// Reads `20 % realtime`, `20 % of reads idle` or `20 % of 64KiB reads best-effort/7`.
    fn parse(text: &str) -> Result<Self, String> {
        let wrong = || {
            let like = "\"20 % realtime\", \"20 % of reads idle\" or \"5 % of 64KiB writes best-effort/7\"";
            format!("{} must be like {like}", quoted(text.trim()))
        };
        let (percent, rest) = text.split_once('%').ok_or_else(wrong)?;
        let percent = percent.trim().parse::<u8>().ok().filter(|p| (1..=100).contains(p)).ok_or_else(wrong)?;
        let words: Vec<&str> = rest.split_whitespace().collect();
        let (last, kind) = words.split_last().ok_or_else(wrong)?;
        let direction = |word: &str| match word {
            "reads" => Some(Op::Read),
            "writes" => Some(Op::Write),
            _ => None,
        };
        let size = |word: &str| word.parse::<Bytes>().map(|bytes| bytes.0).map_err(|_| wrong());
        let (op, block_bytes) = match kind {
            [] => (None, None),
            ["of", word] => match direction(word) {
                Some(op) => (Some(op), None),
                None => (None, Some(size(word)?)),
            },
            ["of", bytes, word] => (Some(direction(word).ok_or_else(wrong)?), Some(size(bytes)?)),
            _ => return Err(wrong()),
        };
        Ok(Self { op, block_bytes, percent, priority: Priority::parse(last)? })
    }
}

/// As it is written in a suite.
impl fmt::Display for PriorityShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} % ", self.percent)?;
        let direction = self.op.map(|op| if op == Op::Write { "writes" } else { "reads" });
        let kind: Vec<String> =
            self.block_bytes.map(exact_bytes).into_iter().chain(direction.map(str::to_owned)).collect();
        if !kind.is_empty() {
            write!(f, "of {} ", kind.join(" "))?;
        }
        self.priority.fmt(f)
    }
}

/// The priorities of a load's operations. Empty for most: then the kernel derives them from how nice the process is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Priorities {
    /// Priority of the operations outside of `shares`; null where they have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<Priority>,
    /// Of shares of the operations, each drawn independently of the others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<PriorityShare>,
}

/// The shares of one kind of operations, of one size.
struct Cell {
    op: Op,
    block_bytes: u64,
    shares: Vec<(Priority, u8)>,
}

impl Priorities {
    /// Whether no operation has one.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.job.is_none() && self.shares.is_empty()
    }

    /// Whether operations of a load with these, in their settled form, differ in priority.
    #[must_use]
    pub fn differ(&self) -> bool {
        match self.shares.as_slice() {
            [PriorityShare { op: None, block_bytes: None, percent: 100, .. }] => false,
            shares => shares.iter().any(|share| Some(share.priority) != self.job),
        }
    }

    /// All that operations have.
    pub fn all(&self) -> impl Iterator<Item = Priority> {
        self.job.into_iter().chain(self.shares.iter().map(|share| share.priority))
    }

    /// Reads shares like `20 % realtime, 10 % of writes idle`.
    ///
    /// # Errors
    /// One line with what is wrong.
    pub fn parse_shares(text: &str) -> Result<Vec<PriorityShare>, String> {
        let shares: Vec<PriorityShare> =
            text.split(',').take(MOST_SHARES + 1).map(PriorityShare::parse).collect::<Result<_, _>>()?;
        if shares.len() > MOST_SHARES { Err(format!("more than {MOST_SHARES} shares")) } else { Ok(shares) }
    }

    /// The same in one form, so that loads which do the same are the same: for what `op` does, with reads and writes of
    /// these sizes in bytes.
    ///
    /// # Errors
    /// One line, where a share is of operations that are not made, or shares come to more than all.
    pub fn settled(&self, op: Op, reads: &[u64], writes: &[u64]) -> Result<Self, String> {
        let cells = self.cells(op, reads, writes)?;
        let alike = |of: &dyn Fn(&Cell) -> bool| {
            let mut of = cells.iter().filter(|cell| of(cell));
            of.next().is_none_or(|first| of.all(|cell| cell.shares == first.shares))
        };
        let of = |op: Op| cells.iter().filter(move |cell| cell.op == op).map(|cell| (cell.block_bytes, &cell.shares));
        let all_alike = alike(&|_| true);
        let same_of_both = op != Op::Mixed || of(Op::Read).eq(of(Op::Write));
        let mut shares: Vec<PriorityShare> = Vec::new();
        for cell in &cells {
            let sizes_alike = all_alike || alike(&|other| other.op == cell.op);
            let kind = Some(cell.op).filter(|_| !all_alike && !same_of_both);
            let block_bytes = Some(cell.block_bytes).filter(|_| !sizes_alike);
            let of_cell = cell.shares.iter();
            let of_cell = of_cell.map(|(priority, percent)| (*priority, *percent));
            let new = of_cell.map(|(priority, percent)| PriorityShare { op: kind, block_bytes, percent, priority });
            for share in new {
                if !shares.contains(&share) {
                    shares.push(share);
                }
            }
        }
        if shares.len() > MOST_SHARES {
            return Err(format!("{} shares of operations with a priority are more than {MOST_SHARES}", shares.len()));
        }
        Ok(Self { job: self.job, shares })
    }

    /// What is asked for of each kind and size of operation.
    fn cells(&self, op: Op, reads: &[u64], writes: &[u64]) -> Result<Vec<Cell>, String> {
        let kinds: &[(Op, &[u64])] = match op {
            Op::Read => &[(Op::Read, reads)],
            Op::Write => &[(Op::Write, writes)],
            Op::Mixed => &[(Op::Read, reads), (Op::Write, writes)],
        };
        let all = || kinds.iter().flat_map(|(op, sizes)| sizes.iter().map(|bytes| (*op, *bytes)));
        if let Some(none) = self.shares.iter().find(|share| !all().any(|(op, bytes)| share.is_of(op, bytes))) {
            return Err(format!("{}: the workload has no such operations", quoted(&none.to_string())));
        }
        let mut cells = Vec::new();
        for (op, block_bytes) in all() {
            let mut shares: Vec<(Priority, u8)> = Vec::new();
            let mut sum = 0u32;
            for share in self.shares.iter().filter(|share| share.is_of(op, block_bytes) && share.percent > 0) {
                sum += u32::from(share.percent);
                if sum > 100 {
                    let what = if op == Op::Write { "writes" } else { "reads" };
                    let size = exact_bytes(block_bytes);
                    return Err(format!("shares of {size} {what} with a priority make {sum} %, more than 100"));
                }
                match shares.iter_mut().find(|(priority, _)| *priority == share.priority) {
                    Some((_, percent)) => *percent += share.percent,
                    None => shares.push((share.priority, share.percent)),
                }
            }
            shares.sort_unstable();
            cells.push(Cell { op, block_bytes, shares });
        }
        Ok(cells)
    }

    /// As fio's options, with reads and writes of these sizes in bytes.
    #[must_use]
    pub fn to_fio(&self, reads: &[u64], writes: &[u64]) -> Vec<(&'static str, String)> {
        let mut options: Vec<(&'static str, String)> = Vec::new();
        if let Some(job) = self.job {
            options.extend([("prioclass", job.class.number().to_string()), ("prio", job.level.to_string())]);
        }
        let Some(first) = self.shares.first() else { return options };
        let one = self.shares.iter().all(|s| s.block_bytes.is_none() && s.priority == first.priority);
        if one {
            let percent = |op: Op| self.shares.iter().find(|share| share.is_of(op, 0)).map_or(0, |share| share.percent);
            options.extend([
                ("cmdprio_percentage", format!("{},{}", percent(Op::Read), percent(Op::Write))),
                ("cmdprio_class", first.priority.class.number().to_string()),
                ("cmdprio", first.priority.level.to_string()),
            ]);
            return options;
        }
        let split = |op: Op, sizes: &[u64]| {
            let entries = sizes.iter().flat_map(|bytes| {
                let of_size = self.shares.iter().filter(move |share| share.is_of(op, *bytes));
                of_size.map(move |share| {
                    let Priority { class, level } = share.priority;
                    format!("{bytes}/{}/{}/{level}", share.percent, class.number())
                })
            });
            let entries: Vec<String> = entries.collect();
            let none = || format!("{}/0", sizes.first().copied().unwrap_or(512));
            if entries.is_empty() { none() } else { entries.join(":") }
        };
        options.push(("cmdprio_bssplit", format!("{},{}", split(Op::Read, reads), split(Op::Write, writes))));
        options
    }
}

/// Shares as [`Priorities::parse_shares`] reads them.
#[must_use]
pub fn shares_text(shares: &[PriorityShare]) -> String {
    shares.iter().map(PriorityShare::to_string).collect::<Vec<_>>().join(", ")
}

/// In words: `priority idle, 20 % realtime`.
impl fmt::Display for Priorities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let job = self.job.map(|job| format!("priority {job}"));
        let shares = (!self.shares.is_empty()).then(|| shares_text(&self.shares));
        f.write_str(&job.into_iter().chain(shares).collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(shares: &str) -> Priorities {
        Priorities { job: None, shares: Priorities::parse_shares(shares).unwrap() }
    }

    #[test]
    fn shares_of_one_priority_for_all_operations_do_not_differ() {
        let differ = |shares: &str, job: Option<&str>, op| {
            let job = job.map(|job| Priority::parse(job).unwrap());
            Priorities { job, ..of(shares) }.settled(op, &[4096], &[4096]).unwrap().differ()
        };
        assert!(!differ("100 % idle", None, Op::Read) && !differ("60 % idle, 40 % idle", None, Op::Write));
        assert!(!differ("100 % of reads idle, 100 % of writes idle", None, Op::Mixed));
        assert!(!differ("20 % idle", Some("idle"), Op::Read));
        assert!(differ("20 % idle", None, Op::Read) && differ("20 % idle", Some("realtime"), Op::Read));
        assert!(differ("100 % of reads idle", None, Op::Mixed) && differ("50 % idle, 50 % realtime", None, Op::Read));
        assert!(!Priorities::default().differ());
    }

    #[test]
    fn priorities_are_read_as_they_are_written() {
        for text in ["realtime", "best-effort/7", "idle", "realtime/1"] {
            assert_eq!(Priority::parse(text).unwrap().to_string(), text);
        }
        let level = Priority::parse("idle/3").unwrap();
        assert_eq!((Priority::parse("idle/0").unwrap().to_string(), level.value()), ("idle".to_owned(), 0x6003));
        for bad in ["", "none", "idle/8", "realtime/", "Idle", "best-effort/-1"] {
            assert!(Priority::parse(bad).unwrap_err().contains("must be realtime"), "{bad}");
        }
        for text in ["20 % realtime", "20 % of reads idle/7", "5 % of 64KiB best-effort, 9 % of 1MiB writes idle"] {
            assert_eq!(shares_text(&Priorities::parse_shares(text).unwrap()), text);
        }
        for bad in ["", "20 realtime", "0 % idle", "101 % idle", "20 % of idle", "20 % of x idle", "1 % idle,"] {
            assert!(Priorities::parse_shares(bad).is_err(), "{bad}");
        }
        assert!(Priorities::parse_shares(&["1 % idle"; 65].join(",")).unwrap_err().contains("64"));
    }

    #[test]
    fn shares_that_do_the_same_are_the_same() {
        let settled = |text: &str, op, reads: &[u64], writes: &[u64]| {
            of(text).settled(op, reads, writes).map(|settled| shares_text(&settled.shares))
        };
        let (small, both) = ([4096], [4096, 65_536]);
        for (text, op, same) in [
            ("20 % of reads realtime", Op::Read, "20 % realtime"),
            ("20 % of reads realtime, 20 % of writes realtime", Op::Mixed, "20 % realtime"),
            ("20 % of writes realtime", Op::Mixed, "20 % of writes realtime"),
            ("5 % of 4KiB idle, 5 % of 64KiB idle", Op::Write, "5 % idle"),
            ("5 % of 4KiB reads idle, 5 % of 4KiB writes idle", Op::Mixed, "5 % of 4KiB idle"),
            ("5 % idle, 5 % of reads idle", Op::Mixed, "10 % of reads idle, 5 % of writes idle"),
            ("7 % idle, 5 % realtime/1, 6 % realtime", Op::Read, "6 % realtime, 5 % realtime/1, 7 % idle"),
            ("5 % of 64KiB reads idle", Op::Mixed, "5 % of 64KiB reads idle"),
        ] {
            assert_eq!(settled(text, op, &both, &both).as_deref(), Ok(same), "{text}");
            // What is settled stays so.
            assert_eq!(settled(same, op, &both, &both).as_deref(), Ok(same), "{text}");
        }
        let levels: Vec<String> =
            (0..33).map(|n| format!("1 % of {} idle/{}", exact_bytes(512 * (n + 1)), n % 8)).collect();
        let sizes: Vec<u64> = (0..33).map(|n| 512 * (n + 1)).collect();
        let others = sizes[1..].to_vec();
        let many = settled(&levels.join(", "), Op::Mixed, &sizes, &others);
        assert!(many.unwrap_err().contains("65 shares"));
        assert_eq!(settled("5 % of 4KiB idle", Op::Mixed, &small, &small).as_deref(), Ok("5 % idle"));
        for (text, op, word) in [
            ("5 % of writes idle", Op::Read, "no such operations"),
            ("5 % of 8KiB idle", Op::Read, "no such operations"),
            ("60 % idle, 50 % of 4KiB realtime", Op::Read, "110 %"),
        ] {
            assert!(settled(text, op, &both, &both).unwrap_err().contains(word), "{text}");
        }
    }

    #[test]
    fn fio_gets_the_same() {
        let options = |text: &str| {
            let lines = of(text).to_fio(&[4096, 65_536], &[1 << 20]);
            lines.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join("\n")
        };
        assert_eq!(options("20 % idle/2"), "cmdprio_percentage=20,20\ncmdprio_class=3\ncmdprio=2");
        assert_eq!(options("20 % of writes realtime"), "cmdprio_percentage=0,20\ncmdprio_class=1\ncmdprio=0");
        let split = "25 % of 64KiB reads realtime/1, 75 % of 64KiB reads idle/2";
        assert_eq!(options(split), "cmdprio_bssplit=65536/25/1/1:65536/75/3/2,1048576/0");
        let job = Priorities { job: Some(Priority::parse("best-effort/7").unwrap()), shares: Vec::new() };
        assert_eq!(job.to_fio(&[512], &[512]), [("prioclass", "2".to_owned()), ("prio", "7".to_owned())]);
    }

    #[test]
    fn what_a_record_has_is_read_again() {
        let priorities =
            Priorities { job: Some(Priority::parse("idle").unwrap()), ..of("20 % of 4KiB reads realtime") };
        assert_eq!(priorities.to_string(), "priority idle, 20 % of 4KiB reads realtime");
        let json = serde_json::to_string(&priorities).unwrap();
        assert_eq!(
            json,
            r#"{"job":{"class":"idle","level":0},"shares":[{"op":"read","block_bytes":4096,"percent":20,"priority":{"class":"realtime","level":0}}]}"#
        );
        assert_eq!(serde_json::from_str::<Priorities>(&json).unwrap(), priorities);
        assert!(Priorities::default().is_empty() && Priorities::default().to_string().is_empty());
    }
}
