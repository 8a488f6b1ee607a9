//! A server that is killed at any moment loses no receipt, and counts nothing twice.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, RwLock};
use std::time::Duration;

use assay_stats::random::Generator;
use serde_json::Value;

use crate::peers::Postgres;
use crate::samples::{Of, id_of, small};
use crate::server::{Server, account, ask, good, put, sqlite};

/// Kills, unless `ASSAY_PUBLIC_KILLS` says otherwise.
const KILLS: u64 = 200;

fn kills() -> u64 {
    std::env::var("ASSAY_PUBLIC_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(KILLS)
}

/// Clients submit until they are told to end; receipts by identity, with the hash.
fn submitting(
    address: &RwLock<SocketAddr>,
    token: &str,
    ends: &AtomicBool,
    next: &AtomicU64,
    receipts: &Mutex<BTreeMap<String, String>>,
) {
    while !ends.load(Ordering::Relaxed) {
        let seed = next.fetch_add(1, Ordering::Relaxed);
        let text = small(Of { seed, unit: &seed.to_string(), ..Of::default() }, "alice");
        while !ends.load(Ordering::Relaxed) {
            let now = *address.read().unwrap();
            match put(now, token, &id_of(seed), text.as_bytes()) {
                Some(reply) if [200, 201].contains(&reply.status) => {
                    let hash = reply.json()["hash"].as_str().unwrap().to_owned();
                    assert_eq!(hash, blake3::hash(text.as_bytes()).to_hex().as_str());
                    receipts.lock().unwrap().insert(id_of(seed), hash);
                    break;
                }
                Some(reply) => assert!([503].contains(&reply.status), "{reply:?}"),
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        }
    }
}

/// Disturbs a server again and again while clients submit: no receipt is lost, and no document counts twice.
pub fn campaign(database: &str, rounds: u64, mut disturb: impl FnMut(&mut Server, u64)) {
    let token = account(database, "alice");
    let mut server = Server::start(database, &[]);
    let address = RwLock::new(server.address);
    let (ends, next, receipts) = (AtomicBool::new(false), AtomicU64::new(1), Mutex::new(BTreeMap::new()));
    let mut draw = Generator::new(3);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| submitting(&address, &token, &ends, &next, &receipts));
        }
        for round in 0..rounds {
            std::thread::sleep(Duration::from_millis(5 + draw.below(150) as u64));
            disturb(&mut server, round);
            *address.write().unwrap() = server.address;
        }
        std::thread::sleep(Duration::from_millis(200));
        ends.store(true, Ordering::Relaxed);
    });
    let receipts = receipts.into_inner().unwrap();
    for (id, hash) in &receipts {
        let judged = server.judged(id);
        assert_eq!(
            (&judged["hash"], &judged["state"]),
            (&Value::from(hash.clone()), &Value::from("public")),
            "{judged}"
        );
    }
    // Sent again, each counts once.
    let sent = next.load(Ordering::Relaxed) - 1;
    let mut here = 0;
    for seed in 1..=sent {
        here += usize::from(server.get(&format!("/api/v1/records/{}", id_of(seed))).status == 200);
    }
    server.shows(here);
    let documents =
        ask(server.address, "GET", "/api/v1/account", &[("Authorization", &format!("Bearer {token}"))], b"");
    assert_eq!(documents.unwrap().json()["records"], here);
    println!("{rounds} disturbances: {} receipts, 0 lost; {here} documents, 0 twice", receipts.len());
    assert!(!receipts.is_empty());
    server.kill();
    assert!(good(&["check", "--database", database]).contains(": 0 differ"));
}

#[test]
fn no_receipt_is_lost_when_the_server_is_killed() {
    let directory = tempfile::tempdir().unwrap();
    let database = sqlite(directory.path());
    campaign(&database, kills(), |server, _| {
        server.kill();
        *server = Server::start(&database, &[]);
    });
}

#[test]
fn nor_when_postgresql_crashes() {
    let Some(peer) = Postgres::start() else { return };
    let database = peer.database("kills");
    campaign(&database, (kills() / 20).max(3), |server, round| {
        server.kill();
        if round % 3 == 0 {
            peer.crash();
            peer.up();
        }
        *server = Server::start(&database, &[]);
    });
}

#[test]
fn nor_when_postgresql_is_started_again_under_a_server_that_goes_on() {
    let Some(peer) = Postgres::start() else { return };
    campaign(&peer.database("restarts"), (kills() / 40).max(3), |_, round| {
        if round % 2 == 0 {
            peer.stop()
        } else {
            peer.crash()
        }
        std::thread::sleep(Duration::from_millis(100));
        peer.up();
    });
}
