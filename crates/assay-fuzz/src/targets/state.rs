//! Files that assay keeps: journals of the probe, what a check left, and plans.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;
use std::{fs, io};

use assay_analysis::plan::{ExperimentPlan, Moves, PlanRequest, Roster, Slots, outlook, read_plan};
use assay_core::suite::Suite;
use assay_engine::Control;
use assay_verify::files::{CheckPlan, CheckSettings, DIRECTORY, check, left, remove};
use assay_verify::probe::{
    Device, Disk, DiskFile, Journal, JournalIdentity, JournalLeft, ProbeFault, ProbeSettings, Restoration, Salt,
    run as probe,
};
use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};

use crate::input;
use crate::input::Draw;

// Journals of the probe that were damaged, and cards that were written to since.

const BYTES: u64 = 64 << 20;
const PATH: &str = "/journal";

/// A disk with one file.
#[derive(Debug, Clone, Default)]
struct Memory(Arc<Mutex<Option<Vec<u8>>>>);

impl Memory {
    fn content(&self) -> Option<Vec<u8>> {
        self.0.lock().expect("one thread").clone()
    }
}

impl Disk for Memory {
    fn create(&self, _: &Path) -> io::Result<Box<dyn DiskFile>> {
        *self.0.lock().expect("one thread") = Some(Vec::new());
        Ok(Box::new(self.clone()))
    }

    fn open(&self, _: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.content().ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(self.clone()))
    }

    fn remove(&self, _: &Path) -> io::Result<()> {
        self.0.lock().expect("one thread").take().map(drop).ok_or(io::ErrorKind::NotFound.into())
    }

    fn sync_directory_of(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn free_bytes(&self, _: &Path) -> io::Result<u64> {
        Ok(1 << 40)
    }
}

impl DiskFile for Memory {
    fn append(&mut self, data: &[u8]) -> io::Result<()> {
        self.0.lock().expect("one thread").as_mut().ok_or(io::ErrorKind::NotFound)?.extend_from_slice(data);
        Ok(())
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let file = self.0.lock().expect("one thread");
        let content = file.as_deref().ok_or(io::ErrorKind::NotFound)?;
        let rest = usize::try_from(at).ok().and_then(|at| content.get(at..)).unwrap_or_default();
        let length = rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        Ok(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn reserve(&mut self, _: u64) -> io::Result<()> {
        Ok(())
    }

    fn is_volatile(&self) -> bool {
        false
    }
}

fn device() -> JournalIdentity {
    JournalIdentity { bytes: BYTES, name: "card".to_owned(), serial: None, attachment: None }
}

/// A journal and the card it belongs to, after the plug was pulled in the middle of a probe.
static CUT: LazyLock<(Vec<u8>, Card)> = LazyLock::new(|| {
    let disk = Memory::default();
    let mut card = Card { left: Some(700), ..Card::new(BYTES) };
    let journal = Journal::create_on(Arc::new(disk.clone()), Path::new(PATH), &device(), Salt::known(7));
    let settings = ProbeSettings { cache_limit_bytes: 1 << 20 };
    let probed = probe(&mut card, journal.expect("a journal"), &settings, &Control::default(), &mut |_| {});
    assert!(probed.expect("probed").journal == JournalLeft::Needed);
    card.left = None;
    (disk.content().expect("a journal"), card)
});

/// Whatever happened to journal and card: what is written is what stood there before the probe, and only
/// where the probe's blocks stand; and no journal goes before all of it is back.
pub(crate) fn journal(data: &[u8]) {
    let (sound, card) = &*CUT;
    let (mut journal, mut card) = (sound.clone(), card.clone());
    let mut draw = Draw::new(data);
    let flags = draw.byte();
    let starts = records(sound);
    let mut newer = Vec::new();
    while !draw.is_empty() {
        match draw.byte() % 8 {
            0 => {
                // Something else was written to the card since.
                let sector = match draw.byte() % 2 {
                    0 => card.sectors.keys().nth(draw.below(1 << 16) % card.sectors.len().max(1)).copied().unwrap_or(0),
                    _ => draw.number() % (BYTES / 512),
                };
                let content = [draw.byte() | 1; 512];
                if card.write_at(sector * 512, &content).is_ok() {
                    newer.push((sector, content));
                }
            }
            edit => damage(&mut journal, &starts, edit, &mut draw),
        }
    }
    // A journal that ends with an earlier mark is one of a probe that had come so far and no further.
    let committed =
        last_commit(sound, &starts).is_some_and(|last| journal.windows(last.len()).any(|window| window == last));
    let disk = Memory(Arc::new(Mutex::new(Some(journal))));
    for _ in 0..2 {
        let before = card.clone();
        let who = device();
        let restored = Restoration::new(Path::new(PATH), &who)
            .on(Arc::new(disk.clone()))
            .keeping_newer(flags % 2 == 1)
            .run(&mut card);
        for sector in before.sectors.keys() {
            let now = card.sector(*sector);
            assert!(now == before.sector(*sector) || now == Card::original(*sector), "sector {sector}");
        }
        assert!(card.sectors.keys().all(|sector| before.sectors.contains_key(sector)), "written elsewhere");
        for (sector, _) in &newer {
            assert_eq!(Some(card.sector(*sector)), newest(&newer, *sector), "newer data at sector {sector}");
        }
        let gone = disk.content().is_none();
        match restored {
            Ok(restored) => {
                assert_eq!(gone, restored.journal == JournalLeft::Removed, "{restored:?}");
                let left = card.sectors.keys().any(|sector| newest(&newer, *sector).is_none());
                assert!(!gone || !left || !committed, "the journal went, and the probe's blocks stand: {restored:?}");
            }
            Err(error) => {
                input::one_line(&error);
                assert!(!gone, "{error}");
            }
        }
        if gone {
            return;
        }
    }
}

fn newest(newer: &[(u64, [u8; 512])], sector: u64) -> Option<[u8; 512]> {
    newer.iter().rev().find(|(at, _)| *at == sector).map(|(_, content)| *content)
}

/// Where records begin: each begins with bytes of the header's hash (docs/decisions/006-journal.md).
fn records(journal: &[u8]) -> Vec<usize> {
    let length =
        journal.get(16..20).and_then(|bytes| bytes.first_chunk()).map_or(0, |b| u32::from_le_bytes(*b) as usize);
    let hash = blake3::hash(journal.get(..20 + length).unwrap_or_default());
    let marker = &hash.as_bytes()[16..24];
    journal.windows(8).enumerate().filter(|(_, window)| *window == marker).map(|(at, _)| at).collect()
}

/// The last mark of what was handed to the disk.
fn last_commit<'a>(journal: &'a [u8], starts: &[usize]) -> Option<&'a [u8]> {
    const COMMIT: u8 = 4;
    let at = starts.iter().rposition(|at| journal.get(at + 8) == Some(&COMMIT))?;
    journal.get(starts[at]..starts.get(at + 1).copied().unwrap_or(journal.len()))
}

fn damage(journal: &mut Vec<u8>, starts: &[usize], edit: u8, draw: &mut Draw<'_>) {
    let mut place = || {
        let number = draw.below(1 << 16);
        // A record's start, or near the beginning.
        if number.is_multiple_of(2) {
            starts.get(number / 2 % starts.len().max(1)).copied().unwrap_or(0)
        } else {
            number / 2
        }
    };
    let (from, to) = (place().min(journal.len()), place().min(journal.len()));
    let (from, to) = (from.min(to), from.max(to));
    match edit {
        1 => journal.truncate(from),
        2 => drop(journal.drain(from..to)),
        3 => {
            let again = journal[from..to].to_vec();
            journal.splice(to..to, again);
        }
        // The last of a range first.
        4 => journal[from..to].rotate_left((to - from) / 2),
        5 => journal[from..to].fill(draw.byte()),
        _ => {
            let at = from + usize::from(draw.byte());
            if let Some(byte) = journal.get_mut(at) {
                *byte ^= 1 << (draw.byte() % 8);
            }
        }
    }
    journal.truncate(16 << 20);
}

pub(crate) fn journal_seeds() -> Vec<Vec<u8>> {
    let mut seeds = vec![Vec::new(), vec![1]];
    for edit in 1..8u8 {
        for (from, to) in [(0u8, 20u8), (40, 42), (100, 200), (255, 254)] {
            seeds.push(vec![edit % 2, edit, 0, from & 0xfe, 0, to & 0xfe, 3, 5]);
        }
    }
    // Newer data at a place of the probe, and elsewhere.
    seeds.extend([vec![0, 0, 0, 0, 5, 9], vec![1, 0, 0, 0, 5, 9], vec![0, 0, 1, 9, 9, 0, 0, 0, 0, 0, 0, 7]]);
    seeds
}

// What an earlier check left on a medium that somebody else prepared.

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
pub(crate) fn leftovers(data: &[u8]) {
    let outside = input::directory();
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

    let resume = CheckSettings { resume: true, hang_after: Duration::from_secs(5), ..CheckSettings::default() };
    let _ = left(&medium).map_err(|error| input::one_line(&error));
    let _ = CheckPlan::new(&medium, &CheckSettings { only_read: true, ..CheckSettings::default() })
        .map_err(|e| input::one_line(&e));
    match CheckPlan::new(&medium, &resume) {
        Ok(plan) if plan.area_bytes <= MOST_BYTES => {
            let _ = check(&plan, &resume, &Default::default(), &mut |_| {}).map_err(|error| input::one_line(&error));
        }
        Ok(plan) => assert!(plan.area_bytes > 0, "{plan:?}"),
        Err(error) => input::one_line(&error),
    }
    let removed = remove(&medium).map_err(|error| input::one_line(&error)).is_ok();
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
        r#"{{"version":{version},"pid":1,"host":"\u001b[2J","area_bytes":{area},"whole_bytes":{area},"written_bytes":{written},"kept":{kept},"read":{read},"content":{{"format":"salted","salt":[1,2],"rewritten":{{}}}},"refused":[],"made":{{}}}}"#
    )
    .into_bytes()
}

pub(crate) fn left_seeds() -> Vec<Vec<u8>> {
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

// Plan files.

/// A plan is read as it was made, or refused in a line. The hash is set right before the reading, as
/// somebody who means harm would: it protects against accidents only.
pub(crate) fn plan(data: &[u8]) {
    let text = input::text(data);
    for text in [rehashed(&text), Some(text)].into_iter().flatten() {
        match read_plan(&text, "x.plan") {
            Ok(plan) => {
                let again = read_plan(&plan.to_text(), "x.plan").expect("a plan written out is read");
                assert_eq!(again, plan);
                assert_eq!(plan.label().len(), 16);
                for cell in plan.cells().iter().take(100) {
                    let session = plan.session(cell.order).expect("an order of the plan");
                    assert_eq!(session.workloads.len(), plan.suite().suite.workloads.len());
                    input::one_line(&plan.session_file(cell.order));
                }
                moved(&plan);
                let _ = outlook(&plan, 0.08).map_err(|error| input::one_line(&error));
            }
            Err(error) => input::one_line(&error),
        }
    }
}

/// Moves between turns bring each unit from where it is to where the plan wants it.
fn moved(plan: &ExperimentPlan) {
    let mut at: BTreeMap<(String, String), String> = BTreeMap::new();
    let mut last = None;
    for turn in plan.turns().into_iter().take(10) {
        for one in plan.moves_between(last, turn) {
            let unit = (one.model, one.unit);
            assert_eq!(at.remove(&unit), one.from);
            one.to.map(|slot| at.insert(unit, slot));
        }
        let named = |unit: &(String, String), slot: &String| {
            plan.cells_of(turn).any(|cell| (&cell.model, &cell.unit, &cell.slot) == (&unit.0, &unit.1, slot))
        };
        assert!(at.iter().all(|(unit, slot)| named(unit, slot)) && at.len() == plan.cells_of(turn).count());
        last = Some(turn);
    }
}

/// The file with the hash of its body, where it has a body.
fn rehashed(text: &str) -> Option<String> {
    let (head, rest) = text.split_once("hash = \"")?;
    let (_, body) = rest.split_once("\"\n\n")?;
    Some(format!("{head}hash = \"{}\"\n\n{body}", blake3::hash(body.as_bytes()).to_hex()))
}

const SUITE: &str = "name = \"x\"\nversion = 1\npurpose = \"says \\\"\\\"\\\" \\\\ hi\"\nbudget = \"10s\"\n\
    max_write = \"1GiB\"\nrepeats = 3\nspan = \"64MiB\"\n[[workload]]\nname = \"a\"\nop = \"read\"\n\
    pattern = \"random\"\nblock = \"4k\"\n[[workload]]\nname = \"b\"\nop = \"read\"\npattern = \"random\"\nblock = \"8k\"\n";

fn made(units: &str, slots: &str, rounds: usize, moves: Moves) -> String {
    let suite = Suite::parse(SUITE, "x.toml").expect("a suite");
    let plan = ExperimentPlan::new(&PlanRequest {
        roster: &Roster::inline(units, "--units").expect("units"),
        slots: &Slots::parse(slots, "--slots").expect("slots"),
        rounds,
        moves,
        suite: &suite,
        suite_source: "x.toml",
        suite_text: SUITE,
        handling_minutes: 1.5,
        seed: None,
    });
    plan.expect("a plan").to_text()
}

pub(crate) fn plan_seeds() -> Vec<Vec<u8>> {
    let small = made("A=1,2", "2", 2, Moves::EachRound);
    let mut seeds = input::texts(&[
        &small,
        &made("A=1,2,3;B's $(rm) µ=x,y", "left,right,top", 3, Moves::EachRound),
        &made("A=1", "1", 1, Moves::Never),
        "format = \"assay-plan\"\nversion = 99\n",
        "format = \"\u{1b}\"\nversion = 1\n",
        "format = \"assay-plan\"\nversion = 1\nhash = \"x\"\n\nseed = 1\n",
    ]);
    for (from, to) in [
        ("rounds = 2", "rounds = 18446744073709551615"),
        ("rounds = 2", "rounds = 4000000000"),
        ("waves = 1", "waves = 0"),
        ("waves = 1", "waves = 9223372036854775807"),
        ("wave = 1", "wave = 18446744073709551615"),
        ("order = 1", "order = 0"),
        ("handling_minutes = 1.5", "handling_minutes = nan"),
        ("slot = \"1\"", "slot = \"\\u001b[2J\""),
        ("unit = \"1\"", "unit = \"\\n\""),
        ("[\"1\", \"2\"]", "[\"1\", \"\\u001b\"]"),
        ("seed = ", "\"\\u001b\" = "),
        ("name = \\\"x\\\"", "name = \\\"\\u001b\\\""),
        ("budget = ", "\\u202e = "),
    ] {
        seeds.push(small.replacen(from, to, 1).into_bytes());
    }
    seeds
}

// A sparse card in memory, of zeros with noise here and there, which knows what changed.

const SECTOR: u64 = 512;

/// The content of each sector that was changed.
#[derive(Debug, Clone)]
pub(crate) struct Card {
    pub(crate) bytes: u64,
    pub(crate) sectors: BTreeMap<u64, [u8; SECTOR as usize]>,
    /// Reads and writes until the plug is pulled; `None` for never.
    pub(crate) left: Option<u64>,
}

impl Card {
    pub(crate) fn new(bytes: u64) -> Self {
        Self { bytes, sectors: BTreeMap::new(), left: None }
    }

    /// What stood in a sector at first: every 16th block is noise.
    pub(crate) fn original(sector: u64) -> [u8; SECTOR as usize] {
        let mut content = [0; SECTOR as usize];
        if (sector / 8).is_multiple_of(16) {
            let mut word = sector.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
            for place in content.chunks_exact_mut(8) {
                place.copy_from_slice(&word.to_le_bytes());
                word = word.rotate_left(9) ^ 0xd134_2543_de82_ef95;
            }
        }
        content
    }

    pub(crate) fn sector(&self, sector: u64) -> [u8; SECTOR as usize] {
        self.sectors.get(&sector).copied().unwrap_or_else(|| Self::original(sector))
    }
}

impl Device for Card {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), ProbeFault> {
        self.lives()?;
        self.inside(offset, buffer.len());
        for (sector, part) in (offset / SECTOR..).zip(buffer.chunks_mut(SECTOR as usize)) {
            part.copy_from_slice(&self.sector(sector)[..part.len()]);
        }
        Ok(())
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<(), ProbeFault> {
        self.lives()?;
        self.inside(offset, data.len());
        for (sector, part) in (offset / SECTOR..).zip(data.chunks_exact(SECTOR as usize)) {
            let content: [u8; SECTOR as usize] = part.try_into().map_err(|_| ProbeFault::Medium)?;
            if content == Self::original(sector) {
                self.sectors.remove(&sector);
            } else {
                self.sectors.insert(sector, content);
            }
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<(), ProbeFault> {
        if self.present() { Ok(()) } else { Err(ProbeFault::Gone) }
    }

    fn present(&mut self) -> bool {
        self.left != Some(0)
    }
}

impl Card {
    /// Counts a read or write.
    fn lives(&mut self) -> Result<(), ProbeFault> {
        match &mut self.left {
            Some(0) => Err(ProbeFault::Gone),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// What the contract of a device asks of its caller.
    fn inside(&self, offset: u64, length: usize) {
        let end = offset.checked_add(length as u64);
        let whole = offset.is_multiple_of(SECTOR) && (length as u64).is_multiple_of(SECTOR);
        assert!(whole && end.is_some_and(|end| end <= self.bytes), "{length} bytes at {offset}");
    }
}
