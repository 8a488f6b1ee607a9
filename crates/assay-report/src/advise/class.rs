//! Which classes are met.

use assay_analysis::advise::{
    ClassAdvice, ClassAnswer, ClassPart, ClassTest, Kind, ModelClasses, ModelWord, Obstacle, SpecimenClasses, Status,
};
use assay_core::text::clean;
use assay_core::units::{counted, figures};

use super::layout::Parts;
use super::words::{left_out, marks};
use crate::document::{Answered, Data, left, right};
use crate::figure::MB;

/// Thresholds of classes, for units and models.
#[must_use]
pub fn class(advice: &ClassAdvice) -> Answered {
    let sentence = sentence(advice);
    let mut parts = Parts::default();
    for specimen in &advice.units {
        unit(&mut parts, specimen);
    }
    parts.heading("Models");
    for model in &advice.models {
        whole_model(&mut parts, model);
    }
    parts.item("at least", "with 95 % confidence; needs 3 repeats (one-sided t bounds on logarithms)");
    parts.item("note", "met: under these conditions; the test procedure of the SD Association is not public");
    left_out(&mut parts, &advice.excluded);
    parts.answered("class", "Which classes are met".to_owned(), sentence, data(advice), advice)
}

const ALL: [(Status, &str); 6] = [
    (Status::Pass, "met"),
    (Status::Fail, "not met"),
    (Status::Indeterminate, "cannot tell"),
    (Status::BusLimited, "beyond this bus"),
    (Status::NotMeasured, "not all measured"),
    (Status::NotTestable, "not testable"),
];

fn word(status: Status) -> &'static str {
    ALL.iter().find(|(s, _)| *s == status).map_or("", |(_, word)| word)
}

fn sentence(a: &ClassAdvice) -> String {
    if let ([one], true) = (&a.units[..], a.asked.is_empty()) {
        let parts: Vec<String> =
            by_status(&one.classes).into_iter().map(|(w, names)| format!("{w}: {names}")).collect();
        return format!("{}: {}.", name(one), parts.join("; "));
    }
    // Without a name the application classes are what cards are bought for.
    let asked: Vec<&str> = if a.asked.is_empty() { vec!["A1", "A2"] } else { a.asked.clone() };
    let total = a.units.len();
    let single = a.units.iter().all(|s| s.figures.iter().all(|f| f.n == 1));
    let mut parts = Vec::new();
    for class in asked {
        let answers = || a.units.iter().flat_map(|s| &s.classes).filter(|c| c.class == class);
        let counts: Vec<String> = ALL
            .iter()
            .filter_map(|(status, word)| {
                let n = answers().filter(|c| c.status == *status).count();
                (n > 0).then(|| format!("{word} for {n} of {total} units"))
            })
            .collect();
        let low = |c: &&ClassAnswer| c.status != Status::Fail && c.tests.iter().any(|t| t.below == Some(true));
        let how = if single { "single repeat" } else { "by the estimate" };
        let below = match answers().filter(low).count() {
            0 => String::new(),
            n => format!(" ({n} below threshold, {how})"),
        };
        parts.push(format!("{class} {}{below}", counts.join(", ")));
    }
    // Repeats do not help a disk that no class is about.
    let is_virtual = |s: &SpecimenClasses| s.classes.iter().any(|c| c.obstacle == Some(Obstacle::Virtual));
    let few = a.units.iter().all(|s| s.figures.iter().all(|f| f.bounds.is_none()) && !is_virtual(s));
    let mend = if few { "; fewer than 3 repeats give no bounds: measure with 3 repeats" } else { "" };
    format!("{}{mend}.", parts.join("; "))
}

fn by_status(classes: &[ClassAnswer]) -> Vec<(&'static str, String)> {
    ALL.iter()
        .filter_map(|(status, word)| {
            let names: Vec<&str> = classes.iter().filter(|c| c.status == *status).map(|c| c.class).collect();
            (!names.is_empty()).then(|| (*word, names.join(" ")))
        })
        .collect()
}

fn name(specimen: &SpecimenClasses) -> String {
    clean(&format!("{} {}", specimen.model, specimen.unit))
}

fn unit(parts: &mut Parts, specimen: &SpecimenClasses) {
    let rows: Vec<Vec<String>> = specimen
        .figures
        .iter()
        .map(|f| {
            let shown = |v: f64| figures(v / divisor(f.kind));
            let bound = |pick: fn((f64, f64)) -> f64| f.bounds.map_or_else(|| "–".to_owned(), |b| shown(pick(b)));
            vec![
                clean(&f.title),
                shown(f.value),
                unit_of(f.kind).to_owned(),
                bound(|b| b.0),
                bound(|b| b.1),
                f.n.to_string(),
            ]
        })
        .collect();
    let columns = [right("value"), left(""), right("at least"), right("at most"), right("repeats")];
    parts.table(std::iter::once(left(name(specimen))).chain(columns).collect(), rows);
    for (word, names) in by_status(&specimen.classes) {
        parts.item(word, &names);
    }
    let detailed = |c: &&ClassAnswer| c.tests.len() > 1 || specimen.classes.len() == 1 || c.claimed;
    for answer in specimen.classes.iter().filter(detailed) {
        let claimed = if answer.claimed { ", claimed" } else { "" };
        let tests: Vec<String> = answer.tests.iter().map(|t| test(t, specimen)).collect();
        let why = match answer.obstacle {
            Some(Obstacle::CommandQueue) => "; it requires a command queue, which this host is not known to use",
            Some(Obstacle::Virtual) => "; virtual disks have no class",
            None => "",
        };
        parts.item(answer.class, &format!("{}{claimed}{why}: {}", word(answer.status), tests.join("; ")));
    }
    for figure in &specimen.figures {
        let said = marks(&figure.marks);
        if !said.is_empty() && said != "published" {
            parts.item("note", &format!("{}: {said}", clean(&figure.title)));
        }
    }
}

/// A row for each unit and class.
fn data(a: &ClassAdvice) -> Data {
    let row = |specimen: &SpecimenClasses, answer: &ClassAnswer| {
        vec![
            specimen.model.clone(),
            specimen.unit.clone(),
            answer.class.to_owned(),
            word(answer.status).to_owned(),
            answer.claimed.to_string(),
        ]
    };
    let rows = a.units.iter().flat_map(|s| s.classes.iter().map(move |answer| row(s, answer))).collect();
    Data { columns: vec!["model", "unit", "class", "answer", "claimed"], rows }
}

fn test(test: &ClassTest, specimen: &SpecimenClasses) -> String {
    let kind = kind(test.kind);
    let Some(figure) = specimen.figures.iter().find(|f| f.kind == test.kind) else {
        return format!("{kind} was not measured");
    };
    let values = against(figure, test.threshold);
    let against = format!("({values})");
    let place = if test.below == Some(true) { "below" } else { "above" };
    match test.status {
        Status::Pass => format!("{kind} meets it {against}"),
        Status::Fail => format!("{kind} does not meet it {against}"),
        Status::BusLimited => format!("{kind} is limited by the bus {against}"),
        _ => match figure.n {
            1 => format!("{kind} is {place} threshold ({values}, single repeat)"),
            2 => format!("{kind} is {place} threshold ({values}, mean of two repeats)"),
            _ => format!("the threshold of {kind} lies between the bounds {against}"),
        },
    }
}

/// `412 of 500 IOPS`.
pub(crate) fn against(figure: &ClassPart, threshold: f64) -> String {
    let by = divisor(figure.kind);
    format!("{} of {} {}", figures(figure.value / by), figures(threshold / by), unit_of(figure.kind))
}

pub(crate) fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::SequentialWrite => "sequential write",
        Kind::RandomRead => "random read",
        Kind::RandomWrite => "random write",
    }
}

fn divisor(kind: Kind) -> f64 {
    if kind == Kind::SequentialWrite { MB } else { 1.0 }
}

fn unit_of(kind: Kind) -> &'static str {
    if kind == Kind::SequentialWrite { "MB/s" } else { "IOPS" }
}

fn whole_model(parts: &mut Parts, model: &ModelClasses) {
    let title = clean(&model.model);
    if model.units < 2 {
        parts.item("model", &format!("{title}: one unit does not describe the model; measure at least 2 units"));
        return;
    }
    let words = [
        (ModelWord::Pass, word(Status::Pass)),
        (ModelWord::Fail, word(Status::Fail)),
        (ModelWord::Indeterminate, word(Status::Indeterminate)),
        (ModelWord::OneUnit, "one unit"),
        (ModelWord::NotMeasured, word(Status::NotMeasured)),
        (ModelWord::NotTestable, word(Status::NotTestable)),
    ];
    let mut answers = Vec::new();
    for (answer, says) in words {
        let names: Vec<&str> = model.classes.iter().filter(|c| c.word == answer).map(|c| c.class).collect();
        if !names.is_empty() {
            answers.push(format!("{says}: {}", names.join(" ")));
        }
    }
    let mut limits: Vec<String> = Vec::new();
    for part in model.classes.iter().flat_map(|c| &c.parts) {
        let Some(limit) = part.lower_limit else { continue };
        let text = format!("{} above {} {}", kind(part.kind), figures(limit / divisor(part.kind)), unit_of(part.kind));
        if !limits.contains(&text) {
            limits.push(text);
        }
    }
    let share = model.content * 100.0;
    let limits = if limits.is_empty() {
        String::new()
    } else {
        format!("; {share:.0} % of units have, with 95 % confidence, {}", limits.join(", "))
    };
    parts.item(
        "model",
        &format!(
            "{title}, {}, required of {share:.0} % of units: {}{limits}",
            counted(model.units, "unit"),
            answers.join("; ")
        ),
    );
}
