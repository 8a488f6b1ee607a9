//! `assay watch add` and `remove`.

use std::path::{Path, PathBuf};

use assay_analysis::{Listed, listed_identity};
use assay_core::exit::Exit;
use assay_core::medium::Medium;
use assay_core::text::harmless;
use assay_core::units::{Bytes, percent};
use assay_device::{Sysroot, look};
use assay_runner::is_unmounted;
use assay_watch::{ASSUMED_CYCLES, Kept, Measured, Plan};
use jiff::Timestamp;

use super::timer::{self, Timer};
use super::{keep, tell};
use crate::cli::{WatchAddArgs, WatchHowArgs, watch_name_of};
use crate::ending::Failure;
use crate::{files, output, suites};

pub(super) fn add(args: &WatchAddArgs) -> Result<Exit, Failure> {
    let path = std::fs::canonicalize(&args.target).unwrap_or_else(|_| args.target.clone());
    let target = look(&Sysroot::real(), &path)?;
    let (_, suite) = suites::checked(&args.how.suite)?;
    if is_unmounted(&target.medium) {
        return Err(Failure::usage(format!(
            "{}: nothing is mounted there, so that the disk of this system would be watched; mount the medium first",
            output::shown(&path)
        )));
    }
    if target.raw && suite.writes() {
        return Err(Failure::usage(format!(
            "{}: a device is only read each night; name a suite that writes nothing, like --suite read-only, or a directory",
            output::shown(&path)
        )));
    }
    let kept = keep::names()?.iter().map(|name| keep::read(name)).collect::<Result<Vec<Kept>, Failure>>()?;
    let unit = unit_of(&target.medium);
    let same = |kept: &&Kept| match &unit {
        Some(unit) => kept.plan.unit.as_ref() == Some(unit) && kept.plan.title == target.medium.title(),
        None => kept.plan.target == crate::documents::path(&path),
    };
    if let Some(known) = kept.iter().find(same) {
        let name = &known.plan.name;
        return Err(Failure::usage(format!(
            "this medium is watched as {name}; end that first: assay watch remove {name}"
        )));
    }
    let plan = plan(args, &path, &target.medium, target.raw, unit, &kept)?;
    let timer = Timer::of(&plan)?;
    if args.how.print {
        output::print(&timer.text(&plan))?;
        output::tell_wrapped(&budget(&plan));
        return Ok(Exit::Good);
    }
    if let Some(file) = &args.how.textfile {
        files::check_writable(file)?;
    }
    keep::write(&Kept::new(plan.clone(), Timestamp::now().as_second()))?;
    let installed = if args.how.no_timer { Ok(()) } else { timer.install(&plan) };
    if let Err(failure) = installed {
        let _ = keep::remove(&plan.name);
        return Err(failure);
    }
    let medium = harmless(&plan.title);
    output::print(&format!("{medium} is watched as {}, each night at {}", plan.name, plan.nightly))?;
    output::tell_wrapped(&budget(&plan));
    if plan.unit.is_none() {
        output::tell_wrapped("the medium has no serial number: it is known by its path alone");
    }
    Ok(Exit::Good)
}

fn plan(
    args: &WatchAddArgs,
    path: &Path,
    medium: &Medium,
    raw: bool,
    unit: Option<String>,
    kept: &[Kept],
) -> Result<Plan, Failure> {
    let taken = |name: &str| kept.iter().any(|one| one.plan.name == name);
    let name = match &args.name {
        Some(name) if taken(name) => return Err(Failure::usage(format!("--named: there is a watch {name} already"))),
        Some(name) => name.clone(),
        None => free_name(&medium.title(), taken),
    };
    Ok(Plan {
        title: medium.title(),
        unit,
        target: crate::documents::path(path),
        raw,
        max_write_bytes: if raw { 0 } else { args.how.night_writes.0 },
        capacity_bytes: medium.capacity_bytes,
        ..plan_of(name, Measured::Here, &args.how)
    })
}

/// A name made of any text, numbered where it is taken.
pub(super) fn free_name(text: &str, taken: impl Fn(&str) -> bool) -> String {
    let base = watch_name_of(text);
    let numbered = (2..1000).map(|number| format!("{base}-{number}"));
    std::iter::once(base.clone()).chain(numbered).find(|name| !taken(name)).unwrap_or(base)
}

/// What the arguments say of a plan; the medium is not known yet.
pub(super) fn plan_of(name: String, measured: Measured, how: &WatchHowArgs) -> Plan {
    let absolute = |file: &Path| crate::documents::path(std::path::absolute(file).unwrap_or_else(|_| file.to_owned()));
    Plan {
        name,
        title: String::new(),
        unit: None,
        target: String::new(),
        raw: false,
        measured,
        nightly: how.nightly.clone(),
        // The timer calls it from another directory.
        suite: if suites::is_built_in(&how.suite) { how.suite.clone() } else { absolute(Path::new(&how.suite)) },
        budget_seconds: how.night_time.as_secs(),
        max_write_bytes: how.night_writes.0,
        endurance_bytes: how.endurance.map(|bytes| bytes.0),
        capacity_bytes: None,
        notify: how.notify.clone(),
        webhooks: how.webhooks.clone(),
        mail: how.mail.clone(),
        mqtt: how.mqtt.clone(),
        textfile: how.textfile.as_ref().map(|file: &PathBuf| absolute(file)),
    }
}

/// The unit of a medium, as rankings tell units apart.
pub(super) fn unit_of(medium: &Medium) -> Option<String> {
    let title = medium.title();
    let labels = std::collections::BTreeMap::new();
    listed_identity(&Listed { model: &title, serial: medium.unit.as_ref(), labels: &labels }).map(|(_, unit)| unit)
}

/// What a year writes, in one line.
pub(super) fn budget(plan: &Plan) -> String {
    if plan.max_write_bytes == 0 {
        return "nothing is written".to_owned();
    }
    let year = plan.yearly_bytes();
    let words = format!("writes at most {} a night and {} a year", Bytes(plan.max_write_bytes), Bytes(year));
    match plan.endurance() {
        Some((bytes, stated)) if bytes > 0 => {
            let share = percent(year as f64 / bytes as f64, 2);
            let how = if stated {
                "the stated endurance".to_owned()
            } else {
                format!("an assumed endurance of {ASSUMED_CYCLES} times its size")
            };
            format!("{words}: {share} of {how}, {}", Bytes(bytes))
        }
        _ => words,
    }
}

pub(super) fn remove(name: &str) -> Result<Exit, Failure> {
    let names = keep::named(&[name.to_owned()])?;
    for name in &names {
        let Some(_lock) = keep::lock(name)? else {
            return Err(Failure::environment(format!("a night of {name} is under way; try again when it is over")));
        };
        let kept = keep::read(name)?;
        if let Measured::Node { fleet, .. } = &kept.plan.measured {
            return Err(Failure::usage(format!("{name} belongs to a cluster: assay fleet watch remove {fleet}")));
        }
        timer::remove(name)?;
        forget(&kept.plan)?;
    }
    output::print(&format!("{name} is not watched any more; its records stay: assay list watch={name}"))?;
    Ok(Exit::Good)
}

/// Removes what is kept of a watch, here and at its broker.
pub(super) fn forget(plan: &Plan) -> Result<(), Failure> {
    if let Some(broker) = &plan.mqtt
        && let Err(reason) = tell::withdraw(broker, &plan.name)
    {
        output::tell_wrapped(&format!("{broker} keeps the entities of {}: {reason}", plan.name));
    }
    keep::remove(&plan.name)
}
