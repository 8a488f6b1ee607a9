//! `assay list`

use assay_analysis::aggregate::{Aggregate, aggregate};
use assay_core::exit::Exit;
use assay_core::record::Record;
use assay_report::{Document, Style};
use assay_store::{Detail, Store, StoreError};
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
    let records = if imports::is_file(&args.query) {
        queries::find_all(&[&args.query], Detail::Estimates)?
    } else if let Some(query) = args.query.strip_prefix(assay_analysis::PREFIX) {
        queries::published(query)?
    } else {
        match stored(args)? {
            records if records.is_empty() && !args.json => return Ok(Exit::Good),
            records => records,
        }
    };
    target.deliver(&Listed(target.redacted(records)?), args.json)?;
    Ok(Exit::Good)
}

/// Records of the store. Where there are none, people are told why.
fn stored(args: &ListArgs) -> Result<Vec<Record>, Failure> {
    let store = state::existing()?;
    let named = baselines::of_query(&args.query)?;
    let query = if named.is_some() { "all" } else { &args.query };
    let mut records = match store.as_ref().map(|store| store.observations(query, Detail::Estimates)) {
        None | Some(Err(StoreError::NoMatch { .. })) => Vec::new(),
        Some(records) => records?,
    };
    records.retain(|record| named.as_ref().is_none_or(|ids| ids.contains(&record.id)));
    if records.is_empty() {
        let all = store.is_none_or(|store| store.list("all").is_ok_and(|all| all.is_empty()));
        output::tell(if all { state::EMPTY } else { "no record matches" });
    }
    queries::mark_verified(&mut records)?;
    Ok(records)
}

/// One figure over all runs of each medium.
fn aggregated(args: &ListArgs, how: AggregateArg, target: &Target) -> Result<Exit, Failure> {
    let how = match how {
        AggregateArg::Mean => Aggregate::Mean,
        AggregateArg::Trimmed => Aggregate::Trimmed,
        AggregateArg::Best => Aggregate::Best,
    };
    // With scores, which observations have none of.
    let records: Vec<Record> = queries::find(&[&args.query])?.into_iter().map(|stored| stored.record).collect();
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
        Ok(rows(&self.0))
    }

    fn document(&self) -> Document {
        assay_report::list_document(&self.0)
    }
}
