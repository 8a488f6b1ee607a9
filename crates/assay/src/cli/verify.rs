//! Arguments of `assay verify`.

use clap::Args;

pub(crate) const EXAMPLES: &str = "\
Examples:
  assay verify";

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}
