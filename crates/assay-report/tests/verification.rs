//! A check for genuineness as people read it.
#![allow(clippy::unwrap_used)] // a test fails by panicking

mod common;

use assay_core::outcome::Outcome;
use assay_core::record::Record;
use assay_core::verification::{
    FakeKind, FirstError, MapCell, Method, Pass, PassSpeed, SectorClass, SectorCounts, Verdict, Verification,
};
use assay_report::{Style, card, html, markdown};

const MIB: u64 = 1 << 20;

/// 64 MiB announced, the second half overwritten by what was written last.
fn fake() -> Record {
    let half = SectorCounts { good: 2048, ..SectorCounts::default() };
    let lost = SectorCounts { overwritten: 2047, unreadable: 1, ..SectorCounts::default() };
    let map: Vec<MapCell> = (0..64)
        .map(|i| MapCell { offset_bytes: i * MIB, bytes: MIB, counts: if i < 32 { half } else { lost } })
        .collect();
    let mut counts = SectorCounts::default();
    map.iter().for_each(|cell| counts.merge(&cell.counts));
    let speed = (0..64).map(|i| PassSpeed { offset_bytes: i * MIB, bytes: MIB, elapsed_ns: 50_000_000 }).collect();
    let pass = Pass { bytes: 64 * MIB, elapsed_ns: 64 * 50_000_000, speed };
    let mut record = common::bare_record();
    record.outcome = Outcome::Completed;
    record.verification = Some(Verification {
        method: Method::Full,
        verdict: Verdict::Fake,
        sentence: "fake: half of it \u{1b}[31mis real <b>".to_owned(),
        kind: Some(FakeKind::Wraparound),
        announced_bytes: 64 * MIB,
        real_bytes: Some(32 * MIB),
        checked_bytes: 64 * MIB,
        written_bytes: 64 * MIB,
        counts,
        first_error: Some(FirstError {
            offset_bytes: 32 * MIB,
            class: SectorClass::Overwritten,
            holds_offset_bytes: Some(0),
        }),
        map,
        write: Some(pass.clone()),
        read: Some(pass),
        read_back: "direct I/O".to_owned(),
        cache_bytes: Some(4 * MIB),
        would_find: None,
    });
    record
}

fn style(width: usize, unicode: bool) -> Style {
    Style { width, unicode, color: false }
}

#[test]
fn the_card_shows_verdict_map_and_speed_at_any_width() {
    for (width, unicode) in [(60, false), (80, true), (200, true)] {
        let text = card(&fake(), &style(width, unicode));
        assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for words in ["64 MiB announced, 32 MiB", "65 504 overwritten", "holds the data of byte 0", "21.0 MB/s"] {
            assert!(flat.contains(words), "{words}: {text}");
        }
        // The worst of a part is what shows.
        assert!(text.contains("!!!!") && text.contains("unreadable"), "{text}");
        let good = if unicode { "████" } else { "####" };
        assert!(text.contains(good), "{text}");
        assert!(text.trim_end().lines().last().unwrap().starts_with("Fake: half of it"), "{text}");
    }
}

#[test]
fn the_page_draws_the_map_with_letters_and_escapes_what_it_shows() {
    let page = html(&[fake()]);
    assert!(page.contains("class=\"map\"") && page.contains("class=\"address\""));
    assert_eq!(page.matches("<rect class=\"good\"").count(), 1, "equal parts are one rectangle");
    assert_eq!(page.matches(">!</text>").count(), 32);
    assert!(!page.contains("real <b>") && page.contains("real &lt;b&gt;"));
    assert!(page.contains(">fake</span>"));
}

#[test]
fn markdown_lists_what_was_found() {
    let text = markdown(&[fake()]);
    for words in ["- Check: fake", "- Sectors: 131 072 sectors", "- First error: at 32 MiB"] {
        assert!(text.contains(words), "{words}: {text}");
    }
}
