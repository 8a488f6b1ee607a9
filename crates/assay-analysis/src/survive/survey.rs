//! Files of mfst, the tool of the microSD survey (github.com/mikaey/mfst at aabec24): its statistics as CSV, and its state as
//! JSON. Neither says the model, nor what ended a test: the name of the file has the one, and a sheet may have the other.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::unit::{End, Milestone, Reached, Unit, model_name};

/// First columns of the statistics, whose head misspells a later one.
const HEAD: &str = "Date/Time,Rounds Completed,";

/// Whether a text is one of statistics.
pub(super) fn is_statistics(text: &str) -> bool {
    text.starts_with(HEAD)
}

/// A unit of a file: `Kioxia_Exceria_G2_64GB_1_state.json` is unit 1 of the model before it.
fn of_file(stem: &str) -> Unit {
    let stem =
        ["_state", "_stats", "-state", "-stats"].iter().fold(stem, |name, end| name.strip_suffix(end).unwrap_or(name));
    let parts =
        stem.rsplit_once(['_', '-', ' ']).filter(|(_, number)| number.bytes().all(|byte| byte.is_ascii_digit()));
    let (model, name) = parts.unwrap_or((stem, stem));
    Unit {
        name: name.to_owned(),
        model: Some(model_name(model)),
        labels: BTreeMap::new(),
        cycles: 0,
        bytes: None,
        cycle_bytes: None,
        milestones: BTreeMap::new(),
        watched_to: BTreeMap::new(),
        end: End::Running,
    }
}

/// The tool counts rounds from 0 and names the rounds completed before: the round under way is one more.
fn in_round(completed: u64, bytes: Option<u64>) -> Reached {
    Reached { cycle: completed.saturating_add(1), bytes }
}

/// The unit of statistics: a row every minute or so. They hold counts of bad sectors and not of all sectors, so that only the first
/// error can be told. The last row may be cut off.
pub(super) fn statistics(stem: &str, text: &str) -> Result<Unit, String> {
    let mut unit = of_file(stem);
    let (mut first, mut rows) = (None, 0u32);
    for line in text.lines().filter(|line| !line.starts_with(HEAD) && !line.trim().is_empty()) {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |at: usize| fields.get(at).and_then(|field| field.trim().parse::<u64>().ok());
        // Eleven columns: 1 rounds, 3 all bytes written, 9 all bad sectors.
        let (11, Some(rounds), Some(bytes), Some(bad)) = (fields.len(), number(1), number(3), number(9)) else {
            continue;
        };
        rows += 1;
        unit.cycles = unit.cycles.max(rounds);
        unit.bytes = unit.bytes.max(Some(bytes));
        if bad > 0 && first.is_none() {
            first = Some(in_round(rounds, Some(bytes)));
        }
    }
    unit.milestones.insert(Milestone::FirstError, first);
    (rows > 0)
        .then_some(unit)
        .ok_or_else(|| "statistics of mfst without a row; has its first minute passed?".to_owned())
}

/// The part of a state that is read.
#[derive(Deserialize)]
pub(super) struct State {
    device_geometry: Geometry,
    state: Rounds,
}

#[derive(Deserialize)]
struct Geometry {
    detected_size: u64,
}

#[derive(Deserialize)]
struct Rounds {
    rounds_completed: u64,
    bytes_written: u64,
    first_failure_round: Option<u64>,
    rounds_to_0_1_threshold: Option<u64>,
    rounds_to_1_threshold: Option<u64>,
    ten_percent_failure_round: Option<u64>,
    twenty_five_percent_failure_round: Option<u64>,
}

/// The unit of a state. It is written as a round begins, so that it never holds 50 %. The tool watches for 0.1 and 1 % since
/// August 2025 (daa4106): a state with an error and neither of them may be older.
pub(super) fn state(stem: &str, state: &State) -> Unit {
    let of = &state.state;
    let reached = |round: Option<u64>| round.map(|round| in_round(round, None));
    let (per_mille, percent) = (of.rounds_to_0_1_threshold, of.rounds_to_1_threshold);
    let shares = per_mille.is_some() || percent.is_some() || of.first_failure_round.is_none();
    let milestones = [
        (Milestone::FirstError, of.first_failure_round, true),
        (Milestone::PerMille, per_mille, shares),
        (Milestone::OnePercent, percent, shares),
        (Milestone::TenPercent, of.ten_percent_failure_round, true),
        (Milestone::Quarter, of.twenty_five_percent_failure_round, true),
    ];
    let watched = milestones.into_iter().filter(|(.., watched)| *watched);
    Unit {
        cycles: of.rounds_completed,
        bytes: Some(of.bytes_written),
        cycle_bytes: Some(state.device_geometry.detected_size),
        milestones: watched.map(|(milestone, round, _)| (milestone, reached(round))).collect(),
        ..of_file(stem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "Date/Time,Rounds Completed,Bytes Written,Total Bytes Written,Write Rate (bytes/sec),Bytes Read,Total Bytes Read,Read Rate (bytes/sec),Bad Sectors,Total Bad Sesctors,Bad Sector Rate (counts/min)\n";

    #[test]
    fn statistics_have_the_first_error_in_the_round_under_way() {
        let rows = "Sat Dec 28 10:00:00 2024,0,640,640,1.00,0,0,0.00,0,0,0.00\n\
                    Sat Dec 28 10:01:00 2024,291,640,186240,1.00,0,0,0.00,3,3,3.00\n\
                    Sat Dec 28 10:02:00 2024,300,640,192000,1.00,0,0,0.00,0,3,0.00\n\
                    Sat Dec 28 10:03:00 2024,301,64";
        let unit = statistics("Lenovo_64GB_2_stats", &format!("{HEADER}{rows}")).unwrap();
        assert_eq!((unit.name.as_str(), unit.model.as_deref()), ("2", Some("Lenovo 64GB")));
        assert_eq!((unit.cycles, unit.bytes, unit.end), (300, Some(192_000), End::Running));
        let first = unit.milestones[&Milestone::FirstError];
        assert_eq!(first, Some(Reached { cycle: 292, bytes: Some(186_240) }));
        assert_eq!(unit.milestones.len(), 1, "shares of the sectors are not told");
        assert!(statistics("x", HEADER).is_err());
    }

    #[test]
    fn a_state_has_shares_and_no_end() {
        let text = r#"{"version":2,"device_uuid":"x","device_geometry":{"reported_size":64,"detected_size":32,"sector_size":1},
            "state":{"sector_map":"","rounds_completed":5000,"bytes_read":1,"bytes_written":160000,"first_failure_round":4633,
            "rounds_to_0_1_threshold":4990}}"#;
        let unit = state("Kioxia_1_state", &serde_json::from_str(text).unwrap());
        assert_eq!((unit.cycles, unit.cycle_bytes), (5000, Some(32)));
        let cycle = |milestone| unit.milestones[&milestone].map(|reached| reached.cycle);
        assert_eq!(cycle(Milestone::FirstError), Some(4634));
        assert_eq!((cycle(Milestone::PerMille), cycle(Milestone::OnePercent)), (Some(4991), None));
        assert!(!unit.milestones.contains_key(&Milestone::Half) && !unit.milestones.contains_key(&Milestone::Death));
        let older = text.replace(",\n            \"rounds_to_0_1_threshold\":4990", "");
        let unit = state("Kioxia_1_state", &serde_json::from_str(&older).unwrap());
        assert!(!unit.milestones.contains_key(&Milestone::PerMille), "it is not known whether it was watched for");
    }
}
