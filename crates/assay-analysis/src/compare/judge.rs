//! From a ratio with its interval to what may be said.

use assay_stats::rank::{Answer, Doubt};

use super::pair::Numbers;
use super::report::{Pair, Question, Side, Verdict, Why};
use crate::reading::Mark;

/// The rules of honest comparison. A figure at the ceiling of its bus bounds the medium from below: that it is
/// better can be said, that it is worse or equal cannot. What is invalid is compared with nothing, and what is not
/// genuine wins nothing.
pub(super) fn judge(first: &Side, second: &Side, numbers: Numbers, bus: [bool; 2], more_is_better: bool) -> Pair {
    let second_leads = (numbers.ratio > 1.0) == more_is_better;
    let bus = (bus[0], bus[1]);
    let measured = match numbers.answer {
        Answer::Same => Verdict::Same,
        Answer::Different if second_leads => Verdict::Better,
        Answer::Different => Verdict::Worse,
        Answer::CannotTell(Doubt::SingleValue) => Verdict::CannotTell(Why::SingleValue),
        Answer::CannotTell(Doubt::NoSpread) => Verdict::CannotTell(Why::NoSpread),
        Answer::CannotTell(Doubt::Wide) if numbers.runs.is_some_and(|runs| runs.differ.is_some()) => {
            Verdict::CannotTell(Why::Days)
        }
        Answer::CannotTell(Doubt::Wide) => Verdict::CannotTell(Why::Wide),
    };
    // How units of a model differ is assumed where one was measured: enough to tell models apart, not to call them equal.
    let measured = match measured {
        Verdict::Same | Verdict::CannotTell(Why::Wide) if numbers.question == Question::Specimens => {
            Verdict::CannotTell(Why::OneUnit)
        }
        other => other,
    };
    let winner = match measured {
        Verdict::Better => Some(second),
        Verdict::Worse => Some(first),
        _ => None,
    };
    let hidden = match measured {
        Verdict::Same => bus.0 || bus.1,
        Verdict::Better => bus.0,
        Verdict::Worse => bus.1,
        Verdict::BusTie | Verdict::CannotTell(_) => false,
    };
    // The best of several runs against a mean: the one is above what its medium does on average, by nobody knows how much.
    let best = (first.has(Mark::BestOf), second.has(Mark::BestOf));
    let flattered = match measured {
        Verdict::Same => best.0 != best.1,
        Verdict::Better => best.1 && !best.0,
        Verdict::Worse => best.0 && !best.1,
        Verdict::BusTie | Verdict::CannotTell(_) => false,
    };
    let either = |mark| first.has(mark) || second.has(mark);
    let verdict = if either(Mark::Invalid) {
        Verdict::CannotTell(Why::Invalid)
    } else if either(Mark::Failed) || either(Mark::Unfinished) {
        Verdict::CannotTell(Why::Incomplete)
    } else if bus == (true, true) {
        Verdict::BusTie
    } else if winner.is_some_and(|side| side.has(Mark::Fake)) {
        Verdict::CannotTell(Why::Fake)
    } else if hidden {
        Verdict::CannotTell(Why::BusHides)
    } else if flattered {
        Verdict::CannotTell(Why::BestOf)
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
        n: numbers.n,
        verdict,
        significant: numbers.significant,
        at_least: match verdict {
            Verdict::Better => bus.1,
            Verdict::Worse => bus.0,
            _ => false,
        },
        needed: numbers.needed.filter(|_| matches!(verdict, Verdict::CannotTell(Why::Wide | Why::Days | Why::OneUnit))),
    }
}
