//! One suite for both databases.

use std::sync::Arc;

use assay_public::database::{Database, DatabaseError, Place, Value};
use assay_public::intake;
use assay_public::judge::judge_waiting;
use assay_public::states::{Code, Reason, Standing, State};
use assay_public::store::{self, Incoming, Submitted};
use assay_public::{derived, moving};
use jiff::Timestamp;

use crate::peers::Postgres;
use crate::samples::{Of, document, id_of};

fn open(place: &str) -> Database {
    Database::open(&place.parse::<Place>().unwrap()).unwrap()
}

fn incoming(account: &str, of: Of<'_>) -> Incoming {
    let text = document(of, account);
    let submission = intake::read(&id_of(of.seed), text.into_bytes(), Timestamp::now()).unwrap();
    Incoming { account: account.to_owned(), submission, unlisted: false, key: "k".repeat(64) }
}

fn submit(database: &Database, account: &str, of: Of<'_>) -> Submitted {
    database.write(|connection| store::submit(connection, &incoming(account, of))).unwrap()
}

fn suite(place: &str) {
    migrations(place);
    let database = open(place);
    accounts(&database);
    submissions(&database);
    states(&database);
    texts(&database);
    transactions(&database);
    numbers(&database);
}

/// Servers that start at once make the tables once; a database of a newer program is refused.
fn migrations(place: &str) {
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| drop(open(place)));
        }
    });
    let database = open(place);
    let version = |number: i64| {
        let set = move |connection: &mut dyn assay_public::database::Connection| {
            connection.run("DELETE FROM assay_public_version WHERE version > 1", &[])?;
            connection.run(
                "INSERT INTO assay_public_version (version) VALUES ($1) ON CONFLICT DO NOTHING",
                &[Value::Int(number)],
            )
        };
        database.write(set).unwrap()
    };
    version(99);
    assert!(matches!(Database::open(database.place()), Err(DatabaseError::Newer { found: 99, .. })));
    version(1);
    open(place);
}

fn accounts(database: &Database) {
    let add = |name: &str, token: &str| database.write(|c| store::add_account(c, name, token)).unwrap();
    assert!(add("alice", "one") && add("bob", "two") && !add("alice", "three"), "a name is given once");
    let of = |token: &str| database.with(|c| store::account_of(c, token)).unwrap();
    assert_eq!((of("one").as_deref(), of("two").as_deref(), of("three")), (Some("alice"), Some("bob"), None));
    database.write(|c| store::enable_account(c, "bob", false)).unwrap();
    assert_eq!(of("two"), None);
    let kept = database.with(|c| c.rows("SELECT token FROM accounts WHERE name = 'alice'", &[])).unwrap();
    assert_eq!(kept[0].text(0).unwrap(), store::hash_of("one"), "the token itself is not kept");
}

fn submissions(database: &Database) {
    let of = Of { seed: 1, ..Of::default() };
    let Submitted::New(new) = submit(database, "alice", of) else { panic!() };
    assert_eq!((new.standing.state, &*new.id), (State::Received, "0000000001"));
    assert_eq!(submit(database, "alice", of), Submitted::Same(new.clone()));
    assert!(matches!(submit(database, "bob", of), Submitted::Taken(_)), "another account");
    let mut other = incoming("alice", of);
    other.submission.hash = "f".repeat(64);
    assert!(matches!(database.write(|c| store::submit(c, &other)).unwrap(), Submitted::Taken(_)), "other bytes");
    let body = database.with(|c| store::document(c, &new.id)).unwrap().unwrap();
    assert_eq!(blake3::hash(&body).to_hex().as_str(), new.hash);
    assert_eq!(database.with(|c| store::document(c, "none")).unwrap(), None);
}

fn states(database: &Database) {
    submit(database, "alice", Of { seed: 2, ..Of::default() });
    assert_eq!(judge_waiting(database, 10).unwrap(), 2);
    let find = |seed| database.with(|c| store::find(c, &id_of(seed))).unwrap().unwrap();
    assert_eq!((find(1).standing.state, find(2).standing.state), (State::Public, State::Public), "{:?}", find(1));
    let log = || database.with(|c| store::log(c, 0, 100)).unwrap();
    assert_eq!(log(), [], "what became public as it was sent is no decision");
    let stale = find(1);
    assert!(database.write(|c| derived::hold(c, &stale, "looked odd")).unwrap());
    assert!(!database.write(|c| derived::hold(c, &stale, "again")).unwrap(), "its state changed meanwhile");
    let back = Standing { state: State::Received, reasons: Vec::new() };
    assert!(database.write(|c| derived::settle(c, &find(1), &back, None)).unwrap());
    assert_eq!(judge_waiting(database, 10).unwrap(), 1);
    let why = || Reason::new(Code::Asked, "taken back");
    assert!(database.write(|c| derived::withdraw(c, &find(2), why())).unwrap());
    assert!(!database.write(|c| derived::withdraw(c, &find(2), why())).unwrap());
    assert_eq!(database.with(|c| store::document(c, &id_of(2))).unwrap(), None, "its bytes are gone");
    assert!(matches!(submit(database, "alice", Of { seed: 2, ..Of::default() }), Submitted::Taken(_)));
    let changes: Vec<(String, String)> = log().into_iter().map(|entry| (entry.from, entry.to)).collect();
    let expected = [("public", "held"), ("held", "received"), ("public", "withdrawn")];
    assert_eq!(changes, expected.map(|(from, to)| (from.to_owned(), to.to_owned())));
    let mut texts = assay_public::digest::Texts::default();
    let seen = database.with(|c| derived::changes(c, 0, 100, &mut texts)).unwrap();
    let shown: Vec<(&str, bool)> = seen.iter().map(|change| (&*change.id, change.entry.is_some())).collect();
    assert_eq!(shown, [("0000000001", true), ("0000000002", false)], "in the order of their changes");
}

/// Texts that databases and encodings trip over, and their order by bytes.
fn texts(database: &Database) {
    let nasty = [
        "",
        "'",
        "\"",
        "\\",
        "%s",
        "$1",
        "?1",
        "; DROP TABLE log; --",
        "é",
        "e\u{301}",
        "𝄞",
        "\u{202e}abc",
        "a\nb\tc",
        "NULL",
        "ß",
        "Z",
        "a",
        "ä",
        "\u{7f}",
        "𐀀",
        "\u{ffff}",
    ];
    for (at, text) in nasty.iter().enumerate() {
        let print = format!("{at:02}");
        let put = [Value::from(&print), Value::from(*text)];
        database.write(|c| c.run("INSERT INTO prints (print, id) VALUES ($1, $2)", &put)).unwrap();
        let back = database.with(|c| c.rows("SELECT id FROM prints WHERE print = $1 AND id = $2", &put)).unwrap();
        assert_eq!(back[0].text(0).unwrap(), *text);
    }
    let rows = database
        .with(|c| c.rows("SELECT id FROM prints WHERE print < '99' AND LENGTH(print) = 2 ORDER BY id", &[]))
        .unwrap();
    let found: Vec<String> = rows.iter().map(|row| row.text(0).unwrap()).collect();
    let mut sorted = nasty.to_vec();
    sorted.sort_unstable();
    assert_eq!(found, sorted);
    database.write(|c| c.run("DELETE FROM prints WHERE LENGTH(print) = 2", &[])).unwrap();
}

fn transactions(database: &Database) {
    let failed: Result<(), DatabaseError> = database.write(|c| {
        store::submit(c, &incoming("alice", Of { seed: 3, ..Of::default() }))?;
        Err(DatabaseError::Refused("on purpose".to_owned()))
    });
    assert!(failed.is_err());
    assert_eq!(database.with(|c| store::find(c, &id_of(3))).unwrap(), None, "nothing of it was kept");
    // Writers take turns: no two changes have one number, and none is lost.
    std::thread::scope(|scope| {
        for writer in 0..4 {
            scope.spawn(move || {
                for at in 0..5 {
                    let of = Of { seed: 100 + 10 * writer + at, ..Of::default() };
                    assert!(matches!(submit(database, "alice", of), Submitted::New(_)));
                }
            });
        }
    });
    let counts = database.with(store::counts).unwrap();
    assert!(counts.contains(&("received".to_owned(), 20)), "{counts:?}");
}

fn numbers(database: &Database) {
    let cite = |hash: &str| database.write(|c| store::cite(c, hash, [1, 1, 1])).unwrap().number;
    assert_eq!(["x", "x", "y", "y", "x"].map(cite), [1, 1, 2, 2, 3], "a set that was here before gets a new number");
}

#[test]
fn sqlite() {
    let directory = tempfile::tempdir().unwrap();
    suite(&crate::server::sqlite(directory.path()));
}

#[test]
fn postgres_and_back() {
    let Some(server) = Postgres::start() else { return };
    let place = server.database("suite");
    suite(&place);
    // There and back again: all is equal, and a copy that was ended goes on.
    let directory = tempfile::tempdir().unwrap();
    let (from, there) = (open(&place), open(&crate::server::sqlite(directory.path())));
    let equal = |from: &Database, to: &Database| {
        let all = moving::compare(from, to).unwrap();
        all.iter().filter(|table| table.from == table.to).count() == all.len()
    };
    let mut rounds = 0;
    moving::copy(&from, &there, &mut |_, _| rounds += 1).unwrap();
    assert!(equal(&from, &there) && rounds > 0);
    submit(&from, "alice", Of { seed: 500, ..Of::default() });
    assert!(!equal(&from, &there), "a comparison sees one more");
    moving::copy(&from, &there, &mut |_, _| ()).unwrap();
    assert!(equal(&from, &there));
    let back = open(&server.database("back"));
    moving::copy(&there, &back, &mut |_, _| ()).unwrap();
    assert!(equal(&from, &back));
    judge_waiting(&Arc::new(back), 100).unwrap();
}
