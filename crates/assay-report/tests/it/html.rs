//! Tests the page in a real browser: charts are drawn, hostile names have no effect, and nothing is fetched.

use std::path::Path;
use std::process::Command;

use assay_analysis::advise;
use assay_analysis::compare::{By, CompareRequest, compare, split};
use assay_analysis::rank::{RankOptions, rank};
use assay_core::histogram::{Histogram, StoredHistogram};
use assay_report::{compare, html, rank};

/// The DOM after scripts ran; `None` where there is no browser.
fn dom(directory: &Path, page: &str, fragment: &str) -> Option<String> {
    let file = directory.join("page.html");
    std::fs::write(&file, page).expect("a writable directory");
    let browser = ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|b| Command::new(b).arg("--version").output().is_ok_and(|o| o.status.success()));
    let Some(browser) = browser else {
        eprintln!("SKIP: no chromium to open the page in");
        return None;
    };
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=5000", "--dump-dom"])
        .args(["--enable-logging=stderr", "--v=0", "--hide-scrollbars"])
        .arg("--window-size=500,900")
        .arg(format!("--user-data-dir={}", directory.join("profile").display()))
        .arg(format!("file://{}{fragment}", file.display()))
        .output()
        .expect("a browser that starts");
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!log.contains("Content Security Policy"), "the page breaks its own policy: {log}");
    assert!(!log.contains("Uncaught"), "{log}");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Attribute of the root element.
fn root_says(dom: &str, attribute: &str) -> bool {
    dom.split_once("<html").and_then(|(_, rest)| rest.split_once('>')).is_some_and(|(tag, _)| tag.contains(attribute))
}

fn nonce(page: &str) -> &str {
    page.split_once("script-src 'nonce-").and_then(|(_, rest)| rest.split_once('\'')).expect("a policy").0
}

#[test]
fn every_chart_is_drawn() {
    let directory = tempfile::tempdir().unwrap();
    let record = crate::common::good_card();
    let Some(dom) = dom(directory.path(), &html(std::slice::from_ref(&record)), "") else { return };
    assert!(root_says(&dom, "data-ready=\"1\""), "scripts did not finish");
    assert!(!root_says(&dom, "data-error") && !dom.contains("class=\"script-error\""));
    // Rate, latency, distribution, sensors for each workload, and the sensors of the whole run.
    assert_eq!(dom.matches("<canvas").count(), record.measurements.len() * 4 + 1);
    assert_eq!(dom.matches("class=\"bar ").count(), record.measurements.len());
}

/// The line of the bus stands at what payload reaches of it, in megabytes of 10^6 bytes.
#[test]
fn the_line_of_the_bus_is_where_the_bus_is() {
    let record = crate::common::good_card();
    let reachable = record.medium.bus.as_ref().and_then(|bus| bus.reachable_bytes_per_second);
    assert_eq!(reachable, Some(23.3e6));
    let page = html(std::slice::from_ref(&record));
    let drawn = page.split_once("\"reachable\":").and_then(|(_, rest)| rest.split_once(',')).unwrap().0;
    assert_eq!(drawn.parse::<f64>().unwrap(), 23.3);
}

#[test]
fn every_kind_of_record_and_their_comparison_opens_without_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let records: Vec<_> = crate::common::all().into_iter().map(|(_, r)| r).collect();
    let Some(dom) = dom(directory.path(), &html(&records), "#dark") else { return };
    assert!(root_says(&dom, "data-ready=\"1\"") && root_says(&dom, "data-theme=\"dark\""));
    assert!(!root_says(&dom, "data-error"), "{dom}");
}

/// Pages of every kind, with what each is called.
fn pages() -> Vec<(&'static str, String)> {
    let all = assay_analysis::published("").unwrap();
    let report = rank(&all.iter().collect::<Vec<_>>(), &RankOptions::default()).unwrap();
    let cards = |query| assay_analysis::published(query).unwrap();
    let two = [cards("sandisk-ultra-a1"), cards("samsung-evo-plus-64gb")];
    let compared = compare(&split(&two, By::Model), &CompareRequest::default()).unwrap();
    let classes = assay_report::advise::class(&advise::class(&two[0], &[]).unwrap());
    let records: Vec<_> = crate::common::all().into_iter().map(|(_, r)| r).collect();
    vec![
        ("record", html(&[crate::common::good_card()])),
        ("hostile record", html(&[crate::common::hostile(), crate::common::endless()])),
        ("records", html(&records)),
        ("published", html(&assay_analysis::published_records("").unwrap())),
        ("ranking", rank::document(&report).html()),
        ("comparison", compare::document(&compared, None).html()),
        ("advice", classes.document.html()),
        (
            "list",
            assay_report::list_document(
                &records.iter().map(Into::into).collect::<Vec<_>>(),
                &assay_report::Lives::new(),
            )
            .html(),
        ),
    ]
}

/// The same page with a script that writes its measurements to the root element.
fn measured(page: &str, script: &str) -> String {
    let policy = page.split_once("content=\"").and_then(|(_, rest)| rest.split_once('"')).unwrap().0;
    let open = policy.replace("script-src", "unused-src").replace("default-src 'none'", "script-src 'unsafe-inline'");
    let say = "const say = (k, v) => { document.documentElement.dataset[k] = v; };";
    page.replacen(policy, &open, 1).replace("</body>", &format!("<script>{say}{script}</script></body>"))
}

#[test]
fn no_page_is_wider_than_a_phone() {
    let directory = tempfile::tempdir().unwrap();
    // A window without a screen is not made narrower than 500 pixels; the page is. Charts follow with the next frame, which is
    // late on a busy machine.
    let script = "document.documentElement.style.width = '390px'; dispatchEvent(new Event('resize'));
        const look = (left) => { say('wide', document.body.scrollWidth);
            if (document.body.scrollWidth > 390 && left > 0) setTimeout(() => look(left - 1), 100); };
        setTimeout(() => look(40), 100);";
    for (name, page) in pages() {
        // A page that is too wide is so every time; time of the browser may pass before a busy machine has drawn anything.
        let mut seen = String::new();
        for _ in 0..3 {
            let Some(dom) = dom(directory.path(), &measured(&page, script), "") else { return };
            seen = dom;
            if root_says(&seen, "data-wide=\"390\"") {
                break;
            }
        }
        assert!(root_says(&seen, "data-wide=\"390\""), "{name}: {}", &seen[..200]);
    }
}

#[test]
fn every_page_is_one_template_with_the_same_policy_and_style() {
    let pages = pages();
    let style = |page: &str| page.rsplit_once("</style>").unwrap().0.rsplit_once("<style").unwrap().1[50..].to_owned();
    for (name, page) in &pages {
        assert!(page.starts_with("<!DOCTYPE html>") && page.contains("default-src 'none'"), "{name}");
        assert!(!page.contains("unsafe-inline"), "{name}");
        assert_eq!(style(page), style(&pages[0].1), "{name}");
        let with_scripts = page.contains("id=\"data\"");
        assert_eq!(page.contains("<script"), with_scripts, "{name}");
        assert_eq!(page.contains("script-src"), with_scripts, "{name}");
        assert_eq!(page.matches("<h1").count().min(1), 1, "{name}");
    }
    // Replacement characters represent characters hidden in records, never our own line breaks.
    for (name, page) in
        pages.iter().filter(|(name, _)| ["record", "published", "ranking", "comparison", "advice"].contains(name))
    {
        assert!(!page.contains('\u{fffd}'), "{name}");
    }
}

#[test]
fn dark_pages_have_dark_pictures() {
    let directory = tempfile::tempdir().unwrap();
    // The drawing's own background is left out, so that the shadow at an edge shows that the content continues beyond
    // it.
    let script = "const p = document.querySelector('.picture'), style = getComputedStyle(p);\
                  say('paper', style.backgroundColor); say('edge', style.backgroundImage.includes('gradient'));\
                  say('drawn', getComputedStyle(p.querySelector('svg > rect')).fill);\
                  say('page', getComputedStyle(document.body).backgroundColor);";
    for (name, page) in pages().into_iter().filter(|(_, page)| page.contains("class=\"picture")) {
        let page = measured(&page, script).replace("<html", "<html data-theme=\"dark\"");
        let Some(dom) = dom(directory.path(), &page, "") else { return };
        assert!(root_says(&dom, "data-paper=\"rgb(22, 26, 30)\""), "{name}: {}", &dom[..200]);
        assert!(root_says(&dom, "data-page=\"rgb(16, 19, 22)\""), "{name}");
        assert!(root_says(&dom, "data-drawn=\"none\"") && root_says(&dom, "data-edge=\"true\""), "{name}");
    }
}

#[test]
fn names_from_a_device_do_not_run_and_do_not_leave_their_place() {
    let directory = tempfile::tempdir().unwrap();
    let page = html(&[crate::common::hostile()]);
    assert_eq!(page.matches("<script").count(), 3, "data, uPlot, ours");
    assert!(!page.contains('\u{1b}') && !page.contains('\u{202e}'));
    let Some(dom) = dom(directory.path(), &page, "") else { return };
    assert!(root_says(&dom, "data-ready=\"1\"") && !root_says(&dom, "data-error"));
    assert!(dom.contains("assay report</title>") && !dom.contains("<title>owned"));
    assert!(!dom.contains("<img"), "markup of a name became an element");
}

#[test]
fn the_page_refers_to_nothing_outside_of_itself() {
    let page = html(&[crate::common::good_card(), crate::common::hostile()]);
    let data_at = page.find("<script type=\"application/json\"").unwrap();
    let markup = &page[..data_at];
    for reference in ["src=", "href=\"h", "url(h", "url(\"", "@import", "<link", "<iframe", "<object", "<base"] {
        assert!(!markup.replace("src=x onerror", "").contains(reference), "{reference}");
    }
    // The only addresses left are plain text: the comment at the head of uPlot.
    for (at, _) in page.match_indices("://") {
        let at = page[..at].rfind(|c: char| !c.is_ascii_alphabetic()).map_or(0, |b| b + 1);
        assert!(page[at..].starts_with("https://github.com/leeoniya/uPlot"), "{}", &page[at..at + 60]);
    }
    for call in ["fetch(", "XMLHttpRequest", "WebSocket", "sendBeacon", "importScripts", "eval(", "innerHTML"] {
        let ours = include_str!("../../assets/report.js");
        assert!(!ours.contains(call), "{call}");
    }
    assert!(page.contains("default-src 'none'") && !page.contains("unsafe-inline"));
}

#[test]
fn the_policy_stops_scripts_that_do_not_carry_its_nonce() {
    let directory = tempfile::tempdir().unwrap();
    let page = html(&[crate::common::good_card()])
        .replace("</main>", "<script>document.documentElement.dataset.intruder='1'</script></main>");
    let file = directory.path().join("page.html");
    std::fs::write(&file, &page).unwrap();
    // The violation is logged, so this does not go through `dom`.
    let Ok(output) = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=3000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", directory.path().join("profile").display()))
        .arg(format!("file://{}", file.display()))
        .output()
    else {
        eprintln!("SKIP: no chromium to open the page in");
        return;
    };
    let dom = String::from_utf8_lossy(&output.stdout);
    assert!(root_says(&dom, "data-ready=\"1\"") && !root_says(&dom, "data-intruder"));
}

#[test]
fn keys_move_the_cursor_and_zoom_and_buttons_switch_views() {
    let directory = tempfile::tempdir().unwrap();
    let page = html(&[crate::common::good_card()]);
    let script = r#"
      const say = (k, v) => { document.documentElement.dataset[k] = v; };
      const plot = document.querySelector('[data-chart="rate"] .plot');
      const press = (key) => plot.dispatchEvent(new KeyboardEvent('keydown', { key: key, bubbles: true, cancelable: true }));
      press('ArrowRight'); press('ArrowRight');
      const read = () => Array.from(plot.querySelectorAll('.u-value')).map((v) => v.textContent).join('|');
      setTimeout(function () {
        say('moved', read());
        press('+');
        press('Escape');
        const button = document.querySelector('[data-chart="distribution"] [data-mode="cumulative"]');
        button.click();
        say('mode', document.querySelector('[data-chart="distribution"] [data-mode="cumulative"]').getAttribute('aria-pressed'));
        const toggle = document.getElementById('theme');
        toggle.click(); toggle.click();
        say('toggled', document.documentElement.dataset.theme);
        window.dispatchEvent(new Event('beforeprint'));
        say('printed', document.documentElement.dataset.theme + document.querySelectorAll('details[open]').length);
        window.dispatchEvent(new Event('afterprint'));
        say('after', document.documentElement.dataset.theme + document.querySelectorAll('details[open]').length);
      }, 200);
    "#;
    let driven = page.replace("</body>", &format!("<script nonce=\"{}\">{script}</script></body>", nonce(&page)));
    let Some(dom) = dom(directory.path(), &driven, "") else { return };
    assert!(!root_says(&dom, "data-error"));
    let tag = dom.split_once("<html").unwrap().1.split_once('>').unwrap().0;
    assert!(tag.contains("data-moved=\"repeat 1, 1.5 s") && tag.contains("MB/s|"), "{tag}");
    for said in ["data-mode=\"true\"", "data-toggled=\"dark\"", "data-printed=\"light1\"", "data-after=\"dark0\""] {
        assert!(tag.contains(said), "{said} not in {tag}");
    }
}

#[test]
fn a_page_stays_small_even_with_the_widest_latencies() {
    let mut record = crate::common::good_card();
    let mut dice = crate::common::Dice::new(3);
    for repeat in record.measurements.iter_mut().flat_map(|m| &mut m.repeats) {
        let mut histogram = Histogram::default();
        (0..50_000).for_each(|_| histogram.add(10f64.powf(3.0 + 7.0 * dice.throw()) as u64));
        repeat.histogram = StoredHistogram::from(&histogram).into();
    }
    let page = html(std::slice::from_ref(&record));
    assert!(page.len() < 400_000, "{} bytes", page.len());
}

#[test]
fn equal_records_make_equal_pages_and_titles_state_the_finding() {
    let record = crate::common::good_card();
    let page = html(std::slice::from_ref(&record));
    assert_eq!(page, html(std::slice::from_ref(&record)));
    assert!(page.contains("<h3>Random read 4\u{a0}KiB, QD32: 1\u{a0}697 ±9\u{a0}IOPS, 6.95\u{a0}MB/s</h3>"));
    assert!(html(&[]).contains("No records."));
}

#[test]
fn records_of_a_page_can_be_sorted_and_filtered() {
    let directory = tempfile::tempdir().unwrap();
    let records: Vec<_> = crate::common::all().into_iter().map(|(_, record)| record).collect();
    let page = html(&records);
    assert!(page.contains("<p class=\"tools\" hidden>"), "without scripts there is nothing that does not work");
    let script = "const tools = document.querySelector('.tools'), select = tools.querySelector('select');
        const rows = () => Array.from(document.querySelectorAll('table.summary tbody')[0].rows);
        const order = () => rows().map((row) => row.querySelector('a').hash.slice(2)).join(',');
        const sections = () => Array.from(document.querySelectorAll('main > details.one'));
        const below = () => sections().map((one) => one.querySelector('article').id.slice(1)).join(',');
        const set = (what, value) => { what.value = value; what.dispatchEvent(new Event(what === select ? 'change' : 'input')); };
        say('hidden', tools.hidden);
        set(select, '2'); say('sorted', order()); say('below', below());
        say('figures', rows().map((row) => row.cells[2].textContent).join('|'));
        set(select, ''); say('again', order());
        const search = tools.querySelector('input');
        set(search, 'interrupted'); say('left', rows().filter((row) => !row.hidden).length);
        say('open', sections().filter((one) => !one.hidden).length); say('count', tools.querySelector('output').textContent);
        set(search, ''); say('all', rows().filter((row) => !row.hidden).length);";
    let Some(dom) = dom(directory.path(), &measured(&page, script), "") else { return };
    let said = |name: &str| {
        let (_, rest) =
            dom.split_once(&format!("data-{name}=\"")).unwrap_or_else(|| panic!("no {name} in {}", &dom[..400]));
        rest.split_once('"').unwrap().0.to_owned()
    };
    let given: Vec<String> = (0..records.len()).map(|at| at.to_string()).collect();
    assert_eq!(said("hidden"), "false");
    assert_eq!(said("again"), given.join(","));
    assert_ne!(said("sorted"), given.join(","));
    assert_eq!(said("sorted"), said("below"), "rows and records stand in one order");
    let figure = |text: &str| {
        let digits: String =
            text.split('±').next().unwrap().chars().filter(|c| c.is_ascii_digit() || *c == '.').collect();
        digits.parse::<f64>().ok()
    };
    let figures: Vec<Option<f64>> = said("figures").split('|').map(figure).collect();
    let known: Vec<f64> = figures.iter().copied().flatten().collect();
    assert!(known.len() > 2 && known.is_sorted_by(|a, b| a >= b), "{figures:?}");
    assert!(figures.iter().skip(known.len()).all(Option::is_none), "what has no figure comes last: {figures:?}");
    assert_eq!((said("left"), said("open")), ("1".to_owned(), "1".to_owned()));
    assert_eq!((said("count"), said("all")), (format!("1 of {}", records.len()), records.len().to_string()));
}
