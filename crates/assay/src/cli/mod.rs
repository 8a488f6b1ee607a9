//! What can be said on the command line. Help, man pages and completions come from here.

mod advise;
mod compare;
mod plan;
mod rank;
mod report;
mod verify;

use std::path::PathBuf;

use assay_core::sensor::{SensorCommand, SensorNote};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

const OVERVIEW: &str = "\
Examples:
  assay run                  measure the medium under the current directory
  assay run /mnt/card        measure a mounted card
  assay info /mnt/card       what it is and how it is attached
  assay list                 what was measured so far
  assay report -o card.html  the last run as a page

Exit codes:
  0    done, and the answer is good
  1    done, and the answer is no: the result is invalid
  2    usage or bad input
  3    the medium failed while it was measured
  4    the environment failed: permission, space, missing tool, store
  5    damaged: the medium loses data
  6    a check could not tell
  130  interrupted";

/// Measure storage media, prove that the bytes crossed the device, and say how far the bus allows
/// it.
pub(crate) use advise::AdviseArgs;
pub(crate) use compare::CompareArgs;
pub(crate) use plan::{FigureArg, NewArgs, PlanArgs, PlanCommand, RaceArgs, SwapArgs};
pub(crate) use rank::RankArgs;
pub(crate) use report::{FormatArg, PictureArg, ReportArgs};
pub(crate) use verify::{ContentArg, VerifyArgs};

#[derive(Debug, Parser)]
#[command(name = "assay", version, propagate_version = true, after_help = OVERVIEW)]
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
    /// Is it genuine? Fill it and check it, or probe it quickly
    #[command(after_help = verify::EXAMPLES)]
    Verify(VerifyArgs),
    /// Compare records or groups of records: same, different, cannot tell, and by how much
    #[command(after_help = compare::EXAMPLES)]
    Compare(CompareArgs),
    /// Rank models over their units, with ties, odd units and what cannot be told
    #[command(after_help = rank::EXAMPLES)]
    Rank(RankArgs),
    /// Plan an experiment: which unit in which slot in which round, and what it can tell
    #[command(after_help = plan::EXAMPLES)]
    Plan(PlanArgs),
    /// Decide: local flash or NAS, cache, what to buy, which class
    #[command(after_help = advise::EXAMPLES)]
    Advise(AdviseArgs),
    /// List, show and export suites
    #[command(after_help = SUITE_EXAMPLES)]
    Suite(SuiteArgs),
    /// List the records in the store
    #[command(after_help = LIST_EXAMPLES)]
    List(ListArgs),
    /// Show a record as a card
    #[command(after_help = SHOW_EXAMPLES)]
    Show(ShowArgs),
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
  assay run --crosscheck fio /mnt/card    next to fio, with the ratio
  assay run --resume                      go on after a crash, a reboot or Ctrl-C
  assay run job.fio                       a fio job file, in the current directory
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
  assay suite export quick --to fio -o quick.fio";
const SUITE_LIST_EXAMPLES: &str = "\
Examples:
  assay suite list
  assay suite list --json";
const SUITE_SHOW_EXAMPLES: &str = "\
Examples:
  assay suite show quick > mine.toml     a suite of your own to start from
  assay suite show mine.toml             checks it, too";
const SUITE_EXPORT_EXAMPLES: &str = "\
Examples:
  assay suite export quick --to fio -o quick.fio
  cd /mnt/card && fio ~/quick.fio        the same load with fio";
const LIST_EXAMPLES: &str = "\
Examples:
  assay list
  assay list model='SanDisk Ultra A1'
  assay list slot=7 --json";
const SHOW_EXAMPLES: &str = "\
Examples:
  assay show last
  assay show last~1
  assay show 5f3 --json     any unique beginning of an id";
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
  assay man --dir /usr/local/share/man/man1";

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Directory on the medium, a raw device with --raw, or a fio job file to run here
    #[arg(default_value = ".")]
    pub(crate) target: PathBuf,

    /// Suite by name, a suite file, or a fio job file that ends in .fio
    #[arg(long, value_name = "NAME|FILE", default_value = crate::suites::DEFAULT)]
    pub(crate) suite: String,

    /// Engine; auto takes io_uring where the kernel allows it
    #[arg(long, value_enum, default_value_t = EngineArg::Auto)]
    pub(crate) engine: EngineArg,

    /// Run every workload by this instrument too, in turns, and show the ratio
    #[arg(long, value_name = "PEER", value_enum, conflicts_with = "confidence")]
    pub(crate) crosscheck: Option<PeerArg>,

    /// Go on with a run that was interrupted or killed: the newest, or the one named
    #[arg(long, value_name = "ID", num_args = 0..=1, require_equals = true, default_missing_value = "",
          conflicts_with_all = ["suite", "crosscheck", "repeats", "confidence", "budget", "max_write", "labels", "no_save"])]
    pub(crate) resume: Option<String>,

    /// Repeats of each workload
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) repeats: Option<u32>,

    /// Measure until the interval over repeats is this narrow, like 5%
    #[arg(long, value_name = "SHARE", conflicts_with = "repeats", value_parser = crate::commands::parse_confidence)]
    pub(crate) confidence: Option<f64>,

    /// Time for everything, like 90s or 10m
    #[arg(long, value_name = "TIME", value_parser = budget)]
    pub(crate) budget: Option<std::time::Duration>,

    /// Without an answer for this long the medium hangs, like 10s or 2m
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = hang_after)]
    pub(crate) hang_after: std::time::Duration,

    /// Most bytes to write, like 2GiB
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_write: Option<assay_core::units::Bytes>,

    /// Free label, like model=…, unit=…, slot=… or price=12.90USD; repeat for more
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = label)]
    pub(crate) labels: Vec<(String, String)>,

    /// Read a sensor with a command once a second, unit C, W or Hz; repeat for more
    #[arg(long = "sensor", value_name = "NAME:UNIT=COMMAND", value_parser = SensorCommand::parse)]
    pub(crate) sensors: Vec<SensorCommand>,

    /// Keep a value read by eye, like temperature=46C; repeat for more
    #[arg(long = "note", value_name = "NAME=VALUE", value_parser = SensorNote::parse)]
    pub(crate) notes: Vec<SensorNote>,

    /// TARGET is a raw device; suites that write overwrite what it holds
    #[arg(long)]
    pub(crate) raw: bool,

    /// Allow overwriting a raw device that holds data, by naming it once more
    #[arg(long, value_name = "DEVICE", requires = "raw")]
    pub(crate) overwrite: Option<PathBuf>,

    /// Write the report here too; the extension chooses .html, .md, .csv or .json
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Do not keep the record in the store
    #[arg(long)]
    pub(crate) no_save: bool,

    /// Print the record as one JSON document
    #[arg(long, conflicts_with = "events")]
    pub(crate) json: bool,

    /// Print events as JSON lines while it runs
    #[arg(long)]
    pub(crate) events: bool,

    /// No progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineArg {
    /// Whatever is best here
    Auto,
    /// io_uring
    Uring,
    /// pread and pwrite, a thread for each operation in flight
    Sync,
    /// The program fio, which has to be installed
    Fio,
    /// No I/O at all: measures the instrument itself
    Null,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PeerArg {
    /// The program fio, which has to be installed
    Fio,
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
    /// Show a suite as its file
    #[command(after_help = SUITE_SHOW_EXAMPLES)]
    Show {
        /// Suite by name, or a suite file
        suite: String,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Write a suite in another tool's format
    #[command(after_help = SUITE_EXPORT_EXAMPLES)]
    Export {
        /// Suite by name, or a suite file
        suite: String,
        /// Format
        #[arg(long, value_name = "FORMAT", value_enum)]
        to: ExportFormat,
        /// File to write; standard output by default
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Print one JSON document that holds the text
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
    /// Which records: all, last, an id, or model=…, unit=…, slot=…, suite=…, KEY=VALUE of a label
    #[arg(default_value = "all")]
    pub(crate) query: String,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Which record: last, last~1, or the beginning of an id
    #[arg(default_value = "last")]
    pub(crate) query: String,

    /// Print the record as one JSON document, as it is stored
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RmArgs {
    /// Which records: ids, their beginnings, or last
    #[arg(required = true)]
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
    /// Print the list as one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Write a page for each command into this directory
    #[arg(long)]
    pub(crate) dir: Option<PathBuf>,
}

/// Shorter is the pause of a sound card; longer, nobody waits.
fn hang_after(text: &str) -> Result<std::time::Duration, String> {
    let duration = assay_core::units::parse_duration(text).map_err(|e| e.to_string())?;
    if !(5..=600).contains(&duration.as_secs()) {
        return Err("must be 5s to 10m".to_owned());
    }
    Ok(duration)
}

fn budget(text: &str) -> Result<std::time::Duration, String> {
    let duration = assay_core::units::parse_duration(text).map_err(|e| e.to_string())?;
    if duration < std::time::Duration::from_secs(1) || duration > crate::suites::LONGEST_BUDGET {
        return Err("must be 1s to 30d".to_owned());
    }
    Ok(duration)
}

fn label(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("write KEY=VALUE, like slot=7")?;
    let key_ok =
        !key.is_empty() && key.len() <= 64 && key.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    if !key_ok {
        return Err(format!("key `{key}` may hold only letters, digits, `-`, `_` and `.`"));
    }
    if value.is_empty() || value.len() > 256 {
        return Err("a value has 1 to 256 bytes".to_owned());
    }
    Ok((key.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_declaration_is_sound() {
        Cli::command().debug_assert();
    }
}
