//! The result of a probe in the form that all checks share.

use assay_core::units::{Bytes, counted};
use assay_core::verification::{
    FakeKind, FirstError, MapCell, Method, Reach, SECTOR_BYTES, SectorCounts, Verdict, Verification,
};

use super::super::stamp::Seen;
use super::judge::{Account, CutShort};
use super::loss_kind::LossKind;

/// Parts of the map.
const CELLS: u64 = 256;

pub(crate) fn verification(account: &Account) -> Verification {
    let mut counts = SectorCounts::default();
    let mut map = cells(account.announced);
    for (sector, seen) in &account.findings {
        let class = seen.class();
        counts.add(class, 1);
        let offset = sector * SECTOR_BYTES;
        let part = map.partition_point(|cell| cell.offset_bytes + cell.bytes <= offset);
        if let Some(cell) = map.get_mut(part) {
            cell.counts.add(class, 1);
        }
    }
    let first_error =
        account.findings.iter().find(|(_, seen)| **seen != Seen::Holds).map(|(sector, seen)| FirstError {
            offset_bytes: sector * SECTOR_BYTES,
            class: seen.class(),
            holds_offset_bytes: match seen {
                Seen::Foreign(origin) => Some(origin.sector * SECTOR_BYTES),
                _ => None,
            },
        });
    let checked_bytes = counts.total() * SECTOR_BYTES;
    let exact = account.real.filter(|(low, high)| low == high).map(|(low, _)| low);
    let between = account.real.filter(|_| exact.is_none());
    Verification {
        method: Method::QuickProbe,
        verdict: account.verdict,
        sentence: sentence(account, &counts),
        kind: account.kind,
        announced_bytes: account.announced,
        real_bytes: exact,
        real_low_bytes: between.map(|(low, _)| low),
        real_high_bytes: between.map(|(_, high)| high),
        holds: account.holds.clone(),
        checked_bytes,
        written_bytes: account.moved.written_bytes,
        counts,
        first_error,
        map,
        write: None,
        read: None,
        read_back: read_back(account),
        cache_bytes: account.cache_bytes,
        reach: (checked_bytes > 0).then(|| Reach {
            tested_share: (checked_bytes as f64 / account.announced as f64).min(1.0),
            loss_share: LOSS,
            loss_found: 1.0 - (1.0 - LOSS).powi(i32::try_from(account.places).unwrap_or(i32::MAX)),
            caches_up_to_bytes: (account.verdict == Verdict::Genuine).then_some(account.run_bytes),
            thin_excluded: false,
        }),
        remarks: Vec::new(),
    }
}

/// The share of loss for which the probability of detection is stated.
const LOSS: f64 = 0.02;

/// Equal parts of whole blocks of 4 KiB; the last takes the rest.
fn cells(announced: u64) -> Vec<MapCell> {
    let parts = CELLS.min(announced / 4096).max(1);
    let edge = |part: u64| if part == parts { announced } else { announced / 4096 * part / parts * 4096 };
    let cell = |part| MapCell {
        offset_bytes: edge(part),
        bytes: edge(part + 1) - edge(part),
        counts: SectorCounts::default(),
    };
    (0..parts).map(cell).collect()
}

fn sentence(account: &Account, counts: &SectorCounts) -> String {
    let announced = Bytes(account.announced);
    let lost = format!("of {} sectors tested {} lost what was written", counts.total(), counts.lost());
    let size = size(account, counts);
    let mut text = match (account.verdict, &account.loss_kind) {
        (Verdict::Genuine, _) => {
            format!("genuine: every place tested of the {announced} it announces contains what was written")
        }
        (Verdict::Failed, _) => format!("failed while it was tested: {}", failure(account)),
        (Verdict::Fake, LossKind::Thin) => {
            format!(
                "fake: it announces {announced} and accepts no new data after what was written ({size}); its memory is used up"
            )
        }
        (Verdict::Fake, LossKind::WritesRepeat { .. }) => {
            let strays = match account.strays.as_slice() {
                [] => String::new(),
                [first, ..] => format!(
                    "; {} that {} never saved {} overwritten by the test, the first at byte {}",
                    counted(account.strays.len(), "sector"),
                    if account.strays.len() == 1 { "was" } else { "were" },
                    if account.strays.len() == 1 { "was" } else { "were" },
                    first * SECTOR_BYTES
                ),
            };
            format!(
                "fake: it announces {announced} and {size}; data written beyond overwrite earlier data, and are not read \
                 there{strays}"
            )
        }
        (Verdict::Fake, LossKind::TakesMemory { lost, of }) => format!(
            "fake: it announces {announced} and {size}; {lost} of {of} places that were only read lost what stood there while \
             others were written"
        ),
        (Verdict::Fake, LossKind::Newest { .. }) => format!(
            "fake: it announces {announced} and {size}; each write takes the place of the oldest data, wherever it is sent"
        ),
        (Verdict::Fake, _) => {
            let habit = match account.kind {
                Some(FakeKind::Limbo) => "data written elsewhere are dropped",
                Some(FakeKind::Wraparound) => "data written beyond overwrite earlier data",
                Some(FakeKind::Chain) => "data written beyond are dropped, or overwrite earlier data",
                _ => "the rest is lost",
            };
            format!("fake: it announces {announced} and {size}; {habit}")
        }
        (Verdict::Damaged, _) if account.missing_at_end.is_some() => {
            let missing = account.missing_at_end.unwrap_or(0) / SECTOR_BYTES;
            let sectors = if missing == 1 { "sector is".to_owned() } else { format!("{missing} sectors are") };
            format!("damaged: the last {sectors} missing; some USB bridges announce one too many; {lost}")
        }
        (Verdict::Damaged, LossKind::Misaddressed(distance)) => format!(
            "damaged: data are read {} {} from where they were written, so not everything that the probe overwrote was \
             saved before",
            Bytes(distance.unsigned_abs() * SECTOR_BYTES),
            // Data at an address were sent to one that is higher by this distance.
            if *distance > 0 { "below" } else { "above" }
        ),
        (Verdict::Damaged, LossKind::Decays) => {
            format!("damaged: what was written is lost after some readings; {lost}")
        }
        (Verdict::Damaged, LossKind::Unreliable) => {
            format!(
                "damaged: it loses writes now and then, and holds the same places when they are written again; {lost}"
            )
        }
        (Verdict::Damaged, LossKind::NotPutBack(places)) => format!(
            "damaged: all {} tested held what was written, but {} differently than before after everything was put back",
            counted(counts.total() as usize, "sector"),
            if *places == 1 { "1 place reads".to_owned() } else { format!("{places} places read") }
        ),
        (Verdict::Damaged, _) => format!("damaged: {lost}"),
        _ => format!("cannot tell: nothing lost was found in {} sectors", counts.total()),
    };
    if account.hidden {
        text.push_str("; a cache hides more (--cache SIZE reads past larger ones)");
    }
    if let Some(why) = account.cut_short {
        text.push_str(&format!("; {}", ended_early(why)));
    }
    text
}

fn ended_early(why: CutShort) -> &'static str {
    match why {
        CutShort::Denied => "the system denied access",
        CutShort::Exchanged => "another medium took its place, or it lost all that it held",
        CutShort::Interrupted => "it was interrupted",
        CutShort::Journal => "the journal could not be written",
        CutShort::Spent => "the limit of bytes written was reached",
    }
}

/// The size of a fake, as a clause. An interval that excludes almost nothing is not stated.
fn size(account: &Account, counts: &SectorCounts) -> String {
    let little = account.announced / 20;
    match account.real {
        Some((low, high)) if low == high && account.announced - low < account.announced / 500 => {
            format!("holds {} less than that", Bytes(account.announced - low))
        }
        Some((low, high)) if low == high => format!("holds {}", Bytes(low)),
        Some((low, high)) if high > account.announced - little => match low < little {
            true => "its real size was not found".to_owned(),
            false => format!("holds at least {}", Bytes(low)),
        },
        Some((low, high)) => format!("holds {} to {}", Bytes(low), Bytes(high)),
        None => {
            let share = counts.good as f64 / counts.total().max(1) as f64;
            format!("about {} holds", Bytes((share * account.announced as f64) as u64))
        }
    }
}

fn failure(account: &Account) -> String {
    use super::super::contract::Fault;
    let after = format!("after {} written", Bytes(account.moved.written_bytes));
    let what = match account.failed {
        Some(Fault::Gone) => "it vanished",
        Some(Fault::ReadOnly) => "it turned read-only",
        Some(Fault::WriteErrors) => "after some time it refused every write",
        Some(Fault::AllErrors) => "after some time it returned only errors",
        Some(Fault::DropsWrites) => "after some time it dropped what was written",
        Some(Fault::Hung) => "it stopped answering",
        _ => "it no longer answered",
    };
    format!("{what}, {after}")
}

fn read_back(account: &Account) -> String {
    let salted = "direct I/O of salted sectors";
    match (account.cache_bytes, account.verdict) {
        (Some(bytes), _) => format!("{salted}, after a cache of at most {} had been driven out", Bytes(bytes)),
        (None, Verdict::Genuine | Verdict::Undecided) => {
            format!("{salted}, after {} had been written elsewhere", Bytes(account.run_bytes))
        }
        (None, Verdict::Failed) => salted.to_owned(),
        (None, _) => format!("{salted}, after one whose loss was known had been lost"),
    }
}
