//! `assay report`

use std::path::Path;

use assay_core::exit::Exit;
use assay_core::record::Record;
use assay_report::{Format, Redactor, render};
use serde_json::{Value, json};

use crate::cli::{FormatArg, ReportArgs};
use crate::failure::Failure;
use crate::{output, state};

pub(super) fn report(args: &ReportArgs) -> Result<Exit, Failure> {
    let to_stdout = args.output.as_os_str() == "-";
    let format = match args.format {
        Some(format) => chosen(format),
        None if to_stdout => {
            return Err(Failure::usage("standard output has no extension; add --format html, md, csv or json"));
        }
        None => Format::from_path(&args.output).map_err(|e| Failure::usage(e.to_string()))?,
    };
    if args.json && to_stdout {
        return Err(Failure::usage("--json and a report on standard output do not go together; name a file"));
    }
    let found = state::find(&args.query)?;
    let redactor = state::redactor(state::existing()?.as_mut(), args.identities)?;
    if !to_stdout {
        state::check_writable(&args.output)?;
    }
    let text = match format {
        // From the documents themselves, so that fields this version does not know are kept.
        Format::Json => documents(found.iter().map(|s| s.document.as_str()), &redactor)?,
        other => {
            let records: Vec<Record> = found.iter().map(|s| redactor.record(&s.record)).collect();
            render(other, &records)
        }
    };
    if to_stdout {
        output::print(&text)?;
    } else {
        state::write_whole(&args.output, &text)?;
        if args.json {
            let ids: Vec<&str> = found.iter().map(|s| s.record.id.as_str()).collect();
            // As text: a name need not be UTF-8, and JSON is.
            let file = args.output.to_string_lossy();
            output::print_json(&json!({ "file": file, "records": ids, "bytes": text.len() }))?;
        } else {
            output::tell(&format!("wrote {}", output::shown(&args.output)));
        }
    }
    Ok(Exit::Good)
}

fn chosen(format: FormatArg) -> Format {
    match format {
        FormatArg::Html => Format::Html,
        FormatArg::Md => Format::Markdown,
        FormatArg::Csv => Format::Csv,
        FormatArg::Json => Format::Json,
    }
}

fn documents<'a>(texts: impl Iterator<Item = &'a str>, redactor: &Redactor) -> Result<String, Failure> {
    let mut all: Vec<Value> = Vec::new();
    for text in texts {
        let mut value: Value = serde_json::from_str(text)
            .map_err(|e| Failure::environment(format!("a stored record is not JSON: {e}")))?;
        redactor.value(&mut value);
        all.push(value);
    }
    let whole = if all.len() == 1 { all.swap_remove(0) } else { Value::Array(all) };
    Ok(format!("{whole:#}\n"))
}

/// Writes a report of one record to a file whose format its extension says.
pub(super) fn write_one(record: &Record, redactor: &Redactor, path: &Path) -> Result<(), Failure> {
    let format = Format::from_path(path).map_err(|e| Failure::usage(e.to_string()))?;
    state::write_whole(path, &render(format, &[redactor.record(record)]))
}
