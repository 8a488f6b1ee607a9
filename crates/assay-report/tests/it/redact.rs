//! Tests what is removed from a record before it is shared.

use std::collections::BTreeMap;

use assay_core::finding::Finding;
use assay_core::original::Crosscheck;
use assay_core::outcome::{Outcome, RunFailure};
use assay_core::record::{Measurement, Origin, Record, Sensor, Source};
use assay_core::verification::{Method, NoDirect, ReadBack, SectorCounts, Verdict, Verification};
use assay_report::{Redactor, ReportFormat, View, render};
use proptest::prelude::*;
use serde_json::{Value, json};

fn redactor() -> Redactor {
    Redactor::with_key([7; 32])
}

fn redacted(record: &Record) -> Record {
    redactor().record(record).expect("a record")
}

/// Identities as devices and hosts have them.
#[derive(Debug, Clone)]
struct Secrets {
    serial: String,
    host: String,
    user: String,
    label: String,
    server: String,
    mac: String,
    uuid: String,
    four: String,
    six: String,
    iqn: String,
    wwn: String,
    file: String,
}

impl Secrets {
    fn all(&self) -> [&str; 12] {
        let Self { serial, host, user, label, server, mac, uuid, four, six, iqn, wwn, file } = self;
        [serial, host, user, label, server, mac, uuid, four, six, iqn, wwn, file].map(|secret| secret.as_str())
    }

    /// A sentence that holds all of them, as error messages and commands do.
    fn said(&self) -> String {
        format!(
            "cannot reach {} ({}, {}, [{}]:3260) as {}@{}: /home/{}/cards/{} on /media/{}/{}/x: \"{}\"; {} {} {} SN{}, \
             see http://{}/status",
            self.server,
            self.four,
            self.mac,
            self.six,
            self.user,
            self.server,
            self.user,
            self.file,
            self.user,
            self.label,
            self.host,
            self.uuid,
            self.iqn,
            self.wwn,
            self.serial,
            self.server
        )
    }

    fn plant(&self) -> Record {
        let said = self.said();
        let mut record = crate::common::good_card();
        record.host.hostname = Some(self.host.clone());
        record.host.board = Some(format!("Board {}", self.uuid));
        record.medium.unit = Some(self.serial.clone());
        record.medium.model = Some(format!("{}:/export/{}", self.server, self.user));
        record.medium.device = Some(format!("{}:/export/{}", self.server, self.user));
        record.medium.mount_point = Some(format!("/media/{}/{}", self.user, self.label));
        record.medium.path = format!("/media/{}/{}/{}", self.user, self.label, self.file);
        record.medium.mount_options = vec![
            "rw".into(),
            format!("addr={}", self.four),
            format!("username={}", self.user),
            format!("upperdir=/home/{}/up", self.user),
            format!("source=UUID={}", self.uuid),
        ];
        record.medium.claimed_classes.push(said.clone());
        record.medium.health.insert("firmware".into(), said.clone());
        record.medium.health.insert("serial".into(), self.serial.clone());
        record.medium.queue.insert("scheduler".into(), said.clone());
        record.medium.queue.insert(format!("wwid {}", self.wwn), self.wwn.clone());
        record.medium.stack[0].name = format!("mapper/{}", self.uuid);
        if let Some(bus) = &mut record.medium.bus {
            bus.source = format!("the route to {}", self.four);
            bus.mode = said.clone();
        }
        record.labels = BTreeMap::from([
            ("note".into(), format!("the one in {} of {} ({})", self.host, self.user, self.serial)),
            (self.host.clone(), "x".into()),
        ]);
        record.tool.engine_reason = said.clone();
        record.change_settings(|settings| settings.direct_source = said.clone());
        record.change_settings(|settings| {
            settings.suite_text = format!("name = \"x\"\npurpose = '{}'\n", said.replace('"', ""))
        });
        record.sensors.push(Sensor {
            name: format!("plug of {}", self.host),
            kind: "power".into(),
            unit: "W".into(),
            source: said.clone(),
            samples: vec![(0, 3.0)],
        });
        record.crosscheck.push(Crosscheck {
            trouble: Some(said.clone()),
            ..Crosscheck::new(&record.measurements[0].workload.name, "fio", "fio-3.36")
        });
        record.verification = Some(Verification {
            verdict: Verdict::Genuine,
            announced_bytes: 1 << 30,
            real_bytes: Some(1 << 30),
            checked_bytes: 1 << 30,
            written_bytes: 1 << 30,
            counts: SectorCounts { good: 2 << 20, ..SectorCounts::default() },
            read_back: ReadBack::Cached { because: NoDirect::Refused { said: said.clone() }, dropped: true },
            ..Verification::undecided(Method::Full)
        });
        record.warnings = vec![
            Finding::NotSaved { reason: said.clone() }.into(),
            Finding::FileLeft { path: record.medium.path.clone(), reason: said.clone() }.into(),
            Finding::KernelErrors { lines: 1, first: said.clone() }.into(),
            Finding::AnotherRun.into(),
        ];
        record.measurements[0].warn(Finding::CachedIo { reason: said.clone() });
        record.outcome = Outcome::Failed {
            failure: RunFailure::IoError,
            detail: said.clone(),
            workload: Some(record.measurements[0].workload.name.clone()),
            elapsed_ns: 5,
            written_bytes: 5,
        };
        record.measurements[0].repeats[0].outcome = record.outcome.clone();
        crate::common::judge(&mut record);
        record
    }

    /// A run, and the same as another tool would have printed it.
    fn both(&self) -> [Record; 2] {
        let run = self.plant();
        let source = Source {
            format: "h2testw".into(),
            file: format!("/home/{}/{}", self.user, self.file),
            original_text_sha256: "0".repeat(63) + "a",
            lines: Some((3, 17)),
            text: Some(self.said()),
        };
        let imported = Record { origin: Origin::Imported(source), ..run.clone() };
        [run, imported]
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

prop_compose! {
    fn secrets()(
        serial in "[A-Z]{2}[0-9]{6}[A-Z0-9]{2,10}",
        host in "[a-z]{5,9}-[0-9]{2}q",
        user in "[a-z]{6,12}zq",
        label in "[A-Z]{4}-[A-Z]{3}[ _][A-Z]{3}Q",
        server in "[a-z]{5,9}[0-9]\\.(lan|example\\.org|home\\.arpa)",
        mac in any::<[u8; 6]>(),
        id in any::<[u8; 16]>(),
        four in (11u8..=223, any::<u8>(), any::<u8>(), any::<u8>()).prop_filter("own", |a| a.0 != 127),
        six in any::<[u16; 3]>(),
        wwn in any::<[u8; 8]>(),
        file in "[a-z]{5,9}qz",
    ) -> Secrets {
        let id = hex(&id);
        Secrets {
            serial,
            host,
            user,
            label,
            server,
            mac: mac.iter().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(":"),
            uuid: format!("{}-{}-{}-{}-{}", &id[..8], &id[8..12], &id[12..16], &id[16..20], &id[20..]),
            four: format!("{}.{}.{}.{}", four.0, four.1, four.2, four.3),
            six: format!("fd12:{:x}::{:x}:{:x}", six[0], six[1] | 1, six[2] | 1),
            iqn: format!("iqn.2004-10.org.{}:disk", &id[..12]),
            wwn: format!("0x5{}", &hex(&wwn)[1..]),
            file,
        }
    }
}

fn text(format: ReportFormat, record: &Record) -> String {
    let content = render(format, std::slice::from_ref(record), &View::default()).expect("a report");
    String::from_utf8(content).expect("text")
}

const FORMATS: [ReportFormat; 5] =
    [ReportFormat::Html, ReportFormat::Markdown, ReportFormat::Csv, ReportFormat::Json, ReportFormat::Svg];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn no_format_shows_an_identity(secrets in secrets()) {
        for record in secrets.both() {
            let out = redacted(&record);
            for format in FORMATS {
                let text = text(format, &out).to_lowercase();
                for secret in secrets.all() {
                    prop_assert!(!text.contains(&secret.to_lowercase()), "{format:?} shows {secret}");
                }
            }
            let mut document = serde_json::to_value(&record).unwrap();
            document["medium"]["owner"] = json!({ "name": secrets.user, "numbers": [1] });
            document["novelty"] = json!(secrets.said());
            redactor().value(&mut document);
            let text = document.to_string().to_lowercase();
            for secret in secrets.all() {
                prop_assert!(!text.contains(&secret.to_lowercase()), "the document shows {secret}");
            }
            prop_assert!(serde_json::from_value::<Record>(document).is_ok());
        }
    }
}

#[test]
fn the_same_search_finds_them_where_identities_are_kept() {
    let secrets = Secrets {
        serial: "SN0353445AB".into(),
        host: "sopine-07q".into(),
        user: "alicezq".into(),
        label: "CARD_ABQ".into(),
        server: "storage1.lan".into(),
        mac: "b8:27:eb:12:34:56".into(),
        uuid: "9f1c2b34-5d6e-4f70-8a9b-0c1d2e3f4a5b".into(),
        four: "192.168.7.9".into(),
        six: "fd12:1::7:9".into(),
        iqn: "iqn.2004-10.org.example:disk".into(),
        wwn: "0x5000c500a1b2c3d4".into(),
        file: "picturesqz".into(),
    };
    for record in secrets.both() {
        assert_eq!(Redactor::keeping_identities().record(&record).unwrap(), record);
        let shown = text(ReportFormat::Json, &record);
        for secret in secrets.all() {
            assert!(shown.contains(secret), "{secret} is not planted");
        }
        for (format, secret) in [
            (ReportFormat::Html, "SN0353445AB"),
            (ReportFormat::Markdown, "storage1.lan"),
            (ReportFormat::Csv, "alicezq"),
        ] {
            assert!(text(format, &record).contains(secret), "{format:?}");
        }
    }
}

#[test]
fn what_people_need_stays() {
    let mut record = crate::common::good_card();
    record.medium.path = "/mnt/card3/.assay-abcdefghij".into();
    record.medium.mount_point = Some("/mnt/card3".into());
    record.medium.mount_options = vec!["rw".into(), "noatime".into(), "errors=remount-ro".into(), "commit=60".into()];
    record.labels.insert("slot".into(), "7".into());
    let out = redacted(&record);
    assert_eq!(out.measurements, record.measurements);
    assert_eq!(out.sensors, record.sensors);
    assert_eq!(out.settings(), record.settings());
    assert_eq!(out.labels, record.labels);
    assert_eq!(out.host, assay_core::record::Host { hostname: out.host.hostname.clone(), ..record.host });
    assert_eq!(out.medium, assay_core::medium::Medium { unit: out.medium.unit.clone(), ..record.medium });
    assert!(out.warnings.is_empty());
}

#[test]
fn published_figures_say_where_they_are_from() {
    let records = assay_analysis::published_records("").unwrap();
    assert!(records.len() > 10);
    for record in records {
        assert_eq!(redacted(&record), record);
    }
}

#[test]
fn paths_keep_their_shape() {
    for (path, shape) in [
        ("/home/alice/cards/x", "/home/path-*/path-*/path-*"),
        ("/home/data", "/home/path-*"),
        ("/media/alice/CARD-1234/data", "/media/path-*/path-*/data"),
        ("/run/media/alice/card", "/run/media/path-*/path-*"),
        ("/run/user/1000", "/run/user/path-*"),
        ("/mnt/nas/alice", "/mnt/nas/path-*"),
        ("/root/x", "/root/path-*"),
        ("/dev/mmcblk0p1", "/dev/mmcblk0p1"),
        ("/dev/disk/by-id/usb-SanDisk_4C53-0:0", "/dev/disk/by-id/path-*"),
        ("/dev/mapper/alice-home", "/dev/mapper/path-*"),
        ("/dev/sdalice", "/dev/path-*"),
        ("nas.lan:/export/cards", "host-*:/export/cards"),
        ("//nas/alice", "//host-*/path-*"),
        ("alice@nas:/x", "path-*@host-*:/path-*"),
        ("tank/home/alice", "path-*/path-*/path-*"),
        ("/", "/"),
        ("/sys/kernel/debug/mmc0/ios", "/sys/kernel/debug/mmc0/ios"),
        ("/sys/../home/alice", "/sys/../home/path-*"),
        ("/sys2/alice", "/sys2/path-*"),
        ("/proc/self/root/home/alice", "/proc/self/path-*/path-*/path-*"),
        ("/var/tmp", "/var/tmp"),
        ("/mnt/card/.assay-abcdefghij/data", "/mnt/card/.assay-abcdefghij/data"),
    ] {
        let mut record = crate::common::good_card();
        record.medium.path = path.into();
        let mut out = redacted(&record).medium.path;
        for kind in ["path-", "host-"] {
            let parts: Vec<String> = out.split(kind).map(str::to_owned).collect();
            let star = |part: &String| format!("*{}", part.get(8..).unwrap_or_default());
            out = parts[0].clone() + &parts[1..].iter().map(|part| format!("{kind}{}", star(part))).collect::<String>();
        }
        assert_eq!(out, shape, "{path}");
    }
}

#[test]
fn a_name_is_the_same_for_the_same_piece_and_key_only() {
    let record = crate::common::good_card();
    let name = redacted(&record).medium.unit.unwrap();
    assert!(name.len() == 13 && name.starts_with("unit-"), "{name}");
    assert_eq!(redacted(&crate::common::read_only_card()).medium.unit, Some(name.clone()));
    let other = Redactor::with_key([8; 32]).record(&record).unwrap();
    assert_ne!(other.medium.unit, Some(name));
    assert!(!format!("{:?}", redactor()).contains('7'), "the key is not for logs");
}

/// On a host called `check` pages said "by the host-3fa9c1d2 of today".
#[test]
fn a_name_that_is_a_plain_word_garbles_no_sentence() {
    let mut record = crate::common::good_card();
    record.host.hostname = Some("check".into());
    record.medium.path = "/home/data/cards".into();
    record.labels.insert("host".into(), "check".into());
    let labels = [
        ("log", "/home/data/results.txt"),
        ("from", "data@check"),
        ("url", "http://check/data/x"),
        ("nfs", "check:/x"),
    ];
    record.labels.extend(labels.map(|(key, value)| (key.to_owned(), value.to_owned())));
    let sentence = "fake: it announces 512 MiB and holds data of 64 MiB, by the check of today";
    record.outcome = Outcome::Failed {
        failure: RunFailure::IoError,
        detail: format!("{sentence}: /home/data/cards on check.lan"),
        workload: None,
        elapsed_ns: 1,
        written_bytes: 0,
    };
    let out = redacted(&record);
    let Outcome::Failed { detail, .. } = &out.outcome else { panic!("{:?}", out.outcome) };
    assert!(detail.starts_with(&format!("{sentence}: /home/path-")), "{detail}");
    let (path, host) = (out.medium.path.as_str(), out.host.hostname.as_deref().unwrap());
    assert!(path.starts_with("/home/path-") && host.starts_with("host-") && out.labels["host"] == host, "{out:#?}");
    // Labels are no sentences of ours.
    for (key, _) in labels {
        let value = &out.labels[key];
        assert!(!value.contains("data") && !value.contains("check"), "{key}: {value}");
    }
}

/// A report of fio in a directory of that name was one of `path-3fa9c1d2`.
#[test]
fn a_unit_called_like_a_year_or_a_version_breaks_no_time() {
    for unit in ["2026", "1.0", "11", "21T06"] {
        let mut record = crate::common::good_card();
        record.medium.unit = Some(unit.to_owned());
        record.host.hostname = Some(unit.to_owned());
        record.labels.insert("unit".to_owned(), unit.to_owned());
        let shared = redacted(&record);
        assert_eq!((&shared.created, &shared.schema), (&record.created, &record.schema), "{unit}");
        for (one, other) in record.measurements.iter().zip(&shared.measurements) {
            let started = |of: &Measurement| of.repeats.iter().map(|repeat| repeat.started.clone()).collect::<Vec<_>>();
            assert_eq!(started(one), started(other), "{unit}");
        }
    }
}

#[test]
fn a_directory_named_like_a_tool_hides_no_tool() {
    for word in ["fio", "uring", "seq-read-1m-q8", "quick"] {
        let mut record = crate::common::good_card();
        record.medium.path = format!("/home/alicezq/{word}");
        record.medium.mount_point = Some(format!("/mnt/{word}"));
        (record.tool.name, record.tool.version) = (word.into(), format!("{word}-3.36"));
        (record.tool.engine, record.suite.name) = (word.into(), word.into());
        record.measurements[0].workload.name = word.into();
        record.labels.insert("tool".into(), word.into());
        let out = redacted(&record);
        assert_eq!((&*out.tool.name, &*out.tool.engine, &*out.suite.name), (word, word, word));
        assert_eq!((&*out.tool.version, &*out.labels["tool"]), (&*format!("{word}-3.36"), word));
        assert_eq!(out.measurements[0].workload.name, word);
        assert!(!out.medium.path.contains("alicezq") && !out.medium.path.contains(word), "{}", out.medium.path);
        // A host is somebody's, and its name stays behind wherever a person may have written it.
        record.host.hostname = Some(word.into());
        let out = redacted(&record);
        assert_eq!(out.tool.name, word);
        assert_eq!(Some(&out.labels["tool"]), out.host.hostname.as_ref());
    }
}

#[test]
fn a_label_gives_no_unit_of_any_record_away() {
    let mut records = [crate::common::good_card(), crate::common::good_card()];
    let cid = "035344534333324780a1b2c3d4016a00";
    (records[0].medium.unit, records[1].medium.unit) = (Some("ABC123qz".into()), Some(cid.into()));
    let labels = [("spare", "abc123QZ"), ("unit", "ABC123qz"), ("inner", "a1b2c3d4"), ("note", "ABC124qz")];
    records[1].labels.extend(labels.map(|(key, value)| (key.to_owned(), value.to_owned())));
    let naming = ["serial", "disk-sn", "Serial_Number", "wwn", "card.cid2", "mac", "uuid", "ip"];
    for key in naming {
        records[0].labels.insert(key.to_owned(), "ZZ99qz".to_owned());
    }
    records[0].labels.insert("snapshot".into(), "ZZ98qz".into());
    let out = redactor().records(&records).unwrap();
    assert_eq!(Some(&out[1].labels["unit"]), out[0].medium.unit.as_ref());
    assert!(out[1].labels["spare"].starts_with("unit-") && out[1].labels["inner"].starts_with("unit-"));
    assert_eq!((&*out[1].labels["note"], &*out[0].labels["snapshot"]), ("ABC124qz", "ZZ98qz"));
    for key in naming {
        assert!(!out[0].labels[key].contains("ZZ99qz"), "{key}: {}", out[0].labels[key]);
    }
    let kept = Redactor::keeping_identities().records(&records).unwrap();
    assert_eq!(kept[0].labels["serial"], "ZZ99qz");
}

#[test]
fn a_short_name_is_replaced_where_it_stands_alone() {
    let mut record = crate::common::good_card();
    record.host.hostname = Some("vm".into());
    record.labels.insert("host".into(), "vm".into());
    record.labels.insert("note".into(), "vm swappiness 10".into());
    let out = redacted(&record);
    assert_eq!(Some(&out.labels["host"]), out.host.hostname.as_ref());
    assert_eq!(out.labels["note"], "vm swappiness 10", "within a text it may be a word");
}

#[test]
fn whose_directory_it_is_is_not_told_elsewhere() {
    for (path, name) in
        [("/mnt/nas/alicezq", "alicezq"), ("/srv/bobqz/cards", "bobqz"), ("/media/carolqz/CARDQZ", "CARDQZ")]
    {
        let mut record = crate::common::good_card();
        record.medium.path = path.into();
        record.labels.insert("note".into(), format!("borrowed from {name}"));
        let out = text(ReportFormat::Json, &redacted(&record));
        assert!(!out.contains(name), "{path}: {name}");
    }
}

/// `assay import results/ --path '{model}/{unit}/{run}.txt'` takes labels from the path. The path and the labels then hold the same words.
#[test]
fn a_label_that_a_relative_path_holds_stays() {
    let of = |file: &str| {
        let source = Source { format: "fio".into(), file: file.into(), ..Source::default() };
        let mut record = Record { origin: Origin::Imported(source), ..crate::common::good_card() };
        let labels = [("model", "Extreme Qz"), ("unit", "red7qz"), ("owner", "daveqz")];
        record.labels = labels.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
        redacted(&record).labels
    };
    for file in ["Extreme Qz/red7qz/3.txt", "results/Extreme Qz/red7qz/3.txt", "red7qz/3.txt"] {
        let labels = of(file);
        assert_eq!((&*labels["model"], &*labels["unit"]), ("Extreme Qz", "red7qz"), "{file}");
    }
    assert_ne!(of("daveqz/3.txt")["owner"], "daveqz", "a label for a person");
    assert_ne!(of("/home/red7qz/3.txt")["unit"], "red7qz", "a home is somebody's");
    assert_ne!(of("nas:red7qz/3.txt")["unit"], "red7qz");
}

/// A folder or volume that is called like a part of the model hides no product; one that may be called after a person is still
/// replaced, and so is either where it is no model.
#[test]
fn a_model_keeps_the_words_that_a_folder_has_too() {
    let of = |file: &str, path: &str, model: &str| {
        let source = Source { format: "fio".into(), file: file.into(), ..Source::default() };
        let mut record = Record { origin: Origin::Imported(source), ..crate::common::good_card() };
        record.medium.path = path.into();
        let note = format!("from {}", path_words(file, path));
        record.labels =
            [("model", model), ("note", &note)].map(|(key, value)| (key.to_owned(), value.to_owned())).into();
        redacted(&record).labels
    };
    for (file, path, model) in [
        ("Ultraqz/output_1.txt", "/mnt/card", "SanDisk Ultraqz"),
        ("results/EVO Plusqz/1.txt", "/mnt/card", "evo plusqz 64GB"),
        ("633xqz/1.txt", "/mnt/card", "Lexar 633xqz"),
        ("1.txt", "/media/carolqz/Ultra A1qz", "SanDisk Ultra A1qz"),
        ("1.txt", "/srv/Ultra A1qz", "Ultra A1qz"),
    ] {
        assert_eq!(of(file, path, model)["model"], model, "{file} {path}");
        assert!(!of(file, path, model)["note"].contains("qz"), "{file} {path}");
    }
    for (file, path, model) in [
        ("1.txt", "/media/carolqz/card", "card of carolqz"),
        ("/home/daveqz/1.txt", "/mnt/card", "daveqz Ultra"),
        ("nas:evaqz/1.txt", "/mnt/card", "evaqz"),
        ("daveqz/1.txt", "/home/daveqz/card", "daveqz Ultra"),
        ("Ultqz/1.txt", "/mnt/card", "Ultqzra"),
    ] {
        let kept = of(file, path, model)["model"] == model;
        assert_eq!(kept, model == "Ultqzra", "{file} {path}: {model}");
    }
}

/// Each component of both.
fn path_words(file: &str, path: &str) -> String {
    format!("{file}/{path}").replace('/', ", ")
}

#[test]
fn a_host_named_like_a_short_name_is_replaced_too() {
    let mut record = crate::common::good_card();
    record.host.hostname = Some("host-0a1b2c3d".into());
    assert_ne!(redacted(&record).host.hostname, record.host.hostname);
}

#[test]
fn an_sd_card_is_not_known_by_the_serial_number_within_its_cid() {
    let mut record = crate::common::good_card();
    record.warnings.push(
        Finding::NotSaved { reason: "mmc0: card with serial a1b2c3d4, by-id mmc-SC32G_0xa1b2c3d4".into() }.into(),
    );
    let out = text(ReportFormat::Json, &redacted(&record));
    assert!(!out.contains("a1b2c3d4"), "{}", out.split("mmc0").nth(1).unwrap_or_default());
}

#[test]
fn fields_of_a_newer_version_stay_behind_and_a_note_says_so() {
    let mut value = serde_json::to_value(crate::common::good_card()).unwrap();
    value["medium"]["owner"] = "Alice Example, Main Street 5".into();
    value["medium"]["health"]["owner_key"] = "Alice".into();
    value["novelty"] = json!({ "x": ["Alice", 2] });
    value["medium"]["capacity_bytes"] = json!(["Alice"]);
    value["warnings"] = json!([{
        "finding": { "kind": "cosmic_ray", "what": "the mains", "bits": 3 },
        "severity": "note", "cause": "a cosmic ray", "remedy": "",
    }]);
    redactor().value(&mut value);
    let text = value.to_string();
    assert!(!text.contains("Alice\"") && !text.contains("Main Street"), "{text}");
    assert_eq!(value["warnings"][0]["finding"], json!({ "kind": "cosmic_ray" }));
    let note = &value["warnings"][1];
    assert_eq!((&note["finding"]["kind"], &note["finding"]["fields"]), (&json!("fields_left_out"), &json!(6)));
    assert!(note["cause"].as_str().unwrap().contains("lacks 6 fields"), "{note}");
    let record: Record = serde_json::from_value(value).unwrap();
    assert!(
        render(ReportFormat::Markdown, &[record], &View::default())
            .unwrap()
            .windows(14)
            .any(|w| w == b"lacks 6 fields")
    );
}

/// Found by fuzzing: the field was left out, and the shared document could not be read.
#[test]
fn a_variant_that_is_no_word_becomes_another_and_the_document_stays_a_record() {
    let mut value = serde_json::to_value(crate::common::good_card()).unwrap();
    value["outcome"] =
        json!({ "state": "failed", "failure": "Alice Example", "detail": "x", "elapsed_ns": 1, "written_bytes": 1 });
    redactor().value(&mut value);
    assert_eq!(value["outcome"]["failure"], "other");
    assert!(!value.to_string().contains("Alice"), "{value}");
    let record: Record = serde_json::from_value(value).unwrap();
    assert!(record.warnings.iter().any(|w| w.cause().contains("lacks 1 field")), "{:?}", record.warnings);
}

#[test]
fn a_figure_that_is_no_number_is_an_error_and_not_a_leak() {
    let mut record = crate::common::good_card();
    record.measurements[0].repeats[0].iops = f64::NAN;
    let error = redactor().record(&record).unwrap_err().to_string();
    assert!(error.starts_with("record k7f3m9q2xa: cannot be written without identities"), "{error}");
}

#[test]
fn a_document_that_is_no_record_gives_nothing_away() {
    for mut value in [json!("Alice"), json!(["Alice"]), json!({ "host": "Alice", "labels": [["Alice"]], "medium": 5 })]
    {
        redactor().value(&mut value);
        assert!(!value.to_string().contains("Alice"), "{value}");
        assert!(matches!(value, Value::Null | Value::Object(_)));
    }
}
