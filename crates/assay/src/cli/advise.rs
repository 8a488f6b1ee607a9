//! Arguments of `assay advise`.

use clap::Args;

pub(crate) const EXAMPLES: &str = "\
Examples:
  assay advise";

#[derive(Debug, Args)]
pub(crate) struct AdviseArgs {
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}
