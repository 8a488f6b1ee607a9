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
            "--confidence is not for soaks like `{}`, whose length is what they are for; leave it out",
            soak.name
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

/// A share like `5%`, as a number.
pub(crate) fn parse(text: &str) -> Result<f64, String> {
    let number = text.trim().strip_suffix('%').ok_or("write a share like 5%")?.trim();
    let percent: f64 = number.parse().map_err(|_| "write a share like 5%")?;
    if !(0.5..=50.0).contains(&percent) {
        return Err("must be 0.5% to 50%".to_owned());
    }
    Ok(percent / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_confidence_is_a_share_in_percent() {
        assert_eq!(parse("5%"), Ok(0.05));
        assert_eq!(parse(" 2.5 %"), Ok(0.025));
        for bad in ["5", "", "%", "x%", "0.1%", "80%", "nan%", "-3%", "0.05"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
