//! A medium that somebody prepared to do harm, in the ways that did: each costs an error line.

use std::ffi::OsStr;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use assay_lab::{FastDevice, FileSystem, Lab, LoopDevice, Mount, lab};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;

use crate::common::{Place, Running, run};

const MIB: u64 = 1 << 20;
const EXIT_ENVIRONMENT: i32 = 4;

/// A directory of a check on the medium, as a killed one leaves it.
fn left_check(medium: &Path, state: &str) -> PathBuf {
    let own = medium.join(".assay-verify");
    std::fs::create_dir(&own).unwrap();
    std::fs::set_permissions(&own, std::fs::Permissions::from_mode(0o700)).unwrap();
    if !state.is_empty() {
        std::fs::write(own.join("state.json"), state).unwrap();
    }
    own
}

fn state(area: &str, read: &str) -> String {
    let content = r#"{"format":"salted","salt":[1,2],"rewritten":{}}"#;
    format!(
        r#"{{"version":1,"pid":1,"host":"h","area_bytes":{area},"whole_bytes":{area},"written_bytes":0,"kept":false,"read":{read},"content":{content},"refused":[],"made":{{}}}}"#
    )
}

fn node(at: &Path, kind: FileType, device: u64) {
    mknodat(CWD, at, kind, Mode::RUSR | Mode::WUSR, device).unwrap();
}

const CHECKS: [&[&str]; 4] = [
    &["verify", "--bytes", "2MiB", "--no-save", "--quiet"],
    &["verify", "--quick", "--no-save", "--quiet"],
    &["verify", "--resume", "--no-save", "--quiet"],
    &["verify", "--remove"],
];

/// Every check refuses the medium at once.
#[track_caller]
fn all_refuse(place: &Place, words: &[&str]) {
    for arguments in CHECKS {
        let mut command = place.assay(arguments);
        command.arg(place.medium());
        let done = run(command);
        done.refuses(EXIT_ENVIRONMENT, words);
        done.at_once();
    }
}

/// Threat 1: the state was written through a link, over any file of the host.
#[test]
fn a_link_in_place_of_the_state_leads_to_no_file_of_the_host() {
    let place = Place::new();
    let victim = place.file("shadow", b"dear");
    let own = left_check(&place.medium(), "");
    for name in ["state.new", "state.json", "lock", "1.h2w", "new-0123456789abcdef"] {
        symlink(&victim, own.join(name)).unwrap();
        all_refuse(&place, &[name, "move it away"]);
        assert_eq!(std::fs::read(&victim).unwrap(), b"dear", "{name}");
        assert!(own.join(name).is_symlink());
        std::fs::remove_file(own.join(name)).unwrap();
    }
}

/// Threat 2: the pattern was written to whatever device a node of the card stood for.
#[test]
fn a_device_node_in_place_of_a_file_leads_to_no_device() {
    const TEST: &str = "a_device_node_in_place_of_a_file_leads_to_no_device";
    let _lab = lab!(TEST, Lab::share());
    let card = lab!(TEST, FastDevice::new(64 * MIB));
    let place = Place::new();
    let image = place.file("other.img", vec![0xa5; 4 * MIB as usize]);
    let other = lab!(TEST, LoopDevice::attach(&image, false));
    let device = std::fs::metadata(other.path()).unwrap().rdev();
    let own = left_check(card.path(), &state("0", "null"));
    for name in ["1.h2w", "lock", "0.quick"] {
        node(&own.join(name), FileType::BlockDevice, device);
        for arguments in CHECKS {
            let mut command = place.assay(arguments);
            command.arg(card.path());
            run(command).refuses(EXIT_ENVIRONMENT, &[name, "a device and not a file"]);
        }
        std::fs::remove_file(own.join(name)).unwrap();
    }
    assert!(std::fs::read(other.path()).unwrap().iter().all(|byte| *byte == 0xa5));
}

/// Threat 10: the state of a card was believed, whatever it said and whatever it was.
#[test]
fn the_state_on_a_card_is_bounded_and_checked() {
    let place = Place::new();
    let own = left_check(&place.medium(), "");
    let file = own.join("state.json");
    let counts = r#"{"good":0,"changed":0,"overwritten":0,"corrupted":0,"unreadable":0}"#;
    let tally = format!(
        r#"[0,{{"cell_bytes":0,"counts":{counts},"first":null,"last_lost_end":0,"good_since":0,"cells":[],"area_bytes":1048576}}]"#
    );
    for text in [
        state("18446744073709551615", "null"),
        state("275000000000000", "null"),
        state("-1", "null"),
        state("1048576", &tally),
        "x".repeat(3 << 20),
        "[".repeat(1 << 19),
    ] {
        std::fs::write(&file, text).unwrap();
        all_refuse(&place, &["state.json", "move it away"]);
        assert!(file.exists());
    }
    std::fs::remove_file(&file).unwrap();
    node(&file, FileType::Fifo, 0);
    all_refuse(&place, &["state.json", "a named pipe"]);
    std::fs::remove_file(&file).unwrap();
    symlink("/dev/zero", &file).unwrap();
    all_refuse(&place, &["state.json", "a symbolic link"]);
}

/// Threat 11: a pipe called `lock` hung a run, and a link in place of a directory had what it led to deleted.
#[test]
fn a_run_is_neither_held_up_nor_led_astray_by_what_looks_like_another() {
    let place = Place::new();
    let medium = place.medium();
    let theirs = place.path().join("theirs");
    std::fs::create_dir(&theirs).unwrap();
    for name in ["data", "lock"] {
        std::fs::write(theirs.join(name), b"dear").unwrap();
    }
    symlink(&theirs, medium.join(".assay-aaaaaaaaaa")).unwrap();
    let piped = medium.join(".assay-bbbbbbbbbb");
    std::fs::create_dir(&piped).unwrap();
    node(&piped.join("lock"), FileType::Fifo, 0);
    std::fs::write(piped.join("data"), b"dear").unwrap();
    let mut command = place.assay(["run", "--suite", "tiny.toml", "--no-save", "--quiet"]);
    command.arg(&medium);
    run(command).measures();
    for path in [theirs.join("data"), theirs.join("lock"), piped.join("data")] {
        assert_eq!(std::fs::read(&path).unwrap(), b"dear", "{}", path.display());
    }
    assert_eq!(std::fs::read_dir(&medium).unwrap().count(), 2, "and nothing new");
}

/// Threat 20: a report was written through a link of a name that could be foreseen, and lost its mode.
#[test]
fn a_report_takes_the_place_of_the_old_one_with_its_mode_and_of_nothing_else() {
    let place = Place::new();
    place.measured();
    let victim = place.file("victim", b"dear");
    let report = place.file("out.md", b"old");
    std::fs::set_permissions(&report, std::fs::Permissions::from_mode(0o640)).unwrap();
    let done = run(place.shell("ln -s victim out.md.$$.part; exec $ASSAY report last -o out.md"));
    done.succeeds();
    assert_eq!(std::fs::read(&victim).unwrap(), b"dear");
    assert!(!report.is_symlink() && std::fs::read(&report).unwrap() != b"old");
    assert_eq!(report.metadata().unwrap().mode() & 0o7777, 0o640);
}

/// Threat 17: what a killed check or run left is told by every command that looks, with the one that removes it.
#[test]
fn what_was_left_is_told_and_removed_on_demand() {
    let place = Place::new();
    let medium = place.medium();
    let own = left_check(&medium, &state("1048576", "null"));
    std::fs::write(own.join("1.h2w"), vec![1; MIB as usize]).unwrap();
    let of_run = medium.join(".assay-aaaaaaaaaa");
    std::fs::create_dir(&of_run).unwrap();
    std::fs::write(of_run.join("lock"), "").unwrap();
    std::fs::write(of_run.join("data"), vec![1; MIB as usize]).unwrap();

    let asked = |arguments: &[&str]| {
        let mut command = place.assay(arguments);
        command.arg(&medium);
        run(command)
    };
    let info = asked(&["info"]);
    assert_eq!(info.stdout.matches("assay verify --remove").count(), 2, "{}", info.stdout);
    // For scripts too.
    let json = || place.json([OsStr::new("info"), "--json".as_ref(), medium.as_ref()]);
    let left = json()["left"].clone();
    assert_eq!(left[0], json!({ "by": "run", "state": "killed", "directories": 1, "bytes": MIB }));
    // The space that files take is the file system's affair.
    let taken = left[1]["bytes"].as_u64().filter(|taken| *taken >= MIB);
    let path = own.canonicalize().unwrap();
    let check = json!({ "by": "check", "state": "killed", "path": path, "bytes": taken, "resumable": true });
    assert_eq!(left[1], check);
    assert_eq!(left.as_array().map(Vec::len), Some(2), "{left}");
    // The run removes what runs left, and tells the rest.
    let measured = asked(&["run", "--suite", "tiny.toml", "--no-save", "--json"]);
    measured.measures();
    assert!(measured.stderr.contains("an interrupted check left"), "{}", measured.stderr);
    assert!(measured.stderr.contains("assay verify --remove"), "{}", measured.stderr);
    assert!(!of_run.exists() && own.exists());
    std::fs::create_dir(&of_run).unwrap();
    let removed = asked(&["verify", "--remove"]);
    removed.succeeds();
    assert_eq!(removed.stdout.matches("removed").count(), 2, "{}", removed.stdout);
    assert_eq!(std::fs::read_dir(&medium).unwrap().count(), 0);
    assert_eq!(json()["left"], json!([]));
    assert!(asked(&["verify", "--remove"]).succeeds().stdout.contains("nothing to remove"));
    let worn = medium.join(".assay-endure");
    std::fs::create_dir(&worn).unwrap();
    let told = asked(&["verify", "--remove"]);
    assert!(
        told.succeeds().stdout.contains(".assay-endure: a test of endurance, which assay endure --resume"),
        "{}",
        told.stdout
    );
    std::fs::remove_dir(&worn).unwrap();
}

/// A living check or run is never taken for a killed one.
#[test]
fn what_lives_is_not_removed() {
    let place = Place::new();
    let medium = place.medium();
    let mut command = place.assay(["run", "--suite", "tiny.toml", "--no-save", "--events"]);
    command.arg(&medium);
    let mut running = Running::start(command);
    running.wait_for_repeat("seq-read", 1);
    let mut command = place.assay(["verify", "--remove"]);
    command.arg(&medium);
    let done = run(command);
    done.succeeds();
    assert!(done.stdout.contains("a run is still measuring there"), "{}", done.stdout);
    assert_eq!(crate::common::scratch_directories(&medium), 1);
    running.end().measures();
}

/// Something mounted on the directory of a check is not the medium.
#[test]
fn what_is_mounted_on_the_directory_of_a_check_is_left_alone() {
    const TEST: &str = "what_is_mounted_on_the_directory_of_a_check_is_left_alone";
    if !crate::common::can_be_apart(TEST) {
        return;
    }
    let place = Place::new();
    let own = left_check(&place.medium(), "");
    let other = place.path().join("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::set_permissions(&other, std::fs::Permissions::from_mode(0o700)).unwrap();
    std::fs::write(other.join("state.json"), state("1048576", "null")).unwrap();
    std::fs::write(other.join("1.h2w"), b"dear").unwrap();
    for arguments in CHECKS {
        let script = format!("mount --bind other medium/.assay-verify; exec $ASSAY {} medium", arguments.join(" "));
        run(place.apart(&script)).refuses(EXIT_ENVIRONMENT, &["on another mount"]);
    }
    assert_eq!(std::fs::read(other.join("1.h2w")).unwrap(), b"dear");
    assert_eq!(std::fs::read_dir(own).unwrap().count(), 0);
}

/// File systems that keep no owners and modes, as those of most cards.
#[test]
fn a_card_without_owners_is_checked_left_and_cleaned() {
    const TEST: &str = "a_card_without_owners_is_checked_left_and_cleaned";
    let _lab = lab!(TEST, Lab::share());
    let place = Place::new();
    let image = place.file("card.img", b"");
    std::fs::File::options().write(true).open(&image).unwrap().set_len(64 * MIB).unwrap();
    let device = lab!(TEST, LoopDevice::attach(&image, false));
    let mount = lab!(TEST, Mount::make(FileSystem::Exfat, device.path(), &place.path().join("mnt")));
    let asked = |arguments: &[&str]| {
        let mut command = place.assay(arguments);
        command.arg(mount.path());
        run(command)
    };
    asked(&["verify", "--bytes", "2MiB", "--no-save", "--quiet", "--keep"]).succeeds();
    asked(&["run", "--suite", "tiny.toml", "--no-save", "--quiet"]).measures();
    assert!(asked(&["info"]).stdout.contains("a check kept"));
    assert!(asked(&["verify", "--remove"]).succeeds().stdout.contains("removed"));
    crate::common::assert_empty(mount.path());
}

/// Threat 4.3: a label that is a command, of a medium that udisks mounts at a path with it, in the command that is offered.
#[test]
fn the_command_that_is_offered_takes_a_label_for_a_word() {
    let place = Place::new();
    for label in ["x;touch pwned", "My Stick", "$(touch pwned)", "it's", "-n", "\u{1b}[2Ja"] {
        let medium = place.path().join(label);
        std::fs::create_dir(&medium).unwrap();
        let own = medium.join(".assay-0123456789");
        std::fs::create_dir(&own).unwrap();
        std::fs::set_permissions(&own, std::fs::Permissions::from_mode(0o700)).unwrap();
        std::fs::write(own.join("lock"), "").unwrap();
        std::fs::write(own.join("data"), b"left").unwrap();
        let mut command = place.assay(["info"]);
        command.arg(&medium);
        let said = run(command);
        let text = format!("{}{}", said.stdout, said.stderr);
        let offered =
            text.lines().find_map(|line| line.split_once("assay verify --remove ")).unwrap_or_else(|| panic!("{text}"));
        let script = format!("'{}' verify --remove {}", crate::common::ASSAY, offered.1.trim());
        let mut shell = place.assay(["info"]);
        let environment: Vec<_> =
            shell.get_envs().map(|(name, value)| (name.to_owned(), value.map(OsStr::to_owned))).collect();
        shell = std::process::Command::new("sh");
        shell.args(["-c", &script]).current_dir(place.path());
        for (name, value) in environment {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        let output = shell.output().unwrap();
        assert!(output.status.success() && !own.exists(), "{script}: {output:?}");
        assert!(!place.path().join("pwned").exists(), "{script}");
    }
}

/// Threat 4.6: root in the data directory of another user, whose links lead to files of root.
#[test]
fn root_follows_no_link_in_the_data_directory_of_another_user() {
    const TEST: &str = "root_follows_no_link_in_the_data_directory_of_another_user";
    if !rustix::process::geteuid().is_root() {
        return assay_lab::skip(TEST, &assay_lab::Missing("needs root".to_owned()));
    }
    let place = Place::new();
    let id = place.json(["run", "--suite", "tiny.toml", "--engine", "null", "--json", "medium"])["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let theirs = Some(65534);
    let (roots, data) = (place.path().join("roots"), place.data());
    std::fs::create_dir(&roots).unwrap();
    let dear = place.file("dear", b"kept");
    let link = |to: &Path, name: &str| {
        let at = data.join(name);
        if at.is_dir() && !at.is_symlink() {
            std::fs::remove_dir_all(&at).unwrap();
        }
        symlink(to, &at).unwrap();
        std::os::unix::fs::lchown(&at, theirs, theirs).unwrap();
    };
    let directory = data.join("baselines");
    std::fs::create_dir(&directory).unwrap();
    [&data, &directory].into_iter().for_each(|path| std::os::unix::fs::chown(path, theirs, theirs).unwrap());
    link(&dear, "baselines/main");
    link(&roots, "fleet");
    link(&roots, "reports");
    link(&roots, "journals");

    let set = run(place.assay(["baseline", "set", "main", &id]));
    set.succeeds();
    let said: Vec<_> = set.stderr.lines().filter(|line| line.contains("belongs to user 65534")).collect();
    assert_eq!(said.len(), 1, "{}", set.stderr);
    assert_eq!(
        run(place.assay(["list", "baseline:main"])).succeeds().stdout.lines().filter(|line| line.contains(&id)).count(),
        1
    );
    std::fs::create_dir(place.path().join("a")).unwrap();
    let fleet = ["fleet", "run", "--via", "local", "a=a", "--", "--suite", "tiny.toml", "--engine", "null"];
    let refused = run(place.assay(fleet));
    assert_eq!(refused.code, Some(EXIT_ENVIRONMENT), "{}", refused.stderr);
    assert!(refused.stderr.contains("data/fleet: a symbolic link"), "{}", refused.stderr);
    // The page of a run is left out, and that is said.
    let again = run(place.assay(["run", "--suite", "tiny.toml", "--engine", "null", "medium"]));
    assert!(again.stderr.contains("a symbolic link"), "{}", again.stderr);
    run(place.assay(["rm", &id])).succeeds();
    assert_eq!(std::fs::read(&dear).unwrap(), b"kept");
    assert_eq!(std::fs::read_dir(&roots).unwrap().count(), 0);
}
