//! `assay fleet list`

use assay_core::exit::Exit;
use assay_core::text::harmless;
use assay_fleet::Ledger;

use super::ledgers;
use crate::cli::FleetListArgs;
use crate::documents::fleet::FleetListDocument;
use crate::failure::Failure;
use crate::output;

pub(super) fn list(args: &FleetListArgs) -> Result<Exit, Failure> {
    let ledgers = ledgers::all()?;
    if args.json {
        output::print_json(&FleetListDocument { runs: ledgers })?;
        return Ok(Exit::Good);
    }
    let lines: Vec<String> = ledgers.iter().map(line).collect();
    if lines.is_empty() {
        output::tell("no run on a cluster yet; assay fleet run begins one");
        return Ok(Exit::Good);
    }
    output::print(&lines.concat())?;
    Ok(Exit::Good)
}

fn line(ledger: &Ledger) -> String {
    let (nodes, missing) = (ledger.nodes.len(), ledger.missing().len());
    let day = ledger.created.get(..16).unwrap_or_default().replace('T', " ");
    let turn = ledger.rotation.as_ref().map(|turn| format!(", round {} of plan {}", turn.round, turn.plan));
    let turn = turn.unwrap_or_default();
    harmless(&format!("{}  {day}  {}  {} of {nodes} nodes{turn}", ledger.run, ledger.mode, nodes - missing)) + "\n"
}
