//! `assay run --confidence`: a suite whose repeats last as long as they must.

use assay_core::suite::{Analysis, Suite};
use assay_core::units::{Bytes, figures, span};
use assay_runner::{MOST_REPEATS, longest_time};

use crate::cli::RunArgs;
use crate::failure::Failure;
use crate::output;
use crate::suites::LONGEST_BUDGET;

/// Changes the suite for the confidence asked for, if any was, and says what it takes at most.
pub(super) fn apply(args: &RunArgs, suite: &mut Suite) -> Result<(), Failure> {
    let Some(wish) = args.confidence else { return Ok(()) };
    if let Some(soak) = suite.workloads.iter().find(|w| w.analysis == Analysis::Soak) {
        return Err(Failure::usage(format!(
            "--confidence is not for soaks like `{}`, which have a fixed length; leave it out",
            soak.name
        )));
    }
    if let Some(workload) = suite.workloads.iter().find(|w| w.group.is_some()) {
        return Err(Failure::usage(format!(
            "--confidence is not for workloads that run at the same time, like `{}`, whose rules differ; set --repeats",
            workload.name
        )));
    }
    suite.repeats = MOST_REPEATS;
    let within = if args.budget.is_none() {
        suite.budget = longest_time(suite).min(LONGEST_BUDGET);
        format!("at most {}, usually far less (--budget sets a limit)", span(suite.budget))
    } else {
        span(suite.budget)
    };
    let writes = if suite.writes() { format!(" and {} of writes", Bytes(suite.max_write.0)) } else { String::new() };
    if !args.quiet {
        output::tell_wrapped(&format!(
            "measures until ±{} % is reached; takes {within}{writes}",
            figures(wish * 100.0)
        ));
    }
    Ok(())
}
