//! Units and slots that stand out.

use assay_analysis::rank::{Deviation, LoadRanking, RankReport, SlotWarning, Unresolved};
use assay_core::text::clean;
use assay_core::units::{multiple, times};

use super::words;

/// Lines about the units and slots of a load.
pub(super) fn lines(ranking: &LoadRanking) -> Vec<String> {
    let mut lines: Vec<String> = ranking.odd.iter().map(|odd| unit(odd, words::direction(ranking))).collect();
    lines.extend(ranking.slots.iter().map(slot));
    lines
}

fn unit(odd: &Unresolved, direction: &str) -> String {
    let model = clean(&odd.model);
    let culprit = if odd.slot_known { "" } else { ", as it may be the slot" };
    let depends = if odd.ranking_depends { "; the ranking depends on this unit" } else { "" };
    let swap = format!("; swap slots to check{culprit}{depends}");
    match (&odd.unit, odd.tested) {
        (Some(unit), _) if odd.again => {
            let (unit, ratio) = (clean(unit), times(odd.ratio));
            format!(
                "{model}: measure unit {unit} of {} again: it {direction} at {ratio} the others, by one repeat while its host was \
                 disturbed{depends}",
                odd.of
            )
        }
        (Some(unit), _) => {
            format!("{model}: unit {} of {} {direction} at {} the others{swap}", clean(unit), odd.of, times(odd.ratio))
        }
        (None, true) => {
            format!(
                "{model}: its units disagree by a factor of {}; none can be named{}{swap}",
                multiple(odd.ratio),
                more(odd)
            )
        }
        (None, false) if odd.heavy_tails => format!(
            "{model}: its units differ by a factor of {}, as those of a model with heavy tails do; whether one is odd cannot be told",
            multiple(odd.ratio)
        ),
        (None, false) => format!(
            "{model}: its units differ by a factor of {}; too few units of other models to test it{}",
            multiple(odd.ratio),
            more(odd)
        ),
    }
}

/// How many units would name the odd one.
fn more(odd: &Unresolved) -> String {
    let of =
        |n: u32| format!("; {n} units of the model would identify one that deviates by as much in 80 of 100 cases");
    odd.needed.map(of).unwrap_or_default()
}

fn slot(slot: &SlotWarning) -> String {
    format!(
        "slot {} deviates by a factor of {} (p {:.3}, 999 permutations): leave it out or repair it; the figures are already adjusted",
        clean(&slot.slot),
        multiple(slot.ratio),
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
    let mend = if d.again {
        "measure it again, as it was measured once while its host was disturbed"
    } else {
        "swap slots to check"
    };
    format!(
        "{}: unit {} of {} {} at {} the others ({:.2} to {:.2} under {} of {} loads){not}; {mend}",
        clean(&d.model),
        clean(&d.unit),
        d.of,
        d.direction,
        times(d.ratio),
        d.least,
        d.most,
        d.loads,
        d.of_loads
    )
}
