//! Nodes that are named on the command line, and the program that they run.

use crate::error::FleetError;
use crate::launch::{Launcher, slurm_names};
use crate::ledger::NodeEntry;
use crate::message::LONGEST_NAME;

/// More nodes are named by a typing fault.
const MOST_NODES: usize = 100_000;

/// Refuses a name that cannot stand in lines of the protocol, in tables and in records. `what` is called so.
///
/// # Errors
/// [`FleetError::BadName`]
pub fn check_name(what: &str, name: &str) -> Result<(), FleetError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-:@".contains(c);
    if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(plain) {
        return Err(FleetError::BadName { what: what.to_owned(), name: name.to_owned() });
    }
    Ok(())
}

/// The nodes that were named, each as `NAME` or `NAME=TARGET`.
///
/// # Errors
/// Where a name is no name, or is there twice.
pub fn entries(named: &[String], target: &str, via: Launcher) -> Result<Vec<NodeEntry>, FleetError> {
    let mut nodes: Vec<NodeEntry> = Vec::new();
    for node in named {
        let (names, target) = node.split_once('=').unwrap_or((node, target));
        let names = match via {
            // It knows its nodes, and how they are numbered.
            Launcher::Slurm => slurm_names(names).map_err(FleetError::SlurmNames)?,
            _ => in_brackets(names).ok_or_else(|| FleetError::BadRange(node.clone()))?,
        };
        for name in names {
            check_name("node", &name)?;
            if name.starts_with('-') || target.is_empty() {
                return Err(FleetError::BadNode(node.clone()));
            }
            if nodes.iter().any(|entry| entry.name == name) {
                return Err(FleetError::TwiceNamed(name));
            }
            nodes.push(NodeEntry::new(&name, target));
        }
    }
    Ok(nodes)
}

/// Expands `node[01-28]` into names, by Slurm's rules: numbers keep their leading zeros. `None` if the brackets hold anything
/// else than numbers and ranges, or more names than a run may have.
fn in_brackets(text: &str) -> Option<Vec<String>> {
    let Some((before, rest)) = text.split_once('[') else {
        return (!text.contains(']')).then(|| vec![text.to_owned()]);
    };
    let (numbers, after) = rest.split_once(']')?;
    let ends = in_brackets(after)?;
    let mut names = Vec::new();
    for range in numbers.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let number = |text: &str| {
            let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse::<usize>().ok().filter(|_| plain)
        };
        let (from, to) = (number(first)?, number(last)?);
        let count = to.checked_sub(from)?.checked_add(1)?.checked_mul(ends.len())?;
        if count.checked_add(names.len())? > MOST_NODES {
            return None;
        }
        let width = first.len();
        names.extend((from..=to).flat_map(|at| ends.iter().map(move |end| format!("{before}{at:0width$}{end}"))));
    }
    Some(names)
}

/// The program on the nodes: the one that is `named`, or else this one here, and one of its name elsewhere.
///
/// # Errors
/// Where the path of this one is not known, or is not text.
pub fn program(named: Option<&str>, via: Launcher) -> Result<String, FleetError> {
    if let Some(program) = named {
        return Ok(program.to_owned());
    }
    if via != Launcher::Local {
        return Ok("assay".to_owned());
    }
    let path = std::env::current_exe().map_err(FleetError::ProgramUnknown)?;
    path.into_os_string().into_string().map_err(|_| FleetError::ProgramNotText)
}

/// Names the newest run, as `last` names the newest record elsewhere.
pub const LAST_RUN: &str = "last";

/// The place of the run that is called so, or begins so; of [`LAST_RUN`] the first, as names come with the newest first.
///
/// # Errors
/// [`FleetError::UnknownRun`] or [`FleetError::SeveralRuns`]
pub fn run_named<'a>(names: impl Iterator<Item = &'a str> + Clone, wanted: &str) -> Result<usize, FleetError> {
    if let Some(exact) = names.clone().position(|name| name == wanted) {
        return Ok(exact);
    }
    if wanted == LAST_RUN && names.clone().next().is_some() {
        return Ok(0);
    }
    let found: Vec<usize> = names.enumerate().filter(|(_, name)| name.starts_with(wanted)).map(|(at, _)| at).collect();
    match found.as_slice() {
        [one] => Ok(*one),
        [] => Err(FleetError::UnknownRun(wanted.to_owned())),
        _ => Err(FleetError::SeveralRuns(wanted.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_named_once_each_with_a_target() {
        let entries = |named: &[&str]| {
            let named: Vec<String> = named.iter().map(|name| (*name).to_owned()).collect();
            entries(&named, ".", Launcher::Ssh)
        };
        let found = entries(&["a", "b=/m", "c@d:1=x=y"]).unwrap();
        let found: Vec<_> = found.iter().map(|entry| (entry.name.as_str(), entry.target.as_str())).collect();
        assert_eq!(found, [("a", "."), ("b", "/m"), ("c@d:1", "x=y")]);
        assert!(matches!(entries(&["a", "a=/m"]), Err(FleetError::TwiceNamed(name)) if name == "a"));
        assert!(matches!(entries(&["-a"]), Err(FleetError::BadNode(_))));
        assert!(matches!(entries(&["a="]), Err(FleetError::BadNode(_))));
        assert!(matches!(entries(&["a b"]), Err(FleetError::BadName { .. })));
        for other in ["a,b", "host:/mnt"] {
            let refused = entries(&[other]).unwrap_err().to_string();
            assert!(refused.contains("NAME=TARGET, each an argument of its own"), "{refused}");
        }
    }

    #[test]
    fn many_nodes_are_named_by_their_numbers() {
        let names = |text: &str| in_brackets(text).unwrap_or_default().join(" ");
        assert_eq!(names("node[08-11]"), "node08 node09 node10 node11");
        assert_eq!(names("n[1,3-4]"), "n1 n3 n4");
        assert_eq!(names("r[1-2]n[1-2]x"), "r1n1x r1n2x r2n1x r2n2x");
        assert_eq!(names("pi@n[9-10].lan"), "pi@n9.lan pi@n10.lan");
        for bad in ["n[1-", "n1]", "n[]", "n[a-b]", "n[3-1]", "n[1-9999999]", "n[+1]", "n[1-2"] {
            assert_eq!(in_brackets(bad), None, "{bad}");
        }
        let found = entries(&["n[1-2]=/m".to_owned(), "n3".to_owned()], "/c", Launcher::Ssh).unwrap();
        let found: Vec<_> = found.iter().map(|entry| format!("{}={}", entry.name, entry.target)).collect();
        assert_eq!(found, ["n1=/m", "n2=/m", "n3=/c"]);
    }

    #[test]
    fn a_run_is_named_by_its_beginning() {
        let named = |wanted: &str| run_named(["ab2", "ab1", "ab"].into_iter(), wanted);
        assert_eq!([named("ab").unwrap(), named("ab1").unwrap(), named("last").unwrap()], [2, 1, 0]);
        assert!(matches!(named("a"), Err(FleetError::SeveralRuns(_))));
        assert!(matches!(named("x"), Err(FleetError::UnknownRun(_))));
        assert!(matches!(run_named([].into_iter(), "last"), Err(FleetError::UnknownRun(_))));
    }
}
