//! `assay show`

use assay_analysis::percentiles::percentile;
use assay_core::exit::Exit;
use assay_core::record::Measurement;
use assay_core::text;
use assay_store::Stored;

use crate::cli::ShowArgs;
use crate::documents::{LatencyPercentile, LoadPercentiles, RecordPercentiles};
use crate::failure::Failure;
use crate::{output, queries};

/// Percentiles of the latency in place of the cards.
fn percentiles(found: &[Stored], args: &ShowArgs) -> Result<Exit, Failure> {
    let shares = &args.percentiles;
    if !args.json {
        for (number, stored) in found.iter().enumerate() {
            if number > 0 {
                output::print("")?;
            }
            if found.len() > 1 {
                output::print(&assay_report::percentile_heading(&stored.record))?;
            }
            output::print(&assay_report::percentile_lines(&stored.record, shares))?;
        }
        return Ok(Exit::Good);
    }
    let of = |m: &Measurement| {
        let all = shares.iter().map(|share| LatencyPercentile { share: *share, latency_ns: percentile(m, *share) });
        LoadPercentiles { workload: m.workload.name.clone(), percentiles: all.collect() }
    };
    let record = |stored: &Stored| RecordPercentiles {
        record: stored.record.id.clone(),
        workloads: stored.record.measurements.iter().map(of).collect(),
    };
    output::print_json(&found.iter().map(record).collect::<Vec<_>>())?;
    Ok(Exit::Good)
}

pub(super) fn show(args: &ShowArgs) -> Result<Exit, Failure> {
    let found = queries::find(&args.queries)?;
    if !args.percentiles.is_empty() {
        return percentiles(&found, args);
    }
    if args.json {
        let documents: Vec<&str> = found.iter().map(|s| s.document.trim_end()).collect();
        match documents.as_slice() {
            [one] => output::print(&text::json(one))?,
            several => output::print(&text::json(&format!("[{}]", several.join(",\n"))))?,
        }
        return Ok(Exit::Good);
    }
    for (number, stored) in found.iter().enumerate() {
        if number > 0 {
            output::print("")?;
        }
        output::print(&assay_report::card(&stored.record, &output::stdout_style()))?;
    }
    Ok(Exit::Good)
}
