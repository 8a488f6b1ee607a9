//! A system of the program, its libraries and a stick: a root that is read-only, and no /proc, /sys, /dev, home or terminal,
//! as an initramfs or a rescue system has it. What is not there is left out of the record or told in one line.

use std::path::PathBuf;

use crate::common::{Done, Place, assert_empty, can_be_apart, run, tiny_at_leisure};
use serde_json::Value;

/// Mounts the system at `root` and becomes the program in it. The stick is a directory of the place, which remains. The dynamic
/// linker and the libraries are where the program looks for them; a static program has none.
const SYSTEM: &str = r#"
mount --make-rprivate /
mkdir root
mount -t tmpfs -o size=1m bare root
mkdir root/stick root/state
touch root/assay
mount --bind "$ASSAY" root/assay
for library in $(ldd "$ASSAY" 2> /dev/null | grep -o '/[^ ]*'); do
    mkdir -p "root${library%/*}"
    touch "root$library"
    mount --bind "$library" "root$library"
done
mount --bind stick root/stick
mount -o remount,ro root
# Not one of the variables of this machine.
PATH=$PATH:/usr/sbin
exec env -i $VARIABLES "$(command -v chroot)" root /assay "$@"
"#;

struct Bare {
    place: Place,
}

impl Bare {
    fn new() -> Self {
        let place = Place::new();
        std::fs::create_dir(place.path().join("stick")).unwrap();
        std::fs::create_dir(place.path().join("stick/medium")).unwrap();
        place.file("stick/tiny.toml", tiny_at_leisure());
        Self { place }
    }

    fn medium(&self) -> PathBuf {
        self.place.path().join("stick/medium")
    }

    /// `assay` with these arguments and variables, and no others.
    fn assay(&self, variables: &str, arguments: &[&str]) -> Done {
        let mut command = self.place.apart(SYSTEM);
        command.arg("sh").args(arguments).env("VARIABLES", variables);
        let done = run(command);
        std::fs::remove_dir(self.place.path().join("root")).unwrap();
        done
    }
}

const STORE: &str = "ASSAY_DATA=/stick/records";

#[test]
fn a_medium_is_measured_and_its_record_kept_on_it_where_there_is_nothing_else() {
    const TEST: &str = "a_medium_is_measured_and_its_record_kept_on_it_where_there_is_nothing_else";
    if !can_be_apart(TEST) {
        return;
    }
    let bare = Bare::new();
    let run = ["run", "--json", "--suite", "/stick/tiny.toml", "/stick/medium"];
    let record: Value = serde_json::from_str(&bare.assay(STORE, &run).measures().stdout).unwrap();
    assert_eq!(record["outcome"]["state"], "completed", "{}", record["outcome"]);
    assert!(record["measurements"].as_array().unwrap().iter().all(|m| m["iops"]["point"].as_f64().unwrap() > 0.0));
    assert_empty(&bare.medium());
    let listed = bare.assay(STORE, &["list", "--json"]);
    let listed: Value = serde_json::from_str(&listed.succeeds().stdout).unwrap();
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
    // A program on another machine reads the store of the stick.
    let mut elsewhere = bare.place.assay(["show", "last", "--json"]);
    elsewhere.env("ASSAY_DATA", bare.place.path().join("stick/records"));
    let shown: Value = serde_json::from_str(&crate::common::run(elsewhere).succeeds().stdout).unwrap();
    assert_eq!(shown, record);
}

#[test]
fn a_medium_is_checked_and_told_of_where_there_is_nothing_else() {
    const TEST: &str = "a_medium_is_checked_and_told_of_where_there_is_nothing_else";
    if !can_be_apart(TEST) {
        return;
    }
    let bare = Bare::new();
    let checked = bare.assay("", &["verify", "--json", "--no-save", "--bytes", "8MiB", "/stick/medium"]);
    let record: Value = serde_json::from_str(&checked.succeeds().stdout).unwrap();
    assert_eq!(record["outcome"]["state"], "completed", "{}", record["outcome"]);
    assert_empty(&bare.medium());
    let info = bare.assay("", &["info", "--json", "/stick/medium"]);
    serde_json::from_str::<Value>(&info.succeeds().stdout).unwrap();
}

#[test]
fn what_cannot_be_done_there_is_told_in_one_line() {
    const TEST: &str = "what_cannot_be_done_there_is_told_in_one_line";
    if !can_be_apart(TEST) {
        return;
    }
    let bare = Bare::new();
    let measure = ["run", "--suite", "/stick/tiny.toml", "/stick/medium"];
    bare.assay("", &measure).refuses(4, &["ASSAY_DATA"]).at_once();
    bare.assay("ASSAY_DATA=/records", &measure).refuses(4, &["/records", "read-only"]).at_once();
    bare.assay("HOME=/", &measure).refuses(4, &["/.local/share/assay", "read-only"]).at_once();
    bare.assay(STORE, &["run", "--suite", "/stick/tiny.toml", "/state"]).refuses(4, &["/state", "read-only"]).at_once();
    assert_empty(&bare.medium());
}
