//! Suite files.

use std::time::Duration;

use assay_core::program::SuiteProgram;
use assay_core::suite::{Suite, SuiteWorkload};

use crate::claims;

/// A suite is read or refused in a line; what is read has the bounds that are documented, and is written
/// to a text that is read as the same.
pub(crate) fn run(data: &[u8]) {
    let text = claims::text(data);
    let suite = match Suite::parse(&text, "x.toml") {
        Ok(suite) => suite,
        Err(error) => {
            claims::one_line(&error);
            assert!(error.line >= 1 && error.line <= text.matches('\n').count() + 1, "line {}", error.line);
            return;
        }
    };
    assert!((1..=1000).contains(&suite.repeats) && suite.budget >= Duration::from_secs(1) && suite.span.0 > 0);
    for w in &suite.workloads {
        assert!((1..=1024).contains(&w.queue_depth) && (1..=256).contains(&w.jobs), "{w:?}");
        assert!(w.block.0 > 0 && w.block.0 <= 64 << 20 && w.block.0.is_multiple_of(512), "{w:?}");
        assert!(w.block.0 * u64::from(w.jobs) <= w.span.unwrap_or(suite.span).0, "{w:?}");
    }
    let again = Suite::parse(&suite.to_text(), "x.toml").expect("a suite written out is read");
    assert_eq!(again, in_milliseconds(suite));
}

/// Durations are written to the millisecond.
fn in_milliseconds(suite: Suite) -> Suite {
    let ms = |d: Duration| Duration::from_millis(u64::try_from(d.as_millis()).expect("bounded by 64 bits"));
    let workloads = suite.workloads.into_iter().map(|w| SuiteWorkload { duration: w.duration.map(ms), ..w }).collect();
    let programs = suite.programs.into_iter().map(|p| SuiteProgram { duration: ms(p.duration), ..p }).collect();
    Suite { budget: ms(suite.budget), workloads, programs, ..suite }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    const SMALL: &str = "name = \"x\"\nversion = 1\npurpose = \"p\"\nbudget = \"10s\"\nmax_write = \"1GiB\"\n\
        repeats = 3\nspan = \"64MiB\"\n[[workload]]\nname = \"w\"\nop = \"mixed\"\nread_percent = 70\n\
        pattern = \"random\"\nblock = \"4k\"\nqueue_depth = 8\njobs = 2\nsync = \"fdatasync\"\n\
        duration = \"1500ms\"\nspan = \"1MiB\"\ndirect = false\n";
    let mut seeds = claims::texts(&[
        include_str!("../../../../suites/quick.toml"),
        include_str!("../../../../suites/blocks.toml"),
        include_str!("../../../../suites/soak.toml"),
        include_str!("../../../../suites/load-curve.toml"),
        include_str!("../../../../suites/hpi.toml"),
        include_str!("../../../../suites/phoronix-disk.toml"),
        include_str!("../../../../suites/boot.toml"),
        SMALL,
        "name = \"\"\"a\n\u{1b}[2Jb\"\"\"\nversion = 1\n",
    ]);
    let other = |from: &str, to: &str| SMALL.replace(from, to).into_bytes();
    seeds.extend([
        other("direct = false", "direct = false\noriginal = \"fio\""),
        other(
            "sync = \"fdatasync\"",
            "priority = \"idle/7\"\npriority_shares = \"5 % of 4KiB reads realtime, 9 % best-effort/1\"",
        ),
        other("direct = false", "original = \"hdparm\""),
        other("1MiB", "17179869184GiB"),
        other("10s", "1e30h"),
        other("1500ms", "0.1s"),
        other("\"w\"", "\"a\\nb\\u001b[2J\""),
        other("\"w\"", &format!("\"{}\"", "w".repeat(3000))),
        other("\"10s\"", "\"a\\nb\""),
        other("\"1500ms\"", "\"\\u202e\""),
        other("\"4k\"", "\"4\\u001bQ\""),
        other("name = \"w\"", "\"\\u001b\" = 1"),
        other("\"random\"", "\"\\u009b\""),
    ]);
    seeds
}
