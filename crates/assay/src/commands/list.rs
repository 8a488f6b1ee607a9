//! `assay list`

use assay_analysis::aggregate::{Aggregate, aggregate};
use assay_core::exit::Exit;
use assay_core::record::Record;
use assay_report::{Document, Style};
use assay_store::{Detail, Store, StoreError, Summary};
use serde_json::Value;

use super::rows::rows;
use crate::answer::{Answer, Target, WITHOUT_PICTURE};
use crate::cli::{AggregateArg, ListArgs};
use crate::failure::Failure;
use crate::{baselines, imports, output, queries, state};

pub(super) fn list(args: &ListArgs) -> Result<Exit, Failure> {
    let target = Target::new(&args.file, WITHOUT_PICTURE)?;
    if let Some(how) = args.aggregate {
        return aggregated(args, how, &target);
    }
    if imports::is_file(&args.query) {
        let listed = Listed(target.redacted(queries::find_all(&[&args.query], Detail::Estimates)?)?);
        target.deliver(&listed, args.json)?;
        return Ok(Exit::Good);
    }
    if let Some(query) = args.query.strip_prefix(assay_analysis::PREFIX) {
        let listed = Listed(queries::published(query)?);
        if args.json {
            return output::print_json(&listed.json()?).map(|()| Exit::Good);
        }
        target.deliver(&listed, false)?;
        return Ok(Exit::Good);
    }
    let store = state::existing()?;
    let named = baselines::of_query(&args.query)?;
    let query = if named.is_some() { "all" } else { &args.query };
    let wanted = |id: &String| named.as_ref().is_none_or(|ids| ids.contains(id));
    if args.json {
        let mut summaries = store.map_or_else(|| Ok(Vec::new()), |store| store.list(query))?;
        summaries.retain(|summary| wanted(&summary.id));
        return output::print_json(&rows(&summaries)).map(|()| Exit::Good);
    }
    let mut records = match store.as_ref().map(|store| store.observations(query, Detail::Estimates)) {
        None | Some(Err(StoreError::NoMatch { .. })) => Vec::new(),
        Some(records) => records?,
    };
    records.retain(|record| wanted(&record.id));
    if records.is_empty() {
        let all = store.is_none_or(|store| store.list("all").is_ok_and(|all| all.is_empty()));
        output::tell(if all { state::EMPTY } else { "no record matches" });
        return Ok(Exit::Good);
    }
    target.deliver(&Listed(target.redacted(records)?), false)?;
    Ok(Exit::Good)
}

/// One figure over all runs of each medium.
fn aggregated(args: &ListArgs, how: AggregateArg, target: &Target) -> Result<Exit, Failure> {
    let how = match how {
        AggregateArg::Mean => Aggregate::Mean,
        AggregateArg::Trimmed => Aggregate::Trimmed,
        AggregateArg::Best => Aggregate::Best,
    };
    // With scores, which observations have none of.
    let records: Vec<Record> = queries::find(&args.query)?.into_iter().map(|stored| stored.record).collect();
    let (rows, left_out) = aggregate(&target.redacted(records)?, how);
    if let (true, Some(first)) = (rows.is_empty(), left_out.first()) {
        return Err(Failure::usage(format!("none of these {} records {}", left_out.len(), first.reason)));
    }
    target.deliver(&assay_report::aggregates(&rows, &left_out, how), args.json)?;
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
