//! What `assay report` writes, read by the programs that it is written for. Each of them has to be installed: elsewhere its test
//! says so and is counted as skipped.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use assay_lab::{Missing, skip};
use serde_json::Value;

use crate::common::{Place, run};

/// A program by its name, from the search path or from where the peers are unpacked to.
fn program(name: &str) -> Option<PathBuf> {
    let unpacked = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/peers").join(name);
    let searched = std::env::var_os("PATH").into_iter().flat_map(|all| std::env::split_paths(&all).collect::<Vec<_>>());
    searched.map(|directory| directory.join(name)).chain([unpacked]).find(|path| path.is_file())
}

/// The published figures in a format.
fn written(place: &Place, name: &str, format: &str) -> PathBuf {
    run(place.assay(["report", "published:", "-o", name, "--format", format])).succeeds();
    place.path().join(name)
}

/// What a Python program prints, by the first Python that has the modules: the distribution's has those of its packages.
fn python(test: &str, module: &str, program: &str, arguments: &[&Path]) -> Option<String> {
    let has = |python: &&str| {
        let asked = Command::new(python).args(["-c", &format!("import {module}")]).stderr(Stdio::null()).status();
        asked.is_ok_and(|status| status.success())
    };
    let Some(python) = ["python3", "/usr/bin/python3"].into_iter().find(has) else {
        skip(test, &Missing(format!("needs Python's {module}")));
        return None;
    };
    let done = Command::new(python).args(["-c", program]).args(arguments).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Some(String::from_utf8(done.stdout).unwrap())
}

#[test]
fn the_jq_recipes_of_the_docs_run() {
    const TEST: &str = "the_jq_recipes_of_the_docs_run";
    if program("jq").is_none() {
        return skip(TEST, &Missing("needs jq".to_owned()));
    }
    let place = Place::new();
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/json.md")).unwrap();
    let recipes: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("    assay ")).collect();
    assert!(recipes.len() > 4, "{recipes:?}");
    for recipe in recipes {
        let done = run(place.shell(&format!("\"$ASSAY\" {recipe}")));
        done.succeeds();
        let cells = |line: &str| line.split('\t').filter(|cell| !cell.is_empty()).count();
        assert!(done.stdout.lines().any(|line| cells(line) > 1), "{recipe}: {}", done.stdout);
        assert!(done.stdout.lines().all(|line| !line.starts_with('\t')), "{recipe}: {}", done.stdout);
    }
}

#[test]
fn promtool_accepts_the_series() {
    const TEST: &str = "promtool_accepts_the_series";
    let Some(promtool) = program("promtool") else { return skip(TEST, &Missing("needs promtool".to_owned())) };
    let place = Place::new();
    place.file("tiny.toml", crate::common::tiny_at_leisure());
    run(place.assay(["run", "--suite", "tiny.toml", "--label", "unit=a \"b\" \\c", "medium"])).measures();
    run(place.assay(["report", "last", "published:", "-o", "all.prom"])).succeeds();
    let text = std::fs::File::open(place.path().join("all.prom")).unwrap();
    let done = Command::new(promtool).args(["check", "metrics"]).stdin(text).output().unwrap();
    let said = [done.stdout, done.stderr].concat();
    assert!(done.status.success() && said.is_empty(), "{}", String::from_utf8_lossy(&said));
}

#[test]
fn fio_plot_draws_a_directory_of_loads() {
    const TEST: &str = "fio_plot_draws_a_directory_of_loads";
    let place = Place::new();
    place.file("tiny.toml", crate::common::tiny_at_leisure());
    run(place.assay(["run", "--suite", "tiny.toml", "medium"])).measures();
    run(place.assay(["report", "last", "-o", "plots/", "--format", "fio-json"])).succeeds();
    let files: Vec<PathBuf> =
        std::fs::read_dir(place.path().join("plots")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(!files.is_empty());
    let (mut wanted, mut drawn) = (Vec::new(), 0);
    for file in &files {
        let document: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        let jobs = document["jobs"].as_array().unwrap();
        assert_eq!(jobs.len(), 1, "one load a file: {}", file.display());
        let option = |name: &str| jobs[0]["job options"][name].as_str().unwrap().to_owned();
        wanted.push([option("rw"), option("iodepth"), option("numjobs")]);
    }
    let Some(fio_plot) = program("fio-plot") else { return skip(TEST, &Missing("needs fio-plot".to_owned())) };
    for [rw, depth, jobs] in wanted.iter().filter(|[rw, ..]| !rw.ends_with("rw")) {
        for picture in ["-l", "-H"] {
            let name = format!("{drawn}.png");
            let mut command = Command::new(&fio_plot);
            command.args(["-i", "plots", "-T", "title", "-r", rw, "-d", depth, "-n", jobs, picture, "-o", &name]);
            let done = command.current_dir(place.path()).output().unwrap();
            let said = String::from_utf8_lossy(&done.stdout);
            assert!(done.status.success() && place.path().join(&name).is_file(), "{rw} {picture}: {said}");
            drawn += 1;
        }
    }
    assert!(drawn > 0, "{wanted:?}");
}

/// The mean of each model's units of a load, as `rank` has it, by another program from the long table.
fn ranked(place: &Place, load: &str) -> Vec<(String, f64)> {
    // Its exit code is 1 where it cannot tell the first from the second.
    let done = run(place.assay(["rank", "published:", "--load", load, "--json"]));
    let answer: Value = serde_json::from_str(&done.stdout).unwrap_or_else(|_| panic!("{}", done.stderr));
    let models = answer["primary"]["models"].as_array().unwrap();
    let of = |model: &Value| {
        let point = model["estimate"]["point"].as_f64()?;
        Some((model["model"].as_str()?.to_owned(), point))
    };
    models.iter().filter_map(of).collect()
}

/// Three loads: what the tables call them, and what `rank` does.
const LOADS: [(&str, &str, u64, u32); 3] = [
    ("random write 4 KiB, 4 jobs", "write", 4096, 4),
    ("random read 4 KiB, 4 jobs", "read", 4096, 4),
    ("random write 64 KiB, 4 jobs", "write", 65536, 4),
];

fn same_as_ranked(place: &Place, found: &str) {
    for ((load, op, block, jobs), line) in LOADS.iter().zip(found.lines()) {
        let theirs: std::collections::BTreeMap<String, f64> = serde_json::from_str(line).unwrap();
        let ours = ranked(place, load);
        assert!(ours.len() > 1, "{load}: {ours:?}");
        for (model, point) in ours {
            let other = theirs.get(&model).unwrap_or_else(|| panic!("{model} is missing: {op} {block} {jobs}"));
            assert!((other / point - 1.0).abs() < 1e-9, "{load}, {model}: {other} {point}");
        }
    }
    assert_eq!(found.lines().count(), LOADS.len());
}

fn loads() -> String {
    LOADS.map(|(_, op, block, jobs)| format!("('{op}', {block}, {jobs})")).join(", ")
}

#[test]
fn pandas_finds_in_the_long_table_what_rank_says() {
    let place = Place::new();
    let table = written(&place, "long.csv", "long-csv");
    let program = format!(
        "import sys, json, numpy, pandas
table = pandas.read_csv(sys.argv[1])
for op, block, jobs in [{}]:
    rows = table[(table.op == op) & (table.pattern == 'random') & (table.block_bytes == block) & (table.jobs == jobs)]
    rows = rows[(rows.queue_depth == 1) & (rows.figure == 'iops') & rows.repeat.isna()]
    units = numpy.log(rows.value).groupby([rows.model, rows.unit]).mean()
    print(json.dumps(numpy.exp(units.groupby('model').mean()).to_dict()))
",
        loads()
    );
    if let Some(found) = python("pandas_finds_in_the_long_table_what_rank_says", "pandas", &program, &[&table]) {
        same_as_ranked(&place, &found);
    }
}

#[test]
fn duckdb_finds_in_the_long_table_what_rank_says() {
    let place = Place::new();
    let table = written(&place, "long.csv", "long-csv");
    let program = format!(
        "import sys, json, duckdb
for op, block, jobs in [{}]:
    rows = duckdb.execute('''select model, exp(avg(mean)) from (select model, unit, avg(ln(value)) as mean from read_csv($1)
        where op = $2 and pattern = 'random' and block_bytes = $3 and jobs = $4 and queue_depth = 1 and figure = 'iops'
        and repeat is null group by all) group by model''', [sys.argv[1], op, block, jobs]).fetchall()
    print(json.dumps(dict(rows)))
",
        loads()
    );
    if let Some(found) = python("duckdb_finds_in_the_long_table_what_rank_says", "duckdb", &program, &[&table]) {
        same_as_ranked(&place, &found);
    }
}

#[test]
fn junitparser_counts_what_a_limit_found() {
    let place = Place::new();
    let query = |unit: &str| format!("published:sandisk-ultra-a1/{unit}");
    let limit = ["--fail-if", "slower than 5%", "--fail-if-unknown", "--format", "junit", "-o", "limits.xml"];
    let done =
        run(place.assay(["compare".to_owned(), query("1"), query("2")].into_iter().chain(limit.map(str::to_owned))));
    let file = place.path().join("limits.xml");
    let program = "import sys, junitparser
xml = junitparser.JUnitXml.fromfile(sys.argv[1])
suites = list(xml)
print(len(suites), *[sum(getattr(suite, name) for suite in suites) for name in ('tests', 'failures', 'errors', 'skipped')])
print(*[sum(type(found).__name__ == kind for suite in suites for case in suite for found in case.result)
    for kind in ('Failure', 'Error', 'Skipped')])
";
    assert!(file.is_file(), "{}", done.stderr);
    let Some(found) = python("junitparser_counts_what_a_limit_found", "junitparser", program, &[&file]) else { return };
    let lines: Vec<Vec<usize>> =
        found.lines().map(|line| line.split_whitespace().map(|word| word.parse().unwrap()).collect()).collect();
    // What the suites say of themselves is what their tests hold.
    assert!(lines[0][0] == 1 && lines[0][1] > 3 && lines[0][2..] == lines[1], "{found}");
}

#[test]
fn the_file_for_phoronix_is_valid_by_its_schema() {
    const TEST: &str = "the_file_for_phoronix_is_valid_by_its_schema";
    let place = Place::new();
    let file = written(&place, "composite.xml", "openbenchmarking");
    let Some(suite) = std::env::var_os("ASSAY_PHORONIX") else {
        return skip(TEST, &Missing("needs a checkout of the Phoronix Test Suite in ASSAY_PHORONIX".to_owned()));
    };
    let schema = Path::new(&suite).join("pts-core/openbenchmarking.org/schemas/result-file.xsd");
    let mut command = Command::new("xmllint");
    command.args(["--noout", "--schema"]).arg(schema).arg(file);
    let Ok(done) = command.output() else { return skip(TEST, &Missing("needs xmllint".to_owned())) };
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// What the reader of the Phoronix Test Suite finds: a line for each result.
const PHORONIX_READER: &str = r#"<?php
define('PTS_MODE', 'LIB');
define('PTS_AUTO_LOAD_OBJECTS', true);
require $argv[1] . '/pts-core/pts-core.php';
$file = new pts_result_file($argv[2], true);
foreach ($file->get_result_objects() as $object)
    foreach ($object->test_result_buffer->get_buffer_items() as $item)
        echo $object->get_arguments_description(), "\t", $object->test_profile->get_result_scale(), "\t",
            $item->get_result_identifier(), "\t", $item->get_result_value(), PHP_EOL;
"#;

#[test]
fn the_reader_of_phoronix_finds_every_figure() {
    const TEST: &str = "the_reader_of_phoronix_finds_every_figure";
    let place = Place::new();
    let file = written(&place, "composite.xml", "openbenchmarking");
    let Some(suite) = std::env::var_os("ASSAY_PHORONIX") else {
        return skip(TEST, &Missing("needs a checkout of the Phoronix Test Suite in ASSAY_PHORONIX".to_owned()));
    };
    let Some(php) = program("php") else { return skip(TEST, &Missing("needs php".to_owned())) };
    let script = place.file("read.php", PHORONIX_READER);
    let done = Command::new(php).arg(script).arg(&suite).arg(file).output().unwrap();
    let text = String::from_utf8(done.stdout).unwrap();
    let found: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
    let read = |record: &str, load: &str, unit: &str| {
        let is = |row: &&Vec<&str>| row[0] == load && row[1] == unit && row[2].contains(record);
        found.iter().find(is).map(|row| row[3].parse::<f64>().unwrap())
    };
    let mut figures = 0;
    for record in place.json(["show", "published:", "--json"]).as_array().unwrap() {
        let id = record["id"].as_str().unwrap();
        for measurement in record["measurements"].as_array().unwrap() {
            let rate = measurement["bytes_per_second"]["point"].as_f64().unwrap() / 1e6;
            let close = |value: &f64| (value / rate - 1.0).abs() < 1e-9;
            let of_record = || found.iter().filter(|row| row[2].contains(&format!("({id})")) && row[1] == "MB/s");
            assert!(
                of_record().any(|row| row[3].parse().is_ok_and(|v: f64| close(&v))),
                "{id}: {rate} MB/s is not read"
            );
            figures += 1;
        }
    }
    assert!(figures > 50, "{figures}");
    assert_eq!(read("sandisk-ultra-a1/1", "random read 4 KiB, 4 jobs", "IOPS"), Some(1634.0));
}

#[test]
fn tables_have_all_labels_and_rows_of_one_length() {
    let place = Place::new();
    place.file("tiny.toml", crate::common::tiny_at_leisure());
    let labels = ["--label", "unit=u1", "--label", "slot=7", "--label", "rack=a, \"b\""];
    run(place.assay(["run", "--suite", "tiny.toml", "medium"].iter().chain(&labels))).measures();
    for format in ["csv", "long-csv"] {
        run(place.assay(["report", "last", "-o", "table.csv", "--format", format])).succeeds();
        let text = std::fs::read_to_string(place.path().join("table.csv")).unwrap();
        let rows: Vec<Vec<String>> = text.lines().map(cells).collect();
        assert!(rows.len() > 2 && rows.iter().all(|row| row.len() == rows[0].len()), "{text}");
        let cell = |name: &str| rows[1][rows[0].iter().position(|column| column == name).unwrap()].clone();
        assert_eq!((cell("unit"), cell("slot")), ("u1".to_owned(), "7".to_owned()));
        let labels: Value = serde_json::from_str(&cell("labels")).unwrap();
        assert_eq!(labels["rack"], "a, \"b\"");
    }
}

/// What CrystalDiskMark prints is the best of its runs, through an import and out again.
#[test]
fn the_best_of_several_runs_stays_that_in_the_text_for_forums() {
    let place = Place::new();
    let rows = "[Read]\n  SEQ    1MiB (Q=  8, T= 1):   104.858 MB/s [    100.0 IOPS] < 80000.00 us>\n";
    let title = "CrystalDiskMark 8.0.4 x64 (C) 2007-2021 hiyohiyo";
    place.file("cdm.txt", format!("{title}\n\n{rows}\n   Test: 1 GiB (x5) [C: 41% (195/475GiB)]\n"));
    run(place.assay(["import", "cdm.txt"])).succeeds();
    run(place.assay(["report", "last", "-o", "forum.txt", "--format", "crystaldiskmark"])).succeeds();
    let text = std::fs::read_to_string(place.path().join("forum.txt")).unwrap();
    assert!(text.contains("the best of several runs") && !text.contains("means of repeats"), "{text}");
    let mut read = place.assay(["import", "forum.txt", "--json"]);
    read.env("ASSAY_DATA", place.path().join("again"));
    run(read).succeeds();
    let mut shown = place.assay(["show", "last", "--json"]);
    shown.env("ASSAY_DATA", place.path().join("again"));
    let record: Value = serde_json::from_str(&run(shown).succeeds().stdout).unwrap();
    let method = record["measurements"][0]["bytes_per_second"]["method"].as_str().unwrap();
    assert!(method.contains("best of 5 runs"), "{method}");
}

/// Read again, jobs of one name would be clones of one job, whose figures are added up.
#[test]
fn several_records_in_one_document_of_fio_stay_apart() {
    let place = Place::new();
    run(place.assay(["report", "published:sandisk-ultra-a1", "-o", "all.json", "--format", "fio-json"])).succeeds();
    let document: Value = serde_json::from_slice(&std::fs::read(place.path().join("all.json")).unwrap()).unwrap();
    let jobs = document["jobs"].as_array().unwrap();
    run(place.assay(["import", "all.json"])).succeeds();
    let record = place.json(["show", "last", "--json"]);
    assert_eq!(record["measurements"].as_array().unwrap().len(), jobs.len());
}

/// Cells of a line (RFC 4180) without line breaks in them.
fn cells(line: &str) -> Vec<String> {
    let (mut all, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => cell.extend(letters.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => all.push(std::mem::take(&mut cell)),
            _ => cell.push(letter),
        }
    }
    all.push(cell);
    all
}

#[test]
fn the_text_for_forums_can_be_read_again_and_is_no_best_of() {
    let place = Place::new();
    place.file("tiny.toml", crate::common::tiny_at_leisure());
    run(place.assay(["run", "--suite", "tiny.toml", "medium"])).measures();
    run(place.assay(["report", "last", "-o", "forum.txt", "--format", "crystaldiskmark"])).succeeds();
    let text = std::fs::read_to_string(place.path().join("forum.txt")).unwrap();
    let mut read = place.assay(["import", "forum.txt"]);
    read.env("ASSAY_DATA", place.path().join("again"));
    run(read).succeeds();
    let mut shown = place.assay(["show", "last", "--json"]);
    shown.env("ASSAY_DATA", place.path().join("again"));
    let record: Value = serde_json::from_str(&run(shown).succeeds().stdout).unwrap();
    let measured = record["measurements"].as_array().unwrap();
    assert_eq!(measured.len(), text.lines().filter(|line| line.contains(" MB/s [")).count(), "{text}");
    for load in measured {
        let method = load["bytes_per_second"]["method"].as_str().unwrap();
        assert!(method.contains("mean of"), "{method}");
    }
}
