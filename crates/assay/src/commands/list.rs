//! `assay list`

use assay_core::exit::Exit;
use assay_core::record::Record;
use assay_report::{Document, Style};
use assay_store::{Store, Summary};
use serde_json::{Value, json};

use crate::answer::{Answer, Target, WITHOUT_PICTURE};
use crate::cli::ListArgs;
use crate::failure::Failure;
use crate::{baselines, output, state};

pub(super) fn list(args: &ListArgs) -> Result<Exit, Failure> {
    let target = Target::new(&args.file, WITHOUT_PICTURE)?;
    let store = state::existing()?;
    let summaries = match (&store, baselines::of_query(&args.query)?) {
        (None, _) => Vec::new(),
        (Some(store), Some(ids)) => store.list("all")?.into_iter().filter(|s| ids.contains(&s.id)).collect(),
        (Some(store), None) => store.list(&args.query)?,
    };
    if args.json {
        return output::print_json(&rows(&summaries)).map(|()| Exit::Good);
    }
    let Some(store) = store.filter(|_| !summaries.is_empty()) else {
        let all = state::existing()?.is_none_or(|store| store.list("all").is_ok_and(|all| all.is_empty()));
        output::tell(if all { state::EMPTY } else { "no record matches" });
        return Ok(Exit::Good);
    };
    let records = summaries.iter().map(|s| store.load(&s.id).map(|stored| stored.record)).collect::<Result<_, _>>()?;
    target.deliver(&Listed(target.redacted(records)?), false)?;
    Ok(Exit::Good)
}

struct Listed(Vec<Record>);

impl Answer for Listed {
    fn text(&self, style: &Style) -> String {
        assay_report::list(&self.0, style)
    }

    fn json(&self) -> Result<Value, Failure> {
        Ok(rows(&self.0.iter().map(summary).collect::<Vec<_>>()))
    }

    fn document(&self) -> Document {
        assay_report::list_document(&self.0)
    }
}

fn rows(summaries: &[Summary]) -> Value {
    let row = |s: &Summary| {
        json!({
            "id": s.id, "created": s.created, "medium": s.title, "kind": s.kind, "unit": s.unit,
            "host": s.host, "slot": s.slot, "suite": s.suite, "outcome": s.outcome,
            "verdict": s.verdict, "labels": s.labels,
        })
    };
    summaries.iter().map(row).collect()
}

/// What the store says of a record, of one that may be shared.
fn summary(record: &Record) -> Summary {
    Summary {
        id: record.id.clone(),
        created: record.created.clone(),
        title: record.medium.title(),
        kind: record.medium.kind,
        unit: record.medium.unit.clone(),
        host: record.host.hostname.clone(),
        slot: record.host.slot.clone(),
        suite: record.suite.name.clone(),
        outcome: record.outcome.clone(),
        verdict: record.validity.verdict,
        labels: record.labels.clone(),
    }
}
