//! What a public instance does under load, measured on this machine by the loopback device. It is run by hand, as
//! docs/public.md says; `ASSAY_PUBLIC_LOAD` is the number of records, and `ASSAY_PUBLIC_LOAD_ON=postgres` measures PostgreSQL.

#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]

mod clients;
mod documents;
#[path = "../it/peers.rs"]
mod peers;
#[allow(dead_code)]
#[path = "../it/samples.rs"]
mod samples;
mod seed;
#[allow(dead_code)]
#[path = "../it/server.rs"]
mod server;

use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use assay_public::intake;
use assay_public::judge::examined;
use assay_stats::random::Generator;
use clients::{Client, Times, steady};
use peers::Postgres;
use seed::{TOKEN, draw_model, number, records};
use server::{Server, command};

/// Pages that are asked for, in a second.
const PAGES: f64 = 200.0;
/// Submissions in a second.
const SUBMISSIONS: f64 = 300.0;
/// Connections that ask for pages.
const READERS: usize = 16;
/// Connections that submit.
const SUBMITTERS: usize = 32;

/// How long each rate lasts.
fn lasts() -> Duration {
    Duration::from_secs(number("ASSAY_PUBLIC_LOAD_SECONDS", 15) as u64)
}

/// Memory of a process in MiB: now, and at most.
fn memory(pid: u32) -> (u64, u64) {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let of = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.split_whitespace().next().unwrap().parse::<u64>().unwrap() >> 10
    };
    (of("VmRSS:"), of("VmHWM:"))
}

/// Seconds that a process was on processors.
fn busy(pid: u32) -> f64 {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
    let of = |task: std::fs::DirEntry| -> Option<f64> {
        std::fs::read_to_string(task.path().join("schedstat")).ok()?.split(' ').next()?.parse().ok()
    };
    tasks.filter_map(of).sum::<f64>() / 1e9
}

fn load_average() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap();
    text.split(' ').next().unwrap().to_owned()
}

fn begin(what: &str) {
    let database = if seed::on_postgres() { "PostgreSQL" } else { "SQLite" };
    println!("\n{what}: {} records, {database}, load of the machine {}", records(), load_average());
}

/// Submits a document; where the server has no room, again, as `assay submit` does.
fn submit(client: &mut Client, (id, text): &(String, Vec<u8>)) {
    loop {
        let (status, body) = client.ask("PUT", &format!("/api/v1/records/{id}"), Some(TOKEN), text);
        match status {
            201 => return,
            503 => drop(AGAIN.fetch_add(1, Ordering::Relaxed)),
            _ => panic!("{}", String::from_utf8_lossy(&body)),
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Submissions that were sent again.
static AGAIN: AtomicUsize = AtomicUsize::new(0);

#[test]
#[ignore = "a measurement"]
fn submissions_are_durable_and_quick() {
    begin("submissions");
    let (_directory, database) = seed::scratch();
    let documents = documents::documents();
    let server = Server::start(&database, &[]);
    let size = documents.iter().map(|(_, text)| text.len()).sum::<usize>() / documents.len();
    println!("documents of {} kB on average", size / 1000);
    let address = server.address;
    // As fast as they are taken.
    let (next, half) = (AtomicUsize::new(0), documents.len() / 2);
    while server.get("/rank?class=sd").status != 200 {}
    let (began, busy_before) = (Instant::now(), busy(server.pid()));
    let until = began + lasts();
    std::thread::scope(|scope| {
        for _ in 0..SUBMITTERS {
            scope.spawn(|| {
                let mut client = Client::new(address);
                while Instant::now() < until {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= half {
                        break;
                    }
                    submit(&mut client, &documents[at]);
                }
            });
        }
    });
    let kept = next.load(Ordering::Relaxed).min(half);
    let (seconds, busy) = (began.elapsed().as_secs_f64(), busy(server.pid()) - busy_before);
    println!(
        "one after another: {:.0} submissions/s, n {kept}; the server has {:.2} of the processors, {:.1} ms for each",
        kept as f64 / seconds,
        busy / seconds,
        busy / kept as f64 * 1e3
    );
    let rate = number("ASSAY_PUBLIC_LOAD_RATE", SUBMISSIONS as usize) as f64;
    let lasts = lasts().min(Duration::from_secs_f64(half as f64 / rate));
    let times = steady(address, (rate, SUBMITTERS, lasts), 1, &|client, at| {
        submit(client, &documents[half + at]);
        0
    });
    println!("at {rate} submissions/s: receipts {}", times[0].told());
    println!("{} were sent again", AGAIN.load(Ordering::Relaxed));
    let waits = Instant::now();
    let last = &documents[half + times[0].count() - 1].0;
    while server.get(&format!("/api/v1/records/{last}")).json()["state"] == "received" {
        std::thread::sleep(Duration::from_millis(200));
        assert!(waits.elapsed() < Duration::from_secs(600));
    }
    println!(
        "the last one is judged {:.1} s later; memory {:?} MiB now and at most",
        waits.elapsed().as_secs_f64(),
        memory(server.pid())
    );
}

/// Nanoseconds that this thread was on a processor.
fn own_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse().unwrap()
}

/// What a document costs a processor, whatever else the machine does.
#[test]
#[ignore = "a measurement"]
fn documents_cost_little() {
    begin("processor time of a document");
    let documents = documents::documents();
    let some = &documents[..documents.len().min(300)];
    let each = |what: &str, ns: u64| println!("{what}: {:.2} ms", ns as f64 / 1e6 / some.len() as f64);
    let began = own_ns();
    let read: Vec<_> =
        some.iter().map(|(id, text)| intake::read(id, text.clone(), jiff::Timestamp::now()).unwrap()).collect();
    each("read, checked and hashed", own_ns() - began);
    let began = own_ns();
    for one in &read {
        let record = assay_core::record::Record::from_json(std::str::from_utf8(&one.bytes).unwrap()).unwrap();
        assert_eq!(record.id, one.record.id);
    }
    each("read again by the judge", own_ns() - began);
    let began = own_ns();
    for one in &read {
        examined(&seed::kept(&one.record.id, seed::ACCOUNT, &one.hash, 0), &one.record).unwrap();
    }
    each("judged by itself", own_ns() - began);
    let value: Vec<serde_json::Value> = some.iter().map(|(_, text)| serde_json::from_slice(text).unwrap()).collect();
    let began = own_ns();
    value.iter().for_each(|value| assert_eq!(assay_report::unredacted(value), None));
    each("of the reading, whether it is redacted", own_ns() - began);
}

/// Kinds of pages.
const KINDS: [&str; 4] = ["ranking", "model", "unit", "comparison"];

/// Addresses by kind. Models are drawn by popularity.
fn addresses() -> [Vec<String>; 4] {
    let mut draw = Generator::new(5);
    let escaped = |name: String| name.replace(' ', "%20").replace(',', "%2C");
    let rankings = ["", "&load=random%20read%204%20KiB", "&load=random%20write%204%20KiB", "&host=ROCK%205B"];
    let rankings = rankings.map(|more| format!("/rank?class=sd{more}")).to_vec();
    let mut models: Vec<usize> = (0..200).map(|_| draw_model(&mut draw)).collect();
    models.dedup();
    let units = (0..500).map(|_| {
        let (account, unit) = seed::owner(draw.below(records()));
        format!("/units/{account}:{unit}")
    });
    let pairs = (0..6).map(|at| {
        let [a, b] = [at, at + 1].map(|model| escaped(seed::model(model)));
        format!("/compare?model={a}&model={b}")
    });
    let models = models.into_iter().map(|at| format!("/models/{}", escaped(seed::model(at))));
    [rankings, models.collect(), units.collect(), pairs.collect()]
}

/// Asks for pages at the rate that is promised; times by kind.
fn pages(address: SocketAddr, addresses: &[Vec<String>; 4], lasts: Duration) -> Vec<Times> {
    steady(address, (PAGES, READERS, lasts), KINDS.len(), &|client, at| {
        let kind = at % KINDS.len();
        let path = &addresses[kind][(at / KINDS.len()) % addresses[kind].len()];
        let (status, _) = client.get(path);
        assert_eq!(status, 200, "{path}");
        kind
    })
}

fn tell(when: &str, times: &[Times]) {
    for (kind, times) in KINDS.iter().zip(times) {
        println!("{when:<18} {kind:<11} {}", times.told());
    }
}

#[test]
#[ignore = "a measurement"]
fn pages_are_quick() {
    begin("pages");
    let (_directory, database) = seed::scratch();
    let mut documents = documents::documents();
    // Where both use one database, other tests have sent the first.
    documents.reverse();
    let addresses = addresses();
    let began = Instant::now();
    let server = Server::start(&database, &[]);
    println!(
        "a full rebuild until the server listens: {:.1} s; memory {:?} MiB",
        began.elapsed().as_secs_f64(),
        memory(server.pid())
    );
    let mut client = Client::new(server.address);
    let usual = Instant::now();
    while client.get("/rank?class=sd").0 != 200 {
        assert!(usual.elapsed() < Duration::from_secs(300));
    }
    println!("the usual ranking is there {:.1} s after that", usual.elapsed().as_secs_f64());
    // Cold: each address for the first time.
    let mut cold = vec![Times::default(); KINDS.len()];
    let mut largest = [0; 4];
    for (kind, paths) in addresses.iter().enumerate() {
        for path in paths {
            let asked = Instant::now();
            let (mut status, mut body) = client.get(path);
            while status == 503 {
                (status, body) = client.get(path);
            }
            assert_eq!(status, 200, "{path}");
            cold[kind].add(asked.elapsed().as_secs_f64() * 1e3);
            largest[kind] = largest[kind].max(body.len());
        }
    }
    tell("cold", &cold);
    println!("largest pages in bytes: {:?}", KINDS.iter().zip(largest).collect::<Vec<_>>());
    tell("warm, 200/s", &pages(server.address, &addresses, lasts()));
    println!("memory {:?} MiB now and at most", memory(server.pid()));
    let (ends, next) = (AtomicBool::new(false), AtomicUsize::new(0));
    let rate = number("ASSAY_PUBLIC_LOAD_MEANWHILE", 20) as f64;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let began = Instant::now();
            let mut client = Client::new(server.address);
            while !ends.load(Ordering::Relaxed) {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let due = began + Duration::from_secs_f64(at as f64 / rate);
                std::thread::sleep(due.saturating_duration_since(Instant::now()));
                submit(&mut client, &documents[at]);
            }
        });
        std::thread::sleep(Duration::from_secs(1));
        tell(&format!("with {rate} sent/s"), &pages(server.address, &addresses, lasts()));
        ends.store(true, Ordering::Relaxed);
    });
    shows(&server, &documents[next.load(Ordering::Relaxed)..]);
    println!("memory {:?} MiB now and at most", memory(server.pid()));
}

/// How long it takes until a submission is on its model's page.
fn shows(server: &Server, documents: &[(String, Vec<u8>)]) {
    let mut times = Times::default();
    for document in documents.iter().take(20) {
        let began = Instant::now();
        submit(&mut Client::new(server.address), document);
        let unit = documents::unit_of(document);
        while server.get(&unit).status != 200 {
            assert!(began.elapsed() < Duration::from_secs(60), "{unit}");
            std::thread::sleep(Duration::from_millis(20));
        }
        times.add(began.elapsed().as_secs_f64() * 1e3);
    }
    println!("from a submission to its unit's page: {}", times.told());
}

#[test]
#[ignore = "a measurement"]
fn a_thousand_slow_clients_slow_no_others() {
    begin("slow clients");
    let (_directory, database) = seed::scratch();
    let server = Server::start(&database, &[]);
    let mut addresses = addresses();
    // Rankings and comparisons are answers that are kept: the others do work.
    (addresses[0], addresses[3]) = (addresses[1].clone(), addresses[2].clone());
    let alone = pages(server.address, &addresses, lasts());
    let before = memory(server.pid());
    tell("alone", &alone);
    let ends = AtomicBool::new(false);
    let open = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| slow(server.address, &ends, &open));
        while open.load(Ordering::Relaxed) < SLOW {
            std::thread::sleep(Duration::from_millis(50));
        }
        tell("with slow clients", &pages(server.address, &addresses, lasts()));
        println!("{} of them were open at the end", open.load(Ordering::Relaxed));
        ends.store(true, Ordering::Relaxed);
    });
    println!("memory {before:?} MiB before, {:?} MiB now and at most", memory(server.pid()));
}

/// Slow clients.
const SLOW: usize = 1000;

/// Connections that send a byte of a head each half second, and come again when they are closed.
fn slow(address: SocketAddr, ends: &AtomicBool, open: &AtomicUsize) {
    let head = b"GET /api/v1/models HTTP/1.1\r\nHost: slow.example.org\r\nAccept: */*\r\n";
    let connect = || {
        let stream = TcpStream::connect_timeout(&address, Duration::from_secs(5)).ok()?;
        stream.set_nonblocking(true).ok()?;
        Some((stream, 0))
    };
    let mut all: Vec<Option<(TcpStream, usize)>> = (0..SLOW).map(|_| connect()).collect();
    while !ends.load(Ordering::Relaxed) {
        let began = Instant::now();
        for one in &mut all {
            let sent = one.as_mut().is_some_and(|(stream, at)| {
                *at += 1;
                stream.write_all(&head[*at % head.len()..][..1]).is_ok()
            });
            if !sent {
                *one = connect();
            }
        }
        open.store(all.iter().flatten().count(), Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(500).saturating_sub(began.elapsed()));
    }
}

#[test]
#[ignore = "a measurement"]
fn databases_are_copied_there_and_back() {
    begin("copies");
    let Some(peer) = Postgres::start() else { return };
    let from = seed::database().to_str().unwrap().to_owned();
    let directory = tempfile::tempdir_in(seed::directory()).unwrap();
    let back = server::sqlite(directory.path());
    let there = peer.database("load");
    for (from, to) in [(&from, &there), (&there, &back)] {
        let began = Instant::now();
        let copied = command(&["copy", "--from", from, "--to", to]);
        let text = String::from_utf8(copied.stdout).unwrap();
        assert!(copied.status.success() && text.contains("equal") && !text.contains("DIFFERENT"), "{text}");
        println!("copied and compared in {:.0} s\n{text}", began.elapsed().as_secs_f64());
    }
}
