//! `assay report --article`: tables that mark what `assay rank` finds, of records of one computer or several, and the articles
//! in `examples/`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use assay_core::observation::Observation;
use assay_core::record::Record;
use assay_core::sensor::SensorKind;
use assay_lab::fleet::{Design, Fleet, Load, Spread, Truth, Units};
use serde_json::Value;

use crate::common::pages::blocks;
use crate::common::{Place, as_nobody, nobody_can_run, run};

/// Two models that are alike, and one at half their speed, three units each.
fn measured() -> Vec<Record> {
    let spread = Spread { run: 0.01, repeat: 0.01, ..Spread::default() };
    let mut truth = Truth::equal(Load::random_read(), 3, Units::Normal(0.03), spread).with_price("12.90USD");
    truth.loads = Load::eight();
    truth.models[2].ratio = 0.5;
    truth.models[2].price = None;
    Fleet { truth, design: Design::units(&[3, 3, 3]), seed: 3 }.records()
}

fn written(place: &Place, name: &str) -> String {
    fs::read_to_string(place.path().join("cards").join(name)).unwrap()
}

/// Rows of a CSV by the names of its columns; no cell of these tables holds a line break.
fn rows(csv: &str) -> Vec<BTreeMap<String, String>> {
    let cells = |line: &str| {
        let (mut cells, mut quoted) = (vec![String::new()], false);
        for c in line.chars() {
            match c {
                '"' => quoted = !quoted,
                ',' if !quoted => cells.push(String::new()),
                c => cells.last_mut().unwrap().push(c),
            }
        }
        cells
    };
    let mut lines = csv.lines().map(cells);
    let head = lines.next().unwrap();
    lines.map(|row| head.iter().cloned().zip(row).collect()).collect()
}

/// The models that a ranking puts first, by load: what is to be marked, and as what.
fn ranked(ranking: &Value) -> BTreeMap<String, BTreeSet<(String, String)>> {
    let all = std::iter::once(&ranking["primary"]).chain(ranking["exploratory"].as_array().unwrap());
    let first = |load: &Value| {
        let models: Vec<&Value> = load["models"].as_array().unwrap().iter().filter(|m| m["layer"] == 1).collect();
        let word = match models.len() {
            1 => "best",
            _ if models.iter().all(|m| m["at_ceiling"] == true) => "tie at the bus",
            _ => "tie",
        };
        models.iter().map(|m| (m["model"].as_str().unwrap().to_owned(), word.to_owned())).collect()
    };
    all.map(|load| (load["title"].as_str().unwrap().to_owned(), first(load))).collect()
}

/// The models that a table marks, by load.
fn marked(table: &[BTreeMap<String, String>]) -> BTreeMap<String, BTreeSet<(String, String)>> {
    let mut all: BTreeMap<String, BTreeSet<(String, String)>> = BTreeMap::new();
    for row in table {
        let of = all.entry(row["load"].clone()).or_default();
        of.extend((!row["first_place"].is_empty()).then(|| (row["model"].clone(), row["first_place"].clone())));
    }
    all
}

#[test]
fn best_and_ties_are_those_of_the_ranking() {
    let place = Place::with_records(&measured());
    run(place.assay(["report", "all", "--article", "cards"])).succeeds();
    let table = rows(&written(&place, "table.csv"));
    let (marked, ranked) = (marked(&table), ranked(&place.json(["rank", "all", "--json"])));
    assert_eq!(marked, ranked);
    let words: BTreeSet<&str> = ranked.values().flatten().map(|(_, word)| word.as_str()).collect();
    assert_eq!(ranked.len(), 8);
    assert!(words.contains("tie"), "{ranked:?}");
    // A unit has its figure as its record has it, a model with the interval over its units.
    let page = written(&place, "README.md");
    assert_eq!(page.matches("\n| Model").count(), 2 * 12 + 9, "{page}");
    assert!(table.iter().all(|row| !row["low"].is_empty() && row["n"] == "3" && row["level"] == "0.95"), "{page}");
    assert!(page.contains(" tie** |") && page.contains("tie: assay rank cannot separate these models"), "{page}");
    let html = written(&place, "index.html");
    assert_eq!(html.matches("\"pill\">tie</span>").count(), page.matches(" tie** |").count());
}

/// The article names the odd units that a ranking of the same records names.
#[test]
fn an_odd_unit_is_named_as_in_the_ranking() {
    let place = Place::new();
    let cards = ["published:sandisk-ultra-a1", "published:samsung-evo-plus-64gb", "published:sandisk-extreme-a2"];
    run(place.assay(["report"].iter().chain(&cards).chain(&["--article", "cards"]))).succeeds();
    let ranked = run(place.assay(["rank"].iter().chain(&cards))).succeeds().stdout.clone();
    let words = |text: &str| text.replace('\\', "").split_whitespace().collect::<Vec<_>>().join(" ");
    let said = "unit 3 (published) of 3 differs from the others in writes by";
    let ranked = words(&ranked);
    let sentence = &ranked[ranked.find(said).unwrap()..];
    let sentence = &sentence[..sentence.find("swap slots to check").unwrap()];
    for file in ["README.md", "index.html"] {
        assert!(words(&written(&place, file)).contains(sentence), "{file}: {sentence}");
    }
}

#[test]
fn what_is_known_of_media_has_a_column_each_and_nothing_else_has() {
    let mut records = measured();
    run(Place::with_records(&records).assay(["report", "all", "--article", "cards"])).succeeds();
    records[0].labels.insert("colour".to_owned(), "red".to_owned());
    records[0].medium.health.insert("life_time".to_owned(), "0x01 0x01".to_owned());
    records[0].medium.health.insert("manfid".to_owned(), "0x1b".to_owned());
    for (name, celsius) in [("temperature", 46.0), ("temperature", 41.5), ("room", 60.0)] {
        let mut sensor = SensorKind::Temperature.series(name, "note");
        sensor.samples.push((0, celsius));
        records[0].sensors.push(sensor);
    }
    let fake = Truth::equal(Load::random_read(), 1, Units::Normal(0.03), Spread::default()).with_fake(0, 0);
    let check = Fleet { truth: fake, design: Design::units(&[1]), seed: 4 }.records().remove(0);
    records[4].verification = check.verification;
    let place = Place::with_records(&records);
    run(place.assay(["report", "all", "--article", "cards"])).succeeds();
    let page = written(&place, "README.md");
    let media = page.split("## The media").nth(1).unwrap().split("\n## ").next().unwrap();
    let head = "| medium | temperature, at most | price | last check | health | labels |";
    assert!(media.contains(head), "{media}");
    let (model, other) = (records[0].model(), records[4].model());
    let row = format!("| {model}, unit 1 | 46.0 °C | 12.90USD |  | life time 0x01 0x01 | colour=red |");
    assert!(media.contains(&row), "{row}\n{media}");
    assert!(media.contains(&format!("| {other}, unit 2 |  | 12.90USD | fake |")), "{media}");
    // Figures of a fake stand in no table, and below it is said why.
    let table = rows(&written(&place, "table.csv"));
    let of_fake = table.iter().filter(|row| row["model"] == other && row["unit"] == "2");
    assert_eq!(of_fake.count(), 0);
    assert!(page.split("## Left out").nth(1).unwrap().contains(&records[4].id), "{page}");
    assert_eq!(marked(&table), ranked(&place.json(["rank", "all", "--json"])));
}

/// Two models with two units each. Each unit was on two boards and on a laptop.
fn on_computers() -> Vec<Record> {
    let spread = Spread { run: 0.01, repeat: 0.01, ..Spread::default() };
    let boards = [("Raspberry Pi 3B+", [1.0, 1.0]), ("Raspberry Pi 4", [1.0, 1.0]), ("ThinkPad X1", [1.0, 2.0])];
    let mut all = Vec::new();
    for (at, (board, ratios)) in boards.into_iter().enumerate() {
        let mut truth = Truth::equal(Load::sequential_read(), 2, Units::Normal(0.01), spread);
        truth.loads.push(Load::random_read());
        for (model, ratio) in ratios.into_iter().enumerate() {
            truth.models[model].ratio = ratio * (1.0 + at as f64);
        }
        let mut records = Fleet { truth, design: Design::units(&[2, 2]), seed: 20 + at as u64 }.records();
        for record in &mut records {
            record.host.board = Some(board.to_owned());
        }
        all.extend(records);
    }
    all
}

#[test]
fn a_model_on_several_computers_has_a_column_for_each() {
    let records = on_computers();
    let place = Place::with_records(&records);
    let said = place.json(["report", "all", "--article", "cards", "--json"]);
    let page = written(&place, "README.md");
    let head = page.lines().find(|line| line.starts_with("| medium |")).unwrap();
    for board in ["Raspberry Pi 3B+, ", "Raspberry Pi 4, ", "ThinkPad X1, "] {
        assert!(head.contains(board), "{head}");
    }
    assert_eq!(page.matches("\n| medium | ").count(), 2, "a table for each load: {page}");
    // What is marked on a computer is what the ranking of its records alone says.
    let table = rows(&written(&place, "table.csv"));
    for board in ["Raspberry Pi 3B+", "Raspberry Pi 4", "ThinkPad X1"] {
        let own = records.iter().filter(|r| r.host.board.as_deref() == Some(board));
        let own: Vec<Observation> = own.map(Observation::from).collect();
        let report =
            assay_analysis::rank::rank(&own.iter().collect::<Vec<_>>(), &assay_analysis::rank::RankOptions::default())
                .unwrap();
        let here: Vec<_> = table.iter().filter(|row| row["host"] == board).cloned().collect();
        assert_eq!(marked(&here), ranked(&serde_json::to_value(&report).unwrap()), "{board}");
    }
    let best = table.iter().filter(|row| row["first_place"] == "best").map(|row| row["host"].as_str());
    assert_eq!(best.collect::<BTreeSet<_>>(), BTreeSet::from(["ThinkPad X1"]));
    assert_eq!(said["findings"].as_array().unwrap().len(), 6);
    assert!(written(&place, "dots.svg").contains("on ThinkPad X1"));
}

#[test]
fn json_tells_what_was_written() {
    let place = Place::with_records(&measured());
    let said = place.json(["report", "all", "--article", "cards", "--json"]);
    assert_eq!(said["directory"], "cards");
    assert_eq!(said["records"].as_array().unwrap().len(), 9);
    let mut files = BTreeSet::new();
    for file in said["files"].as_array().unwrap() {
        let name = file["file"].as_str().unwrap();
        assert_eq!(file["bytes"], fs::metadata(place.path().join("cards").join(name)).unwrap().len(), "{name}");
        let picture = name.ends_with(".svg") || name.ends_with(".gif");
        assert_eq!(file["caption"].is_object(), picture, "{name}");
        files.insert(name.to_owned());
    }
    let there = fs::read_dir(place.path().join("cards")).unwrap();
    assert_eq!(files, there.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect());
    for name in
        ["README.md", "index.html", "table.csv", "results.csv", "heat.svg", "dots.svg", "curves.svg", "sweep.gif"]
    {
        assert!(files.contains(name), "{name}: {files:?}");
    }
    let found: BTreeSet<&str> =
        said["findings"].as_array().unwrap().iter().map(|finding| finding["found"].as_str().unwrap()).collect();
    assert!(found.contains("tie"), "{found:?}");
    // Captions say what is seen, the number of values, and the unit.
    let page = written(&place, "README.md");
    assert!(page.contains("![Each unit a row, each repeat a dot](dots.svg)\n\nEach unit a row, each repeat a dot. "));
    assert!(page.contains("IOPS; n = 3 each, bars are 95 % intervals; circles are repeats. Measured on "), "{page}");
}

#[test]
fn an_article_takes_the_place_of_an_article_and_of_nothing_else() {
    let place = Place::with_records(&measured());
    let article = || place.assay(["report", "all", "--article", "cards"]);
    fs::create_dir(place.path().join("cards")).unwrap();
    place.file("cards/README.md", "mine");
    run(article()).refuses(2, &["cards/README.md", "not written as a part of this article", "another directory"]);
    // Neither a pipe without a writer nor a link to another file is an article.
    fs::remove_file(place.path().join("cards/README.md")).unwrap();
    run(place.shell("mkfifo cards/README.md")).succeeds();
    run(article()).refuses(2, &["cards/README.md", "not written as a part of this article"]).at_once();
    fs::remove_file(place.path().join("cards/README.md")).unwrap();
    place.file("mine.md", "mine\n");
    std::os::unix::fs::symlink("../mine.md", place.path().join("cards/README.md")).unwrap();
    run(article()).refuses(2, &["cards/README.md", "not written as a part of this article"]);
    fs::remove_file(place.path().join("cards/README.md")).unwrap();
    place.file("cards/README.md", "mine");
    assert_eq!(written(&place, "README.md"), "mine");
    assert_eq!(fs::read_dir(place.path().join("cards")).unwrap().count(), 1, "nothing is written then");
    fs::rename(place.path().join("cards/README.md"), place.path().join("cards/notes.md")).unwrap();
    run(article()).succeeds();
    let first = written(&place, "index.html");
    run(article()).succeeds();
    assert_eq!(written(&place, "index.html"), first, "the same records make the same article");
    assert_eq!(written(&place, "notes.md"), "mine");
    // What the user put there or changed since stays, also in an article's directory.
    for name in ["heat.svg", "table.csv", "README.md"] {
        let own = written(&place, name);
        place.file(format!("cards/{name}"), format!("mine\n{own}"));
        run(article()).refuses(2, &[name, "was changed", "remove it"]);
        place.file(format!("cards/{name}"), own);
    }
    let heat = place.path().join("cards/heat.svg");
    fs::remove_file(&heat).unwrap();
    std::os::unix::fs::symlink("../mine.md", &heat).unwrap();
    run(article()).refuses(2, &["heat.svg", "not written as a part of this article"]);
    assert_eq!(fs::read_to_string(place.path().join("mine.md")).unwrap(), "mine\n");
    fs::remove_file(&heat).unwrap();
    // One that was cut off before its last file is written again.
    fs::remove_file(place.path().join("cards/README.md")).unwrap();
    run(article()).succeeds();
    assert!(heat.is_file() && written(&place, "README.md").contains("heat.svg"));
    // Other records make another article in its place.
    run(place.assay(["report", "published:sandisk-ultra-a1", "--article", "cards"])).succeeds();
}

#[test]
fn a_directory_that_cannot_be_is_told_in_a_line() {
    let test = "a_directory_that_cannot_be_is_told_in_a_line";
    let place = Place::with_records(&measured()[..2]);
    place.file("file", "mine");
    let into = |directory: &str| run(place.assay(["report", "all", "--article", directory]));
    into("no/such/cards").refuses(4, &["no/such/cards cannot be made", "name a directory in one that exists"]);
    into("file").refuses(4, &["file is no directory"]);
    into("file/cards").refuses(4, &["file/cards cannot be made"]);
    for other in [&["-o", "x.md"][..], &["--format", "md"], &["--picture", "dots"], &["--load", "random read"]] {
        let command = [&["report", "all", "--article", "cards"], other].concat();
        run(place.assay(command)).refuses(2, &["--article", other[0], "cannot be used with"]);
    }
    run(place.assay(["report", "nobody", "--article", "cards"])).refuses(2, &["nobody"]);
    assert!(!place.path().join("cards").exists());
    if nobody_can_run(test, &place) {
        let closed = place.path().join("closed");
        fs::create_dir(&closed).unwrap();
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o555)).unwrap();
        let mut command = place.assay(["report", "published:sandisk-ultra-a1", "--article", "closed"]);
        command.env("ASSAY_DATA", place.medium());
        run(as_nobody(command)).refuses(4, &["closed/index.html cannot be written"]);
        assert_eq!(fs::read_dir(&closed).unwrap().count(), 0);
    }
}

// ------------------------------------------------------------------------------------- the articles in `examples/`

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/articles")
}

fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(directory).into_iter().flatten().map(|entry| entry.unwrap().path());
    entries.map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap())).collect()
}

/// Of a generated file.
const MOST_BYTES: usize = 1_000_000;

#[test]
fn the_articles_in_the_examples_are_what_their_commands_write() {
    let place = Place::new();
    let page = fs::read_to_string(examples().join("README.md")).unwrap();
    let commands: Vec<String> = blocks(&page).into_iter().filter(|line| line.starts_with("assay report ")).collect();
    assert_eq!(commands.len(), 4, "{commands:?}");
    for command in commands {
        let words: Vec<&str> = command.split_whitespace().skip(1).collect();
        run(place.assay(&words)).succeeds();
        let name = words[words.len() - 1];
        let (made, committed) = (files(&place.path().join(name)), examples().join(name));
        assert!(made.len() >= 7 && made.values().all(|content| content.len() < MOST_BYTES), "{name}");
        if std::env::var_os("ASSAY_BLESS").is_some() {
            let _ = fs::remove_dir_all(&committed);
            fs::create_dir_all(&committed).unwrap();
            made.iter().for_each(|(file, content)| fs::write(committed.join(file), content).unwrap());
        }
        let there = files(&committed);
        let other: Vec<&String> = made
            .keys()
            .chain(there.keys())
            .filter(|file| made.get(*file) != there.get(*file))
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        assert!(other.is_empty(), "{name}: {other:?} differ; examples/articles/README.md says how they are written");
    }
}

// What `docs/results/2026-11-27-articles.md` says of published figures is what the program answers.

/// Command lines with the answers under them.
fn answers(page: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for line in page.lines().filter_map(|line| line.strip_prefix("    ")) {
        match (line.strip_prefix("> "), found.last_mut()) {
            (Some(answer), Some((_, last))) => last.push_str(answer),
            _ => found.push((line.to_owned(), String::new())),
        }
    }
    found
}

/// Lines end where the terminal does.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn articles_are_decided_as_the_page_says() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results/2026-11-27-articles.md");
    let page = std::fs::read_to_string(page).unwrap();
    let place = Place::new();
    let program = Path::new(crate::common::ASSAY).parent().unwrap();
    let all = answers(&page);
    assert!(all.len() > 20, "only {} commands were found", all.len());
    let mut wrong = Vec::new();
    for (line, answer) in all {
        assert!(!answer.is_empty(), "no answer: {line}");
        let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
        let mut shell = Command::new("sh");
        shell.args(["-c", &line]).env("PATH", path).env("ASSAY_DATA", place.data()).env("HOME", place.path());
        shell.env("LC_ALL", "C.UTF-8").env_remove("COLUMNS");
        let said = one_line(&String::from_utf8(shell.output().unwrap().stdout).unwrap());
        if !said.starts_with(&answer) {
            wrong.push(format!("{line}\n  the page: {answer}\n  assay: {said}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
