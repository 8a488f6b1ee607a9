//! The command line agrees with itself and with the documentation: an option has one name, one meaning and one value name in all
//! commands, the help on queries is the same, and each command line in the documentation is understood.

use std::collections::{BTreeMap, BTreeSet};

use clap::error::ErrorKind;
use clap::{Arg, Command, CommandFactory, Parser};
use pages::{blocks, pages};

use super::Cli;

/// Options whose help differs between commands, with what each text begins with. Two beginnings are two meanings, which
/// somebody found near enough to bear one name.
const REVIEWED: [(&str, &[&str]); 23] = [
    ("all", &["Show everything in full: "]),
    // Records are grouped by what they are, units of a sheet by a column of it.
    ("by", &["Make a group of each ", "What makes a group: "]),
    ("dir", &["Directory to write "]),
    ("format", &["Format of what is written"]),
    ("json", &["Print one JSON document"]),
    // How sure an answer has to be: an interval, an order, or a choice.
    ("level", &["Confidence level: "]),
    // Browsers, nodes or tests of power cuts connect.
    ("listen", &["Address that "]),
    // A load decides, or nothing but a load is wanted.
    ("load", &["Load that decides", "Only "]),
    // A medium names itself, a cluster does not.
    ("named", &["Name of the watch; made of that of the medium", "Name of the watch; the medium of a node"]),
    ("nodes", &["Nodes"]),
    // A report beside what is shown, the answer in place of it, or what the command is for.
    (
        "output",
        &["Also write a report; ", "Write the answer to a file instead; ", "File to write", "With --status and the id"],
    ),
    ("program", &["The program assay on the nodes; "]),
    // What a check kept, or what the last cycle of a test wrote.
    ("read-back", &["Read what an earlier check", "Read what the last cycle"]),
    // What was interrupted goes on, and on a cluster what is missing is repeated.
    ("resume", &["Resume ", "Repeat nodes whose record is missing"]),
    ("seed", &["Seed of the random numbers; "]),
    // A run has one area, a job file as many as jobs, and a question about a cache is about its size.
    ("size", &["Size of the test area, ", "Size of each job, ", "Size of the cache on the stick; "]),
    // Of wear, and of power cuts.
    ("status", &["Show all tests; "]),
    ("suite", &["Suite by name, "]),
    ("target", &["What is measured"]),
    // Of a page, or of an account.
    ("token-file", &["File with a token of "]),
    // A check may end at its first loss, a test of endurance at what was asked for.
    ("until", &["Stop at the first sector ", "End of the test: "]),
    ("via", &["How nodes are reached"]),
    // In trouble, or after a cut.
    ("wait", &["Longest wait for a medium "]),
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

// Each command line in the documentation, read by the program's own parser.

#[path = "../../tests/common/pages.rs"]
mod pages;

/// Words as a shell divides them: quotation marks keep blanks. `None` where one is not closed.
fn shell_words(line: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote, mut begun) = (Vec::new(), String::new(), None, false);
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), c) => word.push(c),
            (None, '\'' | '"') => (quote, begun) = (Some(c), true),
            (None, c) if c.is_whitespace() => {
                if begun || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            (None, c) => word.push(c),
        }
    }
    if begun || !word.is_empty() {
        words.push(word);
    }
    quote.is_none().then_some(words)
}

/// The command of a line without what the shell does with it, and without words beside it.
fn command(line: &str) -> Option<Vec<String>> {
    let line = line.trim().trim_start_matches("$ ");
    let words = shell_words(line)?;
    let shell = |word: &String| ["|", "&&", ">", "||", ";", "#"].contains(&word.as_str()) || word.starts_with('>');
    let words: Vec<String> = words.into_iter().take_while(|word| !shell(word)).collect();
    (words.first().is_some_and(|first| first == "assay")).then_some(words)
}

/// Mentions in running text: between single backquotes.
fn mentions(page: &str) -> Vec<String> {
    let mut fenced = false;
    let prose = page.lines().filter(|line| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fence && !fenced && !line.starts_with("    ")
    });
    let prose = prose.collect::<Vec<_>>().join("\n");
    prose.split('`').skip(1).step_by(2).map(|span| span.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// Why the parser refuses; `None` where it does not.
fn refusal(words: &[String]) -> Option<clap::Error> {
    Cli::try_parse_from(words).err().filter(|error| error.use_stderr())
}

#[test]
fn every_command_line_in_the_documentation_is_understood() {
    let mut read = 0;
    for (file, page) in pages() {
        for line in blocks(&page) {
            // Columns of a table or words beside a command stand two blanks behind it.
            let line = line.trim().split("  ").next().unwrap_or_default();
            let Some(words) = command(line) else { continue };
            read += 1;
            if let Some(error) = refusal(&words) {
                panic!("{}: {line}\n{error}", file.display());
            }
        }
    }
    assert!(read >= 15, "only {read} command lines were found");
}

/// In running text a mention may leave out what is not talked about, but has no command or option that is not there.
#[test]
fn every_command_that_the_documentation_mentions_is_there() {
    let mut read = 0;
    for (file, page) in pages() {
        for mention in mentions(&page) {
            let Some(words) = command(&mention) else { continue };
            let words: Vec<String> = words.into_iter().filter(|w| !w.contains(['…', '['])).collect();
            read += 1;
            let incomplete = [
                ErrorKind::MissingRequiredArgument,
                ErrorKind::MissingSubcommand,
                ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
                ErrorKind::InvalidValue,
                ErrorKind::TooFewValues,
            ];
            match refusal(&words) {
                Some(error) if !incomplete.contains(&error.kind()) => {
                    panic!("{}: `{mention}`\n{error}", file.display())
                }
                _ => {}
            }
        }
    }
    assert!(read >= 60, "only {read} mentions were found");
}

#[test]
fn a_line_is_divided_as_a_shell_does() {
    assert_eq!(shell_words("assay rank model='A B' \"\" x").unwrap(), ["assay", "rank", "model=A B", "", "x"]);
    assert_eq!(shell_words("assay 'x"), None);
    assert_eq!(command("$ assay list | less").unwrap(), ["assay", "list"]);
    assert_eq!(command("cd /mnt && fio x"), None);
}
