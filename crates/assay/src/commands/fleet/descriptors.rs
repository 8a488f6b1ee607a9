//! Open files for many nodes.

use crate::failure::Failure;
use crate::system;

/// A connection has two, and a launcher of a node a pipe to it and one from it.
const EACH: u64 = 4;
/// What the program itself needs, generously.
const OWN: u64 = 128;

/// Raises the soft limit as far as the nodes need: it is 1,024 on most systems.
pub(super) fn allow(nodes: usize) -> Result<(), Failure> {
    let wanted = OWN + EACH * nodes as u64;
    let Err(most) = system::allow_open_files(wanted) else { return Ok(()) };
    Err(Failure::environment(format!(
        "{nodes} nodes need {wanted} open files, and the limit is {most}; ulimit -n or LimitNOFILE= raises it"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_the_system_gives_is_refused_in_a_line() {
        allow(1).unwrap();
        use rustix::process::{Resource, getrlimit};
        let hard = getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX - 1);
        if let Ok(nodes) = usize::try_from(hard / EACH) {
            let refused = allow(nodes).unwrap_err();
            assert!(refused.message().contains("open files"), "{}", refused.message());
        }
    }
}
