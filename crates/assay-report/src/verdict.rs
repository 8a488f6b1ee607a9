//! One plain sentence on what the record says.

use assay_core::estimate::Estimate;
use assay_core::finding::{Finding, Severity, ValidityVerdict, Warning};
use assay_core::medium::{Bus, Medium};
use assay_core::observation::{Observation, ObservedMeasurement};
use assay_core::outcome::{Outcome, RunFailure};
pub(crate) use assay_core::text::capitalised;
use assay_core::text::{clean, statement};
use assay_core::units::rate;
use assay_core::verification::{Method, Verdict, Verification};

use crate::advise::judge;
use crate::caveats::notes;
use crate::headline::{Headline, MB, durable_or_acknowledged, in_words, percent};
use crate::verification::check_sentence;

/// How good the news is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Good,
    /// Neither: nothing was checked here.
    Plain,
    Care,
    Bad,
}

/// The tone of the verdict: bad for a failed or invalid record, care for a doubtful one.
pub(crate) fn tone(record: &Observation) -> Tone {
    let verified = record.verification.as_ref().map(|v| v.verdict);
    if record.outcome.medium_failed()
        || record.validity.verdict == ValidityVerdict::Invalid
        || verified.is_some_and(Verdict::is_bad)
    {
        Tone::Bad
    } else if record.outcome != Outcome::Completed
        || record.validity.verdict == ValidityVerdict::Suspect
        || matches!(verified, Some(Verdict::Undecided | Verdict::Other))
    {
        Tone::Care
    } else if record.is_printed() {
        Tone::Plain
    } else {
        Tone::Good
    }
}

/// The record in a word: how it ended, or else whether its numbers can be trusted.
pub(crate) fn word(record: &Observation) -> &'static str {
    if let Some(verified) = &record.verification {
        let completed = record.outcome == Outcome::Completed;
        let verdict = verified.verdict;
        // A fake that was proven stays one; otherwise how a medium failed says more than that it did.
        // What another tool found is its answer; its rates are beside it.
        let is_answer = verdict.is_bad() || record.measurements.is_empty() || record.is_printed();
        if verdict == Verdict::Fake || (completed && is_answer) {
            return checked(verified);
        }
    }
    match (&record.outcome, record.validity.verdict) {
        (Outcome::Failed { failure, .. }, _) => match failure {
            RunFailure::Abandoned => "killed",
            other => other.title(),
        },
        (Outcome::Running, _) => "running or killed",
        (Outcome::Completed, ValidityVerdict::Valid) if record.is_published() => "as published",
        (Outcome::Completed, ValidityVerdict::Valid) if record.is_printed() => "imported",
        (Outcome::Completed, ValidityVerdict::Valid) => "valid",
        (Outcome::Completed, ValidityVerdict::Suspect) => "suspect",
        (Outcome::Completed, ValidityVerdict::Invalid) => "invalid",
    }
}

/// What a check came to, in a word.
pub(crate) fn checked(verified: &Verification) -> &'static str {
    // If most of the medium was not tested, the verdict covers only a part.
    let part = verified.reach.as_ref().is_some_and(|reach| reach.tested_share < 0.5);
    if verified.verdict == Verdict::Genuine && matches!(verified.method, Method::QuickProbe | Method::QuickMounted) {
        return "genuine (samples)";
    }
    let is_partial = verified.verdict == Verdict::Genuine && verified.method == Method::Full && part;
    if is_partial { "genuine in part" } else { verified.verdict.title() }
}

/// The verdict on a record in plain words: what the medium does and how far the bus allows it, or
/// what invalidates the figures.
#[must_use]
pub fn verdict_sentence(record: &Observation) -> String {
    let thing = format!("This {}", record.medium.kind.title());
    if let (Some(verified), true) = (&record.verification, record.measurements.is_empty()) {
        return format!("{}.", capitalised(&statement(&check_sentence(verified))));
    }
    let sentence = end_of_medium(record, &thing).unwrap_or_else(|| of_figures(record, &thing));
    match &record.verification {
        Some(found) if found.verdict.is_bad() => format!("{thing} is {}. {sentence}", bad(found.verdict)),
        // What another tool found is its answer; the rates come second.
        Some(found) if record.is_printed() => {
            format!("{}. {sentence}", capitalised(&statement(&check_sentence(found))))
        }
        _ => sentence,
    }
}

/// How the medium failed while it was measured.
fn end_of_medium(record: &Observation, thing: &str) -> Option<String> {
    let Outcome::Failed { failure, .. } = &record.outcome else { return None };
    if !record.outcome.medium_failed() {
        return None;
    }
    let what = match failure {
        RunFailure::Hung => "stopped answering",
        RunFailure::ReadOnly => "turned read-only",
        RunFailure::Disappeared => "disappeared",
        RunFailure::IoError => "returned an I/O error",
        _ => "failed",
    };
    let nothing = Headline::from_record(record).is_empty();
    let rest = if nothing { "nothing was measured" } else { "the figures are from before that" };
    let advice = match failure {
        RunFailure::ReadOnly | RunFailure::IoError => " Save what is on it and replace it.",
        RunFailure::Disappeared => " Check how it is plugged in and powered.",
        _ => "",
    };
    Some(format!("{thing} {what} while it was measured; {rest}.{advice}"))
}

/// The state of a medium that a check proved to lose data.
fn bad(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Fake => "a fake",
        Verdict::Damaged => "damaged",
        _ => "broken",
    }
}

/// The verdict from the figures of a medium that did not fail.
fn of_figures(record: &Observation, thing: &str) -> String {
    let headline = Headline::from_record(record);
    if record.validity.verdict == ValidityVerdict::Invalid {
        let cause = notes(record)
            .into_iter()
            .find(|n| n.severity == Severity::Invalid)
            .map(|n| n.cause)
            .or_else(|| record.validity.reasons.first().map(Warning::cause))
            .unwrap_or_else(|| "they contradict each other".to_owned());
        return format!("These figures do not describe the medium. {}.", capitalised(&statement(&cause)));
    }
    let mut text = if headline.is_empty() {
        match other_figure(record) {
            Some(text) => format!("{thing} did {text}{}.", ending(record)),
            None if !record.scores.is_empty() => {
                return "No load on a medium was measured; the scores describe the host or a whole suite.".to_owned();
            }
            None => return format!("Nothing was measured{}.", ending(record)),
        }
    } else {
        let end = match (record.outcome == Outcome::Completed, most_telling(&judge(record).met())) {
            (true, Some(class)) => format!("; it meets {class} here"),
            _ => ending(record).to_owned(),
        };
        format!("{thing} {}{end}.", clauses(record, &headline))
    };
    if record.validity.verdict == ValidityVerdict::Suspect {
        let said = record.validity.reasons.first().map(|reason| clean(&reason.cause()));
        let reason = gravest(record).or(said).unwrap_or_else(|| "see the warnings".to_owned());
        text.push_str(&format!(" Treat with caution: {reason}."));
    }
    text
}

/// The cause that changes figures most: another medium, then what else used the device, then what did not come from it; that a figure rests on few
/// operations and that the host was busy come last. With the loads that it is about, where the record has others.
fn gravest(record: &Observation) -> Option<String> {
    let weight = |finding: &Finding| match finding {
        Finding::NothingMounted => 0,
        Finding::OthersUsedDevice { .. } | Finding::AnotherRun | Finding::SwapOnMedium => 1,
        Finding::ServedFromCache { .. }
        | Finding::ServerCache { .. }
        | Finding::CachedIo { .. }
        | Finding::CachedByTool { .. }
        | Finding::LoopFromCache { .. }
        | Finding::MemoryNotMedium { .. } => 2,
        Finding::FewOperations { .. } => 4,
        Finding::LoadOfOthers { .. } => 5,
        _ => 3,
    };
    let suspect = notes(record).into_iter().filter(|note| note.severity == Severity::Suspect);
    let found = suspect.min_by_key(|note| weight(&note.finding))?;
    Some(clean(&found.short_sentence(record.measurements.len())))
}

/// `; the run was interrupted` and the like; nothing for a completed run.
fn ending(record: &Observation) -> &'static str {
    match &record.outcome {
        Outcome::Completed => "",
        Outcome::Running => "; the run is still under way or was killed",
        Outcome::Failed { failure, .. } => match failure {
            RunFailure::Interrupted => "; the run was interrupted",
            RunFailure::OutOfSpace => "; the run ran out of space",
            RunFailure::Abandoned => "; the run was killed or the host went down",
            RunFailure::Host => "; the host could not continue",
            _ => "; the run failed",
        },
    }
}

fn clauses(record: &Observation, headline: &Headline<'_>) -> String {
    let read = headline.sequential_read.and_then(|m| Some((m, m.bytes_per_second.as_ref()?)));
    let write = headline.sequential_write.and_then(|m| Some((m, durable_or_acknowledged(m)?)));
    let random: Vec<(&ObservedMeasurement, &Estimate, &str)> =
        [(headline.random_read, "random reads"), (headline.random_write, "random writes")]
            .into_iter()
            .filter_map(|(m, what)| Some((m?, m?.iops.as_ref()?, what)))
            .collect();
    let shown: Vec<&Estimate> =
        [read, write].into_iter().flatten().map(|(_, e)| e).chain(random.iter().map(|(_, e, _)| *e)).collect();
    let at = |m: &ObservedMeasurement| match Headline::load_among_several(record, m) {
        Some(load) => format!(" at {}", clean(&load)),
        None => String::new(),
    };
    let any_interval = shown.iter().any(|e| e.low.is_some());
    let say = |e: &Estimate, divisor: f64, unit: &str| {
        // Where others have an interval, what has none says so.
        let bare = if any_interval && e.low.is_none() { " (no interval)" } else { "" };
        format!("{}{bare}", in_words(e, divisor, unit))
    };
    let mut clauses = Vec::new();
    if let Some((m, e)) = read {
        clauses.push(format!("reads {}{}{}", say(e, MB, "MB/s"), at(m), of_bus(record, m)));
    }
    if let Some((m, e)) = write {
        let share = if clauses.is_empty() { of_bus(record, m) } else { String::new() };
        clauses.push(format!("writes {}{}{share}", say(e, MB, "MB/s"), at(m)));
    }
    let loads: Vec<String> = random.iter().map(|(m, ..)| at(m)).collect();
    // A load that all figures share is named once.
    let common = loads.first().filter(|first| loads.iter().all(|load| load == *first));
    let own = |at: usize| if common.is_some() { "" } else { loads[at].as_str() };
    let words = random.iter().enumerate().map(|(i, (_, e, what))| say(e, 1.0, what) + own(i));
    let words: Vec<String> = words.collect();
    if !words.is_empty() {
        let load = common.map_or("", String::as_str);
        clauses.push(format!("answers {} a second{load}", words.join(" and ")));
    }
    let text = match clauses.as_slice() {
        [] => "was measured".to_owned(),
        [one] => one.clone(),
        [init @ .., last] => {
            // A share already ends in a comma.
            let mut text = init.join(", ");
            text.push_str(if init.len() > 1 || text.contains(',') { ", and " } else { " and " });
            text + last
        }
    };
    text + certainty(&shown)
}

/// A remark for figures without any interval.
fn certainty(shown: &[&Estimate]) -> &'static str {
    if shown.is_empty() || shown.iter().any(|e| e.low.is_some()) {
        ""
    } else if shown.iter().all(|e| e.n == 1) {
        if shown.len() == 1 { ", measured once" } else { ", measured once each" }
    } else {
        ", without intervals"
    }
}

fn of_bus(record: &Observation, measurement: &ObservedMeasurement) -> String {
    match bus_share(&record.medium, measurement.bytes_per_second.as_ref()) {
        Some(share) => {
            format!(" ({} of the reachable rate of {})", percent(share), clean(&bus_name(&record.medium)))
        }
        None => String::new(),
    }
}

/// A figure of a record without headline workloads.
fn other_figure(record: &Observation) -> Option<String> {
    let plain = |m: &&ObservedMeasurement| m.workload.is_plain();
    let first = record.measurements.iter().filter(plain);
    first.chain(&record.measurements).find_map(|m| {
        let rate = m.bytes_per_second.as_ref().map(|e| in_words(e, MB, "MB/s"));
        let iops = m.iops.as_ref().map(|e| in_words(e, 1.0, "operations a second"));
        Some(format!("{} in {}", rate.or(iops)?, record.load_title(m)))
    })
}

/// The class that says most: application classes first, else the speed class.
fn most_telling(met: &[&'static str]) -> Option<&'static str> {
    ['A', 'V', 'U', 'C'].iter().find_map(|family| met.iter().find(|c| c.starts_with(*family)).copied())
}

// What the bus allows, and how much of it was used.

/// Share of the bus that a measurement used, 0 to 1 and sometimes above.
pub(crate) fn bus_share(medium: &Medium, bytes_per_second: Option<&Estimate>) -> Option<f64> {
    Some(bytes_per_second?.point / medium.reachable()?)
}

/// `SDR25, 23.2 MB/s reachable of 25.0 MB/s, according to debugfs ios`.
pub(crate) fn bus_sentence(bus: &Bus) -> String {
    let mut text = if bus.mode.is_empty() { bus.kind.clone() } else { bus.mode.clone() };
    if let Some(driver) = &bus.driver {
        text.push_str(&format!(" by {driver}"));
    }
    match (bus.reachable_bytes_per_second, bus.ceiling_bytes_per_second) {
        (Some(r), Some(c)) => text.push_str(&format!(", {} reachable of {}", rate(r), rate(c))),
        (Some(r), None) => text.push_str(&format!(", {} reachable", rate(r))),
        (None, Some(c)) => text.push_str(&format!(", at most {}", rate(c))),
        (None, None) => text.push_str(", ceiling unknown"),
    }
    if !bus.source.is_empty() {
        text.push_str(&format!(", according to {}", bus.source));
    }
    text
}

/// The bus's name in a sentence: `its SDR25 bus`.
fn bus_name(medium: &Medium) -> String {
    match &medium.bus {
        Some(bus) if !bus.mode.trim().is_empty() => format!("its {} bus", bus.mode),
        _ => "its bus".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use assay_core::observation::ObservedOrigin;
    use assay_core::origin::Source;

    use super::*;

    #[test]
    fn a_figure_says_in_a_word_that_somebody_published_it() {
        let mut records = assay_analysis::published("").unwrap();
        records.retain(|record| record.validity.verdict == ValidityVerdict::Valid);
        assert!(!records.is_empty() && records.iter().all(|record| word(record) == "as published"));
    }

    #[test]
    fn a_check_of_another_tool_that_found_no_loss_is_genuine_whatever_its_rates_lack() {
        let mut record = assay_analysis::published("").unwrap().remove(0);
        record.origin = ObservedOrigin::Imported(Source::default());
        record.validity.verdict = ValidityVerdict::Suspect;
        assert_eq!(word(&record), "suspect");
        let found = Verification { verdict: Verdict::Genuine, ..Verification::undecided(Method::Full) };
        record.verification = Some(found);
        assert_eq!(word(&record), "genuine");
    }

    #[test]
    fn figures_without_any_interval_say_so() {
        let of = |n, low| Estimate { low, high: low, ..Estimate::bare(1.0, n, "mean") };
        let (once, twice, known) = (of(1, None), of(2, None), of(2, Some(0.9)));
        assert_eq!(certainty(&[&once, &once]), ", measured once each");
        assert_eq!(certainty(&[&once, &twice]), ", without intervals");
        assert_eq!((certainty(&[&twice, &known]), certainty(&[])), ("", ""));
    }
}
