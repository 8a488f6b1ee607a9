//! Suites whose workloads and programs name the tool they were taken from, and how far both agree.

use assay_core::original::{Crosscheck, Pair, Side};

/// A suite of workloads, each four times.
pub fn suite(budget: &str, span: &str, workloads: &[String]) -> String {
    let head = "name = \"pair\"\nversion = 1\npurpose = \"A test\"\nmax_write = \"2GiB\"\nrepeats = 4\n";
    format!("{head}budget = \"{budget}\"\nspan = \"{span}\"\n{}", workloads.concat())
}

/// A program that names its original, and is called after it.
pub fn program(tool: &str, duration: &str, does: &str) -> String {
    format!("[[program]]\nname = \"{tool}\"\noriginal = \"{tool}\"\nduration = \"{duration}\"\ndoes.{does}\n")
}

/// A workload that names its original.
pub fn workload(tool: &str, op: &str, pattern: &str, block: &str, more: &str) -> String {
    format!(
        "[[workload]]\nname = \"{tool}-{op}\"\noriginal = \"{tool}\"\nop = \"{op}\"\npattern = \"{pattern}\"\nblock = \"{block}\"\n{more}\n"
    )
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { f64::midpoint(values[middle - 1], values[middle]) }
}

/// The ratio of the medians, ours over theirs.
pub fn ratio(check: &Crosscheck) -> f64 {
    let of = |side: &dyn Fn(&Pair) -> Side| median(check.pairs.iter().map(|p| side(p).iops));
    of(&|p| p.ours) / of(&|p| p.theirs)
}
