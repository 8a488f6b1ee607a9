//! Arguments of `assay rank`.

use clap::Args;

pub(crate) const EXAMPLES: &str = "\
Examples:
  assay rank";

#[derive(Debug, Args)]
pub(crate) struct RankArgs {
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}
