//! Programs in turns with the tools that they were taken from.

use assay_lab::{Lab, Missing, lab, skip};

use super::busy;
use crate::common::known::record_of;
use crate::common::originals::{program, suite};
use crate::common::{Place, is_installed};

/// Name, tool, tolerance, longest time of a repeat, what the program does, and by how much a row may miss the tolerance where
/// the machine differs from minute to minute: such a miss is told and counted, a larger one is a fault.
type Row = (&'static str, &'static str, f64, &'static str, String, f64);

/// How often a row is run, four pairs each, before it is judged.
///
/// The bandwidth of a virtual machine's memory varies from one second to the next: single pairs of equal programs lie up to
/// 40 % apart, and the median of four of them is more than 10 % off in one row of ten.
const ROUNDS: usize = 3;

/// Runs each row in turns with its tool, four times, and judges the ratio by its tolerance. A row that is off is run again;
/// it fails where the interval over all of its pairs lies outside the tolerance.
fn agree(test: &str, rows: impl IntoIterator<Item = Row>) {
    let _lab = lab!(test, Lab::enter());
    for row in rows {
        if !is_installed(row.1, test) {
            continue;
        }
        let (name, tolerance) = (row.0, row.2);
        let mut pairs = Vec::new();
        for round in 1..=ROUNDS {
            pairs.extend(ratios(&row));
            let Some(seen) = assay_stats::geometric(&pairs) else {
                break;
            };
            let (low, high) = (seen.low.unwrap(), seen.high.unwrap());
            eprintln!("{name}: {:.4} ({low:.4} to {high:.4}) of {}: {}", seen.point, seen.n, listed(&pairs));
            if (seen.point - 1.0).abs() <= tolerance {
                break;
            }
            let outside = |tolerance: f64| low > 1.0 + tolerance || high < 1.0 - tolerance;
            if round == ROUNDS && outside(tolerance) {
                assert!(!outside(tolerance.max(row.5)), "{name}: {low:.4} to {high:.4}, more than {tolerance} off");
                // Counted and printed with the tests that were not made: the target is missed here.
                skip(test, &Missing(format!("{name} within {tolerance}, seen {low:.4} to {high:.4}")));
            }
        }
    }
}

/// The ratios of four pairs, ours over theirs; none where other programs used the processors.
fn ratios((name, tool, _, duration, does, _): &Row) -> Vec<f64> {
    let own =
        "[[workload]]\nname = \"own\"\nop = \"read\"\npattern = \"random\"\nblock = \"4KiB\"\nduration = \"200ms\"\n";
    let place = Place::new();
    let parts = [own.to_owned(), program(tool, duration, does)];
    place.file("pair.toml", suite("30min", "4MiB", &parts).replace("\"2GiB\"", "\"900GiB\""));
    let mut command = place.inside(&["--json", "--crosscheck", "reference", "--suite", "../pair.toml"]);
    let record = record_of(&command.output().unwrap());
    let check = record.crosscheck.first().unwrap_or_else(|| panic!("{name}: {:?}", record.warnings));
    assert_eq!((check.peer.as_str(), check.pairs.len(), &check.trouble), (*tool, 4, &None), "{check:?}");
    place.assert_clean();
    if let Some(others) = busy(&record) {
        // Such figures are those of a share of the processors.
        eprintln!("{name}: not judged, others used the processors: {others:?}");
        return Vec::new();
    }
    check.pairs.iter().map(|p| p.ours.iops / p.theirs.iops).collect()
}

#[test]
fn sysbench_agrees_with_primes_and_memory() {
    let cpu = [("cpu", 1), ("cpu-8", 8)].map(|(name, threads)| {
        (name, "sysbench", 0.03, "1s", format!("primes = {{ below = 20000, threads = {threads} }}"), 0.0)
    });
    // Each takes a part of a second. 10 % are asked for, and the smallest blocks miss them by what each tool does around the
    // loop over a block (docs/benchmarks.md). On this kind of machine a row lies at 0.88 for some minutes and at 1.2 for
    // others, with the same programs: a row that is more than 10 % off is counted
    // as a target that was missed, and more than 25 % is a fault.
    let memory = [
        ("read-1k", "read", "1KiB", "4GiB"),
        ("write-1k", "write", "1KiB", "4GiB"),
        ("read-16k", "read", "16KiB", "16GiB"),
        ("write-16k", "write", "16KiB", "16GiB"),
        ("read-64k", "read", "64KiB", "24GiB"),
        ("write-64k", "write", "64KiB", "16GiB"),
        ("read-1m", "read", "1MiB", "24GiB"),
        ("write-1m", "write", "1MiB", "16GiB"),
    ]
    .map(|(name, op, block, total)| {
        let does = format!("memory = {{ op = \"{op}\", block = \"{block}\", total = \"{total}\" }}");
        (name, "sysbench", 0.1, "4s", does, 0.25)
    });
    // What lies between the smallest and the largest blocks takes half a minute more.
    let all = std::env::var_os("ASSAY_ALL_ROWS").is_some();
    let memory = memory.into_iter().filter(|row| all || row.0.ends_with("-1k") || row.0.ends_with("-1m"));
    agree("sysbench_agrees_with_primes_and_memory", cpu.into_iter().chain(memory));
}

/// It prints whole seconds, so that it has work for many.
#[test]
#[ignore = "takes some minutes"]
fn postmark_agrees_with_its_program() {
    let does = "postmark = { transactions = 60000, files = 1500, smallest = \"5KiB\", largest = \"512KiB\" }";
    agree("postmark_agrees_with_its_program", [("postmark", "postmark", 0.1, "150s", does.to_owned(), 0.0)]);
}

/// Ratios as text.
fn listed(ratios: &[f64]) -> String {
    let ratios: Vec<String> = ratios.iter().map(|ratio| format!("{ratio:.3}")).collect();
    ratios.join(" ")
}
