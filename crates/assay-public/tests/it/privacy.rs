//! No answer, file, page or log identifies a person or a unit. Seeds are planted in records; then every page that a
//! link leads to, every answer of the API, the open data unpacked, the databases, a backup, a copy and the log are searched.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use assay_core::record::Record;

use crate::peers::Postgres;
use crate::samples::{Of, document, id_of, redacted, whole};
use crate::server::{Server, account, good, put, sqlite};

/// What the records of the store hold.
const SEEDS: [&str; 13] = [
    "quokka17",
    "example.org",
    "zacharias",
    "Holiday Pictures",
    "SN-77120934",
    "035344534e36344780a1b2c3d4016a00",
    "b8:27:eb:12:34:56",
    "b827eb123456",
    "B8-27-EB-12-34-57",
    "10000000c0ffee42",
    "wombat.local",
    "192.168.77.23",
    "fd12:3456:789a::77",
];

/// A record with all seeds, in fields that are there for them and in texts of other fields.
fn seeded(of: Of<'_>) -> Record {
    let mut record = whole(of);
    for (key, value) in [
        ("mac", "b8:27:eb:12:34:56"),
        ("note", "nic b827eb123456 and B8-27-EB-12-34-57 at 192.168.77.23, fd12:3456:789a::77"),
        ("node", "wombat.local"),
        ("owner", "zacharias"),
        ("board-serial", "10000000c0ffee42"),
    ] {
        record.labels.insert(key.to_owned(), value.to_owned());
    }
    record
}

fn search(place: &str, bytes: &[u8], more: &[String], found: &mut Vec<String>) {
    let lower = bytes.to_ascii_lowercase();
    for seed in SEEDS.iter().copied().chain(more.iter().map(String::as_str)) {
        let seed_lower = seed.to_ascii_lowercase();
        if lower.windows(seed_lower.len()).any(|window| window == seed_lower.as_bytes()) {
            found.push(format!("{place} has {seed}"));
        }
    }
}

/// All files below a directory; what is packed is unpacked, too.
fn search_files(directory: &Path, more: &[String], found: &mut Vec<String>) -> usize {
    let mut count = 0;
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            count += search_files(&path, more, found);
            continue;
        }
        count += 1;
        let bytes = fs::read(&path).unwrap();
        search(&path.display().to_string(), &bytes, more, found);
        if path.extension().is_some_and(|extension| extension == "zst") {
            let mut text = Vec::new();
            ruzstd::decoding::StreamingDecoder::new(&*bytes).unwrap().read_to_end(&mut text).unwrap();
            assert!(text.starts_with(b"{"), "{}", path.display());
            search(&path.display().to_string(), &text, more, found);
        }
    }
    count
}

/// Addresses of this server in a page.
fn links(page: &str) -> impl Iterator<Item = String> + '_ {
    let values = ["href=\"", "src=\"", "action=\""].into_iter().flat_map(|name| page.split(name).skip(1));
    let values = values.filter_map(|rest| rest.split('"').next());
    values.filter(|value| value.starts_with('/')).map(|value| value.replace("&amp;", "&"))
}

/// Follows all links, and asks the API for everything; the number of answers that were searched.
fn search_answers(server: &Server, more: &[String], found: &mut Vec<String>) -> BTreeSet<String> {
    let model = server.get("/api/v1/models").json()["models"][0]["model"].as_str().unwrap().replace(' ', "%20");
    let unit = server.get(&format!("/api/v1/models/{model}")).json()["of"][0]["unit"].as_str().unwrap().to_owned();
    let fixed = "/ /?q=card /rank /compare /health /ready /metrics /nothing /pictures/ranking.svg?class=sd /records/0000000007 \
                 /records/0000000010 /api/v1/snapshot /api/v1/models /api/v1/log /api/v1/rank?class=sd /api/v1/search?q=card \
                 /api/v1/hosts /api/v1/openapi.json /api/v1/records/0000000001 /api/v1/records/0000000007 \
                 /api/v1/records/0000000010 /api/v1/records/0000000010/document /api/v1/account";
    let mut next: Vec<String> = fixed.split(' ').map(str::to_owned).collect();
    next.push(format!("/api/v1/models/{model}"));
    next.push(format!("/api/v1/units/{unit}"));
    next.push(format!("/api/v1/observations?model={model}"));
    let mut seen = BTreeSet::new();
    while let Some(path) = next.pop() {
        if !seen.insert(path.clone()) {
            continue;
        }
        let reply = server.get(&path);
        search(&path, format!("{}{}", reply.head, reply.text()).as_bytes(), more, found);
        if reply.header("content-type").is_some_and(|kind| kind.starts_with("text/html")) {
            next.extend(links(&reply.text()));
        }
    }
    seen
}

fn suite(database: &str, directory: &Path) {
    let (data, log) = (directory.join("data"), directory.join("log"));
    let token = account(database, "alice");
    let wide = ["--submissions-per-hour", "100000000", "--requests-per-second", "1000000"];
    let more = [&wide[..], &["--data", data.to_str().unwrap()]].concat();
    let start =
        || Server::logged(database, &more, File::options().create(true).append(true).open(&log).unwrap().into());
    let server = start();
    let mut found = Vec::new();
    for seed in 1..=6 {
        let sent = redacted(&seeded(Of { seed, ..Of::default() }), "alice");
        assert_eq!(server.put(&token, &id_of(seed), sent.as_bytes()).status, 201, "{sent}");
    }
    // Whole records are refused; so is a redacted one in which a seed hides behind a second field of its name.
    let hidden = document(Of { seed: 9, ..Of::default() }, "alice");
    let hidden = hidden.replacen("\"hostname\":", "\"hostname\":\"quokka17\",\"hostname\":", 1);
    let whole_text = |seed| seeded(Of { seed, ..Of::default() }).to_json().unwrap();
    for (seed, text) in [(7, whole_text(7)), (8, whole_text(8)), (9, hidden)] {
        let reply = server.put(&token, &id_of(seed), text.as_bytes());
        assert_eq!(reply.status, 422, "{}", reply.text());
        search("a refusal", reply.text().as_bytes(), &[], &mut found);
    }
    let mut held = seeded(Of { seed: 10, ..Of::default() });
    held.change_settings(|settings| settings.elapsed_ns = 1);
    let receipt = server.put(&token, &id_of(10), redacted(&held, "alice").as_bytes()).json();
    let secrets = [token.clone(), receipt["withdrawal_key"].as_str().unwrap().to_owned()];
    assert_eq!(server.judged(&id_of(10))["state"], "held");
    server.shows(6);
    assert!(server.stop());
    // The files of the open data are made at the start.
    let server = start();
    while server.get("/data/manifest.json").status != 200
        || server.get("/data/manifest.json").json()["snapshot"]["records"] != 6
    {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let seen = search_answers(&server, &secrets, &mut found);
    for kind in ["/models/", "/units/", "/records/", "/hosts/", "/data/", "/badges/", "/assets/", "/api/v1/records/"] {
        assert!(seen.iter().any(|path| path.len() > kind.len() && path.starts_with(kind)), "no {kind} in {seen:?}");
    }
    // What an operator gets is searched, too.
    good(&["check", "--database", database]);
    let copied = directory.join("copied.sqlite");
    let told = good(&["copy", "--from", database, "--to", copied.to_str().unwrap()]);
    search("what a copy tells", told.as_bytes(), &secrets, &mut found);
    let backup = directory.join("backup.sqlite");
    good(&["backup", "--database", copied.to_str().unwrap(), backup.to_str().unwrap()]);
    // The log of a lost connection does not name the client.
    assert!(put(server.address, "0", &id_of(11), b"{").is_some());
    assert!(server.stop());
    let count = search_files(directory, &secrets, &mut found);
    assert!(count >= 7 && log.exists(), "{count} files");
    assert!(found.is_empty(), "{} of the seeds were found:\n{}", found.len(), found.join("\n"));
}

#[test]
fn no_answer_holds_what_identifies() {
    let directory = tempfile::tempdir().unwrap();
    suite(&sqlite(directory.path()), directory.path());
}

#[test]
fn nor_does_one_from_postgres() {
    let Some(server) = Postgres::start() else { return };
    let directory = tempfile::tempdir().unwrap();
    suite(&server.database("privacy"), directory.path());
}

/// A search that finds nothing has to be able to find.
#[test]
fn the_search_finds_what_is_there() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("a"), "the host QUOKKA17 and b8:27:EB:12:34:56").unwrap();
    let mut found = Vec::new();
    assert_eq!(search_files(directory.path(), &[], &mut found), 1);
    assert_eq!(found.len(), 2, "{found:?}");
    let document = seeded(Of::default()).to_json().unwrap();
    search("a whole record", document.as_bytes(), &[], &mut found);
    assert_eq!(found.len(), 2 + SEEDS.len(), "every seed is planted: {found:?}");
}
