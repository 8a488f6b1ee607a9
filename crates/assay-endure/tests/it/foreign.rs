//! What something else has written to the medium of a test is seen before it is written over.

use assay_core::endurance::WearLoad;
use assay_endure::{Foreign, Medium, Phase, Recognised, Shows, Step, Wear, recognise, written_since};

use crate::lives::Life;
use crate::memory::{Memory, PAGES, replayed};
use crate::model::{Handle, Model, NEVER};

const LOADS: [WearLoad; 2] = [WearLoad::Whole, WearLoad::RandomSync { block_bytes: 4096 }];
const PAGE: u64 = 4096;

/// A medium after this many slices of its test.
fn after(slices: u64, load: WearLoad) -> (Handle, assay_endure::State) {
    let life = Life::new(7, Model::new(PAGES * 8, vec![NEVER; PAGES as usize * 8]), load);
    let mut wear = Wear::new(life.medium.clone(), Memory::new(life.log.clone()), replayed(&mut life.log.borrow_mut()));
    for _ in 0..slices {
        assert!(matches!(wear.step(&mut |_| true), Ok(Step::Done(_))));
    }
    let (medium, _, state) = wear.into_parts();
    (medium, state)
}

/// Bytes of a file that are text, or as of a compressed one.
fn content(page: u64, text: bool) -> Vec<u8> {
    let byte =
        |at: u64| if text { b"what a user wrote "[at as usize % 18] } else { assay_endure::mixed(page, at) as u8 };
    (0..PAGE).map(byte).collect()
}

#[test]
fn a_mark_is_seen_on_pages_without_a_stamp() {
    let marks: [(&str, u64, &[u8]); 5] = [
        ("ext2/ext3/ext4 file system", 0x438, b"\x53\xef"),
        ("MBR partition table or boot sector", 510, b"\x55\xaa"),
        ("ISO 9660 file system", 0x8001, b"CD001"),
        ("btrfs file system", 0x1_0040, b"_BHRfS_M"),
        ("GPT partition table (its copy at the end)", PAGES * PAGE - 512, b"EFI PART"),
    ];
    for load in LOADS {
        for (name, at, mark) in marks {
            let (mut medium, state) = after(40, load);
            // Only the sectors that a file system writes are not of the test.
            let mut sector = vec![0; 512];
            let within = (at % 512) as usize;
            sector[within..within + mark.len()].copy_from_slice(mark);
            medium.write(at / 512 * 512, &sector).unwrap();
            assert_eq!(recognise(&mut medium.clone(), &state), Recognised::Ours);
            for shows in [Shows::Every, Shows::Held] {
                assert_eq!(written_since(&mut medium, &state, shows), Some(Foreign::Mark(name)), "{load:?} {shows:?}");
            }
        }
    }
}

/// sfdisk writes the table of an MBR and leaves the code before it, which is the greater part of a stamp.
#[test]
fn a_table_behind_the_rest_of_a_stamp_is_seen() {
    for load in LOADS {
        let (mut medium, state) = after(40, load);
        let mut sector = vec![0; 512];
        medium.read(0, &mut sector).unwrap();
        sector[440..446].copy_from_slice(&[0x1d, 0x2c, 0x3b, 0x4a, 0, 0]);
        sector[446..510].fill(0);
        sector[446..462].copy_from_slice(&[0, 0, 1, 1, 0x83, 0, 1, 2, 0, 64, 0, 0, 0, 128, 0, 0]);
        sector[510..].copy_from_slice(b"\x55\xaa");
        medium.write(0, &sector).unwrap();
        let mark = Foreign::Mark("MBR partition table or boot sector");
        for shows in [Shows::Every, Shows::Since(None), Shows::Held] {
            assert_eq!(written_since(&mut medium, &state, shows), Some(mark), "{load:?} {shows:?}");
        }
    }
}

/// In the first cycle it may be older than the test: it ends no session, and a test that is resumed asks.
#[test]
fn a_mark_in_the_first_cycle_may_be_older_than_the_test() {
    for load in LOADS {
        let (mut medium, state) = after(1, load);
        let mut sector = vec![0; 512];
        sector[510..].copy_from_slice(b"\x55\xaa");
        medium.write(0, &sector).unwrap();
        assert_eq!(written_since(&mut medium, &state, Shows::Held), None);
        let name = "MBR partition table or boot sector";
        assert_eq!(written_since(&mut medium, &state, Shows::Every), Some(Foreign::Mark(name)));
        // A session knows what the medium bore before.
        assert_eq!(written_since(&mut medium, &state, Shows::Since(None)), Some(Foreign::Mark(name)));
        assert_eq!(written_since(&mut medium, &state, Shows::Since(Some(name))), None);
    }
}

/// Pages that were written in the first cycle and not read yet: a test that is resumed asks.
#[test]
fn content_on_pages_that_were_only_written_is_seen_by_a_test_that_is_resumed() {
    for load in LOADS {
        let (mut medium, state) = after(15, load);
        for page in 0..PAGES / 2 {
            medium.write(page * PAGE, &content(page, false)).unwrap();
        }
        assert_eq!(written_since(&mut medium, &state, Shows::Since(None)), None);
        assert_eq!(written_since(&mut medium, &state, Shows::Every), Some(Foreign::Content), "{load:?}");
    }
}

/// A partition whose table was lost.
#[test]
fn a_file_system_is_seen_where_partitions_begin() {
    let (mut medium, state) = after(40, WearLoad::Whole);
    let mut sector = vec![0; 512];
    sector[0x38..0x3a].copy_from_slice(b"\x53\xef");
    medium.write((63 + 2) * 512, &sector).unwrap();
    let mark = Foreign::Mark("ext2/ext3/ext4 file system");
    assert_eq!(written_since(&mut medium, &state, Shows::Every), Some(mark));
}

#[test]
fn content_without_a_mark_is_seen_at_the_front_and_in_half_of_the_area() {
    for (load, text) in LOADS.into_iter().flat_map(|load| [(load, false), (load, true)]) {
        for (pages, seen) in [(10..13, None), (10..14, Some(Foreign::Content)), (128..256, Some(Foreign::Content))] {
            let (mut medium, state) = after(40, load);
            assert_eq!(state.task().phase, Phase::Write);
            for page in pages.clone() {
                medium.write(page * PAGE, &content(page, text)).unwrap();
            }
            assert_eq!(written_since(&mut medium, &state, Shows::Held), seen, "{load:?} {text} {pages:?}");
        }
    }
}

/// What fails by itself is no content of something else: zeros, ones, flips, earlier cycles, other addresses and other tests.
#[test]
fn what_a_medium_does_to_its_content_is_not_of_something_else() {
    use assay_endure::{SECTOR, Stamp};
    for load in LOADS {
        let (mut medium, state) = after(40, load);
        let unit = state.layout().unit;
        for page in 0..PAGES {
            let mut bytes = vec![0; PAGE as usize];
            medium.read(page * PAGE, &mut bytes).unwrap();
            for (sector, address) in bytes.chunks_exact_mut(SECTOR).zip(page * 8..) {
                match page % 8 {
                    1 => sector.fill(0),
                    2 => sector.fill(0xff),
                    3 => (0..900).for_each(|bit| sector[bit * 37 % SECTOR] ^= 1 << (bit % 8)),
                    4 => Stamp { unit, round: 1, address }.fill(sector),
                    5 => Stamp { unit, round: 2, address: address ^ 64 }.fill(sector),
                    6 => Stamp { unit: 99, round: 3, address }.fill(sector),
                    // All sectors but one.
                    7 if address % 8 < 7 => sector.copy_from_slice(&content(address, false)[..SECTOR]),
                    _ => {}
                }
            }
            medium.write(page * PAGE, &bytes).unwrap();
        }
        for shows in [Shows::Every, Shows::Held] {
            assert_eq!(written_since(&mut medium, &state, shows), None, "{load:?}");
        }
    }
}
