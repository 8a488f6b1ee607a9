//! Accessibility of the pages of `assay serve` in Chromium, wide and narrow, light and dark.

use assay_core::record::Record;
use assay_lab::browser::{Browser, Look, lacks, too_heavy};

use crate::common::{Place, run};
use crate::serve::Served;

/// Records of two models, some of which are a run on nodes.
fn stocked() -> Place {
    let mut records = Vec::new();
    for query in ["sandisk-ultra-a1", "samsung-evo-plus-64gb"] {
        for (at, record) in assay_analysis::published_records(query).unwrap().into_iter().enumerate() {
            let id = format!("{}{at}", &query[..3]);
            let mut record = Record { id, created: format!("2026-11-2{at}T06:31:00Z"), ..record };
            let labels = [
                ("fleet", "night".to_owned()),
                ("node", format!("n{}{at}", &query[..3])),
                ("price", "9USD".to_owned()),
            ];
            record.labels.extend(labels.map(|(key, value)| (key.to_owned(), value)));
            records.push(record);
        }
    }
    Place::with_records(&records)
}

#[test]
fn pages_are_for_everybody() {
    let place = stocked();
    let Some(mut browser) = Browser::start(place.path(), "pages for everybody") else { return };
    let served = Served::begin(&place, &[]);
    run(place.assay(["plan", "new", "--units", "A=1,2;B=1,2", "--slots", "3", "-o", "plan.toml"])).succeeds();
    run(place.assay(["baseline", "set", "main", "san0"])).succeeds();
    let target = place.medium().display().to_string();
    run(place.assay(["watch", "add", &target, "--named", "card", "--suite", "tiny.toml", "--no-timer"])).succeeds();
    let plan = std::fs::read_dir(place.data().join("plans")).unwrap().next().unwrap().unwrap();
    let plan = plan.path().file_stem().unwrap().to_string_lossy().into_owned();
    browser.open(&served.address);
    let base = served.address.split('?').next().unwrap().to_owned();
    let pages = [
        "",
        "measure",
        "records",
        "records/san0",
        "rank?of=all",
        "compare?of=san0&of=sam0",
        "compare?of=all&by=model",
        "advise",
        "advise/nas?of=all&nodes=28&link=1Gbit",
        "advise/buy?of=all&nodes=28",
        "advise/class?of=all",
        "advise/cache",
        "plan",
        "plan/race?of=all",
        "plan/swap",
        "plan/new?units=A%3D1%2C2%3BB%3D1%2C2&slots=3",
        "fleet",
        "fleet/night",
        "watch",
        "watch/card",
        "baselines",
        "baselines/gate?of=baseline%3Amain%0Alast&limit=slower+than+5%25",
        "rank?of=model%3Dnothing",
        "nothing",
    ];
    let mut pages: Vec<String> = pages.iter().map(|page| (*page).to_owned()).collect();
    pages.push(format!("plan/of/{plan}"));
    pages.push(format!("measure/plan?target={target}&what=measure&suite=smoke"));
    browser.open(&format!("{base}{}", pages.last().unwrap()));
    browser.follow("document.querySelector('form.question button').click()");
    let title = "document.querySelector('h1')?.textContent ?? 'is running'";
    while browser.text(title).contains("is running") {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    pages.push("runs/1".to_owned());
    let mut found = Vec::new();
    browser.complaints();
    for page in &pages {
        for look in Look::ALL {
            let lacks = lacks(&mut browser, &format!("{base}{page}"), look);
            found.extend(lacks.into_iter().map(|lack| format!("/{page} {look} lacks {lack}")));
        }
        found.extend(too_heavy(&mut browser).map(|weight| format!("/{page} has {weight} bytes compressed")));
    }
    assert!(found.is_empty(), "{} findings:\n{}", found.len(), found.join("\n"));
}
