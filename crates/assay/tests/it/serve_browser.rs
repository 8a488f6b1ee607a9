//! `assay serve` in a browser: every page with and without scripts, wide and on a phone, by keyboard, and a run from the page.

use std::fs;
use std::time::{Duration, Instant};

use crate::common::{Browser, Place};
use crate::serve::{Served, stocked};

const PAGES: [&str; 15] = [
    "",
    "measure",
    "records",
    "records/san0",
    "rank?of=all",
    "compare?of=san0&of=sam0",
    "compare?of=model%3DSan*%0Amodel%3DSam*",
    "advise",
    "advise/nas?of=all&nodes=28&link=1Gbit",
    "advise/buy",
    "plan",
    "plan/race?of=all",
    "fleet",
    "baselines",
    "rank?of=model%3Dnothing",
];

/// What a page lacks that readers with a keyboard or a screen reader need.
const LACKS: &str = r#"(() => {
    const lacks = [];
    const named = e => e.labels?.length || e.getAttribute('aria-label') || e.getAttribute('aria-labelledby');
    for (const e of document.querySelectorAll('input:not([type=hidden]), select, textarea'))
        if (!named(e)) lacks.push('a label: ' + e.outerHTML.slice(0, 80));
    for (const e of document.querySelectorAll('button, a')) {
        if (!e.hidden && !e.textContent.trim() && !e.getAttribute('aria-label')) lacks.push('words: ' + e.outerHTML.slice(0, 80));
    }
    if (document.querySelectorAll('h1').length !== 1) lacks.push(document.querySelectorAll('h1').length + ' h1');
    if (document.querySelectorAll('main').length !== 1) lacks.push('one main');
    if (!document.documentElement.lang) lacks.push('a language');
    const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
    for (const id of ids.filter((id, at) => ids.indexOf(id) !== at)) lacks.push('one element ' + id);
    for (const e of document.querySelectorAll('th')) if (!e.scope) lacks.push('a scope: ' + e.textContent);
    for (const e of document.querySelectorAll('svg[role=img]'))
        if (!e.querySelector('title') && !e.getAttribute('aria-label')) lacks.push('the name of a picture');
    return lacks.join('; ');
})()"#;

#[test]
fn every_page_is_whole_with_and_without_scripts_wide_and_narrow() {
    let place = stocked();
    let Some(mut browser) = Browser::start(place.path(), "pages in a browser") else { return };
    let served = Served::begin(&place, &[]);
    browser.open(&served.address);
    let base = served.address.split('?').next().unwrap().to_owned();
    browser.complaints();
    for page in PAGES {
        for (width, scripts) in [(1200, true), (390, true), (390, false)] {
            browser.width(width);
            browser.scripts(scripts);
            browser.open(&format!("{base}{page}"));
            let beyond = browser.value("document.documentElement.scrollWidth - innerWidth");
            assert_eq!(beyond.as_i64(), Some(0), "{page} at {width} is wider than the window");
            assert_eq!(browser.text(LACKS), "", "{page} lacks something");
            // A refusal has a status that the console names.
            let complaints = browser.complaints();
            let unexpected = complaints.iter().filter(|text| !text.contains("status of 422"));
            assert_eq!(unexpected.count(), 0, "{page} at {width}: {complaints:?}");
        }
        browser.scripts(true);
        let heavy = browser.value("performance.getEntriesByType('navigation')[0].transferSize").as_f64().unwrap();
        assert!(heavy < 400_000.0, "{page} has {heavy} bytes");
    }
}

fn wait_for(browser: &mut Browser, words: &str) {
    let begun = Instant::now();
    // The page reads itself again when the run has ended; while it does, there is no text.
    while !browser.text("document.querySelector('h1')?.textContent ?? ''").contains(words) {
        assert!(begun.elapsed() < Duration::from_secs(60), "{}", browser.text("document.body.innerText"));
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_run_is_started_watched_stopped_and_started_again() {
    let place = Place::new();
    let Some(mut browser) = Browser::start(place.path(), "a run from a page") else { return };
    let served = Served::begin(&place, &[]);
    browser.open(&served.address);
    let base = served.address.split('?').next().unwrap().to_owned();
    let target = place.medium().to_str().unwrap().to_owned();
    let plan = |suite: &str| format!("{base}measure/plan?target={target}&what=measure&suite={suite}");

    browser.open(&plan("quick"));
    browser.follow("document.querySelector('form.question button').click()");
    wait_for(&mut browser, "is running");
    let begun = Instant::now();
    while browser.text("document.getElementById('live-rate').textContent") == "–" {
        assert!(begun.elapsed() < Duration::from_secs(60), "no rate is shown");
        std::thread::sleep(Duration::from_millis(50));
    }
    // A page that is read again shows the same run.
    let path = browser.text("location.pathname");
    browser.open(&format!("{base}{}", &path[1..]));
    wait_for(&mut browser, "is running");
    browser.follow("document.querySelector('form button').click()");
    wait_for(&mut browser, "was stopped");
    place.assert_clean();

    // Again, by the keyboard alone.
    browser.open(&plan("smoke"));
    let mut presses = 0;
    while browser.text("document.activeElement.textContent") != "Measure"
        || browser.text("document.activeElement.tagName") != "BUTTON"
    {
        presses += 1;
        assert!(presses < 40, "no key leads to the button");
        browser.press("Tab", 9);
    }
    browser.press("Enter", 13);
    wait_for(&mut browser, "has ended");
    assert!(browser.text("document.querySelector('main').innerText").to_lowercase().contains("random read iops"));
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn a_page_of_another_origin_reads_and_starts_nothing() {
    let place = Place::new();
    let Some(mut browser) = Browser::start(place.path(), "a page of another origin") else { return };
    let served = Served::begin(&place, &[]);
    browser.open(&served.address);
    let base = served.address.split('?').next().unwrap().to_owned();
    // A page of a file is another origin; it knows the port and not the secret.
    let other = place.path().join("other.html");
    let form = format!(
        "<form id=f method=post action='{base}measure/start'><input name=target value='{}'><input name=what value=measure></form>",
        place.medium().display()
    );
    fs::write(&other, form).unwrap();
    browser.open(&format!("file://{}", other.display()));
    let read = browser.text(&format!(
        "fetch('{base}records', {{credentials: 'include'}}).then(a => a.text()).catch(() => 'kept out')"
    ));
    assert_eq!(read, "kept out");
    browser.follow("document.getElementById('f').submit()");
    let said = browser.text("document.body.innerText");
    assert!(said.contains("another site"), "{said}");
    browser.open(&format!("{base}runs/1"));
    assert!(browser.text("document.querySelector('h1').textContent").contains("no such page"));
}
