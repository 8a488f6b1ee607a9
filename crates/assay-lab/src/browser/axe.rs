//! axe-core (<https://github.com/dequelabs/axe-core>), another's list of what pages lack. It is put into the page by the
//! debugging pipe, and is no part of any program. `tests/install-peers.sh` brings it.

use std::path::Path;
use std::sync::OnceLock;

use super::Browser;
use crate::host::{Missing, skip};

/// The file that `tests/install-peers.sh` unpacks.
const FILE: &str = "axe-4.14.1.js";

/// Rules that the emptiest page keeps: those about its language, its title, its landmarks and its links.
const FEWEST: u64 = 10;

/// How many rules a page keeps, and which it breaks seriously.
const RUN: &str = r#"axe.run(document, { resultTypes: ['violations'] }).then(({ violations, passes }) => ({
    passed: passes.length,
    broken: violations.filter(rule => ['serious', 'critical'].includes(rule.impact)).map(rule =>
        `axe ${rule.id} (${rule.impact}) in ${rule.nodes.length} places: ${rule.help}: `
            + rule.nodes.slice(0, 3).map(node => node.html.slice(0, 120)).join(' '))
}))"#;

/// The library; none where it is not installed.
fn library() -> Option<&'static str> {
    static TEXT: OnceLock<Option<String>> = OnceLock::new();
    let read =
        || std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/peers").join(FILE)).ok();
    TEXT.get_or_init(read).as_deref()
}

/// Serious and critical findings on the page that is shown; none, and one skip of the test, where axe is not installed.
pub(super) fn findings(browser: &mut Browser) -> Vec<String> {
    let Some(library) = library() else {
        if let Some(test) = browser.lacks_axe() {
            skip(&format!("{test}, by axe"), &Missing("needs axe-core (tests/install-peers.sh)".to_owned()));
        }
        return Vec::new();
    };
    browser.value(&format!("{library}; 1"));
    let answer = browser.value(RUN);
    assert!(answer["passed"].as_u64().unwrap() >= FEWEST, "axe looked at nothing: {answer}");
    answer["broken"].as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}
