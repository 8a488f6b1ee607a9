//! Suites that ask for more than the host has: one line, and nothing written.
#![allow(clippy::unwrap_used)] // a test fails by panicking

mod common;

use assay_core::outcome::Outcome;
use common::{Place, run};

/// So many jobs of such a depth, with such blocks, over such a span.
fn suite(jobs: u32, depth: u32, block: &str, span: &str) -> String {
    format!(
        "name = \"many\"\nversion = 1\npurpose = \"A test\"\nbudget = \"20s\"\nmax_write = \"64GiB\"\nrepeats = 1\n\
         span = \"{span}\"\n[[workload]]\nname = \"many-jobs\"\nop = \"read\"\npattern = \"random\"\nblock = \"{block}\"\n\
         jobs = {jobs}\nqueue_depth = {depth}\nduration = \"1s\"\n"
    )
}

/// Threat 28: pools were filled without a look at memory.
#[test]
fn buffers_beyond_the_memory_are_refused_before_anything_is_written() {
    let place = Place::new();
    place.file("many.toml", suite(256, 1024, "16MiB", "8GiB"));
    let refused = run(place.assay(["run", "--suite", "many.toml", "medium"]));
    refused.refuses(4, &["many-jobs", "4 TiB", "memory", "queue_depth"]).at_once();
    place.assert_clean();
    assert!(!place.store().exists(), "a refusal made a store");
}

/// Threat 28: the creation of a thread panicked where the system makes no more of them.
#[test]
fn threads_that_cannot_be_made_end_the_run_in_one_line() {
    let place = Place::new();
    place.file("many.toml", suite(256, 1, "4KiB", "32MiB"));
    // Stacks of 64 MiB use up the addresses long before 256 threads, and what is left for all else when one more does
    // not fit is many times what that needs.
    let limits = "ulimit -v 4000000; export RUST_MIN_STACK=67108864";
    let command = "exec \"$ASSAY\" run --quiet --engine sync --suite many.toml medium";
    let done = run(place.shell(&format!("{limits}; {command}")));
    assert!(!done.stderr.contains("panicked"), "{}", done.stderr);
    let record = place.only_record();
    let Outcome::Failed { detail, .. } = &record.outcome else { panic!("{:?}", record.outcome) };
    assert!(detail.contains("of 256 could not be made"), "{detail}");
    place.assert_clean();
}
