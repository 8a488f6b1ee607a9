//! The quick probe's plan, compared with what a model counts.

use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use assay_core::verification::Verdict;
use assay_engine::Control;
use assay_lab::media::{Cache, Layout, MediumSpec, ModelMedium, Timing};
use assay_verify::probe::{Device, Fault, Forecast, Identity, Journal, Progress, Salt, Settings, plan, run};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const TIB: u64 = 1 << 40;

/// A medium whose clock is shared.
struct Clocked {
    medium: ModelMedium,
    ns: Rc<Cell<u64>>,
}

impl Device for Clocked {
    fn bytes(&self) -> u64 {
        self.medium.bytes()
    }
    fn block_bytes(&self) -> u32 {
        self.medium.block_bytes()
    }
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        let done = self.medium.read_at(offset, buffer);
        self.ns.set(self.medium.elapsed_ns());
        done
    }
    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<(), Fault> {
        let done = self.medium.write_at(offset, data);
        self.ns.set(self.medium.elapsed_ns());
        done
    }
    fn sync(&mut self) -> Result<(), Fault> {
        self.medium.sync()
    }
}

/// Probes a medium. Returns it, and the largest size of its journal in bytes.
fn probe(
    spec: &MediumSpec,
    settings: &Settings,
    ns: &Rc<Cell<u64>>,
    report: &mut dyn FnMut(Progress),
) -> (ModelMedium, u64, Verdict) {
    let mut medium = Clocked { medium: spec.build().unwrap(), ns: Rc::clone(ns) };
    let memory = Path::new("/dev/shm");
    let directory = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
    let path = directory.path().join("journal");
    let identity = Identity { bytes: spec.announced_bytes, name: "model".to_owned(), serial: None, attachment: None };
    let journal = Journal::create(&path, &identity, Salt::known(5)).unwrap();
    let mut journal_bytes = 0;
    let probed = run(&mut medium, journal, settings, &Control::default(), &mut |progress| {
        journal_bytes = journal_bytes.max(std::fs::metadata(&path).map_or(0, |meta| meta.len()));
        report(progress);
    })
    .unwrap();
    (medium.medium, journal_bytes, probed.verification.verdict)
}

/// Whether both are within a factor of 1.5.
fn near(said: u64, came: u64) -> bool {
    said * 2 <= came * 3 && said * 3 >= came * 2
}

/// The announced bytes were those of another search: they were never compared.
#[test]
fn a_genuine_device_costs_what_was_said_within_a_factor_of_one_and_a_half() {
    let mut wrong = Vec::new();
    for (bytes, block) in [
        (64 * MIB, 512),
        (500 * MIB, 512),
        (4 * GIB, 512),
        (64 * GIB, 4096),
        (512 * GIB, 512),
        (TIB, 512),
        (2 * TIB, 512),
        (2 * TIB, 4096),
    ] {
        let settings = Settings::usual(bytes);
        let said = plan(bytes, block, &settings);
        let (medium, journal, verdict) = probe(
            &MediumSpec { block_bytes: block, ..MediumSpec::genuine(bytes) },
            &settings,
            &Rc::default(),
            &mut |_| {},
        );
        assert_eq!(verdict, Verdict::Genuine);
        let came = medium.traffic();
        let line = format!("{bytes} in blocks of {block}: {said:?}, {came:?}");
        let pairs = [
            (said.written_bytes, came.written_bytes),
            (said.read_bytes, came.read_bytes),
            (said.writes, came.writes),
            (said.reads, came.reads),
        ];
        if !pairs.iter().all(|(said, came)| near(*said, *came)) || journal > said.most_journal_bytes {
            wrong.push(line);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Each restored byte is read before, and written in two rounds. That takes 15 s at most on a fast device, and 3
/// minutes on a card.
#[test]
fn a_genuine_device_of_2_tib_costs_at_most_400_mb() {
    for (timing, most_s) in [(Timing::ssd(), 15), (Timing::card(), 180)] {
        let spec = MediumSpec { timing, ..MediumSpec::genuine(2 * TIB) };
        let (medium, ..) = probe(&spec, &Settings::usual(2 * TIB), &Rc::default(), &mut |_| {});
        let came = medium.traffic();
        println!("{} bytes, {} ns", came.read_bytes + came.written_bytes, medium.elapsed_ns());
        assert!(came.read_bytes + came.written_bytes <= 400_000_000, "{came:?}");
        assert!(medium.elapsed_ns() <= most_s * 1_000_000_000, "{} ns", medium.elapsed_ns());
    }
}

/// The journal of a small device needs no more room than the size of the device and the heads of the records.
#[test]
fn the_journal_takes_no_more_than_was_demanded_and_that_is_no_more_than_the_device_holds() {
    for bytes in [64 << 10, MIB, 16 * MIB, 128 * MIB] {
        let specs = [
            MediumSpec::genuine(bytes),
            MediumSpec::limbo(bytes, bytes / 4).with_cache(Cache::with_bytes(bytes / 32)),
            MediumSpec::laid_out(bytes, Layout::wraparound(bytes / 4)),
            MediumSpec::laid_out(bytes, Layout::chain(bytes / 4, bytes / 8)),
        ];
        let demanded = plan(bytes, 512, &Settings::usual(bytes)).most_journal_bytes;
        assert!(demanded <= bytes + bytes / 4 + (64 << 10), "{demanded} for {bytes}");
        for spec in specs {
            let (_, journal, _) = probe(&spec, &Settings::usual(bytes), &Rc::default(), &mut |_| {});
            assert!(0 < journal && journal <= demanded, "{journal} of {demanded}: {spec:?}");
        }
    }
}

/// No time was announced at all.
#[test]
fn the_time_said_after_the_first_transfers_comes_within_a_factor_of_one_and_a_half() {
    let mut wrong = Vec::new();
    for timing in [Timing::card(), Timing::slow_card(), Timing::ssd()] {
        for bytes in [256 * MIB, 32 * GIB, 2 * TIB] {
            let settings = Settings::usual(bytes);
            let (ns, mut first) = (Rc::new(Cell::new(0)), None);
            let mut forecast = Forecast::new(plan(bytes, 512, &settings));
            let spec = MediumSpec { timing: timing.clone(), ..MediumSpec::genuine(bytes) };
            let (medium, ..) = probe(&spec, &settings, &ns, &mut |progress| {
                let now = Duration::from_nanos(ns.get());
                forecast.observe(&progress, now);
                first = first.or(forecast.left().map(|left| (now, now + left)));
            });
            let (at, said) = first.unwrap();
            let came = medium.elapsed_ns();
            if !near(said.as_nanos() as u64, came) || at.as_nanos() as u64 > came / 2 {
                wrong.push(format!("{bytes}: {said:?} said after {at:?}, {} s came", came / 1_000_000_000));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// `lost` was always 0, and `places` counted sectors.
#[test]
fn progress_counts_places_and_those_whose_loss_was_seen() {
    let settings = Settings::usual(GIB);
    for (spec, fake) in [(MediumSpec::genuine(GIB), false), (MediumSpec::limbo(GIB, GIB / 2), true)] {
        let (mut places, mut of, mut lost) = (0, 0, 0);
        probe(&spec, &settings, &Rc::default(), &mut |progress| {
            if progress.of > 0 {
                assert!(places <= progress.places && lost <= progress.lost && progress.lost <= progress.places);
                (places, of, lost) = (progress.places, progress.of, progress.lost);
            }
        });
        if fake {
            assert!(lost > 100, "{lost} of {places}");
        } else {
            assert_eq!((places, lost), (of, 0));
        }
    }
}
