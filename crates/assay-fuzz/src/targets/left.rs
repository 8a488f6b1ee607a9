//! What an earlier check left on a medium that somebody else prepared.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use assay_verify::files::{CheckPlan, DIRECTORY, Settings, check, left, remove};
use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};

use crate::draw::Draw;
use crate::{claims, place};

const NAMES: [&str; 10] = [
    "state.json",
    "lock",
    "1.h2w",
    "2.h2w",
    "0.quick",
    "17179869183.h2w",
    "01.h2w",
    "state.new",
    "x\n\u{1b}[2J",
    "h2w",
];
/// Reading and writing more takes too long for one input.
const MOST_BYTES: u64 = 2 << 20;

/// Any content of the directory is listed or refused in one line, and nothing that assay did not make is
/// changed: not what lies beside it, not what links in it lead to.
pub(crate) fn run(data: &[u8]) {
    let outside = place::directory();
    let victim = outside.path().join("victim");
    let inner = outside.path().join("directory");
    fs::write(&victim, "precious").expect("written");
    fs::create_dir(&inner).expect("made");
    fs::write(inner.join("1.h2w"), "precious").expect("written");
    let medium = outside.path().join("medium");
    let own = medium.join(DIRECTORY);
    fs::create_dir(&medium).expect("made");
    let mut draw = Draw::new(data);
    let foreign = prepare(&mut draw, outside.path(), &own);

    let resume = Settings { resume: true, hang_after: Duration::from_secs(5), ..Settings::default() };
    let _ = left(&medium).map_err(|error| claims::one_line(&error));
    let _ =
        CheckPlan::new(&medium, &Settings { only_read: true, ..Settings::default() }).map_err(|e| claims::one_line(&e));
    match CheckPlan::new(&medium, &resume) {
        Ok(plan) if plan.area_bytes <= MOST_BYTES => {
            let _ = check(&plan, &resume, &Default::default(), &mut |_| {}).map_err(|error| claims::one_line(&error));
        }
        Ok(plan) => assert!(plan.area_bytes > 0, "{plan:?}"),
        Err(error) => claims::one_line(&error),
    }
    let removed = remove(&medium).map_err(|error| claims::one_line(&error)).is_ok();
    assert!(!foreign || !removed, "a directory with something foreign in it was removed");
    let untouched = |path: &Path| fs::read(path).is_ok_and(|content| content == b"precious");
    assert!(untouched(&victim) && untouched(&inner.join("1.h2w")), "something outside was changed");
}

/// Fills the directory; whether anything is in it that assay never makes.
fn prepare(draw: &mut Draw<'_>, outside: &Path, own: &Path) -> bool {
    if draw.byte() == 255 {
        let _ = symlink(outside.join("directory"), own);
        return true;
    }
    fs::create_dir(own).expect("made");
    let mut foreign = false;
    for _ in 0..12 {
        if draw.is_empty() {
            break;
        }
        let known = draw.pick(&NAMES).unwrap_or_default();
        let name = if draw.byte() < 230 { known.as_bytes().to_vec() } else { name(draw) };
        let path = own.join(OsStr::from_bytes(&name));
        let ours = NAMES[..6].iter().any(|ours| ours.as_bytes() == name);
        let kind = draw.byte() % 12;
        let made = match kind {
            0 => symlink("../../victim", &path).is_ok(),
            1 => fs::hard_link(outside.join("victim"), &path).is_ok(),
            2 => mknodat(CWD, &path, FileType::Fifo, Mode::RWXU, 0).is_ok(),
            // /dev/zero, where it may be made.
            3 => mknodat(CWD, &path, FileType::CharacterDevice, Mode::RWXU, makedev(1, 5)).is_ok(),
            4 => fs::create_dir(&path).is_ok(),
            5 => symlink(".", &path).is_ok(),
            6 => std::os::unix::net::UnixListener::bind(&path).is_ok(),
            _ => {
                let content = content(draw);
                // Beside what is there; through a link nothing is written.
                !path.is_symlink() && !path.exists() && fs::write(&path, content).is_ok()
            }
        };
        foreign |= made && (kind < 7 || !ours);
    }
    foreign
}

fn name(draw: &mut Draw<'_>) -> Vec<u8> {
    let length = usize::from(draw.byte() % 32);
    let name: Vec<u8> = draw.bytes(length).iter().copied().filter(|byte| !b"/\0".contains(byte)).collect();
    if name.is_empty() || name == b"." || name == b".." { b"x".to_vec() } else { name }
}

/// Content of a file: a state with figures of all sizes, or any bytes.
fn content(draw: &mut Draw<'_>) -> Vec<u8> {
    const FIGURES: [u64; 8] = [0, 1 << 20, 1 << 30, 512, 1 << 40, u64::MAX, i64::MAX as u64, 1];
    if draw.byte() % 4 == 3 {
        let length = draw.below(4096);
        return draw.bytes(length).to_vec();
    }
    let mut figure = || draw.pick(&FIGURES).unwrap_or_default();
    let (version, area, written, upto, cell, good) = (figure(), figure(), figure(), figure(), figure(), figure());
    let counts = format!(r#"{{"good":{good},"changed":0,"overwritten":0,"corrupted":0,"unreadable":0}}"#);
    let cells = vec![counts.as_str(); (area.div_ceil(cell.max(1)) % 300) as usize].join(",");
    let read = match draw.byte() % 3 {
        0 => "null".to_owned(),
        _ => format!(
            r#"[{upto},{{"cell_bytes":{cell},"counts":{counts},"first":null,"last_lost_end":{good},"good_since":{good},"cells":[{cells}],"area_bytes":{area}}}]"#
        ),
    };
    let version = if version == 0 { 1 } else { version };
    let kept = draw.byte() % 4 == 1;
    format!(
        r#"{{"version":{version},"pid":1,"host":"\u001b[2J","area_bytes":{area},"written_bytes":{written},"kept":{kept},"read":{read}}}"#
    )
    .into_bytes()
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    // One entry: name, whether it is one of the list, what it is; then the content.
    let entry = |name: u8, kind: u8, rest: &[u8]| [&[name, 0, kind], rest].concat();
    let state = |figures: [u8; 6], tail: &[u8]| entry(0, 7, &[&[0][..], &figures, tail].concat());
    let more_lost_than_there_is = [0, 0, 0, 7, 0, 0, 7, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 7].to_vec();
    let mut seeds: Vec<Vec<u8>> = vec![Vec::new(), vec![255], more_lost_than_there_is];
    for body in [
        state([0, 1, 0, 0, 1, 0], &[0, 0]),
        state([0, 1, 1, 1, 1, 3], &[1, 0]),
        state([0, 1, 1, 0, 0, 0], &[1, 0]),
        state([0, 5, 5, 5, 5, 5], &[1, 1]),
        state([0, 4, 0, 0, 2, 0], &[0, 0]),
        state([5, 1, 0, 0, 1, 0], &[0, 0]),
        entry(0, 7, &[3, 0, 4, b'{', b'"', b'x', b'"']),
    ] {
        seeds.push([&[0][..], &body].concat());
        seeds.push([&[0][..], &body, &entry(2, 7, &[3, 0, 3, 1, 2, 3]), &entry(1, 0, &[])].concat());
    }
    for kind in 0..8 {
        for name in [0, 1, 2, 8] {
            seeds.push([&[0][..], &entry(name, kind, &[]), &state([0, 1, 0, 0, 1, 0], &[0, 0])].concat());
        }
    }
    seeds
}
