//! Records go to a public instance and come back: the server is the real one, a program of its own beside this one.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::common::{Place, run};

/// The server's program, which the tests of the whole workspace build. `None` where it was not built.
fn program() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_BIN_EXE_assay")).with_file_name("assay-public");
    if !beside.exists() {
        eprintln!("SKIP: a public instance: assay-public is not built; build the workspace");
        return None;
    }
    Some(beside)
}

/// A public instance, which ends with the test.
struct Site(Child);

impl Site {
    /// Starts it at this address, and returns where it listens.
    fn start(place: &Place, program: &Path, listen: &str) -> (Self, String) {
        let mut command = Command::new(program);
        command.args(["serve", "--listen", listen, "--address", "http://127.0.0.1", "--database"]);
        let mut child = command.arg(place.path().join("site.sqlite")).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        (Self(child), line.trim().trim_end_matches('/').to_owned())
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn records_are_sent_once_wait_for_the_site_and_can_be_taken_back() {
    let Some(program) = program() else { return };
    let place = Place::new();
    let (first, second) = (place.measured(), place.measured());
    let mut account = Command::new(&program);
    account.args(["account", "add", "alice", "--database"]).arg(place.path().join("site.sqlite"));
    let token = place.file("token", account.output().unwrap().stdout);
    let (site, address) = Site::start(&place, &program, "127.0.0.1:0");

    run(place.assay(["submit", "last"])).refuses(2, &["assay login"]);
    run(place.assay(["login", &address, "--token-file", token.to_str().unwrap()])).succeeds();
    let shown = run(place.assay(["submit", &first.id, "--dry-run"])).succeeds().stdout.clone();
    let host = first.host.hostname.as_deref().unwrap();
    assert!(shown.contains("\"hostname\":\"host-") && !shown.contains(&format!("\"{host}\"")), "{shown}");
    let sent = place.json(["submit", &first.id, "--json"]);
    assert_eq!(sent["records"][0]["state"], "received", "{sent}");
    let receipt = &sent["records"][0]["receipt"];
    assert_eq!(receipt["id"], first.id.as_str());
    // Again: the same receipt, and one record there.
    let again = place.json(["submit", &first.id, "--json"]);
    assert_eq!(again["records"][0]["receipt"]["hash"], receipt["hash"]);
    let about = place.json(["login", &address, "--token-file", token.to_str().unwrap(), "--json"]);
    assert_eq!((&about["account"], &about["records"]), (&"alice".into(), &1.into()));

    // The site is away: the record waits, and goes when it is back.
    drop(site);
    let waits = run(place.assay(["submit", &second.id]));
    assert!(waits.code == Some(4) && waits.stdout.contains("waits"), "{}{}", waits.stdout, waits.stderr);
    let (_site, _) = Site::start(&place, &program, address.trim_start_matches("http://"));
    let sent = place.json(["submit", "--json"]);
    let states: Vec<_> = sent["records"].as_array().unwrap().iter().map(|record| &record["state"]).collect();
    assert_eq!(states, ["received", "received"], "{sent}");
    let back = place.json(["submit", &second.id, "--withdraw", "--json"]);
    assert_eq!(back["records"][0]["state"], "withdrawn", "{back}");
    run(place.assay(["submit", &second.id, "--withdraw"])).succeeds();
    run(place.assay(["login", &address, "--forget"])).succeeds();
}
