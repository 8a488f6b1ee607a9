//! What the pages of `assay serve` say beside the JSON of the commands: each figure of media, records, the ranking and the comparison is
//! one of the command's, and media are those that the list names.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use assay_core::units::{figures, fixed};
use rustix::process::Signal;
use serde_json::Value;

use super::claims::{Claims, Unit};
use super::common::{Place, send};
use super::faces::{answer, each, text};

/// Columns of the records page that are figures. Others hold times and numbers of their own.
const FIGURE: [&str; 6] = ["IOPS", "MB/s", "MiB/s", "latency", "p99", "durable"];

/// A server of a store.
struct Served {
    child: Child,
    host: String,
    cookie: String,
}

impl Served {
    fn begin(place: &Place) -> Self {
        let mut child = place.assay(["serve"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        let (host, query) = address.trim().strip_prefix("http://").unwrap().split_once("/?").unwrap();
        let mut served = Self { child, host: host.to_owned(), cookie: String::new() };
        let (head, _) = served.ask(&format!("/?{query}"));
        let set = head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
        served.cookie = set.split(';').next().unwrap().to_owned();
        served
    }

    fn ask(&self, path: &str) -> (String, String) {
        let (host, cookie) = (&self.host, &self.cookie);
        let mut stream = TcpStream::connect(host).unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.to_owned(), body.to_owned())
    }

    fn page(&self, path: &str) -> String {
        self.ask(path).1
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        send(self.child.id(), Signal::TERM);
        let _ = self.child.wait();
    }
}

/// What pages say of a store whose list names these units.
pub fn pages(place: &Place, units: &BTreeSet<Unit>) -> Claims {
    let mut said = Claims::of("pages of the dashboard");
    let served = Served::begin(place);
    let list = answer(place, &["list", "--json"]).unwrap();
    let listed = |id: &str| each(&list).find(|row| row["id"] == id).map(|row| allowed(&row["figures"]));
    // A page takes the load that most of its records have, the list that of each record by itself: all loads are shown.
    let shown = |id: &str| {
        let record = answer(place, &["show", id, "--json"]).unwrap();
        let rates = ["iops", "bytes_per_second"];
        each(&record["measurements"])
            .flat_map(|one| rates.iter().flat_map(|rate| allowed(&one[*rate])))
            .collect::<BTreeSet<_>>()
    };
    let of_record = |id: &str, markup: &str| {
        let known = listed(id).unwrap_or_default();
        if unknown(&known, markup).is_empty() { known } else { shown(id) }
    };
    let mut seen = 0;

    for number in 1.. {
        let page = served.page(&format!("/?page={number}"));
        for card in between_all(&page, "<article class=\"card\">", "</article>") {
            seen += 1;
            let id = between(card, "href=\"/records/", "\"").unwrap();
            for figure in between_all(card, "<dd><b>", "</dd>") {
                check(&mut said, &of_record(id, figure), figure, &format!("the card of {id}"));
            }
        }
        if !page.contains("rel=\"next\"") {
            break;
        }
    }
    if seen != units.len() {
        said.slips.push(format!("{seen} media have cards, and the list names {}", units.len()));
    }
    for number in 1.. {
        let page = served.page(&format!("/records?page={number}"));
        for row in between_all(&page, "<tr><td class=\"left tick\"", "</tr>") {
            let id = between(row, "value=\"", "\"").unwrap();
            for cell in cells(row).filter(|cell| FIGURE.iter().any(|words| cell.0.contains(words))) {
                check(&mut said, &of_record(id, cell.1), cell.1, &format!("{} of {id} among records", cell.0));
            }
        }
        if !page.contains("rel=\"next\"") {
            break;
        }
    }
    if let Some(rank) = answer(place, &["rank", "all", "--json"]) {
        ranked(&mut said, &rank, &served.page("/rank?of=all"));
    }
    if let Some(found) = answer(place, &["compare", "all", "--by", "model", "--json"]) {
        compared(&mut said, &found, &served.page("/compare?of=all&by=model"));
    }
    said
}

/// Rows of the ranking: each belongs to a model under some load.
fn ranked(said: &mut Claims, rank: &Value, page: &str) {
    let loads: Vec<&Value> = std::iter::once(&rank["primary"]).chain(each(&rank["exploratory"])).collect();
    for row in between_all(page, "<tr><th scope=\"row\">", "</tr>") {
        let model = plain(row.split("</th>").next().unwrap());
        let of_model = |load: &&Value| each(&load["models"]).find(|row| text(&row["model"]) == model).cloned();
        let known: BTreeSet<String> = loads.iter().filter_map(of_model).flat_map(|row| allowed(&row)).collect();
        for (title, cell) in cells(row).filter(|(title, _)| title.contains("(95 %)") || *title == "units") {
            if !known.is_empty() {
                check(said, &known, cell, &format!("{title} of {model} in the ranking"));
            }
        }
    }
}

/// Rows of the comparison: each is a load, and its groups are columns.
fn compared(said: &mut Claims, found: &Value, page: &str) {
    let loads: Vec<&Value> = each(&found["comparison"]["loads"]).collect();
    for row in between_all(page, "<tr><th scope=\"row\">", "</tr>") {
        let title = plain(row.split("</th>").next().unwrap());
        // Rows of durable rates and of latencies have the title of their load.
        let of_load = loads.iter().filter(|load| title.starts_with(&text(&load["title"])));
        let known: BTreeSet<String> = of_load.flat_map(|load| allowed(load)).collect();
        let is_group = |title: &str| title.len() == 1 && title.chars().all(|c| c.is_ascii_uppercase());
        for (group, cell) in cells(row).filter(|(title, _)| is_group(title)) {
            if !known.is_empty() {
                check(said, &known, cell, &format!("{group} under {title} in the comparison"));
            }
        }
    }
}

/// The ways in which the numbers of a document are printed.
fn allowed(document: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    fn walk(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Number(number) => say(number.as_f64().unwrap(), found),
            Value::Array(all) => {
                say(all.len() as f64, found);
                all.iter().for_each(|one| walk(one, found));
            }
            Value::Object(all) => {
                // What stands behind ±.
                let end = |name: &str| all.get(name).and_then(Value::as_f64);
                if let (Some(point), Some(low), Some(high)) = (end("point"), end("low"), end("high")) {
                    [(high - low) / 2.0, point - low, high - point].into_iter().for_each(|half| say(half, found));
                }
                all.values().for_each(|one| walk(one, found));
            }
            _ => {}
        }
    }
    fn say(value: f64, found: &mut BTreeSet<String>) {
        for scaled in [value, value / 1e3, value / 1e6, value / 1e9] {
            // The interval has as many decimals as the figure.
            found.extend((0..4).map(|decimals| fixed(scaled, decimals)));
            found.insert(figures(scaled));
        }
    }
    walk(document, &mut found);
    found.into_iter().map(|text| text.replace(['\u{202f}', ' '], "")).collect()
}

/// All numbers of a text are known.
fn check(said: &mut Claims, known: &BTreeSet<String>, markup: &str, place: &str) {
    for number in unknown(known, markup) {
        said.slips.push(format!("{place}: {number} of {:?} is no figure of the command", plain(markup)));
    }
}

/// The numbers of a text that are not known.
fn unknown(known: &BTreeSet<String>, markup: &str) -> Vec<String> {
    let words = plain(markup);
    let whole: Vec<char> = words.chars().collect();
    let digit = |at: usize| whole.get(at).is_some_and(char::is_ascii_digit);
    let (mut number, mut found) = (String::new(), Vec::new());
    for at in 0..=whole.len() {
        let inside = digit(at)
            || whole.get(at).is_some_and(|c| {
                // Blanks of a thousand stand between digits.
                let thousand = *c == ' ' && digit(at + 1) && digit(at + 2) && digit(at + 3) && !digit(at + 4);
                (*c == '.' || thousand) && at > 0 && digit(at - 1)
            });
        if inside {
            number.extend(whole.get(at).filter(|c| **c != ' '));
        } else if !number.is_empty() {
            // `±<0.1` is a bound, and no figure.
            if !known.contains(&number) && !words.contains(&format!("<{number}")) {
                found.push(number.clone());
            }
            number.clear();
        }
    }
    found
}

/// The cells of a row that tell what they are, with that.
fn cells(row: &str) -> impl Iterator<Item = (&str, &str)> {
    row.split("<td").skip(1).filter_map(|cell| {
        let title = between(cell, "data-title=\"", "\"")?;
        Some((title, cell.split_once('>')?.1.split("</td>").next()?))
    })
}

/// Text of a markup, with blanks as people see them.
fn plain(markup: &str) -> String {
    let mut text = String::new();
    for part in markup.split('<') {
        text.push_str(part.split_once('>').map_or(part, |(_, text)| text));
    }
    let text = text.replace(['\u{a0}', '\u{202f}', '\u{2060}'], " ");
    text.replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"")
}

fn between<'a>(whole: &'a str, begin: &str, end: &str) -> Option<&'a str> {
    whole.split_once(begin)?.1.split(end).next()
}

fn between_all<'a>(whole: &'a str, begin: &'a str, end: &'a str) -> impl Iterator<Item = &'a str> {
    whole.split(begin).skip(1).filter_map(move |rest| rest.split(end).next())
}
