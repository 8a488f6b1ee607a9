//! What `assay --version` says of the build beside the version: commit, target and features.

use std::path::Path;
use std::process::Command;

fn main() -> std::io::Result<()> {
    assay_packed::pack_files(&["../../licences/third-party.txt"])?;
    println!("cargo::rerun-if-env-changed=ASSAY_COMMIT");
    println!("cargo::rustc-env=ASSAY_TARGET={}", std::env::var("TARGET").unwrap_or_default());
    let features = if std::env::var_os("CARGO_FEATURE_PARQUET").is_some() { "parquet" } else { "without parquet" };
    println!("cargo::rustc-env=ASSAY_FEATURES={features}");
    println!("cargo::rustc-env=ASSAY_COMMIT={}", commit().unwrap_or_else(|| "unknown".to_owned()));
    Ok(())
}

/// The commit that `ASSAY_COMMIT` names, as where the source is no checkout; else that of the checkout. A development build
/// does not ask: each commit would build the program and its tests anew.
fn commit() -> Option<String> {
    if let Ok(named) = std::env::var("ASSAY_COMMIT") {
        return Some(named).filter(|named| !named.is_empty());
    }
    if std::env::var("PROFILE").as_deref() == Ok("debug") {
        return Some("development build".to_owned());
    }
    // Not of a checkout that merely holds this source, such as a distribution's.
    let root = Path::new(&git(&["rev-parse", "--show-toplevel"])?).canonicalize().ok()?;
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().ok()?;
    if root != own {
        return None;
    }
    for file in ["HEAD".to_owned(), git(&["symbolic-ref", "--quiet", "HEAD"]).unwrap_or_default()] {
        if let Some(path) = git(&["rev-parse", "--git-path", &file]).filter(|path| Path::new(path).is_file()) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changed = git(&["status", "--porcelain", "--untracked-files=no"])?;
    Some(if changed.is_empty() { commit } else { format!("{commit}, with changes") })
}

/// What git answers; none where it is not there or refuses.
fn git(words: &[&str]) -> Option<String> {
    let output = Command::new("git").args(words).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
