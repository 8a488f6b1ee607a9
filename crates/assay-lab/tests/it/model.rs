//! Each parameter of the model medium has its effect, as seen by plain reads and writes.

mod addresses;
mod caches;
mod cells;
mod failures;
mod pools;
mod size_and_time;
mod snapshots;

use assay_lab::media::{MediumSpec, ModelMedium};
use assay_verify::probe::Device;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// A medium with the operations common to all tests.
struct Card(ModelMedium);

impl Card {
    fn new(spec: &MediumSpec) -> Self {
        Self(spec.build().unwrap())
    }

    fn read(&mut self, offset: u64, bytes: u64) -> Vec<u8> {
        let mut buffer = vec![0xa5; bytes as usize];
        self.0.read_at(offset, &mut buffer).unwrap();
        buffer
    }

    fn sector(&mut self, offset: u64) -> Vec<u8> {
        self.read(offset, 512)
    }

    fn put(&mut self, offset: u64, data: &[u8]) {
        self.0.write_at(offset, data).unwrap();
    }

    /// Fills `bytes` from `offset` on with `value`.
    fn write(&mut self, offset: u64, bytes: u64, value: u8) {
        self.put(offset, &vec![value; bytes as usize]);
    }

    /// The byte that fills the sector at `offset`; `None` if its bytes differ.
    fn value(&mut self, offset: u64) -> Option<u8> {
        let sector = self.sector(offset);
        sector.iter().all(|byte| *byte == sector[0]).then_some(sector[0])
    }
}
