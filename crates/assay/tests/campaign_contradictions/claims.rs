//! What a command claims, and which claims of two commands contradict each other.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// A model and a unit of it.
pub type Unit = (String, String);
/// Title of a load, and which figure of it.
pub type Figure = (String, String);
/// The figure of a model, and of how many units it is, where that is said.
pub type Mean = (f64, Option<usize>);
/// The ends of an interval, where there are any.
pub type Ends = (Option<f64>, Option<f64>);

/// What is said of the order of two models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    FirstIsBetter,
    SecondIsBetter,
    /// They differ by no more than does not matter.
    Equal,
    /// Both run at the ceiling of their bus.
    BusTie,
    /// Their units do not tell which is better.
    Unresolved,
}

/// All that one command says of a store. What it does not say stays empty.
#[derive(Debug, Default)]
pub struct Claims {
    pub who: &'static str,
    /// Whether the figures were printed in articles.
    pub published: bool,
    pub models: BTreeSet<String>,
    pub units: BTreeSet<Unit>,
    /// Title of the load that decides. Which figure of it is each command's own: a purchase takes the durable rate of
    /// writes.
    pub decides: Option<String>,
    pub of_models: BTreeMap<(String, Figure), Mean>,
    /// The ends of the interval of a model's figure, of several units.
    pub intervals: BTreeMap<(String, Figure), Ends>,
    pub of_units: BTreeMap<(Unit, Figure), f64>,
    /// By load and figure: the two models in the order of their names, and what is said.
    pub orders: BTreeMap<(Figure, String, String), Order>,
    /// Of two models under a figure, the one that is better by more than does not matter, then the other.
    pub clearly: BTreeSet<(Figure, String, String)>,
    /// Models to buy by a figure, each with all others that cost no more.
    pub bought: Vec<(Figure, String, Vec<String>)>,
    /// Models that are said not to be separated from the one that is bought; none where several are.
    pub not_separated: Option<BTreeSet<String>>,
    /// Whether a model runs at the ceiling of its bus.
    pub at_ceiling: BTreeMap<(String, Figure), bool>,
    /// Whether units of a model failed, or lost data.
    pub fates: BTreeMap<String, String>,
    /// Where there are two models: units of each that would separate them.
    pub needed: BTreeMap<Figure, u64>,
    /// Records that a figure of all models is of.
    pub records: BTreeMap<Figure, usize>,
    /// What contradicts itself.
    pub slips: Vec<String>,
    /// By unit: each class with the answer.
    pub classes: BTreeMap<(Unit, String), String>,
    /// Records that decide nothing, with the kind of the reason.
    pub left_out: Option<BTreeMap<String, String>>,
    /// Units of a run on a cluster that are odd, by the title of the load; whether a test says so.
    pub odd: Option<BTreeSet<(String, Unit, bool)>>,
    /// Records with their verdicts.
    pub verdicts: BTreeMap<String, String>,
    /// Records of which the medium is said to lose data, as a check of its unit found.
    pub losing: Option<BTreeSet<String>>,
}

impl Claims {
    /// So many units would tell two models apart that these cannot: more than there are.
    pub fn more_than_there_is(&mut self, load: &Value, needed: Option<u64>, there_are: Option<u64>) {
        if let (Some(needed), Some(there_are)) = (needed, there_are)
            && needed <= there_are
        {
            self.slips.push(format!("{} under {load}: {needed} units would tell, and there are {there_are}", self.who));
        }
    }

    pub fn of(who: &'static str) -> Self {
        Self { who, ..Self::default() }
    }

    pub fn interval(&mut self, model: &str, figure: &Figure, estimate: &Value) {
        let ends = (estimate["low"].as_f64(), estimate["high"].as_f64());
        self.intervals.insert((model.to_owned(), figure.clone()), ends);
    }

    pub fn len(&self) -> usize {
        let figures = self.of_models.len() + self.of_units.len() + self.orders.len() + self.classes.len();
        let fates = self.at_ceiling.len() + self.fates.len() + self.records.len();
        figures + fates + self.models.len() + self.units.len() + self.verdicts.len()
    }

    pub fn order(&mut self, figure: &Figure, first: &str, second: &str, said: Order) {
        let (first, second, said) = match said {
            _ if first <= second => (first, second, said),
            Order::FirstIsBetter => (second, first, Order::SecondIsBetter),
            Order::SecondIsBetter => (second, first, Order::FirstIsBetter),
            both => (second, first, both),
        };
        self.orders.insert((figure.clone(), first.to_owned(), second.to_owned()), said);
    }
}

/// The contradictions among what these say, each with its kind. The first of them knows all names.
pub fn contradictions(all: &[Claims]) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    let (known, others) = all.split_first().unwrap();
    for face in others {
        let models = face.models.difference(&known.models).map(|model| ("names", format!("{}: {model:?}", face.who)));
        let units = face.units.difference(&known.units).map(|unit| ("names", format!("{}: {unit:?}", face.who)));
        found.extend(models.chain(units));
    }
    for (at, one) in all.iter().enumerate() {
        found.extend(one.slips.iter().map(|slip| ("words", format!("{}: {slip}", one.who))));
        for other in &all[at + 1..] {
            pair(one, other, all, &mut found);
        }
    }
    found
}

fn pair(one: &Claims, other: &Claims, all: &[Claims], found: &mut Vec<(&'static str, String)>) {
    let mut say = |kind, what: String| found.push((kind, format!("{} and {}: {what}", one.who, other.who)));
    if let Some((a, b)) = one.decides.as_ref().zip(other.decides.as_ref()).filter(|(a, b)| a != b) {
        say("load that decides", format!("{a:?}, {b:?}"));
    }
    for (what, a, b) in both(&one.of_models, &other.of_models) {
        if !same(a.0, b.0) {
            say("figure of a model", format!("{what:?}: {}, {}", a.0, b.0));
        }
        if a.1.zip(b.1).is_some_and(|(a, b)| a != b) {
            say("number of units", format!("{what:?}: {:?}, {:?}", a.1, b.1));
        }
    }
    let ends = |a: Option<f64>, b: Option<f64>| a.is_some() == b.is_some() && a.zip(b).is_none_or(|(a, b)| same(a, b));
    let differ = |(_, a, b): &(_, &Ends, &Ends)| !ends(a.0, b.0) || !ends(a.1, b.1);
    // At the ceiling of a bus one end is open, or both, where no decision needs them.
    let held = |(what, _, _): &(&(String, Figure), _, _)| {
        all.iter().any(|face| {
            face.at_ceiling.iter().any(|((model, of), held)| *held && (model, &of.0) == (&what.0, &what.1.0))
        })
    };
    for (what, a, b) in both(&one.intervals, &other.intervals).filter(differ).filter(|found| !held(found)) {
        say("interval of a model", format!("{what:?}: {a:?}, {b:?}"));
    }
    for (what, a, b) in both(&one.of_units, &other.of_units).filter(|(_, a, b)| !same(**a, **b)) {
        say("figure of a unit", format!("{what:?}: {a}, {b}"));
    }
    for (what, a, b) in both(&one.orders, &other.orders).filter(|(_, a, b)| a != b) {
        say("order of two models", format!("{what:?}: {a:?}, {b:?}"));
    }
    for (buyer, judge) in [(one, other), (other, one)] {
        for (figure, bought, others) in &buyer.bought {
            let is_better =
                |other: &&String| judge.clearly.contains(&(figure.clone(), (*other).clone(), bought.clone()));
            for better in others.iter().filter(is_better) {
                say("purchase", format!("{} buys {bought}, and {} says that {better} is better", buyer.who, judge.who));
            }
            let Some(open) = &buyer.not_separated else { continue };
            let untold = |other: &&String| {
                let (a, b) = if bought <= *other { (bought, *other) } else { (*other, bought) };
                judge.orders.get(&(figure.clone(), a.clone(), b.clone())) == Some(&Order::Unresolved)
            };
            for other in others.iter().filter(untold).filter(|other| !open.contains(*other)) {
                say(
                    "purchase",
                    format!("{} does not say that {} cannot separate {bought}, {other}", buyer.who, judge.who),
                );
            }
        }
    }
    for (what, a, b) in both(&one.at_ceiling, &other.at_ceiling).filter(|(_, a, b)| a != b) {
        say("ceiling", format!("{what:?}: {a}, {b}"));
    }
    for (what, a, b) in both(&one.fates, &other.fates).filter(|(_, a, b)| a != b) {
        say("failures", format!("{what:?}: {a}, {b}"));
    }
    for (what, a, b) in both(&one.needed, &other.needed).filter(|(_, a, b)| a != b) {
        say("units needed", format!("{what:?}: {a}, {b}"));
    }
    for (what, a, b) in both(&one.records, &other.records).filter(|(_, a, b)| a != b) {
        say("number of records", format!("{what:?}: {a}, {b}"));
    }
    for (what, a, b) in both(&one.classes, &other.classes).filter(|(_, a, b)| a != b) {
        say("class", format!("{what:?}: {a}, {b}"));
    }
    for (what, a, b) in both(&one.verdicts, &other.verdicts).filter(|(_, a, b)| a != b) {
        say("verdict", format!("{what:?}: {a}, {b}"));
    }
    if let Some((a, b)) = one.losing.as_ref().zip(other.losing.as_ref()).filter(|(a, b)| a != b) {
        say("media that lose data", format!("{:?}", a.symmetric_difference(b).collect::<Vec<_>>()));
    }
    if let Some((a, b)) = one.odd.as_ref().zip(other.odd.as_ref()).filter(|(a, b)| a != b) {
        say("odd units", format!("{:?}", a.symmetric_difference(b).collect::<Vec<_>>()));
    }
    if let Some((a, b)) = one.left_out.as_ref().zip(other.left_out.as_ref()).filter(|(a, b)| a != b) {
        say("records left out", format!("{:?}, {:?}", only(a, b), only(b, a)));
    }
}

/// What the first has and the second has not.
fn only<'a>(a: &'a BTreeMap<String, String>, b: &BTreeMap<String, String>) -> Vec<(&'a String, &'a String)> {
    a.iter().filter(|(id, why)| b.get(*id) != Some(why)).collect()
}

fn both<'a, K: Ord, V>(
    one: &'a BTreeMap<K, V>,
    other: &'a BTreeMap<K, V>,
) -> impl Iterator<Item = (&'a K, &'a V, &'a V)> {
    one.iter().filter_map(|(key, a)| Some((key, a, other.get(key)?)))
}

/// The same but for the last digits of a sum in another order.
fn same(a: f64, b: f64) -> bool {
    (a / b - 1.0).abs() < 1e-9
}
