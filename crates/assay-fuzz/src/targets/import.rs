//! Results of other tools.

use std::path::Path;
use std::sync::OnceLock;

use assay_core::record::Record;
use assay_core::text::harmless;
use assay_import::{FORMATS, File, Format, Item, Options, Sheet, Text, import};
use assay_report::{Style, card};

use crate::claims;

/// Any file is refused in a line, or gives records that can be written, read back and shown, the same each time.
pub(crate) fn whole(data: &[u8]) {
    let options = Options { keep_text: true, ..Options::default() };
    let file = File::new("results.txt", data);
    match import(file.clone(), &options) {
        Err(error) => claims::one_line(&error),
        Ok(held) => {
            assert!(!held.items.is_empty() || !held.problems.is_empty(), "nothing, and no reason");
            let again = import(file, &options).expect("as before");
            assert_eq!(records(&held.items), records(&again.items));
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
        Err(error) => claims::one_line(&error),
        Ok(sheet) => {
            let options = Options { sheet: Some(sheet), ..Options::default() };
            assert_eq!(options.given("a/1.txt", 1), options.given("a/1.txt", 1));
        }
    }
}

pub(crate) fn sheets() -> Vec<Vec<u8>> {
    claims::texts(&[
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

fn records(items: &[Item]) -> Vec<String> {
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
    assert!(record.source.is_some() && (!record.created.is_empty() || record.source.is_some()));
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
    seeds.extend(claims::texts(&[
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
