//! `assay suite`

use std::path::Path;

use assay_core::exit::Exit;
use assay_core::program;
use assay_core::suite::{LEAST_REPEATS, Suite, SuiteWorkload};
use assay_core::text::harmless;
use assay_core::units::{nanoseconds, span};
use assay_fio::{Amount, Wish};
use assay_report::{left, table, wrapped};

use crate::cli::{ExportFormat, SuiteArgs, SuiteCommand};
use crate::documents::{self, SuiteDocument, SuiteLoad, SuiteProgram, SuiteText, WrittenFile};
use crate::ending::Failure;
use crate::{files, output, suites};

pub(super) fn suite(args: SuiteArgs) -> Result<Exit, Failure> {
    match args.command {
        SuiteCommand::List { json } => list(json)?,
        SuiteCommand::Show { suite, json } => show(&suite, json)?,
        SuiteCommand::Import { file, size, output, json } => import(&file, size, output.as_deref(), json)?,
        SuiteCommand::Export { suite, format, output, json } => {
            let text = match format {
                ExportFormat::Toml if suites::is_job_file(suite.as_ref()) => {
                    return Err(Failure::usage("`assay suite import` writes a fio job file as a suite".to_owned()));
                }
                ExportFormat::Toml => suites::checked(&suite)?.0,
                ExportFormat::Fio => assay_fio::job_file(&suites::load(&suite)?),
            };
            write(&text, output.as_deref(), json.then(|| SuiteText { text: text.clone(), notes: None }))?;
        }
    }
    Ok(Exit::Good)
}

/// Writes a job file as a suite.
fn import(file: &str, size: Option<Amount>, output: Option<&Path>, as_json: bool) -> Result<(), Failure> {
    // A file that cannot be read has an error of its own.
    if std::fs::metadata(file).is_ok_and(|meta| meta.is_file()) && !suites::is_job_file(file.as_ref()) {
        let shown = harmless(file);
        return Err(Failure::usage(format!("{shown}: is not a job file of fio, which begins with a [section]")));
    }
    let wish = Wish { size, at: None };
    let (_, suite, notes) = suites::wished(file, &wish)?;
    notes.iter().for_each(|note| output::tell_wrapped(note));
    let text = suite.to_text();
    write(&text, output, as_json.then(|| SuiteText { text: text.clone(), notes: Some(notes) }))
}

/// Writes a text to a file or prints it; says with `json` what was written where JSON was asked for.
fn write(text: &str, file: Option<&Path>, json: Option<SuiteText>) -> Result<(), Failure> {
    let Some(path) = files::named(file) else {
        return json.map_or_else(|| output::print_file(text), |json| output::print_json(&json));
    };
    files::write_whole(path, text)?;
    match json {
        Some(_) => output::print_json(&WrittenFile { file: documents::path(path), bytes: text.len() }),
        None => Ok(()),
    }
}

fn list(as_json: bool) -> Result<(), Failure> {
    let all: Vec<Suite> = suites::BUILT_IN.iter().map(|(name, _)| suites::load(name)).collect::<Result<_, _>>()?;
    if as_json {
        return output::print_json(&all.iter().map(describe).collect::<Vec<_>>());
    }
    let columns = vec![left("suite"), left("time"), left("writes"), left("workloads"), wrapped("answers")];
    let row = |suite: &Suite| {
        let workloads = format!("{} × {}", suite.workloads.len() + suite.programs.len(), repeats(suite));
        vec![suite.name.clone(), span(suite.budget), suite.max_write.to_string(), workloads, suite.purpose.clone()]
    };
    output::print(&table(columns, all.iter().map(row), &output::stdout_style()))
}

fn show(name: &str, as_json: bool) -> Result<(), Failure> {
    let (text, suite) = suites::checked(name)?;
    if as_json { output::print_json(&describe(&suite)) } else { output::print_file(&text) }
}

fn describe(suite: &Suite) -> SuiteDocument {
    let program = |p: &program::SuiteProgram| SuiteProgram {
        name: p.name.clone(),
        does: p.does.to_string(),
        duration_ns: nanoseconds(p.duration),
    };
    SuiteDocument {
        name: suite.name.clone(),
        version: suite.version,
        purpose: suite.purpose.clone(),
        budget_ns: nanoseconds(suite.budget),
        max_write_bytes: suite.max_write.0,
        repeats: suite.repeats,
        enough: suite.enough,
        span_bytes: suite.span.0,
        workloads: suite.workloads.iter().map(load).collect(),
        programs: suite.programs.iter().map(program).collect(),
    }
}

fn load(w: &SuiteWorkload) -> SuiteLoad {
    SuiteLoad {
        name: w.name.clone(),
        op: w.op,
        read_percent: w.read_percent,
        pattern: w.pattern,
        block_bytes: w.mean_block(),
        blocks: w.blocks.clone(),
        queue_depth: w.queue_depth,
        jobs: w.jobs,
        sync: w.sync,
        direct: w.direct,
        span_bytes: w.span.map(|span| span.0),
        rate: w.rate.as_ref().map(ToString::to_string),
        arrivals: w.rate.as_ref().map(|_| w.process.name()),
        distribution: w.distribution.clone(),
        think: w.think,
        cpus: w.cpus.clone(),
        poll: w.poll,
        group: w.group.clone(),
        refined: w.refined.clone(),
        priorities: w.priorities.clone(),
        duration_ns: w.duration.map(nanoseconds),
    }
}

/// How many repeats of each workload.
fn repeats(suite: &Suite) -> String {
    match suite.enough {
        None => suite.repeats.to_string(),
        Some(_) => format!("{LEAST_REPEATS} to {}", suite.most_repeats()),
    }
}
