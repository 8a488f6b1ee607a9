//! `assay survive`: how long units last, from sheets and documents of endurance tests.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;

use assay_analysis::survive::{Grouping, Lives, Milestone, Survival, SurviveOptions, read_lives, survive as analyse};
use assay_core::exit::Exit;
use assay_core::text::{harmless, quoted};
use assay_core::units::counted;
use assay_pictures::Drawing;
use assay_report::{Document, Style, survive as report};
use serde_json::Value;

use crate::answer::{Answer, Target, WITH_PICTURE};
use crate::cli::SurviveArgs;
use crate::ending::Failure;
use crate::{files, output};

/// Longest file that is read: a state of the survey's tool has two bits for each sector.
const LONGEST: u64 = 2 << 30;

pub(super) fn survive(args: &SurviveArgs) -> Result<Exit, Failure> {
    let target = Target::new(&args.file, WITH_PICTURE)?;
    let same = |file: &Path| std::fs::canonicalize(file).ok();
    if let Some(output) = args.file.output.as_deref().and_then(same)
        && let Some(input) = args.files.iter().find(|file| same(file).as_ref() == Some(&output))
    {
        let input = output::shown(input);
        return Err(Failure::usage(format!("-o: {input} is read; name another file")));
    }
    let answer = answered(args, &target)?;
    target.deliver(&answer, args.json)?;
    Ok(Exit::Good)
}

fn answered(args: &SurviveArgs, target: &Target) -> Result<Survived, Failure> {
    let at: Result<Vec<f64>, String> = args.at.iter().map(|text| args.axis.parse(text)).collect();
    let mut at = at.map_err(|error| Failure::usage(format!("--at: {error}")))?;
    at.sort_by(f64::total_cmp);
    at.dedup();
    let mut texts = Vec::new();
    for path in &args.files {
        texts.push((output::shown(path), text(path)?));
    }
    let named = texts.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    let mut lives = read_lives(named).map_err(|error| Failure::usage(harmless(&error.to_string())))?;
    target.redact_lives(&mut lives);
    if let Some(missing) = missing_column(&lives, args.milestone, &args.grouping()) {
        return Err(Failure::usage(missing));
    }
    let options = SurviveOptions {
        milestone: args.milestone,
        axis: args.axis,
        by: args.grouping(),
        at,
        level: args.level,
        chance: args.chance,
        seed: args.seed,
    };
    let Some(found) = analyse(&lives, &options) else {
        let (what, axis) = (args.milestone.title(), args.axis.name());
        let known = match options.by {
            Grouping::All => String::new(),
            by => format!("{} and ", harmless(by.name())),
        };
        let count = counted(lives.units.len(), "unit");
        return Err(Failure::usage(format!(
            "the files give no {known}{axis} for the milestone {what} of any of {count}; try --by all or another --milestone"
        )));
    };
    Ok(Survived(found))
}

/// The column that was asked for, where no unit has it; with those that there are.
fn missing_column(lives: &Lives, milestone: Milestone, by: &Grouping) -> Option<String> {
    let has = |milestone: &Milestone| lives.units.iter().any(|unit| unit.milestones.contains_key(milestone));
    if milestone != Milestone::Death && !has(&milestone) {
        let there: Vec<&str> =
            Milestone::ALL.into_iter().filter(|m| *m == Milestone::Death || has(m)).map(Milestone::name).collect();
        return Some(format!("no column {}; there {}", milestone.name(), these(&there)));
    }
    let Grouping::Label(name) = by else { return None };
    let mut there: BTreeSet<&str> =
        lives.units.iter().flat_map(|unit| unit.labels.keys().map(String::as_str)).collect();
    if there.contains(name.as_str()) {
        return None;
    }
    if lives.units.iter().any(|unit| unit.model.is_some()) {
        there.insert("model");
    }
    there.insert("all");
    let there: Vec<&str> = there.into_iter().collect();
    Some(format!("--by: no column {}; there {}", quoted(name), harmless(&these(&there))))
}

/// `is all`, `are model, site`.
fn these(names: &[&str]) -> String {
    format!("{} {}", if names.len() == 1 { "is" } else { "are" }, names.join(", "))
}

fn text(path: &Path) -> Result<String, Failure> {
    let shown = output::shown(path);
    let mut text = String::new();
    let read = files::open(path).and_then(|file| file.take(LONGEST + 1).read_to_string(&mut text));
    read.map_err(|error| Failure::usage(format!("{shown} cannot be read: {error}; name a sheet or a document")))?;
    if text.len() as u64 > LONGEST {
        return Err(Failure::usage(format!("{shown} is longer than 2 GiB, as no sheet or document is")));
    }
    Ok(text)
}

struct Survived(Survival);

impl Answer for Survived {
    fn text(&self, style: &Style) -> String {
        report::document(&self.0).text(style)
    }

    fn json(&self) -> Result<Value, Failure> {
        output::json(&self.0)
    }

    fn document(&self) -> Document {
        report::document(&self.0)
    }

    fn picture(&self) -> Option<Drawing> {
        report::picture(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_that_no_file_has_is_named_with_those_that_there_are() {
        let text = "unit,cycles,end,model,site,1%\na,10,died,M,s,4\nb,20,died,M,t,5\n";
        let lives = read_lives([("units.csv", text)]).unwrap();
        let missing = |milestone, by: &str| missing_column(&lives, milestone, &Grouping::parse(by));
        assert_eq!(
            missing(Milestone::FirstError, "model").as_deref(),
            Some("no column first-error; there are 1%, death")
        );
        assert_eq!(
            missing(Milestone::Death, "wrong").as_deref(),
            Some("--by: no column `wrong`; there are all, model, site")
        );
        for (milestone, by) in [(Milestone::OnePercent, "site"), (Milestone::Death, "all"), (Milestone::Death, "model")]
        {
            assert_eq!(missing(milestone, by), None);
        }
    }
}
