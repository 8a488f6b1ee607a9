//! `assay rank`

use assay_core::exit::Exit;

use crate::cli::RankArgs;
use crate::failure::Failure;

pub(super) fn rank(args: &RankArgs) -> Result<Exit, Failure> {
    Err(Failure::usage(format!("not there yet{}", if args.json { "" } else { "." })))
}
