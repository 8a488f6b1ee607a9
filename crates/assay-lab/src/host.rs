//! The host of a test: its programs, the lock of the lab, and its processors.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write;
use std::ops::Range;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use rustix::fs::{FlockOperation, flock};

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

// The lock of the lab: one test that measures, or several that do not.

/// The right to have media; other tests wait until it is dropped.
#[derive(Debug)]
pub struct Lab {
    _lock: File,
}

impl Lab {
    /// Waits for all other tests: the right to measure media that only the machine limits.
    ///
    /// # Errors
    /// [`Missing`] if the lock file cannot be made.
    pub fn enter() -> Result<Self, Missing> {
        Self::locked(FlockOperation::LockExclusive)
    }

    /// Waits for a test that measures, and shares the lab with other tests. It is for tests that do not measure the
    /// speed of a medium, and for media that are slower than the machine, however busy the machine is.
    ///
    /// # Errors
    /// [`Missing`] if the lock file cannot be made.
    pub fn share() -> Result<Self, Missing> {
        Self::locked(FlockOperation::LockShared)
    }

    fn locked(how: FlockOperation) -> Result<Self, Missing> {
        let path: PathBuf = std::env::temp_dir().join("assay-lab.lock");
        let lock = File::create(&path).map_err(|e| Missing(format!("{}: {e}", path.display())))?;
        flock(&lock, how).map_err(|e| Missing(format!("{}: {e}", path.display())))?;
        Ok(Self { _lock: lock })
    }
}

// Work by seed, on every processor.

/// Calls `work` for each seed, as many at a time as there are processors, and returns the results in the order of the
/// seeds. A panic of `work` becomes that of the caller, after the other threads have finished their calls.
pub fn on_all_processors<T: Send>(seeds: Range<u64>, work: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let next = AtomicU64::new(seeds.start);
    let worker = || {
        let mut done = Vec::new();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                return done;
            }
            done.push((seed, work(seed)));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut all = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(worker)).collect();
        let mut all = worker();
        for other in others {
            all.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        all
    });
    all.sort_by_key(|(seed, _)| *seed);
    all.into_iter().map(|(_, done)| done).collect()
}

#[cfg(test)]
mod tests {
    use super::on_all_processors;

    #[test]
    fn each_seed_is_worked_off_once_and_stands_in_its_place() {
        assert_eq!(on_all_processors(3..40, |seed| seed * seed), (3..40).map(|seed| seed * seed).collect::<Vec<_>>());
        assert_eq!(on_all_processors(5..5, |seed| seed), [0u64; 0]);
    }

    #[test]
    #[should_panic(expected = "seed 7")]
    fn a_panic_is_that_of_the_caller() {
        on_all_processors(0..20, |seed| assert!(seed != 7, "seed {seed}"));
    }
}
