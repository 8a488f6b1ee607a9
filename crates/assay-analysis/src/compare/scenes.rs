//! Every rule of a comparison, by records that call for it.

use assay_core::cpus::Cpus;
use assay_core::observation::{Observation, ObservedOrigin};
use assay_core::outcome::Outcome;
use assay_core::record::{Batching, Source};
use assay_core::workload::{Op, Pattern};
use assay_stats::random::Generator;

use super::day_scenes::{best_of, bus_limited, card, fake, invalid, measured, random_read, record, workload};
use super::*;
use crate::Reason;
use crate::quantity::Quantity;
use crate::reading::Mark;

const SLOW: [f64; 3] = [999.0, 1000.0, 1001.0];
const FAST: [f64; 3] = [1099.0, 1100.0, 1101.0];

fn group<'a>(name: &str, records: &[&'a Observation]) -> RecordGroup<'a> {
    RecordGroup { name: name.to_owned(), records: records.to_vec() }
}

/// The rules are about runs as they were; what other days add is tested by itself.
fn runs() -> CompareRequest {
    CompareRequest { runs: true, ..CompareRequest::default() }
}

fn against(first: &Observation, second: &Observation) -> Comparison {
    compare(&[group("a", &[first]), group("b", &[second])], &runs()).unwrap()
}

fn verdict(first: &Observation, second: &Observation) -> PairVerdict {
    against(first, second).primary().unwrap().pairs[0].verdict
}

#[test]
fn faster_slower_same_and_wide() {
    let (slow, fast) = (card("a", "1", &SLOW), card("b", "2", &FAST));
    let c = against(&slow, &fast);
    let pair = c.primary().unwrap().pairs[0];
    assert_eq!((pair.verdict, pair.first, pair.second, pair.n), (PairVerdict::Better, 0, 1, (3, 3)));
    assert!((pair.ratio - 1.1).abs() < 1e-3 && pair.low.unwrap() < 1.1 && pair.high.unwrap() > 1.1, "{pair:?}");
    assert_eq!(verdict(&fast, &slow), PairVerdict::Worse);
    assert_eq!(verdict(&slow, &card("c", "3", &[1001.0, 1002.0, 1003.0])), PairVerdict::Same);
    assert_eq!(verdict(&slow, &card("d", "4", &[900.0, 1000.0, 1200.0])), PairVerdict::CannotTell(WhyUnknown::Wide));
    assert_eq!(verdict(&slow, &card("e", "5", &[2000.0])), PairVerdict::CannotTell(WhyUnknown::SingleValue));
    let copies = |id: &str| card(id, id, &[1000.0, 1000.0, 1000.0]);
    assert_eq!(verdict(&copies("f"), &copies("g")), PairVerdict::CannotTell(WhyUnknown::NoSpread));
}

#[test]
fn less_latency_is_better() {
    let (slow, fast) = (card("a", "1", &SLOW), card("b", "2", &FAST));
    let request = CompareRequest { quantity: Some(Quantity::P50Ns), margin: 0.01, ..CompareRequest::default() };
    // The histogram is rounded: repeats need more than its 1 % between them to have any spread.
    let slow_wide = card("c", "1", &[970.0, 1000.0, 1030.0]);
    let fast_wide = card("d", "2", &[1900.0, 2000.0, 2100.0]);
    let c = compare(&[group("a", &[&slow_wide]), group("b", &[&fast_wide])], &request).unwrap();
    let load = c.primary().unwrap();
    assert!(!load.more_is_better);
    assert!(load.pairs[0].ratio < 0.6 && load.pairs[0].verdict == PairVerdict::Better, "{:?}", load.pairs);
    let request = CompareRequest { quantity: Some(Quantity::DurableBytesPerSecond), ..CompareRequest::default() };
    let c = compare(&[group("a", &[&slow]), group("b", &[&fast])], &request).unwrap();
    assert!(c.loads.is_empty() && c.excluded.len() == 2, "{c:?}");
    assert!(c.excluded[0].reason.to_string().contains("only writes"), "{}", c.excluded[0].reason);
}

#[test]
fn the_best_of_several_runs_bounds_from_above() {
    let (slow, fast) = (card("a", "1", &SLOW), card("b", "2", &FAST));
    let best = |r: &Observation| best_of(r.clone());
    // The faster one is the best of its runs: on average it may be the slower one.
    assert_eq!(verdict(&slow, &best(&fast)), PairVerdict::CannotTell(WhyUnknown::BestOf));
    assert_eq!(verdict(&best(&fast), &slow), PairVerdict::CannotTell(WhyUnknown::BestOf));
    assert_eq!(verdict(&slow, &best(&card("c", "3", &SLOW))), PairVerdict::CannotTell(WhyUnknown::BestOf));
    // The slower one is: on average it is slower still. Two of them are alike.
    assert_eq!(verdict(&best(&slow), &fast), PairVerdict::Better);
    assert_eq!(verdict(&best(&slow), &best(&fast)), PairVerdict::Better);
    // A script's limit is judged by the same rule.
    let limits = [GateLimit::parse("faster than 5%").unwrap()];
    let judged = |second: &Observation| {
        let groups = [group("a", &[&slow]), group("b", &[second])];
        let c = compare(&groups, &runs()).unwrap();
        gate(&groups, &runs(), &c, &limits, false).unwrap()
    };
    assert!(judged(&fast).failed() && !judged(&best(&fast)).failed());
    assert!(judged(&best(&fast)).unknown());
}

#[test]
fn the_bus_bounds_from_below() {
    let (slow, fast) = (card("a", "1", &SLOW), card("b", "2", &FAST));
    let held = |r: &Observation| bus_limited(r.clone());
    assert_eq!(verdict(&held(&slow), &held(&fast)), PairVerdict::BusTie);
    // The faster one is held: it is faster by at least this.
    let pair = against(&slow, &held(&fast)).loads[0].pairs[0];
    assert_eq!((pair.verdict, pair.at_least), (PairVerdict::Better, true));
    let pair = against(&held(&fast), &slow).loads[0].pairs[0];
    assert_eq!((pair.verdict, pair.at_least), (PairVerdict::Worse, true));
    // The slower one is held: its medium may be faster.
    assert_eq!(verdict(&held(&slow), &fast), PairVerdict::CannotTell(WhyUnknown::BusHides));
    assert_eq!(verdict(&fast, &held(&slow)), PairVerdict::CannotTell(WhyUnknown::BusHides));
    // As fast as one that is held: it may be faster.
    assert_eq!(verdict(&slow, &held(&card("c", "3", &SLOW))), PairVerdict::CannotTell(WhyUnknown::BusHides));
    // For latency, a figure that is limited by the bus is an upper bound.
    let request = CompareRequest { quantity: Some(Quantity::P99Ns), ..CompareRequest::default() };
    let slow = held(&card("d", "1", &[970.0, 1000.0, 1030.0]));
    let fast = card("e", "2", &[1900.0, 2000.0, 2100.0]);
    let c = compare(&[group("a", &[&slow]), group("b", &[&fast])], &request).unwrap();
    assert_eq!(c.loads[0].pairs[0].verdict, PairVerdict::CannotTell(WhyUnknown::BusHides));
}

#[test]
fn what_is_invalid_or_fake_wins_nothing() {
    let (slow, fast) = (card("a", "1", &SLOW), card("b", "2", &FAST));
    assert_eq!(verdict(&slow, &invalid(fast.clone())), PairVerdict::CannotTell(WhyUnknown::Invalid));
    assert_eq!(verdict(&invalid(slow.clone()), &fast), PairVerdict::CannotTell(WhyUnknown::Invalid));
    let c = against(&slow, &invalid(fast.clone()));
    assert!(
        c.notes
            .iter()
            .any(|n| matches!(n, Note::Doubtful { mark: Mark::Invalid, causes, .. } if causes[0].to_string().contains("2.00 %"))),
        "{:?}",
        c.notes
    );
    assert_eq!(verdict(&slow, &fake(fast.clone())), PairVerdict::CannotTell(WhyUnknown::Fake));
    assert_eq!(verdict(&fake(fast.clone()), &slow), PairVerdict::CannotTell(WhyUnknown::Fake));
    assert_eq!(verdict(&fake(slow.clone()), &fast), PairVerdict::Better, "it loses");
    // Said by a record from elsewhere without a finding.
    let mut said = fast.clone();
    said.validity.verdict = assay_core::finding::ValidityVerdict::Invalid;
    assert_eq!(verdict(&slow, &said), PairVerdict::CannotTell(WhyUnknown::Invalid));
}

#[test]
fn within_a_group_the_unsound_is_left_out_and_listed() {
    let (a, b, c) = (card("a", "1", &SLOW), card("b", "2", &FAST), invalid(card("c", "3", &FAST)));
    let d = fake(card("d", "4", &FAST));
    let all = compare(&[group("a", &[&a]), group("b", &[&b, &c, &d])], &runs()).unwrap();
    let load = all.primary().unwrap();
    assert_eq!((load.sides[1].basis, load.sides[1].values.len()), (GroupBasis::Repeats, 3));
    assert_eq!(load.pairs[0].verdict, PairVerdict::Better);
    let reasons: Vec<(&str, bool)> = all
        .excluded
        .iter()
        .map(|e| (e.record.as_str(), matches!(e.reason, Reason::Invalid { .. } | Reason::NotGenuine { .. })))
        .collect();
    assert_eq!(reasons, [("c", true), ("d", true)]);
}

#[test]
fn values_are_repeats_runs_or_units() {
    let runs = [card("a", "1", &[90.0, 110.0]), card("b", "1", &[100.0, 100.0]), card("c", "2", &[200.0, 200.0])];
    let other = card("x", "9", &SLOW);
    let side = |records: &[&Observation]| {
        let c = compare(&[group("a", records), group("x", &[&other])], &CompareRequest::default()).unwrap();
        (c.loads[0].sides[0].clone(), c)
    };
    assert_eq!(side(&[&runs[0]]).0.basis, GroupBasis::Repeats);
    let (one, c) = side(&[&runs[0], &runs[1]]);
    assert_eq!((one.basis, one.values.len(), one.runs.len()), (GroupBasis::Runs, 2, 2));
    // What another day may change is in the interval: it needs no note.
    assert!(c.loads[0].pairs[0].days.is_some() && c.notes.iter().all(|n| !matches!(n, Note::OneRun { .. })), "{c:?}");
    let (two, _) = side(&[&runs[0], &runs[1], &runs[2]]);
    assert_eq!((two.basis, two.values.len(), two.runs.len()), (GroupBasis::Units, 2, 3));
    // sqrt(sqrt(90 * 110) * 100) and 200, by hand.
    assert!((two.values[0] - 99.7491).abs() < 1e-3 && (two.values[1] - 200.0).abs() < 1e-9, "{:?}", two.values);
    assert_eq!(two.runs[0].points, [90.0, 110.0]);
    // 19 943.6 over all: e^(mean of logarithms), n = 2.
    let estimate = two.estimate.unwrap();
    assert!((estimate.point - (99.7491f64 * 200.0).sqrt()).abs() < 1e-3 && estimate.n == 2, "{estimate:?}");
}

#[test]
fn several_groups_hold_together() {
    let cards = [card("a", "1", &SLOW), card("b", "2", &FAST), card("c", "3", &SLOW), card("d", "4", &SLOW)];
    let groups = [group("a", &[&cards[0]]), group("b", &[&cards[1]]), group("c", &[&cards[2]])];
    let load = compare(&groups, &runs()).unwrap().loads.remove(0);
    assert_eq!((load.method, load.pairs.len()), (Method::Simultaneous, 3));
    let said: Vec<PairVerdict> = load.pairs.iter().map(|p| p.verdict).collect();
    assert_eq!(said, [PairVerdict::Better, PairVerdict::Same, PairVerdict::Worse]);
    let mixed = [group("a", &[&cards[0]]), group("b", &[&cards[1]]), group("c", &[&cards[2], &cards[3]])];
    let load = compare(&mixed, &runs()).unwrap().loads.remove(0);
    assert_eq!((load.method, load.sides[2].basis), (Method::WelchBonferroni, GroupBasis::Units));
    // The interval of two alone is narrower.
    let alone = against(&cards[0], &cards[1]).loads[0].pairs[0];
    assert!(load.pairs[0].low.unwrap() < alone.low.unwrap(), "{:?} {alone:?}", load.pairs[0]);
}

#[test]
fn what_is_not_compared_is_listed_with_the_reason() {
    let sizes = |id: &str, blocks: &[(u64, u32)]| {
        let all = blocks
            .iter()
            .map(|(block, depth)| measured(workload(Op::Read, Pattern::Random, *block, *depth), &SLOW))
            .collect();
        record(id, "Card", id, all)
    };
    let a = sizes("a", &[(4096, 1), (4096, 32), (16384, 1)]);
    let mut b = sizes("b", &[(4096, 1), (65536, 1)]);
    b.measurements.push(measured(workload(Op::Write, Pattern::Sequential, 1 << 20, 1), &SLOW));
    b.measurements.push(measured(workload(Op::Read, Pattern::Random, 16384, 1), &[]));
    let c = against(&a, &b);
    assert_eq!(c.loads.len(), 1);
    let words: Vec<String> = c
        .excluded
        .iter()
        .map(|e| format!("{} {} {}", e.record, e.load.as_deref().unwrap_or_default(), e.reason))
        .collect();
    for expected in [
        "b random read 4 KiB, QD32 not measured at this depth, but at QD1",
        "b random read 16 KiB no figure: the run ended before it",
        "a random read 64 KiB not measured at this block size, but at 4 KiB, 16 KiB",
        "a sequential write 1 MiB not measured",
    ] {
        assert!(words.contains(&expected.to_owned()), "{expected}: {words:#?}");
    }
}

#[test]
fn zero_and_no_number_are_left_out_in_words() {
    let good = card("a", "1", &SLOW);
    let c = against(&good, &card("b", "2", &[1100.0, f64::NAN, 0.0, 1101.0, -3.0]));
    let load = c.primary().unwrap();
    assert_eq!(load.sides[1].values, [1100.0, 1101.0]);
    let words: Vec<String> = c.excluded.iter().map(|e| e.reason.to_string()).collect();
    assert_eq!(words.len(), 3, "{words:?}");
    assert!(words[0].contains("NaN") && words[1].contains(" 0:") && words[2].contains("-3"), "{words:?}");
    let c = against(&good, &card("b", "2", &[f64::INFINITY, f64::NAN]));
    assert!(c.loads.is_empty() && c.excluded.len() == 2 && c.primary().is_none());
    let mut cut = card("b", "2", &[1100.0, 1101.0, 1102.0]);
    cut.measurements[0].repeats[1].outcome = Outcome::Running;
    assert!(matches!(against(&good, &cut).excluded[0].reason, Reason::Repeats { left_out: 1, of: 3 }));
}

#[test]
fn the_primary_load_is_chosen_by_kind_or_by_name() {
    let all = |id: &str| {
        let kinds = [
            (Op::Read, Pattern::Sequential, 1 << 20, 8),
            (Op::Read, Pattern::Random, 4096, 1),
            (Op::Read, Pattern::Random, 4096, 32),
            (Op::Read, Pattern::Random, 65536, 64),
            (Op::Write, Pattern::Random, 4096, 64),
        ];
        record(id, "Card", id, kinds.into_iter().map(|(o, p, b, q)| measured(workload(o, p, b, q), &SLOW)).collect())
    };
    let (a, b) = (all("a"), all("b"));
    let asked = |primary: Option<&str>| {
        let request = CompareRequest { primary: primary.map(str::to_owned), ..CompareRequest::default() };
        compare(&[group("a", &[&a]), group("b", &[&b])], &request)
            .map(|c| (c.primary().unwrap().title.clone(), c.loads.iter().filter(|l| l.primary).count()))
    };
    assert_eq!(asked(None).unwrap(), ("random read 4 KiB".to_owned(), 1));
    assert_eq!(asked(Some("Random read 4KiB QD32")).unwrap().0, "random read 4 KiB, QD32");
    assert_eq!(asked(Some("random read 4 KiB")).unwrap().0, "random read 4 KiB", "exactly this one");
    assert_eq!(asked(Some("sequential")).unwrap().0, "sequential read 1 MiB, QD8");
    assert_eq!(asked(Some("random")).unwrap().0, "random read 4 KiB", "the usual one of several");
    assert_eq!(asked(Some("w-4096-64")).unwrap().0, "random write 4 KiB, QD64");
    for bad in ["mixed", "", "?"] {
        let error = asked(Some(bad)).unwrap_err();
        assert!(matches!(&error, CompareError::Primary(_)), "{bad}: {error}");
        assert!(error.to_string().contains("random write 4 KiB, QD64"), "{error}");
    }
}

#[test]
fn nuisances_are_told() {
    let a = card("a", "1", &SLOW);
    assert_eq!(against(&a, &card("b", "2", &SLOW)).notes, [Note::OneRun { groups: vec![0, 1] }]);
    let mut b = card("b", "1", &SLOW);
    b.host.hostname = Some("node2".to_owned());
    b.suite.version = 2;
    b.tool.version = "0.2.0".to_owned();
    b.labels.insert("slot".to_owned(), "7".to_owned());
    b.outcome = Outcome::Running;
    let mut a = a;
    a.labels.insert("slot".to_owned(), "3".to_owned());
    let words: Vec<String> = against(&a, &b).notes.iter().map(ToString::to_string).collect();
    for part in [
        "different hosts",
        "A quick 1; B quick 2",
        "A 3; B 7",
        "0.2.0",
        "Card · unit 1 is in two groups",
        "run b still",
    ] {
        assert!(words.iter().any(|w| w.contains(part)), "{part}: {words:#?}");
    }
    let unknown = [card("c", "", &SLOW), card("d", "", &SLOW), record("e", "Other", "", Vec::new())];
    let c = compare(&[group("a", &[&a]), group("u", &unknown.iter().collect::<Vec<_>>())], &CompareRequest::default())
        .unwrap();
    assert!(c.notes.contains(&Note::UnknownUnits { group: 1, records: 3 }), "{:?}", c.notes);
    assert!(c.notes.contains(&Note::SeveralModels { group: 1, models: 2 }));
}

/// A card that was not mounted leaves a record of the system disk under the label of the card.
#[test]
fn one_unit_of_two_capacities_is_named() {
    let of = |id: &str, unit: &str, bytes: u64| {
        let mut record = card(id, unit, &SLOW);
        record.medium.capacity_bytes = Some(bytes);
        record
    };
    let (a, b) = (of("a", "1", 32_000_000_000), of("b", "1", 275_000_000_000));
    let c = of("c", "2", 32_000_000_000);
    let found = compare(&[group("a", &[&a, &b]), group("c", &[&c])], &CompareRequest::default()).unwrap();
    let note = found.notes.iter().map(ToString::to_string).find(|note| note.starts_with("records of"));
    assert_eq!(
        note.as_deref(),
        Some(
            "records of Card · unit 1 are of media of 32.0 GB to 275 GB, so not of one unit: correct their labels (assay \
             label), or remove them (assay rm)"
        )
    );
    let found = compare(&[group("a", &[&a]), group("c", &[&c])], &CompareRequest::default()).unwrap();
    assert!(!found.notes.iter().any(|note| matches!(note, Note::SeveralMedia { .. })), "{:?}", found.notes);
}

/// A difference in the completions awaited at once, the processors, or polling does not make another load. The figures
/// are compared, and a note tells the reader of the difference.
#[test]
fn loads_that_were_done_in_different_manners_are_named() {
    let (a, mut b) = (card("a", "1", &SLOW), card("b", "2", &SLOW));
    let notes_of = |a: &Observation, b: &Observation| {
        let compared = against(a, b);
        assert_eq!(compared.loads.len(), 1, "the figures are compared");
        compared.notes.into_iter().filter(|note| matches!(note, Note::Manners { .. })).collect::<Vec<_>>()
    };
    assert_eq!(notes_of(&a, &b), []);
    b.measurements[0].batching =
        Some(Box::new(Batching { wait_for: 8, tried: 8, iops_ratio: 1.1, p50_ratio: None, p99_ratio: None }));
    let notes = notes_of(&a, &b);
    assert_eq!(
        notes[0].to_string(),
        "run with different settings, which may change figures: random read 4 KiB: A waits for one completion at a time; B \
         waits for 8 completions at once"
    );
    b.measurements[0].batching = None;
    b.measurements[0].workload.cpus = Cpus::parse("0-1").unwrap();
    assert!(
        notes_of(&a, &b)[0]
            .to_string()
            .ends_with("B waits for one completion at a time, one processor a thread of 0-1")
    );
    b.measurements[0].workload.cpus = Cpus::default();
    b.measurements[0].workload.poll = true;
    assert!(notes_of(&a, &b)[0].to_string().ends_with(", completions polled"));
    // The way an imported figure was measured is unknown.
    b.origin = ObservedOrigin::Imported(Source::default());
    assert_eq!(notes_of(&a, &b), []);
}

#[test]
fn published_figures_are_compared_as_units() {
    let published = crate::published("sandisk-ultra-a1").unwrap();
    let mut w = random_read();
    w.jobs = 4;
    let mine = record("a", "Card", "1", vec![measured(w, &SLOW)]);
    let units: Vec<&Observation> = published.iter().collect();
    let c = compare(&[group("mine", &[&mine]), group("published", &units)], &CompareRequest::default()).unwrap();
    let load = c.primary().unwrap();
    assert_eq!((load.sides[1].basis, load.sides[1].values.len()), (GroupBasis::Units, 3));
    assert_eq!(load.pairs[0].verdict, PairVerdict::Better);
    assert!(c.notes.contains(&Note::Published { groups: vec![1] }));
    let one = compare(&[group("mine", &[&mine]), group("one", &units[..1])], &CompareRequest::default()).unwrap();
    let pair = one.primary().unwrap().pairs[0];
    assert_eq!((pair.verdict, pair.question), (PairVerdict::CannotTell(WhyUnknown::OneUnit), PairQuestion::Specimens));
    assert!(pair.ratio > 1.5 && pair.low.unwrap() < 1.0, "{pair:?}");
}

#[test]
fn groups_that_cannot_be_compared_are_refused_in_words() {
    let (a, b) = (card("a", "1", &SLOW), card("b", "2", &SLOW));
    let refused =
        |groups: &[RecordGroup<'_>], request: &CompareRequest| compare(groups, request).unwrap_err().to_string();
    let usual = CompareRequest::default();
    assert!(refused(&[group("x", &[&a, &b])], &usual).contains("one group is not enough"));
    assert!(refused(&[], &usual).contains("no group"));
    let twice = refused(&[group("x", &[&a]), group("y", &[&b, &a])], &usual);
    assert!(twice.contains("record a is in `x` and in `y`"), "{twice}");
    let many: Vec<Observation> = (0..27).map(|n| card(&n.to_string(), &n.to_string(), &SLOW)).collect();
    assert!(refused(&split(&[many], By::Record), &usual).contains("27 groups"));
    let both = [group("x", &[&a]), group("y", &[&b])];
    for (margin, level) in [(-0.1, 0.95), (f64::NAN, 0.95), (0.03, 0.0), (0.03, 1.0), (0.03, f64::NAN)] {
        assert!(refused(&both, &CompareRequest { margin, level, ..usual.clone() }).contains("has to be"));
    }
}

#[test]
fn records_are_split_by_what_they_are() {
    let records = [
        vec![card("a", "1", &SLOW), card("b", "2", &SLOW)],
        vec![card("a", "1", &SLOW), card("c", "1", &SLOW), record("d", "Other", "1", vec![])],
    ];
    let names = |by| {
        let groups = split(&records, by);
        groups.iter().map(|g| format!("{}={}", g.name, g.records.len())).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names(By::Record), "a=1 b=1 c=1 d=1");
    assert_eq!(names(By::Unit), "Card · unit 1=2 Card · unit 2=1 Other · unit 1=1");
    assert_eq!(names(By::Model), "Card=3 Other=1");
}

fn until_known(until_known: bool) -> ObservedOrigin {
    ObservedOrigin::Run { until_known, suite_text: None }
}

#[test]
fn only_repeats_that_end_when_their_interval_is_narrow_make_intervals_wider() {
    let fast = card("b", "2", &FAST);
    let slow = |id: &str, known| Observation { origin: until_known(known), ..card(id, id, &SLOW) };
    assert!(!against(&slow("a", false), &fast).loads[0].widened);
    assert!(against(&slow("a", true), &fast).loads[0].widened);
    let units = [slow("a", true), slow("c", true)];
    let c = compare(&[group("a", &[&units[0], &units[1]]), group("b", &[&fast])], &CompareRequest::default()).unwrap();
    assert!(!c.loads[0].widened, "means of units do not depend on when the repeats ended");
}

/// A group shows of a record what the record's own card shows.
#[test]
fn the_interval_of_repeats_that_ended_when_they_agreed_is_that_of_their_record() {
    let values = [970.0, 1000.0, 1030.0];
    let shown = |known| {
        let card = Observation { origin: until_known(known), ..card("a", "1", &values) };
        let estimate = against(&card, &self::card("b", "2", &FAST)).loads[0].sides[0].estimate.clone().unwrap();
        (estimate.low.unwrap(), estimate.high.unwrap())
    };
    let own = |estimate: Option<assay_core::estimate::Estimate>| {
        let estimate = estimate.unwrap();
        (estimate.low.unwrap(), estimate.high.unwrap())
    };
    let near = |(a, b): (f64, f64), (c, d): (f64, f64)| (a / c - 1.0).abs() < 1e-12 && (b / d - 1.0).abs() < 1e-12;
    assert!(near(shown(false), own(assay_stats::geometric(&values))));
    assert!(near(shown(true), own(assay_stats::geometric_until_known(&values))), "{:?}", shown(true));
}

/// Repeats as `--confidence` makes them: at least 3 and at most 10, until the interval is narrow enough.
fn repeats(dice: &mut Generator, mean: f64, noise: f64, wish: f64) -> Vec<f64> {
    let mut values: Vec<f64> = Vec::new();
    while values.len() < 10 {
        values.push(mean * (noise * dice.normal()).exp());
        let width = assay_stats::geometric_until_known(&values).and_then(|e| e.relative_half_width());
        if values.len() >= 3 && width.is_some_and(|w| w <= wish) {
            break;
        }
    }
    values
}

/// Share of pairs of cards that are called different, where the second card is `ratio` times as fast.
fn called_different(dice: &mut Generator, ratio: f64, noise: f64, wish: f64, margin: f64, of: u32) -> f64 {
    let request = CompareRequest { margin, ..runs() };
    let mut measured = |id: &str, mean: f64| Observation {
        origin: until_known(true),
        ..card(id, id, &repeats(dice, mean, noise, wish))
    };
    let mut different = 0;
    for _ in 0..of {
        let (a, b) = (measured("a", 1000.0), measured("b", 1000.0 * ratio));
        let c = compare(&[group("a", &[&a]), group("b", &[&b])], &request).unwrap();
        different +=
            u32::from(matches!(c.primary().unwrap().pairs[0].verdict, PairVerdict::Better | PairVerdict::Worse));
    }
    f64::from(different) / f64::from(of)
}

#[test]
fn equal_cards_are_not_called_different_in_more_than_5_of_100() {
    // One standard error of 2000 at 5 % is 0.0049. Without a margin, every significant difference counts. Noise as
    // large as the requested width is the worst case of the rule that ends repeats.
    let mut dice = Generator::new(11);
    for (noise, wish, margin) in [(0.01, 0.01, 0.0), (0.01, 0.01, 0.03), (0.02, 0.02, 0.03), (0.05, 0.05, 0.03)] {
        let share = called_different(&mut dice, 1.0, noise, wish, margin, 2000);
        assert!(share <= 0.05 + 2.0 * 0.0049, "{noise} {wish} {margin}: {share}");
        eprintln!("noise {noise}, asked for {wish}, margin {margin}: {share} called different");
    }
}

#[test]
fn five_percent_is_told_apart() {
    let share = called_different(&mut Generator::new(12), 1.05, 0.01, 0.01, 0.03, 1000);
    assert!(share >= 0.95, "{share}");
    eprintln!("5 % seen in {share}");
}

#[test]
fn a_unit_stands_against_others_of_its_model_by_how_they_differ() {
    let cards: Vec<Observation> = [1000.0, 1050.0, 950.0, 1020.0]
        .iter()
        .enumerate()
        .map(|(n, v)| card(&n.to_string(), &n.to_string(), &[*v, v * 1.001]))
        .collect();
    let all: Vec<&Observation> = cards.iter().collect();
    let of = |value: f64| {
        let one = card("x", "x", &[value, value * 1.001]);
        compare(&[group("all", &all), group("one", &[&one])], &CompareRequest::default())
            .unwrap()
            .primary()
            .unwrap()
            .pairs[0]
    };
    assert_eq!(
        (of(900.0).question, of(900.0).verdict),
        (PairQuestion::UnitAgainstOthers, PairVerdict::CannotTell(WhyUnknown::Wide))
    );
    let slow = of(500.0);
    assert_eq!((slow.verdict, slow.n), (PairVerdict::Worse, (4, 1)));
    // t with three degrees of freedom, spread of the logarithms, one further unit.
    let logs: Vec<f64> =
        cards.iter().map(|c| c.measurements[0].repeats.iter().map(|r| r.iops.ln()).sum::<f64>() / 2.0).collect();
    let mean = logs.iter().sum::<f64>() / 4.0;
    let s = (logs.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / 3.0).sqrt();
    let half = (slow.high.unwrap() / slow.low.unwrap()).ln() / 2.0;
    assert!((half - 3.18245 * s * 1.25f64.sqrt()).abs() < 1e-4, "{half}");
}

#[test]
fn the_same_units_on_two_hosts_are_compared_each_with_itself() {
    let on = |host: &str, factor: f64, sitting: bool| -> Vec<Observation> {
        // Units that differ by a factor of five.
        let one = |unit: usize| {
            let value = 1000.0 * (1 + unit) as f64 * factor * (1.0 + 0.002 * unit as f64);
            let mut record = card(&format!("{host}{unit}"), &unit.to_string(), &[value, value * 1.001]);
            record.host.hostname = Some(host.to_owned());
            record.created = format!("2026-01-{:02}T03:04:05Z", if sitting { 1 } else { unit + 1 });
            record
        };
        (0..5).map(one).collect()
    };
    // All cards at each host in one sitting: what that day takes from all of them is in the difference.
    let (a, b) = (on("node1", 1.0, true), on("node2", 1.05, true));
    let (a, b): (Vec<&Observation>, Vec<&Observation>) = (a.iter().collect(), b.iter().collect());
    let c = compare(&[group("a", &a), group("b", &b)], &CompareRequest::default()).unwrap();
    let pair = c.primary().unwrap().pairs[0];
    assert_eq!((pair.verdict, pair.needed), (PairVerdict::CannotTell(WhyUnknown::OwnDays), None), "{pair:?}");
    let (a, b) = (on("node1", 1.0, false), on("node2", 1.05, false));
    let (a, mut b): (Vec<&Observation>, Vec<&Observation>) = (a.iter().collect(), b.iter().collect());
    let mut noisy = card("n", "2", &[3200.0, 3201.0]);
    (noisy.host.hostname, noisy.created) = (Some("node2".to_owned()), "2026-01-03T03:04:05Z".to_owned());
    b[2] = &noisy;
    let c = compare(&[group("a", &a), group("b", &b)], &CompareRequest::default()).unwrap();
    let pair = c.primary().unwrap().pairs[0];
    assert_eq!((pair.question, pair.verdict), (PairQuestion::SameUnits, PairVerdict::Better), "{pair:?}");
    assert!((1.02..1.08).contains(&pair.ratio), "{pair:?}");
}

#[test]
fn models_of_one_unit_differ_only_where_units_hardly_can() {
    let other = |v: f64| record("o", "Other", "1", vec![measured(random_read(), &[v, v * 1.001, v * 0.999])]);
    let mine = card("a", "1", &SLOW);
    let of = |v: f64| {
        let other = other(v);
        compare(&[group("a", &[&mine]), group("b", &[&other])], &CompareRequest::default())
            .unwrap()
            .primary()
            .unwrap()
            .pairs[0]
    };
    assert_eq!(
        (of(1500.0).question, of(1500.0).verdict),
        (PairQuestion::Specimens, PairVerdict::CannotTell(WhyUnknown::OneUnit))
    );
    assert_eq!(of(1000.0).verdict, PairVerdict::CannotTell(WhyUnknown::OneUnit), "nor are they the same");
    assert_eq!(of(5000.0).verdict, PairVerdict::Better);
}

/// Five logs of one disk are not five media: 64 of 100 such pairs were called different.
#[test]
fn logs_without_a_name_are_of_media_that_nobody_knows() {
    let log = |id: &str, iops: f64| {
        let mut record = record(id, "", "", vec![measured(random_read(), &[iops, iops * 1.001])]);
        record.labels.clear();
        let source = Source { format: "dd".to_owned(), ..Source::default() };
        record.origin = ObservedOrigin::Imported(source);
        record
    };
    let of = |prefix: &str, level: f64, n: usize| -> Vec<Observation> {
        (0..n).map(|at| log(&format!("{prefix}{at}"), level * (1.0 + 0.001 * at as f64))).collect()
    };
    let verdict = |a: &[Observation], b: &[Observation]| {
        let (a, b): (Vec<&Observation>, Vec<&Observation>) = (a.iter().collect(), b.iter().collect());
        let c = compare(&[group("a", &a), group("b", &b)], &CompareRequest::default()).unwrap();
        c.primary().unwrap().pairs[0].verdict
    };
    let unknown = PairVerdict::CannotTell(WhyUnknown::UnknownMedia);
    assert_eq!(verdict(&of("a", 1000.0, 5), &of("b", 1050.0, 5)), unknown);
    assert_ne!(verdict(&of("a", 1000.0, 1), &of("b", 1050.0, 1)), unknown, "one record is one medium");
}

/// Which of my two cards is better? The question is about the cards, and not about their models.
#[test]
fn two_cards_of_different_models_are_compared_as_cards() {
    let mine = card("a", "1", &[459.0, 460.0, 461.0]);
    let of = |v: f64, units: bool, runs: bool| {
        let other = record("o", "Other", "1", vec![measured(random_read(), &[v * 0.999, v, v * 1.001])]);
        let request = CompareRequest { units, runs, ..CompareRequest::default() };
        compare(&[group("a", &[&mine]), group("b", &[&other])], &request).unwrap().primary().unwrap().pairs[0]
    };
    let pair = of(300.0, true, false);
    assert_eq!((pair.question, pair.verdict), (PairQuestion::Units, PairVerdict::Worse), "{pair:?}");
    let (low, high) = pair.models.unwrap();
    assert!(low < 1.0 && high > 1.0, "their models are another question: {pair:?}");
    assert!(of(100.0, true, false).models.unwrap().1 < 1.0);
    // Two runs of one unit that differ by a factor of twenty say as little of its model as of itself.
    let wild =
        [1620.0, 36_800.0].map(|v| record("w", "Wild", "1", vec![measured(random_read(), &[v * 0.999, v, v * 1.001])]));
    for units in [true, false] {
        let request = CompareRequest { units, ..CompareRequest::default() };
        let c = compare(&[group("w", &[&wild[0], &wild[1]]), group("a", &[&mine])], &request).unwrap();
        let pair = c.primary().unwrap().pairs[0];
        assert!(matches!(pair.verdict, PairVerdict::CannotTell(_)), "{units}: {pair:?}");
    }
    assert_eq!(of(300.0, false, false).question, PairQuestion::Specimens, "--by model");
    let one = record("p", "Third", "1", vec![measured(random_read(), &[4600.0])]);
    let request = CompareRequest { units: true, ..CompareRequest::default() };
    let c = compare(&[group("a", &[&mine]), group("p", &[&one])], &request).unwrap();
    let pair = c.primary().unwrap().pairs[0];
    assert_eq!(
        (pair.question, pair.verdict),
        (PairQuestion::Specimens, PairVerdict::Better),
        "one value is judged as before"
    );
    // Compared as runs, regardless of what they measured: they can be called the same.
    let runs = of(460.0, false, true);
    assert_eq!((runs.question, runs.verdict, runs.models), (PairQuestion::Runs, PairVerdict::Same, None));
}

/// One node failed before the second run. The four others are compared, each with itself.
#[test]
fn units_of_both_groups_are_paired_and_others_are_named() {
    let of = |run: &str, nodes: &[(usize, f64)]| -> Vec<Observation> {
        let one = |(node, value): &(usize, f64)| {
            card(&format!("{run}{node}"), &format!("node{node}"), &[value * 0.999, *value, value * 1.001])
        };
        nodes.iter().map(one).collect()
    };
    let before = of("r1", &[(1, 1000.0), (2, 2000.0), (3, 1500.0), (4, 1200.0), (5, 300.0)]);
    let after = of("r2", &[(1, 1001.0), (2, 2002.0), (3, 1499.0), (4, 1201.0)]);
    let (before, after): (Vec<&Observation>, Vec<&Observation>) = (before.iter().collect(), after.iter().collect());
    for (first, second) in [(&before, &after), (&after, &before)] {
        let c = compare(&[group("a", first), group("b", second)], &CompareRequest::default()).unwrap();
        let pair = c.primary().unwrap().pairs[0];
        assert_eq!((pair.question, pair.n), (PairQuestion::SameUnits, (4, 4)));
        assert!((pair.ratio - 1.0).abs() < 0.002, "{pair:?}");
        let left: Vec<(&str, String)> =
            c.excluded.iter().map(|left| (left.record.as_str(), left.reason.to_string())).collect();
        assert_eq!(left.len(), 1, "{left:?}");
        assert!(left[0].0 == "r15" && left[0].1.contains("only in one of the two groups"), "{left:?}");
    }
    // One unit in common is no pairing: the groups are compared as groups.
    let c =
        compare(&[group("a", &before[..3]), group("b", &[after[2], after[3]])], &CompareRequest::default()).unwrap();
    assert_eq!((c.primary().unwrap().pairs[0].n, c.excluded.len()), ((3, 2), 0));
}
