//! A record reaches a site once, whatever happens to the answers. The site is a model that answers as it is told.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};

use assay_device::owned::Directory;
use assay_submit::{Account, Client, ClientError, Entry, Outbox, Publication, Site, Status};

/// What the site does with a request.
enum Reply {
    /// Reads it, and closes the connection.
    Silence,
    /// Answers with this status, these headers and this body.
    Answer(&'static str, &'static str, String),
}

/// A request, as the site received it.
struct Request {
    line: String,
    headers: Vec<String>,
    body: String,
}

/// A site that gives these replies, one after another, each on a connection of its own.
fn site(replies: Vec<Reply>) -> (Site, Receiver<Request>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let site = Site::parse(&format!("http://{}", listener.local_addr().expect("its address"))).expect("a site");
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for reply in replies {
            let (stream, _) = listener.accept().expect("a connection");
            let _ = sender.send(read(&stream));
            if let Reply::Answer(status, headers, body) = reply {
                let length = body.len();
                let text = format!(
                    "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}\r\n{body}"
                );
                // A client may leave before it has read a long answer.
                let _ = (&stream).write_all(text.as_bytes());
            }
        }
    });
    (site, receiver)
}

fn read(stream: &TcpStream) -> Request {
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a head");
        if line.trim_end().is_empty() {
            break;
        }
        lines.push(line.trim_end().to_owned());
    }
    let length = lines.iter().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).expect("a body");
    let body = String::from_utf8(body).expect("text");
    Request { line: lines.remove(0), headers: lines, body }
}

const DOCUMENT: &str = "{\"id\":\"k3m9x2p7qa\",\"note\":\"µ\"}";

fn receipt(state: &str) -> String {
    let hash = blake3::hash(DOCUMENT.as_bytes()).to_hex();
    format!(
        "{{\"id\":\"k3m9x2p7qa\",\"hash\":\"{hash}\",\"state\":\"{state}\",\"reasons\":[{{\"code\":\"copy\",\"detail\":\"of another\"}}],\
         \"received\":\"2026-11-28T16:00:00Z\",\"address\":\"https://results.example.org/records/k3m9x2p7qa\",\
         \"withdrawal_key\":\"00ff\",\"news\":1}}"
    )
}

/// The outbox in a directory of its own, with an entry that waits, and a client of the site.
fn waiting(site: &Site) -> (tempfile::TempDir, Outbox, Client, Entry) {
    let directory = tempfile::tempdir().expect("a directory");
    let outbox = Outbox::open(Directory::open(directory.path()).expect("open")).expect("free");
    let entry = Entry {
        site: site.clone(),
        record: "k3m9x2p7qa".to_owned(),
        submitted: "2026-11-28T12:00:00Z".to_owned(),
        unlisted: false,
        status: Status::Waiting { document: DOCUMENT.to_owned(), attempts: 0 },
    };
    outbox.put(&entry).expect("kept");
    let account = Account { site: site.clone(), token: "t".repeat(64), certificates: None };
    (directory, outbox, Client::new(&account).expect("a client"), entry)
}

#[test]
fn a_lost_answer_is_made_good_by_sending_the_same_bytes() {
    let created = Reply::Answer("201 Created", "", receipt("received"));
    let (site, requests) = site(vec![Reply::Silence, created]);
    let (_directory, outbox, client, entry) = waiting(&site);
    let first = outbox.deliver(&client, entry).expect("kept");
    assert!(matches!(first.error, Some(ClientError::Later { .. })), "{:?}", first.error);
    let kept = outbox.entry(&site, "k3m9x2p7qa").expect("read").expect("an entry");
    assert!(matches!(&kept.status, Status::Waiting { attempts: 1, .. }), "{kept:?}");
    let second = outbox.deliver(&client, kept).expect("kept");
    assert!(second.error.is_none(), "{:?}", second.error);
    let kept = outbox.entry(&site, "k3m9x2p7qa").expect("read").expect("an entry");
    let Status::Received { receipt, withdrawal_key } = &kept.status else { panic!("{kept:?}") };
    assert_eq!(receipt.state, Publication::Received);
    assert_eq!(receipt.reasons[0].code, "copy");
    assert_eq!(withdrawal_key.as_deref(), Some("00ff"));
    for request in requests.iter().take(2) {
        assert_eq!(request.line, "PUT /api/v1/records/k3m9x2p7qa HTTP/1.1");
        assert_eq!(request.body, DOCUMENT);
        let token = format!("authorization: Bearer {}", "t".repeat(64));
        assert!(request.headers.iter().any(|header| header.eq_ignore_ascii_case(&token)), "{:?}", request.headers);
    }
}

#[test]
fn a_refusal_ends_the_retries_and_says_where() {
    let refusal = "{\"error\":{\"code\":\"not_redacted\",\"message\":\"a host name\",\"pointer\":\"/host/hostname\"}}";
    let (site, _requests) = site(vec![Reply::Answer("422 Unprocessable Content", "", refusal.to_owned())]);
    let (_directory, outbox, client, entry) = waiting(&site);
    let step = outbox.deliver(&client, entry).expect("kept");
    let Status::Refused { refusal } = &step.entry.status else { panic!("{:?}", step.entry) };
    assert_eq!((refusal.status, refusal.code.as_str()), (422, "not_redacted"));
    assert_eq!(refusal.pointer.as_deref(), Some("/host/hostname"));
    // There is no second reply: another request would fail.
    let again = outbox.deliver(&client, step.entry.clone()).expect("kept");
    assert_eq!(again.entry, step.entry);
    assert!(again.error.is_none());
}

#[test]
fn what_may_pass_later_keeps_the_entry_waiting() {
    let busy = "{\"error\":{\"code\":\"too_many\",\"message\":\"at most 60 a minute\",\"pointer\":null}}".to_owned();
    let other = receipt("received").replace("k3m9x2p7qa\",\"hash", "zzzzzzzzzz\",\"hash");
    let replies = vec![
        Reply::Answer("429 Too Many Requests", "Retry-After: 7\r\n", busy),
        Reply::Answer("503 Service Unavailable", "", "<html>".to_owned()),
        Reply::Answer("500 Internal Server Error", "", String::new()),
        Reply::Answer("302 Found", "Location: http://127.0.0.1:1/\r\n", String::new()),
        Reply::Answer("201 Created", "", other),
        Reply::Answer("201 Created", "", "{}".to_owned()),
        Reply::Answer("201 Created", "", " ".repeat(2 << 20)),
        Reply::Answer("401 Unauthorized", "", "{}".to_owned()),
    ];
    let tries = replies.len();
    let (site, _requests) = site(replies);
    let (_directory, outbox, client, mut entry) = waiting(&site);
    let mut errors = Vec::new();
    for _ in 0..tries {
        let step = outbox.deliver(&client, entry).expect("kept");
        errors.push(step.error.expect("an error"));
        entry = step.entry;
    }
    assert!(matches!(entry.status, Status::Waiting { attempts: 8, .. }), "{entry:?}");
    let ClientError::Later { reason, after, .. } = &errors[0] else { panic!("{errors:?}") };
    assert_eq!((reason.as_str(), after.map(|after| after.as_secs())), ("at most 60 a minute", Some(7)));
    assert!(matches!(errors[1], ClientError::Later { .. }), "{errors:?}");
    assert!(errors[2..7].iter().all(|error| matches!(error, ClientError::Strange { .. })), "{errors:?}");
    assert!(matches!(errors[7], ClientError::Unauthorized(_)), "{errors:?}");
}

#[test]
fn a_record_is_withdrawn_by_key_and_account() {
    let replies = vec![
        Reply::Answer("200 OK", "", receipt("public")),
        Reply::Answer("200 OK", "", receipt("held")),
        Reply::Answer("200 OK", "", receipt("withdrawn")),
    ];
    let (site, requests) = site(replies);
    let (_directory, outbox, client, entry) = waiting(&site);
    let sent = outbox.deliver(&client, entry).expect("kept").entry;
    let looked = outbox.look(&client, sent).expect("kept").entry;
    let Status::Received { receipt, withdrawal_key } = &looked.status else { panic!("{looked:?}") };
    assert_eq!((receipt.state, withdrawal_key.as_deref()), (Publication::Held, Some("00ff")));
    let back = outbox.withdraw(&client, looked).expect("kept");
    assert!(back.error.is_none() && matches!(back.entry.status, Status::Withdrawn { .. }), "{back:?}");
    let last = requests.iter().nth(2).expect("three requests");
    assert_eq!(last.line, "DELETE /api/v1/records/k3m9x2p7qa HTTP/1.1");
    assert!(last.headers.iter().any(|header| header.eq_ignore_ascii_case("withdrawal-key: 00ff")));
}

#[test]
fn what_never_left_is_withdrawn_without_the_site() {
    let (site, _requests) = site(Vec::new());
    let (_directory, outbox, client, entry) = waiting(&site);
    let back = outbox.withdraw(&client, entry).expect("kept");
    assert!(back.error.is_none() && matches!(back.entry.status, Status::Withdrawn { .. }), "{back:?}");
}

/// An answer in parts is one answer, and is kept as one.
#[test]
fn figures_in_parts_are_put_together_and_kept() {
    let observation = |id: &str| {
        let record = assay_core::draft::Draft::begin(
            id,
            "2026-11-28T12:00:00Z",
            assay_core::record::Tool::assay("1", "sync", ""),
            assay_core::record::SuiteRef::new("quick", 1),
            assay_core::medium::Medium::unknown("/mnt"),
        );
        let observation =
            assay_core::observation::Observation::from(record.close(assay_core::outcome::Outcome::Completed));
        let observation = serde_json::to_string(&observation).expect("JSON");
        format!("{{\"id\":\"{id}\",\"account\":\"alice\",\"unit\":\"alice:{id}\",\"observation\":{observation}}}")
    };
    let part = |ids: &[&str], next: &str| {
        let all: Vec<String> = ids.iter().map(|id| observation(id)).collect();
        let body = format!("{{\"snapshot\":{{}},\"next\":{next},\"observations\":[{}]}}", all.join(","));
        Reply::Answer("200 OK", "ETag: \"7-abc\"\r\n", body)
    };
    let unchanged = || Reply::Answer("304 Not Modified", "", String::new());
    let (site, requests) = site(vec![part(&["a", "b"], "\"b\""), part(&["c"], "null"), unchanged()]);
    let directory = tempfile::tempdir().expect("a directory");
    let cache = Directory::open(directory.path()).expect("open");
    let ids = || {
        let figures =
            assay_submit::figures(&cache, &site, None, assay_submit::Scope::Model("Card A")).expect("figures");
        let units = figures.observations.iter().map(|of| of.medium.unit.clone().unwrap_or_default());
        (figures.observations.iter().map(|of| of.id.clone()).collect::<Vec<_>>(), units.collect::<Vec<_>>())
    };
    let expected =
        (["a", "b", "c"].map(str::to_owned).to_vec(), ["alice:a", "alice:b", "alice:c"].map(str::to_owned).to_vec());
    assert_eq!(ids(), expected);
    assert_eq!(ids(), expected, "what was kept");
    let lines: Vec<String> = requests.iter().take(3).map(|request| request.line).collect();
    assert!(lines[0].contains("observations?model=Card%20A HTTP"), "{lines:?}");
    assert!(lines[1].contains("model=Card%20A&after=b HTTP"), "{lines:?}");
}
