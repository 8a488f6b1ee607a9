//! `composite.xml`. Elements have no attributes and nothing but text or elements in them; there is never a definition of
//! a document type, so one with entities of its own is refused, and none but those of XML itself are resolved.

use std::sync::LazyLock;

use super::document::{Document, Entry, System, Test, components, short, version};
use crate::pattern::{Regex, regex};
use crate::text::Text;

static ELEMENT: LazyLock<Regex> = LazyLock::new(|| regex(r"<(/?[A-Za-z0-9]+)(?: [^<>]*)?/?>([^<]*)"));

const ROOT: &str = "<PhoronixTestSuite";
const END: &str = "</PhoronixTestSuite>";
/// Most elements within one another.
const DEEPEST: usize = 64;
/// How far above the root a document type is searched.
const MOST_ABOVE: usize = 40;

pub(super) fn begins(text: &Text, at: usize) -> bool {
    text.long_line(at).contains(ROOT)
}

/// The document that begins in line `at`, and the line behind it.
pub(super) fn read(text: &Text, at: usize) -> (Result<Document, String>, usize) {
    let mut end = at;
    while end < text.len() {
        end += 1;
        if text.long_line(end - 1).contains(END) || begins(text, end) {
            break;
        }
    }
    let document = text.joined(at, end);
    let above = text.joined(at.saturating_sub(MOST_ABOVE), at);
    if [&above, &document].iter().any(|part| part.contains("<!DOCTYPE") || part.contains("<!ENTITY")) {
        return (Err("a document type, which no file of the Phoronix Test Suite has".to_owned()), end);
    }
    (Ok(parse(&document)), end)
}

/// Which element is open that has some of its own.
enum Place {
    Head,
    System(System),
    Test(Test),
    Entry(Test, Entry),
}

fn parse(text: &str) -> Document {
    let mut document = Document { cut_off: true, ..Document::default() };
    let mut place = Place::Head;
    let mut open: Vec<String> = Vec::new();
    for element in ELEMENT.captures_iter(text) {
        let (name, value) = (&element[1], element[2].trim());
        match name.strip_prefix('/') {
            Some(name) => document.broken |= open.pop().is_none_or(|last| last != name),
            // A document is not deeper, however long it is.
            None if open.len() < DEEPEST && !empty(&element[0]) => open.push(name.to_owned()),
            None => {}
        }
        place = match (name, place) {
            ("/PhoronixTestSuite", place) => {
                document.cut_off = false;
                place
            }
            ("System", _) => Place::System(System::default()),
            ("/System", Place::System(system)) => {
                document.systems.push(system);
                Place::Head
            }
            // `Benchmark` up to version 2.
            ("Result" | "Benchmark", _) => Place::Test(Test::default()),
            ("/Result" | "/Benchmark", Place::Test(test)) => {
                document.tests.push(test);
                Place::Head
            }
            ("Entry", Place::Test(test)) => Place::Entry(test, Entry::default()),
            ("/Entry", Place::Entry(mut test, entry)) => {
                test.entries.push(entry);
                Place::Test(test)
            }
            (name, mut place) => {
                set(&mut document, &mut place, name, value);
                place
            }
        };
    }
    // Of a test that is cut off the entries before the cut are whole.
    if let Place::Test(test) | Place::Entry(test, _) = place {
        document.tests.push(test);
    }
    document
}

/// Whether an element ends where it begins: `<Notes/>`.
fn empty(element: &str) -> bool {
    element.split_once('>').is_some_and(|(tag, _)| tag.ends_with('/'))
}

fn set(document: &mut Document, place: &mut Place, name: &str, raw: &str) {
    if name == "AssociatedIdentifiers"
        && let Place::System(system) = place
    {
        system.identifiers = decode(raw).split(", ").map(|name| short(name).to_owned()).collect();
        return;
    }
    // What wraps the document wraps names too.
    let value = decode(short(raw)).split_whitespace().collect::<Vec<_>>().join(" ");
    match place {
        Place::Head => {
            if name == "TestClient" {
                document.client = version(&value);
            }
        }
        Place::System(system) => match name {
            "Identifier" => system.identifiers = vec![value],
            "Hardware" => system.hardware = components(&value),
            "Software" => system.software = components(&value),
            "TimeStamp" | "TestDate" => system.time = value,
            "TestClientVersion" | "Version" => system.client = version(&value),
            _ => {}
        },
        Place::Test(test) => match name {
            "Identifier" | "TestName" => test.identifier = value,
            "Title" | "Name" => test.title = value,
            "Arguments" | "TestArguments" => test.arguments = value,
            "Description" | "Attributes" => test.description = value,
            "Scale" => test.scale = value,
            "Proportion" => test.less_is_better = value == "LIB",
            _ => {}
        },
        Place::Entry(_, entry) => match name {
            "Identifier" => entry.system = value,
            "Value" => entry.set(&value),
            "RawString" => entry.runs = runs(raw),
            _ => {}
        },
    }
}

/// Values of single runs stand between colons.
fn runs(text: &str) -> u32 {
    let count = text.split(':').filter(|run| run.trim().parse::<f64>().is_ok()).count();
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The entities of XML, and characters by number.
fn decode(text: &str) -> String {
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
    fn entities_are_those_of_xml() {
        assert_eq!(decode("a &amp;lt; &#72;&#x49; &nbsp; & b&"), "a &lt; HI &nbsp; & b&");
        assert_eq!(decode("&#0;&#xD800;&#x110000;"), "&#0;&#xD800;&#x110000;", "no characters");
    }

    #[test]
    fn entities_of_a_document_are_refused() {
        let bomb = "<!DOCTYPE x [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]>\n<PhoronixTestSuite>\n<Result>&b;</Result>\n</PhoronixTestSuite>\n";
        for bomb in [bomb.to_owned(), bomb.replace('\n', " ")] {
            let text = Text::of(format!("<?xml version=\"1.0\"?>\n{bomb}").as_bytes());
            let at = (0..text.len()).find(|line| begins(&text, *line)).unwrap_or(0);
            let (document, _) = read(&text, at);
            assert!(document.is_err_and(|what| what.contains("document type")));
        }
    }

    #[test]
    fn a_document_cut_off_keeps_what_is_whole() {
        let text = "<PhoronixTestSuite><Result><Title>A</Title><Data><Entry><Identifier>s</Identifier><Value>12</Value><RawString>11:13</RawString></Entry><Entry><Identifier>t</Identifier><Value>1";
        let document = parse(text);
        assert!(document.cut_off);
        assert_eq!(document.tests[0].entries.len(), 1);
        assert_eq!((document.tests[0].entries[0].value, document.tests[0].entries[0].runs), (Some(12.0), 2));
    }
}
