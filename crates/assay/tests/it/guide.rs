//! `assay` without a command: questions at a terminal, help elsewhere.

use crate::common::{AtTerminal, Place, Terminal, run};

#[test]
fn a_person_at_a_terminal_is_asked_and_sees_the_command() {
    if Terminal::new("a_person_at_a_terminal_is_asked_and_sees_the_command").is_none() {
        return;
    }
    let place = Place::new();
    let mut terminal = AtTerminal::new(&place, "");
    terminal.waits_for("Which one?", 1);
    terminal.presses("/no/such/place\n");
    terminal.waits_for("Which one?", 2);
    terminal.presses(&format!("{}\n", place.path().display()));
    terminal.waits_for("What do you want to know?", 1);
    terminal.presses("fast\n");
    terminal.waits_for("What do you want to know?", 2);
    terminal.presses("\n");
    let (said, code) = terminal.ended();
    assert_eq!(code, Some(0), "{said}");
    for words in ["Media of this machine", "/no/such/place: no such", "its speed", "nothing was done"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert_eq!(place.json(["list", "--json"]).as_array().unwrap().len(), 0);
}

/// A check that ends before it writes shows that the command runs, and that its exit code is that of the whole.
#[test]
fn the_chosen_command_runs_and_its_exit_code_counts() {
    if Terminal::new("the_chosen_command_runs_and_its_exit_code_counts").is_none() {
        return;
    }
    let place = Place::new();
    let mut terminal = AtTerminal::new(&place, "");
    terminal.waits_for("Which one?", 1);
    terminal.presses("/proc\n");
    terminal.waits_for("What do you want to know?", 1);
    terminal.presses("3\n");
    let (said, code) = terminal.ended();
    assert!(said.contains("$ assay verify --quick /proc"), "{said}");
    assert!(!said.contains("$ assay run"), "a check that failed ends it: {said}");
    assert_eq!(code, Some(4), "{said}");
}

#[test]
fn without_a_terminal_there_is_help() {
    let place = Place::new();
    let done = run(place.assay(Vec::<&str>::new()));
    assert_eq!(done.code, Some(2), "{}{}", done.stdout, done.stderr);
    assert!(done.stderr.contains("Usage: assay <COMMAND>"), "{}", done.stderr);
}
