//! One repeat of a workload by a tool: the tool on this host, its process, and what it printed, by the importer.

use std::io::{self, ErrorKind, Seek, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use assay_core::original::Original;
use assay_core::record::{Measurement, Origin, OriginalRun, Record};
use assay_core::units::span;
use assay_engine::{
    Control, OnSample, RUNS_TOOLS, RepeatReport, RepeatSpec, RepeatTrouble, Signal, Watched, end_with_this_process,
    is_root, lead_a_group, memory, read_back, watch,
};
use assay_import::{File, Item, Options, import};

use super::call::ToolSubject;
use crate::call::{Call, call};

/// Runs one repeat by a tool. The report is like that of assay's own loop with these differences: there are no
/// latencies, a figure is what the tool prints, and there are samples only where all that the tool moves is measured.
pub fn run_repeat(
    found: &FoundTool,
    spec: &RepeatSpec,
    subject: &ToolSubject,
    control: &Control,
    on_sample: &mut OnSample<'_>,
) -> RepeatReport {
    let name = found.tool.name();
    let call = match call(found.tool, &spec.workload, subject) {
        Ok(call) => call,
        Err(why) => return failed(RepeatTrouble::Setup(format!("{name} was not run: {why}"))),
    };
    match go(found, spec, subject, &call, control, on_sample) {
        Ok(report) => RepeatReport { written_bytes: call.written_bytes, ..report },
        Err(error) => failed(RepeatTrouble::Setup(format!("{name}: {error}"))),
    }
}

fn go(
    found: &FoundTool,
    spec: &RepeatSpec,
    subject: &ToolSubject,
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

fn failed(trouble: RepeatTrouble) -> RepeatReport {
    RepeatReport { trouble: Some(trouble), ..RepeatReport::default() }
}

// A tool as a process: begun, watched, and what it printed.

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
    pub(crate) trouble: Option<RepeatTrouble>,
}

/// Runs the programs of a call in `directory`, one after the other. Each may take `time` and much more.
pub(crate) fn execute(
    found: &FoundTool,
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
        Some(RepeatTrouble::Hung { .. }) => {
            Some(RepeatTrouble::Setup(format!("{name} did not end within {}", span(limit))))
        }
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
pub(crate) fn blamed(words: String) -> RepeatTrouble {
    let medium = ["Input/output error", "Remote I/O error", "No such device", "Read-only file system"];
    if medium.iter().any(|error| words.contains(error)) {
        RepeatTrouble::Peer(words)
    } else {
        RepeatTrouble::Setup(words)
    }
}

// What a tool printed, by the importer.

/// Longest line of a tool that is repeated in a message.
const LONGEST_LINE: usize = 200;

/// How a tool was called and what it printed, and the record that the importer makes of that.
pub(crate) fn read(
    found: &FoundTool,
    command: &str,
    input: Option<&str>,
    printed: &str,
) -> Result<(OriginalRun, Record), String> {
    // dd does not say what it did.
    let text = format!("$ {command}\n{printed}");
    let options = Options { keep_text: true, ..Options::default() };
    let name = found.tool.name();
    let nothing = || complaint(name, printed);
    let imported = import(File::new(name, text), &options).map_err(|_| nothing())?;
    let record = imported.items.into_iter().find_map(|item| match item {
        Item::Made(record) => Some(*record),
        Item::Own { .. } => None,
    });
    let mut record = record.ok_or_else(nothing)?;
    let Origin::Imported(source) = std::mem::take(&mut record.origin) else { return Err(nothing()) };
    let run = OriginalRun {
        tool: name.to_owned(),
        version: found.version.clone(),
        command: command.to_owned(),
        input: input.map(str::to_owned),
        text_sha256: source.original_text_sha256,
        text: source.text,
    };
    Ok((run, record))
}

/// The measurement called `figure`, or the only one.
pub(crate) fn measurement(record: Record, figure: Option<&str>) -> Result<Measurement, String> {
    let wanted = |m: &Measurement| figure.is_none_or(|figure| m.workload.name == figure);
    let found = record.measurements.into_iter().find(wanted);
    found.ok_or_else(|| format!("it printed no figure of {}", figure.unwrap_or("a workload")))
}

/// The last thing that it said, where that was no figure.
pub(crate) fn complaint(name: &str, printed: &str) -> String {
    let last = printed.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("it printed nothing");
    let last: String = last.chars().filter(|c| !c.is_control()).take(LONGEST_LINE).collect();
    if last.starts_with(name) { last } else { format!("{name}: {last}") }
}

// A tool on this host.

/// Where programs for administrators lie, which are not on everybody's path.
const ELSEWHERE: [&str; 2] = ["/usr/sbin", "/sbin"];
/// Longest version that is kept.
const LONGEST: usize = 40;

/// A tool as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundTool {
    /// Which one.
    pub tool: Original,
    /// Its version; empty where it tells none.
    pub version: String,
    /// Its programs, in the order of [`FoundTool::names`].
    pub(crate) programs: Vec<PathBuf>,
}

impl FoundTool {
    /// Looks for a tool.
    ///
    /// # Errors
    /// Why it cannot be used, in one line, with the package that brings it.
    pub fn find(tool: Original) -> Result<Self, String> {
        if !RUNS_TOOLS {
            return Err(format!("{} is run in place of an engine on Linux alone", tool.name()));
        }
        if tool == Original::Hdparm && !is_root() {
            return Err("hdparm reads the device itself, which needs root".to_owned());
        }
        // PostMark has no options: what it is given is a file of commands.
        let option = match tool {
            Original::Hdparm => "-V",
            Original::Iozone | Original::Ioping => "-v",
            Original::Bonnie => "-h",
            Original::Postmark => "/dev/null",
            Original::Fio | Original::Dd | Original::F3 | Original::Sysbench => "--version",
        };
        let (mut programs, mut said) = (Vec::new(), String::new());
        for name in names(tool) {
            let (program, output) = started(name, option)
                .map_err(|error| format!("{name} could not be started: {error}"))?
                .ok_or_else(|| format!("{name} is not installed (its Debian package is {})", tool.package()))?;
            said = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
            programs.push(program);
        }
        Ok(Self { tool, version: version(&said), programs })
    }

    /// The names of its programs.
    pub(crate) fn names(&self) -> &'static [&'static str] {
        names(self.tool)
    }
}

/// The programs of a tool.
fn names(tool: Original) -> &'static [&'static str] {
    match tool {
        Original::Fio => &["fio"],
        Original::Hdparm => &["hdparm"],
        Original::Dd => &["dd"],
        Original::Iozone => &["iozone"],
        Original::Ioping => &["ioping"],
        Original::F3 => &["f3write", "f3read"],
        Original::Bonnie => &["bonnie++"],
        Original::Sysbench => &["sysbench"],
        Original::Postmark => &["postmark"],
    }
}

/// A program and what it says to `option`; `None` if no program has that name.
fn started(name: &str, option: &str) -> io::Result<Option<(PathBuf, Output)>> {
    let places = ELSEWHERE.map(|place| PathBuf::from(place).join(name));
    for program in std::iter::once(PathBuf::from(name)).chain(places) {
        match Command::new(&program).arg(option).env("LC_ALL", "C").stdin(Stdio::null()).output() {
            Ok(output) => return Ok(Some((program, output))),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// The first word that is a number with a point in it, before which a letter may stand: `v9.65`.
fn version(text: &str) -> String {
    let number = |word: &&str| {
        let digits = word.strip_prefix('v').unwrap_or(word);
        digits.starts_with(|c: char| c.is_ascii_digit()) && digits.contains('.')
    };
    let word = text.split_whitespace().find(number).unwrap_or_default();
    word.trim_start_matches('v').chars().filter(char::is_ascii_graphic).take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use assay_core::original::Original;

    use super::*;

    fn found(tool: Original) -> FoundTool {
        FoundTool { tool, version: "1.0".to_owned(), programs: vec![tool.name().into()] }
    }

    #[test]
    fn a_figure_is_found_among_others_and_its_text_is_kept() {
        let printed = "\tInclude fsync in write timing\n\tO_DIRECT feature enabled\n\tFile size set to 8192 kB\n\
            \tRecord Size 4 kB\n\tCommand line used: iozone -e -I -s 8192k -r 4k -i 0 -i 1 -+n -f original\n\
            \tOutput is in kBytes/sec\n\
            \x20             kB  reclen    write    rewrite      read    reread\n\
            \x20           8192       4     34711         0     24000         0\n\niozone test complete.\n";
        let command = "iozone -e -I -s 8192k -r 4k -i 0 -i 1 -+n -f original";
        let (run, record) = read(&found(Original::Iozone), command, None, printed).unwrap();
        assert!(measurement(record.clone(), Some("random read")).is_err());
        let m = measurement(record, Some("read")).unwrap();
        assert_eq!(m.bytes_per_second.unwrap().point, 24_000.0 * 1024.0);
        assert_eq!((run.tool.as_str(), run.version.as_str(), run.command.as_str()), ("iozone", "1.0", command));
        assert!(run.text.unwrap().contains("34711") && run.text_sha256.len() == 64);
    }

    #[test]
    fn dd_is_read_by_its_command() {
        let printed =
            "20480+0 records in\n20480+0 records out\n83886080 bytes (84 MB, 80 MiB) copied, 4.0 s, 21 MB/s\n";
        let command = "dd if=/dev/zero of=original bs=4096 count=20480 conv=fsync";
        let m = measurement(read(&found(Original::Dd), command, None, printed).unwrap().1, None).unwrap();
        assert_eq!(m.durable_bytes_per_second.unwrap().point, 83_886_080.0 / 4.0);
    }

    #[test]
    fn a_tool_that_failed_is_quoted() {
        for (printed, want) in [
            (
                "dd: failed to open 'data': No such file or directory\n",
                "dd: failed to open 'data': No such file or directory",
            ),
            ("\n", "dd: it printed nothing"),
            ("odd\u{1b}[2J words\n\n", "dd: odd[2J words"),
        ] {
            let error = read(&found(Original::Dd), "dd if=data of=/dev/null", None, printed).unwrap_err();
            assert_eq!(error, want);
        }
    }

    #[test]
    fn a_version_is_the_first_number_with_a_point() {
        for (text, want) in [
            ("hdparm v9.65\n", "9.65"),
            ("dd (coreutils) 9.1\nCopyright (C) 2022 Free Software Foundation, Inc.\n", "9.1"),
            ("       'Iozone' Filesystem Benchmark Program\n\n\t\tVersion $Revision: 3.508 $\n", "3.508"),
            ("ioping 1.3\n", "1.3"),
            ("PostMark v1.51 : 8/14/01\nReading configuration from file '/dev/null'\npm>", "1.51"),
            ("F3 Write 8.0\nCopyright (C) 2010 Digirati Internet LTDA.\n", "8.0"),
            ("      [-m machine-name] [-r ram-size-in-MiB]\n\nVersion: 2.00a\n", "2.00a"),
            ("BusyBox, multi-call binary", ""),
        ] {
            assert_eq!(version(text), want, "{text}");
        }
    }

    #[test]
    fn dd_is_everywhere() {
        let found = FoundTool::find(Original::Dd).unwrap();
        assert_eq!(found.programs, [PathBuf::from("dd")]);
    }
}
