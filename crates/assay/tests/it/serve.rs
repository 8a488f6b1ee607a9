//! `assay serve`: who may ask, what pages say, and measuring from the page, by plain HTTP.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use assay_core::record::Record;
use rustix::process::Signal;

use crate::common::{Place, random, run, scratch_directories, send, suite};

/// No answer takes longer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server of a place, ended with the test.
pub(crate) struct Served {
    child: Child,
    /// With the secret, unless a token is asked for.
    pub(crate) address: String,
    /// `127.0.0.1:PORT`
    host: String,
    cookie: String,
}

/// An answer.
struct Got {
    status: u16,
    head: String,
    body: String,
}

impl Served {
    pub(crate) fn begin(place: &Place, more: &[&str]) -> Self {
        let mut command = place.assay(["serve"]);
        let mut child = command.args(more).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        let address = address.trim().to_owned();
        let host = address.strip_prefix("http://").unwrap().split('/').next().unwrap().to_owned();
        let mut served = Self { child, address, host, cookie: String::new() };
        if let Some((_, query)) = served.address.split_once('?') {
            let got = served.ask(&format!("GET /?{query} HTTP/1.1"), "");
            assert_eq!(got.status, 303, "{}", got.head);
            let set = got.head.lines().find(|line| line.to_lowercase().starts_with("set-cookie:")).unwrap();
            assert!(set.contains("HttpOnly") && set.contains("SameSite=Strict"), "{set}");
            served.cookie = set.split_once(':').unwrap().1.trim().split(';').next().unwrap().to_owned();
        }
        served
    }

    /// Sends a request with the host and the cookie of a browser that is logged in.
    fn ask(&self, line: &str, form: &str) -> Got {
        let mut head = format!("{line}\r\nHost: {}\r\n", self.host);
        if !self.cookie.is_empty() {
            head += &format!("Cookie: {}\r\n", self.cookie);
        }
        if !form.is_empty() {
            head += &format!(
                "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\nOrigin: http://{}\r\n",
                form.len(),
                self.host
            );
        }
        self.raw(&format!("{head}Connection: close\r\n\r\n{form}"))
    }

    /// Sends these bytes.
    fn raw(&self, request: &str) -> Got {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8(answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        // Chunks of a stream keep their lengths: they are looked at for words alone.
        Got { status, head: head.to_owned(), body: body.to_owned() }
    }

    fn page(&self, path: &str) -> Got {
        self.ask(&format!("GET {path} HTTP/1.1"), "")
    }

    fn good(&self, path: &str) -> String {
        let got = self.page(path);
        assert_eq!(got.status, 200, "{path}: {}", got.body);
        got.body
    }

    /// The token that forms of this server hold.
    fn token(&self) -> String {
        let page = self.good("/measure/plan?target=.&what=measure&suite=smoke");
        let (_, rest) = page.split_once("name=\"form\" value=\"").unwrap();
        rest.split('"').next().unwrap().to_owned()
    }

    pub(crate) fn end(mut self) -> Option<i32> {
        send(self.child.id(), Signal::TERM);
        let code = self.child.wait().unwrap().code();
        std::mem::forget(self);
        code
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        send(self.child.id(), Signal::TERM);
        let _ = self.child.wait();
    }
}

/// Published figures as records of a store, each with a unit.
pub(crate) fn stocked() -> Place {
    let mut records = Vec::new();
    for query in ["sandisk-ultra-a1", "samsung-evo-plus-64gb"] {
        for (at, record) in assay_analysis::published_records(query).unwrap().into_iter().enumerate() {
            let id = format!("{}{at}", &query[..3]);
            let created = format!("2026-11-2{at}T06:31:00Z");
            records.push(Record { id, created, ..record });
        }
    }
    Place::with_records(&records)
}

/// What a page has of an answer, with the blanks that only lay it out alike.
fn article(page: &str) -> &str {
    let begin = page.find("<article").unwrap_or_else(|| panic!("no answer: {page}"));
    let end = page.rfind("</article>").unwrap();
    &page[begin..end]
}

#[test]
fn a_page_says_what_the_command_writes() {
    let place = stocked();
    let served = Served::begin(&place, &[]);
    let cases: [(&str, &[&str]); 7] = [
        ("/rank?of=all", &["rank", "all"]),
        (
            "/rank?of=all&load=random+write+4+KiB&level=90%25",
            &["rank", "all", "--load", "random write 4 KiB", "--level", "90%"],
        ),
        ("/compare?of=san0&of=sam0", &["compare", "san0", "sam0"]),
        ("/compare?of=all&by=model", &["compare", "all", "--by", "model"]),
        ("/advise/nas?of=all&nodes=28&link=1Gbit", &["advise", "nas", "all", "--nodes", "28", "--link", "1Gbit"]),
        ("/advise/class?of=all&class=A1", &["advise", "class", "all", "--class", "A1"]),
        ("/plan/race?of=all", &["plan", "race", "all"]),
    ];
    for (path, words) in cases {
        let file = place.path().join("answer.html");
        let words: Vec<&str> = words.iter().copied().chain(["-o", file.to_str().unwrap(), "--identities"]).collect();
        let done = run(place.assay(&words));
        assert!(file.is_file(), "{}", done.stderr);
        let written = fs::read_to_string(&file).unwrap();
        assert_eq!(article(&served.good(path)), article(&written), "{path}");
        fs::remove_file(&file).unwrap();
    }
    let file = place.path().join("record.html");
    run(place.assay(["report", "san0", "-o", file.to_str().unwrap(), "--identities"])).succeeds();
    assert_eq!(article(&served.good("/records/san0")), article(&fs::read_to_string(&file).unwrap()));
    assert_eq!(served.end(), Some(0));
}

#[test]
fn every_page_is_there_and_lists_what_the_store_holds() {
    let place = stocked();
    let served = Served::begin(&place, &[]);
    for path in [
        "/",
        "/measure",
        "/records",
        "/rank",
        "/compare",
        "/advise",
        "/advise/cache",
        "/advise/buy",
        "/plan",
        "/plan/swap",
        "/fleet",
        "/watch",
        "/baselines",
        "/baselines/gate",
    ] {
        served.good(path);
    }
    assert!(served.good("/").contains("SanDisk Ultra A1"));
    let records = served.good("/records?q=model%3DSanDisk*");
    assert!(records.contains("/records/san0") && !records.contains("/records/sam0"));
    for (path, kind) in
        [("json", "application/json"), ("svg", "attachment"), ("md", "text/markdown"), ("csv", "text/csv")]
    {
        let got = served.page(&format!("/records/san0/as/{path}"));
        assert!(got.status == 200 && got.head.contains(kind), "{path}: {}", got.head);
    }
    for path in ["/rank/picture?of=all", "/compare/picture?of=san0&of=sam0"] {
        let got = served.page(path);
        assert!(got.head.contains("image/svg+xml") && got.head.contains("attachment") && got.body.starts_with("<svg"));
    }
    for (path, status) in [
        ("/nothing", 404),
        ("/records/nothing", 404),
        ("/records/san0/as/exe", 404),
        ("/records/all", 404),
        ("/records/model=x", 404),
        ("/runs/1", 404),
        ("/rank?of=model%3Dnothing", 422),
        ("/records?q=%00", 200),
    ] {
        assert_eq!(served.page(path).status, status, "{path}");
    }
}

#[test]
fn only_who_has_the_secret_is_answered() {
    let place = stocked();
    let served = Served::begin(&place, &[]);
    let host = &served.host;
    let port = host.split(':').nth(1).unwrap();
    let bare = |host: &str, more: &str| {
        served.raw(&format!("GET / HTTP/1.1\r\nHost: {host}\r\n{more}Connection: close\r\n\r\n"))
    };
    let cookie = format!("Cookie: {}\r\n", served.cookie);
    assert_eq!(bare(host, "").status, 403, "no cookie");
    assert_eq!(bare(host, "Cookie: assay-1=x\r\n").status, 403, "another cookie");
    assert_eq!(bare(&format!("localhost:{port}"), &cookie).status, 200);
    for other in [format!("attacker.example:{port}"), "127.0.0.1".to_owned(), String::new()] {
        assert_eq!(bare(&other, &cookie).status, 421, "{other:?}");
    }
    let wrong = served.raw(&format!("GET /?key=00 HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"));
    assert!(wrong.status == 403 && !wrong.head.to_lowercase().contains("set-cookie"));
    let head = bare(host, &cookie).head.to_lowercase();
    for header in [
        "content-security-policy: default-src 'none'",
        "frame-ancestors 'none'",
        "x-content-type-options: nosniff",
        "cache-control: no-store",
    ] {
        assert!(head.contains(header), "{header}: {head}");
    }
}

#[test]
fn a_form_of_another_page_starts_nothing() {
    let place = stocked();
    let served = Served::begin(&place, &[]);
    let token = served.token();
    let form = |token: &str| format!("form={token}&target=.&what=measure&suite=smoke");
    assert_eq!(served.ask("POST /measure/start HTTP/1.1", &form("0")).status, 422, "a wrong token");
    let cross = |more: &str| {
        let body = form(&token);
        served.raw(&format!(
            "POST /measure/start HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\n{more}Content-Type: application/x-www-form-urlencoded\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            served.host,
            served.cookie,
            body.len()
        ))
    };
    assert_eq!(cross("Origin: http://attacker.example\r\n").status, 403);
    assert_eq!(cross("Origin: null\r\n").status, 403);
    assert_eq!(cross("Sec-Fetch-Site: cross-site\r\n").status, 403);
    assert_eq!(served.page("/runs/1").status, 404, "nothing was started");
    let long = format!("form={token}&target={}", "x".repeat(100_000));
    assert!((400..500).contains(&served.ask("POST /measure/start HTTP/1.1", &long).status));
}

/// Waits until the page of a job says these words.
fn wait_for(served: &Served, path: &str, words: &str) -> String {
    let begun = Instant::now();
    loop {
        let page = served.good(path);
        if page.contains(words) {
            return page;
        }
        assert!(begun.elapsed() < PATIENCE, "{words}: {page}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_medium_is_measured_watched_and_stopped_from_the_page() {
    let place = Place::new();
    let served = Served::begin(&place, &[]);
    let token = served.token();
    let target = place.medium().to_str().unwrap().to_owned();
    let fields = format!("target={target}&what=measure&suite=smoke&model=Card");
    let plan = served.good(&format!("/measure/plan?{fields}"));
    assert!(plan.contains("at most 64 MiB written") && plan.contains("Nothing was written"), "{plan}");
    place.assert_clean();

    let started = served.ask("POST /measure/start HTTP/1.1", &format!("form={token}&{fields}"));
    assert_eq!(started.status, 303, "{}", started.body);
    let page = wait_for(&served, "/runs/1", "has ended");
    assert!(page.contains("random read IOPS") || page.contains("Random read IOPS"), "{page}");
    let events = served.page("/runs/1/events?from=0");
    assert!(events.head.contains("text/event-stream") && events.body.contains("event: over"), "{}", events.body);
    for kind in ["started", "repeat", "done"] {
        assert!(events.body.contains(&format!("\"kind\":\"{kind}\"")), "{kind}");
    }
    assert_eq!(place.only_record().labels["model"], "Card");

    let fields = format!("target={target}&what=measure&suite=quick");
    assert_eq!(served.ask("POST /measure/start HTTP/1.1", &format!("form={token}&{fields}")).status, 303);
    wait_for(&served, "/runs/2", "repeat 1 of");
    assert_eq!(served.ask("POST /runs/2/stop HTTP/1.1", &format!("form={token}")).status, 303);
    wait_for(&served, "/runs/2", "was stopped");
    place.assert_clean();
    // A server that ends stops what it began.
    assert_eq!(served.ask("POST /measure/start HTTP/1.1", &format!("form={token}&{fields}")).status, 303);
    wait_for(&served, "/runs/3", "repeat 1 of");
    assert_eq!(served.end(), Some(0));
    assert_eq!(scratch_directories(&place.medium()), 0);
    assert_eq!(run(place.assay(["list", "--json"])).succeeds().stdout.matches("\"id\"").count(), 3);
}

#[test]
fn a_run_that_is_stopped_at_once_was_stopped() {
    let place = Place::new();
    let served = Served::begin(&place, &[]);
    let token = served.token();
    let target = place.medium().to_str().unwrap().to_owned();
    // Each of them is another moment of its beginning.
    for (number, wait) in [0, 2, 5, 10, 20, 50].into_iter().enumerate() {
        let fields = format!("form={token}&target={target}&what=measure&suite=quick");
        assert_eq!(served.ask("POST /measure/start HTTP/1.1", &fields).status, 303);
        std::thread::sleep(Duration::from_millis(wait));
        let path = format!("/runs/{}", number + 1);
        assert_eq!(served.ask(&format!("POST {path}/stop HTTP/1.1"), &format!("form={token}")).status, 303);
        let page = wait_for_end(&served, &path);
        assert!(page.contains("was stopped") || page.contains("has ended"), "{page}");
        place.assert_clean();
    }
}

/// Waits until a job has ended in any way.
fn wait_for_end(served: &Served, path: &str) -> String {
    let begun = Instant::now();
    loop {
        let page = served.good(path);
        if !page.contains("is running") && !page.contains("is stopping") {
            return page;
        }
        assert!(begun.elapsed() < PATIENCE, "{page}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Records of seven units.
pub(crate) fn seven() -> Vec<Record> {
    let record = assay_analysis::published_records("sandisk-ultra-a1").unwrap().remove(0);
    let of = |at: usize| {
        let mut record =
            Record { id: format!("san{at}"), created: "2026-11-20T06:31:00Z".to_owned(), ..record.clone() };
        record.labels.insert("unit".to_owned(), at.to_string());
        record
    };
    (0..7).map(of).collect()
}

#[test]
fn a_comparison_of_more_than_six_is_refused_in_a_line() {
    let records = seven();
    let ids: Vec<&str> = records.iter().map(|record| record.id.as_str()).collect();
    let place = Place::with_records(&records);
    let served = Served::begin(&place, &[]);
    let of = |count: usize| ids[..count].iter().map(|id| format!("of={id}")).collect::<Vec<_>>().join("&");
    assert_eq!(served.page(&format!("/compare?{}", of(6))).status, 200);
    for (path, groups) in [(format!("/compare?{}", of(7)), 7), ("/compare?of=all&by=record".to_owned(), ids.len())] {
        let got = served.page(&path);
        let words = format!("{groups} groups are more than the 6 that a page compares");
        assert!(got.status == 422 && got.body.contains(&words), "{path}: {}", got.body);
    }
    assert_eq!(served.page(&format!("/rank?{}", of(7))).status, 200);
    assert!(served.good("/records").contains("A comparison takes at most 6"));
}

#[test]
fn a_plan_is_made_on_the_page_and_its_page_says_what_the_command_says() {
    let place = stocked();
    let served = Served::begin(&place, &[]);
    let fields = "units=SanDisk+Ultra+A1%3D1%2C2%2C3%3BEVO%3D1%2C2%2C3&slots=4&rounds=2&suite=quick";
    let shown = served.good(&format!("/plan/new?{fields}"));
    assert!(shown.contains("Keep this plan") && shown.contains("assay plan new"), "{shown}");
    assert!(!place.data().join("plans").exists(), "nothing is kept before that");
    let kept = served.ask("POST /plan/new HTTP/1.1", &format!("form={}&{fields}", served.token()));
    assert_eq!(kept.status, 303, "{}", kept.body);
    let path = kept.head.lines().find_map(|line| line.strip_prefix("location: ")).unwrap().trim().to_owned();
    let label = path.rsplit('/').next().unwrap();
    let plan = place.data().join("plans").join(format!("{label}.toml"));
    let file = place.path().join("status.html");
    run(place.assay(["plan", "status", plan.to_str().unwrap(), "-o", file.to_str().unwrap(), "--identities"]));
    assert_eq!(article(&served.good(&path)), article(&fs::read_to_string(&file).unwrap()));
    assert_eq!(served.good(&format!("{path}/file")), fs::read_to_string(&plan).unwrap());
    assert!(served.good("/plan").contains(&path));
    // One of the command line has a page, too.
    let own = ["plan", "new", "--units", "A=1,2;B=1,2", "--slots", "3", "-o", "own.toml"];
    run(place.assay(own)).succeeds();
    assert_eq!(served.good("/plan").matches("/plan/of/").count(), 2);
    for (path, status) in
        [("/plan/of/nothing", 404), ("/plan/of/..%2F..%2Fassay", 404), ("/plan/new?units=own.toml&slots=2", 422)]
    {
        assert_eq!(served.page(path).status, status, "{path}");
    }
}

/// A run on two nodes, which are processes of this machine; it takes some seconds.
pub(crate) fn fleet_run(place: &Place) -> Child {
    let node = |name: &str| {
        fs::create_dir(place.path().join(name)).unwrap();
        format!("{name}={}", place.path().join(name).display())
    };
    let loads = [random("r", "read", "500ms"), random("w", "write", "500ms")];
    place.file("two.toml", suite("two", "60s", 3, &loads));
    let words = [
        "fleet",
        "run",
        "-q",
        "--via",
        "local",
        &node("a"),
        &node("b"),
        "--",
        "--suite",
        "two.toml",
        "--label",
        "model=X",
    ]
    .map(str::to_owned);
    place.assay(words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
fn the_page_of_a_run_on_nodes_follows_it() {
    let place = Place::new();
    let served = Served::begin(&place, &[]);
    let mut child = fleet_run(&place);
    let list = wait_for(&served, "/fleet", "under way");
    let path = list.split("href=\"").find_map(|rest| rest.strip_prefix("/fleet/")).unwrap();
    let path = format!("/fleet/{}", path.split('"').next().unwrap());
    let page = served.good(&path);
    let followed = page.contains("id=\"fleet\"") && page.contains("Under way: 0 of 2 nodes");
    assert!(followed || page.contains("<article"), "{page}");
    let now = served.page(&format!("{path}/part?seen=nothing"));
    let now: serde_json::Value = serde_json::from_str(&now.body).unwrap();
    if now["ended"] == false {
        assert!(now["html"].as_str().unwrap().contains("<article"), "{now}");
        let stand = now["stand"].as_str().unwrap();
        assert!([200, 204].contains(&served.page(&format!("{path}/part?seen={stand}")).status));
    }
    child.wait().unwrap();
    let now: serde_json::Value = serde_json::from_str(&served.page(&format!("{path}/part")).body).unwrap();
    assert_eq!(now["ended"], true);
    let page = served.good(&path);
    assert!(!page.contains("id=\"fleet\"") && page.contains("<figure class=\"picture\""), "no map of nodes: {page}");
}

#[test]
fn what_is_refused_on_the_command_line_is_refused_on_the_page() {
    let place = Place::new();
    let served = Served::begin(&place, &[]);
    for (fields, words) in [
        ("target=%2Fnosuch&what=measure&suite=quick", "no such file"),
        ("target=.&what=measure&suite=nosuch", "choose one of the page"),
        ("target=.&what=measure&suite=%2Fetc%2Fpasswd", "choose one of the page"),
        ("target=.&what=anything", "choose one of the page"),
        ("target=%2Fetc%2Fpasswd&what=measure", "is a file"),
        ("target=%2Fdev%2Fnull&what=quick", "is a file"),
        ("what=measure", "choose a medium"),
        ("target=a%00b", "no text"),
        ("target=.&model=a%00b", "no text"),
        ("target=--help&what=measure", "no such file"),
    ] {
        let got = served.page(&format!("/measure/plan?{fields}"));
        assert!(got.body.contains(words), "{fields}: {}", got.body);
        assert!(!got.body.contains("action=\"/measure/start\""), "{fields}");
    }
}

#[test]
fn other_machines_need_a_token() {
    let place = Place::new();
    run(place.assay(["serve", "--listen", "0.0.0.0:0"])).refuses(2, &["--token-file"]);
    let short = place.file("short", "too short");
    run(place.assay(["serve", "--token-file", short.to_str().unwrap()])).refuses(2, &["16 characters"]);
    let file = place.file("token", "sixteen letters!\n");
    let served = Served::begin(&place, &["--token-file", file.to_str().unwrap(), "--name", "nas.lan"]);
    assert!(!served.address.contains("key="), "{}", served.address);
    let first = served.page("/");
    assert!(first.status == 303 && first.head.contains("/login"), "{}", first.head);
    assert!(served.good("/login").contains("type=\"password\""));
    assert_eq!(served.ask("POST /login HTTP/1.1", "token=wrong").status, 403);
    let in_ = served.ask("POST /login HTTP/1.1", "token=sixteen+letters%21");
    assert!(in_.status == 303 && in_.head.to_lowercase().contains("set-cookie"), "{}", in_.head);
    let named = served.raw("GET /login HTTP/1.1\r\nHost: nas.lan\r\nConnection: close\r\n\r\n");
    assert_eq!(named.status, 200);
}

#[test]
fn slow_and_broken_clients_hold_nobody_up() {
    let place = Place::new();
    let served = Served::begin(&place, &[]);
    // More than are taken at once: heads that never end, and connections that say nothing. Who comes later waits for none of them.
    let mut idle = Vec::new();
    for number in 0..300 {
        let mut stream = TcpStream::connect(&served.host).unwrap();
        let begin: &[u8] = if number % 2 == 0 { b"GET / HTTP/1.1\r\nHost: " } else { b"" };
        stream.write_all(begin).unwrap();
        idle.push(stream);
    }
    served.good("/");
    // Whoever waited longest gave way.
    let mut first = &idle[0];
    first.set_read_timeout(Some(PATIENCE)).unwrap();
    assert!(first.read(&mut [0]).is_ok_and(|length| length == 0) || first.read(&mut [0]).is_err());
    for broken in [
        "\r\n\r\n",
        "GET\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "\u{0}\u{1}\r\n\r\n",
    ] {
        let mut stream = TcpStream::connect(&served.host).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let _ = stream.write_all(broken.as_bytes());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 4"), "{broken:?}");
    }
    served.good("/records");
    // A form that does not arrive keeps no place: it is answered in the end.
    let mut slow = TcpStream::connect(&served.host).unwrap();
    slow.set_read_timeout(Some(PATIENCE)).unwrap();
    let head = format!(
        "POST /baselines/set HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\nContent-Type: application/x-www-form-urlencoded\r\n\
         Content-Length: 60000\r\nConnection: close\r\n\r\nof=",
        served.host, served.cookie
    );
    slow.write_all(head.as_bytes()).unwrap();
    let mut answer = Vec::new();
    slow.read_to_end(&mut answer).unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 400"), "{}", String::from_utf8_lossy(&answer));
    let login = format!("GET /login HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", served.host);
    assert_eq!(served.raw(&login).status, 403, "no token was chosen");
}

#[test]
fn the_token_of_forms_is_in_no_address_and_names_no_other_records() {
    let place = stocked();
    let served = Served::begin(&place, &[]);
    let page = served.good("/records");
    let (before, _) = page.split_once("name=\"form\"").unwrap();
    assert!(before.ends_with("formaction=\"/baselines/set\" "), "it goes with one button alone");
    let token = served.token();
    for of in ["", "of=", "of=&of=san0", "of=all", "of=model%3D*"] {
        let got = served.ask("POST /baselines/set HTTP/1.1", &format!("form={token}&name=main&{of}"));
        assert_eq!(got.status, 422, "{of}");
    }
    assert_eq!(
        served.ask("POST /baselines/set HTTP/1.1", &format!("form={token}&name=main&of=san0&of=sam0")).status,
        303
    );
    assert!(served.good("/baselines").contains("baseline%3Amain"));
}
