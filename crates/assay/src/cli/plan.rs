//! Arguments of `assay plan`.

use clap::Args;

pub(crate) const EXAMPLES: &str = "\
Examples:
  assay plan";

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}
