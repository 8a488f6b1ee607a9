//! `assay list`

use assay_core::exit::Exit;
use assay_store::Store;
use serde_json::{Value, json};

use crate::cli::ListArgs;
use crate::failure::Failure;
use crate::{output, state};

pub(super) fn list(args: &ListArgs) -> Result<Exit, Failure> {
    let Some(store) = state::existing()? else {
        if args.json {
            output::print("[]")?;
        } else {
            output::tell(state::EMPTY);
        }
        return Ok(Exit::Good);
    };
    let summaries = store.list(&args.query)?;
    if args.json {
        let rows: Vec<Value> = summaries
            .iter()
            .map(|s| {
                json!({
                    "id": s.id, "created": s.created, "medium": s.title, "kind": s.kind, "unit": s.unit,
                    "host": s.host, "slot": s.slot, "suite": s.suite, "outcome": s.outcome,
                    "verdict": s.verdict, "labels": s.labels,
                })
            })
            .collect();
        output::print_json(&Value::Array(rows))?;
        return Ok(Exit::Good);
    }
    if summaries.is_empty() {
        let all = store.list("all").is_ok_and(|all| all.is_empty());
        output::tell(if all { state::EMPTY } else { "no record matches" });
        return Ok(Exit::Good);
    }
    let records: Vec<_> =
        summaries.iter().map(|s| store.load(&s.id).map(|stored| stored.record)).collect::<Result<_, _>>()?;
    output::print(&assay_report::list(&records, &output::stdout_style()))?;
    Ok(Exit::Good)
}
