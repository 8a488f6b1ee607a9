//! What can be said on the command line. Help, man pages and completions come from here.

#[macro_use]
mod query;

mod advise;
mod baseline;
mod compare;
mod export;
mod file;
mod fleet;
mod import;
mod inventory;
mod plan;
mod rank;
mod report;
mod together;
mod values;
mod verify;

use std::path::PathBuf;
use std::time::Duration;

use assay_core::cpus::Cpus;
use assay_core::sensor::{SensorCommand, SensorNote};
use assay_fio::Amount;
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;

macro_rules! exit_codes {
    () => {
        "  0    done, and the answer is good
  1    done, and the answer is no: invalid, fake, class not met
  2    usage or bad input
  3    the medium failed while it was measured
  4    the environment failed: permission, space, missing tool, store
  5    damaged: the medium loses data
  6    cannot tell: a check, or a limit of a comparison
  7    a limit of a comparison is exceeded
  8    the next round of a plan waits until units are moved
  130  interrupted"
    };
}

/// Exit codes with what they mean, a line for each.
pub(crate) const EXIT_CODES: &str = exit_codes!();

macro_rules! overview {
    ($last:literal) => {
        concat!(
            "Examples:
  assay run                  measure the medium under the current directory
  assay run /mnt/card        measure a mounted card
  assay info /mnt/card       what it is and how it is attached
  assay list                 what was measured so far
  ",
            $last,
            "

Exit codes:
",
            exit_codes!()
        )
    };
}

const OVERVIEW: &str = overview!("assay report -o card.html  the last run as a page");

pub(crate) use advise::AdviseArgs;
pub(crate) use baseline::{BaselineArgs, BaselineCommand};
pub(crate) use compare::{CompareArgs, GateFormatArg};
pub(crate) use export::ExportArgs;
pub(crate) use file::FileArgs;
pub(crate) use fleet::{FleetArgs, FleetCommand, FleetListArgs, FleetReportArgs, FleetRunArgs};
pub(crate) use import::ImportArgs;
pub(crate) use inventory::{FleetCheckArgs, FleetCleanArgs, FleetCollectArgs, InventoryArgs, ViaArg};
pub(crate) use plan::{NewArgs, PlanArgs, PlanCommand, RaceArgs, SwapArgs};
pub(crate) use rank::RankArgs;
pub(crate) use report::ReportArgs;
pub(crate) use together::TogetherArgs;
pub(crate) use verify::{ContentArg, VerifyArgs};

/// What `--version` says; `-V` says the first line. The version is the first line of both.
const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\ncommit    ",
    env!("ASSAY_COMMIT"),
    "\ntarget    ",
    env!("ASSAY_TARGET"),
    "\nfeatures  ",
    env!("ASSAY_FEATURES"),
);

/// Measure and verify storage media, compare them, and decide which to use
#[derive(Debug, Parser)]
#[command(name = "assay", version, long_version = VERSION, propagate_version = true, after_help = OVERVIEW)]
#[command(help_expected = true, arg_required_else_help = true, max_term_width = 80)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure the medium under a directory
    #[command(after_help = RUN_EXAMPLES)]
    Run(Box<RunArgs>),
    /// Show what a medium is: identity, bus and ceiling, classes, health
    #[command(after_help = INFO_EXAMPLES)]
    Info(InfoArgs),
    /// Check whether a medium is genuine: fill it and read it back, or probe it
    #[command(after_help = verify::EXAMPLES)]
    Verify(VerifyArgs),
    /// Compare records or groups of records: same, different, cannot tell, and by how much
    #[command(after_help = compare::EXAMPLES)]
    Compare(CompareArgs),
    /// Name records that later ones are compared with
    #[command(after_help = baseline::EXAMPLES)]
    Baseline(BaselineArgs),
    /// Rank models by their units, with ties, outliers and what cannot be decided
    #[command(after_help = rank::EXAMPLES)]
    Rank(RankArgs),
    /// Plan an experiment: which unit is measured in which slot in which round
    #[command(after_help = plan::EXAMPLES)]
    Plan(PlanArgs),
    /// Advise on local flash or NAS, caches, purchases and speed classes
    #[command(after_help = advise::EXAMPLES)]
    Advise(AdviseArgs),
    /// List, show and export suites
    #[command(after_help = SUITE_EXAMPLES)]
    Suite(SuiteArgs),
    /// Measure on many nodes at once
    #[command(after_help = fleet::EXAMPLES)]
    Fleet(FleetArgs),
    /// Import results of other tools and records of other machines
    #[command(after_help = import::EXAMPLES)]
    Import(ImportArgs),
    /// Copy records into a new store, for another machine
    #[command(after_help = export::EXAMPLES)]
    Export(ExportArgs),
    /// List the records in the store
    #[command(after_help = LIST_EXAMPLES)]
    List(ListArgs),
    /// Show a record as a card
    #[command(after_help = SHOW_EXAMPLES)]
    Show(ShowArgs),
    /// Add, correct or remove labels of records
    #[command(after_help = LABEL_EXAMPLES)]
    Label(LabelArgs),
    /// Remove records from the store
    #[command(after_help = RM_EXAMPLES)]
    Rm(RmArgs),
    /// Write a report as HTML, Markdown, CSV or JSON, or a picture as SVG, PNG or GIF
    #[command(after_help = report::EXAMPLES)]
    Report(ReportArgs),
    /// Print shell completions
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions(CompletionsArgs),
    /// Print the manual page, or write one for each command
    #[command(after_help = MAN_EXAMPLES)]
    Man(ManArgs),
    /// Print the licences of assay and of all that it contains
    #[command(after_help = LICENCES_EXAMPLES)]
    Licences(LicencesArgs),
}

const RUN_EXAMPLES: &str = "\
Examples:
  assay run                               the medium under the current directory
  assay run /mnt/card --label unit=7      a mounted card, with a label of yours
  assay run --suite smoke /mnt/card       a first look in five seconds
  assay run --json /mnt/card > run.json   the record for a script
  assay run --crosscheck fio /mnt/card    compared with fio
  assay run --suite iozone --crosscheck reference .
                                          compared with iozone itself
  assay run --resume                      continue after a crash or Ctrl-C
  assay run job.fio                       a fio job file, where it says
  assay run --raw /dev/sdX                a bare device; it is overwritten
  assay run --raw --suite read-only /dev/sdX
                                          a device is only read";
const INFO_EXAMPLES: &str = "\
Examples:
  assay info               the medium under the current directory
  assay info /dev/mmcblk0  a device
  assay info --json /mnt/card";
const SUITE_EXAMPLES: &str = "\
Examples:
  assay suite list
  assay suite show quick > mine.toml     a suite of your own to start from
  assay run --suite mine.toml /mnt/card
  assay suite export quick --format fio -o quick.fio";
const SUITE_LIST_EXAMPLES: &str = "\
Examples:
  assay suite list
  assay suite list --json";
const SUITE_SHOW_EXAMPLES: &str = "\
Examples:
  assay suite show quick > mine.toml     a suite of your own to start from
  assay suite show mine.toml             also checks it";
const SUITE_EXPORT_EXAMPLES: &str = "\
Examples:
  assay suite export quick --format fio -o quick.fio
  cd /mnt/card && fio ~/quick.fio        the same load with fio";
const SUITE_IMPORT_EXAMPLES: &str = "\
Examples:
  assay suite import job.fio -o mine.toml
  assay run --suite mine.toml /mnt/card";
const LIST_EXAMPLES: &str = "\
Examples:
  assay list
  assay list model='SanDisk Ultra A1'
  assay list slot=7 --json
  assay list results/ --aggregate trimmed
                                        as articles print several runs
  assay list -o records.html            a table to look at or to send";
const SHOW_EXAMPLES: &str = "\
Examples:
  assay show last
  assay show last~1
  assay show last~1 last    one card after the other
  assay show 5f3 --json     any unique beginning of an id
  assay show --percentiles 50,99,99.99    of the latency, with intervals";
const LABEL_EXAMPLES: &str = "\
Examples:
  assay label last unit=7 price=9.90
  assay label 'model=SD32G slot=3' rack=2      all records of the query
  assay label 5f3k2abcde model='SanDisk Ultra A1'
  assay label last comment=                    without a value it is removed";

const RM_EXAMPLES: &str = "\
Examples:
  assay rm 5f3k2abcde
  assay rm last";
const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  assay completions bash > ~/.local/share/bash-completion/completions/assay
  assay completions zsh > ~/.zfunc/_assay";
const LICENCES_EXAMPLES: &str = "\
Examples:
  assay licences | less
  assay licences --json";
const MAN_EXAMPLES: &str = "\
Examples:
  assay man | man -l -
  assay man --dir /usr/local/share/man/man1   a page for each command";

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Directory on the medium, a raw device with --raw, or a fio job file to run here
    #[arg(default_value = ".")]
    pub(crate) target: PathBuf,

    /// Suite by name, a suite file, - for one on standard input, or a fio job file
    #[arg(long, value_name = "NAME|FILE", default_value = crate::suites::DEFAULT, value_parser = values::SuiteName,
          hide_possible_values = true)]
    pub(crate) suite: String,

    /// Engine; auto takes io_uring where the kernel allows it
    #[arg(long, value_enum, default_value_t = EngineArg::Auto)]
    pub(crate) engine: EngineArg,

    /// Also run every workload with this tool, in turns, and show the ratio
    #[arg(long, value_name = "PEER", value_enum, conflicts_with = "confidence")]
    pub(crate) crosscheck: Option<PeerArg>,

    /// Resume a run that was interrupted or killed: the newest, or the one named
    #[arg(long, value_name = "RUN", num_args = 0..=1, require_equals = true, default_missing_value = "",
          conflicts_with_all = ["suite", "crosscheck", "repeats", "confidence", "budget", "max_write", "size", "cpus", "poll", "labels",
                               "no_save"])]
    pub(crate) resume: Option<String>,

    /// Repeats of each workload, of full length, also where the suite would end sooner
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) repeats: Option<u32>,

    /// Measure until the interval over repeats is this narrow to each side, like 5%
    #[arg(long, value_name = "SHARE", conflicts_with = "repeats", value_parser = values::share(0.005..=0.5))]
    pub(crate) confidence: Option<f64>,

    /// Time for the whole run, like 90s or 10m
    #[arg(long, value_name = "TIME", value_parser = budget)]
    pub(crate) budget: Option<Duration>,

    /// Size of the test area, like 1GiB or 50% of the medium; with a fio job file that of each job, whatever the file says
    #[arg(long, value_name = "SIZE", value_parser = values::amount)]
    pub(crate) size: Option<Amount>,

    /// Processors that the threads of workloads run on, like 0-3,7: each thread on one of them, in turn
    #[arg(long, value_name = "LIST", value_parser = Cpus::parse)]
    pub(crate) cpus: Option<Cpus>,

    /// Poll for completions instead of waiting for interrupts, in workloads of direct I/O; the device has to have queues for it
    #[arg(long)]
    pub(crate) poll: bool,

    /// Time without a completed operation after which the medium counts as hung
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = values::hang_after)]
    pub(crate) hang_after: Duration,

    /// Maximum number of bytes to write, like 2GiB
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_write: Option<assay_core::units::Bytes>,

    /// Label of the record, like model=…, unit=…, slot=… or price=12.90USD; repeat for more
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = values::label)]
    pub(crate) labels: Vec<(String, String)>,

    /// Read a sensor with a command once a second, unit C, W or Hz; repeat for more
    #[arg(long = "sensor", value_name = "NAME:UNIT=COMMAND", value_parser = SensorCommand::parse)]
    pub(crate) sensors: Vec<SensorCommand>,

    /// Record a value that you read from a display, like temperature=46C; repeat for more
    #[arg(long = "note", value_name = "NAME=VALUE", value_parser = SensorNote::parse)]
    pub(crate) notes: Vec<SensorNote>,

    /// Archive (.tar.xz, .tar.gz, .tar) of the source tree that programs of the suite pack and unpack, instead of
    /// a generated one
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) source_tree: Option<PathBuf>,

    /// Measure a raw device; suites that write overwrite its content
    #[arg(long)]
    pub(crate) raw: bool,

    /// Allow overwriting a raw device that holds data, by naming it once more
    #[arg(long, value_name = "DEVICE", requires = "raw")]
    pub(crate) overwrite: Option<PathBuf>,

    /// Also write a report; the extension chooses .html, .md, .csv, .json, .svg, .png or .gif
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Do not keep the record in the store
    #[arg(long)]
    pub(crate) no_save: bool,

    /// Print one JSON document: the record
    #[arg(long, conflicts_with = "events")]
    pub(crate) json: bool,

    /// Print events as JSON lines while it runs
    #[arg(long)]
    pub(crate) events: bool,

    /// Show what would be done, after all checks, and write nothing
    #[arg(long, conflicts_with_all = ["resume", "events", "output"])]
    pub(crate) dry_run: bool,

    /// No progress
    #[arg(short, long)]
    pub(crate) quiet: bool,

    #[command(flatten)]
    pub(crate) together: TogetherArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineArg {
    /// io_uring for queues deeper than one, otherwise pread and pwrite
    Auto,
    /// io_uring, on Linux
    Uring,
    /// I/O completion ports, on Windows
    Iocp,
    /// pread and pwrite, a thread for each operation in flight
    Sync,
    /// The program fio, which has to be installed
    Fio,
    /// The tool that each workload was taken from, as the suite names it
    Reference,
    /// No I/O at all: measures the overhead of assay itself
    Null,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PeerArg {
    /// The program fio, which has to be installed
    Fio,
    /// The tool that each workload was taken from, as the suite names it
    Reference,
}

#[derive(Debug, Args)]
pub(crate) struct InfoArgs {
    /// Directory, file or device
    #[arg(default_value = ".")]
    pub(crate) target: PathBuf,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SuiteArgs {
    /// What to do with suites.
    #[command(subcommand)]
    pub(crate) command: SuiteCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SuiteCommand {
    /// List the built-in suites
    #[command(after_help = SUITE_LIST_EXAMPLES)]
    List {
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Print a suite as TOML
    #[command(after_help = SUITE_SHOW_EXAMPLES)]
    Show {
        /// Suite by name, or a suite file
        #[arg(value_parser = values::SuiteName, hide_possible_values = true)]
        suite: String,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Write a fio job file as a suite
    ///
    /// Differences from fio are printed on standard error.
    #[command(after_help = SUITE_IMPORT_EXAMPLES)]
    Import {
        /// Job file of fio
        #[arg(value_name = "FILE")]
        file: String,
        /// Size of each job, like 1GiB or 50% of the medium, whatever the file says
        #[arg(long, value_name = "SIZE", value_parser = values::amount)]
        size: Option<Amount>,
        /// File to write; standard output by default
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Print one JSON document: the text and the notes
        #[arg(long)]
        json: bool,
    },
    /// Write a suite in another tool's format
    #[command(after_help = SUITE_EXPORT_EXAMPLES)]
    Export {
        /// Suite by name, or a suite file
        #[arg(value_parser = values::SuiteName, hide_possible_values = true)]
        suite: String,
        /// Format of what is written
        #[arg(long, value_name = "FORMAT", value_enum)]
        format: ExportFormat,
        /// File to write; standard output by default
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Print one JSON document: the text
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// A job file that fio runs
    Fio,
    /// The suite file itself
    Toml,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[arg(default_value = "all", value_name = "QUERY", value_hint = ValueHint::Other, help = query_help!("Which records"))]
    pub(crate) queries: Vec<String>,

    /// One figure over all runs of a medium, as articles print it; not used for decisions
    #[arg(long, value_enum, value_name = "HOW")]
    pub(crate) aggregate: Option<AggregateArg>,

    #[command(flatten)]
    pub(crate) file: FileArgs,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AggregateArg {
    /// Mean of the runs
    Mean,
    /// Mean without the best and the worst run, for each figure
    Trimmed,
    /// Best of the runs
    Best,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    #[arg(default_value = "last", value_name = "QUERY", value_hint = ValueHint::Other, help = query_help!("Which records"))]
    pub(crate) queries: Vec<String>,

    /// Percentiles of the latency instead, like 50,99,99.99
    #[arg(long, value_delimiter = ',', value_name = "LIST", value_parser = values::percentile)]
    pub(crate) percentiles: Vec<f64>,

    /// Print one JSON document: the record as it is stored, or an array of several
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LabelArgs {
    #[arg(value_name = "QUERY", value_hint = ValueHint::Other, help = stored_query_help!("Which records"))]
    pub(crate) query: String,

    /// Labels; one without a value is removed
    #[arg(required = true, value_name = "KEY=VALUE", value_parser = values::label_or_none)]
    pub(crate) labels: Vec<(String, Option<String>)>,

    /// Print one JSON document: the records of the query, and those that changed
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RmArgs {
    #[arg(required = true, value_name = "QUERY", value_hint = ValueHint::Other,
          help = stored_query_help!("Which records (all is refused)"))]
    pub(crate) queries: Vec<String>,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// Shell
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct LicencesArgs {
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Directory to write a page for each command to; it has to exist
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

/// Less than 5 s would take the pauses of a healthy card for a hang; more than 10 min would keep a hung run waiting.
fn budget(text: &str) -> Result<Duration, String> {
    values::time(Duration::from_secs(1)..=crate::suites::LONGEST_BUDGET, "1s to 30d")(text)
}

#[cfg(test)]
mod agreement;
#[cfg(test)]
mod documented;

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_declaration_is_sound() {
        Cli::command().debug_assert();
    }

    /// A command that wraps cannot be copied.
    #[test]
    fn no_example_is_wider_than_eighty_columns() {
        fn check(command: &clap::Command) {
            let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            for line in after.lines() {
                assert!(line.chars().count() <= 80, "{}: {line}", command.get_name());
            }
            command.get_subcommands().for_each(check);
        }
        check(&Cli::command());
    }
}
