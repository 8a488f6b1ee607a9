//! Tests whose load their profile fixes. What the profiles run: `test-definition.xml` and `install.sh` of each in
//! `ob-cache/test-profiles/pts` of phoronix-test-suite, what of the output they take: `results-definition.xml`.

use assay_core::finding::{Contradiction, Finding};
use assay_core::workload::{Op, Pattern, Sync};

use super::document::Test;
use crate::number::{Base, decimal, unit};
use crate::report::Load;

/// A load, and what else is known of it.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) load: Load,
    /// Whether a rate of writes has the sync in its time.
    pub(super) durable: bool,
    /// The device that was read, where the arguments name it.
    pub(super) device: Option<String>,
    pub(super) findings: Vec<Finding>,
}

/// What a value is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rate {
    Bytes(Mega),
    Operations,
}

/// What the suite calls MB.
#[derive(Debug, Clone, Copy)]
pub(super) enum Mega {
    /// 2^20 bytes.
    Binary,
    /// Of fio: its MiB; but its KiB by 1000 where it printed those, as it does up to 9999 of them.
    Fio,
}

impl Mega {
    /// `value` of these in bytes.
    pub(super) fn bytes(self, value: f64) -> f64 {
        match self {
            // 9999 KiB are 9.76 MiB.
            Self::Fio if value < 9.76 => value * 1_024_000.0,
            Self::Binary | Self::Fio => value * 1_048_576.0,
        }
    }
}

/// The load of a test, and what its values are; `None` of those that are no loads, or whose load is not told.
pub(super) fn load_of_test(test: &Test) -> Option<(Known, Rate)> {
    let (name, version, of_the_suite) = test.profile();
    let rate = match (name, test.scale.as_str()) {
        ("fio", "MB/s") => Rate::Bytes(Mega::Fio),
        ("fio", "IOPS") => Rate::Operations,
        (_, "MB/s") => Rate::Bytes(Mega::Binary),
        _ => return None,
    };
    let known = match name {
        _ if !of_the_suite => return None,
        "fio" => fio(test, version),
        "aio-stress" => aio_stress(test),
        "iozone" => iozone(test),
        "hdparm-read" => hdparm(test),
        _ => return None,
    };
    known.map(|known| (known, rate))
}

fn known(load: Load) -> Known {
    Known { load, durable: false, device: None, findings: Vec::new() }
}

fn size(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let bytes = decimal(text.get(..digits)?)? * unit(text.get(digits..)?, Base::Binary)?;
    (1.0..1e18).contains(&bytes).then_some(bytes as u64)
}

/// `Random Read` and the like.
fn kind(text: &str) -> Option<(Op, Pattern)> {
    Some(match text {
        "Random Read" => (Op::Read, Pattern::Random),
        "Random Write" => (Op::Write, Pattern::Random),
        "Sequential Read" => (Op::Read, Pattern::Sequential),
        "Sequential Write" => (Op::Write, Pattern::Sequential),
        _ => return None,
    })
}

/// fio: depth 64, 1 GiB in one file, 20 s from version 1.7 of the profile on, 60 s from version 2. `buffered` stands
/// behind `direct` in its job file, and fio takes the last of the two: with both on, I/O is cached.
fn fio(test: &Test, version: Option<(u32, u32)>) -> Option<Known> {
    let (op, pattern) = kind(test.option("Type")?)?;
    let on = |name: &str| test.option(name).map(|value| value == "Yes");
    let (direct, buffered) = (on("Direct"), on("Buffered"));
    let engine = test.option("Engine");
    let fixed = version.filter(|version| *version >= (1, 7));
    let jobs = match test.option("Job Count") {
        Some(jobs) => jobs.parse().ok(),
        // It could not be chosen before.
        None => version.filter(|(major, _)| *major < 2).map(|_| 1),
    };
    let mut known = known(Load {
        pattern: Some(pattern),
        block_bytes: test.option("Block Size").and_then(size),
        queue_depth: if engine == Some("Sync") { Some(1) } else { fixed.map(|_| 64) },
        jobs,
        span_bytes: fixed.map(|_| 1 << 30),
        direct: buffered.map(|buffered| !buffered).or(direct),
        sync: Some(Sync::End),
        duration_ns: fixed.map(|(major, _)| if major < 2 { 20 } else { 60 } * 1_000_000_000),
        ..Load::new(&name(&format!("fio {}", test.option("Type")?), test), op)
    });
    if direct.is_some() && direct == buffered {
        let contradiction = Contradiction::DirectAndBuffered { on: direct == Some(true) };
        known.findings.push(Finding::SourceContradicts { contradiction });
    }
    Some(known)
}

/// A name with the size of the blocks, as it stands in the description.
fn name(first: &str, test: &Test) -> String {
    let block = test.option("Block Size").or(test.option("Record Size"));
    block.map_or_else(|| first.to_owned(), |block| format!("{first} {block}"))
}

/// aio-stress with one file, whatever number of threads is asked for: it runs one thread. Its depth is 64 unless `-d`
/// says another. What the suite takes is the rate before the final sync.
fn aio_stress(test: &Test) -> Option<Known> {
    let words: Vec<&str> = test.arguments.split_whitespace().collect();
    let value = |flag: &str| words.iter().position(|word| *word == flag).and_then(|at| words.get(at + 1)).copied();
    let (op, pattern) = kind(test.option("Test").unwrap_or(&test.description))?;
    Some(known(Load {
        pattern: Some(pattern),
        block_bytes: value("-r").and_then(|text| size(&format!("{text}b"))),
        queue_depth: value("-d").map_or(Some(64), |depth| depth.parse().ok()),
        jobs: Some(1),
        span_bytes: value("-s").and_then(|text| size(&format!("{text}b"))),
        direct: Some(words.contains(&"-O")),
        sync: Some(Sync::End),
        ..Load::new("aio-stress random write", op)
    }))
}

/// iozone with `-e`, and `-o` from version 1.9 of the profile on: a flush within the time, and O_SYNC.
fn iozone(test: &Test) -> Option<Known> {
    let op = match test.option("Disk Test")? {
        "Write Performance" => Op::Write,
        "Read Performance" => Op::Read,
        _ => return None,
    };
    let words: Vec<&str> = test.arguments.split_whitespace().collect();
    let has = |flag: &str| words.contains(&flag);
    // Without arguments it is not known what it was told.
    let options_known = !words.is_empty();
    let sync = if has("-o") { Sync::Fsync } else { Sync::End };
    let kind = if op == Op::Read { "read" } else { "write" };
    let mut known = known(Load {
        pattern: Some(Pattern::Sequential),
        block_bytes: test.option("Record Size").and_then(size),
        queue_depth: Some(1),
        jobs: Some(1),
        span_bytes: test.option("File Size").and_then(size),
        direct: options_known.then(|| has("-I")),
        sync: match op {
            Op::Read => Some(Sync::End),
            _ => options_known.then_some(sync),
        },
        ..Load::new(&name(&format!("iozone {kind}"), test), op)
    });
    known.durable = op == Op::Write && (has("-e") || has("-o"));
    Some(known)
}

/// `hdparm -t`.
fn hdparm(test: &Test) -> Option<Known> {
    let mut known = known(Load {
        pattern: Some(Pattern::Sequential),
        queue_depth: Some(1),
        jobs: Some(1),
        direct: Some(false),
        ..Load::new("hdparm buffered disk reads", Op::Read)
    });
    let mut words = test.arguments.split_whitespace();
    known.device = words.find(|word| crate::command::is_device(word)).map(str::to_owned);
    Some(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fio_calls_mb_depends_on_what_it_printed() {
        let at = |value: f64| Mega::Fio.bytes(value);
        assert!((at(4.94) - 5_058_560.0).abs() < 1.0);
        assert!((at(9.999) - 10_484_711.4).abs() < 1.0, "MiB");
        assert!((Mega::Binary.bytes(4.0) - 4_194_304.0).abs() < 1.0);
    }
}
