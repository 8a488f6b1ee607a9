//! The quick probe of a device.

use std::path::Path;
use std::time::Duration;

use assay_core::exit::Exit;
use assay_core::text::harmless;
use assay_core::units::{Bytes, rate, span};
use assay_device::Sysroot;
use assay_device::guard::check_probe;
use assay_engine::Control;
use assay_runner::RunError;
use assay_verify::probe::{
    BlockDevice, Device, Forecast, Identity, Journal, JournalLeft, JournalPlace, Phase, ProbeError, ProbePlan, Probed,
    Progress, Salt, Settings, TimedDevice, check_suitable, plan, run,
};

use super::record::{begin, finish};
use crate::cli::VerifyArgs;
use crate::failure::Failure;
use crate::output::{self, shown};
use crate::progress::Status;
use crate::{journals, signals};

pub(super) fn probe(args: &VerifyArgs) -> Result<Exit, Failure> {
    let (record, seen) = begin(args, "quick probe")?;
    // What the device holds is put back, so that a file system on it is no reason to refuse; a
    // device in use still is one, and so is any other part of its disks, which is not saved.
    let named = args.target.to_string_lossy();
    let permit = check_probe(&Sysroot::real(), &args.target)?;
    let device = BlockDevice::open(&permit)?;
    let mut device = TimedDevice::new(device, args.hang_after).map_err(RunError::NoThread)?;
    check_suitable(&device).map_err(|error| Failure::usage(format!("{}: {error}", shown(&args.target))))?;
    let control = Control::default();
    signals::stop_on_signals(&control)?;
    let identity = Identity {
        bytes: device.bytes(),
        name: named.into_owned(),
        serial: seen.medium.unit,
        attachment: permit.held().attachment(),
    };
    let path = journals::new_place(&args.target, args.journal.as_deref())?;
    let place = place_of(args, &path).inspect_err(|_| journals::forget(&path))?;
    let settings = match args.cache {
        Some(size) => Settings { cache_limit_bytes: size.0 },
        None => Settings::usual(identity.bytes),
    };
    let most = plan(identity.bytes, device.block_bytes(), &settings);
    let journal = new_journal(&path, &identity, &most)?;
    let status = announce(args, &path, &journal, &place, &most);
    let mend = journals::restore_command(&path, &args.target);
    signals::last_words(Some(format!("interrupted, not everything is put back; continue with: {mend}")));
    let start = control.now();
    let begun = watched(&mut device, journal, &settings, most, &control, status);
    signals::last_words(None);
    let probed = begun.map_err(|error| {
        // Nothing was overwritten.
        let _ = std::fs::remove_file(&path);
        journals::forget(&path);
        Failure::usage(error.to_string())
    })?;
    let left = probed.journal;
    let exit = finish(args, record.close_probe(probed, &path, &control, control.elapsed(&start)))?;
    match left {
        JournalLeft::Needed => output::tell(&format!("not everything is put back; continue with: {mend}")),
        JournalLeft::UntilSeenAgain => {
            output::tell(&format!("everything is put back; {}", super::restore::kept_until_seen_again(&shown(&path))));
        }
        JournalLeft::Removed => journals::forget(&path),
    }
    Ok(exit)
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
fn new_journal(path: &Path, identity: &Identity, most: &ProbePlan) -> Result<Journal, Failure> {
    let salt = Salt::random().map_err(|e| Failure::environment(format!("no random numbers from the kernel: {e}")))?;
    let mut journal = Journal::create(path, identity, salt).inspect_err(|_| journals::forget(path))?;
    if let Err(error) = journal.reserve(most.most_journal_bytes) {
        journal.abandon();
        journals::forget(path);
        return Err(error.into());
    }
    Ok(journal)
}

/// Says what is going to happen, and how it is mended where the process does not come to its end.
fn announce(args: &VerifyArgs, path: &Path, journal: &Journal, place: &JournalPlace, most: &ProbePlan) -> Status {
    let mend = journals::restore_command(path, &args.target);
    output::tell(&format!("what is overwritten is saved first; if this is cut off: {mend}"));
    let mut status = Status::new(args.quiet);
    status.say(&format!(
        "writes about {} and reads about {} on a genuine device, writes at most {} on any other; puts everything back",
        Bytes(most.written_bytes),
        Bytes(most.read_bytes),
        Bytes(most.most_written_bytes),
    ));
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
    settings: &Settings,
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
            status.say(&format!("a genuine device: about {} in total, at the speed of the first transfers", span(all)));
        }
        status.show(|| line(&progress, &forecast));
    })
}

fn line(progress: &Progress, forecast: &Forecast) -> String {
    let phase = match progress.phase {
        Phase::Discovering => "searching for losses",
        Phase::FindingPeriod => "searching where addresses repeat",
        Phase::Mapping => "searching for the exact limits",
        Phase::Restoring => "puts everything back",
    };
    let (written, read) = (Bytes(progress.written_bytes), Bytes(progress.read_bytes));
    let mut line = format!("{phase}  {written} written, {read} read  {}", rate(forecast.bytes_per_second()));
    // How much a fake takes is not known before.
    let foreseen = progress.lost == 0 && matches!(progress.phase, Phase::Discovering | Phase::Restoring);
    if let Some(left) = forecast.left().filter(|_| foreseen) {
        line += &format!("  {} left", span(Duration::from_secs(left.as_secs())));
    }
    match (progress.places, progress.lost) {
        (0, _) => {}
        (places, 0) => line += &format!("  nothing found so far in {places} of {} places", progress.of.max(places)),
        (places, lost) => line += &format!("  {lost} of {places} places lost what was written"),
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_fast_how_long_and_what_was_found() {
        let mut forecast = Forecast::new(plan(1 << 30, 512, &Settings::default()));
        let mut progress =
            Progress { phase: Phase::Discovering, written_bytes: 0, read_bytes: 0, places: 12, of: 400, lost: 0 };
        for step in 0..200 {
            forecast.observe(&progress, Duration::from_millis(step * 10));
            progress.written_bytes += 100_000 * (step % 2);
            progress.read_bytes += 100_000 * (1 - step % 2);
        }
        let said = line(&progress, &forecast);
        for words in ["10.0 MB/s", " s left", "nothing found so far in 12 of 400 places"] {
            assert!(said.contains(words), "{words}: {said}");
        }
        progress.lost = 3;
        let said = line(&progress, &forecast);
        assert!(said.contains("3 of 12 places lost") && !said.contains("nothing found") && !said.contains(" left"));
    }
}
