//! `assay man`

use assay_core::exit::Exit;
use clap::CommandFactory;

use crate::cli::{Cli, ManArgs};
use crate::failure::Failure;
use crate::output;

pub(super) fn man(args: &ManArgs) -> Result<Exit, Failure> {
    match &args.dir {
        Some(directory) => {
            std::fs::create_dir_all(directory)
                .and_then(|()| clap_mangen::generate_to(Cli::command(), directory))
                .map_err(|e| Failure::environment(format!("{}: {e}", directory.display())))?;
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Cli::command()).render(&mut page)?;
            output::print(&String::from_utf8_lossy(&page))?;
        }
    }
    Ok(Exit::Good)
}
