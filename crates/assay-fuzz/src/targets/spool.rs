//! Files of the spool, which keeps records while the store cannot take them.

use std::fs;

use assay_store::{Owner, RunState, Spool, SqliteStore, Store};

use crate::draw::Draw;
use crate::records::record;
use crate::{claims, place};

const NAME: &str = "aaaa0-0123456789abcdef.spool";

/// A file of any bytes is taken in whole, or left where it is with the reason. The sum over it is set right
/// first: it tells torn files, not hostile ones.
pub(crate) fn run(data: &[u8]) {
    let directory = place::directory();
    let place = directory.path().join("spool");
    fs::create_dir(&place).expect("made");
    let file = place.join(NAME);
    let mut store = SqliteStore::open(directory.path()).expect("a store");
    for content in [Some(data.to_vec()), summed(data)].into_iter().flatten() {
        fs::write(&file, content).expect("written");
        let mut spool = Spool::in_directory(directory.path());
        match store.take_in(&mut spool) {
            Ok(intake) => {
                assert_eq!(file.exists(), !intake.left.is_empty(), "{intake:?}");
                intake.left.iter().for_each(|left| claims::one_line(&left.reason));
                intake.taken.iter().for_each(|id| assert!(store.load(id).is_ok(), "{id}"));
            }
            Err(error) => {
                claims::one_line(&error);
                assert!(file.exists(), "what was not taken in stays");
            }
        }
        let _ = store.abandoned().map_err(|error| claims::one_line(&error));
    }
}

/// The file with the sum of its body.
fn summed(data: &[u8]) -> Option<Vec<u8>> {
    let end = data.iter().position(|byte| *byte == b'\n')?;
    let body = &data[end + 1..];
    Some([format!("assay-spool-1 {}\n", blake3::hash(body).to_hex()).as_bytes(), body].concat())
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut owner = Owner::current();
    owner.pid = u32::MAX;
    owner.start_time = 1;
    let states = [RunState::Finished, RunState::Running { owner: &owner, scratch: None }];
    let mut seeds: Vec<Vec<u8>> = Vec::new();
    for (byte, state) in [0u8, 1, 4].iter().flat_map(|byte| states.iter().map(move |state| (byte, state))) {
        let directory = place::directory();
        let mut spool = Spool::in_directory(directory.path());
        spool.put(&record(&mut Draw::new(&[*byte; 60]), "aaaa0"), *state).expect("put");
        let files = fs::read_dir(directory.path().join("spool")).expect("a spool");
        seeds.extend(files.flatten().filter_map(|file| fs::read(file.path()).ok()));
    }
    let whole = claims::text(&seeds[0]);
    seeds.extend(claims::texts(&["", "\n", "assay-spool-1 x\n{}\n{}", "assay-spool-2 \u{1b}\n\n"]));
    seeds.push(whole.replace("\"owner\":null", "\"owner\":{\"pid\":-1}").into_bytes());
    seeds.push(whole.replace("\"id\":\"aaaa0\"", "\"id\":\"../../x\"").into_bytes());
    seeds.push(whole.replace("\"schema\":\"1.0\"", "\"schema\":\"\\u001b[2J\"").into_bytes());
    seeds
}
