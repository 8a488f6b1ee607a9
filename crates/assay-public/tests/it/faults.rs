//! A full medium, and a network that cuts connections: no receipt is lost, and no document counts twice.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use assay_stats::random::Generator;
use serde_json::Value;

use crate::samples::{Of, id_of, small};
use crate::server::{Server, account, ask, good, put, sqlite};

/// A small file system in memory, until it is dropped.
struct Small(tempfile::TempDir);

impl Small {
    fn mount(size: &str) -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let options = format!("size={size}");
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(directory.path()).output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Self(directory));
        }
        eprintln!("SKIP: a full medium: only root may mount one");
        None
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

fn text(seed: u64) -> String {
    small(Of { seed, unit: &seed.to_string(), ..Of::default() }, "alice")
}

/// Each of these is kept with its hash, and nothing else is.
fn only(server: &Server, token: &str, hashes: &BTreeMap<String, String>) {
    for (id, hash) in hashes {
        let judged = server.judged(id);
        assert_eq!(
            (&judged["hash"], &judged["state"]),
            (&Value::from(hash.as_str()), &Value::from("public")),
            "{judged}"
        );
    }
    server.shows(hashes.len());
    let own = ask(server.address, "GET", "/api/v1/account", &[("Authorization", &format!("Bearer {token}"))], b"");
    assert_eq!(own.unwrap().json()["records"], hashes.len());
}

#[test]
fn a_full_medium_loses_nothing_and_goes_on_when_there_is_room() {
    let Some(medium) = Small::mount("12m") else { return };
    let database = sqlite(medium.path());
    let token = account(&database, "alice");
    let ballast = medium.path().join("ballast");
    std::fs::write(&ballast, vec![1; 6 << 20]).unwrap();
    let server = Server::start(&database, &[]);
    let mut hashes = BTreeMap::new();
    let mut seed = 0;
    let mut send = |seed: u64| {
        let text = text(seed);
        let reply = server.put(&token, &id_of(seed), text.as_bytes());
        match reply.status {
            201 => drop(hashes.insert(id_of(seed), blake3::hash(text.as_bytes()).to_hex().to_string())),
            503 => assert!(reply.header("retry-after").is_some(), "{reply:?}"),
            _ => panic!("{reply:?}"),
        }
        reply.status
    };
    while send(seed) == 201 {
        seed += 1;
        assert!(seed < 5000, "the medium is never full");
    }
    assert!(seed > 10, "{seed}");
    assert_eq!((send(seed), send(seed + 1)), (503, 503), "it stays full");
    assert_eq!(server.get(&format!("/api/v1/records/{}", id_of(1))).status, 200, "what is there is shown");
    std::fs::remove_file(&ballast).unwrap();
    // The background may write first: who is asked to come back does so.
    for seed in seed..seed + 20 {
        let until = std::time::Instant::now() + Duration::from_secs(30);
        while send(seed) != 201 {
            assert!(std::time::Instant::now() < until, "it goes on");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
    println!("full after {seed} documents, and {} are kept", hashes.len());
    only(&server, &token, &hashes);
    assert!(server.stop());
    assert!(good(&["check", "--database", &database]).contains(": 0 differ"));
}

/// Passes bytes on, and cuts each connection after some of them, in either direction.
fn cutting(server: SocketAddr) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut draw = Generator::new(17);
        for client in listener.incoming().flatten() {
            let Ok(there) = TcpStream::connect(server) else { continue };
            // A document of some thousand bytes, and an answer of some hundred. A third of all is not cut.
            let [up, down] = [12_000, 900].map(|most| match draw.below(3) {
                0 => usize::MAX,
                _ => draw.below(most),
            });
            for (from, to, most) in [(&client, &there, up), (&there, &client, down)] {
                let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                std::thread::spawn(move || pass(from, to, most));
            }
        }
    });
    address
}

fn pass(mut from: TcpStream, mut to: TcpStream, mut most: usize) {
    let mut bytes = [0; 512];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        let passed = count.min(most);
        if to.write_all(&bytes[..passed]).is_err() || passed < count {
            break;
        }
        most -= passed;
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}

#[test]
fn a_network_that_cuts_connections_loses_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let database = sqlite(directory.path());
    let token = account(&database, "alice");
    let server = Server::start(&database, &[]);
    let address = cutting(server.address);
    let (mut hashes, mut cut, mut again) = (BTreeMap::new(), 0, 0);
    for seed in 0..120 {
        let text = text(seed);
        let reply = loop {
            match put(address, &token, &id_of(seed), text.as_bytes()) {
                Some(reply) => break reply,
                None => cut += 1,
            }
            assert!(cut < 10_000);
        };
        assert!([200, 201].contains(&reply.status), "{reply:?}");
        again += u32::from(reply.status == 200);
        hashes.insert(id_of(seed), blake3::hash(text.as_bytes()).to_hex().to_string());
    }
    println!("{cut} connections were cut, and {again} receipts came for documents that were kept before");
    assert!(cut > 100 && again > 5, "{cut} {again}");
    only(&server, &token, &hashes);
}
