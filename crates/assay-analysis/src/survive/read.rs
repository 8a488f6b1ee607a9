//! Files with lives of units: documents of `assay endure`, sheets, and files of the survey's tool.

use std::collections::BTreeMap;

use assay_core::text::{clean, quoted};
use serde_json::Value;

use super::survey;
use super::unit::{End, Lives, Milestone, Reached, Unit};

/// A file is none of those that are read, or contradicts itself.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {problem}")]
pub struct ReadError {
    /// The file.
    pub file: String,
    /// What is wrong with it.
    pub problem: String,
}

/// The units of several files, by name and text.
///
/// # Errors
/// The first file that cannot be read.
pub fn read_lives<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Lives, ReadError> {
    let mut lives = Lives::default();
    let mut documents: Vec<(String, Unit)> = Vec::new();
    for (file, text) in files {
        let text = text.trim_start_matches('\u{feff}');
        let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        let failed = |problem: String| ReadError { file: file.to_owned(), problem };
        if text.trim_start().starts_with(['{', '[']) {
            documents_of(stem, text, &mut documents, &mut lives).map_err(failed)?;
        } else if survey::is_statistics(text) {
            lives.add(survey::statistics(stem, text).map_err(failed)?);
        } else {
            sheet(text, &mut lives).map_err(failed)?;
        }
    }
    documents.into_iter().for_each(|(_, unit)| lives.units.push(unit));
    Ok(lives)
}

// Documents of `assay endure`, and states of the survey's tool.

fn documents_of(stem: &str, text: &str, known: &mut Vec<(String, Unit)>, lives: &mut Lives) -> Result<(), String> {
    let value: Value = serde_json::from_str(text).map_err(|error| format!("this is no JSON: {error}"))?;
    let all = match value {
        Value::Array(all) => all,
        one => vec![one],
    };
    for value in all {
        if value["state"]["rounds_completed"].is_u64() {
            let state: survey::State =
                serde_json::from_value(value).map_err(|error| format!("this is no state of mfst: {error}"))?;
            lives.add(survey::state(stem, &state));
            continue;
        }
        let (id, unit) = endurance(&value).ok_or("this is neither a document of assay endure nor a state of mfst")?;
        // Two documents of the same life: the later one.
        match known.iter_mut().find(|(other, _)| *other == id) {
            Some((_, earlier)) if unit.cycles >= earlier.cycles => *earlier = unit,
            Some(_) => {}
            None => known.push((id, unit)),
        }
    }
    Ok(())
}

/// A document of `assay endure`.
fn endurance(value: &Value) -> Option<(String, Unit)> {
    let word = |value: &Value| value.as_str().map(str::to_owned);
    let id = word(&value["id"])?;
    let reached =
        |value: &Value| value["cycle"].as_u64().map(|cycle| Reached { cycle, bytes: value["written_bytes"].as_u64() });
    let marks = value["milestones"].as_object()?;
    let end = match value["end"]["state"].as_str()? {
        "died" => End::Died { cause: words(value["end"]["cause"].as_str().unwrap_or("unknown")) },
        "censored" => End::Censored { reason: words(value["end"]["reason"].as_str().unwrap_or("unknown")) },
        _ => End::Running,
    };
    let watched = |milestone: Milestone| Some((milestone, reached(marks.get(milestone.field())?)));
    let mut labels: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in value["labels"].as_object().into_iter().flatten() {
        labels.extend(word(value).map(|value| (name.clone(), value)));
    }
    labels.extend(word(&value["load"]["load"]).map(|load| ("load".to_owned(), words(&load))));
    let unit = Unit {
        name: word(&value["unit"]).unwrap_or_else(|| id.clone()),
        model: word(&value["model"]),
        labels,
        cycles: value["cycles"].as_u64()?,
        bytes: value["written_bytes"].as_u64(),
        cycle_bytes: value["area_bytes"].as_u64(),
        milestones: Milestone::ALL.into_iter().filter_map(watched).collect(),
        end,
    };
    Some((id, unit))
}

fn words(name: &str) -> String {
    name.replace('_', " ")
}

// A sheet: a row for each unit.

fn sheet(text: &str, lives: &mut Lives) -> Result<(), String> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).flexible(true).from_reader(text.as_bytes());
    let head: Vec<String> = reader
        .headers()
        .map_err(|error| error.to_string())?
        .iter()
        .map(|name| name.trim().to_lowercase().replace('_', "-"))
        .collect();
    for needed in ["unit", "cycles", "end"] {
        if !head.iter().any(|name| name == needed) {
            return Err(format!("a sheet needs columns unit, cycles and end; {needed} is missing"));
        }
    }
    if let Some(twice) = head.iter().enumerate().find(|(at, name)| head[..*at].contains(name)) {
        return Err(format!("the column {} stands twice", quoted(twice.1)));
    }
    let before = lives.units.len();
    for (at, row) in reader.records().enumerate() {
        let line = at + 2;
        let row = row.map_err(|error| error.to_string())?;
        let cell =
            |name: &str| head.iter().position(|own| own == name).and_then(|at| row.get(at)).filter(|c| !c.is_empty());
        let unit = unit_of(&head, &cell).map_err(|problem| format!("line {line}: {problem}"))?;
        let same = |known: &Unit| known.name == unit.name && known.model == unit.model;
        if lives.units[before..].iter().any(same) {
            return Err(format!("line {line}: unit {} stands twice", clean(&unit.name)));
        }
        // What a sheet says of a unit that another file holds, as how it ended, is added to it.
        match lives.units[..before].iter().any(same) {
            true => lives.add(unit),
            false => lives.units.push(unit),
        }
    }
    Ok(())
}

fn unit_of<'r>(head: &[String], cell: &impl Fn(&str) -> Option<&'r str>) -> Result<Unit, String> {
    let number = |name: &str| match cell(name) {
        Some(text) => match text.parse::<u64>() {
            Ok(value) => Ok(Some(value)),
            Err(_) => Err(format!("{name}: {} is no whole number", quoted(text))),
        },
        None => Ok(None),
    };
    let cycles = number("cycles")?.ok_or("cycles are missing")?;
    let mut milestones = BTreeMap::new();
    for milestone in Milestone::ALL.into_iter().filter(|milestone| head.iter().any(|name| name == milestone.name())) {
        let cycle = number(milestone.name())?;
        if cycle.is_some_and(|cycle| cycle == 0 || cycle > cycles.saturating_add(1)) {
            return Err(format!(
                "{}: cycles count from 1 to one beyond those completed, {}",
                milestone.name(),
                cycles.saturating_add(1)
            ));
        }
        milestones.insert(milestone, cycle.map(|cycle| Reached { cycle, bytes: None }));
    }
    let cause = cell("cause").unwrap_or("unknown");
    let end = match cell("end").ok_or("end is missing: died, censored or running")? {
        "died" => End::Died { cause: words(cause) },
        "censored" => End::Censored { reason: words(cause) },
        "running" => End::Running,
        other => return Err(format!("end: {} is none of died, censored and running", quoted(other))),
    };
    if milestones.get(&Milestone::Death).is_some_and(Option::is_some) && !matches!(end, End::Died { .. }) {
        return Err("it has a cycle of its death, and its end is not died".to_owned());
    }
    let bytes = number("bytes")?;
    let per_cycle = bytes.filter(|_| cycles > 0).map(|bytes| bytes / cycles.max(1));
    let own = ["unit", "model", "cycles", "bytes", "cycle-bytes", "end", "cause"];
    let is_label =
        |name: &&String| !own.contains(&name.as_str()) && Milestone::ALL.iter().all(|m| m.name() != name.as_str());
    let labels = head.iter().filter(is_label).filter_map(|name| Some((name.clone(), cell(name)?.to_owned()))).collect();
    Ok(Unit {
        name: cell("unit").ok_or("unit is missing")?.to_owned(),
        model: cell("model").map(str::to_owned),
        labels,
        cycles,
        bytes,
        cycle_bytes: number("cycle-bytes")?.or(per_cycle),
        milestones,
        end,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHEET: &str = "unit,model,site,cycles,bytes,first_error,1%,end,cause\n\
        1,A,north,3000,96000,2500,,died,read_only\n2,A,south,1000,,,,censored,reader\n3,B,north,900,,,,running,\n";

    #[test]
    fn a_sheet_is_read() {
        let lives = read_lives([("units.csv", SHEET)]).unwrap();
        let [first, second, third] = &lives.units[..] else { panic!("{lives:?}") };
        assert_eq!(first.end, End::Died { cause: "read only".to_owned() });
        assert_eq!(first.milestones[&Milestone::FirstError], Some(Reached { cycle: 2500, bytes: None }));
        assert_eq!((first.milestones[&Milestone::OnePercent], first.cycle_bytes), (None, Some(32)));
        assert_eq!(second.end, End::Censored { reason: "reader".to_owned() });
        assert_eq!((third.labels["site"].as_str(), &third.end), ("north", &End::Running));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let refused = |text: &str| read_lives([("u.csv", text)]).unwrap_err().to_string();
        let head = "unit,cycles,end,death\n";
        assert!(refused("unit,cycles\n").contains("end is missing"));
        assert!(refused(&format!("{head}1,ten,running,\n")).contains("line 2: cycles: `ten`"));
        assert!(refused(&format!("{head}1,10,broken,\n")).contains("none of died"));
        assert!(refused(&format!("{head}1,10,running,5\n")).contains("its end is not died"));
        assert!(refused(&format!("{head}1,10,died,12\n")).contains("one beyond"));
        assert!(refused(&format!("{head}1,10,running,\n1,11,running,\n")).contains("line 3: unit 1 stands twice"));
        assert!(refused("{}").contains("neither"));
        assert!(refused("{").contains("no JSON"));
    }

    #[test]
    fn documents_are_read_and_the_later_of_two_counts() {
        let of = |cycles: u64, end: &str| {
            format!(
                r#"{{"schema":1,"id":"00ff","model":"A","unit":"s1","area_bytes":100,"load":{{"load":"whole"}},"cycles":{cycles},
                "written_bytes":{},"milestones":{{"first_error":{{"cycle":7,"written_bytes":650}},"half":null}},"end":{end},
                "labels":{{"site":"north"}}}}"#,
                cycles * 100
            )
        };
        let (early, late) = (of(10, r#"{"state":"running"}"#), of(20, r#"{"state":"died","cause":"read_only"}"#));
        let lives = read_lives([("b.json", late.as_str()), ("a.json", early.as_str())]).unwrap();
        let [unit] = &lives.units[..] else { panic!("{lives:?}") };
        assert_eq!((unit.cycles, unit.labels["site"].as_str(), unit.labels["load"].as_str()), (20, "north", "whole"));
        assert_eq!(unit.end, End::Died { cause: "read only".to_owned() });
        assert_eq!(unit.milestones[&Milestone::FirstError], Some(Reached { cycle: 7, bytes: Some(650) }));
        assert!(
            unit.milestones.contains_key(&Milestone::Half) && !unit.milestones.contains_key(&Milestone::TenPercent)
        );
    }

    #[test]
    fn a_sheet_says_how_a_survey_ended() {
        let statistics = "Date/Time,Rounds Completed,Bytes Written,Total Bytes Written,Write Rate (bytes/sec),Bytes Read,Total Bytes Read,Read Rate (bytes/sec),Bad Sectors,Total Bad Sesctors,Bad Sector Rate (counts/min)\n\
            x,300,1,9000,1.0,1,1,1.0,0,0,0.0\n";
        let sheet = "unit,model,cycles,end,cause\n2,Lenovo 64GB,300,died,vanished\n";
        let lives = read_lives([("Lenovo_64GB_2_stats.csv", statistics), ("ends.csv", sheet)]).unwrap();
        let [unit] = &lives.units[..] else { panic!("{lives:?}") };
        assert_eq!((unit.cycles, unit.bytes), (300, Some(9000)));
        assert!(matches!(unit.end, End::Died { .. }) && unit.milestones.contains_key(&Milestone::FirstError));
    }
}
