//! The result of a probe in the form that every check gives.

use std::collections::BTreeMap;
use std::time::Duration;

use assay_core::units::Bytes;
use assay_core::verification::{
    FakeKind, FirstError, MapCell, Method, Reach, SectorClass, SectorCounts, Verdict, Verification,
};

use super::search::Judgement;
use super::session::Finding;
use super::stamp::BLOCK;

/// Parts of the map.
const CELLS: u64 = 256;

/// What is known at the end.
#[derive(Debug)]
pub(crate) struct Account {
    pub(crate) announced: u64,
    pub(crate) judgement: Judgement,
    pub(crate) cache_bytes: Option<u64>,
    pub(crate) samples: usize,
    pub(crate) limit_bytes: u64,
    pub(crate) first_lost: Option<(u64, SectorClass, Option<u64>)>,
    pub(crate) findings: BTreeMap<u64, Finding>,
    pub(crate) written_bytes: u64,
    pub(crate) read_bytes: u64,
    pub(crate) elapsed: Duration,
}

pub(crate) fn verification(account: &Account) -> Verification {
    let Judgement { verdict, kind, real_bytes } = account.judgement;
    let mut counts = SectorCounts::default();
    let mut map: Vec<MapCell> = cells(account.announced);
    for (block, finding) in &account.findings {
        counts.merge(&finding.counts);
        let part = map.partition_point(|cell| cell.offset_bytes + cell.bytes <= block * BLOCK);
        if let Some(cell) = map.get_mut(part) {
            cell.counts.merge(&finding.counts);
        }
    }
    let first_error = account.first_lost.map(|(block, class, other)| FirstError {
        offset_bytes: block * BLOCK,
        class,
        holds_offset_bytes: other.map(|other| other * BLOCK),
    });
    Verification {
        method: Method::QuickProbe,
        verdict,
        sentence: sentence(account),
        kind,
        announced_bytes: account.announced,
        real_bytes,
        real_low_bytes: None,
        real_high_bytes: None,
        holds: Vec::new(),
        checked_bytes: account.findings.len() as u64 * BLOCK,
        written_bytes: account.written_bytes,
        counts,
        first_error,
        map,
        write: None,
        read: None,
        read_back: read_back(account),
        cache_bytes: account.cache_bytes,
        // A part of 5 % up to the end is found for certain, the last block being one of the places.
        reach: Some(Reach {
            tested_share: account.findings.len() as f64 * BLOCK as f64 / account.announced as f64,
            loss_share: 0.05,
            loss_found: 1.0 - 0.95f64.powi(i32::try_from(account.samples).unwrap_or(i32::MAX)),
            caches_up_to_bytes: Some(account.limit_bytes),
            thin_excluded: false,
        }),
    }
}

/// Equal parts of whole blocks; the last takes the rest.
fn cells(announced: u64) -> Vec<MapCell> {
    let edge = |part: u64| match part {
        CELLS => announced,
        _ => announced / BLOCK * part / CELLS * BLOCK,
    };
    let cell = |part| MapCell {
        offset_bytes: edge(part),
        bytes: edge(part + 1) - edge(part),
        counts: SectorCounts::default(),
    };
    (0..CELLS).map(cell).collect()
}

fn sentence(account: &Account) -> String {
    let announced = Bytes(account.announced);
    let real = account.judgement.real_bytes.map(Bytes);
    let seconds = account.elapsed.as_secs();
    match (account.judgement.verdict, account.judgement.kind, real) {
        (Verdict::Genuine, _, _) => {
            format!("genuine: every place tested of the {announced} it announces holds what was written")
        }
        (Verdict::Fake, Some(kind), Some(real)) => {
            let habit = match kind {
                FakeKind::Limbo => "what is written beyond is dropped",
                FakeKind::Wraparound => "what is written beyond overwrites what was written before",
                FakeKind::Chain => "what is written beyond is dropped, or overwrites what was written before",
                _ => "what is written beyond is lost",
            };
            format!("fake: it announces {announced} and has {real}; {habit}")
        }
        (Verdict::Damaged, _, Some(real)) => {
            format!("damaged: of the {announced} it announces, nothing beyond the first {real} holds data")
        }
        (Verdict::Damaged, _, None) => {
            let lost = account.findings.values().filter(|finding| !finding.seen.holds()).count();
            format!("damaged: {lost} of {} places tested lose data, with others between", account.findings.len())
        }
        _ => format!("cannot tell: the probe ended after {seconds} s, before it could tell"),
    }
}

fn read_back(account: &Account) -> String {
    let salted = "direct I/O of salted blocks";
    match (account.cache_bytes, account.judgement.verdict) {
        (Some(bytes), _) => {
            format!("{salted}, after a cache of at most {} had been driven out", Bytes(bytes))
        }
        (None, Verdict::Genuine | Verdict::Undecided) => {
            format!("{salted}, after {} had been written elsewhere", Bytes(account.limit_bytes))
        }
        (None, _) => format!("{salted}, after one whose loss was known had been lost"),
    }
}
