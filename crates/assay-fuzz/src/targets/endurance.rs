//! Logs of tests of endurance, and ledgers of power cuts: as another program, a power cut or a bad disk left them.

use std::collections::BTreeMap;

use assay_core::endurance::{CensorReason, Endurance, FailureKind, LifeEnd, WearLoad};
use assay_endure::journal::{Entries, frame};
use assay_endure::{
    Attachment, Begin, COLUMNS, Changed, Entry, Latencies, Phase, RestBegun, RestReadBegun, Run, SLICES, SliceRead,
    SliceRested, SliceWritten, Task, Way, replay,
};
use assay_powercut::{Ended, LoadEnd, Mode, Round, Target};

use crate::input;

const MAGIC: &[u8] = b"assay endurance\n";

/// Any log is refused in a line, or gives a test whose figures agree with each other, and whose rest of bytes changes nothing.
/// The input is a log, or entries without lengths and checksums, which a mutation would not meet.
pub(crate) fn log(data: &[u8]) {
    let log = framed::<Entry>(data);
    let replayed = match replay(&mut &*log, log.len() as u64) {
        Err(error) => return input::one_line(&error),
        Ok(replayed) => replayed,
    };
    let whole = usize::try_from(replayed.whole_bytes).expect("no more than there is");
    assert!(whole <= log.len());
    let Some(state) = replayed.state else { return };
    // What is cut off changes nothing, and the same log gives the same test.
    let again = replay(&mut &log[..whole], whole as u64).expect("as before").state.expect("as before");
    let document = state.document("2026-12-01T00:00:00Z".to_owned());
    assert_eq!(document, again.document(document.updated.clone()));
    sound(&document);
    assert!(state.failed().heap_bytes() < 64 << 20, "{} bytes of memory", state.failed().heap_bytes());
    let text = serde_json::to_string(&document).expect("a document");
    let read: Endurance = serde_json::from_str(&text).expect("what was written is read");
    assert_eq!(read.id, document.id);
    for cycles in [0, document.cycles, u64::MAX] {
        let _ = state.time_to(cycles);
    }
    for now in [0, 1_800_000_000, u64::MAX] {
        let _ = state.may_read_rested(now);
    }
}

/// What holds for the figures of any test.
fn sound(test: &Endurance) {
    assert!(test.failed_sectors <= test.sectors, "more failed than there are");
    assert_eq!(test.kinds.values().sum::<u64>(), test.failed_sectors);
    let m = &test.milestones;
    let marks = [m.first_error, m.per_mille, m.one_percent, m.ten_percent, m.quarter, m.half];
    let cycles: Vec<Option<u64>> = marks.map(|mark| mark.map(|at| at.cycle)).into();
    assert!(cycles.windows(2).all(|pair| pair[1].is_none() || pair[0].is_some() && pair[0] <= pair[1]), "{cycles:?}");
    assert!(cycles.iter().flatten().all(|cycle| *cycle >= 1 && *cycle <= test.cycles + 1), "{cycles:?}");
    assert_eq!(m.first_error.is_some(), test.failed_sectors > 0);
    for read in &test.rest_reads {
        assert!(read.cycle >= 1 && read.cycle <= test.cycles && read.slices <= 16);
        assert_eq!(read.rates.len(), read.slices as usize);
        assert!(read.age.is_none_or(|age| age.low_seconds <= age.high_seconds), "{:?}", read.age);
        let speed = read.speed.as_ref();
        assert!(speed.is_none_or(|speed| speed.ratio.point > 0.0 && speed.ratio.point.is_finite()), "{speed:?}");
    }
}

/// Any ledger is refused in a line, or gives the same test after what is cut off.
pub(crate) fn ledger(data: &[u8]) {
    let ledger = framed::<assay_powercut::Entry>(data);
    let replayed = match assay_powercut::replay(&ledger) {
        Err(error) => return input::one_line(&error),
        Ok(replayed) => replayed,
    };
    let whole = usize::try_from(replayed.whole_bytes).expect("no more than there is");
    let again = assay_powercut::replay(&ledger[..whole]).expect("as before").state;
    let document = replayed.state.document();
    assert_eq!(
        serde_json::to_string(&document).expect("a document"),
        serde_json::to_string(&again.document()).expect("it")
    );
    let acknowledged: u64 = replayed.state.acknowledged().values().sum();
    assert!(acknowledged <= replayed.state.issued(), "more acknowledged than issued");
    assert!(document.share.as_ref().is_none_or(|share| (0.0..=1.0).contains(&share.point)), "{:?}", document.share);
}

/// A journal as it is; else entries behind each other, each behind its length in two bytes, as a journal with the right
/// checksums.
fn framed<E: Entries + PartialEq + std::fmt::Debug>(data: &[u8]) -> Vec<u8> {
    if data.starts_with(E::MAGIC) {
        return data.to_vec();
    }
    let mut log = E::MAGIC.to_vec();
    let mut rest = data;
    while let Some((length, behind)) = rest.split_first_chunk::<2>() {
        let (payload, left) = behind.split_at(usize::from(u16::from_le_bytes(*length)).min(behind.len()));
        match E::from_bytes(payload) {
            Some(entry) => {
                let again = E::from_bytes(&entry.to_bytes());
                assert_eq!(again.as_ref(), Some(&entry), "an entry is read as it was written");
                log.extend(frame(&entry));
            }
            // A log holds it as it is; where it stands, the log is damaged or ends.
            None => log.extend_from_slice(payload),
        }
        rest = left;
    }
    log
}

fn begin(pages: u64, load: WearLoad) -> Entry {
    Entry::Begin(Begin {
        version: 1,
        id: "00ff".to_owned(),
        started: "2026-11-28T12:00:00Z".to_owned(),
        model: Some("A".to_owned()),
        unit: None,
        capacity_bytes: pages.saturating_mul(4096),
        pages,
        load,
        labels: BTreeMap::new(),
    })
}

/// A test of two cycles that fails and heals, rests, and is read twice.
fn life(pages: u64, load: WearLoad) -> Vec<Entry> {
    let way = Way { host: Some("h".to_owned()), reader: Some("usb 1-1".to_owned()), bus: None };
    let attached = |partly| {
        let (at, path) = ("2026-11-28T12:00:00Z".to_owned(), "/dev/sdz".to_owned());
        Entry::Attached(Attachment { at, path, way: way.clone(), attachment: None, partly })
    };
    let latencies = Latencies { p50_ns: 1000, p99_ns: 2000, max_ns: 1 << 40 };
    let mut entries = vec![begin(pages, load), attached(false)];
    let mut at = 1_800_000_000;
    for cycle in 1..=2 {
        for index in 0..SLICES {
            at += 1;
            let task = Task { cycle, phase: Phase::Write, index };
            entries.push(Entry::Written(SliceWritten {
                task,
                bytes: pages / 16 * 4096,
                elapsed_ns: 5_000_000,
                latencies,
                refused: 0,
                at,
            }));
        }
        for index in 0..SLICES {
            at += 1;
            let task = Task { cycle, phase: Phase::Read, index };
            let sector = task.slice(0xff) * (pages / 16) * 8;
            let mut counts = [0; COLUMNS];
            counts[2] = 3;
            let failures = vec![Run { sectors: sector..sector + 3, kind: FailureKind::StaleRound }];
            let failures = if cycle == 2 && index < 3 { failures } else { Vec::new() };
            if cycle == 2 && index == 2 {
                let run = Run { sectors: sector + 5..sector + 7, kind: FailureKind::Unreadable };
                entries.push(Entry::Failures(task, vec![run]));
            }
            let changes = if failures.is_empty() { Vec::new() } else { vec![Changed { cell: 5, counts }] };
            let (bytes, elapsed_ns) = (pages / 16 * 4096, 4_000_000);
            let (transient, healed) = (1, 2);
            entries.push(Entry::Read(SliceRead {
                task,
                bytes,
                elapsed_ns,
                latencies,
                transient,
                healed,
                failures,
                changes,
                at,
            }));
        }
    }
    entries.push(Entry::End(LifeEnd::Censored { reason: CensorReason::Limit }));
    entries.push(Entry::Rest(RestBegun { at: "2027-01-15T08:00:00Z".to_owned(), seconds: 30 * 86_400 }));
    for days in [10, 31] {
        let begun = at + days * 86_400;
        entries.push(Entry::RestRead(RestReadBegun { at: begun, path: "/dev/sdz".to_owned(), way: way.clone() }));
        for index in 0..SLICES {
            entries.push(Entry::Rested(SliceRested {
                index,
                at: begun + index,
                bytes: pages / 16 * 4096,
                elapsed_ns: 6_000_000,
                latencies,
                transient: 0,
                worn: 3,
                lost: [1, 0, 0, 0, 0, 2, 0, 0],
            }));
        }
    }
    entries.push(attached(true));
    entries
}

fn whole(entries: &[Entry]) -> Vec<u8> {
    entries.iter().fold(MAGIC.to_vec(), |mut log, entry| {
        log.extend(frame(entry));
        log
    })
}

fn parts(payloads: impl IntoIterator<Item = Vec<u8>>) -> Vec<u8> {
    payloads.into_iter().fold(Vec::new(), |mut all, payload| {
        all.extend(u16::try_from(payload.len()).expect("a short entry").to_le_bytes());
        all.extend(payload);
        all
    })
}

pub(crate) fn log_seeds() -> Vec<Vec<u8>> {
    let small = life(160, WearLoad::Whole);
    let random = life(4096, WearLoad::RandomSync { block_bytes: 4096 });
    let bytes = |entries: &[Entry]| parts(entries.iter().map(Entry::to_bytes));
    let with = |entry: Vec<u8>| {
        let mut all: Vec<Vec<u8>> = small[..2 + 16].iter().map(Entry::to_bytes).collect();
        all.push(entry);
        parts(all)
    };
    let mut torn = whole(&small);
    torn.truncate(torn.len() - 9);
    // A damaged entry, and behind it many places that look like the head of an entry of the longest length.
    let mut heads = whole(&small[..2]);
    heads.extend([1, 0, 0, 0].repeat(3));
    for _ in 0..40_000 {
        heads.extend([0xff, 0xff, 0, 0, 1, 1, 1, 1, 1]);
    }
    vec![
        bytes(&small),
        bytes(&random),
        whole(&small),
        torn,
        heads,
        MAGIC.to_vec(),
        vec![0; 5000],
        // Areas that no medium has, and a slice larger than its area.
        bytes(&[begin(u64::MAX, WearLoad::Whole)]),
        bytes(&[begin((1 << 36) + 1, WearLoad::Other)]),
        bytes(&life(1 << 36, WearLoad::Whole)),
        with(vec![4, 1, 16, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        // As many runs and cells as a number can say.
        with(vec![5, 1, 16, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0, 0]),
        // A run to the end of all numbers.
        with(vec![5, 1, 16, 1, 0, 0xf8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]),
        // Ends and rests where there is none.
        bytes(&[begin(160, WearLoad::Whole), small[small.len() - 2].clone()]),
        parts([begin(160, WearLoad::Whole).to_bytes(), b"\x09{\"at\":\"\",\"seconds\":18446744073709551615}".to_vec()]),
    ]
}

/// Blocks of a ledger whose whole area is written at once, 1 GiB. Without a bound on writes under way 400 of them take seconds.
const AREA: u64 = 1 << 18;

pub(crate) fn ledger_seeds() -> Vec<Vec<u8>> {
    use assay_powercut::{Begin, Entry};
    let begin = |blocks| {
        Entry::Begin(Begin {
            version: 1,
            id: "00ff".to_owned(),
            started: "2026-11-28T12:00:00Z".to_owned(),
            model: Some("A".to_owned()),
            unit: None,
            capacity_bytes: 1 << 30,
            blocks,
            target: Target::Device,
            mount_point: None,
            writers: 2,
            modes: Mode::ALL.to_vec(),
            labels: BTreeMap::new(),
        })
    };
    let attached = Some("boot:7".to_owned());
    let round = Entry::Round(Round {
        at: String::new(),
        path: "/dev/sdz".to_owned(),
        attached,
        flushes: Some(true),
        marked: Some(false),
    });
    let whole = vec![
        begin(64),
        round.clone(),
        Entry::Fill { number: 1, runs: vec![(0, 64)] },
        Entry::Acknowledged { first: 1, count: 1, at_ns: 5 },
        Entry::Writes { first: 2, mode: Mode::Fsync, blocks: vec![0, 1, 2] },
        Entry::Acknowledged { first: 2, count: 2, at_ns: 9 },
        Entry::Ended(Ended { end: LoadEnd::Gone, by_command: true }),
    ];
    let bytes = |entries: &[Entry]| parts(entries.iter().map(Entry::to_bytes));
    let file = whole.iter().fold(Entry::MAGIC.to_vec(), |mut all, entry| {
        all.extend(frame(entry));
        all
    });
    let fills: Vec<Entry> = (1..400).map(|number| Entry::Fill { number, runs: vec![(0, AREA)] }).collect();
    vec![
        bytes(&whole),
        file,
        // Many runs of the whole area, in one entry and in many.
        bytes(&[begin(AREA), round.clone(), Entry::Fill { number: 1, runs: vec![(0, AREA); 5000] }]),
        bytes(&[vec![begin(AREA), round], fills].concat()),
        bytes(&[begin(u64::MAX)]),
    ]
}
