//! `assay fleet report`

use assay_analysis::fleet::{FleetReport, report as reported};
use assay_core::exit::Exit;
use assay_pictures::Drawing;
use assay_report::{Document, Style, fleet};
use serde_json::Value;

use super::gather::{Gathered, gathered};
use crate::answer::{Answer, Target, WITH_PICTURE};
use crate::cli::FleetReportArgs;
use crate::failure::Failure;
use crate::output;

pub(super) fn report(args: &FleetReportArgs) -> Result<Exit, Failure> {
    let target = Target::new(&args.file, WITH_PICTURE)?;
    let Gathered { mut run, mut others, named } = gathered(args.run.as_deref(), args.against.as_deref())?;
    for run in others.iter_mut().chain([&mut run]) {
        target.redact_run(run)?;
    }
    let compared = args.against.as_deref() != Some("none");
    let reference = named.and_then(|at| others.get(at));
    let answer = ReportAnswer { report: reported(&run, &others, reference, compared), all: args.all };
    target.deliver(&answer, args.json)?;
    Ok(if answer.report.loads.is_empty() { Exit::No } else { Exit::Good })
}

struct ReportAnswer {
    report: FleetReport,
    /// Whether a terminal shows each figure, too.
    all: bool,
}

impl Answer for ReportAnswer {
    fn text(&self, style: &Style) -> String {
        let whole = self.all || self.report.nodes.len() <= fleet::WHOLE;
        if whole { fleet::document(&self.report) } else { fleet::brief(&self.report) }.text(style)
    }

    fn json(&self) -> Result<Value, Failure> {
        output::json(&self.report)
    }

    fn document(&self) -> Document {
        fleet::document(&self.report)
    }

    fn picture(&self) -> Option<Drawing> {
        (!self.report.loads.is_empty()).then(|| assay_pictures::nodes(&self.report))
    }
}
