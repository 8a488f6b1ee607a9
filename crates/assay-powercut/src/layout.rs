//! Which blocks the load writes and which it leaves alone, and the order in which a writer writes them.

use assay_endure::mixed;

use crate::round::Mode;

/// Bytes of a block: the unit of writing and of the verdict.
pub const BLOCK: u64 = 4096;
/// Sectors of a block: the unit in which a block may be torn.
pub const SECTORS: usize = 8;
/// Blocks of a group. Groups with an even number are written by the load; those between them hold older data.
pub const GROUP: u64 = 16;
/// Pieces of a batch at most.
const MOST_PIECES: u64 = 8;
/// Groups of a writer that get half of its writes, so that places are overwritten soon.
const HOT_GROUPS: u64 = 2;

/// The area of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Random number of the test, in all its stamps.
    pub unit: u64,
    /// Blocks of the area.
    pub blocks: u64,
}

impl Layout {
    /// Whether the load writes this block; the others hold older data.
    #[must_use]
    pub fn is_load(self, block: u64) -> bool {
        (block / GROUP).is_multiple_of(2)
    }

    /// Groups that the load writes; the last is whole.
    #[must_use]
    pub fn load_groups(self) -> u64 {
        (self.blocks / GROUP).div_ceil(2)
    }
}

/// Blocks that one operation writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// The first block.
    pub block: u64,
    /// How many.
    pub blocks: u64,
}

/// Writes that are acknowledged together; with [`Mode::Dsync`] each piece by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// How they are acknowledged.
    pub mode: Mode,
    /// The writes in their order. A block may be in several.
    pub pieces: Vec<Piece>,
}

impl Batch {
    /// The blocks in the order in which they are numbered.
    #[must_use]
    pub fn blocks(&self) -> Vec<u64> {
        self.pieces.iter().flat_map(|piece| piece.block..piece.block + piece.blocks).collect()
    }
}

/// What one writer writes, batch after batch. No block belongs to two writers, so that the writes of a block have an order.
#[derive(Debug, Clone)]
pub struct Draw {
    layout: Layout,
    writer: u64,
    writers: u64,
    seed: u64,
    drawn: u64,
    modes: Vec<Mode>,
}

impl Draw {
    /// For writer `writer` of `writers` in a round. There have to be as many load groups as writers.
    #[must_use]
    pub fn new(layout: Layout, (writer, writers): (u64, u64), round: u64, modes: &[Mode]) -> Self {
        let seed = mixed(mixed(layout.unit, round), writer);
        Self { layout, writer, writers, seed, drawn: 0, modes: modes.to_vec() }
    }

    fn below(&mut self, end: u64) -> u64 {
        self.drawn += 1;
        mixed(self.seed, self.drawn) % end.max(1)
    }

    /// The next batch.
    pub fn batch(&mut self) -> Batch {
        let number = self.below(self.modes.len() as u64) as usize;
        let mode = self.modes.get(number).copied().unwrap_or(Mode::Fdatasync);
        let pieces = (0..1 + self.below(MOST_PIECES)).map(|_| self.piece()).collect();
        Batch { mode, pieces }
    }

    fn piece(&mut self) -> Piece {
        let own = (self.layout.load_groups() + self.writers - 1 - self.writer) / self.writers;
        let among = if self.below(2) == 0 { own.min(HOT_GROUPS) } else { own };
        let group = (self.below(among) * self.writers + self.writer) * 2;
        let from = self.below(GROUP);
        let most = GROUP - from;
        let blocks = if self.below(4) == 0 { 1 + self.below(most) } else { 1 };
        Piece { block: group * GROUP + from, blocks }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writers_share_no_block_and_leave_older_data_alone() {
        let layout = Layout { unit: 7, blocks: 20 * GROUP };
        let mut of = [const { Vec::new() }; 3];
        for (writer, blocks) in (0..).zip(&mut of) {
            let mut draw = Draw::new(layout, (writer, 3), 1, &Mode::ALL);
            for _ in 0..2000 {
                let batch = draw.batch();
                assert!(!batch.pieces.is_empty() && batch.pieces.len() as u64 <= MOST_PIECES);
                blocks.extend(batch.blocks());
            }
            assert!(blocks.iter().all(|block| layout.is_load(*block) && *block < layout.blocks));
            blocks.sort_unstable();
            let written = blocks.len();
            blocks.dedup();
            assert!(written > 5 * blocks.len(), "places are overwritten");
        }
        let all = of.concat();
        let mut apart = all.clone();
        apart.sort_unstable();
        apart.dedup();
        assert_eq!(apart.len(), all.len());
        assert_eq!(all.len() as u64, layout.load_groups() * GROUP, "each place of the load is written");
    }

    #[test]
    fn a_round_draws_other_batches_than_the_one_before() {
        let layout = Layout { unit: 7, blocks: 20 * GROUP };
        let first = |round| Draw::new(layout, (0, 1), round, &Mode::ALL).batch();
        assert_eq!(first(1), first(1));
        assert_ne!(first(1), first(2));
    }
}
