//! What a check came to, in a sentence.

use assay_core::retention::Retention;
use assay_core::text::harmless;
use assay_core::units::{Bytes, counted};
use assay_core::verification::{
    Checker, Doubt, EarlyEnd, FakeKind, Method, Places, Reach, Remark, SECTOR_BYTES, Sign, Verdict, Verification, Whole,
};

use crate::retention::{days, speed_by_age};

/// What a check came to, why, and by which check it is known where that is another record.
#[must_use]
pub fn check_sentence(v: &Verification) -> String {
    let sentence = match (v.checker, v.method) {
        (Checker::F3 | Checker::H2testw, _) => foreign(v),
        (_, Method::QuickMounted) => quick(v),
        (_, Method::QuickProbe) => probe(v),
        (_, Method::Full | Method::Other) => full(v),
    };
    let sentence = match &v.retention {
        Some(retention) => format!("{sentence}; {}", aged(retention)),
        None => sentence,
    };
    match &v.by_check {
        Some(id) => format!("{sentence}, by the check {}", harmless(id)),
        None => sentence,
    }
}

/// How old what was read is, and how fast it was read.
fn aged(retention: &Retention) -> String {
    let age = match retention.age {
        Some(age) => format!("it was written {} before", days(age.low_seconds)),
        None => "no clock tells when it was written".to_owned(),
    };
    match &retention.speed {
        Some(speed) => format!("{age}; {}", speed_by_age(speed)),
        None => format!("{age}; the record of the check that wrote it is not here, so that no speed is compared"),
    }
}

/// A remark as a clause; `None` where it is said in other words or has no name.
fn clause(remark: Remark, reach: Option<&Reach>) -> Option<String> {
    let words = match remark {
        Remark::LastSectorsMissing => {
            "only the last sectors are missing; some USB bridges announce one sector too many"
        }
        Remark::FileSystemErrs => "this file system answers with errors where the device need not",
        Remark::ProbeDecides => {
            "a fake looks the same through its file system: assay verify --quick on the unmounted device decides"
        }
        Remark::WraparoundNotExcluded => {
            if let Some(share) = reach.and_then(|reach| reach.wraparounds_from_share) {
                return Some(format!(
                    "a wrap-around that lacks less than {:.0} % is not excluded: the full check finds one",
                    (share * 100.0).ceil()
                ));
            }
            "a wrap-around is not excluded: the full check, or assay verify --quick on the unmounted device, finds one"
        }
        Remark::SpaceNotReserved => {
            "this file system does not reserve space, so only a full check, or assay verify --quick on the unmounted \
             device, reaches all of it"
        }
        Remark::CacheHides => "a cache hides more (--cache SIZE reads past larger ones)",
        Remark::PartlyUnread | Remark::OnlyRead | Remark::Other => return None,
    };
    Some(words.to_owned())
}

fn doubt(doubt: Doubt) -> &'static str {
    match doubt {
        Doubt::DriverKeepsData => {
            "the driver of this file system is a program that keeps data in memory, and its device cannot be opened; run \
             as root, or check with a driver of the kernel"
        }
        Doubt::SystemKeepsData => {
            "the system cannot be made to drop what it has cached of a file, so that reads that do not go past the cache \
             need not come from the medium; check with direct I/O on a file system that takes it"
        }
        Doubt::CutOff => "the log is cut off",
        Doubt::FilesMissing => "files are missing",
        Doubt::LossesLeftOut => "its summary leaves out losses of its files",
        Doubt::CountsUnreadable => "counts of sectors cannot be read",
        Doubt::PartTested => "only a part was tested, without errors",
        Doubt::NothingSaid => "the text says nothing of errors",
        Doubt::Other => "it says why only to a newer version",
    }
}

/// Why a check ended early.
fn early_end(end: EarlyEnd) -> &'static str {
    match end {
        EarlyEnd::FirstError => "it ended at the first error, as asked",
        EarlyEnd::Interrupted => "it was interrupted",
        EarlyEnd::OutOfSpace => "the file system has no more room",
        EarlyEnd::WriteLimit => "the limit of bytes written was reached",
        EarlyEnd::Journal => "the journal could not be written",
        EarlyEnd::Host => "the host could not go on",
        EarlyEnd::Denied => "the system denied access",
        EarlyEnd::Exchanged => "another medium took its place, or it lost all that it held",
        EarlyEnd::Disappeared => "it vanished",
        EarlyEnd::ReadOnly => "it turned read-only",
        EarlyEnd::Hung => "it stopped answering",
        EarlyEnd::RefusesWrites => "after some time it refused every write",
        EarlyEnd::OnlyErrors => "after some time it returned only errors",
        EarlyEnd::DropsWrites => "after some time it dropped what was written",
        EarlyEnd::IoError => "it reported an I/O error",
        EarlyEnd::Other => "it no longer answered",
    }
}

// The full check.

fn full(v: &Verification) -> String {
    let mut sentence = full_verdict(v);
    if matches!(v.verdict, Verdict::Damaged | Verdict::Failed)
        && let Some(first) = &v.first_error
    {
        sentence.push_str(&format!(", the first at {}", Bytes(first.offset_bytes)));
    }
    if v.refused_bytes > 0 {
        sentence.push_str(&format!("; {} could not be written (write errors)", Bytes(v.refused_bytes)));
    }
    for words in v.remarks.iter().filter_map(|remark| clause(*remark, v.reach.as_ref())) {
        sentence.push_str(&format!("; {words}"));
    }
    let unchecked = area(v).saturating_sub(v.checked_bytes);
    match v.ended {
        // It is the verdict.
        Some(end) if end.is_failure() && v.verdict == Verdict::Failed => {}
        Some(end) => sentence.push_str(&format!("; {}", early_end(end))),
        None if unchecked > 0 => sentence.push_str(&format!("; {} were not checked", Bytes(unchecked))),
        None => {}
    }
    sentence
}

/// Bytes that could be checked.
fn area(v: &Verification) -> u64 {
    v.area_bytes.unwrap_or(v.announced_bytes)
}

fn full_verdict(v: &Verification) -> String {
    let checked = Bytes(v.checked_bytes);
    match v.verdict {
        Verdict::Genuine => {
            let (what, hold) = match (v.remarks.contains(&Remark::OnlyRead), v.checked_bytes >= area(v)) {
                (true, true) => ("the files that were read", "hold"),
                (true, false) => ("the part of the files that was read", "holds"),
                (false, true) => ("all free space", "holds"),
                (false, false) => ("the part of free space that was checked", "holds"),
            };
            let excluded = v.reach.as_ref().map(|reach| format!("; {}", excluded(reach, v.checked_bytes)));
            format!("genuine: {what}, {checked}, {hold} what was written{}", excluded.unwrap_or_default())
        }
        Verdict::Fake => {
            let good = Bytes(v.counts.good.saturating_mul(SECTOR_BYTES));
            match size(v) {
                // A size is stated only for a medium that was read completely.
                None => format!("fake: {good} of {checked} that were read hold data, {}", how(v.kind)),
                Some(size) => {
                    let of = if v.area_bytes.is_some() {
                        format!("of the device's {}", Bytes(v.announced_bytes))
                    } else {
                        format!("of {checked}")
                    };
                    format!("fake: only {size} {of} hold data, {}", how(v.kind))
                }
            }
        }
        Verdict::Damaged => match v.sign {
            Some(Sign::Misplaced { .. }) => {
                let misplaced = Bytes(v.counts.overwritten.saturating_mul(SECTOR_BYTES));
                format!("damaged: {misplaced} of {checked} were found in other places")
            }
            Some(Sign::HoldsLater) => {
                format!("damaged: {} of {checked} were lost, and hold data that are written again", lost(v))
            }
            _ => format!("damaged: {} of {checked} are lost", lost(v)),
        },
        Verdict::Failed => match v.ended.filter(|end| end.is_failure()) {
            Some(end) => format!("failed: {}; {}", early_end(end), so_far(v)),
            // Who writes nothing does not say what a write would do.
            None if v.remarks.contains(&Remark::OnlyRead) => {
                let hardly = if v.counts.good == 0 { "none" } else { "hardly any" };
                format!("failed: {hardly} of {checked} holds what was written")
            }
            None if v.counts.good == 0 => {
                format!("failed: none of {checked} holds what was written: it accepts no writes")
            }
            None => {
                "failed: it no longer accepts writes and reports no error; the last data written are lost".to_owned()
            }
        },
        Verdict::Undecided | Verdict::Other => match v.doubt {
            Some(Doubt::FilesMissing) if v.ended.is_none() => {
                "cannot tell: files of the check are gone, shorter or replaced, by another program or by the medium; a new \
                 check can tell"
                    .to_owned()
            }
            _ if v.counts.total() == 0 => "cannot tell: nothing was read back".to_owned(),
            Some(why) if v.ended.is_none() => format!("cannot tell: {}", doubt(why)),
            _ => format!("cannot tell: {}", so_far(v)),
        },
    }
}

/// The size of a fake that was read completely; `None` where it is not known.
fn size(v: &Verification) -> Option<String> {
    if let Some(bytes) = v.real_bytes {
        return Some(Bytes(bytes).to_string());
    }
    let (low, high) = (v.real_low_bytes?, v.real_high_bytes?);
    Some(match (Bytes(low).to_string(), Bytes(high).to_string()) {
        // Three digits show no difference.
        (low, high) if low == high => format!("about {low}"),
        (low, high) => format!("{low} to {high}"),
    })
}

/// What a fake does with data that it cannot hold.
fn how(kind: Option<FakeKind>) -> &'static str {
    match kind {
        Some(FakeKind::Wraparound) => "later data overwrite earlier ones",
        Some(FakeKind::Limbo) => "the rest is dropped",
        Some(FakeKind::Newest) => "each write takes the place of the oldest",
        Some(FakeKind::Chain | FakeKind::Unknown) | None => "the rest is overwritten or dropped",
    }
}

fn so_far(v: &Verification) -> String {
    let found = match v.counts.lost() {
        0 => "nothing lost was".to_owned(),
        lost => format!("{} lost were", Bytes(lost.saturating_mul(SECTOR_BYTES))),
    };
    format!("{found} found so far in {} of {}", Bytes(v.checked_bytes), Bytes(area(v)))
}

/// What is excluded for a genuine medium. A medium that shares as much memory as was written among all addresses holds
/// the data, and may still lack what the file system keeps for itself.
fn excluded(reach: &Reach, checked_bytes: u64) -> String {
    let medium = match reach.of {
        Whole::Device => "device",
        Whole::FileSystem => "file system",
        Whole::FreeSpace => "free space",
    };
    let mut words = match (reach.tested_share * 100.0).floor() {
        // Zero only if nothing was tested: a small part is not zero.
        0.0 if reach.tested_share > 0.0 => format!("less than 1 % of the {medium} tested"),
        percent => format!("{percent:.0} % of the {medium} tested"),
    };
    match reach.caches_up_to_bytes {
        None | Some(0) => words.push_str(", a cache may have hidden a loss"),
        Some(bytes) => words.push_str(&format!(", a cache of up to {} cannot have hidden a loss", Bytes(bytes))),
    }
    if reach.thin_excluded {
        words.push_str(&format!(", thin provisioning with less than {} excluded", Bytes(checked_bytes)));
    } else {
        words.push_str(", thin provisioning not excluded");
    }
    words
}

fn lost(v: &Verification) -> String {
    let counts = &v.counts;
    let kinds = [
        (counts.changed, "slightly changed"),
        (counts.overwritten, "overwritten"),
        (counts.corrupted, "corrupted"),
        (counts.unreadable, "unreadable"),
    ];
    let parts: Vec<String> =
        kinds.iter().filter(|(count, _)| *count > 0).map(|(count, name)| format!("{count} {name}")).collect();
    let sectors = if counts.lost() == 1 { "sector" } else { "sectors" };
    format!("{} ({} {sectors})", Bytes(counts.lost().saturating_mul(SECTOR_BYTES)), parts.join(", "))
}

// The quick check of a mounted medium.

fn quick(v: &Verification) -> String {
    let mut sentence = quick_verdict(v);
    let (space, rest): (Vec<Remark>, Vec<Remark>) =
        v.remarks.iter().partition(|remark| **remark == Remark::SpaceNotReserved);
    let clauses = |remarks: Vec<Remark>| remarks.into_iter().filter_map(|remark| clause(remark, v.reach.as_ref()));
    let doubt = v.doubt.filter(|_| v.verdict == Verdict::Undecided).map(|why| doubt(why).to_owned());
    let parts = clauses(space)
        .chain(doubt)
        .chain(v.ended.map(|end| format!("the check ended early: {}", early_end(end))))
        .chain(clauses(rest));
    parts.for_each(|words| sentence.push_str(&format!("; {words}")));
    sentence
}

fn quick_verdict(v: &Verification) -> String {
    let Places { read, lost } = v.places.unwrap_or(Places { read: 0, lost: 0 });
    let good = read.saturating_sub(lost);
    let places = format!("{read} places across {}", Bytes(area(v)));
    match v.verdict {
        Verdict::Genuine => format!("genuine as far as a quick check can tell: {places} hold what was written"),
        Verdict::Fake if lost == 0 => {
            "fake: what is written at one address stands at another one too: later data overwrite earlier ones"
                .to_owned()
        }
        Verdict::Fake => {
            let how = match v.kind {
                Some(FakeKind::Limbo) => "the medium drops them",
                Some(FakeKind::Unknown) => "the medium drops them, or later data overwrite them",
                _ => "later data overwrite them",
            };
            format!("fake: the data of {lost} of {places} are lost: {how}")
        }
        Verdict::Failed if v.ended.is_none() => {
            format!("failed while it was tested: of {places} those that held no longer accept writes")
        }
        Verdict::Failed => format!("failed while it was tested: {good} of {places} held what was written"),
        Verdict::Damaged if lost == 0 => {
            format!("damaged: {places} hold what was written, but some of what was written beside them is missing")
        }
        Verdict::Damaged => format!("damaged: {lost} of {places} lost what was written"),
        Verdict::Undecided | Verdict::Other => "cannot tell".to_owned(),
    }
}

// The probe of a device.

fn probe(v: &Verification) -> String {
    let mut sentence = match v.verdict {
        Verdict::Genuine => format!(
            "genuine: every place tested of the {} it announces holds what was written",
            Bytes(v.announced_bytes)
        ),
        Verdict::Failed => format!(
            "failed while it was tested: {}, after {} written",
            v.ended.map_or("it no longer answered", early_end),
            Bytes(v.written_bytes)
        ),
        Verdict::Fake => probed_fake(v),
        Verdict::Damaged => probed_damage(v),
        Verdict::Undecided | Verdict::Other => {
            format!("cannot tell: nothing lost was found in {} sectors", v.counts.total())
        }
    };
    for words in v.remarks.iter().filter_map(|remark| clause(*remark, v.reach.as_ref())) {
        sentence.push_str(&format!("; {words}"));
    }
    if let Some(end) = v.ended.filter(|_| v.verdict != Verdict::Failed) {
        sentence.push_str(&format!("; {}", early_end(end)));
    }
    sentence
}

fn probed_fake(v: &Verification) -> String {
    let (announced, size) = (Bytes(v.announced_bytes), probed_size(v));
    let habit = match v.sign {
        Some(Sign::MemoryUsedUp) => {
            return format!(
                "fake: it announces {announced} and accepts no new data after what was written ({size}); its memory is \
                 used up"
            );
        }
        Some(Sign::OnlyWritesWrap { overwritten_sectors: sectors, first_overwritten_bytes: first }) => {
            let were = if sectors == 1 { "was" } else { "were" };
            let strays = first.map(|first| {
                let sectors = counted(usize::try_from(sectors).unwrap_or(usize::MAX), "sector");
                format!("; {sectors} that {were} never saved {were} overwritten by the test, the first at byte {first}")
            });
            let strays = strays.unwrap_or_default();
            format!("data written beyond that overwrite earlier data, and are not read there{strays}")
        }
        Some(Sign::TakesMemory { lost, of }) => {
            format!("{lost} of {of} places that were only read lost what stood there while others were written")
        }
        Some(Sign::OldestReplaced) => "each write takes the place of the oldest data, wherever it is sent".to_owned(),
        _ => match v.kind {
            Some(FakeKind::Limbo) => "data written elsewhere are dropped",
            Some(FakeKind::Wraparound) => "data written beyond that overwrite earlier data",
            Some(FakeKind::Chain) => "data written beyond that are dropped, or overwrite earlier data",
            _ => "the rest is lost",
        }
        .to_owned(),
    };
    format!("fake: it announces {announced} and {size}; {habit}")
}

fn probed_damage(v: &Verification) -> String {
    let lost = format!("of {} sectors tested {} lost what was written", v.counts.total(), v.counts.lost());
    match v.sign {
        Some(Sign::MissingAtEnd { bytes }) => {
            let missing = bytes / SECTOR_BYTES;
            let sectors = if missing == 1 { "sector is".to_owned() } else { format!("{missing} sectors are") };
            format!("damaged: the last {sectors} missing; some USB bridges announce one too many; {lost}")
        }
        Some(Sign::Misplaced { distance_bytes: Some(distance) }) => format!(
            "damaged: data are read {} {} from where they were written, so not everything that the probe overwrote was \
             saved before",
            Bytes(distance.unsigned_abs()),
            // Data at an address were sent to one that is higher by this distance.
            if distance > 0 { "below" } else { "above" }
        ),
        Some(Sign::Decays) => format!("damaged: what was written is lost after some readings; {lost}"),
        Some(Sign::HoldsLater) => format!(
            "damaged: it loses writes now and then, and holds the same places when they are written again; {lost}"
        ),
        Some(Sign::NotPutBack { places }) => format!(
            "damaged: all {} tested held what was written, but {} differently than before after everything was put back",
            counted(usize::try_from(v.counts.total()).unwrap_or(usize::MAX), "sector"),
            if places == 1 { "1 place reads".to_owned() } else { format!("{places} places read") }
        ),
        _ => format!("damaged: {lost}"),
    }
}

/// The size of a probed fake, as a clause. An interval that excludes almost nothing is not stated.
fn probed_size(v: &Verification) -> String {
    let announced = v.announced_bytes;
    let little = announced / 20;
    match (v.real_bytes, v.real_low_bytes.zip(v.real_high_bytes)) {
        (Some(real), _) if announced.saturating_sub(real) < announced / 500 => {
            format!("holds {} less than that", Bytes(announced.saturating_sub(real)))
        }
        (Some(real), _) => format!("holds {}", Bytes(real)),
        (None, Some((low, high))) if high > announced - little => match low < little {
            true => "its real size was not found".to_owned(),
            false => format!("holds at least {}", Bytes(low)),
        },
        (None, Some((low, high))) => format!("holds {} to {}", Bytes(low), Bytes(high)),
        (None, None) => {
            let share = v.counts.good as f64 / v.counts.total().max(1) as f64;
            format!("about {} holds", Bytes((share * announced as f64) as u64))
        }
    }
}

// Checks of other programs.

fn foreign(v: &Verification) -> String {
    match (v.verdict, v.checker) {
        (Verdict::Undecided | Verdict::Other, _) => undecided_by(v),
        (verdict, Checker::F3) if v.method == Method::QuickProbe => match verdict {
            Verdict::Genuine => "f3probe found the whole announced size",
            Verdict::Fake => "f3probe found less than the announced size",
            _ => "f3probe found it damaged",
        }
        .to_owned(),
        (Verdict::Genuine, Checker::F3) => "f3read found all that f3write wrote".to_owned(),
        (Verdict::Genuine, _) if v.checked_bytes == 0 => {
            "the test found no errors; how much it wrote is not told".to_owned()
        }
        (Verdict::Genuine, _) => "the test found no errors in what it wrote".to_owned(),
        (_, Checker::H2testw) if v.counts.total() == 0 => "the medium is called defective, without counts".to_owned(),
        _ if v.remarks.contains(&Remark::PartlyUnread) => {
            format!("{}, and not all could be read", foreign_losses(v))
        }
        _ => foreign_losses(v),
    }
}

fn undecided_by(v: &Verification) -> String {
    match (v.doubt, v.checker) {
        (Some(Doubt::CutOff), Checker::H2testw) => "the report is cut off",
        (Some(Doubt::CutOff), _) if v.method == Method::QuickProbe => "the log of the probe is cut off",
        (Some(why), _) => doubt(why),
        (None, _) => "it came to no verdict",
    }
    .to_owned()
}

/// How many sectors are lost.
fn foreign_losses(v: &Verification) -> String {
    let (lost, total) = (v.counts.lost(), v.counts.total());
    let are = if lost == 1 { "is" } else { "are" };
    match v.counts.overwritten {
        // Too few for a fake, and no usual damage.
        overwritten @ 1.. if v.verdict == Verdict::Damaged => {
            format!("{lost} of {total} sectors {are} lost, {overwritten} of them to data of another place")
        }
        _ => format!("{lost} of {total} sectors {are} lost"),
    }
}
