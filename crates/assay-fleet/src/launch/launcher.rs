//! By what nodes are started, and nodes on this machine and by ssh.

use std::process::Command;

use assay_core::text::posix_word;

use super::process::Launched;
use super::request::{FarEnd, Launch, NodeGroup, NodePlace, Tunnel, command_arguments, shell_command};
use super::{ansible, slurm};
use crate::error::FleetError;
use crate::ledger::Ledger;

/// By what nodes are started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Launcher {
    /// As processes of this machine.
    Local,
    /// By the ssh of the system, a process for each node, through a tunnel to the coordinator.
    Ssh,
    /// By srun(1), one for all nodes.
    Slurm,
    /// By ansible-playbook(1), one for all nodes of an inventory.
    Ansible,
}

impl Launcher {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Local, Self::Ssh, Self::Slurm, Self::Ansible];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Ssh => "ssh",
            Self::Slurm => "slurm",
            Self::Ansible => "ansible",
        }
    }

    /// The one of this name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|launcher| launcher.name() == name)
    }

    /// By what the nodes of a run are started.
    ///
    /// # Errors
    /// [`FleetError::UnknownLauncher`]
    pub fn of_run(ledger: &Ledger) -> Result<Self, FleetError> {
        Self::of_name(&ledger.via).ok_or_else(|| FleetError::UnknownLauncher(ledger.via.clone()))
    }

    /// Starts all nodes; each is in one group.
    #[must_use]
    pub fn start(self, launch: &Launch<'_>) -> Vec<NodeGroup> {
        match self {
            Self::Slurm => slurm::start(launch),
            Self::Ansible => ansible::start(launch),
            Self::Local | Self::Ssh => {
                let start = if self == Self::Local { start_here } else { start_by_ssh };
                let places = launch.places.iter().enumerate();
                places
                    .map(|(number, place)| NodeGroup { places: vec![number], launched: start(launch, place) })
                    .collect()
            }
        }
    }
}

// Nodes that are processes of this machine.

fn start_here(launch: &Launch<'_>, place: &NodePlace) -> std::io::Result<Launched> {
    let mut command = Command::new(launch.program);
    command.args(command_arguments(launch, place)).env("ASSAY_FLEET_KEY", launch.key.of_node(&place.node).to_hex());
    Launched::one(command, launch.suite.unwrap_or_default())
}

// Nodes by the ssh of the system.

fn start_by_ssh(launch: &Launch<'_>, place: &NodePlace) -> std::io::Result<Launched> {
    let mut command = Command::new("ssh");
    // No user is present to enter a password.
    command.args(["-T", "-o", "BatchMode=yes", "-o", "ExitOnForwardFailure=yes"]);
    command.args(["-o", "ConnectTimeout=15", "-o", "ServerAliveInterval=15"]);
    if let Some(tunnel) = &place.tunnel {
        command.arg("-R").arg(tunnel.specification());
    }
    let socket = match &place.tunnel {
        Some(Tunnel { far: FarEnd::Socket(path), .. }) => Some(path.as_str()),
        _ => None,
    };
    command.args(["--", &place.node, &remote_by_ssh(launch.program, &command_arguments(launch, place), socket)]);
    let key = launch.key.of_node(&place.node);
    Launched::one(command, &format!("{}\n{}", key.to_hex(), launch.suite.unwrap_or_default()))
}

/// The command line for the shell of another host. The key comes by standard input: command lines are there for all to read.
/// What follows it there is left to the program. The socket of the tunnel, which sshd(8) leaves behind, is removed at the end.
fn remote_by_ssh(program: &str, arguments: &[String], socket: Option<&str>) -> String {
    let words = shell_command(std::iter::once(program).chain(arguments.iter().map(String::as_str)));
    let work = match socket {
        None => format!("exec {words}"),
        Some(path) => format!("{{ {words}; code=$?; rm -f {}; exit $code; }}", posix_word(path)),
    };
    let script = format!("IFS= read -r ASSAY_FLEET_KEY && export ASSAY_FLEET_KEY && {work}");
    // With any login shell of the user there.
    format!("exec sh -c {}", posix_word(&script))
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::process::Stdio;

    use super::*;

    #[test]
    fn words_pass_through_two_shells_as_they_are() {
        let nasty = "a b'c\"$HOME`id`;\\*&|<>\t~#!";
        for socket in [None, Some("/nowhere/socket")] {
            let line = remote_by_ssh("printf", &["%s|%s".to_owned(), nasty.to_owned(), "-x".to_owned()], socket);
            let output = run(&line);
            assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("{nasty}|-x"));
        }
    }

    fn run(line: &str) -> std::process::Output {
        let mut child =
            Command::new("sh").args(["-c", line]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        writeln!(child.stdin.take().unwrap(), "key").unwrap();
        child.wait_with_output().unwrap()
    }

    #[test]
    fn the_socket_of_a_tunnel_is_removed_and_the_exit_code_stays() {
        let socket = std::env::temp_dir().join(format!("assay it's {}", std::process::id()));
        std::fs::write(&socket, "").unwrap();
        let line = remote_by_ssh("sh", &["-c".to_owned(), "exit 7".to_owned()], Some(socket.to_str().unwrap()));
        assert_eq!(run(&line).status.code(), Some(7));
        assert!(!socket.exists());
    }
}
