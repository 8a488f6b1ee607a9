//! Hosts with little memory and few threads: what is done there; and of what needs more, one line, the host to blame, and
//! nothing left.

use std::path::Path;
use std::process::Stdio;

use crate::common::{ASSAY, Done, Place, assert_empty, run};
use assay_core::finding::Finding;
use assay_core::outcome::{Outcome, RunFailure};
use assay_core::units::MIB;
use assay_lab::{Cgroup, FastDevice, Lab, LoopDevice, lab};

/// So many jobs of such a depth, with such blocks, over such a span, and time enough that a busy disk makes none of it less.
fn suite(jobs: u32, depth: u32, block: &str, span: &str) -> String {
    format!(
        "name = \"many\"\nversion = 1\npurpose = \"A test\"\nbudget = \"10m\"\nmax_write = \"64GiB\"\nrepeats = 1\n\
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

/// All that a board of 64 MB is asked for, with what the kernel caches for it: it kills what takes more.
#[test]
fn a_medium_is_measured_checked_and_reported_in_64_mb() {
    const TEST: &str = "a_medium_is_measured_checked_and_reported_in_64_mb";
    let _lab = lab!(TEST, Lab::share());
    let group = lab!(TEST, Cgroup::of_memory(64_000_000));
    let place = Place::new();
    for words in [
        &["run", "--quiet", "--budget", "12s", "medium"][..],
        &["verify", "--bytes", "32MiB", "medium"],
        &["report", "all", "-o", "page.html"],
        &["rank", "published:", "--load", "random read 16 KiB, 4 jobs"],
    ] {
        let mut command = group.command(Path::new(ASSAY), words);
        place.at_home(&mut command);
        let done = run(command);
        // A figure may be suspect on a busy machine, and a ranking undecided.
        assert!(matches!(done.code, Some(0 | 1)), "{words:?}: {:?} {}", done.code, done.stderr);
    }
    assert!(place.path().join("page.html").exists());
    let listed = place.json(["list", "--json"]);
    assert_eq!(listed.as_array().unwrap().len(), 2, "{listed}");
    for id in ["last", "last~1"] {
        let record = place.json(["show", id, "--json"]);
        assert_eq!(record["outcome"]["state"], "completed", "{record}");
    }
    assert_empty(&place.medium());
}

/// A stack of this size uses up the addresses long before the system has no more threads, and half of one is many
/// times what all else needs.
const STACK: u64 = 64 << 20;

/// A shell command under which so many threads of a process fit beside its first one, and no more.
fn with_threads(place: &Place, threads: u64, command: &str) -> Done {
    // Without an arena of its own (mallopt(3)) a thread takes nothing but its stack.
    let limited = |kib: u64, command: &str| {
        let limits = format!("ulimit -v {kib}; export RUST_MIN_STACK={STACK} MALLOC_ARENA_MAX=1");
        place.shell(&format!("{limits}; {command}"))
    };
    // What a process without threads needs is the program itself, for the most part.
    let step = 4 << 10;
    let works = |kib: &u64| {
        let status = limited(*kib, "exec \"$ASSAY\" list").stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.unwrap().success()
    };
    let own = (step..1 << 20).step_by(step as usize).find(works).expect("it runs in a gibibyte");
    run(limited(own + (threads * STACK + STACK / 2) / 1024, command))
}

/// Threat 28: the creation of a thread panicked where the system makes no more of them, and the medium was blamed.
#[test]
fn threads_that_cannot_be_made_end_the_run_in_one_line() {
    let place = Place::new();
    place.file("many.toml", suite(256, 1, "4KiB", "32MiB"));
    let done = with_threads(&place, 40, "exec \"$ASSAY\" run --quiet --engine sync --suite many.toml medium");
    assert_eq!(done.code, Some(4), "{}", done.stderr);
    let record = place.only_record();
    let Outcome::Failed { failure, detail, .. } = &record.outcome else { panic!("{:?}", record.outcome) };
    assert!(*failure == RunFailure::Host && detail.contains("of 256 could not be made"), "{failure:?}: {detail}");
    assert!(!record.outcome.medium_failed());
    place.assert_clean();
    // With more room it goes on.
    run(place.assay(["run", "--resume", "--quiet"])).measures();
    assert_eq!(place.only_record().outcome, Outcome::Completed);
}

/// Wherever it is that a command on `medium` lacks a thread, it ends by itself, blames the host and leaves nothing.
#[track_caller]
fn blames_the_host(command: &str, medium: &Path) {
    let mut refused = 0;
    for threads in 0..10 {
        let place = Place::new();
        let done = with_threads(&place, threads, &format!("exec \"$ASSAY\" {command} {}", medium.display()));
        let said = format!("{command}, {threads} threads: {}{}", done.stdout, done.stderr);
        if medium.is_dir() {
            assert_empty(medium);
        }
        let journals = std::fs::read_dir(place.data().join("journals")).map_or(0, Iterator::count);
        // That of a whole probe stays until the device was attached anew.
        let probed = !medium.is_dir() && done.code != Some(4);
        assert_eq!(journals, usize::from(probed), "{said}");
        if done.code == Some(4) {
            refused += 1;
            // A card breaks lines.
            let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words.contains("no thread ") || words.contains(" could not be made: "), "{said}");
            let told_at_once = done.stderr.starts_with("assay: ") && done.stderr.lines().count() == 1;
            assert!(!done.stdout.is_empty() || told_at_once, "{said}");
        } else {
            assert!(matches!(done.code, Some(0 | 1 | 6)), "{:?}: {said}", done.code);
        }
    }
    assert!((3..10).contains(&refused), "{command}: refused {refused} times");
}

#[test]
fn a_command_that_lacks_a_thread_anywhere_blames_the_host() {
    let place = Place::new();
    let suite = place.path().join("tiny.toml");
    blames_the_host(&format!("run --quiet --suite {}", suite.display()), &place.medium());
    blames_the_host("verify --quiet --bytes 4MiB", &place.medium());
}

#[test]
fn a_quick_check_or_probe_that_lacks_a_thread_anywhere_blames_the_host() {
    const TEST: &str = "a_quick_check_or_probe_that_lacks_a_thread_anywhere_blames_the_host";
    let _lab = lab!(TEST, Lab::share());
    let card = lab!(TEST, FastDevice::new(64 * MIB));
    blames_the_host("verify --quiet --quick", card.path());
    let place = Place::new();
    let image = place.file("card.img", vec![7; 16 * MIB as usize]);
    let device = lab!(TEST, LoopDevice::attach(&image, false));
    blames_the_host("verify --quiet --quick", device.path());
    drop(device);
    assert!(std::fs::read(&image).unwrap() == vec![7; 16 * MIB as usize]);
}

/// A sensor is no reason to end a run.
#[test]
fn a_sensor_without_a_thread_is_a_warning() {
    let place = Place::new();
    let sensors: String = (0..40).map(|number| format!("--sensor s{number}:W='sleep 100' ")).collect();
    let command = format!("exec \"$ASSAY\" run --quiet --suite tiny.toml {sensors} medium");
    let done = with_threads(&place, 20, &command);
    // There is none for the medium then either, unless a sensor without memory for its program gave up its own.
    let record = place.only_record();
    match &record.outcome {
        Outcome::Failed { failure, .. } => {
            assert_eq!((failure, done.code), (&RunFailure::Host, Some(4)), "{}", done.stderr)
        }
        outcome => assert!(matches!(done.code, Some(0 | 1)), "{outcome:?}: {}", done.stderr),
    }
    let given_up = record.warnings.iter().filter(|warning| match &warning.finding {
        Finding::SensorDropped { sensor, reason } => sensor.starts_with('s') && reason.contains("no thread"),
        _ => false,
    });
    let given_up = given_up.count();
    assert!((20..40).contains(&given_up), "{given_up}: {:?}", record.warnings);
    place.assert_clean();
}
