//! Results beside the loads of a record: workloads at the same time, days, load curves, scores and sensors.

use assay_analysis::{
    ASSUMED_DAYS, AtOnce, KNEE_FACTOR, Load, LoadCurve, Member, Quantity, at_once, load_curves, over_days,
};
use assay_core::estimate::Estimate;
use assay_core::finding::ValidityVerdict;
use assay_core::observation::{Observation, ObservedMeasurement};
use assay_core::program::ProgramRun;
use assay_core::record::{Measurement, Record, Score, Sensor};
use assay_core::sensor::SensorKind;
use assay_core::text::{clean, harmless};
use assay_core::units;
use assay_core::units::{Bytes, figures, latency, percent, rate};
use assay_core::workload::Pattern;

use crate::change::is_useless;
use crate::headline::{Headline, MB, in_words, interval};

/// An interval whose ends differ by more than this factor says nothing.
const WIDEST: f64 = 100.0;

/// The groups of a record in sentences.
pub(crate) fn at_once_lines(record: &Observation) -> Vec<String> {
    let sentences =
        |group: &AtOnce| together_text(group).into_iter().chain(group.members.iter().filter_map(member_text)).collect();
    at_once(record).iter().flat_map(|group| -> Vec<String> { sentences(group) }).collect()
}

/// `random read 4 KiB QD1 and sequential write 1 MiB QD1 move 31.2 MB/s (28.9–33.7) together`.
fn together_text(group: &AtOnce) -> Option<String> {
    let sum = group.bytes_per_second.as_ref()?;
    let titles: Vec<&str> = group.members.iter().map(|member| member.title.as_str()).collect();
    Some(format!("{} move {} together", titles.join(" and "), in_words(sum, MB, "MB/s")))
}

/// `random read 4 KiB QD1: p99 8.10 ms beside the others and 1.59 ms alone, 5.10 times (4.20–6.20); 0.310 times
/// (0.280–0.350) the IOPS alone`.
fn member_text(member: &Member) -> Option<String> {
    let (alone, p99) = (member.alone.as_ref()?, member.p99_ns.as_ref()?);
    let areas = alone.areas.map_or_else(String::new, |(beside, alone)| {
        format!(" (on {} of the medium, alone on {})", Bytes(beside), Bytes(alone))
    });
    Some(format!(
        "{}: p99 {} beside the others and {} alone, {}; {} the IOPS alone{areas}",
        member.title,
        latency(p99.point),
        latency(alone.p99_ns.point),
        times_text(&alone.p99_factor),
        times_text(&alone.iops_factor),
    ))
}

/// A ratio with its interval, unless so few repeats give none.
fn times_text(factor: &Estimate) -> String {
    match factor.low.zip(factor.high) {
        Some((low, high)) if high / low > WIDEST => {
            format!("about {} ({} repeats are too few for an interval)", units::times(factor.point), factor.n)
        }
        Some((low, high)) => format!("{} ({})", units::times(factor.point), units::multiples(low, high)),
        None => units::times(factor.point),
    }
}

// The intervals over many days of the figures that represent a record. The intervals beside the figures are those of
// the run.

/// `reads 20.5–23.3 MB/s, writes …, 1 508–1 909 random reads and … random writes a second (95 %; …)`; `None` where the
/// record does not speak for the medium, or has no interval.
pub(crate) fn over_days_sentence(record: &Observation) -> Option<String> {
    if record.validity.verdict == ValidityVerdict::Invalid || record.outcome.medium_failed() {
        return None;
    }
    let headline = Headline::from_record(record);
    let rate = |m: Option<&ObservedMeasurement>, verb: &str| {
        let m = m?;
        let durable = m.durable_bytes_per_second.as_ref().map(|_| Quantity::DurableBytesPerSecond);
        Some(format!("{verb} {} MB/s", days_range(record, m, durable.unwrap_or(Quantity::BytesPerSecond), MB)?))
    };
    let operations = |m: Option<&ObservedMeasurement>, what: &str| {
        Some(format!("{} {what}", days_range(record, m?, Quantity::Iops, 1.0)?))
    };
    let random = [operations(headline.random_read, "random reads"), operations(headline.random_write, "random writes")];
    let random: Vec<String> = random.into_iter().flatten().collect();
    let mut parts: Vec<String> = [rate(headline.sequential_read, "reads"), rate(headline.sequential_write, "writes")]
        .into_iter()
        .flatten()
        .collect();
    if !random.is_empty() {
        parts.push(format!("{} a second", random.join(" and ")));
    }
    let assumed = percent(ASSUMED_DAYS, 1);
    (!parts.is_empty()).then(|| format!("{} (95 %; {assumed} between days is assumed)", parts.join(", ")))
}

fn days_range(record: &Observation, m: &ObservedMeasurement, quantity: Quantity, unit: f64) -> Option<String> {
    let estimate = over_days(record, &Load::from_workload(&m.workload), quantity)?;
    let (low, high) = estimate.low.zip(estimate.high).filter(|(low, high)| !is_useless(*low, *high))?;
    // What the bus lets through it does not exceed on another day, either.
    let each = if quantity == Quantity::Iops { m.workload.block_bytes as f64 } else { 1.0 };
    let most = record.medium.reachable().map(|reachable| reachable / each).filter(|most| *most > estimate.point);
    Some(interval(low / unit, high.min(most.unwrap_or(f64::INFINITY)) / unit))
}

// The load up to which the latency stays low.

/// Each curve of a record in a sentence.
pub(crate) fn load_curve_lines(record: &Observation) -> Vec<String> {
    load_curves(record).iter().map(load_curve_line).collect()
}

/// `random read 4 KiB QD32: p99 stays within twice the 1.20 ms of the lightest load up to 24 000 IOPS offered (2.10 ms
/// at 27 000)`.
fn load_curve_line(curve: &LoadCurve) -> String {
    let Some(lightest) = curve.points.first() else { return String::new() };
    let title = &curve.title;
    let light = latency(lightest.p99_ns);
    let Some(knee) = curve.knee() else {
        return format!("{title}: the medium does not keep up with the lightest load, {} IOPS", figures(lightest.iops));
    };
    let beyond = match curve.beyond() {
        None => ", the heaviest load".to_owned(),
        Some(next) if next.held => format!("; {} at {}", latency(next.p99_ns), figures(next.iops)),
        Some(next) => format!("; it does not keep up with {}", figures(next.iops)),
    };
    format!(
        "{title}: up to {} IOPS offered, p99 is at most {KNEE_FACTOR} times the {light} of the lightest load{beyond}",
        figures(knee.iops)
    )
}

// Scores that are not tied to a load: a score, the speed of processor or memory.

/// A program that spends less of its time in the medium than this says nothing about it: twice as fast a medium would
/// change its figure by less than repeats differ.
const LEAST_SHARE: f64 = 0.05;

/// Each score in a line: `sysbench cpu, 8 threads: 5,210 events/s`.
pub(crate) fn score_lines(record: &Record) -> Vec<String> {
    record.scores.iter().map(score_line).collect()
}

fn score_line(score: &Score) -> String {
    let unit = clean(&score.unit);
    let unit = if unit.is_empty() { unit } else { format!(" {unit}") };
    let better = if score.more_is_better { "" } else { ", less is better" };
    let point = score.value.point;
    // Scores are printed whole; three figures of a large one would be another number.
    let value = if point.fract() == 0.0 && point.abs() < 1e15 { format!("{point:.0}") } else { figures(point) };
    let interval = match (score.value.low, score.value.high) {
        (Some(low), Some(high)) => format!(" ({} to {})", figures(low), figures(high)),
        _ => String::new(),
    };
    let program = score.program.as_deref().map(of_program).unwrap_or_default();
    format!("{}: {value}{unit}{interval}{better}{program}", clean(&score.name))
}

/// On what a program ran, and how much of its time the medium can have had: `; at most 3 % of its time in the medium:
/// says nothing about the medium`.
fn of_program(run: &ProgramRun) -> String {
    let tree = run.tree.as_deref().map(|tree| format!("; {}", clean(tree))).unwrap_or_default();
    let Some(share) = run.medium_share() else { return tree };
    let percent = (share * 100.0).ceil();
    let verdict = if share < LEAST_SHARE { ": not a property of the medium" } else { "" };
    format!("{tree}; at most {percent} % of its time in the medium{verdict}")
}

// Sensors as text: work per watt, and values that a user noted.

/// Sensors that were read through the run; a value read by eye is no line in a chart.
pub(crate) fn sensor_is_drawn(record: &Record) -> impl Iterator<Item = &Sensor> {
    record.sensors.iter().filter(|s| s.source != "note" && !s.samples.is_empty())
}

/// Unit for people and what the values are multiplied with for it.
pub(crate) fn sensor_unit(sensor: &Sensor) -> (String, f64) {
    match sensor.kind.as_str() {
        "temperature" => (SensorKind::Temperature.unit().to_owned(), 1.0),
        "frequency" => ("MHz".to_owned(), 1e-6),
        "power" => (SensorKind::Power.unit().to_owned(), 1.0),
        // Of a newer version or another program.
        _ => (harmless(&clean(&sensor.unit)), 1.0),
    }
}

/// `temperature 46.0 °C, plug 3.10 W`: values that a user noted.
pub(crate) fn noted_sensors(record: &Record) -> Option<String> {
    let notes = record.sensors.iter().filter(|s| s.source == "note");
    let words: Vec<String> = notes
        .flat_map(|s| s.samples.iter().map(move |(_, value)| (s, value)))
        .map(|(s, value)| {
            let (unit, factor) = sensor_unit(s);
            format!("{} {} {unit}", clean(&s.name), figures(value * factor))
        })
        .collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// `temp 36.8 °C at most, plug 2.10 to 3.40 W`: what was read of the medium, and by commands of the user, while it was
/// measured. Those of the host itself are in the page.
pub(crate) fn read_sensors(record: &Record) -> Option<String> {
    let words: Vec<String> = sensor_is_drawn(record).filter(|s| record.is_of_medium(s)).filter_map(range_of).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// The readings of a sensor in words; of a temperature the highest counts.
fn range_of(sensor: &Sensor) -> Option<String> {
    let (unit, factor) = sensor_unit(sensor);
    let (low, high) = readings(sensor)?;
    let [low, high] = [low, high].map(|value| figures(value * factor));
    let range = match sensor.kind.as_str() {
        kind if kind == SensorKind::Temperature.name() => format!("{high} {unit} at most"),
        _ if low == high => format!("{high} {unit}"),
        _ => format!("{low} to {high} {unit}"),
    };
    Some(format!("{} {range}", clean(&sensor.name)))
}

/// The lowest and the highest reading, in the unit of the record.
pub(crate) fn readings(sensor: &Sensor) -> Option<(f64, f64)> {
    let values = || sensor.samples.iter().map(|(_, value)| *value).filter(|value| value.is_finite());
    Some((values().reduce(f64::min)?, values().reduce(f64::max)?))
}

/// `sequential read 20.1 MB/s, random read 410 operations/s`: what the headline workloads did for
/// a watt.
pub(crate) fn per_watt(record: &Record, observation: &Observation) -> Option<String> {
    let headline = Headline::from_record(observation);
    let all = [headline.sequential_read, headline.sequential_write, headline.random_read, headline.random_write];
    let whole = all.into_iter().flatten().filter_map(|m| record.measurement(&m.workload.name));
    let words: Vec<String> = whole.filter_map(noted_value).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

fn noted_value(m: &Measurement) -> Option<String> {
    let op = if m.workload.writes() { "write" } else { "read" };
    // Bytes for a joule are bytes a second for a watt.
    Some(match m.workload.pattern {
        Pattern::Sequential => format!("sequential {op} {}", rate(m.bytes_per_joule.as_ref()?.point)),
        Pattern::Random => format!("random {op} {} IOPS", figures(m.operations_per_joule.as_ref()?.point)),
    })
}

#[cfg(test)]
mod tests {
    use assay_core::draft::Draft;
    use assay_core::estimate::Estimate;
    use assay_core::medium::Medium;
    use assay_core::outcome::Outcome;
    use assay_core::record::{SuiteRef, Tool};

    use super::*;

    #[test]
    fn a_score_is_told_with_its_unit() {
        let score = |point, unit: &str, more_is_better| Score {
            name: "a\u{1b}b".to_owned(),
            value: Estimate::bare(point, 1, ""),
            unit: unit.to_owned(),
            more_is_better,
            program: None,
        };
        assert_eq!(score_line(&score(3171.0, "", true)), "a\u{fffd}b: 3171");
        assert_eq!(score_line(&score(12.3456, "s", false)), "a\u{fffd}b: 12.3 s, less is better");
    }

    #[test]
    fn a_program_tells_what_its_figure_says_of_the_medium() {
        let sentence_of = |busy, waiting, tree: Option<&str>| {
            let run = ProgramRun {
                tree: tree.map(str::to_owned),
                medium_busy_share: busy,
                waiting_share: waiting,
                ..ProgramRun::default()
            };
            score_line(&Score {
                name: "p".to_owned(),
                value: Estimate { low: Some(9.0), high: Some(11.0), ..Estimate::bare(10.0, 3, "") },
                unit: "MB/s".to_owned(),
                more_is_better: true,
                program: Some(Box::new(run)),
            })
        };
        let nothing = "p: 10 MB/s (9.00 to 11.0); at most 4 % of its time in the medium: not a property of the medium";
        assert_eq!(sentence_of(Some(0.9), Some(0.031), None), nothing);
        assert_eq!(
            sentence_of(Some(0.5), Some(0.9), Some("a\u{1b}tree")),
            "p: 10 MB/s (9.00 to 11.0); a\u{fffd}tree; at most 50 % of its time in the medium"
        );
        assert_eq!(sentence_of(None, None, None), "p: 10 MB/s (9.00 to 11.0)");
    }

    #[test]
    fn sensors_of_the_medium_are_told_with_what_matters_of_them() {
        let (tool, suite) = (Tool::assay("1.0", "sync", "asked for"), SuiteRef::new("s", 1));
        let mut record = Draft::begin("id", "", tool, suite, Medium::unknown("/mnt")).close(Outcome::Completed);
        let read = |kind: SensorKind, name: &str, source: &str, values: &[f64]| {
            let samples = (0..).zip(values.iter().copied()).collect();
            Sensor { samples, ..kind.series(name, source) }
        };
        record.sensors = vec![
            read(SensorKind::Temperature, "temp", "command", &[31.0, 36.8, f64::NAN, 33.0]),
            read(SensorKind::Power, "plug", "command", &[2.1, 3.4]),
            read(SensorKind::Temperature, "cpu", "hwmon", &[90.0]),
            read(SensorKind::Temperature, "seen", "note", &[46.0]),
            read(SensorKind::Power, "broken", "command", &[]),
        ];
        assert_eq!(read_sensors(&record).unwrap(), "temp 36.8 °C at most, plug 2.10 to 3.40 W");
        assert_eq!(record.medium_celsius(), Some(36.8));
        record.sensors.clear();
        assert_eq!(read_sensors(&record), None);
    }

    #[test]
    fn units_are_those_of_people() {
        let of = |kind: SensorKind| sensor_unit(&kind.series("s", "hwmon"));
        assert_eq!(of(SensorKind::Frequency), ("MHz".to_owned(), 1e-6));
        assert_eq!(of(SensorKind::Power), ("W".to_owned(), 1.0));
        let odd = Sensor { kind: "humidity".into(), unit: "%\u{1b}".into(), ..SensorKind::Power.series("s", "x") };
        assert_eq!(sensor_unit(&odd), ("%\u{fffd}".to_owned(), 1.0));
    }
}
