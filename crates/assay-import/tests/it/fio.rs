//! Outputs of the fio that is installed: its forms say the same of one run, and each is counted once.

use std::path::PathBuf;
use std::process::Command;

use assay_core::record::Record;
use assay_import::{File, Item, Options, import};
use serde_json::Value;

/// A directory that is removed at the end.
struct Directory(PathBuf);

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn directory(name: &str) -> Directory {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    Directory(path)
}

/// What fio prints on these options; `None` where it is not installed.
fn fio(test: &str, options: &[&str]) -> Option<String> {
    let directory = directory(test);
    let Ok(output) = Command::new("fio").args(options).arg("--output=out").current_dir(&directory.0).output() else {
        println!("SKIP: {test}: fio is not installed");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(std::fs::read_to_string(directory.0.join("out")).unwrap())
}

fn records(text: &str) -> Vec<Record> {
    let imported = import(File::new("out", text), &Options::default()).unwrap();
    assert_eq!(imported.problems, [], "{text}");
    let made = imported.items.into_iter().map(|item| match item {
        Item::Made(record) => *record,
        Item::Own { .. } => unreachable!(),
    });
    made.collect()
}

fn one(text: &str) -> Record {
    let mut all = records(text);
    assert_eq!(all.len(), 1, "{text}");
    all.remove(0)
}

/// Rates, operations and mean latency of each load of a record, and how many jobs it had.
fn figures(record: &Record) -> Vec<[f64; 3]> {
    let point = |estimate: Option<&assay_core::estimate::Estimate>| estimate.map_or(0.0, |estimate| estimate.point);
    let of = |m: &assay_core::record::Measurement| {
        [point(m.bytes_per_second.as_ref()), point(m.iops.as_ref()), point(m.latency_ns.mean.as_deref())]
    };
    record.measurements.iter().map(of).collect()
}

fn near(name: &str, ours: &[[f64; 3]], theirs: &[[f64; 3]], shares: [f64; 3]) {
    assert_eq!(ours.len(), theirs.len(), "{name}");
    for (ours, theirs) in ours.iter().zip(theirs) {
        for ((ours, theirs), share) in ours.iter().zip(theirs).zip(shares) {
            assert!((ours - theirs).abs() <= theirs * share + 1e-9, "{name}: {ours} for {theirs}");
        }
    }
}

#[test]
fn all_forms_of_one_run_say_the_same() {
    for terse in ["3", "4", "5"] {
        let options = [
            "--name=one",
            "--rw=randread",
            "--bs=4k",
            "--size=4m",
            "--ioengine=psync",
            "--loops=2",
            "--name=two",
            "--stonewall",
            "--rw=write",
            "--bs=64k",
            "--size=8m",
            "--numjobs=2",
            "--output-format=normal,terse,json+",
            &format!("--terse-version={terse}"),
        ];
        let Some(text) = fio("all_forms_of_one_run_say_the_same", &options) else { return };
        let is_terse = |line: &&str| line.starts_with(&format!("{terse};fio-"));
        let (start, end) = (text.find("\n{").unwrap() + 1, text.rfind("\n}").unwrap() + 2);
        let parts = [
            ("terse", text.lines().filter(is_terse).collect::<Vec<_>>().join("\n")),
            ("json", text[start..end].to_owned()),
            (
                "text",
                format!("{}{}", &text[..start], &text[end..])
                    .lines()
                    .filter(|l| !is_terse(l))
                    .collect::<Vec<_>>()
                    .join("\n"),
            ),
        ];
        let json = one(&parts[1].1);
        let whole = figures(&one(&text));
        assert_eq!(whole, figures(&json), "all forms in one file are one result");
        assert_eq!(whole.len(), 2, "{text}");
        assert_eq!(json.measurements[1].workload.jobs, 2);

        // To the figure that is printed.
        let document: Value = serde_json::from_str(&parts[1].1).unwrap();
        let printed = &document["jobs"][0]["read"];
        let want = ["bw_bytes", "iops"].map(|name| printed[name].as_f64().unwrap());
        assert_eq!(whole[0][..2], want);
        assert_eq!(whole[0][2], printed["lat_ns"]["mean"].as_f64().unwrap());
        let repeat = &json.measurements[0].repeats[0];
        assert_eq!(Some(repeat.operations), printed["total_ios"].as_u64());
        assert_eq!(repeat.histogram.counts.iter().map(|(_, count)| count).sum::<u64>(), repeat.operations);

        // The text and the terse line round: latencies to two digits behind the point, rates by whole milliseconds.
        let least = document["jobs"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|job| ["read", "write"].map(|side| job[side]["runtime"].as_f64().unwrap()));
        let least = least.filter(|time| *time > 0.0).fold(f64::MAX, f64::min);
        let coarse = 2e-2 + 1.0 / least;
        near("terse", &figures(&one(&parts[0].1)), &whole, [coarse, coarse, 1e-3]);
        near("text", &figures(&one(&parts[2].1)), &whole, [coarse, coarse, 1e-2]);
    }
}

/// How often a run is made again whose disk stood still.
const TRIES: usize = 8;

/// A run that printed some states of itself: what it printed in each form. `None` where it cannot be made here.
fn states(test: &str) -> Option<[(&'static str, String); 3]> {
    // Synced, so that each state tells other counters of the disk: by them terse states are told from clones of a job.
    let options = ["--name=s", "--rw=write", "--bs=64k", "--fsync=8", "--size=20m", "--rate=8m", "--status-interval=1"];
    for _ in 0..TRIES {
        let text = fio(test, &[&options[..], &["--output-format=json,terse,normal"]].concat())?;
        let (mut json, mut rest) = (String::new(), String::new());
        let mut inside = false;
        for line in text.lines() {
            inside |= line == "{";
            let form = if inside { &mut json } else { &mut rest };
            form.extend([line, "\n"]);
            inside &= line != "}";
        }
        let (terse, normal): (Vec<&str>, Vec<&str>) = rest.lines().partition(|line| line.starts_with("3;fio-"));
        if is_even(&json) {
            return Some([("json", json), ("terse", terse.join("\n")), ("normal", normal.join("\n"))]);
        }
    }
    println!("SKIP: {test}: the disk stood still in each of {TRIES} runs of fio");
    None
}

/// Whether each state moved on from the one before about as fast as the job was told to, and so did the disk. What stands
/// still for a second looks in terse form as another job does, or another run.
fn is_even(json: &str) -> bool {
    let states: Vec<Value> = serde_json::Deserializer::from_str(json).into_iter().map(Result::unwrap).collect();
    let figures = |state: &Value| {
        let written = &state["jobs"][0]["write"];
        let disk = state["disk_util"][0]["write_ios"].as_f64();
        (written["io_bytes"].as_f64().unwrap(), written["runtime"].as_f64().unwrap(), disk.unwrap_or_default())
    };
    states.len() > 1
        && states.windows(2).map(|pair| (figures(&pair[0]), figures(&pair[1]))).all(|(old, new)| {
            let milliseconds = new.1 - old.1;
            let rate = (new.0 - old.0) / milliseconds * 1e3;
            milliseconds > 200.0 && (2e6..32e6).contains(&rate) && new.2 > old.2
        })
}

#[test]
fn the_last_state_of_a_run_counts_and_another_run_is_another() {
    let test = "the_last_state_of_a_run_counts_and_another_run_is_another";
    let Some(forms) = states(test) else { return };
    for (form, text) in forms {
        let record = one(&text);
        assert_eq!(record.measurements.len(), 1, "{form}: {text}");
        let last = match form {
            "json" => text.rfind("\n{\n").map_or(0, |at| at + 1),
            "terse" => text.trim_end().rfind('\n').map_or(0, |at| at + 1),
            _ => text.rfind("s: (groupid=").unwrap(),
        };
        assert!(last > 0, "{form}: one state: {text}");
        near(form, &figures(&record), &figures(&one(&text[last..])), [1e-2; 3]);
        // Of other lengths and synced, so that no form has the same figures twice.
        let format = format!("--output-format={form}");
        let run = |size| fio(test, &["--name=s", "--rw=write", "--bs=64k", "--fsync=8", size, "--rate=8m", &format]);
        let Some(text) = run("--size=4m").zip(run("--size=2m")).map(|(one, other)| one + &other) else { return };
        assert_eq!(records(&text).len(), 2, "{form}: {text}");
    }
}

#[test]
fn what_is_cut_off_anywhere_is_no_panic() {
    let options = ["--name=c", "--rw=randrw", "--bs=4k", "--size=1m", "--output-format=normal,terse,json+"];
    let Some(text) = fio("what_is_cut_off_anywhere_is_no_panic", &options) else { return };
    for end in (0..text.len()).step_by(1_499).filter(|end| text.is_char_boundary(*end)) {
        let _ = import(File::new("out", &text[..end]), &Options::default());
        let _ = import(File::new("out", &text[end..]), &Options::default());
    }
}
