//! `assay compare`

use assay_core::exit::Exit;

use crate::cli::CompareArgs;
use crate::failure::Failure;

pub(super) fn compare(args: &CompareArgs) -> Result<Exit, Failure> {
    Err(Failure::usage(format!("not there yet{}", if args.json { "" } else { "." })))
}
