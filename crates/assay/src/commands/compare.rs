//! `assay compare`

use std::path::Path;

use assay_analysis::compare::{Comparison, Group, Request, Verdict, Why, compare as analyse, split};
use assay_core::exit::Exit;
use assay_core::record::Record;
use assay_core::text;
use assay_report::{Format, comparison};
use serde_json::{Value, json};

use crate::cli::CompareArgs;
use crate::failure::Failure;
use crate::{output, state};

pub(super) fn compare(args: &CompareArgs) -> Result<Exit, Failure> {
    let format = args.output.as_deref().map(format_of).transpose()?;
    let named = named(args)?;
    let groups = groups(args, &named);
    let request =
        Request { quantity: args.quantity(), primary: args.primary.clone(), margin: args.margin, level: args.level };
    let comparison = analyse(&groups, &request).map_err(|e| Failure::usage(e.to_string()))?;
    match (&args.output, format) {
        (Some(path), Some(format)) => write(path, format, &comparison)?,
        _ if args.json => output::print_json(&document(&comparison)?)?,
        _ => output::print(&comparison::text(&comparison, &output::stdout_style()))?,
    }
    Ok(exit(&comparison))
}

/// Records of each query, without identities where they go into a file.
fn named(args: &CompareArgs) -> Result<Vec<Vec<Record>>, Failure> {
    let redactor = match &args.output {
        Some(_) => Some(state::redactor(args.identities)?),
        None => None,
    };
    let of = |query: &String| -> Result<Vec<Record>, Failure> {
        let records = state::find_all(&parts(query))?;
        match &redactor {
            Some(redactor) => Ok(records.iter().map(|record| redactor.record(record)).collect::<Result<_, _>>()?),
            None => Ok(records),
        }
    };
    args.queries.iter().map(of).collect()
}

/// The queries of one group: divided at commas, unless white space follows, as in a model's name.
fn parts(query: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut rest = query.chars().peekable();
    while let Some(c) = rest.next() {
        let divides = c == ',' && rest.peek().is_some_and(|next| !next.is_whitespace());
        match parts.last_mut() {
            Some(last) if !divides => last.push(c),
            _ => parts.push(String::new()),
        }
    }
    parts
}

fn groups<'a>(args: &CompareArgs, named: &'a [Vec<Record>]) -> Vec<Group<'a>> {
    if let Some(by) = args.grouping() {
        return split(named, by);
    }
    // A query may hold a serial number, which is not for a file that is shared.
    let shown = args.output.is_none() || args.identities;
    let group = |(at, (query, records)): (usize, (&String, &'a Vec<Record>))| Group {
        name: if shown { query.clone() } else { format!("query {}", at + 1) },
        records: records.iter().collect(),
    };
    args.queries.iter().zip(named).enumerate().map(group).collect()
}

fn format_of(path: &Path) -> Result<Format, Failure> {
    match Format::from_path(path) {
        Ok(format @ (Format::Markdown | Format::Json)) => Ok(format),
        _ => Err(Failure::usage(format!("{}: a comparison is written as .md or .json", output::shown(path)))),
    }
}

fn write(path: &Path, format: Format, comparison: &Comparison) -> Result<(), Failure> {
    let content = match format {
        Format::Json => text::json(&format!("{:#}\n", document(comparison)?)),
        _ => comparison::markdown(comparison),
    };
    state::write_whole(path, &content)?;
    output::tell(&format!("wrote {}", output::shown(path)));
    Ok(())
}

/// The comparison with what says of which form it is.
fn document(comparison: &Comparison) -> Result<Value, Failure> {
    let value = serde_json::to_value(comparison)
        .map_err(|e| Failure::environment(format!("the comparison cannot be written: {e}")))?;
    Ok(json!({ "comparison": value, "answered": answered(comparison) }))
}

/// Whether anything could be compared by figures that hold.
fn answered(comparison: &Comparison) -> bool {
    let unsound = |verdict| matches!(verdict, Verdict::CannotTell(Why::Invalid | Why::Fake));
    comparison.primary().is_some_and(|load| load.pairs.iter().any(|pair| !unsound(pair.verdict)))
}

fn exit(comparison: &Comparison) -> Exit {
    if answered(comparison) { Exit::Good } else { Exit::No }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_divide_unless_white_space_follows() {
        assert_eq!(parts("5f3,9ka"), ["5f3", "9ka"]);
        assert_eq!(parts("model=SanDisk Ultra, 32 GB"), ["model=SanDisk Ultra, 32 GB"]);
        assert_eq!(parts("unit=1,unit=2,last"), ["unit=1", "unit=2", "last"]);
        assert_eq!(parts("last,"), ["last,"], "the store says what is wrong with it");
    }
}
