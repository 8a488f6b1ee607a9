//! Nodes by the ssh of the system.

use std::process::Command;

use super::process::Launched;
use super::what::{Launch, Place};
use super::words;

pub(super) fn start(launch: &Launch<'_>, place: &Place) -> std::io::Result<Launched> {
    let mut command = Command::new("ssh");
    // Nobody is there to be asked for a password.
    command.args(["-T", "-o", "BatchMode=yes", "-o", "ExitOnForwardFailure=yes"]);
    command.args(["-o", "ConnectTimeout=15", "-o", "ServerAliveInterval=15"]);
    if let Some(far) = place.remote_port {
        command.arg("-R").arg(format!("127.0.0.1:{far}:127.0.0.1:{}", launch.port));
    }
    command.args(["--", &place.node, &remote(launch.program, &words::arguments(launch, place))]);
    Launched::one(command, &format!("{}\n{}", launch.key.to_hex(), launch.suite.unwrap_or_default()))
}

/// The command line for the shell of another host. The key comes by standard input: command lines are there for all to read.
/// What follows it there is left to the program.
fn remote(program: &str, arguments: &[String]) -> String {
    let words = words::shell(std::iter::once(program).chain(arguments.iter().map(String::as_str)));
    let script = format!("IFS= read -r ASSAY_FLEET_KEY && export ASSAY_FLEET_KEY && exec {words}");
    // Whatever shell the user has there.
    format!("exec sh -c {}", words::quoted(&script))
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::process::Stdio;

    use super::*;

    #[test]
    fn words_pass_through_two_shells_as_they_are() {
        let nasty = "a b'c\"$HOME`id`;\\*&|<>\t~#!";
        let line = remote("printf", &["%s|%s".to_owned(), nasty.to_owned(), "-x".to_owned()]);
        let mut child =
            Command::new("sh").args(["-c", &line]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        writeln!(child.stdin.take().unwrap(), "key").unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("{nasty}|-x"));
    }
}
