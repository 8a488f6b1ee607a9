//! What a result file holds, whatever its form.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::Value;

use crate::pattern::{Regex, regex};
use crate::text::{Text, json_body};

/// A result file.
#[derive(Debug, Clone, Default)]
pub(super) struct Document {
    /// Version of the suite that wrote it.
    pub(super) client: Option<String>,
    pub(super) systems: Vec<System>,
    pub(super) tests: Vec<Test>,
    /// Whether its end is missing.
    pub(super) cut_off: bool,
    /// Whether elements do not end in the order in which they began.
    pub(super) broken: bool,
}

/// A machine, or a run on it.
#[derive(Debug, Clone, Default)]
pub(super) struct System {
    /// Its names in the results: one, up to version 2 several.
    pub(super) identifiers: Vec<String>,
    pub(super) hardware: BTreeMap<String, String>,
    pub(super) software: BTreeMap<String, String>,
    pub(super) time: String,
    pub(super) client: Option<String>,
}

/// A test with one set of options, and its results on all systems.
#[derive(Debug, Clone, Default)]
pub(super) struct Test {
    /// `pts/fio-1.15.0`; up to version 2 `fio`.
    pub(super) identifier: String,
    pub(super) title: String,
    pub(super) arguments: String,
    pub(super) description: String,
    /// Unit of the values.
    pub(super) scale: String,
    pub(super) less_is_better: bool,
    pub(super) entries: Vec<ResultEntry>,
}

/// The result of a test on a system.
#[derive(Debug, Clone, Default)]
pub(super) struct ResultEntry {
    pub(super) system: String,
    pub(super) value: Option<f64>,
    /// How many runs the value is the mean of; 0 where that is not told.
    pub(super) runs: u32,
    /// Whether it is a line of many values, such as a sensor's, or a word.
    pub(super) drawn: bool,
}

impl ResultEntry {
    /// Takes a value as it is written.
    pub(super) fn set(&mut self, text: &str) {
        let text = text.trim();
        self.value = text.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0);
        self.drawn = self.value.is_none() && !text.is_empty();
    }
}

impl Test {
    /// An option by its name: descriptions are `Type: Random Read - Block Size: 4KB`.
    pub(super) fn option(&self, name: &str) -> Option<&str> {
        let mut all = self.description.split(" - ");
        all.find_map(|option| option.trim().strip_prefix(name)?.strip_prefix(':')).map(str::trim)
    }

    /// Name of the profile, its version if it is given, and whether the profile is one of the suite itself: others of the
    /// same name may do anything.
    pub(super) fn profile(&self) -> (&str, Option<(u32, u32)>, bool) {
        let (collection, name) = self.identifier.rsplit_once('/').unwrap_or(("pts", &self.identifier));
        let versioned = name.rsplit_once('-').and_then(|(name, version)| {
            let mut parts = version.split('.').map(|part| part.parse::<u32>().ok());
            Some((name, (parts.next()??, parts.next()??)))
        });
        match versioned {
            Some((name, version)) => (name, Some(version), collection == "pts"),
            None => (name, None, collection == "pts"),
        }
    }
}

/// Longest text of a name or a value in bytes: each of thousands of results may have a copy of it.
const LONGEST: usize = 4_096;

/// A text within that.
pub(super) fn short(text: &str) -> &str {
    let end = (0..=text.len().min(LONGEST)).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    &text[..end]
}

/// `Processor: A @ 3.0GHz (4 Cores), Motherboard: B` by its parts. A comma stands within a part too.
fn components(text: &str) -> BTreeMap<String, String> {
    let mut all: BTreeMap<String, String> = BTreeMap::new();
    let mut last = None;
    for part in text.split(", ") {
        match (part.split_once(": "), &last) {
            (Some((name, value)), _) => {
                all.insert(name.trim().to_owned(), value.to_owned());
                last = Some(name.trim().to_owned());
            }
            (None, Some(name)) => {
                if let Some(value) = all.get_mut(name) {
                    value.push_str(", ");
                    value.push_str(part);
                }
            }
            (None, None) => {}
        }
    }
    all
}

/// `Phoronix Test Suite v10.8.4` and `phoronix-test-suite/10.8.4` as `10.8.4`.
pub(super) fn version(text: &str) -> Option<String> {
    let words = text.split([' ', '/', '-']).map(|word| word.trim_start_matches('v'));
    let version = words.into_iter().find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    Some(version.to_owned())
}

// What `phoronix-test-suite result-file-to-json` writes. Where PHP has an empty map, or one with numbers for names, it
// writes a list.

/// Longest document that is read, in bytes: in memory it takes up to fifty times as much.
const LONGEST_JSON: usize = 4 << 20;
/// Most names in front of `systems`.
const MOST_BEFORE: usize = 9;

pub(super) fn begins_json(text: &Text, at: usize) -> bool {
    let line = text.long_line(at).trim();
    if line == "{" {
        let next = |number: usize| text.long_line(at + number).trim_start();
        return (1..=MOST_BEFORE).any(|number| next(number).starts_with("\"systems\":"))
            && !(1..=MOST_BEFORE).any(|number| next(number) == "{");
    }
    line.starts_with('{')
        && line.contains("\"systems\":")
        && line.contains("\"results\":")
        && line.contains("\"scale\"")
}

/// The document that begins in line `at`, and the line behind it.
pub(super) fn read_json(text: &Text, at: usize) -> (Result<Document, String>, usize) {
    let (body, end, cut_off) = json_body(text, at, |next| begins_json(text, next));
    if cut_off {
        return (Err("JSON of the Phoronix Test Suite that is cut off".to_owned()), end);
    }
    if body.len() > LONGEST_JSON {
        return (Err(format!("JSON of the Phoronix Test Suite with more than {LONGEST_JSON} bytes")), end);
    }
    let document = serde_json::from_str::<Value>(&body)
        .map(|value| json_document(&value))
        .map_err(|error| format!("JSON of the Phoronix Test Suite that cannot be read: {error}"));
    (document, end)
}

fn json_document(value: &Value) -> Document {
    Document {
        client: None,
        systems: json_entries(&value["systems"]).map(|(name, value)| json_system(name, value)).collect(),
        tests: json_entries(&value["results"]).map(|(_, value)| json_test(value)).collect(),
        cut_off: false,
        broken: false,
    }
}

/// The members of a map, or of a list with no names.
fn json_entries(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let named = value.as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value));
    named.chain(value.as_array().into_iter().flatten().map(|value| ("", value)))
}

fn json_text(value: &Value) -> String {
    match value {
        Value::String(text) => short(text.trim()).to_owned(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

fn json_system(name: &str, value: &Value) -> System {
    let identifier =
        Some(json_text(&value["identifier"])).filter(|name| !name.is_empty()).unwrap_or_else(|| short(name).to_owned());
    let parts = |value: &Value| json_entries(value).map(|(name, value)| (name.to_owned(), json_text(value))).collect();
    System {
        identifiers: vec![identifier],
        hardware: parts(&value["hardware"]),
        software: parts(&value["software"]),
        time: json_text(&value["timestamp"]),
        client: version(&json_text(&value["client_version"])),
    }
}

fn json_test(value: &Value) -> Test {
    Test {
        identifier: json_text(&value["identifier"]),
        title: json_text(&value["title"]),
        arguments: json_text(&value["arguments"]),
        description: json_text(&value["description"]),
        scale: json_text(&value["scale"]),
        less_is_better: json_text(&value["proportion"]) == "LIB",
        entries: json_entries(&value["results"]).map(|(name, value)| json_entry(name, value)).collect(),
    }
}

fn json_entry(name: &str, value: &Value) -> ResultEntry {
    let mut entry = ResultEntry { system: short(name).to_owned(), ..ResultEntry::default() };
    entry.set(&json_text(&value["value"]));
    let runs = json_entries(&value["raw_values"]).filter(|(_, value)| value.is_number()).count();
    entry.runs = u32::try_from(runs).unwrap_or(u32::MAX);
    entry
}

// `composite.xml`. Elements have no attributes and nothing but text or elements in them; there is never a definition of
// a document type, so one with entities of its own is refused, and none but those of XML itself are resolved.

static ELEMENT: LazyLock<Regex> = LazyLock::new(|| regex(r"<(/?[A-Za-z0-9]+)(?: [^<>]*)?/?>([^<]*)"));

const ROOT: &str = "<PhoronixTestSuite";
const END: &str = "</PhoronixTestSuite>";
/// Most elements within one another.
const DEEPEST: usize = 64;
/// How far above the root a document type is searched.
const MOST_ABOVE: usize = 40;

pub(super) fn begins_xml(text: &Text, at: usize) -> bool {
    text.long_line(at).contains(ROOT)
}

/// The document that begins in line `at`, and the line behind it.
pub(super) fn read_xml(text: &Text, at: usize) -> (Result<Document, String>, usize) {
    let mut end = at;
    while end < text.len() {
        end += 1;
        if text.long_line(end - 1).contains(END) || begins_xml(text, end) {
            break;
        }
    }
    let document = text.joined(at, end);
    let above = text.joined(at.saturating_sub(MOST_ABOVE), at);
    if [&above, &document].iter().any(|part| part.contains("<!DOCTYPE") || part.contains("<!ENTITY")) {
        return (Err("a document type, which no file of the Phoronix Test Suite has".to_owned()), end);
    }
    (Ok(parse_xml(&document)), end)
}

/// Which element is open that has some of its own.
enum XmlPlace {
    Head,
    System(System),
    Test(Test),
    ResultEntry(Test, ResultEntry),
}

fn parse_xml(text: &str) -> Document {
    let mut document = Document { cut_off: true, ..Document::default() };
    let mut place = XmlPlace::Head;
    let mut open: Vec<String> = Vec::new();
    for element in ELEMENT.captures_iter(text) {
        let (name, value) = (&element[1], element[2].trim());
        match name.strip_prefix('/') {
            Some(name) => document.broken |= open.pop().is_none_or(|last| last != name),
            // A document is not deeper, however long it is.
            None if open.len() < DEEPEST && !empty_element(&element[0]) => open.push(name.to_owned()),
            None => {}
        }
        place = match (name, place) {
            ("/PhoronixTestSuite", place) => {
                document.cut_off = false;
                place
            }
            ("System", _) => XmlPlace::System(System::default()),
            ("/System", XmlPlace::System(system)) => {
                document.systems.push(system);
                XmlPlace::Head
            }
            // `Benchmark` up to version 2.
            ("Result" | "Benchmark", _) => XmlPlace::Test(Test::default()),
            ("/Result" | "/Benchmark", XmlPlace::Test(test)) => {
                document.tests.push(test);
                XmlPlace::Head
            }
            ("Entry", XmlPlace::Test(test)) => XmlPlace::ResultEntry(test, ResultEntry::default()),
            ("/Entry", XmlPlace::ResultEntry(mut test, entry)) => {
                test.entries.push(entry);
                XmlPlace::Test(test)
            }
            (name, mut place) => {
                set_value(&mut document, &mut place, name, value);
                place
            }
        };
    }
    // Of a test that is cut off the entries before the cut are whole.
    if let XmlPlace::Test(test) | XmlPlace::ResultEntry(test, _) = place {
        document.tests.push(test);
    }
    document
}

/// Whether an element ends where it begins: `<Notes/>`.
fn empty_element(element: &str) -> bool {
    element.split_once('>').is_some_and(|(tag, _)| tag.ends_with('/'))
}

fn set_value(document: &mut Document, place: &mut XmlPlace, name: &str, raw: &str) {
    if name == "AssociatedIdentifiers"
        && let XmlPlace::System(system) = place
    {
        system.identifiers = decode_xml(raw).split(", ").map(|name| short(name).to_owned()).collect();
        return;
    }
    // What wraps the document wraps names too.
    let value = decode_xml(short(raw)).split_whitespace().collect::<Vec<_>>().join(" ");
    match place {
        XmlPlace::Head => {
            if name == "TestClient" {
                document.client = version(&value);
            }
        }
        XmlPlace::System(system) => match name {
            "Identifier" => system.identifiers = vec![value],
            "Hardware" => system.hardware = components(&value),
            "Software" => system.software = components(&value),
            "TimeStamp" | "TestDate" => system.time = value,
            "TestClientVersion" | "Version" => system.client = version(&value),
            _ => {}
        },
        XmlPlace::Test(test) => match name {
            "Identifier" | "TestName" => test.identifier = value,
            "Title" | "Name" => test.title = value,
            "Arguments" | "TestArguments" => test.arguments = value,
            "Description" | "Attributes" => test.description = value,
            "Scale" => test.scale = value,
            "Proportion" => test.less_is_better = value == "LIB",
            _ => {}
        },
        XmlPlace::ResultEntry(_, entry) => match name {
            "Identifier" => entry.system = value,
            "Value" => entry.set(&value),
            "RawString" => entry.runs = xml_runs(raw),
            _ => {}
        },
    }
}

/// Values of single runs stand between colons.
fn xml_runs(text: &str) -> u32 {
    let count = text.split(':').filter(|run| run.trim().parse::<f64>().is_ok()).count();
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The entities of XML, and characters by number.
fn decode_xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        // The longest name of one is that of a number in hexadecimals.
        let end = after.bytes().take(10).position(|b| b == b';');
        match end.and_then(|end| Some((character(after.get(..end)?)?, after.get(end + 1..)?))) {
            Some((c, behind)) => {
                out.push(c);
                rest = behind;
            }
            None => {
                out.push('&');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

fn character(name: &str) -> Option<char> {
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix('x') {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code).filter(|c| !c.is_control())?
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_and_options() {
        let test = |identifier: &str| Test { identifier: identifier.to_owned(), ..Test::default() };
        assert_eq!(test("pts/fio-1.15.0").profile(), ("fio", Some((1, 15)), true));
        assert_eq!(test("local/hdparm-read-1.0.0").profile(), ("hdparm-read", Some((1, 0)), false));
        assert_eq!(test("aio-stress").profile(), ("aio-stress", None, true));
        let test = Test { description: "Type: Random Read - Disk Target: /mnt/a b".to_owned(), ..Test::default() };
        assert_eq!((test.option("Type"), test.option("Disk Target")), (Some("Random Read"), Some("/mnt/a b")));
        assert_eq!(test.option("Disk"), None);
    }

    #[test]
    fn components_and_versions() {
        let parts = components("Processor: A, B @ 1GHz (2 Cores / 4 Threads), Memory: 8GB");
        assert_eq!(parts["Processor"], "A, B @ 1GHz (2 Cores / 4 Threads)");
        assert_eq!(parts.len(), 2);
        for text in ["Phoronix Test Suite v10.8.4", "phoronix-test-suite/10.8.4", "10.8.4"] {
            assert_eq!(version(text).as_deref(), Some("10.8.4"), "{text}");
        }
    }

    #[test]
    fn entities_are_those_of_xml() {
        assert_eq!(decode_xml("a &amp;lt; &#72;&#x49; &nbsp; & b&"), "a &lt; HI &nbsp; & b&");
        assert_eq!(decode_xml("&#0;&#xD800;&#x110000;"), "&#0;&#xD800;&#x110000;", "no characters");
    }

    #[test]
    fn entities_of_a_document_are_refused() {
        let bomb = "<!DOCTYPE x [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]>\n<PhoronixTestSuite>\n<Result>&b;</Result>\n</PhoronixTestSuite>\n";
        for bomb in [bomb.to_owned(), bomb.replace('\n', " ")] {
            let text = Text::from_bytes(format!("<?xml version=\"1.0\"?>\n{bomb}").as_bytes());
            let at = (0..text.len()).find(|line| begins_xml(&text, *line)).unwrap_or(0);
            let (document, _) = read_xml(&text, at);
            assert!(document.is_err_and(|what| what.contains("document type")));
        }
    }

    #[test]
    fn a_document_cut_off_keeps_what_is_whole() {
        let text = "<PhoronixTestSuite><Result><Title>A</Title><Data><Entry><Identifier>s</Identifier><Value>12</Value><RawString>11:13</RawString></Entry><Entry><Identifier>t</Identifier><Value>1";
        let document = parse_xml(text);
        assert!(document.cut_off);
        assert_eq!(document.tests[0].entries.len(), 1);
        assert_eq!((document.tests[0].entries[0].value, document.tests[0].entries[0].runs), (Some(12.0), 2));
    }
}
