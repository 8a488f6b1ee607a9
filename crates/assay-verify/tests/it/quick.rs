//! The quick check of mounted media.

use std::process::Command;

use assay_core::outcome::{Outcome, RunFailure};
use assay_core::verification::{Method, Verdict};
use assay_engine::Control;
use assay_lab::{FastDevice, Lab, LoopDevice, Missing, Mount, RemovableCard, lab};
use assay_verify::quick::{Quick, check};

const MIB: u64 = 1 << 20;

fn genuine(path: &std::path::Path) {
    let foreign = path.join("1.h2w");
    std::fs::write(&foreign, b"not ours").unwrap();
    let checked = check(path, &Quick::default(), &Control::default(), &mut |_, _| {}).unwrap();
    let found = &checked.verification;
    assert_eq!(
        (found.verdict, &checked.outcome),
        (Verdict::Genuine, &Outcome::Completed),
        "{}",
        assay_lab::outline(&found)
    );
    assert_eq!((found.method, found.counts.lost(), checked.left), (Method::QuickMounted, 0, None));
    assert!(found.counts.good > 40 * 8 && found.reach.unwrap().loss_found > 0.87, "{found:?}");
    // Spread means that every tenth of the map was reached.
    let tenth = found.map.len().div_ceil(10);
    assert!(found.map[..found.map.len() * 9 / 10].chunks(tenth).all(|part| part.iter().any(|c| c.counts.good > 0)));
    assert!(found.written_bytes < found.announced_bytes / 4);
    assert_eq!(std::fs::read(foreign).unwrap(), b"not ours");
    assert!(!path.join(".assay-verify").exists());
}

#[test]
fn a_genuine_medium_with_ext4_is_not_accused() {
    const TEST: &str = "a_genuine_medium_with_ext4_is_not_accused";
    let _lab = lab!(TEST, Lab::share());
    let device = lab!(TEST, FastDevice::new(256 * MIB));
    genuine(device.path());
}

#[test]
fn a_genuine_medium_with_vfat_is_not_accused() {
    const TEST: &str = "a_genuine_medium_with_vfat_is_not_accused";
    let _lab = lab!(TEST, Lab::share());
    let directory = tempfile::tempdir().unwrap();
    let image = directory.path().join("card.img");
    std::fs::File::create(&image).unwrap().set_len(128 * MIB).unwrap();
    let device = lab!(TEST, LoopDevice::attach(&image, false));
    let made = Command::new("mkfs.vfat").arg(device.path()).output();
    lab!(TEST, made.map_err(|_| Missing("needs mkfs.vfat".to_owned())));
    let mount = lab!(TEST, Mount::existing(device.path(), &directory.path().join("mnt"), "rw"));
    genuine(mount.path());
}

#[test]
fn a_card_that_is_taken_out_and_a_stop_end_it() {
    const TEST: &str = "a_card_that_is_taken_out_and_a_stop_end_it";
    let _lab = lab!(TEST, Lab::share());
    let card = lab!(TEST, RemovableCard::formatted(128 * MIB));
    let failure = |outcome: &Outcome| match outcome {
        Outcome::Failed { failure, .. } => Some(*failure),
        _ => None,
    };
    let control = Control::default();
    let stopped = check(card.path(), &Quick::default(), &control, &mut |_, _| control.stop()).unwrap();
    assert_eq!(failure(&stopped.outcome), Some(RunFailure::Interrupted));
    assert_eq!((stopped.verification.verdict, stopped.left), (Verdict::Undecided, None));
    let mut pulled = false;
    let gone = check(card.path(), &Quick::default(), &Control::default(), &mut |done, _| {
        if done == 20 && !pulled {
            pulled = true;
            card.pull().unwrap();
        }
    });
    assert_eq!(failure(&gone.unwrap().outcome), Some(RunFailure::Disappeared));
}
