//! The documentation against the code: the record's fields, exit codes, the crates, and the help as it stands.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use crate::common::{Place, run};
use assay_core::exit::Exit;
use serde_json::Value;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// The first block of a page between lines of three backquotes.
fn block(page: &str) -> &str {
    page.split("```\n").nth(1).unwrap()
}

/// Cells of the rows of a page's tables.
fn rows(page: &str) -> Vec<Vec<&str>> {
    let rows = page.lines().filter_map(|line| line.strip_prefix('|')?.strip_suffix('|'));
    rows.map(|row| row.split('|').map(str::trim).collect()).collect()
}

// ------------------------------------------------------------------------------------- the record

/// Fields with those inside of them; none where the block does not say them.
#[derive(Debug, Default)]
struct Fields(BTreeMap<String, Option<Fields>>);

impl Fields {
    /// Reads `a, b{c, d[]{e}}` up to the closing brace.
    fn read(text: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Self {
        let mut fields = Self::default();
        let mut name = String::new();
        while let Some(c) = text.next() {
            match c {
                '{' => {
                    let inside = Self::read(text);
                    fields.0.insert(std::mem::take(&mut name), Some(inside));
                }
                '}' => break,
                // A list of such things.
                '[' | ']' => {}
                c if c.is_ascii_alphanumeric() || c == '_' => name.push(c),
                _ => fields.end(&mut name),
            }
        }
        fields.end(&mut name);
        fields
    }

    fn end(&mut self, name: &mut String) {
        if !name.is_empty() {
            self.0.insert(std::mem::take(name), None);
        }
    }
}

/// What a place of the schema is, without references, arrays and null.
fn resolved<'a>(schema: &'a Value, mut at: &'a Value) -> &'a Value {
    loop {
        if let Some(name) = at["$ref"].as_str() {
            at = schema.pointer(name.trim_start_matches('#')).unwrap();
        } else if let Some(any) = at["anyOf"].as_array() {
            at = any.iter().find(|one| one["type"] != "null").unwrap();
        } else if at["items"].is_object() {
            at = &at["items"];
        } else {
            return at;
        }
    }
}

fn compare(schema: &Value, at: &Value, documented: &Fields, path: &str) {
    let object = resolved(schema, at);
    let Some(properties) = object["properties"].as_object() else {
        // A map of names to texts, or one of several forms.
        return;
    };
    let known: BTreeSet<&str> = properties.keys().map(String::as_str).collect();
    let told: BTreeSet<&str> = documented.0.keys().map(String::as_str).collect();
    assert_eq!(told, known, "fields of {path} in docs/record.md (left) and in the schema (right)");
    for (name, inside) in &documented.0 {
        if let Some(inside) = inside.as_ref().filter(|inside| !inside.0.is_empty()) {
            compare(schema, &properties[name], inside, &format!("{path}.{name}"));
        }
    }
}

#[test]
fn the_record_is_documented_with_every_field() {
    let schema: Value = serde_json::from_str(&text("schemas/record-v1.json")).unwrap();
    let page = text("docs/record.md");
    // Words beside the fields stand behind at least four blanks.
    let fields: Vec<&str> = block(&page).lines().map(|line| line.trim_start().split("    ").next().unwrap()).collect();
    let fields = fields.join("\n").replace("theirs{…}", "theirs");
    compare(&schema, &schema, &Fields::read(&mut fields.chars().peekable()), "record");
}

// ------------------------------------------------------------------------------------- exit codes

#[test]
fn exit_codes_are_the_same_in_the_page_the_help_and_the_program() {
    let codes: BTreeSet<u8> = Exit::ALL.into_iter().map(|exit| exit as u8).collect();
    let documented = |rows: Vec<&str>| rows.into_iter().filter_map(|code| code.parse().ok()).collect::<BTreeSet<u8>>();
    let page = text("docs/exit-codes.md");
    assert_eq!(documented(rows(&page).iter().map(|row| row[0]).collect()), codes, "docs/exit-codes.md");
    let help = run(Place::new().assay(["--help"])).stdout;
    let list = help.split("Exit codes:").nth(1).unwrap();
    assert_eq!(documented(list.split_whitespace().collect()), codes, "assay --help");
}

// ------------------------------------------------------------------------------------- the crates

/// The crates that a crate depends on, tests apart.
fn dependencies(name: &str) -> BTreeSet<String> {
    let manifest = text(&format!("crates/{name}/Cargo.toml"));
    let section = manifest.split("\n[").find(|section| section.starts_with("dependencies]")).unwrap_or_default();
    let names = section.lines().filter_map(|line| line.strip_prefix("assay-")?.split(['.', ' ']).next());
    names.map(str::to_owned).collect()
}

#[test]
fn the_table_of_crates_says_what_each_depends_on() {
    let page = text("CONTRIBUTING.md");
    let mut named = BTreeSet::new();
    for row in rows(&page).iter().filter(|row| row.len() == 3 && row[0].starts_with("`assay")) {
        let name = row[0].trim_matches('`');
        let told: BTreeSet<String> =
            row[2].split(',').map(str::trim).filter(|word| *word != "–").map(str::to_owned).collect();
        assert_eq!(told, dependencies(name), "{name} in CONTRIBUTING.md (left) and in its Cargo.toml (right)");
        named.insert(name.to_owned());
    }
    let crates = fs::read_dir(root().join("crates")).unwrap();
    let there: BTreeSet<String> = crates.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(named, there, "crates in CONTRIBUTING.md (left) and in crates/ (right)");
}

// ------------------------------------------------------------------------------------- the help

/// Every command below these words, these included.
fn commands(place: &Place, words: &[String], all: &mut Vec<(Vec<String>, String)>) {
    let help = run(place.assay(words.iter().map(String::as_str).chain(["--help"]))).succeeds().stdout.clone();
    let listed = help.split("\nCommands:\n").nth(1).unwrap_or_default();
    // Names of commands stand two columns in; what is said of them goes on further in.
    let names = listed.lines().take_while(|line| !line.is_empty()).filter_map(|line| {
        let name = line.strip_prefix("  ")?;
        (!name.starts_with(' ')).then(|| name.split(' ').next().unwrap().to_owned())
    });
    let below: Vec<Vec<String>> = names.filter(|name| name != "help").map(|name| [words, &[name]].concat()).collect();
    all.push((words.to_vec(), help));
    for words in below {
        commands(place, &words, all);
    }
}

#[test]
fn the_help_of_every_command_is_reviewed_as_a_whole() {
    let place = Place::new();
    let mut all = Vec::new();
    commands(&place, &[], &mut all);
    assert!(all.len() >= 30, "{} commands", all.len());
    let pages = all
        .iter()
        .map(|(words, help)| format!("$ assay {} --help\n{help}", words.join(" ")).replace("  --help", " --help"));
    insta::assert_snapshot!("help", pages.collect::<Vec<_>>().join("\n").trim_end());
}

// ------------------------------------------------------------------------------------- long pages

/// Longer pages begin with a list of their sections.
const LONG: usize = 120;
/// Where the links have to be.
const FIRST: usize = 25;
/// Pages that have none yet.
const WITHOUT: [&str; 1] = ["platforms.md"];

/// The name by which a heading is linked to.
fn anchor(heading: &str) -> String {
    let kept = heading
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .collect::<String>();
    kept.replace(' ', "-")
}

#[test]
fn long_pages_begin_with_links_to_their_sections() {
    let mut long = 0;
    for (file, page) in crate::common::pages::pages() {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        if !file.components().any(|part| part.as_os_str() == "docs") || page.lines().count() <= LONG {
            continue;
        }
        long += 1;
        let headings: BTreeSet<String> = page
            .lines()
            .filter(|line| line.starts_with("##"))
            .map(|line| anchor(line.trim_start_matches('#').trim()))
            .collect();
        let first = page.lines().take(FIRST).collect::<Vec<_>>().join(" ");
        let links: Vec<&str> = first.split("](#").skip(1).filter_map(|rest| rest.split(')').next()).collect();
        for link in &links {
            assert!(headings.contains(*link), "{name}: no section is called {link}");
        }
        let own = links.iter().collect::<BTreeSet<_>>().len();
        assert!(
            own >= 3 || WITHOUT.contains(&name.as_str()),
            "{name} has {own} links to its sections in its first {FIRST} lines"
        );
    }
    assert!(long >= 8, "{long} pages");
}
