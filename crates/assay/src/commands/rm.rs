//! `assay rm`

use assay_core::exit::Exit;
use assay_store::Store;

use super::finished::REPORTS;
use crate::cli::RmArgs;
use crate::data_directory::DataDirectory;
use crate::documents::RemovedRecords;
use crate::failure::Failure;
use crate::{output, queries, state};

pub(super) fn rm(args: &RmArgs) -> Result<Exit, Failure> {
    let Some(mut store) = state::existing()? else {
        return Err(Failure::usage("the store is empty; there is nothing to remove"));
    };
    // All of them are looked up before the first is removed: a typing error removes nothing.
    if queries::divided(&args.queries)?.into_iter().any(|query| ["", "all"].contains(&query.trim())) {
        return Err(Failure::usage("rm does not take `all`; name the records, or remove the store's file"));
    }
    let ids = queries::resolve(&store, &args.queries)?;
    // A star in a value may name everything: `suite=*`.
    if args.queries.iter().any(|query| query.contains('*')) && ids.len() > 1 && ids.len() == store.list("all")?.len() {
        return Err(Failure::usage("these queries name every record; name the records, or remove the store's file"));
    }
    let reports = DataDirectory::existing(REPORTS).ok().flatten();
    for id in &ids {
        store.remove(id)?;
        let _ = reports.as_ref().map(|reports| reports.remove(&format!("{id}.html")));
    }
    if args.json {
        output::print_json(&RemovedRecords { removed: ids })?;
    } else {
        output::tell(&format!("removed {}", ids.join(", ")));
    }
    Ok(Exit::Good)
}
