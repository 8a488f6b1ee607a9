//! Data that lay for a while: of tests of endurance, and of what `assay verify --keep` left.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::time::Duration;

use assay_core::endurance::FailureKind;
use assay_core::record::Record;
use assay_core::verification::Verdict;
use assay_lab::{Lab, Mount, lab};

use crate::common::{Done, Place, run};
use crate::endure::{card, endure, loop_device, only};

#[test]
fn a_test_rests_and_what_is_lost_then_is_no_wear() {
    const TEST: &str = "a_test_rests_and_what_is_lost_then_is_no_wear";
    let _lab = lab!(TEST, Lab::share());
    let place = Place::new();
    let (card, content) = lab!(TEST, card(Duration::ZERO));
    let device = card.path().to_str().unwrap();
    let done = endure(&place, &[device, "--overwrite", device, "--until", "2 cycles", "--retain", "1d"]);
    assert!(done.succeeds().stderr.contains("unplug it"), "{}", done.stderr);
    assert!(done.stdout.contains("rests"), "{}", done.stdout);
    // Too early: it says when, and --read-back reads all the same.
    endure(&place, &["--resume", device]).refuses(2, &["it rests until", "more", "--read-back"]);
    let first = only(endure(&place, &["--read-back", device, "--json", "-q"]).succeeds());
    let read = &first.rest_reads[0];
    assert!(read.early && read.age.is_some_and(|age| age.low_seconds < 3600), "{read:?}");
    assert_eq!((read.lost_sectors, read.slices, read.rates.len()), (0, 16, 16));
    // Time passes: sectors fade, and the rest is over.
    let faded = [
        (7, FailureKind::BitFlips),
        (8, FailureKind::BitFlips),
        (900, FailureKind::Zeros),
        (1600, FailureKind::Unreadable),
    ];
    content.lock().unwrap().faded.extend(faded);
    endure(&place, &["--resume", device, "--retain", "1s", "-q"]).succeeds();
    std::thread::sleep(Duration::from_millis(2100));
    let done = endure(&place, &["--resume", device, "--json", "-q"]);
    assert_eq!(done.code, Some(5), "{}\n{}", done.stdout, done.stderr);
    let test = only(&done);
    let read = &test.rest_reads[1];
    assert!(!read.early, "{read:?}");
    let kinds = [(FailureKind::Zeros, 1), (FailureKind::BitFlips, 2), (FailureKind::Unreadable, 1)];
    assert_eq!((read.lost_sectors, &read.kinds), (4, &kinds.into()));
    assert_eq!((test.failed_sectors, test.milestones.first_error, test.cycles), (0, None, 2));
    let said = endure(&place, &["--status"]);
    assert!(said.stdout.contains("4 sectors lost") && said.stdout.contains("all held"), "{}", said.stdout);
    // What is written anew holds, and the readings stay.
    let test = only(endure(&place, &["--resume", device, "--until", "3 cycles", "--json", "-q"]).succeeds());
    assert_eq!((test.failed_sectors, test.cycles, test.rest_reads.len(), test.rest), (0, 3, 2, None));
}

fn record(done: &Done) -> Record {
    serde_json::from_str(&done.stdout).unwrap_or_else(|e| panic!("{e}: {}\n{}", done.stdout, done.stderr))
}

#[test]
fn what_a_check_kept_is_read_again_with_its_age() {
    const TEST: &str = "what_a_check_kept_is_read_again_with_its_age";
    let _lab = lab!(TEST, Lab::share());
    let place = Place::new();
    let device = lab!(TEST, loop_device(&place, "card.img", 48 << 20));
    let mount = lab!(TEST, Mount::ext4(device.path(), &place.path().join("mnt")));
    let verify = |arguments: &[&str]| run(place.assay(["verify"].iter().chain(arguments)));
    verify(&["--read-back", "mnt"]).refuses(2, &["--keep"]);
    let kept = record(verify(&["--keep", "mnt", "--json", "-q"]).succeeds());
    let device = device.path().to_str().unwrap();
    for target in ["mnt", device] {
        let again = record(verify(&["--read-back", target, "--json", "-q"]).succeeds());
        let found = again.verification.unwrap();
        let retention = found.retention.unwrap();
        assert_eq!((found.verdict, &retention.by_check), (Verdict::Genuine, &kept.id));
        let age = retention.age.unwrap();
        assert!(age.low_seconds <= age.high_seconds && age.high_seconds < 3600, "{age:?}");
        let speed = retention.speed.expect("the record of the first check is in the store");
        assert!(speed.ratio.n > 5 && speed.same.host == Some(true), "{speed:?}");
        assert_eq!(found.written_bytes, 0);
    }
    // A clock that is behind tells no age.
    let state = mount.path().join(".assay-verify/state.json");
    let text = fs::read_to_string(&state).unwrap();
    let mut later: serde_json::Value = serde_json::from_str(&text).unwrap();
    later["writer"]["ended"] = 4_000_000_000u64.into();
    fs::write(&state, later.to_string()).unwrap();
    verify(&["--read-back", "mnt"]).refuses(4, &["behind", "nothing was read"]);
    fs::write(&state, text).unwrap();
    // Time took some of it.
    let file = File::options().write(true).open(mount.path().join(".assay-verify/1.h2w")).unwrap();
    file.write_all_at(&[0; 4096], 1 << 20).and_then(|()| file.sync_all()).unwrap();
    let done = verify(&["--read-back", "mnt", "--json", "-q"]);
    assert_eq!(done.code, Some(5), "{}\n{}", done.stdout, done.stderr);
    let found = record(&done).verification.unwrap();
    assert_eq!((found.counts.corrupted, found.counts.lost()), (8, 8));
    let said = verify(&["--read-back", "mnt", "-q"]).stdout;
    assert!(said.contains("it was written") && said.contains("times"), "{said}");
}
