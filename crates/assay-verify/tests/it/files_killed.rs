//! Full checks that are killed and resumed.

use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use assay_core::outcome::Outcome;
use assay_core::verification::Verdict;
use assay_engine::Control;
use assay_verify::files::{CheckPlan, Checked, DIRECTORY, Settings, check};

const MIB: u64 = 1 << 20;
const AREA: u64 = 384 * MIB;
/// The end of it, which is read after caches were evicted; everything before is one pass.
const TAIL: u64 = 64 * MIB;
/// Instead of half a minute.
const EVERY: Duration = Duration::from_millis(20);

fn run(target: &Path, settings: &Settings) -> Checked {
    let plan = CheckPlan::new(target, settings).unwrap();
    check(&plan, settings, &Control::default(), &mut |_| {}).unwrap()
}

fn resume() -> Settings {
    Settings { resume: true, save_every: EVERY, ..Settings::default() }
}

/// Runs this test in a process of its own, which performs a check until it is killed.
fn child(test: &str, target: &Path, resumed: bool) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("files_killed::{test}"), "--nocapture"])
        .env("CHECKED_TARGET", target)
        .env("CHECK_RESUMED", if resumed { "1" } else { "0" })
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// Bytes written and bytes read, according to the state on the medium.
fn saved(target: &Path) -> Option<(u64, u64)> {
    let text = std::fs::read(target.join(DIRECTORY).join("state.json")).ok()?;
    let state: serde_json::Value = serde_json::from_slice(&text).ok()?;
    Some((state["written_bytes"].as_u64()?, state["read"][0].as_u64().unwrap_or(0)))
}

/// Kills the child, `late` after the state meets `when`. Returns the state.
fn killed(mut child: Child, target: &Path, when: impl Fn((u64, u64)) -> bool, late: Duration) -> Option<(u64, u64)> {
    let start = Instant::now();
    while !saved(target).is_some_and(&when) && child.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < Duration::from_secs(60), "nothing was saved");
        std::thread::sleep(Duration::from_millis(2));
    }
    std::thread::sleep(late);
    child.kill().unwrap(); // SIGKILL
    child.wait().unwrap();
    saved(target)
}

#[test]
fn killed_at_any_moment_it_goes_on_from_what_was_saved() {
    const TEST: &str = "killed_at_any_moment_it_goes_on_from_what_was_saved";
    if let Some(target) = std::env::var_os("CHECKED_TARGET") {
        let new = Settings { limit_bytes: Some(AREA), save_every: EVERY, ..Settings::default() };
        run(Path::new(&target), &if std::env::var_os("CHECK_RESUMED").unwrap() == "1" { resume() } else { new });
        return;
    }
    let (mut in_write, mut in_read) = (0, 0);
    for moment in 0..4u64 {
        let target = tempfile::tempdir().unwrap();
        let path = target.path();
        let late = Duration::from_millis(moment * 17);
        let Some((written, 0)) = killed(child(TEST, path, false), path, |(written, _)| written > 0, late) else {
            continue;
        };
        in_write += u64::from(written < AREA);
        // Data that count as written are not written again, so damage there is found.
        let spoiled = moment == 3 && written > 0;
        if spoiled {
            let file = std::fs::File::options().write(true).open(path.join(DIRECTORY).join("1.h2w")).unwrap();
            file.write_all_at(&[0; 4096], written - 8192).unwrap();
        }
        assert_eq!(CheckPlan::new(path, &resume()).unwrap().write_bytes, AREA - written);

        // A second time, while it reads.
        let (again, read) = killed(child(TEST, path, true), path, |(_, read)| read > 0, late).unwrap_or((AREA, AREA));
        if read == AREA {
            continue;
        }
        in_read += u64::from(read < AREA - TAIL);
        assert!(again == AREA && read > 0, "{again} {read}");
        let last = run(path, &resume());
        let found = &last.verification;
        // Only the writes that evict caches; if something is lost, they are repeated after the retry.
        let out = if spoiled { 2 * TAIL } else { TAIL };
        assert_eq!((found.written_bytes, last.outcome, last.left), (out, Outcome::Completed, None));
        assert_eq!(found.read.as_ref().map_or(0, |pass| pass.bytes), AREA - read, "nothing is read twice");
        assert_eq!(found.checked_bytes, AREA);
        assert_eq!(found.counts.lost(), if spoiled { 8 } else { 0 });
        assert_eq!(
            found.verdict,
            if spoiled { Verdict::Damaged } else { Verdict::Genuine },
            "{}",
            assay_lab::outline(&found)
        );
        assert_eq!(std::fs::read_dir(path).unwrap().count(), 0, "files are removed at the end");
    }
    // On a fast host some children end before they are killed, but not all.
    assert!(in_write > 0 && in_read > 0, "{in_write} {in_read}");
}
