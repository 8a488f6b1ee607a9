//! The collection, which is part of this program: one file is enough on the control machine.

/// The files needed to run the collection, by path.
macro_rules! files {
    ($($path:literal)*) => {
        &[$(($path, include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"), "/../../fleet/ansible_collections/assay/fleet/", $path
        )))),*]
    };
}

/// Playbooks and their names.
pub(super) const PLAYBOOKS: &[(&str, &str)] = files! {
    "playbooks/check.yml"
    "playbooks/clean.yml"
    "playbooks/collect.yml"
    "playbooks/nodes.yml"
    "playbooks/run.yml"
};

/// All else.
pub(super) const FILES: &[(&str, &str)] = files! {
    "galaxy.yml"
    "meta/runtime.yml"
    "plugins/callback/jsonl.py"
    "roles/node/defaults/main.yml"
    "roles/node/files/clean.sh"
    "roles/node/files/look.sh"
    "roles/node/files/place.sh"
    "roles/node/files/run.sh"
    "roles/node/files/send.sh"
    "roles/node/meta/argument_specs.yml"
    "roles/node/meta/main.yml"
    "roles/node/tasks/check.yml"
    "roles/node/tasks/clean.yml"
    "roles/node/tasks/clock.yml"
    "roles/node/tasks/collect.yml"
    "roles/node/tasks/look.yml"
    "roles/node/tasks/main.yml"
    "roles/node/tasks/measure.yml"
    "roles/node/tasks/nodes.yml"
    "roles/node/tasks/prepare.yml"
    "roles/node/tasks/run.yml"
    "roles/node/vars/main.yml"
};

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    use super::*;

    fn below(directory: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { below(&path, found) } else { found.push(path) }
        }
    }

    #[test]
    fn no_file_of_the_collection_is_missing() {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fleet/ansible_collections/assay/fleet"));
        let mut found = Vec::new();
        for part in ["meta", "playbooks", "plugins", "roles"] {
            below(&root.join(part), &mut found);
        }
        let name = |path: &PathBuf| path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        let mut there: BTreeSet<String> = found.iter().map(name).filter(|name| !name.ends_with(".pyc")).collect();
        there.insert("galaxy.yml".to_owned());
        let here: BTreeSet<String> = FILES.iter().chain(PLAYBOOKS).map(|(path, _)| (*path).to_owned()).collect();
        assert_eq!(here, there);
    }
}
