//! What can be said on the command line. Help, man pages and completions come from here.

/// A query for records of any place, after what the records are for.
macro_rules! query_help {
    ($records:literal) => {
        concat!(
            $records,
": last (the newest), all, an id, a file, baseline:NAME, published:NAME, site: (the public instance of the last login), or conditions: model=…, unit=…, \
             slot=…, suite=…, kind=…, or a label as KEY=VALUE. Conditions within one pair of quotes are joined by and: 'published: model=SanDisk* unit=1,2'"
        )
    };
}

/// A query for records of the store.
macro_rules! stored_query_help {
    ($records:literal) => {
        concat!($records, ": last (the newest), all, an id", stored_query_end!())
    };
}

macro_rules! stored_query_end {
    () => {
        ", baseline:NAME, or conditions: model=…, unit=…, slot=…, suite=…, kind=…, or a label as KEY=VALUE. Conditions within one pair of quotes are joined by and: 'suite=quick model=SanDisk* unit=1,2'"
    };
}

#[cfg(test)]
mod agreement;
mod analysis;
mod fleet;
mod records;

mod advise;
mod endure;
mod plan;
mod powercut;
mod run;
mod submit;
mod survive;
mod values;
mod verify;
mod watch;

use std::net::SocketAddr;
use std::path::PathBuf;

use assay_fio::Amount;
use assay_fleet::{Build, known_commit};
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
pub(crate) use analysis::{BaselineArgs, BaselineCommand, CompareArgs, FileArgs, GateFormatArg, RankArgs, ReportArgs};
pub(crate) use endure::{EndureArgs, Until, WearArg};
pub(crate) use fleet::{
    FleetArgs, FleetCheckArgs, FleetCleanArgs, FleetCollectArgs, FleetCommand, FleetListArgs, FleetReportArgs,
    FleetRunArgs, FleetWatchAddArgs, FleetWatchCommand, InventoryArgs, ViaArg,
};
pub(crate) use plan::{NewArgs, PlanArgs, PlanCommand, RaceArgs, SwapArgs};
pub(crate) use powercut::PowercutArgs;
pub(crate) use records::{AggregateArg, ExportArgs, ImportArgs, LabelArgs, ListArgs, RmArgs, ShowArgs};
pub(crate) use run::{EngineArg, PeerArg, RunArgs, TogetherArgs, second_target};
pub(crate) use submit::{LoginArgs, SubmitArgs};
pub(crate) use survive::SurviveArgs;
pub(crate) use verify::{ContentArg, VerifyArgs};
pub(crate) use watch::{
    WatchAddArgs, WatchArgs, WatchCommand, WatchHowArgs, WatchRunArgs, WatchStatusArgs, broker_parts,
    name_of as watch_name_of,
};

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

/// Version and commit of this program.
pub(crate) fn own_build() -> Build {
    Build { version: env!("CARGO_PKG_VERSION").to_owned(), commit: known_commit(env!("ASSAY_COMMIT")) }
}

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
    /// Measure the card, stick or disk that a directory is on
    #[command(after_help = run::RUN_EXAMPLES)]
    Run(Box<RunArgs>),
    /// Show what a medium is: identity, bus and ceiling, classes, health
    #[command(after_help = INFO_EXAMPLES)]
    Info(InfoArgs),
    /// Check whether a medium is genuine: fill it and read it back, or probe it
    #[command(after_help = verify::EXAMPLES)]
    Verify(VerifyArgs),
    /// Wear media until they die, and tell when and how
    #[command(after_help = endure::EXAMPLES)]
    Endure(Box<EndureArgs>),
    /// Tell which acknowledged writes a power cut took away
    #[command(after_help = powercut::EXAMPLES)]
    Powercut(Box<PowercutArgs>),
    /// Compare records or groups of records: same, different, cannot tell, and by how much
    #[command(after_help = analysis::COMPARE_EXAMPLES)]
    Compare(CompareArgs),
    /// Name records that later ones are compared with
    #[command(after_help = analysis::BASELINE_EXAMPLES)]
    Baseline(BaselineArgs),
    /// Rank models by their units, with ties, outliers and what cannot be decided
    #[command(after_help = analysis::RANK_EXAMPLES)]
    Rank(RankArgs),
    /// Plan an experiment: which unit is measured in which slot in which round
    #[command(after_help = plan::EXAMPLES)]
    Plan(PlanArgs),
    /// Advise on local flash or NAS, caches, purchases and speed classes
    #[command(after_help = advise::EXAMPLES)]
    Advise(AdviseArgs),
    /// List, show, import and export suites
    #[command(after_help = SUITE_EXAMPLES)]
    Suite(SuiteArgs),
    /// Measure on many nodes at once
    #[command(after_help = fleet::EXAMPLES)]
    Fleet(FleetArgs),
    /// Measure media each night, and say what changed
    #[command(after_help = watch::EXAMPLES)]
    Watch(WatchArgs),
    /// Tell how long units last under wear, from endurance tests, and whether two models differ
    #[command(after_help = survive::EXAMPLES)]
    Survive(SurviveArgs),
    /// Import results of other tools and records of other machines
    #[command(after_help = records::IMPORT_EXAMPLES)]
    Import(ImportArgs),
    /// Copy records into a new store, for another machine
    #[command(after_help = records::EXPORT_EXAMPLES)]
    Export(ExportArgs),
    /// List the records in the store
    #[command(after_help = records::LIST_EXAMPLES)]
    List(ListArgs),
    /// Show a record as a card
    #[command(after_help = records::SHOW_EXAMPLES)]
    Show(ShowArgs),
    /// Add, correct or remove labels of records
    #[command(after_help = records::LABEL_EXAMPLES)]
    Label(LabelArgs),
    /// Remove records from the store
    #[command(after_help = records::RM_EXAMPLES)]
    Rm(RmArgs),
    /// Write a report as HTML, Markdown, CSV or JSON, or a picture as SVG, PNG or GIF
    #[command(after_help = analysis::REPORT_EXAMPLES)]
    Report(ReportArgs),
    /// Open the store in a browser: media, records, answers as forms, measuring from the page
    #[command(after_help = SERVE_EXAMPLES)]
    Serve(ServeArgs),
    /// Log in to a public instance, to submit records
    #[command(after_help = submit::LOGIN_EXAMPLES)]
    Login(LoginArgs),
    /// Send records to a public instance, without identities, and keep the receipts
    #[command(after_help = submit::SUBMIT_EXAMPLES)]
    Submit(SubmitArgs),
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

const INFO_EXAMPLES: &str = "\
Examples:
  assay info               the medium under the current directory
  assay info /dev/mmcblk0  a device
  assay info --list        every medium of this machine
  assay info --json /mnt/card";
const SERVE_EXAMPLES: &str = "\
Examples:
  assay serve                       prints an address for this machine's browser
  assay serve --listen 127.0.0.1:8080
  assay serve --listen 192.168.1.5:8080 --token-file token
                                    for other machines; not encrypted
  ssh -L 8080:127.0.0.1:8080 nas    from elsewhere, encrypted

The address holds a secret. Anyone who has it sees all records, and can measure
with the rights of the user who started the server. Ctrl-C ends the server. Runs
that were started from its pages end too, clean up and keep their records.";
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
pub(crate) struct InfoArgs {
    /// Directory, file or device
    #[arg(default_value = ".")]
    pub(crate) target: PathBuf,

    /// List all media of this machine: mounted ones, and disks that nothing uses
    #[arg(long, conflicts_with = "target")]
    pub(crate) list: bool,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Address that browsers connect to; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,

    /// File with a token of at least 16 characters, which a page asks for; needed where other machines can reach the address
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) token_file: Option<PathBuf>,

    /// PEM file with the server's certificate and its chain; the server then speaks TLS
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,

    /// PEM file with the certificate's private key, without a password
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,

    /// Host name that leads to the server, beside its address; repeat for more
    #[arg(long = "name", value_name = "HOST")]
    pub(crate) names: Vec<String>,

    /// Print one JSON document: the address
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
    /// Check a suite, and print it as TOML
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
        /// Size of each job, like 1GiB or 50% of the medium, instead of the file's size=
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

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

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
