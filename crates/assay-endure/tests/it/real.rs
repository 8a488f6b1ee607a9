//! A real device: three cycles on a loop device of 64 MiB, stopped within a slice and resumed, as root.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use assay_core::endurance::{LifeEnd, WearLoad};
use assay_device::Sysroot;
use assay_device::guard::check_raw;
use assay_device::owned::Caching;
use assay_endure::{Attached, Begin, Entry, Log, Medium, Recognised, State, Step, Wear, recognise, unit_on};

use crate::memory::begin;

struct Loop(PathBuf);

impl Loop {
    fn over(file: &std::path::Path) -> Option<Self> {
        let made = Command::new("losetup").args(["--find", "--show"]).arg(file).output().ok()?;
        let name = String::from_utf8(made.stdout).ok()?.trim().to_owned();
        (made.status.success() && !name.is_empty()).then(|| Self(PathBuf::from(name)))
    }

    fn open(&self) -> Attached {
        let named = self.0.to_string_lossy().into_owned();
        let permit = check_raw(&Sysroot::real(), &self.0, Some(&named)).unwrap();
        let file = permit.held().reopen(Caching::Direct).unwrap();
        let bytes = permit.held().bytes();
        Attached::new(file, bytes, 512, Duration::from_secs(30), Box::new(move || permit.held().present())).unwrap()
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.0).status();
    }
}

#[test]
fn three_cycles_of_a_loop_device_go_on_after_each_stop_and_find_a_sector_that_changed() {
    // In memory where that is possible: what is tested is not the speed of a disk.
    let directory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let log = directory.path().join("a.log");
    for (unit, load) in [(77, WearLoad::Whole), (78, WearLoad::RandomSync { block_bytes: 4096 })] {
        // A test finds nothing of another one.
        let image = directory.path().join(format!("image{unit}"));
        std::fs::File::create(&image).and_then(|file| file.set_len(64 << 20)).unwrap();
        let Some(device) = Loop::over(&image) else {
            eprintln!("SKIP: no loop device");
            return;
        };
        let _ = std::fs::remove_file(&log);
        // Each block that is synced takes a while.
        let bytes: u64 = if load == WearLoad::Whole { 64 << 20 } else { 1 << 20 };
        let begun = Begin { pages: bytes / 4096, ..begin(unit, load) };
        drop(Log::create(&log, &Entry::Begin(begun)).unwrap());
        let mut sessions = 0;
        let state: State = loop {
            sessions += 1;
            let (log, state) = Log::open(&log).unwrap();
            if state.cycles() >= 3 {
                break state;
            }
            let mut medium = device.open();
            if !state.is_new() {
                assert_eq!(recognise(&mut medium, &state), Recognised::Ours);
                assert_eq!(unit_on(&mut medium), state.begun().stamp_unit());
            }
            let mut wear = Wear::new(medium, log, state);
            for slice in 0..13 {
                // The last of them is stopped in its midst.
                let step = wear.step(&mut |done| slice < 12 || done == 0).unwrap();
                assert!(matches!(step, Step::Done(_) | Step::Stopped), "{step:?}");
                if wear.state().cycles() >= 3 || step == Step::Stopped {
                    break;
                }
            }
        };
        assert!(sessions > 7);
        assert_eq!((state.end(), state.failed().sectors()), (LifeEnd::Running, 0));
        assert_eq!(state.document(String::new()).written_bytes, 3 * bytes);
        // Something else writes a sector between writing and reading.
        let (log, state) = Log::open(&log).unwrap();
        let mut wear = Wear::new(device.open(), log, state);
        for slice in 0..32 {
            if slice == 16 {
                wear.medium().write(bytes / 2, &[0; 512]).and_then(|()| wear.medium().sync()).unwrap();
            }
            assert!(matches!(wear.step(&mut |_| true), Ok(Step::Done(_))));
        }
        assert_eq!(wear.state().failed().sectors(), 1);
        assert_eq!(wear.state().document(String::new()).milestones.first_error.map(|at| at.cycle), Some(4));
    }
}
