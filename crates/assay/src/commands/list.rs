//! `assay list`

use assay_analysis::aggregate::{Aggregate, aggregate};
use assay_core::exit::Exit;
use assay_core::record::Record;
use assay_report::{Document, Style};
use serde_json::Value;

use crate::answer::{Answer, Target, WITHOUT_PICTURE};
use crate::cli::{AggregateArg, ListArgs};
use crate::failure::Failure;
use crate::{output, queries};

pub(super) fn list(args: &ListArgs) -> Result<Exit, Failure> {
    let target = Target::new(&args.file, WITHOUT_PICTURE)?;
    if let Some(how) = args.aggregate {
        return aggregated(args, how, &target);
    }
    let records = queries::listed(&args.queries)?;
    if records.is_empty() {
        output::tell(queries::nothing(&args.queries)?);
        if !args.json {
            return Ok(Exit::Good);
        }
    }
    target.deliver(&Listed(target.redacted(records)?), args.json)?;
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
    let records: Vec<Record> = queries::find(&args.queries)?.into_iter().map(|stored| stored.record).collect();
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
        output::json(&assay_report::listed(&self.0))
    }

    fn document(&self) -> Document {
        assay_report::list_document(&self.0)
    }
}
