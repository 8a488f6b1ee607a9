//! A medium is read after a cut: of each sector what is there.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use assay_endure::{Fault, Medium, SECTOR, Stamp, mixed};

use crate::layout::{BLOCK, SECTORS};
use crate::sector::{Damage, Sector, sector};
use crate::state::{Held, State};

/// Blocks that are read at once.
const AT_ONCE: u64 = 256;
/// How often a sector that gives an error is read in each pass.
const TRIES: u32 = 3;
/// Between two calls while it waits.
const PAUSE: Duration = Duration::from_millis(50);
/// Places that are read to find the number of a test.
const PLACES: u64 = 256;

/// What the area holds.
#[derive(Debug)]
pub struct Seen {
    /// The sectors of each block.
    pub blocks: Vec<[Sector; SECTORS]>,
    /// Blocks in which a sector holds a write of this test.
    pub ours: u64,
    /// Blocks in which a sector holds what another test wrote.
    pub others: u64,
}

/// Reads the area. Places that give an error are read again after all others, and when `settle` is over: a medium may err for
/// some seconds after it is attached. `progress` gets the bytes that were read, and
/// says whether to go on.
///
/// # Errors
/// [`Fault::Gone`] or [`Fault::Hung`] where the medium is; `None` where `progress` ended it.
pub fn look(
    medium: &mut dyn Medium,
    state: &State,
    settle: Duration,
    progress: &mut dyn FnMut(u64) -> bool,
) -> Result<Seen, Option<Fault>> {
    let began = Instant::now();
    let layout = state.layout();
    let unread = [Sector::Damaged(Damage::Unreadable); SECTORS];
    let mut blocks = vec![unread; usize::try_from(layout.blocks).unwrap_or(0)];
    let mut buffer = vec![0; (AT_ONCE * BLOCK) as usize];
    let mut erred = Vec::new();
    for from in (0..layout.blocks).step_by(AT_ONCE as usize) {
        let count = AT_ONCE.min(layout.blocks - from);
        let bytes = &mut buffer[..(count * BLOCK) as usize];
        match medium.read(from * BLOCK, bytes) {
            Ok(()) => {
                for (content, block) in bytes.chunks_exact(BLOCK as usize).zip(from..) {
                    blocks[block as usize] = of_block(content, state, block);
                }
            }
            Err(fault @ (Fault::Gone | Fault::Hung)) => return Err(Some(fault)),
            Err(_) => erred.extend(from..from + count),
        }
        if !progress((from + count) * BLOCK) {
            return Err(None);
        }
    }
    while !erred.is_empty() && began.elapsed() < settle {
        std::thread::sleep(PAUSE.min(settle));
        if !progress(layout.blocks * BLOCK) {
            return Err(None);
        }
    }
    for _pass in 0..2 {
        for block in std::mem::take(&mut erred) {
            if !by_sector(medium, state, block, &mut blocks[block as usize])? {
                erred.push(block);
            }
            if !progress(layout.blocks * BLOCK) {
                return Err(None);
            }
        }
    }
    let any = |block: &&[Sector; SECTORS], is: fn(&Sector) -> bool| block.iter().any(is);
    let ours = blocks.iter().filter(|block| any(block, |sector| matches!(sector, Sector::Write(_) | Sector::Mixed)));
    let ours = ours.count() as u64;
    let other = |sector: &Sector| *sector == Sector::Damaged(Damage::OtherTest);
    let others = blocks.iter().filter(|block| any(block, other)).count() as u64;
    Ok(Seen { blocks, ours, others })
}

/// Numbers of writes that a block may hold.
fn numbers(held: &Held) -> Vec<u64> {
    let pending = held.pending.iter().map(|pending| pending.number);
    held.acknowledged.iter().map(|known| known.number).chain(pending).collect()
}

fn of_block(content: &[u8], state: &State, block: u64) -> [Sector; SECTORS] {
    let (unit, numbers) = (state.layout().unit, numbers(state.held(block)));
    std::array::from_fn(|place| {
        let bytes = &content[place * SECTOR..(place + 1) * SECTOR];
        sector(bytes, unit, block * SECTORS as u64 + place as u64, &numbers)
    })
}

/// Reads what is still unread of a block, in the smallest parts that the medium has. Returns whether all of it is read.
fn by_sector(
    medium: &mut dyn Medium,
    state: &State,
    block: u64,
    sectors: &mut [Sector; SECTORS],
) -> Result<bool, Option<Fault>> {
    let (unit, numbers) = (state.layout().unit, numbers(state.held(block)));
    let part = (medium.block_bytes() as usize).clamp(SECTOR, BLOCK as usize);
    let mut bytes = vec![0; part];
    let mut whole = true;
    for (number, held) in sectors.chunks_mut(part / SECTOR).enumerate() {
        if !held.contains(&Sector::Damaged(Damage::Unreadable)) {
            continue;
        }
        let mut read = false;
        for _ in 0..TRIES {
            match medium.read(block * BLOCK + (number * part) as u64, &mut bytes) {
                Ok(()) => {
                    read = true;
                    break;
                }
                Err(fault @ (Fault::Gone | Fault::Hung)) => return Err(Some(fault)),
                Err(_) => {}
            }
        }
        whole &= read;
        if read {
            let first = block * SECTORS as u64 + (number * part / SECTOR) as u64;
            for ((content, held), address) in bytes.chunks_exact(SECTOR).zip(held).zip(first..) {
                *held = sector(content, unit, address, &numbers);
            }
        }
    }
    Ok(whole)
}

/// The number of the test whose stamps are on a medium of `blocks` blocks or more; `None` where no place that is read has
/// one. An area begins at the start, and its size is not known yet: the nearer, the more places are read.
pub fn unit_on(medium: &mut dyn Medium) -> Option<u64> {
    let blocks = medium.bytes() / BLOCK;
    let mut page = vec![0; BLOCK as usize];
    let mut seen = BTreeMap::<u64, u32>::new();
    for draw in 0..PLACES {
        // From 64 KiB up to all of it.
        let within = (16u64 << (draw % 20)).min(blocks).max(1);
        let block = mixed(draw, blocks) % within;
        match medium.read(block * BLOCK, &mut page) {
            Err(Fault::Gone | Fault::Hung) => break,
            Err(_) => {}
            Ok(()) => {
                let first = Stamp::read(&page[..SECTOR]).filter(|stamp| stamp.address == block * SECTORS as u64);
                if let Some(stamp) = first {
                    *seen.entry(stamp.unit).or_default() += 1;
                }
            }
        }
    }
    seen.into_iter().max_by_key(|(_, count)| *count).map(|(unit, _)| unit)
}
