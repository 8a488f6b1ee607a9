//! `assay show`

use assay_core::exit::Exit;
use assay_core::text;

use crate::cli::ShowArgs;
use crate::failure::Failure;
use crate::{output, state};

pub(super) fn show(args: &ShowArgs) -> Result<Exit, Failure> {
    let found = state::find(&args.query)?;
    if args.json {
        let documents: Vec<&str> = found.iter().map(|s| s.document.trim_end()).collect();
        match documents.as_slice() {
            [one] => output::print(&text::json(one))?,
            several => output::print(&text::json(&format!("[{}]", several.join(",\n"))))?,
        }
        return Ok(Exit::Good);
    }
    for stored in &found {
        output::print(&assay_report::card(&stored.record, &output::stdout_style()))?;
    }
    Ok(Exit::Good)
}
