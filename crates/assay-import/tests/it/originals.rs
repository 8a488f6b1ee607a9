//! What the tools themselves print here and now is read as they print it.

use std::path::{Path, PathBuf};
use std::process::Command;

use assay_core::record::Record;
use assay_core::verification::Verdict;
use assay_import::{File, Item, Options, import};

/// Where the tools work.
struct Work(PathBuf);

impl Work {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("assay-import-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What a tool prints; `None`, told, where it is not installed or fails.
fn output(test: &str, program: &str, arguments: &[&str], locale: &str, folder: &Path) -> Option<String> {
    let run = Command::new(program).args(arguments).env("LC_ALL", locale).current_dir(folder).output();
    match run {
        Ok(run) if run.status.success() => {
            Some(format!("{}{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr)))
        }
        Ok(run) => {
            println!("SKIP: {test}: {program} fails here: {}", String::from_utf8_lossy(&run.stderr).trim());
            None
        }
        Err(_) => {
            println!("SKIP: {test}: {program} is not installed");
            None
        }
    }
}

fn one(text: &str) -> Record {
    let imported =
        import(File::new("log", text), &Options::default()).unwrap_or_else(|error| panic!("{error}:\n{text}"));
    match <[Item; 1]>::try_from(imported.items) {
        Ok([Item::Made(record)]) => *record,
        other => panic!("{other:?} of\n{text}"),
    }
}

/// The word before another one, as a number.
fn number_before(text: &str, word: &str) -> f64 {
    let (before, _) = text.split_once(word).unwrap_or_else(|| panic!("{word} in {text}"));
    let last = before.split(|c: char| c.is_whitespace() || c == '，').next_back().unwrap();
    last.replace(',', ".").parse().unwrap_or_else(|_| panic!("{last} before {word} in {text}"))
}

#[test]
fn dd_in_the_locales_that_are_here() {
    const BYTES: f64 = 1_048_576.0;
    let test = "dd_in_the_locales_that_are_here";
    let work = Work::new("dd");
    for locale in ["C", "de_DE.UTF-8", "fr_FR.UTF-8", "es_ES.UTF-8", "it_IT.UTF-8", "zh_CN.UTF-8"] {
        let arguments = ["if=/dev/zero", "of=t", "bs=4k", "count=256", "conv=fsync"];
        let Some(printed) = output(test, "dd", &arguments, locale, &work.0) else { return };
        let record = one(&format!("$ dd {}\n{printed}", arguments.join(" ")));
        let m = &record.measurements[0];
        assert_eq!((m.workload.block_bytes, m.workload.span_bytes as f64), (4096, BYTES), "{printed}");
        let seconds = ["， ", "，", ", "].iter().find_map(|mark| printed.rsplit_once(mark)).unwrap().0;
        let seconds = number_before(&format!("{seconds} "), " s");
        assert_eq!(m.bytes_per_second.as_ref().unwrap().point, BYTES / seconds, "{locale}: {printed}");
        assert!(m.durable_bytes_per_second.is_some());
        assert!(record.warnings.is_empty(), "{locale}: {:?}", record.warnings);
    }
}

#[test]
fn hdparm_reads_a_file() {
    let test = "hdparm_reads_a_file";
    let work = Work::new("hdparm");
    let file = std::fs::File::create(work.0.join("sparse")).unwrap();
    file.set_len(1 << 40).unwrap();
    let Some(printed) = output(test, "hdparm", &["-tT", "--direct", "sparse"], "C", &work.0) else { return };
    let record = one(&printed);
    let after = |heading: &str| {
        let (_, figure) = printed.split_once(heading).unwrap();
        number_before(figure.split_once('=').unwrap().1, " MB/sec")
    };
    let read = record.measurements[0].bytes_per_second.as_ref().unwrap().point;
    assert_eq!(read, after("O_DIRECT disk reads:") * 1_048_576.0, "{printed}");
    assert_eq!(record.scores[0].value.point, after("cached reads:"), "{printed}");
    assert!(record.measurements[0].workload.direct);
}

#[test]
fn sysbench_of_processor_and_files() {
    let test = "sysbench_of_processor_and_files";
    let work = Work::new("sysbench");
    let Some(printed) = output(test, "sysbench", &["cpu", "--time=1", "run"], "C", &work.0) else { return };
    let (_, speed) = printed.split_once("events per second:").unwrap();
    let record = one(&printed);
    assert_eq!(record.scores[0].value.point, number_before(speed, "\n"), "{printed}");

    let files = ["fileio", "--file-total-size=4M", "--file-num=1", "--file-test-mode=rndrd", "--time=1"];
    let Some(prepared) = output(test, "sysbench", &[&files[..], &["prepare"]].concat(), "C", &work.0) else { return };
    let made = prepared.split_once(" MiB/sec").unwrap().0.rsplit_once('(').unwrap().1;
    assert_eq!(rate(&one(&prepared), 0), made.parse::<f64>().unwrap() * 1_048_576.0, "{prepared}");
    let Some(printed) = output(test, "sysbench", &[&files[..], &["run"]].concat(), "C", &work.0) else { return };
    let record = one(&printed);
    let after = |key: &str| number_before(printed.split_once(key).unwrap().1, "\n");
    assert_eq!(record.measurements[0].iops.as_ref().unwrap().point, after("reads/s:"), "{printed}");
    assert_eq!(rate(&record, 0), after("read, MiB/s:") * 1_048_576.0, "{printed}");
    assert_eq!(record.measurements[0].workload.span_bytes, 4 << 20);
}

fn rate(record: &Record, at: usize) -> f64 {
    record.measurements[at].bytes_per_second.as_ref().unwrap().point
}

/// A file as f3write makes it, of so many sectors.
fn h2w(sectors: u64) -> Vec<u8> {
    (0..sectors)
        .flat_map(|sector| {
            let words = std::iter::successors(Some(sector * 512), |word| {
                Some(word.wrapping_mul(4_294_967_311).wrapping_add(17))
            });
            words.take(64).flat_map(u64::to_le_bytes)
        })
        .collect()
}

#[test]
fn f3read_of_a_good_file_and_of_a_bad_one() {
    let test = "f3read_of_a_good_file_and_of_a_bad_one";
    let work = Work::new("f3");
    let path = work.0.join("1.h2w");
    let mut bytes = h2w(2_048);
    std::fs::write(&path, &bytes).unwrap();
    let Some(printed) = output(test, "f3read", &["."], "C", &work.0) else { return };
    let check = one(&printed).verification.unwrap();
    assert_eq!((check.verdict, check.counts.good, check.counts.lost()), (Verdict::Genuine, 2_048, 0), "{printed}");

    // Three sectors of nothing, one of another place, one with a wrong word.
    bytes[512_000..512_000 + 3 * 512].fill(0);
    bytes.copy_within(0..512, 10 * 512);
    bytes[20 * 512 + 100] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let Some(printed) = output(test, "f3read", &["."], "C", &work.0) else { return };
    let check = one(&printed).verification.unwrap();
    let counts = (check.counts.good, check.counts.corrupted, check.counts.overwritten, check.counts.changed);
    assert_eq!(counts, (2_043, 3, 1, 1), "{printed}");
    assert!(check.verdict.is_bad());
    for end in (0..printed.len()).filter(|end| printed.is_char_boundary(*end)) {
        let imported = import(File::new("log", &printed[..end]), &Options::default());
        let items = imported.map(|imported| imported.items).unwrap_or_default();
        let verdicts = items.iter().filter_map(|item| match item {
            Item::Made(record) => record.verification.as_ref().map(|check| check.verdict),
            Item::Own { .. } => None,
        });
        assert!(verdicts.into_iter().all(|verdict| verdict != Verdict::Genuine), "cut off at {end}");
    }
}

/// PostMark is told what to do on its standard input.
#[test]
fn postmark_as_it_prints_here() {
    let test = "postmark_as_it_prints_here";
    let work = Work::new("postmark");
    let words = "set number 50\nset transactions 200\nset size 512 10000\nrun\nquit\n";
    std::fs::write(work.0.join("words"), words).unwrap();
    let Some(text) = output(test, "sh", &["-c", "command -v postmark > /dev/null && postmark < words"], "C", &work.0)
    else {
        return;
    };
    let record = one(&text);
    let of = |name: &str| record.scores.iter().find(|s| s.name == name).map(|s| s.value.point);
    let behind = |words: &str| number_before(text.split_once(words).unwrap().1, " per second");
    assert_eq!(of("PostMark transactions"), Some(behind("of transactions (")), "{text}");
    assert_eq!(of("PostMark files deleted"), Some(behind("deleted (")), "{text}");
    assert_eq!(of("PostMark files created"), Some(behind("created (")), "{text}");
    assert!(of("PostMark written").is_some() && record.measurements.is_empty(), "{text}");
}

/// The same result in its table and in its line of CSV: each to the figure, up to what the table rounds.
#[test]
fn bonnie_as_it_prints_here() {
    let test = "bonnie_as_it_prints_here";
    let work = Work::new("bonnie");
    let mut arguments = vec!["-d", ".", "-s", "96m", "-r", "32", "-n", "0", "-m", "machine"];
    // It refuses to run as root unasked.
    if std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(&work.0).unwrap()) == 0 {
        arguments.extend(["-u", "root"]);
    }
    let Some(text) = output(test, "bonnie++", &arguments, "C", &work.0) else { return };
    let csv = text.lines().find(|line| line.matches(',').count() > 12).unwrap();
    let fields: Vec<&str> = csv.split(',').collect();
    let table: Vec<&str> = text.lines().filter(|line| !line.contains(",machine,")).collect();
    let rates = |record: &Record| -> Vec<(String, f64)> {
        let rate =
            |m: &assay_core::record::Measurement| (m.workload.name.clone(), m.bytes_per_second.as_ref().unwrap().point);
        let scores = record.scores.iter().map(|score| (score.name.clone(), score.value.point));
        record.measurements.iter().map(rate).chain(scores).collect()
    };
    let (whole, rounded) = (one(&text), one(&table.join("\n")));
    assert_eq!(rates(&whole), rates(&one(csv)), "the table and its line of CSV are one result");
    for ((name, exact), (other, round)) in rates(&whole).into_iter().zip(rates(&rounded)) {
        assert_eq!(name, other);
        assert!((exact - round).abs() <= exact * 0.05, "{name}: {round} in the table for {exact}");
    }
    assert_eq!(whole.host.hostname.as_deref(), Some("machine"));
    for (name, field) in [("Sequential Output, Block", 11), ("Sequential Input, Block", 17)] {
        let printed = fields[field].parse::<f64>().ok().map(|kib| (name.to_owned(), kib * 1024.0));
        let read = rates(&whole).into_iter().find(|(read, _)| read == name);
        assert_eq!(read, printed, "{csv}");
    }
}

#[test]
fn ioping_as_it_prints_here() {
    let test = "ioping_as_it_prints_here";
    let work = Work::new("ioping");
    for (arguments, block) in [(["-c", "4", "-i", "0.01", "."], 4096), (["-q", "-RL", "-w", "0.5", "."], 256 << 10)] {
        let Some(text) = output(test, "ioping", &arguments, "C", &work.0) else { return };
        let record = one(&text);
        let measurement = &record.measurements[0];
        let (iops, rate) =
            (measurement.iops.as_ref().unwrap().point, measurement.bytes_per_second.as_ref().unwrap().point);
        assert_eq!(measurement.workload.block_bytes, block, "{text}");
        assert_eq!(record.medium.path, ".");
        // Both are printed with three digits or four, few operations as a whole number.
        let coarse = 0.03 + 1.0 / iops;
        assert!((iops * block as f64 - rate).abs() <= rate * coarse, "{text}");
        let mean = measurement.latency_ns.mean.as_ref().unwrap().point;
        assert!((mean * iops / 1e9 - 1.0).abs() < coarse, "one request at a time: {text}");
    }
}

/// iozone is in no package of Debian's main part: where somebody built it and put it on the path, it is read.
#[test]
fn iozone_as_it_prints_here() {
    let test = "iozone_as_it_prints_here";
    let work = Work::new("iozone");
    let arguments = ["-e", "-i", "0", "-i", "1", "-i", "2", "-s", "2m", "-r", "4k", "-f", "file"];
    let Some(text) = output(test, "iozone", &arguments, "C", &work.0) else { return };
    let row = text.lines().find(|line| line.split_whitespace().next() == Some("2048")).unwrap();
    let printed: Vec<f64> = row.split_whitespace().skip(2).map(|kib| kib.parse::<f64>().unwrap() * 1024.0).collect();
    let record = one(&text);
    let read: Vec<f64> = (0..record.measurements.len()).map(|at| rate(&record, at)).collect();
    assert_eq!(read, printed, "{text}");
    assert!(record.measurements.iter().all(|m| m.workload.block_bytes == 4096 && m.workload.span_bytes == 2 << 20));
}

/// What a drive of this machine says of itself, where there is one that smartctl can ask.
#[test]
fn smartctl_of_a_drive_that_is_here() {
    let test = "smartctl_of_a_drive_that_is_here";
    let drives = ["/dev/sda", "/dev/nvme0"].map(Path::new);
    let Some(drive) = drives.into_iter().find(|drive| drive.exists()) else {
        println!("SKIP: {test}: there is no drive that smartctl can ask");
        return;
    };
    let work = Work::new("smartctl");
    let arguments = ["--json", "-a", &drive.to_string_lossy()];
    let Some(text) = output(test, "smartctl", &arguments, "C", &work.0) else { return };
    let model = text.split_once("\"model_name\": \"").and_then(|(_, rest)| Some(rest.split_once('"')?.0));
    assert_eq!(one(&text).medium.model.as_deref(), model, "{text}");
}
