//! The command line as scripts and people use it: JSON, events, pipes, signals, help.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::{
    Place, Running, Terminal, assert_harmless, random, run, scratch_directories, suite, tiny_at_leisure,
};
use assay_core::event::{Event, EventKind};
use assay_core::finding::Finding;
use assay_core::outcome::{Outcome, RunFailure};
use assay_core::record::Record;
use assay_lab::{Missing, skip};
use rustix::process::Signal;
use serde_json::Value;

/// Long enough to be stopped in: three repeats of each workload over 4 MiB.
fn long() -> String {
    suite("long", "60s", 3, &["read", "write"].map(|op| random(op, op, "300ms")))
}

/// Every command with what it needs.
const COMMANDS: [&[&str]; 34] = [
    &[],
    &["run"],
    &["info"],
    &["suite"],
    &["suite", "list"],
    &["suite", "show"],
    &["suite", "export"],
    &["list"],
    &["show"],
    &["rm"],
    &["report"],
    &["verify"],
    &["compare"],
    &["baseline"],
    &["baseline", "set"],
    &["baseline", "list"],
    &["baseline", "rm"],
    &["rank"],
    &["plan"],
    &["plan", "new"],
    &["plan", "show"],
    &["plan", "suites"],
    &["plan", "status"],
    &["plan", "race"],
    &["plan", "swap"],
    &["advise"],
    &["advise", "nas"],
    &["advise", "cache"],
    &["advise", "buy"],
    &["advise", "class"],
    &["survive"],
    &["completions"],
    &["man"],
    &["licences"],
];

// ------------------------------------------------------------------------------------------- JSON

#[test]
fn json_is_one_document_on_standard_output_and_nothing_else() {
    let place = Place::new();
    let record = place.json(["run", "--suite", "tiny.toml", "--label", "slot=7", "--json", "medium"]);
    let id = record["id"].as_str().unwrap().to_owned();
    assert_eq!(record["measurements"].as_array().unwrap().len(), 3);
    place.assert_clean();

    assert_eq!(place.json(["show", "--json"]), record, "what was printed is what is stored");
    assert_eq!(place.json(["show", &id[..6], "--json"]), record);
    assert_eq!(place.json(["list", "--json"])[0]["id"], *id);
    assert_eq!(place.json(["list", "slot=7", "--json"]).as_array().unwrap().len(), 1);
    assert_eq!(place.json(["list", "slot=8", "--json"]), Value::Array(Vec::new()));
    assert_eq!(place.json(["info", "--json", "medium"])["medium"]["kind"], record["medium"]["kind"]);
    let suites = place.json(["suite", "list", "--json"]);
    assert!(suites.as_array().unwrap().iter().any(|suite| suite["name"] == "quick"));
    assert_eq!(place.json(["suite", "show", "quick", "--json"])["name"], "quick");
    assert!(place.json(["suite", "export", "quick", "--format", "fio", "--json"])["text"].is_string());
    assert_eq!(place.json(["suite", "export", "quick", "--format", "fio", "-o", "q.fio", "--json"])["file"], "q.fio");
    assert_eq!(place.json(["report", "-o", "card.html", "--json"])["records"][0], *id);
    assert_eq!(place.json(["rm", &id, "--json"])["removed"][0], *id);
    assert_eq!(place.json(["list", "--json"]), Value::Array(Vec::new()));
}

#[test]
fn smoke_is_a_record_that_the_schema_describes() {
    let place = Place::new();
    let record = place.json(["run", "--suite", "smoke", "--json", "medium"]);
    let parsed: Record = serde_json::from_value(record.clone()).unwrap();
    assert_eq!(parsed.outcome, Outcome::Completed);
    // A busy machine may leave a load without a repeat, or show its writes on the device only after it.
    let proven =
        |m: &&assay_core::record::Measurement| m.bytes_per_second.is_some() && m.proof_ratio.is_none_or(|r| r > 0.0);
    assert!(parsed.measurements.iter().filter(proven).count() > 0, "{:?}", parsed.measurements);
    assert!(parsed.settings().unwrap().written_bytes <= 64 << 20, "max_write is kept");

    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/record-v1.json");
    let Ok(text) = fs::read_to_string(path) else {
        return skip("smoke_is_a_record_that_the_schema_describes", &Missing("no schemas/record-v1.json yet".into()));
    };
    let schema: Value = serde_json::from_str(&text).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(&record).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    let mut broken = record.clone();
    broken["outcome"] = Value::Bool(true);
    assert!(!validator.is_valid(&broken), "the schema allows anything");
    // A run has settings, an import has a source, and no record has neither or both.
    let mut imported = record.clone();
    imported.as_object_mut().unwrap().remove("settings");
    assert!(!validator.is_valid(&imported), "neither");
    imported["source"] = serde_json::json!({ "format": "dd", "file": "dd.txt" });
    assert!(validator.is_valid(&imported), "an import");
    imported["settings"] = record["settings"].clone();
    assert!(!validator.is_valid(&imported), "both");
}

#[test]
fn names_that_are_no_text_do_not_hurt_json() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new();
    place.measured();
    let odd = OsStr::from_bytes(b"odd\xff.html");
    let file = place.json([OsStr::new("report"), "--json".as_ref(), "-o".as_ref(), odd]);
    assert_eq!(file["file"], "odd\u{fffd}.html");
    assert!(place.path().join(odd).exists());
    let odd = OsStr::from_bytes(b"medium\xff");
    fs::create_dir(place.path().join(odd)).unwrap();
    place.json([OsStr::new("info"), "--json".as_ref(), odd]);
    let mut command = place.assay(["run", "--suite", "tiny.toml", "--json"]);
    command.arg(odd);
    run(command).measures();
}

// ----------------------------------------------------------------------------------------- events

#[test]
fn a_warning_of_a_workload_names_it_as_its_figures_are_named() {
    let place = Place::new();
    let workload =
        "[[workload]]\nname = \"w1\"\nop = \"write\"\npattern = \"sequential\"\nblock = \"1MiB\"\nduration = \"1s\"\n";
    place.file("few.toml", suite("few", "60s", 1, &[workload.to_owned()]).replace("256MiB", "12MiB"));
    let done = run(place.assay(["run", "--suite", "few.toml", "medium"]));
    let lines = &done.measures().stderr;
    assert!(lines.contains("\nwarning (sequential write 1 MiB): only "), "{lines}");
    assert!(lines.contains("] sequential write 1 MiB: ") && !lines.contains("w1"), "{lines}");
}

#[test]
fn events_are_json_lines_from_start_to_finish() {
    let place = Place::new();
    let done = run(place.assay(["run", "--suite", "tiny.toml", "--events", "medium"]));
    let events: Vec<Event> = done
        .measures()
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")))
        .collect();
    let EventKind::Started { id, planned_write_bytes, .. } = &events[0].event else { panic!("{:?}", events[0]) };
    let EventKind::Finished { id: finished, outcome, written_bytes, .. } = &events.last().unwrap().event else {
        panic!("{:?}", events.last())
    };
    assert_eq!((id, outcome), (finished, &Outcome::Completed));
    assert!(written_bytes <= planned_write_bytes, "{written_bytes} of {planned_write_bytes}");
    let count = |what: fn(&EventKind) -> bool| events.iter().filter(|e| what(&e.event)).count();
    assert_eq!(count(|e| matches!(e, EventKind::RepeatStarted { .. })), 3);
    assert_eq!(count(|e| matches!(e, EventKind::RepeatFinished { .. })), 3);
    assert!(count(|e| matches!(e, EventKind::Phase { phase } if phase == "layout")) == 1);
    assert!(events.windows(2).all(|pair| pair[0].elapsed_ns <= pair[1].elapsed_ns), "time goes backwards");
    assert_eq!(place.only_record().id, *id);
    place.assert_clean();
}

#[test]
fn plain_lines_tell_of_a_run_where_there_is_no_terminal() {
    let place = Place::new();
    let done = run(place.assay(["run", "--suite", "tiny.toml", "medium"]));
    let lines: Vec<&str> = done.measures().stderr.lines().collect();
    assert!(lines[0].starts_with("measuring "), "{lines:?}");
    assert!(lines.iter().any(|line| line.starts_with("[3/3] random write 4 KiB: ")), "{lines:?}");
    let report = done.stdout.lines().last().unwrap();
    let page = report.strip_prefix("report    ").unwrap_or_else(|| panic!("{report}"));
    assert!(Path::new(page).is_file(), "{page}");
    assert!(done.stdout.lines().filter(|line| !line.starts_with("report ")).all(|line| line.chars().count() <= 80));

    let quiet = run(place.assay(["run", "--quiet", "--no-save", "--suite", "tiny.toml", "medium"]));
    assert_eq!(quiet.measures().stderr, "");
    place.only_record();
}

// ---------------------------------------------------------------------------------------- signals

#[test]
fn ctrl_c_while_the_file_is_written_saves_the_record_and_removes_the_file() {
    let place = Place::new();
    place.file("long.toml", long().replace("4MiB", "4GiB").replace("256MiB", "16GiB"));
    let mut running = Running::start(place.assay(["run", "--suite", "long.toml", "--events", "medium"]));
    running.wait_for(|event| matches!(event, EventKind::Phase { phase } if phase == "layout"));
    assert_eq!(scratch_directories(&place.medium()), 1);
    running.signal(Signal::INT);
    let done = running.end();
    assert_eq!(done.code, Some(130), "{}", done.stderr);
    place.assert_clean();
    let record = place.only_record();
    assert!(interrupted(&record), "{:?}", record.outcome);
    assert!(record.measurements.iter().all(|m| m.repeats.is_empty()));
}

#[test]
fn a_signal_during_a_repeat_keeps_what_there_is() {
    for (signal, workload) in
        [(Signal::INT, "read"), (Signal::INT, "write"), (Signal::TERM, "read"), (Signal::HUP, "write")]
    {
        let place = Place::new();
        place.file("long.toml", long());
        let mut running = Running::start(place.assay(["run", "--suite", "long.toml", "--events", "medium"]));
        running.wait_for_repeat(workload, 2);
        running.signal(signal);
        let done = running.end();
        assert_eq!(done.code, Some(130), "{signal:?}: {}", done.stderr);
        assert!(done.elapsed < Duration::from_secs(20), "{signal:?}: took {:?}", done.elapsed);
        place.assert_clean();
        let record = place.only_record();
        assert!(interrupted(&record), "{signal:?}: {:?}", record.outcome);
        let read = record.measurement("read").unwrap();
        assert!(read.iops.is_some(), "{signal:?}: the figures of the first repeat are gone");
        assert_eq!(read.repeats[0].outcome, Outcome::Completed);
        let events: Vec<Event> = done.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(matches!(events.last().unwrap().event, EventKind::Finished { .. }), "{signal:?}: {events:?}");
        let shown = run(place.assay(["show"]));
        assert!(shown.succeeds().stdout.contains("interrupted"), "{}", shown.stdout);
    }
}

#[test]
fn one_wish_to_stop_may_come_as_two_signals() {
    let place = Place::new();
    place.file("long.toml", long());
    let mut running = Running::start(place.assay(["run", "--suite", "long.toml", "--events", "medium"]));
    running.wait_for_repeat("read", 1);
    // As timeout(1) does it: to the process and to its group.
    running.signal(Signal::TERM);
    running.signal(Signal::TERM);
    running.signal(Signal::HUP);
    let done = running.end();
    assert_eq!(done.code, Some(130), "{}", done.stderr);
    place.assert_clean();
    assert!(interrupted(&place.only_record()));
}

#[test]
fn json_of_an_interrupted_run_is_its_record() {
    let place = Place::new();
    place.file("long.toml", long());
    let done = run(place.shell("timeout -s INT 2 \"$ASSAY\" run --suite long.toml --json medium || exit $?"));
    assert_eq!(done.code, Some(124), "timeout's own code: {}", done.stderr);
    let record: Record = serde_json::from_str(&done.stdout).unwrap();
    assert!(interrupted(&record));
    place.assert_clean();
}

#[test]
fn a_killed_run_is_told_of_and_cleaned_up_by_the_next_and_its_figures_are_kept() {
    let place = Place::new();
    place.file("long.toml", long());
    let mut running = Running::start(place.assay(["run", "--suite", "long.toml", "--events", "medium"]));
    let EventKind::Started { id, .. } = running.wait_for(|event| matches!(event, EventKind::Started { .. })) else {
        unreachable!()
    };
    running.wait_for_repeat("read", 2);
    running.kill();
    assert_eq!(scratch_directories(&place.medium()), 1);
    let shown = run(place.assay(["show"]));
    assert!(shown.succeeds().stdout.contains("running, or killed"), "{}", shown.stdout);

    let next = run(place.assay(["run", "--suite", "tiny.toml", "medium"]));
    let printed = next.measures().stderr.lines().next().unwrap();
    assert!(printed.contains(&id) && printed.contains("was killed") && printed.contains("removed"), "{printed}");
    place.assert_clean();

    let record: Record = serde_json::from_value(place.json(["show", &id, "--json"])).unwrap();
    assert!(matches!(record.outcome, Outcome::Failed { failure: RunFailure::Abandoned, .. }), "{:?}", record.outcome);
    assert_eq!(record.measurement("read").unwrap().repeats.len(), 1);
    assert!(record.measurement("read").unwrap().iops.is_some());
    let card = run(place.assay(["show", &id]));
    assert!(card.succeeds().stdout.contains("IOPS"), "{}", card.stdout);
    // Only once.
    let again = run(place.assay(["run", "--suite", "tiny.toml", "medium"]));
    assert!(!again.measures().stderr.contains("killed"), "{}", again.stderr);
}

#[test]
fn what_killed_runs_left_is_removed_and_what_stays_is_named() {
    let place = Place::new();
    let leave = |number: u32| {
        let directory = place.medium().join(format!(".assay-{number:010}"));
        DirBuilder::new().mode(0o700).create(&directory).unwrap();
        directory
    };
    (0..3).for_each(|number| drop(leave(number)));
    let done = run(place.assay(["verify", "--remove", "medium"]));
    assert!(done.succeeds().stdout.contains("the test files of 3 runs that were killed"), "{}", done.stdout);
    place.assert_clean();

    fs::write(leave(1).join("thesis.tex"), "dear").unwrap();
    fs::write(leave(2).join("data"), "12345").unwrap();
    fs::write(place.medium().join(".assay-0000000002/lock"), "").unwrap();
    let done = run(place.assay(["verify", "--remove", "medium"]));
    let said = done.succeeds().stdout.replace("\n  ", " ");
    assert!(said.contains("the test files of a run that was killed, 5 B"), "{said}");
    assert!(said.contains("left medium/.assay-0000000001/thesis.tex: a name that assay does not use"), "{said}");
    assert!(place.medium().join(".assay-0000000001/thesis.tex").exists());
}

#[test]
fn a_killed_run_that_was_not_saved_is_cleaned_up_too() {
    let place = Place::new();
    place.file("long.toml", long());
    let arguments = ["run", "--no-save", "--suite", "long.toml", "--events", "medium"];
    let mut running = Running::start(place.assay(arguments));
    running.wait_for_repeat("read", 1);
    running.kill();
    let record = place.measured();
    assert!(
        record.warnings.iter().any(|w| matches!(w.finding, Finding::LeftoversRemoved { directories: 1, .. })),
        "{:?}",
        record.warnings
    );
    place.assert_clean();
}

// ------------------------------------------------------------------------------------ two at once

#[test]
fn two_runs_at_once_on_one_store_are_both_saved() {
    let place = Place::new();
    fs::create_dir(place.path().join("other")).unwrap();
    let start = |medium| Running::start(place.assay(["run", "--suite", "tiny.toml", "--events", medium]));
    let (one, two) = (start("medium"), start("other"));
    one.end().measures();
    two.end().measures();
    let list = place.json(["list", "--json"]);
    assert_eq!(list.as_array().unwrap().len(), 2);
    assert!(list.as_array().unwrap().iter().all(|r| r["outcome"]["state"] == "completed"), "{list}");
    place.assert_clean();
}

#[test]
fn a_second_run_on_the_same_medium_is_suspect() {
    let place = Place::new();
    place.file("long.toml", long());
    let mut first = Running::start(place.assay(["run", "--suite", "long.toml", "--events", "medium"]));
    first.wait_for_repeat("read", 1);
    let second = place.measured();
    assert!(second.warnings.iter().any(|w| w.finding == Finding::AnotherRun), "{:?}", second.warnings);
    assert_eq!(scratch_directories(&place.medium()), 1, "the first goes on");
    first.signal(Signal::INT);
    assert_eq!(first.end().code, Some(130));
    place.assert_clean();
}

// ------------------------------------------------------------------------- pipes and closed streams

#[test]
fn a_reader_that_went_away_is_no_failure() {
    let place = Place::new();
    place.measured();
    for arguments in [
        &["list"][..],
        &["list", "--json"],
        &["show"],
        &["show", "--json"],
        &["info", "medium"],
        &["suite", "list"],
        &["suite", "show", "quick"],
        &["report", "-o", "-", "--format", "html"],
        &["completions", "bash"],
        &["man"],
        &["--help"],
        &["--version"],
        &["run", "--suite", "tiny.toml", "medium"],
        &["run", "--suite", "tiny.toml", "--json", "medium"],
        &["run", "--suite", "tiny.toml", "--events", "medium"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = place.assay(arguments);
        let output = command.stdin(Stdio::null()).stdout(writer).stderr(Stdio::piped()).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{arguments:?}: {stderr}");
        assert!(!stderr.contains("panicked") && !stderr.contains("assay: "), "{arguments:?}: {stderr}");
    }
    assert_eq!(place.json(["list", "--json"]).as_array().unwrap().len(), 4, "the runs are saved all the same");
    place.assert_clean();
}

#[test]
fn the_first_line_is_enough_for_head() {
    let place = Place::new();
    place.measured();
    let done = run(place.shell("\"$ASSAY\" list | head -c 1; \"$ASSAY\" show --json | head -c 1"));
    assert_eq!(done.succeeds().stdout, "i{");
    assert_eq!(done.stderr, "");
}

#[test]
fn closed_streams_change_nothing() {
    let place = Place::new();
    for closed in ["2>&-", "<&-", "<&- 2>&-", ">&-", "<&- >&- 2>&-"] {
        let done = run(place.shell(&format!("exec \"$ASSAY\" run --suite tiny.toml medium {closed}")));
        done.measures();
        let done = run(place.shell(&format!("exec \"$ASSAY\" run nowhere {closed}")));
        assert_eq!(done.code, Some(2), "{closed}: {}{}", done.stdout, done.stderr);
    }
    assert_eq!(place.json(["list", "--json"]).as_array().unwrap().len(), 5);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let status = place.assay(["run", "nowhere"]).stdin(Stdio::null()).stderr(writer).status().unwrap();
    assert_eq!(status.code(), Some(2));
    place.assert_clean();
}

// --------------------------------------------------------------------------- terminals and colours

#[test]
fn piped_output_has_no_control_sequences() {
    let place = Place::new();
    let done = run(place.assay(["run", "--suite", "tiny.toml", "medium"]));
    assert_harmless(&done.measures().stdout);
    assert_harmless(&done.stderr);
    for arguments in
        [&["show"][..], &["list"], &["info", "medium"], &["suite", "list"], &["--help"], &["run", "--help"]]
    {
        assert_harmless(&run(place.assay(arguments)).succeeds().stdout);
    }
}

#[test]
fn a_terminal_gets_colours_unless_they_are_not_wanted() {
    let place = Place::new();
    let Some(terminal) = Terminal::new("a_terminal_gets_colours_unless_they_are_not_wanted") else { return };
    place.measured();
    let shown = |name: &str, value: &str| terminal.run(&place, "\"$ASSAY\" show", &[(name, value)]);
    assert!(shown("TERM", "xterm").contains("\x1b["));
    assert!(shown("NO_COLOR", "").contains("\x1b["), "empty is as good as not set");
    for (name, value) in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let text = shown(name, value);
        assert!(!text.contains('\x1b'), "{name}={value}: {text:?}");
        assert!(text.contains("IOPS"), "{name}={value}: {text:?}");
    }
}

#[test]
fn the_live_view_stays_within_the_terminal_and_goes_away() {
    let place = Place::new();
    let Some(terminal) = Terminal::new("the_live_view_stays_within_the_terminal_and_goes_away") else { return };
    place.file("live.toml", long().replace("300ms", "1200ms").replace("repeats = 3", "repeats = 1"));
    for columns in [80, 60] {
        let script = format!("stty cols {columns}; exec \"$ASSAY\" run --suite live.toml medium");
        let text = terminal.run(&place, &script, &[]);
        let (live, after) = text.rsplit_once("\x1b[2K").expect("a live view");
        assert!(live.contains("random read 4 KiB") && live.contains("IOPS") && live.contains(" left"), "{live:?}");
        let rows = live.split(['\n', '\r']).map(|row| row.replace("\x1b[2K", "").replace("\x1b[1A", ""));
        for row in rows {
            assert!(row.chars().count() <= columns, "{columns}: {row:?}");
        }
        // Nothing of the view is left where the card begins.
        assert!(after.contains("IOPS") && !after.contains(" left"), "{after:?}");
    }
    place.file("leisure.toml", tiny_at_leisure());
    let dumb = terminal.run(&place, "exec \"$ASSAY\" run --suite leisure.toml medium", &[("TERM", "dumb")]);
    assert!(!dumb.contains('\x1b') && dumb.contains("[3/3]"), "{dumb:?}");
    let ascii = terminal.run(&place, "exec \"$ASSAY\" run --suite tiny.toml medium", &[("LC_ALL", "de_DE.ISO-8859-1")]);
    assert!(ascii.is_ascii(), "{:?}", ascii.chars().find(|c| !c.is_ascii()));
}

// --------------------------------------------------------------------------------- help and manuals

#[test]
fn help_has_examples_and_fits_eighty_columns() {
    let place = Place::new();
    for command in COMMANDS {
        for flag in ["-h", "--help"] {
            let done = run(place.assay(command.iter().chain([&flag])));
            let text = &done.succeeds().stdout;
            assert_eq!(done.stderr, "");
            assert!(text.contains("Usage: assay"), "{text}");
            assert!(text.contains("Examples:\n  assay"), "{command:?} has no examples: {text}");
            for line in text.lines() {
                assert!(line.chars().count() <= 80, "{command:?} {flag}: {line}");
            }
        }
    }
    let help = run(place.assay(["--help"])).stdout;
    for code in ["0 ", "1 ", "2 ", "3 ", "4 ", "5 ", "6 ", "7 ", "130"] {
        assert!(help.contains(&format!("\n  {code}")), "exit code {code} is not in the help");
    }
    let nothing = run(place.assay([] as [&str; 0]));
    assert_eq!((nothing.code, nothing.stdout.as_str()), (Some(2), ""));
    assert!(nothing.stderr.contains("Usage: assay"), "{}", nothing.stderr);
}

#[test]
fn examples_in_the_help_are_understood() {
    let place = Place::new();
    for command in COMMANDS {
        let help = run(place.assay(command.iter().chain([&"--help"]))).stdout;
        let examples = help.split("Examples:\n").nth(1).unwrap_or_default();
        // An example may go on in the next line.
        let examples = examples.split("\\\n").map(str::trim_start).collect::<Vec<_>>().join("");
        let examples = format!("  {examples}");
        for line in examples.lines().map_while(|line| line.strip_prefix("  assay")) {
            // Without the words that explain it, and without what the shell does.
            let words =
                line.trim().split("  ").next().unwrap_or_default().split(['>', '|', '&']).next().unwrap_or_default();
            let words = words.replace("/mnt/card", "medium").replace("mine.toml", "tiny.toml");
            let mut checked = place.shell(&format!("exec \"$ASSAY\" {words} --help"));
            checked.stdin(Stdio::null());
            assert_eq!(run(checked).code, Some(0), "assay{line}");
        }
    }
}

#[test]
fn the_version_is_answered_at_once() {
    let place = Place::new();
    let first = format!("assay {}\n", env!("CARGO_PKG_VERSION"));
    let done = run(place.assay(["-V"]));
    assert_eq!(done.succeeds().stdout, first);
    let done = run(place.assay(["--version"]));
    let printed = done.succeeds().stdout.clone();
    let rest = printed.strip_prefix(&first).unwrap_or_else(|| panic!("{printed}"));
    let names: Vec<&str> = rest.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, ["commit", "target", "features"], "{printed}");
    assert!(rest.contains(std::env::consts::ARCH), "{printed}");
    assert!(rest.lines().any(|line| line == "features  without parquet"), "{printed}");
    assert!(!place.data().exists());
}

#[test]
fn completions_are_scripts_that_their_shells_read() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let done = run(place.assay(["completions", shell]));
        let script = &done.succeeds().stdout;
        for word in ["assay", "report", "--max-write"] {
            assert!(script.contains(word.trim_start_matches('-')), "{shell} has no {word}");
        }
        let file = place.file(format!("completions.{shell}"), script);
        let check = match shell {
            "fish" => Command::new("fish").arg("--no-execute").arg(&file).stderr(Stdio::null()).status(),
            "bash" | "zsh" => Command::new(shell).arg("-n").arg(&file).stderr(Stdio::null()).status(),
            _ => continue,
        };
        match check {
            Ok(status) => assert!(status.success(), "{shell} does not read it"),
            Err(_) => skip("completions_are_scripts_that_their_shells_read", &Missing(format!("needs {shell}"))),
        }
    }
}

#[test]
fn manual_pages_are_printed_and_written() {
    let place = Place::new();
    let page = run(place.assay(["man"])).succeeds().stdout.clone();
    assert!(page.contains(".TH ASSAY 1 \"\" \"assay ") && page.contains(".SH SYNOPSIS"), "{page}");
    // A directory is not made: a typing error would make it anywhere.
    run(place.assay(["man", "--dir", "man/man1"])).refuses(2, &["man/man1 is not there", "mkdir -p"]).at_once();
    fs::create_dir_all(place.path().join("man/man1")).unwrap();
    let done = run(place.assay(["man", "--dir", "man/man1"]));
    assert!(done.succeeds().stderr.contains("pages to man/man1"), "{}", done.stderr);
    let pages: Vec<String> = fs::read_dir(place.path().join("man/man1"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    for name in ["assay.1", "assay-run.1", "assay-suite-export.1", "assay-man.1"] {
        assert!(pages.iter().any(|page| page == name), "{name} is not in {pages:?}");
    }
    let run_page = fs::read_to_string(place.path().join("man/man1/assay-run.1")).unwrap();
    for part in
        ["\n.SH EXAMPLES\n.nf\n", "\nassay run \\-\\-json /mnt/card > run.json", ".SH ENVIRONMENT", "EXIT STATUS"]
    {
        assert!(run_page.contains(part), "{part}: {run_page}");
    }
    for page in &pages {
        let lexgrog = Command::new("lexgrog").arg(page).current_dir(place.path().join("man/man1")).output();
        let Ok(lexgrog) = lexgrog else {
            return skip("manual_pages_are_printed_and_written", &Missing("needs lexgrog".to_owned()));
        };
        let said = String::from_utf8_lossy(&lexgrog.stdout);
        let name = page.trim_end_matches(".1");
        assert!(said.contains(&format!("\"{name} - ")), "whatis does not find {page}: {said}");
    }
    run(place.assay(["man", "--dir", "tiny.toml"])).refuses(4, &["tiny.toml"]);
}

// ------------------------------------------------------------------------------------------ suites

#[test]
fn suites_are_listed_shown_and_exported() {
    let place = Place::new();
    let list = run(place.assay(["suite", "list"]));
    for line in list.succeeds().stdout.lines() {
        assert!(line.chars().count() <= 80 && line == line.trim_end(), "{line:?}");
    }
    for name in ["quick", "smoke", "read-only", "blocks"] {
        assert!(list.stdout.lines().any(|line| line.starts_with(name)), "{name}: {}", list.stdout);
        let text = run(place.assay(["suite", "show", name])).succeeds().stdout.clone();
        place.file("copy.toml", &text);
        assert_eq!(place.json(["suite", "show", "copy.toml", "--json"])["name"], *name);
        assert_eq!(run(place.assay(["suite", "export", name, "--format", "toml"])).succeeds().stdout, text);
    }
    let exported = run(place.assay(["suite", "export", "quick", "--format", "fio", "-o", "quick.fio"]));
    assert_eq!(exported.succeeds().stdout, "");
    let fio = Command::new("fio")
        .args(["--parse-only", "quick.fio"])
        .current_dir(place.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    match fio {
        Ok(status) => assert!(status.success(), "fio does not read its job file"),
        Err(_) => skip("suites_are_listed_shown_and_exported", &Missing("needs fio".to_owned())),
    }
}

#[test]
fn the_command_line_changes_what_the_suite_says() {
    let place = Place::new();
    // A busy machine gets all repeats into a minute.
    let record =
        place.measured_with(&["--repeats", "2", "--budget", "61s", "--max-write", "20MiB", "--engine", "sync"]);
    assert_eq!((record.settings().unwrap().repeats, record.settings().unwrap().budget_ns), (2, 61_000_000_000));
    assert_eq!(record.settings().unwrap().max_write_bytes, 20 << 20);
    assert!(record.settings().unwrap().written_bytes <= 20 << 20);
    assert!(record.measurements.iter().all(|m| m.engine == "sync" && m.repeats.len() == 2));
}

#[test]
fn reports_are_written_in_every_format_by_their_ending() {
    let place = Place::new();
    let record = place.measured_with(&["-o", "card.md", "--label", "shop=Müller & Söhne"]);
    assert!(fs::read_to_string(place.path().join("card.md")).unwrap().contains("IOPS"));
    for (file, begins) in [("a.html", "<!"), ("a.md", "#"), ("a.csv", "record,"), ("a.json", "{")] {
        let done = run(place.assay(["report", "-o", file]));
        assert_eq!(done.succeeds().stderr, format!("wrote {file}\n"));
        let text = fs::read_to_string(place.path().join(file)).unwrap();
        assert!(text.to_lowercase().starts_with(begins), "{file}: {}", text.lines().next().unwrap_or_default());
        assert!(text.contains(&record.id), "{file}");
        // Within longer words it stands by chance: `crosscheck` on a host called `check`.
        let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_');
        let hostname = record.host.hostname.as_deref().filter(|name| name.len() > 3);
        assert!(hostname.is_none_or(|name| words.all(|word| word != name)), "{file} names the host");
    }
    let printed = run(place.assay(["report", "shop=müller & söhne", "--format", "csv", "-o", "-"]));
    assert!(
        printed.code == Some(2) || printed.stdout.contains(&record.id),
        "case of other letters: {}",
        printed.stderr
    );
    assert!(
        run(place.assay(["report", "shop=Müller & Söhne", "--format", "csv", "-o", "-"]))
            .succeeds()
            .stdout
            .contains(&record.id)
    );
}

fn interrupted(record: &Record) -> bool {
    matches!(record.outcome, Outcome::Failed { failure: RunFailure::Interrupted, .. })
}
