//! `assay endure` at the size that it promises: 128 GB and 10,000 cycles, on a device that keeps no content.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use assay_core::endurance::{Endurance, FailureKind, WearLoad};
use assay_endure::journal::{first_bytes, frame};
use assay_endure::{
    Begin, COLUMNS, Changed, Entry, Latencies, Phase, Run, SECTOR, SLICES, SliceRead, SliceWritten, Stamp, State, mixed,
};
use assay_lab::{Backing, FakeCard, Missing};

use crate::own_cost::{Peaks, Watch};
use crate::process::{binary, finish_watched, tree};
use crate::report::{BenchRow, Report, Target};

const PAGE: usize = 4096;
const SECTORS: u64 = (PAGE / SECTOR) as u64;
const PAGES: u64 = 128_000_000_000 / PAGE as u64;
const CYCLES: u64 = 10_000;
/// A transfer of wear is longer, a look at a single place shorter.
const LARGE: usize = 64 << 10;
/// What is waited for has come by then.
const TIMEOUT: Duration = Duration::from_secs(3600);

// The medium.

/// A medium that knows of each page which cycle it holds, and makes the content when it is read.
struct Stamped {
    unit: u64,
    cycles: Vec<u16>,
    /// Pages with other content.
    others: HashMap<u64, Vec<u8>>,
    /// Whether sectors fail.
    wears: bool,
    seen: Arc<Mutex<Seen>>,
}

/// What a medium was asked for.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    written: u64,
    read: u64,
    /// The first large transfer since this was last cleared.
    large: Option<Instant>,
}

/// How many pages of which each fiftieth has four sectors that fail, each second one, so that each is a run of its own.
const ONE_IN: u64 = 50;
/// Part of the area in which sectors give errors: a transfer with one is read page by page.
const UNREADABLE: u64 = PAGES / 64;

/// How a sector fails.
fn fate(page: u64, sector: u64) -> Option<FailureKind> {
    let drawn = mixed(7, page);
    let fails = drawn.is_multiple_of(ONE_IN) && sector.is_multiple_of(2);
    let kind = FailureKind::ALL[((drawn >> 32) + sector / 2) as usize % FailureKind::ALL.len()];
    let kind = if kind == FailureKind::Unreadable && page >= UNREADABLE { FailureKind::Garbage } else { kind };
    fails.then_some(kind)
}

/// Makes a sector fail that holds this stamp.
fn spoil(kind: FailureKind, stamp: Stamp, sector: &mut [u8]) -> io::Result<()> {
    match kind {
        FailureKind::Zeros => sector.fill(0),
        FailureKind::Ones => sector.fill(0xff),
        FailureKind::StaleRound => Stamp { round: stamp.round - 1, ..stamp }.fill(sector),
        FailureKind::OtherAddress => Stamp { address: stamp.address ^ 64, ..stamp }.fill(sector),
        FailureKind::OtherDevice => Stamp { unit: !stamp.unit, ..stamp }.fill(sector),
        FailureKind::BitFlips => sector[100] ^= 1,
        FailureKind::Unreadable => return Err(io::ErrorKind::Other.into()),
        FailureKind::Garbage => sector.fill(0x5a),
    }
    Ok(())
}

impl Stamped {
    fn new(unit: u64, cycle: u16, wears: bool) -> (Self, Arc<Mutex<Seen>>) {
        let seen = Arc::new(Mutex::new(Seen::default()));
        let cycles = vec![cycle; PAGES as usize];
        (Self { unit, cycles, others: HashMap::new(), wears, seen: Arc::clone(&seen) }, seen)
    }

    fn note(&self, bytes: usize, change: impl FnOnce(&mut Seen)) {
        let mut seen = self.seen.lock().unwrap();
        change(&mut seen);
        if bytes >= LARGE {
            seen.large.get_or_insert_with(Instant::now);
        }
    }

    /// Takes the cycle of a page, if it holds stamps of that cycle in each sector.
    fn recognised(&mut self, page: u64, data: &[u8]) -> Option<u16> {
        let mut cycle = None;
        for (sector, address) in data.chunks_exact(SECTOR).zip(page * SECTORS..) {
            let [stamp, behind] = Stamp::headers(sector);
            if self.unit == 0 {
                self.unit = stamp.unit;
            }
            let whole = stamp == behind && stamp.unit == self.unit && stamp.address == address;
            if !whole || cycle.is_some_and(|cycle| cycle != stamp.round) {
                return None;
            }
            cycle = Some(stamp.round);
        }
        u16::try_from(cycle?).ok()
    }
}

impl Backing for Stamped {
    fn bytes(&self) -> u64 {
        PAGES * PAGE as u64
    }

    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.note(buffer.len(), |seen| seen.read += buffer.len() as u64);
        for (sector, address) in buffer.chunks_exact_mut(SECTOR).zip(offset / SECTOR as u64..) {
            let page = address / SECTORS;
            if let Some(other) = self.others.get(&page) {
                let at = (address % SECTORS) as usize * SECTOR;
                sector.copy_from_slice(&other[at..at + SECTOR]);
                continue;
            }
            let cycle = self.cycles[page as usize];
            if cycle == 0 {
                sector.fill(0);
                continue;
            }
            let stamp = Stamp { unit: self.unit, round: u64::from(cycle), address };
            stamp.fill(sector);
            if let Some(kind) = fate(page, address % SECTORS).filter(|_| self.wears) {
                spoil(kind, stamp, sector)?;
            }
        }
        Ok(())
    }

    fn write(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.note(data.len(), |seen| seen.written += data.len() as u64);
        if !offset.is_multiple_of(PAGE as u64) || !data.len().is_multiple_of(PAGE) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        for (bytes, page) in data.chunks_exact(PAGE).zip(offset / PAGE as u64..) {
            match self.recognised(page, bytes) {
                Some(cycle) => {
                    self.cycles[page as usize] = cycle;
                    if !self.others.is_empty() {
                        self.others.remove(&page);
                    }
                }
                None => drop(self.others.insert(page, bytes.to_vec())),
            }
        }
        Ok(())
    }
}

// The program under test.

fn endure(data: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command.arg("endure").args(arguments).env("ASSAY_DATA", data);
    command
}

/// A command under way, and its memory.
struct Running {
    child: Child,
    watch: Watch,
    since: Instant,
}

impl Running {
    fn start(mut command: Command, output: &Path) -> Self {
        let (out, err) = (std::fs::File::create(output).unwrap(), std::fs::File::create(output.with_extension("err")));
        command.stdin(Stdio::null()).stdout(out).stderr(err.unwrap());
        let since = Instant::now();
        let child = command.spawn().unwrap();
        Self { watch: Watch::start(child.id()), child, since }
    }

    /// Waits until the medium shows it.
    fn until(&mut self, seen: &Mutex<Seen>, shows: impl Fn(Seen) -> bool) {
        while !shows(*seen.lock().unwrap()) {
            assert!(self.since.elapsed() < TIMEOUT, "it did not come");
            assert!(self.child.try_wait().unwrap().is_none(), "it ended before");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// SIGKILL, for the process that waits and the one that works.
    fn kill(mut self) -> Peaks {
        for process in tree(self.child.id()) {
            // SAFETY: kill(2) takes numbers only; these are of this child and what it started.
            unsafe { libc::kill(libc::pid_t::try_from(process).unwrap(), libc::SIGKILL) };
        }
        self.child.wait().unwrap();
        self.watch.end()
    }

    fn end(mut self) -> (Peaks, f64) {
        let code = self.child.wait().unwrap();
        assert!(code.success(), "{code}");
        (self.watch.end(), self.since.elapsed().as_secs_f64())
    }
}

fn row(what: &str, value: f64, unit: &'static str, most: f64) -> BenchRow {
    BenchRow::exact(what, value, unit, format!("{value:.2}{unit}"), Target::AtMost(most))
}

/// Kills a test and resumes it; the seconds until it goes on with its slice.
fn resumed(mut running: Running, seen: &Mutex<Seen>, again: impl FnOnce() -> Running) -> (Running, Peaks, f64) {
    running.until(seen, |_| true);
    let peaks = running.kill();
    // The last transfers of the killed process end after it.
    std::thread::sleep(Duration::from_secs(2));
    seen.lock().unwrap().large = None;
    let mut running = again();
    running.until(seen, |seen| seen.large.is_some());
    let went_on = seen.lock().unwrap().large.unwrap();
    let seconds = went_on.duration_since(running.since).as_secs_f64();
    (running, peaks, seconds)
}

/// One cycle of 128 GB, killed in writing and in reading. `ASSAY_ENDURE_GB` makes it a part.
pub(crate) fn whole_cycle(report: &mut Report) -> Result<(), Missing> {
    let directory = tempfile::tempdir().map_err(|e| Missing(format!("temporary directory: {e}")))?;
    let (data, output) = (directory.path().join("data"), directory.path().join("out"));
    let (medium, seen) = Stamped::new(0, 0, true);
    let card = FakeCard::new(medium)?;
    let device = card.path().to_str().unwrap();
    let part = std::env::var("ASSAY_ENDURE_GB").ok().and_then(|text| text.parse::<u64>().ok());
    let bytes = part.map_or(PAGES * PAGE as u64, |gb| gb * 1_000_000_000 / PAGE as u64 * PAGE as u64);
    let size = bytes.to_string();
    let resume = || Running::start(endure(&data, &["--resume", device, "--until", "1 cycles", "--json"]), &output);
    let begun = ["--overwrite", device, "--part", &size, "--until", "1 cycles", "--json", device];
    let mut running = Running::start(endure(&data, &begun), &output);
    running.until(&seen, |seen| seen.written > bytes * 3 / 8);
    let (mut running, first, writing) = resumed(running, &seen, resume);
    running.until(&seen, |seen| seen.read > bytes * 5 / 8);
    let (running, second, reading) = resumed(running, &seen, resume);
    let (third, _) = running.end();
    let printed: BTreeMap<String, Vec<Endurance>> = serde_json::from_slice(&std::fs::read(&output).unwrap()).unwrap();
    let test = &printed["tests"][0];
    let log = std::fs::metadata(data.join(format!("endure/{}.log", test.id))).unwrap().len();
    assert_eq!((test.cycles, test.written_bytes, test.read_bytes), (1, bytes, bytes));
    let failing = (0..bytes / PAGE as u64).filter(|page| fate(*page, 0).is_some()).count() as u64 * 4;
    report.note(format!(
        "{} of {failing} failing sectors counted, kinds {:?}, log {log} bytes, uncounted {} bytes",
        test.failed_sectors, test.kinds, test.uncounted_bytes
    ));
    let most = |of: fn(&Peaks) -> f64| [first, second, third].iter().map(of).fold(0.0, f64::max) / 1e6;
    report.note(format!("{:.1} MB with the process that waits", most(|peaks| peaks.sum)));
    let name = format!("one cycle of {:.0} GB with {failing} failing sectors", bytes as f64 / 1e9);
    report.add(row(&format!("{name}: peak memory"), most(|peaks| peaks.largest), " MB", 32.0));
    report.add(row(&format!("{name}: killed in writing, resumed"), writing, " s", 60.0));
    report.add(row(&format!("{name}: killed in reading, resumed"), reading, " s", 60.0));
    Ok(())
}

// A log of the full size.

/// Slices in which sectors fail: what is known of them fits into memory in full, so that each failure is logged.
const FAILING_SLICES: u64 = 5;
/// Sectors that fail in a cycle, each by itself.
const NEW: u64 = 7_000;

/// The log of the worst case, by the entries and the state of the program: each cell of the map changes in each cycle, and each
/// sector that fails is a run. Returns its bytes and runs.
fn write_log(unit: u64, directory: &Path) -> io::Result<(u64, u64)> {
    let id = format!("{unit:016x}");
    let begin = Begin {
        version: 1,
        id: id.clone(),
        started: "2026-01-01T12:00:00Z".to_owned(),
        model: Some("worst case".to_owned()),
        unit: None,
        capacity_bytes: PAGES * PAGE as u64,
        pages: PAGES,
        load: WearLoad::Whole,
        labels: BTreeMap::new(),
    };
    std::fs::create_dir_all(directory)?;
    let path = directory.join(format!("{id}.log"));
    let mut file = BufWriter::new(std::fs::File::create(&path)?);
    let mut state = State::begin(begin.clone()).unwrap();
    file.write_all(&first_bytes(&Entry::Begin(begin)))?;
    let (mut drawn, mut runs) = (0, 0);
    for _ in 0..CYCLES * 2 * SLICES {
        let entry = next_entry(&state, &mut drawn);
        if let Entry::Read(read) = &entry {
            runs += read.failures.len() as u64;
        }
        assert!(state.apply(&entry));
        file.write_all(&frame(&entry))?;
    }
    file.into_inner()?.sync_all()?;
    Ok((std::fs::metadata(&path)?.len(), runs))
}

fn next_entry(state: &State, drawn: &mut u64) -> Entry {
    let mut below = |end: u64| {
        *drawn += 1;
        mixed(*drawn, 11) % end
    };
    let task = state.task();
    let bytes = state.slice_bytes(task);
    let latencies = Latencies { p50_ns: 30_000_000, p99_ns: 90_000_000, max_ns: 900_000_000 };
    let (elapsed_ns, at) = (266_000_000_000, 1_800_000_000);
    if task.phase == Phase::Write {
        return Entry::Written(SliceWritten { task, bytes, elapsed_ns, latencies, refused: 0, at });
    }
    let slice = task.slice(state.layout().unit);
    let pages = state.layout().slice(slice);
    let mut sectors: Vec<u64> = Vec::new();
    while slice < FAILING_SLICES && (sectors.len() as u64) < NEW / FAILING_SLICES {
        let sector = pages.start * SECTORS + below((pages.end - pages.start) * SECTORS);
        if state.failed().count(sector..sector + 1) == 0 {
            sectors.push(sector);
        }
    }
    sectors.sort_unstable();
    sectors.dedup();
    let kind = |sector: u64| FailureKind::ALL[(sector % FailureKind::ALL.len() as u64) as usize];
    let failures = sectors.into_iter().map(|sector| Run { sectors: sector..sector + 1, kind: kind(sector) }).collect();
    let mut counts = || std::array::from_fn(|column| if column < COLUMNS / 3 { below(60_000) as u32 } else { 0 });
    let cells = if state.maps(task.cycle) { state.layout().cells_of(slice) } else { 0..0 };
    let changes = cells.map(|cell| Changed { cell, counts: counts() }).collect();
    Entry::Read(SliceRead { task, bytes, elapsed_ns, latencies, transient: 0, healed: 9, failures, changes, at })
}

/// The log of 10,000 cycles in the worst case: its size, and what status, map and resuming take.
pub(crate) fn full_log(report: &mut Report) -> Result<(), Missing> {
    let directory = tempfile::tempdir().map_err(|e| Missing(format!("temporary directory: {e}")))?;
    let (data, output) = (directory.path().join("data"), directory.path().join("out"));
    let unit = 0x0128_0000_0000_0001;
    let written = write_log(unit, &data.join("endure"));
    let (bytes, runs) = written.map_err(|e| Missing(format!("log of the full size: {e}")))?;
    report.note(format!("{runs} first failures in the log"));
    report.add(row("log of 128 GB and 10,000 cycles in the worst case", bytes as f64 / 1e9, " GB", 1.0));
    let status = |name: &str, arguments: &[&str], report: &mut Report| {
        let mut watch = None;
        let mut command = endure(&data, &[&["--status"], arguments].concat());
        let finished = finish_watched(command.current_dir(directory.path()), |id| watch = Some(Watch::start(id)));
        let peaks = watch.map_or_else(Peaks::default, Watch::end);
        assert!(!finished.stdout.is_empty() || directory.path().join("map.svg").exists(), "{}", finished.stderr);
        report.note(format!("{name}: {:.1} s, {:.1} MB", finished.wall_seconds, peaks.largest / 1e6));
        peaks.largest / 1e6
    };
    let memory = status("status of that log", &[], report);
    report.add(row("status of that log: peak memory", memory, " MB", 32.0));
    status("map of that log, .svg", &["-o", "map.svg"], report);
    status("map of that log, .png", &["-o", "map.png"], report);
    let (medium, seen) = Stamped::new(unit, CYCLES as u16, false);
    let card = FakeCard::new(medium)?;
    let device = card.path().to_str().unwrap();
    let mut running = Running::start(endure(&data, &["--resume", device]), &output);
    running.until(&seen, |seen| seen.large.is_some());
    let went_on = seen.lock().unwrap().large.unwrap().duration_since(running.since).as_secs_f64();
    running.until(&seen, |seen| seen.written > PAGES * PAGE as u64 / SLICES);
    let peaks = running.kill();
    report.add(row("resumed with that log", went_on, " s", 60.0));
    report.add(row("resumed with that log, a slice: peak memory", peaks.largest / 1e6, " MB", 32.0));
    Ok(())
}
