//! `assay list` of a node: the records of its store, as text or JSON.

use assay_core::exit::Exit;

use crate::cli::ListArgs;
use crate::failure::Failure;
use crate::{output, queries};

pub(super) fn list(args: &ListArgs) -> Result<Exit, Failure> {
    let records = queries::listed(&args.queries)?;
    if args.json {
        return output::print_json(&assay_report::listed(&records)).map(|()| Exit::Good);
    }
    if records.is_empty() {
        output::tell(queries::nothing(&args.queries)?);
        return Ok(Exit::Good);
    }
    output::print(&assay_report::list(&records, &output::stdout_style()))?;
    Ok(Exit::Good)
}
