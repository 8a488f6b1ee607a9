//! Arguments of `assay export`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

pub(crate) const EXAMPLES: &str = "\
Examples:
  assay export --store /mnt/stick/records     all records, without identities
  assay export --store backup --identities    all of them, as they are
  assay export --store cards model='SanDisk Ultra A1'
  assay import /mnt/stick/records             on the other machine

Forms for other programs: assay report --format.";

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Directory for a new store; it must be empty, or not be there
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) store: PathBuf,

    #[arg(default_value = "all", value_name = "QUERY", value_hint = ValueHint::Other,
          help = stored_query_help!("Which records"))]
    pub(crate) queries: Vec<String>,

    /// Keep serial numbers, host names, addresses and paths instead of short names for them
    #[arg(long)]
    pub(crate) identities: bool,

    /// Print one JSON document: what was written
    #[arg(long)]
    pub(crate) json: bool,
}
