//! `assay verify`

use assay_core::exit::Exit;

use crate::cli::VerifyArgs;
use crate::failure::Failure;

pub(super) fn verify(args: &VerifyArgs) -> Result<Exit, Failure> {
    Err(Failure::usage(format!("not there yet{}", if args.json { "" } else { "." })))
}
