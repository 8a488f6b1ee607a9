//! Arguments of `assay compare`.

use assay_analysis::Quantity;
use assay_analysis::compare::{By, Limit};
use clap::{Args, ValueEnum, ValueHint};

use super::FileArgs;
use super::values::{figure, share};

pub(crate) const EXAMPLES: &str = "\
Examples:
  assay compare last~1 last                 the last two runs
  assay compare unit=1 unit=2               all runs of one card against another
  assay compare model='Ultra A1' model='EVO Plus'
                                            two models, over their units
  assay compare 5f3,9ka last                two as one group, and the last
  assay compare all --by model              every model, against the first
  assay compare last published:sandisk-ultra-a1
                                            against published figures
  assay compare last~1 last -o card.md      for an issue or a wiki
  assay compare last~1 last --runs --fail-if 'slower than 5%'
                                            exit code 7 where any load is slower
  assay compare baseline:main last --fail-if 'p99 higher than 10% for read'
                                            one figure, and loads by their title
  assay compare last~1 last --fail-if 'slower than 5%' --format junit -o io.xml

Runs of a unit vary from day to day: without --runs, single runs tell media
apart only where they differ by more than that.

Each QUERY is a group, the first is the reference; a single QUERY compares its
records with each other. Exit code 0 is an answer, also `same` or `cannot tell`;
1: nothing could be compared, or the figures are invalid; 7: a limit of
--fail-if is exceeded; 6, with --fail-if-unknown: a limit is undecided.

A limit is [FIGURE] slower|faster|lower|higher than SHARE [for LOAD]. It fails
where the whole interval of the change from the first group is beyond SHARE, and
is undecided where SHARE is inside the interval.";

#[derive(Debug, Args)]
#[command(mut_arg("output", |arg| arg.help(super::file::WITH_PICTURE)))]
pub(crate) struct CompareArgs {
    #[arg(required = true, value_name = "QUERY", value_hint = ValueHint::Other,
          help = query_help!("Groups of records, each a query or several with commas"))]
    pub(crate) queries: Vec<String>,

    /// Figure that decides; by default IOPS of random and rate of sequential work
    #[arg(long, value_name = "FIGURE", value_parser = figure())]
    pub(crate) metric: Option<Quantity>,

    /// Load that decides, like 'random read 4 KiB' or a workload's name; the others are exploratory
    #[arg(long, value_name = "LOAD")]
    pub(crate) load: Option<String>,

    /// Make a group of each record, unit or model that the queries name
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) by: Option<ByArg>,

    /// Compare single runs as they were, without allowing for changes between days
    #[arg(long)]
    pub(crate) runs: bool,

    /// Differences up to this do not matter
    #[arg(long, value_name = "SHARE", default_value = "3%", value_parser = share(0.0..=0.5))]
    pub(crate) margin: f64,

    /// Confidence level: the chance that an interval holds the true ratio
    #[arg(long, value_name = "SHARE", default_value = "95%", value_parser = share(0.5..=0.9999))]
    pub(crate) level: f64,

    /// Exit with 7 where a figure changed by more, like 'slower than 5%'; repeat for more
    #[arg(long = "fail-if", value_name = "LIMIT", value_parser = limit)]
    pub(crate) limits: Vec<Limit>,

    /// With --fail-if: exit with 6 where a limit is undecided
    #[arg(long, requires = "limits")]
    pub(crate) fail_if_unknown: bool,

    /// Format of what is written with --fail-if: the limits alone, for other programs
    #[arg(long, value_enum, value_name = "FORMAT", requires = "limits", conflicts_with = "json")]
    pub(crate) format: Option<GateFormatArg>,

    #[command(flatten)]
    pub(crate) file: FileArgs,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

impl CompareArgs {
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
pub(crate) enum ByArg {
    /// Each record
    Record,
    /// All records of a unit
    Unit,
    /// All records of a model
    Model,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GateFormatArg {
    /// XML as JUnit writes it: a test for each limit and load
    Junit,
    /// Annotations of GitHub Actions
    Github,
}

fn limit(text: &str) -> Result<Limit, String> {
    Limit::parse(text).map_err(|error| error.to_string())
}
