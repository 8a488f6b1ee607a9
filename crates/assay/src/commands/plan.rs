//! `assay plan`

use assay_core::exit::Exit;

use crate::cli::PlanArgs;
use crate::failure::Failure;

pub(super) fn plan(args: &PlanArgs) -> Result<Exit, Failure> {
    Err(Failure::usage(format!("not there yet{}", if args.json { "" } else { "." })))
}
