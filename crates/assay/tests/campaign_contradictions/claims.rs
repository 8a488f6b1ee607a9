//! What a command claims, and which claims of two commands contradict each other.

use std::collections::{BTreeMap, BTreeSet};

/// A model and a unit of it.
pub type Unit = (String, String);
/// Title of a load, and which figure of it.
pub type Figure = (String, String);
/// The figure of a model, and of how many units it is, where that is said.
pub type Value = (f64, Option<usize>);

/// What is said of the order of two models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    FirstIsBetter,
    SecondIsBetter,
    /// They differ by no more than does not matter.
    Equal,
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
    pub of_models: BTreeMap<(String, Figure), Value>,
    pub of_units: BTreeMap<(Unit, Figure), f64>,
    /// By load and figure: the two models in the order of their names, and what is said.
    pub orders: BTreeMap<(Figure, String, String), Order>,
    /// Of two models under a figure, the one that is better by more than does not matter, then the other.
    pub clearly: BTreeSet<(Figure, String, String)>,
    /// The model to buy by a figure, and all others that cost no more.
    pub bought: Option<(Figure, String, Vec<String>)>,
    /// By unit: each class with the answer.
    pub classes: BTreeMap<(Unit, String), String>,
    /// Records that decide nothing, with the kind of the reason.
    pub left_out: Option<BTreeMap<String, String>>,
    /// Records with their verdicts.
    pub verdicts: BTreeMap<String, String>,
}

impl Claims {
    pub fn of(who: &'static str) -> Self {
        Self { who, ..Self::default() }
    }

    pub fn len(&self) -> usize {
        let figures = self.of_models.len() + self.of_units.len() + self.orders.len() + self.classes.len();
        figures + self.models.len() + self.units.len() + self.verdicts.len()
    }

    pub fn order(&mut self, figure: &Figure, first: &str, second: &str, said: Order) {
        let (first, second, said) = match said {
            _ if first <= second => (first, second, said),
            Order::FirstIsBetter => (second, first, Order::SecondIsBetter),
            Order::SecondIsBetter => (second, first, Order::FirstIsBetter),
            Order::Equal => (second, first, Order::Equal),
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
        for other in &all[at + 1..] {
            pair(one, other, &mut found);
        }
    }
    found
}

fn pair(one: &Claims, other: &Claims, found: &mut Vec<(&'static str, String)>) {
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
    for (what, a, b) in both(&one.of_units, &other.of_units).filter(|(_, a, b)| !same(**a, **b)) {
        say("figure of a unit", format!("{what:?}: {a}, {b}"));
    }
    for (what, a, b) in both(&one.orders, &other.orders).filter(|(_, a, b)| a != b) {
        say("order of two models", format!("{what:?}: {a:?}, {b:?}"));
    }
    for (buyer, judge) in [(one, other), (other, one)] {
        let Some((figure, bought, others)) = &buyer.bought else { continue };
        for better in others {
            if judge.clearly.contains(&(figure.clone(), better.clone(), bought.clone())) {
                say("purchase", format!("{} buys {bought}, and {} says that {better} is better", buyer.who, judge.who));
            }
        }
    }
    for (what, a, b) in both(&one.classes, &other.classes).filter(|(_, a, b)| a != b) {
        say("class", format!("{what:?}: {a}, {b}"));
    }
    for (what, a, b) in both(&one.verdicts, &other.verdicts).filter(|(_, a, b)| a != b) {
        say("verdict", format!("{what:?}: {a}, {b}"));
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
