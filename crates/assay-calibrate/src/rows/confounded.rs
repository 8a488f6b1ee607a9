//! `assay rank`: equal models, each in a slot, on a day or at a host of its own.

use assay_lab::fleet::{Design, Run, Units};

use super::rank::null;
use super::truths::equal;
use crate::row::Row;

/// One card was in both, or none.
pub(super) fn rows() -> Vec<Row> {
    let slots = |units: usize| {
        let name = format!("rank 2 equal models of {units} units in different slots, one card bridges");
        let mut truth = equal(2, Units::Normal(0.03), 0.02);
        truth.spread.slot = 0.05;
        null(name, truth, move |_| {
            let design = Design::units(&[units, units]).changed(|_, run| run.slot = Some(run.model));
            let bridge = Design::units(&[1]).changed(|_, run| (run.slot, run.day) = (Some(1), 1));
            design.and(bridge)
        })
    };
    let rounds = |units: usize, bridge: bool| {
        let how = if bridge { "one card bridges" } else { "nothing bridges" };
        let name = format!("rank 2 equal models of {units} units on different days of sd 5 %, {how}");
        let mut truth = equal(2, Units::Normal(0.03), 0.01);
        truth.spread.day = 0.05;
        null(name, truth, move |_| {
            let on = |run: &mut Run, day: u32| (run.day, run.round) = (day, Some(day));
            let design = Design::units(&[units, units]).changed(|_, run| on(run, u32::from(run.model == 1)));
            let again = Design::units(&[usize::from(bridge)]).changed(|_, run| on(run, 1));
            design.and(again)
        })
    };
    let hosts = |units: usize, bridge: bool| {
        let how = if bridge { "one card bridges" } else { "nothing bridges" };
        let name = format!("rank 2 equal models of {units} units at different hosts of sd 5 %, {how}");
        let mut truth = equal(2, Units::Normal(0.03), 0.01);
        truth.spread.host = 0.05;
        null(name, truth, move |_| {
            let at = |run: &mut Run, host: usize| (run.host, run.slot) = (host, Some(0));
            let design = Design::units(&[units, units]).changed(|_, run| at(run, run.model));
            design.and(Design::units(&[usize::from(bridge)]).changed(|_, run| at(run, 1)))
        })
    };
    vec![
        slots(3).short(),
        slots(6),
        rounds(3, true),
        rounds(6, true),
        rounds(3, false),
        hosts(3, true),
        hosts(6, true),
        hosts(3, false),
    ]
}
