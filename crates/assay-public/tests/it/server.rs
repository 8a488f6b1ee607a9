//! The program as a process, and requests to it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

/// Runs a command of the operator.
pub fn command(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_assay-public")).args(args).output().unwrap()
}

/// Its output, where it succeeds.
pub fn good(args: &[&str]) -> String {
    let output = command(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Makes an account; its token.
pub fn account(database: &str, name: &str) -> String {
    good(&["account", "add", name, "--database", database]).trim().to_owned()
}

/// A server, killed when it is dropped.
pub struct Server {
    child: Child,
    pub address: SocketAddr,
}

impl Server {
    /// One whose limits no test reaches.
    pub fn start(database: &str, more: &[&str]) -> Self {
        let wide = ["--submissions-per-hour", "100000000", "--requests-per-second", "1000000"];
        Self::start_with(database, &[&wide, more].concat())
    }

    pub fn start_with(database: &str, more: &[&str]) -> Self {
        Self::logged(database, more, Stdio::inherit())
    }

    /// A server whose messages are kept.
    pub fn logged(database: &str, more: &[&str], log: Stdio) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_assay-public"))
            .args(["serve", "--listen", "127.0.0.1:0", "--database", database])
            .args(more)
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().trim_start_matches("http://").trim_end_matches('/').parse();
        Self { child, address: address.unwrap_or_else(|_| panic!("{line}")) }
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// As a loss of power.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Asks it to end; whether it ended well.
    pub fn stop(mut self) -> bool {
        let asked = Command::new("kill").arg(self.pid().to_string()).status();
        assert!(asked.unwrap().success());
        self.child.wait().unwrap().success()
    }

    pub fn get(&self, path: &str) -> Reply {
        ask(self.address, "GET", path, &[], b"").unwrap()
    }

    pub fn put(&self, token: &str, id: &str, document: &[u8]) -> Reply {
        put(self.address, token, id, document).unwrap()
    }

    /// Snapshot, log and models.
    #[allow(dead_code)] // The measurements do not.
    pub fn state(&self) -> [Value; 3] {
        ["/api/v1/snapshot", "/api/v1/log", "/api/v1/models"].map(|path| self.get(path).json())
    }

    /// Waits until a record is judged; its state.
    pub fn judged(&self, id: &str) -> Value {
        loop {
            let receipt = self.get(&format!("/api/v1/records/{id}")).json();
            if receipt["state"] != "received" {
                return receipt;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until the snapshot has so large a number of records.
    pub fn shows(&self, records: usize) -> Value {
        loop {
            let snapshot = self.get("/api/v1/snapshot").json();
            if snapshot["snapshot"]["records"] == records {
                return snapshot;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

pub fn put(address: SocketAddr, token: &str, id: &str, document: &[u8]) -> Option<Reply> {
    ask(address, "PUT", &format!("/api/v1/records/{id}"), &[("Authorization", &format!("Bearer {token}"))], document)
}

/// An answer.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{} {}", self.head, self.text()))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(": ")?;
            key.eq_ignore_ascii_case(name).then_some(value)
        })
    }
}

/// Asks once; none where no whole answer came.
pub fn ask(address: SocketAddr, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Option<Reply> {
    let mut stream = TcpStream::connect(address).ok()?;
    let mut head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {}\r\n",
        body.len()
    );
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    stream.write_all(format!("{head}\r\n").as_bytes()).ok()?;
    // A server that refuses by the head reads no further.
    let _ = stream.write_all(body);
    let mut all = Vec::new();
    let read = stream.read_to_end(&mut all);
    let end = all.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&all[..end]).into_owned();
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let reply = Reply { status, head, body: all[end + 4..].to_vec() };
    let length = reply.header("content-length").and_then(|length| length.parse::<usize>().ok());
    (read.is_ok() || length == Some(reply.body.len())).then_some(())?;
    (length.is_none_or(|length| length == reply.body.len())).then_some(reply)
}

/// A database of SQLite in a directory.
pub fn sqlite(directory: &Path) -> String {
    directory.join("public.sqlite").display().to_string()
}
