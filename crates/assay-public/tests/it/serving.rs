//! The server as those who use it and who operate it meet it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

use crate::samples::{Of, document, id_of};
use crate::server::{Server, account, ask, command, good, sqlite};

fn submit(server: &Server, token: &str, account: &str, seed: u64) -> Value {
    let speed = 1.0 - 0.004 * (seed % 10) as f64;
    let of = Of { seed, unit: &format!("{account} {}", seed / 3 % 3), speed, ..Of::default() };
    let reply = server.put(token, &id_of(seed), document(of, account).as_bytes());
    assert_eq!(reply.status, 201, "{}", reply.text());
    reply.json()
}

#[test]
fn a_submission_goes_its_way() {
    let directory = tempfile::tempdir().unwrap();
    let database = sqlite(directory.path());
    let tokens = ["alice", "bob", "carol"].map(|name| (name, account(&database, name)));
    let server = Server::start(&database, &["--address", "https://results.example.org/"]);
    let receipt = submit(&server, &tokens[0].1, "alice", 1);
    assert_eq!(receipt["address"], "https://results.example.org/records/0000000001");
    assert_eq!(server.judged(&id_of(1))["state"], "public");
    // Again: the same, without the key.
    let text = document(Of { seed: 1, unit: "alice 0", speed: 0.996, ..Of::default() }, "alice");
    let again = server.put(&tokens[0].1, &id_of(1), text.as_bytes());
    assert_eq!((again.status, again.json().get("withdrawal_key")), (200, None));
    let taken = server.put(&tokens[1].1, &id_of(1), text.as_bytes());
    assert_eq!((taken.status, &taken.json()["address"]), (409, &receipt["address"]));
    assert_eq!(server.put(&"0".repeat(64), &id_of(1), text.as_bytes()).status, 401);
    // The same measurement of another account.
    let copied = text.replace(&id_of(1), &id_of(99));
    server.put(&tokens[1].1, &id_of(99), copied.as_bytes());
    assert_eq!(server.judged(&id_of(99))["reasons"][0]["code"], "copy");
    for seed in 2..=9 {
        let (name, token) = &tokens[seed as usize % 3];
        submit(&server, token, name, seed);
    }
    server.shows(9);
    let models = server.get("/api/v1/models").json();
    assert_eq!(
        (&models["models"][0]["confirmed"], &models["models"][0]["units"]),
        (&Value::Bool(true), &Value::from(8)),
        "{models}"
    );
    assert_eq!(models["models"][0]["class"], "sd");
    ranking(&server);
    // Taken back: by the key, and then it is gone.
    let key = receipt["withdrawal_key"].as_str().unwrap();
    let path = "/api/v1/records/0000000001";
    let delete = |headers: &[(&str, &str)]| ask(server.address, "DELETE", path, headers, b"").unwrap();
    assert_eq!(delete(&[]).status, 401);
    assert_eq!(delete(&[("Withdrawal-Key", &"0".repeat(64))]).status, 403);
    assert_eq!(delete(&[("Authorization", &format!("Bearer {}", tokens[1].1))]).status, 403);
    assert_eq!(delete(&[("Withdrawal-Key", key)]).json()["state"], "withdrawn");
    assert_eq!(delete(&[("Authorization", &format!("Bearer {}", tokens[0].1))]).json()["state"], "withdrawn");
    server.shows(8);
    assert_eq!(server.get(&format!("{path}/document")).status, 410);
    assert_eq!(server.get("/records/0000000001").status, 410);
    let log = server.get("/api/v1/log").json();
    let changes: Vec<String> =
        log["entries"].as_array().unwrap().iter().map(|entry| format!("{} {}", entry["id"], entry["to"])).collect();
    assert_eq!(changes, [r#""0000000099" "held""#, r#""0000000001" "withdrawn""#]);
    assert!(server.stop());
}

/// The page and the API say what `assay rank` says of the same observations.
fn ranking(server: &Server) {
    let path = "/api/v1/rank?class=sd&load=random%20read%204%20KiB";
    let (reply, ranked) = loop {
        // It may rest on the snapshot before for some seconds.
        let reply = server.get(path);
        let ranked = reply.json();
        if ranked["snapshot"]["records"] == 9 {
            break (reply, ranked);
        }
        std::thread::sleep(Duration::from_millis(100));
    };
    assert_eq!(ranked["report"]["primary"]["title"], "random read 4 KiB", "{}", ranked["refused"]);
    assert_eq!(ranked["report"]["primary"]["basis"]["units"], 8);
    let tag = reply.header("etag").unwrap().to_owned();
    let unchanged = ask(server.address, "GET", path, &[("If-None-Match", &tag)], b"").unwrap();
    assert_eq!((unchanged.status, unchanged.body.len()), (304, 0));
    // What another version of the program worded is asked for again.
    let other = tag.replace(concat!("-", env!("CARGO_PKG_VERSION")), "-0.0.0");
    assert!(other != tag && ask(server.address, "GET", path, &[("If-None-Match", &other)], b"").unwrap().status == 200);
    assert_eq!(server.get("/api/v1/rank?class=sd&load=nonsense").status, 404);
    let page = server.get("/rank?class=sd&load=random%20read%204%20KiB").text();
    let number = ranked["snapshot"]["number"].as_i64().unwrap();
    assert!(page.contains(&format!("Snapshot {number} ")) && page.contains("Card A"));
}

#[test]
fn operators_hold_release_remove_check_copy_and_back_up() {
    let directory = tempfile::tempdir().unwrap();
    let database = sqlite(directory.path());
    let token = account(&database, "alice");
    let server = Server::start(&database, &[]);
    (1..=3).for_each(|seed| drop(submit(&server, &token, "alice", seed)));
    server.shows(3);
    good(&["hold", "--database", &database, &id_of(1), "its owner is asked"]);
    good(&["remove", "--database", &database, &id_of(2), "not the model it says"]);
    server.shows(1);
    let held = server.get("/api/v1/records/0000000001").json();
    assert_eq!(held["reasons"][0]["detail"], "its owner is asked");
    good(&["release", "--database", &database, &id_of(1)]);
    server.shows(2);
    let (copy, backup) = (directory.path().join("copy"), directory.path().join("backup"));
    let (copy, backup) = (copy.to_str().unwrap(), backup.to_str().unwrap());
    good(&["backup", "--database", &database, backup]);
    assert!(!command(&["backup", "--database", &database, backup]).status.success(), "no file is replaced");
    assert!(server.stop());
    let copied = good(&["copy", "--from", &database, "--to", copy]);
    assert!(copied.contains("equal") && !copied.contains("DIFFERENT"), "{copied}");
    // A backup is a database: a server on it goes on.
    for one in [&database, copy, backup] {
        assert!(good(&["check", "--database", one]).contains("checked 3 documents: 0 differ"));
        let restored = Server::start(one, &[]);
        restored.shows(2);
        submit(&restored, &token, "alice", 50);
    }
    good(&["account", "disable", "--database", &database, "alice"]);
    let server = Server::start(&database, &[]);
    assert_eq!(server.put(&token, &id_of(4), b"{}").status, 401);
    assert!(good(&["account", "list", "--database", &database]).contains("disabled"));
}

#[test]
fn who_asks_too_often_waits() {
    let directory = tempfile::tempdir().unwrap();
    let database = sqlite(directory.path());
    let token = account(&database, "alice");
    let slow = ["--submissions-per-hour", "10", "--requests-per-second", "1", "--proxy", "127.0.0.1"];
    let server = Server::start_with(&database, &slow);
    let from =
        |client: &str| ask(server.address, "GET", "/api/v1/snapshot", &[("X-Forwarded-For", client)], b"").unwrap();
    let asked = (0..60).map(|_| from("203.0.113.1").status).collect::<Vec<_>>();
    assert!(asked.starts_with(&[200; 20]) && asked.contains(&429), "{asked:?}");
    assert!(from("203.0.113.1").header("retry-after").is_some() || from("203.0.113.1").status == 200);
    assert_eq!(from("203.0.113.2").status, 200, "another client of the proxy");
    assert_eq!(from("203.0.113.2, 203.0.113.1").status, from("203.0.113.1").status, "the last hop counts");
    let headers = [("Authorization", format!("Bearer {token}")), ("X-Forwarded-For", "203.0.113.9".to_owned())];
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let put = || ask(server.address, "PUT", "/api/v1/records/0000000001", &headers, b"{}").unwrap().status;
    assert_eq!((put(), put()), (422, 429), "one at once");
}

/// Each reference of the description leads somewhere, and each path of the API is in it.
#[test]
fn the_description_is_whole() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::start(&sqlite(directory.path()), &[]);
    let described = server.get("/api/v1/openapi.json").json();
    assert_eq!(described["openapi"], "3.1.0");
    let text = described.to_string();
    let mut seen = 0;
    for part in text.split("\"$ref\":\"").skip(1) {
        let reference = part.split('"').next().unwrap();
        match reference.strip_prefix('#') {
            Some(pointer) => assert!(described.pointer(pointer).is_some(), "{reference}"),
            None => assert!(server.get(reference).json()["$defs"].is_object(), "{reference}"),
        }
        seen += 1;
    }
    assert!(seen > 20, "{seen}");
    what_is_described_is_let_in(&server, &described);
    let routes = include_str!("../../src/server.rs").split(".route(\"").skip(1);
    for route in routes.map(|rest| rest.split('"').next().unwrap()).filter(|route| route.starts_with("/api/v1/")) {
        let own = ["/api/v1/openapi.json", "/api/v1/schemas/{name}"].contains(&route);
        assert!(own || described["paths"][route].is_object(), "{route}");
    }
}

/// What schemathesis found: values that the description allowed, and that were refused as none.
fn what_is_described_is_let_in(server: &Server, described: &Value) {
    let schema = |path: &str, name: &str| {
        let parameters = described["paths"][path]["get"]["parameters"].as_array().unwrap();
        parameters.iter().find(|parameter| parameter["name"] == name).unwrap()["schema"].clone()
    };
    for class in schema("/api/v1/rank", "class")["enum"].as_array().unwrap() {
        let status = server.get(&format!("/api/v1/rank?class={}", class.as_str().unwrap())).status;
        assert!([200, 404].contains(&status), "{class}: {status}");
    }
    assert_eq!(server.get("/api/v1/rank?class=").status, 400);
    let after = schema("/api/v1/log", "after");
    assert_eq!((&after["minimum"], &after["maximum"]), (&0.into(), &u64::MAX.into()));
    for (number, status) in [("0", 200), ("18446744073709551615", 200), ("18446744073709551616", 400), ("-1", 400)] {
        assert_eq!(server.get(&format!("/api/v1/log?after={number}")).status, status, "{number}");
    }
    let models = schema("/api/v1/compare", "model");
    assert_eq!((&models["items"]["minLength"], &models["uniqueItems"]), (&1.into(), &true.into()));
    for refused in ["model=&model=", "model=a&model=a"] {
        assert_eq!(server.get(&format!("/api/v1/compare?{refused}")).status, 400, "{refused}");
    }
    let body =
        &described["paths"]["/api/v1/records/{id}"]["put"]["requestBody"]["content"]["application/json"]["schema"];
    assert_eq!(body["allOf"][1]["properties"]["schema"]["const"], assay_core::record::SCHEMA);
}

/// What is handed out is what is public, as the manifest says.
#[test]
fn open_data_are_whole() {
    let directory = tempfile::tempdir().unwrap();
    let (database, data) = (sqlite(directory.path()), directory.path().join("data"));
    let token = account(&database, "alice");
    let server = Server::start(&database, &[]);
    (1..=3).for_each(|seed| drop(submit(&server, &token, "alice", seed)));
    server.shows(3);
    assert!(server.stop());
    let server = Server::start(&database, &["--data", data.to_str().unwrap()]);
    let manifest = loop {
        let reply = server.get("/data/manifest.json");
        if reply.status == 200 {
            break reply.json();
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    assert_eq!((&manifest["licence"], &manifest["snapshot"]["records"]), (&"CC0-1.0".into(), &3.into()));
    for file in manifest["files"].as_array().unwrap() {
        let name = file["name"].as_str().unwrap();
        let bytes = server.get(&format!("/data/{name}")).body;
        assert_eq!(file["hash"], blake3::hash(&bytes).to_hex().as_str(), "{name}");
        let mut text = String::new();
        if name.ends_with(".zst") {
            let mut decoder = ruzstd::decoding::StreamingDecoder::new(&*bytes).unwrap();
            decoder.read_to_string(&mut text).unwrap();
            assert!(text.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
            assert_eq!(text.lines().count() as u64, file["rows"].as_u64().unwrap(), "{name}");
        } else if name.ends_with(".csv") {
            text = String::from_utf8(bytes).unwrap();
            assert_eq!(text.lines().count(), 1 + 3 * 3, "{text}");
        } else {
            assert!(name == "figures.parquet" && bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"), "{name}");
            assert_eq!(file["rows"], 3 * 3);
            text = String::from_utf8_lossy(&bytes).into_owned();
        }
        assert!(text.contains(&id_of(2)) && !text.contains("quokka17"), "{name}");
    }
    assert_eq!(server.get("/data/../public.sqlite").status, 404);
    assert_eq!(server.get("/data/..%2Fpublic.sqlite").status, 404);
}

/// A head that never ends and a body that never comes keep nobody out.
#[test]
fn slow_clients_keep_no_place() {
    let directory = tempfile::tempdir().unwrap();
    let database = sqlite(directory.path());
    let token = account(&database, "alice");
    let server = Server::start(&database, &[]);
    let slow: Vec<TcpStream> = (0..1100)
        .filter_map(|at| {
            let mut stream = TcpStream::connect(server.address).ok()?;
            let _ = match at % 2 {
                0 => stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n"),
                _ => Ok(()),
            };
            Some(stream)
        })
        .collect();
    submit(&server, &token, "alice", 1);
    assert_eq!(server.get("/health").status, 200);
    let mut first = &slow[0];
    first.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let ended = first.read_to_end(&mut Vec::new());
    assert!(ended.is_ok() || ended.unwrap_err().kind() == std::io::ErrorKind::ConnectionReset, "it is closed");
}
