//! A ledger on another machine: the same state there as here, whatever breaks off.

use assay_fleet::{NodeKey, RunKey};
use assay_powercut::{FileKeep, Keep, Keeper, Ledger, LedgerError, Mode, RemoteKeep, Round, State};

use crate::rounds::begin;

/// A keeper in a directory, with its address and key.
fn keeper(directory: &std::path::Path) -> (String, NodeKey) {
    let key = RunKey::new().unwrap().of_node("ledger");
    let listener = Keeper::listen(([127, 0, 0, 1], 0).into(), key.clone()).unwrap();
    let address = listener.address().unwrap().to_string();
    let keeper = Keeper::new(directory.to_owned());
    std::thread::spawn(move || keeper.serve(listener));
    (address, key)
}

fn round() -> Round {
    Round { at: String::new(), path: String::new(), attached: None, flushes: None, marked: None }
}

#[test]
fn a_ledger_elsewhere_has_all_that_was_kept_and_the_last_who_opened_it_goes_on() {
    let directory = tempfile::tempdir().unwrap();
    let (address, key) = keeper(directory.path());
    let begin = begin(0x1234);
    let keep = RemoteKeep::create(&address, &key, &begin).unwrap();
    let mut ledger = Ledger::new(Box::new(keep), State::begin(begin.clone()).unwrap());
    ledger.begin_round(round()).unwrap();
    let number = ledger.intend_fill(1, vec![(0, 256)]).unwrap();
    ledger.acknowledge(1, number, 1).unwrap();
    let first = ledger.intend(1, Mode::Fdatasync, vec![3, 4, 3]).unwrap();
    assert_eq!((number, first), (1, 2));
    // The host with the medium is gone without a word, and comes back.
    let (again, state) = RemoteKeep::open(&address, &key, &begin.id).unwrap();
    assert_eq!(state.last_number(), 4);
    assert_eq!(state.held(3).pending.len(), 2);
    assert_eq!(state.held(5).acknowledged.map(|known| known.number), Some(1));
    assert!(matches!(ledger.acknowledge(1, first, 3), Err(LedgerError::Keeper(_))), "another went on");
    let mut ledger = Ledger::new(Box::new(again), state);
    ledger.acknowledge(1, first, 3).unwrap();
    let kept = FileKeep::look(&directory.path().join(format!("{}.ledger", begin.id))).unwrap();
    assert_eq!(kept.held(3).acknowledged.map(|known| known.number), Some(4));
    assert!(kept.held(3).pending.is_empty());
}

#[test]
fn a_stranger_a_second_ledger_of_a_name_and_strange_bytes_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (address, key) = keeper(directory.path());
    let begin = begin(0x1234);
    let other = RunKey::new().unwrap().of_node("ledger");
    assert!(RemoteKeep::create(&address, &other, &begin).is_err());
    assert!(RemoteKeep::open(&address, &key, &begin.id).is_err(), "there is none yet");
    drop(RemoteKeep::create(&address, &key, &begin).unwrap());
    assert!(RemoteKeep::create(&address, &key, &begin).is_err());
    for id in ["", "../../../../etc/x", "00000000000000zz", "0000000000001234/"] {
        assert!(RemoteKeep::open(&address, &key, id).is_err(), "{id}");
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    // A keeper that is gone keeps nothing, and says so.
    let mut keep: Box<dyn Keep> = Box::new(RemoteKeep::open(&address, &key, &begin.id).unwrap().0);
    assert!(keep.append(&assay_powercut::Entry::Round(round())).is_ok());
    std::fs::write(directory.path().join("0000000000001234.ledger"), b"damaged").unwrap();
    assert!(RemoteKeep::open(&address, &key, &begin.id).is_err());
}
