//! A check for genuineness as people read it.

use assay_core::outcome::Outcome;
use assay_core::record::Record;
use assay_core::verification::{
    Extent, FakeKind, FirstError, MapCell, Method, Offsets, Pass, PassSpeed, Reach, SectorClass, SectorCounts, Verdict,
    Verification,
};
use assay_report::{Style, card, html, markdown};

const MIB: u64 = 1 << 20;

/// 64 MiB announced, with the second half overwritten by the last writes.
pub fn fake() -> Record {
    let half = SectorCounts { good: 2048, ..SectorCounts::default() };
    let lost = SectorCounts { overwritten: 2047, unreadable: 1, ..SectorCounts::default() };
    let map: Vec<MapCell> = (0..64)
        .map(|i| MapCell { offset_bytes: i * MIB, bytes: MIB, counts: if i < 32 { half } else { lost } })
        .collect();
    let mut counts = SectorCounts::default();
    map.iter().for_each(|cell| counts.merge(&cell.counts));
    let speed = (0..64).map(|i| PassSpeed { offset_bytes: i * MIB, bytes: MIB, elapsed_ns: 50_000_000 }).collect();
    let pass = Pass { bytes: 64 * MIB, elapsed_ns: 64 * 50_000_000, speed };
    let mut record = crate::common::bare_record();
    record.outcome = Outcome::Completed;
    record.verification = Some(Verification {
        method: Method::Full,
        verdict: Verdict::Fake,
        sentence: "fake: half of it \u{1b}[31mis real <b>".to_owned(),
        by_check: None,
        kind: Some(FakeKind::Wraparound),
        announced_bytes: 64 * MIB,
        real_bytes: Some(32 * MIB),
        real_low_bytes: None,
        real_high_bytes: None,
        holds: vec![Extent { offset_bytes: 0, bytes: 32 * MIB }],
        checked_bytes: 64 * MIB,
        written_bytes: 64 * MIB,
        counts,
        offsets: Offsets::Device,
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
        reach: Some(Reach {
            tested_share: 0.25,
            loss_share: 0.01,
            loss_found: 0.9995,
            caches_up_to_bytes: Some(64 * MIB),
            thin_excluded: false,
        }),
        remarks: Vec::new(),
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
        for words in ["64 MiB of free space, 32 MiB", "65 504 overwritten", "holds the data of byte 0", "21.0 MB/s"] {
            assert!(flat.contains(words), "{words}: {text}");
        }
        // The worst of a part is what shows.
        assert!(text.contains("!!!!") && text.contains("unreadable"), "{text}");
        let good = if unicode { "████" } else { "####" };
        assert!(text.contains(good), "{text}");
        // The speed over the address, of writing and of reading, where the terminal has the letters for it.
        let curves =
            text.lines().filter(|line| line.trim().len() > 20 && line.trim().chars().all(|c| c == '█')).count();
        assert_eq!(curves, if unicode { 2 } else { 0 }, "{text}");
        assert!(unicode || text.is_ascii(), "{text}");
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

/// A check has no repeats that an interval could be of, and sees no more than it was told to fill.
#[test]
fn the_page_of_a_check_speaks_of_what_a_check_has() {
    let mut record = fake();
    let caption = |record: &Record| {
        let page = html(std::slice::from_ref(record));
        assert!(!page.contains("over repeats") && !page.contains("Charts: hover"), "the foot is that of a measurement");
        let (_, rest) = page.split_once("<figcaption>Map of ").unwrap();
        rest.split_once('<').unwrap().0.replace('\u{a0}', " ")
    };
    assert_eq!(caption(&record), "the medium, from its beginning, row by row");
    record.verification.as_mut().unwrap().offsets = Offsets::Files;
    assert_eq!(caption(&record), "the free space in the order of the files, row by row");
    let text = card(&record, &style(200, true));
    assert_eq!(text.matches("in the order of the files").count(), 4, "first error, map, writing, reading: {text}");
    record.verification.as_mut().unwrap().checked_bytes /= 2;
    assert_eq!(caption(&record), "the part of the free space that was checked in the order of the files, row by row");
    let v = record.verification.as_mut().unwrap();
    (v.method, v.offsets) = (Method::QuickProbe, Offsets::Device);
    assert_eq!(caption(&record), "the medium, from its beginning, row by row");
    assert!(html(&[crate::common::good_card()]).contains("over repeats"));
}

#[test]
fn markdown_lists_what_was_found() {
    let text = markdown(&[fake()]);
    for words in ["- Check: fake", "- Sectors: 131 072 sectors", "- 1st error: at 32 MiB"] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

/// Every page states, in the same words, what a verdict is based on and what it does not exclude.
#[test]
fn card_page_and_markdown_say_the_reach_and_what_holds() {
    let reach = "25 % tested; a loss of 1 % of it is found with a probability of above 99.9 %; caches up to 64 MiB do not hide one; thin provisioning not excluded";
    let card = card(&fake(), &style(200, true)).split_whitespace().collect::<Vec<_>>().join(" ");
    // On the page a number and its unit hold together.
    let page = html(&[fake()]).replace('\u{a0}', " ");
    for text in [card, page, markdown(&[fake()])] {
        assert!(text.contains(reach), "{text}");
        assert!(text.contains("0 B to 32 MiB"), "{text}");
    }
}

/// What a verdict rests on stands at the end of its sentence.
#[test]
fn a_long_sentence_is_shown_to_its_end() {
    let mut record = fake();
    let sentence = format!("genuine: {}thin provisioning not excluded", "what was tested holds; ".repeat(12));
    record.verification.as_mut().unwrap().sentence = sentence;
    for text in [card(&record, &style(80, true)), html(std::slice::from_ref(&record)), markdown(&[record.clone()])] {
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.matches("thin provisioning not excluded").count() >= 2, "{text}");
    }
}

/// The untested part is not called genuine, and a share is not rounded up: 248 of 300 MiB are 82 %.
#[test]
fn a_part_that_was_tested_is_not_taken_for_all() {
    let mut record = fake();
    let v = record.verification.as_mut().unwrap();
    (v.verdict, v.kind, v.holds) = (Verdict::Genuine, None, Vec::new());
    (v.announced_bytes, v.real_bytes, v.checked_bytes) = (300 << 20, Some(300 << 20), 248 << 20);
    v.reach.as_mut().unwrap().tested_share = 248.0 / 300.0;
    v.reach.as_mut().unwrap().loss_found = 0.9965;
    let part = card(&record, &style(200, true)).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(part.contains("300 MiB of free space, nothing missing where it was tested; 248 MiB checked"), "{part}");
    assert!(part.contains("82 % tested"), "{part}");
    assert!(part.contains("with a probability of 99 %"), "{part}");
    record.verification.as_mut().unwrap().checked_bytes = 300 << 20;
    let all = card(&record, &style(200, true)).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(all.contains("300 MiB of free space, all of it real; all checked"), "{all}");
}

/// Of files that were only read nothing follows for free space, and a cache of no size drives nothing out.
#[test]
fn files_that_were_only_read_are_no_free_space() {
    let mut record = fake();
    let v = record.verification.as_mut().unwrap();
    (v.verdict, v.kind, v.holds, v.real_bytes) = (Verdict::Genuine, None, Vec::new(), None);
    v.remarks = vec![assay_core::verification::Remark::OnlyRead];
    v.offsets = Offsets::Files;
    v.reach.as_mut().unwrap().caches_up_to_bytes = Some(0);
    let text = card(&record, &style(200, true)).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("64 MiB of files; all checked") && !text.contains("free space"), "{text}");
    assert!(text.contains("caches may hide one") && !text.contains("0 B"), "{text}");
    assert!(html(&[record]).contains("Map of the files that were read"));
}

/// A size known as an interval is shown as one, and no verdict lacks its word.
#[test]
fn intervals_and_each_verdict_have_their_words() {
    let words = [
        (Verdict::Genuine, "genuine"),
        (Verdict::Damaged, "damaged"),
        (Verdict::Failed, "failed"),
        (Verdict::Undecided, "cannot tell"),
    ];
    for (verdict, word) in words {
        let mut record = fake();
        let v = record.verification.as_mut().unwrap();
        v.verdict = verdict;
        (v.real_bytes, v.real_low_bytes, v.real_high_bytes) = (None, Some(30 * MIB), Some(34 * MIB));
        v.reach.as_mut().unwrap().tested_share = 0.9;
        assert!(card(&record, &style(200, true)).contains("30 MiB to 34 MiB real"));
        assert!(html(&[record.clone()]).contains(&format!(">{word}</span>")), "{word}");
        // Where most was not tested, only a part is called genuine.
        record.verification.as_mut().unwrap().reach.as_mut().unwrap().tested_share = 0.4;
        let word = if verdict == Verdict::Genuine { "genuine in part" } else { word };
        assert!(html(&[record]).contains(&format!(">{word}</span>")), "{word}");
    }
}
