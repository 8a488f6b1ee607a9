//! What each command says of a store, read from its JSON and from the card.

use std::collections::{BTreeMap, BTreeSet};

use assay_core::workload::Workload;
use serde_json::{Value, json};

use super::claims::{Claims, Figure, Order, Unit};
use super::common::{Place, run};
use super::stores::RUN;

/// Reasons that are about the record, whatever the load.
const WHOLE: [&str; 4] = ["not_genuine", "unfinished", "medium_failed", "invalid"];
/// The marks of the same, as a comparison has them.
const MARKS: [(&str, &str); 4] =
    [("fake", "not_genuine"), ("unfinished", "unfinished"), ("failed", "medium_failed"), ("invalid", "invalid")];
/// Cards that are read of a store.
const CARDS: usize = 4;
/// Cards of each verdict whose last words are read.
const ENDS: usize = 2;

/// What all commands say of the records of a query; list, which names them all, first.
pub fn ask(place: &Place, query: &str) -> Vec<Claims> {
    let mut all = vec![list(place, query)];
    let records = show(place, query, &mut all);
    all.extend(verdicts(place, &all[0], &records));
    let rank = answer(place, &["rank", query, "--json"]);
    let swapped = rank.as_ref().is_some_and(|rank| {
        let basis = &rank["primary"]["basis"];
        basis["slots"].as_u64().unwrap() + basis["rounds"].as_u64().unwrap() > 0
    });
    all.push(super::titles::titles(place, query, records.len(), rank.as_ref()));
    all.extend(rank.as_ref().map(|rank| ranking(rank, swapped)));
    all.extend(
        answer(place, &["compare", query, "--by", "model", "--json"]).map(|c| comparison(&c, "compare --by model")),
    );
    all.extend(
        answer(place, &["compare", query, "--by", "unit", "--json"]).map(|c| comparison(&c, "compare --by unit")),
    );
    if let Some(race) = answer(place, &["plan", "race", query, "--json"]) {
        // Lines are wrapped anywhere.
        let words = run(place.assay(["plan", "race", query])).stdout;
        all.push(a_race(&race, &words.split_whitespace().collect::<Vec<_>>().join(" ")));
    }
    all.extend(answer(place, &["advise", "buy", query, "--nodes", "28", "--json"]).map(|buy| a_purchase(&buy)));
    let nas = ["advise", "nas", query, "--nodes", "28", "--link", "1Gbit", "--json"];
    all.extend(answer(place, &nas).map(|nas| a_volume(&nas)));
    if each(&answer(place, &["list", query, "--json"]).unwrap()).any(|row| row["labels"]["fleet"] == RUN) {
        let label = format!("fleet={RUN}");
        all.extend(answer(place, &["rank", &label, "--json"]).map(|rank| odd_of_rank(&rank)));
        all.extend(answer(place, &["fleet", "report", RUN, "--json"]).map(|report| odd_of_nodes(&report)));
    }
    if let Some(class) = answer(place, &["advise", "class", query, "--json"]) {
        all.push(classes(&class));
        let owners: Vec<(String, Unit)> = records.into_iter().map(|shown| (shown.id, shown.unit)).collect();
        all.extend(cards(place, &owners, &class));
    }
    all
}

/// What a command prints; `None` where it says that there is nothing to answer.
pub fn answer(place: &Place, arguments: &[&str]) -> Option<Value> {
    let done = run(place.assay(arguments));
    match done.code {
        Some(0 | 1) => Some(serde_json::from_str(&done.stdout).unwrap_or_else(|e| panic!("{arguments:?}: {e}"))),
        Some(2) => None,
        _ => panic!("{arguments:?}: {done:?}"),
    }
}

pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

pub fn each(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().unwrap_or_else(|| panic!("no list: {value}")).iter()
}

fn list(place: &Place, query: &str) -> Claims {
    let mut said = Claims { losing: Some(BTreeSet::new()), ..Claims::of("list") };
    for row in each(&answer(place, &["list", query, "--json"]).unwrap()) {
        let unit =
            whose(&row["labels"], &row["medium"], &row["unit"], query.starts_with("published:") || is_published(row));
        said.models.insert(unit.0.clone());
        said.units.insert(unit);
        said.verdicts.extend(row["verdict"].as_str().map(|verdict| (text(&row["id"]), verdict.to_owned())));
        if matches!(row["verification"].as_str(), Some("fake" | "damaged" | "failed")) {
            said.losing.as_mut().unwrap().insert(text(&row["id"]));
        }
    }
    said
}

/// Published figures have ids of their own, or are kept under one by the test.
fn is_published(row: &Value) -> bool {
    text(&row["id"]).starts_with("published")
}

fn whose(labels: &Value, title: &Value, unit: &Value, published: bool) -> Unit {
    let label = |key: &str| labels.get(key).and_then(Value::as_str).map(str::to_owned);
    let unit = label("unit").or_else(|| unit.as_str().map(str::to_owned)).unwrap_or_default();
    let unit = if published { format!("{unit} (published)").trim_start().to_owned() } else { unit };
    (label("model").unwrap_or_else(|| text(title)), unit)
}

/// A record that was shown.
struct Shown {
    id: String,
    unit: Unit,
    /// Whether it has figures.
    measured: bool,
}

/// The records themselves. Their figures are those of a unit where it has no other record under the load.
fn show(place: &Place, query: &str, all: &mut Vec<Claims>) -> Vec<Shown> {
    let mut said = Claims::of("show");
    let shown = answer(place, &["show", query, "--json"]).unwrap();
    let records: Vec<&Value> = if shown.is_array() { each(&shown).collect() } else { vec![&shown] };
    let titles: BTreeMap<String, Value> = each(&answer(place, &["list", query, "--json"]).unwrap())
        .map(|row| (text(&row["id"]), row["medium"].clone()))
        .collect();
    let mut shown_ones = Vec::new();
    let mut figures: BTreeMap<(Unit, Figure), Vec<f64>> = BTreeMap::new();
    for record in records {
        let id = text(&record["id"]);
        let unit = whose(&record["labels"], &titles[&id], &record["medium"]["unit"], !record["source"].is_null());
        said.models.insert(unit.0.clone());
        said.units.insert(unit.clone());
        said.verdicts.insert(id.clone(), text(&record["validity"]["verdict"]));
        for measured in each(&record["measurements"]) {
            for quantity in ["iops", "bytes_per_second", "durable_bytes_per_second"] {
                let key = (unit.clone(), (title(&measured["workload"]), quantity.to_owned()));
                figures.entry(key).or_default().extend(measured[quantity]["point"].as_f64());
            }
        }
        let measured = each(&record["measurements"]).next().is_some();
        shown_ones.push(Shown { id, unit, measured });
    }
    let single = figures.into_iter().filter(|(_, values)| values.len() == 1);
    said.of_units = single.map(|(key, values)| (key, values[0])).collect();
    all.push(said);
    shown_ones
}

/// The last words of the cards of some records of each verdict, and of some whose media lose data.
fn verdicts(place: &Place, known: &Claims, records: &[Shown]) -> Option<Claims> {
    let mut said = Claims::of("the last words of a card");
    let mut answered: BTreeMap<(&str, bool), usize> = BTreeMap::new();
    for shown in records.iter().filter(|shown| shown.measured) {
        let loses = known.losing.as_ref().unwrap().contains(&shown.id);
        let Some(verdict) = known.verdicts.get(&shown.id) else { continue };
        let of_kind = answered.entry((verdict.as_str(), loses)).or_default();
        *of_kind += 1;
        if *of_kind > ENDS {
            continue;
        }
        let card = run(place.assay(["show", &shown.id])).succeeds().stdout.clone();
        let is_rule = |line: &&str| !line.is_empty() && line.chars().all(|c| matches!(c, '─' | '-'));
        let mut last: Vec<&str> = card.lines().rev().take_while(|line| !is_rule(line)).collect();
        last.reverse();
        let last = last.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
        let bad = ["is a fake", "is damaged", "is broken"].iter().any(|words| last.contains(words));
        if loses != bad {
            said.slips.push(format!("{} loses data: {loses}, and its card ends with {last:?}", shown.id));
        }
        said.verdicts.extend(verdict_of(&last).map(|verdict| (shown.id.clone(), verdict.to_owned())));
    }
    (!answered.is_empty()).then_some(said)
}

/// The verdict on figures that a sentence gives; `None` where it is about something else, as the end of a medium.
fn verdict_of(sentence: &str) -> Option<&'static str> {
    match sentence {
        _ if sentence.contains("do not describe the medium") => Some("invalid"),
        _ if sentence.contains("Treat with caution") => Some("suspect"),
        _ if sentence.contains("while it was measured") || sentence.contains("Nothing was measured") => None,
        _ => Some("valid"),
    }
}

/// A workload as the card titles it.
fn title(workload: &Value) -> String {
    let workload: Workload = serde_json::from_value(workload.clone()).unwrap();
    workload.title()
}

fn figure(load: &Value, title: &Value, quantity: &Value) -> (Figure, Option<(Figure, f64)>) {
    let bytes = (text(quantity) == "iops")
        .then(|| ((text(title), "bytes_per_second".to_owned()), load["block_bytes"].as_f64().unwrap()));
    ((text(title), text(quantity)), bytes)
}

fn model(said: &mut Claims, name: &str, of: &(Figure, Option<(Figure, f64)>), value: f64, units: Option<usize>) {
    said.models.insert(name.to_owned());
    said.of_models.insert((name.to_owned(), of.0.clone()), (value, units));
    if let Some((figure, block)) = &of.1 {
        // What was printed is rounded, each figure by itself.
        if !said.published {
            said.of_models.insert((name.to_owned(), figure.clone()), (value * block, units));
        }
    }
}

/// Whether an answer is about figures of articles.
fn published(answer: &Value) -> bool {
    answer.to_string().contains("(published)")
}

fn ranking(report: &Value, swapped: bool) -> Claims {
    let mut said = Claims { published: published(&report["primary"]), ..Claims::of("rank") };
    let primary = &report["primary"];
    said.decides = Some(text(&primary["title"]));
    let out = left_out(&primary["excluded"], &primary["title"]);
    said.losing = Some(out.iter().filter(|(_, why)| *why == "not_genuine").map(|(id, _)| id.clone()).collect());
    said.left_out = Some(out);
    for load in std::iter::once(primary).chain(each(&report["exploratory"])) {
        let of = figure(&load["load"], &load["title"], &load["quantity"]);
        for row in each(&load["models"]) {
            let name = text(&row["model"]);
            for unit in each(&row["units"]) {
                let whose = (name.clone(), text(&unit["unit"]));
                // Without the effects of slots and rounds, which no other command takes out.
                if !swapped {
                    said.of_units.insert((whose.clone(), of.0.clone()), unit["value"].as_f64().unwrap());
                }
                said.units.insert(whose);
            }
            let units = each(&row["units"]).count();
            said.at_ceiling.insert((name.clone(), of.0.clone()), row["at_ceiling"] == true);
            if load["exploratory"] == false {
                said.fates.insert(name.clone(), text(&row["class"]));
            }
            match row["estimate"]["point"].as_f64() {
                Some(value) => {
                    model(&mut said, &name, &of, value, Some(units));
                    if units > 1 {
                        said.interval(&name, &of.0, &row["estimate"]);
                        if let (Some((bytes, block)), false) = (&of.1, said.published) {
                            let end = |end: &str| row["estimate"][end].as_f64().map(|rate| rate * block);
                            said.interval(&name, bytes, &json!({"low": end("low"), "high": end("high")}));
                        }
                    }
                }
                None => drop(said.models.insert(name.clone())),
            }
        }
        said.records.insert(of.0.clone(), load["basis"]["records"].as_u64().unwrap() as usize);
        let first = each(&load["models"]).filter(|row| row["layer"] == 1);
        let fewest = first.map(|row| each(&row["units"]).count() as u64).filter(|units| *units > 1).min();
        said.more_than_there_is(&load["title"], needed(load), fewest);
        if let (Some(number), 2, false) = (needed(load), each(&load["models"]).count(), swapped) {
            said.needed.insert(of.0.clone(), number);
        }
        for pair in each(&load["pairs"]) {
            let order = match pair["verdict"].as_str().unwrap() {
                "first" | "first_perhaps_slightly" => Order::FirstIsBetter,
                "equivalent" => Order::Equal,
                "unresolved" => Order::Unresolved,
                "ceiling" => Order::BusTie,
                // Of speed nothing is said.
                _ => continue,
            };
            let (first, second) = (text(&pair["first"]), text(&pair["second"]));
            said.order(&of.0, &first, &second, order);
            if pair["verdict"] == "first" {
                said.clearly.insert((of.0.clone(), first, second));
            }
        }
    }
    said
}

fn odd_of_rank(report: &Value) -> Claims {
    let loads = std::iter::once(&report["primary"]).chain(each(&report["exploratory"]));
    let odd = loads.flat_map(|load| each(&load["odd"]).map(|odd| (text(&load["title"]), odd)));
    let named = odd.filter(|(_, odd)| !odd["unit"].is_null());
    let named = named.map(|(title, odd)| (title, (text(&odd["model"]), text(&odd["unit"])), odd["again"] == false));
    Claims { odd: Some(named.collect()), ..Claims::of("rank of a run") }
}

fn odd_of_nodes(report: &Value) -> Claims {
    let mut odd = BTreeSet::new();
    for (kind, sure) in [("odd", true), ("again", false)] {
        for one in each(&report["odd"][kind]) {
            let unit = (text(&one["model"]), text(&one["unit"]));
            odd.extend(each(&one["at"]).map(|at| (text(&at["title"]), unit.clone(), sure)));
        }
    }
    Claims { odd: Some(odd), ..Claims::of("fleet report") }
}

fn comparison(document: &Value, who: &'static str) -> Claims {
    let found = &document["comparison"];
    let mut said = Claims { published: published(found), ..Claims::of(who) };
    let by_model = who.ends_with("model");
    let groups: Vec<&Value> = each(&found["groups"]).collect();
    let name = |at: &Value| text(each(&groups[at.as_u64().unwrap() as usize]["models"]).next().unwrap());
    for load in each(&found["loads"]) {
        let of = figure(&load["load"], &load["title"], &load["quantity"]);
        for side in each(&load["sides"]) {
            let sound: Vec<&Value> = each(&side["runs"]).filter(|run| mark(run).is_none()).collect();
            let units: BTreeSet<Unit> = sound.iter().map(|run| pair_of(&run["unit"])).collect();
            said.units.extend(units.iter().cloned());
            // What decides nothing is shown alone where there is nothing else.
            let Some(value) = side["estimate"]["point"].as_f64().filter(|_| !sound.is_empty()) else { continue };
            if by_model {
                let name = name(&side["group"]);
                model(&mut said, &name, &of, value, Some(units.len()));
                if units.len() > 1 {
                    said.interval(&name, &of.0, &side["estimate"]);
                }
                *said.records.entry(of.0.clone()).or_default() += sound.len();
            } else {
                let unit = units.into_iter().next().unwrap();
                said.of_units.insert((unit, of.0.clone()), value);
            }
        }
        if let ([pair], true) = (load["pairs"].as_array().unwrap().as_slice(), by_model)
            && let Some(number) = needed(pair)
        {
            said.needed.insert(of.0.clone(), number);
        }
        for pair in each(&load["pairs"]).filter(|_| by_model) {
            // Of single units the values are something else than units.
            let there_are = each(&pair["n"]).filter_map(Value::as_u64).min().filter(|_| pair["question"] == "models");
            said.more_than_there_is(&load["title"], needed(pair), there_are);
            let faster_second = (pair["ratio"].as_f64() > Some(1.0)) == (load["more_is_better"] == true);
            let (first, second) = (name(&pair["first"]), name(&pair["second"]));
            let order = match (pair["verdict"]["answer"].as_str().unwrap(), pair["verdict"]["why"].as_str()) {
                ("better", _) => Order::SecondIsBetter,
                ("worse", _) => Order::FirstIsBetter,
                // A real difference, within the margin.
                ("same", _) if pair["significant"] == true && faster_second => Order::SecondIsBetter,
                ("same", _) if pair["significant"] == true => Order::FirstIsBetter,
                ("same", _) => Order::Equal,
                ("bus_tie", _) => Order::BusTie,
                ("cannot_tell", Some("wide" | "no_spread" | "bus_hides")) => Order::Unresolved,
                _ => continue,
            };
            if pair["verdict"]["answer"] != "same" {
                said.clearly.extend(match order {
                    Order::FirstIsBetter => Some((of.0.clone(), first.clone(), second.clone())),
                    Order::SecondIsBetter => Some((of.0.clone(), second.clone(), first.clone())),
                    _ => None,
                });
            }
            said.order(&of.0, &first, &second, order);
        }
        if load["primary"] == true && by_model {
            said.decides = Some(of.0.0);
            let mut out = left_out(&found["excluded"], &load["title"]);
            for run in each(&load["sides"]).flat_map(|side| each(&side["runs"])) {
                out.extend(mark(run).map(|why| (text(&run["record"]), why.to_owned())));
            }
            said.left_out = Some(out);
        }
    }
    said
}

/// Units of each model that would separate them.
fn needed(answer: &Value) -> Option<u64> {
    let needed = &answer["needed"];
    needed["number"].as_u64().filter(|_| needed["of"] == "units")
}

/// Why a run decides nothing.
fn mark(run: &Value) -> Option<&'static str> {
    let has = |mark: &str| each(&run["marks"]).any(|m| m == mark);
    MARKS.iter().find(|(mark, _)| has(mark)).map(|(_, why)| *why)
}

fn pair_of(unit: &Value) -> Unit {
    (text(&unit[0]), text(&unit[1]))
}

/// Records that decide nothing under a load, with the kind of the reason.
fn left_out(excluded: &Value, load: &Value) -> BTreeMap<String, String> {
    let about = each(excluded).filter(|e| e["load"].is_null() || e["load"] == *load);
    let reason = about.map(|e| (text(&e["record"]), text(&e["reason"]["kind"])));
    reason.filter(|(_, kind)| WHOLE.contains(&kind.as_str())).collect()
}

fn a_race(race: &Value, words: &str) -> Claims {
    let mut said = Claims { published: published(race), ..Claims::of("plan race") };
    let of = figure(&race["load"], &race["load_title"], &race["quantity"]);
    said.decides = Some(of.0.0.clone());
    said.left_out = Some(left_out(&race["excluded"], &race["load_title"]));
    for chance in each(&race["chances"]) {
        let name = text(&chance["model"]);
        said.at_ceiling.insert((name.clone(), of.0.clone()), chance["at_ceiling"] == true);
        let fate = match (chance["wrong_data"] == true, chance["failed"] == true) {
            (true, _) => "corrupt",
            (false, true) => "failing",
            (false, false) => "sound",
        };
        said.fates.insert(name.clone(), fate.to_owned());
        if chance["out"] == true && !words.contains(&format!("{name} (units ")) {
            said.slips.push(format!("{name} is out of the race, and nobody is told why"));
        }
        match chance["mean"].as_f64() {
            Some(value) => model(&mut said, &name, &of, value, chance["units"].as_u64().map(|n| n as usize)),
            None => drop(said.models.insert(name)),
        }
    }
    let taken: Vec<String> = match race["do"].as_str().unwrap() {
        "buy" | "only_one_left" => vec![text(&race["model"])],
        "practically_tied" | "exhausted" => each(&race["models"]).map(text).collect(),
        _ => Vec::new(),
    };
    // Who is out is told of beside the model that is taken.
    let racing = each(&race["chances"]).filter(|chance| chance["out"] == false);
    let racing: Vec<String> = racing.map(|chance| text(&chance["model"])).collect();
    said.models.extend(taken.iter().cloned());
    if race["do"] == "buy" {
        said.not_separated = Some(each(&race["not_separated"]).map(text).collect());
    }
    said.bought = taken.into_iter().map(|model| (of.0.clone(), model, racing.clone())).collect();
    said
}

fn a_purchase(buy: &Value) -> Claims {
    let mut said = Claims::of("advise buy");
    said.decides = Some(text(&buy["title"]));
    let options: Vec<&Value> = each(&buy["options"]).collect();
    if let Some(at) = buy["choice"]["index"].as_u64() {
        let chosen = options[at as usize];
        let performance = &chosen["performance"];
        let no_dearer = options.iter().filter(|o| o["cost"].as_f64() <= chosen["cost"].as_f64());
        let figure = (text(&performance["title"]), text(&performance["quantity"]));
        said.not_separated = Some(each(&buy["not_separated"]).map(text).collect());
        said.bought.push((figure, text(&chosen["model"]), no_dearer.map(|o| text(&o["model"])).collect()));
    }
    for option in &options {
        advised(&mut said, &text(&option["model"]), &option["performance"]);
    }
    said
}

/// The figure of a model in an advice. One that is held by the bus has an interval here, for the decision, where the
/// ranking knows one end of it.
fn advised(said: &mut Claims, name: &str, found: &Value) {
    let of = figure(&found["load"], &found["title"], &found["quantity"]);
    model(said, name, &of, found["value"].as_f64().unwrap(), units_of(found));
    let ends = [&found["interval"][0], &found["interval"][1]].map(Value::as_f64);
    let ([low, high], true) = (ends, found["basis"] == "units" && ends.iter().all(Option::is_some)) else { return };
    said.interval(name, &of.0, &json!({"low": low, "high": high}));
}

/// Units that a figure of an advice is of.
fn units_of(figure: &Value) -> Option<usize> {
    if figure["basis"] == "units" { figure["n"].as_u64().map(|n| n as usize) } else { Some(1) }
}

fn a_volume(nas: &Value) -> Claims {
    let mut said = Claims::of("advise nas");
    for of in each(&nas["models"]) {
        for row in each(&of["rows"]) {
            advised(&mut said, &text(&of["model"]), &row["local"]);
        }
    }
    said
}

fn classes(advice: &Value) -> Claims {
    let mut said = Claims::of("advise class");
    for unit in each(&advice["units"]) {
        let whose = (text(&unit["model"]), text(&unit["unit"]));
        said.units.insert(whose.clone());
        for part in each(&unit["figures"]) {
            let quantity = match part["kind"].as_str().unwrap() {
                "sequential_write" => "durable_bytes_per_second",
                _ => "iops",
            };
            let key = (text(&part["title"]), quantity.to_owned());
            said.of_units.insert((whose.clone(), key), part["value"].as_f64().unwrap());
        }
        said.classes.insert((whose, "met".to_owned()), highest(unit));
    }
    said
}

/// The highest class of each family that a unit meets, as the card has them.
fn highest(unit: &Value) -> String {
    let met: Vec<String> =
        each(&unit["classes"]).filter(|c| c["status"] == "pass").map(|c| text(&c["class"])).collect();
    let of = |family: &str| met.iter().rfind(|class| class.starts_with(family)).cloned();
    ["C", "U", "V", "A"].into_iter().filter_map(of).collect::<Vec<_>>().join(" ")
}

/// The cards of some units that have one record, which is all that classes are judged by.
fn cards(place: &Place, records: &[(String, Unit)], advice: &Value) -> Option<Claims> {
    let mut said = Claims::of("show as a card");
    let judged: BTreeSet<Unit> =
        each(&advice["units"]).map(|unit| (text(&unit["model"]), text(&unit["unit"]))).collect();
    let single = records.iter().filter(|(_, unit)| records.iter().filter(|(_, other)| other == unit).count() == 1);
    for (id, unit) in single.filter(|(_, unit)| judged.contains(unit)).take(CARDS) {
        let done = run(place.assay(["show", id]));
        let words = done.succeeds().stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        let Some((_, line)) = words.split_once(" classes ") else { continue };
        let met = line.split_once(" met here").map_or("", |(met, _)| met);
        let met = if met.contains("none") || met.contains(';') { "" } else { met };
        said.classes.insert((unit.clone(), "met".to_owned()), met.to_owned());
    }
    (!said.classes.is_empty()).then_some(said)
}
