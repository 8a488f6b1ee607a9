//! `assay` without a command on a terminal: asks what to do with which medium, and shows the commands that do it.

use std::path::{Path, PathBuf};

use assay_analysis::plan::quoted_line;
use assay_core::exit::Exit;
use assay_core::text::clean;
use assay_device::{SurveyedMedium, Sysroot, TargetInfo, What, look, survey};
use assay_engine::Control;

use crate::ending::Failure;
use crate::output::{self, Questions, operand};
use crate::signals;

/// A medium to choose, and how it is used.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Choice {
    path: PathBuf,
    holds: Holds,
}

/// What the path of a medium holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// A device without a mount.
    Device,
    /// The file system of the system, which a check must not fill.
    System,
    /// Another file system.
    Files,
}

impl Holds {
    fn new(target: &TargetInfo) -> Self {
        match target.medium.mount_point.as_deref() {
            _ if target.raw => Self::Device,
            Some("/") => Self::System,
            _ => Self::Files,
        }
    }
}

/// What can be done with a medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Task {
    Speed,
    Genuine,
    Both,
}

/// Asks, and runs the commands that the answers stand for. Where questions cannot be answered, help is printed instead.
pub(crate) fn guide(questions: &mut Questions) -> Result<Exit, Failure> {
    let media = list()?;
    let chosen = match ask_medium(questions, &media)? {
        Some(medium) => ask_task(questions, medium.holds).map(|task| (medium, task)),
        None => None,
    };
    let Some((medium, task)) = chosen else {
        output::tell("nothing was chosen, and nothing was done; assay --help lists all commands");
        return Ok(Exit::Good);
    };
    // Ctrl-C reaches the command, which cleans up; this process waits for it.
    let control = Control::default();
    signals::stop_on_signals(&control)?;
    let mut answer = Exit::Good;
    for words in commands(&medium, task) {
        output::tell(&format!("$ {}", quoted_line(&words, usize::MAX).join(" ")));
        let exit = run(&words)?;
        // The speed of a medium that loses data, or a run after Ctrl-C, is of no use.
        if !matches!(exit, Exit::Good | Exit::CannotTell) || control.stopped() {
            return Ok(exit);
        }
        answer = if answer == Exit::Good { exit } else { answer };
    }
    Ok(answer)
}

/// Runs a command of this program. A run and a check end their process, so each has its own.
fn run(words: &[String]) -> Result<Exit, Failure> {
    let program = std::env::current_exe().map_err(|error| Failure::environment(format!("this program: {error}")))?;
    let status = std::process::Command::new(&program).args(words).status();
    let status = status.map_err(|error| Failure::environment(format!("{}: {error}", output::shown(&program))))?;
    let code = status.code();
    Ok(Exit::ALL.into_iter().find(|exit| code == Some(i32::from(*exit as u8))).unwrap_or(Exit::Interrupted))
}

/// Shows the media of this machine by number.
fn list() -> Result<Vec<Choice>, Failure> {
    let found = survey(&Sysroot::real());
    output::print("assay measures storage media and checks whether they are genuine.\n\nMedia of this machine:")?;
    let places: Vec<(PathBuf, TargetInfo)> = own_places().collect();
    let choice = |one: &SurveyedMedium| {
        // A user can seldom write to the root of the system, but has a directory on the same disk.
        let near = places.iter().find(|(_, target)| !one.target.raw && target.devices == one.target.devices);
        let path = near.map_or(&one.path, |(path, _)| path).clone();
        Choice { path, holds: Holds::new(&one.target) }
    };
    let choices: Vec<Choice> = found.iter().map(choice).collect();
    for (number, (one, choice)) in (1..).zip(found.iter().zip(&choices)) {
        let state = if one.target.raw { "not mounted" } else { one.target.medium.kind.title() };
        let line = format!("{number:>3}  {}  {} ({state})", operand(&choice.path), clean(&one.target.medium.title()));
        output::print(&output::wrapped(&line, output::stdout_style().width))?;
    }
    if found.is_empty() {
        output::print("  none was found; name a directory on the medium")?;
    }
    Ok(choices)
}

/// Directories of the user: where the command was called, and the home directory.
fn own_places() -> impl Iterator<Item = (PathBuf, TargetInfo)> {
    let all = [std::env::current_dir().ok(), std::env::var_os("HOME").map(PathBuf::from)];
    all.into_iter().flatten().filter_map(|path| Some((path.clone(), look(&Sysroot::real(), &path).ok()?)))
}

/// The chosen medium; a number or a path.
fn ask_medium(questions: &mut Questions, media: &[Choice]) -> Result<Option<Choice>, Failure> {
    let range = if media.is_empty() { String::new() } else { format!("1 to {}, or ", media.len()) };
    loop {
        let Some(answer) = questions.ask(&format!("Which one? ({range}a path; Enter ends)")) else { return Ok(None) };
        if let Some(chosen) = answer.parse::<usize>().ok().and_then(|n| media.get(n.checked_sub(1)?)) {
            return Ok(Some(chosen.clone()));
        }
        let path = Path::new(&answer);
        match look(&Sysroot::real(), path) {
            Ok(target) if target.what != What::File => {
                return Ok(Some(Choice { path: path.to_owned(), holds: Holds::new(&target) }));
            }
            Ok(_) => output::tell(&format!("{} is a file; name its directory", output::shown(path))),
            Err(error) => output::tell(&error.to_string()),
        }
    }
}

/// Asks what to do; `None` if the user ends it.
fn ask_task(questions: &mut Questions, holds: Holds) -> Option<Task> {
    let (speed, genuine) = match holds {
        Holds::Device => {
            ("reads for about a minute; nothing is written", "writes in places, and puts everything back; minutes")
        }
        Holds::System => ("writes and reads a test file for about a minute", "1 GiB of the free space alone; a minute"),
        Holds::Files => ("writes and reads a test file for about a minute", "samples free space; seconds to minutes"),
    };
    output::tell(&format!("  1  its speed: {speed}\n  2  whether it is genuine: {genuine}\n  3  both"));
    loop {
        match questions.ask("What do you want to know? (1 to 3; Enter ends)")?.as_str() {
            "1" => return Some(Task::Speed),
            "2" => return Some(Task::Genuine),
            "3" => return Some(Task::Both),
            _ => output::tell("1, 2 or 3"),
        }
    }
}

/// The command lines, without the name of the program.
fn commands(medium: &Choice, task: Task) -> Vec<Vec<String>> {
    let words = |before: &[&str]| -> Vec<String> {
        let path = medium.path.to_string_lossy().into_owned();
        before.iter().map(|word| (*word).to_owned()).chain([path]).collect()
    };
    let genuine = match medium.holds {
        Holds::System => words(&["verify", "--bytes", "1GiB"]),
        Holds::Device | Holds::Files => words(&["verify", "--quick"]),
    };
    let speed = match medium.holds {
        Holds::Device => words(&["run", "--raw", "--suite", "read-only"]),
        Holds::System | Holds::Files => words(&["run"]),
    };
    match task {
        Task::Speed => vec![speed],
        Task::Genuine => vec![genuine],
        Task::Both => vec![genuine, speed],
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::Cli;

    /// Every offered command is one that the program has, and none of them writes to a device for good.
    #[test]
    fn each_answer_stands_for_commands_that_parse() {
        for holds in [Holds::Device, Holds::System, Holds::Files] {
            let medium = Choice { path: PathBuf::from("/mnt/a card"), holds };
            for task in [Task::Speed, Task::Genuine, Task::Both] {
                for words in commands(&medium, task) {
                    assert!(!words.iter().any(|word| word.starts_with("--overwrite")), "{words:?}");
                    let parsed = Cli::try_parse_from(std::iter::once("assay".to_owned()).chain(words.clone()));
                    assert!(parsed.is_ok(), "{words:?}: {parsed:?}");
                }
            }
        }
    }
}
