//! What the titles of pictures claim, beside what the ranking and the comparison find on the same records.

use serde_json::Value;

use super::claims::Claims;
use super::common::{Place, run};
use super::faces::{answer, each, text};

/// The pictures of records whose load anybody may choose.
const KINDS: [&str; 6] = ["ranking", "dots", "pareto", "heat", "curves", "sweep"];
/// Those that show the load that decides.
const OF_WHAT_DECIDES: [&str; 2] = ["ranking", "dots"];
/// What says that one is better than another.
const BETTER: [&str; 11] = [
    " leads",
    " is the best",
    "better than",
    "faster than",
    "slower than",
    "fastest",
    "beats",
    "ahead of",
    "wins",
    "% faster",
    "% slower",
];

/// The titles of all pictures, and the heading of the page. A title may say that one is better only where a ranking or,
/// of two records, a comparison does.
pub fn titles(place: &Place, query: &str, records: usize, rank: Option<&Value>) -> Claims {
    let mut said = Claims::of("titles of pictures");
    let ranked = rank.map(|rank| &rank["primary"]);
    let ranked = ranked.filter(|primary| primary["refusal"].is_null() && each(&primary["models"]).count() > 1);
    let first = |primary: &Value| each(&primary["models"]).filter(|model| model["layer"] == 1).count() == 1;
    let compared = || {
        let found = answer(place, &["compare", query, "--by", "record", "--json"]).filter(|_| records == 2)?;
        let decides = each(&found["comparison"]["loads"]).find(|load| load["primary"] == true)?.clone();
        Some(each(&decides["pairs"]).any(|pair| !pair["verdict"]["answer"].is_null()))
    };
    let found = ranked.map_or_else(|| compared().unwrap_or(false), first);
    let mut titles: Vec<(&str, String)> = Vec::new();
    for kind in KINDS {
        let drawn = run(place.assay(["report", query, "-o", "-", "--format", "svg", "--picture", kind]));
        titles.extend(between(&drawn.stdout, "<title>", "</title>").map(|title| (kind, title)));
    }
    let page = run(place.assay(["report", query, "-o", "-", "--format", "html"]));
    titles.extend(between(&page.stdout, "<h1>", "</h1>").filter(|_| records > 1).map(|title| ("page", title)));
    for (kind, title) in &titles {
        let claims = BETTER.iter().find(|words| title.contains(**words));
        if let (Some(words), false) = (claims, found) {
            said.slips.push(format!("{kind} says {words:?}, and nothing was found: {title:?}"));
        }
        if let (Some(primary), true) = (ranked, OF_WHAT_DECIDES.contains(kind)) {
            let load = text(&primary["title"]);
            if !title.to_lowercase().starts_with(&format!("{}: ", load.to_lowercase())) {
                said.slips.push(format!("{kind} does not tell what was found under {load}: {title:?}"));
            }
        }
    }
    said
}

fn between(whole: &str, begin: &str, end: &str) -> Option<String> {
    let (_, rest) = whole.split_once(begin)?;
    let (inside, _) = rest.split_once(end)?;
    Some(inside.replace('\u{a0}', " "))
}
