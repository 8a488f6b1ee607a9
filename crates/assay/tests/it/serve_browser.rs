//! `assay serve` in a browser: every page with and without scripts, wide and on a phone, by keyboard, and a run from the page.

use std::fs;
use std::time::{Duration, Instant};

use assay_lab::browser::{Browser, beyond};

use crate::common::Place;
use crate::serve::{Served, fleet_run, seven, stocked};

const PAGES: [&str; 17] = [
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
    "plan/new?units=A%3D1%2C2%3BB%3D1%2C2&slots=3",
    "plan/race?of=all",
    "fleet",
    "watch",
    "baselines",
    "rank?of=model%3Dnothing",
];

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
            assert_eq!(beyond(&mut browser), 0, "{page} at {width} is wider than the window");
            // A refusal has a status that the console names.
            let complaints = browser.complaints();
            let unexpected = complaints.iter().filter(|text| !text.contains("status of 422"));
            assert_eq!(unexpected.count(), 0, "{page} at {width}: {complaints:?}");
        }
        browser.scripts(true);
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

/// Waits until an expression is true in the page, which may be on its way to another.
fn wait_until(browser: &mut Browser, expression: &str) {
    let begun = Instant::now();
    while browser.value(expression) != true {
        assert!(begun.elapsed() < Duration::from_secs(60), "{expression}: {}", browser.text("document.body.innerText"));
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn the_page_of_a_run_on_nodes_follows_it_by_itself() {
    let place = Place::new();
    let Some(mut browser) = Browser::start(place.path(), "a run on nodes on a page") else { return };
    let served = Served::begin(&place, &[]);
    browser.open(&served.address);
    let base = served.address.split('?').next().unwrap().to_owned();
    let mut child = fleet_run(&place);
    let link = "document.querySelector('tbody th a')";
    browser.open(&format!("{base}fleet"));
    while browser.value(&format!("{link} === null")) == true {
        std::thread::sleep(Duration::from_millis(50));
        browser.open(&format!("{base}fleet"));
    }
    browser.follow(&format!("{link}.click()"));
    // It reads itself again when the run has ended, and shows its nodes.
    wait_until(
        &mut browser,
        "document.getElementById('fleet') === null && document.querySelector('figure.picture svg') !== null",
    );
    assert_eq!(browser.complaints(), Vec::<String>::new());
    assert!(child.wait().unwrap().success());
}

#[test]
fn more_than_six_that_are_ticked_are_said_to_be_too_many() {
    let place = Place::with_records(&seven());
    let Some(mut browser) = Browser::start(place.path(), "records that are ticked") else { return };
    let served = Served::begin(&place, &[]);
    browser.open(&served.address);
    let base = served.address.split('?').next().unwrap().to_owned();
    browser.open(&format!("{base}records"));
    let hint = "document.getElementById('ticked').textContent";
    assert!(browser.text(hint).starts_with("A comparison takes at most 6"));
    browser.value("document.querySelectorAll('input[name=of]').forEach(e => e.click())");
    assert_eq!(browser.text(hint), "7 are ticked; a comparison takes at most 6.");
    browser.follow("document.querySelector('.actions button').click()");
    assert!(
        browser
            .text("document.querySelector('main').innerText")
            .contains("7 groups are more than the 6 that a page compares")
    );
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
