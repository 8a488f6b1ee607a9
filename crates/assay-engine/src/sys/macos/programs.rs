//! Content for other programs.

use std::fs::{File, OpenOptions, remove_file};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::atomic::{AtomicU32, Ordering};

pub use crate::sys::unix::programs::lead_a_group;
pub(crate) use crate::sys::unix::programs::{ended, interrupt, kill_all};

/// Whether fio and other tools are run in place of an engine here.
pub const RUNS_TOOLS: bool = false;

/// A file for temporary content, which has its name for no longer than it takes to open it.
pub(crate) fn nameless_file(name: &str) -> io::Result<File> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("assay-{name}-{}-{number}", std::process::id()));
    let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    remove_file(&path)?;
    Ok(file)
}
