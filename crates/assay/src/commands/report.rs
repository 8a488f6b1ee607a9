//! `assay report`

use assay_core::exit::Exit;
use assay_core::record::Record;
use assay_core::text::{self, harmless};
use assay_report::{Format, Redactor, View, render};
use serde_json::{Value, json};

use crate::cli::ReportArgs;
use crate::failure::Failure;
use crate::{files, output, queries, state};

pub(super) fn report(args: &ReportArgs) -> Result<Exit, Failure> {
    let to_stdout = args.output.as_os_str() == "-";
    let format = match args.format {
        Some(format) => format,
        None if to_stdout => {
            return Err(Failure::usage(
                "standard output has no extension; add --format html, md, csv, json, svg, png or gif",
            ));
        }
        None => Format::from_path(&args.output, Format::ALL).map_err(|e| Failure::usage(e.to_string()))?,
    };
    if args.json && to_stdout {
        return Err(Failure::usage("--json and a report on standard output do not go together; name a file"));
    }
    if !format.is_picture() && (args.picture.is_some() || args.load.is_some()) {
        return Err(Failure::usage("--picture and --load are for pictures; name a file in .svg, .png or .gif"));
    }
    let view = View { kind: args.picture, load: args.load.clone() };
    let found = queries::find(&args.queries)?;
    let redactor = state::redactor(args.identities)?;
    if !to_stdout {
        files::check_writable(&args.output)?;
    }
    let text = match format {
        // From the documents themselves, so that with --identities fields of a newer version are kept.
        Format::Json => documents(found.iter().map(|f| f.document.as_str()), &redactor)?.into_bytes(),
        other => {
            let records: Vec<Record> = found.iter().map(|f| redactor.record(&f.record)).collect::<Result<_, _>>()?;
            render(other, &records, &view).map_err(|e| Failure::usage(harmless(&e.to_string())))?
        }
    };
    if to_stdout {
        output::print_bytes(&text)?;
    } else {
        files::write_whole(&args.output, &text)?;
        if args.json {
            let ids: Vec<&str> = found.iter().map(|f| f.record.id.as_str()).collect();
            // As text: a name need not be UTF-8, and JSON is.
            let file = args.output.to_string_lossy();
            output::print_json(&json!({ "file": file, "records": ids, "bytes": text.len() }))?;
        } else {
            output::tell(&format!("wrote {}", output::shown(&args.output)));
        }
    }
    Ok(Exit::Good)
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
    Ok(text::json(&format!("{whole:#}\n")))
}
