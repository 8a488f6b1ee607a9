//! One repeat by a tool.

use std::io;
use std::ops::ControlFlow;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use assay_core::units::span;
use assay_engine::{
    Control, OnSample, RepeatReport, RepeatSpec, Trouble, end_with_this_process, memory, read_back, watch,
};
use rustix::process::Signal;

use crate::call::{Call, call};
use crate::found::Found;
use crate::reading::{complaint, read};
use crate::subject::Subject;

/// The file that a tool makes in its directory. It may be left behind; whoever gave the directory removes it.
pub const FILE: &str = "original";

/// A tool may take this many times as long as was foretold, and so much besides, before it is ended.
const PATIENCE: u32 = 4;
const OVERHEAD: Duration = Duration::from_secs(15);

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
    let name = found.tool.name();
    let mut words = memory("original-words")?;
    let mut command = Command::new(&found.program);
    command
        .args(&call.arguments)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(Stdio::from(words.try_clone()?))
        .stderr(Stdio::from(words.try_clone()?))
        // Ctrl-C comes to this process alone, which then tells the tool.
        .process_group(0);
    if let Some(directory) = &subject.directory {
        command.current_dir(directory);
    }
    // This thread waits for it.
    end_with_this_process(&mut command, Signal::KILL);
    let mut child = command.spawn()?;
    let limit = subject.time.max(spec.hang_after) * PATIENCE + OVERHEAD;
    // A tool that is ended early prints no figure.
    let watched = watch(&mut child, spec, limit, control, &mut |sample| {
        let _ = on_sample(sample);
        ControlFlow::Continue(())
    });
    let printed = read_back(&mut words)?;
    let trouble = match watched.trouble {
        Some(Trouble::Hung { .. }) => Some(Trouble::Setup(format!("{name} did not end within {}", span(limit)))),
        Some(other) => Some(other),
        None if control.stopped() => None,
        None if !watched.success => Some(blamed(complaint(name, &printed))),
        None => None,
    };
    if trouble.is_some() || control.stopped() {
        return Ok(RepeatReport { trouble, ..RepeatReport::default() });
    }
    let line = std::iter::once(name).chain(call.arguments.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
    let (run, measurement) = match read(found, &line, &printed, call.figure) {
        Ok(read) => read,
        Err(why) => return Ok(failed(blamed(why))),
    };
    let Some(rate) = measurement.bytes_per_second.as_ref().map(|rate| rate.point).filter(|rate| *rate > 0.0) else {
        return Ok(failed(blamed(complaint(name, &printed))));
    };
    let block = spec.workload.block_bytes.max(1);
    // What runs for a time tells its length, or runs as long as it was asked to.
    let told = measurement.workload.stop.duration_ns;
    let asked = spec.workload.stop.ramp_ns.saturating_add(spec.workload.stop.duration_ns);
    let seconds = (if told > 0 { told } else { asked }) as f64 / 1e9;
    let bytes = call.bytes.unwrap_or((rate * seconds) as u64);
    Ok(RepeatReport {
        window_ns: (bytes as f64 / rate * 1e9) as u64,
        operations: bytes / block,
        bytes,
        iops: rate / block as f64,
        bytes_per_second: rate,
        in_flight: 1.0,
        read_bytes: if spec.workload.writes() { 0 } else { bytes },
        durable_bytes_per_second: measurement.durable_bytes_per_second.map(|rate| rate.point),
        samples: if call.alone { watched.samples } else { Vec::new() },
        first_done_ns: watched.elapsed_ns,
        last_done_ns: watched.elapsed_ns,
        original: Some(run),
        ..RepeatReport::default()
    })
}

/// What failed, by the words of the system in the tool's: the medium, or else the tool.
fn blamed(words: String) -> Trouble {
    let medium = ["Input/output error", "Remote I/O error", "No such device", "Read-only file system"];
    if medium.iter().any(|error| words.contains(error)) { Trouble::Peer(words) } else { Trouble::Setup(words) }
}

fn failed(trouble: Trouble) -> RepeatReport {
    RepeatReport { trouble: Some(trouble), ..RepeatReport::default() }
}
