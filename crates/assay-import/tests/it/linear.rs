//! Time and memory grow with the input, and no faster: twice the text takes about twice the time, whatever it is made of.
//!
//! Processor time of the thread is compared, the smallest of several runs, so that a busy machine changes little.
//! The whole of it, with texts up to 16 MiB: `cargo test --release -p assay-import --test it linear:: -- --ignored`.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use assay_import::{File, Options, Sheet, import};
use rustix::time::{ClockId, clock_gettime};

/// How much longer the second text is than the first.
const GROWTH: usize = 8;
/// How much longer it may take: more than a table that outgrows a cache costs, less than the square of the growth.
const MOST: u32 = 24;
/// What is below this is not compared.
const FLOOR: Duration = Duration::from_millis(4);

fn processor() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(now.tv_sec).unwrap(), u32::try_from(now.tv_nsec).unwrap())
}

fn took(work: &dyn Fn(&[u8]), text: &[u8]) -> Duration {
    let begun = processor();
    work(text);
    processor() - begun
}

/// A text of so many bytes out of a piece.
fn of(piece: &[u8], bytes: usize) -> Vec<u8> {
    piece.iter().copied().cycle().take(bytes).collect()
}

/// Why a piece is read in more time than its length gives; `None` where it is not.
fn grows(work: &dyn Fn(&[u8]), piece: &[u8], bytes: usize) -> Option<String> {
    let (small, large) = (of(piece, bytes), of(piece, bytes * GROWTH));
    let mut last = None;
    for _ in 0..3 {
        let times = (took(work, &small), took(work, &large));
        if times.1 <= (times.0 * MOST).max(FLOOR) {
            return None;
        }
        last = Some(times);
    }
    let shown: String = String::from_utf8_lossy(piece).chars().take(100).collect();
    last.map(|(small, large)| format!("{shown:?}: {bytes} bytes take {small:?}, {GROWTH} times as many {large:?}\n"))
}

fn imported(text: &[u8]) {
    let _ = import(File::new("results.txt", text), &Options { keep_text: true, ..Options::default() });
}

fn sheet(text: &[u8]) {
    let _ = Sheet::parse(text);
}

/// Letters, digits, blanks, and what formats, pages and quotations are made of.
#[rustfmt::skip]
const MARKS: &[&str] = &["a", "7", " ", "\t", "\n", "\r", "\r\n", "\0", "\x1b", "\x1b[", "\x1b]", "\u{a0}", "\u{feff}", "é", "\n\n ", "<a", "a<", "<a ", "</", "<b>", "<br>", "<td>a", "<p a=\"", "&lt;", "&amp;", "&#60;", "> ", ">\n", "> a\n", "[[", "{\"", "{{", "[{", "{}", "{}\n", "[0,", "\":", "\"a\":", "\\\"", "\\", "\\\n", "\"\\n", "=3D", "=\n", "=", "%", "# a\n", "| a\n", "1 a\n", "a,", ",,", "a;", ";;", "::", ": ", "(((", "(a", "a)", "[a", "]]", "|", "a|", "\"msg\": \"a\\n", "\"stdout\": \"", "\"stdout_lines\": [\n\"a\",\n", "serial=", "serial: ", "serial,a\n", "0:", "0a:", "1.", "1,1", "1/", "1 (", "dd ", "dd if=a of=b\n", "dd if=a \\\n", "1+1\n", "1+1 ", "fio-"];

/// These, and every mark of ASCII.
fn marks() -> Vec<Vec<u8>> {
    let all = (0x20..0x7f_u8).filter(u8::is_ascii_punctuation).map(|mark| vec![mark]);
    all.chain(MARKS.iter().map(|text| text.as_bytes().to_vec())).collect()
}

/// What made a format read something again and again: of many matches each looked on to a bracket that was never closed,
/// each figure of a mix looked for its share, and what a format had begun to read was read anew from the next line on.
const MET: &[&str] = &[
    "SEQ ([Read]",
    "CrystalDiskMark 8.0.4 x64 (C) 2007-2021\nSEQ ([Read]MB/s\n",
    "Timing disk reads (offset Timing disk reads :",
    "CrystalDiskMark 8.0.4 x64 (C) 2007-2021 [Mix] SEQ: 1 MB/s",
    "[Mix] SEQ: 1 MB/s\n",
    "Timing cached reads: 1 MB in 1 seconds = 1 MB/sec\n",
    "KB reclen write rewrite read reread\n",
    "kB reclen ",
    "\"Writer report\"\n\"4\" \"8\"\n\"4\" 1 1\n",
    "Running the test with following options:\n",
    "LINPACK benchmark, Double precision.\n",
    "Command Line: diskspd\n",
    "Total IO\n",
    "ISO date,operation,MiB/s [last]\n",
    "OPERATION RESULT TYPE FIRST DONE LAST DONE\n",
    "Drive,/dev/sda\n",
    "Run 1\n",
    "seq-read;1;1;1;1\n",
    "Category Test Result\n",
    "System rootfs drive (/) has been detected as /dev/sda (1)\n",
    "3;fio-3;a;0;0\n",
    "{\"fio version\" : \"1\"\n",
    "a: (g=0): rw=read, bs=4K-4K, ioengine=sync, iodepth=1\n",
    "a: (groupid=0, jobs=1): err= 0: pid=1\n",
    "<PhoronixTestSuite>\n",
    "<PhoronixTestSuite",
    "<Results>\n<System>\n",
    "[{\"timestamp\" \"fstype\"\n",
    "Test finished without errors.\n",
    "F3 read 8.0\n",
    "Iozone: Performance Test of File I/O\n",
    "HDIO_DRIVE_CMD failed: ",
    "/dev/sda:\n",
    "hdparm /dev/sda\n",
    "PostMark v1.5\n",
    "Version 1.03 ------Sequential Output-",
    "1 seconds of transactions (1 per second)\n",
    "IOR-3.3.0: MPI Coordinated Test of Parallel I/O\n",
];

fn met() -> Vec<Vec<u8>> {
    MET.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// A report that grows: what it is, its beginning, and its parts by their number.
type Growing = (&'static str, &'static str, fn(usize) -> String);

const SIDE: &str = "read: IOPS=1, BW=1KiB/s (1kB/s)(1KiB/1msec)\n";
const CDM: &str = "CrystalDiskMark 8.0.4 x64 (C) 2007-2021";

const OF_SCRIPTS: &[Growing] = &[
    ("loads of one log", "", |n| {
        let bytes = (n + 1) * 512 * (n % 97 + 1);
        format!("{0}+0 records in\n{0}+0 records out\n{bytes} bytes (1 MB) copied, 1 s, 1 MB/s\n", n + 1)
    }),
    ("kinds of hdparm", "", |n| format!("Timing disk reads (offset {n}) :\n")),
    ("devices of hdparm", "", |n| format!("/dev/s{n}:\n Timing disk reads: 1 MB in 1 seconds = 1 MB/sec\n")),
    ("mixes of CrystalDiskMark", "CrystalDiskMark 8.0.4 x64 (C) 2007-2021\n[Mix]\n", |_| "SEQ1M: 1 MB/s\n".to_owned()),
    ("reports of CrystalDiskMark in a line", "", |_| format!("{CDM} [Read] SEQ: 1 MB/s ")),
    ("rows of iozone", "KB reclen write rewrite read reread\n", |_| "1 1 1 1 1 1\n".to_owned()),
    ("sizes of iozone", "\"Writer report\"\n\"4\" \"8\" \"16\" \"32\" \"64\"\n", |n| {
        format!("{}\n\"4\" 1\n", if n == 0 { "\"4\" ".repeat(2_000) } else { String::new() })
    }),
    ("words of a table head of iozone", "reclen ", |_| "a ".to_owned()),
];

const OF_TABLES: &[Growing] = &[
    ("phases of elbencho", "ISO date,label,operation,block size,MiB/s [last]\n", |n| {
        format!("2024-01-01T00:00:00+0000,a,READ,{n},1\n")
    }),
    ("scores of elbencho", "ISO date,label,operation,entries/s [last],MiB/s [last]\n", |_| {
        "2024-01-01T00:00:00+0000,a,STAT,1,1\n".to_owned()
    }),
    ("short rows of elbencho", "ISO date,operation,MiB/s [last]\n", |_| "a,READ\n".to_owned()),
    ("phases of elbencho in text", "OPERATION RESULT TYPE FIRST DONE LAST DONE\n", |n| format!("R{n} Files/s : 1 1\n")),
    ("systems of Phoronix", "<PhoronixTestSuite>\n", |n| {
        let entry = format!("<Entry><Identifier>s{n}</Identifier><Value>1</Value></Entry>");
        let system = format!("<System><Identifier>s{n}</Identifier></System>");
        format!("{system}\n<Result><Title>a</Title>{entry}</Result>\n")
    }),
    ("entries of Phoronix", "<PhoronixTestSuite>\n<Result><Title>a</Title>\n", |n| {
        format!("<Entry><Identifier>s{n}</Identifier><Value>1</Value></Entry>\n")
    }),
];

const OF_FIO: &[Growing] = &[
    ("sides of a job of fio", "a: (groupid=0, jobs=1): err= 0: pid=1\n", |_| format!("{SIDE}issued rwts: total=1,1\n")),
    ("jobs of fio", "", |n| format!("j{n}: (groupid=0, jobs=1): err= 0: pid=1\n{SIDE}")),
    ("definitions of fio", "", |n| format!("j{n}: (g=0): rw=read, bs=4K-4K, ioengine=sync, iodepth=1\n")),
    ("jobs of fio in terse form", "", |n| format!("3;fio-3.1;j{n};0;0;1;1;1;1\n")),
    ("jobs of fio in JSON", "{\"fio version\": \"fio-3.1\", \"jobs\": [", |n| {
        format!("{{\"jobname\": \"j{n}\", \"read\": {{\"iops\": 1, \"io_bytes\": 1, \"runtime\": 1, \"bw\": 1}}}},\n")
    }),
];

/// The samples of all formats.
fn samples() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples");
    let below = |path: &Path| -> Vec<PathBuf> {
        let mut all: Vec<PathBuf> = path.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
        all.sort();
        all
    };
    let files = below(&folder).into_iter().filter(|path| path.is_dir()).flat_map(|path| below(&path));
    let files = files.filter(|path| path.extension().is_none_or(|e| e != "want" && e != "md"));
    files.map(|path| std::fs::read(path).unwrap()).collect()
}

/// Lines of the samples, and pairs of lines, alike but for their digits only once; each `step`-th of them.
fn lines(step: usize) -> Vec<Vec<u8>> {
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    for sample in samples() {
        let text = String::from_utf8_lossy(&sample).into_owned();
        let lines: Vec<&str> = text.lines().collect();
        for at in 0..lines.len() {
            for many in [1, 2] {
                let piece: String = lines.iter().skip(at).take(many).flat_map(|line| [line, "\n"]).collect();
                let shape: String = piece.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
                if seen.insert(shape) {
                    all.push(piece.into_bytes());
                }
            }
        }
    }
    all.into_iter().step_by(step).collect()
}

fn judged(bytes: usize, pieces: &[Vec<u8>]) -> String {
    pieces.iter().filter_map(|piece| grows(&imported, piece, bytes)).collect()
}

fn judged_reports(bytes: usize) -> String {
    let mut wrong = String::new();
    for (what, head, piece) in OF_SCRIPTS.iter().chain(OF_TABLES).chain(OF_FIO) {
        let text = |bytes: usize| {
            let mut text = (*head).to_owned();
            for n in 0.. {
                if text.len() >= bytes {
                    break;
                }
                text += &piece(n);
            }
            text.into_bytes()
        };
        let (small, large) = (text(bytes), text(bytes * GROWTH));
        let slow = || {
            let times = (took(&imported, &small), took(&imported, &large));
            (times.1 > (times.0 * MOST).max(FLOOR)).then_some(times)
        };
        // One quick run in three is enough: a busy machine makes others slow.
        if let (Some(_), Some(_), Some(times)) = (slow(), slow(), slow()) {
            writeln!(wrong, "{what}: {bytes} bytes and {GROWTH} times as many take {times:?}").unwrap();
        }
    }
    wrong
}

#[test]
fn marks_of_all_kinds_take_time_by_their_number() {
    let wrong = judged(24 << 10, &marks());
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn what_formats_look_for_takes_time_by_its_number() {
    let wrong = judged(24 << 10, &met()) + &judged_reports(24 << 10);
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn lines_of_the_samples_take_time_by_their_number() {
    let wrong = judged(6 << 10, &lines(67));
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn sheets_take_time_by_their_number() {
    let wrong: String = marks()
        .iter()
        .filter_map(|piece| grows(&sheet, &[b"file,model\n", piece.as_slice()].concat(), 8 << 10))
        .collect();
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
#[ignore = "takes minutes, and a release build"]
fn the_longest_texts_take_time_by_their_length() {
    let most = (16 << 20) / GROWTH;
    let mut wrong = judged(most, &marks()) + &judged(most, &met()) + &judged_reports(most);
    wrong += &judged(64 << 10, &lines(1));
    wrong += &judged(most / 4, &samples());
    assert!(wrong.is_empty(), "{wrong}");
}
