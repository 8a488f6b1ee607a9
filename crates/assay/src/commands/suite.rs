//! `assay suite`

use assay_core::exit::Exit;
use assay_core::suite::Suite;
use assay_core::units::span;
use serde_json::{Value, json};

use crate::cli::{ExportFormat, SuiteArgs, SuiteCommand};
use crate::failure::Failure;
use crate::{output, state, suites};

pub(super) fn suite(args: SuiteArgs) -> Result<Exit, Failure> {
    match args.command {
        SuiteCommand::List { json } => list(json)?,
        SuiteCommand::Show { suite, json } => show(&suite, json)?,
        SuiteCommand::Export { suite, to, output, json } => {
            let text = match to {
                ExportFormat::Toml => suites::checked(&suite)?.0,
                ExportFormat::Fio => fio_job_file(&suites::load(&suite)?),
            };
            match output {
                Some(path) => {
                    state::write_whole(&path, &text)?;
                    if json {
                        output::print_json(&json!({ "file": path.to_string_lossy(), "bytes": text.len() }))?;
                    }
                }
                None if json => output::print_json(&json!({ "text": text }))?,
                None => output::print(&text)?,
            }
        }
    }
    Ok(Exit::Good)
}

fn list(as_json: bool) -> Result<(), Failure> {
    let all: Vec<Suite> = suites::BUILT_IN.iter().map(|(name, _)| suites::load(name)).collect::<Result<_, _>>()?;
    if as_json {
        return output::print_json(&Value::Array(all.iter().map(describe).collect()));
    }
    let mut table = comfy_table::Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_width(u16::try_from(output::stdout_style().width).unwrap_or(80));
    table.set_content_arrangement(comfy_table::ContentArrangement::Dynamic);
    table.set_header(["suite", "time", "writes", "workloads", "answers"]);
    for suite in &all {
        table.add_row([
            suite.name.clone(),
            span(suite.budget),
            suite.max_write.to_string(),
            format!("{} × {}", suite.workloads.len(), suite.repeats),
            suite.purpose.clone(),
        ]);
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    output::print(&table.trim_fmt())
}

fn show(name: &str, as_json: bool) -> Result<(), Failure> {
    let (text, suite) = suites::checked(name)?;
    if as_json { output::print_json(&describe(&suite)) } else { output::print(&text) }
}

fn describe(suite: &Suite) -> Value {
    let workloads: Vec<Value> = suite
        .workloads
        .iter()
        .map(|w| {
            json!({
                "name": w.name, "op": w.op, "read_percent": w.read_percent, "pattern": w.pattern,
                "block_bytes": w.block, "queue_depth": w.queue_depth, "jobs": w.jobs, "sync": w.sync,
                "direct": w.direct, "span_bytes": w.span,
                "duration_ns": w.duration.map(|d| u64::try_from(d.as_nanos()).unwrap_or(u64::MAX)),
            })
        })
        .collect();
    json!({
        "name": suite.name, "version": suite.version, "purpose": suite.purpose,
        "budget_ns": u64::try_from(suite.budget.as_nanos()).unwrap_or(u64::MAX),
        "max_write_bytes": suite.max_write, "repeats": suite.repeats, "span_bytes": suite.span,
        "workloads": workloads,
    })
}

/// The suite as a job file that fio runs in the current directory: the same blocks, depths, jobs,
/// span and sync policy, one after the other, each as long as its share of the time budget.
fn fio_job_file(suite: &Suite) -> String {
    use assay_core::workload::{Op, Pattern, Sync};
    let repeats = suite.repeats.max(1) * u32::try_from(suite.workloads.len()).unwrap_or(1).max(1);
    let share = (suite.budget.as_secs_f64() * 0.75 / f64::from(repeats)).max(1.0);
    let mut text = format!(
        "; suite {} version {}: {}\n[global]\nfilename=assay-fio.data\nsize={}\ndirect=1\ntime_based\nramp_time=500ms\n\
         refill_buffers\nrandrepeat=0\nnorandommap\nloops=1\n",
        suite.name, suite.version, suite.purpose, suite.span.0
    );
    for w in &suite.workloads {
        let rw = match (w.op, w.pattern) {
            (Op::Read, Pattern::Sequential) => "read",
            (Op::Read, Pattern::Random) => "randread",
            (Op::Write, Pattern::Sequential) => "write",
            (Op::Write, Pattern::Random) => "randwrite",
            (Op::Mixed, Pattern::Sequential) => "rw",
            (Op::Mixed, Pattern::Random) => "randrw",
        };
        for repeat in 1..=suite.repeats {
            text.push_str(&format!("\n[{}-{repeat}]\nstonewall\nrw={rw}\nbs={}\n", w.name, w.block.0));
            let engine = if w.queue_depth > 1 { "io_uring" } else { "psync" };
            text.push_str(&format!("ioengine={engine}\niodepth={}\nnumjobs={}\n", w.queue_depth, w.jobs));
            if w.jobs > 1 {
                text.push_str("group_reporting\n");
            }
            if w.jobs > 1 && w.pattern == Pattern::Sequential {
                let region = w.span.unwrap_or(suite.span).0 / u64::from(w.jobs) / w.block.0 * w.block.0;
                text.push_str(&format!("offset_increment={region}\nsize={region}\n"));
            } else if let Some(span) = w.span {
                text.push_str(&format!("size={}\n", span.0));
            }
            if let Some(percent) = w.read_percent {
                text.push_str(&format!("rwmixread={percent}\n"));
            }
            match w.sync {
                Sync::Fsync => text.push_str("fsync=1\n"),
                Sync::Fdatasync => text.push_str("fdatasync=1\n"),
                Sync::End if w.op != Op::Read => text.push_str("end_fsync=1\n"),
                Sync::End => {}
            }
            if !w.direct {
                text.push_str("direct=0\n");
            }
            let seconds = w.duration.map_or(share, |d| d.as_secs_f64());
            text.push_str(&format!("runtime={}ms\n", (seconds * 1000.0).round()));
        }
    }
    text
}
