//! `assay label`

use std::collections::BTreeMap;

use assay_core::exit::Exit;
use assay_core::text::clean;
use assay_store::Store;

use crate::cli::LabelArgs;
use crate::documents::LabelDocument;
use crate::failure::Failure;
use crate::{output, queries, state};

pub(super) fn label(args: &LabelArgs) -> Result<Exit, Failure> {
    let Some(mut store) = state::existing()? else {
        return Err(Failure::usage(state::EMPTY));
    };
    let mut labels: BTreeMap<String, Option<String>> = BTreeMap::new();
    for (key, value) in &args.labels {
        if labels.insert(key.clone(), value.clone()).is_some_and(|other| other != *value) {
            return Err(Failure::usage(format!("label {} is given twice, with different values", clean(key))));
        }
    }
    let ids = queries::resolve(&store, std::slice::from_ref(&args.query))?;
    let changed = store.relabel(&ids, &labels)?;
    if args.json {
        output::print_json(&LabelDocument { records: ids, changed, labels })?;
    } else {
        let word = |count: usize| if count == 1 { "record" } else { "records" };
        let same = match ids.len() - changed.len() {
            0 => String::new(),
            same => format!("; {same} {} needed no change", word(same)),
        };
        output::tell(&format!("changed {} {}{same}", changed.len(), word(changed.len())));
    }
    Ok(Exit::Good)
}
