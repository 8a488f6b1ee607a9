//! One night: the medium is found by its identity, measured by a run of this program, and its record is judged. Messages go to
//! commands, by curl to addresses, by sendmail to people, and as figures to Prometheus.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use assay_core::exit::Exit;
use assay_core::record::Record;
use assay_core::text::{self, clean, harmless};
use assay_device::owned::Directory;
use assay_device::{ProofMeter, Sysroot, TargetInfo, look, survey};
use assay_engine::Control;
use assay_watch::{
    FILL_LABEL, FIRST, Kept, Plan, RUN_LABEL, SECOND, Skip, Skipped, Status, StatusEvent, WATCH_LABEL, metrics,
};
use jiff::Timestamp;

use super::{add, keep, words};
use crate::cli::WatchRunArgs;
use crate::documents::watch::{WatchMessage, WatchNightDocument, WatchRunDocument};
use crate::ending::{self, Failure};
use crate::{files, output, signals};

/// How long the traffic of others is looked at, and how much of it a second makes the medium busy.
const LOOK: Duration = Duration::from_secs(1);
/// See [`LOOK`].
const BUSY_BYTES: u64 = 8 << 20;

/// Why a night has no result, and the same in words where there are more.
type Reason = (Skip, String);

pub(super) fn run(args: &WatchRunArgs) -> Result<Exit, Failure> {
    let control = Control::default();
    signals::stop_on_signals(&control)?;
    let mut nights = Vec::new();
    for name in keep::named(&args.names)? {
        nights.push(night(&name)?);
        if control.stopped() {
            return Err(Failure::interrupted("interrupted; the night of this medium can be measured again"));
        }
    }
    let exit = ending::of_nights(
        nights.iter().flat_map(|night| &night.events).any(|event| event.event.what.is_alarm()),
        nights.iter().filter_map(|night| night.skipped.as_ref()).any(|skipped| skipped.reason != Skip::Done),
    );
    if args.json {
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
        night.skipped =
            Some(Skipped { at: now, reason: Skip::Busy, detail: "another night of it is under way".into() });
        return Ok(night);
    };
    let mut kept = keep::read(name)?;
    match measured(&mut kept, now, &mut night) {
        Ok(()) => {}
        Err((reason, detail)) => {
            let more = if detail.is_empty() { String::new() } else { format!(": {}", harmless(&detail)) };
            output::tell_wrapped(&format!("{name}: skipped, as {}{more}", words::skip(reason)));
            let skipped = Skipped { at: now, reason, detail };
            if reason != Skip::Done {
                kept.skipped = Some(skipped.clone());
            }
            night.skipped = Some(skipped);
        }
    }
    keep::write(&kept)?;
    for event in &night.events {
        output::tell_wrapped(&words::event(&kept.plan, &event.event));
    }
    tell(&kept, &night.events);
    if let Err(failure) = write_metrics(&kept, now) {
        output::tell_wrapped(failure.message());
    }
    Ok(night)
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
    night.record = Some(first.id.clone());
    let at = keep::began(&first).unwrap_or(now);
    let mut second_id = None;
    let taken = kept.take(&first, at, &mut || {
        let record = record(&plan, &path, fill, SECOND).ok()?;
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
        Ok(_) if plan.unit.is_none() => return Err((Skip::Absent, "another one is in its place".to_owned())),
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

/// Measures by a run of this program, which keeps its record in the store; a second run is twice as long.
fn record(plan: &Plan, path: &Path, fill: Option<u64>, which: &str) -> Result<Record, Reason> {
    let failed = |detail: String| (Skip::Failed, detail);
    let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let (times, repeats) = if which == SECOND { (2, 6) } else { (1, 3) };
    let mut command = Command::new(program);
    command.arg("run").arg(path).args(["--quiet", "--json", "--suite", &plan.suite]);
    command.args(["--repeats", &format!("{repeats}"), "--budget", &format!("{}s", plan.budget_seconds * times)]);
    command.args(["--label", &format!("{WATCH_LABEL}={}", plan.name), "--label", &format!("{RUN_LABEL}={which}")]);
    if let Some(percent) = fill {
        command.args(["--label", &format!("{FILL_LABEL}={percent}")]);
    }
    if plan.raw {
        command.arg("--raw");
    } else {
        command.args(["--max-write", &format!("{}", plan.max_write_bytes)]);
    }
    let done = command.stdin(Stdio::null()).output().map_err(|error| failed(error.to_string()))?;
    let text = String::from_utf8_lossy(&done.stdout);
    Record::from_json(&text).map_err(|_| {
        let said = String::from_utf8_lossy(&done.stderr);
        failed(said.lines().last().unwrap_or("it said nothing").trim_start_matches("assay: ").to_owned())
    })
}

/// A receiver that takes longer is ended.
const LONGEST: Duration = Duration::from_secs(60);

/// Tells all that the plan names. What cannot be told is said here; the event stays open all the same.
pub(super) fn tell(kept: &Kept, events: &[StatusEvent]) {
    for event in events.iter().filter(|event| event.event.what.is_alarm()) {
        let sentence = words::event(&kept.plan, &event.event);
        let plan = &kept.plan;
        let message = WatchMessage {
            watch: &plan.name,
            medium: &plan.title,
            target: &plan.target,
            happened: event,
            sentence: sentence.clone(),
        };
        let Ok(json) = output::json(&message) else { continue };
        let json = text::json(&json.to_string()) + "\n";
        let said = |what: &str, done: Result<(), String>| {
            if let Err(reason) = done {
                output::tell_wrapped(&format!("{what} did not take the message {}: {reason}", event.id));
            }
        };
        for command in &plan.notify {
            said(&format!("--notify `{command}`"), receive("sh", &["-c", command], &json));
        }
        for address in &plan.webhooks {
            let words =
                ["-fsS", "-m", "30", "-H", "Content-Type: application/json", "--data-binary", "@-", "--", address];
            said(&format!("--webhook {address}"), receive("curl", &words, &json));
        }
        for address in &plan.mail {
            let subject = clean(&format!("assay: {}", event.id));
            let mail =
                format!("To: {address}\nSubject: {subject}\nContent-Type: text/plain; charset=utf-8\n\n{sentence}\n");
            said(&format!("--mail {address}"), receive("sendmail", &["-t", "-i"], &mail));
        }
    }
}

/// Runs a command with a text on its standard input; why it failed.
fn receive(program: &str, words: &[&str], input: &str) -> Result<(), String> {
    let spawned =
        Command::new(program).args(words).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let mut child = spawned.map_err(|error| format!("{program}: {error}"))?;
    if let Some(mut pipe) = child.stdin.take() {
        // One that reads nothing has got the message by being called.
        let _ = pipe.write_all(input.as_bytes());
    }
    let begun = Instant::now();
    loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => {
                let mut said = String::new();
                let _ = child.stderr.take().map(|pipe| pipe.take(4096).read_to_string(&mut said));
                let last = said.lines().last().unwrap_or_default();
                return Err(format!("it ended with {status} {last}").trim_end().to_owned());
            }
            None if begun.elapsed() > LONGEST => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("it took longer than {} s", LONGEST.as_secs()));
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

/// Writes the file for Prometheus, whole or not at all.
pub(super) fn write_metrics(kept: &Kept, now: i64) -> Result<(), Failure> {
    let Some(file) = &kept.plan.textfile else { return Ok(()) };
    files::write_whole(Path::new(file), metrics(&Status::of(kept, now)))
}
