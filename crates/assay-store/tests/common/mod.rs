//! Records to save, and requirements of tests.
#![allow(dead_code, missing_docs, clippy::unwrap_used, reason = "each test program uses its part")]

use std::path::Path;
use std::process::{Child, Command};

use assay_core::draft::Draft;
use assay_core::medium::{Medium, MediumKind};
use assay_core::outcome::Outcome;
use assay_core::record::{Host, Record, Sensor, Settings, SuiteRef, Tool};

/// A finished record with nothing measured.
pub fn record(id: &str) -> Record {
    let medium = Medium {
        kind: MediumKind::Sd,
        vendor: Some("SanDisk".to_owned()),
        model: Some("SD32G".to_owned()),
        unit: Some("0x12345678".to_owned()),
        capacity_bytes: Some(31_914_983_424),
        ..Medium::unknown("/mnt/card")
    };
    let (tool, suite) = (Tool::assay("0.1.0", "sync", "asked for"), SuiteRef::new("quick", 1));
    Draft::begin(id, "2026-01-02T03:04:05Z", tool, suite, medium)
        .on_host(Host { hostname: Some("node1".to_owned()), cpu: Some("Cortex-A53".to_owned()), ..Host::default() })
        .with_settings(Settings { seed: u64::MAX, ..Settings::default() })
        .close(Outcome::Completed)
}

/// A record with this minute as its time.
pub fn record_at(id: &str, minute: u32) -> Record {
    Record { created: format!("2026-01-02T{:02}:{:02}:00Z", minute / 60, minute % 60), ..record(id) }
}

pub fn with_label(mut record: Record, key: &str, value: &str) -> Record {
    record.labels.insert(key.to_owned(), value.to_owned());
    record
}

pub fn running(id: &str) -> Record {
    Record { outcome: Outcome::Running, ..record(id) }
}

/// About `kib` KiB of readings, so that documents span pages.
pub fn with_samples(mut record: Record, kib: u64) -> Record {
    let samples = (0..kib * 60).map(|n| (n * 1_000_000_000, 40.5)).collect();
    record.sensors = vec![Sensor {
        name: "cpu".to_owned(),
        kind: "temperature".to_owned(),
        unit: "°C".to_owned(),
        source: "hwmon".to_owned(),
        samples,
    }];
    record
}

/// Whether this process runs as root.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

pub fn skip(reason: &str) {
    eprintln!("SKIP: {reason}");
}

/// The test `name` of this program, with its module, in a process of its own, controlled by variables.
pub fn child(name: &str, variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", name, "--nocapture"]).envs(variables.iter().copied());
    command
}

/// A child that is killed and waited for when the test ends, in any case.
pub struct Reaped(pub Child);

impl Drop for Reaped {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A separate file system, unmounted when the test ends.
pub struct Mount<'a>(&'a Path);

impl<'a> Mount<'a> {
    /// A tmpfs of this size; `None`, with the reason printed, if that is not permitted.
    pub fn tmpfs(at: &'a Path, size: &str) -> Option<Self> {
        if !is_root() {
            skip("mounting a file system needs root");
            return None;
        }
        let options = format!("size={size}");
        let done = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "none"]).arg(at).output();
        match done {
            Ok(output) if output.status.success() => Some(Self(at)),
            other => {
                skip(&format!("mount is not allowed here: {other:?}"));
                None
            }
        }
    }

    pub fn remount(&self, how: &str) {
        let status = Command::new("mount").args(["-o", &format!("remount,{how}")]).arg(self.0).status().unwrap();
        assert!(status.success(), "remount {how}");
    }
}

impl Drop for Mount<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}
