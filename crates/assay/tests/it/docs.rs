//! The documentation against the code: the record's fields, exit codes, the crates, links, scripts, versions, and the help as it
//! stands.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use crate::common::pages::{blocks, pages};
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
    let documented_names: BTreeSet<&str> = documented.0.keys().map(String::as_str).collect();
    assert_eq!(documented_names, known, "fields of {path} in docs/record.md (left) and in the schema (right)");
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
        let documented_names: BTreeSet<String> =
            row[2].split(',').map(str::trim).filter(|word| *word != "–").map(str::to_owned).collect();
        assert_eq!(
            documented_names,
            dependencies(name),
            "{name} in CONTRIBUTING.md (left) and in its Cargo.toml (right)"
        );
        named.insert(name.to_owned());
    }
    let crates = fs::read_dir(root().join("crates")).unwrap();
    let there: BTreeSet<String> = crates.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(named, there, "crates in CONTRIBUTING.md (left) and in crates/ (right)");
}

// ------------------------------------------------------------------------------------- links

/// A page without its blocks of code between fences.
fn prose(page: &str) -> String {
    let mut fenced = false;
    let lines = page.lines().filter(|line| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fence && !fenced
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// What the links and pictures of a page lead to: `](HERE)`.
fn links(page: &str) -> Vec<String> {
    let prose = prose(page);
    prose.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0.to_owned())).collect()
}

/// The anchors of a page, made of its headings as GitHub and GitLab make them.
fn anchors(page: &str) -> BTreeSet<String> {
    let prose = prose(page);
    let headings = prose.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let anchor = |heading: &str| -> String {
        let kept = heading.to_lowercase();
        kept.chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect()
    };
    headings.map(anchor).collect()
}

#[test]
fn every_link_in_the_documentation_leads_to_a_file_and_a_heading() {
    let (mut seen, mut broken) = (0, Vec::new());
    let more = ["CHANGELOG.md", ".github/PULL_REQUEST_TEMPLATE.md"].map(|file| (root().join(file), text(file)));
    for (file, page) in pages().into_iter().chain(more) {
        for link in links(&page) {
            if link.starts_with("https://") || link.starts_with("http://") {
                continue;
            }
            seen += 1;
            let (path, anchor) = link.split_once('#').unwrap_or((link.as_str(), ""));
            let target = if path.is_empty() { file.clone() } else { file.parent().unwrap().join(path) };
            let there = match anchor {
                "" => target.exists(),
                anchor => fs::read_to_string(&target).is_ok_and(|page| anchors(&page).contains(anchor)),
            };
            if !there {
                broken.push(format!("{}: {link}", file.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(seen >= 100, "only {seen} links were found");
}

#[test]
fn the_index_of_the_documentation_and_its_pages_name_each_other() {
    let docs = root().join("docs");
    let index = fs::read_to_string(docs.join("README.md")).unwrap();
    let listed: BTreeSet<PathBuf> =
        links(&index).iter().filter_map(|link| docs.join(link).canonicalize().ok()).collect();
    for (file, page) in
        pages().into_iter().filter(|(file, _)| file.starts_with(&docs) && !file.ends_with("docs/README.md"))
    {
        let own = file.canonicalize().unwrap();
        assert!(listed.contains(&own), "docs/README.md does not list {}", file.display());
        let back = if file.parent() == Some(docs.as_path()) { "README.md" } else { "../README.md" };
        assert!(links(&page).iter().any(|link| link == back), "{} does not link to the index", file.display());
    }
}

// ------------------------------------------------------------------------------------- scripts and versions

/// What stands between single backquotes in running text.
fn code_spans(page: &str) -> Vec<String> {
    prose(page).split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn every_target_of_make_and_every_script_that_the_documentation_names_is_there() {
    let makefile = text("Makefile");
    let targets: BTreeSet<&str> = makefile
        .lines()
        .filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase()))
        .filter_map(|line| Some(line.split_once(':')?.0))
        .collect();
    let (mut named, mut scripts, mut wrong) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
    for (file, page) in pages() {
        for line in blocks(&page).into_iter().chain(code_spans(&page)) {
            let words: Vec<&str> = line.split('#').next().unwrap_or_default().split_whitespace().collect();
            if let Some(at) = words.iter().position(|word| *word == "make") {
                // Targets stand before variables, whose values may hold blanks, and before what the shell does then.
                let own = words[at + 1..].iter().take_while(|word| {
                    word.chars().all(|c| c.is_ascii_lowercase() || c == '-') && !word.starts_with('-')
                });
                for target in own {
                    named.insert((*target).to_owned());
                    if !targets.contains(target) {
                        wrong.push(format!("{}: make {target}", file.display()));
                    }
                }
            }
            // A path without a directory is told of what was made, or of where a sentence speaks of.
            let paths = words.iter().filter(|word| word.ends_with(".sh") || word.ends_with(".py"));
            for path in paths.filter(|path| path.contains('/') && !path.starts_with(['.', '/'])) {
                scripts.insert((*path).to_owned());
                if !root().join(path).is_file() && !file.parent().unwrap().join(path).is_file() {
                    wrong.push(format!("{}: {path}", file.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(named.len() >= 12, "{named:?}");
    assert!(scripts.len() >= 4, "{scripts:?}");
}

#[test]
fn the_version_to_cite_is_that_of_the_program() {
    let version = env!("CARGO_PKG_VERSION");
    let line = |page: &str, begin: &str| {
        let found = page.lines().find_map(|line| line.strip_prefix(begin)).unwrap_or_else(|| panic!("no {begin}"));
        found.trim().trim_matches('"').to_owned()
    };
    assert_eq!(line(&text("CITATION.cff"), "version:"), version, "CITATION.cff");
    assert_eq!(line(&text("Cargo.toml"), "version = "), version, "Cargo.toml");
    let readme = text("README.md");
    let cite = readme.split("\n## Cite\n").nth(1).unwrap().split("\n## ").next().unwrap();
    assert_eq!(cite.matches(&format!("version {version}")).count(), 2, "{cite}");
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
        assert!(own >= 3, "{name} has {own} links to its sections in its first {FIRST} lines");
    }
    assert!(long >= 8, "{long} pages");
}
