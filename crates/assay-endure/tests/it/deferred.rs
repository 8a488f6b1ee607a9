//! A medium that tells later that a write failed: what is written again in time is no failure.

use std::cell::RefCell;
use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

use assay_core::endurance::WearLoad;
use assay_endure::{Entry, Fault, Keep, Medium, Refused, State, Step, Wear};

use crate::memory::{Memory, begin};
use crate::model::{Handle, Model, NEVER, Rng};

struct Deferred {
    medium: Handle,
    /// Handed over, not written.
    queue: VecDeque<(u64, Vec<u8>)>,
    failed: VecDeque<Refused>,
    rng: Rng,
    /// Each of these failed once, and takes writes from then on.
    once: BTreeSet<u64>,
}

impl Deferred {
    fn next(&mut self) {
        if let Some((offset, data)) = self.queue.pop_front() {
            if self.rng.below(3) == 0 && self.once.insert(offset) {
                self.failed.push_back(Refused { offset, bytes: data.len() as u64, fault: Fault::Errs });
            } else {
                let _ = self.medium.write(offset, &data);
            }
        }
    }
}

impl Medium for Deferred {
    fn bytes(&self) -> u64 {
        self.medium.bytes()
    }
    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        while !self.queue.is_empty() {
            self.next();
        }
        self.medium.read(offset, buffer)
    }
    fn write(&mut self, offset: u64, data: &[u8]) -> Result<(), Refused> {
        if self.queue.len() == 2 {
            self.next();
        }
        if let Some(failed) = self.failed.pop_front() {
            return Err(failed);
        }
        self.queue.push_back((offset, data.to_vec()));
        Ok(())
    }
    fn sync(&mut self) -> Result<(), Refused> {
        while !self.queue.is_empty() {
            self.next();
        }
        self.failed.pop_front().map_or_else(|| self.medium.sync(), Err)
    }
}

#[test]
fn writes_that_fail_late_and_are_written_again_lose_nothing() {
    for seed in 0..10 {
        // Slices of several transfers.
        let pages = 16 * 1024;
        let model = Model::new(pages * 8, vec![NEVER; (pages * 8) as usize]);
        let medium = Handle(Rc::new(RefCell::new(model)));
        let deferred =
            Deferred { medium, queue: VecDeque::new(), failed: VecDeque::new(), rng: Rng(seed), once: BTreeSet::new() };
        let begun = assay_endure::Begin { pages, ..begin(seed, WearLoad::Whole) };
        let log = Rc::new(RefCell::new(b"assay endurance\n".to_vec()));
        let mut keep = Memory::new(log);
        keep.append(&Entry::Begin(begun.clone())).unwrap();
        let mut wear = Wear::new(deferred, keep, State::begin(begun).unwrap());
        while wear.state().cycles() < 1 {
            assert!(matches!(wear.step(&mut |_| true), Ok(Step::Done(_))), "seed {seed}");
        }
        assert_eq!(wear.state().failed().sectors(), 0, "seed {seed}");
        assert!(wear.medium().once.len() > 5);
    }
}
