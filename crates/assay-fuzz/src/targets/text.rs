//! Text on its way to a terminal, a page, a table.

use assay_core::text;

use crate::claims;

/// What each escaper promises of any text.
pub(crate) fn run(data: &[u8]) {
    let given = claims::text(data);

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

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    claims::texts(&[
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
