//! Which classes are met.

use assay_analysis::advise::{
    ClassAdvice, ClassAnswer, ClassKind, ClassPart, ClassStatus, ClassTest, LEAST_REPEATS, ModelClasses, ModelWord,
    Obstacle, SpecimenClasses,
};
use assay_core::observation::Observation;
use assay_core::text::clean;
use assay_core::units::{counted, figures};

use super::parts::{Parts, left_out_items, marks_text};
use crate::document::{Answered, Data, left, right};
use crate::headline::MB;

/// Thresholds of classes, for units and models.
#[must_use]
pub fn class(advice: &ClassAdvice) -> Answered {
    let sentence = class_sentence(advice);
    let mut parts = Parts::default();
    for specimen in &advice.units {
        unit_blocks(&mut parts, specimen);
    }
    parts.heading("Models");
    for model in &advice.models {
        whole_model(&mut parts, model);
    }
    parts.item("at least", "the true rate is above this with 95 % confidence (one-sided bound of 3 repeats or more)");
    parts.item("note", "met: under these conditions; the test procedure of the SD Association is not public");
    left_out_items(&mut parts, &advice.excluded);
    parts.answered("class", "Which classes are met".to_owned(), sentence, class_data(advice), advice)
}

const ALL: [(ClassStatus, &str); 6] = [
    (ClassStatus::Pass, "met"),
    (ClassStatus::Fail, "not met"),
    (ClassStatus::Indeterminate, "cannot tell"),
    (ClassStatus::BusLimited, "beyond this bus"),
    (ClassStatus::NotMeasured, "not all measured"),
    (ClassStatus::NotTestable, "not testable"),
];

fn status_word(status: ClassStatus) -> &'static str {
    ALL.iter().find(|(s, _)| *s == status).map_or("", |(_, word)| word)
}

fn class_sentence(a: &ClassAdvice) -> String {
    if let ([one], true) = (&a.units[..], a.asked.is_empty()) {
        let parts: Vec<String> =
            by_status(&one.classes).into_iter().map(|(w, names)| format!("{w}: {names}")).collect();
        return format!("{}: {}.", unit_name(one), parts.join("; "));
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
                let by = match status {
                    ClassStatus::Pass | ClassStatus::Fail => format!("{word} by"),
                    ClassStatus::Indeterminate => "undecided for".to_owned(),
                    _ => format!("{word} for"),
                };
                (n > 0).then(|| format!("{by} {n} of {total} units"))
            })
            .collect();
        let low = |c: &&ClassAnswer| c.status != ClassStatus::Fail && c.tests.iter().any(|t| t.below == Some(true));
        let how = if single { "single repeat" } else { "by the estimate" };
        let below = match answers().filter(low).count() {
            0 => String::new(),
            n => format!(" ({n} below threshold, {how})"),
        };
        parts.push(format!("{class}: {}{below}", counts.join(", ")));
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

fn unit_name(specimen: &SpecimenClasses) -> String {
    clean(&assay_analysis::unit_name(&specimen.model, &specimen.unit))
}

fn unit_blocks(parts: &mut Parts, specimen: &SpecimenClasses) {
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
    parts.table(std::iter::once(left(unit_name(specimen))).chain(columns).collect(), rows);
    for (word, names) in by_status(&specimen.classes) {
        parts.item(word, &names);
    }
    let detailed = |c: &&ClassAnswer| c.tests.len() > 1 || specimen.classes.len() == 1 || c.claimed;
    for answer in specimen.classes.iter().filter(detailed) {
        let claimed = if answer.claimed { ", claimed" } else { "" };
        let tests: Vec<String> = answer.tests.iter().map(|t| tested_bound(t, specimen)).collect();
        let why = match answer.obstacle {
            Some(Obstacle::CommandQueue) => match answer.queue {
                Some(queue) => format!("; it requires a command queue ({})", queue.words()),
                None => "; it requires a command queue, which this host is not known to use".to_owned(),
            },
            Some(Obstacle::Virtual) => "; virtual disks have no class".to_owned(),
            None => String::new(),
        };
        parts.item(answer.class, &format!("{}{claimed}{why}: {}", status_word(answer.status), tests.join("; ")));
    }
    for figure in &specimen.figures {
        let said = marks_text(&figure.marks);
        if !said.is_empty() && said != "published" {
            parts.item("note", &format!("{}: {said}", clean(&figure.title)));
        }
    }
}

/// A row for each unit and class.
fn class_data(a: &ClassAdvice) -> Data {
    let row = |specimen: &SpecimenClasses, answer: &ClassAnswer| {
        vec![
            specimen.model.clone(),
            specimen.unit.clone(),
            answer.class.to_owned(),
            status_word(answer.status).to_owned(),
            answer.claimed.to_string(),
        ]
    };
    let rows = a.units.iter().flat_map(|s| s.classes.iter().map(move |answer| row(s, answer))).collect();
    Data { columns: vec!["model", "unit", "class", "answer", "claimed"], rows }
}

fn tested_bound(test: &ClassTest, specimen: &SpecimenClasses) -> String {
    let kind = kind(test.kind);
    let Some(figure) = specimen.figures.iter().find(|f| f.kind == test.kind) else {
        return format!("{kind} was not measured");
    };
    let values = against(figure, test.threshold);
    let against = format!("({values})");
    let place = if test.below == Some(true) { "below" } else { "above" };
    match test.status {
        ClassStatus::Pass => format!("{kind} meets it {against}"),
        ClassStatus::Fail => format!("{kind} does not meet it {against}"),
        ClassStatus::BusLimited => format!("{kind} is limited by the bus {against}"),
        _ => match figure.n {
            1 => format!("{kind} is {place} threshold ({values}, single repeat)"),
            2 => format!("{kind} is {place} threshold ({values}, mean of two repeats)"),
            _ => format!("{kind} is undecided {against}"),
        },
    }
}

/// `412 of 500 IOPS`.
pub(crate) fn against(figure: &ClassPart, threshold: f64) -> String {
    let by = divisor(figure.kind);
    format!("{} of {} {}", figures(figure.value / by), figures(threshold / by), unit_of(figure.kind))
}

pub(crate) fn kind(kind: ClassKind) -> &'static str {
    match kind {
        ClassKind::SequentialWrite => "sequential write",
        ClassKind::RandomRead => "random read",
        ClassKind::RandomWrite => "random write",
    }
}

fn divisor(kind: ClassKind) -> f64 {
    if kind == ClassKind::SequentialWrite { MB } else { 1.0 }
}

fn unit_of(kind: ClassKind) -> &'static str {
    if kind == ClassKind::SequentialWrite { "MB/s" } else { "IOPS" }
}

fn whole_model(parts: &mut Parts, model: &ModelClasses) {
    let title = clean(&model.model);
    if model.units < 2 {
        parts.item("model", &format!("{title}: one unit does not describe the model; measure at least 2 units"));
        return;
    }
    let words = [
        (ModelWord::Pass, status_word(ClassStatus::Pass)),
        (ModelWord::Fail, status_word(ClassStatus::Fail)),
        (ModelWord::Indeterminate, status_word(ClassStatus::Indeterminate)),
        (ModelWord::OneUnit, "one unit"),
        (ModelWord::NotMeasured, status_word(ClassStatus::NotMeasured)),
        (ModelWord::NotTestable, status_word(ClassStatus::NotTestable)),
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
        // A limit far below each threshold says nothing: two units bound a model by so little.
        let Some(limit) = part.lower_limit.filter(|limit| *limit > 0.01 * part.threshold) else { continue };
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
            "{title}, {}: {}; {share:.0} % of its units have to pass{limits}",
            counted(model.units, "unit"),
            answers.join("; ")
        ),
    );
}

// Which classes a record meets, in the words of the card and the page; `assay_analysis::advise::class` decides.

/// The families of classes, in the order that cards are printed with.
const FAMILIES: [char; 4] = ['C', 'U', 'V', 'A'];

/// What can be said about classes.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Judged {
    /// `None` where nothing was measured that classes are about, or the record cannot speak for the medium.
    specimen: Option<SpecimenClasses>,
    claimed: Vec<String>,
}

/// Judges one record.
pub(crate) fn judge(record: &Observation) -> Judged {
    let answer = assay_analysis::advise::class(std::slice::from_ref(record), &[]).ok();
    let specimen = answer.and_then(|mut a| (a.units.len() == 1).then(|| a.units.remove(0)));
    Judged { specimen, claimed: record.medium.claimed_classes.clone() }
}

impl Judged {
    /// The highest class of each family that is met.
    pub(crate) fn met(&self) -> Vec<&'static str> {
        self.highest(|c| c.status == ClassStatus::Pass)
    }

    /// As text: `C10 U1 V10 A1 met here; claimed C10 U3 A1; not met: U3 (sequential write 18.5 of 30 MB/s)`.
    pub(crate) fn sentence(&self) -> Option<String> {
        let claimed = || format!("claimed {}", self.claimed.join(" "));
        let Some(specimen) = &self.specimen else {
            return (!self.claimed.is_empty()).then(|| format!("{}; not judged here", claimed()));
        };
        if specimen.classes.iter().any(|c| c.obstacle == Some(Obstacle::Virtual)) {
            return None;
        }
        let mut parts = Vec::new();
        let met = self.met();
        let few = specimen.figures.iter().all(|f| f.n < LEAST_REPEATS);
        if !met.is_empty() {
            parts.push(format!("{} met here", met.join(" ")));
        } else if few {
            parts.push(format!("not judged (needs {LEAST_REPEATS} repeats)"));
        } else {
            parts.push("none met here".to_owned());
        }
        if !few {
            let within = |c: &ClassAnswer| {
                let near = c.tests.iter().all(|t| t.below == Some(false));
                c.status == ClassStatus::Indeterminate && near && !self.met().contains(&c.class)
            };
            let within = self.highest(within);
            if !within.is_empty() {
                parts.push(format!("{} within the uncertainty", within.join(" ")));
            }
        }
        if !self.claimed.is_empty() {
            parts.push(claimed());
        }
        parts.extend(self.missed(specimen));
        parts.extend(self.rest(specimen, few));
        Some(parts.join("; "))
    }

    /// The claimed classes that are missed, and the first application class that is missed, each with the deciding
    /// figure.
    fn missed(&self, specimen: &SpecimenClasses) -> Option<String> {
        let first = specimen.classes.iter().find(|c| c.class.starts_with('A'));
        let said = |c: &&ClassAnswer| {
            let missed = c.status == ClassStatus::Fail;
            missed && (c.claimed || first.is_some_and(|f| f.class == c.class))
        };
        let words: Vec<String> = specimen.classes.iter().filter(said).map(|c| why(c, specimen)).collect();
        (!words.is_empty()).then(|| format!("not met: {}", words.join(", ")))
    }

    /// The claimed classes that are undecided.
    fn rest(&self, specimen: &SpecimenClasses, few: bool) -> Vec<String> {
        let of = |words: &str, pick: &dyn Fn(Option<&ClassAnswer>) -> bool| {
            let answer = |name: &&String| pick(specimen.classes.iter().find(|c| c.class == **name));
            let names: Vec<&str> = self.claimed.iter().filter(answer).map(String::as_str).collect();
            (!names.is_empty()).then(|| format!("{words}: {}", names.join(" ")))
        };
        let is = |answer: Option<&ClassAnswer>, status| answer.is_some_and(|c| c.status == status);
        let unknown = |c: Option<&ClassAnswer>| {
            c.is_none() || is(c, ClassStatus::NotMeasured) || (!few && is(c, ClassStatus::Indeterminate))
        };
        [
            of("beyond this bus", &|c| is(c, ClassStatus::BusLimited)),
            of("not testable on this host", &|c| is(c, ClassStatus::NotTestable)),
            of("cannot tell", &unknown),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// The highest class of each family for which `holds`.
    fn highest(&self, holds: impl Fn(&ClassAnswer) -> bool) -> Vec<&'static str> {
        let Some(specimen) = &self.specimen else { return Vec::new() };
        let of = |family: &char| specimen.classes.iter().rfind(|c| c.class.starts_with(*family) && holds(c));
        FAMILIES.iter().filter_map(of).map(|c| c.class).collect()
    }
}

/// `A1 (random write 412 of 500 IOPS)`.
fn why(answer: &ClassAnswer, specimen: &SpecimenClasses) -> String {
    let missed = answer.tests.iter().find(|t| t.status == ClassStatus::Fail);
    let figure = |test| specimen.figures.iter().find(|f| f.kind == test);
    match missed.and_then(|test| Some((test, figure(test.kind)?))) {
        Some((test, f)) => format!("{} ({} {})", answer.class, kind(test.kind), against(f, test.threshold)),
        None => answer.class.to_owned(),
    }
}
