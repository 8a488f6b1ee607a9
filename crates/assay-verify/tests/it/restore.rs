//! Damaged journals, and devices other than the probed one.

use std::path::{Path, PathBuf};

use assay_engine::Control;
use assay_lab::Dying;
use assay_lab::media::{InitialContent, Layout, MediumSpec, ModelMedium, Pattern};
use assay_verify::probe::{
    Device, Journal, JournalError, JournalIdentity, JournalLeft, ProbeFault, ProbeSettings, Restoration, RestoreError,
    Salt, restore, run,
};

const MIB: u64 = 1 << 20;
const QUICK: ProbeSettings = ProbeSettings { cache_limit_bytes: 2 * MIB };

fn identity(device: &impl Device) -> JournalIdentity {
    JournalIdentity {
        bytes: device.bytes(),
        name: "card".to_owned(),
        serial: None,
        attachment: Some("first".to_owned()),
    }
}

/// After everything was restored, the journal is removed when the device was attached anew, and not before.
#[track_caller]
fn goes_when_seen_again(path: &Path, device: &mut impl Device) {
    let who = identity(device);
    assert!(restore(path, device, &who).unwrap().journal == JournalLeft::UntilSeenAgain && path.exists());
    let anew = JournalIdentity { attachment: Some("second".to_owned()), ..who };
    let done = restore(path, device, &anew).unwrap();
    assert!(done.already && done.is_complete() && !path.exists(), "{done:?}");
}

/// Byte offsets of the blocks of a medium that changed since it was made.
fn changed(medium: &ModelMedium) -> Vec<u64> {
    let first = medium.spec().build().unwrap().snapshot();
    let mut blocks: Vec<u64> = medium.changed_since(&first).iter().map(|at| at / 4096 * 4096).collect();
    blocks.dedup();
    blocks
}

/// A device whose probe was interrupted after `operations`, with its journal.
fn cut_off(spec: &MediumSpec, operations: u64) -> (tempfile::TempDir, PathBuf, ModelMedium) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    let mut dying = Dying::new(spec.build().unwrap(), operations);
    let journal = Journal::create(&path, &identity(&dying), Salt::known(7)).unwrap();
    let probed = run(&mut dying, journal, &QUICK, &Control::default(), &mut |_| {}).unwrap();
    assert!((probed.journal == JournalLeft::Needed));
    let medium = dying.revive();
    assert!(!changed(&medium).is_empty(), "there is something to put back");
    (directory, path, medium)
}

/// Reads and writes of a complete probe.
fn operations(spec: &MediumSpec) -> u64 {
    let directory = tempfile::tempdir().unwrap();
    let mut whole = spec.build().unwrap();
    let journal = Journal::create(&directory.path().join("journal"), &identity(&whole), Salt::known(7)).unwrap();
    run(&mut whole, journal, &QUICK, &Control::default(), &mut |_| {}).unwrap();
    whole.traffic().reads + whole.traffic().writes
}

fn genuine() -> MediumSpec {
    MediumSpec::genuine(64 * MIB)
}

fn flip(path: &Path, at: usize) {
    let mut bytes = std::fs::read(path).unwrap();
    bytes[at] ^= 0x10;
    std::fs::write(path, &bytes).unwrap();
}

/// Threat 3: only size and serial number were compared.
#[test]
fn another_card_of_the_same_size_is_refused_untouched() {
    let (_directory, path, mut probed) = cut_off(&genuine(), 1200);
    let mut other = MediumSpec { seed: 99, ..genuine() }.build().unwrap();
    let refused = restore(&path, &mut other, &identity(&probed)).unwrap_err();
    assert!(matches!(refused, RestoreError::AnotherCard { .. }), "{refused}");
    assert!(refused.to_string().contains("another card"), "{refused}");
    assert_eq!(changed(&other), [0; 0]);
    // On request it is refused too.
    let who = identity(&probed);
    let refused = Restoration::new(&path, &who).keeping_newer(true).run(&mut other).unwrap_err();
    assert!(matches!(refused, RestoreError::AnotherCard { .. }), "{refused}");
    assert_eq!(changed(&other), [0; 0]);
    // The first card gets its content back.
    assert!(restore(&path, &mut probed, &who).unwrap().is_complete());
    assert_eq!(changed(&probed), [0; 0]);
    goes_when_seen_again(&path, &mut probed);
}

/// A card written from the same image holds the same content at all places: the journal must stay.
#[test]
fn a_copy_of_the_card_closes_no_journal() {
    let (_directory, path, mut probed) = cut_off(&genuine(), 1200);
    let mut copy = genuine().build().unwrap();
    let who = identity(&probed);
    let done = restore(&path, &mut copy, &who).unwrap();
    assert!(done.untouched && done.journal == JournalLeft::Needed && path.exists());
    assert!(restore(&path, &mut probed, &who).unwrap().is_complete());
    assert_eq!(changed(&probed), [0; 0]);
}

/// Empty cards hold the same, so one of them without a serial number says nothing about another's journal.
#[test]
fn an_empty_card_closes_the_journal_of_no_other() {
    let empty = MediumSpec { before: InitialContent::full_of(Pattern::Zeros), ..genuine() };
    let (_directory, path, mut probed) = cut_off(&empty, 1200);
    let who = identity(&probed);
    assert!(restore(&path, &mut probed, &who).unwrap().is_complete());
    let anew = JournalIdentity { attachment: Some("second".to_owned()), ..who };
    let mut other = empty.build().unwrap();
    assert!(!Restoration::new(&path, &anew).confirm(&mut other).unwrap() && path.exists());
    let done = restore(&path, &mut other, &anew).unwrap();
    assert!(done.untouched && path.exists(), "{done:?}");
}

/// Threat 5: a journal of last week was restored over today's file system.
#[test]
fn data_newer_than_the_probe_are_refused_and_left() {
    let (_directory, path, mut stack) = cut_off(&genuine(), 1200);
    let stamped = changed(&stack);
    let mut newer = Vec::new();
    for at in stamped.iter().step_by(5) {
        stack.write_at(*at, &[0xee; 512]).unwrap();
        newer.push(*at);
    }
    let who = identity(&stack);
    let before = changed(&stack);
    let refused = restore(&path, &mut stack, &who).unwrap_err();
    assert!(matches!(&refused, RestoreError::Newer { newer: places, .. } if *places > 0), "{refused}");
    assert!(refused.to_string().contains("newer data at"), "{refused}");
    assert_eq!(changed(&stack), before, "refused before a single write");
    // On request the rest is restored, sector by sector.
    let done = Restoration::new(&path, &who).keeping_newer(true).run(&mut stack).unwrap();
    assert!(!done.is_complete() && done.journal == JournalLeft::Needed && path.exists());
    assert!(!done.newer.is_empty() && done.differing.is_empty());
    let mut first = vec![0; 4096];
    for at in &newer {
        stack.read_at(*at, &mut first).unwrap();
        assert_eq!(first[..512], [0xee; 512], "newer data stay");
        let mut before = vec![0; 4096];
        genuine().build().unwrap().read_at(*at, &mut before).unwrap();
        assert_eq!(first[512..], before[512..], "the sectors beside them are put back");
    }
    assert_eq!(changed(&stack), newer);
}

/// Threat 4: one flipped bit ended the reading, and the rest was lost.
#[test]
fn a_damaged_record_costs_its_own_place_alone_and_is_told() {
    let model = genuine();
    let (_directory, path, stack) = cut_off(&model, 1200);
    let length = std::fs::metadata(&path).unwrap().len() as usize;
    let whole = std::fs::read(&path).unwrap();
    let mut damaged = 0;
    for at in (600..length).step_by(length / 40) {
        std::fs::write(&path, &whole).unwrap();
        flip(&path, at);
        let mut stack = stack.clone();
        let who = identity(&stack);
        let done = restore(&path, &mut stack, &who).unwrap();
        let left = changed(&stack);
        let named: Vec<u64> = done.missing.iter().flatten().copied().collect();
        // One record is at most a MiB; nothing else is missing. Changes are counted in blocks.
        assert!(
            left.iter().all(|at| named.iter().any(|from| (*from / 4096 * 4096..from + MIB).contains(at))),
            "{at}: {done:?}"
        );
        assert_eq!(done.is_complete(), done.missing.is_empty());
        assert_eq!(done.journal == JournalLeft::Needed, !done.missing.is_empty(), "{at}: until everything is back");
        assert!(done.missing.len() <= 1, "{at}: {done:?}");
        if !done.missing.is_empty() {
            assert!(done.to_string().contains("the journal is damaged"), "{done}");
            damaged += 1;
        }
        assert!(done.missing.len() == 1 || left.is_empty(), "{at}: {left:?}");
    }
    assert!(damaged > 20, "{damaged} of the places in the file were data");
}

/// Byte offsets of the commit marks in a journal. Records follow the header, and each begins with the same eight bytes;
/// a 4 after them identifies a mark.
fn marks(journal: &[u8]) -> Vec<usize> {
    let first = 36 + u32::from_le_bytes(*journal[16..].first_chunk().unwrap()) as usize;
    let mark = [&journal[first..first + 8], &[4]].concat();
    (0..journal.len() - 9).filter(|at| journal[*at..*at + 9] == mark).collect()
}

/// Lost pages around a commit mark destroy records of single sectors and the mark that names their places.
#[test]
fn lost_pages_of_the_journal_tell_how_many_places_are_missing() {
    // While the end of a fake is searched, there is a mark for every few places.
    let fake = MediumSpec::limbo(64 * MIB, 40 * MIB);
    let (_directory, path, stack) = cut_off(&fake, operations(&fake) / 2);
    let whole = std::fs::read(&path).unwrap();
    let who = identity(&stack);
    let places = restore(&path, &mut stack.clone(), &who).unwrap().places;
    let marks = marks(&whole);
    let (mut named, mut unknown) = (0, 0);
    // A record lost at the end of a file cannot be distinguished from one that was never synced.
    let last = marks.len() - 1;
    for at in marks[..last].iter().filter(|at| **at > 8192).take(40) {
        let mut bytes = whole.clone();
        bytes[at - 4000..at + 16].fill(0);
        std::fs::write(&path, bytes).unwrap();
        let mut stack = stack.clone();
        let done = restore(&path, &mut stack, &who).unwrap();
        assert_eq!(done.missing.len(), places - done.places, "{at}: {done:?}");
        assert!(!done.is_complete() && path.exists(), "{at}: {done:?}");
        let nameless = done.missing.iter().filter(|place| place.is_none()).count();
        assert!(nameless > 0 || changed(&stack).len() <= done.missing.len() * 256, "{at}: {done:?}");
        named += done.missing.len() - nameless;
        unknown += nameless;
    }
    assert!(named > 5 && unknown > 5, "{named} {unknown}");
}

/// A removed, a duplicated and a swapped record are detected, since records are numbered.
#[test]
fn records_cut_out_or_moved_are_noticed() {
    let (_directory, path, stack) = cut_off(&genuine(), 1200);
    let whole = std::fs::read(&path).unwrap();
    // The first records are single sectors of noise, all of one length.
    let marker = &whole[..].windows(8).enumerate().skip(20).find_map(|(at, _)| {
        let here = &whole[at..at + 8];
        (whole.get(at + 561..at + 569) == Some(here)).then(|| (at, here.to_vec()))
    });
    let (first, _) = marker.clone().unwrap();
    let size = 561;
    let record = |n: usize| first + n * size..first + (n + 1) * size;
    let cut = [&whole[..record(3).start], &whole[record(3).end..]].concat();
    let swapped = [&whole[..record(3).start], &whole[record(4)], &whole[record(3)], &whole[record(4).end..]].concat();
    let doubled = [&whole[..record(3).end], &whole[record(3).start..]].concat();
    for (what, bytes, complete) in [("cut", cut, false), ("swapped", swapped, true), ("doubled", doubled, true)] {
        std::fs::write(&path, bytes).unwrap();
        let mut stack = stack.clone();
        let who = identity(&stack);
        let done = restore(&path, &mut stack, &who).unwrap();
        assert_eq!(done.is_complete(), complete, "{what}: {done:?}");
        assert_eq!(done.journal == JournalLeft::Needed, !complete, "{what}");
        assert_eq!(changed(&stack).is_empty(), complete, "{what}");
    }
}

/// Records torn by a power cut are not damage: nothing was overwritten for them.
#[test]
fn a_torn_end_is_forgiven() {
    let (_directory, path, stack) = cut_off(&genuine(), 1200);
    let whole = std::fs::read(&path).unwrap();
    let mut torn = whole.clone();
    let record = whole[whole.len() - 6000..].to_vec();
    torn.extend_from_slice(&record);
    torn.extend_from_slice(&[0; 5000]);
    std::fs::write(&path, &torn).unwrap();
    let mut stack = stack.clone();
    let who = identity(&stack);
    assert!(restore(&path, &mut stack, &who).unwrap().is_complete());
    assert_eq!(changed(&stack), [0; 0]);
}

/// A power cut in a sync may keep the mark and lose the records before it: nothing was overwritten for those yet.
#[test]
fn records_lost_before_the_last_mark_are_forgiven_where_nothing_was_overwritten() {
    let (_directory, path, overwritten) = cut_off(&genuine(), 1200);
    let mut whole = std::fs::read(&path).unwrap();
    let word = |at: usize| u64::from_le_bytes(*whole[at..].first_chunk().unwrap());
    let last = *marks(&whole).last().unwrap();
    // After the head and a checksum: offset and length of each place.
    let ends = last + 33 + word(last + 25) as usize;
    let places: Vec<(u64, u64)> = (last + 49..ends).step_by(16).map(|at| (word(at), word(at + 8))).collect();
    let mut stack = overwritten.clone();
    for (offset, length) in &places {
        let mut before = vec![0; *length as usize];
        genuine().build().unwrap().read_at(*offset, &mut before).unwrap();
        stack.write_at(*offset, &before).unwrap();
    }
    whole[last - 64..last].fill(0);
    let who = identity(&stack);
    let judged = |mut stack: ModelMedium| {
        std::fs::write(&path, &whole).unwrap();
        restore(&path, &mut stack, &who).unwrap()
    };
    let done = judged(stack);
    assert!(done.is_complete() && done.journal == JournalLeft::UntilSeenAgain, "{done:?}");
    // If it was overwritten, it is missing.
    let done = judged(overwritten);
    assert_eq!(done.missing.len(), 1, "{done:?}");
}

#[test]
fn files_that_are_no_journal_of_this_format_get_one_clear_line() {
    let (directory, path, mut stack) = cut_off(&genuine(), 1200);
    let who = identity(&stack);
    let mut refusal = |content: &[u8]| {
        std::fs::write(&path, content).unwrap();
        restore(&path, &mut stack, &who).unwrap_err().to_string()
    };
    assert!(refusal(b"assay-undo-log-1\x10\0\0\0").contains("format 1"));
    assert!(refusal(b"assay-undo-log-2\xff\xff\xff\xff").contains("is not a journal"));
    assert!(refusal(b"").contains("is not a journal"));
    let missing = restore(&directory.path().join("none"), &mut stack, &who).unwrap_err().to_string();
    assert!(missing.contains("no such journal") && !missing.contains("another place"), "{missing}");
    let folder = restore(directory.path(), &mut stack, &who).unwrap_err().to_string();
    assert!(folder.lines().count() == 1 && !folder.contains("another place"), "{folder}");
    rustix::fs::mkfifoat(rustix::fs::CWD, directory.path().join("pipe"), rustix::fs::Mode::RWXU).unwrap();
    let pipe = restore(&directory.path().join("pipe"), &mut stack, &who).unwrap_err();
    assert!(matches!(pipe, RestoreError::Journal(JournalError::NotAJournal { .. })), "{pipe}");
}

/// Two addresses of one memory cell: the second save holds the probe's own block.
#[test]
fn a_restoration_of_aliases_may_be_broken_off_at_any_place() {
    let model = MediumSpec::laid_out(256 * MIB, Layout::wraparound(64 * MIB));
    let all = operations(&model);
    let mut begun_again = 0;
    // More than half of the probe of a fake is restoring, and reading back three times.
    for part in 6..14 {
        let (_directory, path, mut stack) = cut_off(&model, all * part / 40);
        let who = identity(&stack);
        let calls = std::cell::Cell::new(0);
        let mut limit = 10;
        loop {
            calls.set(0);
            let stop = || {
                calls.set(calls.get() + 1);
                calls.get() > limit
            };
            let done = Restoration::new(&path, &who).until(&stop).run(&mut stack).unwrap();
            if !done.stopped {
                assert!(done.is_complete(), "{done:?}");
                break;
            }
            assert!(path.exists() && done.journal == JournalLeft::Needed);
            limit += 500;
            begun_again += 1;
        }
        assert_eq!(changed(&stack), [0; 0], "{part} fortieths");
    }
    assert!(begun_again > 8, "{begun_again}");
}

/// Silently drops writes to one block.
struct Dropping {
    inner: ModelMedium,
    block: u64,
}

impl Device for Dropping {
    fn bytes(&self) -> u64 {
        self.inner.bytes()
    }
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), ProbeFault> {
        self.inner.read_at(offset, buffer)
    }
    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<(), ProbeFault> {
        for (part, at) in data.chunks(512).zip((offset..).step_by(512)).filter(|(_, at)| at / 4096 * 4096 != self.block)
        {
            self.inner.write_at(at, part)?;
        }
        Ok(())
    }
    fn sync(&mut self) -> Result<(), ProbeFault> {
        self.inner.sync()
    }
}

/// The journal was marked as restored although blocks differed, and a second attempt refused.
#[test]
fn a_block_that_is_not_put_back_keeps_the_journal_for_a_second_try() {
    let (_directory, path, stack) = cut_off(&genuine(), 1200);
    let who = identity(&stack);
    let block = changed(&stack)[3];
    let mut device = Dropping { inner: stack, block };
    let done = restore(&path, &mut device, &who).unwrap();
    assert!(!done.is_complete() && done.journal == JournalLeft::Needed && path.exists(), "{done:?} {block}");
    assert!(!done.differing.is_empty() && done.to_string().contains("1 place did not keep"), "{done}");
    assert_eq!(changed(&device.inner), [block]);
    let mut mended = device.inner;
    goes_when_seen_again(&path, &mut mended);
    assert_eq!(changed(&mended), [0; 0]);
}
