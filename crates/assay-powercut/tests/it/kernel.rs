//! The same through the real kernel: a device that forgets what was not flushed, behind FUSE and a loop device, raw and with
//! ext4 on it. As root.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use assay_endure::Attached;
use assay_lab::{FakeCard, Lab, Missing, Mount, SplitMix, lab};
use assay_powercut::{
    Answer, Begin, CutReport, Ended, FileKeep, FilePlace, Ledger, Load, LoadEnd, Place, Round, State, fill, judge, look,
};

use crate::model::{BLOCKS, Handle, Kind};
use crate::rounds::{about, begin};

const HANG: Duration = Duration::from_secs(60);

/// Opens a device or a file, for the fill and the check, and for the load.
fn open(area: &Path) -> (Attached, Arc<dyn Place>) {
    let direct = rustix::fs::OFlags::DIRECT.bits() as i32;
    let open = || File::options().read(true).write(true).custom_flags(direct).open(area).unwrap();
    let medium = Attached::new(open(), BLOCKS * 4096, 512, HANG, Box::new(|| true)).unwrap();
    (medium, Arc::new(FilePlace::new(open(), Box::new(|| true))))
}

/// Fills and loads, and cuts the power at a random moment.
fn round(area: &Path, disk: &Handle, ledger: &Arc<Mutex<Ledger>>, rng: &mut SplitMix) {
    let round = Round { at: String::new(), path: String::new(), attached: None, flushes: Some(true), marked: None };
    ledger.lock().unwrap().begin_round(round).unwrap();
    let (mut medium, place) = open(area);
    fill(&mut medium, ledger, &mut |_| true).unwrap();
    drop(medium);
    let load = Load::begin(&place, ledger).unwrap();
    let (began, moment) = (Instant::now(), Duration::from_millis(rng.below(400)));
    let (end, left) = load.wait(HANG, &mut || {
        // Something has to be acknowledged, however busy the machine is.
        if began.elapsed() >= moment && ledger.lock().unwrap().state().acknowledged().values().sum::<u64>() >= 100 {
            disk.disk().off = true;
        }
        true
    });
    assert!(left.is_done() && matches!(end, LoadEnd::Errs | LoadEnd::ReadOnly), "{end:?}");
    ledger.lock().unwrap().end(Ended { end, by_command: true }).unwrap();
}

fn check(area: &Path, ledger: &Arc<Mutex<Ledger>>) -> CutReport {
    let mut ledger = ledger.lock().unwrap();
    let (mut medium, _) = open(area);
    let seen = look(&mut medium, ledger.state(), Duration::ZERO, &mut |_| true).unwrap();
    let checked = judge(ledger.state(), Ok(&seen), about());
    let report = checked.report.clone();
    ledger.checked(checked).unwrap();
    report
}

fn ledger(directory: &Path, begin: &Begin) -> Arc<Mutex<Ledger>> {
    let keep = FileKeep::create(&directory.join("a.ledger"), begin).unwrap();
    Arc::new(Mutex::new(Ledger::new(Box::new(keep), State::begin(begin.clone()).unwrap())))
}

/// The cuts of a raw device of this kind.
fn raw(kind: Kind, cuts: u32) -> Result<Vec<CutReport>, Missing> {
    let _lab = Lab::share()?;
    let disk = Handle::new(kind, 11);
    let card = FakeCard::new(disk.clone())?;
    let directory = tempfile::tempdir().unwrap();
    let (ledger, mut rng) = (ledger(directory.path(), &begin(0xabcd)), SplitMix::new(3));
    let area = card.path();
    let mut reports = Vec::new();
    for _ in 0..cuts {
        round(area, &disk, &ledger, &mut rng);
        disk.disk().power_cycle();
        reports.push(check(area, &ledger));
    }
    // The file says the same as the process.
    let kept = FileKeep::look(&directory.path().join("a.ledger")).unwrap();
    assert_eq!(kept.document(), ledger.lock().unwrap().state().document());
    Ok(reports)
}

#[test]
fn a_device_that_forgets_only_what_was_not_flushed_is_not_accused() {
    let reports = lab!("kernel::honest", raw(Kind::Honest, 8));
    for report in &reports {
        assert_eq!(report.answer, Answer::Kept, "{report:#?}");
        assert_eq!(report.modes.len(), 3, "{report:#?}");
    }
    let open = reports.iter().map(|report| report.issued - report.acknowledged).sum::<u64>();
    assert!(open > 0, "writes were under way");
}

#[test]
fn a_device_that_ignores_flush_is_told() {
    let reports = lab!("kernel::ignores", raw(Kind::IgnoresFlush(20), 3));
    for report in reports {
        assert_eq!(report.answer, Answer::Failed);
        assert!(report.lost > 0 && report.garbage + report.older_damaged + report.unreadable == 0, "{report:#?}");
        assert!(report.longest_ago_ns.is_some() && !report.examples.is_empty());
    }
}

#[test]
fn a_device_that_flushes_in_part_is_told() {
    let reports = lab!("kernel::reorders", raw(Kind::Reorders, 5));
    assert!(reports.iter().any(|report| report.answer == Answer::Failed && report.reordered > 0), "{reports:#?}");
}

/// ext4 replays its journal when it is mounted again, and the file keeps what fsync acknowledged.
#[test]
fn a_file_on_ext4_keeps_what_was_acknowledged() {
    let _lab = lab!("kernel::ext4", Lab::share());
    let disk = Handle::sized(Kind::Honest, 12, 16 << 8);
    let card = lab!("kernel::ext4", FakeCard::new(disk.clone()));
    let directory = tempfile::tempdir().unwrap();
    let point = directory.path().join("mnt");
    let mut mount = Some(lab!("kernel::ext4", Mount::ext4(card.path(), &point)));
    let file = point.join("load");
    let made = File::create(&file).unwrap();
    assay_endure::reserve(&made, BLOCKS * 4096).unwrap();
    made.sync_all().unwrap();
    File::open(&point).unwrap().sync_all().unwrap();
    drop(made);
    let (ledger, mut rng) = (ledger(directory.path(), &begin(0xef01)), SplitMix::new(4));
    for _ in 0..4 {
        round(&file, &disk, &ledger, &mut rng);
        drop(mount.take());
        disk.disk().power_cycle();
        mount = Some(Mount::existing(card.path(), &point, "rw,noatime").unwrap());
        let report = check(&file, &ledger);
        assert_eq!(report.answer, Answer::Kept, "{report:#?}");
    }
}
