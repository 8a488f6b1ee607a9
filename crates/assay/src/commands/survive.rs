//! `assay survive`: how long units last, from sheets and documents of endurance tests.

use std::io::Read;
use std::path::Path;

use assay_analysis::survive::{Grouping, Survival, SurviveOptions, read_lives, survive as analyse};
use assay_core::exit::Exit;
use assay_core::text::harmless;
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
