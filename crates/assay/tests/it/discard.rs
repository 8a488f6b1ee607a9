//! Giving a journal up, as its owner meets it.

use std::path::{Path, PathBuf};

use assay_engine::Control;
use assay_lab::Dying;
use assay_lab::media::MediumSpec;
use assay_verify::probe::{Device, Journal, JournalIdentity, JournalLeft, ProbeSettings, Salt, run as probe};

use crate::common::{Done, Place, assert_harmless, run};

const MIB: u64 = 1 << 20;

/// What a probe left that was killed.
fn journal(place: &Place, device: &str) -> PathBuf {
    let path = place.path().join("card.journal");
    let mut dying = Dying::new(MediumSpec::genuine(64 * MIB).build().unwrap(), 1500);
    let identity = JournalIdentity { bytes: dying.bytes(), name: device.to_owned(), serial: None, attachment: None };
    let journal = Journal::create(&path, &identity, Salt::random().unwrap()).unwrap();
    let settings = ProbeSettings { cache_limit_bytes: 2 * MIB };
    assert!(
        probe(&mut dying, journal, &settings, &Control::default(), &mut |_| {}).unwrap().journal == JournalLeft::Needed
    );
    path
}

/// With this on standard input.
fn discard(place: &Place, journal: &Path, answer: &str, more: &str) -> Done {
    let mut command = place.shell(&format!("printf %s \"$ANSWER\" | \"$ASSAY\" verify {more} --discard \"$JOURNAL\""));
    command.env("JOURNAL", journal).env("ANSWER", answer);
    run(command)
}

#[test]
fn a_journal_is_given_up_by_its_name_and_by_nothing_else() {
    let place = Place::new();
    let journal = journal(&place, "/dev/sd\u{1b}[31mX");
    let whole = journal.to_string_lossy().into_owned();
    for answer in ["", "\n", "yes\n", "card.journa\n", &format!("{whole}\n")] {
        let kept = discard(&place, &journal, answer, "");
        assert_eq!((kept.code, kept.stdout.as_str()), (Some(2), ""), "{answer:?}: {}", kept.stderr);
        let lines: Vec<&str> = kept.stderr.lines().collect();
        assert_eq!(lines.len(), 4, "{}", kept.stderr);
        assert!(
            lines[0].contains(" places of ") && lines[0].ends_with("(64 MiB) from before a quick probe"),
            "{}",
            lines[0]
        );
        assert!(lines[0].contains("card.journal holds the original contents of "), "{}", lines[0]);
        assert_eq!(lines[1], "without it, blocks that were not put back cannot be restored");
        assert_eq!(lines[2], "type card.journal to discard it:");
        assert!(lines[3].ends_with("card.journal: kept, its name was not typed"), "{}", lines[3]);
        assert_harmless(&kept.stderr);
        assert!(journal.exists(), "{answer:?}");
    }
    let gone = discard(&place, &journal, "card.journal\n", "");
    assert!(gone.succeeds().stderr.ends_with("card.journal was discarded\n"), "{}", gone.stderr);
    assert!(!journal.exists());
}

#[test]
fn a_quiet_one_says_what_it_asks_and_no_more() {
    let place = Place::new();
    let journal = journal(&place, "/dev/sdX");
    let gone = discard(&place, &journal, "card.journal\n", "--quiet");
    assert!(gone.succeeds().stderr.ends_with("type card.journal to discard it:\n"), "{}", gone.stderr);
    assert!(!journal.exists());
}

/// Of an earlier version: nothing can be put back from it by this one, and its owner is told so.
#[test]
fn a_journal_of_another_format_can_be_given_up_and_another_file_cannot() {
    let place = Place::new();
    let journal = journal(&place, "/dev/sdX");
    let mut content = std::fs::read(&journal).unwrap();
    content[15] = b'1';
    std::fs::write(&journal, &content).unwrap();
    let kept = discard(&place, &journal, "no\n", "");
    assert!(kept.code == Some(2) && kept.stderr.contains("format 1") && journal.exists(), "{}", kept.stderr);
    discard(&place, &journal, "card.journal\n", "").succeeds();
    assert!(!journal.exists());
    let other = place.file("thesis.tex", "holiday");
    discard(&place, &other, "thesis.tex\n", "").refuses(2, &["thesis.tex: is not a journal of a probe"]);
    assert!(other.exists());
    discard(&place, &place.path().join("missing"), "missing\n", "").refuses(4, &["missing: "]);
}
