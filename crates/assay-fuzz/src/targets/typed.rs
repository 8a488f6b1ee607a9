//! What people type: suites, sizes and durations, names and figures; and text on its way out.

use std::time::Duration;

use assay_analysis::advise::Price;
use assay_analysis::compare::GateLimit;
use assay_analysis::plan::{Roster, Slots, SwapPlace, quoted_line};
use assay_analysis::{LoadQuery, Quantity};
use assay_core::program::SuiteProgram;
use assay_core::suite::{Suite, SuiteWorkload};
use assay_core::text;
use assay_core::text::harmless;
use assay_core::units::{self, Bytes, parse_duration, parse_rate, parse_share};

use crate::input;

// Suite files.

/// A suite is read or refused in a line; what is read has the bounds that are documented, and is written
/// to a text that is read as the same.
pub(crate) fn suite(data: &[u8]) {
    let text = input::text(data);
    let suite = match Suite::parse(&text, "x.toml") {
        Ok(suite) => suite,
        Err(error) => {
            input::one_line(&error);
            assert!(error.line >= 1 && error.line <= text.matches('\n').count() + 1, "line {}", error.line);
            return;
        }
    };
    assert!((1..=1000).contains(&suite.repeats) && suite.budget >= Duration::from_secs(1) && suite.span.0 > 0);
    for w in &suite.workloads {
        assert!((1..=1024).contains(&w.queue_depth) && (1..=256).contains(&w.jobs), "{w:?}");
        assert!(w.block.0 > 0 && w.block.0 <= 64 << 20 && w.block.0.is_multiple_of(512), "{w:?}");
        assert!(w.block.0 * u64::from(w.jobs) <= w.span.unwrap_or(suite.span).0, "{w:?}");
    }
    let again = Suite::parse(&suite.to_text(), "x.toml").expect("a suite written out is read");
    assert_eq!(again, in_milliseconds(suite));
}

/// Durations are written to the millisecond.
fn in_milliseconds(suite: Suite) -> Suite {
    let ms = |d: Duration| Duration::from_millis(u64::try_from(d.as_millis()).expect("bounded by 64 bits"));
    let workloads = suite.workloads.into_iter().map(|w| SuiteWorkload { duration: w.duration.map(ms), ..w }).collect();
    let programs = suite.programs.into_iter().map(|p| SuiteProgram { duration: ms(p.duration), ..p }).collect();
    Suite { budget: ms(suite.budget), workloads, programs, ..suite }
}

pub(crate) fn suite_seeds() -> Vec<Vec<u8>> {
    const SMALL: &str = "name = \"x\"\nversion = 1\npurpose = \"p\"\nbudget = \"10s\"\nmax_write = \"1GiB\"\n\
        repeats = 3\nspan = \"64MiB\"\n[[workload]]\nname = \"w\"\nop = \"mixed\"\nread_percent = 70\n\
        pattern = \"random\"\nblock = \"4k\"\nqueue_depth = 8\njobs = 2\nsync = \"fdatasync\"\n\
        duration = \"1500ms\"\nspan = \"1MiB\"\ndirect = false\n";
    let mut seeds = input::texts(&[
        include_str!("../../../../suites/quick.toml"),
        include_str!("../../../../suites/blocks.toml"),
        include_str!("../../../../suites/soak.toml"),
        include_str!("../../../../suites/load-curve.toml"),
        include_str!("../../../../suites/hpi.toml"),
        include_str!("../../../../suites/phoronix-disk.toml"),
        include_str!("../../../../suites/boot.toml"),
        SMALL,
        "name = \"\"\"a\n\u{1b}[2Jb\"\"\"\nversion = 1\n",
    ]);
    let other = |from: &str, to: &str| SMALL.replace(from, to).into_bytes();
    seeds.extend([
        other("direct = false", "direct = false\noriginal = \"fio\""),
        other(
            "sync = \"fdatasync\"",
            "priority = \"idle/7\"\npriority_shares = \"5 % of 4KiB reads realtime, 9 % best-effort/1\"",
        ),
        other("direct = false", "original = \"hdparm\""),
        other("1MiB", "17179869184GiB"),
        other("10s", "1e30h"),
        other("1500ms", "0.1s"),
        other("\"w\"", "\"a\\nb\\u001b[2J\""),
        other("\"w\"", &format!("\"{}\"", "w".repeat(3000))),
        other("\"10s\"", "\"a\\nb\""),
        other("\"1500ms\"", "\"\\u202e\""),
        other("\"4k\"", "\"4\\u001bQ\""),
        other("name = \"w\"", "\"\\u001b\" = 1"),
        other("\"random\"", "\"\\u009b\""),
    ]);
    seeds
}

// Text on its way to a terminal, a page, a table.

/// What each escaper promises of any text.
pub(crate) fn text(data: &[u8]) {
    let given = input::text(data);

    let line = text::harmless(&given);
    assert!(!line.chars().any(|c| c.is_control()), "{line:?}");
    assert_eq!(text::harmless(&line), line, "harmless text stays");
    assert_eq!(line.chars().count(), given.chars().count());

    let file = text::visible(&given);
    assert!(file.chars().all(|c| matches!(c, '\n' | '\t') || !c.is_control()), "{file:?}");
    assert_eq!(text::visible(&file), file);

    if let Some(label) = text::label(&given, 20) {
        assert!(!label.is_empty() && label.chars().count() <= 20 && text::harmless(&label) == label, "{label:?}");
    }

    let markup = text::markup(&given);
    assert!(!markup.contains(['<', '>', '"', '\'']) && text::harmless(&markup) == markup, "{markup:?}");
    let plain = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"].iter().fold(markup.clone(), |t, e| t.replace(e, ""));
    assert!(!plain.contains('&'), "{markup:?}");

    markdown(&text::markdown(&given));
    cell(&text::csv(&given), &given);

    let table = format!("x = {}\n", text::toml(&given));
    assert!(table.trim_end().chars().all(|c| !c.is_control()), "{table:?}");
    let read: toml::Table = toml::from_str(&table).expect("TOML");
    assert_eq!(read["x"].as_str(), Some(given.as_str()));

    let document = text::json(&serde_json::to_string_pretty(&[&given]).expect("JSON"));
    assert!(
        document.chars().all(|c| c == '\n' || !c.is_control()) && text::harmless(&document).len() >= document.len()
    );
    let read: Vec<String> = serde_json::from_str(&document).expect("JSON");
    assert_eq!(read, [given]);
}

/// Nothing is left that CommonMark takes for anything but text.
fn markdown(line: &str) {
    let mut escaped = false;
    for c in line.chars() {
        assert!(escaped || !"`*_[]|#~!$<>".contains(c), "{line:?}");
        escaped = c == '\\' && !escaped;
    }
    assert!(!escaped, "{line:?} escapes what follows it");
    // What stands before and after an escape is not joined.
    assert!(!line.replace("\\://", " ").contains("://"), "{line:?}");
}

/// One cell, which a spreadsheet takes for text or a number.
fn cell(cell: &str, given: &str) {
    let content = match cell.strip_prefix('"') {
        Some(quoted) => {
            let inside = quoted.strip_suffix('"').expect("a quote that ends");
            assert!(!inside.replace("\"\"", "").contains('"'), "{cell:?}");
            inside.replace("\"\"", "\"")
        }
        None => {
            assert!(!cell.contains(['"', ',', ';', '\n', '\r']), "{cell:?}");
            cell.to_owned()
        }
    };
    let formula = content.trim_start().starts_with(['=', '+', '-', '@', '\t', '\r']);
    assert!(!formula || given.parse::<f64>().is_ok_and(f64::is_finite), "{cell:?}");
}

pub(crate) fn text_seeds() -> Vec<Vec<u8>> {
    input::texts(&[
        "plain",
        "=cmd|' /C calc'!A0 \u{1b}[2J\u{9b}31m\u{202e}\u{200b}\u{e0041}\u{feff}\u{ffff}\r\n\t| a |",
        "</script></svg>]]>--><img src=x onerror=alert(1)>&amp;\"'",
        "`*_[x](http://evil.example)![y](z) www.evil.example ``` ~~~ # \\ \\\\ $(rm)",
        "::////",
        "-12.5",
        "\t=1",
        " +1",
        "+",
        "＝1",
        "\u{a0}@x",
        "a;=b",
        "\\",
        "x\\\\\\|",
        ":://",
        "\u{10ffff}\u{e000}\u{fdd0}",
    ])
}

// Sizes and durations as people write them, and figures as they are shown.

/// A size or duration is read exactly or refused in a line; a figure of any bits is short text.
pub(crate) fn units(data: &[u8]) {
    let text = input::text(data);
    match text.parse::<Bytes>() {
        Ok(bytes) => {
            assert_eq!(bytes.0.to_string().parse(), Ok(bytes));
            assert_eq!(format!("{}B", bytes.0).parse(), Ok(bytes));
            short(&bytes.to_string());
        }
        Err(error) => input::one_line(&error),
    }
    match parse_duration(&text) {
        Ok(length) => {
            short(&units::span(length));
            assert!(length < Duration::MAX);
        }
        Err(error) => input::one_line(&error),
    }
    match parse_rate(&text) {
        Ok(rate) => assert!(rate.is_finite() && rate > 0.0, "{rate}"),
        Err(error) => input::one_line(&error),
    }
    match parse_share(&text) {
        Ok(share) => assert!(share.is_finite() && share >= 0.0, "{share}"),
        Err(error) => input::one_line(&error),
    }
    if let Some(bits) = data.first_chunk::<8>() {
        let number = f64::from_le_bytes(*bits);
        for text in [
            units::figures(number),
            units::fixed(number, 3),
            units::trimmed(number, 3),
            units::rate(number),
            units::latency(number),
            units::exact(number),
            units::capacity(u64::from_le_bytes(*bits)),
            units::grouped(i64::from_le_bytes(*bits)),
            Bytes(u64::from_le_bytes(*bits)).to_string(),
        ] {
            short(&text);
        }
        let exact = units::exact(number);
        assert!(exact.is_empty() != number.is_finite());
        assert!(exact.is_empty() || exact.parse() == Ok(number), "{exact}");
    }
}

#[track_caller]
fn short(text: &str) {
    assert!(text.chars().count() <= 32 && !text.chars().any(char::is_control), "{text:?}");
}

pub(crate) fn units_seeds() -> Vec<Vec<u8>> {
    let mut seeds = input::texts(&[
        "4KiB",
        "3 %",
        "8MiB/s",
        "0.05",
        "1e400%",
        "4 k",
        "1.5GiB",
        "0",
        "18446744073709551615",
        "18446744073709551616",
        "99999999999T",
        "1.3B",
        ".5k",
        "340282366920938463463374607431768211455.5TB",
        "90s",
        "1h30m",
        "1.5m",
        "1e400s",
        "500ms",
        "-3s",
        "4 parsecs",
        "18446744073709551616s",
        "584542046090y",
        "\u{1b}[2J",
        "4\nk",
        "٣k",
    ]);
    let numbers = [0.0, -0.0, f64::NAN, f64::INFINITY, f64::MIN_POSITIVE, f64::MAX, f64::MIN, 999.95, 1e15, 5e-324];
    seeds.extend(numbers.map(|number: f64| number.to_le_bytes().to_vec()));
    seeds.push(vec![b'9'; 4000]);
    seeds
}

// Names and figures of the command line: units, slots, loads, prices, places.

/// Each is read, or refused in a line; names that are taken can be shown and typed.
pub(crate) fn words(data: &[u8]) {
    let text = input::text(data);
    for roster in [Roster::inline(&text, "--units"), Roster::file(&text, "units.txt")] {
        match roster {
            Ok(roster) => {
                let units: Vec<(usize, &str)> = roster.units().collect();
                assert!((1..=2000).contains(&units.len()) && units.iter().all(|(m, _)| *m < roster.models().len()));
                roster.models().iter().for_each(|m| name(&m.name));
                units.iter().for_each(|(_, unit)| name(unit));
            }
            Err(error) => input::one_line(&error),
        }
    }
    match Slots::parse(&text, "--slots") {
        Ok(slots) => {
            assert!((1..=500).contains(&slots.names().len()));
            slots.names().iter().for_each(|slot| name(slot));
        }
        Err(error) => input::one_line(&error),
    }
    match text.parse::<Price>() {
        Ok(price) => {
            assert!(price.amount > 0.0 && price.amount.is_finite() && harmless(&price.currency) == price.currency)
        }
        Err(error) => input::one_line(&error),
    }
    match GateLimit::parse(&text) {
        Ok(limit) => {
            assert!((0.0..=100.0).contains(&limit.share), "{limit:?}");
            assert_eq!(GateLimit::parse(&limit.text), Ok(limit.clone()), "what is shown means the same");
        }
        Err(error) => input::one_line(&error),
    }
    let _ = LoadQuery::parse(&text).map_err(|error| input::one_line(&error));
    let _ = Quantity::parse(&text).map_err(|error| input::one_line(&error));
    let _ = SwapPlace::parse(&text, "--suspect").map_err(|error| input::one_line(&error));
    let lines = quoted_line(&["run".to_owned(), text.clone()], 60);
    assert!(lines.iter().all(|line| !line.is_empty()));
}

#[track_caller]
fn name(name: &str) {
    assert!(!name.is_empty() && name.len() <= 256 && harmless(name) == *name && name.trim() == name, "{name:?}");
}

pub(crate) fn words_seeds() -> Vec<Vec<u8>> {
    let mut seeds = input::texts(&[
        "A=1,2;B=3",
        "A = 1, 2\n# comment\nB=x\n",
        "28",
        "99999999999999999999",
        "a,b,c",
        "12.90USD",
        "$25",
        "1e309USD",
        "999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999EUR",
        "8MiB/s",
        "random read 4 KiB, QD 8, 4 jobs synced",
        "qd99999999999 1 18446744073709551616kib",
        "A=1@s",
        "=@",
        "iops",
        "slower than 5%",
        "p99  higher than 10 % for random read 4 KiB",
        "lower than 1e9% for",
        "slower than 5% for \u{1b}[2J  for x",
        "\u{1b}[2J=\u{202e},\n;\u{9b}",
        "A=\u{1b}",
        "\u{200b}=x",
        "A=1,1",
        "A=µ,Μ",
    ]);
    seeds.push("x".repeat(3000).into_bytes());
    seeds.push(format!("{0}={0};{0}={0}", "y".repeat(256)).into_bytes());
    seeds.push(format!("A={}", (0..2001).map(|n| format!("{n},")).collect::<String>()).into_bytes());
    seeds
}
