//! The inventory of the cluster for Ansible.

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::Node;
use super::keys::Keys;
use crate::command::{Missing, run};

/// Writes an INI file that states how each node is reached and what is measured there.
pub(super) fn write(directory: &Path, nodes: &[Node], keys: &Keys) -> Result<PathBuf, Missing> {
    let path = directory.join("inventory.ini");
    std::fs::write(&path, text(nodes, keys)).map_err(|e| Missing(format!("{}: {e}", path.display())))?;
    Ok(path)
}

/// Writes `ssh_config`, and a program `bin/ssh` that reads it instead of the user's own.
pub(super) fn write_ssh(directory: &Path, nodes: &[Node], keys: &Keys) -> Result<(), Missing> {
    let fail = |e: std::io::Error| Missing(format!("{}: {e}", directory.display()));
    let mut text = String::new();
    for node in nodes {
        let _ = writeln!(text, "Host {}\n    HostName {}", node.name(), node.address());
    }
    let _ = write!(
        text,
        "Host *\n    User root\n    IdentityFile {}\n    UserKnownHostsFile {}\n    StrictHostKeyChecking yes\n",
        keys.private().display(),
        keys.known_hosts().display(),
    );
    let (config, programs) = (directory.join("ssh_config"), directory.join("bin"));
    std::fs::write(&config, text).map_err(fail)?;
    std::fs::create_dir(&programs).map_err(fail)?;
    let ssh = run("sh", &["-c", "command -v ssh"])?;
    let script = format!("#!/bin/sh\nexec {ssh} -F {} \"$@\"\n", config.display());
    let program = programs.join("ssh");
    std::fs::write(&program, script).map_err(fail)?;
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).map_err(fail)
}

fn text(nodes: &[Node], keys: &Keys) -> String {
    let options: Vec<_> = keys.options().iter().map(|option| option.to_string_lossy().into_owned()).collect();
    let mut text = "[fleet]\n".to_owned();
    for (number, node) in (1..).zip(nodes) {
        let _ = writeln!(
            text,
            "{} ansible_host={} ansible_remote_tmp={} assay_target={} assay_unit=unit-{number} assay_slot=slot-{number}",
            node.name(),
            node.address(),
            node.temporary().join("ansible").display(),
            node.target().display(),
        );
    }
    let _ = write!(
        text,
        "\n[fleet:vars]\nansible_user=root\nansible_ssh_private_key_file={}\nansible_ssh_common_args='{}'\n",
        keys.private().display(),
        options.join(" "),
    );
    text
}
