//! Arguments of `assay baseline`.

use clap::{Args, Subcommand, ValueHint};

pub(super) const EXAMPLES: &str = "\
Examples:
  assay baseline set main last               the last run as the reference
  assay baseline set main build=main         all runs with this label
  assay compare baseline:main last --fail-if 'slower than 5%'
  assay baseline list
  assay baseline rm main                     the name; its records stay

A baseline names records as they are now; later ones do not join it.";

const SET_EXAMPLES: &str = "\
Examples:
  assay baseline set main last
  assay baseline set main build=main";
const LIST_EXAMPLES: &str = "\
Examples:
  assay baseline list
  assay baseline list main release --json";
const RM_EXAMPLES: &str = "\
Examples:
  assay baseline rm main";

#[derive(Debug, Args)]
pub(crate) struct BaselineArgs {
    /// What to do with baselines.
    #[command(subcommand)]
    pub(crate) command: BaselineCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BaselineCommand {
    /// Give records a name, replacing those that had it
    #[command(after_help = SET_EXAMPLES)]
    Set {
        /// Name: letters, digits, `-`, `_` and `.`
        name: String,
        #[arg(required = true, value_name = "QUERY", value_hint = ValueHint::Other,
              help = stored_query_help!("Which records"))]
        queries: Vec<String>,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// List baselines and their records
    #[command(after_help = LIST_EXAMPLES)]
    List {
        /// Only the baselines of these names
        #[arg(value_name = "NAME", value_hint = ValueHint::Other)]
        names: Vec<String>,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Remove the name of a baseline; its records stay
    #[command(after_help = RM_EXAMPLES)]
    Rm {
        /// Name
        name: String,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
}
