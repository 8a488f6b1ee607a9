//! What people read of comparisons, from published figures and what could be made of them.

use assay_analysis::compare::{By, CompareRequest, Comparison, RecordGroup, compare, split};
use assay_analysis::{Reason, published};
use assay_core::finding::Finding;
use assay_core::observation::Observation;
use assay_core::workload::Op;
use unicode_width::UnicodeWidthStr;

use super::{document, text};
use crate::terminal::Style;

fn group<'a>(name: &str, records: &'a [Observation]) -> RecordGroup<'a> {
    RecordGroup { name: name.to_owned(), records: records.iter().collect() }
}

fn against(groups: &[&[Observation]]) -> Comparison {
    let groups: Vec<RecordGroup<'_>> = groups.iter().map(|records| group("q", records)).collect();
    compare(&groups, &CompareRequest::default()).unwrap()
}

/// A record with this share of the published figures.
fn scaled(record: &Observation, id: &str, by: f64) -> Observation {
    let mut record = record.clone();
    record.id = id.to_owned();
    record.labels.insert("unit".to_owned(), id.to_owned());
    for m in &mut record.measurements {
        for e in [&mut m.iops, &mut m.bytes_per_second].into_iter().flatten() {
            e.point *= by;
        }
    }
    record
}

fn ultra() -> Vec<Observation> {
    published("sandisk-ultra-a1").unwrap()
}

/// The text in one line, so that a sentence is found wherever it breaks.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn plain(c: &Comparison) -> String {
    joined(&text(c, &Style::default()))
}

#[test]
fn the_answer_comes_first() {
    let a = ultra();
    let mut b: Vec<Observation> = a.iter().map(|r| scaled(r, &format!("{}x", r.id), 1.5)).collect();
    let said = plain(&against(&[&a, &b]));
    assert!(
        said.starts_with("Random read 4 KiB, 4 jobs: different – B is faster than A: +50 % (+34 … +67 %)."),
        "letters stand for equal names: {said}"
    );
    for record in &mut b {
        record.labels.insert("model".to_owned(), "Other".to_owned());
    }
    let said = plain(&against(&[&a, &b]));
    let names = "B (Other, 3 units) is faster than A (SanDisk Ultra A1, 3 units): +50 % (";
    assert!(said.starts_with(&format!("Random read 4 KiB, 4 jobs: different – {names}")), "{said}");
}

/// "Which of my two cards is better?": one load could not tell, and writes of one took twice as long.
#[test]
fn other_loads_that_decide_are_in_the_first_sentence() {
    let a = ultra();
    let changed = |decides: f64, others: f64| -> Vec<Observation> {
        let mut b: Vec<Observation> = a.iter().map(|r| scaled(r, &format!("{}x", r.id), others)).collect();
        for m in b.iter_mut().flat_map(|of| &mut of.measurements) {
            if m.workload.op == Op::Read && m.workload.block_bytes == 4096 {
                m.iops.iter_mut().chain(&mut m.bytes_per_second).for_each(|e| e.point *= decides / others);
            }
        }
        b
    };
    let first = |b: &[Observation]| plain(&against(&[&a, b])).split("  A ").next().unwrap().to_owned();
    let said = first(&changed(1.001, 0.5));
    assert!(
        said.contains("cannot tell") && said.contains("Under other loads, each by itself, B differs from A: "),
        "{said}"
    );
    assert!(said.contains(" −50 % (") && said.contains(" more."), "{said}");
    // What the others say as well is not said again; what contradicts it is.
    assert!(!first(&changed(0.5, 0.5)).contains("other loads"), "{}", first(&changed(0.5, 0.5)));
    assert!(first(&changed(2.0, 0.5)).contains("Under other loads"), "{}", first(&changed(2.0, 0.5)));
}

#[test]
fn every_rule_has_its_words() {
    let a = ultra();
    let copies: Vec<Observation> = a.iter().map(|r| scaled(r, &format!("{}y", r.id), 1.001)).collect();
    let said = plain(&against(&[&a, &copies]));
    assert!(
        said.contains("cannot tell: B looks faster than A: +0.1 % (")
            && said.contains("units of each would show a difference of 3.0 % (chance 80 %)"),
        "{said}"
    );
    assert!(said.contains("A, B published") && said.contains("A and B: models, 3 units each"), "{said}");

    let held = |records: &[Observation]| {
        let mut records = records.to_vec();
        records.iter_mut().flat_map(|r| &mut r.measurements).for_each(|m| m.bus_limited = true);
        records
    };
    let faster: Vec<Observation> = a.iter().map(|r| scaled(r, &format!("{}x", r.id), 1.5)).collect();
    let said = plain(&against(&[&held(&a), &held(&faster)]));
    assert!(said.contains("tie at the bus ceiling: B looks faster than A: +50 % ("), "{said}");
    assert!(said.contains("so the media are not compared"), "{said}");
    assert!(plain(&against(&[&a, &held(&faster)])).contains("different: B is faster than A: at least +50 % ("));
    let said = plain(&against(&[&held(&a), &faster]));
    assert!(said.contains("but A is limited by the bus, and the medium may be faster"), "{said}");

    let mut invalid = faster.clone();
    for record in &mut invalid {
        record.warnings.push(Finding::ServedFromCache { proof_ratio: 0.02 }.into());
    }
    let said = plain(&against(&[&a, &invalid]));
    assert!(said.contains("but B is invalid") && said.contains("only 2.00 %"), "{said}");

    let said = plain(&against(&[&a[..1], &faster[..1]]));
    assert!(
        said.contains(
            "cannot tell: B looks faster than A: +50.0 %; A and B have one value each: more repeats would decide"
        ),
        "{said}"
    );
    let said = plain(&against(&[&a, &faster, &copies]));
    assert!(
        said.starts_with("Random read 4 KiB, 4 jobs, against A: B +50 %") && said.contains("C: cannot tell."),
        "{said}"
    );
    assert!(said.contains("C is slower than B: −33.3 % ("), "all pairs of few groups: {said}");
}

#[test]
fn nothing_in_common_is_said_with_reasons() {
    let mine = scaled(&published("ssd-via-sata").unwrap()[0], "mine", 1.0);
    let said = plain(&against(&[&[mine], &ultra()]));
    assert!(said.starts_with("Nothing to compare") && said.contains("--suite blocks"), "{said}");
    assert!(
        said.contains("left out A: not measured at this depth, but at QD1, QD32: random read 4 KiB, 4 jobs"),
        "{said}"
    );
    assert!(said.contains("B: not measured: sequential read 1 MiB"), "{said}");
}

#[test]
fn every_line_fits_and_ascii_is_ascii() {
    let all = vec![published("").unwrap()];
    let mut hostile = scaled(&ultra()[0], "\u{1b}[2Jid\u{202e}", 1.1);
    hostile.labels.insert("model".to_owned(), "漢字\u{1b}]0;x\u{7}<b>|".repeat(20));
    hostile.host.board = Some("\u{9b}31m\nboard".repeat(9));
    let comparisons =
        [compare(&split(&all, By::Model), &CompareRequest::default()).unwrap(), against(&[&ultra(), &[hostile]])];
    for c in &comparisons {
        for width in [60, 80, 120] {
            for (color, unicode) in [(true, true), (false, true), (false, false)] {
                let shown = text(c, &Style { width, color, unicode });
                assert!(unicode || shown.is_ascii(), "{shown}");
                assert!(color || shown.chars().all(|c| c == '\n' || !c.is_control()), "{shown:?}");
                for line in shown.lines().filter(|_| !color) {
                    assert!(line.width() <= width, "{}: {line}", line.width());
                }
            }
        }
        let md = document(c, None).markdown();
        assert!(!md.contains("<b>") && md.chars().all(|c| c == '\n' || !c.is_control()), "{md}");
        let rows: Vec<usize> =
            md.lines().filter(|l| l.starts_with('|')).map(|l| l.replace("\\|", "").matches('|').count()).collect();
        assert!(rows.iter().all(|n| *n == 4 || *n == c.groups.len() + 4), "{rows:?}");
    }
}

#[test]
fn each_value_left_out_is_named() {
    let a = ultra();
    let mut b = scaled(&a[0], "b", 1.2);
    b.measurements[0].iops.as_mut().unwrap().point = f64::NAN;
    let c = against(&[&a, &[b]]);
    assert!(c.excluded.iter().any(|e| matches!(e.reason, Reason::BadValue { .. })));
    assert!(
        plain(&c)
            .contains("left out B: left out a value of NaN: not a positive finite number: random read 4 KiB, 4 jobs"),
        "{}",
        plain(&c)
    );
}

#[test]
fn markdown_says_the_same() {
    let a = ultra();
    let b: Vec<Observation> = a.iter().map(|r| scaled(r, &format!("{}x", r.id), 1.5)).collect();
    let md = document(&against(&[&a, &b]), None).markdown();
    assert!(
        md.starts_with("# Comparison: random read 4 KiB, 4 jobs\n\n**Random read 4 KiB, 4 jobs: different – B "),
        "{md}"
    );
    assert!(md.contains("| random read 4 KiB, 4 jobs | IOPS | 1 721 ±208 (n=3 units; published) |"), "{md}");
    assert!(
        md.contains("| **Exploratory: ") && md.contains("- method: 95 % intervals: Welch's t on logarithms"),
        "{md}"
    );
}

/// Seven groups of one unit each: one differs from the first, and the others are undecided.
#[test]
fn many_groups_of_which_the_same_is_said_are_named_together() {
    let a = ultra();
    let one: Vec<Vec<Observation>> = (0..5).map(|n| vec![scaled(&a[0], &format!("one{n}"), 1.0)]).collect();
    let faster: Vec<Observation> = a.iter().map(|r| scaled(r, &format!("{}x", r.id), 3.0)).collect();
    let mut groups: Vec<&[Observation]> = vec![&a, &faster];
    groups.extend(one.iter().map(Vec::as_slice));
    let said = plain(&against(&groups));
    assert!(said.contains(", against A: B ") && said.contains("; C, D, E, F, G: cannot tell."), "{said}");
}

/// Two builds on one card: letters alone do not say which is which.
#[test]
fn groups_of_the_same_medium_are_named_by_their_queries() {
    let first = ultra();
    let mut second = first.clone();
    second.iter_mut().for_each(|record| record.id = format!("{}x", record.id));
    let compared = |names: [&str; 2]| {
        let groups = [group(names[0], &first), group(names[1], &second)];
        compare(&groups, &CompareRequest::default()).unwrap()
    };
    let c = compared(["build=r1", "build=r2"]);
    let page = document(&c, None).markdown();
    for said in [plain(&c), page] {
        assert!(said.contains("build=r1 · ") && said.contains("build=r2 · "), "{said}");
    }
    assert!(!plain(&compared(["same", "same"])).contains("same · "));
    assert!(!plain(&against(&[&first, &second])).contains("q · "));
}
