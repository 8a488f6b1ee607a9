//! Arguments of `assay run`.

use std::path::PathBuf;
use std::time::Duration;

use assay_core::cpus::Cpus;
use assay_core::sensor::{SensorCommand, SensorNote};
use assay_fio::Amount;
use clap::{Args, ValueEnum, ValueHint};
use jiff::Timestamp;

use super::values;

pub(super) const RUN_EXAMPLES: &str = "\
Examples:
  assay run                               the medium under the current directory
  assay run /mnt/card --label unit=7      a mounted card, with a label of yours
  assay run --suite smoke /mnt/card       a first look in five seconds
  assay run --json /mnt/card > run.json   the record for a script
  assay run --crosscheck fio /mnt/card    compared with fio
  assay run --suite iozone --crosscheck reference .
                                          compared with iozone itself
  assay run --resume                      continue after a crash or Ctrl-C
  assay verify /mnt/card                  another question: is the card genuine?
  assay run job.fio                       a fio job file, where it says
  assay run --raw /dev/sdX                a bare device; it is overwritten
  assay run --raw --suite read-only /dev/sdX
                                          a device is only read";

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

    /// Number of repeats of each workload, even where the suite would end sooner
    #[arg(long, value_name = "N", value_parser = values::count(1..=1000))]
    pub(crate) repeats: Option<u32>,

    /// Repeat until the interval is within ± this share, like 5%
    #[arg(long, value_name = "SHARE", conflicts_with = "repeats", value_parser = values::share(0.005..=0.5))]
    pub(crate) confidence: Option<f64>,

    /// Time for the whole run, like 90s or 10m
    #[arg(long, value_name = "TIME", value_parser = budget)]
    pub(crate) budget: Option<Duration>,

    /// Size of the test area, like 1GiB or 50% of the medium; of each job of a fio job file, instead of its size=
    #[arg(long, value_name = "SIZE", value_parser = values::amount)]
    pub(crate) size: Option<Amount>,

    /// Pin threads to these processors, one after the other, like 0-3,7
    #[arg(long, value_name = "LIST", value_parser = Cpus::parse)]
    pub(crate) cpus: Option<Cpus>,

    /// Poll for completions instead of waiting for interrupts, in workloads of direct I/O; the device needs poll queues
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

    /// Source tree for the pack and unpack tests (.tar.xz, .tar.gz, .tar); generated if not given
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

    /// Check everything, show what would be done, write nothing
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
    #[cfg_attr(not(windows), value(hide = true))]
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
pub(crate) struct TogetherArgs {
    /// Start each repeat together with other nodes; address or Unix socket of the coordinator (assay fleet run starts one)
    #[arg(long, value_name = "HOST:PORT|PATH", requires_all = ["node", "fleet_run"],
          conflicts_with_all = ["resume", "crosscheck", "confidence", "dry_run"])]
    pub(crate) rendezvous: Option<String>,

    /// Name of this node
    #[arg(long, value_name = "NAME", requires = "rendezvous")]
    pub(crate) node: Option<String>,

    /// The run that this node takes part in
    #[arg(long, value_name = "RUN", requires = "rendezvous")]
    pub(crate) fleet_run: Option<String>,

    /// File with the key of this node in that run, in place of the environment variable ASSAY_FLEET_KEY
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "rendezvous")]
    pub(crate) rendezvous_key: Option<PathBuf>,

    /// Begin the first repeat at this time of day, like 2026-11-23T12:00:00Z; the clocks of several hosts have to agree
    #[arg(long, value_name = "TIME", value_parser = values::time_of_day)]
    #[arg(conflicts_with_all = ["rendezvous", "resume", "dry_run"])]
    pub(crate) start_at: Option<Timestamp>,
}

/// Less than 5 s would take the pauses of a healthy card for a hang; more than 10 min would keep a hung run waiting.
fn budget(text: &str) -> Result<Duration, String> {
    values::time(Duration::from_secs(1)..=crate::suites::LONGEST_BUDGET, "1s to 30d")(text)
}

/// What is wrong with two targets of a run, and the mend: the first is often a suite or a job file.
pub(crate) fn second_target(words: &[String], error: &clap::Error) -> Option<String> {
    use clap::error::{ContextKind, ContextValue, ErrorKind};
    let Some(ContextValue::String(second)) = error.get(ContextKind::InvalidArg) else { return None };
    let is_second = error.kind() == ErrorKind::UnknownArgument && !second.starts_with('-');
    let (command, rest) = words.split_first()?;
    if !is_second || command != "run" {
        return None;
    }
    let before = &rest[..rest.iter().position(|word| word == second)?];
    let is_suite = |word: &str| {
        let name = std::path::Path::new(word).extension();
        name.is_some_and(|name| name.eq_ignore_ascii_case("fio") || name.eq_ignore_ascii_case("toml"))
    };
    // What stands behind an option is its value.
    let is_value = |at: usize| at > 0 && before[at - 1].starts_with('-');
    let first = before.iter().enumerate().find(|(at, word)| is_suite(word) && !is_value(*at)).map(|(_, word)| word);
    let target = before.iter().enumerate().find(|(at, word)| !word.starts_with('-') && !is_value(*at));
    let pair = match (first, target) {
        (Some(suite), _) => Some([suite, second]),
        (None, Some((_, target))) if is_suite(second) => Some([second, target]),
        (None, _) => None,
    };
    Some(match pair {
        Some(pair) => {
            let [suite, target] = pair.map(|word| crate::output::operand(std::path::Path::new(word)));
            format!("a run has one target; write assay run --suite {suite} {target}")
        }
        None => {
            let second = assay_core::text::quoted(second);
            format!("a run has one target, and {second} is a second one; run assay once for each")
        }
    })
}

#[cfg(test)]
mod second_targets {
    use clap::Parser;

    use super::second_target;

    #[test]
    fn two_targets_of_a_run_are_refused_with_the_mend() {
        let mend = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let error = crate::cli::Cli::try_parse_from(["assay"].into_iter().chain(line.split(' '))).unwrap_err();
            second_target(&words, &error)
        };
        assert_eq!(
            mend("run job.fio mnt/A").as_deref(),
            Some("a run has one target; write assay run --suite job.fio mnt/A")
        );
        assert_eq!(
            mend("run mnt/A job.fio").as_deref(),
            Some("a run has one target; write assay run --suite job.fio mnt/A")
        );
        assert!(mend("run mnt/A mnt/B").unwrap().contains("`mnt/B` is a second one; run assay once for each"));
        assert!(mend("run --suite x.toml mnt/A mnt/B").unwrap().contains("run assay once for each"));
        assert_eq!(mend("run mnt/A --sute x"), None);
        assert_eq!(mend("info mnt/A mnt/B"), None);
    }
}
