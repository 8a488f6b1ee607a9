//! `licences` holds the licence of every work that a program contains: `third-party.txt` of `assay`, `third-party-public.txt` of
//! `assay-public`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Place, run};
use assay_lab::{Missing, skip};
use serde_json::Value;

const HEAD: &str = " contains the works below. Their licences follow; where one may be chosen, MIT was.
Made by `make licences` from Cargo.lock and the sources of the crates.

";

/// Programs that are handed out, and the file of each.
const PROGRAMS: [(&str, &str); 2] = [("assay", "third-party.txt"), ("assay-public", "third-party-public.txt")];

/// Works that are no crates: name, licence, what it is for.
const OTHERS: [(&str, &str, &str); 4] = [
    ("Rust standard library", "MIT OR Apache-2.0", "https://www.rust-lang.org"),
    ("SQLite", "public domain", "in libsqlite3-sys; https://sqlite.org/copyright.html"),
    ("Ubuntu Light", "Ubuntu-font-1.0", "the letters of pictures, in epaint_default_fonts"),
    ("uPlot", "MIT", "the charts of HTML reports"),
];

struct Package {
    name: String,
    version: String,
    licence: String,
    directory: PathBuf,
}

fn cargo(arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .args(["--locked", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .map_err(|e| e.to_string())?;
    if output.status.success() {
        Ok(String::from_utf8(output.stdout).unwrap())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default().to_owned())
    }
}

/// The crates that end up in the program on Linux, without those that run at compile time alone.
fn packages(program: &str) -> Result<Vec<Package>, String> {
    const LINUX: &str = "x86_64-unknown-linux-gnu";
    let tree =
        ["tree", "-p", program, "-e", "normal,no-proc-macro", "--prefix", "none", "--no-dedupe", "--target", LINUX];
    let tree = cargo(&[&tree[..], &["-f", "{p}"]].concat())?;
    let contained: BTreeSet<&str> = tree.lines().filter(|line| !line.contains('(')).collect();
    let metadata = cargo(&["metadata", "--format-version", "1", "--filter-platform", LINUX])?;
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut all: Vec<Package> = metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|package| Package {
            name: text(&package["name"]),
            version: text(&package["version"]),
            licence: text(&package["license"]),
            directory: Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap().to_owned(),
        })
        .filter(|package| contained.contains(format!("{} v{}", package.name, package.version).as_str()))
        .collect();
    assert_eq!(all.len(), contained.len());
    all.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    Ok(all)
}

/// The texts of a crate's licences; of several to choose from the one of MIT.
fn texts(package: &Package) -> Vec<String> {
    const BEGINNINGS: [&str; 6] = ["license", "licence", "copying", "copyright", "notice", "unlicense"];
    let mut files: Vec<PathBuf> = fs::read_dir(&package.directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy().to_lowercase();
            path.is_file() && BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
        })
        .collect();
    files.sort();
    let may_choose = package.licence.contains(" OR ") || package.licence.contains('/');
    let mit = |path: &&PathBuf| path.file_name().unwrap().to_string_lossy().to_lowercase().contains("mit");
    if let Some(chosen) = files.iter().find(mit).cloned().filter(|_| may_choose && !package.licence.contains("AND")) {
        files = vec![chosen];
    }
    if package.name == "epaint_default_fonts" {
        files.push(package.directory.join("fonts/UFL.txt"));
    }
    let clean = |text: String| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim().to_owned();
    files.iter().map(|file| clean(fs::read_to_string(file).unwrap())).collect()
}

fn document(program: &str, packages: &[Package]) -> String {
    let mut out = format!("{program}{HEAD}");
    for package in packages {
        out += format!("{:<44} {}\n", format!("{} {}", package.name, package.version), package.licence).as_str();
    }
    out.push('\n');
    for (name, licence, use_) in OTHERS {
        out += format!("{name:<44} {licence:<20} {use_}\n").as_str();
    }
    // Each text once, with all whose it is.
    let mut whose: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in packages {
        let mut all = texts(package);
        if all.is_empty() {
            all.push(format!("{}: the crate holds no text of its licence", package.licence));
        }
        for text in all {
            whose.entry(text).or_default().push(format!("{} {}", package.name, package.version));
        }
    }
    let uplot = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assay-report/assets/uplot/LICENSE");
    whose.entry(fs::read_to_string(uplot).unwrap().trim().to_owned()).or_default().push("uPlot".to_owned());
    let mut all: Vec<(Vec<String>, String)> = whose.into_iter().map(|(text, whose)| (whose, text)).collect();
    all.sort();
    for (whose, text) in all {
        out += format!("\n{}\n{}\n\n{text}\n", "-".repeat(80), whose.join(", ")).as_str();
    }
    out
}

#[test]
fn the_committed_licences_are_those_of_the_lock_file() {
    const TEST: &str = "the_committed_licences_are_those_of_the_lock_file";
    for (program, file) in PROGRAMS {
        let packages = match packages(program) {
            Ok(packages) => packages,
            Err(reason) => return skip(TEST, &Missing(format!("needs the sources of all crates: {reason}"))),
        };
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../licences").join(file);
        let current = document(program, &packages);
        if std::env::var_os("ASSAY_BLESS").is_some() {
            fs::write(&path, &current).unwrap();
        }
        let committed = fs::read_to_string(&path).unwrap_or_default();
        let path = path.display();
        assert!(committed == current, "{path} is out of date; run `make licences` and look at the difference");
        for package in &packages {
            assert!(!package.licence.is_empty(), "{} says no licence", package.name);
        }
        for text in ["UBUNTU FONT LICENCE Version 1.0", "Copyright (c) 2022 Leon Sorokin"] {
            assert!(committed.contains(text), "{file}: {text} is missing");
        }
    }
}

#[test]
fn the_program_prints_them() {
    let place = Place::new();
    let text = run(place.assay(["licences"])).succeeds().stdout.clone();
    for words in ["MIT License", "Apache License", "UBUNTU FONT LICENCE", "uPlot", "rusqlite"] {
        assert!(text.contains(words), "{words} is missing");
    }
    let all = place.json(["licences", "--json"]);
    let rusqlite = all.as_array().unwrap().iter().find(|work| work["name"] == "rusqlite").unwrap();
    assert_eq!(rusqlite["licence"], "MIT");
    assert!(rusqlite["version"].as_str().unwrap().starts_with("0."));
    let font = all.as_array().unwrap().iter().find(|work| work["name"] == "Ubuntu Light").unwrap();
    assert_eq!((&font["version"], &font["licence"]), (&Value::Null, &"Ubuntu-font-1.0".into()));
}
