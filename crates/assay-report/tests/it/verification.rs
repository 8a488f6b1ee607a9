//! A check for genuineness as people read it.

use assay_core::outcome::Outcome;
use assay_core::record::Record;
use assay_core::verification::{
    Checker, Doubt, EarlyEnd, Extent, FakeKind, FirstError, MapCell, Method, Offsets, Pass, PassSpeed, Places, Reach,
    ReadBack, Remark, SectorClass, SectorCounts, Sign, Verdict, Verification, Whole,
};
use assay_report::{Style, card, check_sentence, html, markdown};

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
        verdict: Verdict::Fake,
        by_check: Some("c0\u{1b}[31m <b>".to_owned()),
        kind: Some(FakeKind::Wraparound),
        announced_bytes: 64 * MIB,
        real_bytes: Some(32 * MIB),
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
        read_back: ReadBack::Direct,
        cache_bytes: Some(4 * MIB),
        reach: Some(Reach {
            tested_share: 0.25,
            loss_share: 0.01,
            loss_found: 0.9995,
            caches_up_to_bytes: Some(64 * MIB),
            thin_excluded: false,
            of: Whole::Device,
            wraparounds_from_share: None,
        }),
        ..Verification::undecided(Method::Full)
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
        // The key has the symbols of the map.
        assert!(text.contains(&format!("{} good", &good[..good.len() / 4])) && text.contains("! unreadable"), "{text}");
        // The speed over the address, of writing and of reading, where the terminal has the letters for it.
        let curves =
            text.lines().filter(|line| line.trim().len() > 20 && line.trim().chars().all(|c| c == '█')).count();
        assert_eq!(curves, if unicode { 2 } else { 0 }, "{text}");
        assert!(unicode || text.is_ascii(), "{text}");
        assert!(text.contains("\nFake: only 32 MiB of 64 MiB hold data"), "{text}");
    }
}

#[test]
fn the_page_draws_the_map_with_letters_and_escapes_what_it_shows() {
    let page = html(&[fake()]);
    assert!(page.contains("class=\"map\"") && page.contains("class=\"address\""));
    assert_eq!(page.matches("<rect class=\"good\"").count(), 1, "equal parts are one rectangle");
    assert_eq!(page.matches(">!</text>").count(), 32);
    assert!(!page.contains("<b>") && page.contains("&lt;b&gt;"));
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
    let reach = "25 % tested; a loss of 1 % of the capacity would be found (probability above 99.9 %); caches up to 64 MiB do not hide one; thin provisioning not excluded";
    let mut damaged = fake();
    let v = damaged.verification.as_mut().unwrap();
    (v.verdict, v.kind) = (Verdict::Damaged, None);
    // On the page a number and its unit hold together.
    let all = |record: &Record| {
        let card = card(record, &style(200, true)).split_whitespace().collect::<Vec<_>>().join(" ");
        [card, html(std::slice::from_ref(record)).replace('\u{a0}', " "), markdown(std::slice::from_ref(record))]
    };
    for text in all(&damaged) {
        assert!(text.contains(reach), "{text}");
        assert!(text.contains("0 B to 32 MiB"), "{text}");
    }
    // The loss of a fake is known.
    for text in all(&fake()) {
        assert!(text.contains("25 % tested") && !text.contains("would be found"), "{text}");
    }
}

/// What a verdict rests on stands at the end of its sentence.
#[test]
fn a_long_sentence_is_shown_to_its_end() {
    let mut record = fake();
    let v = record.verification.as_mut().unwrap();
    (v.verdict, v.kind, v.holds, v.by_check) = (Verdict::Genuine, None, Vec::new(), None);
    v.remarks = vec![Remark::FileSystemErrs, Remark::ProbeDecides, Remark::SpaceNotReserved, Remark::CacheHides];
    for text in [card(&record, &style(80, true)), html(std::slice::from_ref(&record)), markdown(&[record.clone()])] {
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ").replace('\u{a0}', " ");
        assert!(words.contains("--cache SIZE reads past larger ones"), "{text}");
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
    assert!(part.contains("(probability 99 %)"), "{part}");
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
    v.remarks = vec![Remark::OnlyRead];
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

fn found(method: Method, verdict: Verdict) -> Verification {
    let counts = SectorCounts { good: 8000, corrupted: 192, ..SectorCounts::default() };
    Verification {
        verdict,
        announced_bytes: 4 * MIB,
        checked_bytes: 4 * MIB,
        written_bytes: 5 * MIB,
        counts,
        ..Verification::undecided(method)
    }
}

/// Where only the counts and sizes are known.
#[test]
fn a_full_check_is_said_from_its_values() {
    let full = |verdict| found(Method::Full, verdict);
    let said = |v: Verification| check_sentence(&v);
    let reach = Reach {
        tested_share: 0.825,
        loss_share: 0.1,
        loss_found: 1.0,
        caches_up_to_bytes: Some(0),
        thin_excluded: true,
        of: Whole::FileSystem,
        wraparounds_from_share: None,
    };
    let genuine = Verification { reach: Some(reach), ..full(Verdict::Genuine) };
    assert_eq!(
        said(Verification { remarks: vec![Remark::OnlyRead], ..genuine.clone() }),
        "genuine: the files that were read, 4 MiB, hold what was written; 82 % of the file system tested, a cache \
         may have hidden a loss, thin provisioning with less than 4 MiB excluded"
    );
    let reach = Reach { tested_share: 0.001, caches_up_to_bytes: Some(MIB), of: Whole::Device, ..reach };
    assert_eq!(
        said(Verification { reach: Some(reach), area_bytes: Some(6 * MIB), ..genuine }),
        "genuine: the part of free space that was checked, 4 MiB, holds what was written; less than 1 % of the device \
         tested, a cache of up to 1 MiB cannot have hidden a loss, thin provisioning with less than 4 MiB excluded; 2 MiB were not checked"
    );
    let fake = Verification { kind: Some(FakeKind::Limbo), ..full(Verdict::Fake) };
    assert_eq!(
        said(Verification { ended: Some(EarlyEnd::FirstError), ..fake.clone() }),
        "fake: 3.91 MiB of 4 MiB that were read hold data, the rest is dropped; it ended at the first error, as asked"
    );
    let (low, high) = (Some(2 * MIB), Some(3 * MIB));
    assert_eq!(
        said(Verification {
            real_low_bytes: low,
            real_high_bytes: high,
            announced_bytes: 5 * MIB,
            area_bytes: Some(4 * MIB),
            ..fake
        }),
        "fake: only 2 MiB to 3 MiB of the device's 5 MiB hold data, the rest is dropped"
    );
    let first = FirstError { offset_bytes: MIB, class: SectorClass::Corrupted, holds_offset_bytes: None };
    let damaged = Verification { first_error: Some(first), ..full(Verdict::Damaged) };
    assert_eq!(said(damaged.clone()), "damaged: 96 KiB (192 corrupted sectors) of 4 MiB are lost, the first at 1 MiB");
    let remarks = vec![Remark::FileSystemErrs, Remark::ProbeDecides];
    assert_eq!(
        said(Verification { refused_bytes: MIB, remarks, ..damaged.clone() }),
        "damaged: 96 KiB (192 corrupted sectors) of 4 MiB are lost, the first at 1 MiB; 1 MiB could not be written (write \
         errors); this file system answers with errors where the device need not; a fake looks the same through its file \
         system: assay verify --quick on the unmounted device decides"
    );
    assert_eq!(
        said(Verification { sign: Some(Sign::HoldsLater), first_error: None, ..damaged }),
        "damaged: 96 KiB (192 corrupted sectors) of 4 MiB were lost, and hold data that are written again"
    );
    let failed = Verification { ended: Some(EarlyEnd::ReadOnly), ..full(Verdict::Failed) };
    assert_eq!(said(failed), "failed: it turned read-only; 96 KiB lost were found so far in 4 MiB of 4 MiB");
    let undecided = full(Verdict::Undecided);
    assert!(said(Verification { doubt: Some(Doubt::DriverKeepsData), ..undecided.clone() }).contains("; run as root"));
    let cut = Verification { ended: Some(EarlyEnd::Interrupted), ..undecided };
    assert!(said(cut.clone()).ends_with("of 4 MiB; it was interrupted"));
    let nothing = Verification { counts: SectorCounts::default(), checked_bytes: 0, ..cut };
    assert_eq!(said(nothing), "cannot tell: nothing was read back; it was interrupted");
}

/// A check has no repeats and no limit of writes, and says in its findings how it read.
#[test]
fn settings_of_a_check_are_those_of_a_check() {
    let mut check = fake();
    check.change_settings(|settings| {
        (settings.repeats, settings.max_write_bytes, settings.planned_write_bytes) = (0, 0, 64 * MIB);
        (settings.direct_alignment_bytes, settings.direct_source) = (None, String::new());
    });
    let page = html(&[check]).replace('\u{a0}', " ");
    assert!(page.contains("64 MiB to be written"), "the plan is said");
    for wrong in ["0 repeats", "at most 0 B", "not possible"] {
        assert!(!page.contains(wrong), "{wrong}");
    }
}

#[test]
fn a_report_of_another_tool_without_counts_does_not_say_that_nothing_was_read() {
    let mut record = fake();
    let v = Verification { checker: Checker::H2testw, checked_bytes: 0, ..Verification::undecided(Method::Full) };
    record.verification = Some(Verification { verdict: Verdict::Genuine, ..v });
    let text = card(&record, &Style::default());
    assert!(text.contains("no errors") && !text.contains("nothing was read back"), "{text}");
}

#[test]
fn a_quick_check_is_said_in_places() {
    let quick = |verdict| Verification {
        places: Some(Places { read: 40, lost: 3 }),
        area_bytes: Some(3 * MIB),
        ..found(Method::QuickMounted, verdict)
    };
    let said = |v: Verification| check_sentence(&v);
    let remarks = vec![Remark::SpaceNotReserved, Remark::ProbeDecides];
    assert_eq!(
        said(Verification { ended: Some(EarlyEnd::IoError), remarks, ..quick(Verdict::Failed) }),
        "failed while it was tested: 37 of 40 places across 3 MiB held what was written; this file system does not \
         reserve space, so only a full check, or assay verify --quick on the unmounted device, reaches all of it; the \
         check ended early: it reported an I/O error; a fake looks the same through its file system: assay verify --quick on the \
         unmounted device decides"
    );
    assert_eq!(
        said(Verification { kind: Some(FakeKind::Limbo), ..quick(Verdict::Fake) }),
        "fake: the data of 3 of 40 places across 3 MiB are lost: the medium drops them"
    );
    let mut v = Verification { remarks: vec![Remark::WraparoundNotExcluded], ..quick(Verdict::Genuine) };
    assert!(said(v.clone()).ends_with(
        "; a wrap-around is not excluded: the full check, or assay verify --quick on the unmounted device, finds one"
    ));
    v.reach = Some(Reach { wraparounds_from_share: Some(0.081), ..fake().verification.unwrap().reach.unwrap() });
    assert!(said(v).ends_with("; a wrap-around that lacks less than 9 % is not excluded: the full check finds one"));
}

#[test]
fn a_probe_is_said_with_its_sign() {
    let probed = |verdict, sign| Verification { sign: Some(sign), ..found(Method::QuickProbe, verdict) };
    let said = |v: Verification| check_sentence(&v);
    let [fake, damaged] = [Verdict::Fake, Verdict::Damaged];
    let lost = "of 8192 sectors tested 192 lost what was written";
    for bytes in [512, 1024] {
        let words = if bytes == 512 { "sector is" } else { "2 sectors are" };
        assert_eq!(
            said(probed(damaged, Sign::MissingAtEnd { bytes })),
            format!("damaged: the last {words} missing; some USB bridges announce one too many; {lost}")
        );
    }
    let misplaced = |distance| said(probed(damaged, Sign::Misplaced { distance_bytes: Some(distance) }));
    assert!(misplaced(-1024).starts_with("damaged: data are read 1 KiB above from where they were written"));
    assert!(misplaced(1024).contains(" below "));
    let strays = Sign::OnlyWritesWrap { overwritten_sectors: 1, first_overwritten_bytes: Some(7) };
    assert_eq!(
        said(Verification { real_bytes: Some(2 * MIB), ..probed(fake, strays) }),
        "fake: it announces 4 MiB and holds 2 MiB; data written beyond that overwrite earlier data, and are not read there; 1 \
         sector that was never saved was overwritten by the test, the first at byte 7"
    );
    let near =
        Verification { announced_bytes: 1 << 36, real_bytes: Some((1 << 36) - MIB), ..probed(fake, Sign::Decays) };
    assert!(said(near).contains(" and holds 1 MiB less than that; "));
    let vague = Verification {
        real_low_bytes: Some(0),
        real_high_bytes: Some(4 * MIB),
        remarks: vec![Remark::CacheHides],
        ended: Some(EarlyEnd::WriteLimit),
        ..probed(fake, Sign::OldestReplaced)
    };
    assert_eq!(
        said(vague),
        "fake: it announces 4 MiB and its real size was not found; each write takes the place of the oldest data, wherever \
         it is sent; a cache hides more (--cache SIZE reads past larger ones); the limit of bytes written was reached"
    );
    let failed = Verification { ended: Some(EarlyEnd::DropsWrites), ..found(Method::QuickProbe, Verdict::Failed) };
    assert_eq!(
        said(failed),
        "failed while it was tested: after some time it dropped what was written, after 5 MiB written"
    );
}

#[test]
fn checks_of_other_programs_are_said_in_their_words() {
    let by = |checker, method, verdict| Verification { checker, ..found(method, verdict) };
    let said = |v: Verification| check_sentence(&v);
    let (f3, h2testw) = (Checker::F3, Checker::H2testw);
    assert_eq!(said(by(f3, Method::Full, Verdict::Genuine)), "f3read found all that f3write wrote");
    assert_eq!(said(by(f3, Method::QuickProbe, Verdict::Fake)), "f3probe found less than the announced size");
    let partly = Verification { remarks: vec![Remark::PartlyUnread], ..by(f3, Method::Full, Verdict::Damaged) };
    assert_eq!(said(partly), "192 of 8192 sectors are lost, and not all could be read");
    for (checker, method, words) in [
        (f3, Method::Full, "the log is cut off"),
        (f3, Method::QuickProbe, "the log of the probe is cut off"),
        (h2testw, Method::Full, "the report is cut off"),
    ] {
        let cut = Verification { doubt: Some(Doubt::CutOff), ..by(checker, method, Verdict::Undecided) };
        assert_eq!(said(cut), words);
    }
    let counts = SectorCounts::default();
    let called = Verification { counts, ..by(h2testw, Method::Full, Verdict::Damaged) };
    assert_eq!(said(called), "the medium is called defective, without counts");
}
