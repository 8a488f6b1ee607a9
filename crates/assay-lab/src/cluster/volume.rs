//! A central volume: each node has a part of it as a block device over the network, behind the server's link.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Stdio};

use super::{Cluster, Node};
use crate::host::{Missing, need};

/// First port of the server; each node has its own port.
const FIRST_PORT: usize = 10_810;

/// Script that mounts a part on a node: NBD as a file, that file as a loop device that bypasses the page cache, and
/// ext4 on it. `$1` is the directory, `$2` the address of the part and `$3` its bytes.
const MOUNT: &str = r#"
mkdir -p "$1/nbd" "$1/nas"
: > "$1/nbd/disk"
nbdfuse "$1/nbd/disk" "$2" &
tries=0
until [ "$(stat -c %s "$1/nbd/disk" 2> /dev/null)" = "$3" ]; do
    tries=$((tries + 1))
    [ $tries -lt 300 ]
    sleep 0.1
done
device=$(losetup --find --show --direct-io=on "$1/nbd/disk")
mkfs.ext4 -q -O ^has_journal -E lazy_itable_init=0 "$device"
mount "$device" "$1/nas"
losetup --detach "$device"
echo mounted
wait
"#;

/// nbdkit on the server, a part in memory for each node, and the mounts on the nodes.
#[derive(Debug)]
pub struct Volume<'a> {
    cluster: &'a Cluster,
    processes: Vec<Child>,
}

impl<'a> Volume<'a> {
    /// Gives each node a part of `bytes`.
    ///
    /// # Errors
    /// [`Missing`] without a server in the cluster, without nbdkit or without nbdfuse.
    pub fn new(cluster: &'a Cluster, bytes: u64) -> Result<Self, Missing> {
        need(&["nbdkit", "nbdfuse", "losetup", "mkfs.ext4"])?;
        let server = cluster.server().ok_or_else(|| Missing("needs a cluster with a server".to_owned()))?;
        let mut volume = Self { cluster, processes: Vec::new() };
        let fail = |e: std::io::Error| Missing(format!("volume: {e}"));
        let quiet = Stdio::null;
        for at in 0..cluster.nodes().len() {
            let mut nbdkit = server.command("nbdkit");
            let port = (FIRST_PORT + at).to_string();
            nbdkit.args(["--foreground", "--exit-with-parent", "--port", &port, "memory", &bytes.to_string()]);
            volume.processes.push(nbdkit.stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn().map_err(fail)?);
        }
        let mut mounting = Vec::new();
        for (at, node) in cluster.nodes().iter().enumerate() {
            let mut command = node.command("sh");
            let address = format!("nbd://{}:{}", cluster.server_address(), FIRST_PORT + at);
            command.args(["-euc", MOUNT, "mount"]).arg(directory(node)).arg(address).arg(bytes.to_string());
            let mut child = command.stdin(quiet()).stdout(Stdio::piped()).stderr(quiet()).spawn().map_err(fail)?;
            mounting.extend(child.stdout.take());
            volume.processes.push(child);
        }
        for (node, said) in cluster.nodes().iter().zip(mounting) {
            let mut line = String::new();
            BufReader::new(said).read_line(&mut line).map_err(fail)?;
            if line.trim() != "mounted" {
                return Err(Missing(format!("{} could not mount its part of the volume", node.name())));
            }
        }
        Ok(volume)
    }

    /// The mount point of the part on a node.
    #[must_use]
    pub fn path(&self, node: &Node) -> PathBuf {
        directory(node).join("nas")
    }
}

fn directory(node: &Node) -> PathBuf {
    node.temporary().join("volume")
}

impl Drop for Volume<'_> {
    fn drop(&mut self) {
        for node in self.cluster.nodes() {
            let _ = node.command("umount").arg(directory(node).join("nas")).stderr(Stdio::null()).status();
        }
        for process in &mut self.processes {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}
