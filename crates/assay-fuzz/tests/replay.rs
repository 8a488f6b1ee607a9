//! Every seed of every target, and some mutations of them: what fuzzing found once stays mended.
#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::collections::BTreeSet;
use std::panic;

use assay_fuzz::{TARGETS, Target, mutations};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Memory of the whole replay: an input that takes more ends it here, not the machine it runs on.
const MOST_MEMORY: u64 = 1 << 30;

/// Each target in a thread of its own, so that a panic names the target and all are run.
#[test]
fn no_seed_and_no_mutation_of_one_breaks_a_claim() {
    let limit = Rlimit { current: Some(MOST_MEMORY), maximum: getrlimit(Resource::Data).maximum };
    setrlimit(Resource::Data, limit).unwrap();
    let broken: Vec<&str> = std::thread::scope(|scope| {
        let run = |target: &'static Target| {
            std::thread::Builder::new().name(target.name.to_owned()).spawn_scoped(scope, move || {
                let seeds = (target.seeds)();
                assert!(!seeds.is_empty(), "no seeds");
                seeds.iter().for_each(|seed| check(target, seed));
                mutations(&seeds, target.mutations).for_each(|input| check(target, &input));
            })
        };
        let threads: Vec<_> = TARGETS.iter().map(|target| (target.name, run(target).unwrap())).collect();
        threads.into_iter().filter_map(|(name, thread)| thread.join().is_err().then_some(name)).collect()
    });
    assert!(broken.is_empty(), "{broken:?}");
}

/// The input is shown as a byte string, to be added to the seeds.
fn check(target: &Target, input: &[u8]) {
    let outcome = panic::catch_unwind(|| target.check(input));
    assert!(outcome.is_ok(), "{}: b\"{}\"", target.name, input.escape_ascii());
}

#[test]
fn each_target_has_a_name_of_its_own() {
    let names: BTreeSet<&str> = TARGETS.iter().map(|target| target.name).collect();
    assert_eq!(names.len(), TARGETS.len());
    assert!(names.iter().all(|name| name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')));
}

/// The replay is of use only while it is the same on every machine.
#[test]
fn mutations_are_the_same_each_time() {
    let seeds = (TARGETS[0].seeds)();
    assert!(mutations(&seeds, 50).eq(mutations(&seeds, 50)));
}
