//! Text of devices, records, suites, job files and plans on every way out: what acts nowhere is checked by
//! the parsers of those who read it.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use crate::common::{Place, Terminal, assert_harmless, run};
use assay_core::finding::Finding;
use assay_core::outcome::{Outcome, RunFailure};
use assay_core::record::{Record, Sensor};
use assay_lab::{Missing, skip};
use serde_json::Value;

/// What a terminal, a page, a table, a spreadsheet, a script or a reader could obey.
const HOSTILE: &str = "=cmd|' /C calc'!A0 \u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{7f}\u{202e}\u{2066}\u{200b}\u{ad}\u{e0041}\
                       \u{feff}\u{ffff}\r\n\t| a | b |\n# head\n</script></svg>]]>--><img src=x onerror=alert(1)>\
                       <b title=\"&quot;'>`*_[x](http://evil.example)![y](z) www.evil.example \"\"\" ''' \\ $(rm) ;,";
/// The same places without any of that.
const PLAIN: &str = "a plain word";

/// A record whose texts are all `text`, of a card with this name and rate.
fn record(id: &str, unit: &str, factor: f64, text: &str) -> Record {
    let mut record = assay_analysis::published_records("sandisk-ultra-a1/1").unwrap().remove(0);
    record.id = id.to_owned();
    record.created = format!("2026-11-21T06:31:0{}Z", id.len());
    record.origin = assay_core::record::Origin::default();
    record.host.hostname = Some(text.to_owned());
    record.host.board = Some(text.to_owned());
    record.host.kernel = Some(text.to_owned());
    record.tool.engine_reason = text.to_owned();
    record.tool.version = text.to_owned();
    record.suite.name = text.to_owned();
    record.change_settings(|settings| settings.direct_source = text.to_owned());
    record.change_settings(|settings| settings.suite_text = text.to_owned());
    let medium = &mut record.medium;
    medium.vendor = Some(text.to_owned());
    medium.model = Some(format!("{unit} {text}"));
    medium.unit = Some(format!("{unit} {text}"));
    medium.path = format!("/{text}");
    medium.mount_point = Some(text.to_owned());
    medium.device = Some(text.to_owned());
    medium.filesystem = Some(text.to_owned());
    medium.mount_options = vec![text.to_owned()];
    medium.claimed_classes = vec![text.to_owned()];
    medium.health = BTreeMap::from([("firmware".to_owned(), text.to_owned()), (text.to_owned(), text.to_owned())]);
    medium.queue = BTreeMap::from([("scheduler".to_owned(), text.to_owned())]);
    record.labels = BTreeMap::from([
        ("model".to_owned(), format!("{} {text}", if factor > 1.2 { "B" } else { "A" })),
        ("unit".to_owned(), format!("{unit} {text}")),
        ("slot".to_owned(), format!("{unit} {text}")),
        ("price".to_owned(), "12USD".to_owned()),
        (text.to_owned(), text.to_owned()),
    ]);
    record.sensors = vec![Sensor {
        name: text.to_owned(),
        kind: "temperature".to_owned(),
        unit: text.to_owned(),
        source: text.to_owned(),
        samples: vec![(0, 41.0), (1_000_000_000, 42.0), (2_000_000_000, 42.0)],
    }];
    let reason = text.to_owned();
    record.warnings = vec![
        Finding::NotSaved { reason: reason.clone() }.into(),
        Finding::FileLeft { path: reason.clone(), reason: reason.clone() }.into(),
    ];
    record.outcome = Outcome::Completed;
    for measurement in &mut record.measurements {
        measurement.workload.name = text.to_owned();
        measurement.engine = text.to_owned();
        measurement.warn(Finding::KernelErrors { lines: 1, first: reason.clone() });
        for estimate in [&mut measurement.iops, &mut measurement.bytes_per_second].into_iter().flatten() {
            estimate.point *= factor;
            estimate.method = text.to_owned();
            (estimate.low, estimate.high) = (Some(estimate.point * 0.98), Some(estimate.point * 1.02));
        }
    }
    record
}

fn failed(id: &str, text: &str) -> Record {
    let mut record = record(id, "z", 1.0, text);
    record.outcome = Outcome::Failed {
        failure: RunFailure::IoError,
        detail: text.to_owned(),
        workload: Some(text.to_owned()),
        elapsed_ns: 1,
        written_bytes: 1,
    };
    record
}

fn place_of(text: &str) -> Place {
    let units = ["u1", "u2", "u3"];
    let rates = [1.0, 1.01, 0.99, 1.5, 1.52, 1.49];
    let cards = rates.iter().enumerate().map(|(at, rate)| record(&format!("aaaa{at}"), units[at % 3], *rate, text));
    Place::with_records(&cards.chain([failed("zzzz0", text)]).collect::<Vec<_>>())
}

const COMMANDS: [&str; 26] = [
    "list",
    "list --json",
    "show last",
    "show all",
    "show last --json",
    "show all --json",
    "compare aaaa0 aaaa3",
    "compare aaaa0 aaaa3 --json",
    "compare all --by model",
    "compare all --by model --json",
    "rank all",
    "rank all --all",
    "rank all --json",
    "plan race all",
    "plan race all --json",
    "plan swap --suspect A=u1@1 --other B=u1@2 all",
    "advise nas all --nodes 28 --link 1Gbit",
    "advise nas all --nodes 28 --link 1Gbit --json",
    "advise cache aaaa3 --before aaaa0 --hit 50%",
    "advise cache aaaa3 --before aaaa0 --hit 50% --json",
    "advise buy all --nodes 28",
    "advise buy all --nodes 28 --json",
    "advise class all",
    "advise class all --json",
    "report all -o - --format csv",
    "report all -o - --format json",
];

const FILES: [&str; 12] = [
    "report all -o FILE.html",
    "report all -o FILE.md",
    "report all -o FILE.csv",
    "report all -o FILE.json",
    "report all -o FILE.svg",
    "report all --identities -o FILE.html",
    "compare aaaa0 aaaa3 --identities -o FILE.md",
    "compare aaaa0 aaaa3 --identities -o FILE.json",
    "rank all -o FILE.md",
    "rank all -o FILE.html",
    "rank all -o FILE.csv",
    "rank all -o FILE.svg",
];

fn words(command: &str) -> Vec<&str> {
    command.split(' ').collect()
}

/// What a parser of Python's standard library reads, as JSON.
fn read_by_python(test: &str, format: &str, content: &[u8]) -> Option<Value> {
    const READER: &str = r#"
import csv, html.parser, io, json, sys, tomllib, xml.etree.ElementTree as xml
content = sys.stdin.buffer.read().decode("utf-8")
form = sys.argv[1]
if form == "csv":
    print(json.dumps(list(csv.reader(io.StringIO(content, newline=""), strict=True))))
elif form == "svg":
    print(json.dumps([[e.tag, sorted(e.attrib)] for e in xml.fromstring(content).iter()]))
elif form == "toml":
    print(json.dumps(tomllib.loads(content)))
else:
    class Tags(html.parser.HTMLParser):
        def __init__(self):
            super().__init__()
            self.tags = []
        def handle_starttag(self, tag, attributes):
            self.tags.append([tag, sorted(name for name, _ in attributes)])
    reader = Tags()
    reader.feed(content)
    print(json.dumps(reader.tags))
"#;
    let started = Command::new("python3")
        .args(["-c", READER, format])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut python) = started else {
        skip(test, &Missing("needs python3".to_owned()));
        return None;
    };
    python.stdin.take().unwrap().write_all(content).unwrap();
    let output = python.wait_with_output().unwrap();
    assert!(output.status.success(), "{format}: {}", String::from_utf8_lossy(&output.stderr));
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

#[test]
fn nothing_of_a_record_acts_on_a_terminal() {
    let place = place_of(HOSTILE);
    for command in COMMANDS {
        let done = run(place.assay(words(command)));
        assert_harmless(&done.stdout.replace("\r\n", "\n"));
        assert_harmless(&done.stderr);
        if command.starts_with("advise cache") {
            done.refuses(2, &["measure both with suite quick"]);
            continue;
        }
        assert!(matches!(done.code, Some(0 | 1)), "{command}: {}", done.stderr);
        assert!(!done.stdout.is_empty(), "{command}");
        if command.contains("json") {
            serde_json::from_str::<Value>(&done.stdout).unwrap_or_else(|e| panic!("{command}: {e}"));
        }
    }
    // And the text is still what it was.
    assert_eq!(place.json(["show", "aaaa0", "--json"])["host"]["hostname"], HOSTILE);
    for query in [HOSTILE, &format!("model={HOSTILE}"), &format!("published:{HOSTILE}")] {
        for command in [&["show"][..], &["rank"], &["rm"], &["report", "-o", "x.md"], &["compare", "last"]] {
            run(place.assay(command.iter().chain([&query]))).refuses(2, &[]);
        }
    }
}

#[test]
fn nothing_of_a_record_acts_in_a_file() {
    const TEST: &str = "nothing_of_a_record_acts_in_a_file";
    let (hostile, plain) = (place_of(HOSTILE), place_of(PLAIN));
    for (number, command) in FILES.iter().enumerate() {
        let command = command.replace("FILE", &format!("f{number}"));
        let (_, file) = command.rsplit_once(' ').unwrap();
        let read = |place: &Place| {
            let done = run(place.assay(words(&command)));
            assert!(matches!(done.code, Some(0 | 1)), "{command}: {}", done.stderr);
            assert_harmless(&done.stderr);
            fs::read_to_string(place.path().join(file)).unwrap()
        };
        let (text, same) = (read(&hostile), read(&plain));
        assert_harmless(&text.replace("\r\n", "\n"));
        let format = file.rsplit_once('.').unwrap().1;
        match format {
            "json" => drop(serde_json::from_str::<Value>(&text).unwrap()),
            "md" => assert_markdown(&text, &same),
            "csv" => {
                let Some(rows) = read_by_python(TEST, format, text.as_bytes()) else { return };
                let rows: Vec<Vec<String>> = serde_json::from_value(rows).unwrap();
                assert!(rows.len() > 1);
                for cell in rows.iter().flatten() {
                    let formula = cell.trim_start().starts_with(['=', '+', '-', '@']) && cell.parse::<f64>().is_err();
                    assert!(!formula, "{command}: {cell}");
                }
                assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{command}");
            }
            _ => {
                let Some(tags) = read_by_python(TEST, format, text.as_bytes()) else { return };
                let Some(other) = read_by_python(TEST, format, same.as_bytes()) else { return };
                assert_eq!(counted(&tags), counted(&other), "{command}: names change what the document is made of");
            }
        }
    }
}

/// How often each element stands in a document, with the names of its attributes. Texts of another length
/// are broken into more or fewer lines.
fn counted(tags: &Value) -> BTreeMap<String, usize> {
    let mut all = BTreeMap::new();
    for tag in tags.as_array().unwrap() {
        *all.entry(tag.to_string()).or_default() += 1;
    }
    all.retain(|tag, _| !tag.contains("}text\"") && !tag.starts_with("[\"text\""));
    all
}

/// The same lines of the same kinds, rows with as many cells, no tag, no link.
fn assert_markdown(text: &str, same: &str) {
    let shape = |text: &str| -> Vec<String> {
        let cells = |line: &str| line.replace("\\\\", "").replace("\\|", "").matches('|').count();
        let kind =
            |line: &str| line.split(' ').next().unwrap_or_default().trim_start_matches(char::is_alphanumeric).len();
        text.lines().map(|line| format!("{} {}", kind(line).min(1), cells(line))).collect()
    };
    assert_eq!(shape(text), shape(same), "{text}");
    let bare = text.replace("\\\\", "").replace("\\[", "").replace("\\]", "").replace("\\`", "").replace("\\!", "");
    for bad in ["<", "](", "`", "![", "http://", "www."] {
        assert!(!bare.contains(bad), "{bad}: {text}");
    }
}

#[test]
fn a_figure_of_three_hundred_digits_is_never_printed() {
    let mut records: Vec<Record> =
        [1.0, 1.01, 1.5, 1.51].iter().enumerate().map(|(at, f)| record(&format!("aaaa{at}"), "u", *f, PLAIN)).collect();
    for (at, record) in records.iter_mut().enumerate() {
        record.labels.insert("unit".to_owned(), at.to_string());
        record.labels.insert("price".to_owned(), "1e300".to_owned());
        for measurement in &mut record.measurements {
            let wild = 1e305 * (1.0 + at as f64 / 10.0);
            for estimate in [&mut measurement.iops, &mut measurement.bytes_per_second].into_iter().flatten() {
                (estimate.point, estimate.low, estimate.high) = (wild, Some(wild * 0.5), Some(wild * 1.5));
            }
            measurement.latency_ns.p50 = measurement.iops.clone().map(Box::new);
            measurement.latency_ns.p99 = measurement.iops.clone().map(Box::new);
            measurement.proof_ratio = Some(1e305);
            measurement.in_flight = Some(1e305);
        }
        record.sensors[0].samples.push((3_000_000_000, 1e305));
        if let Some(bus) = &mut record.medium.bus {
            bus.reachable_bytes_per_second = Some(1e305);
        }
    }
    records.push(failed("zzzz0", PLAIN));
    let place = Place::with_records(&records);
    let files = FILES.iter().enumerate().map(|(number, command)| command.replace("FILE", &format!("f{number}")));
    for command in COMMANDS.map(str::to_owned).into_iter().chain(files) {
        let done = run(place.assay(words(&command)));
        let file = command.rsplit(' ').next().unwrap();
        let written = fs::read_to_string(place.path().join(file)).unwrap_or_default();
        for text in [&done.stdout, &done.stderr, &written] {
            let long = text.split(|c: char| !c.is_ascii_digit()).find(|digits| digits.len() > 25);
            assert!(long.is_none(), "{command}: {long:?}");
            // Groups of three, as people read them.
            let grouped = text.split("  ").flat_map(|part| part.split(|c: char| !c.is_ascii_digit() && c != ' '));
            let long = grouped.into_iter().find(|digits| digits.trim().len() > 30);
            assert!(long.is_none(), "{command}: {long:?}");
            for bad in ["NaN", " inf ", "-inf"] {
                assert!(!text.contains(bad), "{command}: {bad}");
            }
        }
    }
}

/// A record in which every number is `extreme`, where the record can hold that there.
fn extreme(at: usize, extreme: &Value) -> Record {
    let mut record = record(&format!("aaaa{at}"), &at.to_string(), if at < 2 { 1.0 } else { 1.5 }, PLAIN);
    record.measurements.truncate(3);
    let estimate = record.measurements[0].iops.clone();
    for measurement in &mut record.measurements {
        let latency = &mut measurement.latency_ns;
        for one in [&mut latency.mean, &mut latency.p50, &mut latency.p99] {
            *one = estimate.clone().map(Box::new);
        }
        measurement.durable_bytes_per_second.clone_from(&estimate);
        (measurement.proof_ratio, measurement.in_flight) = (Some(1.0), Some(1.0));
        measurement.requested = Some(Box::new((*measurement.workload).clone()));
        let histogram = serde_json::json!({
            "scheme": "log2/128", "sum_ns": 9, "min_ns": 1, "max_ns": 5, "counts": [[3, 1], [5, 2], [7, 9]],
        });
        measurement.repeats = serde_json::from_value(serde_json::json!([{
            "started": "", "elapsed_ns": 1, "operations": 1, "bytes": 1, "iops": 1.0, "bytes_per_second": 1.0,
            "issued_bytes": 1, "durable_bytes_per_second": 1.0, "in_flight": 1.0, "proof_ratio": 1.0,
            "samples": [{ "t_ns": 1, "interval_ns": 1, "operations": 1, "bytes": 1, "p50_ns": 1.0, "p99_ns": 1.0 }],
            "histogram": histogram, "first_done_ns": 1, "last_done_ns": 1, "outcome": Outcome::Completed,
        }]))
        .unwrap();
        let again = measurement.repeats[0].clone();
        measurement.repeats.push(again);
    }
    record.verification = serde_json::from_value(serde_json::json!({
        "method": "full", "verdict": "fake", "checker": "assay", "kind": "limbo", "announced_bytes": 1, "real_bytes": 1,
        "checked_bytes": 1, "written_bytes": 1, "refused_bytes": 1, "offsets": "files", "remarks": [],
        "counts": { "good": 1, "changed": 1, "overwritten": 1, "corrupted": 1, "unreadable": 1 },
        "first_error": { "offset_bytes": 1, "class": "corrupted", "holds_offset_bytes": 1 },
        "map": [{ "offset_bytes": 1, "bytes": 1, "counts": { "good": 1, "changed": 1, "overwritten": 1, "corrupted": 1,
                  "unreadable": 1 } }],
        "write": { "bytes": 1, "elapsed_ns": 1, "speed": [{ "offset_bytes": 1, "bytes": 1, "elapsed_ns": 1 },
                   { "offset_bytes": 1, "bytes": 1, "elapsed_ns": 1 }] },
        "read": { "bytes": 1, "elapsed_ns": 1, "speed": [] }, "read_back": { "by": "direct" }, "cache_bytes": 1, "reach": { "tested_share": 0.1, "loss_share": 0.05, "loss_found": 0.9, "caches_up_to_bytes": 1, "thin_excluded": false, "of": "device" },
        "holds": [{ "offset_bytes": 0, "bytes": 1 }], "real_low_bytes": 1, "real_high_bytes": 2,
    }))
    .unwrap();
    record.outcome = Outcome::Failed {
        failure: RunFailure::IoError,
        detail: String::new(),
        workload: None,
        elapsed_ns: 1,
        written_bytes: 1,
    };
    let mut document = serde_json::to_value(&record).unwrap();
    let mut places = Vec::new();
    numbers(&document, String::new(), &mut places);
    assert!(places.len() > 200, "{}", places.len());
    for place in places {
        let before = std::mem::replace(document.pointer_mut(&place).unwrap(), extreme.clone());
        if serde_json::from_value::<Record>(document.clone()).is_err() {
            *document.pointer_mut(&place).unwrap() = before;
        }
    }
    serde_json::from_value(document).unwrap()
}

fn numbers(value: &Value, place: String, out: &mut Vec<String>) {
    match value {
        Value::Number(_) => out.push(place),
        Value::Array(items) => items.iter().enumerate().for_each(|(at, v)| numbers(v, format!("{place}/{at}"), out)),
        Value::Object(fields) => fields.iter().for_each(|(name, v)| numbers(v, format!("{place}/{name}"), out)),
        _ => {}
    }
}

#[test]
fn numbers_at_the_ends_of_their_range_end_no_command() {
    for number in [u64::MAX.into(), Value::from(-1e308)] {
        let place = Place::with_records(&(0..4).map(|at| extreme(at, &number)).collect::<Vec<_>>());
        let files = FILES.iter().enumerate().map(|(at, command)| command.replace("FILE", &format!("f{at}")));
        for command in COMMANDS.map(str::to_owned).into_iter().chain(files) {
            let done = run(place.assay(words(&command)));
            assert!(matches!(done.code, Some(0..=2)), "{number}: {command}: {:?} {}", done.code, done.stderr);
        }
    }
}

// -------------------------------------------------------------------------------- suites and job files

/// A suite with everything that TOML lets into a comment and a string.
fn suite() -> String {
    let purpose = HOSTILE.replace(|c: char| c < ' ' && c != '\t' || c == '\u{7f}', "").replace(['\\', '"'], "");
    crate::common::TINY.replace("A test", &purpose) + "# \u{9b}2J\u{202e}\u{2066}\u{200b} the end"
}

const JOB: &str =
    "; \u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}\n[global]\nsize=4m\nfilename=x\n\n[one]\nrw=read\nbs=4k";

#[test]
fn a_suite_is_shown_escaped_on_a_terminal_and_as_it_is_elsewhere() {
    const TEST: &str = "a_suite_is_shown_escaped_on_a_terminal_and_as_it_is_elsewhere";
    let place = Place::new();
    let suite = suite();
    place.file("evil.toml", &suite);
    place.file("evil.fio", JOB);
    for (file, content) in [("evil.toml", suite.as_str()), ("evil.fio", JOB)] {
        run(place.shell(&format!("\"$ASSAY\" suite show {file} > shown"))).succeeds();
        assert_eq!(fs::read_to_string(place.path().join("shown")).unwrap(), content, "byte by byte");
        assert_eq!(run(place.assay(["suite", "show", file])).stdout, content);
    }
    run(place.shell("\"$ASSAY\" suite show quick > mine.toml")).succeeds();
    let built_in = concat!(env!("CARGO_MANIFEST_DIR"), "/../../suites/quick.toml");
    assert_eq!(fs::read(place.path().join("mine.toml")).unwrap(), fs::read(built_in).unwrap());
    let Some(terminal) = Terminal::new(TEST) else { return };
    for file in ["evil.toml", "evil.fio"] {
        for command in [format!("suite show {file}"), format!("suite export {file} --format fio")] {
            let text = terminal.run(&place, &format!("\"$ASSAY\" {command}"), &[]);
            assert_harmless(&text.replace("\r\n", "\n").replace('\t', " "));
        }
        let text = terminal.run(&place, &format!("\"$ASSAY\" suite show {file}"), &[]);
        assert!(text.contains("\\u202e") && text.contains("\\u009b"), "nothing is taken away: {text}");
    }
}

#[test]
fn what_is_exported_of_a_suite_is_harmless_and_reads_back() {
    const TEST: &str = "what_is_exported_of_a_suite_is_harmless_and_reads_back";
    let place = Place::new();
    place.file("evil.toml", suite());
    run(place.assay(["suite", "export", "evil.toml", "--format", "fio", "-o", "out.fio"])).succeeds();
    let job = fs::read_to_string(place.path().join("out.fio")).unwrap();
    assert_harmless(&job);
    assert_eq!(job.lines().filter(|line| line.starts_with('[')).count(), 1 + 3, "{job}");
    run(place.assay(["suite", "show", "out.fio", "--json"])).succeeds();
    assert_harmless(&run(place.assay(["suite", "show", "evil.toml", "--json"])).succeeds().stdout);

    run(place.assay([
        "plan",
        "new",
        "--units",
        "A=1,2;B=1,2",
        "--slots",
        "2",
        "--rounds",
        "1",
        "--suite",
        "evil.toml",
        "-o",
        "plan.toml",
    ]))
    .succeeds();
    let plan = fs::read_to_string(place.path().join("plan.toml")).unwrap();
    assert_harmless(&plan);
    let Some(read) = read_by_python(TEST, "toml", plan.as_bytes()) else { return };
    assert!(read["suite"]["text"].as_str().unwrap().contains("evil.example"), "{read}");
    for command in
        [&["plan", "show", "plan.toml"][..], &["plan", "status", "plan.toml"], &["plan", "suites", "plan.toml"]]
    {
        let done = run(place.assay(command));
        assert_harmless(&done.stdout);
        assert_harmless(&done.stderr);
    }
}

#[test]
fn events_and_labels_of_a_run_are_harmless() {
    let place = Place::new();
    place.file("evil.toml", suite());
    let label = format!("note={}", HOSTILE.replace(['\r', '\n'], ""));
    let done = run(place.assay(["run", "--events", "--suite", "evil.toml", "--label", &label, "medium"]));
    assert_harmless(&done.measures().stdout);
    assert_harmless(&done.stderr);
    for line in done.stdout.lines() {
        serde_json::from_str::<Value>(line).unwrap();
    }
}

#[test]
fn what_cannot_be_read_is_told_in_one_harmless_line() {
    let place = Place::new();
    place.file("bad.toml", format!("name = '{}'\n", HOSTILE.replace(['\'', '\n', '\r'], "")));
    place.file("bad.fio", format!("[global]\n{}=1\n", HOSTILE.replace(['\n', '\r'], "")));
    place.file("units.txt", HOSTILE);
    place.file(
        "plan.toml",
        format!("format = \"assay-plan\"\nversion = 1\nhash = '''{}'''\n", HOSTILE.replace('\'', "")),
    );
    for command in [
        "suite show bad.toml",
        "suite show bad.fio",
        "run --suite bad.toml medium",
        "run bad.fio",
        "plan new --units units.txt --slots 2",
        "plan show plan.toml",
        "plan status plan.toml",
    ] {
        run(place.assay(words(command))).refuses(2, &[]);
    }
    for arguments in [
        ["run", "--suite", HOSTILE],
        ["run", "--label", HOSTILE],
        ["run", "--sensor", HOSTILE],
        ["info", "medium", HOSTILE],
    ] {
        run(place.assay(arguments)).refuses(2, &[]);
    }
}
