//! The behaviour of every store, whatever the implementation. A new back end adds one line at the end.

use crate::common::{record, record_at, running, with_label, with_samples};
use assay_core::exit::Exit;
use assay_core::finding::{Finding, ValidityVerdict};
use assay_core::medium::MediumKind;
use assay_core::observation::Observation;
use assay_core::outcome::{Outcome, RunFailure};
use assay_core::record::Record;
use assay_store::{Change, ObservationDetail, Owner, RunState, SqliteStore, Store, StoreError, Summary};
use std::path::Path;

fn finish(store: &mut dyn Store, record: &Record) {
    store.save(record, RunState::Finished).unwrap();
}

fn ids(summaries: &[Summary]) -> Vec<&str> {
    summaries.iter().map(|s| s.id.as_str()).collect()
}

/// A process that has certainly ended.
fn dead_owner() -> Owner {
    let mut owner = Owner::current();
    owner.start_time += 1;
    owner
}

fn what_is_saved_is_loaded(store: &mut dyn Store) {
    let saved = with_label(with_samples(record("aaaaaaaaaa"), 64), "price", "12.90USD");
    finish(store, &saved);
    let loaded = store.load("aaaaaaaaaa").unwrap();
    assert_eq!(loaded.record, saved);
    assert_eq!(loaded.document, serde_json::to_string(&saved).unwrap());
}

fn a_record_grows_under_its_id(store: &mut dyn Store) {
    let owner = Owner::current();
    let mut growing = with_label(running("aaaaaaaaaa"), "old", "1");
    finish(store, &record_at("bbbbbbbbbb", 0));
    for step in 1..=3 {
        growing = with_samples(growing, step);
        growing.labels = [("step".to_owned(), step.to_string())].into();
        store.save(&growing, RunState::Running { owner: &owner, scratch: None }).unwrap();
        assert_eq!(store.load("aaaaaaaaaa").unwrap().record, growing);
    }
    growing.outcome = Outcome::Completed;
    growing.validity.verdict = ValidityVerdict::Suspect;
    finish(store, &growing);
    let list = store.list("").unwrap();
    assert_eq!(ids(&list), ["bbbbbbbbbb", "aaaaaaaaaa"]);
    assert_eq!(list[1].labels, growing.labels);
    assert_eq!((&list[1].outcome, list[1].verdict), (&Outcome::Completed, ValidityVerdict::Suspect));
    assert_eq!(store.abandoned().unwrap(), []);
}

fn a_summary_says_what_the_record_says(store: &mut dyn Store) {
    let mut saved = with_label(record("aaaaaaaaaa"), "model", "Ultra");
    saved.host.slot = Some("7".to_owned());
    saved.outcome = Outcome::Failed {
        failure: RunFailure::ReadOnly,
        detail: "EROFS".to_owned(),
        workload: None,
        elapsed_ns: 5,
        written_bytes: 6,
    };
    finish(store, &saved);
    let [summary] = store.list("all").unwrap().try_into().unwrap();
    assert_eq!(summary.title, "SanDisk SD32G, 31.9 GB");
    assert_eq!(summary.model(), saved.model());
    assert_eq!(summary.kind, MediumKind::Sd);
    assert_eq!(summary.created, saved.created);
    assert_eq!(
        (summary.suite.as_str(), summary.outcome, summary.verdict),
        ("quick", saved.outcome, ValidityVerdict::Valid)
    );
    assert_eq!((summary.host.as_deref(), summary.slot.as_deref()), (Some("node1"), Some("7")));
    assert_eq!(summary.unit.as_deref(), Some("0x12345678"));
}

fn an_empty_store_answers_plainly(store: &mut dyn Store) {
    assert_eq!(store.list("").unwrap(), []);
    assert_eq!(store.resolve("all").unwrap(), [""; 0]);
    assert!(matches!(store.resolve("last"), Err(StoreError::NotSoMany { held: 0, .. })));
    assert!(matches!(store.resolve("a"), Err(StoreError::UnknownId { .. })));
    assert!(matches!(store.load("a"), Err(StoreError::UnknownId { .. })));
    assert!(matches!(store.remove("a"), Err(StoreError::UnknownId { .. })));
    assert_eq!(store.list("model=x").unwrap(), []);
    assert_eq!(store.abandoned().unwrap(), []);
}

fn records_are_in_order_of_time(store: &mut dyn Store) {
    finish(store, &record_at("cccccccccc", 30));
    finish(store, &record_at("aaaaaaaaaa", 10));
    // The same moment in another time zone is sorted correctly too.
    finish(store, &Record { created: "2026-01-02T01:20:00+01:00".to_owned(), ..record("bbbbbbbbbb") });
    let order = ["aaaaaaaaaa", "bbbbbbbbbb", "cccccccccc"];
    assert_eq!(store.resolve("").unwrap(), order);
    assert_eq!(ids(&store.list("all").unwrap()), order);
    for (query, id) in [("last", "cccccccccc"), ("last~1", "bbbbbbbbbb"), ("last~2", "aaaaaaaaaa")] {
        assert_eq!(store.resolve(query).unwrap(), [id], "{query}");
        assert_eq!(ids(&store.list(query).unwrap()), [id], "{query}");
    }
    assert!(matches!(store.resolve("last~3"), Err(StoreError::NotSoMany { held: 3, .. })));
    // Two at one moment: in order of arrival, however often they are saved again.
    finish(store, &record_at("zzzzzzzzzz", 40));
    finish(store, &record_at("0000000000", 40));
    finish(store, &record_at("zzzzzzzzzz", 40));
    assert_eq!(store.resolve("last").unwrap(), ["0000000000"]);
}

fn a_unique_beginning_is_enough(store: &mut dyn Store) {
    for id in ["0y3kaaaaaa", "0y3kbbbbbb", "1zzzzzzzzz", "1zzz"] {
        finish(store, &record(id));
    }
    assert_eq!(store.resolve("0y3kb").unwrap(), ["0y3kbbbbbb"]);
    assert_eq!(store.resolve("0Y3KB").unwrap(), ["0y3kbbbbbb"]);
    assert_eq!(store.resolve("oy3ka").unwrap(), ["0y3kaaaaaa"], "o is read as 0");
    assert_eq!(store.resolve("1zzz").unwrap(), ["1zzz"], "a full id wins over a beginning");
    let error = store.resolve("0y").unwrap_err();
    assert!(
        matches!(&error, StoreError::Ambiguous { candidates, .. } if *candidates == ["0y3kaaaaaa", "0y3kbbbbbb"]),
        "{error}"
    );
    assert!(error.to_string().contains("0y3kaaaaaa, 0y3kbbbbbb"), "{error}");
    assert_eq!(error.exit(), Exit::Usage);
    assert!(matches!(store.load("0y3kb"), Err(StoreError::UnknownId { .. })), "load takes whole ids only");
    assert!(matches!(store.remove("0y3kb"), Err(StoreError::UnknownId { .. })), "and so does remove");
}

fn labels_and_properties_find_records(store: &mut dyn Store) {
    finish(store, &with_label(with_label(record_at("aaaaaaaaaa", 1), "model", "Ultra A1"), "slot", "3"));
    finish(store, &with_label(record_at("bbbbbbbbbb", 2), "shop", "a=b, c"));
    let mut usb = record_at("cccccccccc", 3);
    usb.medium.kind = MediumKind::UsbStick;
    usb.medium.model = Some("Cruzer".to_owned());
    usb.medium.unit = Some("SER1".to_owned());
    usb.host.slot = Some("3".to_owned());
    usb.suite.name = "long".to_owned();
    finish(store, &usb);
    for (query, found) in [
        ("model=ultra a1", &["aaaaaaaaaa"][..]),
        ("model=SD32G", &["aaaaaaaaaa", "bbbbbbbbbb"]),
        ("model=SanDisk SD32G, 31.9 GB", &["aaaaaaaaaa", "bbbbbbbbbb"]),
        ("label.model=Ultra A1", &["aaaaaaaaaa"]),
        ("slot=3", &["aaaaaaaaaa", "cccccccccc"]),
        ("label.slot=3", &["aaaaaaaaaa"]),
        ("unit=ser1", &["cccccccccc"]),
        ("suite=long", &["cccccccccc"]),
        ("kind=usb_stick", &["cccccccccc"]),
        ("shop=a=b, c", &["bbbbbbbbbb"]),
        (r#"shop="a=b, c""#, &["bbbbbbbbbb"]),
        ("suite=quick slot=3", &["aaaaaaaaaa"]),
        ("  slot=3   kind=usb_stick ", &["cccccccccc"]),
        ("suite=quick,long kind=sd,usb_stick", &["aaaaaaaaaa", "bbbbbbbbbb", "cccccccccc"]),
        ("unit=none,SER1 slot=3,4", &["cccccccccc"]),
        ("model=ULTRA*", &["aaaaaaaaaa"]),
        ("model=*32g", &["aaaaaaaaaa", "bbbbbbbbbb"]),
        ("model=San*31.9 GB suite=q*k label.shop=*", &["bbbbbbbbbb"]),
    ] {
        assert_eq!(store.resolve(query).unwrap(), found, "{query}");
        assert_eq!(ids(&store.list(query).unwrap()), found, "{query}");
    }
    for nothing in [
        "model=Ultra",
        "shop=A",
        "Shop=a=b, c",
        "nobody=1",
        "slot=",
        "model=SD32_",
        "model=SD%",
        r#"model="SD32*""#,
        "slot=3 suite=smoke",
    ] {
        assert!(matches!(store.resolve(nothing), Err(StoreError::NoMatch { .. })), "{nothing}");
        assert_eq!(store.list(nothing).unwrap(), [], "{nothing}");
    }
    assert!(matches!(store.resolve("kind=SD card"), Err(StoreError::NoKind(_))));
}

fn hostile_text_is_only_text(store: &mut dyn Store) {
    const HOSTILE: [&str; 9] = [
        "'; DROP TABLE record; --",
        "\" OR 1=1 --",
        "%",
        "_",
        "a%",
        "*",
        "x\0y",
        "\x1b[2J\r\n",
        "\u{202e}<script>alert(1)</script>",
    ];
    finish(store, &record("aaaaaaaaaa"));
    for text in HOSTILE {
        assert!(matches!(store.save(&record(text), RunState::Finished), Err(StoreError::NotARecord { .. })), "{text}");
        assert!(matches!(store.load(text), Err(StoreError::UnknownId { .. })), "{text}");
        assert!(matches!(store.remove(text), Err(StoreError::UnknownId { .. })), "{text}");
        let error = store.resolve(text).unwrap_err();
        assert_eq!(error.exit(), Exit::Usage, "{text}");
        assert!(!error.to_string().chars().any(char::is_control), "{error}");
        for query in [format!("model=\"{text}\""), format!("label.{text}={text}")] {
            assert!(store.list(&query).is_ok_and(|list| list.is_empty()), "{query}");
        }
        // With white space it is not a key, unless `label.` precedes it.
        match store.list(&format!("{text}=x")) {
            Err(error) => assert!(text.contains(char::is_whitespace) && error.exit() == Exit::Usage, "{text}: {error}"),
            Ok(list) => assert!(list.is_empty() && !text.trim().contains(char::is_whitespace), "{text}"),
        }
    }
    // As values they are stored exactly and found.
    for (n, text) in HOSTILE.iter().enumerate() {
        let mut odd = with_label(record(&format!("odd{n}")), "note", text);
        odd.labels.insert((*text).to_owned(), "key".to_owned());
        odd.medium.model = Some((*text).to_owned());
        odd.host.hostname = Some((*text).to_owned());
        finish(store, &odd);
        assert_eq!(store.load(&odd.id).unwrap().record, odd);
        assert_eq!(store.list(&odd.id).unwrap()[0].labels, odd.labels);
        if text.trim() == *text {
            // A star is a wildcard, except in quotes.
            let value = if text.contains('*') { format!("\"{text}\"") } else { (*text).to_owned() };
            assert_eq!(store.resolve(&format!("note={value}")).unwrap(), [odd.id.as_str()], "{text}");
            assert_eq!(store.resolve(&format!("model={value}")).unwrap(), [odd.id.as_str()], "{text}");
        }
    }
    assert_eq!(store.list("").unwrap().len(), 1 + HOSTILE.len());
}

fn what_cannot_be_kept_is_refused(store: &mut dyn Store) {
    for id in ["", "all", "last", "-rf", "a/b", &"a".repeat(65)] {
        let error = store.save(&record(id), RunState::Finished).unwrap_err();
        assert!(matches!(error, StoreError::NotARecord { .. }), "{id}");
    }
    let undated = Record { created: "yesterday".to_owned(), ..record("aaaaaaaaaa") };
    assert!(store.save(&undated, RunState::Finished).unwrap_err().to_string().contains("RFC 3339"));
    assert_eq!(store.list("").unwrap(), []);
}

fn a_removed_record_is_gone(store: &mut dyn Store) {
    for id in ["aaaaaaaaaa", "bbbbbbbbbb"] {
        finish(store, &with_label(record(id), "k", "v"));
    }
    store.remove("aaaaaaaaaa").unwrap();
    assert_eq!(store.resolve("").unwrap(), ["bbbbbbbbbb"]);
    assert_eq!(store.resolve("k=v").unwrap(), ["bbbbbbbbbb"]);
    assert!(matches!(store.load("aaaaaaaaaa"), Err(StoreError::UnknownId { .. })));
    finish(store, &record("aaaaaaaaaa"));
    assert_eq!(store.list("aaaaaaaaaa").unwrap()[0].labels.len(), 0);
}

fn a_record_under_way_is_not_removed(store: &mut dyn Store) {
    let owner = Owner::current();
    store.save(&running("aaaaaaaaaa"), RunState::Running { owner: &owner, scratch: None }).unwrap();
    let error = store.remove("aaaaaaaaaa").unwrap_err();
    assert!(matches!(error, StoreError::StillRunning { pid, .. } if pid == std::process::id()), "{error}");
    store.save(&running("bbbbbbbbbb"), RunState::Running { owner: &dead_owner(), scratch: None }).unwrap();
    store.remove("bbbbbbbbbb").unwrap();
    let elsewhere = Owner { host: "elsewhere".to_owned(), ..owner };
    store.save(&running("cccccccccc"), RunState::Running { owner: &elsewhere, scratch: None }).unwrap();
    store.remove("cccccccccc").unwrap();
}

fn documents_keep_what_is_unknown_to_this_version(store: &mut dyn Store) {
    let mut value = serde_json::to_value(record("aaaaaaaaaa")).unwrap();
    value["schema"] = "1.7".into();
    value["aura"] = serde_json::json!({"colour": "green", "exact": 0.1});
    value["medium"]["smell"] = "new".into();
    value["medium"]["kind"] = "holographic".into();
    let text = serde_json::to_string_pretty(&value).unwrap().replace("0.1", "0.10000000000000000000000000001");
    let saved = store.save_document(&text).unwrap();
    assert_eq!((saved.id.as_str(), saved.change), ("aaaaaaaaaa", Change::Added));
    let stored = store.load("aaaaaaaaaa").unwrap();
    assert_eq!(stored.document, text);
    assert_eq!(stored.record.schema, "1.7");
    assert_eq!(stored.record.medium.kind, MediumKind::Unknown);
    assert_eq!(store.list("").unwrap()[0].kind, MediumKind::Unknown);
    assert_eq!(store.save_document(&text).unwrap().change, Change::Unchanged);
}

fn documents_that_are_no_records_are_refused(store: &mut dyn Store) {
    let whole = serde_json::to_string(&record("aaaaaaaaaa")).unwrap();
    for (text, reason) in [
        ("", "no JSON"),
        ("[1,2]", "schema"),
        ("{}", "schema"),
        ("{\"schema\":\"1.0\"}", "missing field"),
        ("{\"schema\":\"0.9\"}", "version"),
        ("{\"schema\":\"one\"}", "version"),
        ("{\"schema\":1}", "schema"),
        (&whole[..whole.len() / 2], "no JSON"),
        (&whole.replace("aaaaaaaaaa", "../../etc"), "id"),
        (&whole.replace("2026-01-02T", "2026-13-02T"), "RFC 3339"),
        (&"[".repeat(100_000), "no JSON"),
    ] {
        let error = store.save_document(text).unwrap_err();
        assert!(matches!(error, StoreError::NotARecord { .. }), "{text:.40}: {error}");
        assert!(error.to_string().contains(reason), "{text:.40}: {error}");
        assert_eq!(error.exit(), Exit::Usage);
    }
    let newer = store.save_document("{\"schema\":\"2.0\",\"everything\":\"else\"}").unwrap_err();
    assert!(matches!(newer, StoreError::NewerRecord { .. }), "{newer}");
    assert!(newer.to_string().contains("2.0"), "{newer}");
    assert_eq!(store.list("").unwrap(), []);
}

fn a_document_never_takes_the_place_of_a_finished_record(store: &mut dyn Store) {
    finish(store, &record("aaaaaaaaaa"));
    let forged = serde_json::to_string(&with_label(record("aaaaaaaaaa"), "forged", "yes")).unwrap();
    let error = store.save_document(&forged).unwrap_err();
    assert!(matches!(error, StoreError::Conflict { .. }), "{error}");
    assert_eq!(store.load("aaaaaaaaaa").unwrap().record, record("aaaaaaaaaa"));
    // Neither is a record that is being made here.
    let owner = Owner::current();
    store.save(&running("bbbbbbbbbb"), RunState::Running { owner: &owner, scratch: None }).unwrap();
    let text = serde_json::to_string(&record("bbbbbbbbbb")).unwrap();
    assert!(matches!(store.save_document(&text), Err(StoreError::Conflict { .. })));
    // A copy collected while its run was in progress elsewhere is replaced.
    store.save_document(&serde_json::to_string(&running("cccccccccc")).unwrap()).unwrap();
    assert_eq!(store.abandoned().unwrap(), [], "nothing is known here of its process");
    let done = serde_json::to_string(&record("cccccccccc")).unwrap();
    assert_eq!(store.save_document(&done).unwrap().change, Change::Replaced);
    assert_eq!(store.load("cccccccccc").unwrap().record.outcome, Outcome::Completed);
}

fn the_record_of_a_dead_process_is_closed_once(store: &mut dyn Store) {
    let scratch = Path::new("/mnt/card/.assay-tmp \u{1}");
    let mut killed = running("aaaaaaaaaa");
    killed.change_settings(|settings| settings.elapsed_ns = 7_000_000_000);
    killed.change_settings(|settings| settings.written_bytes = 4096);
    killed.change_settings(|settings| settings.null_ns_per_operation = Some(41.7));
    store.save(&killed, RunState::Running { owner: &dead_owner(), scratch: Some(scratch) }).unwrap();
    store.save(&running("bbbbbbbbbb"), RunState::Running { owner: &Owner::current(), scratch: None }).unwrap();
    let rebooted = Owner { boot_id: "another".to_owned(), ..Owner::current() };
    store.save(&running("cccccccccc"), RunState::Running { owner: &rebooted, scratch: None }).unwrap();
    let elsewhere = Owner { host: "elsewhere".to_owned(), ..dead_owner() };
    store.save(&running("dddddddddd"), RunState::Running { owner: &elsewhere, scratch: None }).unwrap();

    let closed = store.abandoned().unwrap();
    assert_eq!(closed.iter().map(|a| a.id.as_str()).collect::<Vec<_>>(), ["aaaaaaaaaa", "cccccccccc"]);
    assert_eq!(closed[0].scratch.as_deref(), Some(scratch));
    assert_eq!(closed[1].scratch, None);
    let Outcome::Failed { failure, detail, elapsed_ns, written_bytes, .. } = &closed[0].record.outcome else {
        panic!("{:?}", closed[0].record.outcome)
    };
    assert_eq!((*failure, *elapsed_ns, *written_bytes), (RunFailure::Abandoned, 7_000_000_000, 4096));
    assert!(detail.contains(&std::process::id().to_string()), "{detail}");
    let Outcome::Failed { detail, .. } = &closed[1].record.outcome else { panic!("not closed") };
    assert!(detail.contains("started anew"), "{detail}");
    for abandoned in &closed {
        assert_eq!(store.load(&abandoned.id).unwrap().record, abandoned.record);
        assert_eq!(store.list(&abandoned.id).unwrap()[0].outcome, abandoned.record.outcome);
    }
    assert_eq!(store.abandoned().unwrap(), [], "each is returned once");
    for left in ["bbbbbbbbbb", "dddddddddd"] {
        assert_eq!(store.load(left).unwrap().record.outcome, Outcome::Running);
    }
}

fn a_finished_outcome_is_not_overwritten_when_its_process_died(store: &mut dyn Store) {
    let all_but_over = record("aaaaaaaaaa");
    store.save(&all_but_over, RunState::Running { owner: &dead_owner(), scratch: Some(Path::new("/x")) }).unwrap();
    let closed = store.abandoned().unwrap();
    assert_eq!(closed[0].scratch.as_deref(), Some(Path::new("/x")));
    assert_eq!(closed[0].record.outcome, Outcome::Completed);
}

/// Threads parse them; one of a running run among them is read from its document.
fn observations_of_many_records_come_in_their_order(store: &mut dyn Store) {
    let ids: Vec<String> = (0..300).map(|number| format!("many{number:06}")).collect();
    for (at, id) in ids.iter().enumerate() {
        // Saved in another order than they were made.
        let minute = (at * 7 % 300) as u32;
        let record = Record { id: ids[minute as usize].clone(), ..record_at(id, minute) };
        let dead = dead_owner();
        let running = RunState::Running { owner: &dead, scratch: None };
        store.save(&record, if minute == 150 { running } else { RunState::Finished }).unwrap();
    }
    for detail in [ObservationDetail::Estimates, ObservationDetail::Repeats, ObservationDetail::Latencies] {
        let found: Vec<String> = store.observations("all", detail).unwrap().into_iter().map(|r| r.id).collect();
        assert_eq!(found, ids);
    }
}

/// However a record came into the store, and whatever its state was before.
fn an_observation_is_drawn_from_the_document_of_now(store: &mut dyn Store) {
    let seen = |store: &dyn Store, id: &str| {
        let observed = store.observations(id, ObservationDetail::Latencies).unwrap();
        assert_eq!(observed, [Observation::from(&store.load(id).unwrap().record)], "{id}");
        observed[0].clone()
    };
    let (owner, dead) = (Owner::current(), dead_owner());
    let mut record = with_samples(running("aaaaaaaaaa"), 4);
    let under_way = RunState::Running { owner: &owner, scratch: None };
    for state in [under_way, under_way, RunState::Finished, under_way, RunState::Finished] {
        record.change_settings(|settings| settings.elapsed_ns += 1);
        record.warnings.push(Finding::SwapOnMedium.into());
        record.outcome = if matches!(state, RunState::Finished) { Outcome::Completed } else { Outcome::Running };
        store.save(&record, state).unwrap();
        assert_eq!(seen(store, "aaaaaaaaaa").warnings, record.warnings);
    }
    store.save(&running("bbbbbbbbbb"), RunState::Running { owner: &dead, scratch: None }).unwrap();
    assert_eq!(seen(store, "bbbbbbbbbb").outcome, Outcome::Running);
    assert_eq!(store.abandoned().unwrap().len(), 1);
    assert!(matches!(seen(store, "bbbbbbbbbb").outcome, Outcome::Failed { failure: RunFailure::Abandoned, .. }));
    // A copy from elsewhere while its run was in progress, then its end, from a newer minor version.
    let mut copy = with_label(running("cccccccccc"), "slot", "1");
    store.save_document(&serde_json::to_string(&copy).unwrap()).unwrap();
    assert_eq!(seen(store, "cccccccccc").labels["slot"], "1");
    (copy.schema, copy.outcome) = ("1.9".to_owned(), Outcome::Completed);
    let newer = serde_json::to_string(&with_label(copy, "slot", "2")).unwrap().replacen('{', r#"{"moon":"full","#, 1);
    store.save_document(&newer).unwrap();
    assert_eq!((seen(store, "cccccccccc").labels["slot"].as_str(), store.list("").unwrap().len()), ("2", 3));
    let of = |query: &str| store.observations(query, ObservationDetail::Estimates).map(|all| all.len());
    assert_eq!((of("all").unwrap(), of("slot=2").unwrap(), of("last").unwrap()), (3, 1, 1));
    assert!(matches!(of("slot=9"), Err(StoreError::NoMatch { .. })));
    assert!(matches!(of("zz"), Err(StoreError::UnknownId { .. })));
    store.remove("aaaaaaaaaa").unwrap();
    assert_eq!(store.observations("all", ObservationDetail::Repeats).unwrap().len(), 2);
}

fn the_identity_key_stays(store: &mut dyn Store) {
    let key = store.identity_key().unwrap();
    assert_ne!(key, [0; 32]);
    assert_eq!(store.identity_key().unwrap(), key);
}

macro_rules! shared_suite {
    ($back_end:ident, $with_store:expr; $($test:ident)*) => {
        mod $back_end {
            $(#[test] fn $test() { ($with_store)(&super::$test); })*

            /// A test that is missing in the list does not run, so the list is verified.
            #[test]
            fn every_shared_test_is_in_the_list() {
                let written = include_str!("shared.rs").matches("(store: &mut dyn Store) {").count();
                // The line above contains the same words and is no test.
                assert_eq!([$(stringify!($test)),*].len(), written - 1);
            }
        }
    };
}

fn with_sqlite(test: &dyn Fn(&mut dyn Store)) {
    let dir = tempfile::tempdir().unwrap();
    let mut store = SqliteStore::open(dir.path()).unwrap();
    assert!(!store.read_only());
    assert!(store.location().ends_with("assay.sqlite"));
    test(&mut store);
}

shared_suite! { sqlite, super::with_sqlite;
    what_is_saved_is_loaded
    a_record_grows_under_its_id
    a_summary_says_what_the_record_says
    an_empty_store_answers_plainly
    records_are_in_order_of_time
    a_unique_beginning_is_enough
    labels_and_properties_find_records
    hostile_text_is_only_text
    what_cannot_be_kept_is_refused
    a_removed_record_is_gone
    a_record_under_way_is_not_removed
    documents_keep_what_is_unknown_to_this_version
    documents_that_are_no_records_are_refused
    a_document_never_takes_the_place_of_a_finished_record
    the_record_of_a_dead_process_is_closed_once
    a_finished_outcome_is_not_overwritten_when_its_process_died
    observations_of_many_records_come_in_their_order
    an_observation_is_drawn_from_the_document_of_now
    the_identity_key_stays
}
