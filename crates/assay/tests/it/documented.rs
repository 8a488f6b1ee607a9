//! Each command line in README and docs does what it says there. What a reader has and this machine has not, such as a
//! card at `/mnt/card`, is put in its place; `docs/results/2026-11-27-articles.md` has a test of its own, which compares the
//! answers.

use std::collections::BTreeSet;
use std::path::Path;

use assay_core::record::Record;
use assay_lab::fleet::{Design, Fleet, Load, Spread, Truth, Units};
use assay_store::{RunState, SqliteStore, Store};

use crate::common::pages::{blocks, pages};
use crate::common::{Place, run};

/// Lines that need what is made by another test, which runs them: how they begin, and where.
const ELSEWHERE: [(&str, &str); 20] = [
    ("assay endure --read-back", "retention.rs"),
    ("assay endure --resume", "endure.rs"),
    ("assay endure --status 4f0c", "endure.rs"),
    ("assay endure /dev/sdX", "endure.rs"),
    ("assay endure /mnt/card", "endure.rs"),
    // Of the crate assay-powercut.
    ("assay powercut", "kernel.rs"),
    ("assay serve", "serve.rs"),
    ("assay fleet check -i", "fleet_ansible.rs"),
    ("assay fleet run -i", "fleet_ansible.rs"),
    ("assay fleet clean -i", "fleet_ansible.rs"),
    ("assay fleet run --via slurm", "slurm.rs"),
    ("assay login", "submit.rs"),
    ("assay rank site:", "submit.rs"),
    ("assay submit", "submit.rs"),
    ("assay verify --quick /dev/sdX", "verify.rs"),
    ("assay verify --restore", "restore.rs"),
    ("assay watch ack", "watch.rs"),
    ("assay watch add", "watch.rs"),
    ("assay watch remove", "watch.rs"),
    ("assay watch status card", "watch.rs"),
];

/// How lines end that do not end with 0 here: slow disks are no A1, limits are missed, plans go on.
const CODES: [(&str, &[i32]); 7] = [
    ("assay advise class last", &[1]),
    ("assay compare baseline:main", &[7]),
    ("assay compare build=main", &[7]),
    ("assay compare last~1 last --runs --fail-if", &[7]),
    ("assay fleet run --resume", &[0, 8]),
    ("assay fleet run node1 node2 node3 node4 node5", &[8]),
    ("assay plan status", &[1]),
];

/// Lines of which the output is of another run than the one here: that of the picture `docs/img/page.svg`. A test of
/// assay-report, `the_summary_in_the_readme_is_as_the_program_prints_it`, puts its figures as the program does.
const EXAMPLES: [&str; 2] = ["assay run /mnt/card", "assay run /mnt/card --label model='Simulated SD card'"];

/// Records of the cards and disks that the pages speak of, newest last.
fn fleet(seed: u64) -> Vec<Record> {
    let spread = Spread { run: 0.01, repeat: 0.01, ..Spread::default() };
    let mut truth = Truth::equal(Load::random_read(), 4, Units::Normal(0.05), spread).with_price("12.90USD");
    truth.loads.extend(Load::class_a1([2.0, 2.0, 2.0]));
    let models = [("SanDisk Ultra A1", 1.0), ("EVO", 1.2), ("Stick", 1.1), ("Disk", 0.1)];
    for (model, (name, ratio)) in models.into_iter().enumerate() {
        truth.models[model].name = name.to_owned();
        truth.models[model].ratio = ratio;
    }
    let mut records = Fleet { truth, design: Design::units(&[3, 3, 1, 1]), seed }.records();
    for record in &mut records {
        record.labels.insert("power".to_owned(), "1.2W".to_owned());
    }
    for record in &mut records[..2] {
        record.labels.insert("build".to_owned(), "main".to_owned());
    }
    records
}

/// A place with what the pages take for granted: records, results of other tools, nodes.
fn prepared() -> Place {
    let place = Place::with_records(&fleet(7));
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assay-import/samples");
    let sample = |name: &str| std::fs::read(samples.join(name)).unwrap();
    let put = |name: &str, content: Vec<u8>| {
        std::fs::create_dir_all(place.path().join(name).parent().unwrap()).unwrap();
        place.file(name, content);
    };
    put("cdm.txt", sample("crystaldiskmark/blog-v8-one-run-md.txt"));
    put("theirs.txt", sample("crystaldiskmark/blog-v8-one-run-md.txt"));
    for run in 1..=3_u8 {
        let copied = |seconds: f64| {
            let rate = 104.8576 / seconds;
            format!("104857600 bytes (105 MB, 100 MiB) copied, {seconds:.4} s, {rate:.1} MB/s\n").into_bytes()
        };
        put(&format!("results/Card/1/output_{run}.txt"), copied(5.0 + f64::from(run)));
        put(&format!("logs/Card/output_{run}.txt"), copied(9.0 + f64::from(run)));
    }
    put("mine.json", run(place.assay(["show", "last", "--json"])).succeeds().stdout.clone().into_bytes());
    let units = "unit,model,site,cycles,first_error,end,cause\n1,Ultra,a,3400,2100,died,errors\n2,Ultra,b,4100,,running,\n\
        3,Ultra,a,3900,3500,censored,reader\n1,EVO,b,900,310,died,read_only\n2,EVO,a,2000,700,died,vanished\n";
    put("units.csv", units.into());
    let life = r#"{"schema":1,"id":"00ff","started":"2026-01-01T00:00:00Z","updated":"2026-02-01T00:00:00Z","model":"Ultra",
        "unit":"4","capacity_bytes":10,"area_bytes":10,"load":{"load":"whole"},"cycles":900,"written_bytes":9000,
        "uncounted_bytes":0,"read_bytes":9000,"failed_sectors":1,"sectors":1,"kinds":{"zeros":1},"healed":0,
        "milestones":{"first_error":{"cycle":700,"written_bytes":7000}},"end":{"state":"running"}}"#;
    put("endurance/4.json", life.into());
    (1..=5).for_each(|node| std::fs::create_dir(place.path().join(format!("node{node}"))).unwrap());
    place
}

/// The line as it is run here: nodes are directories, runs are short, and names are those of what was made.
fn here(line: &str, place: &Place) -> String {
    let word = |word: &str| match word.strip_prefix("node") {
        Some(number) if number.parse::<u8>().is_ok() => format!("{word}={word}"),
        _ => word.to_owned(),
    };
    let words: Vec<String> = line.split(' ').map(word).collect();
    let mut line = words.join(" ").replace("--suite quick", "--suite tiny.toml");
    for directory in ["/mnt/card", "/mnt/sd", "/mnt/nas"] {
        line = line.replace(directory, "medium");
    }
    if line.contains("7k2m9") {
        let list = place.json(["fleet", "list", "--json"]);
        let last = list["runs"].as_array().unwrap().last().unwrap_or_else(|| panic!("no run: {line}"));
        line = line.replace("7k2m9", last["run"].as_str().unwrap());
    }
    if line.contains("plan=HASH") {
        let status = place.json(["plan", "status", "plan.toml", "--json"]);
        let plan = status["plan"].as_str().unwrap();
        let mut store = SqliteStore::open(&place.data()).unwrap();
        for mut record in fleet(8) {
            record.labels.insert("plan".to_owned(), plan.to_owned());
            store.save(&record, RunState::Finished).unwrap();
        }
        line = line.replace("HASH", plan);
    }
    let short = |line: String, begin: &str, more: &str| match line.strip_prefix(begin) {
        Some(rest) if !line.contains("tiny.toml") => format!("{begin}{more}{rest}"),
        _ => line,
    };
    line = short(line, "assay plan new ", "--suite tiny.toml ");
    line = short(line, "assay run ", "--suite tiny.toml ");
    if line.starts_with("assay fleet run ") && !line.contains("--resume") {
        line = line.replacen("fleet run", "fleet run --via local", 1);
        if !line.contains("tiny.toml") && !line.contains("--rotate") {
            line += " -- --suite tiny.toml";
        }
    }
    line
}

/// Command lines of a page, each with the output that is printed under it.
fn lines(page: &str) -> Vec<(String, Vec<String>)> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    let mut shown = false;
    for line in blocks(page) {
        if let Some(command) = line.strip_prefix("$ ") {
            found.push((command.to_owned(), Vec::new()));
            shown = true;
        } else if line.trim_start().starts_with("assay ") {
            // Columns of a table or words beside a command stand two blanks behind it, remarks behind a `#`.
            let line = line.trim().split("  ").next().unwrap_or_default();
            found.push((line.split(" # ").next().unwrap_or_default().to_owned(), Vec::new()));
            shown = false;
        } else if shown && let Some((_, output)) = found.last_mut() {
            output.push(line);
        }
    }
    found
}

/// What README prints under a command line.
pub(crate) fn printed(command: &str) -> Vec<String> {
    let (_, page) =
        pages().into_iter().find(|(file, _)| file.ends_with("README.md") && !file.ends_with("docs/README.md")).unwrap();
    lines(&page).into_iter().find(|(line, _)| line == command).unwrap_or_else(|| panic!("README has no {command}")).1
}

/// Whether lines are those that a page prints, in which `…` stands for any.
pub(crate) fn is_printed(output: &[String], is: &[&str]) -> bool {
    let mut parts = output.split(|line| line == "…");
    let Some(mut rest) = parts.next().and_then(|first| strip(is, first)) else { return false };
    let mut whole = true;
    for part in parts {
        let Some(after) = (0..=rest.len()).find_map(|at| strip(&rest[at..], part)) else { return false };
        rest = after;
        // A page ends with `…` where lines follow that it leaves out.
        whole = !part.is_empty();
    }
    rest.is_empty() == whole
}

/// What is left of lines that begin with those.
fn strip<'a, 'b>(lines: &'a [&'b str], first: &[String]) -> Option<&'a [&'b str]> {
    let (begin, rest) = lines.split_at_checked(first.len())?;
    (begin == first).then_some(rest)
}

#[test]
fn every_command_line_in_the_documentation_does_what_it_says() {
    let (mut ran, mut wrong, mut elsewhere) = (0, Vec::new(), BTreeSet::new());
    for (file, page) in pages().into_iter().filter(|(file, _)| !file.ends_with("docs/results/2026-11-27-articles.md")) {
        let lines = lines(&page);
        if lines.is_empty() {
            continue;
        }
        let place = prepared();
        for (line, output) in lines {
            if let Some(at) = ELSEWHERE.iter().position(|(begin, _)| line.starts_with(begin)) {
                elsewhere.insert(at);
                continue;
            }
            // A test of `clients.rs` runs them where jq is installed.
            if line.contains(" | jq ") {
                continue;
            }
            let own = here(&line, &place);
            // Nothing outside of the place is touched, whatever somebody writes into a page.
            let outside = [" /", "=/", ">/", "\"/", "'/", " ~", "=~", "\"~", "'~", ".."]
                .into_iter()
                .find(|words| own.contains(words));
            assert_eq!(outside, None, "{}: {own}", file.display());
            // The program of the tests under its name.
            let done = run(place.shell(&format!("assay() {{ \"$ASSAY\" \"$@\"; }}; {own}")));
            ran += 1;
            let expected = CODES.iter().find(|(begin, _)| line.starts_with(begin)).map_or(&[0][..], |(_, codes)| codes);
            if !done.code.is_some_and(|code| expected.contains(&code)) {
                wrong.push(format!("{}: {line}\n  {own}\n{}{}", file.display(), done.stdout, done.stderr));
            }
            let is: Vec<&str> = done.stdout.lines().collect();
            let compared = !output.is_empty() && !EXAMPLES.contains(&line.as_str());
            if compared && !is_printed(&output, &is) {
                wrong.push(format!("{}: {line}\nprints\n{}", file.display(), done.stdout));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(elsewhere.len(), ELSEWHERE.len(), "a line that is run elsewhere is in no page any more");
    assert!(ran >= 40, "only {ran} command lines were found");
}
