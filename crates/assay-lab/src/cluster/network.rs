//! The bridge and its links.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use super::address::CONTROL;
use super::node::Node;
use super::space::Space;
use crate::command::{Missing, run};

/// Makes the bridge on the control machine, and a link to each node and to the server. The link of the server is
/// limited to the bits per second in `server`.
pub(super) fn connect(control: &Space, nodes: &[Node], server: Option<(&Space, u64)>) -> Result<(), Missing> {
    let mut lines = format!("link add name fleet type bridge\naddress add {CONTROL}/24 dev fleet\nlink set fleet up\n");
    let mut link = |name: &str, space: &Space| {
        let process = space.process();
        let _ = writeln!(lines, "link add name {name} type veth peer name eth0 netns {process}");
        let _ = writeln!(lines, "link set {name} master fleet up");
    };
    for (at, node) in nodes.iter().enumerate() {
        link(&format!("node{at}"), node.space());
    }
    if let Some((server, _)) = server {
        link("server", server);
    }
    batch(control, &lines)?;
    server.map_or(Ok(()), |(_, bits)| shape(control, "server", bits))
}

/// Shapes the server's own end of its link. The streams of the server share it by CUBIC, as on most servers. With BBR,
/// which may be the default of a host, many streams in a short queue starve each other for seconds.
pub(super) fn shape_server(server: &Space, bits: u64) -> Result<(), Missing> {
    shape(server, "eth0", bits)?;
    let route = ["ip", "route", "change", "10.77.0.0/24", "dev", "eth0", "congctl", "cubic"];
    let network = network_of(server);
    let words: Vec<&str> = std::iter::once(network.as_str()).chain(route).collect();
    run("nsenter", &words).map(drop)
}

/// Limits a device to `bits` per second by a token bucket, as the port of a switch does: 957 of 1,000 Mbit/s reach a
/// TCP stream.
fn shape(space: &Space, device: &str, bits: u64) -> Result<(), Missing> {
    let (network, rate) = (network_of(space), format!("{bits}bit"));
    let words = [&network, "tc", "qdisc", "add", "dev", device, "root", "tbf", "rate", &rate];
    let words: Vec<&str> = words.into_iter().chain(["burst", "256k", "latency", "50ms"]).collect();
    run("nsenter", &words).map(drop)
}

/// Runs lines of ip(8) in a network. Process numbers are those outside.
fn batch(space: &Space, lines: &str) -> Result<(), Missing> {
    let fail = |e: std::io::Error| Missing(format!("ip: {e}"));
    let mut ip = Command::new("nsenter")
        .args([&network_of(space), "ip", "-batch", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(fail)?;
    if let Some(mut input) = ip.stdin.take() {
        // What ip says about a line that it refuses is the better message.
        let _ = input.write_all(lines.as_bytes());
    }
    let output = ip.wait_with_output().map_err(fail)?;
    if output.status.success() {
        Ok(())
    } else {
        Err(Missing(format!("ip failed: {}", String::from_utf8_lossy(&output.stderr).trim())))
    }
}

fn network_of(space: &Space) -> String {
    format!("--net=/proc/{}/ns/net", space.process())
}
