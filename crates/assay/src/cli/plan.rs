//! Arguments of `assay plan`.

use std::path::PathBuf;

use assay_analysis::Quantity;
use clap::{Args, Subcommand, ValueEnum};

pub(crate) const EXAMPLES: &str = "\
Examples:
  assay plan new --units 'Ultra A1=1,2,3;EVO=1,2,3' --slots 7 -o plan.toml
  assay plan show plan.toml --round 1    who goes where, and what to type
  assay plan suites plan.toml            the suites in the orders of the plan
  assay plan status plan.toml            what is measured, what is missing
  assay plan race all                    what to measure next, or to buy";
const NEW_EXAMPLES: &str = "\
Examples:
  assay plan new --units 'Ultra A1=1,2,3;EVO=1,2,3' --slots 7 -o plan.toml
  assay plan new --units units.txt --slots left,right --rounds 2 --suite blocks
  assay plan new --units 'A=1;B=1' --slots 2 --rounds 2 --json

A file of units has a line for each model: Ultra A1 = 1, 2, 3";
const SHOW_EXAMPLES: &str = "\
Examples:
  assay plan show plan.toml
  assay plan show plan.toml --round 2 --target /media/card";
const SUITES_EXAMPLES: &str = "\
Examples:
  assay plan suites plan.toml
  assay plan suites plan.toml --dir /srv/suites";
const STATUS_EXAMPLES: &str = "\
Examples:
  assay plan status plan.toml
  assay plan status plan.toml && assay rank all";
const RACE_EXAMPLES: &str = "\
Examples:
  assay plan race all
  assay plan race all --load rand-read-4k-q1 --cap 3
  assay plan race kind=sd --slots 28 --dropped 'Ultra A1'";
const SWAP_EXAMPLES: &str = "\
Examples:
  assay plan swap --suspect 'Ultra A1=3@7' --other 'Ultra A1=1@2'
  assay plan swap --suspect A=3@7 --other A=1@2 --load rand-write-4k-q1 all";

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// What to do with plans.
    #[command(subcommand)]
    pub(crate) command: PlanCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PlanCommand {
    /// Make a plan, and say what it costs and can tell
    #[command(after_help = NEW_EXAMPLES)]
    New(NewArgs),
    /// Show who goes where, wave by wave, with the commands to type
    #[command(after_help = SHOW_EXAMPLES)]
    Show {
        /// Plan file
        plan: PathBuf,
        /// Only this round
        #[arg(long, value_name = "N")]
        round: Option<usize>,
        /// Where cards are mounted
        #[arg(long, value_name = "DIR", default_value = "/mnt/card")]
        target: String,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Write the suite of the plan in each of its orders of workloads
    #[command(after_help = SUITES_EXAMPLES)]
    Suites {
        /// Plan file
        plan: PathBuf,
        /// Directory to write to
        #[arg(long, value_name = "DIR", default_value = ".")]
        dir: PathBuf,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Say which cells of a plan are measured, and which records do not fit; exit code 1 while
    /// some are missing
    #[command(after_help = STATUS_EXAMPLES)]
    Status {
        /// Plan file
        plan: PathBuf,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Say which model to measure next, which to drop and when to stop
    #[command(after_help = RACE_EXAMPLES)]
    Race(RaceArgs),
    /// Say whether a flagged unit or its slot is to blame, and what to measure for that
    #[command(after_help = SWAP_EXAMPLES)]
    Swap(SwapArgs),
}

#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// Units of each model: 'model=unit,unit;model=unit', or a file with a line for each model
    #[arg(long, value_name = "FILE|UNITS")]
    pub(crate) units: String,

    /// How many slots, or their names: a,b,c
    #[arg(long, value_name = "N|NAMES")]
    pub(crate) slots: String,

    /// How often each unit is measured, each time in a new slot
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) rounds: usize,

    /// Suite by name, or a suite file
    #[arg(long, value_name = "NAME|FILE", default_value = crate::suites::DEFAULT)]
    pub(crate) suite: String,

    /// Units stay in the slot that they are drawn for
    #[arg(long)]
    pub(crate) no_swap: bool,

    /// Seed of the draw; by default one made from the other arguments
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u32>,

    /// Minutes that one person takes to change one unit
    #[arg(long, value_name = "MINUTES", default_value_t = 1.0, allow_negative_numbers = true)]
    pub(crate) handling: f64,

    /// How much units of a model are taken to vary, for what the plan can tell
    #[arg(long, value_name = "SHARE", default_value = "10%", value_parser = share, allow_hyphen_values = true)]
    pub(crate) variation: f64,

    /// File to write; standard output by default
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RaceArgs {
    /// Which records: all, or model=…, plan=…, suite=…, KEY=VALUE of a label, or published:…
    #[arg(required = true)]
    pub(crate) queries: Vec<String>,

    /// Load that decides, by its title or the name of a workload
    #[arg(long, value_name = "LOAD")]
    pub(crate) load: Option<String>,

    /// Figure that decides; by default operations of random and rate of sequential work
    #[arg(long, value_name = "FIGURE", value_enum)]
    pub(crate) by: Option<FigureArg>,

    /// Probability of the leader being within 3 % of the best at which the race is over
    #[arg(long, value_name = "SHARE", default_value = "95%", value_parser = share, allow_hyphen_values = true)]
    pub(crate) threshold: f64,

    /// Units of one model at most
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub(crate) cap: u32,

    /// Units that can still be measured; by default no limit
    #[arg(long, value_name = "N")]
    pub(crate) left: Option<u32>,

    /// Slots that can be used at once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=500))]
    pub(crate) slots: u32,

    /// Model that an earlier step dropped; repeat for more
    #[arg(long, value_name = "MODEL")]
    pub(crate) dropped: Vec<String>,

    /// Seed of the draws
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SwapArgs {
    /// Which records hold what is measured so far, as for race
    #[arg(default_value = "all")]
    pub(crate) queries: Vec<String>,

    /// The flagged unit and its slot, as MODEL=UNIT@SLOT
    #[arg(long, value_name = "UNIT")]
    pub(crate) suspect: String,

    /// A good unit and its slot, MODEL=UNIT@SLOT, best of the same model
    #[arg(long, value_name = "UNIT")]
    pub(crate) other: String,

    /// Load that decides, by its title or the name of a workload
    #[arg(long, value_name = "LOAD")]
    pub(crate) load: Option<String>,

    /// Figure that decides; by default operations of random and rate of sequential work
    #[arg(long, value_name = "FIGURE", value_enum)]
    pub(crate) by: Option<FigureArg>,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FigureArg {
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

impl From<FigureArg> for Quantity {
    fn from(figure: FigureArg) -> Self {
        match figure {
            FigureArg::Iops => Self::Iops,
            FigureArg::Rate => Self::BytesPerSecond,
            FigureArg::Durable => Self::DurableBytesPerSecond,
            FigureArg::P50 => Self::P50Ns,
            FigureArg::P99 => Self::P99Ns,
        }
    }
}

/// `95%` or `0.95`.
fn share(text: &str) -> Result<f64, String> {
    let (number, unit) = match text.trim().strip_suffix('%') {
        Some(number) => (number.trim_end(), 100.0),
        None => (text.trim(), 1.0),
    };
    match number.parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 && value < unit => Ok(value / unit),
        _ => Err("write a share above 0% and below 100%, like 10%".to_owned()),
    }
}
