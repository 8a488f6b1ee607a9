//! `assay baseline`

use assay_core::exit::Exit;
use serde::Serialize;

use crate::cli::{BaselineArgs, BaselineCommand};
use crate::documents::{BaselineDocument, RemovedBaseline};
use crate::failure::Failure;
use crate::{baselines, output, queries, state};

pub(super) fn baseline(args: &BaselineArgs) -> Result<Exit, Failure> {
    match &args.command {
        BaselineCommand::Set { name, queries, json } => {
            let store = state::existing()?.ok_or_else(|| Failure::usage(state::EMPTY))?;
            let ids = queries::resolve(&store, queries)?;
            baselines::set(name, &ids)?;
            let line = described(name, &ids);
            tell(*json, &BaselineDocument { baseline: name.clone(), records: ids }, &line)?;
        }
        BaselineCommand::List { names, json } => {
            let mut all = Vec::new();
            for name in if names.is_empty() { baselines::names()? } else { each_once(names) } {
                let ids = baselines::read(&name)?;
                all.push((name, ids));
            }
            if *json {
                let row = |(baseline, records)| BaselineDocument { baseline, records };
                output::print_json(&all.into_iter().map(row).collect::<Vec<_>>())?;
            } else if all.is_empty() {
                output::tell("there is no baseline; assay baseline set NAME QUERY creates one");
            } else {
                let lines: Vec<String> = all.iter().map(|(name, ids)| described(name, ids)).collect();
                output::print(&assay_core::text::visible(&lines.join("\n")))?;
            }
        }
        BaselineCommand::Rm { name, json } => {
            baselines::remove(name)?;
            tell(*json, &RemovedBaseline { removed: name.clone() }, &format!("removed baseline {name}"))?;
        }
    }
    Ok(Exit::Good)
}

fn each_once(names: &[String]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for name in names {
        // As a query names it, too.
        let name = name.strip_prefix(baselines::PREFIX).unwrap_or(name);
        if !all.iter().any(|known| known == name) {
            all.push(name.to_owned());
        }
    }
    all
}

fn described(name: &str, ids: &[String]) -> String {
    format!("{name}: {}", ids.join(", "))
}

fn tell(json: bool, document: &impl Serialize, line: &str) -> Result<(), Failure> {
    if json {
        return output::print_json(document);
    }
    output::tell(line);
    Ok(())
}
