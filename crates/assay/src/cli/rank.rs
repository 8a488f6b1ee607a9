//! Arguments of `assay rank`.

use std::path::PathBuf;

use assay_analysis::Quantity;
use assay_analysis::rank::{CompositeKind, LoadAsk, parse_metric, parse_rate};
use clap::Args;

pub(crate) const EXAMPLES: &str = "\
Examples:
  assay rank                               all records, by random reads of 4 KiB
  assay rank suite=quick --ceiling 23MB/s  one suite, and the bus's limit
  assay rank published:sandisk-ultra-a1 published:samsung-evo-plus-64gb
  assay rank --primary 'sequential write 1 MiB' --metric durable
  assay rank --composite index --all       one number too, and all loads in full
  assay rank -o ranking.md

The primary load decides: name it before you look. All others are exploratory.
Exit code 1: no order can be made, as with one unit of each model.";

#[derive(Debug, Args)]
pub(crate) struct RankArgs {
    /// Which records: all, ids, model=…, suite=…, KEY=VALUE of a label, published:…
    #[arg(default_value = "all", value_name = "QUERY")]
    pub(crate) queries: Vec<String>,

    /// The load that decides, like 'random read 4 KiB' or 'write 1MiB, QD 8'
    #[arg(long, value_name = "LOAD", value_parser = LoadAsk::parse)]
    pub(crate) primary: Option<LoadAsk>,

    /// The figure: iops, rate, durable, p50 or p99; by default what the load is known for
    #[arg(long, value_name = "METRIC", value_parser = parse_metric)]
    pub(crate) metric: Option<Quantity>,

    /// What the bus lets through, like 23MB/s; by default what the records say, or the figures
    #[arg(long, value_name = "RATE", value_parser = parse_rate)]
    pub(crate) ceiling: Option<f64>,

    /// Chance of any false order when all models are equal
    #[arg(long, value_name = "SHARE", default_value = "5%", value_parser = share)]
    pub(crate) alpha: f64,

    /// Differences up to this do not matter
    #[arg(long, value_name = "SHARE", default_value = "3%", value_parser = share)]
    pub(crate) delta: f64,

    /// Rank models of one unit too, with the variance of the others; they stay provisional
    #[arg(long)]
    pub(crate) borrow: bool,

    /// One number from several loads beside the ranking: pibenchmarks (its score) or index
    /// (geometric mean over the loads that models share)
    #[arg(long, value_name = "KIND", value_parser = composite)]
    pub(crate) composite: Option<CompositeKind>,

    /// Show the exploratory loads in full
    #[arg(long)]
    pub(crate) all: bool,

    /// Seed of the draws; the same seed gives the same answer to the last digit
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,

    /// Write the answer to a file; the extension chooses .md, .html or .csv; serial numbers are hashed
    #[arg(short, long, value_name = "FILE", conflicts_with = "json")]
    pub(crate) output: Option<PathBuf>,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

fn composite(text: &str) -> Result<CompositeKind, String> {
    match text {
        "pibenchmarks" => Ok(CompositeKind::Pibenchmarks),
        "index" => Ok(CompositeKind::Index),
        _ => Err("there are pibenchmarks and index".to_owned()),
    }
}

/// `5%` or `0.05`.
fn share(text: &str) -> Result<f64, String> {
    let (number, factor) = text.strip_suffix('%').map_or((text, 1.0), |number| (number.trim_end(), 0.01));
    let share = number.parse::<f64>().map_err(|_| "say a share like 5% or 0.05".to_owned())? * factor;
    if (0.0..=1.0).contains(&share) { Ok(share) } else { Err("must be between 0 and 100%".to_owned()) }
}
