//! Suites whose workloads name the tool they were taken from.

/// A suite of workloads, each four times.
pub fn suite(budget: &str, span: &str, workloads: &[String]) -> String {
    let head = "name = \"pair\"\nversion = 1\npurpose = \"A test\"\nmax_write = \"2GiB\"\nrepeats = 4\n";
    format!("{head}budget = \"{budget}\"\nspan = \"{span}\"\n{}", workloads.concat())
}

/// A workload that names its original.
pub fn workload(tool: &str, op: &str, pattern: &str, block: &str, more: &str) -> String {
    format!(
        "[[workload]]\nname = \"{tool}-{op}\"\noriginal = \"{tool}\"\nop = \"{op}\"\npattern = \"{pattern}\"\nblock = \"{block}\"\n{more}\n"
    )
}
