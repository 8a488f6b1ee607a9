//! `assay advise`

use assay_core::exit::Exit;

use crate::cli::AdviseArgs;
use crate::failure::Failure;

pub(super) fn advise(args: &AdviseArgs) -> Result<Exit, Failure> {
    Err(Failure::usage(format!("not there yet{}", if args.json { "" } else { "." })))
}
