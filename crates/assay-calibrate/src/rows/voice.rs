//! Commands against each other: what one decides, no other denies.

use std::collections::BTreeSet;

use assay_analysis::rank::RankOptions;
use assay_core::record::Record;
use assay_lab::Dice;
use assay_lab::fleet::{Design, Fleet, Units};

use super::truths::equal;
use crate::decisions::{Ended, buy, compare_orders, orders, race, rank, stored};
use crate::found::{Failure, Found};
use crate::row::{Bound, Row};

/// Two to four models of one to five units, each on one to three days.
fn fleet(seed: u64) -> Fleet {
    let mut dice = Dice::new(seed);
    let mut pick = |most: u64| 1 + usize::try_from(dice.below(most)).unwrap_or(0);
    let models = 1 + pick(3);
    let design: Vec<usize> = (0..models).map(|_| pick(5)).collect();
    let days = u32::try_from(pick(3)).unwrap_or(1);
    let mut truth = equal(models, Units::Normal(0.05), 0.02).with_price("12USD");
    truth.models.iter_mut().for_each(|model| model.ratio = (0.15 * dice.normal()).exp());
    Fleet { truth, design: Design::units(&design).on_days(days), seed }
}

type Orders = BTreeSet<(String, String)>;

fn both(records: &[Record]) -> Result<(Orders, Orders), Failure> {
    let ranked = orders(&rank(records, &RankOptions::default())?).into_iter().collect();
    Ok((ranked, compare_orders(records)?.into_iter().collect()))
}

pub(super) fn rows() -> Vec<Row> {
    vec![
        Row::new("one voice: rank and compare order the same models of several units", Bound::Wrong(0.0), |seed| {
            let fleet = fleet(seed);
            let (ranked, mut compared) = both(&stored(&fleet)?)?;
            // Of one unit the ranking says nothing; the comparison assumes how units of its model differ.
            let units = |model: &str| -> BTreeSet<usize> {
                fleet
                    .design
                    .0
                    .iter()
                    .filter(|run| fleet.truth.models[run.model].name == model)
                    .map(|r| r.unit)
                    .collect()
            };
            compared.retain(|(a, b)| units(a).len() > 1 && units(b).len() > 1);
            Ok(Found::of(ranked == compared))
        }),
        Row::new("one voice: rank and compare never order two models opposite ways", Bound::Wrong(0.0), |seed| {
            let (ranked, compared) = both(&stored(&fleet(seed))?)?;
            Ok(Found::of(ranked.iter().all(|(a, b)| !compared.contains(&(b.clone(), a.clone())))))
        }),
        Row::new("one voice: no race and no purchase takes a model that another beats", Bound::Wrong(0.0), |seed| {
            let records = stored(&fleet(seed))?;
            let (ranked, compared) = both(&records)?;
            let beaten = |model: &str| ranked.iter().chain(&compared).any(|(_, worse)| worse == model);
            let bought = buy(&records)?.model.is_some_and(|model| beaten(&model));
            let raced = match race(&records, &[], seed)?.ended {
                Some(Ended::Buy(model)) => beaten(&model),
                Some(Ended::Tied(models, _)) => models.iter().any(|model| beaten(model)),
                Some(Ended::Other) | None => false,
            };
            Ok(Found::of(!bought && !raced))
        }),
    ]
}
