//! Arguments of `assay verify`.

use std::path::PathBuf;

use assay_core::units::Bytes;
use clap::{Args, ValueEnum};

pub(crate) const EXAMPLES: &str = "\
Examples:
  assay verify /mnt/card                    fill the free space and read it back
  assay verify --quick /mnt/card            samples over the free space: minutes
  assay verify --quick /dev/sdX             real size and kind of fake
  assay verify --restore undo.journal /dev/sdX
                                            restore after a crash or power loss
  assay verify --discard undo.journal       delete a journal
  assay verify --resume /mnt/card           resume an interrupted check
  assay verify --only read /mnt/card        read files of f3write or H2testw
  assay verify --read-back /mnt/card        read what --keep left, months later
  assay verify --remove /mnt/card           remove files of a killed check";

#[derive(Debug, Clone, Args)]
pub(crate) struct VerifyArgs {
    /// Directory where the medium is mounted, or with --quick a device
    #[arg(default_value = ".")]
    pub(crate) target: PathBuf,

    /// Check samples over the whole capacity instead of every sector
    #[arg(long, conflicts_with_all = ["restore", "resume", "keep", "only", "bytes", "until"])]
    pub(crate) quick: bool,

    /// Restore the blocks that an interrupted quick probe of TARGET overwrote
    #[arg(long, value_name = "JOURNAL", conflicts_with_all = ["resume", "keep", "only", "bytes", "until"])]
    pub(crate) restore: Option<PathBuf>,

    /// With --restore: keep sectors that hold newer data, restore the others
    #[arg(long, requires = "restore")]
    pub(crate) keep_newer: bool,

    /// Delete a journal and the blocks saved in it; asks for its name
    #[arg(long, value_name = "JOURNAL", conflicts_with_all = ["quick", "restore", "resume", "keep", "only", "bytes", "until"])]
    pub(crate) discard: Option<PathBuf>,

    /// File for the blocks that a quick probe of a device overwrites; on another disk
    #[arg(long, value_name = "FILE", requires = "quick")]
    pub(crate) journal: Option<PathBuf>,

    /// Resume a check that was interrupted
    #[arg(long, conflicts_with_all = ["only", "bytes"])]
    pub(crate) resume: bool,

    /// Remove the files that a killed check or run, or --keep, left in TARGET; check nothing
    #[arg(long, conflicts_with_all = ["quick", "restore", "resume", "keep", "only", "bytes", "until", "output"])]
    pub(crate) remove: bool,

    /// Leave the files on the medium
    #[arg(long)]
    pub(crate) keep: bool,

    /// Write nothing: read files that are there
    #[arg(long, value_enum, value_name = "PASS")]
    pub(crate) only: Option<OnlyArg>,

    /// Read what an earlier check wrote with --keep: losses and read speed by age
    #[arg(long, conflicts_with_all = ["quick", "restore", "discard", "journal", "resume", "remove", "keep", "only", "bytes", "until", "content", "cache", "fill_system"])]
    pub(crate) read_back: bool,

    /// Check at most this much, like 4GiB
    #[arg(long, value_name = "SIZE")]
    pub(crate) bytes: Option<Bytes>,

    /// Content of the files: salted (random, not compressible), or f3 for f3read and H2testw
    #[arg(long, value_enum, value_name = "CONTENT", conflicts_with_all = ["quick", "restore", "resume", "only"])]
    pub(crate) content: Option<ContentArg>,

    /// Bytes written before reading back, so that the cache of the medium cannot answer; 64MiB by default
    #[arg(long, value_name = "SIZE")]
    pub(crate) cache: Option<Bytes>,

    /// Allow filling memory, or the file system of /, /home, /var, of swap files or of assay's own records
    #[arg(long, conflicts_with_all = ["restore", "only"])]
    pub(crate) fill_system: bool,

    /// Stop at the first sector whose data are lost
    #[arg(long, value_enum, value_name = "WHEN")]
    pub(crate) until: Option<UntilArg>,

    /// Time without a completed operation after which the medium counts as hung
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = super::values::hang_after)]
    pub(crate) hang_after: std::time::Duration,

    /// Label of the record, like model=…, unit=…, slot=… or price=12.90USD; repeat for more
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = super::values::label)]
    pub(crate) labels: Vec<(String, String)>,

    /// Also write a report; the extension chooses .html, .md, .csv or .json
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Do not keep the record in the store
    #[arg(long)]
    pub(crate) no_save: bool,

    /// Print one JSON document: the record
    #[arg(long, conflicts_with = "events")]
    pub(crate) json: bool,

    /// Print events as JSON lines while it runs
    #[arg(long, conflicts_with_all = ["restore", "discard", "remove"])]
    pub(crate) events: bool,

    /// Check everything, show what would be done, write nothing
    #[arg(long, conflicts_with_all = ["restore", "discard", "remove", "resume", "events", "output", "json"])]
    pub(crate) dry_run: bool,

    /// No progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnlyArg {
    /// Only read files that are there
    Read,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ContentArg {
    /// Random data, different in each check
    Salted,
    /// The sequence of f3 and H2testw
    F3,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum UntilArg {
    /// The first sector whose data are lost
    FirstError,
}
