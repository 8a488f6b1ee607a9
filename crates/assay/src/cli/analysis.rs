//! Arguments of the commands that judge records and show them: compare, rank, baseline and report.

use std::path::PathBuf;

use assay_analysis::Quantity;
use assay_analysis::compare::{By, GateLimit};
use assay_analysis::rank::CompositeKind;
use assay_pictures::PictureKind;
use assay_report::ReportFormat;
use clap::{Args, Subcommand, ValueEnum, ValueHint};

use super::values::{figure, format, picture, rate, seed, share};

pub(crate) const COMPARE_EXAMPLES: &str = "\
Examples:
  assay compare                             the last two media
  assay compare last~1 last                 the last two runs
  assay compare 'model=EVO unit=1' 'model=EVO unit=2'
                                            all runs of one card against another
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

The results of a unit vary from day to day. Without --runs, two media that were
measured once are told apart only where they differ by more than that.

Each QUERY is a group, and the others are compared with the first. A single
QUERY compares its records with each other. Exit code 0 is an answer, also
`same` or `cannot tell`; 1: nothing could be compared, or the figures are
invalid; 7: a limit of --fail-if is exceeded; 6, with --fail-if-unknown: a limit
is undecided.

A limit is [FIGURE] slower|faster|lower|higher than SHARE [for LOAD]. It fails
where the whole interval of the change from the first group is beyond SHARE, and
is undecided where SHARE is inside the interval.";

#[derive(Debug, Args)]
#[command(mut_arg("output", |arg| arg.help(WITH_PICTURE)))]
pub(crate) struct CompareArgs {
    #[arg(value_name = "QUERY", value_hint = ValueHint::Other,
          help = query_help!("Groups of records, by default the last two media. A group is a query, or several with commas between them"))]
    pub(crate) queries: Vec<String>,

    /// Figure that decides; default: IOPS of random loads, rate of sequential ones
    #[arg(long, value_name = "FIGURE", value_parser = figure())]
    pub(crate) metric: Option<Quantity>,

    /// Load that decides, like 'random read 4 KiB' or a workload's name; other loads are only shown
    #[arg(long, value_name = "LOAD")]
    pub(crate) load: Option<String>,

    /// Make a group of each record, unit or model that the queries name
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) by: Option<ByArg>,

    /// Compare single runs as they were, without allowing for changes between days
    #[arg(long)]
    pub(crate) runs: bool,

    /// Differences up to this count as equal
    #[arg(long, value_name = "SHARE", default_value = "3%", value_parser = share(0.0..=0.5))]
    pub(crate) margin: f64,

    /// Confidence level: the chance that an interval holds the true ratio
    #[arg(long, value_name = "SHARE", default_value = "95%", value_parser = share(0.5..=0.9999))]
    pub(crate) level: f64,

    /// Exit with 7 where a figure changed by more, like 'slower than 5%'; repeat for more
    #[arg(long = "fail-if", value_name = "LIMIT", value_parser = limit)]
    pub(crate) limits: Vec<GateLimit>,

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

fn limit(text: &str) -> Result<GateLimit, String> {
    GateLimit::parse(text).map_err(|error| error.to_string())
}

// Arguments of `assay rank`.

pub(crate) const RANK_EXAMPLES: &str = "\
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
#[command(mut_arg("output", |arg| arg.help(WITH_PICTURE)))]
pub(crate) struct RankArgs {
    #[arg(default_value = "all", value_name = "QUERY", value_hint = ValueHint::Other, help = query_help!("Which records"))]
    pub(crate) queries: Vec<String>,

    /// Load that decides, like 'random read 4 KiB' or a workload's name; other loads are only shown
    #[arg(long, value_name = "LOAD")]
    pub(crate) load: Option<String>,

    /// Figure that decides; default: IOPS of random loads, rate of sequential ones
    #[arg(long, value_name = "FIGURE", value_parser = figure())]
    pub(crate) metric: Option<Quantity>,

    /// Rate that the bus allows, like 23MB/s; by default as the records say, or as their figures show
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub(crate) ceiling: Option<f64>,

    /// Confidence level: the chance that the ranking states no false order
    #[arg(long, value_name = "SHARE", default_value = "95%", value_parser = share(0.5..=0.999))]
    pub(crate) level: f64,

    /// Differences up to this count as equal
    #[arg(long, value_name = "SHARE", default_value = "3%", value_parser = share(0.0..=1.0))]
    pub(crate) margin: f64,

    /// Also rank models with one unit: they are assumed to vary like the other models, and marked provisional
    #[arg(long)]
    pub(crate) borrow: bool,

    /// One number from several loads beside the ranking: pibenchmarks (its score) or index
    /// (geometric mean over the loads that models share)
    #[arg(long, value_name = "KIND", value_parser = composite)]
    pub(crate) composite: Option<CompositeKind>,

    /// Show everything in full: also the loads that do not decide
    #[arg(long)]
    pub(crate) all: bool,

    /// Seed of the random numbers; same seed, same answer
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = seed)]
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

// Arguments of `assay baseline`.

pub(super) const BASELINE_EXAMPLES: &str = "\
Examples:
  assay baseline set main last               the last run as the reference
  assay baseline set main build=main         all runs with this label
  assay compare baseline:main last --fail-if 'slower than 5%'
  assay baseline list
  assay baseline rm main                     the name; its records stay

A baseline names records as they are now; later ones do not join it.";

const SET_EXAMPLES: &str = "\
Examples:
  assay baseline set main last
  assay baseline set main build=main";
const LIST_EXAMPLES: &str = "\
Examples:
  assay baseline list
  assay baseline list main release --json";
const RM_EXAMPLES: &str = "\
Examples:
  assay baseline rm main";

#[derive(Debug, Args)]
pub(crate) struct BaselineArgs {
    /// What to do with baselines.
    #[command(subcommand)]
    pub(crate) command: BaselineCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BaselineCommand {
    /// Give records a name, replacing those that had it
    #[command(after_help = SET_EXAMPLES)]
    Set {
        /// Name: letters, digits, `-`, `_` and `.`
        name: String,
        #[arg(required = true, value_name = "QUERY", value_hint = ValueHint::Other,
              help = stored_query_help!("Which records"))]
        queries: Vec<String>,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// List baselines and their records
    #[command(after_help = LIST_EXAMPLES)]
    List {
        /// Only the baselines of these names
        #[arg(value_name = "NAME", value_hint = ValueHint::Other)]
        names: Vec<String>,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Remove the name of a baseline; its records stay
    #[command(after_help = RM_EXAMPLES)]
    Rm {
        /// Name
        name: String,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
}

// Arguments of `assay report`.

pub(super) const REPORT_EXAMPLES: &str = "\
Examples:
  assay report -o card.html            the last run, as an interactive page
  assay report slot=7 -o slot7.csv     all runs in slot 7, for a spreadsheet
  assay report all -o all.md
  assay report all -o cards.svg        a picture: rates over block sizes
  assay report all -o one.png --picture dots --load 'random write 4 KiB'
  assay report published: -o sweep.gif over block sizes
  assay report last -o - --format json
  assay report last -o - --format crystaldiskmark   for a forum
  assay report all -o plots/ --format fio-json   a file for each load: fio-plot
  assay report all --article cards/    tables with best and ties, pictures
  assay report all -o assay.prom       for node_exporter's textfile collector";

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    #[arg(default_value = "last", value_name = "QUERY", value_hint = ValueHint::Other, help = query_help!("Which records"))]
    pub(crate) queries: Vec<String>,

    /// File to write, or - for standard output; the extension chooses the format. A directory takes a file for each load of
    /// --format fio-json
    #[arg(short, long, value_name = "FILE", required_unless_present = "article")]
    pub(crate) output: Option<PathBuf>,

    /// Directory for an article, which is made if it is missing: tables of media by loads or by computers, with the best and
    /// ties marked as in rank, as README.md, index.html and CSV; and pictures with captions
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with_all = ["output", "picture", "load", "format"])]
    pub(crate) article: Option<PathBuf>,

    /// Picture for .svg and .png; by default the one that suits the records
    #[arg(long, value_name = "PICTURE", value_parser = picture())]
    pub(crate) picture: Option<PictureKind>,

    /// Only loads with these words, like 'random read 4 KiB'
    #[arg(long, value_name = "LOAD")]
    pub(crate) load: Option<String>,

    /// Format of what is written, if the extension does not determine it
    #[arg(long, value_name = "FORMAT", value_parser = format())]
    pub(crate) format: Option<ReportFormat>,

    /// Keep serial numbers, host names, addresses and paths instead of short names for them
    #[arg(long)]
    pub(crate) identities: bool,

    /// Print one JSON document: what was written
    #[arg(long)]
    pub(crate) json: bool,
}

// Arguments of all commands whose answer can go to a file.

/// Help of `-o` where there is a picture, too.
pub(super) const WITH_PICTURE: &str = "Write the answer to a file instead; the extension chooses .html, .md, .csv, .json, .svg or .png; - prints it as it may be \
     shared";

#[derive(Debug, Args)]
pub(crate) struct FileArgs {
    /// Write the answer to a file instead; the extension chooses .html, .md, .csv or .json; - prints it as it
    /// may be shared
    #[arg(short, long, value_name = "FILE", conflicts_with = "json")]
    pub(crate) output: Option<PathBuf>,

    /// Keep serial numbers, host names, addresses and paths instead of short names for them
    #[arg(long, requires = "output")]
    pub(crate) identities: bool,
}
