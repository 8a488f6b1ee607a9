//! `info`, `list`, Markdown, CSV and JSON.

use assay_core::estimate::Estimate;
use assay_core::observation::Observation;
use assay_core::outcome::Outcome;
use assay_core::record::Record;
use assay_core::workload::Pattern;
use assay_report::{Life, Lives, Style, csv, info, json, list, listed, markdown};

fn all() -> Vec<Record> {
    crate::common::all().into_iter().map(|(_, r)| r).collect()
}

#[test]
fn info_shows_identity_bus_queue_and_health() {
    insta::assert_snapshot!(info(&crate::common::card_medium(), &crate::common::sopine(), &Style::default()));
}

#[test]
fn info_of_an_unknown_medium_shows_what_there_is() {
    let medium = assay_core::medium::Medium::unknown("/mnt/nas");
    insta::assert_snapshot!(info(&medium, &assay_core::record::Host::default(), &Style::default()));
}

fn observed() -> Vec<Observation> {
    all().iter().map(Observation::from).collect()
}

#[test]
fn the_list_keeps_what_matters_as_the_width_shrinks() {
    let wide = list(&observed(), &Lives::new(), &Style { width: 120, ..Style::default() });
    let narrow = list(&observed(), &Lives::new(), &Style { width: 60, ..Style::default() });
    insta::assert_snapshot!("list_120", wide);
    insta::assert_snapshot!("list_80", list(&observed(), &Lives::new(), &Style::default()));
    insta::assert_snapshot!("list_60", narrow);
}

#[test]
fn markdown_is_a_table_with_verdict_and_warnings() {
    insta::assert_snapshot!("markdown_one", markdown(&[crate::common::scaled_down()]));
    insta::assert_snapshot!("markdown_several", markdown(&[crate::common::good_card(), crate::common::hostile()]));
}

#[test]
fn the_list_says_what_is_known_of_a_run_that_has_no_end() {
    let mut record = crate::common::good_card();
    record.outcome = Outcome::Running;
    for (life, word) in [
        (Some(Life::Running), "running"),
        (Some(Life::Killed), "killed"),
        (Some(Life::Elsewhere), "elsewhere?"),
        (None, "killed?"),
    ] {
        let lives: Lives = life.map(|life| (record.id.clone(), life)).into_iter().collect();
        let text = list(&[Observation::from(&record)], &lives, &Style::default());
        assert!(text.trim_end().ends_with(&format!(" {word}")), "{word}: {text}");
        let ended = Record { outcome: Outcome::Completed, ..record.clone() };
        assert!(!list(&[ended.into()], &lives, &Style::default()).contains(word));
    }
}

#[test]
fn the_list_for_programs_has_the_result_and_the_unit_of_the_table() {
    let mut killed = crate::common::good_card();
    (killed.id, killed.outcome) = ("killed".to_owned(), Outcome::Running);
    let mut fake = crate::verification::fake();
    fake.labels.insert("unit".to_owned(), "3".to_owned());
    let records = [crate::common::good_card(), killed, fake].map(|record| Observation::from(&record));
    let lives = Lives::from([("killed".to_owned(), Life::Killed)]);
    let rows = serde_json::to_value(listed(&records, &lives)).unwrap();
    let words = |field: &str| (0..3).map(|row| rows[row][field].clone()).collect::<Vec<_>>();
    assert_eq!(words("result"), ["valid", "killed", "fake"]);
    assert_eq!(words("verdict"), [serde_json::json!("valid"), serde_json::Value::Null, serde_json::Value::Null]);
    assert_eq!(rows[2]["unit"], "3");
}

/// Rows of cells, by RFC 4180.
fn rows(text: &str) -> Vec<Vec<String>> {
    let mut rows = vec![vec![String::new()]];
    let mut quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let row = rows.last_mut().expect("a row");
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                row.last_mut().expect("a cell").push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(String::new()),
            '\r' if !quoted => {
                assert_eq!(chars.next(), Some('\n'));
                rows.push(vec![String::new()]);
            }
            c => row.last_mut().expect("a cell").push(c),
        }
    }
    assert_eq!(rows.pop(), Some(vec![String::new()]), "the last line ends in CRLF");
    rows
}

#[test]
fn csv_has_one_row_for_each_measurement_and_no_formula() {
    let records = all();
    let rows = rows(&csv(&records));
    let measured: usize = records.iter().map(|r| r.measurements.len().max(1)).sum();
    assert_eq!(rows.len(), 1 + measured);
    for row in &rows {
        assert_eq!(row.len(), rows[0].len(), "{row:?}");
        for cell in row {
            let formula = cell.starts_with(['=', '+', '-', '@', '\t']) && cell.parse::<f64>().is_err();
            assert!(!formula, "{cell:?}");
        }
    }
    let column = |name: &str| rows[0].iter().position(|c| c == name).unwrap();
    let read = &rows[1];
    assert_eq!(read[column("workload")], "seq-read-1m-q8");
    let rate: f64 = read[column("bytes_per_second")].parse().unwrap();
    assert_eq!(Some(rate), records[0].measurements[0].bytes_per_second.as_ref().map(|e| e.point));
    assert_eq!(read[column("bus_limited")], "true");
    let hostile = rows.iter().find(|r| r[0].contains("\"id\"")).unwrap();
    assert_eq!(hostile[column("host")], "'=cmd|' /C calc'!A0");
}

#[test]
fn csv_is_the_table_that_scripts_rely_on() {
    insta::assert_snapshot!(csv(&[crate::common::interrupted(), crate::common::read_only_card()]));
}

#[test]
fn json_reads_back_as_the_record_it_was() {
    let record = crate::common::good_card();
    let one: Record = serde_json::from_str(&json(std::slice::from_ref(&record))).unwrap();
    assert_eq!(one, record);
    let many: Vec<Record> = serde_json::from_str(&json(&[record.clone(), record.clone()])).unwrap();
    assert_eq!(many, [record.clone(), record]);
    assert_eq!(json(&[]), "[]\n");
}

/// Four cards of one model are four lines that differ, also on a terminal of 80 columns.
#[test]
fn the_list_tells_two_units_of_a_model_apart() {
    let of = |unit: &str| {
        let mut record = all().remove(0);
        record.medium.unit = Some(unit.to_owned());
        record
    };
    let text =
        list(&["0x00001a2b3c", "0x00001a2b3d", "7"].map(|unit| of(unit).into()), &Lives::new(), &Style::default());
    assert!(text.contains("…0001a2b3c  ") && text.contains("…0001a2b3d  ") && text.contains("  7  "), "{text}");
    let labelled = ["1", "2"].map(|unit| {
        let mut record = of("0x00001a2b3c");
        record.labels.insert("unit".to_owned(), unit.to_owned());
        Observation::from(record)
    });
    let text = list(&labelled, &Lives::new(), &Style::default());
    assert!(text.contains("2026-11-21") && text.contains("  1   ") && text.contains("  2   "), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

/// Any percentile that the repeats can tell, with its interval; the others say what they lack.
#[test]
fn percentiles_that_were_asked_for() {
    let text = assay_report::percentile_lines(&crate::common::good_card().into(), &[0.5, 0.99, 0.9999, 0.999_999]);
    insta::assert_snapshot!("percentiles", text);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

/// The cells of a line that is a row of a load: spaces of a card, bars of Markdown, tags of a page.
fn figures_in(text: &str, begin: impl Fn(&str) -> bool) -> Option<Vec<String>> {
    let line = text.lines().find(|line| begin(line))?;
    let figures = line.split(|c: char| "|<>".contains(c)).flat_map(|cell| cell.split("  "));
    Some(figures.map(|cell| cell.trim().to_owned()).filter(|cell| !cell.is_empty()).collect())
}

/// The figures of a load are chosen once: all layouts show the same figures.
#[test]
fn card_page_and_markdown_show_the_same_figures_of_each_load() {
    use crate::common::{good_card, scaled_down};
    for record in [good_card(), scaled_down()] {
        let card = assay_report::card(&record, &Style { width: 120, ..Style::default() });
        let markdown = markdown(std::slice::from_ref(&record));
        let page = assay_report::html(std::slice::from_ref(&record)).replace('\u{a0}', " ").replace("<tr", "\n<tr");
        for m in record.measurements.iter().filter(|m| m.bytes_per_second.is_some()) {
            let (title, short) = (record.load_title(m), record.load_title_without_pattern(m));
            let titled = assay_core::text::capitalised(&title);
            // In the section of the pattern, which is not repeated in the line.
            let section =
                card.split_once(if m.workload.pattern_is(Pattern::Random) { "\nrandom" } else { "sequential" });
            let lines = [
                ("card", figures_in(section.unwrap().1, |line| line.starts_with(&format!("{short}  ")))),
                ("Markdown", figures_in(&markdown, |line| line.starts_with(&format!("| {title} |")))),
                ("page", figures_in(&page, |line| line.contains(&format!(">{titled}</a>")))),
            ];
            let figure = |e: &Option<Estimate>, unit: f64| assay_core::units::figures(e.as_ref().unwrap().point / unit);
            let (rate, iops) = (figure(&m.bytes_per_second, 1e6), figure(&m.iops, 1.0));
            let random = m.workload.pattern_is(Pattern::Random);
            for (place, cells) in lines {
                let cells = cells.unwrap_or_else(|| panic!("{place} has no row of {title}"));
                let shows =
                    |words: &str| cells.iter().any(|cell| cell == words || cell.starts_with(&format!("{words} ")));
                let bounded = |words: &str| {
                    cells.iter().any(|cell| ["±", "("].iter().any(|sign| cell.starts_with(&format!("{words} {sign}"))))
                };
                assert!(shows(&rate), "{place} of {title} has no {rate} MB/s: {cells:?}");
                // Operations per second of sequential work are not shown.
                assert_eq!(shows(&iops), random, "{place} of {title}, {iops} IOPS: {cells:?}");
                // The rate of random work follows from the IOPS: one interval is enough.
                assert!(!(random && bounded(&rate)), "{place} of {title}: {cells:?}");
            }
        }
    }
}

/// A sentence is put together from its parts, not taken apart at a sign that names may hold.
#[test]
fn names_with_semicolons_stay_whole_in_an_answer() {
    use assay_analysis::rank::{RankOptions, rank};
    let mut records = assay_analysis::published("sandisk-ultra-a1").unwrap();
    records.extend(assay_analysis::published("samsung-evo-plus-64gb").unwrap());
    for record in &mut records {
        let name = record.model().replace(' ', "; ");
        record.labels.insert("model".to_owned(), name);
    }
    let report = rank(&records.iter().collect::<Vec<_>>(), &RankOptions::default()).unwrap();
    let text = assay_report::rank::text(&report, false, &Style { width: 120, ..Style::default() });
    let words = "Cannot separate SanDisk; Ultra; A1 and Samsung; EVO; Plus; 64GB: the first looks better, +25 %";
    assert!(text.starts_with(words), "{text}");
}

/// No line of a table is longer than the terminal, down to the narrowest that is laid out.
#[test]
fn tables_fit_the_terminal() {
    use assay_report::{left, right, table, wrapped};
    let long = "Durable small writes: rate and latency of write and fdatasync by 1, 4 and 16 writers";
    let row = |name: &str| {
        ["1 min 30 s", "132 921 640", long].iter().fold(vec![name.to_owned()], |mut row, cell| {
            row.push((*cell).to_owned());
            row
        })
    };
    for width in [40, 50, 60, 72, 80, 120] {
        let columns = vec![left("name"), left("time"), right("written"), wrapped("answers")];
        let rows = [row("fsync"), row("a model whose name is longer than a column")];
        let text = table(columns, rows, &Style { width, ..Style::default() });
        for line in text.lines() {
            assert!(line.chars().count() <= width, "{width}: {line:?}\n{text}");
        }
        let words = text.split_whitespace().collect::<Vec<_>>();
        assert!(words.contains(&"fdatasync") && words.contains(&"writers"), "{width}: no word is torn\n{text}");
    }
}

/// An article of two runs of one medium said that B is faster than A.
#[test]
fn two_runs_of_one_medium_are_named_by_their_times() {
    let mut records = [crate::common::good_card(), crate::common::good_card()];
    records[1].id = "bbbbbbbbbb".to_owned();
    let said = |records: &[Record]| {
        let files = assay_report::article::article(records).files;
        let readme = files.iter().find(|file| file.name == "README.md").unwrap();
        String::from_utf8_lossy(&readme.content).lines().find(|line| line.starts_with("**")).unwrap().to_owned()
    };
    let ids = [records[0].id.clone(), records[1].id.clone()].map(|id| format!("record {id}"));
    let at_once = said(&records);
    assert!(ids.iter().all(|id| at_once.contains(id)), "{at_once}");
    records[1].created = "2026-12-24T18:05:00Z".to_owned();
    let text = said(&records);
    assert!(text.contains("the run of 2026-12-24 18:05 UTC") && text.matches("the run of ").count() == 2, "{text}");
    for letters in [" A ", " B ", " A.", " B.", "(A", "(B"] {
        assert!(!text.contains(letters), "{text}");
    }
}
