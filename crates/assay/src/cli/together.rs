//! Arguments of `assay run` about other nodes.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use jiff::Timestamp;

#[derive(Debug, Args)]
pub(crate) struct TogetherArgs {
    /// Begin each repeat together with other nodes, by the coordinator at this address or Unix socket (assay fleet run starts one)
    #[arg(long, value_name = "HOST:PORT|PATH", requires_all = ["node", "fleet_run"],
          conflicts_with_all = ["resume", "crosscheck", "confidence", "dry_run"])]
    pub(crate) rendezvous: Option<String>,

    /// Name of this node
    #[arg(long, value_name = "NAME", requires = "rendezvous")]
    pub(crate) node: Option<String>,

    /// The run that this node takes part in
    #[arg(long, value_name = "RUN", requires = "rendezvous")]
    pub(crate) fleet_run: Option<String>,

    /// File with the key of this node in that run, in place of the environment variable ASSAY_FLEET_KEY
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "rendezvous")]
    pub(crate) rendezvous_key: Option<PathBuf>,

    /// Begin the first repeat at this time of day, like 2026-11-23T12:00:00Z; the clocks of several hosts have to agree
    #[arg(long, value_name = "TIME", conflicts_with_all = ["rendezvous", "resume", "dry_run"])]
    pub(crate) start_at: Option<Timestamp>,
}
