//! The cluster as Ansible reads it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::Node;
use super::keys::Keys;
use crate::command::Missing;

/// Writes an INI file: how each node is reached, and what is measured there.
pub(super) fn write(directory: &Path, nodes: &[Node], keys: &Keys) -> Result<PathBuf, Missing> {
    let path = directory.join("inventory.ini");
    std::fs::write(&path, text(nodes, keys)).map_err(|e| Missing(format!("{}: {e}", path.display())))?;
    Ok(path)
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
