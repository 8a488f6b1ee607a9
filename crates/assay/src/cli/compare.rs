//! Arguments of `assay compare`.

use std::path::PathBuf;

use assay_analysis::Quantity;
use assay_analysis::compare::By;
use clap::{Args, ValueEnum};

pub(crate) const EXAMPLES: &str = "\
Examples:
  assay compare last~1 last                 the last two runs
  assay compare unit=1 unit=2               all runs of one card against another
  assay compare model='Ultra A1' model='EVO Plus'
                                            two models, over their units
  assay compare 5f3,9ka last                two records as one group, and the last
  assay compare all --by model              every model, against the first
  assay compare last published:sandisk-ultra-a1
                                            against figures of published articles
  assay compare last~1 last -o card.md      for an issue or a wiki

Each QUERY is a group, the first is the reference; a single QUERY compares its
records with each other. Exit code 0 is an answer, also `same` or `cannot tell`;
1: nothing could be compared, or the figures in question are invalid.";

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// Groups: last, an id, unit=…, model=…, published:NAME; several with commas are one group
    #[arg(required = true, value_name = "QUERY")]
    pub(crate) queries: Vec<String>,

    /// Which figure; by default the rate of sequential work and the operations of random work
    #[arg(long, value_enum, value_name = "FIGURE")]
    pub(crate) metric: Option<MetricArg>,

    /// Load that the answer is about, like `random read 4 KiB`; the others are exploratory
    #[arg(long, value_name = "LOAD")]
    pub(crate) primary: Option<String>,

    /// Make a group of each record, unit or model that the queries name
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) by: Option<ByArg>,

    /// Differences up to this do not matter
    #[arg(long, value_name = "SHARE", default_value = "3%", value_parser = margin)]
    pub(crate) margin: f64,

    /// Confidence level of intervals
    #[arg(long, value_name = "SHARE", default_value = "95%", value_parser = level)]
    pub(crate) level: f64,

    /// Write it to a file instead; the extension chooses .md or .json
    #[arg(short, long, value_name = "FILE", conflicts_with = "json")]
    pub(crate) output: Option<PathBuf>,

    /// Keep serial numbers, host names and the like in the file, instead of short names for them
    #[arg(long, requires = "output")]
    pub(crate) identities: bool,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

impl CompareArgs {
    /// The figure that was asked for.
    pub(crate) fn quantity(&self) -> Option<Quantity> {
        Some(match self.metric? {
            MetricArg::Iops => Quantity::Iops,
            MetricArg::Rate => Quantity::BytesPerSecond,
            MetricArg::Durable => Quantity::DurableBytesPerSecond,
            MetricArg::P50 => Quantity::P50Ns,
            MetricArg::P99 => Quantity::P99Ns,
        })
    }

    /// What makes a group; `None` where each query is one.
    pub(crate) fn grouping(&self) -> Option<By> {
        match self.by {
            Some(ByArg::Record) => Some(By::Record),
            Some(ByArg::Unit) => Some(By::Unit),
            Some(ByArg::Model) => Some(By::Model),
            None => (self.queries.len() == 1).then_some(By::Record),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MetricArg {
    /// Operations per second
    Iops,
    /// Bytes per second
    Rate,
    /// Bytes per second with the final sync in the clock
    Durable,
    /// Median latency
    P50,
    /// 99th percentile of the latency
    P99,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ByArg {
    /// Each record
    Record,
    /// All records of a unit
    Unit,
    /// All records of a model
    Model,
}

/// A margin of nothing makes `same` impossible and is allowed; one of half is no margin.
fn margin(text: &str) -> Result<f64, String> {
    share(text, 0.0, 50.0).ok_or_else(|| "write a share of 0% to 50%, like 3%".to_owned())
}

fn level(text: &str) -> Result<f64, String> {
    share(text, 50.0, 99.99).ok_or_else(|| "write a share of 50% to 99.99%, like 95%".to_owned())
}

fn share(text: &str, least: f64, most: f64) -> Option<f64> {
    let percent: f64 = text.trim().strip_suffix('%')?.trim().parse().ok()?;
    (least..=most).contains(&percent).then_some(percent / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_in_percent_and_bounded() {
        assert_eq!((margin("3%"), margin(" 0 %"), level("95%")), (Ok(0.03), Ok(0.0), Ok(0.95)));
        for bad in ["3", "%", "-1%", "51%", "nan%", "inf%", "x%", ""] {
            assert!(margin(bad).is_err(), "{bad}");
        }
        for bad in ["95", "100%", "49%", "nan%", "0.95"] {
            assert!(level(bad).is_err(), "{bad}");
        }
    }
}
