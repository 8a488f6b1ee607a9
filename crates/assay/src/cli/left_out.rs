//! What the program of a node leaves out.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Commands of the whole program that are no part of that of a node.
pub(crate) const COMMANDS: [&str; 11] =
    ["compare", "baseline", "rank", "plan", "advise", "fleet", "import", "export", "report", "completions", "man"];

/// One line for a command that is left out; `None` where the mistake is another.
pub(crate) fn line(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    let left_out = error.kind() == ErrorKind::InvalidSubcommand && COMMANDS.contains(&word.as_str());
    left_out.then(|| {
        format!(
            "`{word}` is not part of this program, which is built for nodes; `assay show all --json` prints the records for \
             the whole program, which takes them by `assay import -`"
        )
    })
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn what_is_left_out_is_a_command_of_the_whole_program() {
        let command = Cli::command();
        let there = |name: &str| command.get_subcommands().any(|own| own.get_name() == name);
        assert!(COMMANDS.iter().all(|name| there(name) == cfg!(feature = "whole")));
    }

    #[test]
    fn a_typing_error_is_no_command_that_is_left_out() {
        assert_eq!(line(&Cli::try_parse_from(["assay", "rnu"]).unwrap_err()), None);
        assert_eq!(line(&Cli::try_parse_from(["assay", "run", "--nothing"]).unwrap_err()), None);
    }
}
