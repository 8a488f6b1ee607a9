//! One repeat of a program by the tool that it was taken from.
//!
//! Options are those of the articles: `sysbench --help`, dd(1), and `help` of PostMark.

use std::io;
use std::ops::ControlFlow;
use std::time::Duration;

use assay_core::original::Original;
use assay_core::program::Program;
use assay_core::record::{OriginalRun, Record};
use assay_core::workload::{Op, Pattern, Workload};
use assay_engine::{Control, RepeatSpec, RepeatTrouble};

use super::call::{FILE, ToolSubject};
use super::run::{FoundTool, blamed, complaint, execute, read};
use crate::call::{Call, split_arguments};

/// What a tool came to.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgramReport {
    /// Its figure, in the unit of the program.
    pub value: f64,
    /// How long the whole tool ran.
    pub elapsed: Duration,
    /// Bytes that it wrote to files.
    pub written_bytes: u64,
    /// How it was called and what it printed.
    pub run: OriginalRun,
}

/// Runs one repeat by a tool, for the subject's time as far as it can be told one; `None` where the end was asked for.
///
/// # Errors
/// Why there is no figure.
pub fn run_program(
    found: &FoundTool,
    program: &Program,
    subject: &ToolSubject,
    (seed, hang_after): (u64, Duration),
    control: &Control,
) -> Result<Option<ProgramReport>, RepeatTrouble> {
    let name = found.tool.name();
    let setup = |error: &dyn std::fmt::Display| RepeatTrouble::Setup(format!("{name}: {error}"));
    let Some(call) = call(found.tool, program, subject.time, seed) else {
        return Err(setup(&"it is not the original of this program"));
    };
    if program.writes() && subject.directory.is_none() {
        return Err(setup(&"a raw device holds no files"));
    }
    let spec = RepeatSpec {
        // What is watched is the process; nothing of a workload counts.
        workload: Workload::new("program", Op::Write, Pattern::Sequential, 4096),
        target: None,
        seed,
        repeat: 0,
        repeats: 1,
        hang_after,
        sample_every: Duration::from_secs(1),
        wait_for: None,
        begin_at_ns: None,
    };
    let directory = subject.place(found.tool);
    let continued = &mut |_: &_| ControlFlow::Continue(());
    let ran: io::Result<_> = execute(found, &call, directory.as_deref(), (&spec, subject.time), control, continued);
    let ran = ran.map_err(|error| setup(&error))?;
    if control.stopped() {
        return Ok(None);
    }
    if let Some(trouble) = ran.trouble {
        return Err(trouble);
    }
    let made = read(found, &ran.command, call.input.as_deref(), &ran.printed).ok();
    let made = made.and_then(|(run, record)| {
        let value = value(program, &record).filter(|value| *value > 0.0)?;
        let elapsed = Duration::from_nanos(ran.watched.elapsed_ns);
        Some(ProgramReport { value, elapsed, written_bytes: written(program, &record), run })
    });
    made.map(Some).ok_or_else(|| blamed(why_nothing(name, &ran.printed)))
}

/// Why it printed no figure.
fn why_nothing(name: &str, printed: &str) -> String {
    // Files are made and removed by chance, and PostMark ends where none or twice as many are there.
    if printed.contains("out of files!") {
        return format!("{name} ran out of files by chance; give it more files or fewer transactions");
    }
    complaint(name, printed)
}

/// How a tool is called for a program; `None` where it is another one's original.
fn call(tool: Original, program: &Program, time: Duration, seed: u64) -> Option<Call> {
    // It takes whole seconds.
    let seconds = time.as_secs_f64().round().max(1.0);
    let call = match (tool, program) {
        (Original::Sysbench, Program::Primes { below, threads }) => {
            Call::new(split_arguments(&format!("cpu --cpu-max-prime={below} --threads={threads} --time={seconds} run")))
        }
        (Original::Sysbench, Program::Memory { op, block, total }) => Call::new(split_arguments(&format!(
            "memory --memory-block-size={} --memory-total-size={} --memory-oper={op} --threads=1 --time={seconds} run",
            block.0, total.0
        ))),
        (Original::Dd, Program::Stream { block, count }) => {
            Call::new(split_arguments(&format!("if=/dev/zero of={FILE} bs={} count={count} conv=fsync", block.0)))
        }
        (Original::Postmark, Program::Postmark { transactions, files, smallest, largest }) => Call {
            input: Some(format!(
                "set size {} {}\nset number {files}\nset transactions {transactions}\nset seed {}\nrun\nquit\n",
                smallest.0,
                largest.0,
                seed & 0x7fff_ffff
            )),
            ..Call::new(Vec::new())
        },
        _ => return None,
    };
    Some(call)
}

/// The figure among those that the tool printed.
fn value(program: &Program, record: &Record) -> Option<f64> {
    let score = |name: &str| Some(record.scores.iter().find(|score| score.name.starts_with(name))?.value.point);
    match program {
        Program::Primes { .. } => score("sysbench cpu"),
        Program::Memory { .. } => score("sysbench memory"),
        Program::Postmark { .. } => score("PostMark transactions"),
        Program::Stream { .. } => Some(record.measurements.first()?.durable_bytes_per_second.as_ref()?.point / 1e6),
        _ => None,
    }
}

/// Bytes that the tool wrote to files.
fn written(program: &Program, record: &Record) -> u64 {
    let score = |name: &str| record.scores.iter().find(|score| score.name == name).map_or(0.0, |s| s.value.point);
    match program {
        Program::Stream { block, count } => block.0 * u64::from(*count),
        // It prints rates over all of its time.
        Program::Postmark { .. } => (score("PostMark written") * 1e6 * score("PostMark total time")) as u64,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use assay_core::units::Bytes;
    use assay_core::workload::Direction;

    use super::*;

    #[test]
    fn tools_are_called_as_in_the_articles() {
        let line = |tool, program| {
            let call = call(tool, &program, Duration::from_millis(9700), 1 << 40 | 42)?;
            Some((call.steps.concat().join(" "), call.input.unwrap_or_default()))
        };
        let sysbench = |program| line(Original::Sysbench, program).unwrap().0;
        assert_eq!(
            sysbench(Program::Primes { below: 20_000, threads: 8 }),
            "cpu --cpu-max-prime=20000 --threads=8 --time=10 run"
        );
        assert_eq!(
            sysbench(Program::Memory { op: Direction::Write, block: Bytes(1 << 20), total: Bytes(2 << 30) }),
            "memory --memory-block-size=1048576 --memory-total-size=2147483648 --memory-oper=write --threads=1 --time=10 run"
        );
        let stream = Program::Stream { block: Bytes(8192), count: 50_000 };
        assert_eq!(
            line(Original::Dd, stream.clone()).unwrap().0,
            "if=/dev/zero of=original bs=8192 count=50000 conv=fsync"
        );
        let postmark =
            Program::Postmark { transactions: 25_000, files: 500, smallest: Bytes(5120), largest: Bytes(524_288) };
        assert_eq!(
            line(Original::Postmark, postmark).unwrap().1,
            "set size 5120 524288\nset number 500\nset transactions 25000\nset seed 42\nrun\nquit\n"
        );
        assert_eq!(line(Original::Sysbench, stream), None);
    }

    #[test]
    fn of_what_postmark_prints_its_transactions_count() {
        let found = FoundTool { tool: Original::Postmark, version: "1.51".to_owned(), programs: Vec::new() };
        let printed = "PostMark v1.51 : 8/14/01\npm>pm>pm>pm>Creating files...Done\n\
            Performing transactions..........Done\nDeleting files...Done\nTime:\n\t12 seconds total\n\
            \t10 seconds of transactions (2500 per second)\n\nFiles:\n\t13039 created (1086 per second)\n\n\
            Data:\n\t1000.00 megabytes read (83.33 megabytes per second)\n\
            \t1200.00 megabytes written (100.00 megabytes per second)\npm>";
        let (run, record) = read(&found, "postmark", Some("set seed 42\nrun\n"), printed).unwrap();
        let program = Program::Postmark { transactions: 25_000, files: 500, smallest: Bytes(1), largest: Bytes(2) };
        assert_eq!(value(&program, &record), Some(2500.0));
        assert_eq!(written(&program, &record), 1200 << 20);
        assert_eq!(run.input.as_deref(), Some("set seed 42\nrun\n"));
        let printed = "Performing transactions...out of files!\nDeleting files...Done\npm>";
        assert!(why_nothing("postmark", printed).contains("more files or fewer transactions"));
    }
}
