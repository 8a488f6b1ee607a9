//! `assay import`, with files as people have them.

use std::fs;
use std::path::Path;

use crate::common::{Done, Place, Terminal, run};
use serde_json::Value;

/// A report of CrystalDiskMark as its program writes it, of a card that reads so many MB/s.
fn report(read: f64) -> String {
    format!(
        "-----------------------------------------------------------------------\r\n\
         CrystalDiskMark 3.0.3 x64 (C) 2007-2013 hiyohiyo\r\n\
         -----------------------------------------------------------------------\r\n\
         * MB/s = 1,000,000 byte/s [SATA/300 = 300,000,000 byte/s]\r\n\r\n\
         \x20          Sequential Read :   {read:7.3} MB/s\r\n\
         \x20         Sequential Write :    11.500 MB/s\r\n\
         \x20   Random Read 4KB (QD=1) :     7.294 MB/s [  1780.8 IOPS]\r\n\r\n\
         \x20 Test : 100 MB [F: 0.1% (0.0/29.8 GB)] (x5)\r\n\
         \x20 Date : 2014/05/17 9:04:31\r\n\
         \x20   OS : Windows 7 Professional SP1 [6.1 Build 7601] (x64)\r\n"
    )
}

fn json(place: &Place, arguments: &[&str]) -> (i32, Value) {
    let done = run(place.assay(arguments));
    let value = serde_json::from_str(&done.stdout).unwrap_or(Value::Null);
    (done.code.unwrap(), value)
}

/// What people read on standard error, without its breaks of lines.
fn said(done: &Done) -> String {
    done.stderr.replace("\n  ", " ")
}

#[test]
fn a_text_becomes_a_record_once() {
    let place = Place::new();
    let file = place.path().join("cdm.txt");
    fs::write(&file, report(41.852)).unwrap();
    let file = file.to_str().unwrap();
    let labels = ["--label", "model=Ultra A1", "--label", "unit=3"];
    let (code, first) = json(&place, &[&["import", file, "--json"], labels.as_slice()].concat());
    assert_eq!((code, &first["added"], &first["records"][0]["labels"]["unit"]), (0, &1.into(), &"3".into()));
    let id = first["records"][0]["id"].as_str().unwrap();
    let (code, again) = json(&place, &[&["import", file, "--json"], labels.as_slice()].concat());
    assert_eq!(
        (code, &again["added"], &again["known"], &again["records"][0]["id"]),
        (0, &0.into(), &1.into(), &id.into())
    );
    // The same figures of another unit are a mistake of one of the two.
    let other = run(place.assay(["import", file, "--label", "unit=4"]));
    assert_eq!(other.code, Some(2));
    let said = said(&other);
    assert!(said.contains("the same text is in the store as model=Ultra A1, unit=3") && said.contains(id), "{said}");

    let (_, record) = json(&place, &["show", id, "--json"]);
    let first = &record["measurements"][0];
    assert_eq!(
        (&first["workload"]["block_bytes"], &first["bytes_per_second"]["point"]),
        (&1_048_576.into(), &41_852_000.0.into())
    );
    assert_eq!(first["warnings"][0]["finding"], serde_json::json!({"kind": "best_of", "runs": 5}));
    assert_eq!(first["workload"]["unknown"], serde_json::json!(["stop"]));
    assert!(record["source"]["text"].as_str().unwrap().contains("Sequential Read"));
    // The text is for the store alone.
    let out = place.path().join("shared.json");
    run(place.assay(["report", id, "-o", out.to_str().unwrap()])).succeeds();
    let shared = fs::read_to_string(out).unwrap();
    assert!(
        shared.contains("41852000") && !shared.contains("Windows 7 Professional SP1 [6.1 Build 7601] (x64)\\n"),
        "{shared}"
    );
    let card = run(place.assay(["show", id])).stdout;
    assert!(card.contains("CrystalDiskMark 3.0.3, imported") && card.contains("best of 5 runs"), "{card}");
}

#[test]
fn labels_come_from_the_path_and_members_of_an_archive_are_files() {
    let place = Place::new();
    let root = place.path().join("results");
    let mut archive = tar(&root);
    for (model, read) in [("Ultra", 40.0), ("EVO", 80.0)] {
        for unit in 1..=3 {
            let directory = root.join(model).join(unit.to_string());
            fs::create_dir_all(&directory).unwrap();
            fs::write(directory.join("run_1.txt"), report(read + f64::from(unit))).unwrap();
        }
    }
    fs::write(root.join("notes.txt"), "nothing to import here\n").unwrap();
    let pattern = "{model}/{unit}/run_{run}.txt";
    let (code, taken) = json(&place, &["import", root.to_str().unwrap(), "--path", pattern, "--json"]);
    assert_eq!((code, &taken["added"], taken["skipped"].as_array().unwrap().len()), (0, &6.into(), 1), "{taken:#}");
    let (code, ranking) = json(&place, &["rank", "--load", "sequential read 1 MiB", "--json"]);
    let text = ranking.to_string();
    assert!(code == 0 && text.contains("EVO") && text.contains("Ultra"), "{ranking:#}");
    let none = run(place.assay(["import", root.to_str().unwrap(), "--path", "{model}/nope_{run}.txt", "--dry-run"]));
    assert_eq!(none.code, Some(2), "{}", none.stderr);
    assert!(
        none.stderr.contains("--path `{model}/nope_{run}.txt` fits none of the files, such as `"),
        "{}",
        none.stderr
    );
    let packed = archive.finish();
    let (code, again) = json(&place, &["import", packed.to_str().unwrap(), "--path", pattern, "--json"]);
    // The same texts, whatever they lie in.
    assert_eq!((code, &again["added"], &again["known"]), (0, &0.into(), &6.into()), "{again:#}");
    // In words a member is named with its archive, as a text and as a record of assay.
    run(place.assay(["report", "all", "-o", root.join("all.json").to_str().unwrap()])).succeeds();
    let packed = archive.finish();
    for arguments in [vec!["import", "--dry-run"], vec!["import"]] {
        let done = run(place.assay([&arguments[..], &[packed.to_str().unwrap()]].concat()));
        for member in ["results.tar.gz/./EVO/2/run_1.txt:2-12", "results.tar.gz/./all.json"] {
            let text = format!("{}{}", done.stdout, said(&done));
            assert!(text.contains(member), "{member} is not in {text}");
        }
    }
}

/// An archive made of a directory by the system's tar, when it is finished.
struct Archive(std::path::PathBuf);

fn tar(root: &Path) -> Archive {
    Archive(root.to_owned())
}

impl Archive {
    fn finish(&mut self) -> std::path::PathBuf {
        let packed = self.0.with_extension("tar.gz");
        let status = std::process::Command::new("tar")
            .args(["-czf", packed.to_str().unwrap(), "-C", self.0.to_str().unwrap(), "."])
            .status()
            .unwrap();
        assert!(status.success());
        packed
    }
}

#[test]
fn a_path_in_the_place_of_a_query_keeps_nothing() {
    let place = Place::new();
    let (slow, fast) = (place.path().join("slow.txt"), place.path().join("fast.txt"));
    fs::write(&slow, report(20.0)).unwrap();
    fs::write(&fast, report(90.0)).unwrap();
    let (slow, fast) = (slow.to_str().unwrap(), fast.to_str().unwrap());
    let shown = run(place.assay(["show", slow])).stdout;
    assert!(shown.contains("sequential") && shown.contains("20.0"), "{shown}");
    let compared = run(place.assay(["compare", slow, fast, "--load", "sequential read 1 MiB"]));
    let text = &compared.stdout;
    assert!(text.contains("20.0") && text.contains("90.0"), "{text}{}", compared.stderr);
    let (_, listed) = json(&place, &["list", "--json"]);
    assert!(listed.as_array().is_none_or(Vec::is_empty), "{listed}");
}

#[test]
fn a_damaged_file_in_a_directory_is_skipped_and_named_in_a_query_too() {
    let place = Place::new();
    let root = place.path().join("results");
    fs::create_dir_all(&root).unwrap();
    for (name, read) in [("a.txt", 40.0), ("c.txt", 60.0)] {
        fs::write(root.join(name), report(read)).unwrap();
    }
    fs::write(root.join("b.txt"), "AS SSD Benchmark 1.0\n\n").unwrap();
    fs::write(root.join("d.json"), "{\"schema\":\"1.0\",\"id\":\"a\",\"suite\":{},\"medium\":{}}\n{\"schema\":")
        .unwrap();
    let query = format!("{}/", root.display());
    let listed = run(place.assay(["list", &query]));
    assert_eq!(listed.code, Some(0), "{}", listed.stderr);
    assert!(listed.stdout.contains("40.0") && listed.stdout.contains("60.0"), "{}", listed.stdout);
    let told = said(&listed);
    assert!(told.contains("b.txt") && told.contains("d.json") && told.contains("2 files of 4 skipped"), "{told}");
    // Without its slash it is a word that names no record.
    let mut word = place.assay(["list", "results"]);
    word.current_dir(place.path());
    let word = run(word);
    assert_eq!(word.code, Some(2));
    assert!(said(&word).contains("write results/ to read the results in it"), "{}", word.stderr);
}

#[test]
fn records_go_from_one_store_to_another_as_they_are() {
    let (here, there) = (Place::new(), Place::new());
    fs::write(here.path().join("a.txt"), report(30.0)).unwrap();
    fs::write(here.path().join("b.txt"), report(31.0)).unwrap();
    let directory = here.path().join(".");
    run(here.assay(["import", directory.to_str().unwrap()])).succeeds();
    let documents = run(here.assay(["show", "all", "--json"])).stdout;
    let file = there.path().join("records.json");
    // A field of a newer version stays.
    let newer = documents.replacen("\"schema\"", "\"newer\":7,\"schema\"", 1);
    fs::write(&file, newer).unwrap();
    let (code, taken) = json(&there, &["import", file.to_str().unwrap(), "--json"]);
    assert_eq!((code, &taken["added"]), (0, &2.into()), "{taken:#}");
    assert!(run(there.assay(["show", "all", "--json"])).stdout.contains("\"newer\":7"));
}

#[test]
fn what_cannot_be_imported_is_told_in_a_line() {
    let place = Place::new();
    let file = |name: &str, content: &[u8]| {
        let path = place.path().join(name);
        fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let cases = [
        (file("empty", b""), 2, "the file is empty"),
        (
            file("poem.txt", b"no result\n\x1b[2J in here\n"),
            2,
            "no result of a known format is in it; `assay import --formats`",
        ),
        (
            file("near.txt", b"I ran CrystalDiskMark: Sequential Read was fine\n"),
            2,
            "line 1 is nearest to CrystalDiskMark, but without its title",
        ),
        (file("head.txt", &report(1.0).as_bytes()[..200]), 2, "line 2: a report of CrystalDiskMark without a row"),
        (file("cut.gz", &[0x1f, 0x8b, 8, 0]), 2, "cannot be unpacked"),
        (file("own.json", br#"{"schema":"9.0","id":"a","suite":{},"medium":{}}"#), 2, "9.0"),
        (place.path().join("missing").to_str().unwrap().to_owned(), 2, "missing: no such file or directory"),
        ("/dev/null".to_owned(), 2, "the file is empty"),
    ];
    for (file, code, words) in cases {
        run(place.assay(["import", &file])).refuses(code, &[words]);
    }
    // A hole: who reads all of it is busy for an hour, or out of memory.
    fs::File::create(place.path().join("large")).unwrap().set_len(1 << 42).unwrap();
    let done = run(place.assay(["import", place.path().join("large").to_str().unwrap()]));
    assert!(done.elapsed.as_secs() < 60);
    done.refuses(2, &["larger than 16 MiB"]);
}

#[test]
fn a_store_moves_whole_and_stays_as_it_was() {
    let (here, there) = (Place::new(), Place::new());
    fs::write(here.path().join("a.txt"), report(30.0)).unwrap();
    fs::write(here.path().join("b.txt"), report(31.0)).unwrap();
    run(here.assay(["import", "a.txt", "b.txt"])).succeeds();
    run(here.assay(["export", "--store", "copy", "--identities"])).succeeds();
    let copy = here.path().join("copy");
    let before = fs::read(copy.join("assay.sqlite")).unwrap();
    let (code, taken) = json(&there, &["import", copy.to_str().unwrap(), "--json"]);
    assert_eq!((code, &taken["added"]), (0, &2.into()), "{taken:#}");
    assert_eq!(run(here.assay(["show", "all", "--json"])).stdout, run(there.assay(["show", "all", "--json"])).stdout);
    let (code, again) = json(&there, &["import", copy.to_str().unwrap(), "--json"]);
    assert_eq!((code, &again["known"]), (0, &2.into()), "{again:#}");
    assert!(fs::read(copy.join("assay.sqlite")).unwrap() == before, "the other store was changed");
    let left: Vec<_> = fs::read_dir(there.data()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with("import-")), "{left:?}");
    // Nothing is written over, and without identities the source's text stays behind.
    run(here.assay(["export", "--store", "copy"])).refuses(2, &["is not empty"]);
    run(here.assay(["export", "--store", "shared", "last"])).succeeds();
    let shared = run(here.assay(["show", "shared", "--json"]));
    assert_eq!(shared.code, Some(2), "a name without a slash is an id");
    let shared = run(here.assay(["show", "./shared", "--json"])).stdout;
    let shared: Value = serde_json::from_str(&shared).unwrap();
    assert_eq!((shared["source"].get("text"), shared["source"]["file"].as_str()), (None, Some("b.txt")), "{shared:#}");
}

/// What was exported without identities is known where it came from; elsewhere a record with identities says more.
#[test]
fn a_record_without_identities_is_known_or_says_how_to_merge() {
    let (here, there) = (Place::new(), Place::new());
    here.measured();
    run(here.assay(["export", "all", "--store", "bare"])).succeeds();
    run(here.assay(["export", "all", "--store", "whole", "--identities"])).succeeds();
    let (code, taken) = json(&here, &["import", "bare", "--json"]);
    assert_eq!((code, &taken["known"], &taken["conflicts"]), (0, &1.into(), &0.into()), "{taken:#}");
    let (whole, bare) = (here.path().join("whole"), here.path().join("bare"));
    run(there.assay(["import", whole.to_str().unwrap()])).succeeds();
    // The key of this store gives other names.
    let done = run(there.assay(["import", bare.to_str().unwrap()]));
    assert_eq!(done.code, Some(2), "{done:?}");
    let said = said(&done);
    assert!(said.contains("1 record in conflict: the store here has identities that the file has not"), "{said}");
    assert_eq!(said.matches("assay export --identities").count(), 1, "{said}");
}

#[test]
fn records_that_name_no_model_are_not_taken_for_one() {
    let place = Place::new();
    for (file, read) in [("a.txt", 20.0), ("b.txt", 90.0), ("c.txt", 40.0), ("d.txt", 80.0)] {
        fs::write(place.path().join(file), report(read)).unwrap();
    }
    let (_, taken) = json(&place, &["import", "a.txt", "--json"]);
    assert_eq!(taken["records"][0]["model"], Value::Null, "{taken:#}");
    let first = taken["records"][0]["id"].as_str().unwrap().to_owned();
    let imported = run(place.assay(["import", "b.txt"]));
    assert!(
        said(&imported).contains("1 record names no model") && said(&imported).contains("assay label "),
        "{}",
        imported.stderr
    );
    // Of two that name none, nobody knows whether they are of one model.
    for arguments in [&["rank"][..], &["list", "all", "--aggregate", "mean"], &["compare", "all", "--by", "model"]] {
        let done = run(place.assay(arguments));
        done.refuses(2, &["model="]);
    }
    for (file, model) in [("c.txt", "model=EVO"), ("d.txt", "model=Ultra")] {
        run(place.assay(["import", file, "--label", model])).succeeds();
    }
    for arguments in [
        &["rank", "--load", "sequential read 1 MiB"][..],
        &["list", "all", "--aggregate", "mean"],
        &["compare", "all", "--by", "model"],
        &["advise", "class", "all"],
    ] {
        let done = run(place.assay(arguments));
        let text = format!("{}{}", done.stdout, said(&done)).replace("\n", " ");
        let words: Vec<&str> = text.split_whitespace().collect();
        let text = words.join(" ");
        assert!(text.contains("EVO") && text.contains("Ultra") && text.contains("no model"), "{arguments:?}: {text}");
        assert!(text.contains("model=…") && !text.contains("20.0"), "{arguments:?}: {text}");
    }
    // Two of them are compared with each other where they are named, and as what they are: two of unknown models.
    let (_, compared) = json(&place, &["compare", "a.txt", "b.txt", "--json"]);
    let primary =
        compared["comparison"]["loads"].as_array().unwrap().iter().find(|load| load["primary"] == true).unwrap();
    assert_eq!(primary["pairs"][0]["question"], "specimens", "{compared:#}");
    let together = run(place.assay(["compare", "a.txt,b.txt", "c.txt"]));
    assert!(!together.stdout.contains("count as one"), "{}", together.stdout);
    let alone = run(place.assay(["advise", "class", &first]));
    assert!(alone.stdout.contains("medium"), "one alone is asked about: {}{}", alone.stdout, alone.stderr);
}

/// A text, a log and a record of a tool that tells more: each answer says what is not known of them, in lines that fit.
#[test]
fn answers_about_mixed_records_say_what_they_lack() {
    let place = Place::new();
    let hdparm =
        |rate: f64| format!("/dev/sda:\n Timing buffered disk reads:  66 MB in  3.00 seconds =  {rate:.2} MB/sec\n");
    fs::write(place.path().join("cdm.txt"), report(40.0)).unwrap();
    fs::write(place.path().join("one.log"), hdparm(22.0)).unwrap();
    fs::write(place.path().join("two.log"), hdparm(88.0)).unwrap();
    for (file, model) in [("one.log", "model=EVO"), ("two.log", "model=Ultra"), ("cdm.txt", "model=Extreme")] {
        run(place.assay(["import", file, "--label", model])).succeeds();
    }
    let lines = |arguments: &[&str]| {
        let done = run(place.assay(arguments));
        let text = done.stdout;
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{arguments:?}: {text}");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let lacks = "block size, size of the test area";
    let compared = lines(&["compare", "model=EVO", "model=Ultra", "model=Extreme"]);
    assert!(compared.contains(&format!("possibly different: A, B {lacks}")), "{compared}");
    assert!(
        compared.contains("A hdparm; B hdparm") || compared.contains("A, B hdparm; C CrystalDiskMark 3.0.3"),
        "{compared}"
    );
    assert!(compared.contains("cannot be compared: not everything is known about this load"), "{compared}");
    assert!(!compared.contains("0 B") && !compared.contains("QD0"), "{compared}");
    let ranked = lines(&["rank", "--load", "sequential read, unknown block size"]);
    assert!(
        ranked.contains("possibly different: block size (2 records), size of the test area (2 records)"),
        "{ranked}"
    );
    assert!(ranked.contains("cannot be compared: not everything is known about this load"), "{ranked}");
    let ranked = lines(&["rank", "--load", "sequential read 1 MiB"]);
    assert!(ranked.contains("not measured at this block size, but at an unknown one"), "{ranked}");
    let written = run(place.assay(["report", "all", "-o", "-", "--format", "md"])).stdout;
    assert!(written.contains("hdparm does not report: block size, size of the test area"), "{written}");
}

#[test]
fn a_sheet_says_whose_figures_files_hold() {
    let place = Place::new();
    fs::create_dir_all(place.path().join("cards")).unwrap();
    for (file, read) in [("cards/a.txt", 20.0), ("cards/b.txt", 30.0), ("c.txt", 90.0)] {
        fs::write(place.path().join(file), report(read)).unwrap();
    }
    let sheet = "file,model,unit,host,slot,kind,price,doubtful\n\
                 c.txt,EVO,7,node2,,sata_ssd,,random read 4 KiB=a point one place too far left\n\
                 cards/{run}.txt,\"Ultra, A1\",,node1,4,sd,12.90USD,\n\
                 gone.txt,Old\n";
    fs::write(place.path().join("names.csv"), sheet).unwrap();
    let done = run(place.assay(["import", "cards", "c.txt", "--sheet", "names.csv", "--label", "unit=3", "--json"]));
    // All is imported, and the row without effect is an error in the sheet.
    assert_eq!(done.code, Some(2), "{}", done.stderr);
    let row = "assay: names.csv: 1 of 3 rows without effect: line 4 (gone.txt);";
    assert!(said(&done).contains(row) && done.stdout.contains("\"added\": 3"), "{}", done.stderr);
    let record = |model: &str| -> Value {
        let all: Value = serde_json::from_str(&run(place.assay(["show", "all", "--json"])).stdout).unwrap();
        all.as_array().unwrap().iter().find(|record| record["labels"]["model"] == model).unwrap().clone()
    };
    let card = record("Ultra, A1");
    assert_eq!(
        (&card["host"]["hostname"], &card["host"]["slot"], &card["medium"]["kind"]),
        (&"node1".into(), &"4".into(), &"sd".into())
    );
    assert_eq!(
        (&card["labels"]["unit"], &card["labels"]["price"], &card["labels"]["run"]),
        (&"3".into(), &"12.90USD".into(), &"a".into())
    );
    let other = record("EVO");
    let doubtful = |of: &Value| {
        of["warnings"].as_array().is_some_and(|all| all.iter().any(|w| w["finding"]["kind"] == "marked_doubtful"))
    };
    let marked: Vec<bool> = other["measurements"].as_array().unwrap().iter().map(doubtful).collect();
    assert_eq!(marked, [false, false, true], "{other:#}");
    assert_eq!(other["measurements"][2]["bytes_per_second"]["point"], 7_294_000.0);

    // The command line weighs more, and is another claim about the same text.
    let again = run(place.assay(["import", "c.txt", "--sheet", "names.csv", "--label", "unit=3", "--host", "node9"]));
    assert!(
        again.code == Some(2) && said(&again).contains("the same text is in the store of host node2"),
        "{}",
        again.stderr
    );
    let known = run(place.assay(["import", "c.txt", "--sheet", "names.csv", "--label", "unit=3"]));
    assert!(said(&known).contains("1 record known already"), "{}", known.stderr);
    let many: String = (1..=20).map(|row| format!("cards/{row}.txt,{row}\n")).collect();
    fs::write(place.path().join("names.csv"), format!("file,rack\nc.txt,1\nc.txt,2\n{many}")).unwrap();
    let many = run(place.assay(["import", "c.txt", "--sheet", "names.csv", "--dry-run"]));
    let rows = "21 of 22 rows without effect: line 3 (c.txt), line 4 (cards/1.txt), ";
    assert!(said(&many).contains(rows) && said(&many).contains("line 12 (cards/9.txt), 11 more;"), "{}", many.stderr);
    for (content, words) in [
        ("model\nEVO\n", "names.csv, line 1: no column is named `file`"),
        ("file,kind\na,sd\nb,floppy\n", "names.csv, line 3: `floppy` is not a kind of medium"),
    ] {
        fs::write(place.path().join("names.csv"), content).unwrap();
        run(place.assay(["import", "c.txt", "--sheet", "names.csv"])).refuses(2, &[words]);
    }
}

#[test]
fn a_figure_that_is_marked_as_doubtful_is_shown_and_decides_nothing() {
    let place = Place::new();
    fs::write(place.path().join("a.txt"), report(20.0)).unwrap();
    fs::write(place.path().join("b.txt"), report(900.0)).unwrap();
    let import = |file: &str, model: &str, more: &[&str]| {
        run(place.assay([&["import", file, "--label", model][..], more].concat()))
    };
    import("a.txt", "model=EVO", &[]).succeeds();
    import("b.txt", "model=Ultra", &["--doubtful", "sequential read=two digits too many"]).succeeds();
    let card = run(place.assay(["show", "model=Ultra"])).stdout;
    assert!(card.contains("900") && card.contains("doubtful") && card.contains("two digits too many"), "{card}");
    let load = ["--load", "sequential read 1 MiB"];
    let compared = run(place.assay([&["compare", "model=EVO", "model=Ultra"][..], &load].concat()));
    let words = compared.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("two digits too many") && words.contains(": cannot tell – B"), "{}", compared.stdout);
    let (_, ranking) = json(&place, &[&["rank", "--json"][..], &load].concat());
    assert!(ranking["primary"]["excluded"].to_string().contains("two digits too many"), "{ranking:#}");
    let other = import("b.txt", "model=Ultra", &[]);
    assert!(other.code == Some(0), "without marks the record is known: {}", other.stderr);
    let other = import("b.txt", "model=Ultra", &["--doubtful", "random read"]);
    assert!(
        other.code == Some(2) && said(&other).contains("with other figures marked as doubtful"),
        "{}",
        other.stderr
    );
    let none = import("a.txt", "model=EVO", &["--doubtful", "random write 4 KiB"]);
    assert!(
        none.code == Some(2) && said(&none).contains("no figure is of the load random write 4 KiB"),
        "{}",
        none.stderr
    );
}

#[test]
fn whoever_sits_at_a_terminal_is_asked_for_the_model() {
    let place = Place::new();
    let Some(_) = Terminal::new("whoever_sits_at_a_terminal_is_asked_for_the_model") else { return };
    fs::write(place.path().join("a.txt"), report(20.0)).unwrap();
    let typed = |answer: &str| {
        let mut command =
            place.shell("printf \"$ANSWER\" | script --quiet --return --command '\"$ASSAY\" import a.txt' /dev/null");
        command.env("ANSWER", answer).env("TERM", "xterm").env("SHELL", "/bin/sh");
        run(command).stdout
    };
    let model = || json(&place, &["show", "last", "--json"]).1["labels"]["model"].clone();
    // In a pipe nobody is asked.
    let piped = run(place.shell("printf 'EVO\\n' | \"$ASSAY\" import a.txt"));
    assert!(piped.code == Some(0) && !piped.stderr.contains('?'), "{}", piped.stderr);
    assert_eq!(model(), Value::Null);
    run(place.assay(["rm", "last"])).succeeds();
    let text = typed("Ultra A1\\n");
    assert!(text.contains("a.txt names no model. Which is it?") && text.contains("Ultra A1"), "{text}");
    assert_eq!(model(), "Ultra A1");
    // What is in the store is not asked about again.
    assert!(!typed("EVO\\n").contains("Which is it?"));
    run(place.assay(["rm", "last"])).succeeds();
    assert!(typed("\\n").contains("1 record names no model"));
    assert_eq!(model(), Value::Null);
}

/// The log of a script that runs hdparm, dd, fio and iozone one after another, as several articles have them.
fn log(hdparm: f64, dd: f64, iops: u32, iozone: u32) -> String {
    // Fields of terse version 3 by their numbers: bandwidth in KiB/s 7, IOPS 8 of reads.
    let mut terse = vec!["0".to_owned(); 130];
    for (at, value) in [(0, "3"), (1, "fio-3.28"), (2, "randread"), (5, "81920"), (8, "1000")] {
        terse[at] = value.to_owned();
    }
    // Percentiles of reads and of writes, and processor times.
    for at in (17..37).chain(58..78) {
        "0%=0".clone_into(&mut terse[at]);
    }
    for at in [87, 88] {
        "0.1%".clone_into(&mut terse[at]);
    }
    (terse[6], terse[7]) = ((iops * 4).to_string(), iops.to_string());
    format!(
        "/dev/sda:\n Timing O_DIRECT disk reads: 406 MB in  3.01 seconds = {hdparm:.2} MB/sec\n\n\
         $ dd if=/dev/zero of=test bs=4k count=80k conv=fsync\n81920+0 records in\n81920+0 records out\n\
         335544320 bytes (336 MB, 320 MiB) copied, {:.5} s, {dd:.1} MB/s\n\n{}\n\n\
         \tCommand line used: iozone -a -e -I -i 0 -i 1 -i 2 -s 80M -r 4k\n\
         \tOutput is in kBytes/sec\n\
         {:>72}\n\
         {:>16}{:>8}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}\n\
         {:>16}{:>8}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}\n\niozone test complete.\n",
        335_544_320.0 / 1e6 / dd,
        terse.join(";"),
        "random    random",
        "kB",
        "reclen",
        "write",
        "rewrite",
        "read",
        "reread",
        "read",
        "write",
        81920,
        4,
        iozone,
        iozone + 1,
        iozone + 2,
        iozone + 3,
        iozone + 4,
        iozone + 5,
    )
}

/// Four media, five runs each: twenty records, and the figures that such articles print.
#[test]
fn logs_of_a_script_are_one_record_each_and_their_means_are_those_of_the_hand() {
    let place = Place::new();
    let runs = [100.0, 130.0, 90.0, 110.0, 170.0];
    for (at, medium) in ["SDCard", "FlashDisk", "SSD", "iSCSI"].into_iter().enumerate() {
        let directory = place.path().join("logs").join(medium);
        fs::create_dir_all(&directory).unwrap();
        for (run, value) in runs.iter().enumerate() {
            let value = value + 1000.0 * at as f64;
            let text = log(value, value / 2.0, value as u32 * 3, value as u32 * 7);
            fs::write(directory.join(format!("output_{}.txt", run + 1)), text).unwrap();
        }
    }
    let (code, taken) = json(&place, &["import", "logs", "--path", "{model}/output_{run}.txt", "--json"]);
    assert_eq!((code, &taken["added"]), (0, &20.into()), "{taken:#}");
    assert!(taken["records"].as_array().unwrap().iter().all(|record| record["measurements"] == 9), "{taken:#}");
    let (_, trimmed) = json(&place, &["list", "model=SSD", "--aggregate", "trimmed", "--json"]);
    assert_eq!(trimmed["decides"], false);
    let of = |load: &str, figure: &str| {
        let figures = trimmed["figures"].as_array().unwrap();
        let found = figures.iter().find(|row| row["load"] == load && row["figure"] == figure);
        found.unwrap_or_else(|| panic!("{load}, {figure}: {trimmed:#}"))["value"].as_f64().unwrap()
    };
    // Of 90, 100, 110, 130 and 170 the mean of 100, 110 and 130.
    let hand = 2000.0 + 340.0 / 3.0;
    let near = |got: f64, want: f64| assert!((got / want - 1.0).abs() < 1e-4, "{got} for {want}");
    near(of("sequential read, unknown block size", "rate"), hand * 1_048_576.0);
    near(of("sequential write 4 KiB", "rate"), hand / 2.0 * 1e6);
    // The terse line does not say whether reads are random.
    near(of("read, unknown block size, unknown queue depth", "rate"), hand * 3.0 * 4096.0);
    // Five more than the first cell, each of seven times the value: kB are KiB.
    near(of("random write 4 KiB", "rate"), (hand * 7.0 + 5.0) * 1024.0);
}

/// A text that is cut off before its last lines.
#[test]
fn a_text_that_is_cut_off_is_told_at_once() {
    let place = Place::new();
    let (whole, cut) = (report(20.0), report(30.0));
    fs::write(place.path().join("whole.txt"), whole).unwrap();
    fs::write(place.path().join("cut.txt"), cut.split(" Test :").next().unwrap()).unwrap();
    let done = run(place.assay(["import", "whole.txt", "cut.txt"]));
    done.succeeds();
    let said = said(&done);
    assert!(said.contains("cut.txt: the imported text is not complete: "), "{said}");
    assert!(said.contains("2 records added, 1 of a text that is not complete"), "{said}");
    assert!(!said.contains("whole.txt"), "{said}");
}

#[test]
fn a_dry_run_says_what_the_import_would() {
    let place = Place::new();
    for (file, read) in [("a.txt", 20.0), ("b.txt", 30.0), ("c.txt", 30.0), ("d.txt", 40.0)] {
        fs::write(place.path().join(file), report(read)).unwrap();
    }
    run(place.assay(["import", "a.txt", "d.txt", "--label", "unit=1"])).succeeds();
    let files = ["import", "a.txt", "b.txt", "c.txt", "b.txt"];
    let told = |done: &Done| {
        let text = format!("{}{}", done.stdout, said(done));
        text.replace("would add", "added    ").replace("would be added", "added")
    };
    let rehearsed = run(place.assay([&files[..], &["d.txt", "--dry-run", "--label", "unit=2"]].concat()));
    assert!(
        told(&rehearsed).contains("1 record added, 2 records known already, 2 records in conflict"),
        "{rehearsed:?}"
    );
    assert_eq!(run(place.assay(["list", "--json"])).stdout.matches("\"id\"").count(), 2, "nothing was kept");
    let real = run(place.assay([&files[..], &["d.txt", "--label", "unit=2"]].concat()));
    let without_mend = |text: String| text.split(" names no model").next().unwrap_or_default().to_owned();
    assert_eq!(without_mend(told(&rehearsed)), without_mend(told(&real)));
    assert_eq!((rehearsed.code, real.code), (Some(2), Some(2)));
    // Where there is no store, none is made.
    let empty = Place::new();
    fs::write(empty.path().join("b.txt"), report(30.0)).unwrap();
    let done = run(empty.assay(["import", "b.txt", "b.txt", "--dry-run"]));
    assert!(said(&done).contains("1 record would be added, 1 record known already"), "{done:?}");
    assert!(run(empty.assay(["list"])).stderr.contains("the store is empty"));
}

#[test]
fn a_file_that_is_missing_keeps_no_other_from_the_store() {
    let place = Place::new();
    for (file, read) in [("a.txt", 20.0), ("b.txt", 30.0)] {
        fs::write(place.path().join(file), report(read)).unwrap();
    }
    let done = run(place.assay(["import", "a.txt", "nofile", "b.txt"]));
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(said(&done).contains("assay: nofile: no such file or directory"), "{}", done.stderr);
    assert!(said(&done).contains("2 records added"), "{}", done.stderr);
    let (code, told) = json(&place, &["import", "nofile", "a.txt", "--json"]);
    assert_eq!((code, &told["known"], &told["refused"][0]["file"]), (2, &1.into(), &"nofile".into()), "{told:#}");
    run(place.assay(["import", "nofile"])).refuses(2, &["nofile: no such file or directory"]);
}
