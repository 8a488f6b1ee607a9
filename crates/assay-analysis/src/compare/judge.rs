//! Derives the verdict from a ratio and its interval.

use assay_stats::rank::{Answer, Doubt};

use super::pair::Numbers;
use super::report::{Pair, PairVerdict, Question, Side, Why};
use crate::reading::Mark;

/// The rules of honest comparison. A figure at the ceiling of its bus is a lower bound of the medium: it can show that
/// the medium is better, but not that it is worse or equal. An invalid figure is compared with nothing, and a medium
/// that is not genuine wins nothing. `refused` is the reason why the records of the groups allow no answer: the
/// computers are of different kinds and no common unit connects them, or the media are unknown.
pub(super) fn judge(
    first: &Side,
    second: &Side,
    numbers: Numbers,
    (bus, refused): ([bool; 2], Option<Why>),
    more_is_better: bool,
) -> Pair {
    let second_leads = (numbers.ratio > 1.0) == more_is_better;
    let bus = (bus[0], bus[1]);
    let measured = match numbers.answer {
        Answer::Same => PairVerdict::Same,
        Answer::Different if second_leads => PairVerdict::Better,
        Answer::Different => PairVerdict::Worse,
        Answer::CannotTell(Doubt::SingleValue) => PairVerdict::CannotTell(Why::SingleValue),
        Answer::CannotTell(Doubt::NoSpread) => PairVerdict::CannotTell(Why::NoSpread),
        Answer::CannotTell(Doubt::Wide) if numbers.runs.is_some_and(|runs| runs.differ.is_some()) => {
            PairVerdict::CannotTell(Why::Days)
        }
        Answer::CannotTell(Doubt::Wide) if numbers.own_days => PairVerdict::CannotTell(Why::OwnDays),
        Answer::CannotTell(Doubt::Wide) => PairVerdict::CannotTell(Why::Wide),
    };
    // Where only one unit was measured, the variance between units is assumed. That is enough to tell models apart, but
    // not to call them equal.
    let measured = match measured {
        PairVerdict::Same | PairVerdict::CannotTell(Why::Wide) if numbers.question == Question::Specimens => {
            PairVerdict::CannotTell(Why::OneUnit)
        }
        other => other,
    };
    let winner = match measured {
        PairVerdict::Better => Some(second),
        PairVerdict::Worse => Some(first),
        _ => None,
    };
    let hidden = match measured {
        PairVerdict::Same => bus.0 || bus.1,
        PairVerdict::Better => bus.0,
        PairVerdict::Worse => bus.1,
        PairVerdict::BusTie | PairVerdict::CannotTell(_) => false,
    };
    // The best of several runs against a mean: the best is above the mean of its medium by an unknown amount.
    let best = (first.has(Mark::BestOf), second.has(Mark::BestOf));
    let flattered = match measured {
        PairVerdict::Same => best.0 != best.1,
        PairVerdict::Better => best.1 && !best.0,
        PairVerdict::Worse => best.0 && !best.1,
        PairVerdict::BusTie | PairVerdict::CannotTell(_) => false,
    };
    let either = |mark| first.has(mark) || second.has(mark);
    let verdict = if either(Mark::Invalid) {
        PairVerdict::CannotTell(Why::Invalid)
    } else if either(Mark::Failed) || either(Mark::Unfinished) {
        PairVerdict::CannotTell(Why::Incomplete)
    } else if bus == (true, true) {
        PairVerdict::BusTie
    } else if winner.is_some_and(|side| side.has(Mark::Fake)) {
        PairVerdict::CannotTell(Why::Fake)
    } else if let Some(why) = refused {
        PairVerdict::CannotTell(why)
    } else if hidden {
        PairVerdict::CannotTell(Why::BusHides)
    } else if flattered {
        PairVerdict::CannotTell(Why::BestOf)
    } else {
        measured
    };
    Pair {
        first: first.group,
        second: second.group,
        question: numbers.question,
        ratio: numbers.ratio,
        low: numbers.low,
        high: numbers.high,
        days: numbers.days,
        runs: numbers.runs,
        series: numbers.series,
        models: numbers.models,
        n: numbers.n,
        verdict,
        significant: numbers.significant,
        at_least: match verdict {
            PairVerdict::Better => bus.1,
            PairVerdict::Worse => bus.0,
            _ => false,
        },
        needed: numbers
            .needed
            .filter(|_| matches!(verdict, PairVerdict::CannotTell(Why::Wide | Why::Days | Why::OneUnit))),
    }
}
