//! The arithmetic of published figures, through records: central volumes and caches.

use assay_core::cluster::{ClusterPart, CommonStart};
use assay_core::finding::Finding;
use assay_core::observation::Observation;
use assay_core::outcome::Outcome;
use assay_core::workload::{Op, Pattern, Sync, Workload};

use super::samples::{around, broken, card, fake, invalid, published_cards, record, with, work};
use super::{
    CacheQuestion, CacheUnknown, CacheUse, CacheWarning, CacheWord, ClassStatus, Even, HitSource, Link, LogWord,
    NasQuestion, NasVerdict, Need, Term, cache, class, nas,
};
use crate::published;

fn gigabit(link: Link) -> NasQuestion {
    NasQuestion::for_nodes(28, link)
}

#[test]
fn a_gigabit_over_28_nodes_and_the_six_cards() {
    let line = NasQuestion { load: Some("random read 4 KiB, 4 jobs".to_owned()), ..gigabit(Link::Line(125e6)) };
    for card in published_cards() {
        let found = nas(std::slice::from_ref(&card), &[], &line).unwrap();
        assert!((found.line_share.unwrap() / 1e6 - 4.464_286).abs() < 1e-5);
        assert!((found.payload_share / 1e6 - 4.203).abs() < 5e-4);
        let row = &found.models[0].rows[0];
        // The slowest of them reads 5.047 MB/s: all are above a share of the line.
        assert!(row.local.value > found.line_share.unwrap(), "{}", card.id);
        // One value may be as far off as units are: 42 % at 95 % to one side, beside the margin of 10 %.
        let far = row.ratio > 1.1 * 1.43;
        let expected = if far { NasVerdict::Local } else { NasVerdict::CannotTell(Need::Repeats) };
        assert_eq!((row.limit, row.verdict), (Term::Wire, expected), "{}: {}", card.id, row.ratio);
        assert_eq!((row.probability.is_some(), row.local.n), (far, 1));
        assert!(found.excluded.is_empty(), "it has other loads too: {:?}", found.excluded);
    }
    let slowest = published("samsung-evo-plus-64gb/ca").unwrap();
    let payload = NasQuestion { load: line.load.clone(), ..gigabit(Link::Payload(125e6)) };
    let found = nas(&slowest, &[], &payload).unwrap();
    let Even::Nodes(nodes) = found.models[0].rows[0].break_even else { panic!() };
    assert!((nodes - 125e6 / (4929.0 * 1024.0)).abs() < 1e-9 && found.line_share.is_none());
}

#[test]
fn break_even_at_125_megabytes() {
    for (rate, nodes) in [(4.929e6, 25.36), (3.9e6, 32.05), (7368.67 * 1024.0, 16.57), (11.704e6, 10.68)] {
        let local = [card("Card", "1", &[rate / 4096.0])];
        let found = nas(&local, &[], &gigabit(Link::Payload(125e6))).unwrap();
        let Even::Nodes(even) = found.models[0].rows[0].break_even else { panic!() };
        assert!((even - nodes).abs() < 0.005, "{rate}: {even}");
    }
}

#[test]
fn a_measured_volume_limits_by_its_best_rate_and_its_operations() {
    let local = published("sdcard-sandisk-ultra-32gb").unwrap();
    let volume = published("iscsi-pi-target-with-ssd").unwrap();
    let found = nas(&local, &volume, &gigabit(Link::Line(125e6))).unwrap();
    let row = |title: &str| found.models[0].rows.iter().find(|r| r.title == title).unwrap().clone();
    // 71.46 MiB/s over 28 nodes are 2.552 MiB/s.
    let stream = row("sequential read 2 MiB");
    assert_eq!(stream.limit, Term::BestRate);
    assert!((stream.share_bytes_per_second / 1_048_576.0 - 2.552).abs() < 5e-4);
    // 5104 IOPS with 64 in flight are the most that one client measured.
    let random = row("random read 4 KiB");
    assert_eq!(random.limit, Term::Volume);
    assert!((random.share_bytes_per_second - 5104.0 * 4096.0 / 28.0).abs() < 1.0);
    // One node alone gets 6.3 MB/s, and the card reads 7.5.
    assert_eq!(random.break_even, Even::Always);
    let alone = nas(&local, &volume, &NasQuestion { nodes: 1, ..gigabit(Link::Line(125e6)) }).unwrap();
    let random = alone.models[0].rows.iter().find(|r| r.title == "random read 4 KiB").unwrap().clone();
    assert_eq!(random.limit, Term::Alone);
    assert!((random.share_bytes_per_second / 6_325_248.0 - 1.0).abs() < 1e-9);
}

/// A record of a node among `nodes` nodes, which run in groups of `at_a_time`.
fn of_node(record: Observation, nodes: u32, at_a_time: u32) -> Observation {
    let mode = if at_a_time < nodes { "staggered" } else { "simultaneous" }.to_owned();
    let (run, node) = ("r1".to_owned(), record.labels["unit"].clone());
    let part = ClusterPart { run, node, attempt: 1, nodes, mode, at_a_time, clock: None, lost: None, settled: None };
    let mut record = Observation { cluster: Some(Box::new(part)), ..record };
    for (repeat, number) in record.measurements.iter_mut().flat_map(|m| &mut m.repeats).zip(1..) {
        let planned_ns = 60_000_000_000 * number;
        let start = CommonStart { planned_ns, began_ns: planned_ns, bound_ns: Some(1_000_000), nodes };
        repeat.common_start = Some(Box::new(start));
    }
    record
}

/// Sequential reads of 1 MB blocks from a volume, at `mb` megabytes per second.
fn stream(model: &str, unit: &str, mb: f64) -> Observation {
    with(record(model, unit), work(Op::Read, Pattern::Sequential, (1_000_000, 8, 1)), &around(mb))
}

/// Simultaneous records of several nodes, with one rate for each node.
fn shares(rates: &[f64]) -> Vec<Observation> {
    let nodes = rates.len() as u32;
    (1..).zip(rates).map(|(n, rate)| of_node(stream("NAS", &n.to_string(), *rate), nodes, nodes)).collect()
}

/// Compares a card of `card` megabytes per second with the volume, behind a wire of 12.5 MB/s.
fn beside(card: f64, volume: &[Observation], nodes: u32) -> super::NasAdvice {
    let question = NasQuestion { nodes, ..gigabit(Link::Payload(12.5e6)) };
    nas(&[stream("Card", "1", card)], volume, &question).unwrap()
}

#[test]
fn what_nodes_got_at_once_is_not_divided_again() {
    let row = |card: f64, volume: &[Observation], nodes: u32| beside(card, volume, nodes).models[0].rows[0].clone();
    // 7 nodes got 1.6 MB/s each: 11.2 MB/s in sum, of a wire of 12.5.
    let seven = shares(&[1.6; 7]);
    for (nodes, share) in [(7, 1.6), (28, 0.4), (2, 5.6)] {
        let found = row(4.0, &seven, nodes);
        assert!((found.share_bytes_per_second / 1e6 / share - 1.0).abs() < 1e-3, "{nodes}: {found:?}");
        assert_eq!(found.limit, Term::Together);
        let Even::Nodes(even) = found.break_even else { panic!("{found:?}") };
        assert!((even - 11.2 / 4.0).abs() < 0.01, "{even}");
    }
    assert_eq!(row(4.0, &seven, 7).verdict, NasVerdict::Local);
    // More get what the wire carries at most, 0.45 MB/s each; fewer between 1.6 and 5.6.
    assert_eq!(row(4.0, &seven, 28).verdict, NasVerdict::Local);
    assert_eq!(row(0.52, &seven, 28).verdict, NasVerdict::CannotTell(Need::Volume));
    assert_eq!(row(4.0, &seven, 2).verdict, NasVerdict::CannotTell(Need::Volume));
    assert_eq!(row(1.2, &seven, 2).verdict, NasVerdict::Nas);
    assert_eq!(row(9.0, &seven, 2).verdict, NasVerdict::Local);

    // One client alone gets 5 MB/s and not more: two nodes get that each at most.
    let both = [seven.clone(), vec![stream("NAS", "0", 5.0)]].concat();
    let found = row(4.0, &both, 2);
    assert!((found.share_bytes_per_second / 5e6 - 1.0).abs() < 1e-3 && found.limit == Term::Alone, "{found:?}");
    // One client alone had more than two nodes: 28 get at least that together.
    let two = [shares(&[1.0; 2]), vec![stream("NAS", "0", 6.0)]].concat();
    let found = row(0.3, &two, 28);
    assert!(found.limit == Term::BestRate && found.verdict != NasVerdict::Local, "{found:?}");
}

#[test]
fn nodes_of_one_run_are_one_measurement_of_the_volume() {
    let figure = |volume: &[Observation]| {
        let nodes = volume.len() as u32;
        let row = beside(4.0, volume, nodes).models[0].rows[0].clone();
        row.volume.unwrap().together.unwrap().share
    };
    // Unequal shares: the sum is that of what each got.
    let uneven = figure(&shares(&[0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 8.2]));
    assert!((uneven.value / 1.6e6 - 1.0).abs() < 1e-3, "{uneven:?}");
    // More nodes on the same day say no more about other days.
    let (seven, more) = (figure(&shares(&[1.6; 7])), figure(&shares(&[0.4; 28])));
    let width = |f: &super::EvidenceFigure| f.interval.map(|(low, high)| (high / low).ln()).unwrap();
    assert!((width(&seven) / width(&more) - 1.0).abs() < 0.05, "{seven:?}\n{more:?}");
    assert!(width(&seven) > 0.1, "days: {seven:?}");
}

/// A node that began late had the wire to itself after the others, which had it without that node before.
#[test]
fn repeats_that_nodes_did_not_make_at_the_same_time_do_not_count() {
    let mut volume = shares(&[1.6; 7]);
    let late = |record: &mut Observation, number: usize| {
        let repeat = &mut record.measurements[0].repeats[number];
        let length = i64::try_from(repeat.elapsed_ns).unwrap();
        let start = repeat.common_start.as_mut().unwrap();
        start.began_ns += length / 5;
        (repeat.bytes_per_second, repeat.iops) = (9e6, 9.0);
    };
    late(&mut volume[3], 1);
    let of = |advice: &super::NasAdvice| advice.models[0].rows[0].volume.clone().unwrap().together.unwrap();
    let found = of(&beside(4.0, &volume, 7));
    assert!((found.share.value / 1.6e6 - 1.0).abs() < 1e-3 && found.left_out == 1, "{found:?}");
    // Six of the seven nodes shared the link with one that failed. Its share is unknown, so theirs is not a seventh.
    let question = NasQuestion { nodes: 7, ..gigabit(Link::Payload(12.5e6)) };
    let refused = |volume: &[Observation]| nas(&[stream("Card", "1", 4.0)], volume, &question).unwrap_err().to_string();
    let six = refused(&volume[1..]);
    assert!(six.contains("6 of the 7 nodes"), "{six}");
    // Clocks that are known to no better than a tenth of a repeat prove nothing.
    let mut vague = shares(&[1.6; 7]);
    for repeat in vague.iter_mut().flat_map(|r| &mut r.measurements[0].repeats) {
        repeat.common_start.as_mut().unwrap().bound_ns = Some(repeat.elapsed_ns / 10);
    }
    let vague = refused(&vague);
    assert!(vague.contains("did not measure the NAS at the same time"), "{vague}");
    let repeats = volume[3].measurements[0].repeats.len();
    (0..repeats).filter(|number| *number != 1).for_each(|number| late(&mut volume[3], number));
    let none = refused(&volume);
    assert!(none.contains("did not measure the NAS at the same time"), "{none}");
}

#[test]
fn records_that_do_not_tell_what_all_nodes_got_are_named_and_do_not_count() {
    let mut volume = shares(&[1.6; 7]);
    let other = |record: Observation, run: &str| {
        let mut record = record;
        record.cluster.as_mut().unwrap().run = run.to_owned();
        record
    };
    volume.extend(["8", "11", "12"].map(|node| other(of_node(stream("NAS", node, 9.0), 3, 3), "r2")));
    volume.push(of_node(stream("NAS", "9", 9.0), 7, 2));
    let mut lost = of_node(stream("NAS", "10", 9.0), 7, 7);
    lost.cluster.as_mut().unwrap().lost = Some("no answer".to_owned());
    volume.push(lost);
    let mut alone = stream("NAS", "0", 9.0);
    alone.outcome = Outcome::Running;
    volume.push(alone);
    let found = beside(4.0, &volume, 7);
    assert!((found.models[0].rows[0].share_bytes_per_second / 1.6e6 - 1.0).abs() < 1e-3);
    let all_reasons = found.excluded.iter().map(|e| e.reason.to_string()).collect::<Vec<_>>().join("; ");
    for words in ["3 nodes measured the NAS at once", "in turns", "lost the others", "under way"] {
        assert!(all_reasons.contains(words), "{words}: {all_reasons}");
    }
    // Nearer to the question.
    let three = beside(4.0, &volume, 3).models[0].rows[0].volume.clone().unwrap().together.unwrap();
    assert_eq!(three.nodes, 3);
    let turns = [of_node(stream("NAS", "9", 9.0), 7, 2)];
    let refused = nas(&[stream("Card", "1", 4.0)], &turns, &gigabit(Link::Payload(12.5e6))).unwrap_err();
    assert!(refused.to_string().contains("in turns"), "{refused}");
}

#[test]
fn another_bus_moves_only_what_ended_at_the_bus() {
    let stream = |mb: f64, at_the_bus: bool| {
        let mut record = with(record("Card", "1"), work(Op::Read, Pattern::Sequential, (1_000_000, 8, 1)), &around(mb));
        record.measurements[0].bus_limited = at_the_bus;
        [record]
    };
    let ask = |mb: f64, at_the_bus: bool, bus: f64, nodes: u32| {
        let question = NasQuestion { nodes, what_if_bus: Some(bus), ..gigabit(Link::Payload(125e6)) };
        nas(&stream(mb, at_the_bus), &[], &question).unwrap().models[0].rows[0].what_if.clone()
    };
    // 22.9 MB/s at the bus: between that and 45 MB/s, break-even at 2.8 to 5.5 nodes.
    let found = ask(22.9, true, 45e6, 28).unwrap();
    let (most, least) = found.break_even.unwrap();
    assert!((most - 125.0 / 22.9).abs() < 0.01 && (least - 125.0 / 45.0).abs() < 0.01, "{found:?}");
    assert_eq!(found.verdict, Some(NasVerdict::Local));
    // Two nodes get 62.5 MB/s each, which the new bus does not give; three get 41.7, which it might.
    assert_eq!(ask(22.9, true, 45e6, 2).unwrap().verdict, Some(NasVerdict::Nas));
    assert_eq!(ask(22.9, true, 90e6, 3).unwrap().verdict, None);
    assert_eq!(ask(12.0, false, 45e6, 28), None, "it did not end at the bus");
    assert_eq!(ask(22.9, true, 20e6, 28), None, "this bus gives less");
}

/// A bound decides in one direction: what the bus held wins and does not lose, the best of several runs loses and does not win.
/// One value decides where it is far from the share: it did not at a factor of 70.
#[test]
fn bounds_decide_in_one_direction() {
    let row = |megabytes: &[f64], nodes: u32, change: &dyn Fn(&mut Observation)| {
        let mut record = with(record("Card", "1"), work(Op::Read, Pattern::Sequential, (1_000_000, 8, 1)), megabytes);
        change(&mut record);
        let question = NasQuestion { nodes, ..gigabit(Link::Payload(125e6)) };
        nas(&[record], &[], &question).unwrap().models[0].rows[0].clone()
    };
    let held = &|record: &mut Observation| record.measurements[0].bus_limited = true;
    let best =
        &|record: &mut Observation| record.measurements[0].warnings.push(Finding::BestOf { runs: Some(5) }.into());
    let three = [22.8, 22.9, 23.0];
    // Two nodes get 62.5 MB/s each, 28 of them 4.5.
    assert_eq!(row(&three, 2, &|_| {}).verdict, NasVerdict::Nas);
    let by_bus = row(&three, 2, held);
    assert_eq!((by_bus.verdict, by_bus.held_by.is_some()), (NasVerdict::CannotTell(Need::Bus), true));
    assert_eq!(row(&three, 28, held).verdict, NasVerdict::Local);
    assert_eq!(row(&three, 2, best).verdict, NasVerdict::Nas);
    assert_eq!(row(&three, 28, best).verdict, NasVerdict::CannotTell(Need::BestOf));
    // One value may be as far off as units are, 35 % at 95 % to one side: 22.9 is below 62.5, and not below 25.
    let one = row(&[22.9], 2, &|_| {});
    assert!(one.verdict == NasVerdict::Nas && one.probability.is_some_and(|p| p < 0.05), "{one:?}");
    let near = row(&[22.9], 5, &|_| {});
    assert_eq!((near.verdict, near.probability), (NasVerdict::CannotTell(Need::Repeats), None));
    // Above 35.3 it is local: 22.9 against 20.8 is not, and against 4.5, the share of 28 nodes, it is.
    assert_eq!(row(&[22.9], 6, &|_| {}).verdict, NasVerdict::CannotTell(Need::Repeats));
    let far = row(&[22.9], 28, &|_| {});
    assert!(far.verdict == NasVerdict::Local && far.probability.is_some_and(|p| p > 0.95), "{far:?}");
    assert_eq!(row(&[22.9], 2, held).verdict, NasVerdict::CannotTell(Need::Bus));
    // The best of several runs as one value is close to an upper bound of the medium.
    assert_eq!(row(&[22.9], 4, best).verdict, NasVerdict::Nas);
    assert_eq!(row(&[22.9], 28, best).verdict, NasVerdict::CannotTell(Need::BestOf));
}

#[test]
fn a_disk_of_130_operations_limits_random_loads_only() {
    let local =
        with(card("Card", "1", &around(1500.0)), work(Op::Read, Pattern::Sequential, (1 << 20, 8, 1)), &around(22.0));
    // Of 128 KiB, 130 a second would be 0.6 MB/s for a node, far less than its share of the wire.
    let local = with(local, work(Op::Read, Pattern::Sequential, (128 << 10, 8, 1)), &around(170.0));
    let question = NasQuestion { volume_iops: Some(130.0), ..gigabit(Link::Line(125e6)) };
    let found = nas(&[local], &[], &question).unwrap();
    let limits: Vec<Term> = found.models[0].rows.iter().map(|r| r.limit).collect();
    assert_eq!(limits, [Term::Wire, Term::Wire, Term::Volume], "sequential before random");
    assert!((found.models[0].rows[2].share_bytes_per_second / 1e6 - 0.019).abs() < 5e-5);
}

#[test]
fn repeats_decide_about_the_unit_and_units_about_the_model() {
    let fast = [card("Card", "1", &around(1500.0))];
    let row =
        |records: &[Observation]| nas(records, &[], &gigabit(Link::Line(125e6))).unwrap().models[0].rows[0].clone();
    let found = row(&fast);
    assert_eq!((found.verdict, found.next_unit), (NasVerdict::Local, false));
    assert!(found.probability.unwrap() > 0.95);
    // The wire bounds the share from above: what the volume gives at random places is not known.
    let slow = [card("Card", "1", &around(500.0))];
    assert_eq!(row(&slow).verdict, NasVerdict::CannotTell(Need::Volume));
    let known = NasQuestion { volume_iops: Some(60_000.0), ..gigabit(Link::Line(125e6)) };
    assert_eq!(nas(&slow, &[], &known).unwrap().models[0].rows[0].verdict, NasVerdict::Nas);
    let units: Vec<Observation> =
        [1450.0, 1500.0, 1550.0].iter().enumerate().map(|(i, v)| card("Card", &i.to_string(), &around(*v))).collect();
    let found = row(&units);
    assert_eq!((found.verdict, found.next_unit, found.local.n), (NasVerdict::Local, true, 3));
    let unlike: Vec<Observation> =
        [700.0, 1500.0, 3200.0].iter().enumerate().map(|(i, v)| card("Card", &i.to_string(), &around(*v))).collect();
    assert!(matches!(row(&unlike).verdict, NasVerdict::CannotTell(_)));
}

#[test]
fn what_cannot_be_judged_is_left_out_and_named() {
    let question = gigabit(Link::Line(125e6));
    let good = card("Good", "1", &around(1500.0));
    let mixed = with(record("Good", "1"), work(Op::Mixed, Pattern::Random, (4096, 1, 1)), &around(900.0));
    let records = [
        good.clone(),
        mixed,
        fake(card("Fake", "1", &around(9e4))),
        invalid(card("Cached", "1", &around(9e5))),
        broken(card("Broken", "1", &around(2e3))),
    ];
    let found = nas(&records, &[], &question).unwrap();
    assert_eq!(found.models.iter().map(|m| m.model.as_str()).collect::<Vec<_>>(), ["Good"]);
    let reasons: Vec<String> = found.excluded.iter().map(|e| format!("{} {}", e.name(), e.reason)).collect();
    for (name, word) in [
        ("Good · unit 1", "mixed"),
        ("Fake · unit 1", "fake"),
        ("Cached · unit 1", "invalid"),
        ("Broken · unit 1", "read-only"),
    ] {
        assert!(reasons.iter().any(|r| r.starts_with(name) && r.contains(word)), "{name}: {reasons:?}");
    }
    for (records, word) in [
        (&records[1..2], "mixed load"),
        (&records[2..3], "a fake"),
        (&records[3..4], "invalid"),
        (&records[4..], "failed"),
    ] {
        let error = nas(records, &[], &question).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
    // A fake is one in every record of the unit.
    let later = Observation { id: "later".to_owned(), ..card("Fake", "1", &around(9e4)) };
    let mut both = [records[2].clone(), later];
    crate::share_verdicts(&mut both, &[]);
    assert!(nas(&both, &[], &question).is_err());
    let one = std::slice::from_ref(&good);
    assert!(nas(one, &[], &NasQuestion { nodes: 0, ..question.clone() }).is_err());
    assert!(nas(one, &[], &NasQuestion { margin: f64::NAN, ..question.clone() }).is_err());
    assert!(nas(one, &[], &NasQuestion { link: Link::Line(f64::NAN), ..question.clone() }).is_err());
    assert!(nas(&[record("Empty", "1")], &[], &question).is_err());
    let no_load = nas(&[good], &[], &NasQuestion { load: Some("random write".to_owned()), ..question }).unwrap_err();
    assert!(no_load.to_string().contains("there are: random read 4 KiB"), "{no_load}");
}

fn as_cache(hits: HitSource) -> CacheQuestion {
    CacheQuestion {
        use_as: CacheUse::L2arc,
        hits,
        ram_bytes: None,
        size_bytes: Some(15e9),
        feed_bytes_per_second: 8.0 * 1_048_576.0,
        block_bytes: None,
    }
}

#[test]
fn the_published_stick_before_the_published_disk() {
    let stick = published("imation-swivel-usb-16gb").unwrap();
    let disk = published("sata-hdd-500gb").unwrap();
    let found = cache(&stick, &disk, &as_cache(HitSource::Share(0.5))).unwrap();
    // The record holds IOPS with one decimal: 129.9 and 1892.9, 2e-4 of rounding. Other rows are tested where they are computed.
    let table = [(0.10, 1.103), (0.50, 1.872), (1.0, 14.573)];
    assert!(found.table.iter().all(|line| line.fed.is_none()) && found.table.len() == 8, "{:?}", found.table);
    for (hits, times) in table {
        let line = found.table.iter().find(|line| line.hits == hits).unwrap();
        assert!((line.filled - times).abs() < 2e-3, "{line:?}");
    }
    assert_eq!((found.word, found.speed_up), (CacheWord::Harmful, None), "8 MiB/s are more than 6.687 MB/s");
    assert!((found.feed_share - 1.2544).abs() < 1e-4 && (found.quiet_feed() / 1e6 - 1.672).abs() < 5e-4);
    assert!(matches!(found.warnings[0], CacheWarning::FeedSaturates { .. }));
    assert!((found.header.unwrap().bytes / 1e6 - 468.75).abs() < 0.01);
    for (found, (factor, hits)) in found.hits_for[1..].iter().zip([(2.0, 0.5368), (5.0, 0.8589)]) {
        assert!(found.0 == factor && (found.1.unwrap() - hits).abs() < 1e-4);
    }
    let log = found.log.unwrap();
    assert_eq!((log.word, log.synced), (LogWord::Refused, false));
    assert!((log.ratio - 5.2 / 223.9).abs() < 1e-9);
    // One value of each: 14.6 times the reads of the disk are beyond what units differ by.
    let quiet = CacheQuestion { feed_bytes_per_second: 1.6e6, ..as_cache(HitSource::Share(0.5)) };
    let found = cache(&stick, &disk, &quiet).unwrap();
    assert_eq!((found.word, found.interval), (CacheWord::Good, None));
    assert!(found.probability.is_some_and(|p| p > 0.95), "{found:?}");
    let unknown = CacheQuestion { hits: HitSource::Unknown, ..quiet };
    assert_eq!(cache(&stick, &disk, &unknown).unwrap().word, CacheWord::CannotTell(CacheUnknown::HitsUnknown));
}

/// One value of stick and disk decides a difference beyond the spread of units, and bounds decide in one direction.
#[test]
fn one_value_of_stick_and_disk_decides_what_is_far() {
    let quiet = CacheQuestion { feed_bytes_per_second: 1.6e6, ..as_cache(HitSource::Share(0.5)) };
    let best =
        |record: &mut Observation| record.measurements[0].warnings.push(Finding::BestOf { runs: Some(5) }.into());
    let held = |record: &mut Observation| record.measurements[0].bus_limited = true;
    let ask = |stick: f64, disk: f64, change: &dyn Fn(&mut Observation, &mut Observation), question: &CacheQuestion| {
        let fed = work(Op::Write, Pattern::Sequential, (1 << 20, 8, 1));
        let (mut stick, mut disk) = (with(card("Stick", "1", &[stick]), fed, &[6.4]), card("Disk", "1", &[disk]));
        change(&mut stick, &mut disk);
        let found = cache(&[stick], &[disk], question).unwrap();
        assert_eq!(found.interval, None, "how repeats vary is assumed");
        assert_eq!(
            found.probability.is_some(),
            matches!(found.word, CacheWord::Good | CacheWord::Harmful),
            "{found:?}"
        );
        found.word
    };
    let (none, one) = (|_: &mut Observation, _: &mut Observation| {}, CacheWord::CannotTell(CacheUnknown::OneValue));
    let bound = CacheWord::CannotTell(CacheUnknown::Bound);
    // 1.2 times at half of the hits is 1.5 times the reads of the disk; two single values are known to a factor of 1.9.
    assert_eq!(ask(650.0, 130.0, &none, &quiet), CacheWord::Good);
    assert_eq!(ask(260.0, 130.0, &none, &quiet), one);
    // While it is fed for a quarter of its time, the stick does three quarters of its reads.
    assert_eq!(ask(130.0, 130.0, &none, &quiet), one);
    assert_eq!(ask(50.0, 130.0, &none, &quiet), CacheWord::Harmful);
    assert_eq!(ask(650.0, 130.0, &|stick, _| best(stick), &quiet), bound);
    assert_eq!(ask(650.0, 130.0, &|_, disk| held(disk), &quiet), bound);
    assert_eq!(ask(650.0, 130.0, &|_, disk| best(disk), &quiet), CacheWord::Good);
    assert_eq!(ask(50.0, 130.0, &|stick, _| held(stick), &quiet), bound);
    assert_eq!(ask(50.0, 130.0, &|_, disk| best(disk), &quiet), bound);
    assert_eq!(ask(50.0, 130.0, &|stick, _| best(stick), &quiet), CacheWord::Harmful);
    // A feed that takes more than a quarter of the time is in the way, however many values there are.
    let fed = CacheQuestion { feed_bytes_per_second: 3e6, ..quiet };
    assert_eq!(ask(650.0, 130.0, &none, &fed), CacheWord::Marginal);
}

/// A log of one value each: far above the disk it is good.
#[test]
fn one_synced_value_of_each_decides_a_log_that_is_far_above() {
    let quiet = CacheQuestion { use_as: CacheUse::Slog, ..as_cache(HitSource::Unknown) };
    let ask = |stick_writes: f64, best: bool| {
        let synced = || Workload { sync: Sync::Fsync, ..work(Op::Write, Pattern::Random, (4096, 1, 1)) };
        let fed = work(Op::Write, Pattern::Sequential, (1 << 20, 8, 1));
        let mut stick = with(with(card("Stick", "1", &[1000.0]), fed, &[6.4]), synced(), &[stick_writes]);
        if best {
            stick.measurements[2].warnings.push(Finding::BestOf { runs: Some(5) }.into());
        }
        let disk = with(card("Disk", "1", &[130.0]), synced(), &[100.0]);
        let log = cache(&[stick], &[disk], &quiet).unwrap().log.unwrap();
        (log.word, log.probability.is_some())
    };
    assert_eq!(ask(300.0, false), (LogWord::Faster, true));
    assert_eq!(ask(130.0, false), (LogWord::CannotTell, false));
    assert_eq!(ask(90.0, false), (LogWord::Refused, false));
    assert_eq!(ask(300.0, true), (LogWord::CannotTell, false));
}

/// Two values that differ by a factor of 56 do not predict a third one: its draws reach zero and infinity.
#[test]
fn two_values_far_from_each_other_do_not_tell() {
    let quiet = CacheQuestion { feed_bytes_per_second: 1.6e6, ..as_cache(HitSource::Share(0.5)) };
    let fed = || work(Op::Write, Pattern::Sequential, (1 << 20, 8, 1));
    let wild = [215.0, 12_143.0].map(|value| with(card("Stick", "1", &[value]), fed(), &[6.4]));
    let wild: Vec<Observation> =
        wild.into_iter().zip(["a", "b"]).map(|(r, id)| Observation { id: id.to_owned(), ..r }).collect();
    let apart = with(card("Stick", "1", &[215.0, 12_143.0]), fed(), &[6.4, 6.5]);
    let disk = [card("Disk", "1", &around(130.0))];
    for stick in [&wild[..], &[apart]] {
        let found = cache(stick, &disk, &quiet).unwrap();
        assert_eq!(format!("{:?}", found.word), "CannotTell(Scattered)");
        assert_eq!(found.interval, None, "no interval of any use");
    }
    let alike = with(card("Stick", "1", &[115.0, 135.0]), fed(), &[6.4, 6.5]);
    assert_eq!(cache(&[alike], &disk, &quiet).unwrap().word, CacheWord::Marginal);
}

fn pair(stick_reads: f64, disk_reads: f64) -> ([Observation; 1], [Observation; 1]) {
    let stick = with(
        card("Stick", "1", &around(stick_reads)),
        work(Op::Write, Pattern::Sequential, (1 << 20, 8, 1)),
        &around(6.4),
    );
    ([stick], [card("Disk", "1", &around(disk_reads))])
}

#[test]
fn repeats_make_a_good_cache_good_and_a_slow_one_harmful() {
    let quiet = CacheQuestion { feed_bytes_per_second: 1.6e6, ..as_cache(HitSource::Share(0.5)) };
    let (stick, disk) = pair(1892.8, 129.9);
    let found = cache(&stick, &disk, &quiet).unwrap();
    assert_eq!(found.word, CacheWord::Good);
    assert!(found.probability.unwrap() > 0.99);
    let (low, high) = found.interval.unwrap();
    assert!(low < found.speed_up.unwrap() && found.speed_up.unwrap() < high);
    assert!(found.log.is_none());
    let (stick, disk) = pair(129.9, 1892.8);
    assert_eq!(cache(&stick, &disk, &quiet).unwrap().word, CacheWord::Harmful);
    // A third of 1 GB is less than the headers of 15 GB in blocks of 4 KiB need.
    let (stick, disk) = pair(1892.8, 129.9);
    let working =
        CacheQuestion { ram_bytes: Some(1e9), hits: HitSource::WorkingSet { bytes: 20e9, zipf: Some(0.9) }, ..quiet };
    let found = cache(&stick, &disk, &working).unwrap();
    assert!(found.warnings.iter().any(|w| matches!(w, CacheWarning::Headers { .. })), "{:?}", found.warnings);
    let hits = found.hits.unwrap();
    assert!(hits.ram_with.unwrap() < hits.ram_without.unwrap());
    for bad in [CacheQuestion { ram_bytes: None, ..working }, CacheQuestion { size_bytes: None, ..working }] {
        assert!(cache(&stick, &disk, &bad).is_err());
    }
    assert!(cache(&stick, &disk, &CacheQuestion { hits: HitSource::Share(f64::NAN), ..quiet }).is_err());
    let error = cache(&stick, &published("sandisk-ultra-a1").unwrap(), &quiet).unwrap_err().to_string();
    assert!(error.contains("one at a time"), "{error}");
    let error = cache(&published_cards(), &disk, &quiet).unwrap_err().to_string();
    assert!(error.contains("has to be one model"), "{error}");
}

/// Class 10 is about what the card holds, not about what a cache took.
#[test]
fn a_class_is_judged_by_what_is_durable() {
    let stream = |durable: Option<f64>| {
        let mut card = with(record("Card", "1"), work(Op::Write, Pattern::Sequential, (1 << 20, 8, 1)), &around(30.0));
        for repeat in &mut card.measurements[0].repeats {
            repeat.durable_bytes_per_second = durable;
        }
        let found = class(&[card], &["C10"]).unwrap();
        (found.units[0].figures[0].value / 1e6, found.units[0].classes[0].status)
    };
    let (rate, status) = stream(None);
    assert!((rate - 31.46).abs() < 0.01 && status == ClassStatus::Pass, "{rate} {status:?}");
    let (rate, status) = stream(Some(5e6));
    assert!((rate - 5.0).abs() < 1e-9 && status == ClassStatus::Fail, "{rate} {status:?}");
}
