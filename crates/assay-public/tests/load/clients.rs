//! Clients that ask at a steady rate or one after another, and what they saw.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A connection that is kept.
pub struct Client {
    address: SocketAddr,
    stream: BufReader<TcpStream>,
}

impl Client {
    pub fn new(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        Self { address, stream: BufReader::new(stream) }
    }

    /// Status and body of an answer.
    pub fn ask(&mut self, method: &str, path: &str, token: Option<&str>, body: &[u8]) -> (u16, Vec<u8>) {
        let mut head =
            format!("{method} {path} HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\n", self.address, body.len());
        if let Some(token) = token {
            head += &format!("Authorization: Bearer {token}\r\n");
        }
        let stream = self.stream.get_mut();
        stream.write_all(format!("{head}\r\n").as_bytes()).unwrap();
        stream.write_all(body).unwrap();
        let (mut status, mut length) = (0, 0);
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).unwrap();
            let line = line.trim_end();
            if line.is_empty() {
                break;
            }
            if status == 0 {
                status = line.split(' ').nth(1).unwrap().parse().unwrap();
            }
            if let Some((_, value)) =
                line.split_once(": ").filter(|(name, _)| name.eq_ignore_ascii_case("content-length"))
            {
                length = value.parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).unwrap();
        (status, body)
    }

    pub fn get(&mut self, path: &str) -> (u16, Vec<u8>) {
        self.ask("GET", path, None, b"")
    }
}

/// Times of answers in milliseconds.
#[derive(Debug, Default, Clone)]
pub struct Times(Vec<f64>);

impl Times {
    pub fn add(&mut self, ms: f64) {
        self.0.push(ms);
    }

    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The value that a share of them does not exceed.
    pub fn at(&self, share: f64) -> f64 {
        let mut all = self.0.clone();
        all.sort_by(f64::total_cmp);
        all.get(((all.len() as f64 * share).ceil() as usize).saturating_sub(1)).copied().unwrap_or(f64::NAN)
    }

    pub fn told(&self) -> String {
        format!(
            "n {}, p50 {:.1} ms, p95 {:.1} ms, p99 {:.1} ms, longest {:.1} ms",
            self.count(),
            self.at(0.5),
            self.at(0.95),
            self.at(0.99),
            self.at(1.0)
        )
    }
}

/// Asks at a steady rate: the time of an answer counts from when it was due, so that a server that falls behind does not slow
/// down those who ask it. `ask` gets the number of the request and says of which kind it was. Times by kind.
pub fn steady(
    address: SocketAddr,
    (rate, clients, lasts): (f64, usize, Duration),
    kinds: usize,
    ask: &(impl Fn(&mut Client, usize) -> usize + Sync),
) -> Vec<Times> {
    let next = AtomicUsize::new(0);
    let all = Mutex::new(vec![Times::default(); kinds]);
    let began = Instant::now();
    let most = (rate * lasts.as_secs_f64()) as usize;
    std::thread::scope(|scope| {
        for _ in 0..clients {
            scope.spawn(|| {
                let mut client = Client::new(address);
                let mut own = vec![Times::default(); kinds];
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    // One that fell behind hopelessly ends.
                    if at >= most || began.elapsed() > 2 * lasts {
                        break;
                    }
                    let due = began + Duration::from_secs_f64(at as f64 / rate);
                    std::thread::sleep(due.saturating_duration_since(Instant::now()));
                    let kind = ask(&mut client, at);
                    own[kind].add(due.elapsed().as_secs_f64() * 1e3);
                }
                for (all, own) in all.lock().unwrap().iter_mut().zip(own) {
                    all.0.extend(own.0);
                }
            });
        }
    });
    all.into_inner().unwrap()
}
