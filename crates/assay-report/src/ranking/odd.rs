//! Units and slots that stand out.

use assay_analysis::rank::{Deviation, LoadRanking, RankReport, SlotWarning, Unresolved};

use super::words::{self, times};
use crate::facts::clean;

/// Lines about the units and slots of a load.
pub(super) fn lines(ranking: &LoadRanking) -> Vec<String> {
    let mut lines: Vec<String> = ranking.odd.iter().map(|odd| unit(odd, words::direction(ranking))).collect();
    lines.extend(ranking.slots.iter().map(slot));
    lines
}

fn unit(odd: &Unresolved, direction: &str) -> String {
    let model = clean(&odd.model);
    let culprit = if odd.slot_known { "" } else { "; the unit or its slot" };
    let depends = if odd.ranking_depends { "; RANKING DEPENDS ON THIS UNIT" } else { "" };
    match (&odd.unit, odd.tested) {
        (Some(unit), true) => format!(
            "{model}: UNIT {} of {} deviates {} in {direction} (swap test pending){culprit}{depends}",
            clean(unit),
            odd.of,
            times(odd.ratio)
        ),
        (Some(unit), false) => format!(
            "{model}: units differ {}-fold in {direction}: UNIT {} of {} deviates, the others agree; too few units of \
             other models to test it (swap test pending){culprit}{depends}",
            times(odd.ratio),
            clean(unit),
            odd.of
        ),
        (None, true) => {
            format!("{model}: its units disagree {}-fold in {direction}; none can be named{culprit}", times(odd.ratio))
        }
        (None, false) => format!(
            "{model}: its units differ {}-fold in {direction}; too few units of other models to test it",
            times(odd.ratio)
        ),
    }
}

fn slot(slot: &SlotWarning) -> String {
    format!(
        "SLOT {} is off by {} (p {:.3}, 999 permutations): leave it out or repair it; the figures are adjusted already",
        clean(&slot.slot),
        times(slot.ratio),
        slot.p_value
    )
}

/// Units that deviate under several loads.
pub(super) fn over_loads(report: &RankReport) -> Vec<String> {
    let several = report.deviations.iter().filter(|d| d.loads > 1);
    several.map(deviation).collect()
}

fn deviation(d: &Deviation) -> String {
    let not = if d.not_in.is_empty() { String::new() } else { format!(", not in {}", d.not_in.join(" or ")) };
    let tested = if d.tested { "" } else { "; not tested, too few units of other models" };
    format!(
        "{}: UNIT {} of {} deviates {} in {} ({:.2} to {:.2} under {} of {} loads){not} (swap test pending){tested}",
        clean(&d.model),
        clean(&d.unit),
        d.of,
        times(d.ratio),
        d.direction,
        d.least,
        d.most,
        d.loads,
        d.of_loads
    )
}
