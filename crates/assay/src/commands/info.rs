//! `assay info`

use assay_core::exit::Exit;
use assay_core::medium::Medium;
use assay_core::text::{clean, harmless};
use assay_core::units::capacity;
use assay_device::health::HealthReader;
use assay_device::{Sysroot, survey};
use assay_report::{check_sentence, left, right, table, wrapped};
use assay_store::Store;

use crate::cli::InfoArgs;
use crate::documents::{InfoDocument, InfoListDocument, SurveyedDocument};
use crate::ending::Failure;
use crate::leftovers::{Left, LeftoverAction};
use crate::{leftovers, output, queries, state};

pub(super) fn info(args: &InfoArgs) -> Result<Exit, Failure> {
    let sysroot = Sysroot::real();
    if args.list {
        return list(&sysroot, args.json);
    }
    let path = std::fs::canonicalize(&args.target).unwrap_or_else(|_| args.target.clone());
    let mut target = assay_device::look(&sysroot, &path)?;
    target.medium.readings = HealthReader::new(&sysroot, &target).read();
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
        // The line ends with a command to be copied, which must not be torn.
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
            let words = check_sentence(found);
            let line = format!("checked   {words}: assay show {}", harmless(&check.id));
            output::print(&output::wrapped(&line, output::stdout_style().width))?;
        }
    }
    Ok(Exit::Good)
}

/// `assay info --list`: each medium with the path that other commands take.
fn list(sysroot: &Sysroot, as_json: bool) -> Result<Exit, Failure> {
    let found = survey(sysroot);
    if as_json {
        let document = |one: assay_device::SurveyedMedium| SurveyedDocument {
            path: crate::documents::path(&one.path),
            mounted: !one.target.raw,
            removable: one.target.removable,
            medium: one.target.medium,
        };
        output::print_json(&InfoListDocument { media: found.into_iter().map(document).collect() })?;
        return Ok(Exit::Good);
    }
    if found.is_empty() {
        output::tell("no medium was found; name a directory on it: assay info DIR");
        return Ok(Exit::Good);
    }
    let rows = found.iter().map(|one| {
        let medium = &one.target.medium;
        let name = Medium { capacity_bytes: None, ..medium.clone() }.title();
        let size = medium.capacity_bytes.map_or_else(|| "–".to_owned(), capacity);
        let state = if one.target.raw { "not mounted" } else { "mounted" };
        vec![output::shown(&one.path), clean(&name), medium.kind.title().to_owned(), size, state.to_owned()]
    });
    let columns = vec![left("path"), wrapped("medium"), left("kind"), right("size"), left("state")];
    output::print(&table(columns, rows, &output::stdout_style()))?;
    Ok(Exit::Good)
}
