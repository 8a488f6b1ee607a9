//! The load that a figure was measured under. Figures are compared under the same load only.

use std::fmt::{self, Display};

use assay_core::blocks::Blocks;
use assay_core::distribution::Distribution;
use assay_core::load_title::LoadTitle;
use assay_core::priority::Priority;
use assay_core::text::quoted;
use assay_core::units::Bytes;
use assay_core::workload::{Op, Pattern, Unknown, Workload};
use serde::{Serialize, Serializer};

/// A load, independent of its name in a suite. Sorted in reading order: reads before writes, sequential before random,
/// small blocks before large ones.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Load {
    /// Sort key: 0 read, 1 mixed, 2 write.
    #[serde(rename = "op", serialize_with = "op_name")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    op_order: u8,
    /// 0 sequential, 1 random, 2 where the source of an imported figure does not say.
    #[serde(rename = "pattern", serialize_with = "pattern_name")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pattern_order: u8,
    /// Size of one operation in bytes; 0 where it is not known.
    pub block_bytes: u64,
    /// Operations in flight for each job; 0 where that is not known.
    pub queue_depth: u32,
    /// Threads; 0 where that is not known.
    pub jobs: u32,
    /// Share of reads in percent for mixed work.
    pub read_percent: Option<u8>,
    /// Whether every write is followed by a sync of its own.
    pub synced: bool,
    /// The offered rate of an open loop, like `500 IOPS offered`; empty for a closed loop.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub offered: String,
    /// The distribution of random operations over the blocks, like `zipf:1.1`; empty for the uniform distribution.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub spread: String,
    /// The sizes of operations where there are several, like `4KiB/60:64KiB/40`; empty where all have one size.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub blocks: String,
    /// Refinements of the blocks, priorities, pauses between operations, and concurrent workloads; empty where there are none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub beside: String,
    /// Distinguishes several figures of one record under the same load; empty for the first.
    pub variant: String,
}

impl Load {
    /// The load of a workload.
    #[must_use]
    pub fn from_workload(workload: &Workload) -> Self {
        Self {
            op_order: op_order(workload),
            pattern_order: pattern_order(workload),
            block_bytes: workload.block_bytes,
            queue_depth: workload.queue_depth,
            jobs: workload.jobs,
            read_percent: workload.read_percent,
            synced: workload.sync.each(),
            offered: text_or_empty(workload.arrivals),
            spread: spread(workload),
            blocks: blocks(workload),
            beside: beside(workload),
            variant: String::new(),
        }
    }

    /// Whether this is the load of a workload, apart from the variant. Numbers are compared first, and strings are
    /// built only for the parts that are present: a ranking calls this for each measurement of each record, for each
    /// load.
    pub(crate) fn is_of(&self, workload: &Workload) -> bool {
        let Self { op_order: op, pattern_order: pattern, block_bytes, queue_depth, jobs, read_percent, synced, .. } =
            self;
        (*block_bytes, *queue_depth, *jobs) == (workload.block_bytes, workload.queue_depth, workload.jobs)
            && (*op, *pattern) == (op_order(workload), pattern_order(workload))
            && (*read_percent, *synced) == (workload.read_percent, workload.sync.each())
            && self.offered == text_or_empty(workload.arrivals)
            && self.spread == spread(workload)
            && self.blocks == blocks(workload)
            && self.beside == beside(workload)
    }

    /// Whether the load alone shows what a medium can do: a closed loop with uniformly distributed blocks of one size,
    /// and the first of its kind in its record.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.conditions().all(str::is_empty) && self.blocks.is_empty() && self.variant.is_empty()
    }

    /// The conditions beyond blocks and queue that distinguish loads, each as text or empty.
    pub(crate) fn conditions(&self) -> impl Iterator<Item = &str> {
        [&self.offered, &self.spread, &self.beside].into_iter().map(String::as_str)
    }

    /// The kind of the operations.
    #[must_use]
    pub fn op(&self) -> Op {
        OPS[usize::from(self.op_order).min(2)]
    }

    /// The access pattern; `None` where it is not known.
    #[must_use]
    pub fn pattern(&self) -> Option<Pattern> {
        PATTERNS.get(usize::from(self.pattern_order)).copied()
    }

    /// The load as text: `random read 4 KiB, QD32`.
    #[must_use]
    pub fn title(&self) -> String {
        let title = self.called().whole();
        if self.variant.is_empty() { title } else { format!("{title} ({})", self.variant) }
    }

    /// The same without the block size: the title of a row of block sizes.
    #[must_use]
    pub fn title_of_sizes(&self) -> String {
        let title = self.called().without_block();
        if self.variant.is_empty() { title } else { format!("{title} ({})", self.variant) }
    }

    /// Blocks and queue alone, as [`Workload::shape`] names them: `4 KiB, QD32`.
    #[must_use]
    pub fn shape(&self) -> String {
        self.called().shape()
    }

    fn called(&self) -> LoadTitle<'_> {
        let block = match self.block_bytes {
            _ if !self.blocks.is_empty() => Some(self.blocks.clone()),
            0 => None,
            bytes => Some(Bytes(bytes).to_string()),
        };
        LoadTitle {
            pattern: self.pattern(),
            op: self.op(),
            read_percent: self.read_percent,
            block,
            queue_depth: Some(self.queue_depth).filter(|depth| *depth > 0),
            jobs: self.jobs,
            synced: self.synced,
            conditions: self.conditions().collect(),
        }
    }
}

fn op_order(workload: &Workload) -> u8 {
    match workload.op {
        Op::Read => 0,
        Op::Mixed => 1,
        Op::Write => 2,
    }
}

fn pattern_order(workload: &Workload) -> u8 {
    match workload.pattern {
        _ if workload.lacks(Unknown::Pattern) => 2,
        Pattern::Sequential => 0,
        Pattern::Random => 1,
    }
}

/// The value as text; the empty string, which needs no allocation, where there is no value.
fn text_or_empty(something: Option<impl Display>) -> String {
    something.map(|it| it.to_string()).unwrap_or_default()
}

fn spread(workload: &Workload) -> String {
    text_or_empty(Some(&workload.distribution).filter(|distribution| !distribution.is_uniform()))
}

fn blocks(workload: &Workload) -> String {
    text_or_empty(Some(&workload.blocks).filter(|blocks| !blocks.is_empty()))
}

fn beside(workload: &Workload) -> String {
    let together = workload.together.as_ref().map(ToString::to_string);
    let refined = Some(&workload.refined).filter(|refined| !refined.is_empty());
    let priorities = Some(&workload.priorities).filter(|priorities| !priorities.is_empty());
    match (refined, priorities, workload.think, together) {
        (None, None, None, None) => String::new(),
        (refined, priorities, think, together) => {
            let parts =
                [text_or_empty(refined), text_or_empty(priorities), text_or_empty(think), together.unwrap_or_default()];
            parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
        }
    }
}

/// The one of `known` names, in small letters, that a misspelt one is most like: at most a third of the letters differ.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let alike = |known: &'a str| (strsim::normalized_damerau_levenshtein(&word, known), known);
    let near = known.into_iter().map(alike).filter(|(alike, _)| *alike > 0.66);
    near.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, known)| known)
}

/// Words of a load.
const WORDS: [&str; 9] = ["random", "sequential", "read", "write", "mixed", "synced", "jobs", "fdatasync", "priority"];

const OPS: [Op; 3] = [Op::Read, Op::Mixed, Op::Write];
const PATTERNS: [Pattern; 2] = [Pattern::Sequential, Pattern::Random];

fn op_name<S: Serializer>(order: &u8, serializer: S) -> Result<S::Ok, S::Error> {
    OPS[usize::from(*order).min(2)].serialize(serializer)
}

fn pattern_name<S: Serializer>(order: &u8, serializer: S) -> Result<S::Ok, S::Error> {
    PATTERNS.get(usize::from(*order)).serialize(serializer)
}

// A load by the words that people write.

/// A load in words, as in its title: `random read 4 KiB`, `write`, `seq read 1MiB QD8`. Properties that are left out
/// match any value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LoadQuery {
    op: Option<Op>,
    pattern: Option<Pattern>,
    block_bytes: Option<u64>,
    queue_depth: Option<u32>,
    jobs: Option<u32>,
    read_percent: Option<u8>,
    synced: bool,
    /// `500 iops`, `zipf:1.1`: what only loads of an open loop or of a distribution have.
    conditions: Vec<String>,
}

/// Words that name no load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoadQueryError {
    /// There are none.
    NoWords,
    /// One of them is not understood.
    UnknownWord {
        /// The word.
        word: String,
        /// The nearest one that is.
        nearest: Option<&'static str>,
    },
}

impl fmt::Display for LoadQueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoWords => f.write_str("a load needs words, like `random read 4 KiB`"),
            Self::UnknownWord { word, nearest } => {
                let nearest = nearest.map_or_else(String::new, |near| format!("; the nearest is `{near}`"));
                write!(
                    f,
                    "{} is not part of a load{nearest}; say it like `random read 4 KiB`, `sequential write 1MiB, QD8, 4 jobs`",
                    quoted(word)
                )
            }
        }
    }
}

impl std::error::Error for LoadQueryError {}

impl LoadQuery {
    /// Reads such words.
    ///
    /// # Errors
    /// [`LoadQueryError`].
    pub fn parse(text: &str) -> Result<Self, LoadQueryError> {
        let spaced = text.to_lowercase().replace([',', ';'], " ");
        let mut words = spaced.split_whitespace().peekable();
        let mut ask = Self::default();
        let bad = |word: &str| LoadQueryError::UnknownWord { word: word.to_owned(), nearest: nearest(word, WORDS) };
        while let Some(word) = words.next() {
            match word {
                "random" | "rand" => ask.pattern = Some(Pattern::Random),
                "sequential" | "seq" => ask.pattern = Some(Pattern::Sequential),
                "read" | "reads" => ask.op = Some(Op::Read),
                "write" | "writes" => ask.op = Some(Op::Write),
                "mixed" => {
                    ask.op = Some(Op::Mixed);
                    ask.read_percent = share(&mut words);
                }
                "synced" | "fsync" | "fdatasync" => ask.synced = true,
                "offered" | "think" | "time" | "priority" => ask.conditions.push(word.to_owned()),
                // The concurrent workload takes all remaining words.
                "beside" => ask.conditions.push(format!("beside {}", words.by_ref().collect::<Vec<_>>().join(" "))),
                "every" => ask.conditions.push(format!("every {}", words.next().ok_or_else(|| bad(word))?)),
                _ if word.contains('/') && Blocks::parse(word).is_ok() => ask.conditions.push(word.to_owned()),
                _ if word.contains(':') && Distribution::parse(word).is_ok() => ask.conditions.push(word.to_owned()),
                // The words before a priority name its operations.
                "of" => {
                    let kind = std::iter::from_fn(|| words.next_if(|word| Priority::parse(word).is_err()));
                    ask.conditions.push(format!("of {}", kind.collect::<Vec<_>>().join(" ")));
                }
                _ if Priority::parse(word).is_ok() => ask.conditions.push(word.to_owned()),
                "qd" => ask.queue_depth = Some(words.next().and_then(number).ok_or_else(|| bad(word))?),
                _ => match word.strip_prefix("qd").and_then(number) {
                    Some(depth) => ask.queue_depth = Some(depth),
                    None => {
                        let next = words.peek().copied().unwrap_or("");
                        if let (Some(jobs), "job" | "jobs") = (number(word), next) {
                            ask.jobs = Some(jobs);
                            words.next();
                        } else if ["iops", "ns", "µs", "ms", "s", "%"].contains(&next) {
                            ask.conditions.push(format!("{word} {next}"));
                            words.next();
                        } else if let Ok(bytes) = format!("{word}{next}").parse::<Bytes>()
                            && ["b", "kib", "mib", "gib", "kb", "mb", "gb"].contains(&next)
                        {
                            ask.block_bytes = Some(bytes.0);
                            words.next();
                        } else {
                            ask.block_bytes = Some(word.parse::<Bytes>().map_err(|_| bad(word))?.0);
                        }
                    }
                },
            }
        }
        if ask == Self::default() {
            return Err(LoadQueryError::NoWords);
        }
        Ok(ask)
    }

    /// Whether a load matches.
    #[must_use]
    pub fn matches(&self, load: &Load) -> bool {
        self.op.is_none_or(|op| op == load.op())
            && self.pattern.is_none_or(|pattern| load.pattern() == Some(pattern))
            && self.block_bytes.is_none_or(|bytes| bytes == load.block_bytes)
            && self.queue_depth.is_none_or(|depth| depth == load.queue_depth)
            && self.jobs.is_none_or(|jobs| jobs == load.jobs)
            && self.read_percent.is_none_or(|percent| load.read_percent == Some(percent))
            && (!self.synced || load.synced)
            && self.under(&conditions(load))
    }

    /// Whether the conditions of a load are those that were named; a load without any where none was.
    fn under(&self, conditions: &str) -> bool {
        let spaced = format!(" {conditions} ");
        match self.conditions.is_empty() {
            true => conditions.trim().is_empty(),
            false => self.conditions.iter().all(|words| spaced.contains(&format!(" {words} "))),
        }
    }
}

/// What makes a load another one than that of its block and queue, in the words that are read.
fn conditions(load: &Load) -> String {
    let all: Vec<&str> = std::iter::once(load.blocks.as_str()).chain(load.conditions()).collect();
    let spaced = all.join(" ").to_lowercase().replace([',', ';'], " ");
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The share of reads behind `mixed`: `70/30`.
fn share<'a>(words: &mut (impl Iterator<Item = &'a str> + Clone)) -> Option<u8> {
    let mut ahead = words.clone();
    let (reads, writes) = ahead.next()?.split_once('/')?;
    let (reads, writes): (u8, u8) = (reads.parse().ok()?, writes.parse().ok()?);
    let percent = (reads.checked_add(writes) == Some(100)).then_some(reads)?;
    *words = ahead;
    Some(percent)
}

fn number(word: &str) -> Option<u32> {
    word.parse().ok().filter(|n| *n > 0)
}

#[cfg(test)]
mod tests {
    use assay_core::arrivals::{Arrivals, Process};
    use assay_core::blocks::Blocks;
    use assay_core::distribution::Distribution;
    use assay_core::priority::{Priorities, Priority};
    use assay_core::suite::Suite;
    use assay_core::workload::Think;
    use assay_core::workload::Together;
    use assay_core::workload::{Sync, Workload};

    use super::*;

    #[test]
    fn machines_read_what_a_load_does() {
        let records = crate::published("sandisk-extreme-a2").unwrap();
        let loads = crate::loads(&records);
        let json = serde_json::to_value(&loads[0]).unwrap();
        assert_eq!((&json["op"], &json["pattern"]), (&"read".into(), &"random".into()));
        assert_eq!(loads.last().unwrap().op(), Op::Write, "reads come first");
    }

    /// A load with an unknown property differs from a load with a known value of it.
    #[test]
    fn what_is_unknown_is_told_and_compared_with_nothing_known() {
        let known = Workload::new("w", Op::Read, Pattern::Random, 4096);
        let unknown = Workload {
            block_bytes: 0,
            queue_depth: 0,
            unknown: vec![Unknown::Pattern, Unknown::BlockBytes, Unknown::QueueDepth],
            ..known.clone()
        };
        let (known, unknown) = (Load::from_workload(&known), Load::from_workload(&unknown));
        assert_ne!(known, unknown);
        assert_eq!(unknown.title(), "read, unknown block size, unknown queue depth");
        assert_eq!(serde_json::to_value(&unknown).unwrap()["pattern"], serde_json::Value::Null);
    }

    /// Loads of the suites and of all published figures, and each once with all that suites do not ask for.
    fn workloads() -> Vec<Workload> {
        let suites = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../suites")).unwrap();
        let texts = suites.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap());
        let of_suites = texts.flat_map(|text| Suite::parse(&text, "any").unwrap().workloads);
        let published = crate::published("").unwrap().into_iter().flat_map(|r| r.measurements);
        let asked = of_suites.map(|w| w.load()).chain(published.map(|m| (*m.workload).clone()));
        let plain = Workload { read_percent: Some(70), ..Workload::new("w", Op::Mixed, Pattern::Random, 4096) };
        let arrivals = |iops, process| Some(Arrivals { iops, process });
        let think = |pause_ns| Some(Think { pause_ns, after_operations: 1 });
        let together = |others: &[&str]| {
            let beside = others.iter().map(|name| (*name).to_owned()).collect();
            Some(Together { group: "g".to_owned(), beside })
        };
        let priorities = |shares: &str| Priorities {
            job: Priority::parse("idle").ok(),
            shares: Priorities::parse_shares(shares).unwrap(),
        };
        let changes: [&dyn Fn(&mut Workload); 20] = [
            &|w| w.op = Op::Read,
            &|w| w.pattern = Pattern::Sequential,
            &|w| w.unknown = vec![Unknown::Stop, Unknown::Pattern],
            &|w| w.block_bytes = 8192,
            &|w| w.queue_depth = 2,
            &|w| w.jobs = 2,
            &|w| w.read_percent = Some(50),
            &|w| w.sync = Sync::Fsync,
            &|w| w.sync = Sync::Fdatasync,
            &|w| w.arrivals = arrivals(500.0, Process::Poisson),
            &|w| w.arrivals = arrivals(500.0, Process::Constant),
            &|w| w.distribution = Distribution::Zipf { theta: 1.1 },
            &|w| w.blocks = Blocks::parse("4KiB/60:64KiB/40").unwrap(),
            &|w| w.think = think(1000),
            &|w| w.think = think(2000),
            &|w| w.priorities = priorities("20 % realtime"),
            &|w| w.priorities = priorities("30 % realtime"),
            &|w| w.together = together(&["a"]),
            &|w| w.together = together(&["a", "b"]),
            // The same load in another manner.
            &|w| (w.poll, w.span_bytes, w.direct) = (true, 1 << 30, false),
        ];
        let changed = changes.iter().flat_map(|change| changes.iter().map(|other| (*change, *other)));
        let changed = changed.map(|(change, other)| {
            let mut workload = plain.clone();
            change(&mut workload);
            other(&mut workload);
            workload
        });
        asked.chain([plain.clone()]).chain(changed).collect()
    }

    /// A figure that is found by fields is the one whose load is the same.
    #[test]
    fn a_load_is_of_the_workloads_that_have_it_and_of_no_other() {
        let all = workloads();
        let mut loads: Vec<Load> = all.iter().map(Load::from_workload).collect();
        loads.sort();
        loads.dedup();
        assert!(all.len() > 400 && loads.len() > 100, "{} {}", all.len(), loads.len());
        for workload in &all {
            let own = Load::from_workload(workload);
            for load in &loads {
                assert_eq!(load.is_of(workload), own == *load, "{} {load:?}", workload.title());
            }
        }
    }

    #[test]
    fn loads_are_named_by_their_words() {
        let usual = LoadQuery {
            op: Some(Op::Read),
            pattern: Some(Pattern::Random),
            block_bytes: Some(4096),
            ..LoadQuery::default()
        };
        for text in ["random read 4 KiB", "rand read 4KiB", "Read, random 4096"] {
            assert_eq!(LoadQuery::parse(text), Ok(usual.clone()), "{text}");
        }
        let full = LoadQuery::parse("sequential write 1 MiB, QD 8, 4 jobs, synced").unwrap();
        assert_eq!((full.block_bytes, full.queue_depth, full.jobs), (Some(1 << 20), Some(8), Some(4)));
        assert!(full.synced && full.op == Some(Op::Write));
        assert_eq!(LoadQuery::parse("qd32").unwrap().queue_depth, Some(32));
        for text in ["mixed 70/30 4 KiB, QD8, 2 jobs, synced", "mixed 70/30 4 KiB QD 8 2 jobs fsync"] {
            let mixed = LoadQuery {
                op: Some(Op::Mixed),
                pattern: None,
                read_percent: Some(70),
                queue_depth: Some(8),
                jobs: Some(2),
                synced: true,
                ..usual.clone()
            };
            assert_eq!(LoadQuery::parse(text), Ok(mixed), "{text}");
        }
        let plain = Workload::new("w", Op::Read, Pattern::Random, 4096);
        let blocks = Blocks::parse("4KiB/60:64KiB/40").unwrap();
        let think = Some(Think { pause_ns: 1_000_000, after_operations: 8 });
        let shares = Priorities::parse_shares("20 % of 64KiB writes realtime, 9 % best-effort/7").unwrap();
        let priorities = Priorities { job: Priority::parse("idle").ok(), shares };
        let beside = vec!["sequential write 1 MiB, QD4, zipf:1.1".to_owned()];
        let together = Some(Together { group: "g".to_owned(), beside });
        for special in [
            Workload { blocks, ..plain.clone() },
            Workload { think, ..plain.clone() },
            Workload { priorities, ..plain.clone() },
            Workload { think, together, ..plain.clone() },
        ] {
            let (load, plain) = (Load::from_workload(&special), Load::from_workload(&plain));
            let ask = LoadQuery::parse(&load.title()).unwrap();
            assert!(ask.matches(&load) && !ask.matches(&plain), "{}", load.title());
            assert!(!LoadQuery::parse("random read").unwrap().matches(&load), "{}", load.title());
            let other = load
                .title()
                .replace("QD4", "QD40")
                .replace("every 8", "every 80")
                .replace("/60:", "/6:4KiB/54:")
                .replace("/7", "/6");
            assert!(other == load.title() || !LoadQuery::parse(&other).unwrap().matches(&load), "{other}");
        }
        for bad in ["", "fast", "qd", "qd 0", "read 4 KiB quickly"] {
            assert!(LoadQuery::parse(bad).is_err(), "{bad}");
        }
    }
}
