//! One repeat of a workload by a tool.

use std::io;

use assay_engine::{Control, OnSample, RepeatReport, RepeatSpec, Trouble};

use crate::call::{Call, call};
use crate::execute::{blamed, execute};
use crate::found::Found;
use crate::reading::{complaint, measurement, read};
use crate::subject::Subject;

/// Runs one repeat by a tool. The report is like that of assay's own loop with these differences: there are no
/// latencies, a figure is what the tool prints, and there are samples only where all that the tool moves is measured.
pub fn run_repeat(
    found: &Found,
    spec: &RepeatSpec,
    subject: &Subject,
    control: &Control,
    on_sample: &mut OnSample<'_>,
) -> RepeatReport {
    let name = found.tool.name();
    let call = match call(found.tool, &spec.workload, subject) {
        Ok(call) => call,
        Err(why) => return failed(Trouble::Setup(format!("{name} was not run: {why}"))),
    };
    match go(found, spec, subject, &call, control, on_sample) {
        Ok(report) => RepeatReport { written_bytes: call.written_bytes, ..report },
        Err(error) => failed(Trouble::Setup(format!("{name}: {error}"))),
    }
}

fn go(
    found: &Found,
    spec: &RepeatSpec,
    subject: &Subject,
    call: &Call,
    control: &Control,
    on_sample: &mut OnSample<'_>,
) -> io::Result<RepeatReport> {
    let ran = execute(found, call, subject.place(found.tool).as_deref(), (spec, subject.time), control, on_sample)?;
    if ran.trouble.is_some() || control.stopped() {
        return Ok(RepeatReport { trouble: ran.trouble, ..RepeatReport::default() });
    }
    let read = read(found, &ran.command, call.input.as_deref(), &ran.printed);
    let read = read.and_then(|(run, record)| Ok((run, measurement(record, call.figure)?)));
    let nothing = || blamed(complaint(found.tool.name(), &ran.printed));
    let Ok((run, measurement)) = read else { return Ok(failed(nothing())) };
    let Some(rate) = measurement.bytes_per_second.as_ref().map(|rate| rate.point).filter(|rate| *rate > 0.0) else {
        return Ok(failed(nothing()));
    };
    let block = spec.workload.block_bytes.max(1);
    // What runs for a time tells its length, or runs as long as it was asked to.
    let stated = measurement.workload.stop.duration_ns;
    let asked = spec.workload.stop.ramp_ns.saturating_add(spec.workload.stop.duration_ns);
    let seconds = (if stated > 0 { stated } else { asked }) as f64 / 1e9;
    let bytes = call.bytes.unwrap_or((rate * seconds) as u64);
    let durable = measurement.durable_bytes_per_second.map(|rate| rate.point);
    Ok(RepeatReport {
        window_ns: (bytes as f64 / rate * 1e9) as u64,
        operations: bytes / block,
        bytes,
        iops: rate / block as f64,
        bytes_per_second: rate,
        in_flight: 1.0,
        read_bytes: if spec.workload.writes() { 0 } else { bytes },
        durable_bytes_per_second: durable.or(call.durable.then_some(rate)),
        samples: if call.alone { ran.watched.samples } else { Vec::new() },
        first_done_ns: ran.watched.elapsed_ns,
        last_done_ns: ran.watched.elapsed_ns,
        original: Some(run),
        ..RepeatReport::default()
    })
}

fn failed(trouble: Trouble) -> RepeatReport {
    RepeatReport { trouble: Some(trouble), ..RepeatReport::default() }
}
