//! Reports put together to records.
//!
//! A report that is whole is a record of its own. The others are lines of the log of a script, which runs one tool after
//! another on one medium: they are one record, until a tool is met again with a load that the record has already, or
//! another device, or of a file and a raw device that the text does not join, or behind the prompt of another host.
//! Figures are never put together over that: a run is no repeat of another.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use assay_core::draft::Draft;
use assay_core::finding::Finding;
use assay_core::medium::{Medium, MediumKind};
use assay_core::outcome::Outcome;
use assay_core::record::{Host, Measurement, Origin, Record, Source, SuiteRef, Tool};
use assay_core::text::digit;
use sha2::{Digest, Sha256};

use crate::joined::{Around, Mounts, Named, is_of_disk};
use crate::labels::{Given, PathPattern};
use crate::pattern::{Regex, regex};
use crate::report::{MOST_FIGURES, Part, Problem, Report};
use crate::sheet::Sheet;
use crate::text::Text;
use crate::unpack::File;

/// Name of the suite of a record that several tools made.
const SEVERAL: &str = "several tools";

/// Most reports of a group.
const MOST_PARTS: usize = 1_000;
/// Most bytes of text that records keep whose lines are those of others too: each keeps all of it.
const MOST_SHARED: usize = 32 << 20;

/// Reports on their way to records, which are complete when a report comes that belongs to another.
pub(crate) struct Groups<'a> {
    text: &'a Text,
    file: &'a File,
    options: &'a Options,
    /// Records made so far.
    made: usize,
    group: Group,
    mounts: Mounts<'a>,
    /// The lines of the record before, and how many before it had them: a page may have run several reports together in
    /// one line, and the text alone does not distinguish them.
    before: Option<((usize, usize), u32)>,
    shared: usize,
}

impl<'a> Groups<'a> {
    pub(crate) fn new(text: &'a Text, file: &'a File, options: &'a Options) -> Self {
        Self {
            text,
            file,
            options,
            made: 0,
            group: Group::default(),
            mounts: Mounts::new(text),
            before: None,
            shared: 0,
        }
    }

    /// Takes the next report; the record of those before it, where it does not belong to them. A problem where too many
    /// share their lines.
    pub(crate) fn add(&mut self, part: Part) -> Result<Option<Record>, Problem> {
        let same = self.group.parts.last().is_some_and(|last| (last.from, last.to) == (part.from, part.to));
        if same {
            let lines = self.text.lines().get(part.from..part.to).unwrap_or_default();
            self.shared += lines.iter().map(|line| line.text.len() + 1).sum::<usize>();
            if self.shared > MOST_SHARED {
                let what = "too many results in these lines: give each a line of its own".to_owned();
                return Err(Problem { line: self.text.number(part.from), what });
            }
        }
        let loads = loads(&part);
        let after = self.group.parts.last().map_or(0, |last| last.to);
        let around = Around::of(self.text, &part, after);
        let record = if self.group.takes(&part, &loads, &around, &self.mounts) { None } else { self.end() };
        self.group.push(part, loads, around);
        Ok(record)
    }

    /// The record of the last reports.
    pub(crate) fn end(&mut self) -> Option<Record> {
        let group = std::mem::take(&mut self.group);
        if group.parts.iter().all(|part| part.report.is_empty()) {
            return None;
        }
        let lines = lines(&group.parts);
        let nth = match self.before {
            Some((before, nth)) if before == lines => nth + 1,
            _ => 0,
        };
        self.before = Some((lines, nth));
        self.made += 1;
        Some(record(group.parts, nth, self))
    }
}

/// Reports that are one record, and what decides whether another is of it.
#[derive(Debug, Default)]
struct Group {
    parts: Vec<Part>,
    /// What was measured: the tools, each with its loads and scores.
    known: BTreeSet<(String, Measured)>,
    device: Option<String>,
    /// Where its files lie, and on which file system.
    place: Option<String>,
    filesystem: Option<String>,
    named: Named,
    /// What stands around its parts: the first host, all disks, and whether a script printed the command of the last.
    around: Around,
    checked: bool,
    /// Names of the values of its health.
    health: BTreeSet<String>,
    figures: usize,
}

impl Group {
    /// Whether a report belongs to the run of those before it.
    fn takes(&self, next: &Part, loads: &[Measured], around: &Around, mounts: &Mounts<'_>) -> bool {
        let Some(first) = self.parts.first() else { return true };
        let report = &next.report;
        if first.report.whole || report.whole || report.begins || self.checked && report.verification.is_some() {
            return false;
        }
        let other_device =
            self.device.is_some() && report.medium.device.is_some() && self.device != report.medium.device
                || self.is_elsewhere(&report.medium)
                || self.is_apart(&report.medium, around, mounts);
        // Two healths are those of two media, or of one at two times. Calls of a tool for identity, health and attributes of one
        // device tell parts of one health.
        let health = &report.medium.health;
        let names_device = report.medium.device.is_some() && report.medium.device == self.device;
        let is_part = names_device
            && report.medium.model.is_none()
            && report.medium.unit.is_none()
            && health.keys().all(|name| !self.health.contains(name));
        let healths = !self.health.is_empty() && !health.is_empty() && !is_part;
        let again = healths || loads.iter().any(|load| self.knows(&report.tool, load));
        let full = self.parts.len() >= MOST_PARTS || self.figures >= MOST_FIGURES;
        !(other_device || again || full)
    }

    /// Whether a medium cannot be that of the reports before: no device holds files in memory, and a volume, a drive letter or
    /// a file system is not another.
    fn is_elsewhere(&self, medium: &Medium) -> bool {
        let differ = |ours: &Option<String>, theirs: &Option<String>| {
            ours.as_ref().zip(theirs.as_ref()).is_some_and(|(ours, theirs)| ours != theirs)
        };
        let place = place(&medium.path);
        let in_memory = |place: &Option<String>| place.as_deref() == Some(MEMORY);
        differ(&self.place, &place)
            || differ(&self.filesystem, &medium.filesystem)
            || in_memory(&self.place) && medium.device.is_some()
            || in_memory(&place) && self.device.is_some()
    }

    /// Whether another host ran a report, or one of both is of a file and the other of a device that the text does not join.
    fn is_apart(&self, medium: &Medium, around: &Around, mounts: &Mounts<'_>) -> bool {
        let hosts = self.around.host.as_ref().zip(around.host.as_ref());
        let joined = |file: &str, device: Option<&String>, disks: &[String]| {
            let of_fio = |device: &str| disks.iter().any(|disk| is_of_disk(&format!("/dev/{disk}"), device));
            self.around.traced && around.traced
                || device.is_some_and(|device| of_fio(device) || mounts.join(file, device))
        };
        let apart = match (&self.named, Named::of(medium)) {
            (Named::File(file), Named::Device) => !joined(file, medium.device.as_ref(), &self.around.disks),
            (Named::Device, Named::File(file)) => !joined(&file, self.device.as_ref(), &around.disks),
            _ => false,
        };
        apart || hosts.is_some_and(|(ours, theirs)| ours != theirs)
    }

    /// Whether a load was measured already. Direct and cached I/O are no repeats of one another; which of them it was, a
    /// repeat may not tell.
    fn knows(&self, tool: &str, (load, direct): &Measured) -> bool {
        let among = |direct| self.known.contains(&(tool.to_owned(), (load.clone(), direct)));
        match direct {
            Some(_) => among(*direct) || among(None),
            None => [None, Some(false), Some(true)].into_iter().any(among),
        }
    }

    fn push(&mut self, part: Part, loads: Vec<Measured>, around: Around) {
        let report = &part.report;
        self.figures += report.figures.len() + report.scores.len();
        self.checked |= report.verification.is_some();
        self.health.extend(report.medium.health.keys().cloned());
        if self.device.is_none() {
            self.device.clone_from(&report.medium.device);
        }
        self.named = std::mem::take(&mut self.named).and(Named::of(&report.medium));
        self.around.host = self.around.host.take().or(around.host);
        self.around.disks.extend(around.disks);
        self.around.traced = around.traced;
        self.place = self.place.take().or_else(|| place(&report.medium.path));
        self.filesystem = self.filesystem.take().or_else(|| report.medium.filesystem.clone());
        self.known.extend(loads.into_iter().map(|load| (report.tool.clone(), load)));
        self.parts.push(part);
    }
}

/// The place of files in memory.
const MEMORY: &str = "memory";
/// Folders that lie on the volume of the system, as a rule.
const OF_SYSTEM: [&str; 8] = ["home", "root", "tmp", "var", "usr", "opt", "srv", "etc"];

/// The volume that a path lies on, as far as the path tells: a drive letter, or the folder where volumes are mounted. None of
/// a device, of a path that begins where the tool was started, and of one that may be the volume or a file beside it.
fn place(path: &str) -> Option<String> {
    if let [letter, b':', ..] = path.as_bytes() {
        return letter.is_ascii_alphabetic().then(|| path[..2].to_uppercase());
    }
    let folders: Vec<&str> = path.strip_prefix('/')?.split('/').filter(|folder| !folder.is_empty()).collect();
    let in_memory = |folder: &&str| ["ramdisk", "tmpfs", "ramfs"].iter().any(|name| folder.eq_ignore_ascii_case(name));
    match folders.as_slice() {
        folders if folders.iter().any(in_memory) => Some(MEMORY.to_owned()),
        ["dev", "shm", ..] => Some(MEMORY.to_owned()),
        ["dev", ..] => None,
        [first @ ("mnt" | "media" | "Volumes"), second, _, ..] => Some(format!("/{first}/{second}")),
        ["mnt" | "media" | "Volumes", ..] => None,
        [first, _, ..] if OF_SYSTEM.contains(first) => Some("/".to_owned()),
        [first, _, ..] => Some(format!("/{first}")),
        _ => None,
    }
}

/// The unique name of a load or a score, and whether it used direct I/O, if the text says so.
type Measured = (String, Option<bool>);

/// The loads and scores of a report.
fn loads(part: &Part) -> Vec<Measured> {
    let figures = part.report.figures.iter().map(|figure| (figure.load.workload().title(), figure.load.direct));
    figures.chain(part.report.scores.iter().map(|score| (score.name.clone(), None))).collect()
}

/// The first line of a group, and the one behind its last.
fn lines(group: &[Part]) -> (usize, usize) {
    let from = group.iter().map(|part| part.from).min().unwrap_or(0);
    (from, group.iter().map(|part| part.to).max().unwrap_or(0))
}

/// A group as a record, the `nth` of its lines.
fn record(group: Vec<Part>, nth: u32, of: &Groups<'_>) -> Record {
    let Groups { text, file, options, made, .. } = of;
    let given = options.given(&file.name, *made);
    let (from, to) = lines(&group);
    let original = text.joined(from, to);
    let hash = Sha256::digest(original.as_bytes());
    let formats = once(group.iter().map(|part| part.format));
    let tools = once(group.iter().filter(|part| !part.report.is_empty()).map(|part| part.report.tool.as_str()));
    let versions = once(group.iter().filter_map(|part| part.report.version.as_deref()));
    let suite = if tools.len() == 1 { tools[0].to_lowercase() } else { SEVERAL.to_owned() };
    let tool = Tool {
        name: tools.join(", "),
        version: if tools.len() == 1 { versions.join(", ") } else { String::new() },
        commit: None,
        engine: tools.join(", "),
        engine_reason: "imported".to_owned(),
    };
    let source = Source {
        format: formats.join(", "),
        file: file.name.clone(),
        original_text_sha256: hex(&hash),
        lines: Some((text.number(from), text.number(to.saturating_sub(1)))),
        text: options.keep_text.then(|| without_identities(&original)),
    };
    let mut all = group.into_iter().map(|part| part.report);
    let mut whole = all.next().unwrap_or_else(|| Report::new(""));
    let mut measurements = measured(&mut whole);
    for mut next in all {
        measurements.extend(measured(&mut next));
        merge(&mut whole, next);
    }
    let mut labels = whole.labels;
    labels.extend(given.labels);
    let host = Host { hostname: given.host.or(whole.host.hostname), ..whole.host };
    let medium = Medium { kind: given.kind.unwrap_or(whole.medium.kind), ..whole.medium };
    // A date that no calendar has was printed wrong, or read wrong.
    let created = whole.created.filter(|time| time.parse::<jiff::Timestamp>().is_ok()).unwrap_or_default();
    let mut draft = Draft::begin(&id(&source.format, nth, &hash), &created, tool, SuiteRef::new(&suite, 1), medium)
        .on_host(host)
        .labelled(labels)
        .taken_from(Origin::Imported(source));
    for finding in whole.findings {
        draft.warn(finding);
    }
    let record = draft.fill();
    record.measurements = measurements;
    // A number beyond all others could not be read again.
    record.scores = whole.scores.into_iter().filter(|score| score.value.point.is_finite()).collect();
    record.verification = whole.verification;
    draft.close(whole.outcome)
}

fn measured(report: &mut Report) -> Vec<Measurement> {
    let figures = std::mem::take(&mut report.figures);
    figures.into_iter().map(|figure| figure.measurement(&report.tool)).collect()
}

/// Adds what another report of the run tells. What was told before stays.
fn merge(whole: &mut Report, next: Report) {
    fn fill<T>(ours: &mut Option<T>, theirs: Option<T>) {
        if ours.is_none() {
            *ours = theirs;
        }
    }
    fill(&mut whole.created, next.created);
    let Host { hostname, board, cpu, cores, memory_bytes, kernel, os, governor, arch, slot } = next.host;
    fill(&mut whole.host.hostname, hostname);
    fill(&mut whole.host.board, board);
    fill(&mut whole.host.cpu, cpu);
    fill(&mut whole.host.cores, cores);
    fill(&mut whole.host.memory_bytes, memory_bytes);
    fill(&mut whole.host.kernel, kernel);
    fill(&mut whole.host.os, os);
    fill(&mut whole.host.governor, governor);
    fill(&mut whole.host.arch, arch);
    fill(&mut whole.host.slot, slot);
    // Fields that no tool prints are named without a use, so that a new field cannot be forgotten.
    let Medium {
        kind,
        vendor,
        model,
        unit,
        attached: _,
        capacity_bytes,
        filesystem,
        mount_options: _,
        mount_point,
        path,
        device,
        stack: _,
        bus,
        claimed_classes,
        health,
        readings: _,
        command_queue: _,
        queue: _,
    } = next.medium;
    if whole.medium.kind == MediumKind::Unknown {
        whole.medium.kind = kind;
    }
    fill(&mut whole.medium.vendor, vendor);
    fill(&mut whole.medium.model, model);
    fill(&mut whole.medium.unit, unit);
    fill(&mut whole.medium.capacity_bytes, capacity_bytes);
    fill(&mut whole.medium.filesystem, filesystem);
    fill(&mut whole.medium.mount_point, mount_point);
    fill(&mut whole.medium.device, device);
    fill(&mut whole.medium.bus, bus);
    if whole.medium.path.is_empty() {
        whole.medium.path = path;
    }
    whole.medium.claimed_classes.extend(claimed_classes);
    whole.medium.health.extend(health);
    whole.labels.extend(next.labels);
    whole.scores.extend(next.scores);
    fill(&mut whole.verification, next.verification);
    whole.findings.extend(next.findings.into_iter().filter(new_to(&whole.findings)).collect::<Vec<Finding>>());
    if whole.outcome == Outcome::Completed {
        whole.outcome = next.outcome;
    }
}

fn new_to(known: &[Finding]) -> impl Fn(&Finding) -> bool {
    let known = known.to_vec();
    move |finding| !known.contains(finding)
}

/// Each of these once, in their order.
fn once<'a>(all: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen: BTreeMap<&str, ()> = BTreeMap::new();
    all.filter(|name| !name.is_empty() && seen.insert(*name, ()).is_none()).collect()
}

/// The id of a report: the same whenever and wherever it is imported. It begins with `z`, which ids by time reach in
/// 2087, and has 45 bits of the hash.
fn id(format: &str, nth: u32, text: &[u8]) -> String {
    let hash = Sha256::new().chain_update(format.as_bytes()).chain_update([0]).chain_update(text);
    let hash = if nth > 0 { hash.chain_update(nth.to_le_bytes()) } else { hash }.finalize();
    let digits = hash.iter().take(9).map(|byte| digit(u64::from(*byte)));
    std::iter::once('z').chain(digits).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

// What is said of all files beside what they hold.

/// What is said of files beside what they hold.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Labels of all records, in place of what a report says.
    pub labels: BTreeMap<String, String>,
    /// The host of all records, in place of what a report says.
    pub host: Option<String>,
    /// The kind of all media, in place of what a report says.
    pub kind: Option<MediumKind>,
    /// Labels that come from the path.
    pub path: Option<PathPattern>,
    /// What a sheet says of each file.
    pub sheet: Option<Sheet>,
    /// Whether a record keeps the text that it was read from.
    pub keep_text: bool,
}

impl Options {
    /// What is said of a result of a file, the results of a file counted from 1: all of them weigh more than its row in the sheet,
    /// and that more than its path.
    #[must_use]
    pub fn given(&self, file: &str, result: usize) -> Given {
        let row = self.sheet.as_ref().and_then(|sheet| sheet.row(file, result)).unwrap_or_default();
        let mut labels = self.path.as_ref().and_then(|pattern| pattern.labels(file)).unwrap_or_default();
        labels.extend(row.labels);
        labels.extend(self.labels.clone());
        Given {
            labels,
            host: self.host.clone().or(row.host),
            kind: self.kind.or(row.kind),
            doubtful: row.doubtful,
            row: row.row,
        }
    }
}

// What tells one machine from all others, taken out of a text that is kept.

/// Addresses of network interfaces, and serial numbers as tools print them.
static IDENTITIES: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = concat!(
        r"(?i)\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b",
        r#"|\b(serial(?:[ _]?(?:number|no\.?))?"?\s*[:=]\s*)"?[0-9a-z_-]{4,}"?"#,
        // The head of a table of comma separated values.
        r"|(?m:^(serial,)[0-9a-z_-]{4,}\s*$)"
    );
    regex(pattern)
});

/// A text with a mark instead of each.
fn without_identities(text: &str) -> String {
    IDENTITIES
        .replace_all(text, |found: &regex_lite::Captures<'_>| {
            format!("{}\"left out\"", found.get(1).or(found.get(2)).map_or("", |key| key.as_str()))
        })
        .into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_files() {
        let of = |path| place(path).unwrap_or_default();
        assert_eq!((of("/ramdisk/zero"), of("/dev/shm/x"), of("/mnt/RAMDISK/x")), same(MEMORY));
        assert_eq!((of("/home/u/x"), of("/tmp/x"), of("/root/data")), same("/"));
        assert_eq!((of("c:\\x\\test.dat"), of("C:"), of("C:/x")), same("C:"));
        assert_eq!(
            (of("/mnt/usb/x"), of("/mnt/usb/y/z"), of("/mnt/usb/")),
            ("/mnt/usb".into(), "/mnt/usb".into(), String::new())
        );
        assert_eq!((of("/testfile"), of("/dev/sda"), of("test")), same(""));
    }

    fn same(text: &str) -> (String, String, String) {
        (text.to_owned(), text.to_owned(), text.to_owned())
    }

    #[test]
    fn addresses_and_serial_numbers_are_left_out() {
        let text = "rev: c03112 serial: 10000000abcd1234 \nIF: eth0 mac: dc:a6:32:00:11:22\nSerial Number=ABC_123-X, 12:30:01\n";
        let want =
            "rev: c03112 serial: \"left out\" \nIF: eth0 mac: \"left out\"\nSerial Number=\"left out\", 12:30:01\n";
        assert_eq!(without_identities(text), want);
        assert_eq!(without_identities("\"serial_number\": \"S4EWNX0\""), "\"serial_number\": \"left out\"");
        assert_eq!(without_identities("serial: N/A"), "serial: N/A");
        assert_eq!(without_identities("Model,A 1\nSerial,S4EWNX0\nCPU,B"), "Model,A 1\nSerial,\"left out\"\nCPU,B");
        assert_eq!(without_identities("parallel, serial, both"), "parallel, serial, both");
    }
}
