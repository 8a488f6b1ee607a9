//! Nodes by Slurm: one srun(1) for all, which hands each the key and its target by standard input.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io;
use std::process::{Command, Stdio};

use super::launcher_output::{NodeEnd, OutputEvent, Reader};
use super::process::Launched;
use super::what::{Group, Launch};

/// What a task says of itself begins so.
const OWN: &str = "assay: ";

/// A node's own part: finds its target and its labels by its name, says who it is, and how it ended. Of standard input an
/// empty line ends the labels of a node, another one the nodes; what follows is the suite. `sinfo` lists nodes by NodeName, which is
/// what slurmd(8) gives its tasks as `SLURMD_NODENAME`.
const SCRIPT: &str = r#"IFS= read -r ASSAY_FLEET_KEY || exit 1
export ASSAY_FLEET_KEY
while IFS= read -r node && [ "$node" ] && IFS= read -r rendezvous && IFS= read -r target; do
  while IFS= read -r label && [ "$label" ]; do
    if [ "$node" = "$SLURMD_NODENAME" ]; then set -- "$@" --label "$label"; fi
  done
  if [ "$node" = "$SLURMD_NODENAME" ]; then goal=$target meet=$rendezvous; fi
done
echo "assay: node $SLURMD_NODENAME" >&2
"$@" --label "node=$SLURMD_NODENAME" --rendezvous "$meet" --node "$SLURMD_NODENAME" -- "$goal"
code=$?
echo "assay: ended $code" >&2
exit $code"#;

/// Starts all nodes that Slurm can give; the others are groups of their own, with the reason.
pub(super) fn start(launch: &Launch<'_>) -> Vec<Group> {
    let names = launch.places.iter().map(|place| place.node.as_str()).collect::<Vec<_>>().join(",");
    let listed = match output("sinfo", ["--all", "--Node", "--noheader", "--nodes", &names, "--format", "%N %t"]) {
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
    let mut able = Vec::new();
    for (number, place) in launch.places.iter().enumerate() {
        match states.get(place.node.as_str()) {
            None => groups.push(refused(number, "Slurm has no node of this name")),
            Some(_) if allocated.as_ref().is_some_and(|own| !own.contains(&place.node)) => {
                groups.push(refused(number, "it is not in the allocation that this runs in"));
            }
            Some(state) if !usable(state, allocated.is_some()) => {
                groups.push(refused(number, &format!("Slurm says it is {state}")));
            }
            Some(_) => able.push(number),
        }
    }
    if !able.is_empty() {
        groups.push(Group { launched: srun(launch, &able, allocated.is_some()), places: able });
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

fn refused(number: usize, reason: &str) -> Group {
    Group { places: vec![number], launched: Err(io::Error::other(reason.to_owned())) }
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

/// The state of each node. One that is in several partitions is listed several times.
fn states(text: &str) -> HashMap<&str, &str> {
    text.lines().filter_map(|line| line.split_once(' ')).map(|(node, state)| (node, state.trim())).collect()
}

/// Whether a node can be had, by sinfo's compact state: `*` stands for one that does not answer. What is drained goes on with
/// the allocation that it has, and others' work on a node would be measured, too.
fn usable(state: &str, allocated: bool) -> bool {
    let name = state.trim_end_matches(|c: char| !c.is_ascii_alphabetic());
    if state.ends_with('*') {
        return false;
    }
    name == "idle" || (allocated && ["alloc", "mix", "drain", "drng", "comp", "resv", "maint"].contains(&name))
}

fn srun(launch: &Launch<'_>, able: &[usize], allocated: bool) -> io::Result<Launched> {
    let count = able.len().to_string();
    let mut input = launch.key.to_hex() + "\n";
    for place in able.iter().map(|number| &launch.places[*number]) {
        if place.target.contains('\n') {
            return Err(io::Error::other(format!("the target of {} has a line break", place.node)));
        }
        let _ = writeln!(input, "{}\n{}\n{}", place.node, place.rendezvous, place.target);
        for (key, value) in place.cell.iter().flat_map(|cell| cell.labels()) {
            let _ = writeln!(input, "{key}={value}");
        }
        input.push('\n');
    }
    input.push('\n');
    input.push_str(launch.suite.unwrap_or_default());
    let names: Vec<&str> = able.iter().map(|number| launch.places[*number].node.as_str()).collect();
    let mut command = Command::new("srun");
    command.arg(format!("--job-name=assay-{}", launch.run)).arg(format!("--nodelist={}", names.join(",")));
    command.args([&format!("--nodes={count}"), &format!("--ntasks={count}"), "--ntasks-per-node=1"]);
    // One that dies does not end the others, and none waits for nodes that are not to be had.
    command.args(["--no-kill", "--kill-on-bad-exit=0", "--wait=0", "--immediate", "--mpi=none", "--label"]);
    if !allocated {
        // Nobody else measures or computes there.
        command.arg("--exclusive");
    }
    command.args(["sh", "-c", SCRIPT, "assay", launch.program]).args(&launch.arguments);
    let nodes = names.into_iter().zip(0..).map(|(name, place)| (name.to_owned(), place)).collect();
    Launched::several(command, &input, reader(nodes)).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => io::Error::other("srun: not found; the package slurm-client has it"),
        _ => error,
    })
}

/// Understands lines of `srun --label`: `TASK: TEXT`. A task says which node it is first.
fn reader(nodes: HashMap<String, usize>) -> Reader {
    let mut tasks: HashMap<u32, usize> = HashMap::new();
    Box::new(move |line| {
        let labelled = line.split_once(": ").and_then(|(task, text)| Some((task.trim().parse().ok()?, text)));
        let Some((task, text)) = labelled else { return OutputEvent::Plain(line.to_owned()) };
        let own = text.strip_prefix(OWN).and_then(|text| text.split_once(' '));
        match (own, tasks.get(&task)) {
            (Some(("node", name)), None) => {
                // No node speaks for another.
                let free = nodes.get(name).filter(|place| !tasks.values().any(|known| known == *place)).copied();
                free.map_or(OutputEvent::Nothing, |place| {
                    tasks.insert(task, place);
                    OutputEvent::Known(place)
                })
            }
            (Some(("ended", code)), Some(place)) => {
                let words = format!("it ended with exit code {code}");
                OutputEvent::Ended(*place, NodeEnd { words, code: code.parse().ok(), reached: true })
            }
            (_, Some(place)) => OutputEvent::Said(*place, text.to_owned()),
            (_, None) => OutputEvent::Plain(text.to_owned()),
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
        let states = states("n1 idle\nn2 down*\nn1 idle\n");
        assert_eq!((states["n1"], states["n2"], states.get("n3")), ("idle", "down*", None));
    }

    #[test]
    fn each_task_speaks_for_the_node_that_it_named_first() {
        let mut reader = reader(HashMap::from([("n1".to_owned(), 0), ("n2".to_owned(), 1)]));
        let mut event_of = |line: &str| reader(line);
        assert_eq!(event_of("srun: job 3 queued"), OutputEvent::Plain("srun: job 3 queued".to_owned()));
        assert_eq!(event_of("1: assay: node n2"), OutputEvent::Known(1));
        assert_eq!(event_of("0: assay: node n2"), OutputEvent::Nothing, "it is taken");
        assert_eq!(event_of("1: error: no space"), OutputEvent::Said(1, "error: no space".to_owned()));
        assert_eq!(event_of("0: error: no space"), OutputEvent::Plain("error: no space".to_owned()));
        assert_eq!(event_of("1: assay: ended 4"), OutputEvent::Ended(1, end("it ended with exit code 4", 4)));
        assert_eq!(event_of("1: assay: node n1"), OutputEvent::Said(1, "assay: node n1".to_owned()), "once");
    }

    #[test]
    fn a_task_finds_its_target_and_is_told_the_key() {
        let mut command = Command::new("sh");
        let program = "read -r line; echo $ASSAY_FLEET_KEY \"$@\" $line >&2; exit 3";
        command.args(["-c", SCRIPT, "assay", "sh", "-c", program, "run", "a b"]);
        command.env("SLURMD_NODENAME", "n2");
        let input = "KEY\nn1\nh:1\n/mnt/a\nunit=1\n\nn2\nh:2\n/mnt/b c\\d\nunit=2 x\n\nn3\nh:3\n/mnt/e\n\n\nsuite\n";
        let nodes = HashMap::from([("n2".to_owned(), 0)]);
        let mut reader = reader(nodes);
        let mut launched =
            Launched::several(command, input, Box::new(move |line| reader(&format!("5: {line}")))).unwrap();
        while launched.ended().is_none() || launched.last_line(0).is_empty() || launched.node_ended(0).is_none() {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        assert_eq!(
            launched.last_line(0),
            "KEY a b --label unit=2 x --label node=n2 --rendezvous h:2 --node n2 -- /mnt/b c\\d suite"
        );
        assert_eq!(launched.node_ended(0), Some(end("it ended with exit code 3", 3)));
    }
}
