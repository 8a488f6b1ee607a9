//! Which figure of a load decides, in every command: what people read first of it, and of sequential writes the durable
//! rate, where all that takes part have it.
//!
//! A cache acknowledges at its own speed what the medium takes at half of it: `rank` named one model the best by the
//! acknowledged rate, and `advise buy` bought another by the durable one, of the same records.

use assay_core::record::Record;
use assay_core::workload::Op;

use crate::load::Load;
use crate::quantity::Quantity;
use crate::reading::reading;

/// The figure that decides a load, and how many figures lack the durable rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decides {
    /// The figure.
    pub quantity: Quantity,
    /// Number of figures without the durable rate where others have it, so that the acknowledged rate decides. 0 where
    /// none lacks it, or all do.
    pub lacking: usize,
}

/// The figure of a load that decides among these records.
#[must_use]
pub fn deciding_quantity<'a>(records: impl IntoIterator<Item = &'a Record>, load: &Load) -> Decides {
    let usual = Quantity::usual(load);
    if usual != Quantity::BytesPerSecond || load.op() != Op::Write {
        return Decides { quantity: usual, lacking: 0 };
    }
    let (mut all, mut durable) = (0, 0);
    for record in records {
        let counts = |quantity| reading(record, load, quantity).is_some_and(|reading| reading.counts());
        if counts(usual) {
            all += 1;
            durable += usize::from(counts(Quantity::DurableBytesPerSecond));
        }
    }
    match (durable, all - durable) {
        (0, _) => Decides { quantity: usual, lacking: 0 },
        (_, 0) => Decides { quantity: Quantity::DurableBytesPerSecond, lacking: 0 },
        (_, lacking) => Decides { quantity: usual, lacking },
    }
}

#[cfg(test)]
mod tests {
    use assay_core::outcome::Outcome;
    use assay_core::record::{Measurement, Repeat};
    use assay_core::workload::{Pattern, Workload};

    use super::*;
    use crate::advise::{BuyQuestion, Choice};
    use crate::compare::{By, Gate, Limit, PairVerdict, Request, compare, gate, split};
    use crate::plan::{NextAction, RaceOptions, race};
    use crate::rank::{RankOptions, rank};
    use crate::{advise, loads, samples};

    /// A sequential write that is acknowledged at one rate and durable at another.
    fn card(id: &str, model: &str, unit: &str, rate: f64, durable: Option<f64>) -> Record {
        let workload = Workload { queue_depth: 8, ..Workload::new("w", Op::Write, Pattern::Sequential, 1 << 20) };
        let mut measurement = Measurement::empty(workload, "sync");
        let repeat = |off: f64| Repeat {
            operations: 100,
            iops: rate * off / 1048576.0,
            bytes_per_second: rate * off,
            durable_bytes_per_second: durable.map(|durable| durable * off),
            ..Repeat::empty("", Outcome::Completed)
        };
        measurement.repeats = [0.999, 1.0, 1.001].map(repeat).to_vec();
        let mut record = samples::record(id, model, unit, vec![measurement]);
        record.labels.insert("price".to_owned(), "10USD".to_owned());
        record
    }

    /// A is acknowledged at 60 MB/s and durable at 20, B at 40 and 35.
    fn store() -> Vec<Record> {
        let of = |at: u32| {
            let (unit, off) = (at.to_string(), 1.0 + 0.01 * f64::from(at));
            let card = |model: &str, rate: f64, durable: f64| {
                card(&format!("{model}{at}"), model, &unit, rate * off, Some(durable * off))
            };
            [card("A", 60e6, 20e6), card("B", 40e6, 35e6)]
        };
        (0..4).flat_map(of).collect()
    }

    /// Rank, compare, race and buy name the same model.
    #[test]
    fn one_figure_decides_on_writes_in_every_command() {
        let records = store();
        let named: Vec<&Record> = records.iter().collect();
        let load = loads(named.iter().copied())[0].clone();
        let ranked = rank(&named, &RankOptions::default()).unwrap().primary;
        assert_eq!((ranked.models[0].model.as_str(), ranked.quantity), ("B", Quantity::DurableBytesPerSecond));
        let acknowledged = RankOptions { quantity: Some(Quantity::BytesPerSecond), ..RankOptions::default() };
        assert_eq!(rank(&named, &acknowledged).unwrap().primary.models[0].model, "A", "--metric rate");
        let groups = [records.clone()];
        let compared = compare(&split(&groups, By::Model), &Request::default()).unwrap();
        assert_eq!(compared.primary().unwrap().pairs[0].verdict, PairVerdict::Better);
        let decides = deciding_quantity(&records, &load);
        let options = RaceOptions { threshold: 0.95, cap: 10, left: None, slots: 1, dropped: Vec::new(), seed: 1 };
        let raced = race(&records, &load, decides.quantity, &options).unwrap();
        assert_eq!(raced.action, NextAction::Buy { model: "B".to_owned() });
        let bought = advise::buy(&records, &BuyQuestion::of(5)).unwrap();
        assert!(matches!(bought.choice, Choice::Buy { index, .. } if bought.options[index].model == "B"));
    }

    #[test]
    fn where_some_lack_the_durable_rate_the_acknowledged_one_decides_and_that_is_told() {
        let mut records = store();
        records.push(card("A9", "A", "9", 60e6, None));
        let load = loads(&records)[0].clone();
        assert_eq!(deciding_quantity(&records, &load), Decides { quantity: Quantity::BytesPerSecond, lacking: 1 });
        let named: Vec<&Record> = records.iter().collect();
        let ranked = rank(&named, &RankOptions::default()).unwrap().primary;
        assert_eq!(ranked.models[0].model, "A");
        assert!(ranked.remarks.contains(&crate::rank::Remark::Acknowledged { lacking: 1 }), "{:?}", ranked.remarks);
        let groups = [records.clone()];
        let compared = compare(&split(&groups, By::Model), &Request::default()).unwrap();
        let told = crate::compare::Note::Acknowledged { loads: vec![load.title()] };
        assert!(compared.notes.contains(&told), "{:?}", compared.notes);
    }

    /// The acknowledged rate is unchanged, and the durable rate halves.
    #[test]
    fn the_gate_fails_where_the_durable_rate_halves() {
        let judged = |durable: f64| -> Gate {
            let (a, b) = (card("a", "A", "1", 60e6, Some(40e6)), card("b", "A", "1", 60e6, Some(durable)));
            let groups = [vec![a], vec![b]];
            let groups: Vec<_> = groups.iter().flat_map(|of| split(std::slice::from_ref(of), By::Record)).collect();
            let request = Request { runs: true, ..Request::default() };
            let shown = compare(&groups, &request).unwrap();
            gate(&groups, &request, &shown, &[Limit::parse("slower than 5%").unwrap()], false).unwrap()
        };
        assert!(judged(20e6).failed());
        assert!(!judged(40e6).failed());
    }
}
