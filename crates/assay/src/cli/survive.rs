//! Arguments of `assay survive`.

use std::path::PathBuf;

use assay_analysis::survive::{Axis, Grouping, Milestone};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint};

use super::FileArgs;
use super::analysis::WITH_PICTURE;
use super::values::{seed, share};

pub(crate) const EXAMPLES: &str = "\
Examples:
  assay survive units.csv                       until death, by model
  assay survive *.json --milestone first-error  documents of an endurance test
  assay survive units.csv --at 1000,3000 --level 90%
  assay survive units.csv --axis bytes --at 10TB,100TB
  assay survive units.csv Kioxia_*_state.json Kioxia_*_stats.csv
                                                files of the survey's tool mfst
  assay survive units.csv -o survival.svg       the curves

A sheet has the columns unit, cycles and end (died, censored or running), and
may have model, cause, bytes, cycle_bytes, first_error, 0.1%, 1%, 10%, 25%, 50%,
death (the cycle in which it happened) and others of your own, like site. Units
are compared within their site where all have one.

A unit whose test ended before it died counts as alive until then, and is left
out of what comes later.";

#[derive(Debug, Args)]
#[command(mut_arg("output", |arg| arg.help(WITH_PICTURE)))]
pub(crate) struct SurviveArgs {
    /// Sheets of units (CSV), documents of endurance tests, statistics and states of mfst
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// What makes a group: model, all, or a column of the sheet or label of the document, like site
    #[arg(long, value_name = "WHAT", default_value = "model")]
    pub(crate) by: String,

    /// Event that ends a life: the death, or a share of sectors that have failed at least once
    #[arg(long, value_name = "EVENT", default_value = "death", value_parser = milestone())]
    pub(crate) milestone: Milestone,

    /// What lives are counted in
    #[arg(long, value_name = "AXIS", default_value = "cycles", value_parser = axis())]
    pub(crate) axis: Axis,

    /// Cycles or bytes at which the share of survivors is shown, separated by commas; by default three round values
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) at: Vec<String>,

    /// Confidence level: the chance that an interval holds the truth, and that equal groups are not told apart
    #[arg(long, value_name = "SHARE", default_value = "95%", value_parser = share(0.5..=0.999))]
    pub(crate) level: f64,

    /// Chance of finding a difference, for the number of units that are needed
    #[arg(long, value_name = "SHARE", default_value = "80%", value_parser = share(0.5..=0.99))]
    pub(crate) chance: f64,

    /// Seed of the random numbers; same seed, same answer
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = seed)]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) file: FileArgs,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

impl SurviveArgs {
    /// What makes a group.
    pub(crate) fn grouping(&self) -> Grouping {
        Grouping::parse(&self.by)
    }
}

fn milestone() -> impl TypedValueParser<Value = Milestone> {
    let names = Milestone::ALL.map(|milestone| PossibleValue::new(milestone.name()).help(milestone.title()));
    PossibleValuesParser::new(names).try_map(|name| {
        let found = Milestone::ALL.into_iter().find(|milestone| milestone.name() == name);
        found.ok_or_else(|| format!("no milestone is named {name}"))
    })
}

fn axis() -> impl TypedValueParser<Value = Axis> {
    let axes = [(Axis::Cycles, "Overwritings of the whole medium"), (Axis::Bytes, "Bytes written")];
    let names = axes.map(|(axis, help)| PossibleValue::new(axis.name()).help(help));
    PossibleValuesParser::new(names).try_map(move |name| {
        let found = axes.into_iter().find(|(axis, _)| axis.name() == name);
        found.map(|(axis, _)| axis).ok_or_else(|| format!("no axis is named {name}"))
    })
}
