//! A test of power cuts on a model: rounds of fill, load, cut and check.

use std::sync::Mutex;
use std::time::Duration;

use assay_lab::SplitMix;
use assay_powercut::{
    Begin, Circumstances, CutKind, CutReport, Ended, Entry, Ledger, Mode, PowerCuts, Replayed, Round, State, Stop,
    Target, Writer, fill, judge, look, replay,
};

use crate::model::{BLOCKS, Handle, Kind, Memory};

pub(crate) fn begin(unit: u64) -> Begin {
    Begin {
        version: 1,
        id: format!("{unit:016x}"),
        started: "2026-11-28T12:00:00Z".to_owned(),
        model: None,
        unit: None,
        capacity_bytes: BLOCKS * 4096,
        blocks: BLOCKS,
        target: Target::Device,
        mount_point: None,
        writers: 3,
        modes: Mode::ALL.to_vec(),
        labels: std::collections::BTreeMap::new(),
    }
}

pub(crate) fn first_bytes(begin: &Begin) -> Vec<u8> {
    assay_endure::journal::first_bytes(&Entry::Begin(begin.clone()))
}

pub(crate) fn about() -> Circumstances {
    Circumstances { at: String::new(), how: CutKind::Attached, file_system: None }
}

/// A medium under test.
pub(crate) struct Test {
    pub(crate) disk: Handle,
    pub(crate) memory: Memory,
    pub(crate) rng: SplitMix,
    /// Steps of a load at most.
    pub(crate) steps: u64,
    /// Whether cuts also meet the fill.
    pub(crate) anywhere: bool,
}

impl Test {
    pub(crate) fn new(kind: Kind, seed: u64) -> Self {
        let disk = Handle::new(kind, seed);
        let memory = Memory::new(first_bytes(&begin(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))), &disk);
        Self { disk, memory, rng: SplitMix::new(!seed), steps: 200, anywhere: false }
    }

    pub(crate) fn state(&self) -> State {
        replay(&self.memory.bytes.lock().unwrap()).unwrap().state
    }

    fn ledger(&self) -> Ledger {
        Ledger::new(Box::new(self.memory.clone()), self.state())
    }

    /// Fills, loads, and cuts the power at a random moment.
    pub(crate) fn round(&mut self) {
        let host = self.rng.below(2) == 0;
        self.memory.with_host(false);
        let mut ledger = self.ledger();
        let round = Round { at: String::new(), path: String::new(), attached: None, flushes: Some(true), marked: None };
        ledger.begin_round(round).unwrap();
        self.memory.with_host(host);
        let ledger = Mutex::new(ledger);
        let early = self.anywhere && self.rng.below(4) == 0;
        if early {
            self.disk.disk().cut_in = Some(self.rng.below(4));
        }
        let stop = match fill(&mut self.disk.clone(), &ledger, &mut |_| true) {
            Ok(()) => self.load(&ledger),
            Err(stop) => stop,
        };
        if !host {
            ledger.into_inner().unwrap().end(Ended { end: stop.end(), by_command: false }).unwrap();
        }
        self.after_cut(host);
    }

    fn load(&mut self, ledger: &Mutex<Ledger>) -> Stop {
        self.disk.disk().cut_in = Some(self.rng.below(self.steps));
        let mut writers: Vec<Writer> =
            (0..3).map(|number| Writer::new(&ledger.lock().unwrap(), number).unwrap()).collect();
        loop {
            let writer = &mut writers[self.rng.below(3) as usize];
            if let Err(stop) = writer.step(&self.disk, ledger) {
                return stop;
            }
        }
    }

    /// What a cut of the host leaves of the ledger is what goes on.
    fn after_cut(&mut self, host: bool) {
        self.memory.with_host(false);
        let mut bytes = self.memory.bytes.lock().unwrap();
        let Replayed { whole_bytes, .. } = replay(&bytes).unwrap();
        assert!(host || whole_bytes == bytes.len() as u64);
        bytes.truncate(whole_bytes as usize);
        self.disk.disk().power_cycle();
    }

    /// Reads the medium and notes the answer.
    pub(crate) fn check(&mut self) -> CutReport {
        let mut ledger = self.ledger();
        let seen = look(&mut self.disk.clone(), ledger.state(), Duration::ZERO, &mut |_| true).unwrap();
        let checked = judge(ledger.state(), Ok(&seen), about());
        let report = checked.report.clone();
        ledger.checked(checked).unwrap();
        report
    }

    pub(crate) fn cuts(&mut self, cuts: u32) -> PowerCuts {
        for _ in 0..cuts {
            self.round();
            self.check();
        }
        self.state().document()
    }
}
