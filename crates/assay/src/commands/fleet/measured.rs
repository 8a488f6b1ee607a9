//! What is missing of a run, measured, and what it came to.

use std::collections::BTreeMap;

use assay_core::exit::Exit;
use assay_core::record::Record;
use assay_core::units::counted;
use assay_engine::Control;
use assay_fleet::{Fate, Ledger};

use super::begun::find_again;
use super::node_arguments::check_arguments;
use super::participants::Participants;
use super::records::{Guard, adopt};
use super::{ledgers, outcome};
use crate::cli::FleetRunArgs;
use crate::documents::fleet::{FleetEvent, FleetRunDocument, RotationNews};
use crate::failure::Failure;
use crate::output;

/// Measures what is missing of a run, which may be `resumed`. A record that the guard refuses is not taken.
pub(super) fn measured(
    args: &FleetRunArgs,
    mut ledger: Ledger,
    resumed: bool,
    guard: Option<Guard>,
    control: &Control,
) -> Result<(Ledger, BTreeMap<usize, Record>), Failure> {
    let _lock = ledgers::lock(&ledger.run)?;
    if resumed {
        // Another process may have had it meanwhile. What media were asked is newer than its file.
        let now = ledgers::find(&ledger.run)?;
        let asked = std::mem::replace(&mut ledger, now).nodes;
        for entry in &mut ledger.nodes {
            let known = asked.iter().find(|known| known.name == entry.name);
            entry.medium = known.and_then(|known| known.medium.clone()).or_else(|| entry.medium.take());
        }
        adopt(&mut ledger, guard.as_ref())?;
    }
    let missing = ledger.missing();
    let count = u32::try_from(missing.len()).unwrap_or(u32::MAX);
    if let Some(quorum) = args.quorum.filter(|quorum| *quorum > count) {
        return Err(Failure::usage(format!("--quorum {quorum} is more than the {}", counted(count as usize, "node"))));
    }
    check_arguments(&ledger)?;
    if missing.is_empty() {
        return Ok((ledger, BTreeMap::new()));
    }
    if args.resume.is_some() && ledger.inventory.is_some() {
        find_again(&mut ledger, &missing, control)?;
    }
    for number in &missing {
        let node = &mut ledger.nodes[*number];
        (node.attempts, node.fate) = (node.attempts + 1, None);
    }
    ledgers::keep(&ledger)?;
    let records = Participants::begin(args, &mut ledger, missing, resumed, guard)?.follow(control)?;
    Ok((ledger, records))
}

/// Says what a run came to; for programs with `rotation` beside it.
pub(super) fn tell(
    args: &FleetRunArgs,
    ledger: &Ledger,
    records: &BTreeMap<usize, Record>,
    rotation: RotationNews,
) -> Result<(), Failure> {
    let starts = outcome::starts(records);
    if !args.json && !args.events {
        return output::print(&(output::wrapped(outcome::text(ledger, starts.as_ref()).trim_end(), 80) + "\n"));
    }
    let document = FleetRunDocument::new(ledger, starts, rotation);
    if args.events {
        return output::print_event(&FleetEvent::Ended(document));
    }
    output::print_json(&document)
}

/// How the command ends by what its nodes came to.
pub(super) fn exit(ledger: &Ledger) -> Exit {
    let failed = ledger.nodes.iter().any(|entry| matches!(entry.fate, Some(Fate::MediumFailed { .. })));
    let interrupted = ledger.nodes.iter().any(|entry| entry.fate == Some(Fate::Interrupted));
    match (ledger.missing().is_empty(), interrupted) {
        (true, _) if failed => Exit::Medium,
        (true, _) => Exit::Good,
        (false, true) => Exit::Interrupted,
        (false, false) => Exit::Environment,
    }
}
