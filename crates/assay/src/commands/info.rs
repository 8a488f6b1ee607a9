//! `assay info`

use assay_core::exit::Exit;
use assay_core::text::harmless;
use assay_device::Sysroot;
use assay_store::Store;

use crate::cli::InfoArgs;
use crate::documents::InfoDocument;
use crate::failure::Failure;
use crate::leftovers::{Left, LeftoverAction};
use crate::{leftovers, output, queries, state};

pub(super) fn info(args: &InfoArgs) -> Result<Exit, Failure> {
    let sysroot = Sysroot::real();
    let path = std::fs::canonicalize(&args.target).unwrap_or_else(|_| args.target.clone());
    let target = assay_device::look(&sysroot, &path)?;
    let host = assay_device::host(&sysroot);
    if args.json {
        let pending = leftovers::pending_on(&path);
        output::print_json(&InfoDocument {
            medium: target.medium,
            host,
            proof_devices: target.devices,
            left: leftovers::found_leftovers(&path, LeftoverAction::Looks).iter().map(Left::document).collect(),
            pending_journals: pending
                .iter()
                .map(|(journal, device)| leftovers::restore_document(journal, device))
                .collect(),
        })?;
        return Ok(Exit::Good);
    }
    output::print(&assay_report::info(&target.medium, &host, &output::stdout_style()))?;
    for (journal, device) in leftovers::pending_on(&path) {
        output::print(&format!("restore   {}", leftovers::pending_words(&journal, &device, &path)))?;
    }
    for line in leftovers::leftover_lines(&path, LeftoverAction::Looks) {
        output::print(&format!("left      {}", harmless(&line)))?;
    }
    // What the store knows of this unit is worth a line, and no reason to fail.
    if let (Some(unit), Ok(Some(store))) = (&target.medium.unit, state::existing())
        && let Ok(mut known) = store.list(&format!("unit={unit}"))
        // Some makers give each unit of a product the same serial number; readers give theirs to every card.
        && { known.retain(|one| one.title == target.medium.title()); true }
        && let Some(last) = known.last()
    {
        let id = harmless(&last.id);
        let runs = if known.len() == 1 { "1 run".to_owned() } else { format!("{} runs, the last", known.len()) };
        output::print(&format!("measured  {runs}: assay show {id}"))?;
        let checks = queries::verified(&store).unwrap_or_default();
        let last = checks.iter().rev().find(|check| known.iter().any(|one| one.id == check.id));
        if let Some((check, found)) = last.and_then(|check| Some((check, check.verification.as_ref()?))) {
            let words = harmless(&found.sentence);
            let line = format!("checked   {words}: assay show {}", harmless(&check.id));
            output::print(&output::wrapped(&line, output::stdout_style().width))?;
        }
    }
    Ok(Exit::Good)
}
