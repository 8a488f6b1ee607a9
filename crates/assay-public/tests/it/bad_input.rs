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

#[test]
fn what_is_no_record_is_refused_where_it_is_wrong() {
    let directory = tempfile::tempdir().unwrap();
    let database = sqlite(directory.path());
    let token = account(&database, "alice");
    let server = Server::start(&database, &[]);
    let id = id_of(1);
    let places: Vec<(&str, &str, Value, u16)> = vec![
        ("schema", "/schema", json!("2.0"), 422),
        ("schema", "/schema", json!("1.99"), 422),
        ("schema", "/schema", json!(1), 422),
        ("malformed", "/created", json!("yesterday"), 422),
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
    ];
    for (code, pointer, value, status) in places {
        let reply = server.put(&token, &id, with(pointer, value.clone()).to_string().as_bytes());
        let error = &reply.json()["error"];
        let found = (reply.status, error["code"].as_str(), error["pointer"].as_str());
        let shown: String = value.to_string().chars().take(60).collect();
        assert_eq!(found, (status, Some(code), Some(pointer)), "{pointer} {shown}: {error}");
    }
    let good = document(Of::default(), "alice");
    let doubled = good.replacen("\"id\"", "\"id\":\"x\",\"id\"", 1);
    let whole: [(&str, Vec<u8>, u16); 8] = [
        ("nothing", Vec::new(), 422),
        ("no JSON", b"{".to_vec(), 422),
        ("no UTF-8", vec![b'"', 0xff, b'"'], 422),
        ("a number", b"1e999".to_vec(), 422),
        ("deep", deep(100_000).into_bytes(), 422),
        ("deep enough to be read", deep(100).into_bytes(), 422),
        ("10 MB", vec![b' '; 10_000_000], 413),
        ("cut off", good.as_bytes()[..good.len() / 2].to_vec(), 422),
    ];
    for (name, body, status) in whole {
        assert_eq!(server.put(&token, &id, &body).status, status, "{name}");
    }
    assert_ne!(server.put(&token, "../../etc", good.as_bytes()).status, 201);
    assert_eq!(server.put(&token, "0000000002", good.as_bytes()).json()["error"]["code"], "wrong_id");
    // JSON says nothing of two fields of one name: the last is read, by all readers here.
    assert_eq!(server.put(&token, &id, doubled.as_bytes()).status, 201, "nothing was kept before this");
    assert_eq!(ask(server.address, "PATCH", "/", &[], b"").unwrap().status, 405);
    for path in ["/api/v1/log?after=x", "/api/v1/rank", "/log?after=x", "/api/v1/observations"] {
        let reply = server.get(path);
        assert_eq!((reply.status, &reply.json()["error"]["code"]), (400, &json!("query")), "{path}");
    }
    assert_eq!(server.get("/models/%FF").status, 404);
}
