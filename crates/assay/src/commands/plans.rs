//! Plans for the pages of `assay serve`: a new one, and the progress of those that the data directory keeps under their labels.

use assay_analysis::plan::{ExperimentPlan, Roster, read_plan};
use assay_report::{Style, plan as words};
use assay_serve::{KeptPlan, NewPlan};

use super::plan::{planned, read_kept, status_answer};
use crate::answer::{Answer, Target};
use crate::cli::NewArgs;
use crate::failure::Failure;
use crate::output;
use crate::suites::BUILT_IN;

/// Where media are mounted, in the commands of a plan, as `assay plan show` has it.
const MOUNTED: &str = "/mnt/card";

/// A plan with what `assay plan status` and `assay plan show` say of it; none where none of this label is kept.
pub(super) fn kept(label: &str) -> Result<Option<KeptPlan>, Failure> {
    let Some((path, file)) = read_kept(label)? else { return Ok(None) };
    let plan = read_plan(&file, &output::shown(&path))?;
    let (answered, _) = status_answer(&plan, &Target::stdout())?;
    Ok(Some(KeptPlan {
        command: ["plan", "status", &path.to_string_lossy()].map(str::to_owned).to_vec(),
        status: answered.document().part(),
        order: words::show(&plan, None, MOUNTED, &Style::default()),
        file,
    }))
}

/// The plan that a page asks for. It names no files: units stand in the form, and suites are those of the program.
pub(super) fn asked(args: &NewArgs) -> Result<(ExperimentPlan, NewPlan), Failure> {
    if !BUILT_IN.iter().any(|(name, _)| *name == args.suite) {
        return Err(Failure::usage("--suite: name a built-in suite; suite files are for the command line"));
    }
    let roster = Roster::inline(&args.units, "--units")?;
    let (plan, outlook) = planned(args, &roster)?;
    let outlook = words::outlook(&plan, &outlook, &Style::default());
    let label = plan.label();
    Ok((plan, NewPlan { label, outlook }))
}
