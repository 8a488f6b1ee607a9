//! `assay list` of a node: the records of its store, as text or JSON.

use assay_core::exit::Exit;
use assay_store::{Detail, Store, StoreError};

use super::rows::rows;
use crate::cli::ListArgs;
use crate::failure::Failure;
use crate::{output, queries, state};

pub(super) fn list(args: &ListArgs) -> Result<Exit, Failure> {
    queries::refuse_elsewhere(&args.query)?;
    let store = state::existing()?;
    let mut records = match store.as_ref().map(|store| store.observations(&args.query, Detail::Estimates)) {
        None | Some(Err(StoreError::NoMatch { .. })) => Vec::new(),
        Some(records) => records?,
    };
    queries::mark_verified(&mut records)?;
    if args.json {
        return output::print_json(&rows(&records)).map(|()| Exit::Good);
    }
    if records.is_empty() {
        let all = store.is_none_or(|store| store.list("all").is_ok_and(|all| all.is_empty()));
        output::tell(if all { state::EMPTY } else { "no record matches" });
        return Ok(Exit::Good);
    }
    output::print(&assay_report::list(&records, &output::stdout_style()))?;
    Ok(Exit::Good)
}
