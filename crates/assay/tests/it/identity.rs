//! One storage by several names, as a user meets it: what is in use, where a journal lies, what a check would fill, and
//! whose journal it is. Needs root, loop devices and mounts.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use assay_device::Sysroot;
use assay_device::guard::check_raw;
use assay_engine::Control;
use assay_lab::{Dying, Lab, LoopDevice, LoopPartition, Missing, Mount, lab, skip};
use assay_verify::probe::{
    BlockDevice, Device, Journal, JournalIdentity, JournalLeft, ProbeSettings, Salt, run as probe,
};

use crate::common::{Done, Place, as_nobody, can_be_apart, nobody_can_run, run};

const MIB: u64 = 1 << 20;

/// A file of this size in which no two sectors are the same.
fn image(place: &Place, name: &str, bytes: u64) -> PathBuf {
    let mut content = vec![0u8; bytes as usize];
    for (number, word) in (1_u64 << 32..).zip(content.chunks_exact_mut(8)) {
        word.copy_from_slice(&number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes());
    }
    place.file(name, content)
}

fn verify(place: &Place, arguments: &[&str], device: &Path) -> Done {
    let mut command = place.assay(["verify", "--quiet"]);
    command.args(arguments).arg(device);
    run(command)
}

/// A probe of `device` that ends after some operations as if it had been killed; its journal.
fn cut_off(place: &Place, device: &Path) -> PathBuf {
    let journals = place.data().join("journals");
    fs::create_dir_all(&journals).unwrap();
    let path = journals.join("card.journal");
    let name = device.to_string_lossy().into_owned();
    let permit = check_raw(&Sysroot::real(), device, Some(&name)).unwrap();
    let mut dying = Dying::new(BlockDevice::open(&permit).unwrap(), 1500);
    let identity = JournalIdentity { bytes: dying.bytes(), name, serial: None, attachment: None };
    let journal = Journal::create(&path, &identity, Salt::random().unwrap()).unwrap();
    let settings = ProbeSettings { cache_limit_bytes: 2 * MIB };
    assert!(
        probe(&mut dying, journal, &settings, &Control::default(), &mut |_| {}).unwrap().journal == JournalLeft::Needed
    );
    path
}

/// Threat 1.2: a file written through the mount was destroyed.
#[test]
fn a_medium_that_is_mounted_by_another_name_is_neither_probed_nor_measured() {
    const TEST: &str = "a_medium_that_is_mounted_by_another_name_is_neither_probed_nor_measured";
    let _lab = lab!(TEST, Lab::share());
    let place = Place::new();
    let file = image(&place, "card.img", 32 * MIB);
    let first = lab!(TEST, LoopDevice::attach(&file, false));
    let second = lab!(TEST, LoopDevice::attach(&file, false));
    let mount = lab!(TEST, Mount::ext4(second.path(), &place.path().join("mnt")));
    let words = [&*format!("in use ({}, the same storage, mounted on", second.name()), "unmount, detach or close it"];
    verify(&place, &["--quick"], first.path()).refuses(2, &words);
    let device = first.path().to_str().unwrap();
    let mut raw = place.assay(["run", "--suite", "tiny.toml", "--raw", "--overwrite", device, device]);
    raw.arg("-q");
    run(raw).refuses(2, &words).at_once();
    drop(mount);
    verify(&place, &["--quick"], first.path()).succeeds();
}

/// Threat 1.2: the name of what is behind a loop device led nowhere, and was taken for free.
#[test]
fn a_loop_device_that_cannot_be_asked_and_whose_name_leads_nowhere_refuses_a_raw_device() {
    const TEST: &str = "a_loop_device_that_cannot_be_asked_and_whose_name_leads_nowhere_refuses_a_raw_device";
    if !can_be_apart(TEST) {
        return;
    }
    // Other tests would find the loop device that nobody can ask.
    let _lab = lab!(TEST, Lab::enter());
    let place = Place::new();
    let card = lab!(TEST, LoopDevice::attach(&image(&place, "card.img", 4 * MIB), false));
    let gone = image(&place, "gone.img", MIB);
    let other = lab!(TEST, LoopDevice::attach(&gone, false));
    fs::remove_file(&gone).unwrap();
    verify(&place, &["--quick"], card.path()).succeeds();
    let hidden = |script: &str| {
        let mut command = place.apart(&format!("mount --bind /dev/null \"$OTHER\"; {script}"));
        command.env("OTHER", other.path()).env("CARD", card.path());
        run(command)
    };
    let name = other.name();
    let words = [&*format!("{name} may be on it"), &format!("losetup -d /dev/{name}"), "run as root"];
    hidden("exec \"$ASSAY\" verify --quiet --quick \"$CARD\"").refuses(4, &words);
    hidden("exec \"$ASSAY\" run -q --raw --overwrite \"$CARD\" \"$CARD\"").refuses(4, &words);
}

/// A user without rights read that he should detach a loop device that was not his.
#[test]
fn a_user_who_may_not_ask_is_sent_to_root() {
    const TEST: &str = "a_user_who_may_not_ask_is_sent_to_root";
    // Other tests would find the loop device whose file is gone.
    let _lab = lab!(TEST, Lab::enter());
    let place = Place::new();
    if !nobody_can_run(TEST, &place) {
        return;
    }
    let card = lab!(TEST, LoopDevice::attach(&image(&place, "card.img", 4 * MIB), false));
    let gone = image(&place, "gone.img", MIB);
    let other = lab!(TEST, LoopDevice::attach(&gone, false));
    fs::remove_file(&gone).unwrap();
    let mut command = as_nobody(place.assay(["verify", "--quiet", "--quick"]));
    command.arg(card.path()).env("ASSAY_DATA", place.medium().join("data"));
    let refused = run(command);
    // Other programs of this machine may have such a loop device, too.
    refused.refuses(4, &["permission denied", "only root can see whether loop", "run as root"]);
    drop(other);
}

/// Threat 1.4, and the suspicion that a partition which wraps around overwrites another one that is mounted: the data
/// directory lay on the first partition while the second one was probed.
#[test]
fn a_partition_is_not_probed_while_another_one_holds_the_journal() {
    const TEST: &str = "a_partition_is_not_probed_while_another_one_holds_the_journal";
    let _lab = lab!(TEST, Lab::share());
    let place = Place::new();
    let disk = lab!(TEST, LoopDevice::attach(&image(&place, "card.img", 96 * MIB), false));
    let first = lab!(TEST, LoopPartition::add(&disk, 1, 2048, 131_072));
    let second = lab!(TEST, LoopPartition::add(&disk, 2, 133_120, 61_440));
    let mount = lab!(TEST, Mount::ext4(&first.path(), &place.path().join("mnt")));
    let mut command = place.assay(["verify", "--quiet", "--quick"]);
    command.arg(second.path()).env("ASSAY_DATA", mount.path().join("data"));
    let node = second.path().display().to_string();
    let words = ["its disk is in use", &format!("{}p1 mounted on", disk.name()), "unmount", "probe", &node];
    run(command).refuses(2, &words);
    drop(mount);
    verify(&place, &["--quick"], &second.path()).succeeds();
}

/// Where it cannot be told on which disk the journal lies, that is said, and no reason to refuse.
#[test]
fn a_journal_on_a_disk_that_cannot_be_told_is_said_and_allowed() {
    const TEST: &str = "a_journal_on_a_disk_that_cannot_be_told_is_said_and_allowed";
    if !can_be_apart(TEST) {
        return;
    }
    let _lab = lab!(TEST, Lab::share());
    let place = Place::new();
    let card = lab!(TEST, LoopDevice::attach(&image(&place, "card.img", 4 * MIB), false));
    // The upper directory of the overlay is where no process can see it, as in a container.
    let mut command = place.apart(
        "mkdir mem over; mount -t tmpfs none mem; mkdir mem/up mem/low mem/work
         mount -t overlay overlay -o lowerdir=mem/low,upperdir=$PWD/mem/up,workdir=mem/work over || exit 77
         mv mem/up mem/moved
         exec \"$ASSAY\" verify --quick --journal over/undo \"$CARD\"",
    );
    command.env("CARD", card.path());
    let done = run(command);
    if done.code == Some(77) {
        return skip(TEST, &Missing("needs overlays".to_owned()));
    }
    done.succeeds();
    let text = done.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("cannot be told (overlay names no disk)"), "{text}");
    let done = run({
        let mut command = place.assay(["verify", "--quick"]);
        command.arg(card.path());
        command
    });
    assert!(!done.succeeds().stderr.contains("cannot be told"), "{}", done.stderr);
}

/// Threat 1.5: `/var` lay on one subvolume and ran full while another one was checked.
#[test]
fn another_subvolume_of_a_file_system_of_the_host_takes_a_word_to_be_filled() {
    const TEST: &str = "another_subvolume_of_a_file_system_of_the_host_takes_a_word_to_be_filled";
    if !can_be_apart(TEST) {
        return;
    }
    let _lab = lab!(TEST, Lab::share());
    let place = Place::new();
    let file = place.file("btrfs.img", []);
    File::options().write(true).open(&file).unwrap().set_len(1024 * MIB).unwrap();
    let device = lab!(TEST, LoopDevice::attach(&file, false));
    let made =
        Command::new("mkfs.btrfs").arg("-qf").arg(device.path()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !made.is_ok_and(|status| status.success()) {
        return skip(TEST, &Missing("needs mkfs.btrfs".to_owned()));
    }
    for (system, how) in [("/var", "verify"), ("/srv", "verify --quick"), ("/opt", "verify")] {
        let mut command = place.apart(&format!(
            "mkdir -p top; mount \"$CARD\" top || exit 77
             [ -d top/data ] || {{ btrfs -q subvolume create top/data; btrfs -q subvolume create top/sys; }}
             mount -o subvol=sys \"$CARD\" {system}; mount -o subvol=data \"$CARD\" medium
             exec \"$ASSAY\" {how} --no-save --quiet medium"
        ));
        command.env("CARD", device.path());
        let done = run(command);
        if done.code == Some(77) {
            return skip(TEST, &Missing("needs btrfs".to_owned()));
        }
        done.refuses(2, &[&format!("the file system of {system}"), "--fill-system"]);
    }
}

/// Threat 1.5: `/run` and other memory of the host were filled, and called genuine.
#[test]
fn memory_of_the_host_takes_a_word_to_be_filled() {
    const TEST: &str = "memory_of_the_host_takes_a_word_to_be_filled";
    if !can_be_apart(TEST) {
        return;
    }
    let place = Place::new();
    let check = |mounts: &str, how: &str| {
        run(place.apart(&format!("{mounts}; exec \"$ASSAY\" verify --no-save --quiet {how}")))
    };
    let memory = "mount -t tmpfs -o size=64m none medium";
    for how in ["medium", "--quick medium"] {
        check(memory, how).refuses(2, &["memory of this host", "--fill-system", "a directory of a medium"]);
    }
    let run_itself = "mount -t tmpfs -o size=1g none /run; mkdir /run/x";
    check(run_itself, "/run/x").refuses(2, &["the file system of /run", "--fill-system"]);
    // What is little, or asked for, goes on.
    check(memory, "--bytes 4MiB --cache 1MiB medium").succeeds();
    check(memory, "--fill-system --cache 1MiB medium").succeeds();
}

/// Threat 1.6: a device that had grown was no longer known, and was probed once more.
#[test]
fn a_device_that_grew_after_a_killed_probe_is_recognised() {
    const TEST: &str = "a_device_that_grew_after_a_killed_probe_is_recognised";
    let _lab = lab!(TEST, Lab::share());
    let place = Place::new();
    let file = image(&place, "card.img", 64 * MIB);
    let device = lab!(TEST, LoopDevice::attach(&file, false));
    let journal = cut_off(&place, device.path());
    for bytes in [65 * MIB, 200 * MIB] {
        File::options().write(true).open(&file).unwrap().set_len(bytes).unwrap();
        assert!(Command::new("losetup").arg("-c").arg(device.path()).status().unwrap().success());
        let mend = format!("assay verify --restore {} {}", journal.display(), device.path().display());
        let node = device.path().to_str().unwrap();
        verify(&place, &["--quick"], device.path()).refuses(4, &["blocks of a quick probe", &mend]);
        let measured = ["run", "--suite", "tiny.toml", "--raw", "--overwrite", node, node];
        run(place.assay(measured)).refuses(4, &["blocks of a quick probe", &mend]);
        assert!(run(place.assay(["info", node])).succeeds().stdout.contains(&mend));
    }
    // Another device of that size is none of the journal's business.
    let other = lab!(TEST, LoopDevice::attach(&image(&place, "other.img", 200 * MIB), false));
    let info = run(place.assay(["info", other.path().to_str().unwrap()]));
    assert!(!info.succeeds().stdout.contains("--restore"), "{}", info.stdout);
}

/// Threat 1.6: the disk was named, and a partition of it had been probed.
#[test]
fn where_the_disk_is_named_and_a_partition_was_probed_the_partition_is_said() {
    const TEST: &str = "where_the_disk_is_named_and_a_partition_was_probed_the_partition_is_said";
    let _lab = lab!(TEST, Lab::share());
    let place = Place::new();
    let file = image(&place, "card.img", 96 * MIB);
    let before = fs::read(&file).unwrap();
    let disk = lab!(TEST, LoopDevice::attach(&file, false));
    let first = lab!(TEST, LoopPartition::add(&disk, 1, 2048, 61_440));
    let second = lab!(TEST, LoopPartition::add(&disk, 2, 63_488, 131_072));
    let journal = cut_off(&place, &second.path());
    let cut = fs::read(&file).unwrap();
    assert!(cut != before);
    let part = second.path().display().to_string();
    let mend = format!("assay verify --restore {} {part}", journal.display());
    for named in [disk.path().to_owned(), first.path(), second.path()] {
        verify(&place, &["--quick"], &named).refuses(4, &["blocks of a quick probe", &mend]);
        let info = run(place.assay(["info", named.to_str().unwrap()]));
        assert!(info.succeeds().stdout.contains(&mend), "{}", info.stdout);
        assert_eq!(info.stdout.matches("--restore").count(), 1, "{}", info.stdout);
    }
    for wrong in [disk.path().to_owned(), first.path()] {
        let restore = ["--restore", journal.to_str().unwrap()];
        verify(&place, &restore, &wrong).refuses(2, &[&format!("{part} was probed"), "nothing was written", &mend]);
    }
    assert!(fs::read(&file).unwrap() == cut && journal.exists(), "something was written");
    verify(&place, &["--restore", journal.to_str().unwrap()], &second.path()).succeeds();
    assert!(fs::read(&file).unwrap() == before, "every byte as before");
}
