//! `assay fleet run`

use assay_core::exit::Exit;
use assay_engine::Control;

use super::begun::begun;
use super::measured::{exit, measured, tell};
use super::{ledgers, rotate};
use crate::cli::FleetRunArgs;
use crate::documents::fleet::RotationNews;
use crate::failure::Failure;
use crate::signals;

pub(super) fn run(args: FleetRunArgs) -> Result<Exit, Failure> {
    let control = Control::default();
    signals::stop_on_signals(&control)?;
    let ledger = match (&args.resume, &args.rotate) {
        (Some(run), _) => ledgers::find(run)?,
        (None, Some(plan)) => return rotate::begin(&args, plan, &control),
        (None, None) => begun(&args, &control)?,
    };
    if ledger.rotation.is_some() {
        return rotate::go_on(&args, &ledger, &control);
    }
    let (ledger, records) = measured(&args, ledger, args.resume.is_some(), None, &control)?;
    tell(&args, &ledger, &records, RotationNews::default())?;
    Ok(exit(&ledger))
}
