//! Records: as documents and reports, and in the store and its spool.

use std::fs;
use std::sync::LazyLock;

use assay_analysis::published;
use assay_core::histogram::{Histogram, SCHEME, StoredHistogram};
use assay_core::observation::Observation;
use assay_core::record::Record;
use assay_pictures::PictureKind;
use assay_report::article::article;
use assay_report::{Redactor, ReportFormat, Style, View, card, info, list, render, verdict_sentence};
use assay_store::{ObservationDetail, Owner, RunState, Spool, SqliteStore, Store, Terms, headed, read_document};
use serde_json::Value;

use crate::input;
use crate::input::Draw;
use crate::records::{SECRETS, TAG, record};

// Records on their way out: every format, as they are and redacted.

/// Nothing of a record acts where it is shown, and nothing that names somebody is in a shared report.
pub(crate) fn report(data: &[u8]) {
    let mut draw = Draw::new(data);
    let count = 1 + usize::from(draw.byte() % 3);
    let kinds: Vec<Option<PictureKind>> = [None].into_iter().chain(PictureKind::ALL.map(Some)).collect();
    let view = View { kind: draw.pick(&kinds).flatten(), load: None };
    let pixels = draw.byte() == 255;
    let records: Vec<Record> = (0..count).map(|at| record(&mut draw, &format!("aaaa{at}"))).collect();
    terminal(&records);
    every_format(&records, &view, pixels);

    let redactor = Redactor::with_key([7; 32]);
    let shared: Vec<Record> =
        records.iter().map(|record| redactor.record(record).expect("a record is redacted")).collect();
    for content in every_format(&shared, &view, false) {
        let content = content.to_lowercase();
        for secret in SECRETS {
            assert!(!content.contains(&secret.to_lowercase()), "{secret} in {}", near(&content, secret));
        }
    }
}

/// Where in a text a secret stands.
fn near(content: &str, secret: &str) -> String {
    let at = content.find(&secret.to_lowercase()).unwrap_or_default();
    content.chars().skip(content[..at].chars().count().saturating_sub(200)).take(300).collect()
}

fn terminal(records: &[Record]) {
    let observed: Vec<Observation> = records.iter().map(Observation::from).collect();
    for style in [Style { width: 60, color: false, unicode: false }, Style { width: 120, color: false, unicode: true }]
    {
        let mut pages: Vec<String> = records.iter().map(|r| card(r, &style)).collect();
        pages.extend(records.iter().map(|r| info(&r.medium, &r.host, &style)));
        pages.push(list(&observed, &assay_report::Lives::default(), &style));
        for page in pages {
            lines(&page);
            assert!(style.unicode || page.is_ascii(), "{page:?}");
        }
    }
    observed.iter().for_each(|record| {
        let _ = verdict_sentence(record);
    });
}

/// Whether all numbers of a picture are finite. Only attributes are read: a text may say NaN.
fn numbers_are_finite(svg: &str) -> bool {
    let in_tags = svg.split('<').filter_map(|part| part.split_once('>')).map(|(tag, _)| tag);
    let mut words = in_tags.flat_map(|tag| tag.split(|c: char| !c.is_ascii_alphanumeric()));
    !words.any(|word| ["NaN", "inf"].contains(&word))
}

/// Lines that hold nothing a terminal obeys.
#[track_caller]
fn lines(page: &str) {
    for line in page.lines() {
        assert_eq!(assay_core::text::harmless(line), line);
    }
}

fn every_format(records: &[Record], view: &View, pixels: bool) -> Vec<String> {
    let of = |format| render(format, records, view).map(|bytes| String::from_utf8(bytes).expect("text"));
    let html = of(ReportFormat::Html).expect("a page");
    let markdown = of(ReportFormat::Markdown).expect("Markdown");
    let csv = of(ReportFormat::Csv).expect("a table");
    let json = of(ReportFormat::Json).expect("JSON");
    for page in [&html, &markdown] {
        assert!(!page.contains(TAG), "a text is markup: {}", near(page, TAG));
    }
    table(&csv);
    lines(&markdown);
    lines(&json);
    let read: Value = serde_json::from_str(&json).expect("JSON");
    let documents = read.as_array().map_or(1, Vec::len);
    assert_eq!(documents, records.len());
    let mut texts = vec![html, markdown, csv, json];
    for format in [
        ReportFormat::LongCsv,
        ReportFormat::CrystalDiskMark,
        ReportFormat::FioJson,
        ReportFormat::Prometheus,
        ReportFormat::OpenBenchmarking,
    ] {
        let text = of(format).expect("a text");
        lines(&text);
        texts.push(text);
    }
    match of(ReportFormat::Svg) {
        Ok(svg) => {
            assert!(!svg.contains(TAG) && numbers_are_finite(&svg), "{svg}");
            lines(&svg);
            texts.push(svg);
        }
        Err(error) => input::one_line(&error),
    }
    if pixels {
        for format in [ReportFormat::Png, ReportFormat::Gif] {
            let _ = render(format, records, view).map_err(|error| input::one_line(&error));
        }
    }
    // Each makes an animation.
    if view.kind == Some(PictureKind::Sweep) {
        texts.extend(an_article(records));
    }
    texts
}

/// The texts of an article.
fn an_article(records: &[Record]) -> Vec<String> {
    let files = article(records).files;
    let of = |ending: &str| {
        let named = files.iter().filter(|file| file.name.ends_with(ending));
        named.map(|file| String::from_utf8(file.content.clone()).expect("text")).collect::<Vec<String>>()
    };
    let (markdown, svg) = (of(".md"), of(".svg"));
    markdown.iter().chain(&svg).for_each(|text| lines(text));
    files
        .iter()
        .filter(|file| file.name == "table.csv")
        .for_each(|file| table(&String::from_utf8_lossy(&file.content)));
    let pages = [markdown, svg, of(".html")].concat();
    for text in &pages {
        assert!(!text.contains(TAG), "a text is markup: {}", near(text, TAG));
    }
    [pages, of(".csv")].concat()
}

/// Rows of the same number of cells (RFC 4180); no cell is a formula.
fn table(csv: &str) {
    let mut widths = Vec::new();
    for row in csv.split_terminator("\r\n") {
        lines(row);
        let cells = cells(row);
        for cell in &cells {
            let formula = cell.trim_start().starts_with(['=', '+', '-', '@']) && cell.parse::<f64>().is_err();
            assert!(!formula, "{cell:?}");
        }
        widths.push(cells.len());
    }
    assert!(widths.windows(2).all(|pair| pair[0] == pair[1]), "{widths:?}");
}

fn cells(row: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    for c in row.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            c => cells.last_mut().expect("a cell").push(c),
        }
    }
    cells
}

/// Bytes that choose alike everywhere, bytes that choose at random, and the plainest record.
pub(crate) fn report_seeds() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = vec![Vec::new(), vec![2]];
    seeds.extend([3u8, 4, 7, 12, 252].map(|byte| vec![byte; 300]));
    seeds.extend((0..2u32).map(|seed| (0..600u32).map(|at| ((at * at + 7 * at * seed) >> 3) as u8).collect()));
    seeds
}

// Documents of records from elsewhere.

/// A document is read or refused in a line; what is read is written and read as the same, and can be
/// redacted, also as the document of a newer version.
pub(crate) fn document(data: &[u8]) {
    let text = input::text(data);
    match read_document(&text) {
        Ok(read) => {
            let written = serde_json::to_string(&read).expect("JSON");
            assert_eq!(read_document(&written).expect("a record written out is read"), read);
            let redactor = Redactor::with_key([7; 32]);
            let redacted = redactor.record(&read).expect("a record is redacted");
            assert_eq!(redacted.measurements.len(), read.measurements.len());
            let mut document = serde_json::from_str(&text).expect("JSON");
            redactor.value(&mut document);
            read_document(&document.to_string()).expect("a redacted document is read");
        }
        Err(error) => input::one_line(&error),
    }
}

pub(crate) fn document_seeds() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = [0u8, 1, 3, 4, 6, 11]
        .iter()
        .map(|byte| serde_json::to_vec(&record(&mut Draw::new(&[*byte; 300]), "aaaa0")).expect("JSON"))
        .collect();
    seeds.extend(input::texts(&[
        "",
        "[]",
        "{\"schema\": \"2.0\"}",
        "{\"schema\": \"\u{1b}[2J\"}",
        "{\"schema\": \"1.0\"}",
        "{\"schema\": \"1.4294967296\"}",
        "{\"schema\": \"1.0\", \"\u{202e}\": 1}",
        "{\"schema\": \"1.0\", \"id\": {\"a\u{9b}\": []}}",
    ]));
    let failed = input::text(&seeds[0]).replace(
        "\"state\":\"completed\"",
        "\"state\":\"failed\",\"failure\":\"A b\",\
        \"detail\":\"\",\"elapsed_ns\":1,\"written_bytes\":1",
    );
    seeds.push(failed.into_bytes());
    seeds.push(b"[".repeat(10_000));
    seeds.push(format!("{{\"schema\": \"{}\"}}", "9".repeat(3000)).into_bytes());
    seeds.push(format!("{{\"schema\": \"{}.0\"}}", "9".repeat(9)).into_bytes());
    seeds
}

// Histograms as records store them.

/// A stored histogram of any content is read to one whose figures are numbers in order, and which is stored
/// and read as the same from then on.
pub(crate) fn histogram(data: &[u8]) {
    let mut draw = Draw::new(data);
    let parsed = serde_json::from_str(&input::text(data)).ok();
    let stored: StoredHistogram = parsed.unwrap_or_else(|| StoredHistogram {
        scheme: SCHEME.to_owned(),
        sum_ns: draw.number(),
        min_ns: draw.number(),
        max_ns: draw.number(),
        counts: std::iter::from_fn(|| (!draw.is_empty()).then(|| (draw.number(), draw.number()))).take(4000).collect(),
    });
    let read = Histogram::from(&stored);
    let quantiles = [0.0, 0.001, 0.5, 0.9, 0.99, 0.999, 1.0].map(|share| read.quantile(share));
    assert!(quantiles.is_sorted(), "{quantiles:?}");
    assert!(quantiles.iter().flatten().chain(&read.mean()).all(|ns| ns.is_finite() && *ns >= 0.0), "{quantiles:?}");
    for odd in [f64::NAN, f64::INFINITY, -1.0, 2.0] {
        let _ = read.quantile(odd);
    }
    let again = Histogram::from(&StoredHistogram::from(&read));
    assert_eq!(Histogram::from(&StoredHistogram::from(&again)), again);
    let mut both = read.clone();
    both.merge(&again);
    assert!(both.total() >= read.total());
    let _ = (both.since(&read).quantile(0.5), read.since(&both).mean());
}

pub(crate) fn histogram_seeds() -> Vec<Vec<u8>> {
    let numbers = |numbers: &[u64]| numbers.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>();
    let mut seeds = input::texts(&[
        r#"{"scheme":"log2/128","sum_ns":5500,"min_ns":1000,"max_ns":2000,"counts":[[1000,3],[1992,1]]}"#,
        r#"{"scheme":"other","sum_ns":0,"min_ns":9,"max_ns":3,"counts":[]}"#,
    ]);
    seeds.extend([
        numbers(&[u64::MAX, 9, 3, u64::MAX, u64::MAX, 0, u64::MAX, 7, 3]),
        numbers(&[1, u64::MAX, 0, 5, 1]),
        numbers(&[1, 5, 5, 5, 1, 5, u64::MAX]),
        numbers(&[0, 0, 0, 1 << 40, 1 << 62, 1, 1 << 62, 3, 1 << 63]),
    ]);
    seeds
}

// What people ask the store for.

thread_local! {
    static STORE: (tempfile::TempDir, SqliteStore) = {
        let directory = input::directory();
        let mut store = SqliteStore::open(directory.path()).expect("a store");
        for (at, byte) in [0u8, 1, 3].iter().enumerate() {
            let record: Record = record(&mut Draw::new(&[*byte; 40]), &format!("aaaa{at}"));
            store.save(&record, RunState::Finished).expect("saved");
        }
        (directory, store)
    };
}

/// A query names records that are there, the same in a list, or is refused in a line.
pub(crate) fn query(data: &[u8]) {
    let query = input::text(data);
    STORE.with(|(_, store)| {
        let listed = store.list(&query).map_err(|error| input::one_line(&error));
        match store.resolve(&query) {
            Ok(ids) => {
                ids.iter().for_each(|id| assert!(store.load(id).is_ok(), "{id}"));
                let listed: Vec<String> = listed.expect("listed").into_iter().map(|s| s.id).collect();
                assert_eq!(listed, ids);
            }
            Err(error) => {
                input::one_line(&error);
                assert!(listed.is_err() || listed.is_ok_and(|listed| listed.is_empty()));
            }
        }
        // SQLite reads a text up to a NUL, which no command line has. `all` is a place, and no part of a condition.
        if query.contains('=')
            && !query.contains('\0')
            && headed(query.trim()).next().is_none_or(|(head, _)| head.contains('='))
        {
            same_at_hand(store, &query);
        }
        let _ = store.load(&query).map_err(|error| input::one_line(&error));
    });
    for (head, terms) in headed(&query) {
        assert!(!head.is_empty() && query.ends_with(terms) && terms.contains('='), "{head} {terms}");
    }
    match published(&query) {
        Ok(records) => assert!(!records.is_empty()),
        Err(error) => input::one_line(&error),
    }
}

/// Conditions name the same of the records of the store and of the same at hand.
fn same_at_hand(store: &SqliteStore, query: &str) {
    match Terms::parse(query) {
        Ok(terms) => {
            let stored = store.list(query).expect("listed");
            for one in store.list("all").expect("all") {
                let record = store.load(&one.id).expect("loaded").record;
                assert_eq!(terms.hold(&record), stored.iter().any(|row| row.id == one.id), "{query} of {}", one.id);
            }
        }
        Err(error) => {
            input::one_line(&error);
            assert!(store.list(query).is_err(), "{query}");
        }
    }
}

pub(crate) fn query_seeds() -> Vec<Vec<u8>> {
    let mut seeds = input::texts(&[
        "",
        "all",
        "last",
        "last~1",
        "last~4294967296",
        "last~+1",
        "aaaa0",
        "AAAA1",
        "aaaa",
        "model=x",
        "unit=SN7QZ4T1K9",
        "label.price=x",
        "label.=x",
        "=x",
        "kind=sd",
        "all kind=sd",
        "last unit=1",
        "published:a/1 model=x* unit=1,2",
        "a b/c=d/e.json unit=\"x y=z\"",
        "model=*a*b* unit=*",
        "suite=%",
        "x=\u{0}",
        "\u{1b}[2J",
        "' OR 1=1 --",
        "aaaa_",
        "*",
        "sandisk-ultra-a1/1",
        "sandisk-ultra-a1",
        "/",
    ]);
    seeds.push(vec![b'a'; 3000]);
    seeds
}

// Files of the spool, which keeps records while the store cannot take them.

const NAME: &str = "aaaa0-0123456789abcdef.spool";

/// A file of any bytes is taken in whole, or left where it is with the reason. The sum over it is set right
/// first: it tells torn files, not hostile ones.
pub(crate) fn spool(data: &[u8]) {
    let directory = input::directory();
    let place = directory.path().join("spool");
    fs::create_dir(&place).expect("made");
    let file = place.join(NAME);
    let mut store = SqliteStore::open(directory.path()).expect("a store");
    for content in [Some(data.to_vec()), summed(data)].into_iter().flatten() {
        fs::write(&file, content).expect("written");
        let mut spool = Spool::in_directory(directory.path());
        match store.take_in(&mut spool) {
            Ok(intake) => {
                assert_eq!(file.exists(), !intake.left.is_empty(), "{intake:?}");
                intake.left.iter().for_each(|left| input::one_line(&left.reason));
                intake.taken.iter().for_each(|id| assert!(store.load(id).is_ok(), "{id}"));
            }
            Err(error) => {
                input::one_line(&error);
                assert!(file.exists(), "what was not taken in stays");
            }
        }
        let _ = store.abandoned().map_err(|error| input::one_line(&error));
    }
}

/// The file with the sum of its body.
fn summed(data: &[u8]) -> Option<Vec<u8>> {
    let end = data.iter().position(|byte| *byte == b'\n')?;
    let body = &data[end + 1..];
    Some([format!("assay-spool-1 {}\n", blake3::hash(body).to_hex()).as_bytes(), body].concat())
}

pub(crate) fn spool_seeds() -> Vec<Vec<u8>> {
    let mut owner = Owner::current();
    owner.pid = u32::MAX;
    owner.start_time = 1;
    let states = [RunState::Finished, RunState::Running { owner: &owner, scratch: None }];
    let mut seeds: Vec<Vec<u8>> = Vec::new();
    for (byte, state) in [0u8, 1, 4].iter().flat_map(|byte| states.iter().map(move |state| (byte, state))) {
        let directory = input::directory();
        let mut spool = Spool::in_directory(directory.path());
        spool.put(&record(&mut Draw::new(&[*byte; 60]), "aaaa0"), *state).expect("put");
        let files = fs::read_dir(directory.path().join("spool")).expect("a spool");
        seeds.extend(files.flatten().filter_map(|file| fs::read(file.path()).ok()));
    }
    let whole = input::text(&seeds[0]);
    seeds.extend(input::texts(&["", "\n", "assay-spool-1 x\n{}\n{}", "assay-spool-2 \u{1b}\n\n"]));
    seeds.push(whole.replace("\"owner\":null", "\"owner\":{\"pid\":-1}").into_bytes());
    seeds.push(whole.replace("\"id\":\"aaaa0\"", "\"id\":\"../../x\"").into_bytes());
    seeds.push(whole.replace("\"schema\":\"1.0\"", "\"schema\":\"\\u001b[2J\"").into_bytes());
    seeds
}

// A damaged store.

fn records() -> Vec<Record> {
    [0u8, 1, 4]
        .iter()
        .enumerate()
        .map(|(at, byte)| record(&mut Draw::new(&[*byte; 40]), &format!("aaaa{at}")))
        .collect()
}

/// A small store.
static SOUND: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let directory = input::directory();
    let mut store = SqliteStore::open(directory.path()).expect("a store");
    for record in records() {
        store.save(&record, RunState::Finished).expect("saved");
    }
    drop(store);
    fs::read(directory.path().join("assay.sqlite")).expect("a store in one file")
});

/// A store of any bytes is read as far as it goes, or refused in a line; the file stays.
pub(crate) fn store(data: &[u8]) {
    let mut draw = Draw::new(data);
    let mut bytes = SOUND.clone();
    let mode = draw.byte();
    let mut log = Vec::new();
    while !draw.is_empty() {
        let at = draw.number() as usize % bytes.len().max(1);
        match draw.byte() % 4 {
            0 => bytes.truncate(at),
            1 => {
                let run = usize::from(draw.byte());
                let end = (at + run).min(bytes.len());
                bytes[at..end].fill(draw.byte());
            }
            _ => {
                // The first pages say where everything is.
                let at = if draw.byte().is_multiple_of(2) { at % 4096 } else { at };
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = draw.byte();
                }
            }
        }
        if mode % 8 == 7 {
            log = draw.bytes(4096).to_vec();
        }
    }
    let directory = input::directory();
    let file = directory.path().join("assay.sqlite");
    fs::write(&file, &bytes).expect("written");
    if !log.is_empty() {
        fs::write(directory.path().join("assay.sqlite-wal"), &log).expect("written");
    }
    match SqliteStore::open(directory.path()) {
        Ok(mut store) => read_all(&mut store),
        Err(error) => input::one_line(&error),
    }
    assert!(file.exists(), "a damaged store is never removed");
}

fn read_all(store: &mut SqliteStore) {
    let check_message = |error| input::one_line(&error);
    let _ = store.abandoned().map_err(check_message);
    let _ = store.identity_key().map_err(check_message);
    for query in ["all", "last", "aaaa", "model=x", "suite=x"] {
        let _ = store.list(query).map_err(check_message);
        let _ = store.observations(query, ObservationDetail::Latencies).map_err(check_message);
        for id in store.resolve(query).map_err(check_message).into_iter().flatten().take(8) {
            let _ = store.load(&id).map_err(check_message);
        }
    }
    let _ = store.save(&records()[0], RunState::Finished).map_err(check_message);
    let _ = store.remove("aaaa1").map_err(check_message);
}

pub(crate) fn store_seeds() -> Vec<Vec<u8>> {
    let edit = |at: u64, rest: &[u8]| [&[0], &at.to_le_bytes()[..], rest].concat();
    let mut seeds = vec![Vec::new(), edit(0, &[0]), edit(100, &[0]), edit(5000, &[0]), edit(18, &[2, 0, 9])];
    seeds.extend((0..10u64).map(|page| edit(page * 4096, &[1, 8, 255])));
    seeds.extend((0..10u64).map(|page| edit(page * 4096 + 5, &[2, 1, 200])));
    seeds.push([&[7], &100u64.to_le_bytes()[..], &[3, 1, 1], &[0x37, 0x7f, 6, 0x82]].concat());
    seeds
}
