//! What `docs/results/2026-11-27-articles.md` says of published figures is what the program answers.

use std::path::Path;
use std::process::Command;

use crate::common::Place;

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
