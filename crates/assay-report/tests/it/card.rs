//! The terminal card, as people see it.

use assay_core::estimate::Estimate;
use assay_core::finding::{Finding, ValidityVerdict};
use assay_core::medium::MediumKind;
use assay_core::observation::Observation;
use assay_core::original::Crosscheck;
use assay_core::priority::Priority;
use assay_core::record::{Latency, Measurement, Record};
use assay_core::workload::{Op, Pattern, Sync};
use assay_report::{Lives, Redactor, ReportFormat, Style, View, card, info, list, render, verdict_sentence};
use unicode_width::UnicodeWidthStr;

fn snapshot(name: &str, record: &Record) {
    insta::assert_snapshot!(name, card(record, &Style::default()));
}

#[test]
fn a_good_card_shows_figures_share_of_the_bus_classes_and_verdict() {
    snapshot("card_good", &crate::common::good_card());
}

/// A workload of the simulated card of `docs/img/page.svg`, with the figures that stand there.
fn simulated(
    op: Op,
    pattern: Pattern,
    block_bytes: u64,
    depth: u32,
    iops: f64,
    p50_ns: f64,
    p99_ns: f64,
) -> Measurement {
    let close = |point: f64| crate::common::around(point, 1e-4);
    let rate = iops * block_bytes as f64;
    let mut m =
        Measurement::empty(crate::common::workload("w", op, pattern, block_bytes, depth, Sync::default()), "uring");
    m.iops = close(iops);
    m.bytes_per_second = close(rate);
    m.durable_bytes_per_second = if op == Op::Write { close(rate) } else { None };
    m.latency_ns = Latency { p50: close(p50_ns).map(Box::new), p99: close(p99_ns).map(Box::new), ..m.latency_ns };
    m
}

/// README shows a summary; figures that stand on the page are put as the program puts them.
#[test]
fn the_summary_in_the_readme_is_as_the_program_prints_it() {
    let mut record = crate::common::bare_record();
    record.medium.kind = MediumKind::Loop;
    (record.medium.vendor, record.medium.model, record.medium.unit) = (None, None, None);
    (record.medium.capacity_bytes, record.medium.bus) = (None, None);
    record.labels.insert("model".to_owned(), "Simulated SD card".to_owned());
    record.measurements = vec![
        simulated(Op::Read, Pattern::Sequential, 1 << 20, 8, 22.9e6 / 1048576.0, 359e6, 413e6),
        simulated(Op::Write, Pattern::Sequential, 1 << 20, 8, 14.2e6 / 1048576.0, 593e6, 668e6),
        simulated(Op::Read, Pattern::Random, 4096, 1, 1620.0, 29.4e3, 62.1e3),
        simulated(Op::Read, Pattern::Random, 4096, 32, 1622.0, 116e3, 102e6),
        simulated(Op::Write, Pattern::Random, 4096, 1, 460.0, 30.4e3, 98.8e6),
    ];
    // Two of them were not as steady as the others.
    record.measurements[0].bytes_per_second = crate::common::around(22.9e6, 0.1 / 22.9);
    record.measurements[3].iops = crate::common::around(1622.0, 13.0 / 1622.0);
    let readme = include_str!("../../../../README.md");
    let block = readme.split("```console\n").nth(1).unwrap().split("```").next().unwrap();
    let shown: Vec<&str> = block.lines().filter(|line| !line.starts_with('$') && *line != "…").collect();
    assert!(shown.len() >= 10, "{shown:#?}");
    // What the page has no figures for, such as the host, is left out there.
    let printed = card(&record, &Style::default());
    let mut lines = printed.lines();
    for line in shown {
        assert!(lines.any(|own| own == line), "{line:?} is not in\n{printed}");
    }
    let sentence = readme.split("$ assay run /mnt/card\n…\n").nth(1).unwrap().split("\n…").next().unwrap();
    record.measurements.push(simulated(Op::Write, Pattern::Random, 4096, 32, 460.0, 99.9e6, 100e6));
    assert!(card(&record, &Style::default()).contains(sentence), "{}", card(&record, &Style::default()));
}

#[test]
fn workloads_with_different_numbers_of_repeats_are_told_as_such() {
    let mut record = crate::common::good_card();
    assert!(card(&record, &Style::default()).contains("over 3 repeats of this run"));
    let first = &mut record.measurements[0];
    first.iops.iter_mut().chain(&mut first.bytes_per_second).for_each(|estimate| estimate.n = 9);
    assert!(card(&record, &Style::default()).contains("over 3 to 9 repeats of this run"));
}

#[test]
fn a_card_that_turned_read_only_says_so_and_keeps_its_figures() {
    snapshot("card_read_only", &crate::common::read_only_card());
}

#[test]
fn an_interrupted_run_without_measurements_is_still_a_card() {
    snapshot("card_interrupted", &crate::common::interrupted());
}

#[test]
fn figures_from_a_cache_are_not_sold_as_those_of_the_medium() {
    snapshot("card_cached", &crate::common::cached());
}

#[test]
fn workloads_that_were_scaled_down_or_skipped_say_so_in_words() {
    snapshot("card_scaled_down", &crate::common::scaled_down());
}

#[test]
fn hostile_names_are_shown_harmlessly() {
    snapshot("card_hostile", &crate::common::hostile());
}

#[test]
fn a_load_of_unknown_pattern_is_not_taken_as_sequential() {
    let record = crate::common::bare_source();
    snapshot("card_bare_source", &record);
    let line = list(&[record.into()], &Lives::new(), &Style::default());
    assert!(line.contains("unknown load"), "{line}");
}

#[test]
fn endless_names_and_figures_are_broken_or_cut() {
    snapshot("card_endless", &crate::common::endless());
}

#[test]
fn a_narrow_terminal_without_unicode_still_gets_a_card() {
    insta::assert_snapshot!(
        "card_narrow_ascii",
        card(&crate::common::good_card(), &Style { width: 60, color: false, unicode: false })
    );
}

#[test]
fn a_card_of_half_a_terminal_has_its_figures_whole() {
    for width in [40, 50] {
        let text = card(&crate::common::good_card(), &Style { width, color: false, unicode: true });
        insta::assert_snapshot!(format!("card_{width}"), text);
    }
    let style = Style { width: 40, color: false, unicode: true };
    let words = card(&crate::common::endless(), &style).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("123 456 789 ±24 691 358 IOPS"), "{words}");
}

/// Text without SGR sequences.
fn uncoloured(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\x1b[") {
        out.push_str(before);
        rest = after.split_once('m').map_or("", |(_, r)| r);
    }
    out + rest
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let records: Vec<Record> = crate::common::all().into_iter().map(|(_, r)| r).collect();
    let observed: Vec<Observation> = records.iter().map(Observation::from).collect();
    for width in 40..=120 {
        for style in [Style { width, color: false, unicode: true }, Style { width, color: true, unicode: false }] {
            let texts = records.iter().flat_map(|r| [card(r, &style), info(&r.medium, &r.host, &style)]);
            for text in texts.chain([list(&observed, &Lives::new(), &style)]) {
                for line in uncoloured(&text).lines() {
                    assert!(line.width() <= width, "{} columns of {width}: {line:?}", line.width());
                }
            }
        }
    }
}

#[test]
fn only_own_colours_reach_the_terminal() {
    for (name, record) in crate::common::all() {
        let plain = card(&record, &Style::default());
        assert!(!plain.chars().any(|c| c.is_control() && c != '\n'), "{name}");
        let coloured = card(&record, &Style { color: true, ..Style::default() });
        assert_eq!(uncoloured(&coloured), plain, "{name}");
        for sequence in coloured.split('\x1b').skip(1) {
            assert!(
                ["[0m", "[1m", "[2m", "[31m", "[32m", "[33m"].iter().any(|s| sequence.starts_with(s)),
                "{sequence:?}"
            );
        }
        assert!(card(&record, &Style { unicode: false, ..Style::default() }).is_ascii(), "{name}");
    }
}

#[test]
fn the_verdict_says_what_the_medium_does_or_what_is_wrong() {
    let good = verdict_sentence(&(&crate::common::good_card()).into());
    assert!(
        good.starts_with("This SD card reads 23.1 ±0.1 MB/s (99 % of the reachable rate of its SDR25 bus), writes "),
        "{good}"
    );
    assert!(good.ends_with("it meets A1 here."), "{good}");
    let failed = verdict_sentence(&(&crate::common::read_only_card()).into());
    assert!(failed.contains("turned read-only") && failed.contains("from before that"), "{failed}");
    assert!(!failed.contains("meets"), "{failed}");
    let cached = verdict_sentence(&(&crate::common::cached()).into());
    assert!(cached.starts_with("These figures do not describe the medium. Served from a cache"), "{cached}");
    assert_eq!(
        verdict_sentence(&(&crate::common::interrupted()).into()),
        "Nothing was measured; the run was interrupted."
    );
    let mut bare = crate::common::good_card();
    bare.medium.kind = MediumKind::Nvme;
    bare.medium.bus = None;
    bare.measurements.retain(|m| m.workload.name == "seq-read-1m-q8");
    assert_eq!(verdict_sentence(&(&bare).into()), "This NVMe drive reads 23.1 ±0.1 MB/s.");
    // A doubt is shown for any load.
    bare.validity.verdict = ValidityVerdict::Suspect;
    bare.validity.reasons = vec![Finding::AnotherRun.into()];
    let doubt = "Treat with caution: another run of assay is measuring the same file system.";
    assert!(verdict_sentence(&(&bare).into()).ends_with(doubt), "{}", verdict_sentence(&(&bare).into()));
    (bare.measurements[0].workload.pattern, bare.measurements[0].workload.block_bytes) = (Pattern::Random, 16 << 10);
    let other = verdict_sentence(&(&bare).into());
    assert!(other.starts_with("This NVMe drive did ") && other.ends_with(doubt), "{other}");
}

#[test]
fn a_fake_that_was_measured_is_a_fake_first() {
    let fake = crate::verification::fake().verification;
    let of = |record: Record| verdict_sentence(&Record { verification: fake.clone(), ..record }.into());
    let measured = of(crate::common::good_card());
    assert!(measured.starts_with("This SD card is a fake. This SD card reads 23.1 "), "{measured}");
    let failed = of(crate::common::read_only_card());
    assert!(failed.starts_with("This SD card is a fake. This SD card turned read-only"), "{failed}");
}

#[test]
fn classes_are_judged_by_the_low_end_of_the_interval() {
    let mut record = crate::common::good_card();
    let reads = &mut record.measurements[3];
    for (repeat, iops) in reads.repeats.iter_mut().zip([1490.0, 1501.0, 1520.0]) {
        repeat.iops = iops;
    }
    // Lines may break anywhere.
    let words = |r: &Record| card(r, &Style::default()).split_whitespace().collect::<Vec<_>>().join(" ");
    let text = words(&record);
    assert!(text.contains("A1 within the uncertainty") && text.contains("cannot tell: A1"), "{text}");
    assert!(!text.contains("meets A1"), "{text}");
    record.medium.claimed_classes = vec!["U3".into(), "A2".into()];
    let text = words(&record);
    assert!(text.contains("not met: U3 (sequential write 14.4 of 30.0 MB/s)"), "{text}");
    assert!(text.contains("not testable on this host: A2"), "{text}");
    // What the bus ended says nothing about the medium.
    record.measurements.iter_mut().for_each(|m| m.bus_limited = true);
    assert!(words(&record).contains("beyond this bus: U3"), "{}", words(&record));
    // One repeat has no bounds, and a virtual disk no class.
    record.measurements.iter_mut().for_each(|m| m.repeats.truncate(1));
    assert!(words(&record).contains("not judged (needs 3 repeats)"), "{}", words(&record));
    record.medium.kind = MediumKind::Virtio;
    assert!(!words(&record).contains("classes"), "{}", words(&record));
}

#[test]
fn numbers_from_elsewhere_never_panic() {
    let mut record = crate::common::good_card();
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 0.0, 1e300, 1e-300];
    for value in odd {
        for other in odd {
            for m in &mut record.measurements {
                let latencies = [&mut m.latency_ns.p50, &mut m.latency_ns.p99].into_iter().flatten().map(|e| &mut **e);
                for e in [&mut m.iops, &mut m.bytes_per_second].into_iter().flatten().chain(latencies) {
                    (e.point, e.low, e.high) = (value, Some(other), Some(value));
                }
                m.repeats.iter_mut().for_each(|r| (r.iops, r.bytes_per_second, r.elapsed_ns) = (value, other, 0));
            }
            if let Some(bus) = &mut record.medium.bus {
                bus.reachable_bytes_per_second = Some(other);
            }
            record.change_settings(|settings| settings.elapsed_ns = u64::MAX);
            let _ = card(&record, &Style::default());
            let _ = assay_report::html(std::slice::from_ref(&record));
            let _ = assay_report::markdown(std::slice::from_ref(&record));
            let _ = assay_report::csv(std::slice::from_ref(&record));
        }
    }
}

#[test]
fn a_cross_check_of_a_long_title_loses_no_figure() {
    let mut record = crate::common::good_card();
    let ratio = |point: f64| {
        Some(Estimate { low: Some(point - 0.01), high: Some(point + 0.01), ..Estimate::bare(point, 3, "t") })
    };
    record.measurements[0].workload.priorities.job = Some(Priority::parse("best-effort/7").unwrap());
    record.crosscheck.push(Crosscheck {
        ratio: ratio(1.02),
        p50_ratio: ratio(1.13),
        p99_ratio: ratio(1.24),
        ..Crosscheck::new(&record.measurements[0].workload.name, "fio", "fio-3.36")
    });
    let title = record.load_title(&record.measurements[0]);
    for width in [60, 80, 100] {
        let text = card(&record, &Style { width, ..Style::default() });
        let found = text.split("assay over fio").nth(1).unwrap();
        let ratios = ["1.02", "1.13", "1.24"].iter().take(if width < 80 { 2 } else { 3 });
        assert!(ratios.into_iter().all(|ratio| found.contains(ratio)), "{title}: {text}");
    }
}

#[test]
fn labels_are_on_the_card_as_in_each_table() {
    let mut record = crate::common::good_card();
    record.labels = [("rack", "2"), ("price", "9.90USD")].map(|(key, value)| (key.to_owned(), value.to_owned())).into();
    assert!(card(&record, &Style::default()).contains("labels    price=9.90USD, rack=2\n"));
    record.labels.clear();
    assert!(!card(&record, &Style::default()).contains("labels"));
}

/// A text of smartctl tells nothing else, and its card was empty.
#[test]
fn the_health_of_a_medium_is_shown_wherever_its_facts_are() {
    let mut record = crate::common::good_card();
    record.medium.health = [
        ("smart_passed", "false"),
        ("temperature_celsius", "61"),
        ("Reallocated_Sector_Ct", "12"),
        ("Total_LBAs_Written", "123456789012"),
        ("Vendor_Text", "S649NX0R"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into();
    let words = "SMART failed, 61 °C, 12 reallocated sectors";
    let shared = Redactor::with_key([7; 32]).record(&record).unwrap();
    assert!(!shared.medium.health.contains_key("Vendor_Text"));
    for record in [&record, &shared] {
        assert!(card(record, &Style::default()).contains(&format!("health    {words}")));
        let view = View::default();
        for format in [ReportFormat::Html, ReportFormat::Markdown] {
            let page = String::from_utf8(render(format, std::slice::from_ref(record), &view).unwrap()).unwrap();
            assert!(page.contains(words), "{page}");
            assert!(page.contains("Total LBAs Written 123456789012") || format == ReportFormat::Markdown, "{page}");
        }
        let listed = assay_report::list_document(&[record.into(), crate::common::hostile().into()], &Lives::new());
        assert!(listed.csv().contains(words) && listed.markdown().contains(words) && listed.html().contains(words));
    }
    let healthy = assay_report::list_document(&[crate::common::good_card().into()], &Lives::new());
    assert!(!healthy.markdown().contains("health"));
}

/// Reads need no sync: the rate with it would look like a load that lost most of its speed.
#[test]
fn the_sync_of_a_mixed_load_is_said_to_be_of_its_writes() {
    let mut record = crate::common::good_card();
    let mut durable = record.measurements.iter_mut().filter(|m| m.durable_bytes_per_second.is_some());
    let workload = &mut durable.next().unwrap().workload;
    (workload.op, workload.read_percent) = (assay_core::workload::Op::Mixed, Some(70));
    for width in [40, 60, 80, 120] {
        let text = card(&record, &Style { width, unicode: true, color: false });
        assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").contains("writes, synced"), "{width}: {text}");
        assert!(text.lines().all(|line| line.chars().count() <= width), "{width}: {text}");
    }
    assert!(assay_report::html(&[record]).contains("rate of the writes including the final sync"));
}

/// A bare number in the corner would be a number of anything.
#[test]
fn the_corner_says_that_a_number_is_a_unit() {
    let mut record = crate::common::good_card();
    record.labels.insert("unit".to_owned(), "1".to_owned());
    assert!(card(&record, &Style::default()).contains("SD card · unit 1\n"));
}
