//! What a page lacks for those who use it: names, headings, tables, contrast of text, focus, width and weight. Rules are those of
//! WCAG 2.2 AA, <https://www.w3.org/TR/WCAG22/>; axe has its own view of them.

use std::path::Path;
use std::sync::OnceLock;

use serde_json::{Value, json};

use super::Browser;
use crate::host::{Missing, skip};

/// What needs a name in the tree that screen readers get.
const NAMED: [&str; 14] = [
    "button",
    "link",
    "textbox",
    "checkbox",
    "radio",
    "combobox",
    "listbox",
    "slider",
    "progressbar",
    "image",
    "img",
    "navigation",
    "DisclosureTriangle",
    "spinbutton",
];

/// Largest page with all that it loads, compressed, in bytes.
const HEAVIEST: f64 = 150e3;

/// What the page lacks: its structure.
const STRUCTURE: &str = r#"(() => {
    const lacks = [];
    const all = selector => [...document.querySelectorAll(selector)];
    if (all('h1').length !== 1) lacks.push(`one h1, and not ${all('h1').length}`);
    if (!document.documentElement.lang) lacks.push('a language');
    if (!document.title.trim()) lacks.push('a title');
    for (const part of ['header', 'main', 'footer'])
        if (all(`body > ${part}`).length !== 1) lacks.push(`one ${part}`);
    for (const e of document.body.children)
        if (!e.matches('header, nav, main, footer, script, a.skip') && e.checkVisibility()) lacks.push('a landmark: ' + e.outerHTML.slice(0, 80));
    for (const e of all('img')) if (!e.hasAttribute('alt')) lacks.push('alt: ' + e.outerHTML.slice(0, 80));
    for (const e of all('svg')) {
        const named = e.getAttribute('role') === 'img' && (e.querySelector('title') || e.getAttribute('aria-label'));
        if (!named && !e.closest('[aria-hidden=true]') && e.checkVisibility()) lacks.push('name or aria-hidden: ' + e.outerHTML.slice(0, 80));
    }
    for (const e of all('table')) {
        if (!e.querySelector('th')) lacks.push('headers: ' + e.outerHTML.slice(0, 80));
        // A chart's legend is made of pairs.
        if (!e.matches('.u-legend')) for (const th of e.querySelectorAll('th')) if (!th.scope) lacks.push('a scope: ' + th.textContent);
    }
    const ids = all('[id]').map(e => e.id);
    for (const id of ids.filter((id, at) => ids.indexOf(id) !== at)) lacks.push('one element ' + id);
    return lacks;
})()"#;

/// Texts whose contrast is below 4.5.
const CONTRAST: &str = r#"(() => {
    const parse = text => {
        const found = /^rgba?\(([\d.]+), ([\d.]+), ([\d.]+)(?:, ([\d.]+))?\)$/.exec(text);
        return found ? [+found[1], +found[2], +found[3], found[4] === undefined ? 1 : +found[4]] : null;
    };
    const over = (top, below) => [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
    const light = color => {
        const part = color.slice(0, 3).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * part[0] + 0.7152 * part[1] + 0.0722 * part[2];
    };
    const ratio = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
    const root = parse(getComputedStyle(document.body).backgroundColor);
    const behind = e => {
        const layers = [];
        for (let at = e; at; at = at.parentElement) {
            const color = parse(getComputedStyle(at).backgroundColor);
            if (color && color[3] > 0) layers.push(color);
            if (color && color[3] === 1) break;
        }
        return layers.reduceRight((below, top) => over(top, below), root);
    };
    const painted = text => {
        const box = text.getBoundingClientRect();
        const center = [box.x + box.width / 2, box.y + box.height / 2];
        let found = null;
        for (const shape of text.ownerSVGElement.querySelectorAll('rect, path, circle, polygon')) {
            const fill = parse(getComputedStyle(shape).fill);
            const below = shape.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING;
            if (!fill || !below) continue;
            const at = new DOMPoint(...center).matrixTransform(shape.getScreenCTM().inverse());
            fill[3] *= getComputedStyle(shape).fillOpacity;
            if (shape.isPointInFill(at)) found = over(fill, found || behind(text.ownerSVGElement));
        }
        return found || behind(text.ownerSVGElement);
    };
    const low = new Map();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const e = walker.currentNode.parentElement;
        if (!walker.currentNode.data.trim() || !e || e.closest('script, title, desc, noscript, .skip, option')) continue;
        if (!e.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true, contentVisibilityAuto: true })) continue;
        const box = e.getBoundingClientRect();
        if (!box.width || !box.height) continue;
        const style = getComputedStyle(e);
        const svg = e instanceof SVGElement;
        const ink = parse(svg ? style.fill : style.color);
        const ground = svg ? painted(e.closest('text') || e) : behind(e);
        if (!ink || !ground) { low.set('unknown colour ' + style.color, 1); continue; }
        const found = ratio(over(ink, ground), ground);
        if (found < 4.5) low.set(`${found.toFixed(2)}: ${ink.slice(0, 3)} on ${ground.slice(0, 3).map(Math.round)} "${walker.currentNode.data.trim().slice(0, 40)}" in ${e.tagName}.${e.getAttribute('class')}`, 1);
    }
    return [...low.keys()].slice(0, 12);
})()"#;

/// Notes what the Tab key leads to, and whether it is seen.
const WATCH_FOCUS: &str = r#"(() => {
    window.reached = new Set();
    window.unseen = [];
    document.addEventListener('focusin', event => {
        const e = event.target, style = getComputedStyle(e);
        const outlined = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1;
        if (!outlined) window.unseen.push(e.outerHTML.slice(0, 80));
        window.reached.add(e);
    });
    document.activeElement.blur?.();
})()"#;

/// How many elements the Tab key has to lead to.
const REACHABLE: &str = r#"window.focusable = () => {
    const groups = new Set();
    return [...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex="0"]')].filter(e => {
        if (e.disabled || e.tabIndex < 0 || !e.checkVisibility({ checkVisibilityCSS: true })) return false;
        if (e.type !== 'radio') return true;
        const checked = document.querySelector(`input[type=radio][name="${e.name}"]:checked`);
        const stands = checked ? checked === e : !groups.has(e.name);
        groups.add(e.name);
        return stands;
    });
}; window.focusable().length"#;

/// The page and what it loads, compressed.
const WEIGHT: &str = r#"(async () => {
    const addresses = [location.href, ...[...document.querySelectorAll('link[rel=stylesheet], script[src]')].map(e => e.href || e.src)];
    let sum = 0;
    for (const address of addresses) {
        const body = (await fetch(address)).body.pipeThrough(new CompressionStream('gzip'));
        sum += (await new Response(body).arrayBuffer()).byteLength;
    }
    return sum;
})()"#;

/// How a page is looked at.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// Width of the window in pixels.
    pub width: u32,
    /// Whether the user prefers dark pages.
    pub dark: bool,
    /// Whether the page is gone through by the Tab key, too.
    pub keyboard: bool,
}

impl Look {
    /// Wide and narrow, light and dark; each width and each scheme once by the keyboard.
    pub const ALL: [Self; 4] = [
        Self { width: 1200, dark: false, keyboard: true },
        Self { width: 1200, dark: true, keyboard: false },
        Self { width: 390, dark: false, keyboard: false },
        Self { width: 390, dark: true, keyboard: true },
    ];
}

impl std::fmt::Display for Look {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "at {}{}", self.width, if self.dark { ", dark" } else { "" })
    }
}

/// Opens a page: what it lacks, and what the console and the policies complain of.
pub fn lacks(browser: &mut Browser, address: &str, look: Look) -> Vec<String> {
    browser.width(look.width);
    browser.dark(look.dark);
    browser.open(address);
    // Folded parts are read, too.
    browser.value("document.querySelectorAll('details').forEach(e => { e.open = true; })");
    let mut lacks = strings(&browser.value(STRUCTURE));
    lacks.extend(strings(&browser.value(CONTRAST)));
    lacks.extend(unnamed(browser));
    lacks.extend(axe_findings(browser));
    if look.keyboard {
        lacks.extend(focus(browser));
    }
    // A refusal has a status that the console names.
    lacks.extend(browser.complaints().into_iter().filter(|text| !text.contains("status of 4")));
    lacks
}

/// By how many pixels the page is wider than the window.
pub fn beyond(browser: &mut Browser) -> i64 {
    browser.value("document.documentElement.scrollWidth - innerWidth").as_i64().unwrap_or(i64::MAX)
}

/// The page that is shown with all that it loads, compressed, in bytes, where that is above what a page may have.
pub fn too_heavy(browser: &mut Browser) -> Option<f64> {
    let address = browser.text("location.href");
    // The policy of a page without scripts lets none fetch.
    browser.bypass_policy(true);
    browser.open(&address);
    let weight = browser.value(WEIGHT).as_f64();
    browser.bypass_policy(false);
    weight.filter(|weight| *weight > HEAVIEST)
}

/// What the tree for screen readers lacks.
fn unnamed(browser: &mut Browser) -> Vec<String> {
    let tree = browser.call("Accessibility.getFullAXTree", json!({}));
    let nodes = tree["nodes"].as_array().unwrap().iter();
    let lacking = nodes.filter(|node| {
        let role = node["role"]["value"].as_str().unwrap_or_default();
        let name = node["name"]["value"].as_str().unwrap_or_default();
        node["ignored"] == false && NAMED.contains(&role) && name.trim().is_empty()
    });
    lacking.map(|node| format!("a name: {}", node["role"]["value"])).collect()
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// Presses Tab through the page: what is not reached, or not seen.
fn focus(browser: &mut Browser) -> Vec<String> {
    let most = browser.value(REACHABLE).as_u64().unwrap();
    browser.value(WATCH_FOCUS);
    // Parts that scroll are stops of their own.
    for _ in 0..most + 20 {
        browser.press("Tab", 9);
        if browser.value("window.focusable().every(e => window.reached.has(e))") == true {
            break;
        }
    }
    let missed =
        "window.focusable().filter(e => !window.reached.has(e)).map(e => 'a way by Tab: ' + e.outerHTML.slice(0, 80))";
    let mut lacks = strings(&browser.value(missed));
    lacks.extend(strings(&browser.value("window.unseen.map(e => 'a visible focus: ' + e)")));
    lacks
}

// axe-core (<https://github.com/dequelabs/axe-core>), another list of what pages lack. It is put into the page by the debugging
// pipe, and is no part of any program.

/// The file that `tests/install-peers.sh` unpacks.
const AXE: &str = "axe-4.14.1.js";

/// Rules that the emptiest page keeps: those about its language, its title, its landmarks and its links.
const FEWEST_RULES: u64 = 10;

/// How many rules a page keeps, and which it breaks seriously.
const RUN_AXE: &str = r#"axe.run(document, { resultTypes: ['violations'] }).then(({ violations, passes }) => ({
    passed: passes.length,
    broken: violations.filter(rule => ['serious', 'critical'].includes(rule.impact)).map(rule =>
        `axe ${rule.id} (${rule.impact}) in ${rule.nodes.length} places: ${rule.help}: `
            + rule.nodes.slice(0, 3).map(node => node.html.slice(0, 120)).join(' '))
}))"#;

/// Its text; `None` where it is not installed.
fn axe() -> Option<&'static str> {
    static TEXT: OnceLock<Option<String>> = OnceLock::new();
    let read =
        || std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/peers").join(AXE)).ok();
    TEXT.get_or_init(read).as_deref()
}

/// Serious and critical findings on the page that is shown; none, and one skip of the test, where axe is not installed.
fn axe_findings(browser: &mut Browser) -> Vec<String> {
    let Some(library) = axe() else {
        if let Some(test) = browser.lacks_axe() {
            skip(&format!("{test}, by axe"), &Missing("needs axe-core (tests/install-peers.sh)".to_owned()));
        }
        return Vec::new();
    };
    browser.value(&format!("{library}; 1"));
    let answer = browser.value(RUN_AXE);
    assert!(answer["passed"].as_u64().unwrap() >= FEWEST_RULES, "axe looked at nothing: {answer}");
    answer["broken"].as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}
