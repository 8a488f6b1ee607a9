//! Arguments of `assay powercut`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use assay_core::units::Bytes;
use clap::Args;

use super::values;

pub(crate) const EXAMPLES: &str = "\
Examples:
  assay powercut /dev/sdX --overwrite /dev/sdX
                                     writes until you cut the power of the
                                     device, and checks it when it is back
  assay powercut --resume /dev/sdX --cuts 59 --cut-command 'sh cycle.sh'
                                     goes on, and cuts by a command at random
                                     moments
  assay powercut /mnt/card --ledger /mnt/other
                                     a file on a file system; acknowledgements
                                     are kept on another disk
  assay powercut --listen 192.168.1.5:7654 --key-file key
                                     on another machine: keeps the
                                     acknowledgements
  assay powercut /mnt/card --ledger 192.168.1.5:7654 --key-file key
                                     for cuts of the whole host
  assay powercut --check /dev/sdX    after the host lost its power
  assay powercut --status            all tests";

#[derive(Debug, Args)]
pub(crate) struct PowercutArgs {
    /// Raw device, or directory on the medium
    #[arg(required_unless_present_any = ["status", "listen"])]
    pub(crate) target: Option<PathBuf>,

    /// Allow overwriting a raw device that holds data, by naming it once more
    #[arg(long, value_name = "DEVICE")]
    pub(crate) overwrite: Option<PathBuf>,

    /// Size of the test area, like 256MiB; the load writes half of it, the other half is older data
    #[arg(long, value_name = "SIZE", default_value = "64MiB")]
    pub(crate) size: Bytes,

    /// Place for the list of acknowledged writes: a directory on another disk, or HOST:PORT of --listen; by default assay's data
    /// directory
    #[arg(long, value_name = "DIR|HOST:PORT")]
    pub(crate) ledger: Option<PathBuf>,

    /// File with the key that both machines share; --listen makes the file if it is missing
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,

    /// Address that tests on other machines send their lists of acknowledged writes to
    #[arg(long, value_name = "ADDRESS:PORT", requires = "key_file",
          conflicts_with_all = ["target", "overwrite", "cut_command", "check", "resume", "status", "json", "labels"])]
    pub(crate) listen: Option<SocketAddr>,

    /// Shell command that cuts the power and restores it: by a smart plug, a hub port or a relay
    #[arg(long, value_name = "COMMAND")]
    pub(crate) cut_command: Option<String>,

    /// Run --cut-command at a random moment within this time
    #[arg(long, value_name = "TIME", default_value = "20s", requires = "cut_command", value_parser = cut_within)]
    pub(crate) cut_within: Duration,

    /// Number of cuts
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = values::count(1..=100_000))]
    pub(crate) cuts: u32,

    /// Writers at the same time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = values::count(1..=64))]
    pub(crate) writers: u32,

    /// Check the medium after a cut; write nothing to it
    #[arg(long, conflicts_with_all = ["overwrite", "size", "cut_command", "cuts", "writers", "labels"])]
    pub(crate) check: bool,

    /// Resume a test, which assay finds by what is on the medium: check it, and go on
    #[arg(long, conflicts_with_all = ["check", "size", "writers", "labels"])]
    pub(crate) resume: bool,

    /// Show all tests; write nothing
    #[arg(long, conflicts_with_all = ["target", "overwrite", "size", "cut_command", "cuts", "writers", "check", "resume", "labels"])]
    pub(crate) status: bool,

    /// Longest wait for a medium after a cut
    #[arg(long, value_name = "TIME", default_value = "30m", value_parser = wait)]
    pub(crate) wait: Duration,

    /// Time without a completed operation after which the medium counts as hung
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = values::hang_after)]
    pub(crate) hang_after: Duration,

    /// Label of the record, like model=…, unit=…, slot=… or price=12.90USD; repeat for more
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = values::label)]
    pub(crate) labels: Vec<(String, String)>,

    /// Print one JSON document: the test
    #[arg(long)]
    pub(crate) json: bool,

    /// No progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

fn cut_within(text: &str) -> Result<Duration, String> {
    values::time(Duration::from_secs(1)..=Duration::from_secs(24 * 3600), "1s to 24h")(text)
}

fn wait(text: &str) -> Result<Duration, String> {
    values::time(Duration::ZERO..=Duration::from_secs(30 * 86_400), "0s to 30d")(text)
}
