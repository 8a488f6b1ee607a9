//! Arguments of `assay rank`.

use assay_analysis::Quantity;
use assay_analysis::rank::CompositeKind;
use clap::{Args, ValueHint};

use super::FileArgs;
use super::values::{figure, rate, share};

pub(crate) const EXAMPLES: &str = "\
Examples:
  assay rank                               all records, by random reads of 4 KiB
  assay rank suite=quick --ceiling 23MB/s  one suite, and the bus's limit
  assay rank published:sandisk-ultra-a1 published:samsung-evo-plus-64gb
  assay rank --load 'sequential write 1 MiB' --metric durable
  assay rank --composite index --all       a score, and all loads in full
  assay rank -o ranking.html               a page; or .md, .csv, .json, .svg

Name the load that decides (--load) before you see the figures.
Exit code 1: no order can be made, as with one unit of each model.";

#[derive(Debug, Args)]
#[command(mut_arg("output", |arg| arg.help(super::file::WITH_PICTURE)))]
pub(crate) struct RankArgs {
    #[arg(default_value = "all", value_name = "QUERY", value_hint = ValueHint::Other, help = query_help!("Which records"))]
    pub(crate) queries: Vec<String>,

    /// Load that decides, like 'random read 4 KiB' or a workload's name; the others are exploratory
    #[arg(long, value_name = "LOAD")]
    pub(crate) load: Option<String>,

    /// Figure that decides; by default IOPS of random and rate of sequential work
    #[arg(long, value_name = "FIGURE", value_parser = figure())]
    pub(crate) metric: Option<Quantity>,

    /// Rate that the bus allows, like 23MB/s; by default from the records or the figures
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub(crate) ceiling: Option<f64>,

    /// Confidence level: the chance that no order is false when all models are equal
    #[arg(long, value_name = "SHARE", default_value = "95%", value_parser = share(0.5..=0.999))]
    pub(crate) level: f64,

    /// Differences up to this do not matter
    #[arg(long, value_name = "SHARE", default_value = "3%", value_parser = share(0.0..=1.0))]
    pub(crate) margin: f64,

    /// Also rank models of one unit, with the variance of the others; marked provisional
    #[arg(long)]
    pub(crate) borrow: bool,

    /// One number from several loads beside the ranking: pibenchmarks (its score) or index
    /// (geometric mean over the loads that models share)
    #[arg(long, value_name = "KIND", value_parser = composite)]
    pub(crate) composite: Option<CompositeKind>,

    /// Show everything in full: also the exploratory loads
    #[arg(long)]
    pub(crate) all: bool,

    /// Seed of the draws; the same seed gives the same answer to the last digit
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) file: FileArgs,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

impl RankArgs {
    /// The chance of any false order when all models are equal.
    pub(crate) fn alpha(&self) -> f64 {
        // As it is written: 1 - 0.95 is a little more than 0.05.
        ((1.0 - self.level) * 1e9).round() / 1e9
    }
}

fn composite(text: &str) -> Result<CompositeKind, String> {
    match text {
        "pibenchmarks" => Ok(CompositeKind::Pibenchmarks),
        "index" => Ok(CompositeKind::Index),
        _ => Err("there are pibenchmarks and index".to_owned()),
    }
}
