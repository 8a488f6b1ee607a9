//! What a load is called: `random read 4 KiB, QD32, 4 jobs`. One form on cards and pages, in lists, answers and plans.
//! One operation in flight and one job are what is meant where nothing is said, as in fio.

use serde::{Deserialize, Serialize};

/// What a load is called by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadTitle<'a> {
    /// Where operations go; `None` where that is not known.
    pub pattern: Option<Pattern>,
    /// What they do.
    pub op: Op,
    /// Share of reads in percent of mixed work.
    pub read_percent: Option<u8>,
    /// Size or sizes of an operation in words; `None` where they are not known.
    pub block: Option<String>,
    /// Operations in flight for each job; `None` where that is not known.
    pub queue_depth: Option<u32>,
    /// Threads; 0 where that is not known.
    pub jobs: u32,
    /// Whether every write is followed by a sync of its own.
    pub synced: bool,
    /// What makes it another load than that of its block and queue, each in words or empty.
    pub conditions: Vec<&'a str>,
}

impl LoadTitle<'_> {
    /// The whole title.
    #[must_use]
    pub fn whole(&self) -> String {
        let pattern = match self.pattern {
            None => "",
            Some(Pattern::Sequential) => "sequential ",
            Some(Pattern::Random) => "random ",
        };
        format!("{pattern}{}", self.without_pattern())
    }

    /// The title where the pattern is said elsewhere: `read 4 KiB, QD32`.
    #[must_use]
    pub fn without_pattern(&self) -> String {
        let block = self.block.as_ref().map_or_else(|| ", unknown block size".to_owned(), |block| format!(" {block}"));
        let parts: Vec<String> = [format!("{}{block}", self.does())].into_iter().chain(self.queue(true)).collect();
        parts.join(", ")
    }

    /// The title without the block: what a row of block sizes is of.
    #[must_use]
    pub fn without_block(&self) -> String {
        let of = Self { block: Some(String::new()), ..self.clone() };
        of.whole().replacen(" ,", ",", 1).trim_end().to_owned()
    }

    /// The title where pattern and operation are said elsewhere: `4 KiB, QD32`. What is unknown is left out.
    #[must_use]
    pub fn shape(&self) -> String {
        self.block.iter().cloned().chain(self.queue(false)).collect::<Vec<_>>().join(", ")
    }

    fn does(&self) -> String {
        match self.op {
            Op::Read => "read".to_owned(),
            Op::Write => "write".to_owned(),
            Op::Mixed => {
                let reads = self.read_percent.unwrap_or(50).min(100);
                format!("mixed {reads}/{}", 100 - reads)
            }
        }
    }

    /// Queue, jobs, sync and conditions.
    fn queue(&self, with_unknown: bool) -> Vec<String> {
        let mut parts = Vec::new();
        match self.queue_depth {
            None if with_unknown => parts.push("unknown queue depth".to_owned()),
            None | Some(1) => {}
            Some(depth) => parts.push(format!("QD{depth}")),
        }
        if self.jobs > 1 {
            parts.push(format!("{} jobs", self.jobs));
        }
        if self.synced {
            parts.push("synced".to_owned());
        }
        parts.extend(self.conditions.iter().filter(|words| !words.is_empty()).map(|words| (*words).to_owned()));
        parts
    }
}

// What the operations of a workload do, and where.

/// What an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// Reads only.
    Read,
    /// Writes only.
    Write,
    /// Reads and writes mixed at random; see `Workload::read_percent`.
    Mixed,
}

/// Where the next operation goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// Block after block, from the start again at the end.
    Sequential,
    /// Uniformly random blocks, aligned to the block size.
    Random,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_have_one_form() {
        let plain = LoadTitle {
            pattern: Some(Pattern::Random),
            op: Op::Mixed,
            read_percent: Some(70),
            block: Some("4 KiB".to_owned()),
            queue_depth: Some(1),
            jobs: 1,
            synced: false,
            conditions: vec![""],
        };
        assert_eq!(plain.whole(), "random mixed 70/30 4 KiB");
        let all =
            LoadTitle { queue_depth: Some(32), jobs: 4, synced: true, conditions: vec!["zipf:1.1"], ..plain.clone() };
        assert_eq!(all.without_pattern(), "mixed 70/30 4 KiB, QD32, 4 jobs, synced, zipf:1.1");
        assert_eq!(all.without_block(), "random mixed 70/30, QD32, 4 jobs, synced, zipf:1.1");
        assert_eq!((plain.without_block().as_str(), plain.shape().as_str()), ("random mixed 70/30", "4 KiB"));
        assert_eq!(all.shape(), "4 KiB, QD32, 4 jobs, synced, zipf:1.1");
        let unknown = LoadTitle { pattern: None, op: Op::Write, block: None, queue_depth: None, ..plain };
        assert_eq!(unknown.whole(), "write, unknown block size, unknown queue depth");
        assert_eq!(unknown.shape(), "");
    }
}
