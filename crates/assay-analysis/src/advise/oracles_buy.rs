//! The arithmetic of published figures, through records: what to buy, and classes.

use assay_core::medium::{CommandQueue, MediumKind};
use assay_core::observation::Observation;
use assay_core::workload::{Op, Pattern};
use assay_stats::random::Generator;

use super::samples::{around, broken, card, fake, invalid, labelled, published_cards, record, with, work};
use super::{BuyQuestion, Choice, ClassKind, ClassStatus, FrontStanding, ModelWord, Obstacle, buy, class};
use crate::Reason;
use crate::rank::{RankOptions, rank};

fn fleet() -> BuyQuestion {
    BuyQuestion::for_nodes(28)
}

fn offered(model: &str, reads: f64, price: &str) -> Vec<Observation> {
    let units = [0.98, 1.0, 1.02].iter().enumerate();
    units.map(|(i, f)| labelled(card(model, &i.to_string(), &[reads * f]), "price", price)).collect()
}

#[test]
fn twenty_eight_at_25_dollars_are_700() {
    let records = [offered("Fast", 1800.0, "25USD"), offered("Slow", 900.0, "25 USD")].concat();
    let found = buy(&records, &fleet()).unwrap();
    let Choice::Buy { index, tested_enough, one_unit } = found.choice else { panic!("{:?}", found.choice) };
    let chosen = &found.options[index];
    assert_eq!((chosen.model.as_str(), chosen.cost, chosen.pieces), ("Fast", 700.0, 28));
    assert_eq!((chosen.standing, tested_enough, one_unit), (FrontStanding::Certain, true, false));
    assert!(chosen.regret.unwrap() < 0.01 && chosen.on_front.unwrap() > 0.95);
    let slow = found.options.iter().find(|o| o.model == "Slow").unwrap();
    assert_eq!(slow.standing, FrontStanding::Off, "as dear and slower");
    assert!((slow.regret.unwrap() - 2f64.ln()).abs() < 0.02);
    assert_eq!(found.currency, "USD");
    // What a piece does for its price, however many are bought: 1 800 for 25.
    let one = buy(&records, &BuyQuestion::for_nodes(1)).unwrap();
    for all in [&found, &one] {
        let fast = all.options.iter().find(|o| o.model == "Fast").unwrap();
        assert!((fast.per_money / (1800.0 / 25.0) - 1.0).abs() < 0.001, "{}", fast.per_money);
    }
}

#[test]
fn budget_power_spares_and_missing_repeats() {
    let dear = offered("Dear", 3600.0, "26USD");
    let cheap = offered("Cheap", 900.0, "20USD");
    let within = BuyQuestion { budget: Some("700USD".parse().unwrap()), ..fleet() };
    let found = buy(&[dear.clone(), cheap.clone()].concat(), &within).unwrap();
    assert_eq!(found.options[1].standing, FrontStanding::OverBudget, "728 USD");
    let Choice::Buy { index, .. } = found.choice else { panic!() };
    assert_eq!(found.options[index].model, "Cheap");
    assert_eq!(buy(&dear, &within).unwrap().choice, Choice::OverBudget);
    // 28 nodes of 1 W for 1000 h at 0.30 for a kWh.
    let power = BuyQuestion { kilowatt_hour: Some("0.30USD".parse().unwrap()), hours: 1000.0, ..fleet() };
    let watts: Vec<Observation> = cheap.iter().map(|r| labelled(r.clone(), "power", "1000mW")).collect();
    assert!((buy(&watts, &power).unwrap().options[0].cost - (560.0 + 8.4)).abs() < 1e-9);
    assert!(buy(&cheap, &power).unwrap_err().to_string().contains("power"));
    // Figures of an article take no label, and are left out.
    let origin = published_cards()[0].origin.clone();
    let printed: Vec<Observation> =
        dear.iter().map(|record| Observation { origin: origin.clone(), ..record.clone() }).collect();
    let found = buy(&[watts, printed.clone()].concat(), &power).unwrap();
    assert_eq!(found.options.iter().map(|option| option.model.as_str()).collect::<Vec<_>>(), ["Cheap"]);
    assert!(found.excluded.len() == 3 && found.excluded.iter().all(|left| left.reason == Reason::NoPower));
    assert!(buy(&printed, &power).unwrap_err().to_string().contains("without --power-price"));
    // One of four units died: a quarter more are bought.
    let mut died = cheap.clone();
    died.push(broken(labelled(card("Cheap", "9", &around(900.0)), "price", "20USD")));
    let found = buy(&died, &fleet()).unwrap();
    assert_eq!((found.options[0].pieces, found.options[0].spares, found.options[0].units), (35, 7, (4, 1)));
    assert_eq!(found.excluded.len(), 1);
    // One value: shown, and takes no part.
    let once = labelled(card("Once", "1", &[1e5]), "price", "1USD");
    let found = buy(&[cheap.clone(), vec![once.clone()]].concat(), &fleet()).unwrap();
    assert_eq!(found.options[0].standing, FrontStanding::CannotTell);
    assert_eq!(found.choice, Choice::CannotTell { by_estimate: 0 }, "one model is no comparison");
    let beside =
        |once: &Observation| buy(&[cheap.clone(), dear.clone(), vec![once.clone()]].concat(), &fleet()).unwrap().choice;
    let slower = labelled(card("Once", "1", &[1000.0]), "price", "1USD");
    let said = beside(&slower);
    assert!(matches!(said, Choice::Buy { index: 2, tested_enough: false, .. }), "{said:?}");
    // It costs less and is better, as a comparison says: no other one is bought.
    assert_eq!(beside(&once), Choice::CannotTell { by_estimate: 0 });
    assert!(matches!(buy(&[once], &fleet()).unwrap().choice, Choice::CannotTell { .. }));
}

#[test]
fn one_candidate_is_compared_with_nothing() {
    let only = offered("Only", 900.0, "20USD");
    let unpriced: Vec<Observation> = [0.98, 1.02].iter().map(|f| card("Free", &f.to_string(), &[f * 900.0])).collect();
    for records in [only.clone(), [only, unpriced].concat()] {
        let found = buy(&records, &fleet()).unwrap();
        assert_eq!(found.choice, Choice::CannotTell { by_estimate: 0 });
        let offer = &found.options[0];
        assert_eq!((offer.on_front, offer.regret, offer.standing), (None, None, FrontStanding::CannotTell));
        assert_eq!(offer.cost, 560.0);
    }
}

/// Units of one model agree by chance: the other says how far units of these differ, and the ranking says it of both.
#[test]
fn the_interval_of_a_model_is_that_of_the_ranking() {
    let units = |model: &str, all: [f64; 3]| -> Vec<Observation> {
        let each = all.iter().enumerate();
        each.map(|(at, value)| labelled(card(model, &at.to_string(), &around(*value)), "price", "20USD")).collect()
    };
    let records = [units("Alike", [1000.0, 1001.0, 1002.0]), units("Wide", [800.0, 950.0, 1100.0])].concat();
    let ranking = rank(&records.iter().collect::<Vec<_>>(), &RankOptions::default()).unwrap();
    let found = buy(&records, &fleet()).unwrap();
    for row in &ranking.primary.models {
        let said = row.estimate.as_ref().and_then(|e| e.low.zip(e.high)).unwrap();
        let option = found.options.iter().find(|o| o.model == row.model).unwrap();
        let (low, high) = option.performance.interval.unwrap();
        assert!((low / said.0 - 1.0).abs() < 1e-12 && (high / said.1 - 1.0).abs() < 1e-12, "{said:?} {low} {high}");
        // 10 % between the units of the other.
        assert!(high / low > 1.15, "{}: {low} {high}", row.model);
    }
}

#[test]
fn bad_prices_are_refused() {
    let error = |records: &[Observation], question: &BuyQuestion| buy(records, question).unwrap_err().to_string();
    let cards = offered("A", 900.0, "20USD");
    assert!(error(&[cards.clone(), offered("B", 900.0, "20EUR")].concat(), &fleet()).contains("EUR and USD"));
    assert!(error(&[card("None", "1", &[1.0])], &fleet()).contains("no label price"));
    assert!(error(&offered("A", 900.0, "NaN"), &fleet()).contains("`NaN` is not a price"));
    assert!(error(&cards, &BuyQuestion { nodes: 0, ..fleet() }).contains("nodes"));
    assert!(error(&cards, &BuyQuestion { hours: f64::NAN, ..fleet() }).contains("hours"));
    let other = BuyQuestion { prices: vec![("Nobody".to_owned(), "1USD".parse().unwrap())], ..fleet() };
    assert!(error(&cards, &other).contains("--price names no model"));
    let mut differ = cards.clone();
    differ[1] = labelled(differ[1].clone(), "price", "21USD");
    assert!(error(&differ, &fleet()).contains("different prices"));
    let asked = BuyQuestion { load: Some("sequential".to_owned()), ..fleet() };
    assert!(error(&cards, &asked).contains("there are: random read 4 KiB"));
    assert!(error(&[fake(cards[0].clone())], &fleet()).contains("a fake"));
    // A fake wins nothing, however fast.
    let mut wonder: Vec<Observation> = offered("Wonder", 9e5, "1USD").into_iter().map(fake).collect();
    wonder.extend(cards);
    let found = buy(&wonder, &fleet()).unwrap();
    assert_eq!((found.options.len(), found.excluded.len()), (1, 3));
}

#[test]
fn the_six_cards_by_the_one_run_there_is() {
    let found = class(&published_cards(), &["A1"]).unwrap();
    assert_eq!(found.units.len(), 6);
    for specimen in &found.units {
        let tests = &specimen.classes[0].tests;
        let of = |kind: ClassKind| tests.iter().find(|t| t.kind == kind).unwrap();
        assert_eq!(of(ClassKind::RandomWrite).below, Some(true), "per-card IOPS are sums over jobs: 147 to 451 of 500");
        // All but one read more than 1500.
        assert_eq!(of(ClassKind::RandomRead).below, Some(specimen.unit == "CA (published)"), "{}", specimen.unit);
        // One run has no bounds, but a value below half of a threshold certainly misses it: 147 of 500.
        let far_below = specimen.unit == "3 (published)";
        let of_writes = if far_below { ClassStatus::Fail } else { ClassStatus::Indeterminate };
        assert_eq!(
            (of(ClassKind::RandomRead).status, of(ClassKind::RandomWrite).status),
            (ClassStatus::Indeterminate, of_writes)
        );
        // No sequential write was measured.
        assert_eq!(specimen.classes[0].status, if far_below { ClassStatus::Fail } else { ClassStatus::NotMeasured });
    }
    assert!(found.is_no());
    let models: Vec<usize> = found.models.iter().map(|m| m.units).collect();
    assert_eq!(models, [1, 2, 3]);
    assert!(found.models[0].classes[0].parts.iter().skip(1).all(|p| p.word == ModelWord::OneUnit));
}

fn tested(read: f64, write: f64, stream: f64) -> Observation {
    let record =
        with(record("Card", "1"), work(Op::Write, Pattern::Sequential, (1 << 20, 8, 1)), &around(stream / 1_048_576.0));
    let record = with(record, work(Op::Read, Pattern::Random, (4096, 32, 1)), &around(read));
    with(record, work(Op::Write, Pattern::Random, (4096, 32, 1)), &around(write))
}

#[test]
fn repeats_pass_fail_or_do_not_tell() {
    let status = |record: Observation, name: &'static str| {
        let found = class(&[record], &[name]).unwrap();
        (found.units[0].classes[0].status, found.is_no())
    };
    // One run: other days may differ by 9 % to each side, and by 13 % where any of three is to be missed.
    assert_eq!(status(tested(1700.0, 560.0, 15e6), "A1"), (ClassStatus::Pass, false));
    assert_eq!(status(tested(1600.0, 520.0, 15e6), "A1"), (ClassStatus::Indeterminate, false));
    assert_eq!(status(tested(1600.0, 400.0, 15e6), "A1"), (ClassStatus::Fail, true));
    assert_eq!(status(tested(1600.0, 505.0, 15e6), "A1"), (ClassStatus::Indeterminate, false));
    assert_eq!(status(tested(9000.0, 9000.0, 95e6), "A2"), (ClassStatus::NotTestable, false));
    assert_eq!(status(tested(1.0, 1.0, 34e6), "V30"), (ClassStatus::Pass, false));
    let mut queueing = tested(9000.0, 9000.0, 95e6);
    queueing.medium.command_queue = Some(CommandQueue::On);
    assert_eq!(status(queueing, "A2"), (ClassStatus::Pass, false));
    let mut limited = tested(1600.0, 550.0, 22e6);
    limited.measurements[0].bus_limited = true;
    assert_eq!(status(limited, "V30"), (ClassStatus::BusLimited, false));
    // Not asked for: only what the medium claims can be a no.
    let mut claims = tested(1600.0, 400.0, 15e6);
    assert!(!class(&[claims.clone()], &[]).unwrap().is_no());
    claims.medium.claimed_classes = vec!["A1".to_owned()];
    assert!(class(&[claims.clone()], &[]).unwrap().is_no());
    assert!(class(&[fake(claims.clone())], &[]).is_err());
    assert!(class(&[invalid(claims)], &[]).is_err());
    assert!(class(&[record("Empty", "1")], &[]).unwrap_err().to_string().contains("suite quick"));
}

#[test]
fn jobs_are_summed() {
    let four = with(record("Card", "1"), work(Op::Read, Pattern::Random, (4096, 1, 4)), &around(1600.0));
    let found = class(&[four], &["A1"]).unwrap();
    let figure = &found.units[0].figures[0];
    assert!((figure.value - 1600.0).abs() < 0.1 && figure.title.contains("4 jobs"), "{figure:?}");
}

#[test]
fn what_was_not_measured_is_named() {
    let other = with(record("Other", "1"), work(Op::Read, Pattern::Sequential, (1 << 20, 8, 1)), &around(20.0));
    let found = class(&[tested(1600.0, 550.0, 15e6), other.clone()], &["A1"]).unwrap();
    assert_eq!(found.units.len(), 1);
    assert!(found.excluded[0].name() == "Other · unit 1" && found.excluded[0].reason == Reason::NoLoadAsked);
    let records = [offered("A", 900.0, "20USD"), vec![labelled(other, "price", "1USD")]].concat();
    let asked = BuyQuestion { load: Some("random read 4 KiB".to_owned()), ..fleet() };
    let found = buy(&records, &asked).unwrap();
    assert_eq!((found.options.len(), found.excluded[0].name()), (1, "Other · unit 1".to_owned()));
    // Without a name, the load under which most can be said decides.
    assert_eq!(buy(&records, &fleet()).unwrap().title, "random read 4 KiB");
}

// Thresholds of the classes of SD cards, on published measurements.

/// Five runs of iozone with 4 KiB records on a Raspberry Pi 4, in KiB/s.
const SD_READ: [f64; 5] = [7353.0, 7173.0, 7389.0, 7412.0, 7364.0];
const SD_WRITE: [f64; 5] = [3432.0, 3880.0, 3501.0, 3881.0, 3394.0];
const USB_READ: [f64; 5] = [11129.0, 11761.0, 11392.0, 11455.0, 11411.0];
const USB_WRITE: [f64; 5] = [10138.0, 10202.0, 11172.0, 11203.0, 11188.0];
const SD_STREAM: [f64; 5] = [19.3e6, 19.7e6, 19.2e6, 19.0e6, 19.2e6];

fn iops(kibibytes: &[f64]) -> Vec<f64> {
    kibibytes.iter().map(|v| v / 4.0).collect()
}

/// A card with these repeats. An empty list was not measured.
fn classed_card(sequential_write: &[f64], read: &[f64], write: &[f64]) -> Observation {
    let streams: Vec<f64> = sequential_write.iter().map(|v| v / 1_048_576.0).collect();
    let loads = [
        (work(Op::Write, Pattern::Sequential, (1 << 20, 8, 1)), &streams[..]),
        (work(Op::Read, Pattern::Random, (4096, 32, 1)), read),
        (work(Op::Write, Pattern::Random, (4096, 32, 1)), write),
    ];
    let measured = loads.into_iter().filter(|(_, values)| !values.is_empty());
    measured.fold(record("Card", "1"), |card, (load, values)| with(card, load, values))
}

fn queueing(mut card: Observation) -> Observation {
    card.medium.command_queue = Some(CommandQueue::On);
    card
}

fn status(card: &Observation, name: &'static str) -> ClassStatus {
    class(std::slice::from_ref(card), &[name]).unwrap().units[0].classes[0].status
}

#[test]
fn classes_of_published_media() {
    let sd = classed_card(&SD_STREAM, &iops(&SD_READ), &iops(&SD_WRITE));
    assert_eq!((status(&sd, "A1"), status(&sd, "A2")), (ClassStatus::Pass, ClassStatus::NotTestable));
    let sd = queueing(sd);
    assert_eq!(status(&sd, "A2"), ClassStatus::Fail);
    let all = &class(&[sd], &[]).unwrap().units[0].classes;
    let passed: Vec<_> = all.iter().filter(|c| c.status == ClassStatus::Pass).map(|c| c.class).collect();
    assert_eq!(passed, ["C2", "C4", "C6", "C10", "U1", "V6", "V10", "A1"]);
    assert_eq!(all.iter().filter(|c| c.status == ClassStatus::Fail).count(), 5);

    let usb = queueing(classed_card(&SD_STREAM, &iops(&USB_READ), &iops(&USB_WRITE)));
    let a2 = &class(&[usb], &["A2"]).unwrap().units[0].classes[0];
    let of = |kind| a2.tests.iter().find(|t| t.kind == kind).unwrap().status;
    assert_eq!((of(ClassKind::RandomRead), of(ClassKind::RandomWrite)), (ClassStatus::Fail, ClassStatus::Pass));
    assert_eq!(a2.status, ClassStatus::Fail, "both have to be met");
    assert_eq!(status(&classed_card(&[], &iops(&SD_READ), &[]), "A1"), ClassStatus::NotMeasured);
}

#[test]
fn a_spread_around_the_threshold_does_not_tell() {
    let card = classed_card(&[9.5e6, 10.5e6, 10.2e6], &[], &[]);
    assert_eq!(status(&card, "C10"), ClassStatus::Indeterminate);
    assert_eq!(status(&card, "C6"), ClassStatus::Pass);
    assert_eq!(status(&card, "U3"), ClassStatus::Fail);
}

#[test]
fn a_single_repeat_above_the_thresholds_is_no_pass() {
    // 6206 and 3977 KB/s: 3.4 % and 98.9 % above A1.
    let card = classed_card(&[20e6], &[6206.0 / 4.0], &[3977.0 / 4.0]);
    assert_eq!(status(&card, "A1"), ClassStatus::Indeterminate);
    assert!(class(&[card], &[]).unwrap().units[0].figures.iter().all(|f| f.bounds.is_none()));
}

#[test]
fn published_cards_without_queueing_are_not_tested_for_a2() {
    // ThomasKaiser/Knowledge, "A1 and A2 rated SD cards": KiB/s of 4 KiB random read and write.
    for (read, write) in [(10833.0, 3619.0), (6679.0, 2389.0), (5373.0, 2324.0)] {
        let near = |kibibytes: f64| iops(&[kibibytes * 0.999, kibibytes, kibibytes * 1.001]);
        let plain = classed_card(&[30e6; 3], &near(read), &near(write));
        assert_eq!(status(&plain, "A2"), ClassStatus::NotTestable);
        let mut listed = plain.clone();
        listed.medium.command_queue = Some(CommandQueue::CardNotListed);
        let a2 = &class(&[listed], &["A2"]).unwrap().units[0].classes[0];
        assert_eq!((a2.obstacle, a2.queue), (Some(Obstacle::CommandQueue), Some(CommandQueue::CardNotListed)));
        let model = class(std::slice::from_ref(&plain), &["A2"]).unwrap();
        assert_eq!(model.models[0].classes[0].word, ModelWord::NotTestable, "what no unit can show no model has");
        // The third reads 10.5 % below A1, by one run: another day may differ by as much.
        let a1 = if read / 4.0 >= 1500.0 { ClassStatus::Pass } else { ClassStatus::Indeterminate };
        assert_eq!(status(&plain, "A1"), a1);
        assert_eq!(status(&queueing(plain), "A2"), ClassStatus::Fail);
    }
}

#[test]
fn virtual_disks_have_no_class() {
    let mut card = classed_card(&[30e6; 3], &[9000.0; 3], &[9000.0; 3]);
    card.medium.kind = MediumKind::Virtio;
    let all = &class(&[card], &[]).unwrap().units[0].classes;
    assert!(
        all.iter().all(|c| (c.status, c.obstacle) == (ClassStatus::NotTestable, Some(Obstacle::Virtual))),
        "{all:?}"
    );
}

/// A card exactly at its three thresholds is called a failure in at most 5 % of cases: the three tests together
/// have one error, not each its own.
#[test]
fn a_card_at_all_thresholds_seldom_fails() {
    let mut dice = Generator::new(0x5eed);
    let mut at = |truth: f64| -> [f64; 3] { std::array::from_fn(|_| truth * (0.02 * dice.normal()).exp()) };
    let drawn = 2000;
    let mut failed = 0;
    for _ in 0..drawn {
        failed += usize::from(status(&classed_card(&at(10e6), &at(1500.0), &at(500.0)), "A1") == ClassStatus::Fail);
    }
    // Five percent, plus three standard errors of this number of draws.
    assert!(failed as f64 / f64::from(drawn) < 0.05 + 3.0 * (0.05f64 * 0.95 / 2000.0).sqrt(), "{failed}");
}

/// Units of one value each tell little of themselves, so their model is not judged by them either.
#[test]
fn a_model_is_judged_no_more_certainly_than_its_units() {
    let published = crate::published("sandisk-ultra-a1").unwrap();
    let found = class(&published, &["A1"]).unwrap();
    let model = &found.models[0].classes[0];
    assert!(model.parts.iter().all(|p| p.lower_limit.is_none()), "{model:?}");
    // One of three writes 147 of 500 at random.
    assert_eq!(model.word, ModelWord::Fail);
    let slow = |unit: &str, repeats: usize, write: f64| {
        let of =
            |value: f64| vec![value; repeats].iter().enumerate().map(|(i, v)| v * (1.0 + 1e-3 * i as f64)).collect();
        let (stream, read, write): (Vec<f64>, Vec<f64>, Vec<f64>) = (of(20e6), of(3000.0), of(write));
        let mut record = classed_card(&stream, &read, &write);
        record.id = format!("{unit}{repeats}");
        record.labels.insert("unit".to_owned(), unit.to_owned());
        record
    };
    let word = |repeats, write| {
        let cards = ["1", "2", "3"].map(|unit| slow(unit, repeats, write));
        class(&cards, &["A1"]).unwrap().models[0].classes[0].word
    };
    assert_eq!((word(1, 400.0), word(3, 400.0)), (ModelWord::Indeterminate, ModelWord::Fail));
    assert_eq!(word(1, 100.0), ModelWord::Fail, "far below, by one value too");
}
