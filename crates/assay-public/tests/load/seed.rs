//! A database with many public records. Figures are those of some records that were drawn; names, units, accounts and times are
//! those of each record. It is made once for each size.

use std::path::PathBuf;

use assay_core::record::Record;
use assay_public::database::{Connection, Database, DatabaseError, Place, Value};
use assay_public::derived::{Derived, settle};
use assay_public::judge::examined;
use assay_public::states::{Standing, State};
use assay_public::store::{Kept, add_account};
use assay_stats::random::Generator;

use crate::peers::Postgres;
use crate::samples::{Of, whole};
use crate::server::good;

/// Records whose figures the others have.
const TEMPLATES: usize = 48;
/// Records that are written in one transaction.
const AT_ONCE: usize = 5000;
/// Token of the account that submits.
pub const TOKEN: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
/// Its name.
pub const ACCOUNT: &str = "load";

const MODEL: &str = "@MODEL@";
const UNIT: &str = "@UNIT@";
const HOST: &str = "@HOST@";

/// How many records there are, by `ASSAY_PUBLIC_LOAD`.
pub fn records() -> usize {
    number("ASSAY_PUBLIC_LOAD", 10_000)
}

/// A number of the environment.
pub fn number(name: &str, usual: usize) -> usize {
    std::env::var(name).ok().map_or(usual, |text| text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

/// Where databases and documents are kept between runs.
pub fn directory() -> PathBuf {
    let directory = std::env::var_os("ASSAY_PUBLIC_LOAD_DIRECTORY")
        .map_or_else(|| std::env::temp_dir().join("assay-public-load"), PathBuf::from);
    std::fs::create_dir_all(&directory).unwrap();
    directory
}

/// The name of a model: a few have most of the records.
pub fn model(at: usize) -> String {
    format!("SanDisk Card {at:04}, 64.0 GB")
}

/// How many models there are.
pub fn models() -> usize {
    (records() / 500).clamp(20, 2000)
}

/// A model, drawn as popularity falls: the first is as frequent as the second and third together.
pub fn draw_model(draw: &mut Generator) -> usize {
    let most = (models() as f64).ln();
    ((draw.uniform() * most).exp() as usize - 1).min(models() - 1)
}

/// Identity of a record by its number: spread over all that there may be, as those of runs are.
pub fn id(at: usize) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let mut bits = (at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    // The last digits are the number itself, so that no two are alike.
    let mut digits = [b'0'; 10];
    for digit in &mut digits[..5] {
        *digit = DIGITS[(bits % 36) as usize];
        bits /= 36;
    }
    let mut rest = at;
    for digit in digits[5..].iter_mut().rev() {
        *digit = DIGITS[rest % 36];
        rest /= 36;
    }
    String::from_utf8(digits.to_vec()).unwrap()
}

/// The account and the unit of a record by its number: an account has some units, and a unit some records.
pub fn owner(at: usize) -> (String, String) {
    let unit = at / 2;
    (format!("account-{}", unit % (records() / 100).max(10)), format!("u{unit:07x}"))
}

struct Template {
    id: String,
    created: String,
    derived: Derived,
}

/// A document that waits for its judgement.
pub fn kept(id: &str, account: &str, hash: &str, changed: i64) -> Kept {
    Kept {
        id: id.to_owned(),
        account: account.to_owned(),
        hash: hash.to_owned(),
        received: "2026-11-01T00:00:00Z".to_owned(),
        standing: Standing { state: State::Received, reasons: Vec::new() },
        unlisted: false,
        withdrawal: hash.to_owned(),
        changed,
    }
}

fn template(at: usize) -> Template {
    let speed = 0.6 + 0.4 * (at as f64 / TEMPLATES as f64);
    let seed = 9_000_000_000 + at as u64;
    let mut record: Record = whole(Of { seed, model: MODEL, unit: UNIT, speed, ..Of::default() });
    record.host.board = Some(["Raspberry Pi 4 Model B", "Raspberry Pi 5 Model B", "ROCK 5B"][at % 3].to_owned());
    record.host.hostname = Some(HOST.to_owned());
    record.labels.clear();
    let derived = examined(&kept(&record.id, "@", "", 0), &record).unwrap().derived;
    Template { id: record.id.clone(), created: record.created.clone(), derived }
}

impl Template {
    /// What is derived of the record of a number.
    fn of(&self, at: usize, model: usize) -> (Kept, Derived) {
        let (account, unit) = owner(at);
        let (id, hash) = (id(at), blake3::hash(&at.to_le_bytes()).to_hex().to_string());
        let created = jiff::Timestamp::from_second(1_760_000_000 + 30 * (at % 1_000_000) as i64).unwrap().to_string();
        // Units are in a text of the site with their account.
        let name = format!("Card {model:04}");
        let text = |of: &str| {
            let of = of.replace(MODEL, &name).replace(&format!("@:{UNIT}"), &format!("{account}:{unit}"));
            let of = of.replace(HOST, &format!("host-{account}"));
            of.replace(&self.id, &id).replace(&self.created, &created)
        };
        let derived = Derived {
            model: text(&self.derived.model),
            unit: text(&self.derived.unit),
            digest: text(&self.derived.digest),
            observation: text(&self.derived.observation),
            prints: Vec::new(),
            ..self.derived.clone()
        };
        (kept(&id, &account, &hash, at as i64), derived)
    }
}

/// Fingerprints of the record of a number, as numbers.
fn prints(at: usize, count: usize) -> impl Iterator<Item = (u128, usize)> {
    (0..count).map(move |print| {
        let hash = blake3::hash(format!("{at} {print}").as_bytes());
        (u128::from_be_bytes(*hash.as_bytes().first_chunk().unwrap()), at)
    })
}

/// Puts fingerprints in their order: one by one in the order of the records, each would write a page of the index anew.
fn put_prints(database: &Database, mut all: Vec<(u128, usize)>) {
    all.sort_unstable();
    let batch = |statement: &str| database.write(|connection| connection.batch(statement)).unwrap();
    batch("DROP INDEX prints_id");
    for some in all.chunks(40 * AT_ONCE) {
        let put = |connection: &mut dyn Connection| {
            some.iter().try_for_each(|(print, at)| {
                let row = [format!("{print:032x}"), id(*at)].map(Value::from);
                connection.run("INSERT INTO prints (print, id) VALUES ($1, $2)", &row).map(|_| ())
            })
        };
        database.write::<_, DatabaseError>(put).unwrap();
    }
    batch("CREATE INDEX prints_id ON prints (id)");
}

fn put(connection: &mut dyn Connection, kept: &Kept, derived: &Derived) -> Result<(), DatabaseError> {
    connection.run(
        "INSERT INTO documents (id, seq, account, hash, received, unlisted, state, reasons, withdrawal, changed)
         VALUES ($1, (SELECT COALESCE(MAX(changed), 0) + 1 FROM documents), $2, $3, $4, 0, 'received', '[]', $5,
                 (SELECT COALESCE(MAX(changed), 0) + 1 FROM documents))",
        &[&kept.id, &kept.account, &kept.hash, &kept.received, &kept.withdrawal].map(Value::from),
    )?;
    let public = Standing { state: State::Public, reasons: Vec::new() };
    assert!(settle(connection, kept, &public, Some(derived))?);
    Ok(())
}

/// The database of this size: its path.
pub fn database() -> PathBuf {
    let path = directory().join(format!("records-{}.sqlite", records()));
    if path.exists() {
        return path;
    }
    let making = path.with_extension("making");
    for rest in ["making", "making-wal", "making-shm"] {
        let _ = std::fs::remove_file(path.with_extension(rest));
    }
    let began = std::time::Instant::now();
    let database = Database::open(&Place::Sqlite(making.clone())).unwrap();
    let templates: Vec<Template> = (0..TEMPLATES).map(template).collect();
    let mut draw = Generator::new(7);
    let mut all_prints = Vec::new();
    for from in (0..records()).step_by(AT_ONCE) {
        let all = (from..records().min(from + AT_ONCE)).map(|at| {
            // Models differ, and so do their units: neighbouring templates are of one model.
            let model = draw_model(&mut draw);
            let template = &templates[(model * 5 + at % 7) % TEMPLATES];
            all_prints.extend(prints(at, template.derived.prints.len()));
            template.of(at, model)
        });
        let all: Vec<(Kept, Derived)> = all.collect();
        database.write(|connection| all.iter().try_for_each(|(kept, derived)| put(connection, kept, derived))).unwrap();
    }
    put_prints(&database, all_prints);
    database.write(|connection| add_account(connection, ACCOUNT, TOKEN)).unwrap();
    drop(database);
    std::fs::rename(&making, &path).unwrap();
    let size = std::fs::metadata(&path).unwrap().len() >> 20;
    println!("made {} records of {} models in {:.0} s, {size} MiB", records(), models(), began.elapsed().as_secs_f64());
    path
}

/// Keeps a copy until it is dropped.
pub enum Scratch {
    /// The directory of a file of SQLite.
    File(#[allow(dead_code)] tempfile::TempDir),
    /// A server with a directory of its own.
    Server(#[allow(dead_code)] Postgres),
}

/// Whether PostgreSQL is measured, by `ASSAY_PUBLIC_LOAD_ON=postgres`, and not SQLite.
pub fn on_postgres() -> bool {
    match std::env::var("ASSAY_PUBLIC_LOAD_ON").as_deref() {
        Ok("postgres") => true,
        Ok("sqlite") | Err(_) => false,
        Ok(other) => panic!("ASSAY_PUBLIC_LOAD_ON={other} is neither sqlite nor postgres"),
    }
}

/// A copy of the database that a measurement may change.
pub fn scratch() -> (Scratch, String) {
    if on_postgres() {
        let server = Postgres::start().expect("ASSAY_PUBLIC_LOAD_ON=postgres needs PostgreSQL");
        let address = server.database("load");
        good(&["copy", "--from", database().to_str().unwrap(), "--to", &address]);
        return (Scratch::Server(server), address);
    }
    let directory = tempfile::tempdir_in(directory()).unwrap();
    let path = directory.path().join("public.sqlite");
    if number("ASSAY_PUBLIC_LOAD_IN_PLACE", 0) == 1 {
        // A million records are 17 GB: there may be no room for a second copy.
        return (Scratch::File(directory), database().to_str().unwrap().to_owned());
    }
    std::fs::copy(database(), &path).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (Scratch::File(directory), path)
}
