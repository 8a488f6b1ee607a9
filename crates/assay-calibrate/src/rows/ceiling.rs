//! `assay rank`: figures that say less than they seem to, at the ceiling of a bus and of fakes.

use assay_analysis::rank::RankOptions;
use assay_lab::fleet::{Ceiling, Design, Load, Truth, Units};

use super::rank::{asked, null, ranked};
use super::truths::{equal, spread};
use crate::found::Found;
use crate::row::{ERROR, Row};

pub(super) fn rows() -> Vec<Row> {
    [ceilings(), fakes()].into_iter().flatten().collect()
}

/// Rates that the bus ends. The ceiling is the rate of the load.
fn ceilings() -> Vec<Row> {
    let load = Load::sequential_read();
    let ceiling = load.iops * load.workload.block_bytes as f64;
    let truth = |over: f64, known: bool| {
        let mut truth = Truth::equal(load.clone(), 3, Units::Normal(0.1), spread(0.02));
        truth.models.iter_mut().for_each(|m| m.ratio = over);
        truth.with_ceiling(Ceiling { bytes_per_second: ceiling, known })
    };
    let each = |units: usize| move |_| Design::units(&[units; 3]);
    let asked_for = || RankOptions { ceiling: Some(ceiling), ..RankOptions::default() };
    let one = truth(0.95, true).with_ratio(0, 2.0);
    vec![
        asked("rank 3 equal models of 3 units at the ceiling, --ceiling", truth(1.0, false), each(3), asked_for()),
        asked(
            "rank 3 equal models of 3 units at 0.95 of the ceiling, --ceiling",
            truth(0.95, false),
            each(3),
            asked_for(),
        ),
        null("rank 3 equal models of 3 units at the ceiling, in the records", truth(1.0, true), each(3)),
        null("rank 3 equal models of 6 units at 0.95 of the ceiling, in the records", truth(0.95, true), each(6)),
        null("rank 3 equal models of 3 units at the ceiling, not told", truth(1.0, false), each(3)),
        null("rank 3 equal models of 6 units at the ceiling, not told", truth(1.0, false), each(6)),
        Row::new("rank a model at twice the ceiling is never worse, 6 units", ERROR, move |seed| {
            let best = &one.models[0].name;
            let said = ranked(&one, Design::units(&[6; 3]), &RankOptions::default(), seed)?;
            Ok(match said.iter().find(|(_, worse)| worse == best) {
                Some(_) => Found::Wrong,
                None if said.iter().any(|(better, _)| better == best) => Found::Right,
                None => Found::Undecided,
            })
        }),
    ]
}

/// One unit of the better model is a fake: that does not make the other model better.
fn fakes() -> Vec<Row> {
    let truth = equal(2, Units::Normal(0.1), 0.02).with_ratio(0, 2.0).with_fake(0, 5);
    vec![Row::new("rank a model at twice the speed, one of its 6 units is a fake", ERROR, move |seed| {
        let said = ranked(&truth, Design::units(&[6, 6]), &RankOptions::default(), seed)?;
        let slower = &truth.models[1].name;
        Ok(if said.iter().any(|(better, _)| better == slower) { Found::Wrong } else { Found::Undecided })
    })]
}
