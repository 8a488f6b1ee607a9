//! Every format reads its samples: `samples/FORMAT/NAME` and what has to come out of it, `samples/FORMAT/NAME.want`.
//!
//! `ASSAY_WRITE_SAMPLES=1 cargo test -p assay-import --test it samples::` writes what comes out; review each figure against
//! the sample before it is kept.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use assay_core::estimate::Estimate;
use assay_core::record::{Measurement, Record};
use assay_core::verification::Method;
use assay_import::{FORMATS, File, Item, Options, import};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("samples")
}

fn directory_of(format: &str) -> String {
    format.to_lowercase().replace([' ', '+'], "-")
}

fn sorted(directory: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.sort();
    all
}

#[test]
fn every_sample_gives_what_it_says() {
    let write = std::env::var_os("ASSAY_WRITE_SAMPLES").is_some();
    let mut wrong = String::new();
    let mut formats = BTreeSet::new();
    for format in FORMATS {
        let directory = folder().join(directory_of(format.name()));
        let samples: Vec<PathBuf> = match directory.is_dir() {
            true => sorted(&directory),
            false => Vec::new(),
        };
        let samples: Vec<PathBuf> =
            samples.into_iter().filter(|path| path.extension().is_none_or(|e| e != "want" && e != "md")).collect();
        assert!(samples.len() >= 2, "{}: at least two samples in {}", format.name(), directory.display());
        formats.insert(directory);
        for sample in samples {
            let name = sample.file_name().unwrap().to_string_lossy().into_owned();
            let got = seen(&File::new(&name, std::fs::read(&sample).unwrap()));
            let want = PathBuf::from(format!("{}.want", sample.display()));
            if write {
                std::fs::write(&want, &got).unwrap();
            } else if std::fs::read_to_string(&want).unwrap_or_default() != got {
                writeln!(wrong, "== {} gives\n{got}", sample.display()).unwrap();
            }
            assert!(got.contains(format.name()), "{}: not read as {}:\n{got}", sample.display(), format.name());
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    let there: BTreeSet<PathBuf> = sorted(&folder()).into_iter().filter(|path| path.is_dir()).collect();
    assert_eq!(there, formats, "folders of samples and formats of the registry");
}

/// What comes out of a file, to be read beside it.
fn seen(file: &File) -> String {
    let mut out = String::new();
    match import(file.clone(), &Options::default()) {
        Err(error) => writeln!(out, "refused: {error}").unwrap(),
        Ok(imported) => {
            for item in &imported.items {
                match item {
                    Item::Own { .. } => out.push_str("a record of assay\n"),
                    Item::Made(record) => show(&mut out, record),
                }
            }
            for (file, problem) in &imported.problems {
                writeln!(out, "problem: {file}, line {}: {}", problem.line, problem.what).unwrap();
            }
        }
    }
    out
}

fn show(out: &mut String, record: &Record) {
    let source = record.origin.imported().unwrap();
    let lines = source.lines.unwrap();
    writeln!(out, "record: {} {}, lines {}-{}", source.format, record.tool.version, lines.0, lines.1).unwrap();
    let facts = [
        ("created", Some(record.created.clone()).filter(|text| !text.is_empty())),
        ("tools", Some(record.tool.name.clone()).filter(|name| *name != source.format)),
        ("host", record.host.hostname.clone()),
        ("board", record.host.board.clone()),
        ("cpu", record.host.cpu.clone()),
        ("kernel", record.host.kernel.clone()),
        ("os", record.host.os.clone()),
        ("vendor", record.medium.vendor.clone()),
        ("model", record.medium.model.clone()),
        ("unit", record.medium.unit.clone()),
        ("device", record.medium.device.clone()),
        ("path", Some(record.medium.path.clone()).filter(|path| !path.is_empty())),
        ("filesystem", record.medium.filesystem.clone()),
        ("capacity", record.medium.capacity_bytes.map(|bytes| bytes.to_string())),
        ("kind", Some(record.medium.kind.title().to_owned()).filter(|kind| kind != "medium")),
        ("bus", record.medium.bus.as_ref().map(|bus| format!("{} {}", bus.kind, bus.mode))),
        ("outcome", Some(record.outcome.sentence()).filter(|text| text != "completed")),
    ];
    for (name, value) in facts {
        if let Some(value) = value {
            writeln!(out, "  {name}: {value}").unwrap();
        }
    }
    for (key, value) in record.labels.iter().chain(&record.medium.health) {
        writeln!(out, "  {key} = {value}").unwrap();
    }
    for measurement in &record.measurements {
        figure(out, measurement);
    }
    for score in &record.scores {
        let better = if score.more_is_better { "" } else { ", less is better" };
        let Estimate { point, method, .. } = &score.value;
        writeln!(out, "  score {}: {point} {}{better} ({method})", score.name, score.unit).unwrap();
    }
    if let Some(check) = &record.verification {
        let named = |value: serde_json::Value| value.as_str().map(str::to_owned);
        let doubt = check.doubt.and_then(|doubt| named(serde_json::to_value(doubt).ok()?));
        let remarks = check.remarks.iter().filter_map(|remark| named(serde_json::to_value(remark).ok()?));
        let beside: String = doubt.into_iter().chain(remarks).map(|word| format!(", {word}")).collect();
        writeln!(out, "  check: {}{beside}", check.verdict.title()).unwrap();
        let c = &check.counts;
        writeln!(
            out,
            "    good {} changed {} overwritten {} corrupted {} unreadable {}",
            c.good, c.changed, c.overwritten, c.corrupted, c.unreadable
        )
        .unwrap();
        if check.method == Method::QuickProbe {
            writeln!(
                out,
                "    announced {} real {:?} cache {:?}",
                check.announced_bytes, check.real_bytes, check.cache_bytes
            )
            .unwrap();
        }
        let rate = |pass: &Option<assay_core::verification::Pass>| pass.as_ref().map(|pass| pass.bytes_per_second());
        writeln!(
            out,
            "    write {:?} read {:?} first error {:?}",
            rate(&check.write),
            rate(&check.read),
            check.first_error
        )
        .unwrap();
    }
    for warning in &record.warnings {
        writeln!(out, "  ! {}", warning.cause()).unwrap();
    }
}

fn figure(out: &mut String, m: &Measurement) {
    let w = &m.workload;
    writeln!(out, "  {} = {}", w.name, w.title()).unwrap();
    let direct = if w.direct { "direct" } else { "cached" };
    let unknown: Vec<&str> = w.unknown.iter().map(|what| what.title()).collect();
    let unknown = if unknown.is_empty() { String::new() } else { format!(", unknown: {}", unknown.join(", ")) };
    let jobs = w.jobs;
    writeln!(out, "    {direct}, {jobs} jobs, span {}, {:?}{unknown}", w.span_bytes, w.sync).unwrap();
    let latency = &m.latency_ns;
    let boxed = |estimate: &Option<Box<Estimate>>| estimate.as_deref().cloned();
    let all = [
        ("bytes/s", m.bytes_per_second.clone()),
        ("durable bytes/s", m.durable_bytes_per_second.clone()),
        ("iops", m.iops.clone()),
        ("mean ns", boxed(&latency.mean)),
        ("p50 ns", boxed(&latency.p50)),
        ("p90 ns", boxed(&latency.p90)),
        ("p99 ns", boxed(&latency.p99)),
        ("p99.9 ns", boxed(&latency.p99_9)),
        ("max ns", boxed(&latency.max)),
    ];
    for (name, estimate) in all {
        if let Some(Estimate { point, n, method, .. }) = estimate {
            writeln!(out, "    {name} {point} (n {n}, {method})").unwrap();
        }
    }
    for repeat in &m.repeats {
        writeln!(out, "    repeat: {} operations, {} bytes, {} ns", repeat.operations, repeat.bytes, repeat.elapsed_ns)
            .unwrap();
    }
    for warning in &m.warnings {
        writeln!(out, "    ! {}", warning.cause()).unwrap();
    }
}

/// The page about formats is that of this version.
#[test]
fn the_page_has_a_row_for_each_format() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/import.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, table) = page.split_once("## Formats").unwrap();
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| ")).skip(2).collect();
    let mut documented: Vec<&str> = rows.iter().map(|row| row.split('|').nth(1).unwrap().trim()).collect();
    let mut names = assay_import::names();
    documented.sort_unstable();
    names.sort_unstable();
    assert_eq!(documented, names);
    assert!(rows.iter().all(|row| row.matches('|').count() == 5), "four cells in each row");
}
