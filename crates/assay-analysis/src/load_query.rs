//! A load by the words that people write.

use assay_core::blocks::Blocks;
use assay_core::distribution::Distribution;
use assay_core::priority::Priority;
use assay_core::text::quoted;
use assay_core::units::Bytes;
use assay_core::workload::{Op, Pattern};

use crate::load::Load;

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

impl LoadQuery {
    /// Reads such words.
    ///
    /// # Errors
    /// One line that names the word that is not understood.
    pub fn parse(text: &str) -> Result<Self, String> {
        let spaced = text.to_lowercase().replace([',', ';'], " ");
        let mut words = spaced.split_whitespace().peekable();
        let mut ask = Self::default();
        let bad = |word: &str| {
            format!(
                "{} is not part of a load; say it like `random read 4 KiB`, `sequential write 1MiB, QD8, 4 jobs`",
                quoted(word)
            )
        };
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
                // What older titles had between their parts.
                "×" | "x" | "+" => {}
                "fsync" | "fdatasync" => ask.synced = true,
                "synced" => ask.synced = true,
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
            return Err("a load needs words, like `random read 4 KiB`".to_owned());
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

/// The share of reads behind `mixed`: `70/30`, or `70 % read` as older titles have it.
fn share<'a>(words: &mut (impl Iterator<Item = &'a str> + Clone)) -> Option<u8> {
    let mut ahead = words.clone();
    let first = ahead.next()?;
    let percent = match first.split_once('/') {
        Some((reads, writes)) => {
            let (reads, writes): (u8, u8) = (reads.parse().ok()?, writes.parse().ok()?);
            (reads.checked_add(writes) == Some(100)).then_some(reads)?
        }
        None => {
            let reads = first.strip_suffix('%').unwrap_or(first).parse().ok()?;
            let mark = if first.ends_with('%') { Some("%") } else { ahead.next() };
            (mark == Some("%") && ahead.next() == Some("read")).then_some(reads)?
        }
    };
    *words = ahead;
    Some(percent)
}

fn number(word: &str) -> Option<u32> {
    word.parse().ok().filter(|n| *n > 0)
}

#[cfg(test)]
mod tests {
    use assay_core::priority::Priorities;
    use assay_core::think::Think;
    use assay_core::together::Together;
    use assay_core::workload::Workload;

    use super::*;

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
        for text in [
            "mixed 70/30 4 KiB, QD8, 2 jobs, synced",
            "mixed 70 % read 4 KiB, QD 8, 2 jobs, synced",
            "mixed 70/30 4 KiB QD8 × 2 jobs + fsync",
        ] {
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
            let (load, plain) = (Load::of(&special), Load::of(&plain));
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
