//! Nodes that are named on the command line: by ssh, or here. A node needs a shell and assay.

use std::time::Duration;

use assay_engine::Control;
use assay_fleet::{Entry, Launcher, RemoteError, RemoteNode};
use serde_json::Value;

use super::row::Row;
use crate::cli::{FleetCheckArgs, ViaArg};
use crate::commands::fleet::ansible::reason;
use crate::commands::fleet::at_once;
use crate::commands::fleet::begun::{entries, program};
use crate::commands::fleet::count::Count;
use crate::commands::fleet::node_arguments::check_words;
use crate::failure::Failure;

/// Longest answer, in bytes.
const ANSWER: u64 = 1 << 20;
/// How long an answer may take.
const WITHIN: Duration = Duration::from_secs(60);

pub(super) fn rows(args: &FleetCheckArgs, via: ViaArg, control: &Control) -> Result<Vec<Row>, Failure> {
    check_words(&args.arguments)?;
    let launcher = if via == ViaArg::Local { Launcher::Local } else { Launcher::Ssh };
    let nodes = entries(&args.nodes, &args.target, launcher)?;
    let program = program(args.program.as_deref(), launcher)?;
    let count = Count::of(nodes.iter().map(|entry| entry.name.as_str()));
    at_once::each(&nodes, control, |entry| {
        let remote = RemoteNode { launcher, node: &entry.name };
        let mut row = Row { node: entry.name.clone(), target: entry.target.clone(), ..Row::default() };
        match ask(&remote, &program, entry, &args.arguments, &mut row) {
            Ok(()) => {}
            Err(RemoteError::NotReached(why)) => (row.reached, row.reason) = (false, Some(reason(&why))),
            Err(error) => row.reason = Some(reason(&error.to_string())),
        }
        count.done(&entry.name);
        row
    })
}

fn ask(
    remote: &RemoteNode<'_>,
    program: &str,
    entry: &Entry,
    arguments: &[String],
    row: &mut Row,
) -> Result<(), RemoteError> {
    let look = remote.look(&entry.target)?;
    row.reached = true;
    (row.machine, row.bits, row.free_bytes, row.clock) = (look.machine, look.bits, look.free_bytes, look.clock);
    let version = remote.call(&[program, "-V"], ANSWER, WITHIN)?;
    if version.code != Some(0) {
        return Err(RemoteError::NoAnswer(version.last_words()));
    }
    row.version = String::from_utf8_lossy(&version.out).trim().to_owned();
    let medium = remote.call(&[program, "info", "--json", "--", &entry.target], ANSWER, WITHIN)?;
    let medium: Option<Value> = serde_json::from_slice(&medium.out).ok();
    row.medium = medium.and_then(|mut said| serde_json::from_value(said["medium"].take()).ok());
    let words = [program, "run", "--quiet"].into_iter().chain(arguments.iter().map(String::as_str));
    let words: Vec<&str> = words.chain(["--dry-run", "--json", "--", &entry.target]).collect();
    let plan = remote.call(&words, ANSWER, WITHIN)?;
    if plan.code != Some(0) {
        return Err(RemoteError::NoAnswer(plan.last_words()));
    }
    if let Ok(plan) = serde_json::from_slice::<Value>(&plan.out) {
        (row.planned_write_bytes, row.budget_ns) = (plan["planned_write_bytes"].as_u64(), plan["budget_ns"].as_u64());
    }
    Ok(())
}
