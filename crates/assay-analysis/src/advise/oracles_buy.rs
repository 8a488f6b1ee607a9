//! The arithmetic of published figures, through records: what to buy, and classes.

use assay_core::record::Record;
use assay_core::workload::{Op, Pattern};

use super::samples::{around, broken, card, fake, invalid, labelled, published_cards, record, with, work};
use super::{BuyQuestion, Choice, Kind, ModelWord, Standing, Status, buy, class};
use crate::Reason;
use crate::rank::{RankOptions, rank};

fn fleet() -> BuyQuestion {
    BuyQuestion::of(28)
}

fn offered(model: &str, reads: f64, price: &str) -> Vec<Record> {
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
    assert_eq!((chosen.standing, tested_enough, one_unit), (Standing::Certain, true, false));
    assert!(chosen.regret.unwrap() < 0.01 && chosen.on_front.unwrap() > 0.95);
    let slow = found.options.iter().find(|o| o.model == "Slow").unwrap();
    assert_eq!(slow.standing, Standing::Off, "as dear and slower");
    assert!((slow.regret.unwrap() - 2f64.ln()).abs() < 0.02);
    assert_eq!(found.currency, "USD");
    // What a piece does for its price, however many are bought: 1 800 for 25.
    let one = buy(&records, &BuyQuestion::of(1)).unwrap();
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
    assert_eq!(found.options[1].standing, Standing::OverBudget, "728 USD");
    let Choice::Buy { index, .. } = found.choice else { panic!() };
    assert_eq!(found.options[index].model, "Cheap");
    assert_eq!(buy(&dear, &within).unwrap().choice, Choice::OverBudget);
    // 28 nodes of 1 W for 1000 h at 0.30 for a kWh.
    let power = BuyQuestion { kilowatt_hour: Some(0.30), hours: 1000.0, ..fleet() };
    let watts: Vec<Record> = cheap.iter().map(|r| labelled(r.clone(), "power", "1000mW")).collect();
    assert!((buy(&watts, &power).unwrap().options[0].cost - (560.0 + 8.4)).abs() < 1e-9);
    assert!(buy(&cheap, &power).unwrap_err().to_string().contains("power"));
    // One of four units died: a quarter more are bought.
    let mut died = cheap.clone();
    died.push(broken(labelled(card("Cheap", "9", &around(900.0)), "price", "20USD")));
    let found = buy(&died, &fleet()).unwrap();
    assert_eq!((found.options[0].pieces, found.options[0].spares, found.options[0].units), (35, 7, (4, 1)));
    assert_eq!(found.excluded.len(), 1);
    // One value: shown, and takes no part.
    let once = labelled(card("Once", "1", &[1e5]), "price", "1USD");
    let found = buy(&[cheap.clone(), vec![once.clone()]].concat(), &fleet()).unwrap();
    assert_eq!(found.options[0].standing, Standing::CannotTell);
    assert_eq!(found.choice, Choice::CannotTell { by_estimate: 0 }, "one model is no comparison");
    let beside =
        |once: &Record| buy(&[cheap.clone(), dear.clone(), vec![once.clone()]].concat(), &fleet()).unwrap().choice;
    let slower = labelled(card("Once", "1", &[1000.0]), "price", "1USD");
    let said = beside(&slower);
    assert!(matches!(said, Choice::Buy { index: 2, tested_enough: false, .. }), "{said:?}");
    // It costs less and is better, as a comparison says: no other one is bought.
    assert_eq!(beside(&once), Choice::CannotTell { by_estimate: 0 });
    assert!(matches!(buy(&[once], &fleet()).unwrap().choice, Choice::CannotTell { .. }));
}

/// Units of one model agree by chance: the other says how far units of these differ, and the ranking says it of both.
#[test]
fn the_interval_of_a_model_is_that_of_the_ranking() {
    let units = |model: &str, all: [f64; 3]| -> Vec<Record> {
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
    let error = |records: &[Record], question: &BuyQuestion| buy(records, question).unwrap_err().to_string();
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
    let mut wonder: Vec<Record> = offered("Wonder", 9e5, "1USD").into_iter().map(fake).collect();
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
        let of = |kind: Kind| tests.iter().find(|t| t.kind == kind).unwrap();
        assert_eq!(of(Kind::RandomWrite).below, Some(true), "per-card IOPS are sums over jobs: 147 to 451 of 500");
        // All but one read more than 1500.
        assert_eq!(of(Kind::RandomRead).below, Some(specimen.unit == "CA (published)"), "{}", specimen.unit);
        // One run has no bounds, but a value below half of a threshold certainly misses it: 147 of 500.
        let far_below = specimen.unit == "3 (published)";
        let of_writes = if far_below { Status::Fail } else { Status::Indeterminate };
        assert_eq!((of(Kind::RandomRead).status, of(Kind::RandomWrite).status), (Status::Indeterminate, of_writes));
        // No sequential write was measured.
        assert_eq!(specimen.classes[0].status, if far_below { Status::Fail } else { Status::NotMeasured });
    }
    assert!(found.is_no());
    let models: Vec<usize> = found.models.iter().map(|m| m.units).collect();
    assert_eq!(models, [1, 2, 3]);
    assert!(found.models[0].classes[0].parts.iter().skip(1).all(|p| p.word == ModelWord::OneUnit));
}

fn tested(read: f64, write: f64, stream: f64) -> Record {
    let record =
        with(record("Card", "1"), work(Op::Write, Pattern::Sequential, (1 << 20, 8, 1)), &around(stream / 1_048_576.0));
    let record = with(record, work(Op::Read, Pattern::Random, (4096, 32, 1)), &around(read));
    with(record, work(Op::Write, Pattern::Random, (4096, 32, 1)), &around(write))
}

#[test]
fn repeats_pass_fail_or_do_not_tell() {
    let status = |record: Record, name: &'static str| {
        let found = class(&[record], &[name]).unwrap();
        (found.units[0].classes[0].status, found.is_no())
    };
    // One run: other days may differ by 9 % to each side, and by 13 % where any of three is to be missed.
    assert_eq!(status(tested(1700.0, 560.0, 15e6), "A1"), (Status::Pass, false));
    assert_eq!(status(tested(1600.0, 520.0, 15e6), "A1"), (Status::Indeterminate, false));
    assert_eq!(status(tested(1600.0, 400.0, 15e6), "A1"), (Status::Fail, true));
    assert_eq!(status(tested(1600.0, 505.0, 15e6), "A1"), (Status::Indeterminate, false));
    assert_eq!(status(tested(9000.0, 9000.0, 95e6), "A2"), (Status::NotTestable, false));
    assert_eq!(status(tested(1.0, 1.0, 34e6), "V30"), (Status::Pass, false));
    let mut queueing = tested(9000.0, 9000.0, 95e6);
    queueing.medium.queue.insert("cmdq_en".to_owned(), "1".to_owned());
    assert_eq!(status(queueing, "A2"), (Status::Pass, false));
    let mut limited = tested(1600.0, 550.0, 22e6);
    limited.measurements[0].bus_limited = true;
    assert_eq!(status(limited, "V30"), (Status::BusLimited, false));
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
    assert!(found.excluded[0].name() == "Other 1" && found.excluded[0].reason == Reason::NoLoadAsked);
    let records = [offered("A", 900.0, "20USD"), vec![labelled(other, "price", "1USD")]].concat();
    let asked = BuyQuestion { load: Some("random read 4 KiB".to_owned()), ..fleet() };
    let found = buy(&records, &asked).unwrap();
    assert_eq!((found.options.len(), found.excluded[0].name()), (1, "Other 1".to_owned()));
    // Without a name, the load under which most can be said decides.
    assert_eq!(buy(&records, &fleet()).unwrap().title, "random read 4 KiB");
}
