//! Which classes a record meets, in the words of the card and the page; `assay_analysis::advise::class` decides.

use assay_analysis::advise::{ClassAnswer, LEAST_REPEATS, Obstacle, SpecimenClasses, Status, class};
use assay_core::record::Record;

use crate::advise::{against, kind};

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
pub(crate) fn judge(record: &Record) -> Judged {
    let answer = class(std::slice::from_ref(record), &[]).ok();
    let specimen = answer.and_then(|mut a| (a.units.len() == 1).then(|| a.units.remove(0)));
    Judged { specimen, claimed: record.medium.claimed_classes.clone() }
}

impl Judged {
    /// The highest class of each family that is met.
    pub(crate) fn met(&self) -> Vec<&'static str> {
        self.highest(|c| c.status == Status::Pass)
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
                c.status == Status::Indeterminate && near && !self.met().contains(&c.class)
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
            let missed = c.status == Status::Fail;
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
            c.is_none() || is(c, Status::NotMeasured) || (!few && is(c, Status::Indeterminate))
        };
        [
            of("beyond this bus", &|c| is(c, Status::BusLimited)),
            of("not testable on this host", &|c| is(c, Status::NotTestable)),
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
    let missed = answer.tests.iter().find(|t| t.status == Status::Fail);
    let figure = |test| specimen.figures.iter().find(|f| f.kind == test);
    match missed.and_then(|test| Some((test, figure(test.kind)?))) {
        Some((test, f)) => format!("{} ({} {})", answer.class, kind(test.kind), against(f, test.threshold)),
        None => answer.class.to_owned(),
    }
}
