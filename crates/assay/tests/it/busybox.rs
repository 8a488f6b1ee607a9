//! Small systems: the scripts that are run on nodes, and the one that installs, by busybox and nothing else.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use assay_lab::{Missing, skip};
use serde_json::Value;

use crate::common::{ASSAY, Place, tiny_at_leisure};
use crate::packaging::{root, said, tarball};

/// A directory with a link for each applet, which is all that is on the path of a script.
struct Busybox {
    place: Place,
    applets: PathBuf,
}

impl Busybox {
    fn new(test: &str) -> Option<Self> {
        let place = Place::new();
        let applets = place.path().join("applets");
        fs::create_dir(&applets).unwrap();
        let made = Command::new("busybox").args(["--install", "-s"]).arg(&applets).output();
        if !made.is_ok_and(|made| made.status.success()) || !applets.join("sh").exists() {
            skip(test, &Missing("needs busybox (package busybox-static)".to_owned()));
            return None;
        }
        Some(Self { place, applets })
    }

    /// A script with these arguments.
    fn script(&self, script: &Path, arguments: &[&str]) -> Output {
        let mut command = Command::new(self.applets.join("sh"));
        command.arg(script).args(arguments);
        self.place.at_home(&mut command);
        command.env("PATH", &self.applets).output().unwrap()
    }

    /// A script of the role, as the collection has it run on a node; what it said.
    #[track_caller]
    fn node(&self, name: &str, arguments: &[&str]) -> String {
        let files = root().join("fleet/ansible_collections/assay/fleet/roles/node/files");
        let output = self.script(&files.join(name), arguments);
        assert!(output.status.success(), "{name}: {}", said(&output));
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{name}");
        String::from_utf8(output.stdout).unwrap()
    }
}

/// The value of a key in lines as scripts of a node print them.
#[track_caller]
fn value<'a>(said: &'a str, key: &str) -> &'a str {
    let line = said.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
    line.unwrap_or_else(|| panic!("no {key} in {said}"))
}

#[test]
fn busybox_installs_and_removes_the_program() {
    let Some(busybox) = Busybox::new("busybox_installs_and_removes_the_program") else { return };
    let directory = busybox.place.path();
    tarball(directory);
    let script =
        directory.join(format!("assay-{}-x86_64-unknown-linux-musl", env!("CARGO_PKG_VERSION"))).join("install.sh");
    let output = busybox.script(&script, &["a prefix"]);
    assert_eq!((said(&output).as_str(), output.status.code()), ("assay 0\n", Some(0)));
    let there = directory.join("a prefix");
    let files = ["bin/assay", "share/man/man1/assay.1", "share/zsh/site-functions/_assay"].map(|file| there.join(file));
    assert!(files.iter().all(|file| file.is_file()), "{files:?}");
    assert_eq!(fs::metadata(&files[0]).unwrap().permissions().mode() & 0o777, 0o755);
    let output = busybox.script(&script, &["--remove", "a prefix"]);
    assert_eq!((said(&output).as_str(), output.status.code()), ("", Some(0)));
    assert!(files.iter().all(|file| !file.exists()), "{files:?}");
}

#[test]
fn busybox_looks_places_measures_sends_and_cleans_up_on_a_node() {
    let Some(busybox) = Busybox::new("busybox_looks_places_measures_sends_and_cleans_up_on_a_node") else { return };
    let (place, node) = (&busybox.place, busybox.place.path().join("node"));
    let (at, medium) = (node.to_str().unwrap(), place.medium());
    let medium = medium.to_str().unwrap();
    let printed = busybox.node("look.sh", &[at, medium]);
    assert_eq!(value(&printed, "directory"), at);
    assert!(value(&printed, "target_free_bytes").parse::<u64>().unwrap() > 0, "{printed}");
    let bits = if cfg!(target_pointer_width = "64") { "64" } else { "32" };
    assert_eq!(value(&printed, "bits"), bits, "of the shell of this machine");

    // Not the program itself, which would be copied: what calls it.
    let program = format!("#!/bin/sh\nexec '{ASSAY}' \"$@\"\n");
    fs::write(node.join("assay.new"), &program).unwrap();
    let sum = Command::new("sha256sum").arg(node.join("assay.new")).output().unwrap();
    let sum = said(&sum).split(' ').next().unwrap().to_owned();
    let files = root().join("fleet/ansible_collections/assay/fleet/roles/node/files");
    fs::write(node.join("assay"), "older").unwrap();
    let refused = busybox.script(&files.join("place.sh"), &[at, &"0".repeat(64)]);
    assert_eq!(refused.status.code(), Some(4), "{}", said(&refused));
    assert_eq!(fs::read_to_string(node.join("assay")).unwrap(), "older");
    fs::write(node.join("assay.new"), &program).unwrap();
    let version = format!("assay {}", env!("CARGO_PKG_VERSION"));
    assert!(value(&busybox.node("place.sh", &[at, &sum]), "version").starts_with(&version));
    assert!(value(&busybox.node("look.sh", &[at, ""]), "version").starts_with(&version));

    place.file("node/suite.toml", tiny_at_leisure());
    let printed = busybox.node("run.sh", &[at, "--suite", "suite.toml", medium]);
    assert_eq!(value(&printed, "exit"), "0", "{printed}");
    let id = value(&printed, "record");
    let sent = busybox.node("send.sh", &[at, id]);
    let (name, packed) = sent.trim_end().split_once(' ').unwrap();
    assert_eq!(name, id);
    let mut unpack = place.shell("printf %s \"$PACKED\" | base64 -d | gzip -dc");
    let record: Value = serde_json::from_slice(&unpack.env("PACKED", packed).output().unwrap().stdout).unwrap();
    assert_eq!((&record["id"], &record["outcome"]["state"]), (&id.into(), &"completed".into()));

    let printed = busybox.node("clean.sh", &[at, medium, "False"]);
    assert!(value(&printed, "kept") == at && node.join("data").exists() && !node.join("assay").exists(), "{printed}");
    let printed = busybox.node("clean.sh", &[at, medium, "True"]);
    assert!(value(&printed, "kept").is_empty() && !node.exists(), "{printed}");
    place.assert_clean();
}
