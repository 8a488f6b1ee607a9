//! The unit of systemd.

use std::path::Path;
use std::process::Command;

use assay_lab::{Missing, skip};

/// `systemd-analyze security`: 0 is the least that a service can do.
#[test]
fn the_service_has_few_rights() {
    let unit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/systemd/assay-public.service");
    let asked = Command::new("systemd-analyze").args(["security", "--offline=true"]).arg(&unit).output();
    let Ok(output) = asked else {
        return skip("the service has few rights", &Missing("needs systemd-analyze".to_owned()));
    };
    let said = String::from_utf8_lossy(&output.stdout);
    let level =
        said.rsplit_once("assay-public.service: ").and_then(|(_, rest)| rest.split(' ').next()?.parse::<f64>().ok());
    match level {
        Some(level) => assert!(level <= 2.0, "{level}: {said}"),
        None => skip("the service has few rights", &Missing("needs systemd-analyze security --offline".to_owned())),
    }
    // What it starts is there, and every option is known.
    let text = std::fs::read_to_string(&unit).unwrap();
    let started = text.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/bin/assay-public ")).unwrap();
    let options = String::from_utf8(crate::server::command(&["serve", "--help"]).stdout).unwrap();
    for option in started.split(' ').filter(|word| word.starts_with("--")) {
        assert!(options.contains(option), "{option}");
    }
    assert!(options.contains("ASSAY_PUBLIC_ADDRESS") && options.contains("ASSAY_PUBLIC_DATABASE"));
}
