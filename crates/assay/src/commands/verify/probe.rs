//! The quick probe of a device, and what is done about its journal: putting back what it overwrote, or giving that up.

use std::io::BufRead;
use std::path::Path;
use std::time::Duration;

use assay_core::exit::Exit;
use assay_core::text::harmless;
use assay_core::units::{Bytes, rate, span};
use assay_device::Sysroot;
use assay_device::guard::{check_probe, check_raw};
use assay_engine::Control;
use assay_runner::RunError;
use assay_verify::probe::{
    BlockDevice, Device, Differing, Forecast, Journal, JournalError, JournalIdentity, JournalLeft, JournalPlace,
    PlaceStanding, ProbeError, ProbePhase, ProbePlan, ProbeProgress, ProbeSettings, Probed, Restoration,
    RestoreProgress, RestoreStep, Restored, Salt, TimedDevice, check_suitable, described, plan, run,
};

use super::{CheckEvents, begin_record, finish_record, would_do};
use crate::cli::VerifyArgs;
use crate::documents::RestoreDocument;
use crate::ending::Failure;
use crate::output::{self, shown};
use crate::progress::{Status, time_left};
use crate::{leftovers, signals};

pub(super) fn probe(args: &VerifyArgs) -> Result<Exit, Failure> {
    let (record, seen) = begin_record(args, "quick probe")?;
    // What the device holds is put back, so that a file system on it is no reason to refuse; a
    // device in use still is one, and so is any other part of its disks, which is not saved.
    let named = args.target.to_string_lossy();
    let permit = check_probe(&Sysroot::real(), &args.target)?;
    let device = BlockDevice::open(&permit)?;
    let mut device = TimedDevice::new(device, args.hang_after).map_err(RunError::NoThread)?;
    check_suitable(&device).map_err(|error| Failure::usage(format!("{}: {error}", shown(&args.target))))?;
    let control = Control::default();
    signals::stop_on_signals(&control)?;
    let identity = JournalIdentity {
        bytes: device.bytes(),
        name: named.into_owned(),
        serial: seen.medium.unit,
        attachment: permit.held().attachment(),
    };
    let settings = settings(args, identity.bytes)?;
    if args.dry_run {
        return would_do(&volume(&plan(identity.bytes, device.block_bytes(), &settings)));
    }
    let path = leftovers::new_journal_place(&args.target, args.journal.as_deref())?;
    let place = place_of(args, &path).inspect_err(|_| leftovers::forget_journal(&path))?;
    let most = plan(identity.bytes, device.block_bytes(), &settings);
    let journal = new_journal(&path, &identity, &most)?;
    let status = announce(args, &path, &journal, &place, &most);
    let mend = leftovers::restore_command(&path, &args.target);
    signals::last_words(Some(format!("interrupted, not everything is put back; continue with: {mend}")));
    let start = control.now();
    let begun = watched(&mut device, journal, &settings, most, &control, status);
    signals::last_words(None);
    let probed = begun.map_err(|error| {
        // Nothing was overwritten.
        let _ = std::fs::remove_file(&path);
        leftovers::forget_journal(&path);
        Failure::usage(error.to_string())
    })?;
    let left = probed.journal;
    let exit = finish_record(args, record.close_probe(probed, &path, &control, control.elapsed(&start)))?;
    match left {
        JournalLeft::Needed => output::tell(&format!("not everything is put back; continue with: {mend}")),
        JournalLeft::UntilSeenAgain => {
            output::tell(&format!("everything is put back; {}", kept_until_seen_again(&shown(&path))));
        }
        JournalLeft::Removed => leftovers::forget_journal(&path),
    }
    Ok(exit)
}

/// How thorough the probe is. A cache that it cannot drive out on a device of `bytes` is refused.
fn settings(args: &VerifyArgs, bytes: u64) -> Result<ProbeSettings, Failure> {
    let Some(Bytes(asked)) = args.cache else { return Ok(ProbeSettings::usual(bytes)) };
    let most = bytes / ProbeSettings::RUN_SHARE;
    if asked > most {
        return Err(Failure::usage(format!(
            "{}: --cache {} is more than an eighth of the device; use {} at most, or check it mounted: assay verify DIR",
            shown(&args.target),
            Bytes(asked),
            Bytes(most)
        )));
    }
    Ok(ProbeSettings { cache_limit_bytes: asked })
}

/// Where the journal at `path` lies. On a disk that is probed it is refused, unless that place was named.
fn place_of(args: &VerifyArgs, path: &Path) -> Result<JournalPlace, Failure> {
    match Journal::refuse_same_device(path, &args.target)? {
        JournalPlace::SameDisk(disk) if args.journal.is_none() => Err(Failure::environment(format!(
            "{}: the journal would be on the disk that is probed ({}), and lost with it; name a file on another disk \
             with --journal, or this one to accept that",
            shown(path),
            harmless(&disk)
        ))),
        place => Ok(place),
    }
}

/// A journal with room for all that the probe may save.
fn new_journal(path: &Path, identity: &JournalIdentity, most: &ProbePlan) -> Result<Journal, Failure> {
    let salt = Salt::random().map_err(|e| Failure::environment(format!("no random numbers from the kernel: {e}")))?;
    let mut journal = Journal::create(path, identity, salt).inspect_err(|_| leftovers::forget_journal(path))?;
    if let Err(error) = journal.reserve(most.most_journal_bytes) {
        journal.abandon();
        leftovers::forget_journal(path);
        return Err(error.into());
    }
    Ok(journal)
}

/// How much a probe writes and reads.
fn volume(most: &ProbePlan) -> String {
    format!(
        "writes about {} and reads about {} on a genuine device, writes up to {} on a fake; puts everything back",
        Bytes(most.written_bytes),
        Bytes(most.read_bytes),
        Bytes(most.most_written_bytes),
    )
}

/// Says what is going to happen, and how it is mended where the process does not come to its end.
fn announce(args: &VerifyArgs, path: &Path, journal: &Journal, place: &JournalPlace, most: &ProbePlan) -> Status {
    let mend = leftovers::restore_command(path, &args.target);
    output::tell(&format!("overwritten blocks are saved first; after a crash: {mend}"));
    let mut status = Status::new(args.quiet || args.events);
    status.say(&volume(most));
    CheckEvents::new(args.events).phase("samples");
    match place {
        JournalPlace::Apart => {}
        JournalPlace::SameDisk(disk) => status.say(&format!(
            "{} is on the disk that is probed ({}): if that fails, the journal is lost with it",
            shown(path),
            harmless(disk)
        )),
        JournalPlace::Unknown(why) => status.say(&format!(
            "which disk {} is on cannot be told ({}): if it is the one that is probed, --journal names another place",
            shown(path),
            harmless(why)
        )),
    }
    if journal.is_volatile() {
        status.say(&format!(
            "{} is in memory: it does not survive a reboot; --journal names a file on a disk",
            shown(path)
        ));
    }
    status
}

/// Probes the device and shows how far it is.
fn watched(
    device: &mut TimedDevice,
    journal: Journal,
    settings: &ProbeSettings,
    most: ProbePlan,
    control: &Control,
    mut status: Status,
) -> Result<Probed, ProbeError> {
    let start = control.now();
    let (mut forecast, mut announced) = (Forecast::new(most), false);
    run(device, journal, settings, control, &mut |progress| {
        forecast.observe(&progress, control.elapsed(&start));
        // Said once; of what is no genuine device nothing is known beforehand.
        if let Some(left) = forecast.left().filter(|_| !announced && progress.lost == 0) {
            announced = true;
            let all = Duration::from_secs((control.elapsed(&start) + left).as_secs().max(1));
            status.say(&format!("takes about {} in total if the device is genuine", span(all)));
        }
        status.show(|| probe_line(&progress, &forecast));
    })
}

fn probe_line(progress: &ProbeProgress, forecast: &Forecast) -> String {
    let phase = match progress.phase {
        ProbePhase::Discovering => "searching for losses",
        ProbePhase::FindingPeriod => "searching where addresses repeat",
        ProbePhase::Mapping => "searching for the exact limits",
        ProbePhase::Restoring => "puts everything back",
    };
    let (written, read) = (Bytes(progress.written_bytes), Bytes(progress.read_bytes));
    let mut line = format!("{phase}  {written} written, {read} read  {}", rate(forecast.bytes_per_second()));
    // How much a fake takes is not known before.
    let foreseen = progress.lost == 0 && matches!(progress.phase, ProbePhase::Discovering | ProbePhase::Restoring);
    if let Some(left) = forecast.left().filter(|_| foreseen) {
        line += &format!("  {}", time_left(left));
    }
    match (progress.places, progress.lost) {
        (0, _) => {}
        (places, 0) => line += &format!("  no loss so far in {places} of {} places", progress.of.max(places)),
        (places, lost) => line += &format!("  {lost} of {places} places lost what was written"),
    }
    line
}

// Giving up what a journal holds, by its owner, in words.

/// Longest answer that is read.
const LONGEST: usize = 4096;

pub(super) fn discard(args: &VerifyArgs, journal: &Path) -> Result<Exit, Failure> {
    let what = match described(journal) {
        Ok(what) => format!(
            "{} holds the original contents of {} places of {} ({}) from before a quick probe",
            shown(journal),
            what.places,
            assay_core::text::harmless(&what.device.name),
            Bytes(what.device.bytes)
        ),
        // It is a journal, though of no use.
        Err(error @ (JournalError::OtherFormat { .. } | JournalError::Read { .. })) => error.to_string(),
        Err(error) => return Err(error.into()),
    };
    let name = journal.file_name().unwrap_or_default().to_string_lossy().into_owned();
    output::tell(&what);
    output::tell("without it, blocks that were not put back cannot be restored");
    output::tell(&format!("type {} to discard it:", shown(Path::new(&name))));
    let mut answer = Vec::new();
    let mut input = std::io::Read::take(std::io::stdin().lock(), LONGEST as u64);
    input.read_until(b'\n', &mut answer).map_err(|e| Failure::environment(format!("standard input: {e}")))?;
    if String::from_utf8_lossy(&answer).trim_end_matches(['\n', '\r']) != name {
        return Err(Failure::usage(format!("{}: kept, its name was not typed", shown(journal))));
    }
    std::fs::remove_file(journal)
        .map_err(|e| Failure::environment(format!("{}: cannot be removed ({e})", shown(journal))))?;
    leftovers::forget_journal(journal);
    if !args.quiet {
        output::tell(&format!("{} was discarded", shown(journal)));
    }
    Ok(Exit::Good)
}

// Putting back what a probe overwrote, after a crash or a pulled plug.

pub(super) fn restore(args: &VerifyArgs, journal: &Path) -> Result<Exit, Failure> {
    let sysroot = Sysroot::real();
    let seen = assay_device::look(&sysroot, &args.target)?;
    let named = args.target.to_string_lossy();
    let permit = check_raw(&sysroot, &args.target, Some(&named))?;
    if let Some(other) = leftovers::belongs_to_another(journal, &args.target) {
        let mend = leftovers::restore_command(journal, &other);
        return Err(Failure::usage(format!(
            "{}: {} was probed, and not {}; nothing was written, put it back with: {mend}",
            shown(&args.target),
            shown(&other),
            shown(&args.target)
        )));
    }
    let mut device = BlockDevice::open(&permit)?;
    let identity = JournalIdentity {
        bytes: device.bytes(),
        name: named.into_owned(),
        serial: seen.medium.unit,
        attachment: permit.held().attachment(),
    };
    let again = leftovers::restore_command(journal, &args.target);
    let control = Control::default();
    signals::last_words(Some(format!("interrupted, not everything is put back; continue with: {again}")));
    signals::stop_on_signals(&control)?;
    let mut status = Status::new(args.quiet);
    let done = Restoration::new(journal, &identity)
        .keeping_newer(args.keep_newer)
        .until(&|| control.stopped())
        .telling(&mut |progress| status.show(|| restore_line(&progress)))
        .run(&mut device);
    drop(status);
    signals::last_words(None);
    let done = done?;
    leftovers::forget_journal(journal);
    if args.json {
        output::print_json(&RestoreDocument {
            restored_bytes: done.bytes,
            differing_offsets: offsets(&done),
            already_restored: done.already,
            newer_offsets: done.newer.clone(),
            missing_places: done.missing.len(),
            stopped: done.stopped,
            journal_kept: done.journal != JournalLeft::Removed,
        })?;
    } else {
        output::print(&restored_text(&shown(&args.target), &shown(journal), &done))?;
    }
    if done.stopped {
        output::tell(&format!("continue with: {again}"));
        return Ok(Exit::Interrupted);
    }
    Ok(if done.is_complete() { Exit::Good } else { Exit::No })
}

fn restore_line(progress: &RestoreProgress) -> String {
    let step = match progress.step {
        RestoreStep::Looking => "compares with the original contents",
        RestoreStep::Writing => "puts back",
        RestoreStep::ReadingBack => "reads back",
    };
    format!("{step}  {} of {} places, {} written", progress.done, progress.places, Bytes(progress.written_bytes))
}

fn offsets(done: &Restored) -> Vec<u64> {
    done.differing.iter().map(|place| place.offset).collect()
}

fn restored_text(device: &str, journal: &str, done: &Restored) -> String {
    let amount = Bytes(done.bytes);
    if done.already {
        return format!("{device} still reads as before after it was attached anew; {journal} is removed");
    }
    if !done.is_complete() {
        let mend = if can_be_given_up(done) { "; --discard gives up what cannot come back" } else { "" };
        return format!("{device}: {amount} put back, not everything: {done}; {journal} is kept{mend}");
    }
    if done.untouched && done.journal == JournalLeft::Needed {
        return format!(
            "{device} reads as before, and nothing of the probe is on it: put back already, or another card with \
             the same content; {journal} is kept"
        );
    }
    format!("{device} is as before: {amount} put back; {}", kept_until_seen_again(journal))
}

/// Why a journal stays though everything was put back.
pub(super) fn kept_until_seen_again(journal: &str) -> String {
    format!(
        "wait a moment before you unplug the device: its cache may still be writing. Plug it in again and run \
         assay info: that removes the journal {journal}"
    )
}

/// Whether the device is proven to be the right one, and answers: only then nothing is lost with the journal.
fn can_be_given_up(done: &Restored) -> bool {
    let answers = |place: &Differing| matches!(place.standing, PlaceStanding::Blocks | PlaceStanding::Other);
    !done.untouched && !done.stopped && done.differing.iter().all(answers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_fast_how_long_and_what_was_found() {
        let mut forecast = Forecast::new(plan(1 << 30, 512, &ProbeSettings::default()));
        let mut progress = ProbeProgress {
            phase: ProbePhase::Discovering,
            written_bytes: 0,
            read_bytes: 0,
            places: 12,
            of: 400,
            lost: 0,
        };
        for step in 0..200 {
            forecast.observe(&progress, Duration::from_millis(step * 10));
            progress.written_bytes += 100_000 * (step % 2);
            progress.read_bytes += 100_000 * (1 - step % 2);
        }
        let said = probe_line(&progress, &forecast);
        for words in ["10.0 MB/s", " s left", "no loss so far in 12 of 400 places"] {
            assert!(said.contains(words), "{words}: {said}");
        }
        progress.lost = 3;
        let said = probe_line(&progress, &forecast);
        assert!(said.contains("3 of 12 places lost") && !said.contains("nothing found") && !said.contains(" left"));
    }
}
