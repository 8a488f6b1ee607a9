//! Files with lives of units: documents of `assay endure`, sheets, and files of the survey's tool.

use std::collections::BTreeMap;

use assay_core::endurance::{self, ENDURANCE_SCHEMA, Endurance, LifeEnd};
use assay_core::text::{clean, quoted};
use serde_json::Value;

use super::survey;
use super::unit::{End, Lives, Milestone, Reached, Unit, model_name};

/// Most units of a sheet: each is compared with all others.
const MOST_UNITS: usize = 20_000;

/// A file has no form that is read, or contradicts itself.
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
    let mut documents: Vec<Kept> = Vec::new();
    for (file, text) in files {
        let text = text.trim_start_matches('\u{feff}');
        let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        let failed = |problem: String| ReadError { file: file.to_owned(), problem };
        if text.trim_start().starts_with(['{', '[']) {
            documents_of((file, stem), text, &mut documents, &mut lives).map_err(failed)?;
        } else if survey::is_statistics(text) {
            let unit = survey::statistics(stem, text).map_err(failed)?;
            lives.add(unit).map_err(failed)?;
        } else {
            sheet(text, &mut lives).map_err(failed)?;
        }
    }
    for Kept { unit, file, .. } in documents {
        lives.add(unit).map_err(|problem| ReadError { file, problem })?;
    }
    Ok(lives)
}

// Documents of `assay endure`, and states of the survey's tool.

/// A document of `assay endure`.
struct Kept {
    /// Of the test.
    id: String,
    updated: String,
    file: String,
    unit: Unit,
}

fn documents_of((file, stem): (&str, &str), text: &str, kept: &mut Vec<Kept>, lives: &mut Lives) -> Result<(), String> {
    let value: Value = serde_json::from_str(text).map_err(|error| format!("this is no JSON: {error}"))?;
    let all = match value {
        Value::Array(all) => all,
        one => vec![one],
    };
    for value in all {
        if value["state"]["rounds_completed"].is_u64() {
            let state: survey::State =
                serde_json::from_value(value).map_err(|error| format!("this is no state of mfst: {error}"))?;
            let unit = survey::state(stem, &state);
            in_order(&unit.milestones, unit.cycles)?;
            lives.add(unit)?;
            continue;
        }
        if !value["milestones"].is_object() {
            return Err("this is neither a document of assay endure nor a state of mfst".to_owned());
        }
        let document: Endurance =
            serde_json::from_value(value).map_err(|error| format!("this is no document of assay endure: {error}"))?;
        if document.schema != ENDURANCE_SCHEMA {
            return Err(format!("version {} of the document; this program reads {ENDURANCE_SCHEMA}", document.schema));
        }
        let (id, updated) = (document.id.clone(), document.updated.clone());
        let unit = unit_of_document(document)?;
        let new = Kept { id, updated, file: file.to_owned(), unit };
        // Two documents of the same life: the later one. A unit that is tested again is worn already.
        if let Some(known) = kept.iter_mut().find(|known| known.id == new.id) {
            let (earlier, later) = if known.unit.cycles <= new.unit.cycles { (&*known, &new) } else { (&new, &*known) };
            let died = matches!(earlier.unit.end, End::Died { .. }) && earlier.unit.end != later.unit.end;
            if died || !known.unit.is_same(&new.unit) {
                return Err(format!(
                    "two documents of test {} contradict each other; name one of them",
                    clean(&new.id)
                ));
            }
            if (new.unit.cycles, &new.updated) >= (known.unit.cycles, &known.updated) {
                *known = new;
            }
        } else if kept.iter().any(|known| known.unit.is_same(&new.unit)) {
            let unit = clean(&new.unit.name);
            return Err(format!("unit {unit} has another test in these files: name the files of one of them"));
        } else {
            kept.push(new);
        }
    }
    Ok(())
}

fn unit_of_document(document: Endurance) -> Result<Unit, String> {
    let of = document.milestones;
    let marks = [
        (Milestone::FirstError, of.first_error),
        (Milestone::PerMille, of.per_mille),
        (Milestone::OnePercent, of.one_percent),
        (Milestone::TenPercent, of.ten_percent),
        (Milestone::Quarter, of.quarter),
        (Milestone::Half, of.half),
        (Milestone::Death, of.death),
    ];
    let reached = |at: endurance::Reached| Reached { cycle: at.cycle, bytes: Some(at.written_bytes) };
    let milestones = marks.into_iter().map(|(milestone, at)| (milestone, at.map(reached))).collect();
    in_order(&milestones, document.cycles)?;
    if of.death.is_some() != matches!(document.end, LifeEnd::Died { .. }) {
        return Err("it has a cycle of its death, and its end is not died, or the other way round".to_owned());
    }
    let end = match document.end {
        LifeEnd::Running => End::Running,
        LifeEnd::Died { cause } => End::Died { cause: word(&cause) },
        LifeEnd::Censored { reason } => End::Censored { reason: word(&reason) },
    };
    let mut labels = document.labels;
    labels.insert("load".to_owned(), document.load.name().to_owned());
    Ok(Unit {
        name: document.unit.unwrap_or(document.id),
        model: document.model.as_deref().map(model_name),
        labels,
        cycles: document.cycles,
        bytes: Some(document.written_bytes),
        cycle_bytes: Some(document.area_bytes),
        milestones,
        watched_to: BTreeMap::new(),
        end,
    })
}

/// The name of a cause as sheets write it, with blanks.
fn word(cause: &impl serde::Serialize) -> String {
    serde_json::to_value(cause).ok().and_then(|name| name.as_str().map(words)).unwrap_or_default()
}

/// Whether milestones are reached in their order, in cycles that there were.
fn in_order(milestones: &BTreeMap<Milestone, Option<Reached>>, cycles: u64) -> Result<(), String> {
    let mut before: Option<(Milestone, u64)> = None;
    for (milestone, reached) in milestones {
        let Some(Reached { cycle, .. }) = *reached else { continue };
        let name = milestone.name();
        if cycle == 0 || cycle > cycles.saturating_add(1) {
            let most = cycles.saturating_add(1);
            return Err(format!("{name}: cycles count from 1 to one beyond those completed, {most}"));
        }
        if let Some((earlier, at)) = before.filter(|(_, at)| *at > cycle) {
            return Err(format!("{name} in cycle {cycle}, but {} in cycle {at}: it comes first", earlier.name()));
        }
        before = Some((*milestone, cycle));
    }
    Ok(())
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
        if head.len() == 1 && head[0].contains([';', '\t']) {
            return Err("its columns are separated by another mark than a comma; save it with commas".to_owned());
        }
        if !head.iter().any(|name| name == needed) {
            return Err(format!("a sheet needs columns unit, cycles and end; {needed} is missing"));
        }
    }
    if let Some(twice) = head.iter().enumerate().find(|(at, name)| !name.is_empty() && head[..*at].contains(name)) {
        return Err(format!("the column {} stands twice", quoted(twice.1)));
    }
    let before = lives.units.len();
    for (at, row) in reader.records().enumerate() {
        let line = at + 2;
        let row = row.map_err(|error| error.to_string())?;
        if row.iter().all(str::is_empty) {
            continue;
        }
        let cell =
            |name: &str| head.iter().position(|own| own == name).and_then(|at| row.get(at)).filter(|c| !c.is_empty());
        let unit = unit_of(&head, &cell).map_err(|problem| format!("line {line}: {problem}"))?;
        if row.len() > head.len() {
            return Err(format!("line {line}: {} fields, and {} columns", row.len(), head.len()));
        }
        if lives.units.len() - before >= MOST_UNITS {
            return Err(format!("line {line}: more than {MOST_UNITS} units"));
        }
        if lives.units[before..].iter().any(|known| known.is_same(&unit)) {
            return Err(format!("line {line}: unit {} stands twice", clean(&unit.name)));
        }
        // What a sheet says of a unit that another file holds, as how it ended, is added to it.
        match lives.units[..before].iter().any(|known| known.is_same(&unit)) {
            true => lives.add(unit).map_err(|problem| format!("line {line}: {problem}"))?,
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
        milestones.insert(milestone, cycle.map(|cycle| Reached { cycle, bytes: None }));
    }
    in_order(&milestones, cycles)?;
    let cause = cell("cause").unwrap_or("unknown");
    let end = match cell("end").ok_or("end is missing: died, censored or running")?.to_lowercase().as_str() {
        "died" => End::Died { cause: words(cause) },
        "censored" => End::Censored { reason: words(cause) },
        "running" => End::Running,
        other => return Err(format!("end: {} is unknown; write died, censored or running", quoted(other))),
    };
    if milestones.get(&Milestone::Death).is_some_and(Option::is_some) && !matches!(end, End::Died { .. }) {
        return Err("it has a cycle of its death, and its end is not died".to_owned());
    }
    let bytes = number("bytes")?;
    let own = ["unit", "model", "cycles", "bytes", "cycle-bytes", "end", "cause"];
    let is_label = |name: &&String| {
        !name.is_empty() && !own.contains(&name.as_str()) && Milestone::ALL.iter().all(|m| m.name() != name.as_str())
    };
    let labels = head.iter().filter(is_label).filter_map(|name| Some((name.clone(), cell(name)?.to_owned()))).collect();
    Ok(Unit {
        name: cell("unit").ok_or("unit is missing")?.to_owned(),
        model: cell("model").map(model_name),
        labels,
        cycles,
        bytes,
        cycle_bytes: number("cycle-bytes")?,
        milestones,
        watched_to: BTreeMap::new(),
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
        assert_eq!((first.milestones[&Milestone::OnePercent], first.cycle_bytes), (None, None));
        assert_eq!(second.end, End::Censored { reason: "reader".to_owned() });
        assert_eq!((third.labels["site"].as_str(), &third.end), ("north", &End::Running));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let refused = |text: &str| read_lives([("u.csv", text)]).unwrap_err().to_string();
        let head = "unit,cycles,end,death\n";
        assert!(refused("unit,cycles\n").contains("end is missing"));
        assert!(refused(&format!("{head}1,ten,running,\n")).contains("line 2: cycles: `ten`"));
        assert!(refused(&format!("{head}1,10,broken,\n")).contains("write died, censored or running"));
        assert!(refused(&format!("{head}1,10,running,5\n")).contains("its end is not died"));
        assert!(refused(&format!("{head}1,10,died,12\n")).contains("one beyond"));
        assert!(refused(&format!("{head}1,10,running,\n1,11,running,\n")).contains("line 3: unit 1 stands twice"));
        assert!(refused(&format!("{head}1,10,running,,5\n")).contains("line 2: 5 fields"));
        assert!(
            refused("unit,cycles,end,first_error,1%\n1,30,running,20,4\n").contains("1% in cycle 4, but first-error")
        );
        assert!(refused("unit;cycles;end\n1;10;running\n").contains("commas"));
        assert!(read_lives([("u.csv", "unit,cycles,end,\n1,10,Died,\n,,,\n")]).is_ok(), "as spreadsheets write it");
        assert!(refused("{}").contains("neither"));
        assert!(refused("{").contains("no JSON"));
    }

    fn document(id: &str, cycles: u64, end: &str) -> String {
        let died = format!(r#"{{"cycle":{cycles},"written_bytes":{}}}"#, cycles * 100);
        let death = if end.contains("died") { died.as_str() } else { "null" };
        format!(
            r#"{{"schema":1,"id":"{id}","started":"2026-01-01T00:00:00Z","updated":"2026-02-01T00:00:00Z","model":"A","unit":"s1",
            "capacity_bytes":100,"area_bytes":100,"load":{{"load":"whole"}},"cycles":{cycles},"written_bytes":{},
            "uncounted_bytes":0,"read_bytes":1,"failed_sectors":1,"sectors":1,"kinds":{{}},"healed":0,
            "milestones":{{"first_error":{{"cycle":7,"written_bytes":650}},"half":null,"death":{death}}},"end":{end},"labels":{{"site":"north"}}}}"#,
            cycles * 100
        )
    }

    #[test]
    fn documents_are_read_and_the_later_of_two_counts() {
        let early = document("00ff", 10, r#"{"state":"running"}"#);
        let late = document("00ff", 20, r#"{"state":"died","cause":"read_only"}"#);
        let lives = read_lives([("b.json", late.as_str()), ("a.json", early.as_str())]).unwrap();
        let [unit] = &lives.units[..] else { panic!("{lives:?}") };
        assert_eq!((unit.cycles, unit.labels["site"].as_str(), unit.labels["load"].as_str()), (20, "north", "whole"));
        assert_eq!(unit.end, End::Died { cause: "read only".to_owned() });
        assert_eq!(unit.milestones[&Milestone::FirstError], Some(Reached { cycle: 7, bytes: Some(650) }));
    }

    #[test]
    fn a_unit_is_one_life_in_documents_and_sheets() {
        let running = document("00ff", 20, r#"{"state":"running"}"#);
        let sheet = "unit,model,cycles,end,cause\ns1,A,20,died,vanished\n";
        let lives = read_lives([("a.json", running.as_str()), ("ends.csv", sheet)]).unwrap();
        assert_eq!(lives.units.len(), 1);
        assert_eq!(lives.units[0].end, End::Died { cause: "vanished".to_owned() });
        let later = document("00ff", 30, r#"{"state":"running"}"#);
        let died = document("00ff", 20, r#"{"state":"died","cause":"hung"}"#);
        for files in [[("a", later.as_str()), ("b", died.as_str())], [("b", died.as_str()), ("a", later.as_str())]] {
            assert!(read_lives(files).unwrap_err().to_string().contains("contradict each other"));
        }
        let again = document("0100", 30, r#"{"state":"running"}"#);
        let refused = read_lives([("a.json", running.as_str()), ("b.json", again.as_str())]).unwrap_err();
        assert!(refused.to_string().contains("b.json: unit s1 has another test"), "{refused}");
        let early = document("00ff", 3, r#"{"state":"running"}"#);
        assert!(read_lives([("a.json", early.as_str())]).unwrap_err().to_string().contains("one beyond"));
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
