//! A tool as a process: begun, watched, and what it printed.

use std::io::{self, Seek, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use assay_core::units::span;
use assay_engine::{
    Control, OnSample, RepeatSpec, Signal, Trouble, Watched, end_with_this_process, lead_a_group, memory, read_back,
    watch,
};

use crate::call::Call;
use crate::found::Found;
use crate::reading::complaint;

/// A tool may take this many times as long as was foretold, and so much besides, before it is ended.
const TIMEOUT_FACTOR: u32 = 4;
const OVERHEAD: Duration = Duration::from_secs(15);

/// All programs of a call, run.
pub(crate) struct Ran {
    /// Their command lines.
    pub(crate) command: String,
    pub(crate) printed: String,
    /// Of the last one.
    pub(crate) watched: Watched,
    pub(crate) trouble: Option<Trouble>,
}

/// Runs the programs of a call in `directory`, one after the other. Each may take `time` and much more.
pub(crate) fn execute(
    found: &Found,
    call: &Call,
    directory: Option<&Path>,
    (spec, time): (&RepeatSpec, Duration),
    control: &Control,
    on_sample: &mut OnSample<'_>,
) -> io::Result<Ran> {
    let limit = time.max(spec.hang_after) * TIMEOUT_FACTOR + OVERHEAD;
    let mut printed = memory("original-words")?;
    let mut lines = Vec::with_capacity(call.steps.len());
    let mut done = None;
    for ((program, name), arguments) in found.programs.iter().zip(found.names()).zip(&call.steps) {
        lines.push(std::iter::once(*name).chain(arguments.iter().map(String::as_str)).collect::<Vec<_>>().join(" "));
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env("LC_ALL", "C")
            .stdin(given(call.input.as_deref())?)
            .stdout(Stdio::from(printed.try_clone()?))
            .stderr(Stdio::from(printed.try_clone()?));
        // Ctrl-C comes to this process alone, which then tells the tool.
        lead_a_group(&mut command);
        if let Some(directory) = directory {
            command.current_dir(directory);
        }
        // This thread waits for it.
        end_with_this_process(&mut command, Signal::KILL);
        let mut child = command.spawn()?;
        // A tool that is ended early prints no figure.
        let watched = watch(&mut child, spec, limit, control, &mut |sample| {
            let _ = on_sample(sample);
            ControlFlow::Continue(())
        });
        let failed = !watched.success || watched.trouble.is_some() || control.stopped();
        done = Some(watched);
        if failed {
            break;
        }
    }
    let mut watched = done.ok_or_else(|| io::Error::other("it has no program to be run"))?;
    let printed = read_back(&mut printed)?;
    let name = found.tool.name();
    let trouble = match watched.trouble.take() {
        Some(Trouble::Hung { .. }) => Some(Trouble::Setup(format!("{name} did not end within {}", span(limit)))),
        Some(other) => Some(other),
        None if control.stopped() || watched.success => None,
        None => Some(blamed(complaint(name, &printed))),
    };
    Ok(Ran { command: lines.join("; "), printed, watched, trouble })
}

/// Standard input with this text, or with nothing.
fn given(text: Option<&str>) -> io::Result<Stdio> {
    let Some(text) = text else { return Ok(Stdio::null()) };
    let mut file = memory("original-input")?;
    file.write_all(text.as_bytes())?;
    file.rewind()?;
    Ok(Stdio::from(file))
}

/// What failed, by the words of the system in the tool's: the medium, or else the tool.
pub(crate) fn blamed(words: String) -> Trouble {
    let medium = ["Input/output error", "Remote I/O error", "No such device", "Read-only file system"];
    if medium.iter().any(|error| words.contains(error)) { Trouble::Peer(words) } else { Trouble::Setup(words) }
}
