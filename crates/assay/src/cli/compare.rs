//! Arguments of `assay compare`.

use clap::Args;

pub(crate) const EXAMPLES: &str = "\
Examples:
  assay compare";

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}
