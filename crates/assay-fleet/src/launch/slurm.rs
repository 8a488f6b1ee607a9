//! Nodes by Slurm: an srun(1) for each, so that the key on its standard input is that of the node alone.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use super::process::{Launched, NodeEnd, OutputEvent, OutputReader};
use super::request;
use super::request::{Launch, NodeGroup, NodePlace};

/// What a task says of itself begins so.
const OWN: &str = "assay: ";

/// A node's own part: takes its key, says who it is, and how it ended. What follows the key is the suite, which is left to the
/// program. Command lines are there for all to read.
const SCRIPT: &str = r#"IFS= read -r ASSAY_FLEET_KEY || exit 1
export ASSAY_FLEET_KEY
echo "assay: node $SLURMD_NODENAME" >&2
"$@"
code=$?
echo "assay: ended $code" >&2
exit $code"#;

/// Starts all nodes that Slurm can give; the others are groups of their own, with the reason.
pub(super) fn start(launch: &Launch<'_>) -> Vec<NodeGroup> {
    let names = launch.places.iter().map(|place| place.node.as_str()).collect::<Vec<_>>().join(",");
    let listed = match output("sinfo", ["--all", "--Node", "--noheader", "--nodes", &names, "--format", "%N %t %E"]) {
        Ok(text) => text,
        Err(error) => return launch.places.iter().enumerate().map(|(n, _)| refused(n, &error.to_string())).collect(),
    };
    let states = states(&listed);
    // Within an allocation its nodes alone can be had, and they are allocated; outside of one, nodes with nothing to do.
    let allocated = match std::env::var("SLURM_JOB_NODELIST").ok().map(|list| slurm_names(&list)).transpose() {
        Ok(allocated) => allocated,
        Err(error) => return launch.places.iter().enumerate().map(|(n, _)| refused(n, &error.to_string())).collect(),
    };
    let mut groups = Vec::new();
    for (number, place) in launch.places.iter().enumerate() {
        match states.get(place.node.as_str()) {
            None => groups.push(refused(number, "Slurm has no node of this name")),
            Some(_) if allocated.as_ref().is_some_and(|own| !own.contains(&place.node)) => {
                groups.push(refused(number, "it is not in the allocation that this runs in"));
            }
            Some(state) if !usable(state.name, allocated.is_some()) => {
                groups.push(refused(number, &state.words()));
            }
            Some(_) => {
                groups.push(NodeGroup { places: vec![number], launched: srun(launch, place, allocated.is_some()) })
            }
        }
    }
    groups
}

/// Names of nodes for an expression like `node[1-28]`.
///
/// # Errors
/// Where scontrol(1) is missing, or does not understand it.
pub fn slurm_names(expression: &str) -> io::Result<Vec<String>> {
    if expression.starts_with('-') {
        return Err(io::Error::other(format!("{expression} is not a node name")));
    }
    let names: Vec<String> =
        output("scontrol", ["show", "hostnames", expression])?.lines().map(str::to_owned).collect();
    if names.is_empty() { Err(io::Error::other(format!("'{expression}' names no node"))) } else { Ok(names) }
}

fn refused(number: usize, reason: &str) -> NodeGroup {
    NodeGroup { places: vec![number], launched: Err(io::Error::other(reason.to_owned())) }
}

fn output<'a>(program: &str, arguments: impl IntoIterator<Item = &'a str>) -> io::Result<String> {
    let words = |reason: String| io::Error::other(format!("{program}: {reason}"));
    let output = bare(program).args(arguments).stdin(Stdio::null()).output().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => words("not found; the package slurm-client has it".to_owned()),
        _ => words(error.to_string()),
    })?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(words(said.lines().next().unwrap_or("it failed").to_owned()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A command that the user's settings of sinfo do not change.
fn bare(program: &str) -> Command {
    let mut command = Command::new(program);
    let own = std::env::vars_os().map(|(name, _)| name);
    own.filter(|name| name.to_string_lossy().starts_with("SINFO_")).for_each(|name| {
        command.env_remove(name);
    });
    command
}

/// What sinfo says of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct State<'a> {
    /// Its compact state.
    name: &'a str,
    /// Why it cannot be used, as an administrator or Slurm noted it.
    reason: Option<&'a str>,
}

impl<'a> State<'a> {
    fn read(text: &'a str) -> Self {
        let (name, reason) = text.split_once(' ').unwrap_or((text, ""));
        Self { name, reason: Some(reason.trim()).filter(|reason| !matches!(*reason, "" | "none" | "(null)")) }
    }

    fn words(self) -> String {
        let silent = if self.name.ends_with('*') { ", and does not respond" } else { "" };
        let reason = self.reason.map_or_else(String::new, |reason| format!(": {reason}"));
        format!("Slurm says it is {}{silent}{reason}", self.name)
    }
}

/// The state of each node. One that is in several partitions is listed several times.
fn states(text: &str) -> HashMap<&str, State<'_>> {
    text.lines().filter_map(|line| line.split_once(' ')).map(|(node, rest)| (node, State::read(rest.trim()))).collect()
}

/// Whether a node can be used, by sinfo's compact state; `*` marks a node that does not respond. A drained node can
/// still be used by an existing allocation. Without an allocation only idle nodes are used, because the work of others
/// would be measured, too.
fn usable(state: &str, allocated: bool) -> bool {
    let name = state.trim_end_matches(|c: char| !c.is_ascii_alphabetic());
    if state.ends_with('*') {
        return false;
    }
    name == "idle" || (allocated && ["alloc", "mix", "drain", "drng", "comp", "resv", "maint"].contains(&name))
}

fn srun(launch: &Launch<'_>, place: &NodePlace, allocated: bool) -> io::Result<Launched> {
    srun_by(Path::new("srun"), launch, place, allocated)
}

fn srun_by(program: &Path, launch: &Launch<'_>, place: &NodePlace, allocated: bool) -> io::Result<Launched> {
    let mut command = Command::new(program);
    command.arg(format!("--job-name=assay-{}", launch.run)).arg(format!("--nodelist={}", place.node));
    command.args(["--nodes=1", "--ntasks=1", "--ntasks-per-node=1", "--immediate", "--mpi=none", "--label"]);
    if !allocated {
        // Reserves the nodes, so that no other job measures or computes there.
        command.arg("--exclusive");
    }
    command.args(["sh", "-c", SCRIPT, "assay", launch.program]).args(request::command_arguments(launch, place));
    let input = format!("{}\n{}", launch.key.of_node(&place.node).to_hex(), launch.suite.unwrap_or_default());
    Launched::several(command, &input, reader(place.node.clone())).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => io::Error::other("srun: not found; the package slurm-client has it"),
        _ => error,
    })
}

/// Parses lines of `srun --label`: `0: TEXT` is from the node, other lines are from Slurm. The node first sends its
/// name.
fn reader(node: String) -> OutputReader {
    let mut known = false;
    Box::new(move |line| {
        let Some(text) = line.trim_start().strip_prefix("0: ") else { return OutputEvent::Plain(line.to_owned()) };
        let own = text.strip_prefix(OWN).and_then(|text| text.split_once(' '));
        match own {
            Some(("node", name)) if !known && name == node => {
                known = true;
                OutputEvent::Known(0)
            }
            Some(("ended", code)) if known => {
                let words = format!("it ended with exit code {code}");
                OutputEvent::Ended(0, NodeEnd { words, code: code.parse().ok(), reached: true })
            }
            _ if known => OutputEvent::Said(0, text.to_owned()),
            _ => OutputEvent::Plain(text.to_owned()),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(words: &str, code: i32) -> NodeEnd {
        NodeEnd { words: words.to_owned(), code: Some(code), reached: true }
    }

    #[test]
    fn nodes_that_cannot_be_had_are_told_by_their_state() {
        for able in ["idle", "idle~", "idle#"] {
            assert!(usable(able, false) && usable(able, true), "{able}");
        }
        for of_somebody in ["mix", "alloc", "comp", "drain", "drng", "resv", "maint"] {
            assert!(!usable(of_somebody, false) && usable(of_somebody, true), "{of_somebody}");
        }
        for unable in ["down", "down*", "idle*", "alloc*", "fail", "unk", "unk*", "inval", "futr", ""] {
            assert!(!usable(unable, true), "{unable}");
        }
        let states =
            states("n1 idle none\nn2 down* Not responding\nn1 idle none\nn4 drain the fan is broken\nn5 alloc\n");
        assert_eq!((states["n1"].name, states["n2"].name, states.get("n3")), ("idle", "down*", None));
        assert_eq!(states["n2"].words(), "Slurm says it is down*, and does not respond: Not responding");
        assert_eq!(states["n4"].words(), "Slurm says it is drain: the fan is broken");
        assert_eq!(states["n5"].words(), "Slurm says it is alloc");
    }

    #[test]
    fn what_a_node_says_is_told_from_what_slurm_says() {
        let mut reader = reader("n2".to_owned());
        let mut event_of = |line: &str| reader(line);
        let plain = |text: &str| OutputEvent::Plain(text.to_owned());
        assert_eq!(event_of("srun: job 3 queued"), plain("srun: job 3 queued"));
        assert_eq!(event_of("0: assay: node n1"), plain("assay: node n1"), "it was asked for another");
        assert_eq!(event_of("0: sh: no such file"), plain("sh: no such file"));
        assert_eq!(event_of("0: assay: ended 4"), plain("assay: ended 4"));
        assert_eq!(event_of("0: assay: node n2"), OutputEvent::Known(0));
        assert_eq!(event_of("0: error: no space"), OutputEvent::Said(0, "error: no space".to_owned()));
        assert_eq!(event_of("srun: error: task 0 exited"), plain("srun: error: task 0 exited"));
        assert_eq!(event_of("0: assay: ended 4"), OutputEvent::Ended(0, end("it ended with exit code 4", 4)));
    }

    #[test]
    fn a_task_is_told_its_key_and_what_follows_is_left_to_the_program() {
        let mut command = Command::new("sh");
        let program = "read -r line; echo $ASSAY_FLEET_KEY \"$@\" $line >&2; exit 3";
        command.args(["-c", SCRIPT, "assay", "sh", "-c", program, "run", "a b", "--", "/mnt/b c\\d"]);
        command.env("SLURMD_NODENAME", "n2");
        let mut reader = reader("n2".to_owned());
        let mut launched =
            Launched::several(command, "KEY\nsuite\n", Box::new(move |line| reader(&format!("0: {line}")))).unwrap();
        while launched.ended().is_none() || launched.last_line(0).is_empty() || launched.node_ended(0).is_none() {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        assert_eq!(launched.last_line(0), "KEY a b -- /mnt/b c\\d suite");
        assert_eq!(launched.node_ended(0), Some(end("it ended with exit code 3", 3)));
    }

    /// Threat 4.1: what one task is given, no other gets.
    #[test]
    fn a_node_of_slurm_gets_no_key_but_its_own() {
        // Replaces srun, and prints its arguments and input.
        let bin = tempfile::tempdir().unwrap();
        let srun = bin.path().join("srun");
        std::fs::write(&srun, "#!/bin/sh\necho \"0: assay: node n2\" >&2\necho \"0: $2 $(cat)\" >&2\n").unwrap();
        std::fs::set_permissions(&srun, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let key = crate::RunKey::new().unwrap();
        let place = |node: &str| NodePlace {
            node: node.to_owned(),
            target: "/m".to_owned(),
            rendezvous: "h:1".to_owned(),
            tunnel: None,
            cell: None,
        };
        let places = vec![place("n1"), place("n2")];
        let launch = Launch {
            run: "r",
            program: "assay",
            arguments: vec!["run".to_owned()],
            suite: None,
            key: &key,
            places,
            inventory: None,
        };
        let mut launched = srun_by(&srun, &launch, &launch.places[1], false).unwrap();
        while launched.ended().is_none() || launched.last_line(0).is_empty() {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        let said = launched.last_line(0);
        assert!(said.contains("--nodelist=n2") && said.ends_with(&key.of_node("n2").to_hex()), "{said}");
        assert!(!said.contains(&key.of_node("n1").to_hex()[..16]), "{said}");
    }
}
