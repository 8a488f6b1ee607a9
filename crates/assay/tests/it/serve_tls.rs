//! `assay serve` with TLS: `openssl` makes the certificate, and asks.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::Signal;

use crate::common::{Place, is_installed, run, send};

/// A certificate of this machine's own address, and its key.
fn certificate(place: &Place, name: &str) -> [PathBuf; 2] {
    let files = ["cert", "key"].map(|what| place.path().join(format!("{name}-{what}.pem")));
    let words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1";
    let mut command = Command::new("openssl");
    command.args(words.split(' ')).arg("-out").arg(&files[0]).arg("-keyout").arg(&files[1]);
    assert!(command.stderr(Stdio::null()).status().unwrap().success());
    files
}

/// A server, ended with the test.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        send(self.0.id(), Signal::TERM);
        let _ = self.0.wait();
    }
}

/// What the server answers to a request, by TLS.
fn asked(host: &str, certificate: &PathBuf, request: &str) -> String {
    let mut command = Command::new("openssl");
    command.args(["s_client", "-quiet", "-verify_return_error", "-connect", host, "-CAfile"]).arg(certificate);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    child.stdin.as_mut().unwrap().write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    child.stdout.take().unwrap().read_to_string(&mut answer).unwrap();
    drop(child.stdin.take());
    child.wait().unwrap();
    answer
}

#[test]
fn pages_come_by_tls_and_by_nothing_else() {
    if !is_installed("openssl", "pages by TLS") {
        return;
    }
    let place = Place::new();
    let [cert, key] = certificate(&place, "own");
    let mut command = place.assay(["serve", "--tls-cert"]);
    command.arg(&cert).arg("--tls-key").arg(&key).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut served = Served(command.spawn().unwrap());
    let mut address = String::new();
    BufReader::new(served.0.stdout.take().unwrap()).read_line(&mut address).unwrap();
    let (host, query) = address.trim().strip_prefix("https://").unwrap().split_once("/?").unwrap();
    let get = |path: &str, more: &str| {
        asked(host, &cert, &format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{more}Connection: close\r\n\r\n"))
    };
    let logged_in = get(&format!("/?{query}"), "").to_lowercase();
    let cookie = logged_in.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    assert!(cookie.contains("; secure") && cookie.contains("; httponly"), "{cookie}");
    let page = get("/records", &format!("Cookie: {}\r\n", cookie.split(';').next().unwrap()));
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("<h1>Records</h1>"), "{page}");
    assert!(get("/records", "").starts_with("HTTP/1.1 403"));

    // Who speaks plain HTTP is not answered, and keeps no place.
    let mut plain = TcpStream::connect(host).unwrap();
    plain.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    plain.write_all(format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).unwrap();
    let mut said = Vec::new();
    let _ = plain.read_to_end(&mut said);
    assert!(!said.starts_with(b"HTTP"), "{}", String::from_utf8_lossy(&said));
}

#[test]
fn a_wrong_certificate_or_key_costs_one_line() {
    if !is_installed("openssl", "wrong certificates") {
        return;
    }
    let place = Place::new();
    let ([cert, key], [_, other]) = (certificate(&place, "own"), certificate(&place, "other"));
    let empty = place.file("empty.pem", "");
    let serve = |cert: &PathBuf, key: &PathBuf| {
        let mut command = place.assay(["serve", "--tls-cert"]);
        command.arg(cert).arg("--tls-key").arg(key);
        run(command)
    };
    let missing = place.path().join("missing.pem");
    for (cert, key, words) in [
        (&missing, &key, "cannot be read"),
        (&cert, &missing, "cannot be read"),
        (&empty, &key, "holds no certificate"),
        (&key, &key, "holds no certificate"),
        (&cert, &empty, "holds no private key"),
        (&cert, &cert, "holds no private key"),
        (&cert, &other, "cannot be used with this key"),
    ] {
        let done = serve(cert, key);
        done.refuses(2, &[words]);
        assert_eq!(done.stderr.lines().count(), 1, "{}", done.stderr);
    }
    run(place.assay(["serve", "--tls-cert", "x.pem"])).refuses(2, &["--tls-key"]);
    assert!(fs::read_dir(place.data()).map_or(true, |mut entries| entries.next().is_none()));
}
