//! Sentences about models, in the words that every output uses.

use std::collections::BTreeSet;

use assay_analysis::Mark;
use assay_analysis::rank::{
    Better, CeilingSource, FailedRecord, LoadRanking, Medal, MediumFailure, ModelRow, PairRow, Precedence, RankReport,
    RankStanding, UnitRow, UsedCeiling,
};
use assay_core::estimate::Estimate;
use assay_core::text::{capitalised, clean};
use assay_core::units::{counted, figures, fixed, rate, span, trimmed};
use assay_core::verification::Verdict;
use assay_core::workload::Op;

use crate::caveats::needed;
use crate::change::{bound, change, change_with, difference, is_useless};
use crate::headline::MB;

/// Unit of a ranking's figures, and what they are divided by.
pub(super) fn unit(ranking: &LoadRanking) -> (&'static str, f64) {
    let first = ranking.models.iter().find_map(|m| m.estimate.as_ref()).map_or(1e6, |e| e.point);
    crate::headline::unit(ranking.quantity, first)
}

/// The name of the metric, for a heading: `IOPS`, `p99 latency`.
pub(super) fn metric(ranking: &LoadRanking) -> &'static str {
    ranking.quantity.title()
}

/// The deciding load and metric, and whether the user chose them.
pub(super) fn deciding(report: &RankReport) -> String {
    let primary = &report.primary;
    let chosen = if report.primary_by_default { "chosen by default; --load names another" } else { "as asked for" };
    format!("By {} of {}, {chosen}.", metric(primary), clean(&primary.title))
}

/// The error probability of the other loads.
pub(super) fn exploratory(report: &RankReport) -> String {
    format!(
        "{} (exploratory), each with its own chance of {} % of a false order.",
        counted(report.exploratory.len(), "other load"),
        trimmed(report.alpha * 100.0, 2)
    )
}

/// Exploratory loads by result, so that each result is shown once. The results are in the order of their first loads;
/// loads without a ranking come last.
pub(super) fn by_finding(report: &RankReport) -> Vec<(String, Vec<&LoadRanking>)> {
    let mut alike: Vec<(String, Vec<&LoadRanking>)> = Vec::new();
    for ranking in &report.exploratory {
        let weak = if ranking.weak { format!(". {}", weak(ranking)) } else { String::new() };
        let found = format!("{}{weak}", verdict(ranking));
        match alike.iter_mut().find(|(known, _)| *known == found) {
            Some((_, loads)) => loads.push(ranking),
            None => alike.push((found, vec![ranking])),
        }
    }
    alike.sort_by_key(|(_, loads)| loads.first().is_some_and(|ranking| ranking.refusal.is_some()));
    alike
}

/// `2`, `2–4`.
pub(super) fn ranks((first, last): (usize, usize)) -> String {
    if first == last { first.to_string() } else { format!("{first}–{last}") }
}

/// `1 720 (1 540–1 921)`; `>= 22.8` at the ceiling; `1 720 (too wide)` where the interval says nothing.
pub(crate) fn estimate(estimate: &Estimate, at_ceiling: bool, divisor: f64) -> String {
    let point = figures(estimate.point / divisor);
    if estimate.low.zip(estimate.high).is_some_and(|(low, high)| is_useless(low, high)) {
        return format!("{point} (too wide)");
    }
    let (low, high) = (estimate.low.map(|v| figures(v / divisor)), estimate.high.map(|v| figures(v / divisor)));
    match (low, high) {
        (Some(low), Some(high)) => format!("{point} ({low}–{high})"),
        _ if at_ceiling => format!(">= {point}"),
        (Some(low), None) => format!("{point} (>= {low})"),
        _ => format!("{point} (n={})", estimate.n),
    }
}

/// `95 %`.
pub(super) fn level(alpha: f64) -> String {
    let percent = format!("{:.1}", (1.0 - alpha) * 100.0);
    format!("{} %", percent.strip_suffix(".0").unwrap_or(&percent))
}

/// Models in a sentence: `A and B`, `A, B and C`.
fn set(models: &[&ModelRow]) -> String {
    let names: Vec<String> = models.iter().map(|m| clean(&m.model)).collect();
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => names.concat(),
    }
}

/// `at least 21.9 MB/s of 23.0`.
fn held(ceiling: &UsedCeiling) -> String {
    format!("at least {} of {}", rate(ceiling.held_from()), figures(ceiling.bytes_per_second / MB))
}

/// Whether two of these models were measured with computers that nothing connects.
fn apart(ranking: &LoadRanking, models: &[&ModelRow]) -> bool {
    let is_of = |name: &str| models.iter().any(|m| m.model == name);
    let mut apart = ranking.pairs.iter().filter(|pair| pair.verdict == Better::OtherComputer);
    apart.any(|pair| is_of(&pair.first) && is_of(&pair.second))
}

/// The best layer in a few words.
pub(crate) fn verdict(ranking: &LoadRanking) -> String {
    match found_and_mend(ranking) {
        (found, Some(mend)) => format!("{found}; {mend}"),
        (found, None) => found,
    }
}

/// What a ranking finds of the first place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum First {
    /// Nothing was ordered.
    NotRanked,
    /// One model is the best.
    Best,
    /// One leads, and lost data.
    Corrupt,
    /// One leads, and some of its units failed.
    Failing,
    /// One leads by one unit.
    OneUnit,
    /// Several, and all are limited by the bus.
    BusLimit,
    /// Several cannot be separated, and units of some failed.
    TieWithFailures,
    /// Several that were measured on different computers.
    OtherComputers,
    /// Several cannot be separated.
    Tie,
}

/// The result for the first place, and its models.
pub(crate) fn first(ranking: &LoadRanking) -> (First, Vec<&ModelRow>) {
    if ranking.refusal.is_some() {
        return (First::NotRanked, Vec::new());
    }
    let best: Vec<&ModelRow> = ranking.models.iter().filter(|m| m.layer == Some(1)).collect();
    let held_all = best.iter().all(|m| m.at_ceiling);
    let found = match best.as_slice() {
        [] => First::NotRanked,
        several if several.len() > 1 && held_all => First::BusLimit,
        [one] => match (one.medal, one.class) {
            (Some(Medal::Gold), _) => First::Best,
            (_, Precedence::Corrupt) => First::Corrupt,
            (_, Precedence::Failing) => First::Failing,
            _ => First::OneUnit,
        },
        several if several.iter().any(|m| m.class != Precedence::Sound) => First::TieWithFailures,
        several if apart(ranking, several) => First::OtherComputers,
        _ => First::Tie,
    };
    (found, best)
}

/// The finding on the first place alone, for titles: one line, without an interval and without advice.
pub(crate) fn title(ranking: &LoadRanking) -> String {
    found_and_mend(ranking).0
}

/// The result in two parts: the finding, and the remedy where there is no order. Names may contain any character.
fn found_and_mend(ranking: &LoadRanking) -> (String, Option<&'static str>) {
    let (found, best) = first(ranking);
    let names = set(&best);
    let found = match found {
        First::NotRanked => {
            let why = ranking.refusal.as_ref().map(|refusal| format!(": {}", clean(&refusal.to_string())));
            format!("Not ranked{}", why.unwrap_or_default())
        }
        First::BusLimit => {
            let ceiling = ranking.ceiling.as_ref().map(|used| format!(" ({})", held(used))).unwrap_or_default();
            format!("Cannot separate {names}: all are limited by the bus{ceiling}")
        }
        First::Best => format!("{names} is the best"),
        First::Corrupt => format!("{names} leads but lost data, so it gets no medal"),
        First::Failing => format!("{names} leads but some of its units failed, so it gets no gold"),
        First::OneUnit => format!("{names} leads, from one unit only"),
        First::TieWithFailures => format!("Cannot separate {names}, and units of some failed"),
        First::OtherComputers => {
            let found = format!("Cannot tell: {names} were measured on different computers");
            return (found, Some("measure one unit on each of them"));
        }
        First::Tie => return (format!("Cannot separate {names}"), Some("measure more units")),
    };
    (found, None)
}

/// The answer on the load that decides.
pub(crate) fn of_report(report: &RankReport) -> String {
    answer(&report.primary, report.alpha)
}

/// The answer in a sentence or two.
pub(crate) fn answer(ranking: &LoadRanking, alpha: f64) -> String {
    let (found, mend) = found_and_mend(ranking);
    let mend = mend.map(|mend| format!("; {mend}")).unwrap_or_default();
    let verdict = format!("{found}{mend}");
    if ranking.refusal.is_some() {
        return format!("{verdict}.");
    }
    let best: Vec<&ModelRow> = ranking.models.iter().filter(|m| m.layer == Some(1)).collect();
    let between = |a: &str, b: &str| ranking.pairs.iter().find(|p| p.first == a && p.second == b);
    let mut text = match best.as_slice() {
        [one] => match ranking.models.get(1).and_then(|next| between(&one.model, &next.model)) {
            Some(next) => format!("{verdict}. {}.", pair(next, alpha)),
            None => format!("{verdict}."),
        },
        several if several.iter().all(|m| m.at_ceiling) => {
            format!(
                "{verdict}. The bus hides any further difference between the media: here they are equal, so take the \
                 cheapest."
            )
        }
        [a, b] => match between(&a.model, &b.model) {
            Some(pair) => format!("{found}: the first looks better, {}{mend}.", ratio(pair, alpha)),
            None => format!("{verdict}."),
        },
        _ => format!("{found}: at {} no two of them differ{mend}.", level(alpha)),
    };
    if let Some(tell) = &ranking.needed {
        text += &format!(" {}.", capitalised(&needed(tell)));
    }
    if ranking.weak {
        text += &format!(" {}.", weak(ranking));
    }
    text
}

/// That few units stand behind an order.
fn weak(ranking: &LoadRanking) -> String {
    format!("Only {}: a weak result", counted(ranking.basis.units, "unit"))
}

/// The sentence about two models.
pub(super) fn pair(pair: &PairRow, alpha: f64) -> String {
    let (a, b) = (clean(&pair.first), clean(&pair.second));
    let ratio = ratio(pair, alpha);
    match pair.verdict {
        Better::First => format!("{a} is better than {b}: {ratio}"),
        Better::FirstPerhapsSlightly => {
            format!("{a} is better than {b}, though perhaps by less than the margin: {ratio}")
        }
        Better::FirstFailsLess => format!("{a} ranks before {b}, as fewer of its units failed; speed {ratio}"),
        Better::Equivalent => format!("{a} and {b} are equivalent within the margin: {ratio}"),
        Better::Ceiling => format!("{a} and {b} are both at the ceiling: {ratio}"),
        Better::OtherComputer => {
            format!("{a} and {b} were measured on different computers: measure one unit on both")
        }
        Better::BestOf => format!("{a} is the best of several runs and {b} is not, so it is not told apart: {ratio}"),
        Better::Unresolved => format!("{a} and {b} cannot be separated: {ratio}"),
    }
}

/// The first against the second: `+25 % (−56 … +261 %, simultaneous 95 %)`.
fn ratio(pair: &PairRow, alpha: f64) -> String {
    let found = change(pair.ratio.point, None);
    match (pair.ratio.low, pair.ratio.high) {
        (Some(low), Some(high)) => {
            change_with(pair.ratio.point, Some((low, high)), &format!("simultaneous {}", level(alpha)))
        }
        (Some(low), None) => format!("{found} (at least {})", bound(low)),
        (None, Some(high)) => format!("{found} (at most {})", bound(high)),
        (None, None) => format!("{found}, not tested"),
    }
}

/// Everything that has to be known of a model beside its figure.
pub(super) fn notes(ranking: &LoadRanking, model: &ModelRow) -> Vec<String> {
    let mut notes = Vec::new();
    match model.standing {
        RankStanding::Provisional => {
            notes.push(
                "one unit, ranked with the variance of the other models: no statement about the model".to_owned(),
            );
        }
        // Specimens share a line; see `shared`.
        RankStanding::Specimen | RankStanding::Unordered | RankStanding::Ranked | RankStanding::NoFigure => {}
    }
    notes.extend(failures(model));
    if model.variance_compressed && !model.at_ceiling {
        notes
            .push("variation is under a quarter of that at the smallest block; possibly limited by the bus".to_owned());
    }
    notes.extend(model.units.iter().flat_map(|unit| unit_notes(ranking, unit)));
    for (mark, records) in &model.marks {
        let what = match mark {
            Mark::Suspect => "suspect",
            Mark::InstrumentLimited => "instrument-limited",
            Mark::BestOf => "best of several runs",
            // Said once for all of them; see the foot.
            Mark::Published | Mark::BusLimited => continue,
            Mark::Invalid | Mark::Fake | Mark::Failed | Mark::Unfinished => continue,
        };
        notes.push(format!("{what}: {records} of its records"));
    }
    notes
}

/// Sentences about several models at once: models of one unit, models at the ceiling, models without a figure unless a line
/// below names each of their records (in full: `all`).
pub(super) fn shared(ranking: &LoadRanking, all: bool) -> Vec<String> {
    let told = crate::caveats::named_one_by_one(&ranking.excluded, all);
    let no_figure = |m: &ModelRow| !is_listed(m) && !told.contains(m.model.as_str());
    let named = |what: String, of: &dyn Fn(&ModelRow) -> bool| {
        let names: Vec<String> = ranking.models.iter().filter(|m| of(m)).map(|m| clean(&m.model)).collect();
        (!names.is_empty()).then(|| format!("{what}: {}", names.join(", ")))
    };
    let one = "Not ranked, one unit only".to_owned();
    let ceiling = ranking.ceiling.as_ref().map(|used| format!(" ({})", held(used))).unwrap_or_default();
    let bound = format!("Limited by the bus{ceiling}, so the medium may be faster");
    let all = [
        named(one, &|m| m.standing == RankStanding::Specimen),
        named(bound, &|m| m.at_ceiling),
        named("No figure of this load".to_owned(), &no_figure),
    ];
    all.into_iter().flatten().collect()
}

/// Whether there is something to say of a model in a table: a figure, or how its units failed.
pub(super) fn is_listed(model: &ModelRow) -> bool {
    model.standing != RankStanding::NoFigure || model.class != Precedence::Sound
}

fn failures(model: &ModelRow) -> Option<String> {
    let share = model.failures?;
    let words = |f: &FailedRecord| {
        let what = match f.failure {
            MediumFailure::Check { verdict: Verdict::Fake } => "fake: it announces more than it has".to_owned(),
            MediumFailure::Check { verdict: Verdict::Failed } => "failed while it was checked".to_owned(),
            MediumFailure::Check { .. } => "damaged: it loses data".to_owned(),
            MediumFailure::Run { failure, elapsed_ns } => {
                format!("{} after {}", failure.title(), span(std::time::Duration::from_nanos(elapsed_ns)))
            }
        };
        let unit = if f.unit.is_empty() { String::new() } else { format!("unit {} ", clean(&f.unit)) };
        format!("{unit}{what}")
    };
    let loses = |f: &FailedRecord| match f.failure {
        MediumFailure::Check { verdict } => verdict != Verdict::Failed,
        MediumFailure::Run { .. } => false,
    };
    let lost: BTreeSet<&str> = model.failed.iter().filter(|f| loses(f)).map(|f| f.unit.as_str()).collect();
    let part = |word: &str, of: &dyn Fn(&FailedRecord) -> bool| {
        let some: Vec<&FailedRecord> = model.failed.iter().filter(|f| of(f)).collect();
        let units: BTreeSet<&str> = some.iter().map(|f| f.unit.as_str()).collect();
        let mut said: Vec<String> = Vec::new();
        for one in some.into_iter().map(words) {
            if !said.contains(&one) {
                said.push(one);
            }
        }
        (!units.is_empty()).then(|| format!("{word} {} of {} units: {}", units.len(), share.of, said.join(", ")))
    };
    // A unit that lost data is named for that alone.
    let parts = [part("data lost by", &loses), part("failed:", &|f| !lost.contains(f.unit.as_str()))];
    Some(format!(
        "{}; of all such units {:.0} to {:.0} % fail ({:.0} % confidence)",
        parts.into_iter().flatten().collect::<Vec<_>>().join("; "),
        share.low * 100.0,
        share.high * 100.0,
        share.level * 100.0
    ))
}

fn unit_notes(ranking: &LoadRanking, unit: &UnitRow) -> Vec<String> {
    let mut notes = Vec::new();
    let name = if unit.unit.is_empty() { "its unit".to_owned() } else { format!("unit {}", clean(&unit.unit)) };
    if unit.erratic {
        let deviation = unit.run_deviation.map_or_else(|| "unknown".to_owned(), |d| format!("{} %", fixed(cv(d), 0)));
        notes.push(format!("erratic {} of {name}: repeats differ by {deviation}", direction(ranking)));
    }
    if let Some(two) = &unit.two_speeds {
        let (_, divisor) = self::unit(ranking);
        let values: Vec<String> = two.values.iter().take(8).map(|v| figures(v / divisor)).collect();
        let more = if two.values.len() > 8 { ", …" } else { "" };
        notes.push(format!(
            "{name} has two speeds, {} apart: repeats {}{more}; look at the repeats before you use the mean",
            difference(two.ratio),
            values.join("; ")
        ));
    }
    notes
}

/// Variation in percent of a deviation of logarithms: that of a log-normal distribution.
pub(super) fn cv(deviation: f64) -> f64 {
    100.0 * (deviation * deviation).exp_m1().sqrt()
}

/// `reads`, `writes`, `mixed work`.
pub(super) fn direction(ranking: &LoadRanking) -> &'static str {
    match ranking.load.op() {
        Op::Read => "reads",
        Op::Write => "writes",
        Op::Mixed => "mixed work",
    }
}

/// Place of a model in a column.
pub(super) fn place(model: &ModelRow) -> String {
    let name = match (model.standing, model.medal) {
        (RankStanding::Specimen, _) => return "not ranked".to_owned(),
        (RankStanding::Provisional, _) => "provisional".to_owned(),
        (RankStanding::Unordered, _) => return "–".to_owned(),
        (RankStanding::NoFigure, _) => return "no figure".to_owned(),
        _ if model.class == Precedence::Corrupt => return "corrupt".to_owned(),
        _ if model.tied && model.at_ceiling => return "bus limit".to_owned(),
        (_, Some(Medal::Gold)) => "GOLD".to_owned(),
        (_, Some(Medal::Silver)) => "SILVER".to_owned(),
        (_, Some(Medal::Bronze)) => "BRONZE".to_owned(),
        (_, None) => model.layer.map_or_else(String::new, |layer| format!("layer {layer}")),
    };
    if model.tied && name.len() < 8 { format!("{name} tie") } else { name }
}

/// Who says what the ceiling is.
pub(super) fn ceiling(ceiling: Option<&UsedCeiling>) -> String {
    let Some(ceiling) = ceiling else { return "none known; set it with --ceiling".to_owned() };
    let source = match ceiling.source {
        CeilingSource::Asked => "as asked for",
        CeilingSource::Records => "reachable rate of the bus, from the records",
        CeilingSource::Measured => "measured: the best values of three models or more agree within 3 %",
    };
    let range = if ceiling.highest_bytes_per_second > ceiling.bytes_per_second {
        format!("{} to {}", rate(ceiling.bytes_per_second), rate(ceiling.highest_bytes_per_second))
    } else {
        rate(ceiling.bytes_per_second)
    };
    format!("{range} ({source})")
}
