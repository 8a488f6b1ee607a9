//! What other programs say: results of tools, job files and output of fio, nodes and Ansible.

use std::path::Path;
use std::sync::OnceLock;

use assay_analysis::survive::{Axis, Grouping, Milestone, Point, SurviveOptions, read_lives, survive};
use assay_core::record::Record;
use assay_core::suite::{Suite, SuiteError};
use assay_core::text::harmless;
use assay_fio::{JobFile, Wish, complaint, document, io_error, job_file, totals};
use assay_fleet::{AnsibleEvent, Ledger, RunEnd};
use assay_import::{FORMATS, File, Format, Item, Options, Sheet, Text, import};
use assay_report::{Style, card};

use crate::input;

// Results of other tools.

/// Any file is refused in a line, or gives records that can be written, read back and shown, the same each time.
pub(crate) fn whole(data: &[u8]) {
    let options = Options { keep_text: true, ..Options::default() };
    let file = File::new("results.txt", data);
    match import(file.clone(), &options) {
        Err(error) => input::one_line(&error),
        Ok(held) => {
            assert!(!held.items.is_empty() || !held.problems.is_empty(), "nothing, and no reason");
            let again = import(file, &options).expect("as before");
            assert_eq!(imported_ids(&held.items), imported_ids(&again.items));
            for item in &held.items {
                if let Item::Made(record) = item {
                    sound(record);
                }
            }
        }
    }
}

/// Any sheet of names is refused in a line, or says of each file what its first row says.
pub(crate) fn sheet(data: &[u8]) {
    match Sheet::parse(data) {
        Err(error) => input::one_line(&error),
        Ok(sheet) => {
            let options = Options { sheet: Some(sheet), ..Options::default() };
            assert_eq!(options.given("a/1.txt", 1), options.given("a/1.txt", 1));
        }
    }
}

pub(crate) fn sheets() -> Vec<Vec<u8>> {
    input::texts(&[
        "",
        "file,model,unit,host,slot,kind,price,doubtful\na/1.txt,EVO,3,node7,1,sd,12.90USD,random write 4 KiB=why\n",
        "\u{feff}file;model\r\n*/{unit}.txt;\"Ultra; A1\"\r\n",
        "file\tmodel\n\ta\n",
        "file,model\n\"a",
    ])
}

/// One format reads any text from its first line on. The first byte chooses it, or `ASSAY_FUZZ_FORMAT` names it.
pub(crate) fn format(data: &[u8]) {
    static NAMED: OnceLock<Option<&dyn Format>> = OnceLock::new();
    let named = NAMED.get_or_init(|| {
        let name = std::env::var("ASSAY_FUZZ_FORMAT").ok()?;
        Some(
            *FORMATS
                .iter()
                .find(|format| format.name() == name)
                .unwrap_or_else(|| panic!("no format is called {name}")),
        )
    });
    let Some((first, rest)) = data.split_first() else { return };
    let format = named.unwrap_or(FORMATS[usize::from(*first) % FORMATS.len()]);
    let text = Text::from_bytes(rest);
    if text.is_empty() {
        return;
    }
    let _ = format.begins(&text, 0);
    let section = format.read(&text, 0);
    for report in section.reports {
        for figure in report.figures {
            let measurement = figure.measurement(&report.tool);
            let point = |estimate: &Option<assay_core::estimate::Estimate>| {
                estimate.as_ref().is_none_or(|e| e.point.is_finite())
            };
            assert!(point(&measurement.iops) && point(&measurement.bytes_per_second), "{measurement:?}");
        }
    }
}

fn imported_ids(items: &[Item]) -> Vec<String> {
    items
        .iter()
        .map(|item| match item {
            Item::Own { document, .. } => document.clone(),
            Item::Made(record) => serde_json::to_string(record).expect("JSON"),
        })
        .collect()
}

fn sound(record: &Record) {
    let document = serde_json::to_string(record).expect("JSON");
    let back = assay_store::read_document(&document).expect("a record");
    assert_eq!(back.id, record.id);
    assert!(record.origin.imported().is_some());
    if !record.created.is_empty() {
        assert!(record.created.parse::<jiff::Timestamp>().is_ok(), "{}", record.created);
    }
    let shown = card(record, &Style::default());
    assert!(shown.lines().all(|line| harmless(line) == line), "{shown:?}");
}

/// The samples of all formats.
fn samples() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assay-import/samples");
    let mut all = Vec::new();
    let mut formats: Vec<_> =
        folder.read_dir().expect("samples").map(|entry| entry.expect("a folder").path()).collect();
    // A file beside the folders says how samples are made.
    formats.retain(|path| path.is_dir());
    formats.sort();
    for format in formats {
        let mut files: Vec<_> =
            format.read_dir().expect("samples").map(|entry| entry.expect("a sample").path()).collect();
        files.sort();
        for file in files.iter().filter(|file| file.extension().is_none_or(|e| e != "want" && e != "md")) {
            let name = format.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            all.push((name, std::fs::read(file).expect("a sample")));
        }
    }
    all
}

pub(crate) fn files() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = samples().into_iter().map(|(_, bytes)| bytes).collect();
    seeds.extend(input::texts(&[
        "",
        "{",
        "[]",
        "{\"schema\":\"1.0\",\"id\":\"a\",\"suite\":{},\"medium\":{}}",
        "\u{feff}",
    ]));
    seeds.push(vec![0x1f, 0x8b, 8, 0]);
    seeds.push(vec![0xff, 0xfe, b'a']);
    seeds.push(vec![0x28, 0xb5, 0x2f, 0xfd, 0]);
    seeds.push(vec![0xfd, b'7', b'z', b'X', b'Z', 0, 0]);
    seeds
}

pub(crate) fn texts() -> Vec<Vec<u8>> {
    let of =
        |name: &str| FORMATS.iter().position(|format| format.name().to_lowercase().replace([' ', '+'], "-") == name);
    samples()
        .into_iter()
        .filter_map(|(name, bytes)| Some([vec![u8::try_from(of(&name)?).ok()?], bytes].concat()))
        .collect()
}

// What fio prints: its JSON and its words.

/// Figures of any output are finite and add up; words of it are one line.
pub(crate) fn fio_output(data: &[u8]) {
    let text = input::text(data);
    if let Some(document) = document(&text) {
        for synced in [false, true] {
            let totals = totals(&document, "m", synced);
            assert!(totals.iops.is_finite() && totals.bytes_per_second.is_finite(), "{totals:?}");
            let h = &totals.histogram;
            let quantiles = [0.0, 0.5, 0.99, 1.0].map(|share| h.quantile(share));
            assert!(quantiles.is_sorted(), "{quantiles:?}");
            assert!(quantiles.iter().flatten().chain(&h.mean()).all(|ns| ns.is_finite() && *ns >= 0.0), "{h:?}");
        }
    }
    input::one_line(&complaint(&text));
    if let Some((_, offset)) = io_error(&text) {
        assert!(text.contains("io_u error") && text.contains(" offset="), "{offset}");
    }
}

pub(crate) fn fio_output_seeds() -> Vec<Vec<u8>> {
    let mut seeds = input::texts(&[
        "\0\u{b}\0\0",
        r#"note: both iodepth >= 1 and synchronous I/O engine are selected
{ "jobs": [
  {"jobname": "ramp", "error": 0, "read": {"io_bytes": 999}},
  {"jobname": "m", "error": 0, "read": {"io_bytes": 8192, "bw_bytes": 4096, "iops": 1.0, "runtime": 2000,
     "total_ios": 2, "lat_ns": {"min": 900, "max": 1100, "mean": 1000.0, "bins": {"1004": 2}}},
   "write": {"io_bytes": 0, "iops": -nan}},
  {"jobname": "m", "error": 5, "write": {"io_bytes": 4096, "bw_bytes": 2048, "iops": 0.5, "runtime": 1900, "total_ios": 1,
     "clat_ns": {"min": 5000, "max": 5000, "mean": 5000.0, "bins": {"5024": 1}}},
   "sync": {"lat_ns": {"mean": 9000, "min": 9000, "max": 9000, "bins": {"9024": 4}}}}
]} trailing"#,
        r#"{"jobs": [{"jobname": "m", "read": {"iops": 1e308, "bw_bytes": 1e308}, "write": {"iops": 1e308, "bw_bytes": 1e308}}]}"#,
        r#"{"jobs": [{"jobname": "m", "read": {"lat_ns": {"mean": 1e308, "min": 18446744073709551615, "max": 0, "bins": {"18446744073709551615": 18446744073709551615, "1": 7}}}}]}"#,
        r#"{"jobs": [{"jobname": "m", "read": {"iops": -1, "lat_ns": {"mean": -1e30, "bins": {"-1": 1, "0": 1}}}}]}"#,
        r#"{"jobs": {"jobname": "m"}}"#,
        "{ : nan : inf : -nan",
        "fio: io_u error on file /mnt/x: Input/output error: write offset=1048576, buflen=4096\nfio: pid=1\n",
        "io_u error offset=99999999999999999999999",
        "fio: \u{1b}[2J\u{202e}\u{9b}x\nnext",
        "fio: \u{200b}",
        "\0\0\0\0\0",
    ]);
    seeds.push(format!("{{\"jobs\": {}", "[".repeat(500)).into_bytes());
    seeds
}

// fio's job files.

/// Reads a job file that includes none.
fn read_job_file(text: &str, file: &str) -> Result<JobFile, SuiteError> {
    assay_fio::read_job_file(text, file, &|_| Err("no such file".to_owned()), &Wish::default())
}

/// A job file is read to a suite that could have been written as one, or refused in a line. The suite is
/// written as a job file again, which is read to the same suite.
pub(crate) fn fio_job_file(data: &[u8]) {
    let text = input::text(data);
    let read = match read_job_file(&text, "x.fio") {
        Ok(read) => read,
        Err(error) => {
            input::one_line(&error);
            assert!(error.line >= 1 && error.line <= text.matches('\n').count() + 1, "line {}", error.line);
            return;
        }
    };
    read.notes.iter().for_each(input::one_line);
    let suite = read.suite;
    let toml = suite.to_text();
    let same = Suite::parse(&toml, "x.toml").unwrap_or_else(|error| panic!("the suite of a job file is one: {error}"));
    assert_eq!(same.workloads.len(), suite.workloads.len());
    // Shares of a medium come to bytes, or are refused in a line.
    if let Err(why) = suite.settled(1 << 30) {
        input::one_line(&why);
    }
    let written = job_file(&suite);
    // Each repeat is a section: a suite of many is long to write and to read.
    if written.len() < 1 << 16 && !written.contains(" is left out: ") {
        let again = read_job_file(&written, "x.fio").unwrap_or_else(|error| panic!("{error} in\n{written}"));
        assert_eq!(again.suite.workloads.len(), suite.workloads.len(), "{written}");
        assert_eq!(again.suite.repeats, suite.repeats, "{written}");
    }
}

pub(crate) fn job_file_seeds() -> Vec<Vec<u8>> {
    let suites = [
        include_str!("../../../../suites/quick.toml"),
        include_str!("../../../../suites/read-only.toml"),
        include_str!("../../../../suites/smoke.toml"),
    ];
    let mut seeds: Vec<Vec<u8>> =
        suites.iter().filter_map(|text| Suite::parse(text, "x").ok()).map(|s| job_file(&s).into_bytes()).collect();
    seeds.extend(input::texts(&[
        "[global]\nrw=randread\nbs=4k\nsize=256m\nruntime=10s\ntime_based\nioengine=libaio\niodepth=32\n[a]\n[b]\nstonewall\nrw=write\n",
        "[a-1]\nsize=1m\n[a-2]\nstonewall\nsize=1m\n[b-1]\nstonewall\nsize=1m\nrw=write\n",
        "; suite x version 1, 90000 ms, at most 5 bytes written: p\n[a-1]\nsize=1g\nnumjobs=4\nrw=rw\noffset_increment=256m\n",
        "[a]\nsize=1p\nbs=0x200\nkb_base=1000\nrwmixwrite=3\nrw=randrw\n",
        "[a]\nsize=18446744073709551615\nnumjobs=256\nbs=64m\nrw=randwrite\nfsync=1\n",
        "[\u{1b}[2J\u{202e}]\nsize=1m\n\u{9b}=3\n",
        "[a]\nsize=1m\nrw=randrw\nioengine=libaio\nprioclass=3\nbssplit=4k/40:64k/60,64k/100\ncmdprio_bssplit=64k/25/1/1:64k/75/3/2:4k/0,64k/9\n",
        "[a]\nsize=1m\nioengine=io_uring\nprio=7\ncmdprio_percentage=20,\ncmdprio_class=1,3\ncmdprio=,6\n",
        "include x\n",
        "[a]\nrw=\u{202e}read\n",
        "[a]\nruntime=99999999999999d\n",
        "[a]\nsize=1m\nnumjobs=3\n",
        "[a]\nfilename=/dev/x\nsize=50%\nrw=write:8k\nbs=4k\n[b]\nfilename=/dev/x\noffset=20%\nsize=5%\nrw=randrw\nbs=8k,16k\n",
        "[a]\nfilename=x:y\\:z\nsize=(1m*3)\nrw=rw\nrate_iops=7,3\nfsync=8\n[b]\nfill_device\nrw=read:-8k\n",
        "[a]\nfilename=x\nsize=4m\nnumjobs=3\noffset_increment=1g\nflow=2\nflow_sleep=10\nblockalign=1m\nrw=randread\n",
        "[a]\nsize=1m\nzonemode=strided\nzonesize=64k\nzoneskip=1m\n[b]\nsize=2m\niodepth=9\nlatency_target=5ms\nstonewall\n",
        "[a]\nsize=1m\nrw=write\ndedupe_percentage=9\nbuffer_compress_percentage=100\nbssplit=4k/50:8k,16k\n",
    ]));
    seeds.push(format!("[a]\n{}=1\n", "x".repeat(5000)).into_bytes());
    seeds.push(format!("[{}", "x".repeat(5000)).into_bytes());
    // Equal names: each is distinguished from all before it.
    seeds.push("[a]\nsize=1m\nstonewall\n".repeat(2000).into_bytes());
    seeds.push((1..1500).map(|n| format!("[a-{n}]\nsize=1m\nstonewall\n")).collect::<String>().into_bytes());
    seeds
}

// What nodes and Ansible say of a run on many nodes, and the file that keeps the run.

/// # Panics
/// Where a line is believed beyond its type, or a run that was read cannot be written and read again.
pub(crate) fn fleet(data: &[u8]) {
    for line in data.split(|byte| *byte == b'\n') {
        if let Some(AnsibleEvent::Result(event)) = AnsibleEvent::from_line(line) {
            let end = event.end();
            assert!(end.is_none_or(|why| !why.is_empty()), "an end has a reason: {event:?}");
            assert!(!event.ignored || end.is_none(), "what is ignored ends nothing: {event:?}");
        }
    }
    let Ok(ledger) = std::str::from_utf8(data).map_err(drop).and_then(|text| Ledger::from_json(text).map_err(drop))
    else {
        return;
    };
    assert!(ledger.version <= Ledger::VERSION);
    let written = ledger.to_json().unwrap_or_else(|error| panic!("{error}"));
    let again = Ledger::from_json(&written).unwrap_or_else(|error| panic!("{error}: {written}"));
    // Numbers of an inventory may lose their last digit.
    assert_eq!(
        (again.nodes.as_slice(), &again.rotation, again.missing()),
        (ledger.nodes.as_slice(), &ledger.rotation, ledger.missing())
    );
    for entry in &ledger.nodes {
        let Some(fate) = &entry.fate else { continue };
        assert!(!fate.is_result() || fate.record().is_some(), "a result has a record: {fate:?}");
    }
    let whole = matches!(ledger.end(), RunEnd::Whole | RunEnd::MediumFailed);
    assert_eq!(whole, ledger.missing().is_empty(), "a run is whole where no record is missing");
}

pub(crate) fn fleet_seeds() -> Vec<Vec<u8>> {
    let events = [
        r#"{"event":"play","play":"Measure"}"#,
        r#"{"event":"result","node":"n1","status":"ok","task":"t","changed":false,"facts":{"node_result":{"exit":"0"}}}"#,
        r#"{"event":"result","node":"n2","status":"failed","ignored":false,"message":"exit code 2, usage: assay: /x"}"#,
        r#"{"event":"result","node":"n2","status":"failed","ignored":true}"#,
        r#"{"event":"result","node":"n3","status":"unreachable","message":"no route"}"#,
        r#"{"event":"stats","nodes":{"n1":{"ok":1}}}"#,
        "PLAY RECAP",
    ];
    let ledger = r#"{"version":2,"run":"0ycb7vf5h0","created":"2026-11-23T12:00:00Z","via":"ssh","mode":"simultaneous",
        "at_a_time":null,"program":"assay","arguments":["--engine","null"],"inventory":{"files":["/c.ini"],"limit":null,
        "variables":{"a":1.5}},"rotation":{"plan":"0123456789abcdef","round":1,"wave":1,
        "places":[{"node":"n1","target":"/m","slot":"1"}]},
        "settled":{"nodes":4,"area_bytes":67108864,"loads":[{"block_bytes":1048576,"queue_depth":8,"jobs":1,
        "seconds":0.1,"bytes_in_flight":8388608.0}]},"nodes":[
        {"name":"n1","target":"/m","cell":{"model":"EVO","unit":"1","slot":"1"},"medium":"0x1","attempts":1,
        "fate":{"fate":"recorded","id":"0ycatfq4g0"}},
        {"name":"n2","target":"/m","attempts":1,"fate":{"fate":"not_begun","cause":"no_target","reason":"no such file"}},
        {"name":"n3","target":"/m","attempts":1,"fate":{"fate":"medium_failed","id":"0ycatfq4g1","reason":"hung"}},
        {"name":"n4","target":"/m","attempts":0,"fate":null}]}"#;
    let one = |line: &&str| line.as_bytes().to_vec();
    let mut seeds: Vec<Vec<u8>> = events.iter().map(one).collect();
    seeds.extend([events.join("\n").into_bytes(), ledger.as_bytes().to_vec(), b"{\"version\":3}".to_vec()]);
    seeds
}

// Lives of units.

/// Any text is refused in a line, or gives units. Each unit is left out, or counts in one group as failed or as censored.
pub(crate) fn lives(data: &[u8]) {
    let text = input::text(data);
    for name in ["units.csv", "EVO_Plus_2_state.json"] {
        let lives = match read_lives([(name, text.as_str())]) {
            Err(error) => {
                input::one_line(&error);
                continue;
            }
            Ok(lives) => lives,
        };
        // Many units take longer than an input may.
        if lives.units.len() > 12 {
            continue;
        }
        for (milestone, axis) in [(Milestone::Death, Axis::Cycles), (Milestone::FirstError, Axis::Bytes)] {
            let (at, by) = (Vec::new(), Grouping::Model);
            let options = SurviveOptions { milestone, axis, by, at, level: 0.95, chance: 0.8, seed: 0 };
            let Some(found) = survive(&lives, &options) else { continue };
            let units: u32 = found.groups.iter().map(|group| group.units).sum();
            assert_eq!(units as usize + found.left_out.len(), lives.units.len());
            for group in &found.groups {
                assert_eq!(group.failed + group.censored.iter().map(|one| one.units).sum::<u32>(), group.units);
                let ordered = |point: &Point| point.low <= point.share + 1e-9 && point.share <= point.high + 1e-9;
                assert!(group.course.points.iter().all(ordered), "{:?}", group.course);
            }
            let _ = assay_report::survive::document(&found).text(&Style::default());
        }
    }
}

pub(crate) fn lives_seeds() -> Vec<Vec<u8>> {
    input::texts(&[
        "unit,model,site,cycles,bytes,first_error,1%,end,cause\n1,A,n,3000,96000,2500,,died,read_only\n2,A,s,1000,,,,censored,reader\n3,B,n,900,,,,running,\n",
        "unit,cycles,end,death\n1,0,died,1\n2,18446744073709551615,running,\n",
        "unit,cycles,end\n\"1,2",
        "Date/Time,Rounds Completed,Bytes Written,Total Bytes Written,Write Rate (bytes/sec),Bytes Read,Total Bytes Read,Read Rate (bytes/sec),Bad Sectors,Total Bad Sesctors,Bad Sector Rate (counts/min)\nSat Dec 28 10:01:00 2024,291,640,186240,1.00,0,0,0.00,3,3,3.00\n",
        r#"{"version":2,"device_geometry":{"detected_size":32},"state":{"rounds_completed":5000,"bytes_written":160000,"first_failure_round":18446744073709551615}}"#,
        r#"[{"schema":1,"id":"00ff","started":"2026-01-01T00:00:00Z","updated":"2026-01-02T00:00:00Z","model":"A","unit":"s1","capacity_bytes":100,"area_bytes":100,"load":{"load":"whole"},"cycles":9,"written_bytes":900,"uncounted_bytes":0,"read_bytes":900,"failed_sectors":1,"sectors":1,"kinds":{"zeros":1},"healed":0,"milestones":{"first_error":{"cycle":7,"written_bytes":650},"half":null},"end":{"state":"died","cause":"hung"},"labels":{"site":"n"}}]"#,
        "{}",
    ])
}
