//! `assay export`

use std::path::Path;

use assay_core::exit::Exit;
use assay_store::{SqliteStore, Store};
use serde_json::Value;

use crate::cli::ExportArgs;
use crate::documents::{self, ExportDocument};
use crate::failure::Failure;
use crate::{output, queries, state};

/// Records that are written in one transaction: of long soaks, some hundred megabytes.
const AT_ONCE: usize = 50;

pub(super) fn export(args: &ExportArgs) -> Result<Exit, Failure> {
    let shown = output::shown(&args.store);
    if !is_free(&args.store)? {
        return Err(Failure::usage(format!("{shown} is not empty; name a directory that is not there yet")));
    }
    let store = state::existing()?.ok_or_else(|| Failure::usage(state::EMPTY))?;
    let ids = queries::resolve(&store, &args.queries)?;
    let redactor = state::redactor(args.identities)?;
    let mut copy = SqliteStore::open(&args.store)?;
    for some in ids.chunks(AT_ONCE) {
        let mut documents = Vec::with_capacity(some.len());
        for id in some {
            let stored = store.load(id)?;
            documents.push(if args.identities { stored.document } else { redacted(&stored.document, &redactor)? });
        }
        let texts: Vec<&str> = documents.iter().map(String::as_str).collect();
        for saved in copy.save_documents(&texts)? {
            saved?;
        }
    }
    if args.json {
        output::print_json(&ExportDocument { store: documents::path(&args.store), records: ids })?;
    } else {
        let records = if ids.len() == 1 { "record" } else { "records" };
        output::tell_wrapped(&format!(
            "wrote {} {records} to {shown}; read it with: assay import {}",
            ids.len(),
            output::operand(&args.store)
        ));
    }
    Ok(Exit::Good)
}

/// The document without identities.
fn redacted(document: &str, redactor: &assay_report::Redactor) -> Result<String, Failure> {
    let mut value: Value = serde_json::from_str(document)
        .map_err(|e| Failure::environment(format!("a stored record is not JSON: {e}")))?;
    redactor.value(&mut value);
    Ok(value.to_string())
}

/// Whether nothing would be lost there.
fn is_free(directory: &Path) -> Result<bool, Failure> {
    match directory.read_dir() {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(Failure::usage(format!("{} cannot be written: {error}", output::shown(directory)))),
    }
}
