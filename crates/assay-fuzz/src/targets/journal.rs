//! Journals of the probe that were damaged, and cards that were written to since.

use std::io;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex};

use assay_engine::Control;
use assay_verify::probe::{
    Device, Disk, DiskFile, Identity, Journal, JournalLeft, Restoration, Salt, Settings, run as probe,
};

use crate::card::Card;
use crate::claims;
use crate::draw::Draw;

const BYTES: u64 = 64 << 20;
const PATH: &str = "/journal";

/// A disk with one file.
#[derive(Debug, Clone, Default)]
struct Memory(Arc<Mutex<Option<Vec<u8>>>>);

impl Memory {
    fn content(&self) -> Option<Vec<u8>> {
        self.0.lock().expect("one thread").clone()
    }
}

impl Disk for Memory {
    fn create(&self, _: &Path) -> io::Result<Box<dyn DiskFile>> {
        *self.0.lock().expect("one thread") = Some(Vec::new());
        Ok(Box::new(self.clone()))
    }

    fn open(&self, _: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.content().ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(self.clone()))
    }

    fn remove(&self, _: &Path) -> io::Result<()> {
        self.0.lock().expect("one thread").take().map(drop).ok_or(io::ErrorKind::NotFound.into())
    }

    fn sync_directory_of(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn free_bytes(&self, _: &Path) -> io::Result<u64> {
        Ok(1 << 40)
    }
}

impl DiskFile for Memory {
    fn append(&mut self, data: &[u8]) -> io::Result<()> {
        self.0.lock().expect("one thread").as_mut().ok_or(io::ErrorKind::NotFound)?.extend_from_slice(data);
        Ok(())
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let file = self.0.lock().expect("one thread");
        let content = file.as_deref().ok_or(io::ErrorKind::NotFound)?;
        let rest = usize::try_from(at).ok().and_then(|at| content.get(at..)).unwrap_or_default();
        let length = rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        Ok(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn reserve(&mut self, _: u64) -> io::Result<()> {
        Ok(())
    }

    fn is_volatile(&self) -> bool {
        false
    }
}

fn identity() -> Identity {
    Identity { bytes: BYTES, name: "card".to_owned(), serial: None, attachment: None }
}

/// A journal and the card it belongs to, after the plug was pulled in the middle of a probe.
static CUT: LazyLock<(Vec<u8>, Card)> = LazyLock::new(|| {
    let disk = Memory::default();
    let mut card = Card { left: Some(700), ..Card::new(BYTES) };
    let journal = Journal::create_on(Arc::new(disk.clone()), Path::new(PATH), &identity(), Salt::known(7));
    let settings = Settings { cache_limit_bytes: 1 << 20 };
    let probed = probe(&mut card, journal.expect("a journal"), &settings, &Control::default(), &mut |_| {});
    assert!(probed.expect("probed").journal == JournalLeft::Needed);
    card.left = None;
    (disk.content().expect("a journal"), card)
});

/// Whatever happened to journal and card: what is written is what stood there before the probe, and only
/// where the probe's blocks stand; and no journal goes before all of it is back.
pub(crate) fn run(data: &[u8]) {
    let (sound, card) = &*CUT;
    let (mut journal, mut card) = (sound.clone(), card.clone());
    let mut draw = Draw::new(data);
    let flags = draw.byte();
    let starts = records(sound);
    let mut newer = Vec::new();
    while !draw.is_empty() {
        match draw.byte() % 8 {
            0 => {
                // Something else was written to the card since.
                let sector = match draw.byte() % 2 {
                    0 => card.sectors.keys().nth(draw.below(1 << 16) % card.sectors.len().max(1)).copied().unwrap_or(0),
                    _ => draw.number() % (BYTES / 512),
                };
                let content = [draw.byte() | 1; 512];
                if card.write_at(sector * 512, &content).is_ok() {
                    newer.push((sector, content));
                }
            }
            edit => damage(&mut journal, &starts, edit, &mut draw),
        }
    }
    // A journal that ends with an earlier mark is one of a probe that had come so far and no further.
    let committed =
        last_commit(sound, &starts).is_some_and(|last| journal.windows(last.len()).any(|window| window == last));
    let disk = Memory(Arc::new(Mutex::new(Some(journal))));
    for _ in 0..2 {
        let before = card.clone();
        let who = identity();
        let restored = Restoration::new(Path::new(PATH), &who)
            .on(Arc::new(disk.clone()))
            .keeping_newer(flags % 2 == 1)
            .run(&mut card);
        for sector in before.sectors.keys() {
            let now = card.sector(*sector);
            assert!(now == before.sector(*sector) || now == Card::original(*sector), "sector {sector}");
        }
        assert!(card.sectors.keys().all(|sector| before.sectors.contains_key(sector)), "written elsewhere");
        for (sector, _) in &newer {
            assert_eq!(Some(card.sector(*sector)), newest(&newer, *sector), "newer data at sector {sector}");
        }
        let gone = disk.content().is_none();
        match restored {
            Ok(restored) => {
                assert_eq!(gone, restored.journal == JournalLeft::Removed, "{restored:?}");
                let left = card.sectors.keys().any(|sector| newest(&newer, *sector).is_none());
                assert!(!gone || !left || !committed, "the journal went, and the probe's blocks stand: {restored:?}");
            }
            Err(error) => {
                claims::one_line(&error);
                assert!(!gone, "{error}");
            }
        }
        if gone {
            return;
        }
    }
}

fn newest(newer: &[(u64, [u8; 512])], sector: u64) -> Option<[u8; 512]> {
    newer.iter().rev().find(|(at, _)| *at == sector).map(|(_, content)| *content)
}

/// Where records begin: each begins with bytes of the header's hash (docs/decisions/006-journal.md).
fn records(journal: &[u8]) -> Vec<usize> {
    let length =
        journal.get(16..20).and_then(|bytes| bytes.first_chunk()).map_or(0, |b| u32::from_le_bytes(*b) as usize);
    let hash = blake3::hash(journal.get(..20 + length).unwrap_or_default());
    let marker = &hash.as_bytes()[16..24];
    journal.windows(8).enumerate().filter(|(_, window)| *window == marker).map(|(at, _)| at).collect()
}

/// The last mark of what was handed to the disk.
fn last_commit<'a>(journal: &'a [u8], starts: &[usize]) -> Option<&'a [u8]> {
    const COMMIT: u8 = 4;
    let at = starts.iter().rposition(|at| journal.get(at + 8) == Some(&COMMIT))?;
    journal.get(starts[at]..starts.get(at + 1).copied().unwrap_or(journal.len()))
}

fn damage(journal: &mut Vec<u8>, starts: &[usize], edit: u8, draw: &mut Draw<'_>) {
    let mut place = || {
        let number = draw.below(1 << 16);
        // A record's start, or near the beginning.
        if number.is_multiple_of(2) {
            starts.get(number / 2 % starts.len().max(1)).copied().unwrap_or(0)
        } else {
            number / 2
        }
    };
    let (from, to) = (place().min(journal.len()), place().min(journal.len()));
    let (from, to) = (from.min(to), from.max(to));
    match edit {
        1 => journal.truncate(from),
        2 => drop(journal.drain(from..to)),
        3 => {
            let again = journal[from..to].to_vec();
            journal.splice(to..to, again);
        }
        // The last of a range first.
        4 => journal[from..to].rotate_left((to - from) / 2),
        5 => journal[from..to].fill(draw.byte()),
        _ => {
            let at = from + usize::from(draw.byte());
            if let Some(byte) = journal.get_mut(at) {
                *byte ^= 1 << (draw.byte() % 8);
            }
        }
    }
    journal.truncate(16 << 20);
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = vec![Vec::new(), vec![1]];
    for edit in 1..8u8 {
        for (from, to) in [(0u8, 20u8), (40, 42), (100, 200), (255, 254)] {
            seeds.push(vec![edit % 2, edit, 0, from & 0xfe, 0, to & 0xfe, 3, 5]);
        }
    }
    // Newer data at a place of the probe, and elsewhere.
    seeds.extend([vec![0, 0, 0, 0, 5, 9], vec![1, 0, 0, 0, 5, 9], vec![0, 0, 1, 9, 9, 0, 0, 0, 0, 0, 0, 7]]);
    seeds
}
