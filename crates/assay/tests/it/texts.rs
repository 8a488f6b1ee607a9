//! What commands print, as people see it: one snapshot a subject, so that a change of any sentence is reviewed. Figures are
//! of published media and of a fleet that is drawn by a fixed seed. After a change of texts, `INSTA_UPDATE=always cargo test
//! --locked -p assay --test it texts::` writes them all.

use std::fmt::Write as _;

use assay_core::record::Record;
use assay_lab::fleet::{Design, Fleet, Load, Spread, Truth, Units};
use assay_store::{RunState, SqliteStore, Store};

use crate::common::{Place, assert_harmless, run};

const ULTRA: &str = "published:sandisk-ultra-a1";
const EVO: &str = "published:samsung-evo-plus-64gb";

/// Records of three models of several units and of one with a single unit, on several days; the second model is faster,
/// the third as fast as the first.
fn fleet() -> Vec<Record> {
    let spread = Spread { run: 0.01, repeat: 0.01, ..Spread::default() };
    let mut truth = Truth::equal(Load::random_read(), 4, Units::Normal(0.05), spread).with_price("12.90USD");
    truth.loads.extend(Load::class_a1([1.2, 1.4, 0.9]));
    for (model, (name, ratio)) in [("Card A", 1.0), ("Card B", 1.5), ("Card C", 1.0), ("Disk", 0.1)].iter().enumerate()
    {
        truth.models[model].name = (*name).to_owned();
        truth.models[model].ratio = *ratio;
    }
    let mut records = Fleet { truth, design: Design::units(&[3, 3, 2, 1]), seed: 11 }.records();
    for record in &mut records[..1] {
        record.labels.insert("build".to_owned(), "main".to_owned());
    }
    records
}

/// Each command line with what it prints, standard error behind `! `, and an exit code other than 0.
#[track_caller]
fn said(place: &Place, lines: &[&[&str]]) -> String {
    let mut text = String::new();
    for words in lines {
        let done = run(place.assay(*words));
        assert_harmless(&done.stdout);
        let shown: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        writeln!(text, "$ assay {}", shown.join(" ")).unwrap();
        text += &done.stdout;
        for line in done.stderr.lines() {
            writeln!(text, "! {line}").unwrap();
        }
        match done.code {
            Some(0) => text += "\n",
            code => writeln!(text, "exit code {}\n", code.unwrap()).unwrap(),
        }
    }
    // Names of the place itself differ from run to run.
    let text = text.replace(&place.path().to_string_lossy().into_owned(), "PLACE");
    assert!(!text.contains('\u{1b}'), "{text}");
    text.trim_end().to_owned()
}

fn quoted(word: &str) -> String {
    if word.is_empty() || word.contains([' ', ';', '\'', '*', '(']) { format!("'{word}'") } else { word.to_owned() }
}

#[test]
fn compare() {
    let place = Place::with_records(&fleet());
    let text = said(
        &place,
        &[
            &["compare", ULTRA, EVO],
            &["compare", "published:sandisk-extreme-a2", ULTRA, "--load", "random read 4 KiB, 4 jobs"],
            &["compare", "model=Card A", "model=Card B"],
            &["compare", "model=Card A", "model=Disk"],
            &["compare", "all", "--by", "model", "--metric", "p99"],
            &["compare", "model=Card A unit=1", "model=Card A unit=2"],
            &["compare", "model=Card A unit=1", "model=Card A unit=2", "--runs"],
            &["compare", "last", ULTRA],
        ],
    );
    insta::assert_snapshot!("compare", text);
}

#[test]
fn limits() {
    let place = Place::with_records(&fleet());
    let limited = ["compare", "build=main", "last", "--runs", "--fail-if", "slower than 5%"];
    let with = |more: &[&'static str]| -> Vec<&str> { [&limited[..], more].concat() };
    let unknown = ["compare", "model=Card A", "model=Card C", "--fail-if", "slower than 1%", "--fail-if-unknown"];
    let text = said(
        &place,
        &[
            &limited,
            &unknown,
            &with(&["--fail-if", "p99 higher than 10%"]),
            &with(&["--format", "junit"]),
            &with(&["--format", "github"]),
            &[&unknown[..], &["--format", "junit"]].concat(),
        ],
    );
    insta::assert_snapshot!("limits", text);
}

#[test]
fn rank() {
    let place = Place::with_records(&fleet());
    let text = said(
        &place,
        &[
            &["rank"],
            &["rank", "published:"],
            &["rank", ULTRA, EVO, "--load", "random read 256 KiB, 4 jobs", "--ceiling", "23MB/s"],
            &["rank", "model=Disk"],
            &["rank", "--composite", "index", "--all"],
        ],
    );
    insta::assert_snapshot!("rank", text);
}

#[test]
fn plan() {
    let place = Place::with_records(&fleet());
    let new = ["plan", "new", "--units", "Card A=1,2,3;Card B=1,2,3;Card C=1", "--slots", "7", "--suite", "tiny.toml"];
    let made =
        said(&place, &[&[&new[..], &["-o", "plan.toml"]].concat(), &["plan", "show", "plan.toml", "--round", "1"]]);
    let label = place.json(["plan", "show", "plan.toml", "--json"])["plan"].as_str().map(str::to_owned);
    // A record of a cell that ran something else.
    let mut misfit = fleet().remove(0);
    misfit.id = "m1sf1t0000".to_owned();
    for (key, value) in [("model", "Card A"), ("unit", "1"), ("slot", "1"), ("round", "1")] {
        misfit.labels.insert(key.to_owned(), value.to_owned());
    }
    misfit.labels.insert("plan".to_owned(), label.unwrap_or_default());
    let mut store = SqliteStore::open(&place.data()).unwrap();
    store.save(&misfit, RunState::Finished).unwrap();
    drop(store);
    let swap = ["plan", "swap", "--suspect", "Card A=3@7", "--other", "Card A=1@2"];
    let rest = said(
        &place,
        &[
            &["plan", "status", "plan.toml"],
            &["plan", "race", "all"],
            &["plan", "race", "published:"],
            &["plan", "race", "model=Card*"],
            &["plan", "race", "model=Card A", "--cap", "3"],
            &["plan", "race", "model=Card*", "--cap", "3", "--metric", "p99"],
            &swap,
        ],
    );
    let text = format!("{made}\n\n{rest}");
    insta::assert_snapshot!("plan", text);
}

#[test]
fn advise() {
    let place = Place::with_records(&fleet());
    let stick = ["advise", "cache", "published:imation-swivel-usb-16gb", "--before", "published:sata-hdd-500gb"];
    let prices = ["--price", "SanDisk Ultra A1=25USD", "--price", "Samsung EVO Plus 64GB=22USD"];
    let text = said(
        &place,
        &[
            &["advise", "nas", ULTRA, "--nodes", "28", "--link", "1Gbit"],
            &["advise", "nas", "model=Card A", "--nodes", "28", "--link", "1Gbit", "--nas-iops", "130"],
            &["advise", "nas", ULTRA, "--nodes", "4", "--link", "1Gbit", "--what-if", "bus=45MB/s"],
            &[&stick[..], &["--hit", "50%", "--size", "15GB"]].concat(),
            &[&stick[..], &["--feed", "1MB/s"]].concat(),
            &["advise", "cache", "model=Card A", "--before", "model=Disk", "--hit", "50%", "--size", "15GB"],
            &["advise", "cache", "model=Card A", "--before", "model=Disk", "--as", "slog"],
            &["advise", "buy", "model=Card*", "--nodes", "28", "--max-cost", "700USD"],
            &[&["advise", "buy", ULTRA, EVO, "--nodes", "28"][..], &prices].concat(),
            &["advise", "class", ULTRA],
            &["advise", "class", "model=Card A", "--class", "A1"],
            &["advise", "class", "model=Disk"],
        ],
    );
    insta::assert_snapshot!("advise", text);
}

#[test]
fn store() {
    let place = Place::with_records(&fleet());
    let text = said(
        &place,
        &[
            &["list"],
            &["list", "model=Card A", "--aggregate", "trimmed"],
            &["show", "published:sandisk-ultra-a1/1"],
            &["baseline", "list"],
            &["baseline", "set", "main", "build=main"],
            &["baseline", "list"],
            &["baseline", "rm", "main"],
            &["rm", "last"],
        ],
    );
    insta::assert_snapshot!("store", text);
}

#[test]
fn suites_and_what_a_run_would_do() {
    let place = Place::new();
    let listed = said(&place, &[&["suite", "list"]]);
    let dry = said(&place, &[&["run", "--dry-run", "--suite", "tiny.toml", "medium"]]);
    // The medium is that of the machine.
    let (before, rest) = dry.split_once(", on ").unwrap();
    let (_, after) = rest.split_once(": at most").unwrap();
    let text = format!("{listed}\n\n{before}, on MEDIUM: at most{after}");
    insta::assert_snapshot!("suites", text);
}

/// The first part of the sentence in which a check ends; sizes and speeds are those of the machine.
fn outcome(place: &Place, words: &[&str]) -> String {
    let done = run(place.assay(words));
    let rule = done.stdout.rfind('─').map_or(0, |at| at + '─'.len_utf8());
    let last = done.stdout[rule..].split("report ").next().unwrap();
    let sentence = last.split_whitespace().collect::<Vec<_>>().join(" ");
    let sentence = sentence.split(';').next().unwrap().trim_end_matches('.').to_owned();
    format!("$ assay {}\n{sentence}\nexit code {}\n", words.join(" "), done.code.unwrap())
}

#[test]
fn verify() {
    const SIZE: usize = 8 << 20;
    let place = Place::new();
    let limited = ["verify", "--bytes", "8MiB", "--cache", "1MiB", "--fill-system", "--quiet"];
    let mut text = outcome(&place, &[&limited[..], &["--keep", "medium"]].concat());
    let file = place.medium().join(".assay-verify/1.h2w");
    let good = std::fs::read(&file).unwrap();
    assert!(good.len() >= SIZE);
    let read = ["verify", "--only", "read", "--quiet", "medium"];
    let mut lost = good.clone();
    lost[1 << 20..(1 << 20) + 4096].fill(0);
    std::fs::write(&file, &lost).unwrap();
    text += &outcome(&place, &read);
    std::fs::write(&file, vec![0; good.len()]).unwrap();
    text += &outcome(&place, &read);
    text += &said(&place, &[&["verify", "--remove", "medium"], &["verify", "--remove", "medium"]]);
    insta::assert_snapshot!("verify", text);
}

/// Command lines with a mistake in each.
const MISTAKES: [&[&str]; 62] = [
    &["run", "nowhere"],
    &["run", "tiny.toml"],
    &["run", "/dev/null"],
    &["run", "--raw", "medium"],
    &["run", "--suite", "qiuck", "medium"],
    &["run", "--suite", "nowhere.toml", "medium"],
    &["run", "--suite", "empty.toml", "medium"],
    &["run", "--suite", "broken.toml", "medium"],
    &["run", "--suite", "medium", "medium"],
    &["run", "--budget", "1ms", "medium"],
    &["run", "--budget", "soon", "medium"],
    &["run", "--max-write", "1KiB", "medium"],
    &["run", "--max-write", "much", "medium"],
    &["run", "--repeats", "0", "medium"],
    &["run", "--confidence", "90%", "medium"],
    &["run", "--confidence", "5%", "--suite", "soak", "medium"],
    &["run", "--cpus", "0-", "medium"],
    &["run", "--label", "model", "medium"],
    &["run", "--label", "mo del=x", "medium"],
    &["run", "--sensor", "x=1", "medium"],
    &["run", "--note", "x=1", "medium"],
    &["run", "--resume", "medium"],
    &["run", "--overwrite", "/dev/sdz", "medium"],
    &["run", "--engine", "reference", "--suite", "quick", "medium"],
    &["run", "--start-at", "2020-01-01T00:00:00Z", "medium"],
    &["run", "--rendezvous", "127.0.0.1:1", "--node", "a", "--fleet-run", "x", "medium"],
    &["run", "-o", "report.doc", "medium"],
    &["run", "none.fio"],
    &["info", "nowhere"],
    &["verify", "nowhere"],
    &["verify", "tiny.toml"],
    &["verify", "--resume", "medium"],
    &["verify", "--only", "read", "medium"],
    &["verify", "--restore", "none.txt", "medium"],
    &["verify", "--discard", "none.txt"],
    &["verify", "--discard", "nowhere.journal"],
    &["verify", "--quick", "--journal", "x.journal", "medium"],
    &["compare", "last"],
    &["compare", "last", "nothing"],
    &["compare", "last", "last"],
    &["compare", "last", "published:nothing"],
    &["compare", "last~1", "last", "--load", "random write 3 KiB"],
    &["compare", "last~1", "last", "--metric", "p42"],
    &["compare", "last~1", "last", "--fail-if", "worse than 5%"],
    &["compare", "last~1", "last", "--fail-if", "lower than 5%"],
    &["compare", "last~1", "last", "--margin", "x"],
    &["compare", "last~1", "last", "-o", "answer.gif"],
    &["baseline", "set", "ma/in", "last"],
    &["compare", "baseline:main", "last"],
    &["rank", "model=Nothing"],
    &["rank", "--ceiling", "fast"],
    &["plan", "new", "--units", "A", "--slots", "2"],
    &["plan", "new", "--units", "A=1,1", "--slots", "2"],
    &["plan", "new", "--units", "A=1,2", "--slots", "1", "--rounds", "3"],
    &["plan", "show", "tiny.toml"],
    &["plan", "swap", "--suspect", "A", "--other", "A=1@2"],
    &["advise", "nas", "all", "--nodes", "28", "--link", "fast"],
    &["advise", "cache", "model=Card A", "--before", "model=Card*"],
    &["advise", "buy", "published:", "--nodes", "28"],
    &["show", "zzzzzz"],
    &["report", "last", "-o", "last.doc"],
    &["import", "none.txt"],
];

/// One line for each kind of error that a command line can lead to.
#[test]
fn errors() {
    let place = Place::with_records(&fleet());
    place.file("empty.toml", "");
    place.file(
        "broken.toml",
        "name = \"x\"\nversion = 1\npurpose = \"A test\"\nbudget = \"2s\"\nmax_write = \"1\"\nfoo = 1\n",
    );
    place.file("none.txt", "no result\n");
    place.file("none.fio", "[job]\nrw=read\n");
    let mut text = String::new();
    for words in MISTAKES {
        let done = run(place.assay(words));
        assert!(done.stdout.is_empty() || done.stderr.is_empty(), "{words:?}: {}", done.stdout);
        let shown: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        writeln!(text, "$ assay {}\n{}exit code {}\n", shown.join(" "), done.stderr, done.code.unwrap()).unwrap();
    }
    let text = text.replace(&place.path().to_string_lossy().into_owned(), "PLACE");
    let text = text.trim_end();
    insta::assert_snapshot!("errors", text);
}
