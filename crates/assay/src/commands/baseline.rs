//! `assay baseline`

use assay_core::exit::Exit;
use serde_json::json;

use crate::cli::{BaselineArgs, BaselineCommand};
use crate::failure::Failure;
use crate::{baselines, output, queries, state};

pub(super) fn baseline(args: &BaselineArgs) -> Result<Exit, Failure> {
    match &args.command {
        BaselineCommand::Set { name, queries, json } => {
            if let Some(published) = queries.iter().find(|query| query.starts_with(assay_analysis::PREFIX)) {
                return Err(Failure::usage(format!("`{published}` is not in the store; name it in assay compare")));
            }
            let store = state::existing()?.ok_or_else(|| Failure::usage(state::EMPTY))?;
            let mut ids: Vec<String> = Vec::new();
            for query in queries {
                let named = queries::resolve(&store, query)?;
                ids.extend(named.into_iter().filter(|id| !ids.contains(id)).collect::<Vec<_>>());
            }
            baselines::set(name, &ids)?;
            tell(*json, &json!({ "baseline": name, "records": ids }), &described(name, &ids))?;
        }
        BaselineCommand::List { json } => {
            let mut all = Vec::new();
            for name in baselines::names()? {
                let ids = baselines::read(&name)?;
                all.push((name, ids));
            }
            if *json {
                let rows = all.iter().map(|(name, ids)| json!({ "baseline": name, "records": ids })).collect();
                output::print_json(&serde_json::Value::Array(rows))?;
            } else if all.is_empty() {
                output::tell("there is no baseline; assay baseline set NAME QUERY creates one");
            } else {
                let lines: Vec<String> = all.iter().map(|(name, ids)| described(name, ids)).collect();
                output::print(&assay_core::text::visible(&lines.join("\n")))?;
            }
        }
        BaselineCommand::Rm { name, json } => {
            baselines::remove(name)?;
            tell(*json, &json!({ "removed": name }), &format!("removed baseline {name}"))?;
        }
    }
    Ok(Exit::Good)
}

fn described(name: &str, ids: &[String]) -> String {
    format!("{name}: {}", ids.join(", "))
}

fn tell(json: bool, document: &serde_json::Value, line: &str) -> Result<(), Failure> {
    if json {
        return output::print_json(document);
    }
    output::tell(line);
    Ok(())
}
