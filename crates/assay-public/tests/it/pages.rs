//! Every page in Chromium: with and without scripts, wide and narrow, light and dark, by keyboard alone, and what it weighs. The
//! checks are those of the pages of `assay serve`.

use assay_lab::browser::{Browser, Look, beyond, lacks, too_heavy};

use crate::samples::{Of, id_of, redacted, whole};
use crate::server::{Server, account, good, sqlite};

const MODELS: [&str; 4] =
    ["Card A", "Card B", "Ultra & <b>Pro 2\"", "a-name-without-a-place-where-it-may-be-broken-64GB"];
const BOARDS: [&str; 2] = ["Raspberry Pi 5 Model B Rev 1.0", "Radxa ROCK 5B"];

/// A server with models on two boards, with prices. One model is confirmed; one record is held, and one was withdrawn.
fn stocked(directory: &std::path::Path) -> (Server, String) {
    let database = sqlite(directory);
    let tokens = ["alice", "bob", "carol"].map(|name| (name, account(&database, name)));
    let data = directory.join("data");
    let server = Server::start(&database, &["--data", data.to_str().unwrap()]);
    for (at, model) in MODELS.iter().enumerate() {
        for n in 0..9 {
            let seed = (10 * at + n + 1) as u64;
            let (name, token) = &tokens[if at == 0 { n % 3 } else { 0 }];
            let unit = format!("{name} {at} {}", n / 3);
            let speed = (1.0 - 0.1 * at as f64) * (1.0 - 0.004 * n as f64);
            let mut record = whole(Of { seed, model, unit: &unit, speed, ..Of::default() });
            record.host.board = Some(BOARDS[n % 2].to_owned());
            if n == 8 {
                record.change_settings(|settings| settings.elapsed_ns = 1);
            }
            let reply = server.put(token, &id_of(seed), redacted(&record, name).as_bytes());
            assert_eq!(reply.status, 201, "{}", reply.text());
        }
    }
    server.shows(8 * MODELS.len());
    good(&["remove", "--database", &database, &id_of(8), "not the model it says"]);
    server.shows(8 * MODELS.len() - 1);
    let unit = server.get("/api/v1/models/SanDisk%20Card%20A%2C%2064.0%20GB").json()["of"][0]["unit"]
        .as_str()
        .unwrap()
        .to_owned();
    (server, unit)
}

/// Every kind of page, with long names, without a find, and refused.
fn addresses(unit: &str) -> Vec<String> {
    let mut all: Vec<String> = [
        "",
        "?q=card",
        "?q=nothing",
        "models/SanDisk%20Card%20A%2C%2064.0%20GB",
        "models/SanDisk%20Ultra%20%26%20%3Cb%3EPro%202%22%2C%2064.0%20GB",
        "models/SanDisk%20a-name-without-a-place-where-it-may-be-broken-64GB%2C%2064.0%20GB",
        "rank",
        "rank?class=sd&load=sequential%20read%201%20MiB%20QD8&host=Radxa%20ROCK%205B",
        "compare",
        "compare?model=SanDisk%20Card%20A%2C%2064.0%20GB&model=SanDisk%20Card%20B%2C%2064.0%20GB",
        "compare?model=nothing&model=SanDisk%20Card%20A%2C%2064.0%20GB",
        "compare?model=SanDisk%20Card%20A%2C%2064.0%20GB&model=SanDisk%20Card%20B%2C%2064.0%20GB&load=nonsense",
        "hosts",
        "hosts/Radxa%20ROCK%205B",
        "records/0000000001",
        "records/0000000008",
        "records/0000000009",
        "log",
        "log?after=1",
        "log?after=x",
        "data/",
        "about",
        "nothing",
    ]
    .map(str::to_owned)
    .to_vec();
    all.push(format!("units/{unit}"));
    all
}

/// What a page says, but for its charts.
const SHOWN: &str = "[...document.querySelectorAll('main :is(h1, h2, h3, table:not(.u-legend), dl, li, p:not(noscript p))')]\
                     .map(e => e.innerText).join('\\n')";

#[test]
fn pages_are_for_everybody() {
    let directory = tempfile::tempdir().unwrap();
    let Some(mut browser) = Browser::start(directory.path(), "public pages for everybody") else { return };
    let (server, unit) = stocked(directory.path());
    let mut found = Vec::new();
    for page in addresses(&unit) {
        let address = format!("http://{}/{page}", server.address);
        for look in Look::ALL {
            let mut lacks = lacks(&mut browser, &address, look);
            let beyond = beyond(&mut browser);
            lacks.extend((beyond != 0).then(|| format!("{beyond} pixels of width")));
            found.extend(lacks.into_iter().map(|lack| format!("/{page} {look} lacks {lack}")));
        }
        found.extend(too_heavy(&mut browser).map(|weight| format!("/{page} has {weight} bytes compressed")));
        let with = browser.text(SHOWN);
        browser.scripts(false);
        browser.open(&address);
        found.extend(
            (with.is_empty() || with != browser.text(SHOWN))
                .then(|| format!("/{page} says something else without scripts")),
        );
        browser.scripts(true);
        browser.complaints();
    }
    assert!(found.is_empty(), "{} findings:\n{}", found.len(), found.join("\n"));
}

#[test]
fn pages_of_a_server_without_records_say_so() {
    let directory = tempfile::tempdir().unwrap();
    let Some(mut browser) = Browser::start(directory.path(), "public pages without records") else { return };
    let server = Server::start(&sqlite(directory.path()), &[]);
    let mut found = Vec::new();
    for page in ["", "rank", "compare", "hosts", "log", "data/", "about"] {
        for look in Look::ALL {
            let lacks = lacks(&mut browser, &format!("http://{}/{page}", server.address), look);
            found.extend(lacks.into_iter().map(|lack| format!("/{page} {look} lacks {lack}")));
        }
        assert!(browser.text("document.querySelector('main').innerText").len() > 40, "/{page}");
    }
    assert!(found.is_empty(), "{} findings:\n{}", found.len(), found.join("\n"));
}

/// From the list to a comparison and on to a record, by the keyboard alone.
#[test]
fn a_reader_needs_no_pointer() {
    let directory = tempfile::tempdir().unwrap();
    let Some(mut browser) = Browser::start(directory.path(), "public pages by keyboard") else { return };
    let (server, _) = stocked(directory.path());
    browser.open(&format!("http://{}/", server.address));
    browser.press("Tab", 9);
    assert_eq!(browser.text("document.activeElement.textContent"), "Skip to the content");
    for model in &MODELS[..2] {
        tab_to(&mut browser, &format!("document.activeElement.value === 'SanDisk {model}, 64.0 GB'"));
        browser.press(" ", 32);
    }
    tab_to(&mut browser, "document.activeElement.textContent === 'Compare what is ticked'");
    browser.enter();
    let heading = browser.text("document.querySelector('h1').textContent");
    assert!(browser.text("location.search").matches("model=").count() == 2, "{heading}");
    tab_to(&mut browser, "document.activeElement.pathname === '/models/SanDisk%20Card%20B%2C%2064.0%20GB'");
    browser.enter();
    assert_eq!(browser.text("document.querySelector('h1').textContent"), "SanDisk Card B, 64.0 GB");
    tab_to(&mut browser, "document.activeElement.pathname?.startsWith('/records/')");
    browser.enter();
    assert!(browser.text("location.pathname").starts_with("/records/00000000"));
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

fn tab_to(browser: &mut Browser, here: &str) {
    for _ in 0..80 {
        browser.press("Tab", 9);
        if browser.value(here) == true {
            return;
        }
    }
    panic!("no key leads to {here}: {}", browser.text("document.body.innerText"));
}
