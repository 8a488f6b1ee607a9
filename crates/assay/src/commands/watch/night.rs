//! One night: the medium is found by its identity, measured by a run of this program, and its record is judged. Messages go to
//! commands, by curl to addresses, by sendmail to people, and as figures to Prometheus.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use assay_core::exit::Exit;
use assay_core::record::Record;
use assay_core::text::harmless;
use assay_device::owned::Directory;
use assay_device::{ProofMeter, Sysroot, TargetInfo, look, survey};
use assay_engine::Control;
use assay_report::watch::{event as event_sentence, skip};
use assay_watch::{
    FILL_LABEL, FIRST, Kept, Measured, Plan, RUN_LABEL, SECOND, Skip, Skipped, Status, StatusEvent, WATCH_LABEL,
};
use jiff::Timestamp;

use super::{add, keep, tell};
use crate::cli::WatchRunArgs;
use crate::documents::watch::{WatchNightDocument, WatchRunDocument};
use crate::ending::{self, Failure};
use crate::{output, signals};

/// How long the traffic of others is looked at, and how much of it a second makes the medium busy.
const LOOK: Duration = Duration::from_secs(1);
/// See [`LOOK`].
const BUSY_BYTES: u64 = 8 << 20;

/// Why a night has no result, and the same in words where there are more.
pub(super) type Reason = (Skip, String);

pub(super) fn run(args: &WatchRunArgs) -> Result<Exit, Failure> {
    let control = Control::default();
    signals::stop_on_signals(&control)?;
    let mut nights = Vec::new();
    for name in keep::here(&args.names)? {
        nights.push(night(&name)?);
        if control.stopped() {
            return Err(Failure::interrupted("interrupted; the night of this medium can be measured again"));
        }
    }
    finish(nights, args.json)
}

/// What nights came to: the exit code, and the document where it was asked for.
pub(super) fn finish(nights: Vec<WatchNightDocument>, as_json: bool) -> Result<Exit, Failure> {
    let exit = ending::of_nights(
        nights.iter().flat_map(|night| &night.events).any(|event| event.event.what.is_alarm()),
        nights.iter().filter_map(|night| night.skipped.as_ref()).any(|skipped| skipped.reason != Skip::Done),
    );
    if as_json {
        output::print_json(&WatchRunDocument { nights })?;
    }
    Ok(exit)
}

fn night(name: &str) -> Result<WatchNightDocument, Failure> {
    let mut night = WatchNightDocument {
        name: name.to_owned(),
        record: None,
        second_record: None,
        skipped: None,
        events: Vec::new(),
    };
    let now = Timestamp::now().as_second();
    let Some(_lock) = keep::lock(name)? else {
        night.skipped = Some(Skipped { at: now, reason: Skip::UnderWay, detail: String::new() });
        return Ok(night);
    };
    let mut kept = keep::read(name)?;
    let result = measured(&mut kept, now, &mut night);
    conclude(&mut kept, &mut night, now, result)?;
    if let Err(failure) = tell::write_metrics(&kept, now) {
        output::tell_wrapped(failure.message());
    }
    Ok(night)
}

/// Says why there is no night of a medium.
pub(super) fn tell_skipped(name: &str, skipped: &Skipped) {
    let more = if skipped.detail.is_empty() { String::new() } else { format!(": {}", harmless(&skipped.detail)) };
    output::tell_wrapped(&format!("{name}: skipped, as {}{more}", skip(skipped.reason)));
}

/// Keeps and tells what a night came to.
pub(super) fn conclude(
    kept: &mut Kept,
    night: &mut WatchNightDocument,
    now: i64,
    result: Result<(), Reason>,
) -> Result<(), Failure> {
    if let Err((reason, detail)) = result {
        let skipped = Skipped { at: now, reason, detail };
        tell_skipped(&kept.plan.name, &skipped);
        if reason != Skip::Done {
            kept.skipped = Some(skipped.clone());
        }
        night.skipped = Some(skipped);
    }
    keep::write(kept)?;
    if night.skipped.is_none() && night.events.is_empty() {
        output::tell_wrapped(&format!("{}: measured, nothing changed", kept.plan.name));
    }
    for event in &night.events {
        output::tell_wrapped(&event_sentence(&kept.plan.name, &kept.plan.title, &event.event));
    }
    tell::tell(kept, &night.events);
    if let Some(broker) = &kept.plan.mqtt
        && let Err(reason) = tell::publish(broker, &Status::of(kept, now))
    {
        output::tell_wrapped(&format!("--mqtt {broker} did not take the figures: {reason}"));
    }
    Ok(())
}

fn measured(kept: &mut Kept, now: i64, night: &mut WatchNightDocument) -> Result<(), Reason> {
    if kept.has(now) {
        return Err((Skip::Done, String::new()));
    }
    if !kept.fits(now) {
        return Err((Skip::Budget, String::new()));
    }
    let (path, target) = located(&kept.plan)?;
    let plan = kept.plan.clone();
    quiet(&target)?;
    let fill = fill(&plan, &path);
    let first = record(&plan, &path, fill, FIRST)?;
    take(kept, &first, now, night, &mut || record(&plan, &path, fill, SECOND).ok())
}

/// Takes the record of a night; `second` measures again where something is suspected.
pub(super) fn take(
    kept: &mut Kept,
    first: &Record,
    now: i64,
    night: &mut WatchNightDocument,
    second: &mut dyn FnMut() -> Option<Record>,
) -> Result<(), Reason> {
    night.record = Some(first.id.clone());
    let mut second_id = None;
    let taken = kept.take(first, keep::began(first).unwrap_or(now), &mut || {
        let record = second()?;
        second_id = Some(record.id.clone());
        Some(record)
    });
    night.second_record = second_id;
    let taken = taken.map_err(|reason| (reason, String::new()))?;
    let named = |event: &assay_watch::Event| StatusEvent { id: kept.event_name(event), event: event.clone() };
    night.events = taken.events.iter().map(named).collect();
    Ok(())
}

/// Where the medium is now: under its path, or where else its identity is.
fn located(plan: &Plan) -> Result<(PathBuf, TargetInfo), Reason> {
    let sysroot = Sysroot::real();
    let is_it = |target: &TargetInfo| {
        target.medium.title() == plan.title && add::unit_of(&target.medium) == plan.unit && target.raw == plan.raw
    };
    let path = PathBuf::from(&plan.target);
    match look(&sysroot, &path) {
        Ok(target) if is_it(&target) => return Ok((path, target)),
        Err(error) if plan.unit.is_none() => return Err((Skip::Absent, error.to_string())),
        Ok(_) if plan.unit.is_none() => return Err((Skip::Exchanged, String::new())),
        _ => {}
    }
    let elsewhere = survey(&sysroot).into_iter().find(|one| is_it(&one.target));
    elsewhere.map(|one| (one.path, one.target)).ok_or((Skip::Absent, String::new()))
}

/// Whether nothing else uses the medium.
fn quiet(target: &TargetInfo) -> Result<(), Reason> {
    let Ok(meter) = ProofMeter::open(&Sysroot::real(), &target.devices) else { return Ok(()) };
    let Ok(before) = meter.read() else { return Ok(()) };
    std::thread::sleep(LOOK);
    let Ok(after) = meter.read() else { return Err((Skip::Absent, String::new())) };
    let moved = after - before;
    let bytes = moved.read_bytes.saturating_add(moved.written_bytes);
    if bytes > BUSY_BYTES {
        return Err((Skip::Busy, format!("{} went over it within a second", assay_core::units::Bytes(bytes))));
    }
    Ok(())
}

/// How full it is, in whole percent.
fn fill(plan: &Plan, path: &Path) -> Option<u64> {
    let space = Directory::open(path).ok().filter(|_| !plan.raw)?.space().ok()?;
    (space.bytes > 0).then(|| (space.bytes.saturating_sub(space.free_bytes)) * 100 / space.bytes)
}

/// Arguments of `assay run` for a night; a second run is twice as long.
pub(super) fn run_words(plan: &Plan, which: &str) -> Vec<String> {
    let (times, repeats) = if which == SECOND { (2, 6) } else { (1, 3) };
    let watch = match &plan.measured {
        Measured::Here => &plan.name,
        Measured::Node { fleet, .. } => fleet,
    };
    let mut words = vec![
        ("--suite", plan.suite.clone()),
        ("--repeats", format!("{repeats}")),
        ("--budget", format!("{}s", plan.budget_seconds * times)),
        ("--label", format!("{WATCH_LABEL}={watch}")),
        ("--label", format!("{RUN_LABEL}={which}")),
    ];
    if !plan.raw {
        words.push(("--max-write", format!("{}", plan.max_write_bytes)));
    }
    words.into_iter().flat_map(|(option, value)| [option.to_owned(), value]).collect()
}

/// Measures by a run of this program, which keeps its record in the store; a second run is twice as long.
fn record(plan: &Plan, path: &Path, fill: Option<u64>, which: &str) -> Result<Record, Reason> {
    let failed = |detail: String| (Skip::Failed, detail);
    let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let mut command = Command::new(program);
    command.arg("run").arg(path).args(["--quiet", "--json"]).args(run_words(plan, which));
    if let Some(percent) = fill {
        command.args(["--label", &format!("{FILL_LABEL}={percent}")]);
    }
    if plan.raw {
        command.arg("--raw");
    }
    let done = command.stdin(Stdio::null()).output().map_err(|error| failed(error.to_string()))?;
    let text = String::from_utf8_lossy(&done.stdout);
    Record::from_json(&text).map_err(|_| {
        let said = String::from_utf8_lossy(&done.stderr);
        failed(said.lines().last().unwrap_or("it said nothing").trim_start_matches("assay: ").to_owned())
    })
}
