//! Programs of the host, and the error if one is missing.

use std::ffi::OsStr;
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A requirement of the lab that the host lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing(pub String);

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Tests of this program that were skipped.
static SKIPPED: AtomicU32 = AtomicU32::new(0);

/// Reports that a test was skipped, and why; `make test` counts these lines. The harness hides the output of a test
/// that passed, and counts a skipped test as passed. So the lines bypass the harness, and are counted when the program
/// ends.
pub fn skip(test: &str, missing: &Missing) {
    let _ = writeln!(std::io::stderr(), "SKIP: {test}: {missing}");
    if SKIPPED.fetch_add(1, Ordering::Relaxed) == 0 {
        // SAFETY: the function exists as long as the program. It does not unwind, and takes no lock that an ending
        // thread may hold for ever: it writes one line.
        unsafe { libc::atexit(count_skips) };
    }
}

extern "C" fn count_skips() {
    let count = SKIPPED.load(Ordering::Relaxed);
    let _ = writeln!(std::io::stderr(), "skipped, and counted as passed above: {count}");
}

/// Requires root and all of these programs.
pub(crate) fn need(programs: &[&str]) -> Result<(), Missing> {
    if !rustix::process::geteuid().is_root() {
        return Err(Missing("needs root".to_owned()));
    }
    for program in programs {
        let found = std::env::var_os("PATH").is_some_and(|path| {
            std::env::split_paths(&path).any(|dir| dir.join(program).exists())
                || std::path::Path::new("/usr/sbin").join(program).exists()
                || std::path::Path::new("/sbin").join(program).exists()
        });
        if !found {
            return Err(Missing(format!("needs {program}")));
        }
    }
    Ok(())
}

/// Runs a program to its end and returns what it printed.
pub(crate) fn run<A: AsRef<OsStr>>(program: &str, arguments: &[A]) -> Result<String, Missing> {
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|e| Missing(format!("{program}: {e}")))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    } else {
        Err(Missing(format!("{program} failed: {}", String::from_utf8_lossy(&output.stderr).trim())))
    }
}

/// Runs a program during cleanup, where its failure no longer matters.
pub(crate) fn try_run<A: AsRef<OsStr>>(program: &str, arguments: &[A]) {
    let _ =
        Command::new(program).args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
}
