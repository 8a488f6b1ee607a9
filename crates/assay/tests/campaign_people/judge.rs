//! What the documents promise of each answer, held against the truth of a store.

use assay_lab::people::{LOAD_TITLES, LOADS, Pair, Store, Unit};
use serde_json::Value;

use crate::ask::{Answer, Asked};
use crate::table::{Claim, Table};

/// docs/compare.md: what is called different differs, and in this direction.
pub const PAIR: Claim = Claim { name: "compare of two groups: a false verdict", allowed: 5 };
pub const PAIR_OTHER: Claim = Claim { name: "compare of two groups, other loads", allowed: 5 };
pub const PAIR_INTERVAL: Claim = Claim { name: "compare of two groups: interval without truth", allowed: 5 };
pub const MODELS: Claim = Claim { name: "compare of models: any false verdict", allowed: 5 };
pub const MODELS_INTERVAL: Claim = Claim { name: "compare of models: interval without truth", allowed: 5 };
pub const RANK: Claim = Claim { name: "rank: any false order", allowed: 5 };
pub const RANK_WRITES: Claim = Claim { name: "rank of durable writes: any false order", allowed: 5 };
pub const RANK_FIGURE: Claim = Claim { name: "rank: interval of a model without truth", allowed: 5 };
pub const RANK_NEXT: Claim = Claim { name: "rank: next unit outside", allowed: 5 };
pub const ODD: Claim = Claim { name: "rank: an innocent unit named", allowed: 5 };
/// The same where the program says that nothing was tested (`tested` in the JSON document).
pub const ODD_UNTESTED: Claim = Claim { name: "rank: an innocent unit named, untested", allowed: 5 };
pub const RACE: Claim = Claim { name: "race: bought or tied is worse than said", allowed: 5 };
pub const BUY: Claim = Claim { name: "buy: sure of what is no trade-off", allowed: 5 };
pub const CLASS_MET: Claim = Claim { name: "class: unit met falsely", allowed: 5 };
pub const CLASS_NOT: Claim = Claim { name: "class: unit not met falsely", allowed: 5 };
pub const CLASS_MODEL: Claim = Claim { name: "class: model met falsely", allowed: 5 };
pub const NAS: Claim = Claim { name: "nas: local falsely", allowed: 5 };
pub const NAS_NOT: Claim = Claim { name: "nas: NAS falsely", allowed: 5 };

/// docs/compare.md, Limits: a limit that holds fails in at most 5 of 100.
pub const LIMIT: Claim = Claim { name: "compare --fail-if: failed falsely", allowed: 5 };
/// docs/statistics.md: the interval of `--runs` holds 95 % for independent repeats.
pub const RUNS: Claim = Claim { name: "compare --runs: a false verdict", allowed: 5 };
pub const RUNS_INTERVAL: Claim = Claim { name: "compare --runs: interval without truth", allowed: 5 };
/// docs/compare.md: a group on another computer gets "cannot tell".
pub const APART: Claim = Claim { name: "compare of computers with nothing between", allowed: 0 };
pub const APART_RANK: Claim = Claim { name: "rank of computers with nothing between", allowed: 0 };

/// Differences up to this are the same (docs/compare.md: `--margin`, 3 %).
const MARGIN: f64 = 0.03;

/// Everything that is asked about a store.
pub struct Answers {
    pub pairs: Vec<Answer>,
    pub limits: Vec<Answer>,
    pub models: Answer,
    pub rank: Answer,
    pub race: Answer,
    pub buy: Answer,
    pub class: Answer,
    pub nas: Answer,
    pub list: Answer,
    pub durable: Answer,
    /// The same question about the files, where no option was needed to import them.
    pub of_files: Option<Answer>,
}

/// Asks all of it.
pub fn answers(store: &Store, asked: &Asked) -> Answers {
    let ask = |words: &str| asked.ask(&words.split(' ').collect::<Vec<&str>>());
    let prices: Vec<String> = store.models.iter().map(|model| format!("{}=10USD", model.name)).collect();
    let mut buy = vec!["advise", "buy", "all", "--nodes", "8", "--load", LOAD_TITLES[0]];
    for price in &prices {
        buy.extend(["--price", price]);
    }
    let iops = store.volume_iops.to_string();
    Answers {
        pairs: store.pairs.iter().map(|pair| asked.ask(&compared(pair))).collect(),
        limits: store
            .pairs
            .iter()
            .map(|pair| asked.ask(&[&compared(pair)[..], &["--fail-if", LIMITED]].concat()))
            .collect(),
        models: ask("compare all --by model"),
        rank: ask("rank all"),
        race: ask("plan race all"),
        buy: asked.ask(&buy),
        class: ask("advise class all --class A1"),
        nas: asked.ask(&["advise", "nas", "all", "--nodes", "1", "--link", "10Gbit", "--nas-iops", &iops]),
        list: ask("list all"),
        of_files: store.files.iter().all(|file| file.options.is_empty()).then(|| ask("rank files/")),
        durable: asked.ask(&["rank", "all", "--load", LOAD_TITLES[2]]),
    }
}

const LIMITED: &str = "slower than 5%";

fn compared(pair: &Pair) -> Vec<&str> {
    let mut words = vec!["compare", &pair.first, &pair.second];
    words.extend(pair.runs.then_some("--runs"));
    words
}

/// The numbers of an array.
fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().map(|all| all.iter().filter_map(Value::as_f64).collect()).unwrap_or_default()
}

pub fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

pub fn words(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The index of a model by a name that begins with it.
pub fn model_of(store: &Store, name: &str) -> Option<usize> {
    store.models.iter().position(|model| name == model.name || name.starts_with(&format!("{},", model.name)))
}

/// Whether a verdict on a ratio is right; `None` where it decides nothing.
fn verdict(pair: &Value, truth: f64, higher_is_better: bool) -> Option<bool> {
    let better = if higher_is_better { truth } else { -truth };
    match words(&pair["verdict"]["answer"]) {
        "better" => Some(better > 1e-9),
        "worse" => Some(better < -1e-9),
        "same" => Some(truth.abs() <= MARGIN.ln_1p() + 1e-9),
        _ => None,
    }
}

/// Whether an interval holds the truth; `None` where there is none.
fn holds(interval: (Option<f64>, Option<f64>), truth: f64) -> Option<bool> {
    let (low, high) = (interval.0?, interval.1?);
    Some(low <= truth.exp() && truth.exp() <= high)
}

/// The figure that is meant by a load of an answer: the durable rate where that was taken.
pub fn figure(load: &Value) -> Option<usize> {
    let at = (0..LOADS).find(|load_index| LOAD_TITLES[*load_index] == words(&load["title"]))?;
    let is_durable = words(&load["quantity"]).contains("durable");
    Some(if at == 2 && is_durable { 3 } else { at })
}

/// Judges all answers about a store.
pub fn judge(store: &Store, answers: &Answers, table: &mut Table) {
    for ((pair, answer), limit) in store.pairs.iter().zip(&answers.pairs).zip(&answers.limits) {
        judge_pair(store, pair, answer, table);
        let slower = pair.truth.iter().any(|truth| *truth < (1.0f64 - 0.05).ln() + 1e-9);
        table.count(store.kind, LIMIT, store.seed, (limit.code == Some(7)).then_some(slower));
    }
    judge_models(store, &answers.models, table);
    judge_rank(store, &answers.rank.document["primary"], RANK, table);
    judge_rank(store, &answers.durable.document["primary"], RANK_WRITES, table);
    judge_odd(store, &answers.rank.document, table);
    judge_race(store, &answers.race.document, table);
    judge_buy(store, &answers.buy.document, table);
    judge_class(store, &answers.class.document, table);
    judge_nas(store, &answers.nas.document, table);
}

fn judge_pair(store: &Store, pair: &Pair, answer: &Answer, table: &mut Table) {
    for load in list(&answer.document["comparison"]["loads"]) {
        let (Some(figure), [said]) = (figure(load), list(&load["pairs"])) else { continue };
        let truth = pair.truth[figure];
        let primary = load["primary"] == true;
        let right = verdict(said, truth, true);
        let claim = match (pair.runs, primary) {
            (true, _) => RUNS,
            (false, true) => PAIR,
            (false, false) => PAIR_OTHER,
        };
        table.count(store.kind, claim, store.seed, right);
        if pair.apart {
            table.count(store.kind, APART, store.seed, right.map(|_| false));
        }
        if (primary || pair.runs) && store.judged.ratios {
            let interval = (said["low"].as_f64(), said["high"].as_f64());
            let claim = if pair.runs { RUNS_INTERVAL } else { PAIR_INTERVAL };
            table.count(store.kind, claim, store.seed, holds(interval, truth));
        }
    }
}

fn judge_models(store: &Store, answer: &Answer, table: &mut Table) {
    let comparison = &answer.document["comparison"];
    let groups: Vec<Option<usize>> = list(&comparison["groups"])
        .iter()
        .map(|group| list(&group["models"]).first().and_then(|name| model_of(store, words(name))))
        .collect();
    for load in list(&comparison["loads"]).iter().filter(|load| load["primary"] == true) {
        let Some(figure) = figure(load) else { continue };
        let mut right = None;
        for pair in list(&load["pairs"]) {
            let index = |side: &str| pair[side].as_u64().and_then(|at| *groups.get(at as usize)?);
            let (Some(first), Some(second)) = (index("first"), index("second")) else { continue };
            let truth = store.models[second].mean[figure] - store.models[first].mean[figure];
            right = all(right, verdict(pair, truth, true));
            if store.judged.ratios && store.judged.figures {
                let interval = (pair["low"].as_f64(), pair["high"].as_f64());
                table.count(store.kind, MODELS_INTERVAL, store.seed, holds(interval, truth));
            }
        }
        table.count(store.kind, MODELS, store.seed, right);
        if store.apart {
            table.count(store.kind, APART, store.seed, right.map(|_| false));
        }
    }
}

/// False where one is false, true where one is true, else nothing.
fn all(one: Option<bool>, other: Option<bool>) -> Option<bool> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one && other),
        (one, other) => one.or(other),
    }
}

fn judge_rank(store: &Store, ranking: &Value, claim: Claim, table: &mut Table) {
    let Some(figure) = figure(ranking) else { return };
    let mut right = None;
    for pair in list(&ranking["pairs"]) {
        let name = |side: &str| model_of(store, words(&pair[side]));
        let (Some(first), Some(second)) = (name("first"), name("second")) else { continue };
        let truth = store.models[first].mean[figure] - store.models[second].mean[figure];
        right = all(
            right,
            separated(pair).map(|first_is_better| if first_is_better { truth > 1e-9 } else { truth < -1e-9 }),
        );
    }
    table.count(store.kind, claim, store.seed, right);
    if store.apart {
        table.count(store.kind, APART_RANK, store.seed, right.map(|_| false));
    }
    if claim.name != RANK.name || !store.judged.figures {
        return;
    }
    for model in list(&ranking["models"]) {
        let Some(at) = model_of(store, words(&model["model"])) else { continue };
        if list(&model["units"]).len() < 2 {
            continue;
        }
        let interval = (model["estimate"]["low"].as_f64(), model["estimate"]["high"].as_f64());
        table.count(
            store.kind,
            RANK_FIGURE,
            store.seed,
            holds(interval, store.models[at].mean[figure] + store.days[at][figure]),
        );
        if let [low, high] = numbers(&model["further_unit"])[..] {
            let right = holds((Some(low), Some(high)), store.next[at][figure]);
            table.count(store.kind, RANK_NEXT, store.seed, right);
        }
    }
}

/// Whether the first of two models in a ranking is better, where that is said.
pub fn separated(pair: &Value) -> Option<bool> {
    match words(&pair["verdict"]) {
        "first" | "first_perhaps_slightly" => Some(true),
        "second" | "second_perhaps_slightly" => Some(false),
        _ => None,
    }
}

fn judge_odd(store: &Store, document: &Value, table: &mut Table) {
    if !store.judged.odd || document["primary"].is_null() {
        return;
    }
    let innocent = |name: &&str| {
        let made_odd =
            |(number, unit): (usize, &Unit)| unit.odd && (unit.serial == **name || format!("card{number}") == **name);
        !store.units.iter().enumerate().any(made_odd)
    };
    for (claim, tested) in [(ODD, true), (ODD_UNTESTED, false)] {
        let loads = std::iter::once(&document["primary"]).chain(list(&document["exploratory"]));
        let all = loads.flat_map(|load| list(&load["odd"])).filter(|odd| odd["tested"] == tested);
        let named: Vec<&str> = all.filter_map(|odd| odd["unit"].as_str()).collect();
        let right = (!named.is_empty()).then(|| !named.iter().any(innocent));
        table.count(store.kind, claim, store.seed, right);
    }
}

/// Logarithm by which a model is below the best.
fn loss(store: &Store, model: usize, figure: usize) -> f64 {
    let best = store.models.iter().map(|model| model.mean[figure]).fold(f64::MIN, f64::max);
    best - store.models[model].mean[figure]
}

fn judge_race(store: &Store, race: &Value, table: &mut Table) {
    let models: Vec<usize> = list(&race["models"]).iter().filter_map(|name| model_of(store, words(name))).collect();
    // docs/plan.md: within 3 % of the best; of a tie any loses at most what is said.
    let allowed = match words(&race["do"]) {
        "buy" => Some(MARGIN),
        "practically_tied" => race["loss"].as_f64(),
        _ => None,
    };
    let right = allowed.filter(|_| !models.is_empty()).map(|allowed| {
        let most = models.iter().map(|model| 1.0 - (-loss(store, *model, 0)).exp()).fold(0.0, f64::max);
        most <= allowed.max(MARGIN) + 1e-9
    });
    table.count(store.kind, RACE, store.seed, right);
}

fn judge_buy(store: &Store, buy: &Value, table: &mut Table) {
    let Some(figure) = figure(buy).or_else(|| (!buy["title"].is_null()).then_some(0)) else { return };
    let sure: Vec<&Value> =
        list(&buy["options"]).iter().filter(|option| option["on_front"].as_f64() >= Some(0.95)).collect();
    let right = (!sure.is_empty()).then(|| {
        sure.iter().all(|option| {
            let at = model_of(store, words(&option["model"]));
            at.is_some_and(|at| loss(store, at, figure) <= MARGIN.ln_1p() + 1e-9)
        })
    });
    table.count(store.kind, BUY, store.seed, right);
}

/// Thresholds of class A1: sequential write, random read, random write.
const A1: [(usize, f64); 3] = [(3, 10e6), (0, 1500.0), (4, 500.0)];

fn judge_class(store: &Store, class: &Value, table: &mut Table) {
    if !store.judged.figures {
        return;
    }
    for said in list(&class["units"]) {
        let name = words(&said["unit"]);
        let unit = store.units.iter().enumerate().find(|(at, unit)| unit.serial == name || format!("card{at}") == name);
        let (Some((_, unit)), Some(status)) = (unit, list(&said["classes"]).first()) else { continue };
        let meets = A1.iter().all(|(figure, threshold)| unit.mean[*figure] >= threshold.ln());
        let (met, not) = match words(&status["status"]) {
            "pass" => (Some(meets), None),
            "fail" => (None, Some(!meets)),
            _ => (None, None),
        };
        table.count(store.kind, CLASS_MET, store.seed, met);
        table.count(store.kind, CLASS_NOT, store.seed, not);
    }
    for said in list(&class["models"]) {
        let (Some(at), Some(status)) = (model_of(store, words(&said["model"])), list(&said["classes"]).first()) else {
            continue;
        };
        // 90 % of the units of a normal distribution are above the mean less 1.2816 deviations.
        let model = &store.models[at];
        let meets = A1.iter().all(|(figure, threshold)| model.mean[*figure] - 1.2816 * model.unit_sd >= threshold.ln());
        let right = (words(&status["word"]) == "pass").then_some(meets);
        table.count(store.kind, CLASS_MODEL, store.seed, right);
    }
}

fn judge_nas(store: &Store, nas: &Value, table: &mut Table) {
    if !store.judged.figures {
        return;
    }
    for model in list(&nas["models"]) {
        let Some(at) = model_of(store, words(&model["model"])) else { continue };
        for row in list(&model["rows"]) {
            if words(&row["title"]) != LOAD_TITLES[0] || row["next_unit"] != true {
                continue;
            }
            let faster = (store.next[at][0]).exp() > 1.1 * store.volume_iops;
            let (local, central) = match words(&row["verdict"]["answer"]) {
                "local" => (Some(faster), None),
                "nas" => (None, Some(!faster)),
                _ => (None, None),
            };
            table.count(store.kind, NAS, store.seed, local);
            table.count(store.kind, NAS_NOT, store.seed, central);
        }
    }
}
