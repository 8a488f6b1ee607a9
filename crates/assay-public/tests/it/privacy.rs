//! What identifies somebody or something is in no answer, file, page or log.

use crate::samples::{Of, document, id_of, redacted, whole};
use crate::server::{Server, account, ask, sqlite};

/// What the records of the store hold.
const SECRETS: [&str; 6] =
    ["quokka17", "example.org", "zacharias", "Holiday Pictures", "SN-77120934", "035344534e36344780a1b2c3d4016a00"];

#[test]
fn no_answer_holds_what_identifies() {
    let directory = tempfile::tempdir().unwrap();
    let database = sqlite(directory.path());
    let data = directory.path().join("data");
    let token = account(&database, "alice");
    let server = Server::start(&database, &["--data", data.to_str().unwrap()]);
    for seed in 1..=6 {
        assert_eq!(
            server.put(&token, &id_of(seed), document(Of { seed, ..Of::default() }, "alice").as_bytes()).status,
            201
        );
    }
    // Whole records are refused, and leave nothing behind.
    for seed in 7..=9 {
        let of = Of { seed, ..Of::default() };
        let reply = server.put(&token, &id_of(seed), whole(of).to_json().unwrap().as_bytes());
        assert_eq!(reply.json()["error"]["code"], "not_redacted");
        assert!(SECRETS.iter().all(|secret| !reply.text().contains(secret)), "{}", reply.text());
    }
    let mut held = whole(Of { seed: 10, ..Of::default() });
    held.change_settings(|settings| settings.elapsed_ns = 1);
    server.put(&token, &id_of(10), redacted(&held, "alice").as_bytes());
    assert_eq!(server.judged(&id_of(10))["state"], "held");
    server.shows(6);
    let listed = server.get("/api/v1/models").json();
    let model = listed["models"][0]["model"].as_str().unwrap().replace(' ', "%20");
    let unit = server.get(&format!("/api/v1/models/{model}")).json()["of"][0]["unit"].as_str().unwrap().to_owned();
    let paths = [
        "/",
        "/rank",
        "/pictures/ranking.svg?class=sd",
        "/hosts",
        "/api/v1/hosts",
        "/compare",
        "/log",
        "/about",
        "/data/",
        "/health",
        "/ready",
        "/metrics",
        "/api/v1/snapshot",
        "/api/v1/models",
        "/api/v1/log",
        "/api/v1/rank?class=sd",
        "/api/v1/search?q=card",
        "/api/v1/openapi.json",
        "/records/0000000001",
        "/records/0000000010",
        "/api/v1/records/0000000001",
        "/api/v1/records/0000000001/document",
        "/api/v1/records/0000000010",
        "/records/0000000007",
    ];
    let more = [
        format!("/models/{model}"),
        format!("/badges/{model}"),
        "/hosts/Raspberry%20Pi%205%20Model%20B%20Rev%201.0".to_owned(),
        format!("/units/{unit}"),
        format!("/api/v1/units/{unit}"),
        format!("/api/v1/observations?model={model}"),
    ];
    for path in paths.into_iter().map(str::to_owned).chain(more) {
        let reply = server.get(&path);
        assert!(reply.status == 200 || path.ends_with("07"), "{path} {}", reply.status);
        let all = format!("{}{}", reply.head, reply.text());
        for secret in SECRETS {
            assert!(!all.contains(secret), "{path} has {secret}");
        }
        assert!(!all.contains(&token));
    }
    assert_eq!(ask(server.address, "GET", "/api/v1/records/0000000010/document", &[], b"").unwrap().status, 403);
    assert!(server.stop());
    // Nor do the files: the database, and what was made of it.
    for file in std::fs::read_dir(directory.path()).unwrap().flatten().filter(|entry| entry.path().is_file()) {
        let bytes = std::fs::read(file.path()).unwrap();
        for secret in SECRETS.iter().copied().chain([token.as_str()]) {
            let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!found, "{} has {secret}", file.path().display());
        }
    }
}
