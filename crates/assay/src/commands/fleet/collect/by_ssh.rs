//! Records by the program on each node, which is asked for them by ssh.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use assay_engine::Control;
use assay_fleet::{Launcher, Ledger, MAX_RECORD, RemoteNode};
use serde_json::Value;

use super::row::Row;
use crate::cli::{FleetCollectArgs, ViaArg};
use crate::commands::fleet::ansible::reason;
use crate::commands::fleet::at_once;
use crate::commands::fleet::begun::{entries, program};
use crate::commands::fleet::count::Count;
use crate::commands::fleet::home::{Home, is_id};
use crate::failure::Failure;

/// Longest list of records, in bytes.
const LIST: u64 = 16 << 20;
/// How long an answer may take.
const WITHIN: Duration = Duration::from_secs(120);

pub(super) fn rows(
    args: &FleetCollectArgs,
    via: ViaArg,
    ledger: Option<&Ledger>,
    run: &str,
    home: &Home,
    control: &Control,
) -> Result<Vec<Row>, Failure> {
    let launcher = if via == ViaArg::Local { Launcher::Local } else { Launcher::Ssh };
    let mut nodes = entries(&args.nodes, ".", launcher)?;
    if nodes.is_empty() {
        nodes = ledger.map(|ledger| ledger.nodes.clone()).unwrap_or_default();
    }
    let of_run = ledger.filter(|ledger| ledger.inventory.is_none()).map(|ledger| ledger.program.as_str());
    let program = program(args.program.as_deref().or(of_run), launcher)?;
    // One at a time is in memory.
    let turn = Mutex::new(());
    let count = Count::of(nodes.iter().map(|entry| entry.name.as_str()));
    at_once::each(&nodes, control, |entry| {
        let remote = RemoteNode { launcher, node: &entry.name };
        let mut row = Row { node: entry.name.clone(), ..Row::default() };
        let list = match list(&remote, &program, run) {
            Ok(list) => list,
            Err(why) => {
                count.done(&entry.name);
                return Row { reason: Some(reason(&why)), ..row };
            }
        };
        if list.is_empty() {
            row.reason = Some(format!("no record of {run} on {}", entry.name));
        }
        let before = home.ids();
        for id in list {
            if before.contains(&id) {
                row.here.push(id);
                continue;
            }
            let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
            match remote.call(&[&program, "show", &id, "--json"], MAX_RECORD, WITHIN) {
                Ok(said) if said.code == Some(0) => row.take(home, &id, &said.out),
                Ok(said) => row.refused.push((id, reason(&said.last_words()))),
                Err(error) => row.refused.push((id, reason(&error.to_string()))),
            }
        }
        count.done(&entry.name);
        row
    })
}

/// Identifiers of the records of a run on a node.
fn list(remote: &RemoteNode<'_>, program: &str, run: &str) -> Result<Vec<String>, String> {
    let said =
        remote.call(&[program, "list", &format!("fleet={run}"), "--json"], LIST, WITHIN).map_err(|e| e.to_string())?;
    if said.code != Some(0) {
        return Err(said.last_words());
    }
    let list: Vec<Value> =
        serde_json::from_slice(&said.out).map_err(|error| format!("its list of records: {error}"))?;
    Ok(list.iter().filter_map(|row| row["id"].as_str()).filter(|id| is_id(id)).map(str::to_owned).collect())
}
