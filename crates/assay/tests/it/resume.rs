//! Runs that are interrupted and resumed.

use assay_core::event::EventKind;
use assay_core::finding::Finding;
use assay_core::outcome::Outcome;
use assay_core::record::Record;
use assay_core::units::MIB;
use assay_lab::{FastDevice, Lab, LoopDevice, Missing, Mount, lab};
use rustix::process::Signal;

use crate::common::{Place, Running, assert_empty, random, run, suite};

/// A suite of two workloads.
fn long() -> String {
    suite("long", "30s", 2, &[random("r", "read", "1s"), random("w", "write", "1s")])
}

/// A run by it, which begins.
fn begin(place: &Place) -> Running {
    place.file("long.toml", long());
    place.begin("long.toml", &[])
}

fn resumed(record: &Record) -> bool {
    record.warnings.iter().any(|w| matches!(w.finding, Finding::Resumed { .. }))
}

#[test]
fn what_was_measured_before_is_not_measured_again() {
    let place = Place::new();
    let mut running = begin(&place);
    for _ in 0..3 {
        running.wait_for(|event| matches!(event, EventKind::RepeatFinished { .. }));
    }
    running.signal(Signal::INT);
    assert_eq!(running.end().code, Some(130));
    let cut = place.only_record();
    let before: Vec<usize> = cut.measurements.iter().map(|m| m.repeats.len()).collect();
    assert_eq!(before[0], 2, "both reads were done");
    let next = format!("next      assay run --resume={}    continues this run", cut.id);
    let shown = run(place.assay(["show", "last"]));
    assert!(shown.succeeds().stdout.contains(&next), "{}", shown.stdout);

    let done = run(place.assay(["run", "--resume", "--json"]));
    done.measures();
    assert!(done.stderr.contains(&format!("resumes run {}", cut.id)), "{}", done.stderr);
    let record = place.only_record();
    assert_eq!((&record.id, &record.created), (&cut.id, &cut.created));
    assert_eq!(record.outcome, Outcome::Completed);
    assert!(resumed(&record));
    assert_eq!(record.measurements[0].repeats, cut.measurements[0].repeats);
    for measurement in &record.measurements {
        let completed = measurement.repeats.iter().filter(|r| r.outcome == Outcome::Completed).count();
        assert_eq!(completed, 2, "{}", measurement.workload.name);
        assert_eq!(measurement.iops.as_ref().unwrap().n, 2);
        let times: Vec<u64> = measurement.repeats.iter().flat_map(|r| &r.samples).map(|s| s.t_ns).collect();
        assert!(times.is_sorted(), "{times:?}");
    }
    assert!(record.settings().unwrap().elapsed_ns > cut.settings().unwrap().elapsed_ns);
    assert!(record.settings().unwrap().written_bytes > cut.settings().unwrap().written_bytes);
    assert!(record.settings().unwrap().written_bytes <= record.settings().unwrap().max_write_bytes);
    assert_empty(&place.medium());

    // It is done now.
    let shown = run(place.assay(["show", "last"]));
    assert!(!shown.succeeds().stdout.contains("--resume"), "{}", shown.stdout);
    let again = run(place.assay(["run", "--resume"]));
    assert_eq!(again.code, Some(2));
    assert!(again.stderr.contains("nothing to resume"), "{}", again.stderr);
    let named = run(place.assay(["run", &format!("--resume={}", cut.id)]));
    assert_eq!(named.code, Some(2));
    assert!(named.stderr.contains("cannot be resumed: it was completed"), "{}", named.stderr);
}

/// The write limit left after an interruption once made the test area smaller, and figures of both areas one estimate.
#[test]
fn the_test_area_keeps_its_size_and_the_count_goes_on() {
    let place = Place::new();
    place.file("long.toml", long().replace("256MiB", "16MiB"));
    let mut command = place.assay(["run", "--events", "--suite", "long.toml"]);
    command.arg(place.medium());
    let mut running = Running::start(command);
    for _ in 0..3 {
        running.wait_for(|event| matches!(event, EventKind::RepeatFinished { .. }));
    }
    running.signal(Signal::INT);
    assert_eq!(running.end().code, Some(130));
    let cut = place.only_record();
    assert_eq!(cut.settings().unwrap().span_bytes, 4 * MIB);

    let mut running = Running::start(place.assay(["run", "--resume", "--events"]));
    let event = running.wait_for(|event| matches!(event, EventKind::RepeatStarted { .. }));
    let EventKind::RepeatStarted { done, total, .. } = event else { panic!("{event:?}") };
    assert_eq!((done, total), (3, 4), "three of four were made before");
    running.end();
    let record = place.only_record();
    assert_eq!(record.settings().unwrap().span_bytes, 4 * MIB);
    assert!(record.measurements.iter().all(|m| m.workload.span_bytes == 4 * MIB));
    let smaller = |w: &assay_core::finding::Warning| matches!(w.finding, Finding::SmallerSpan { .. });
    assert!(!record.all_warnings().any(smaller), "{:?}", record.warnings);
    assert_eq!(record.outcome, Outcome::Completed);
}

#[test]
fn a_run_whose_test_area_does_not_fit_any_more_is_not_resumed() {
    const TEST: &str = "a_run_whose_test_area_does_not_fit_any_more_is_not_resumed";
    let _lab = lab!(TEST, Lab::share());
    let card = lab!(TEST, FastDevice::new(64 * MIB));
    let place = Place::new();
    place.file("long.toml", long().replace("span = \"4MiB\"", "span = \"32MiB\""));
    let mut command = place.assay(["run", "--events", "--suite", "long.toml"]);
    command.arg(card.path());
    let mut running = Running::start(command);
    running.wait_for(|event| matches!(event, EventKind::RepeatFinished { .. }));
    running.signal(Signal::INT);
    running.end();
    let cut = place.only_record();
    std::fs::write(card.path().join("photos"), vec![7; 30 << 20]).unwrap();
    let done = run(place.assay(["run", "--resume", "--quiet"]));
    assert_eq!(done.code, Some(2), "{}", done.stderr);
    assert!(
        done.stderr.contains("its test area had 32 MiB") && done.stderr.contains("free some space"),
        "{}",
        done.stderr
    );
    assert_eq!(place.only_record(), cut);
}

#[test]
fn another_medium_is_refused() {
    const TEST: &str = "another_medium_is_refused";
    let _lab = lab!(TEST, Lab::share());
    let card = lab!(TEST, FastDevice::new(64 * MIB));
    let place = Place::new();
    let mut running = begin(&place);
    running.wait_for(|event| matches!(event, EventKind::RepeatFinished { .. }));
    running.signal(Signal::INT);
    running.end();
    let cut = place.only_record();
    let mut command = place.assay(["run", "--resume"]);
    command.arg(card.path());
    let done = run(command);
    assert_eq!(done.code, Some(2), "{}", done.stderr);
    assert!(done.stderr.contains("it measured another medium"), "{}", done.stderr);
    assert_eq!(place.only_record(), cut);
}

/// A card that can be taken out and put in again, mounted at the same place each time.
struct Slot<'a> {
    place: &'a Place,
    card: Option<(LoopDevice, Mount)>,
}

impl<'a> Slot<'a> {
    fn new(place: &'a Place) -> Result<Self, Missing> {
        let image = place.file("card.img", []);
        std::fs::File::options().write(true).open(&image).unwrap().set_len(64 * MIB).unwrap();
        let made = std::process::Command::new("mkfs.ext4").arg("-q").arg(&image).status();
        if !made.is_ok_and(|status| status.success()) {
            return Err(Missing("needs mkfs.ext4".to_owned()));
        }
        std::fs::copy(&image, place.path().join("another.img")).unwrap();
        let mut slot = Self { place, card: None };
        slot.put_in()?;
        Ok(slot)
    }

    fn take_out(&mut self) {
        // Unmounted before it is detached.
        if let Some((device, mount)) = self.card.take() {
            drop(mount);
            drop(device);
        }
    }

    fn put_in(&mut self) -> Result<(), Missing> {
        let device = LoopDevice::attach(&self.place.path().join("card.img"), false)?;
        let mount = Mount::existing(device.path(), &self.place.medium(), "rw,noatime")?;
        self.card = Some((device, mount));
        Ok(())
    }

    /// Puts a card in that looks the same in every respect, as two that were written from one image.
    fn exchange(&mut self) -> Result<(), Missing> {
        self.take_out();
        std::fs::rename(self.place.path().join("another.img"), self.place.path().join("card.img")).unwrap();
        self.put_in()
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        self.take_out();
    }
}

/// Threat 22: two cards without serial numbers were mixed in one record.
#[test]
fn another_card_without_a_serial_number_is_not_taken_for_the_one_that_was_measured() {
    const TEST: &str = "another_card_without_a_serial_number_is_not_taken_for_the_one_that_was_measured";
    let _lab = lab!(TEST, Lab::share());
    for killed in [false, true] {
        let place = Place::new();
        let mut slot = lab!(TEST, Slot::new(&place));
        let mut running = begin(&place);
        running.wait_for(|event| matches!(event, EventKind::RepeatFinished { .. }));
        if killed {
            running.kill();
        } else {
            running.signal(Signal::INT);
            running.end();
        }
        let before = place.only_record();
        assert_eq!(before.medium.unit, None);
        slot.exchange().unwrap();
        let refused = run(place.assay(["run", "--resume", "--quiet"]));
        assert_eq!(refused.code, Some(2), "killed {killed}: {}", refused.stderr);
        assert!(refused.stderr.contains("no serial number of its own"), "{}", refused.stderr);
        assert_eq!(place.only_record().measurements, before.measurements);
    }
}

/// What a killed run left on the card shows that it is the same, though it was taken out.
#[test]
fn a_card_that_bears_the_trace_of_the_killed_run_is_resumed() {
    const TEST: &str = "a_card_that_bears_the_trace_of_the_killed_run_is_resumed";
    let _lab = lab!(TEST, Lab::share());
    let place = Place::new();
    let mut slot = lab!(TEST, Slot::new(&place));
    let mut running = begin(&place);
    running.wait_for(|event| matches!(event, EventKind::RepeatFinished { .. }));
    running.kill();
    slot.take_out();
    slot.put_in().unwrap();
    run(place.assay(["run", "--resume", "--quiet"])).measures();
    assert_eq!(place.only_record().outcome, Outcome::Completed);
    assert_empty(&place.medium());
}
