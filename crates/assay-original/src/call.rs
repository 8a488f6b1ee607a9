//! How each tool is called for a workload: what it works on, how much of it, and the names of its files.
//!
//! Options are those of the articles: hdparm(8), dd(1), ioping(1), f3write(1), bonnie++(8), and `iozone -h`.

use std::path::PathBuf;
use std::time::Duration;

use assay_core::original::Original;
use assay_core::units::{KIB, MIB};
use assay_core::workload::{Op, Pattern, Workload};
use assay_engine::is_root;

/// Size of the files of f3.
const GIB: u64 = 1 << 30;

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    /// Arguments of each of its programs that is run, in their order.
    pub(crate) steps: Vec<Vec<String>>,
    /// What it is given on standard input.
    pub(crate) input: Option<String>,
    /// Bytes of what is measured; `None` where it runs for a time.
    pub(crate) bytes: Option<u64>,
    /// Bytes it writes, those that are not measured included.
    pub(crate) written_bytes: u64,
    /// Name of the figure, where it prints several.
    pub(crate) figure: Option<&'static str>,
    /// Whether all that it moves is what is measured, and reaches the medium at once.
    pub(crate) alone: bool,
    /// Whether the final sync is in its clock, though the importer cannot tell.
    pub(crate) durable: bool,
}

impl Call {
    /// A call of one program.
    pub(crate) fn new(arguments: Vec<String>) -> Self {
        Self {
            steps: vec![arguments],
            input: None,
            bytes: None,
            written_bytes: 0,
            figure: None,
            alone: false,
            durable: false,
        }
    }
}

/// Words as arguments.
pub(crate) fn split_arguments(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

/// How `tool` is called.
///
/// # Errors
/// Why it cannot be run here.
pub(crate) fn call(tool: Original, w: &Workload, subject: &ToolSubject) -> Result<Call, String> {
    let makes_file = matches!(tool, Original::Iozone | Original::F3 | Original::Bonnie) || w.writes();
    if makes_file && subject.directory.is_none() {
        return Err("it is run on files; name a directory on the medium".to_owned());
    }
    match tool {
        Original::Fio => Err("it is run as an engine".to_owned()),
        Original::Hdparm => hdparm(w, subject),
        Original::Dd => dd(w, subject),
        Original::Iozone => iozone(w, subject),
        Original::Ioping => Ok(ioping(w, subject)),
        Original::F3 => f3(w, subject),
        Original::Bonnie => bonnie(w, subject),
        Original::Sysbench | Original::Postmark => Err("it is the original of programs".to_owned()),
    }
}

/// It reads for three seconds from the start of the device.
fn hdparm(w: &Workload, subject: &ToolSubject) -> Result<Call, String> {
    let Some(device) = &subject.device else { return Err("no block device is under the test file".to_owned()) };
    let mut arguments = vec!["-t".to_owned()];
    arguments.extend(w.direct.then(|| "--direct".to_owned()));
    arguments.push(device.clone());
    Ok(Call { alone: true, ..Call::new(arguments) })
}

/// A write has the final sync in its clock.
fn dd(w: &Workload, subject: &ToolSubject) -> Result<Call, String> {
    let writes = w.writes();
    let bytes = subject.bytes(w, 1, u64::from(writes))?;
    let (from, to) = if writes { ("/dev/zero", FILE) } else { (subject.data.as_str(), "/dev/null") };
    let block = w.block_bytes.max(1);
    let mut arguments =
        vec![format!("if={from}"), format!("of={to}"), format!("bs={block}"), format!("count={}", bytes / block)];
    arguments.extend(writes.then(|| "conv=fsync".to_owned()));
    arguments.extend(w.direct.then(|| if writes { "oflag=direct" } else { "iflag=direct" }.to_owned()));
    let written_bytes = if writes { bytes } else { 0 };
    Ok(Call { bytes: Some(bytes), written_bytes, alone: w.direct, ..Call::new(arguments) })
}

/// It checks what it reads, and so reads nothing that it did not write before. `-+n` leaves out its second passes but
/// for a stream of writes: that over the file as it is already is the load of assay.
fn iozone(w: &Workload, subject: &ToolSubject) -> Result<Call, String> {
    let (test, figure, passes, writes) = match (w.op == Op::Read, w.pattern) {
        (true, Pattern::Sequential) => (Some("1"), "read", 2, 1),
        (false, Pattern::Sequential) => (None, "rewrite", 2, 2),
        (true, Pattern::Random) => (Some("2"), "random read", 3, 2),
        (false, Pattern::Random) => (Some("2"), "random write", 3, 2),
    };
    let bytes = subject.bytes(w, passes, writes)?;
    let mut arguments = vec!["-e".to_owned()];
    arguments.extend(w.direct.then(|| "-I".to_owned()));
    let sizes = ["-s".to_owned(), format!("{}k", bytes / KIB), "-r".to_owned(), format!("{}k", w.block_bytes / KIB)];
    arguments.extend(sizes);
    arguments.extend(["-i", "0"].map(str::to_owned));
    if let Some(test) = test {
        arguments.extend(["-i", test, "-+n"].map(str::to_owned));
    }
    arguments.extend(["-f", FILE].map(str::to_owned));
    Ok(Call { bytes: Some(bytes), written_bytes: bytes * writes, figure: Some(figure), ..Call::new(arguments) })
}

/// It reads what it wrote. All its files but one that fills the medium have 1 GiB.
fn f3(w: &Workload, subject: &ToolSubject) -> Result<Call, String> {
    let is_write = w.writes();
    let files = subject.bytes(w, if is_write { 1 } else { 2 }, 1)? / GIB;
    if files == 0 {
        let why = "its files have 1 GiB each, and the workload's span, time, write limit or the free space leave less";
        return Err(why.to_owned());
    }
    let arguments = split_arguments(&format!("--end-at={files} ."));
    let mut steps = vec![arguments.clone()];
    steps.extend((!is_write).then_some(arguments));
    Ok(Call {
        steps,
        bytes: Some(files * GIB),
        written_bytes: files * GIB,
        figure: Some(if is_write { "f3write" } else { "f3read" }),
        durable: is_write,
        ..Call::new(Vec::new())
    })
}

/// It writes its file, rewrites it, and reads it. The caller judges whether all of it may be in memory.
fn bonnie(w: &Workload, subject: &ToolSubject) -> Result<Call, String> {
    let size = subject.bytes(w, 4, 2)? / MIB;
    if size < 2 {
        return Err("it needs 2 MiB or more".to_owned());
    }
    let is_write = w.writes();
    let mut arguments = split_arguments(&format!("-d . -s {size}:{} -r {} -n 0 -f -q -m x", w.block_bytes, size / 2));
    arguments.extend(w.direct.then(|| "-D".to_owned()));
    // It refuses root that is not told so.
    arguments.extend(split_arguments("-u root").into_iter().filter(|_| is_root()));
    let bytes = size * MIB;
    Ok(Call {
        bytes: Some(bytes),
        written_bytes: bytes * 2,
        figure: Some(if is_write { "Sequential Output, Block" } else { "Sequential Input, Block" }),
        durable: is_write,
        ..Call::new(arguments)
    })
}

/// For as long as assay's own repeat, without pauses.
fn ioping(w: &Workload, subject: &ToolSubject) -> Call {
    let seconds = (w.stop.ramp_ns.saturating_add(w.stop.duration_ns)) as f64 / 1e9;
    let mut arguments = vec!["-q".to_owned(), "-R".to_owned()];
    arguments.extend(w.direct.then(|| "-D".to_owned()));
    arguments.extend((w.pattern == Pattern::Sequential).then(|| "-L".to_owned()));
    let numbers = [
        "-s".to_owned(),
        w.block_bytes.to_string(),
        "-S".to_owned(),
        w.span_bytes.to_string(),
        "-w".to_owned(),
        format!("{seconds:.3}"),
    ];
    arguments.extend(numbers);
    arguments.push(subject.data.clone());
    Call { alone: true, ..Call::new(arguments) }
}

// What a tool works on, and how much of it.

/// Fewer blocks than this are no measurement.
const LEAST_BLOCKS: u64 = 16;

/// What a tool works on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolSubject {
    /// The directory in which it may make a file called [`crate::FILE`]; `None` on a raw device, which is only read.
    pub directory: Option<PathBuf>,
    /// The name in there of a directory for tools that name their files themselves.
    pub files: &'static str,
    /// The test file as a path from there, or the device.
    pub data: String,
    /// The block device under the test file.
    pub device: Option<String>,
    /// How long it may take, as far as that can be foretold.
    pub time: Duration,
    /// How long one operation takes, as far as that is known.
    pub operation: Option<Duration>,
    /// Most bytes it may write.
    pub write_bytes: u64,
    /// Most bytes that a file of its own may have.
    pub room_bytes: u64,
}

/// Whether a tool names its files itself, and so has to have a directory for them.
#[must_use]
pub fn needs_directory(tool: Original) -> bool {
    matches!(tool, Original::F3 | Original::Bonnie | Original::Postmark)
}

impl ToolSubject {
    /// Where a tool is run.
    pub(crate) fn place(&self, tool: Original) -> Option<PathBuf> {
        let directory = self.directory.as_ref()?;
        Some(if needs_directory(tool) { directory.join(self.files) } else { directory.clone() })
    }

    /// The bytes of a tool that makes several passes over its file and writes all of it in some of them: those of the
    /// workload, or as many as there is time and room for.
    ///
    /// # Errors
    /// Where too few are left.
    pub(crate) fn bytes(&self, w: &Workload, passes: u64, writes: u64) -> Result<u64, String> {
        let block = w.block_bytes.max(1);
        let least = w.span_bytes.min(LEAST_BLOCKS * block) / block * block;
        // What is foretold after a few operations may be far off: that alone is no reason to leave a tool out.
        let in_time = self.operation.filter(|one| !one.is_zero()).map_or(u64::MAX, |one| {
            let operations = (self.time.as_secs_f64() / one.as_secs_f64()) as u64;
            (operations.saturating_mul(block) / passes.max(1)).max(least)
        });
        let may_write = self.write_bytes.checked_div(writes).unwrap_or(u64::MAX);
        let room = if writes > 0 { self.room_bytes } else { u64::MAX };
        let bytes = w.span_bytes.min(in_time).min(may_write).min(room) / block * block;
        if bytes == 0 || bytes < least {
            let limit = if room < may_write { "the free space" } else { "the write budget" };
            return Err(format!("{limit} is too small for it"));
        }
        Ok(bytes)
    }
}

// The names of what tools make.

/// The file that a tool makes which lets its caller name it.
pub const FILE: &str = "original";

/// Whether a tool that names its files itself gives such a name, in a directory of its own: PostMark `17`, f3 `1.h2w`,
/// bonnie++ `Bonnie.4711`, and with a thread behind it.
#[must_use]
pub fn is_known(name: &str) -> bool {
    let digits = |text: &str| (1..=10).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    let bonnie = |rest: &str| rest.split('.').count() <= 2 && rest.split('.').all(digits);
    digits(name.strip_suffix(".h2w").unwrap_or(name)) || name.strip_prefix("Bonnie.").is_some_and(bonnie)
}

#[cfg(test)]
pub(crate) mod tests {
    use assay_core::units::MIB;
    use assay_core::workload::Stop;

    use super::*;

    pub(crate) fn subject() -> ToolSubject {
        ToolSubject {
            directory: Some("/proc/1/fd/9".into()),
            files: "files",
            data: "data".to_owned(),
            device: Some("/dev/sdb1".to_owned()),
            time: Duration::from_secs(8),
            operation: None,
            write_bytes: u64::MAX,
            room_bytes: u64::MAX,
        }
    }

    #[test]
    fn time_and_room_limit_the_bytes() {
        let w = Workload { span_bytes: 80 * MIB, ..Workload::new("w", Op::Write, Pattern::Sequential, MIB) };
        assert_eq!(subject().bytes(&w, 2, 2), Ok(80 * MIB), "nothing is known of time");
        let slow = ToolSubject { operation: Some(Duration::from_millis(100)), ..subject() };
        assert_eq!(slow.bytes(&w, 2, 2), Ok(40 * MIB), "80 blocks in 8 s, twice over");
        let limited = ToolSubject { write_bytes: 50 * MIB + 1, ..slow };
        assert_eq!(limited.bytes(&w, 2, 2), Ok(25 * MIB));
        assert_eq!(limited.bytes(&w, 1, 0), Ok(80 * MIB), "a read writes nothing");
        let crawling = ToolSubject { operation: Some(Duration::from_secs(1)), ..subject() };
        assert_eq!(crawling.bytes(&w, 1, 1), Ok(16 * MIB), "the least that is a measurement");
        let full = ToolSubject { write_bytes: 3 * MIB, ..subject() };
        assert_eq!(full.bytes(&w, 1, 1), Err("the write budget is too small for it".to_owned()));
        let tight = ToolSubject { room_bytes: 9 * MIB, ..subject() };
        assert_eq!(tight.bytes(&w, 1, 1), Err("the free space is too small for it".to_owned()));
        assert_eq!(tight.bytes(&w, 1, 0), Ok(80 * MIB), "a read needs no room");
        let small = Workload { span_bytes: 4 * MIB, ..w };
        assert_eq!(subject().bytes(&small, 1, 1), Ok(4 * MIB), "less than sixteen blocks were asked for");
    }

    fn line(tool: Original, op: Op, pattern: Pattern, direct: bool) -> String {
        let block = if tool == Original::Hdparm { 2 * MIB } else { 4 * KIB };
        let stop = Stop { ramp_ns: 500_000_000, duration_ns: 2_500_000_000, max_bytes: None };
        let span = if matches!(tool, Original::F3 | Original::Bonnie) { 2560 } else { 80 };
        let w = Workload { direct, span_bytes: span * MIB, stop, ..Workload::new("w", op, pattern, block) };
        let steps = call(tool, &w, &subject()).unwrap().steps;
        let line = steps.iter().map(|step| step.join(" ")).collect::<Vec<_>>().join("; ");
        // Root has to tell bonnie++ so.
        line.replace(" -u root", "")
    }

    #[test]
    fn tools_are_called_as_in_the_articles() {
        use Op::{Read, Write};
        use Original::{Bonnie, Dd, F3, Hdparm, Ioping, Iozone};
        use Pattern::{Random, Sequential};
        for (tool, op, pattern, direct, want) in [
            (Hdparm, Read, Sequential, true, "-t --direct /dev/sdb1"),
            (Hdparm, Read, Sequential, false, "-t /dev/sdb1"),
            (Dd, Write, Sequential, false, "if=/dev/zero of=original bs=4096 count=20480 conv=fsync"),
            (Dd, Write, Sequential, true, "if=/dev/zero of=original bs=4096 count=20480 conv=fsync oflag=direct"),
            (Dd, Read, Sequential, true, "if=data of=/dev/null bs=4096 count=20480 iflag=direct"),
            (Iozone, Read, Sequential, true, "-e -I -s 81920k -r 4k -i 0 -i 1 -+n -f original"),
            (Iozone, Write, Sequential, true, "-e -I -s 81920k -r 4k -i 0 -f original"),
            (Iozone, Read, Random, true, "-e -I -s 81920k -r 4k -i 0 -i 2 -+n -f original"),
            (Iozone, Write, Random, false, "-e -s 81920k -r 4k -i 0 -i 2 -+n -f original"),
            (Ioping, Read, Random, true, "-q -R -D -s 4096 -S 83886080 -w 3.000 data"),
            (F3, Write, Sequential, false, "--end-at=2 ."),
            (F3, Read, Sequential, false, "--end-at=2 .; --end-at=2 ."),
            (Bonnie, Write, Sequential, true, "-d . -s 2560:4096 -r 1280 -n 0 -f -q -m x -D"),
            (Bonnie, Read, Sequential, false, "-d . -s 2560:4096 -r 1280 -n 0 -f -q -m x"),
        ] {
            assert_eq!(line(tool, op, pattern, direct), want);
        }
    }

    #[test]
    fn what_is_written_is_told_beforehand() {
        let written = |tool, op, pattern| {
            let w = Workload { span_bytes: 80 * MIB, ..Workload::new("w", op, pattern, 4 * KIB) };
            call(tool, &w, &subject()).unwrap().written_bytes / MIB
        };
        use Pattern::{Random, Sequential};
        assert_eq!(written(Original::Dd, Op::Write, Sequential), 80);
        assert_eq!(written(Original::Dd, Op::Read, Sequential), 0);
        assert_eq!(written(Original::Iozone, Op::Read, Sequential), 80, "it reads what it wrote");
        assert_eq!(written(Original::Iozone, Op::Write, Sequential), 160);
        assert_eq!(written(Original::Iozone, Op::Read, Random), 160, "its random test reads and writes");
        assert_eq!(written(Original::Bonnie, Op::Read, Sequential), 160, "it writes and rewrites what it reads");
        let w = Workload { span_bytes: 80 * MIB, ..Workload::new("w", Op::Read, Sequential, 2 * MIB) };
        assert!(call(Original::F3, &w, &subject()).unwrap_err().contains("1 GiB each"));
    }

    #[test]
    fn a_raw_device_is_only_read() {
        let raw = ToolSubject { directory: None, data: "/proc/1/fd/9".to_owned(), ..subject() };
        for (tool, op, can) in [
            (Original::Dd, Op::Read, true),
            (Original::Dd, Op::Write, false),
            (Original::Iozone, Op::Read, false),
            (Original::Ioping, Op::Read, true),
        ] {
            let w = Workload { span_bytes: 80 * MIB, ..Workload::new("w", op, Pattern::Sequential, 4 * KIB) };
            assert_eq!(call(tool, &w, &raw).is_ok(), can, "{tool:?} {op:?}");
        }
        let w = Workload { span_bytes: 80 * MIB, ..Workload::new("w", Op::Read, Pattern::Sequential, 2 * MIB) };
        let share = ToolSubject { device: None, ..subject() };
        assert!(call(Original::Hdparm, &w, &share).unwrap_err().contains("no block device"));
    }

    #[test]
    fn what_tools_make_is_known_again_and_nothing_else() {
        for name in ["1", "25000", "1.h2w", "12.h2w", "Bonnie.21318", "Bonnie.21318.003"] {
            assert!(is_known(name), "{name}");
        }
        for name in ["", ".h2w", "1.h2w2", "a", "12345678901", "Bonnie.", "Bonnie.1.2.3", "Bonnie.x", "thesis.tex"] {
            assert!(!is_known(name), "{name}");
        }
    }
}
