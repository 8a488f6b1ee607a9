//! Results by version: a record of each, in `data/benchmarks`, and what changed since the version before.
//!
//! A version is the commit that was measured. Figures of two machines say nothing of a change, so that a record is compared
//! with the last one from a machine like this.

use std::path::{Path, PathBuf};
use std::process::Command;

use assay_core::draft::Draft;
use assay_core::medium::Medium;
use assay_core::outcome::Outcome;
use assay_core::record::{Host, Record, Score, SuiteRef, Tool};
use assay_device::Sysroot;
use assay_stats::change;

/// Adds the scores to the record of this version, replacing scores of the same names, and prints the changes since the
/// last record of another version.
pub(crate) fn keep_and_compare(scores: &[Score]) {
    if scores.is_empty() {
        return;
    }
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/benchmarks");
    let version = version();
    // A record says nothing of who measured: names of hosts stay at home.
    let host = Host { hostname: None, ..assay_device::host(&Sysroot::real()) };
    let kept = read(&directory, &host);
    if let Some((_, before)) = kept.iter().rfind(|(_, record)| record.tool.version != version) {
        print_changes(scores, before);
    }
    let own = kept.into_iter().rfind(|(_, record)| record.tool.version == version);
    let created = jiff::Timestamp::now();
    let (path, old) = own.map_or_else(
        || (directory.join(format!("{}-{version}.json", created.strftime("%Y-%m-%d-%H%M"))), Vec::new()),
        |(path, record)| (path, record.scores),
    );
    let mut record = draft(&version, &created.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(), host);
    let all = &mut record.fill().scores;
    all.extend(old.into_iter().filter(|old| scores.iter().all(|new| new.name != old.name)));
    all.extend_from_slice(scores);
    let text = serde_json::to_string_pretty(&record.close(Outcome::Completed)).unwrap();
    match std::fs::create_dir_all(&directory).and_then(|()| std::fs::write(&path, text + "\n")) {
        Ok(()) => println!("\nkept in {}", path.canonicalize().unwrap_or(path).display()),
        Err(error) => println!("\nnot kept: {}: {error}", path.display()),
    }
}

fn draft(version: &str, created: &str, host: Host) -> Draft {
    let tool = Tool::assay(version, "bench", "comparisons with peers");
    let id = format!("bench-{version}");
    Draft::begin(&id, created, tool, SuiteRef::new("bench", 1), Medium::unknown("")).on_host(host)
}

/// `git describe` of the tree; the version of the program where there is no git.
fn version() -> String {
    let arguments = ["describe", "--always", "--dirty", "--abbrev=7", "--exclude=*"];
    let output = Command::new("git").args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output();
    let text = output.ok().filter(|o| o.status.success()).map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned());
    text.filter(|text| !text.is_empty()).unwrap_or_else(|| env!("CARGO_PKG_VERSION").to_owned())
}

/// Records of machines like `host`, the oldest first.
fn read(directory: &Path, host: &Host) -> Vec<(PathBuf, Record)> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|e| e == "json")).collect();
    paths.sort();
    let record = |path: PathBuf| {
        let record: Record = serde_json::from_str(&std::fs::read_to_string(&path).ok()?).ok()?;
        let like = |host: &Host| (host.cpu.clone(), host.cores, host.memory_bytes, host.arch.clone());
        (like(&record.host) == like(host)).then_some((path, record))
    };
    paths.into_iter().filter_map(record).collect()
}

fn print_changes(scores: &[Score], before: &Record) {
    println!("\nSince {} ({}):\n", before.tool.version, before.created);
    println!("| row | before | now | now by before (95 % interval) | |");
    println!("| --- | --- | --- | --- | --- |");
    for score in scores {
        let Some(old) = before.scores.iter().find(|old| old.name == score.name) else { continue };
        let Some(ratio) = change(&score.value, &old.value) else { continue };
        let (words, verdict) = match (ratio.low, ratio.high) {
            (Some(low), Some(high)) => {
                let better = if score.more_is_better { low > 1.0 } else { high < 1.0 };
                let worse = if score.more_is_better { high < 1.0 } else { low > 1.0 };
                let verdict = if better {
                    "better"
                } else if worse {
                    "**worse**"
                } else {
                    "no change seen"
                };
                (format!("{:.3} ({low:.3} to {high:.3})", ratio.point), verdict)
            }
            _ => (format!("{:.3}", ratio.point), ""),
        };
        println!("| {} | {:.3} | {:.3} | {words} | {verdict} |", score.name, old.value.point, score.value.point);
    }
}
