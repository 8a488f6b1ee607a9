//! Records on their way out: every format, as they are and redacted.

use assay_core::record::Record;
use assay_pictures::Kind;
use assay_report::article::article;
use assay_report::{Format, Redactor, Style, View, card, info, list, render, verdict_sentence};
use serde_json::Value;

use crate::claims;
use crate::draw::Draw;
use crate::records::{SECRETS, TAG, record};

/// Nothing of a record acts where it is shown, and nothing that names somebody is in a shared report.
pub(crate) fn run(data: &[u8]) {
    let mut draw = Draw::new(data);
    let count = 1 + usize::from(draw.byte() % 3);
    let kinds: Vec<Option<Kind>> = [None].into_iter().chain(Kind::ALL.map(Some)).collect();
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
    for style in [Style { width: 60, color: false, unicode: false }, Style { width: 120, color: false, unicode: true }]
    {
        let mut pages: Vec<String> = records.iter().map(|r| card(r, &style)).collect();
        pages.extend(records.iter().map(|r| info(&r.medium, &r.host, &style)));
        pages.push(list(records, &assay_report::Lives::default(), &style));
        for page in pages {
            lines(&page);
            assert!(style.unicode || page.is_ascii(), "{page:?}");
        }
    }
    records.iter().for_each(|record| {
        let _ = verdict_sentence(record);
    });
}

/// Whether all numbers of a picture are finite. They stand in attributes; texts may hold the same letters.
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
    let html = of(Format::Html).expect("a page");
    let markdown = of(Format::Markdown).expect("Markdown");
    let csv = of(Format::Csv).expect("a table");
    let json = of(Format::Json).expect("JSON");
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
    for format in
        [Format::LongCsv, Format::CrystalDiskMark, Format::FioJson, Format::Prometheus, Format::OpenBenchmarking]
    {
        let text = of(format).expect("a text");
        lines(&text);
        texts.push(text);
    }
    match of(Format::Svg) {
        Ok(svg) => {
            assert!(!svg.contains(TAG) && numbers_are_finite(&svg), "{svg}");
            lines(&svg);
            texts.push(svg);
        }
        Err(error) => claims::one_line(&error),
    }
    if pixels {
        for format in [Format::Png, Format::Gif] {
            let _ = render(format, records, view).map_err(|error| claims::one_line(&error));
        }
    }
    // Each makes an animation.
    if view.kind == Some(Kind::Sweep) {
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
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = vec![Vec::new(), vec![2]];
    seeds.extend([3u8, 4, 7, 12, 252].map(|byte| vec![byte; 300]));
    seeds.extend((0..2u32).map(|seed| (0..600u32).map(|at| ((at * at + 7 * at * seed) >> 3) as u8).collect()));
    seeds
}
