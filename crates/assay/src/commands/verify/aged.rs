//! `assay verify --read-back`: what an earlier check kept, read again.

use std::path::PathBuf;

use assay_core::exit::Exit;
use assay_core::retention::SameWay;
use assay_core::text::harmless;
use assay_core::verification::Verification;
use assay_device::{Sysroot, TargetInfo};
use assay_engine::Control;
use assay_store::{Store, StoreError};
use assay_verify::CheckRecord;
use assay_verify::aged;
use assay_verify::files::{CheckPlan, CheckSettings, Writer};

use super::{begin_record, checked, finish_record, tell_left};
use crate::cli::VerifyArgs;
use crate::ending::Failure;
use crate::output::{self, shown};
use crate::{signals, state};

/// What a later reading has to know of the check that begins.
pub(super) fn writer(record: &CheckRecord, seen: &TargetInfo) -> Writer {
    let reader = seen.leaves.first().and_then(|leaf| assay_device::reader_of(&Sysroot::real(), leaf));
    let bus = seen.medium.bus.as_ref().map(|bus| format!("{} {}", bus.kind, bus.mode));
    Writer { check: record.id().to_owned(), reader, bus, began: aged::now(), ended: 0 }
}

/// The directory of a device that is mounted.
fn directory(args: &VerifyArgs, device: bool) -> Result<PathBuf, Failure> {
    if !device {
        return Ok(args.target.clone());
    }
    let path = shown(&args.target);
    assay_device::mounted_at(&Sysroot::real(), &args.target)
        .ok_or_else(|| Failure::usage(format!("{path} is a device; mount it, and name it or the directory")))
}

pub(super) fn read_back(args: &VerifyArgs, device: bool) -> Result<Exit, Failure> {
    let args = &VerifyArgs { target: directory(args, device)?, ..args.clone() };
    let (record, seen) = begin_record(args, "read back")?;
    let settings = CheckSettings {
        only_read: true,
        read_back: true,
        hang_after: args.hang_after,
        store: state::directory().ok(),
        ..CheckSettings::default()
    };
    let plan = CheckPlan::new(&args.target, &settings)?;
    let Some((by, host)) = plan.written_by().cloned() else {
        return Err(Failure::usage(format!("{}: nothing says who wrote it", shown(&args.target))));
    };
    let age = aged::age(&by, aged::now())
        .map_err(|why| Failure::environment(format!("{}: {why}; nothing was read", shown(&args.target))))?;
    if args.dry_run {
        return super::would_do(&plan.sentence());
    }
    tell_left(args);
    if !args.quiet {
        output::tell_wrapped(&harmless(&plan.sentence()));
    }
    let control = Control::default();
    signals::stop_on_signals(&control)?;
    let start = control.now();
    let found = checked(args, &plan, &settings, &control, &start)?;
    let way = writer(&record, &seen);
    let known = |one: &Option<String>, other: &Option<String>| Some(one.as_ref()? == other.as_ref()?);
    let same = SameWay {
        host: Some(assay_device::host_name() == host),
        reader: known(&way.reader, &by.reader),
        bus: known(&way.bus, &by.bus),
    };
    let first = first_reading(&by.check)?;
    let mut record = record.close_files(found, true, &control, control.elapsed(&start));
    if let Some(later) = &mut record.verification {
        later.retention = Some(aged::retention(&by, age, same, first.as_ref(), later));
    }
    finish_record(args, record)
}

/// What the check that wrote found, from its record; `None` where the store does not have it.
fn first_reading(check: &str) -> Result<Option<Verification>, Failure> {
    let Some(store) = state::existing()? else { return Ok(None) };
    match store.load(check) {
        Ok(stored) => Ok(stored.record.verification),
        Err(StoreError::UnknownId { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
