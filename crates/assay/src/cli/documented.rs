//! Each command line in the documentation, read by the program's own parser.

use clap::Parser;
use clap::error::ErrorKind;

use super::Cli;

#[path = "../../tests/common/pages.rs"]
mod pages;

use pages::{blocks, pages};

/// Words as a shell divides them: quotation marks keep blanks. `None` where one is not closed.
fn words(line: &str) -> Option<Vec<String>> {
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
    let words = words(line)?;
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
    assert_eq!(words("assay rank model='A B' \"\" x").unwrap(), ["assay", "rank", "model=A B", "", "x"]);
    assert_eq!(words("assay 'x"), None);
    assert_eq!(command("$ assay list | less").unwrap(), ["assay", "list"]);
    assert_eq!(command("cd /mnt && fio x"), None);
}
