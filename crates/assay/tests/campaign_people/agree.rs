//! Whether commands contradict each other about the same store (docs/statistics.md: "One voice").

use std::collections::BTreeMap;

use assay_lab::people::Store;

use crate::ask::Answer;
use crate::judge::{Answers, list, model_of, separated, words};
use crate::table::Table;

/// Looks for answers that cannot be true together, and for ends that no document speaks of.
pub fn agree(store: &Store, answers: &Answers, refused: &[String], table: &mut Table) {
    let mut fault = |words: String| table.fault(store.kind, store.seed, words);
    for words in refused {
        fault(format!("import: {}", words.lines().next().unwrap_or_default()));
    }
    let all = [
        ("compare --by model", &answers.models),
        ("rank", &answers.rank),
        ("rank of writes", &answers.durable),
        ("race", &answers.race),
        ("buy", &answers.buy),
        ("class", &answers.class),
        ("nas", &answers.nas),
        ("list", &answers.list),
    ];
    for (name, answer) in all.into_iter().chain(answers.pairs.iter().map(|answer| ("compare", answer))) {
        let documented = matches!(answer.code, Some(0..=2)) && !answer.words.contains("panicked");
        if !documented || (answer.code == Some(0) && answer.document.is_null()) {
            fault(format!("{name} ends with {:?}: {}", answer.code, answer.words.trim()));
        }
    }
    if let Some(records) = store.records {
        let listed = list(&answers.list.document).len();
        if listed != records {
            fault(format!("list shows {listed} records of {records}"));
        }
    }
    let compared = by_compare(store, answers);
    let ranked = by_rank(store, &answers.rank);
    if let Some(of_files) = &answers.of_files {
        let of_files = by_rank(store, of_files);
        if of_files != ranked {
            fault(format!("rank of the files says {of_files:?}, of the store {ranked:?}"));
        }
    }
    for (pair, order) in &compared {
        let other = ranked.get(pair);
        let name = |at: usize| &store.models[at].name;
        if other.is_some_and(|other| other != order) {
            let (first, second) = *pair;
            fault(format!("{} and {}: compare says {order:?}, rank {other:?}", name(first), name(second)));
        }
    }
    for words in bought(store, answers, &compared) {
        fault(words);
    }
}

type Orders = BTreeMap<(usize, usize), Option<bool>>;

/// Puts the smaller index first.
fn keep(orders: &mut Orders, first: usize, second: usize, first_is_better: Option<bool>) {
    if first < second {
        orders.insert((first, second), first_is_better);
    } else {
        orders.insert((second, first), first_is_better.map(|better| !better));
    }
}

/// What `compare all --by model` says of the load that decides, for models of several units.
fn by_compare(store: &Store, answers: &Answers) -> Orders {
    let comparison = &answers.models.document["comparison"];
    let mut orders = Orders::new();
    let groups: Vec<Option<usize>> = list(&comparison["groups"])
        .iter()
        .map(|group| list(&group["models"]).first().and_then(|name| model_of(store, words(name))))
        .collect();
    for load in list(&comparison["loads"]).iter().filter(|load| load["primary"] == true) {
        for pair in list(&load["pairs"]) {
            let index = |side: &str| pair[side].as_u64().and_then(|at| *groups.get(at as usize)?);
            let (Some(first), Some(second)) = (index("first"), index("second")) else { continue };
            let second_is_better = match words(&pair["verdict"]["answer"]) {
                "better" => Some(true),
                "worse" => Some(false),
                _ => None,
            };
            keep(&mut orders, first, second, second_is_better.map(|better| !better));
        }
    }
    orders
}

fn by_rank(store: &Store, rank: &Answer) -> Orders {
    let mut orders = Orders::new();
    for pair in list(&rank.document["primary"]["pairs"]) {
        let name = |side: &str| model_of(store, words(&pair[side]));
        if let (Some(first), Some(second)) = (name("first"), name("second")) {
            keep(&mut orders, first, second, separated(pair));
        }
    }
    orders
}

/// Models that are bought or tied though `compare` says that another is better (docs/plan.md, docs/advise.md: all cost the
/// same here).
fn bought(store: &Store, answers: &Answers, compared: &Orders) -> Vec<String> {
    let mut taken = Vec::new();
    if ["buy", "practically_tied"].contains(&words(&answers.race.document["do"])) {
        taken.extend(list(&answers.race.document["models"]).iter().map(|name| ("race", words(name))));
    }
    let buy = &answers.buy.document;
    if words(&buy["choice"]["answer"]) == "buy" {
        let at = buy["choice"]["index"].as_u64().unwrap_or(0) as usize;
        taken.push(("buy", words(&buy["options"][at]["model"])));
    }
    let beaten = |model: usize| {
        let loses = |((first, second), better): (&(usize, usize), &Option<bool>)| match better {
            Some(true) => (*second == model).then_some(*first),
            Some(false) => (*first == model).then_some(*second),
            None => None,
        };
        compared.iter().find_map(loses)
    };
    let mut found = Vec::new();
    for (command, name) in taken {
        let Some(model) = model_of(store, name) else { continue };
        if let Some(winner) = beaten(model) {
            found.push(format!("{command} takes {name}, compare says that {} is better", store.models[winner].name));
        }
    }
    found
}
