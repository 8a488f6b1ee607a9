//! The quick check of media that checks once judged wrongly, as real devices with real file systems.
//!
//! Includes media made for file systems, and bare devices where a file system can be made and mounted.

use assay_engine::Control;
use assay_lab::media::{FoundVerdict, MediumSpec, Reach, SharedMedium, Truth, catalogue};
use assay_lab::{FakeCard, FileSystem, Lab, Missing, Mount, lab};
use assay_verify::quick::{Quick, check};

/// Larger ones need minutes for a file system, and their kinds are among the smaller ones.
const MOST_BYTES: u64 = 2 << 30;

/// The result of the check, the reach that it states, and the truth as far as the medium had shown it. `None` if no
/// file system can be made on it, or it cannot be written.
fn judged(spec: &MediumSpec, file_system: FileSystem) -> Result<Option<(String, FoundVerdict, Reach, Truth)>, Missing> {
    let medium = SharedMedium::new(spec.clone().blank().build().unwrap());
    let card = FakeCard::new(medium.clone())?;
    let directory = tempfile::tempdir().unwrap();
    let Ok(mount) = Mount::make(file_system, card.path(), &directory.path().join("mnt")) else { return Ok(None) };
    let Ok(checked) = check(mount.path(), &Quick::default(), &Control::default(), &mut |_, _| {}) else {
        return Ok(None);
    };
    let verification = checked.verification;
    let found = FoundVerdict::from(verification.verdict);
    let stated = verification.reach;
    let cache_bytes = stated.and_then(|reach| reach.caches_up_to_bytes).unwrap_or(0);
    let share = stated.map_or(1.0, |reach| reach.loss_share);
    let reach = Reach { cache_bytes, share, ..Reach::least() };
    let shown = medium.with(|medium| Truth::as_shown(spec, medium.has_shown_failure(), medium.is_exhausted()));
    Ok(Some((assay_lab::outline(&verification), found, reach, shown)))
}

/// Rows beyond what a quick check can detect, as it says itself: a larger cache shows the data.
const BEYOND_REACH: [&str; 1] = ["limbo of 61 MiB, LRU cache of 96 MiB"];
/// Some rows can be mounted only by luck of a driver; fewer rows than this mean that most were not mounted.
const LEAST: usize = 15;

#[test]
fn every_row_that_can_be_mounted_is_judged_by_the_quick_check() {
    const TEST: &str = "every_row_that_can_be_mounted_is_judged_by_the_quick_check";
    let bare = catalogue::devices().into_iter().map(|named| (named, FileSystem::Ext4));
    let mut judged_media = 0;
    let mut wrong = Vec::new();
    for (named, file_system) in catalogue::mounted().into_iter().chain(bare) {
        if named.spec.announced_bytes > MOST_BYTES {
            continue;
        }
        // Releases the lab between two media, so that other tests get a turn.
        let _lab = lab!(TEST, Lab::share());
        let Some((said, found, reach, shown)) = lab!(TEST, judged(&named.spec, file_system)) else {
            println!("{:<52}cannot be mounted", named.name);
            continue;
        };
        judged_media += 1;
        println!("{:<52}{said}", named.name);
        let beyond = BEYOND_REACH.contains(&named.name)
            && found == FoundVerdict::Genuine
            && !shown.needs.iter().any(|need| reach.covers(need));
        if !shown.right.contains(&found) && !beyond {
            wrong.push(format!("{}: {:?} is right: {said}", named.name, shown.right));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(judged_media >= LEAST, "{judged_media} could be mounted");
}
