//! Full and quick check of mounted fakes: vfat on a device that announces four times what it has.
#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::io;
use std::path::Path;
use std::process::Command;

use assay_core::outcome::Outcome;
use assay_core::verification::{FakeKind, Verdict};
use assay_engine::Control;
use assay_lab::{Backing, FakeCard, Lab, Missing, Mount, skip};
use assay_verify::files::{Plan, Settings, check};
use assay_verify::quick::{self, Quick};

const MIB: u64 = 1 << 20;
const ANNOUNCED: u64 = 96 * MIB;
const REAL: u64 = ANNOUNCED / 4;

/// A lab object, or the end of the test with its reason printed.
macro_rules! lab {
    ($test:expr, $make:expr) => {
        match $make {
            Ok(made) => made,
            Err(missing) => return skip($test, &missing),
        }
    };
}

/// Drops what is beyond its end.
struct Limbo(Vec<u8>);

impl Backing for Limbo {
    fn bytes(&self) -> u64 {
        ANNOUNCED
    }

    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        for (at, byte) in (offset as usize..).zip(buffer) {
            *byte = self.0.get(at).copied().unwrap_or(0);
        }
        Ok(())
    }

    fn write(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        let start = (offset as usize).min(self.0.len());
        let end = (start + data.len()).min(self.0.len());
        self.0[start..end].copy_from_slice(&data[..end - start]);
        Ok(())
    }
}

/// The fake, formatted and mounted below `directory`; dropped in order.
fn mounted(directory: &Path) -> Result<(Mount, FakeCard), Missing> {
    let card = FakeCard::new(Limbo(vec![0; REAL as usize]))?;
    let made = Command::new("mkfs.vfat").arg(card.path()).output();
    made.map_err(|_| Missing("needs mkfs.vfat (package dosfstools)".to_owned()))?;
    Ok((Mount::existing(card.path(), &directory.join("mnt"), "rw")?, card))
}

#[test]
fn a_full_check_finds_the_real_capacity_of_a_mounted_fake() {
    const TEST: &str = "a_full_check_finds_the_real_capacity_of_a_mounted_fake";
    let _lab = lab!(TEST, Lab::enter());
    let directory = tempfile::tempdir().unwrap();
    let (mount, _card) = lab!(TEST, mounted(directory.path()));
    let plan = Plan::new(mount.path(), &Settings::default()).unwrap();
    let checked = check(&plan, &Settings::default(), &Control::default(), &mut |_| {}).unwrap();
    let found = checked.verification;
    assert_eq!(
        (found.verdict, found.kind, &checked.outcome),
        (Verdict::Fake, Some(FakeKind::Limbo), &Outcome::Completed)
    );
    // The tables of the file system take less than 1 MiB of the real part.
    let real = found.real_bytes.unwrap();
    assert!((REAL - MIB..=REAL).contains(&real), "{real}");
    assert_eq!(found.first_error.unwrap().offset_bytes, real);
}

#[test]
fn a_quick_check_finds_a_mounted_fake_with_little_writing() {
    const TEST: &str = "a_quick_check_finds_a_mounted_fake_with_little_writing";
    let _lab = lab!(TEST, Lab::enter());
    let directory = tempfile::tempdir().unwrap();
    let (mount, _card) = lab!(TEST, mounted(directory.path()));
    let checked = quick::check(mount.path(), &Quick::default(), &Control::default(), &mut |_, _| {}).unwrap();
    let found = checked.verification;
    assert_eq!((found.verdict, found.kind), (Verdict::Fake, Some(FakeKind::Limbo)), "{}", found.sentence);
    assert!(found.written_bytes <= 8 * 4096, "stopped at the first proof: {}", found.written_bytes);
    assert_eq!(checked.left, None);
}
