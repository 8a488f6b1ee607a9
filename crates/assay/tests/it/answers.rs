//! Every command with an answer writes it as a page, Markdown, CSV and JSON, by the extension of the file.

use crate::common::{Place, assert_harmless, run};
use assay_store::{RunState, SqliteStore, Store};

const ULTRA: &str = "published:sandisk-ultra-a1";
const EVO: &str = "published:samsung-evo-plus-64gb";

/// A place with records of two models, which name no identity but a host and a serial number.
fn place() -> Place {
    let place = Place::new();
    std::fs::create_dir_all(place.data()).unwrap();
    let mut store = SqliteStore::open(&place.data()).unwrap();
    for query in ["sandisk-ultra-a1", "samsung-evo-plus-64gb"] {
        for (at, mut record) in assay_analysis::published_records(query).unwrap().into_iter().enumerate() {
            record.id = format!("{}{at}", &query[..3]);
            record.created = "2026-01-02T03:04:05Z".to_owned();
            record.host.hostname = Some("secrethost".to_owned());
            record.medium.unit = Some(format!("SERIAL-0000{at}"));
            store.save(&record, RunState::Finished).unwrap();
        }
    }
    let new = ["plan", "new", "--units", "A=1,2;B=1,2", "--slots", "4", "--rounds", "2", "-o", "plan.toml"];
    run(place.assay(new)).succeeds();
    place
}

/// Each answer with the exit code of its command.
fn answers() -> Vec<(Vec<&'static str>, i32)> {
    vec![
        (vec!["compare", "model=SanDisk Ultra A1", "model=Samsung EVO Plus 64GB"], 0),
        (vec!["rank"], 0),
        (vec!["plan", "status", "plan.toml"], 1),
        (vec!["plan", "race", "all"], 0),
        (vec!["plan", "swap", "--suspect", "A=1@1", "--other", "A=2@2"], 0),
        (vec!["advise", "nas", "all", "--nodes", "28", "--link", "1Gbit"], 0),
        (vec!["advise", "cache", ULTRA, "--before", EVO, "--hit", "50%"], 2),
        (vec!["advise", "cache", "published:imation-swivel-usb-16gb", "--before", "published:sata-hdd-500gb"], 1),
        (vec!["advise", "buy", "all", "--nodes", "2", "--price", "SanDisk Ultra A1=9USD", "--price", EVO_PRICE], 0),
        (vec!["advise", "class", "all"], 0),
        (vec!["list"], 0),
    ]
}

const EVO_PRICE: &str = "Samsung EVO Plus 64GB=8USD";

#[test]
fn every_answer_is_a_page_markdown_csv_and_json() {
    let place = place();
    for (command, code) in answers().into_iter().filter(|(_, code)| *code != 2) {
        let read = |name: &str| {
            let done = run(place.assay(command.iter().chain(&["-o", name])));
            assert_eq!(done.code, Some(code), "{command:?}: {}", done.stderr);
            assert!(done.stdout.is_empty() && done.stderr.contains("wrote"), "{command:?}: {}", done.stdout);
            let text = std::fs::read_to_string(place.path().join(name)).unwrap();
            assert!(!text.contains("SERIAL") && !text.contains("secrethost"), "{command:?} {name}: {text}");
            text
        };
        let page = read("a.html");
        assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<table"), "{command:?}");
        assert!(!page.contains('\u{fffd}') && !page.contains("<script"), "{command:?}");
        let markdown = read("a.md");
        assert!(markdown.starts_with("# ") && markdown.contains("\n\n**"), "{command:?}: {markdown}");
        assert_harmless(&markdown);
        let table = read("a.csv");
        let columns = table.lines().next().unwrap().split(',').count();
        assert!(columns > 3 && table.lines().count() > 1, "{command:?}: {table}");
        // No cell of these holds a comma in quotes but names of loads.
        let cells = |line: &str| line.split('"').step_by(2).map(|part| part.matches(',').count()).sum::<usize>() + 1;
        assert!(table.lines().all(|line| cells(line) == columns), "{command:?}: {table}");
        let json: serde_json::Value = serde_json::from_str(&read("a.json")).unwrap();
        assert!(json.is_object() || json.is_array(), "{command:?}");
        // The page, the Markdown and the terminal say the same first.
        let finding = page.split_once("<h1>").unwrap().1.split_once("</h1>").unwrap().0.replace('\u{a0}', " ");
        let finding = finding.replace("<span class=\"option\">", "").replace("</span>", "");
        let words = run(place.assay(&command)).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        if command[0] != "list" {
            let start: String = finding.replace("&quot;", "\"").replace("&gt;", ">").replace("&lt;", "<");
            assert!(words.starts_with(&start), "{command:?}: {start}\n{words}");
        }
    }
}

#[test]
fn a_wrong_extension_is_told_what_is_possible_before_anything_is_read() {
    let place = Place::new();
    for (command, _) in answers() {
        let possible =
            if ["compare", "rank"].contains(&command[0]) { ".svg or .png" } else { ".html, .md, .csv or .json" };
        run(place.assay(command.iter().chain(&["-o", "a.xlsx"]))).refuses(2, &["a.xlsx", possible]);
        run(place.assay(command.iter().chain(&["-o", "a.md", "--json"]))).refuses(2, &["cannot be used with"]);
        run(place.assay(command.iter().chain(&["--identities"]))).refuses(2, &["--output"]);
    }
}

/// Figures that ship with the program need no store, and no place for one.
#[test]
fn published_figures_are_answered_without_a_home() {
    let place = Place::new();
    let without = |arguments: &[&str]| {
        let mut command = place.assay(arguments);
        command.env_remove("HOME").env_remove("XDG_DATA_HOME").env_remove("ASSAY_DATA");
        let done = run(command);
        assert_eq!(done.code, Some(0), "{arguments:?}: {}", done.stderr);
        done.stdout
    };
    assert!(without(&["list", "published:"]).lines().count() > 16);
    assert!(without(&["list", ULTRA, "--json"]).contains("published:sandisk-ultra-a1/3"));
    let card = without(&["show", "published:sandisk-ultra-a1/3"]);
    assert!(card.contains("SanDisk Ultra A1") && card.contains("SDR25"), "{card}");
    without(&["rank", ULTRA, EVO]);
    without(&["report", ULTRA, "-o", "ultra.html"]);
    assert!(std::fs::read_to_string(place.path().join("ultra.html")).unwrap().contains("<h1>"));
}

#[test]
fn a_hyphen_is_standard_output_wherever_a_file_is_named() {
    let place = place();
    for (arguments, code) in answers().into_iter().filter(|(_, code)| *code != 2) {
        let plain = run(place.assay(&arguments));
        let shared = run(place.assay([&arguments[..], &["-o", "-"]].concat()));
        assert_eq!((plain.code, shared.code), (Some(code), Some(code)), "{arguments:?}: {}", shared.stderr);
        assert!(!shared.stdout.is_empty() && !shared.stdout.contains("SERIAL-"), "{arguments:?}: {}", shared.stdout);
        let kept = run(place.assay([&arguments[..], &["-o", "-", "--identities"]].concat()));
        assert_eq!(kept.stdout, plain.stdout, "{arguments:?}");
    }
    let new = ["plan", "new", "--units", "A=1,2;B=1,2", "--slots", "4", "--rounds", "2"];
    for arguments in [&new[..], &["suite", "export", "quick", "--format", "fio"]] {
        let plain = run(place.assay(arguments)).stdout;
        assert_eq!(run(place.assay([arguments, &["-o", "-"]].concat())).stdout, plain, "{arguments:?}");
    }
    for command in ["run", "verify"] {
        run(place.assay([command, "-o", "-", "medium"])).refuses(2, &["standard output has the card"]);
    }
    assert!(!place.path().join("-").exists());
}
