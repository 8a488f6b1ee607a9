//! Documents that are none, or none that may be kept: each gets an answer that says where, and changes nothing.

use serde_json::{Value, json};

use crate::samples::{Of, document, id_of};
use crate::server::{Server, account, ask, sqlite};

/// The document with one place changed.
fn with(pointer: &str, value: Value) -> Value {
    let mut document: Value = serde_json::from_str(&document(Of::default(), "alice")).unwrap();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    match document.pointer_mut(parent).unwrap() {
        Value::Array(items) => items[name.parse::<usize>().unwrap()] = value,
        parent => parent[name] = value,
    }
    document
}

fn deep(levels: usize) -> String {
    format!("{{\"schema\":\"1.0\",\"labels\":{}{}}}", "[".repeat(levels), "]".repeat(levels))
}

/// Values that no record has: the fault, where, the value, and the status.
fn places() -> Vec<(&'static str, &'static str, Value, u16)> {
    vec![
        ("schema", "/schema", json!("2.0"), 422),
        ("schema", "/schema", json!("1.99"), 422),
        ("schema", "/schema", json!(1), 422),
        ("malformed", "/created", json!("yesterday"), 422),
        ("malformed", "/created", json!(""), 422),
        ("future", "/created", json!("2199-01-01T00:00:00Z"), 422),
        ("future", "/measurements/0/repeats/1/started", json!("2199-01-01T00:00:00Z"), 422),
        ("malformed", "/labels/price", json!("1\u{0}0"), 422),
        ("too_large", "/labels/price", json!("x".repeat(300 << 10)), 413),
        ("malformed", "/measurements/1/repeats/0/operations", json!(-1), 422),
        ("malformed", "/measurements/1/repeats/0/operations", json!(1.5), 422),
        ("malformed", "/measurements/1/repeats/0/operations", json!("many"), 422),
        ("out_of_range", "/measurements/1/repeats/0/operations", json!(u64::MAX), 422),
        ("out_of_range", "/measurements/1/repeats/0/iops", json!(-3.0), 422),
        ("out_of_range", "/measurements/1/repeats/0/iops", json!(1e300), 422),
        ("out_of_range", "/measurements/2/repeats/0/histogram/counts/0/1", json!(u64::MAX), 422),
        ("out_of_range", "/medium/capacity_bytes", json!(u64::MAX), 422),
        ("out_of_range", "/measurements/0/iops/point", json!(-1.0), 422),
        ("malformed", "/outcome", json!({"state": "running"}), 422),
        ("malformed", "/medium", json!([]), 422),
        ("wrong_id", "/id", json!("0000000002"), 422),
        ("not_redacted", "/host/hostname", json!("quokka17"), 422),
        ("not_redacted", "/medium/unit", json!("035344534e36344780a1b2c3d4016a00"), 422),
        ("not_redacted", "/medium/path", json!("/home/zacharias"), 422),
        ("not_redacted", "/host/mac", json!("b8:27:eb:12:34:56"), 422),
        ("not_redacted", "/tool/engine_reason", json!("on b8:27:eb:12:34:56"), 422),
        ("not_redacted", "/surprise", json!(1), 422),
    ]
}

/// Bodies that are wrong as a whole: how, the bytes, the status, and what the pointer begins with.
fn whole(good: &str) -> Vec<(&'static str, Vec<u8>, u16, &'static str)> {
    // Of two fields of one name the first would be kept, and handed out, unseen.
    let doubled = good.replacen("\"hostname\":", "\"hostname\":\"quokka17\",\"\\u0068ostname\":", 1);
    assert_ne!(doubled, good);
    let long = good.replacen("\"host\"", &format!("\"labels2\":\"{}\",\"host\"", "x".repeat(10_000_000)), 1);
    let bytes = |text: &str| text.as_bytes().to_vec();
    vec![
        ("nothing", Vec::new(), 422, ""),
        ("no JSON", bytes("{"), 422, ""),
        ("no UTF-8", vec![b'"', 0xff, b'"'], 422, ""),
        ("UTF-8 of a surrogate", b"\"\xed\xa0\x80\"".to_vec(), 422, ""),
        ("UTF-16", good.encode_utf16().flat_map(u16::to_le_bytes).collect(), 422, ""),
        ("a byte order mark", bytes(&format!("\u{feff}{good}")), 422, ""),
        ("a lone surrogate", bytes(&good.replacen("\"10USD\"", "\"\\ud800\"", 1)), 422, "/labels/price"),
        ("U+0000 as it is", bytes(&good.replacen("\"10USD\"", "\"\0\"", 1)), 422, "/labels/price"),
        ("U+0000 in a name", bytes(&good.replacen("\"price\"", "\"pr\\u0000ce\"", 1)), 422, "/labels"),
        ("two values of a name", bytes(&doubled), 422, "/host/hostname"),
        ("trailing text", bytes(&format!("{good} x")), 422, ""),
        ("a second document", bytes(&format!("{good}{good}")), 422, ""),
        ("a number", bytes("1e999"), 422, ""),
        ("a text", bytes("\"record\""), 422, "/schema"),
        ("deep", bytes(&deep(100_000)), 422, "/labels"),
        ("deep enough to be read", bytes(&deep(100)), 422, "/labels"),
        ("10 MB of spaces", vec![b' '; 10_000_000], 413, ""),
        ("a text of 10 MB", bytes(&long), 413, ""),
        ("cut off", bytes(&good[..good.len() / 2]), 422, "/measurements"),
    ]
}

#[test]
fn what_is_no_record_is_refused_where_it_is_wrong() {
    let directory = tempfile::tempdir().unwrap();
    let database = sqlite(directory.path());
    let token = account(&database, "alice");
    let server = Server::start(&database, &[]);
    let id = id_of(1);
    let before = server.state();
    for (code, pointer, value, status) in places() {
        let reply = server.put(&token, &id, with(pointer, value.clone()).to_string().as_bytes());
        let error = &reply.json()["error"];
        let found = (reply.status, error["code"].as_str(), error["pointer"].as_str());
        let shown: String = value.to_string().chars().take(60).collect();
        assert_eq!(found, (status, Some(code), Some(pointer)), "{pointer} {shown}: {error}");
    }
    let good = document(Of::default(), "alice");
    for (name, body, status, pointer) in whole(&good) {
        let reply = server.put(&token, &id, &body);
        let found = reply.json()["error"]["pointer"].as_str().map(str::to_owned);
        assert_eq!(reply.status, status, "{name}: {}", reply.text());
        assert!(found.as_deref().is_some_and(|found| found.starts_with(pointer)), "{name}: {}", reply.text());
        assert!(!reply.text().contains("quokka17"), "{name}: {}", reply.text());
    }
    let chunked = [("Authorization", &*format!("Bearer {token}")), ("Transfer-Encoding", "chunked")];
    assert!(
        (400..500).contains(
            &ask(server.address, "PUT", "/api/v1/records/0000000001", &chunked, b"0\r\n\r\n").unwrap().status
        )
    );
    assert_ne!(server.put(&token, "../../etc", good.as_bytes()).status, 201);
    assert_eq!(server.put(&token, "0000000002", good.as_bytes()).json()["error"]["code"], "wrong_id");
    // None of this changed anything.
    let account = ask(server.address, "GET", "/api/v1/account", &chunked[..1], b"").unwrap().json();
    assert_eq!((server.state(), &account["records"]), (before, &json!(0)));
    assert_eq!(server.put(&token, &id, good.as_bytes()).status, 201);
    assert_eq!(ask(server.address, "PATCH", "/", &[], b"").unwrap().status, 405);
    for path in ["/api/v1/log?after=x", "/api/v1/rank", "/api/v1/observations"] {
        let reply = server.get(path);
        assert_eq!((reply.status, &reply.json()["error"]["code"]), (400, &json!("query")), "{path}");
    }
    // Readers get a page, programs JSON.
    for (path, status) in
        [("/log?after=x", 400), ("/rank?class=%00&%FF", 404), ("/models/%FF", 404), ("/hosts/%00", 404)]
    {
        let reply = server.get(path);
        assert_eq!((reply.status, reply.header("content-type")), (status, Some("text/html; charset=utf-8")), "{path}");
    }
    assert_eq!(server.get("/api/v1/models/%FF").json()["error"]["code"], "not_found");
}
