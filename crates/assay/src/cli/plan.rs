//! Arguments of `assay plan`.

use std::path::PathBuf;

use assay_analysis::Quantity;
use clap::{Args, Subcommand, ValueHint};

use super::FileArgs;
use super::values::{SuiteName, count, figure, minutes, seed, share};

pub(crate) const EXAMPLES: &str = "\
Examples:
  assay plan new --units 'Ultra A1=1,2,3;EVO=1,2,3' --slots 7 -o plan.toml
  assay plan show plan.toml --round 1    which unit where, and what to type
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
  assay plan status plan.toml && assay rank all
  assay plan status plan.toml -o status.html";
const RACE_EXAMPLES: &str = "\
Examples:
  assay plan race all
  assay plan race all --load rand-read-4k-q1 --cap 3
  assay plan race kind=sd --slots 28 --dropped 'Ultra A1'
  assay plan race all -o next.md";
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
    /// Make a plan, and say what it costs and what it can resolve
    #[command(after_help = NEW_EXAMPLES)]
    New(NewArgs),
    /// Show which unit goes into which slot, wave by wave, with the commands to type
    #[command(after_help = SHOW_EXAMPLES)]
    Show {
        /// Plan file
        plan: PathBuf,
        /// Only this round
        #[arg(long, value_name = "N")]
        round: Option<usize>,
        /// What is measured: where cards are mounted
        #[arg(long, value_name = "PATH", default_value = "/mnt/card")]
        target: String,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Write one suite file for each order in the plan
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
    /// Show which measurements are done, and which records do not fit; exit code 1 while
    /// some are missing
    #[command(after_help = STATUS_EXAMPLES)]
    Status {
        /// Plan file
        plan: PathBuf,
        #[command(flatten)]
        file: FileArgs,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Say which model to measure next, which to drop and when to stop
    #[command(after_help = RACE_EXAMPLES)]
    Race(RaceArgs),
    /// Distinguish a slow unit from a slow slot by exchanging two units
    #[command(after_help = SWAP_EXAMPLES)]
    Swap(SwapArgs),
}

#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// Units of each model: 'model=unit,unit;model=unit', or a file with a line for each model
    #[arg(long, value_name = "FILE|UNITS")]
    pub(crate) units: String,

    /// Number of slots, or their names: a,b,c
    #[arg(long, value_name = "N|NAMES")]
    pub(crate) slots: String,

    /// How often each unit is measured, each time in a new slot
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) rounds: usize,

    /// Suite by name, or a suite file
    #[arg(long, value_name = "NAME|FILE", default_value = crate::suites::DEFAULT, value_parser = SuiteName,
          hide_possible_values = true)]
    pub(crate) suite: String,

    /// Keep each unit in the slot that is drawn for it
    #[arg(long)]
    pub(crate) no_swap: bool,

    /// Seed of the random numbers; by default one made from the other arguments
    #[arg(long, value_name = "N", value_parser = count(0..=u32::MAX))]
    pub(crate) seed: Option<u32>,

    /// Time that one person takes to change one unit, like 1m or 90s
    #[arg(long, value_name = "TIME", default_value = "1m", value_parser = minutes, allow_negative_numbers = true)]
    pub(crate) handling: f64,

    /// Assumed variation between units of a model, which decides what the plan can tell apart
    #[arg(long, value_name = "SHARE", default_value = "10%", value_parser = share(0.001..=0.9999), allow_hyphen_values = true)]
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
    #[arg(required = true, value_name = "QUERY", value_hint = ValueHint::Other, help = query_help!("Which records"))]
    pub(crate) queries: Vec<String>,

    /// Load that decides, like 'random read 4 KiB' or a workload's name; other loads are only shown
    #[arg(long, value_name = "LOAD")]
    pub(crate) load: Option<String>,

    /// Figure that decides; default: IOPS of random loads, rate of sequential ones
    #[arg(long, value_name = "FIGURE", value_parser = figure())]
    pub(crate) metric: Option<Quantity>,

    /// Confidence level: the race ends when the leader is the best, or within 3 % of it, with this probability
    #[arg(long, value_name = "SHARE", default_value = "95%", value_parser = share(0.001..=0.9999),
          allow_hyphen_values = true)]
    pub(crate) level: f64,

    /// At most this many units of one model
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = count(2..=1000))]
    pub(crate) cap: u32,

    /// Units that can still be measured; by default no limit
    #[arg(long, value_name = "N", value_parser = count(0..=u32::MAX))]
    pub(crate) left: Option<u32>,

    /// Number of slots, or their names: a,b,c
    #[arg(long, value_name = "N|NAMES", default_value = "1")]
    pub(crate) slots: String,

    /// Model that an earlier step dropped; repeat for more
    #[arg(long, value_name = "MODEL")]
    pub(crate) dropped: Vec<String>,

    /// Seed of the random numbers; same seed, same answer
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = seed)]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) file: FileArgs,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SwapArgs {
    #[arg(default_value = "all", value_name = "QUERY", value_hint = ValueHint::Other,
          help = query_help!("Records measured so far"))]
    pub(crate) queries: Vec<String>,

    /// The flagged unit and its slot, as MODEL=UNIT@SLOT
    #[arg(long, value_name = "UNIT")]
    pub(crate) suspect: String,

    /// A good unit and its slot, MODEL=UNIT@SLOT, if possible of the same model
    #[arg(long, value_name = "UNIT")]
    pub(crate) other: String,

    /// Load that decides, like 'random read 4 KiB' or a workload's name; other loads are only shown
    #[arg(long, value_name = "LOAD")]
    pub(crate) load: Option<String>,

    /// Figure that decides; default: IOPS of random loads, rate of sequential ones
    #[arg(long, value_name = "FIGURE", value_parser = figure())]
    pub(crate) metric: Option<Quantity>,

    #[command(flatten)]
    pub(crate) file: FileArgs,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}
