//! An option has one name, one meaning and one value name in all commands, and the help on queries is the same.

use std::collections::{BTreeMap, BTreeSet};

use clap::{Arg, Command, CommandFactory, Parser};

use super::Cli;

/// Options whose help differs between commands, with what each text begins with. Two beginnings are two meanings, which
/// somebody found near enough to bear one name.
const REVIEWED: [(&str, &[&str]); 15] = [
    ("all", &["Show everything in full: "]),
    ("dir", &["Directory to write "]),
    ("format", &["Format of what is written"]),
    ("json", &["Print one JSON document"]),
    // How sure an answer has to be: an interval, an order, or a choice.
    ("level", &["Confidence level: "]),
    // A load decides, or nothing but a load is wanted.
    ("load", &["Load that decides", "Only "]),
    ("nodes", &["Nodes"]),
    // A report beside what is shown, the answer in place of it, or what the command is for.
    ("output", &["Also write a report; ", "Write the answer to a file instead; ", "File to write"]),
    ("program", &["The program assay on the nodes; "]),
    // What was interrupted goes on, and on a cluster what is missing is repeated.
    ("resume", &["Resume ", "Repeat nodes whose record is missing"]),
    ("seed", &["Seed of the draws; "]),
    // A run has one area, a job file as many as jobs, and a question about a cache is about its size.
    ("size", &["Size of the test area, ", "Size of each job, ", "Size of the cache on the stick; "]),
    ("suite", &["Suite by name, "]),
    ("target", &["What is measured"]),
    ("via", &["How nodes are reached"]),
];

/// An option of a command.
struct Use {
    command: String,
    help: String,
    value: Option<String>,
}

fn each<'c>(command: &'c Command, path: &str, visit: &mut impl FnMut(&str, &'c Arg)) {
    let path = format!("{path} {}", command.get_name());
    command.get_arguments().for_each(|argument| visit(&path, argument));
    for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
        each(below, &path, visit);
    }
}

fn options() -> BTreeMap<String, Vec<Use>> {
    let mut command = Cli::command();
    command.build();
    let mut all: BTreeMap<String, Vec<Use>> = BTreeMap::new();
    each(&command, "", &mut |path, argument| {
        let Some(long) = argument.get_long().filter(|long| !["help", "version"].contains(long)) else { return };
        let takes_values = argument.get_num_args().is_some_and(|number| number.takes_values());
        let names = argument.get_value_names().unwrap_or_default();
        all.entry(long.to_owned()).or_default().push(Use {
            command: path.to_owned(),
            help: argument.get_help().map(ToString::to_string).unwrap_or_default(),
            value: takes_values.then(|| names.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(" ")),
        });
    });
    all
}

#[test]
fn an_option_means_the_same_in_every_command() {
    let mut wrong = Vec::new();
    for (name, uses) in options() {
        let texts: BTreeSet<&str> = uses.iter().map(|one| one.help.as_str()).collect();
        let reviewed = REVIEWED.iter().find(|(option, _)| *option == name).map(|(_, beginnings)| *beginnings);
        let begins = |text: &str, beginnings: &[&str]| beginnings.iter().any(|begin| text.starts_with(begin));
        match reviewed {
            None if texts.len() > 1 => wrong.push(format!("--{name}: several texts of help: {texts:#?}")),
            None => {}
            Some(_) if texts.len() == 1 => wrong.push(format!("--{name}: one text needs no review")),
            Some(beginnings) => {
                let other = uses.iter().filter(|one| !begins(&one.help, beginnings));
                wrong.extend(other.map(|one| format!("--{name} of{}: {}", one.command, one.help)));
                let unused = beginnings.iter().filter(|begin| !texts.iter().any(|text| text.starts_with(**begin)));
                wrong.extend(unused.map(|begin| format!("--{name}: nothing begins with `{begin}`")));
            }
        }
    }
    assert!(wrong.is_empty(), "one name for one thing, or a line in REVIEWED:\n{}", wrong.join("\n"));
}

#[test]
fn a_value_has_the_same_name_in_every_command() {
    for (name, uses) in options() {
        let values: BTreeSet<&str> = uses.iter().filter_map(|one| one.value.as_deref()).collect();
        assert!(values.len() <= 1, "--{name}: {values:?}");
    }
}

/// What is read by the same grammar is called by the same name, and told by the same sentence.
#[test]
fn every_query_is_told_of_alike() {
    let mut command = Cli::command();
    command.build();
    let (mut sentences, mut seen): (BTreeSet<String>, usize) = (BTreeSet::new(), 0);
    each(&command, "", &mut |path, argument| {
        let id = argument.get_id().as_str();
        let query = argument.get_value_names().is_some_and(|names| names.iter().any(|name| name == "QUERY"));
        assert!(query || !["queries", "query"].contains(&id), "{path}: {id} is a query, and not called QUERY");
        if query {
            seen += 1;
            let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
            sentences.insert(help.split_once(": ").map(|(_, sentence)| sentence.to_owned()).unwrap_or(help));
            let several = argument.get_num_args().is_some_and(|number| number.max_values() > 1);
            // Behind the query of `label` stand labels, which look like its conditions.
            let several = several || matches!(argument.get_action(), clap::ArgAction::Append);
            assert!(several || path.trim() == "assay label", "{path}: one query only");
        }
    });
    assert!(seen >= 15, "{seen} queries");
    // Of any records, and of those of the store.
    assert_eq!(sentences.len(), 2, "{sentences:#?}");
}

#[test]
fn an_option_has_one_name() {
    let command = Cli::command();
    each(&command, "", &mut |path, argument| {
        assert!(argument.get_all_aliases().unwrap_or_default().is_empty(), "{path}: {}", argument.get_id());
        assert!(!argument.is_hide_set(), "{path}: {} is hidden", argument.get_id());
    });
}

#[test]
fn a_level_is_a_share_or_percent() {
    let read = |words: &[&str]| match Cli::try_parse_from([&["assay", "rank"], words].concat()).unwrap().command {
        super::Command::Rank(args) => args.alpha(),
        _ => unreachable!("another command"),
    };
    let alphas = [&[][..], &["--level", "95%"], &["--level", "99 %"], &["--level", "0.999"]].map(read);
    assert_eq!(alphas, [0.05, 0.05, 0.01, 0.001]);
}
