//! A log in memory, and what a test begins with.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use assay_core::endurance::WearLoad;
use assay_endure::journal::Entries;
use assay_endure::{Begin, Entry, JournalError, Keep, State};

/// 2048 sectors, 1 MiB.
pub(crate) const PAGES: u64 = 256;

pub(crate) fn begin(unit: u64, load: WearLoad) -> Begin {
    Begin {
        version: 1,
        id: format!("{unit:016x}"),
        started: "2026-11-28T12:00:00Z".to_owned(),
        model: None,
        unit: None,
        capacity_bytes: PAGES * 4096,
        pages: PAGES,
        load,
        labels: BTreeMap::new(),
    }
}

/// A log in memory. It may be torn within an entry, as by a kill.
pub(crate) struct Memory {
    bytes: Rc<RefCell<Vec<u8>>>,
    pub(crate) torn_after: Option<u64>,
}

impl Memory {
    pub(crate) fn new(bytes: Rc<RefCell<Vec<u8>>>) -> Self {
        Self { bytes, torn_after: None }
    }
}

impl Keep for Memory {
    fn append(&mut self, entry: &Entry) -> Result<(), JournalError> {
        let frame = assay_endure::journal::frame(entry);
        if let Some(left) = &mut self.torn_after {
            if *left == 0 {
                let cut = crc_cut(&frame);
                self.bytes.borrow_mut().extend(&frame[..cut]);
                return Err(JournalError::InUse);
            }
            *left -= 1;
        }
        self.bytes.borrow_mut().extend(frame);
        Ok(())
    }
}

/// Some place within a frame.
fn crc_cut(frame: &[u8]) -> usize {
    frame.iter().map(|byte| usize::from(*byte)).sum::<usize>() % frame.len()
}

/// The state by the log, whose torn end is cut off.
pub(crate) fn replayed(log: &mut Vec<u8>) -> State {
    let replayed = assay_endure::replay(&mut &**log, log.len() as u64).unwrap();
    log.truncate(replayed.whole_bytes as usize);
    replayed.state.unwrap()
}

/// All whole entries.
pub(crate) fn entries(log: &[u8]) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut rest = &log[16..];
    while rest.len() > 8 {
        let length = u32::from_le_bytes([rest[0], rest[1], rest[2], rest[3]]) as usize;
        let Some(entry) = rest.get(8..8 + length).and_then(Entry::from_bytes) else { break };
        entries.push(entry);
        rest = &rest[8 + length..];
    }
    entries
}
