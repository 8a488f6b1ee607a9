//! `assay completions`

use assay_core::exit::Exit;
use clap::CommandFactory;

use crate::cli::{Cli, CompletionsArgs};
use crate::failure::Failure;
use crate::output;

pub(super) fn completions(args: &CompletionsArgs) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "assay", &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Good)
}
