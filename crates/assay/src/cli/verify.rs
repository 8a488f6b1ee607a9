//! Arguments of `assay verify`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use assay_core::units::Bytes;

pub(crate) const EXAMPLES: &str = "\
Examples:
  assay verify /mnt/card                    fill the free space, read it back: hours, and certain
  assay verify --quick /mnt/card            places all over the free space: seconds to minutes
  assay verify --quick /dev/sdX             real size and kind of fake; every block is put back
  assay verify --restore undo.journal /dev/sdX
                                            put back after a crash or a pulled plug
  assay verify --discard undo.journal       give up what a journal holds
  assay verify --resume /mnt/card           go on with a check that was interrupted
  assay verify --only read /mnt/card        read again what f3write, H2testw or --keep left
  assay verify --remove /mnt/card           remove what a killed check or run left";

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// Directory where the medium is mounted, or with --quick a device
    #[arg(default_value = ".")]
    pub(crate) target: PathBuf,

    /// Look at places all over instead of everything
    #[arg(long, conflicts_with_all = ["restore", "resume", "keep", "only", "limit", "until"])]
    pub(crate) quick: bool,

    /// Put back what a quick probe of TARGET overwrote and could not put back
    #[arg(long, value_name = "JOURNAL", conflicts_with_all = ["resume", "keep", "only", "limit", "until"])]
    pub(crate) restore: Option<PathBuf>,

    /// With --restore: leave the places that hold newer data, put back the others
    #[arg(long, requires = "restore")]
    pub(crate) keep_newer: bool,

    /// Give up what a journal holds; asks for its name
    #[arg(long, value_name = "JOURNAL", conflicts_with_all = ["quick", "restore", "resume", "keep", "only", "limit", "until"])]
    pub(crate) discard: Option<PathBuf>,

    /// Where a quick probe of a device saves what it overwrites; on another disk
    #[arg(long, value_name = "FILE", requires = "quick")]
    pub(crate) journal: Option<PathBuf>,

    /// Go on with a check that was interrupted
    #[arg(long, conflicts_with_all = ["only", "limit"])]
    pub(crate) resume: bool,

    /// Remove what a killed check or run, or --keep, left in TARGET; check nothing
    #[arg(long, conflicts_with_all = ["quick", "restore", "resume", "keep", "only", "limit", "until", "output"])]
    pub(crate) remove: bool,

    /// Leave the files on the medium
    #[arg(long)]
    pub(crate) keep: bool,

    /// Write nothing: read files that are there
    #[arg(long, value_enum, value_name = "PASS")]
    pub(crate) only: Option<OnlyArg>,

    /// Check no more than this, like 4GiB
    #[arg(long, value_name = "SIZE")]
    pub(crate) limit: Option<Bytes>,

    /// Format of the files: salted, which no earlier check and no compression answers for, or f3, which f3read
    /// and H2testw read
    #[arg(long, value_enum, value_name = "FORMAT", conflicts_with_all = ["quick", "restore", "resume", "only"])]
    pub(crate) format: Option<ContentArg>,

    /// A cache of the medium up to this size hides nothing; 64MiB unless said
    #[arg(long, value_name = "SIZE")]
    pub(crate) cache: Option<Bytes>,

    /// Fill the file system of /, /home, /var, of swap files or of assay's own records, too
    #[arg(long, conflicts_with_all = ["restore", "only"])]
    pub(crate) fill_system: bool,

    /// End at the first place whose data are lost
    #[arg(long, value_enum, value_name = "WHEN")]
    pub(crate) until: Option<UntilArg>,

    /// Without an answer for this long the medium hangs, like 10s or 2m
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = super::hang_after)]
    pub(crate) hang_after: std::time::Duration,

    /// Free label, like model=…, unit=… or price=12.90USD; repeat for more
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = super::label)]
    pub(crate) labels: Vec<(String, String)>,

    /// Write the report here too; the extension chooses .html, .md, .csv or .json
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Do not keep the record in the store
    #[arg(long)]
    pub(crate) no_save: bool,

    /// Print the record as one JSON document
    #[arg(long)]
    pub(crate) json: bool,

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
    /// Of this check alone
    Salted,
    /// The sequence of f3 and H2testw
    F3,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum UntilArg {
    /// The first place whose data are lost
    FirstError,
}
